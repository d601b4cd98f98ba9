#include "fm/cpu/online_front.h"

#include <stdlib.h>

#include "base/mem.h"

uint32_t ls_online_front_most = 1 << 15;

enum {
	RUNS = 64,
	RUN = 1024,
	SAMPLE = RUNS * RUN
}; /* rows that are counted, in runs: data may be on a disk */

struct seen {
	uint32_t times, feature;
};

static int more_often(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	if (x->times != y->times)
		return x->times > y->times ? -1 : 1;
	return x->feature < y->feature ? -1 : 1;
}

static void count_rows(const struct ls_rows *rows, uint64_t lo, uint64_t hi, uint32_t *times)
{
	for (uint64_t e = rows->start[lo]; e < rows->start[hi]; e++)
		times[rows->feature[e]]++;
}

static void count(const struct ls_rows *rows, uint32_t *times)
{
	if (rows->n_rows <= SAMPLE)
		count_rows(rows, 0, rows->n_rows, times);
	for (uint64_t r = 0; r < RUNS && rows->n_rows > SAMPLE; r++) {
		uint64_t lo = rows->n_rows / RUNS * r;
		count_rows(rows, lo, lo + RUN, times);
	}
}

/* The least number of times, but not 0, such that no more than `most` features were seen as often.
 */
static uint32_t often(const uint32_t *times, uint64_t n_features, uint64_t most)
{
	uint32_t level = SAMPLE;
	uint64_t *at = ls_xalloc(sizeof *at * (SAMPLE + 1)), n;
	for (uint64_t j = 0; j < n_features; j++)
		at[times[j] < level ? times[j] : level]++;
	for (n = at[level]; level > 1 && n + at[level - 1] <= most; level--)
		n += at[level - 1];
	free(at);
	return level;
}

/* Those features, the most frequent first, and no more than may be. */
static uint32_t find_often(const uint32_t *times, uint64_t n_features, struct seen *ret)
{
	uint32_t most = ls_online_front_most, least = often(times, n_features, most), n = 0;
	for (uint64_t j = 0; j < n_features && n < most; j++)
		if (times[j] >= least)
			ret[n++] = (struct seen){times[j], (uint32_t)j};
	qsort(ret, n, sizeof *ret, more_often);
	return n;
}

/* Record i goes where the i-th feature's is, which comes to i; who: whose records the first n are.
 */
static void make_exchanges(struct ls_online_front *f, const struct seen *seen, uint32_t *who)
{
	for (uint32_t i = 0; i < f->n; i++)
		who[i] = i;
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t from = f->place[seen[i].feature];
		f->other[i] = from;
		f->place[who[i]] = from;
		f->place[seen[i].feature] = i;
		if (from < f->n)
			who[from] = who[i];
	}
}

int ls_online_front_init(struct ls_online_front *f, const struct ls_fm_model *m,
			 const struct ls_rows *rows, struct ls_err *err)
{
	uint64_t n = m->n_features;
	f->place = ls_alloc_array(n + !n, sizeof *f->place);
	if (!f->place)
		return ls_err_set(err, LS_ENOMEM, "no memory for the places of %llu features",
				  (unsigned long long)n);
	count(rows, f->place);
	uint32_t most = ls_online_front_most;
	struct seen *seen = ls_xalloc(sizeof *seen * (most + 1));
	uint32_t *who = ls_xalloc(sizeof *who * (most + 1));
	f->other = ls_xalloc(sizeof *f->other * (most + 1));
	f->n = find_often(f->place, n, seen);
	for (uint64_t j = 0; j < n; j++)
		f->place[j] = (uint32_t)j;
	make_exchanges(f, seen, who);
	free(seen);
	free(who);
	return 0;
}

void ls_online_front_free(struct ls_online_front *f)
{
	free(f->place);
	free(f->other);
}

struct change {
	const struct ls_online_front *f;
	struct ls_fm_model *m;
	bool to_front;
};

static void exchange(float *a, float *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		float t = a[i];
		a[i] = b[i];
		b[i] = t;
	}
}

static void change_places(void *context, int thread, int threads)
{
	const struct change *c = context;
	size_t stride = ls_fm_stride(c->m);
	uint64_t lo, hi;
	ls_pool_share(stride, thread, threads, &lo, &hi);
	for (uint32_t k = 0; k < c->f->n; k++) {
		uint32_t i = c->to_front ? k : c->f->n - 1 - k;
		float *a = c->m->linear + i * stride + lo,
		      *b = c->m->linear + c->f->other[i] * stride + lo;
		if (a != b)
			exchange(a, b, hi - lo);
		if (a != b && thread == 0 && c->m->n_sums)
			exchange(c->m->sums + (size_t)i * c->m->n_sums,
				 c->m->sums + (size_t)c->f->other[i] * c->m->n_sums, c->m->n_sums);
	}
}

void ls_online_front_set(struct ls_online_front *f, struct ls_fm_model *m, struct ls_pool *pool,
			 bool in_front)
{
	if (f->in_front == in_front || !f->n)
		return;
	ls_pool_run(pool, change_places, &(struct change){f, m, in_front});
	f->in_front = in_front;
}
