/* A row at a time: part of kern.c, compiled with it for each instruction set. online.h has the
 * plan. Owns nothing; threads have disjoint classes. */
#ifndef LS_FM_CPU_KERN_KERN_ONLINE_H
#define LS_FM_CPU_KERN_KERN_ONLINE_H

#include <string.h>

#include "fm/cpu/kern/kern_squares.h"
#include "fm/cpu/kern/kern_update.inl.h"
#include "fm/cpu/online.h"
#include "num/halve.h"

/* --- rows whose fields rise: by all threads --- */

/* Where the thread's line `class` of an entry away from home is kept. */
INLINE float *home_line(const struct ls_online_table *t, const struct ls_online_row *r,
			struct ls_online_away away, uint32_t class)
{
	return ls_online_class_line(t, r->feature[away.entry],
				    ls_online_meet(class, away.turn, t->classes));
}

/* Copies the lines of entries that are away from home, or puts them back. */
NOT_SPECIALISED static void copy_away(const struct ls_online_table *t,
				      const struct ls_online_row *r,
				      const struct ls_online_share *s, bool back)
{
	const struct ls_online_part p = s->part;
	for (uint32_t k = 0; k < r->n_away; k++)
		for (uint32_t c = 0; c < p.n; c++) {
			float *copy = s->copies + (size_t)k * p.each + c * LINE;
			ls_online_copy(home_line(t, r, r->away[k], p.lo + c), copy, back);
		}
}

/* Asks for what copy_away will copy. */
INLINE void ask_away(const struct ls_online_table *t, const struct ls_online_row *r,
		     struct ls_online_part p)
{
	for (uint32_t k = 0; k < r->n_away; k++)
		for (uint32_t c = 0; c < p.n; c++)
			__builtin_prefetch(home_line(t, r, r->away[k], p.lo + c), 1, 3);
}

/* Its x by field, in room if they are not already. */
INLINE const float *find_x(const struct ls_online_row *r, const float *x, bool whole, float *room)
{
	for (uint32_t i = 0; i < r->n && x && !whole; i++)
		room[r->field[i]] = x[i];
	return whole || !x ? x : room;
}

/* A block of fields of a row in a class. */
struct online_side {
	float *const *v;
	const float *x;
	uint32_t n;
	size_t at;     /* in the others' lines: where the first of these fields begins, */
	uint32_t slot; /* and how many floats from the beginning of its line */
};

/* line: which of the others' lines has these fields. n is a constant of the call where it can be,
 * and x if it is NULL. Block 0 has linear weights before its first field. */
INLINE struct online_side side_of(float *const *v, const float *x, uint32_t block, uint32_t n,
				  uint32_t K, uint32_t line)
{
	uint32_t lo = ls_online_first(block, LINE / K), slot = block ? 0 : K;
	return (struct online_side){v + lo, x ? x + lo : NULL, n, (size_t)line * LINE + slot, slot};
}

/* Fields of a block. */
INLINE uint32_t block_size(uint32_t block, uint32_t fields, uint32_t K)
{
	uint32_t lo = ls_online_first(block, LINE / K), hi = ls_online_first(block + 1, LINE / K);
	return (hi < fields ? hi : fields) - lo;
}

/* What is known of blocks where both are full, or one is 0: for the compiler. */
INLINE struct ls_online_meeting not_zero(struct ls_online_meeting at)
{
	if (!at.a || !at.b)
		__builtin_unreachable();
	return at;
}

INLINE struct ls_online_meeting with_zero(struct ls_online_meeting at)
{
	at.a = 0;
	if (!at.b)
		__builtin_unreachable();
	return at;
}

/* Adds the products of the pairs of two blocks, or of one with itself, to the lanes of a line:
 * those of b's fields. And says what the squares of an entry's partners add up to, of a's entries
 * and of b's. */
