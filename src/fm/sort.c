#include "fm/sort.h"

#include <string.h>

#include "fm/model.h"
#include "num/sum.h"

/* MANY: workers from which on gather() is worth its while (a Xeon: 21 us instead of 33 with 16, as much with 8, more
 * with 4). */
enum { MAX_BITS = 11, MANY = 8 };

static size_t digits_of(const struct ls_sort *s)
{
	return (size_t)1 << s->bits;
}

static size_t from_bytes(const struct ls_sort *s)
{
	return 2 * s->threads * (digits_of(s) + 1) * sizeof *s->from;
}

bool ls_sort_init(struct ls_sort *s, uint32_t threads, uint64_t n_features, size_t room)
{
	uint32_t bits = (uint32_t)ls_log2_ceil(n_features > 4 ? n_features : 4);
	uint32_t passes = bits <= 2 * MAX_BITS ? 2 : (bits + MAX_BITS - 1) / MAX_BITS;
	*s = (struct ls_sort){.threads = threads, .bits = (bits + passes - 1) / passes, .passes = passes, .room = room};
	size_t bytes = room * sizeof *s->sorted;
	bool two = passes > 2 || threads >= MANY;
	s->first = ls_fm_big_alloc(2 * bytes);
	s->from = ls_fm_big_alloc(from_bytes(s));
	s->sorted = ls_fm_big_alloc(bytes);
	s->other = two ? ls_fm_big_alloc(bytes) : NULL;
	return s->first && s->from && s->sorted && (s->other || !two);
}

void ls_sort_free(struct ls_sort *s)
{
	size_t bytes = s->room * sizeof *s->sorted;
	ls_fm_big_free(s->first, 2 * bytes);
	ls_fm_big_free(s->from, from_bytes(s));
	ls_fm_big_free(s->sorted, bytes);
	ls_fm_big_free(s->other, bytes);
}

/* What the first pass leaves of a batch: a worker's keys of digit d are from[d] .. from[d + 1] of `first`. */
static uint64_t *first_of(const struct ls_sort *s, uint64_t batch)
{
	return s->first + batch % 2 * s->room;
}

static uint32_t *from_of(const struct ls_sort *s, uint64_t batch, uint32_t worker)
{
	return s->from + (batch % 2 * s->threads + worker) * (digits_of(s) + 1);
}

/* Counts become the places where each digit begins. */
static void begin(uint32_t *count, size_t digits, uint32_t at)
{
	for (size_t d = 0; d < digits; d++) {
		uint32_t here = count[d];
		count[d] = at;
		at += here;
	}
}

static void put_entries(const struct ls_sort_rows *rows, uint32_t mask, uint32_t *restrict place, uint64_t *restrict to)
{
	const uint32_t *feature = rows->feature;
	for (uint32_t i = 0; i < rows->n_entries; i++)
		to[place[feature[i] & mask]++] = (uint64_t)feature[i] << 32 | (rows->entry + i);
}

static void put_rows(const struct ls_sort_rows *rows, uint32_t mask, uint32_t *restrict place, uint64_t *restrict to)
{
	const uint32_t *feature = rows->feature;
	for (uint32_t b = rows->lo; b < rows->hi; feature += rows->place[b++].n)
		for (uint32_t i = 0; i < rows->place[b].n; i++)
			to[place[feature[i] & mask]++] = (uint64_t)feature[i] << 32 | b;
}

/* A digit's place, from[digit + 1], moves on with each key, up to where the next digit begins. */
void ls_sort_first(const struct ls_sort *s, uint64_t batch, int thread, const struct ls_sort_rows *rows)
{
	uint32_t mask = (uint32_t)digits_of(s) - 1, *from = from_of(s, batch, (uint32_t)thread);
	memset(from, 0, (digits_of(s) + 1) * sizeof *from);
	for (uint32_t i = 0; i < rows->n_entries; i++)
		from[1 + (rows->feature[i] & mask)]++;
	from[0] = rows->entry;
	begin(from + 1, digits_of(s), rows->entry);
	if (rows->place)
		put_rows(rows, mask, from + 1, first_of(s, batch));
	else
		put_entries(rows, mask, from + 1, first_of(s, batch));
}

/* How many keys of the batch have a digit below d. */
static size_t below(const struct ls_sort *s, uint64_t batch, uint32_t d)
{
	size_t n = 0;
	for (uint32_t t = 0; t < s->threads; t++)
		n += from_of(s, batch, t)[d] - from_of(s, batch, t)[0];
	return n;
}

/* The first digit of a worker's part. Entries and digits are counted half each: entries are added up, features updated,
 * of which each digit has about as many. */
