/* bench-predict FILE fm|ffm|fwfm K [threads] [repeats]: how fast a model with K factors
 * scores the rows of a file, and how fast the same lines of its records can be read with
 * nothing done with them, asked for as far ahead as is best. The model is a fresh one;
 * only its size matters. Prints the best of the repeats. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/huge_pages.h"
#include "fail.h"
#include "fm/cpu/cpu.h"
#include "fm/data/data.h"
#include "num/port.h"

struct touch {
	const struct ls_fm_model *m;
	const struct ls_rows *rows;
	size_t stride;  /* of a record, which takes a division to work out, */
	size_t floats;  /* and what of it, from its linear weights on, a score needs */
	uint64_t ahead; /* entries */
	uint32_t *seen; /* by thread, apart */
};

static const float *record(const struct touch *t, uint64_t entry)
{
	return t->m->linear + t->rows->feature[entry] * t->stride;
}

static void touch_main(void *context, int thread, int threads)
{
	const struct touch *t = context;
	uint64_t lo, hi;
	ls_pool_share(t->rows->n_rows, thread, threads, &lo, &hi);
	uint64_t end = t->rows->start[hi];
	uint32_t seen = 0; /* a float sum would be waited for, 4 cycles a line */
	for (uint64_t e = t->rows->start[lo]; e < end; e++) {
		const float *now = record(t, e),
			    *later = record(t, e + t->ahead < end ? e + t->ahead : e);
		for (size_t i = 0; i < t->floats; i += LS_CACHE_LINE_FLOATS)
			__builtin_prefetch(later + i);
		__builtin_prefetch(later + t->floats -
				   1); /* a record may begin anywhere in its line */
		for (size_t i = 0; i < t->floats; i += LS_CACHE_LINE_FLOATS)
			seen ^= ls_bits_f(now[i]);
		seen ^= ls_bits_f(now[t->floats - 1]);
	}
	t->seen[thread * LS_CACHE_LINE_FLOATS] = seen;
}

static double best_touch(struct touch *t, struct ls_pool *pool, int repeats)
{
	double best = 1e9;
	for (t->ahead = 1; t->ahead <= 256; t->ahead *= 4)
		for (int i = 0; i < repeats; i++) {
			double begin = ls_clock();
			ls_pool_run(pool, touch_main, t);
			double took = ls_clock() - begin;
			best = took < best ? took : best;
		}
	return best;
}

static double best_prediction(const struct touch *t, struct ls_pool *pool, int repeats,
			      float *score)
{
	double best = 1e9;
	for (int i = 0; i < repeats; i++) {
		struct ls_err err;
		double begin = ls_clock();
		fail_on(ls_cpu_predict(t->m, t->rows, pool, score, &err), &err);
		double took = ls_clock() - begin;
		best = took < best ? took : best;
	}
	return best;
}

int main(int argc, char **argv)
{
	int kind = LS_FM;
	while (argc >= 4 && kind <= LS_FWFM &&
	       strcmp(argv[2], ls_fm_kind_name((enum ls_fm_kind)kind)) != 0)
		kind++;
	if (argc < 4 || kind > LS_FWFM) {
		fprintf(stderr, "usage: bench-predict FILE fm|ffm|fwfm K [threads] [repeats]\n");
		return 2;
	}
	int threads = argc > 4 ? atoi(argv[4]) : 2, repeats = argc > 5 ? atoi(argv[5]) : 5;
	if (threads < 1 || repeats < 1 || atoi(argv[3]) < 1) {
		fprintf(stderr, "bench-predict: K, threads and repeats are 1 or more\n");
		return 2;
	}
	struct ls_fm_opts o = ls_fm_defaults((enum ls_fm_kind)kind, LS_BINARY, LS_ADAGRAD);
	o.factors = (uint32_t)atoi(argv[3]);
	struct ls_err err;
	struct ls_data *d;
	struct ls_pool *pool;
	struct ls_fm_model *m;
	fail_on(ls_data_load(argv[1], &(struct ls_data_opts){.threads = threads}, &d, &err), &err);
	const struct ls_rows *rows = ls_data_rows(d);
	fail_on(ls_pool_new(threads, &pool, &err), &err);
	fail_on(ls_fm_model_new_bare(&o, rows->n_features, kind == LS_FM ? 0 : rows->n_fields, &m,
				     &err),
		&err);
	ls_fm_model_init(m, pool);
	float *score = malloc(rows->n_rows * sizeof *score);
	uint32_t *seen = calloc((size_t)threads, LS_CACHE_LINE);
	if (!score || !seen)
		return 1;
	struct touch t = {.m = m,
			  .rows = rows,
			  .stride = ls_fm_stride(m),
			  .floats = ls_fm_linear_room(m) + ls_fm_lanes(m),
			  .seen = seen};
	double took = best_prediction(&t, pool, repeats, score),
	       alone = best_touch(&t, pool, repeats);
	double entry = 1e9 * threads / (double)rows->n_entries;
	printf("%s, %s k=%u, %d threads: %.3f M rows/s, %.1f ns an entry and thread; its lines "
	       "alone %.1f ns%s\n",
	       argv[1], argv[2], o.factors, threads, (double)rows->n_rows / took * 1e-6,
	       /* it is made use of */
	       took * entry, alone * entry, seen[0] == 1 ? "!" : "");
	ls_fm_model_free(m);
	ls_pool_free(pool);
	ls_data_free(d);
	free(score);
	free(seen);
	return 0;
}
