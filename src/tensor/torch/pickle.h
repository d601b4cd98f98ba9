/* Python pickles read as data. Opcodes build nodes; nothing is ever called, imported or
 * run. An object of a class that the caller's table does not list is a node like any
 * other: the name of its class, its arguments, its state and its items. An opcode that
 * data does not need is refused by name. The tree borrows the pickle's bytes for text;
 * ls_pickle_free frees the rest. Once read, any thread. */
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
	LS_PK_GLOBAL, /* a: see ls_pickle_global */
	LS_PK_CALL,   /* a: what is called, b: the arguments' tuple, c: the state set later (0:
			 none); items as set later, pairs says which kind */
	LS_PK_PERSID, /* a: the persistent id's node */
};

struct ls_pk_node {
	uint8_t kind;
	uint8_t busy;  /* for walkers: on the way to this node; its depth, from 1 */
	uint8_t pairs; /* of a CALL with items: 1 for keys and values, 0 for a list's items */
	uint32_t a, b, c;
	union {
		int64_t i;
		double real;
		const char *s;
		uint32_t *items;
	};
	size_t n;
};

/* A name that the caller knows; what it stands for is the caller's business (action, from
 * 0). name NULL ends the table. */
struct ls_pickle;
struct ls_pk_global {
	const char *module, *name;
	int action;
	/* For objects whose bytes follow in the file, behind the opcode that sets their
	 * state: how many to skip and how many to take. They become the object's only
	 * item. */
	int (*raw)(const struct ls_pickle *p, const struct ls_pk_node *call, const uint8_t *rest,
		   size_t len, size_t *ret_skip, uint64_t *ret_size, struct ls_err *err);
};

struct ls_pickle {
	struct ls_pk_node *nodes; /* node 0 is not used */
	size_t n, cap;
	uint32_t root;
	const struct ls_pk_global *globals;
	uint32_t n_known;             /* entries of globals */
	struct ls_pk_global *unknown; /* names that the table does not list; action -1 */
	size_t n_unknown, cap_unknown;
	char **texts; /* that are written in escapes */
	size_t n_texts, cap_texts;
	size_t used; /* bytes up to the end of STOP */
};

/* The name of a GLOBAL node. */
const struct ls_pk_global *ls_pickle_global(const struct ls_pickle *p, const struct ls_pk_node *n);

/* Reads up to the STOP opcode; what follows it is the caller's business. */
int ls_pickle_parse(const uint8_t *data, size_t len, const struct ls_pk_global *globals,
		    struct ls_pickle **ret, struct ls_err *err);
void ls_pickle_free(struct ls_pickle *p);
/* A text of protocol 0 as UTF-8; the caller frees. NULL: no memory. */
char *ls_pickle_raw_unicode(const char *s, size_t len, size_t *ret_len);

#endif