INLINE void add_meeting(struct online_side a, struct online_side b, bool same, bool whole,
			uint32_t K, float *total, float *squares_a, float *squares_b)
{
	ls_pack_f *to = (ls_pack_f *)(total + (same ? b.slot : 0)),
		  sum[LINE / 4]; /* block 0 is b only with itself */
	ls_pack_f of_a[LINE / 4] = {0}, of_b[LINE / 4] = {0}, *both = same ? of_a : of_b;
	for (uint32_t c = 0; c < b.n * K / 4; c++)
		sum[c] = to[c];
	for (uint32_t i = 0; i < a.n; i++)
		for (uint32_t j = same ? i + 1 : 0; j < b.n && (whole || a.v[i]); j++)
			for (uint32_t c = 0; c < K / 4 && (whole || b.v[j]); c++) {
				ls_pack_f u = *(const ls_pack_f *)(a.v[i] + b.at + j * K + 4 * c);
				ls_pack_f w = *(const ls_pack_f *)(b.v[j] + a.at + i * K + 4 * c);
				ls_pack_f *lanes = &sum[j * K / 4 + c],
					  *of_i = &of_a[i * K / 4 + c];
				ls_pack_f *of_j = &both[j * K / 4 + c];
				u = a.x ? u * a.x[i] : u;
				w = b.x ? w * b.x[j] : w;
				*lanes = ls_pack_fma(u, w, *lanes);
				*of_i = ls_pack_fma(w, w, *of_i);
				*of_j = ls_pack_fma(u, u, *of_j);
			}
	for (uint32_t c = 0; c < b.n * K / 4; c++)
		to[c] = sum[c];
	store_squares(of_a, a.n, K, squares_a + a.slot / K);
	if (!same)
		store_squares(of_b, b.n, K, squares_b + b.slot / K);
}

INLINE void add_sides(float *const *v, const float *x, struct ls_online_meeting at, uint32_t na,
		      uint32_t nb, bool same, bool whole, uint32_t K, float *total, float *squares)
{
	add_meeting(side_of(v, x, at.a, na, K, at.line_b), side_of(v, x, at.b, nb, K, at.line_a),
		    same, whole, K, total, squares + at.a * (LINE / K),
		    squares + at.b * (LINE / K));
}

/* By what the blocks are: then the loops are straight code. Where kern_squares.h has those, the
 * rest does without. */
INLINE void add_blocks(float *const *v, const float *x, uint32_t fields,
		       struct ls_online_meeting at, bool whole, uint32_t K, float *total,
		       float *squares)
{
	const uint32_t L = LINE / K;
	bool wide = in_squares(x, whole, K);
	if (!wide && at.blocks == LS_ONLINE_FULL)
		add_sides(v, x, not_zero(at), L, L, false, whole, K, total, squares);
	else if (!wide && at.blocks == LS_ONLINE_SAME)
		add_sides(v, x, not_zero(at), L, L, true, whole, K, total, squares);
	else if (!wide && at.blocks == LS_ONLINE_ZERO)
		add_sides(v, x, with_zero(at), L - 1, L, false, whole, K, total, squares);
	else
		add_sides(v, x, at, block_size(at.a, fields, K), block_size(at.b, fields, K),
			  at.a == at.b, whole, K, total, squares);
}

/* A block whose linear weights belong to a class, the one of its number; where they are is `at`. */
INLINE struct online_side weights_of(const struct ls_online_table *t, float *const *v,
				     const float *x, struct ls_online_part p, uint32_t class,
				     uint32_t K)
{
	uint32_t block = p.lo + class, lo = ls_online_first(block, LINE / K);
	return (struct online_side){v + lo, x ? x + lo : NULL, block_size(block, t->m->n_fields, K),
				    t->is_spread ? (size_t) class * LINE : 0, 0};
}

/* A class's part of the score: linear weights, then what its meetings add up to. */
INLINE float class_part(struct online_side weights, bool whole, const float *total)
{
	float sum = 0.0f;
	for (uint32_t i = 0; i < weights.n; i++)
		if (whole || weights.v[i])
			sum += weights.v[i][weights.at] * (weights.x ? weights.x[i] : 1.0f);
	return sum + ls_halve_sum(total, LINE);
}

