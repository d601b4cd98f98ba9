#include "exact/cpu/scatter_cpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "exact/cpu/threads.h"

enum { WIDTH = 256, PART = 1 << 14 /* elements of a task */ };

struct job {
	const struct ls_scatter *s;
	int64_t *start; /* keys + 1: where the list of a key begins */
	int64_t *list;
};

static int count(const struct job *j, struct ls_err *err)
{
	int64_t items = ls_scatter_items(j->s);
	for (int64_t i = 0; i < items; i++) {
		int64_t key = ls_scatter_key(j->s, i);
		if (key == LS_SCATTER_BAD)
			return ls_err_set(err, LS_EINPUT,
					  "index %lld is %lld; there are %lld places", (long long)i,
					  (long long)j->s->index[i], (long long)j->s->places);
		if (key >= 0)
			j->start[key + 1]++;
	}
	return 0;
}

/* The lists, by counting. start[key] moves to the list's end, which is where the next
 * one begins, and is moved back. */
static void make_lists(const struct job *j)
{
	int64_t items = ls_scatter_items(j->s), keys = ls_scatter_keys(j->s);
	for (int64_t k = 0; k < keys; k++)
		j->start[k + 1] += j->start[k];
	for (int64_t i = 0; i < items; i++) {
		int64_t key = ls_scatter_key(j->s, i);
		if (key >= 0)
			j->list[j->start[key]++] = i;
	}
	memmove(j->start + 1, j->start, sizeof *j->start * (size_t)keys);
	j->start[0] = 0;
}

/* n columns of a key from column c on. */
static void sum_columns(const struct job *j, int64_t key, int64_t c, int n)
{
	const int64_t from = j->start[key], to = j->start[key + 1];
	uint32_t top[WIDTH] = {0}, flags[WIDTH] = {0};
	uint64_t sum[WIDTH] = {0};
	double scale[WIDTH];
	for (int64_t l = from; l < to; l++)
		for (int i = 0; i < n; i++) {
			double t = ls_scatter_term(j->s, j->list[l], c + i);
			uint32_t u = ls_term_top(t);
			top[i] = u > top[i] ? u : top[i];
			flags[i] |= ls_term_flags(t);
		}
	for (int i = 0; i < n; i++)
		scale[i] = ls_pow2(ls_term_grid(top[i], to - from));
	for (int64_t l = from; l < to; l++)
		for (int i = 0; i < n; i++)
			sum[i] += ls_term_steps(ls_scatter_term(j->s, j->list[l], c + i), scale[i]);
	for (int i = 0; i < n; i++)
		ls_scatter_finish(j->s, key, c + i, to - from, sum[i], top[i], flags[i]);
}

static void task(void *context, int64_t from, int64_t to)
{
	const struct job *j = context;
	int64_t columns = ls_scatter_columns(j->s);
	for (int64_t key = from; key < to; key++)
		for (int64_t c = 0; c < columns; c += WIDTH)
			sum_columns(j, key, c, columns - c < WIDTH ? (int)(columns - c) : WIDTH);
}

int ls_scatter_cpu(const struct ls_scatter *s, int threads, struct ls_err *err)
{
	int64_t keys = ls_scatter_keys(s), columns = ls_scatter_columns(s);
	struct job j = {.s = s,
			.start = ls_alloc_array((size_t)keys + 1, sizeof *j.start),
			.list = ls_alloc_array((size_t)ls_scatter_items(s) + 1, sizeof *j.list)};
	int rc = j.start && j.list ? 0
				   : ls_err_set(err, LS_ENOMEM,
						"no memory is left for the lists of a scatter");
	if (!rc) {
		memset(j.start, 0, sizeof *j.start * ((size_t)keys + 1));
		rc = count(&j, err);
	}
	if (!rc) {
		int64_t part = PART / (columns + 1);
		make_lists(&j);
		ls_exact_threads_run(threads, keys, part < 1 ? 1 : part, task, &j);
	}
	free(j.start);
	free(j.list);
	return rc;
}
