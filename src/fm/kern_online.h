/* A row at a time: part of kern.c, compiled with it for each instruction set. online.h has the plan. Owns nothing;
 * threads have disjoint classes. */
#ifndef LS_FM_KERN_ONLINE_H
#define LS_FM_KERN_ONLINE_H

#include <string.h>

#include "fm/kern_squares.h"
#include "fm/kern_update.h"
#include "fm/online.h"
#include "num/halve.h"

/* --- rows whose fields rise: by all threads --- */

/* Where the thread's line `class` of an entry away from home is kept. */
INLINE struct ls_online_at home_line(const struct ls_online_table *t, const struct ls_online_row *r,
				     struct ls_online_away away, uint32_t class)
{
	return ls_online_class_line(t, r->feature[away.entry], ls_online_meet(class, away.turn, t->classes));
}

/* Copies the lines of entries that are away from home, or puts them back. */
NOT_SPECIALISED static void copy_away(const struct ls_online_table *t, const struct ls_online_row *r,
				      const struct ls_online_share *s, bool back)
{
	const struct ls_online_part p = s->part;
	for (uint32_t k = 0; k < r->n_away; k++)
		for (uint32_t c = 0; c < p.n; c++) {
			struct ls_online_at home = home_line(t, r, r->away[k], p.lo + c);
			float *copy = s->copies + (size_t)k * p.each + c * LINE;
			ls_online_copy(home, (struct ls_online_at){copy, p.state}, back);
		}
}