/* x is r's: NULL as a constant of the call where it is NULL. */
INLINE void online_parts(const struct ls_online_table *t, const struct ls_online_row *r,
			 const float *x, bool whole, float *const *v,
			 const struct ls_online_share *s, uint32_t K, float *part)
{
	float x_room[LS_ONLINE_FIELDS];
	_Alignas(64) float totals[LS_ONLINE_CLASSES][LINE], square_room[SQUARE_X];
	uint32_t fields = t->m->n_fields;
	x = find_x(r, x, whole, x_room);
	copy_away(t, r, s, false);
	memset(totals, 0, sizeof totals[0] * s->part.n);
	bool wide = in_squares(x, whole, K);
	const float *x_square = wide ? square_x(x, fields, K, square_room) : NULL;
	for (uint32_t i = 0; i < s->n; i++) {
		struct ls_online_meeting at = s->meeting[i];
		float *squares = s->squares + (size_t)at.class * s->slots;
		if (wide && at.blocks != LS_ONLINE_ANY)
			square_add_blocks(v, x_square, at, K, totals[at.class], squares);
		else
			add_blocks(v, x, fields, at, whole, K, totals[at.class], squares);
	}
	for (uint32_t c = 0; c < s->part.n; c++)
		part[c] = class_part(weights_of(t, v, x, s->part, c, K), whole, totals[c]);
}

static inline void online_forward(const struct ls_online_table *t, const struct ls_online_row *r,
				  float *const *v, const struct ls_online_share *s, float *part)
{
	bool whole = r->n == t->m->n_fields;
	if (t->m->padded == 4 && whole && !r->x)
		online_parts(t, r, NULL, true, v, s, 4, part);
	else if (t->m->padded == 4 && whole)
		online_parts(t, r, r->x, true, v, s, 4, part);
	else if (t->m->padded == 4)
		online_parts(t, r, r->x, false, v, s, 4, part);
	else if (t->m->padded == 8)
		online_parts(t, r, r->x, whole, v, s, 8, part);
	else
		online_parts(t, r, r->x, whole, v, s, 16, part);
}

/* The steps of four slots in four classes. */
INLINE void four_steps(const struct ls_online_share *s, const struct ls_online_found *at,
		       const float *x, uint32_t slot, uint32_t c, uint32_t fields, bool whole,
		       float slope, float lr, float share)
{
	const float *from = s->squares + (size_t)c * s->slots + slot;
	ls_pack_f squares[4];
	for (uint32_t i = 0; i < 4; i++)
		squares[i] = *(const ls_pack_f *)(from + i * s->slots);
	ls_pack_turn(squares);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t f = slot + i - 1;
		if (f >= fields || !(whole || at->v[f])) /* slot 0 is no field */
			continue;
		ls_pack_f *sum = (ls_pack_f *)(at->sums[f] + c),
			  unit = ls_pack_all(x ? slope * x[f] : slope), step;
		LS_CELL_SHARED_STEP(step, *sum, unit, share, squares[i], lr, ls_pack_fma,
				    ls_pack_seed, ls_pack_newton);
		*(ls_pack_f *)(s->steps + (size_t)(slot + i) * s->part.room + c) = step;
	}
}

/* The steps of all fields of a row: with what its entries' factors are added to their partners'. */
INLINE void online_steps(const struct ls_online_table *t, const struct ls_online_share *s,
			 const struct ls_online_found *at, const float *x, bool whole, float slope,
			 float lr)
{
	const float share = ls_online_part_of_squares(t->m);
	for (uint32_t slot = 0; slot < s->slots; slot += 4)
		for (uint32_t c = 0; c < s->part.room; c += 4)
			four_steps(s, at, x, slot, c, t->m->n_fields, whole, slope, lr, share);
}

/* Asks for line k of the a.n + b.n that the next row has at a meeting, or of a.n if a block meets
 * itself. */
INLINE void ask_one(float *const *next_a, struct online_side a, float *const *next_b,
		    struct online_side b, uint32_t k)
{
	__builtin_prefetch(k < a.n ? next_a[k] + b.at : next_b[k - a.n] + a.at, 1, 3);
}

/* Where a block's entries have their factors for another's, and their steps: in locals, so that
 * they are not read again after each store. */
struct online_lines {
	float *at[LINE / 4];
	ls_pack_f step[LINE / 4];
};

INLINE struct online_lines lines_of(struct online_side a, struct online_side b, bool whole,
				    const float *steps, uint32_t room, uint32_t K)
{
	struct online_lines ret = {0};
	STRAIGHT
	for (uint32_t i = 0; i < LINE / K; i++)
		if (i < a.n && (whole || a.v[i])) {
			ret.at[i] = a.v[i] + b.at;
			ret.step[i] = ls_pack_all(steps[i * room]);
		}
	return ret;
}

