/* Python pickles read as data. Opcodes build nodes; nothing is ever called, imported or run. A
 * global that the caller's table does not list, and an opcode that data does not need, are refused
 * by name. The tree borrows the pickle's bytes for text; ls_pickle_free frees the rest. Once read,
 * any thread. */
#ifndef LS_TENSOR_TORCH_PICKLE_H
#define LS_TENSOR_TORCH_PICKLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum ls_pk {
	LS_PK_NONE,
	LS_PK_BOOL,
	LS_PK_INT, /* i */
	LS_PK_BIG, /* s, n: little-endian two's complement beyond 64 bits, or its decimal text where
		      a is 1 */
	LS_PK_REAL, /* real */
	LS_PK_STR,  /* s, n */
	LS_PK_BYTES,
	LS_PK_LIST, /* items */
	LS_PK_TUPLE,
	LS_PK_DICT, /* items: key, value, key, value */
	LS_PK_SET,
	LS_PK_GLOBAL, /* a: index into the table of globals */
	LS_PK_CALL,   /* a: the global, b: the arguments' tuple, c: the state set later (0: none);
			 items as set later */
	LS_PK_PERSID, /* a: the persistent id's node */
};

struct ls_pk_node {
	uint8_t kind;
	uint8_t busy; /* for walkers: on the way to this node */
	uint32_t a, b, c;
	union {
		int64_t i;
		double real;
		const char *s;
		uint32_t *items;
	};
	size_t n;
};

/* A name that may occur; what it stands for is the caller's business (action). name NULL ends the
 * table. */
struct ls_pk_global {
	const char *module, *name;
	int action;
};

struct ls_pickle {
	struct ls_pk_node *nodes; /* node 0 is not used */
	size_t n, cap;
	uint32_t root;
	const struct ls_pk_global *globals;
};

int ls_pickle_parse(const uint8_t *data, size_t len, const struct ls_pk_global *globals,
		    struct ls_pickle **ret, struct ls_err *err);
void ls_pickle_free(struct ls_pickle *p);

#endif