/* Asks for what copy_away will copy. */
INLINE void ask_away(const struct ls_online_table *t, const struct ls_online_row *r, struct ls_online_part p)
{
	for (uint32_t k = 0; k < r->n_away; k++)
		for (uint32_t c = 0; c < p.n; c++) {
			struct ls_online_at home = home_line(t, r, r->away[k], p.lo + c);
			ask_line(home.v, home.state);
		}
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

/* line: which of the others' lines has these fields. n is a constant of the call where it can be, and x if it is NULL.
 * Block 0 has linear weights before its first field. */
INLINE struct online_side side_of(float *const *v, const float *x, uint32_t block, uint32_t n, uint32_t K,
				  uint32_t line)
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

/* Adds the products of the pairs of two blocks, or of one with itself, to the lanes of a line: those of b's fields. */
INLINE void add_meeting(struct online_side a, struct online_side b, bool same, bool whole, uint32_t K, float *total)
{
	ls_pack_f *to = (ls_pack_f *)(total + (same ? b.slot : 0)), sum[LINE / 4]; /* block 0 is b only with itself */
	for (uint32_t c = 0; c < b.n * K / 4; c++)
		sum[c] = to[c];
	for (uint32_t i = 0; i < a.n; i++)
		for (uint32_t j = same ? i + 1 : 0; j < b.n && (whole || a.v[i]); j++)
			for (uint32_t c = 0; c < K / 4 && (whole || b.v[j]); c++) {
				ls_pack_f u = *(const ls_pack_f *)(a.v[i] + b.at + j * K + 4 * c);
				ls_pack_f w = *(const ls_pack_f *)(b.v[j] + a.at + i * K + 4 * c);
				ls_pack_f *lanes = &sum[j * K / 4 + c];
				*lanes = a.x ? ls_pack_fma(u * a.x[i], w * b.x[j], *lanes) : ls_pack_fma(u, w, *lanes);
			}
	for (uint32_t c = 0; c < b.n * K / 4; c++)
		to[c] = sum[c];
}

INLINE void add_sides(float *const *v, const float *x, struct ls_online_meeting at, uint32_t na, uint32_t nb, bool same,
		      bool whole, uint32_t K, float *total)
{
	add_meeting(side_of(v, x, at.a, na, K, at.line_b), side_of(v, x, at.b, nb, K, at.line_a), same, whole, K,
		    total);
}

/* By the number of fields, which are nearly always as many as fill a line: then the loops are straight code. Where
 * kern_squares.h has those, the rest does without. */
INLINE void add_blocks(float *const *v, const float *x, uint32_t fields, struct ls_online_meeting at, bool whole,
		       uint32_t K, float *total)
{
	const uint32_t L = LINE / K, na = block_size(at.a, fields, K), nb = block_size(at.b, fields, K);
	bool same = at.a == at.b, squares = in_squares(x, whole, K);
	if (!squares && !same && na == L && nb == L)
		add_sides(v, x, at, L, L, false, whole, K, total);
	else if (!squares && !same && na == L - 1 && nb == L)
		add_sides(v, x, at, L - 1, L, false, whole, K, total);
	else if (!squares && same && na == L)
		add_sides(v, x, at, L, L, true, whole, K, total);
	else
		add_sides(v, x, at, na, nb, same, whole, K, total);
}

/* A block whose linear weights belong to a class, the one of its number; where they are is `at`. */
INLINE struct online_side weights_of(const struct ls_online_table *t, float *const *v, const float *x,
				     struct ls_online_part p, uint32_t class, uint32_t K)
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
INLINE void online_parts(const struct ls_online_table *t, const struct ls_online_row *r, const float *x, bool whole,
			 float *const *v, const struct ls_online_share *s, uint32_t K, float *part)
{
	float x_room[LS_ONLINE_FIELDS];
	_Alignas(64) float totals[LS_ONLINE_CLASSES][LINE], square_room[SQUARE_X];
	uint32_t fields = t->m->n_fields;
	x = find_x(r, x, whole, x_room);
	copy_away(t, r, s, false);
	memset(totals, 0, sizeof totals[0] * s->part.n);
	bool squares = in_squares(x, whole, K);
	const float *x_square = squares ? square_x(x, fields, K, square_room) : NULL;
	for (uint32_t i = 0; i < s->n; i++) {
		struct ls_online_meeting at = s->meeting[i];
		if (squares && is_full(fields, at, K))
			square_add_blocks(v, x_square, at, K, totals[at.class]);
		else
			add_blocks(v, x, fields, at, whole, K, totals[at.class]);
	}
	for (uint32_t c = 0; c < s->part.n; c++)
		part[c] = class_part(weights_of(t, v, x, s->part, c, K), whole, totals[c]);
}

static inline void online_forward(const struct ls_online_table *t, const struct ls_online_row *r, float *const *v,
				  const struct ls_online_share *s, float *part)
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

/* Fields of a block that are worked on together: as many as there are registers for. */
#if defined(__aarch64__)
#define AT_ONCE 4
#else
#define AT_ONCE 2
#endif

/* What entry i of a has for entries from .. to of b, at most a line, and what they have for it: all loads before all
 * stores, so that the pairs' long chains of operations run side by side. */
INLINE void online_pairs(struct online_side a, struct online_side b, uint32_t i, uint32_t from, uint32_t to, uint32_t K,
			 struct online_step s)
{
	float *u = a.v[i] + b.at + from * K, *w[LINE / 4];
	ls_pack_f p[LINE / 4], q[LINE / 4], p1[LINE / 4], q1[LINE / 4];
	uint32_t n = (to - from) * K / 4;
	for (uint32_t k = 0; k < n; k++) {
		w[k] = b.v[from + 4 * k / K] + a.at + i * K + 4 * k % K;
		p[k] = *(ls_pack_f *)(u + 4 * k);
		p1[k] = *(ls_pack_f *)(u + 4 * k + s.n1);
		q[k] = *(ls_pack_f *)w[k];
		q1[k] = *(ls_pack_f *)(w[k] + s.n1);
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t j = from + 4 * k / K;
		ls_pack_f gp = a.x ? LS_CELL_PAIR_GRADIENT(s.slope, a.x[i], q[k], b.x[j]) : s.slope * q[k];
		ls_pack_f gq = a.x ? LS_CELL_PAIR_GRADIENT(s.slope, b.x[j], p[k], a.x[i]) : s.slope * p[k];
		LS_CELL_ADAGRAD_ONLINE(p[k], p1[k], gp, s.lr, ls_pack_fma, ls_pack_seed, ls_pack_newton);
		LS_CELL_ADAGRAD_ONLINE(q[k], q1[k], gq, s.lr, ls_pack_fma, ls_pack_seed, ls_pack_newton);
	}
	for (uint32_t k = 0; k < n; k++) {
		*(ls_pack_f *)(u + 4 * k) = p[k];
		*(ls_pack_f *)(u + 4 * k + s.n1) = p1[k];
		*(ls_pack_f *)w[k] = q[k];
		*(ls_pack_f *)(w[k] + s.n1) = q1[k];
	}
}

/* Asks for line k of the 2 (a.n + b.n) that the next row has at a meeting: of each entry factors, then state. Pairs are
 * at most as many: a line has at most four fields. */
INLINE void ask_one(float *const *next_a, struct online_side a, float *const *next_b, struct online_side b, uint32_t k,
		    size_t n1)
{
	const float *at = k / 2 < a.n ? next_a[k / 2] + b.at : next_b[k / 2 - a.n] + a.at;
	if (k % 2)
		__builtin_prefetch(at + n1, 1, 2);
	else
		__builtin_prefetch(at, 1, 3);
}

/* All pairs of two blocks; on the way, what the next row has there is asked for. */
INLINE void update_meeting(struct online_side a, struct online_side b, float *const *next_a, float *const *next_b,
			   bool same, bool whole, uint32_t K, struct online_step s)
{
	const uint32_t once = whole ? AT_ONCE : 1;
	uint32_t k = 0;
	STRAIGHT
	for (uint32_t i = 0; i < a.n; i++) {
		STRAIGHT
		for (uint32_t j = same ? i + 1 : 0; j < b.n; j += once) {
			uint32_t end = j + once < b.n ? j + once : b.n;
			for (uint32_t asked = j; asked < end; asked++)
				ask_one(next_a, a, next_b, b, k++, s.n1);
			if (whole || (a.v[i] && b.v[j]))
				online_pairs(a, b, i, j, end, K, s);
		}
	}
	for (; k < 2 * (a.n + b.n); k++)
		ask_one(next_a, a, next_b, b, k, s.n1);
}

INLINE void adagrad_lanes(float *v, size_t state, uint32_t n, const float *g, const struct ls_update *u)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ls_param p = ls_cell_adagrad_online((struct ls_param){v[i], v[state + i], 0.0f}, g[i], u);
		v[i] = p.v;
		v[state + i] = p.s1;
	}
}

