#include "fm/sort.h"

#include <string.h>

#include "fm/model.h"
#include "num/sum.h"

enum { MAX_BITS = 11 };

static size_t bytes_of(const struct ls_sort *s)
{
	return s->threads * s->each * sizeof *s->keys;
}

bool ls_sort_init(struct ls_sort *s, uint32_t threads, uint64_t n_features, size_t each)
{
	uint32_t bits = (uint32_t)ls_log2_ceil(n_features > 4 ? n_features : 4);
	uint32_t passes = bits <= 2 * MAX_BITS ? 2 : (bits + MAX_BITS - 1) / MAX_BITS;
	*s = (struct ls_sort){.threads = threads, .bits = (bits + passes - 1) / passes, .passes = passes, .each = each};
	size_t bytes = bytes_of(s);
	s->keys = ls_fm_big_alloc(bytes);
	s->first = ls_fm_big_alloc(bytes);
	s->third = passes > 2 ? ls_fm_big_alloc(bytes) : NULL;
	s->from = ls_fm_big_alloc(sizeof *s->from * threads * ((1u << s->bits) + 1));
	return s->keys && s->first && s->from && (s->third || passes == 2);
}

void ls_sort_free(struct ls_sort *s)
{
	size_t bytes = bytes_of(s);
	ls_fm_big_free(s->keys, bytes);
	ls_fm_big_free(s->first, bytes);
	ls_fm_big_free(s->third, bytes);
	ls_fm_big_free(s->from, sizeof *s->from * s->threads * ((1u << s->bits) + 1));
}

uint64_t *ls_sort_keys(const struct ls_sort *s, int thread)
{
	return s->keys + (size_t)thread * s->each;
}

uint32_t *ls_sort_counts(const struct ls_sort *s, int thread)
{
	return s->from + (size_t)thread * ((1u << s->bits) + 1);
}

/* Counts become the places where each digit begins. */
static void begin(uint32_t *count, uint32_t digits)
{
	uint32_t sum = 0;
	for (uint32_t d = 0; d < digits; d++) {
		uint32_t here = count[d];
		count[d] = sum;
		sum += here;
	}
}

static void scatter(const uint64_t *restrict from, size_t n, uint32_t shift, uint32_t mask, uint32_t *restrict place,
		    uint64_t *restrict to)
{
	for (size_t i = 0; i < n; i++)
		to[place[from[i] >> shift & mask]++] = from[i];
}

void ls_sort_first(const struct ls_sort *s, int thread, size_t n)
{
	uint32_t place[1 << MAX_BITS], digits = 1u << s->bits, *from = ls_sort_counts(s, thread);
	begin(from, digits);
	from[digits] = (uint32_t)n;
	memcpy(place, from, sizeof *place * digits);
	scatter(ls_sort_keys(s, thread), n, 32, digits - 1, place, s->first + (size_t)thread * s->each);
}

/* How many keys of the batch have a digit below d. */
static size_t below(const struct ls_sort *s, uint32_t d)
{
	size_t n = 0;
	for (uint32_t t = 0; t < s->threads; t++)
		n += ls_sort_counts(s, (int)t)[d];
	return n;
}

/* The first digit of a worker's share. Shares are alike in entries and digits together, each counted half: entries are
 * added up, features updated, of which each digit has about as many. */
static uint32_t share_begin(const struct ls_sort *s, uint32_t thread)
{
	uint32_t digits = 1u << s->bits, lo = 0, hi = digits;
	uint64_t n = below(s, digits), want = 2 * n * digits * thread / s->threads;
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (below(s, mid) * digits + mid * n < want)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void count(const uint64_t *from, size_t n, uint32_t shift, uint32_t mask, uint32_t *counts)
{
	for (size_t i = 0; i < n; i++)
		counts[from[i] >> shift & mask]++;
}

/* The second pass reads the workers' results of the first, digit by digit, so that equal features come together. */
static void second_pass(const struct ls_sort *s, uint32_t lo, uint32_t hi, uint64_t *to)
{
	uint32_t place[1 << MAX_BITS], mask = (1u << s->bits) - 1, shift = 32 + s->bits;
	memset(place, 0, sizeof *place << s->bits);
	for (uint32_t t = 0; t < s->threads; t++) {
		const uint32_t *from = ls_sort_counts(s, (int)t);
		count(s->first + t * s->each + from[lo], from[hi] - from[lo], shift, mask, place);
	}
	begin(place, mask + 1);
	for (uint32_t d = lo; d < hi; d++)
		for (uint32_t t = 0; t < s->threads; t++) {
			const uint32_t *from = ls_sort_counts(s, (int)t);
			scatter(s->first + t * s->each + from[d], from[d + 1] - from[d], shift, mask, place, to);
		}
}

static void other_pass(const struct ls_sort *s, uint32_t pass, const uint64_t *from, size_t n, uint64_t *to)
{
	uint32_t place[1 << MAX_BITS], mask = (1u << s->bits) - 1, shift = 32 + pass * s->bits;
	memset(place, 0, sizeof *place << s->bits);
	count(from, n, shift, mask, place);
	begin(place, mask + 1);
	scatter(from, n, shift, mask, place, to);
}

const uint64_t *ls_sort_rest(const struct ls_sort *s, int thread, size_t *ret_n, size_t *ret_before)
{
	uint32_t lo = share_begin(s, (uint32_t)thread), hi = share_begin(s, (uint32_t)thread + 1);
	size_t at = below(s, lo), n = below(s, hi) - at;
	uint64_t *from = s->keys + at, *to = s->third ? s->third + at : NULL;
	second_pass(s, lo, hi, from);
	for (uint32_t pass = 2; pass < s->passes; pass++) {
		other_pass(s, pass, from, n, to);
		uint64_t *t = from;
		from = to;
		to = t;
	}
	*ret_n = n;
	*ret_before = at;
	return from;
}