/* One pair: each takes its step times the other. */
INLINE void update_pair(float *u, ls_pack_f step_u, float *w, ls_pack_f step_w, const float *x_u,
			const float *x_w, uint32_t K)
{
	for (uint32_t k = 0; k < K; k += 4) {
		ls_pack_f p = *(ls_pack_f *)(u + k), q = *(ls_pack_f *)(w + k);
		*(ls_pack_f *)(u + k) = ls_pack_fma(step_u, x_w ? q * *x_w : q, p);
		*(ls_pack_f *)(w + k) = ls_pack_fma(step_w, x_u ? p * *x_u : p, q);
	}
}

/* All pairs of two blocks; on the way, what the next row has there is asked for. */
INLINE void update_meeting(struct online_side a, struct online_side b, float *const *next_a,
			   float *const *next_b, bool same, bool whole, uint32_t K,
			   const float *steps_a, const float *steps_b, uint32_t room)
{
	struct online_lines of_a = lines_of(a, b, whole, steps_a, room, K),
			    of_b = lines_of(b, a, whole, steps_b, room, K);
	uint32_t k = 0, lines = same ? a.n : a.n + b.n;
	for (uint32_t i = 0; i < LINE / K && i < a.n; i++) {
		for (uint32_t j = same ? i + 1 : 0; j < LINE / K && j < b.n; j++) {
			if (j % 2 == 0 && k < lines)
				ask_one(next_a, a, next_b, b, k++);
			if (whole || (of_a.at[i] && of_b.at[j]))
				update_pair(of_a.at[i] + j * K, of_a.step[i], of_b.at[j] + i * K,
					    of_b.step[j], a.x ? a.x + i : NULL,
					    b.x ? b.x + j : NULL, K);
		}
	}
	for (; k < lines; k++)
		ask_one(next_a, a, next_b, b, k);
}

INLINE void adagrad_lanes(float *v, size_t state, uint32_t n, const float *g,
			  const struct ls_update *u)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ls_param p = ls_cell_adagrad_online(
			(struct ls_param){v[i], v[state + i], 0.0f}, g[i], u);
		v[i] = p.v;
		v[state + i] = p.s1;
	}
}

/* Linear weights of the thread's blocks, gathered, so that their updates fill vectors. */
struct online_weights {
	uint32_t n;
	float *at[LS_ONLINE_FIELDS], v[2][LS_ONLINE_FIELDS], g[LS_ONLINE_FIELDS];
};

INLINE void gather_weights(struct online_side a, bool whole, float slope, struct online_weights *w)
{
	for (uint32_t i = 0; i < a.n; i++)
		if (whole || a.v[i]) {
			w->at[w->n] = a.v[i] + a.at;
			w->v[0][w->n] = w->at[w->n][0];
			w->v[1][w->n] = w->at[w->n][1];
			w->g[w->n++] = a.x ? slope * a.x[i] : slope;
		}
}

INLINE void update_weights(const struct ls_online_table *t, float *const *v, const float *x,
			   bool whole, struct ls_online_part p, const struct ls_update *u,
			   float slope, uint32_t K)
{
	struct online_weights w;
	w.n = 0;
	for (uint32_t c = 0; c < p.n; c++)
		gather_weights(weights_of(t, v, x, p, c, K), whole, slope, &w);
	adagrad_lanes(w.v[0], LS_ONLINE_FIELDS, w.n, w.g, u);
	for (uint32_t i = 0; i < w.n; i++) {
		w.at[i][0] = w.v[0][i];
		w.at[i][1] = w.v[1][i];
	}
}

/* steps: of the meeting's class, by slot. */
INLINE void update_sides(float *const *v, const float *x, float *const *next,
			 struct ls_online_meeting at, uint32_t na, uint32_t nb, bool same,
			 bool whole, uint32_t K, const float *steps, uint32_t room)
{
	const uint32_t L = LINE / K, lo_a = ls_online_first(at.a, L),
		       lo_b = ls_online_first(at.b, L);
	update_meeting(side_of(v, x, at.a, na, K, at.line_b), side_of(v, x, at.b, nb, K, at.line_a),
		       next + lo_a, next + lo_b, same, whole, K, steps + (size_t)(lo_a + 1) * room,
		       steps + (size_t)(lo_b + 1) * room, room);
}

