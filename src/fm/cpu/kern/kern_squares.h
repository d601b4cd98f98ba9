/* A row at a time, where a vector has room for several fields: part of kern_online.h. Elsewhere
 * than with AVX2 and AVX-512 vectors have one field of 4 factors, and nothing of this is used.
 *
 * At a meeting each of the L entries of a block has a line for the L fields of the other: two
 * square matrices of runs of K floats, where each run's partner is across the diagonal in the
 * other. A vector has runs of W neighbouring fields; squares of W by W are turned over in
 * registers, and then everything is lane by lane. Bytes are those of one pair after another: a
 * class has one b for each a, so each lane adds up by rising a in any case. Owns nothing; threads
 * have disjoint classes. */
#ifndef LS_FM_CPU_KERN_KERN_SQUARES_H
#define LS_FM_CPU_KERN_KERN_SQUARES_H

#include "fm/cpu/kern/kern.h"
#include "fm/cpu/online.h"

/* Two full blocks of a whole row. Of block 0 the first run is linear weights': `skip` slots without
 * an entry. They stand for zeros, and so what is in the other's line there takes a step of nothing.
 * skip, same and K are constants of the calls, and x if it is NULL. */
struct square_meeting {
	float *a[LINE / 4],
		*b[LINE / 4]; /* lines of the entries of slots 0 .. L - 1, but for those skipped */
	float *next_a[LINE / 4], *next_b[LINE / 4]; /* of the next row, to ask for on the way */
	const float *x_a, *x_b;                     /* NULL, or for each slot K times its x */
	uint32_t skip;                              /* of a: 0 or 1 */
	bool same;                                  /* a and b are one block */
};

enum { SQUARE_X = LS_ONLINE_CLASSES * LINE }; /* room for square_x */

/* Whether a row's full blocks meet here: a whole row's; with more than 4 factors only over values
 * of 1, for each way is code that has to be compiled. */
INLINE bool in_squares(const float *x, bool whole, uint32_t K)
{
	return LS_WIDE > 4 && K <= LS_WIDE && whole && (K == 4 || !x);
}

/* Each field's x K times, behind as many zeros, or NULL if x is. */
INLINE const float *square_x(const float *x, uint32_t fields, uint32_t K, float *room)
{
	for (uint32_t k = 0; k < K && x; k++)
		room[k] = 0.0f;
	for (uint32_t f = 0; f < fields && x; f++)
		for (uint32_t k = 0; k < K; k++)
			room[(f + 1) * K + k] = x[f];
	return x ? room : NULL;
}

INLINE void square_lines(float *const *v, uint32_t block, uint32_t line, uint32_t skip, uint32_t L,
			 float **ret)
{
	for (uint32_t i = skip; i < L; i++)
		ret[i] = v[block * L + i - 1] + (size_t)line * LINE;
}

INLINE struct square_meeting square_meeting_of(float *const *v, const float *x, float *const *next,
					       struct ls_online_meeting at, uint32_t skip,
					       bool same, uint32_t K)
{
	const uint32_t L = LINE / K;
	struct square_meeting m = {.skip = skip, .same = same};
	m.x_a = x ? x + at.a * LINE : NULL;
	m.x_b = x ? x + at.b * LINE : NULL;
	square_lines(v, at.a, at.line_a, skip, L, m.a);
	square_lines(v, at.b, at.line_b, same ? skip : 0, L, m.b);
	square_lines(next, at.a, at.line_a, skip, L, m.next_a);
	square_lines(next, at.b, at.line_b, same ? skip : 0, L, m.next_b);
	return m;
}

/* Lanes of fields before a vector's nth, and of the nth. */
INLINE ls_wide_s fields_before(uint32_t n, uint32_t K)
{
	return (ls_wide_s)(LS_WIDE_COUNT / K < n);
}

INLINE ls_wide_s field_is(uint32_t n, uint32_t K)
{
	return (ls_wide_s)(LS_WIDE_COUNT / K == n);
}

INLINE ls_wide_f choose(ls_wide_s kept, ls_wide_f old, ls_wide_f changed)
{
	return (ls_wide_f)(((ls_wide_s)old & kept) | ((ls_wide_s)changed & ~kept));
}