INLINE void update_weights(struct online_side a, bool whole, const struct ls_update *u, float slope)
{
	float values[2][LINE], g[LINE], *at[LINE];
	uint32_t n = 0;
	for (uint32_t i = 0; i < a.n; i++)
		if (whole || a.v[i]) {
			at[n] = a.v[i] + a.at;
			values[0][n] = at[n][0];
			values[1][n] = at[n][1];
			g[n++] = a.x ? slope * a.x[i] : slope;
		}
	adagrad_lanes(values[0], LINE, n, g, u);
	for (uint32_t i = 0; i < n; i++) {
		at[i][0] = values[0][i];
		at[i][1] = values[1][i];
	}
}

INLINE void update_sides(float *const *v, const float *x, float *const *next, struct ls_online_meeting at, uint32_t na,
			 uint32_t nb, bool same, bool whole, uint32_t K, struct online_step s)
{
	const uint32_t L = LINE / K;
	update_meeting(side_of(v, x, at.a, na, K, at.line_b), side_of(v, x, at.b, nb, K, at.line_a),
		       next + ls_online_first(at.a, L), next + ls_online_first(at.b, L), same, whole, K, s);
}

/* As add_blocks. */
INLINE void update_blocks(float *const *v, const float *x, uint32_t fields, float *const *next,
			  struct ls_online_meeting at, bool whole, uint32_t K, struct online_step s)
{
	const uint32_t L = LINE / K, na = block_size(at.a, fields, K), nb = block_size(at.b, fields, K);
	bool same = at.a == at.b, squares = in_squares(x, whole, K);
	if (!squares && !same && na == L && nb == L)
		update_sides(v, x, next, at, L, L, false, whole, K, s);
	else if (!squares && !same && na == L - 1 && nb == L)
		update_sides(v, x, next, at, L - 1, L, false, whole, K, s);
	else if (!squares && same && na == L)
		update_sides(v, x, next, at, L, L, true, whole, K, s);
	else
		update_sides(v, x, next, at, na, nb, same, whole, K, s);
}