/* As add_blocks. */
INLINE void update_blocks(float *const *v, const float *x, uint32_t fields, float *const *next,
			  struct ls_online_meeting at, bool whole, uint32_t K, const float *steps,
			  uint32_t room)
{
	const uint32_t L = LINE / K;
	bool wide = in_squares(x, whole, K);
	if (!wide && at.blocks == LS_ONLINE_FULL)
		update_sides(v, x, next, not_zero(at), L, L, false, whole, K, steps, room);
	else if (!wide && at.blocks == LS_ONLINE_SAME)
		update_sides(v, x, next, not_zero(at), L, L, true, whole, K, steps, room);
	else if (!wide && at.blocks == LS_ONLINE_ZERO)
		update_sides(v, x, next, with_zero(at), L - 1, L, false, whole, K, steps, room);
	else
		update_sides(v, x, next, at, block_size(at.a, fields, K),
			     block_size(at.b, fields, K), at.a == at.b, whole, K, steps, room);
}

/* later: what to ask for of the next row, by field. */
INLINE void online_updates(const struct ls_online_table *t, const struct ls_online_row *r,
			   const float *x, bool whole, const struct ls_online_found *mine,
			   float *const *later, const struct ls_online_share *s, float slope,
			   uint32_t K)
{
	float x_room[LS_ONLINE_FIELDS], *const *v = mine->v;
	_Alignas(64) float square_room[SQUARE_X];
	const uint32_t fields = t->m->n_fields, room = s->part.room;
	x = find_x(r, x, whole, x_room);
	bool wide = in_squares(x, whole, K);
	const float *x_square = wide ? square_x(x, fields, K, square_room) : NULL;
	online_steps(t, s, mine, x, whole, slope, r->update.lr);
	for (uint32_t i = 0; i < s->n; i++) {
		const float *steps = s->steps + s->meeting[i].class;
		if (wide && s->meeting[i].blocks != LS_ONLINE_ANY)
			square_update_blocks(v, x_square, later, s->meeting[i], K, steps, room);
		else
			update_blocks(v, x, fields, later, s->meeting[i], whole, K, steps, room);
	}
	update_weights(t, v, x, whole, s->part, &r->update, slope, K);
	copy_away(t, r, s, true);
}

static inline void online_update(const struct ls_online_table *t, const struct ls_online_row *r,
				 const struct ls_online_found *mine,
				 const struct ls_online_row *next, float *const *later,
				 const struct ls_online_share *s, float slope)
{
	bool whole = r->n == t->m->n_fields;
	ask_away(t, next, s->part);
	if (t->m->padded == 4 && whole && !r->x)
		online_updates(t, r, NULL, true, mine, later, s, slope, 4);
	else if (t->m->padded == 4 && whole)
		online_updates(t, r, r->x, true, mine, later, s, slope, 4);
	else if (t->m->padded == 4)
		online_updates(t, r, r->x, false, mine, later, s, slope, 4);
	else if (t->m->padded == 8)
		online_updates(t, r, r->x, whole, mine, later, s, slope, 8);
	else
		online_updates(t, r, r->x, whole, mine, later, s, slope, 16);
}

/* --- any row, any model: by one thread --- */

INLINE void alone_lanes(float *v, size_t state, uint32_t n, const float *g,
			const struct ls_update *u)
{
	if (u->optimizer == LS_ADAGRAD)
		adagrad_lanes(v, state, n, g, u);
	else
		update_lanes(v, v + state, v + 2 * state, n, g, 1.0f, false, 0.0f, u, u->optimizer,
			     u->regular);
}

/* Adds the products of a pair to its class's total, and each entry's factors to the other's P. */
INLINE void alone_pair(const struct ls_online_table *t, const struct ls_online_row *r, uint32_t o,
		       uint32_t i, uint32_t j, float *total, float *back)
{
	const struct ls_fm_model *m = t->m;
	uint32_t K = m->padded, f = r->field[i], g = r->field[j];
	size_t each = ls_fm_lanes(m), at = (size_t)o * m->n_fields * K;
	const float *u = ls_online_factors(t, r->feature[i], o, g).v,
		    *w = ls_online_factors(t, r->feature[j], o, f).v;
	float *sum = total + ls_online_lane(t, f, g);
	float *to_i = back + i * each + at + (size_t)g * K,
	      *to_j = back + j * each + at + (size_t)f * K;
	float xi = r->x ? r->x[i] : 1.0f, xj = r->x ? r->x[j] : 1.0f;
	for (uint32_t k = 0; k < K; k++) {
		float ux = u[k] * xi, wx = w[k] * xj;
		sum[k] = ls_fmaf(ux, wx, sum[k]);
		to_i[k] += wx;
		to_j[k] += ux;
	}
}

