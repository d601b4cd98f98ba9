/* bench-threads FILE K THREADS [batch] [rounds]: how fast one fm with K factors is
 * trained by so many threads, beside as many separate models by a thread each at the same
 * time, which share nothing but the machine, and beside one alone. They take turns within
 * one process, some hundredths of a second each, so that a machine whose speed moves
 * moves it for all of them; what is compared is of the same round. Prints medians, of
 * ratios with quarters. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "fail.h"
#include "fm/cpu/cpu.h"
#include "fm/data/data.h"
#include "fm/model/batch.h"

/* A model with what trains it. */
struct trainer {
	struct ls_fm_model *m;
	struct ls_cpu *cpu;
	uint64_t step; /* the next */
	double rate;   /* rows a second, the last time */
};

/* Every model has a seed of its own, so that no two want the same rows at the same
 * time. */
static void make(struct trainer *t, const struct ls_rows *rows, struct ls_fm_opts o,
		 struct ls_pool *pool, uint64_t seed)
{
	struct ls_err err;
	o.seed = seed;
	fail_on(ls_fm_model_new(&o, rows->n_features, 0, &t->m, &err), &err);
	ls_fm_model_init(t->m, pool);
	fail_on(ls_cpu_new(t->m, rows, pool, NULL, &t->cpu, &err), &err);
}

static void unmake(struct trainer *t)
{
	ls_cpu_free(t->cpu);
	ls_fm_model_free(t->m);
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
	int threads;
	/* the only one with threads: a second's would still spin in the next's time */
	struct ls_pool *pool;
	struct trainer together, *separate; /* separate: by thread, */
	struct ls_pool **one;               /* each with a pool without further threads */
	uint64_t steps;                     /* of each, a round */
};

static void make_separate(void *context, int thread, int threads)
{
	const struct bench *b = context;
	struct ls_err err;
	(void)threads;
	fail_on(ls_pool_new(1, &b->one[thread], &err), &err);
	make(&b->separate[thread], b->rows, b->opts, b->one[thread], (uint64_t)thread + 2);
}

static void train_separate(void *context, int thread, int threads)
{
	const struct bench *b = context;
	(void)threads;
	train(&b->separate[thread], b->steps);
}

enum { TOGETHER, SEPARATE, ALONE, OF_SEPARATE, OF_ALONE, FIGURES };

static void one_round(struct bench *b, double *ret)
{
	train(&b->together, b->steps * (uint64_t)b->threads);
	ls_pool_run(b->pool, train_separate, b);
	ret[SEPARATE] = 0.0;
	for (int t = 0; t < b->threads; t++)
		ret[SEPARATE] += b->separate[t].rate;
	train(&b->separate[0], b->steps);
	ret[TOGETHER] = b->together.rate;
	ret[ALONE] = b->separate[0].rate;
	ret[OF_SEPARATE] = ret[TOGETHER] / ret[SEPARATE];
	ret[OF_ALONE] = ret[TOGETHER] / ret[ALONE];
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void make_all(struct bench *b)
{
	struct ls_err err;
	fail_on(ls_pool_new(b->threads, &b->pool, &err), &err);
	b->separate = ls_xalloc(sizeof *b->separate * (size_t)b->threads);
	b->one = ls_xalloc(sizeof(struct ls_pool *) * (size_t)b->threads);
	ls_pool_run(b->pool, make_separate, b);
	make(&b->together, b->rows, b->opts, b->pool, 1);
}

static void unmake_all(struct bench *b)
{
	unmake(&b->together);
	for (int t = 0; t < b->threads; t++) {
		unmake(&b->separate[t]);
		ls_pool_free(b->one[t]);
	}
	free(b->separate);
	free(b->one);
	ls_pool_free(b->pool);
}

/* Each figure of all rounds, sorted. */
static void measure(struct bench *b, int rounds, double *ret[FIGURES])
{
	double got[FIGURES];
	for (int i = -3; i < rounds;
	     i++) { /* before 0 parts find their sizes, and memory is touched */
		one_round(b, got);
		for (int f = 0; f < FIGURES && i >= 0; f++)
			ret[f][i] = got[f];
	}
	for (int f = 0; f < FIGURES; f++)
		qsort(ret[f], (size_t)rounds, sizeof *ret[f], by_size);
}

static void print(const struct bench *b, int rounds, double *const f[FIGURES])
{
	int low = rounds / 4, mid = rounds / 2, high = rounds * 3 / 4;
	printf("fm k=%u, %d threads, batches of %u: %.3f M rows/s, %.3f as separate models, %.3f "
	       "alone; ",
	       b->opts.factors, b->threads, b->opts.batch, f[TOGETHER][mid] * 1e-6,
	       f[SEPARATE][mid] * 1e-6, f[ALONE][mid] * 1e-6);
	printf("of separate %.3f (%.3f to %.3f), ", f[OF_SEPARATE][mid], f[OF_SEPARATE][low],
	       f[OF_SEPARATE][high]);
	printf("times alone %.2f (%.2f to %.2f)\n", f[OF_ALONE][mid], f[OF_ALONE][low],
	       f[OF_ALONE][high]);
}

int main(int argc, char **argv)
{
	struct bench b = {.opts = ls_fm_defaults(LS_FM, LS_BINARY, LS_ADAGRAD)};
	int k = argc > 3 ? atoi(argv[2]) : 0, batch = argc > 4 ? atoi(argv[4]) : (int)b.opts.batch;
	int rounds = argc > 5 ? atoi(argv[5]) : 40;
	b.threads = argc > 3 ? atoi(argv[3]) : 0;
	if (k < 1 || b.threads < 1 || batch < 1 || rounds < 1) {
		fprintf(stderr,
			"usage: bench-threads FILE K THREADS [batch] [rounds], all 1 or more\n");
		return 2;
	}
	struct ls_err err;
	struct ls_data *d;
	fail_on(ls_data_load(argv[1], &(struct ls_data_opts){.threads = b.threads}, &d, &err),
		&err);
	b.rows = ls_data_rows(d);
	b.opts.factors = (uint32_t)k;
	b.opts.batch = (uint32_t)batch;
	b.steps = ls_fm_steps_per_epoch(&b.opts, b.rows->n_rows) / 3 / (uint64_t)b.threads + 1;
	double *figures[FIGURES];
	for (int f = 0; f < FIGURES; f++)
		figures[f] = ls_xalloc(sizeof *figures[f] * (size_t)rounds);
	make_all(&b);
	measure(&b, rounds, figures);
	print(&b, rounds, figures);
	unmake_all(&b);
	for (int f = 0; f < FIGURES; f++)
		free(figures[f]);
	ls_data_free(d);
	return 0;
}
