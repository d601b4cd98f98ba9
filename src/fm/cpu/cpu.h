/* Training steps and prediction on the CPU, by all threads of a pool, with the same bytes
 * for any number of them. The engine borrows model, rows and pool. ls_cpu_free accepts
 * NULL. One call at a time. */
#ifndef LS_FM_CPU_CPU_H
#define LS_FM_CPU_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/balance.h"
#include "base/err.h"
#include "base/pool.h"
#include "fm/data/rows.h"
#include "fm/model/model.h"

struct ls_cpu;

/* isa: the name of a build of the kernels (dispatch.h); NULL: the best. */
int ls_cpu_new(struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool,
	       const char *isa, struct ls_cpu **ret, struct ls_err *err);
void ls_cpu_free(struct ls_cpu *cpu);
/* The name of the kernels. */
const char *ls_cpu_isa(const struct ls_cpu *cpu);
/* The workers' shares of a batch's rows, or of its features. For tests. */
const struct ls_balance *ls_cpu_shares(const struct ls_cpu *cpu, bool of_rows);
/* Whether workers keep the terms of all rows (cpu_alloc.c). For tests. */
bool ls_cpu_terms(const struct ls_cpu *cpu);

/* How many of the pool's threads take steps, apart from trials (base/active_threads.h).
 * hold fixes the number, drill changes it in every stretch. For tests. */
int ls_cpu_at_work(const struct ls_cpu *cpu);
void ls_cpu_hold(struct ls_cpu *cpu, int workers);
void ls_cpu_drill(struct ls_cpu *cpu);

/* Takes steps first..first + n of the whole training, counted through all epochs. Adds
 * each step's loss, summed over its rows, to *loss in turn. LS_EDIFFER: a score was not
 * finite; the message names step and row. */
int ls_cpu_steps(struct ls_cpu *cpu, uint64_t first, uint64_t n, double *loss, struct ls_err *err);

/* Scores of all rows: n_rows × outputs floats. */
int ls_cpu_predict(const struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool,
		   float *ret_score, struct ls_err *err);

#endif