/* What the lanes of n entries add up to, each entry's halved: K lanes each, LINE / K at most. */
INLINE void store_squares(ls_pack_f *sum, uint32_t n, uint32_t K, float *to)
{
	for (uint32_t h = K / 8; h; h /= 2)
		for (uint32_t i = 0; i < LINE / K; i++)
			for (uint32_t c = 0; c < h; c++)
				sum[i * K / 4 + c] += sum[i * K / 4 + c + h];
	ls_pack_f four = K == 4   ? ls_pack_halve(sum[0], sum[1], sum[2], sum[3])
			 : K == 8 ? ls_pack_halve(sum[0], sum[2], sum[0], sum[2])
				  : ls_pack_halve(sum[0], sum[0], sum[0], sum[0]);
	memcpy(to, &four, sizeof(float) * n);
}

/* Vectors of slots i .. i + W of lines, from float `at` on. */
INLINE void square_load(float *const *line, uint32_t skip, uint32_t i, uint32_t W, size_t at,
			ls_wide_f *ret)
{
	for (uint32_t k = 0; k < W; k++)
		ret[k] = i + k < skip ? (ls_wide_f){0} : *(const ls_wide_f *)(line[i + k] + at);
}

/* Adds the squares of vectors to the lanes of the fields that they are for. own: but for the
 * vectors' own fields. */
INLINE ls_wide_f square_squares(const ls_wide_f *v, bool own, uint32_t K, ls_wide_f sum)
{
	STRAIGHT
	for (uint32_t k = 0; k < LS_WIDE / K; k++) {
		ls_wide_f added = ls_wide_fma(v[k], v[k], sum);
		sum = own ? choose(field_is(k, K), sum, added) : added;
	}
	return sum;
}

/* Adds the products of a square to the lanes of b's fields: of each, in the order of a's. And of
 * a's entries and of b's the squares of their partners. */
INLINE ls_wide_f square_add(const struct square_meeting *m, uint32_t i, uint32_t j, uint32_t K,
			    ls_wide_f sum, ls_wide_f *of_a, ls_wide_f *of_b)
{
	const uint32_t W = LS_WIDE / K;
	bool own = m->same && i == j;
	ls_wide_f p[LINE / 4], q[LINE / 4];
	square_load(m->a, m->skip, i, W, (size_t)j * K, p);
	square_load(m->b, m->same ? m->skip : 0, j, W, (size_t)i * K, q);
	for (uint32_t k = 0; k < W && m->x_a; k++) {
		p[k] = p[k] * m->x_a[(i + k) * K];
		q[k] = q[k] * m->x_b[(j + k) * K];
	}
	*of_a = square_squares(q, own, K, *of_a);
	if (!own)
		*of_b = square_squares(p, false, K, *of_b);
	ls_wide_turn(q, W);
	STRAIGHT
	for (uint32_t k = 0; k < W; k++) {
		ls_wide_f added = i + k < m->skip ? sum : ls_wide_fma(p[k], q[k], sum);
		sum = own ? choose(fields_before(k + 1, K), sum, added) : added;
	}
	return sum;
}

INLINE void square_add_meeting(struct square_meeting m, uint32_t K, float *total, float *squares_a,
			       float *squares_b)
{
	const uint32_t W = LS_WIDE / K, L = LINE / K;
	ls_wide_f of_a[LINE / LS_WIDE] = {0}, of_b[LINE / LS_WIDE] = {0},
			      *both = m.same ? of_a : of_b;
	STRAIGHT
	for (uint32_t j = 0; j < L; j += W) {
		ls_wide_f *to = (ls_wide_f *)(total + (size_t)j * K), sum = *to;
		STRAIGHT
		for (uint32_t i = 0; i < L; i += W)
			if (!m.same || i <= j)
				sum = square_add(&m, i, j, K, sum, &of_a[i / W], &both[j / W]);
		*to = sum;
	}
	store_squares((ls_pack_f *)of_a, L, K, squares_a);
	if (!m.same)
		store_squares((ls_pack_f *)of_b, L, K, squares_b);
}

/* The steps of vectors v of slots i .. i + W, from float `at` of their lines on; other is what
 * multiplies them. What is not for another entry is left alone: at a meeting of a block with itself
 * (own) a vector's own field, and where linear weights are (weights) those. */