/* Totals of the classes and P of the entries (cell.h), each in the order of the row. P begins at
 * -0, which changes no term that is added to it. */
INLINE void alone_pairs(const struct ls_online_table *t, const struct ls_online_row *r, uint32_t o,
			float *total, float *back)
{
	const struct ls_fm_model *m = t->m;
	size_t lanes = (size_t)m->n_fields * m->padded;
	memset(total, 0, sizeof(float) * t->classes * ls_online_lanes(m->padded));
	for (uint32_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < lanes; k++)
			back[i * ls_fm_lanes(m) + o * lanes + k] = -0.0f;
	for (uint32_t i = 0; i < r->n; i++)
		for (uint32_t j = i + 1; j < r->n; j++)
			alone_pair(t, r, o, i, j, total, back);
}

/* The score: bias, then the classes' parts. */
INLINE float alone_score(const struct ls_online_table *t, const struct ls_online_row *r, uint32_t o,
			 float bias, const float *total)
{
	uint32_t L = ls_online_line(t->m->padded), N = ls_online_lanes(t->m->padded);
	float score = bias;
	for (uint32_t c = 0; c < t->classes; c++) {
		float sum = 0.0f;
		for (uint32_t i = 0; i < r->n; i++)
			if (ls_online_block(r->field[i], L) == c)
				sum += ls_online_weights(t, r->feature[i]).v[o] *
				       (r->x ? r->x[i] : 1.0f);
		score += sum + ls_halve_sum(total + (size_t)c * N, (int)N);
	}
	return score;
}

/* Gradients of the feature of entry i, over all of the row's entries that have it. once: there is
 * one, and the gradients of factors are left as a product, of its unit and P. */
INLINE void alone_gradients(const struct ls_fm_model *m, const struct ls_online_row *r, uint32_t i,
			    bool once, struct ls_online_room *room)
{
	size_t lanes = (size_t)m->n_fields * m->padded, each = m->outputs * lanes;
	for (uint32_t j = i; j < r->n; j++)
		for (uint32_t o = 0; o < m->outputs && r->feature[j] == r->feature[i]; o++) {
			float gx = room->slope[o] * (r->x ? r->x[j] : 1.0f),
			      unit = once ? 1.0f : gx;
			const float *back = room->back + j * each + o * lanes;
			float *sums = room->sums + o * lanes;
			room->unit[o] = once ? gx : 1.0f;
			room->linear[o] = j == i ? gx : room->linear[o] + gx;
			for (size_t k = 0; k < lanes; k++)
				sums[k] = j == i ? unit * back[k] : sums[k] + unit * back[k];
		}
}

/* Whether an entry of field g stands beside one of those that have the feature of entry i, the
 * first of them. */
INLINE bool has_partner(const struct ls_online_row *r, uint32_t i, uint32_t g,
			const struct ls_online_room *room)
{
	bool found = room->entries[g] > (r->field[i] == g);
	for (uint32_t j = i + 1; j < r->n && room->again && room->entries[g] && !found; j++)
		found = r->feature[j] == r->feature[i] && room->entries[g] > (r->field[j] == g);
	return found;
}

