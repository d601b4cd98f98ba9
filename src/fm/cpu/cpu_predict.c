/* Prediction on threads: each takes an equal share of the rows. */
#include <stdlib.h>

#include "base/mem.h"
#include "fm/cpu/cpu.h"
#include "fm/cpu/dispatch.h"
#include "fm/cpu/kern_sizes.h"
#include "num/num.h"

struct prediction {
	const struct ls_fm_model *m;
	const struct ls_rows *rows;
	const struct ls_kern *kern;
	float *score, *scratch;
	size_t each;
};

static void predict_main(void *context, int thread, int threads)
{
	const struct prediction *p = context;
	uint64_t lo, hi, saved = ls_fp_enter();
	ls_pool_share(p->rows->n_rows, thread, threads, &lo, &hi);
	p->kern->predict(p->m, p->rows, lo, hi, p->score + lo * p->m->outputs,
			 p->scratch + (size_t)thread * p->each);
	ls_fp_leave(saved);
}

int ls_cpu_predict(const struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool,
		   float *ret_score, struct ls_err *err)
{
	if (m->n_fields && !rows->field)
		return ls_err_set(err, LS_EINPUT, "this %s model needs data with fields (libffm)",
				  ls_fm_kind_name(m->opts.kind));
	struct prediction p = {m,         rows, ls_kern_dispatch(NULL),
			       ret_score, NULL, ls_kern_scratch(m, ls_rows_longest(rows)) + 16};
	p.scratch = ls_alloc_array(p.each * (size_t)ls_pool_threads(pool), sizeof(float));
	if (!p.scratch)
		return ls_err_set(err, LS_ENOMEM, "no memory to predict rows this long");
	ls_pool_run(pool, predict_main, &p);
	free(p.scratch);
	return 0;
}
