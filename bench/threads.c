/* bench-threads FILE K THREADS [batch] [rounds]: how fast one fm with K factors is trained by so many threads, beside
 * as many separate models by a thread each at the same time, which share nothing but the machine, and beside one alone.
 * They take turns within one process, some hundredths of a second each, so that a machine whose speed moves moves it
 * for all of them; what is compared is of the same round. Prints medians, of ratios with quarters. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "fm/batch.h"
#include "fm/cpu.h"
#include "fm/data.h"

static void fail_on(int rc, const struct ls_err *err)
{
	if (!rc)
		return;
	fprintf(stderr, "%s\n", err->msg);
	exit(1);
}

/* A model with what trains it. */
struct trainer {
	struct ls_pool *pool;
	struct ls_fm_model *m;
	struct ls_cpu *cpu;
	uint64_t step; /* the next */
	double rate;   /* rows a second, the last time */
};

/* Every model has a seed of its own, so that no two want the same rows at the same time. */
static void make(struct trainer *t, const struct ls_rows *rows, struct ls_fm_opts o, int threads, uint64_t seed)
{
	struct ls_err err;
	o.seed = seed;
	fail_on(ls_pool_new(threads, &t->pool, &err), &err);
	fail_on(ls_fm_model_new(&o, rows->n_features, 0, &t->m, &err), &err);
	ls_fm_model_init(t->m, t->pool);
	fail_on(ls_cpu_new(t->m, rows, t->pool, NULL, &t->cpu, &err), &err);
}

static void unmake(struct trainer *t)
{
	ls_cpu_free(t->cpu);
	ls_fm_model_free(t->m);
	ls_pool_free(t->pool);
}

static void train(struct trainer *t, uint64_t steps)
{
	struct ls_err err;
	double loss = 0.0, begin = ls_clock();
	fail_on(ls_cpu_steps(t->cpu, t->step, steps, &loss, &err), &err);
	t->rate = (double)(steps * t->m->opts.batch) / (ls_clock() - begin);
	t->step += steps;
}

struct bench {
	const struct ls_rows *rows;
	struct ls_fm_opts opts;
	struct trainer *separate; /* by thread */
	uint64_t steps;           /* of each, a round */
};

static void make_separate(void *context, int thread, int threads)
{
	const struct bench *b = context;
	(void)threads;
	make(&b->separate[thread], b->rows, b->opts, 1, (uint64_t)thread + 2);
}

static void train_separate(void *context, int thread, int threads)
{
	const struct bench *b = context;
	(void)threads;
	train(&b->separate[thread], b->steps);
}

enum { TOGETHER, SEPARATE, ALONE, OF_SEPARATE, OF_ALONE, FIGURES };

static void round_of(struct bench *b, struct trainer *together, struct ls_pool *pool, int threads, double *ret)
{
	train(together, b->steps * (uint64_t)threads);
	ls_pool_run(pool, train_separate, b);
	ret[SEPARATE] = 0.0;
	for (int t = 0; t < threads; t++)
		ret[SEPARATE] += b->separate[t].rate;
	train(&b->separate[0], b->steps);
	ret[TOGETHER] = together->rate;
	ret[ALONE] = b->separate[0].rate;
	ret[OF_SEPARATE] = ret[TOGETHER] / ret[SEPARATE];
	ret[OF_ALONE] = ret[TOGETHER] / ret[ALONE];
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* rounds × FIGURES; afterwards each figure's are sorted in all. */
static void measure(struct bench *b, int threads, int rounds, double (*all)[FIGURES], double *sorted[FIGURES])
{
	struct trainer together;
	struct ls_pool *pool;
	struct ls_err err;
	fail_on(ls_pool_new(threads, &pool, &err), &err);
	b->separate = ls_xalloc(sizeof *b->separate * (size_t)threads);
	ls_pool_run(pool, make_separate, b);
	make(&together, b->rows, b->opts, threads, 1);
	for (int i = 0; i < 3; i++) /* parts find their sizes, memory is touched */
		round_of(b, &together, pool, threads, all[0]);
	for (int i = 0; i < rounds; i++)
		round_of(b, &together, pool, threads, all[i]);
	for (int f = 0; f < FIGURES; f++) {
		for (int i = 0; i < rounds; i++)
			sorted[f][i] = all[i][f];
		qsort(sorted[f], (size_t)rounds, sizeof *sorted[f], by_size);
	}
	unmake(&together);
	for (int t = 0; t < threads; t++)
		unmake(&b->separate[t]);
	free(b->separate);
	ls_pool_free(pool);
}

int main(int argc, char **argv)
{
	int k = argc > 3 ? atoi(argv[2]) : 0, threads = argc > 3 ? atoi(argv[3]) : 0;
	struct bench b = {.opts = ls_fm_defaults(LS_FM, LS_BINARY, LS_ADAGRAD)};
	int batch = argc > 4 ? atoi(argv[4]) : (int)b.opts.batch, rounds = argc > 5 ? atoi(argv[5]) : 40;
	if (k < 1 || threads < 1 || batch < 1 || rounds < 1) {
		fprintf(stderr, "usage: bench-threads FILE K THREADS [batch] [rounds], all 1 or more\n");
		return 2;
	}
	struct ls_err err;
	struct ls_data *d;
	fail_on(ls_data_load(argv[1], &(struct ls_data_opts){.threads = threads}, &d, &err), &err);
	b.rows = ls_data_rows(d);
	b.opts.factors = (uint32_t)k;
	b.opts.batch = (uint32_t)batch;
	b.steps = ls_fm_steps_per_epoch(&b.opts, b.rows->n_rows) / 3 / (uint64_t)threads + 1;
	double(*all)[FIGURES] = ls_xalloc(sizeof *all * (size_t)rounds), *sorted[FIGURES];
	for (int f = 0; f < FIGURES; f++)
		sorted[f] = ls_xalloc(sizeof *sorted[f] * (size_t)rounds);
	measure(&b, threads, rounds, all, sorted);
	int low = rounds / 4, mid = rounds / 2, high = rounds * 3 / 4;
	printf("fm k=%d, %d threads, batches of %d: %.3f M rows/s, %.3f as separate models, %.3f alone; of separate "
	       "%.3f (%.3f "
	       "to %.3f), times alone %.2f (%.2f to %.2f)\n",
	       k, threads, batch, sorted[TOGETHER][mid] * 1e-6, sorted[SEPARATE][mid] * 1e-6, sorted[ALONE][mid] * 1e-6,
	       sorted[OF_SEPARATE][mid], sorted[OF_SEPARATE][low], sorted[OF_SEPARATE][high], sorted[OF_ALONE][mid],
	       sorted[OF_ALONE][low], sorted[OF_ALONE][high]);
	for (int f = 0; f < FIGURES; f++)
		free(sorted[f]);
	free(all);
	ls_data_free(d);
	return 0;
}
