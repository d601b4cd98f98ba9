/* Operation logs (--trace ops) read back, and the first operation at which two runs part.
 * An optrace owns its mapping; operations point into it (ls_optrace_done). A parting owns
 * its texts (ls_parting_done). Any thread, one at a time an object. */
#ifndef LS_RUN_OPTRACE_H
#define LS_RUN_OPTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/file.h"
#include "base/json.h"

struct ls_slice {
	const char *s;
	size_t n;
};

struct ls_op {
	struct ls_slice name, inputs, outputs;
	uint32_t stack; /* index into stacks */
	uint64_t time;  /* microseconds of the clock of its host */
};

/* A log being read from its beginning to its end; only the distinct stacks are kept. */
struct ls_optrace {
	const char *data; /* borrowed, or the mapping */
	size_t len, at, line;
	const char *name; /* borrowed: for messages */
	struct ls_map map;
	struct ls_slice *stacks; /* "file:line function|…", innermost first */
	size_t n_stacks, cap_stacks;
	uint64_t ops; /* so far */
	long rank;
	struct ls_slice method; /* how tensors were digested: two methods cannot be compared */
	struct ls_slice child;  /* place among the processes: "0.2" is the second child of "0" */
	struct ls_slice host;
	char digest[40]; /* of the whole log, once complete */
	bool complete;
};

int ls_optrace_begin(struct ls_optrace *t, const char *data, size_t len, const char *name,
		     struct ls_err *err);
int ls_optrace_open(struct ls_optrace *t, const char *path, struct ls_err *err);
/* 1: an operation, 0: the end, negative: not an operation log, and the message names the
 * line. A last line cut short by a kill is the end. */
int ls_optrace_next(struct ls_optrace *t, struct ls_op *ret, struct ls_err *err);
void ls_optrace_done(struct ls_optrace *t);
json_t *ls_optrace_summary(const char *dir, const char *name); /* for the manifest; new reference */

enum ls_parting_kind {
	LS_PART_NONE,
	LS_PART_OPERATION, /* inputs agree, outputs differ: this operation is the cause */
	LS_PART_INPUT,     /* an input differs that no earlier operation made: it came from
			      outside of PyTorch (data, Python, numpy) */
	LS_PART_PATH,      /* another operation or another line: the program took another way */
	LS_PART_LENGTH,    /* one log is the beginning of the other */
	LS_PART_SEED,      /* the program seeded a generator with another number */
	LS_PART_MEMORY,    /* the operation reads memory that nobody has written */
	LS_PART_SHARED,    /* an input differs that another process can have written */
	LS_PART_PROCESS,   /* a process left a log in one run only */
};

struct ls_parting {
	enum ls_parting_kind kind;
	uint64_t at; /* operation number */
	long rank;
	char *name;        /* "aten.index_add_.default" */
	char *where;       /* the innermost frame in the program's own code, "file:line function" */
	char *stack;       /* all frames, a line each */
	char *a, *b;       /* what differs: the digests of the two runs, or the two operations */
	char *explanation; /* a sentence or two; says what cannot be known */
	char *process;     /* its place among the processes of the run: "0", "0.2" */
	uint64_t time_a, time_b;
	bool hosts; /* the processes ran on several hosts, whose clocks order nothing */
};

int ls_optrace_part(const char *a, const char *b, struct ls_parting *ret, struct ls_err *err);
/* The same for the trace folders of two runs. Processes are matched by rank and by the
 * order in which their parents made them. Told is the parting that came first by the
 * clock; where the two runs have another one first, the explanation says that it cannot
 * be known. Fails with LS_EUNKNOWN when a folder has no operation log. */
int ls_optrace_part_folders(const char *a, const char *b, struct ls_parting *ret,
			    struct ls_err *err);
void ls_parting_done(struct ls_parting *p);
json_t *ls_parting_json(const struct ls_parting *p); /* null for LS_PART_NONE; new reference */

#endif