/* AdaGrad's step of a feature's factors for the fields of a block, which share a sum of squares. */
INLINE void alone_block(const struct ls_online_table *t, const struct ls_online_row *r, uint32_t i,
			uint32_t o, uint32_t block, struct ls_online_room *room)
{
	const struct ls_fm_model *m = t->m;
	uint32_t K = m->padded, L = ls_online_line(K), lo = ls_online_first(block, L),
		 hi = ls_online_first(block + 1, L);
	float *d = room->sums + ((size_t)o * m->n_fields + lo) * K, lanes[MAX_K],
	      *v[LINE / 4] = {0};
	memset(lanes, 0, sizeof *lanes * K);
	for (uint32_t g = lo; g < hi && g < m->n_fields; g++) {
		if (!has_partner(r, i, g, room))
			continue;
		v[g - lo] = ls_online_factors(t, r->feature[i], o, g).v;
		for (uint32_t k = 0; k < K; k++) {
			float *at = &d[(g - lo) * K + k];
			*at = ls_cell_regular(*at, v[g - lo][k], &r->update);
			lanes[k] = ls_fmaf(*at, *at, lanes[k]);
		}
	}
	uint32_t class = ls_online_meet(ls_online_block(r->field[i], L), block, t->classes);
	float step = ls_cell_shared_step(ls_online_sum(t, r->feature[i], o, class), room->unit[o],
					 ls_online_part_of_squares(m), ls_halve_sum(lanes, (int)K),
					 &r->update);
	for (uint32_t g = 0; g < L; g++)
		for (uint32_t k = 0; k < K && v[g]; k++)
			v[g][k] = ls_fmaf(step, d[g * K + k], v[g][k]);
}

/* Of an optimizer whose state is beside factors: those for field g. */
INLINE void alone_field(const struct ls_online_table *t, const struct ls_online_row *r, uint32_t i,
			uint32_t o, uint32_t g, struct ls_online_room *room)
{
	const struct ls_fm_model *m = t->m;
	struct ls_online_at at = ls_online_factors(t, r->feature[i], o, g);
	const float *sums = room->sums + ((size_t)o * m->n_fields + g) * m->padded;
	if (has_partner(r, i, g, room))
		alone_lanes(at.v, at.state, m->padded, sums, &r->update);
}

/* The step of the feature of entry i: its linear weights, and of its factors those that multiply
 * another entry's. */
INLINE void alone_update(const struct ls_online_table *t, const struct ls_online_row *r, uint32_t i,
			 struct ls_online_room *room)
{
	const struct ls_fm_model *m = t->m;
	struct ls_online_at weights = ls_online_weights(t, r->feature[i]);
	bool shared = ls_fm_shares_sums(&m->opts);
	room->again =
		ls_online_find(r->feature + i + 1, r->n - i - 1, r->feature[i]) < r->n - i - 1;
	alone_gradients(m, r, i, shared && !room->again && !r->update.regular, room);
	alone_lanes(weights.v, weights.state, m->outputs, room->linear, &r->update);
	for (uint32_t o = 0; o < m->outputs; o++) {
		for (uint32_t b = 0; b < t->classes && shared; b++)
			alone_block(t, r, i, o, b, room);
		for (uint32_t g = 0; g < m->n_fields && !shared; g++)
			alone_field(t, r, i, o, g, room);
	}
}

/* Scores, loss and slopes. False when one of them is not finite. */
INLINE bool alone_forward(const struct ls_online_table *t, const struct ls_online_row *r,
			  struct ls_online_room *room)
{
	const struct ls_fm_model *m = t->m;
	bool finite = true;
	for (uint32_t o = 0; o < m->outputs; o++) {
		alone_pairs(t, r, o, room->total, room->back);
		room->score[o] = alone_score(t, r, o, room->bias[o], room->total);
	}
	room->loss = ls_cell_row_loss((int)m->opts.task, m->opts.label_smoothing, room->score,
				      m->outputs, r->label, r->weight, room->slope);
	for (uint32_t o = 0; o < m->outputs; o++)
		finite = finite && ls_exp_of(room->score[o]) != LS_EXP_INF &&
			 ls_exp_of(room->slope[o]) != LS_EXP_INF;
	return finite && ls_exp_of(room->loss) != LS_EXP_INF;
}

static inline bool online_alone(const struct ls_online_table *t, const struct ls_online_row *r,
				struct ls_online_room *room)
{
	if (!alone_forward(t, r, room))
		return false;
	for (uint32_t i = 0; i < r->n; i++)
		room->entries[r->field[i]]++;
	for (uint32_t i = 0; i < r->n; i++)
		if (ls_online_find(r->feature, i, r->feature[i]) == i)
			alone_update(t, r, i, room);
	alone_lanes(room->bias, t->m->outputs, t->m->outputs, room->slope, &r->update);
	for (uint32_t i = 0; i < r->n; i++)
		room->entries[r->field[i]] = 0;
	return true;
}

#endif
