/* The engine on threads, as cpu.c and cpu_alloc.c see it. The engine owns everything but
 * model, rows and pool. Each worker writes its own struct worker; the others read it
 * behind a barrier. */
#ifndef LS_FM_CPU_CPU_INTERNAL_H
#define LS_FM_CPU_CPU_INTERNAL_H

#include "base/active_threads.h"
#include "base/balance.h"
#include "fm/cpu/cpu.h"
#include "fm/cpu/kern_table.h"
#include "fm/cpu/next_batch.h"
#include "fm/cpu/sort.h"

/* The rows lo..hi of a step's n_all that a worker has. */
struct rows_of {
	uint32_t lo, hi, n_all, n_entries;
};

/* The two halves of a step, each with its own load balancing. */
enum { ROWS, COLUMNS, HALVES };

/* One worker. The padding keeps two workers off one cache line (false sharing). */
struct worker {
	struct ls_scratch w;
	struct ls_next_batch next; /* its rows of this step, later those of the next */
	struct rows_of rows[2];    /* by the parity of the step */
	struct ls_sort_part part;
	const uint64_t *keys; /* sorted keys of its features in this step */
	/* how many; how many the workers before it have */
	size_t n_keys, before;
	struct ls_balance shares[HALVES]; /* every worker keeps equal copies */
	double elapsed[HALVES];           /* seconds since the shares were adjusted */
	/* the same of the last round, read by all workers */
	double reported[HALVES];
	double *times;     /* threads: scratch for adjusting */
	float *bias;       /* outputs × (1 + states): its own copy */
	int64_t *bias_sum; /* outputs */
	int64_t loss_sum;
	double loss_total; /* worker 0: loss of all steps of a call */
	uint64_t *terms;   /* terms of all rows of a batch, or NULL (batch_state.h) */
	char pad[64];
};

struct ls_cpu {
	struct ls_fm_model *m;
	const struct ls_rows *rows;
	struct ls_pool *pool;
	const struct ls_kern *kern;
	struct ls_active_threads active; /* how many of the pool's threads take steps */
	struct ls_batch batch;           /* every worker works on a copy */
	struct ls_sort sort;
	/* by place of a sorted key; NULL: no column is wide */
	struct ls_wide_entry *wide;
	size_t entries; /* that a batch can have */
	struct worker *workers;
	uint64_t first, n; /* the steps of this call */
	double loss;       /* before them */
	size_t back_bytes, sums_bytes, terms_bytes;
};

#endif
