/* An engine trains a model: the CPU's threads or a GPU, behind one table of operations
 * that give the same bytes. An engine borrows model, rows and pool; `free` releases it.
 * One call at a time. */
#ifndef LS_FM_MODEL_ENGINE_H
#define LS_FM_MODEL_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "fm/data/rows.h"
#include "fm/model/model.h"

struct ls_engine {
	void *state;
	char name[128]; /* for people: "cpu, 2 threads, baseline" */
	bool on_gpu;
	/* rows that one call of steps should take: enough to hide its costs, and over
	 * within a second */
	uint64_t stretch_rows;
	/* Takes steps first..first + n, counted through all epochs. Adds each step's
	 * loss, summed over its rows, to *loss in turn, so that the result does not
	 * depend on how steps are divided into calls. */
	int (*steps)(void *state, uint64_t first, uint64_t n, double *loss, struct ls_err *err);
	/* Scores of other rows under the parameters as they are now: n_rows × outputs. */
	int (*predict)(void *state, const struct ls_rows *rows, float *ret_score,
		       struct ls_err *err);
	/* Brings parameters and optimizer state back into the model, for saving. */
	int (*fetch)(void *state, struct ls_err *err);
	/* How many of the pool's threads take steps now. Fewer than all where that is
	 * faster, as on a machine with too few free processors. NULL: threads take no
	 * steps. */
	int (*at_work)(const void *state);
	void (*free)(void *state);
};

/* rows NULL: an engine that only predicts. isa: the name of a build of the CPU kernels,
 * or NULL for the best. */
int ls_engine_cpu(struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool,
		  const char *isa, struct ls_engine *ret, struct ls_err *err);

/* LS_EINTERNAL if the model has no room for its optimizer's state (ls_fm_model_new_bare):
 * it can only predict. */
int ls_fm_check_states(const struct ls_fm_model *m, struct ls_err *err);

/* Fills err for a score of data row `row` that was not finite. The message names the
 * first step from `first` on that takes the row, counted from 1. Returns LS_EDIFFER. */
int ls_fm_not_finite(const struct ls_fm_opts *opts, const struct ls_rows *rows, uint64_t row,
		     uint64_t first, struct ls_err *err);

#endif
