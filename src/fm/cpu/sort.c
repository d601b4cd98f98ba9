#include "fm/cpu/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/huge_pages.h"
#include "base/inline.h"
#include "base/mem.h"
#include "fm/model/model.h"
#include "num/sum.h"

/* MANY: with so many workers gather_digits() is faster (bench/threads.md). */
enum { MAX_BITS = 11, MANY = 8 };

static size_t digits_of(const struct ls_sort *s)
{
	return (size_t)1 << s->bits;
}

/* Numbers that a worker has in `from`, in whole cache lines (no false sharing). */
static size_t from_stride(const struct ls_sort *s)
{
	return digits_of(s) / LS_CACHE_LINE_FLOATS * LS_CACHE_LINE_FLOATS + LS_CACHE_LINE_FLOATS;
}

static size_t from_bytes(const struct ls_sort *s)
{
	return 2 * s->most * from_stride(s) * sizeof *s->from;
}

static size_t key_bytes(const struct ls_sort *s)
{
	return s->number_bits ? sizeof(uint32_t) : sizeof(uint64_t);
}

static size_t first_bytes(const struct ls_sort *s)
{
	return s->room * key_bytes(s);
}

bool ls_sort_init(struct ls_sort *s, uint32_t threads, uint64_t n_features, uint64_t numbers,
		  size_t room)
{
	uint32_t bits = (uint32_t)ls_log2_ceil(n_features > 4 ? n_features : 4);
	uint32_t number_bits = (uint32_t)ls_log2_ceil(numbers > 2 ? numbers : 2);
	uint32_t passes = bits <= 2 * MAX_BITS ? 2 : (bits + MAX_BITS - 1) / MAX_BITS;
	*s = (struct ls_sort){.most = threads,
			      .threads = threads,
			      .bits = (bits + passes - 1) / passes,
			      .passes = passes,
			      .number_bits = bits + number_bits <= 32 ? number_bits : 0,
			      .room = room};
	size_t bytes = room * sizeof *s->sorted;
	bool two = passes > 2 || threads >= MANY;
	s->work = ls_xalloc((digits_of(s) + 1) * sizeof *s->work);
	ls_sort_weigh(s, &(struct ls_rows){0});
	s->first = ls_huge_alloc(2 * first_bytes(s));
	s->from = ls_huge_alloc(from_bytes(s));
	s->sorted = ls_huge_alloc(bytes);
	s->other = two ? ls_huge_alloc(bytes) : NULL;
	return s->first && s->from && s->sorted && (s->other || !two);
}

void ls_sort_free(struct ls_sort *s)
{
	size_t bytes = s->room * sizeof *s->sorted;
	free(s->work);
	ls_huge_free(s->first, 2 * first_bytes(s));
	ls_huge_free(s->from, from_bytes(s));
	ls_huge_free(s->sorted, bytes);
	ls_huge_free(s->other, bytes);
}

/* --- parts --- */

/* Work is half entries, which are added up, and half digits, which stand for the features
 * to update. No digit is without work, or it might be in no part. */
void ls_sort_weigh(struct ls_sort *s, const struct ls_rows *rows)
{
	enum { SOME = 1 << 17 }; /* entries */
	uint64_t digits = digits_of(s), n = 1, every = rows->n_entries / SOME + 1;
	memset(s->work, 0, (digits + 1) * sizeof *s->work);
	for (uint64_t r = 0; r < rows->n_rows; r += every)
		for (uint64_t e = rows->start[r]; e < rows->start[r + 1]; e++, n++)
			s->work[1 + (rows->feature[e] & (digits - 1))]++;
	for (uint64_t d = 0; d < digits; d++)
		s->work[d + 1] = s->work[d] + s->work[d + 1] * digits + n;
}