/* later: what to ask for of the next row, by field. */
INLINE void online_updates(const struct ls_online_table *t, const struct ls_online_row *r, const float *x, bool whole,
			   float *const *v, float *const *later, const struct ls_online_share *s, float slope,
			   uint32_t K)
{
	float x_room[LS_ONLINE_FIELDS];
	_Alignas(64) float square_room[SQUARE_X];
	struct online_step step = {s->part.state, slope, r->update.lr};
	uint32_t fields = t->m->n_fields;
	x = find_x(r, x, whole, x_room);
	bool squares = in_squares(x, whole, K);
	const float *x_square = squares ? square_x(x, fields, K, square_room) : NULL;
	for (uint32_t i = 0; i < s->n; i++)
		if (squares && is_full(fields, s->meeting[i], K))
			square_update_blocks(v, x_square, later, s->meeting[i], K, step);
		else
			update_blocks(v, x, fields, later, s->meeting[i], whole, K, step);
	for (uint32_t c = 0; c < s->part.n; c++)
		update_weights(weights_of(t, v, x, s->part, c, K), whole, &r->update, slope);
	copy_away(t, r, s, true);
}

static inline void online_update(const struct ls_online_table *t, const struct ls_online_row *r, float *const *v,
				 const struct ls_online_row *next, float *const *later, const struct ls_online_share *s,
				 float slope)
{
	bool whole = r->n == t->m->n_fields;
	ask_away(t, next, s->part);
	if (t->m->padded == 4 && whole && !r->x)
		online_updates(t, r, NULL, true, v, later, s, slope, 4);
	else if (t->m->padded == 4 && whole)
		online_updates(t, r, r->x, true, v, later, s, slope, 4);
	else if (t->m->padded == 4)
		online_updates(t, r, r->x, false, v, later, s, slope, 4);
	else if (t->m->padded == 8)
		online_updates(t, r, r->x, whole, v, later, s, slope, 8);
	else
		online_updates(t, r, r->x, whole, v, later, s, slope, 16);
}

/* --- any row, any model: by one thread --- */

INLINE void alone_lanes(float *v, size_t state, uint32_t n, const float *g, const struct ls_update *u)
{
	if (u->optimizer == LS_ADAGRAD)
		adagrad_lanes(v, state, n, g, u);
	else
		update_lanes(v, v + state, v + 2 * state, n, g, 1.0f, false, 0.0f, u, u->optimizer, u->regular);
}

/* Adds the products of a pair to its class's total, and each entry's factors to the other's P. */
INLINE void alone_pair(const struct ls_online_table *t, const struct ls_online_row *r, uint32_t o, uint32_t i,
		       uint32_t j, float *total, float *back)
{
	const struct ls_fm_model *m = t->m;
	uint32_t K = m->padded, f = r->field[i], g = r->field[j];
	size_t each = ls_fm_lanes(m), at = (size_t)o * m->n_fields * K;
	const float *u = ls_online_factors(t, r->feature[i], o, g).v, *w = ls_online_factors(t, r->feature[j], o, f).v;
	float *sum = total + ls_online_lane(t, f, g);
	float *to_i = back + i * each + at + (size_t)g * K, *to_j = back + j * each + at + (size_t)f * K;
	float xi = r->x ? r->x[i] : 1.0f, xj = r->x ? r->x[j] : 1.0f;
	for (uint32_t k = 0; k < K; k++) {
		float ux = u[k] * xi, wx = w[k] * xj;
		sum[k] = ls_fmaf(ux, wx, sum[k]);
		to_i[k] += wx;
		to_j[k] += ux;
	}
}

