/* The proof that this machine computes what every other does: trainings on every device
 * and thread count that is here, compared with golden digests and with each other. The
 * plan is borrowed for the call; the result owns its texts but for the names of ways,
 * which are the plan's; ls_val_free accepts NULL. Prints nothing. One thread calls.
 *
 * A training that could not run is a result, never a pass: LS_VAL_NOT_RUN with the
 * reason. */
#ifndef LS_FM_PROOF_VALIDATE_H
#define LS_FM_PROOF_VALIDATE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/pool.h"
#include "fm/data/rows.h"
#include "fm/model/model.h"
#include "fm/train/train.h"

/* A device with a number of threads. */
struct ls_val_way {
	const char *name; /* "cpu, 3 threads, baseline", "cuda:0" */
	bool gpu;
	/* takes part in everything; the others in the golden table alone */
	bool main;
	const char *absent; /* why it cannot be had here, or NULL */
	struct ls_pool *pool;
	ls_train_engine *make_engine;
	void *context; /* of make_engine */
};

/* A row of the golden table. */
struct ls_val_cell {
	const char *name;
	struct ls_fm_opts opts;
	uint32_t epochs;
	const struct ls_rows *rows;
	const char *golden; /* the digest */
};

/* done of total trainings; what is being done. */
typedef void ls_val_tell(void *context, size_t done, size_t total, const char *what);

/* How much work: decides how long it takes, not what is compared. */
struct ls_val_size {
	struct ls_val_data {
		uint64_t rows;
		uint32_t fields, features_a_field;
	} batches;            /* the synthetic rows of this part */
	bool every_optimizer; /* otherwise AdaGrad */
};

struct ls_val_size ls_val_quick(void), ls_val_full(void);

struct ls_val_plan {
	/* the first is the reference: on the CPU, and main */
	const struct ls_val_way *ways;
	size_t n_ways;
	const struct ls_val_cell *golden;
	size_t n_golden;
	const struct ls_rows
		/* data with fields and binary labels, for twins and handing over */
		*small;
	struct ls_val_size size;
	/* an empty folder for checkpoints; left empty */
	const char *scratch;
	ls_val_tell *tell; /* may be NULL */
	void *context;     /* of tell */
	/* becomes non-zero: return LS_EINTR; may be NULL */
	const volatile sig_atomic_t *stop;
};

enum ls_val_state { LS_VAL_PASSED, LS_VAL_DIFFERS, LS_VAL_NOT_RUN };

enum ls_val_part {
	LS_VAL_GOLDEN, /* digest as in the golden table */
	/* predictions as the reference's, of trained models and of models from files */
	LS_VAL_SCORES,
	/* digest as the reference's, at batches of 256, 4,096 and 65,536 */
	LS_VAL_BATCHES,
	LS_VAL_TWINS,   /* the same again gives the same digest */
	LS_VAL_CONTROL, /* another seed gives another digest */
	/* begun on one device, resumed on another, ended on the first: the same file */
	LS_VAL_HANDOVER,
	LS_VAL_PARTS
};

struct ls_val_check {
	enum ls_val_part part;
	size_t way; /* index into the plan's */
	char *cell;
	enum ls_val_state state;
	char expected[LS_SHA256_HEX], got[LS_SHA256_HEX]; /* empty where there is none */
	char *reason;                                     /* unless passed */
};

struct ls_val {
	struct ls_val_check *checks;
	size_t n_checks, cap_checks;
	double seconds;
};

/* Fails only when it cannot go on: LS_EINTR, no memory for the data, no scratch
 * folder. */
int ls_val_run(const struct ls_val_plan *plan, struct ls_val **ret, struct ls_err *err);
void ls_val_free(struct ls_val *v);

const char *ls_val_part_name(enum ls_val_part part); /* "golden", … */
/* "passed", "differs", "not-run" */
const char *ls_val_state_name(enum ls_val_state state);

/* The worst state: a difference, else a check that could not run, else passed.
 * Nothing at all counts as not run. */
enum ls_val_state ls_val_verdict(const struct ls_val *v);
#endif