/* The first digit of a worker's part. */
static uint32_t part_begin(const struct ls_sort *s, const struct ls_balance *shares, int thread)
{
	uint32_t lo = 0, hi = (uint32_t)digits_of(s);
	uint64_t want = ls_balance_begin(shares, s->work[hi], thread);
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (s->work[mid] < want)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct ls_sort_part ls_sort_part(const struct ls_sort *s, const struct ls_balance *shares,
				 int thread)
{
	return (struct ls_sort_part){part_begin(s, shares, thread),
				     part_begin(s, shares, thread + 1)};
}

/* --- passes --- */

struct keys {
	const void *at;
	uint32_t number_bits;
	bool narrow;
};

INLINE uint32_t feature_at(struct keys keys, size_t i)
{
	return keys.narrow ? ((const uint32_t *)keys.at)[i] >> keys.number_bits
			   : (uint32_t)(((const uint64_t *)keys.at)[i] >> 32);
}

/* As a wide key. */
INLINE uint64_t key_at(struct keys keys, size_t i)
{
	if (!keys.narrow)
		return ((const uint64_t *)keys.at)[i];
	uint32_t key = ((const uint32_t *)keys.at)[i], mask = ((uint32_t)1 << keys.number_bits) - 1;
	return (uint64_t)(key >> keys.number_bits) << 32 | (key & mask);
}

/* The result of the first pass: a worker's keys of digit d are from[d]..from[d + 1]. */
static void *first_of(const struct ls_sort *s, uint64_t batch)
{
	return (char *)s->first + batch % 2 * first_bytes(s);
}

static uint32_t *from_of(const struct ls_sort *s, uint64_t batch, uint32_t worker)
{
	return s->from + (batch % 2 * s->threads + worker) * from_stride(s);
}

/* Replaces counts by where each digit begins (an exclusive prefix sum). */
static void prefix_sum(uint32_t *count, size_t digits, uint32_t at)
{
	for (size_t d = 0; d < digits; d++) {
		uint32_t here = count[d];
		count[d] = at;
		at += here;
	}
}

INLINE void store_key(void *to, uint32_t number_bits, bool narrow, uint32_t at, uint32_t feature,
		      uint32_t number)
{
	if (narrow)
		((uint32_t *)to)[at] = feature << number_bits | number;
	else
		((uint64_t *)to)[at] = (uint64_t)feature << 32 | number;
}

INLINE void scatter_entries(const struct ls_sort_rows *rows, uint32_t mask,
			    uint32_t *restrict place, void *restrict to, uint32_t number_bits,
			    bool narrow)
{
	const uint32_t *feature = rows->feature, n = rows->n_entries, first = rows->entry;
	for (uint32_t i = 0; i < n; i++)
		store_key(to, number_bits, narrow, place[feature[i] & mask]++, feature[i],
			  first + i);
}

INLINE void scatter_rows(const struct ls_sort_rows *rows, uint32_t mask, uint32_t *restrict place,
			 void *restrict to, uint32_t number_bits, bool narrow)
{
	const uint32_t *feature = rows->feature;
	for (uint32_t b = rows->lo, n; b < rows->hi; b++, feature += n) {
		n = rows->place[b - rows->lo].n;
		for (uint32_t i = 0; i < n; i++)
			store_key(to, number_bits, narrow, place[feature[i] & mask]++, feature[i],
				  b);
	}
}

static void scatter_first(const struct ls_sort_rows *rows, uint32_t mask, uint32_t *place, void *to,
			  uint32_t number_bits)
{
	if (rows->place && number_bits)
		scatter_rows(rows, mask, place, to, number_bits, true);
	else if (rows->place)
		scatter_rows(rows, mask, place, to, 0, false);
	else if (number_bits)
		scatter_entries(rows, mask, place, to, number_bits, true);
	else
		scatter_entries(rows, mask, place, to, 0, false);
}

/* from[digit + 1] moves on with each key until it is where the next digit begins. */
void ls_sort_first(const struct ls_sort *s, uint64_t batch, int thread,
		   const struct ls_sort_rows *rows)
{
	uint32_t mask = (uint32_t)digits_of(s) - 1, *from = from_of(s, batch, (uint32_t)thread);
	memset(from, 0, (digits_of(s) + 1) * sizeof *from);
	for (uint32_t i = 0; i < rows->n_entries; i++)
		from[1 + (rows->feature[i] & mask)]++;
	from[0] = rows->entry;
	prefix_sum(from + 1, digits_of(s), rows->entry);
	scatter_first(rows, mask, from + 1, first_of(s, batch), s->number_bits);
}

/* Neighbours often have the same digit. Every second one is counted apart, so that it
 * does not wait for the store of the other. */
INLINE void count(struct keys keys, size_t i, size_t end, uint32_t shift, uint32_t mask,
		  uint32_t *counts)
{
	for (; i + 1 < end; i += 2) {
		counts[feature_at(keys, i) >> shift & mask]++;
		counts[mask + 1 + (feature_at(keys, i + 1) >> shift & mask)]++;
	}
	if (i < end)
		counts[feature_at(keys, i) >> shift & mask]++;
}

static void prefix_sum_of_both(uint32_t *counts, size_t digits)
{
	for (size_t d = 0; d < digits; d++)
		counts[d] += counts[digits + d];
	prefix_sum(counts, digits, 0);
}

INLINE void scatter(struct keys keys, size_t i, size_t end, uint32_t shift, uint32_t mask,
		    uint32_t *restrict place, uint64_t *restrict to)
{
	for (; i < end; i++)
		to[place[feature_at(keys, i) >> shift & mask]++] = key_at(keys, i);
}

/* The second pass reads what all workers left in the first, digit by digit. */
INLINE void second_pass(const struct ls_sort *s, uint64_t batch, const struct ls_sort_part *part,
			struct keys first, uint64_t *to)
{
	uint32_t place[2 << MAX_BITS], mask = (uint32_t)digits_of(s) - 1;
	memset(place, 0, 2 * sizeof *place << s->bits);
	for (uint32_t t = 0; t < s->threads; t++) {
		const uint32_t *from = from_of(s, batch, t);
		count(first, from[part->lo], from[part->hi], s->bits, mask, place);
	}
	prefix_sum_of_both(place, digits_of(s));
	for (uint32_t d = part->lo; d < part->hi; d++)
		for (uint32_t t = 0; t < s->threads; t++) {
			const uint32_t *from = from_of(s, batch, t);
			scatter(first, from[d], from[d + 1], s->bits, mask, place, to);
		}
}

/* With many workers the runs of a digit are too short for that: the keys are gathered by
 * digit first. The next digits are counted on the way; ret_place is where each begins. */
INLINE void gather_digits(const struct ls_sort *s, uint64_t batch, const struct ls_sort_part *part,
			  struct keys first, uint64_t *restrict to, uint32_t *restrict ret_place)
{
	uint32_t place[1 << MAX_BITS], mask = (uint32_t)digits_of(s) - 1, lo = part->lo,
				       hi = part->hi;
	size_t bytes = first.narrow ? sizeof(uint32_t) : sizeof(uint64_t), line = LS_CACHE_LINE;
	memset(place, 0, sizeof *place * (hi - lo));
	for (uint32_t t = 0; t < s->threads; t++) {
		const uint32_t *from = from_of(s, batch, t);
		for (uint32_t d = lo; d < hi; d++)
			place[d - lo] += from[d + 1] - from[d];
		for (size_t i = from[lo] * bytes; i < from[hi] * bytes; i += line)
			__builtin_prefetch((const char *)first.at + i);
	}
	prefix_sum(place, hi - lo, 0);
	memset(ret_place, 0, sizeof *ret_place << s->bits);
	for (uint32_t t = 0; t < s->threads; t++) {
		const uint32_t *from = from_of(s, batch, t);
		for (uint32_t i = from[lo], end = from[hi]; i < end; i++) {
			uint32_t feature = feature_at(first, i);
			to[place[(feature & mask) - lo]++] = key_at(first, i);
			ret_place[feature >> s->bits & mask]++;
		}
	}
	prefix_sum(ret_place, digits_of(s), 0);
}

INLINE void after_first(const struct ls_sort *s, uint64_t batch, const struct ls_sort_part *part,
			struct keys first, uint64_t *to, uint32_t *ret_place)
{
	if (s->threads >= MANY)
		gather_digits(s, batch, part, first, to, ret_place);
	else
		second_pass(s, batch, part, first, to);
}

/* place: where each digit of the pass begins, if that is known before (second pass), and
 * scratch. */
static void other_pass(const struct ls_sort *s, uint32_t pass, const uint64_t *from, size_t n,
		       uint32_t *place, uint64_t *to)
{
	uint32_t mask = (uint32_t)digits_of(s) - 1;
	struct keys keys = {.at = from, .narrow = false};
	if (pass > 1) {
		memset(place, 0, 2 * sizeof *place << s->bits);
		count(keys, 0, n, pass * s->bits, mask, place);
		prefix_sum_of_both(place, digits_of(s));
	}
	scatter(keys, 0, n, pass * s->bits, mask, place, to);
}

/* How many keys of the batch have a digit below d. */
static size_t keys_below(const struct ls_sort *s, uint64_t batch, uint32_t d)
{
	size_t n = 0;
	for (uint32_t t = 0; t < s->threads; t++)
		n += from_of(s, batch, t)[d] - from_of(s, batch, t)[0];
	return n;
}

const uint64_t *ls_sort_rest(const struct ls_sort *s, uint64_t batch,
			     const struct ls_sort_part *part, size_t *ret_n, size_t *ret_before)
{
	size_t at = keys_below(s, batch, part->lo), n = keys_below(s, batch, part->hi) - at;
	uint64_t *from = s->sorted + at, *to = s->other ? s->other + at : NULL;
	uint32_t place[2 << MAX_BITS];
	if (s->number_bits)
		after_first(s, batch, part, (struct keys){first_of(s, batch), s->number_bits, true},
			    from, place);
	else
		after_first(s, batch, part, (struct keys){first_of(s, batch), 0, false}, from,
			    place);
	for (uint32_t pass = s->threads >= MANY ? 1 : 2; pass < s->passes; pass++) {
		other_pass(s, pass, from, n, place, to);
		uint64_t *t = from;
		from = to;
		to = t;
	}
	*ret_n = n;
	*ret_before = at;
	return from;
}
