/* The pieces of `lockstep validate`: the embedded golden table, the ways to train that
 * this machine has, the report. What an _open call fills its _close call frees, also
 * after a failure. One thread. */
#ifndef LS_CMD_VALIDATE_H
#define LS_CMD_VALIDATE_H

#include "cmd/fm_common.h"
#include "env/facts/facts.h"
#include "fm/proof/validate.h"

/* --- validate_cells.c: the golden table of tests/bitwise, which is embedded --- */

struct ls_validate_cells {
	struct ls_val_cell *cells;
	size_t n, cap;
	struct ls_validate_set {
		char *name;
		struct ls_data *data;
	} * sets; /* the data sets that the cells use */
	size_t n_sets, cap_sets;
	const struct ls_rows *small; /* of small.ffm */
};

int ls_validate_cells_open(int threads, struct ls_validate_cells *ret, struct ls_err *err);
void ls_validate_cells_close(struct ls_validate_cells *cells);

/* --- validate_ways.c --- */

enum { LS_VALIDATE_MAX_WAYS = 64 };

struct ls_validate_ways {
	struct ls_val_way ways[LS_VALIDATE_MAX_WAYS]; /* the first: all threads */
	struct ls_fm_device choice[LS_VALIDATE_MAX_WAYS];
	size_t n;
	struct ls_pool *pools[16];
	size_t n_pools;
	int devices;    /* CUDA devices seen */
	char *no_cuda;  /* why there is none, or NULL */
	bool want_cuda; /* false with --device cpu */
};

/* device: NULL, "cpu", "cuda" or "cuda:N". full: every build of the kernels with every
 * number of threads. */
int ls_validate_ways_open(const char *device, bool full, struct ls_validate_ways *ret,
			  struct ls_err *err);
void ls_validate_ways_close(struct ls_validate_ways *w);

/* --- validate_report.c, validate_json.c --- */

struct ls_validate_report {
	const struct ls_val *val;
	const struct ls_validate_ways *ways;
	/* of src/env, and lockstep's own under "lockstep…" */
	const struct ls_facts *facts;
	bool full;
	const char *created; /* "2026-11-15T02:00:00Z" */
};

enum { LS_VALIDATE_ITEMS = 6 };

/* A line of the checklist. */
struct ls_validate_item {
	const char *title;
	enum ls_val_state state;
	char detail[512];
};

void ls_validate_checklist(const struct ls_validate_report *r,
			   struct ls_validate_item ret[LS_VALIDATE_ITEMS]);
const char *
/* "green", "differs", "incomplete" */
ls_validate_verdict(const struct ls_validate_report *r);
int ls_validate_status(const struct ls_validate_report *r); /* exit status */
void ls_validate_markdown(const struct ls_validate_report *r, struct ls_str *out);
json_t *ls_validate_facts_json(const struct ls_validate_report *r);
json_t *ls_validate_json(const struct ls_validate_report *r);

#endif