INLINE void square_steps(float *const *line, uint32_t skip, uint32_t i, size_t at,
			 const ls_wide_f *v, const ls_wide_f *other, const float *steps,
			 uint32_t room, bool own, bool weights, uint32_t K)
{
	STRAIGHT
	for (uint32_t k = 0; k < LS_WIDE / K; k++)
		if (i + k >= skip) {
			ls_wide_f to = ls_wide_fma(ls_wide_all(steps[(size_t)(i + k) * room]),
						   other[k], v[k]);
			to = own ? choose(field_is(k, K), v[k], to) : to;
			*(ls_wide_f *)(line[i + k] + at) =
				weights ? choose(field_is(0, K), v[k], to) : to;
		}
}

/* steps: of a's slots, and of b's. */
INLINE void square_update(const struct square_meeting *m, uint32_t i, uint32_t j, uint32_t K,
			  const float *steps_a, const float *steps_b, uint32_t room)
{
	const uint32_t W = LS_WIDE / K, skip_j = m->same ? m->skip : 0;
	bool own = m->same && i == j;
	ls_wide_f p[LINE / 4], q[LINE / 4], of_p[LINE / 4], of_q[LINE / 4];
	square_load(m->a, m->skip, i, W, (size_t)j * K, p);
	square_load(m->b, skip_j, j, W, (size_t)i * K, q);
	for (uint32_t k = 0; k < W; k++) {
		of_p[k] = m->x_a ? q[k] * m->x_b[(j + k) * K] : q[k];
		of_q[k] = m->x_a ? p[k] * m->x_a[(i + k) * K] : p[k];
	}
	ls_wide_turn(of_p, W);
	ls_wide_turn(of_q, W);
	square_steps(m->a, m->skip, i, (size_t)j * K, p, of_p, steps_a, room, own, skip_j && !j, K);
	if (!own)
		square_steps(m->b, skip_j, j, (size_t)i * K, q, of_q, steps_b, room, false,
			     m->skip && !i, K);
}

INLINE void square_update_meeting(struct square_meeting m, uint32_t K, const float *steps_a,
				  const float *steps_b, uint32_t room)
{
	const uint32_t W = LS_WIDE / K, L = LINE / K;
	STRAIGHT
	for (uint32_t i = 0; i < L; i += W) {
		for (uint32_t k = i; k < i + W; k++)
			if (k >= m.skip)
				__builtin_prefetch(m.next_a[k], 1, 3);
		for (uint32_t k = i; k < i + W && !m.same; k++)
			__builtin_prefetch(m.next_b[k], 1, 3);
		STRAIGHT
		for (uint32_t j = m.same ? i : 0; j < L; j += W)
			square_update(&m, i, j, K, steps_a, steps_b, room);
	}
}

/* By what is a constant of the calls. */
INLINE void square_add_blocks(float *const *v, const float *x, struct ls_online_meeting at,
			      uint32_t K, float *total, float *squares)
{
	float *of_a = squares + at.a * (LINE / K), *of_b = squares + at.b * (LINE / K);
	if (at.blocks == LS_ONLINE_FULL)
		square_add_meeting(square_meeting_of(v, x, v, at, 0, false, K), K, total, of_a,
				   of_b);
	else if (at.blocks == LS_ONLINE_SAME)
		square_add_meeting(square_meeting_of(v, x, v, at, 0, true, K), K, total, of_a,
				   of_b);
	else if (at.blocks == LS_ONLINE_ZERO)
		square_add_meeting(square_meeting_of(v, x, v, at, 1, false, K), K, total, of_a,
				   of_b);
	else
		square_add_meeting(square_meeting_of(v, x, v, at, 1, true, K), K, total, of_a,
				   of_b);
}

INLINE void square_update_blocks(float *const *v, const float *x, float *const *next,
				 struct ls_online_meeting at, uint32_t K, const float *steps,
				 uint32_t room)
{
	const float *of_a = steps + (size_t)at.a * (LINE / K) * room,
		    *of_b = steps + (size_t)at.b * (LINE / K) * room;
	if (at.blocks == LS_ONLINE_FULL)
		square_update_meeting(square_meeting_of(v, x, next, at, 0, false, K), K, of_a, of_b,
				      room);
	else if (at.blocks == LS_ONLINE_SAME)
		square_update_meeting(square_meeting_of(v, x, next, at, 0, true, K), K, of_a, of_b,
				      room);
	else if (at.blocks == LS_ONLINE_ZERO)
		square_update_meeting(square_meeting_of(v, x, next, at, 1, false, K), K, of_a, of_b,
				      room);
	else
		square_update_meeting(square_meeting_of(v, x, next, at, 1, true, K), K, of_a, of_b,
				      room);
}

#endif