/* Totals of the classes and P of the entries (cell.h), each in the order of the row. P begins at -0, which changes no
 * term that is added to it. */
INLINE void alone_pairs(const struct ls_online_table *t, const struct ls_online_row *r, uint32_t o, float *total,
			float *back)
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
INLINE float alone_score(const struct ls_online_table *t, const struct ls_online_row *r, uint32_t o, float bias,
			 const float *total)
{
	uint32_t L = ls_online_line(t->m->padded), N = ls_online_lanes(t->m->padded);
	float score = bias;
	for (uint32_t c = 0; c < t->classes; c++) {
		float sum = 0.0f;
		for (uint32_t i = 0; i < r->n; i++)
			if (ls_online_block(r->field[i], L) == c)
				sum += ls_online_weights(t, r->feature[i]).v[o] * (r->x ? r->x[i] : 1.0f);
		score += sum + ls_halve_sum(total + (size_t)c * N, (int)N);
	}
	return score;
}

/* Gradients of the feature of entry i, over all of the row's entries that have it. */
INLINE void alone_gradients(const struct ls_fm_model *m, const struct ls_online_row *r, uint32_t i,
			    struct ls_online_room *room)
{
	size_t lanes = (size_t)m->n_fields * m->padded, each = m->outputs * lanes;
	for (uint32_t j = i; j < r->n; j++)
		for (uint32_t o = 0; o < m->outputs && r->feature[j] == r->feature[i]; o++) {
			float gx = room->slope[o] * (r->x ? r->x[j] : 1.0f);
			const float *back = room->back + j * each + o * lanes;
			float *sums = room->sums + o * lanes;
			room->linear[o] = j == i ? gx : room->linear[o] + gx;
			for (size_t k = 0; k < lanes; k++)
				sums[k] = j == i ? gx * back[k] : sums[k] + gx * back[k];
		}
}

/* Whether an entry of field g stands beside one of those that have the feature of entry i, the first of them. */
INLINE bool has_partner(const struct ls_online_row *r, uint32_t i, uint32_t g, const uint32_t *entries)
{
	bool found = false;
	for (uint32_t j = i; j < r->n && entries[g] && !found; j++)
		found = r->feature[j] == r->feature[i] && entries[g] > (r->field[j] == g);
	return found;
}

/* The step of the feature of entry i: its linear weights, and of its factors those that multiply another entry's. */
INLINE void alone_update(const struct ls_online_table *t, const struct ls_online_row *r, uint32_t i,
			 struct ls_online_room *room)
{
	const struct ls_fm_model *m = t->m;
	struct ls_online_at weights = ls_online_weights(t, r->feature[i]);
	alone_gradients(m, r, i, room);
	alone_lanes(weights.v, weights.state, m->outputs, room->linear, &r->update);
	for (uint32_t g = 0; g < m->n_fields; g++)
		for (uint32_t o = 0; o < m->outputs && has_partner(r, i, g, room->entries); o++) {
			struct ls_online_at at = ls_online_factors(t, r->feature[i], o, g);
			const float *sums = room->sums + ((size_t)o * m->n_fields + g) * m->padded;
			alone_lanes(at.v, at.state, m->padded, sums, &r->update);
		}
}

/* Scores, loss and slopes. False when one of them is not finite. */
INLINE bool alone_forward(const struct ls_online_table *t, const struct ls_online_row *r, struct ls_online_room *room)
{
	const struct ls_fm_model *m = t->m;
	bool finite = true;
	for (uint32_t o = 0; o < m->outputs; o++) {
		alone_pairs(t, r, o, room->total, room->back);
		room->score[o] = alone_score(t, r, o, room->bias[o], room->total);
	}
	room->loss = ls_cell_row_loss((int)m->opts.task, m->opts.label_smoothing, room->score, m->outputs, r->label,
				      r->weight, room->slope);
	for (uint32_t o = 0; o < m->outputs; o++)
		finite = finite && ls_exp_of(room->score[o]) != LS_EXP_INF && ls_exp_of(room->slope[o]) != LS_EXP_INF;
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
