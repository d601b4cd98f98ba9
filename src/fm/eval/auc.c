#include "fm/eval/auc.h"

#include <stdlib.h>

#include "base/mem.h"
#include "num/sum.h"

enum { DIGITS = 256, FEW = 32 };

/* A row: its score as an integer of the same order, shifted above the bits of its
 * weight. */
static uint64_t ranked(float score, float weight)
{
	uint32_t u = ls_bits_f(score + 0.0f); /* -0 and +0 are one score */
	u = u & 0x80000000u ? ~u : u | 0x80000000u;
	return (uint64_t)u << 32 | ls_bits_f(weight);
}

static void sort_few(uint64_t *v, uint64_t n)
{
	for (uint64_t i = 1; i < n; i++) {
		uint64_t x = v[i], j = i;
		for (; j > 0 && v[j - 1] > x; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

/* Moves each row to a place of its digit, whose free places are next..end; the row that
 * was there goes on to its own. */
static void share_out(uint64_t *v, int shift, uint64_t next[DIGITS], const uint64_t end[DIGITS])
{
	for (uint64_t d = 0; d < DIGITS; d++)
		while (next[d] < end[d]) {
			uint64_t x = v[next[d]];
			for (uint64_t other; (other = x >> shift & (DIGITS - 1)) != d;) {
				uint64_t *place = &v[next[other]++], was = *place;
				*place = x;
				x = was;
			}
			v[next[d]++] = x;
		}
}

/* Sorts by score in place, by 8 bits at a time from the digit at `shift` on (American
 * flag sort). */
static void sort(uint64_t *v, uint64_t n, int shift)
{
	if (n <= FEW) {
		sort_few(v, n);
		return;
	}
	uint64_t next[DIGITS] = {0}, end[DIGITS], sum = 0;
	for (uint64_t i = 0; i < n; i++)
		next[v[i] >> shift & (DIGITS - 1)]++;
	for (int d = 0; d < DIGITS; d++) {
		end[d] = sum + next[d];
		next[d] = sum;
		sum = end[d];
	}
	share_out(v, shift, next, end);
	for (int d = 0; d < DIGITS && shift > 32; d++) {
		uint64_t from = d ? end[d - 1] : 0;
		sort(v + from, end[d] - from, shift - 8);
	}
}

/* The rows of a class, and how much each counts: 1, or its weight in units of a grid. The
 * classes need no grid in common, because every pair has one row of each. */
struct group {
	uint64_t *v, n, at, sum;
	double scale;
};

static void set_scale(struct group *g, const struct ls_rows *rows)
{
	int top = LS_EXP_MIN;
	for (uint64_t i = 0; i < g->n && rows->weight; i++) {
		int e = ls_exp_of(ls_f_bits((uint32_t)g->v[i]));
		top = e > top ? e : top;
	}
	g->scale = rows->weight ? ls_pow2(ls_sum_grid(top + 1, rows->n_rows)) : 1.0;
}

/* The weight of the group's next rows that have this score. */
static uint64_t take(struct group *g, uint32_t score)
{
	uint64_t sum = 0;
	for (; g->at < g->n && g->v[g->at] >> 32 == score; g->at++)
		sum += (uint64_t)ls_sum_term((double)ls_f_bits((uint32_t)g->v[g->at]) * g->scale);
	g->sum += sum;
	return sum;
}

/* The least score that is left. */
static uint32_t least(const struct group g[2])
{
	uint64_t a = g[0].at < g[0].n ? g[0].v[g[0].at] : UINT64_MAX,
		 b = g[1].at < g[1].n ? g[1].v[g[1].at] : UINT64_MAX;
	return (uint32_t)((a < b ? a : b) >> 32);
}

/* Pairs of a positive and a negative row in which the positive scores higher, ties
 * counting half; in half pairs. A pair counts as much as both of its rows multiplied, and
 * those of a class are below 2^62 in sum. */
static unsigned __int128 half_pairs(struct group g[2])
{
	unsigned __int128 halves = 0;
	while (g[0].at < g[0].n || g[1].at < g[1].n) {
		uint32_t score = least(g);
		uint64_t below = g[0].sum, tied = take(&g[0], score);
		halves += (unsigned __int128)take(&g[1], score) * (2 * below + tied);
	}
	return halves;
}

bool ls_auc(const struct ls_rows *rows, const float *score, bool *has, double *ret)
{
	uint64_t n = rows->n_rows, *v = ls_alloc_array(n, sizeof *v);
	if (!v)
		return false;
	struct group g[2] = {{.v = v}, {.v = v + n}}; /* from both ends */
	for (uint64_t i = 0; i < n; i++) {
		uint64_t x = ranked(score[i], rows->weight ? rows->weight[i] : 1.0f);
		if (rows->label[i] > 0.0f)
			*--g[1].v = x, g[1].n++;
		else
			g[0].v[g[0].n++] = x;
	}
	for (int c = 0; c < 2; c++) {
		set_scale(&g[c], rows);
		sort(g[c].v, g[c].n, 56);
	}
	unsigned __int128 halves = half_pairs(g);
	*has = g[0].sum && g[1].sum;
	if (*has) /* 1 where they are the same */
		*ret = (double)halves / (double)((unsigned __int128)2 * g[1].sum * g[0].sum);
	free(v);
	return true;
}