static uint32_t part_begin(const struct ls_sort *s, uint64_t batch, const struct ls_shares *shares, int thread)
{
	uint32_t digits = (uint32_t)digits_of(s), lo = 0, hi = digits;
	uint64_t n = below(s, batch, digits), want = ls_shares_begin(shares, 2 * n * digits, thread);
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (below(s, batch, mid) * digits + mid * n < want)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct ls_sort_part ls_sort_part(const struct ls_sort *s, uint64_t batch, const struct ls_shares *shares, int thread)
{
	bool last = thread + 1 == (int)s->threads;
	return (struct ls_sort_part){thread ? part_begin(s, batch, shares, thread) : 0,
				     last ? (uint32_t)digits_of(s) : part_begin(s, batch, shares, thread + 1)};
}

/* Of two neighbours, which often have the same digit, one counts behind all digits, so that it does not wait for the
 * other. */
static void count(const uint64_t *from, size_t n, uint32_t shift, uint32_t mask, uint32_t *counts)
{
	size_t i = 0;
	for (; i + 1 < n; i += 2) {
		counts[from[i] >> shift & mask]++;
		counts[mask + 1 + (from[i + 1] >> shift & mask)]++;
	}
	if (i < n)
		counts[from[i] >> shift & mask]++;
}

/* Both counts of each digit become the place where it begins. */
static void begin_both(uint32_t *count, size_t digits)
{
	uint32_t at = 0;
	for (size_t d = 0; d < digits; d++) {
		uint32_t here = count[d] + count[digits + d];
		count[d] = at;
		at += here;
	}
}

static void scatter(const uint64_t *restrict from, size_t n, uint32_t shift, uint32_t mask, uint32_t *restrict place,
		    uint64_t *restrict to)
{
	for (size_t i = 0; i < n; i++)
		to[place[from[i] >> shift & mask]++] = from[i];
}

/* The second pass reads the workers' results of the first, digit by digit, so that equal features come together. */
static void second_pass(const struct ls_sort *s, uint64_t batch, const struct ls_sort_part *part, uint64_t *to)
{
	uint32_t place[2 << MAX_BITS], mask = (uint32_t)digits_of(s) - 1, shift = 32 + s->bits;
	const uint64_t *first = first_of(s, batch);
	memset(place, 0, 2 * sizeof *place << s->bits);
	for (uint32_t t = 0; t < s->threads; t++) {
		const uint32_t *from = from_of(s, batch, t);
		count(first + from[part->lo], from[part->hi] - from[part->lo], shift, mask, place);
	}
	begin_both(place, digits_of(s));
	for (uint32_t d = part->lo; d < part->hi; d++)
		for (uint32_t t = 0; t < s->threads; t++) {
			const uint32_t *from = from_of(s, batch, t);
			scatter(first + from[d], from[d + 1] - from[d], shift, mask, place, to);
		}
}

/* With many workers the runs of a digit are too short for that: they are put together by digit first. */
static void gather(const struct ls_sort *s, uint64_t batch, const struct ls_sort_part *part, uint64_t *restrict to)
{
	uint32_t place[1 << MAX_BITS], mask = (uint32_t)digits_of(s) - 1, lo = part->lo, hi = part->hi;
	const uint64_t *first = first_of(s, batch);
	memset(place, 0, sizeof *place * (hi - lo));
	for (uint32_t t = 0; t < s->threads; t++) {
		const uint32_t *from = from_of(s, batch, t);
		for (uint32_t d = lo; d < hi; d++)
			place[d - lo] += from[d + 1] - from[d];
		for (uint32_t i = from[lo]; i < from[hi]; i += LS_FM_LINE / 2)
			__builtin_prefetch(first + i);
	}
	begin(place, hi - lo, 0);
	for (uint32_t t = 0; t < s->threads; t++) {
		const uint32_t *from = from_of(s, batch, t);
		for (uint32_t i = from[lo]; i < from[hi]; i++)
			to[place[(first[i] >> 32 & mask) - lo]++] = first[i];
	}
}

static void other_pass(const struct ls_sort *s, uint32_t pass, const uint64_t *from, size_t n, uint64_t *to)
{
	uint32_t place[2 << MAX_BITS], mask = (uint32_t)digits_of(s) - 1, shift = 32 + pass * s->bits;
	memset(place, 0, 2 * sizeof *place << s->bits);
	count(from, n, shift, mask, place);
	begin_both(place, digits_of(s));
	scatter(from, n, shift, mask, place, to);
}

const uint64_t *ls_sort_rest(const struct ls_sort *s, uint64_t batch, const struct ls_sort_part *part, size_t *ret_n,
			     size_t *ret_before)
{
	size_t at = below(s, batch, part->lo), n = below(s, batch, part->hi) - at;
	uint64_t *from = s->sorted + at, *to = s->other ? s->other + at : NULL;
	uint32_t pass = s->threads >= MANY ? 1 : 2;
	if (pass == 1)
		gather(s, batch, part, from);
	else
		second_pass(s, batch, part, from);
	for (; pass < s->passes; pass++) {
		other_pass(s, pass, from, n, to);
		uint64_t *t = from;
		from = to;
		to = t;
	}
	*ret_n = n;
	*ret_before = at;
	return from;
}
