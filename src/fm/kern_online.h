/* A row at a time: part of kern.c, compiled with it for each instruction set. online.h has the plan. Owns nothing;
 * threads have disjoint classes. */
#ifndef LS_FM_KERN_ONLINE_H
#define LS_FM_KERN_ONLINE_H

#include <string.h>

#include "fm/kern_update.h"
#include "fm/online.h"
#include "num/halve.h"

/* --- rows with one entry of each field, in order, and no feature twice: by all threads --- */

/* A block of fields of a row: the records of its entries and their x. */
struct online_side {
	float *const *v;
	const float *x; /* NULL: every x is 1 */
	uint32_t n;
	size_t at; /* in the others' records: where the first of these fields begins */
};

/* n is a constant of the call where it can be. */
INLINE struct online_side side_of(float *const *v, const float *x, uint32_t block, uint32_t n, uint32_t K)
{
	uint32_t lo = ls_online_first(block, LINE / K);
	return (struct online_side){v + lo, x ? x + lo : NULL, n, (size_t)lo * K};
}

/* Fields of a block. */
INLINE uint32_t block_size(uint32_t block, uint32_t fields, uint32_t K)
{
	uint32_t lo = ls_online_first(block, LINE / K), hi = ls_online_first(block + 1, LINE / K);
	return (hi < fields ? hi : fields) - lo;
}

/* Adds the products of the pairs of two blocks, or of one with itself, to K lanes. */
INLINE void add_meeting(struct online_side a, struct online_side b, bool same, uint32_t K, ls_pack_f *total)
{
	for (uint32_t i = 0; i < a.n; i++)
		for (uint32_t j = same ? i + 1 : 0; j < b.n; j++)
			for (uint32_t c = 0; c < K / 4; c++) {
				ls_pack_f u = *(const ls_pack_f *)(a.v[i] + b.at + j * K + 4 * c);
				ls_pack_f w = *(const ls_pack_f *)(b.v[j] + a.at + i * K + 4 * c);
				total[c] += a.x ? (u * a.x[i]) * (w * b.x[j]) : u * w;
			}
}

/* By the number of fields, which are nearly always as many as fill a line: then the loops are straight code. */
INLINE void add_blocks(float *const *v, const float *x, uint32_t n, struct ls_online_meeting at, uint32_t K,
		       ls_pack_f *total)
{
	const uint32_t L = LINE / K, a = at.a, b = at.b, na = block_size(a, n, K), nb = block_size(b, n, K);
	if (a != b && na == L && nb == L)
		add_meeting(side_of(v, x, a, L, K), side_of(v, x, b, L, K), false, K, total);
	else if (a != b && na == L - 1 && nb == L)
		add_meeting(side_of(v, x, a, L - 1, K), side_of(v, x, b, L, K), false, K, total);
	else
		add_meeting(side_of(v, x, a, na, K), side_of(v, x, b, nb, K), a == b, K, total);
}

/* A class's part of the score: linear weights of one block, then what its blocks' meetings add up to. */
INLINE float class_part(float *const *v, const float *x, uint32_t n, uint32_t c, uint32_t K, ptrdiff_t linear,
			const ls_pack_f *total)
{
	struct online_side own = side_of(v, x, c, block_size(c, n, K), K);
	float sum = 0.0f, t[LINE];
	for (uint32_t i = 0; i < own.n; i++)
		sum += own.v[i][linear] * (x ? own.x[i] : 1.0f);
	memcpy(t, total, sizeof(float) * K);
	return sum + ls_halve_sum(t, (int)K);
}

INLINE void find_records(const struct ls_fm_model *m, const struct ls_online_row *r, float **ret)
{
	size_t stride = ls_fm_stride(m);
	for (uint32_t i = 0; i < r->n; i++)
		ret[i] = m->record + r->feature[i] * stride;
}

/* x is r's: NULL as a constant of the call where it is NULL. */
INLINE void online_parts(const struct ls_fm_model *m, const struct ls_online_row *r, const float *x,
			 const struct ls_online_share *s, uint32_t K, float *part)
{
	float *v[LS_ONLINE_FIELDS];
	ls_pack_f totals[LS_ONLINE_CLASSES][LINE / 4];
	uint32_t n = r->n;
	find_records(m, r, v);
	for (uint32_t c = s->lo; c < s->hi; c++)
		for (uint32_t k = 0; k < K / 4; k++)
			totals[c][k] = (ls_pack_f){0};
	for (uint32_t i = 0; i < s->n; i++)
		add_blocks(v, x, n, s->meeting[i], K, totals[s->meeting[i].class]);
	for (uint32_t c = s->lo; c < s->hi; c++)
		part[c] = class_part(v, x, n, c, K, m->linear - m->record, totals[c]);
}

static inline void online_forward(const struct ls_fm_model *m, const struct ls_online_row *r,
				  const struct ls_online_share *s, float *part)
{
	if (m->padded == 4 && !r->x)
		online_parts(m, r, NULL, s, 4, part);
	else if (m->padded == 4)
		online_parts(m, r, r->x, s, 4, part);
	else if (m->padded == 8)
		online_parts(m, r, r->x, s, 8, part);
	else
		online_parts(m, r, r->x, s, 16, part);
}

/* The step that all parameters of a row take. */
struct online_step {
	size_t n1; /* floats from a factor to its sum of squares */
	float slope, lr;
};

INLINE void online_four(float *v, struct online_step s, ls_pack_f g)
{
	ls_pack_f p = *(ls_pack_f *)v, s1 = *(ls_pack_f *)(v + s.n1);
	LS_CELL_ADAGRAD(p, s1, g, s.lr, ls_pack_sqrt);
	*(ls_pack_f *)v = p;
	*(ls_pack_f *)(v + s.n1) = s1;
}

/* Four factors of an entry and the four of another that they multiply: all loads before all stores. */
INLINE void online_pair(float *u, float *w, float xu, float xw, bool has_x, struct online_step s)
{
	ls_pack_f p = *(ls_pack_f *)u, q = *(ls_pack_f *)w;
	ls_pack_f p1 = *(ls_pack_f *)(u + s.n1), q1 = *(ls_pack_f *)(w + s.n1);
	ls_pack_f gp = has_x ? (s.slope * xu) * (q * xw) : s.slope * q;
	ls_pack_f gq = has_x ? (s.slope * xw) * (p * xu) : s.slope * p;
	LS_CELL_ADAGRAD(p, p1, gp, s.lr, ls_pack_sqrt);
	LS_CELL_ADAGRAD(q, q1, gq, s.lr, ls_pack_sqrt);
	*(ls_pack_f *)u = p;
	*(ls_pack_f *)(u + s.n1) = p1;
	*(ls_pack_f *)w = q;
	*(ls_pack_f *)(w + s.n1) = q1;
}

/* Asks for line k of those that the next row has at a meeting: factors near, for its score; their state where its
 * update finds it. */
INLINE void ask_line(float *const *next_a, struct online_side a, float *const *next_b, struct online_side b, uint32_t k,
		     size_t n1)
{
	const float *line = k / 2 < a.n ? next_a[k / 2] + b.at : next_b[k / 2 - a.n] + a.at;
	if (k / 2 < a.n + b.n && k % 2 == 0)
		__builtin_prefetch(line, 1, 3);
	else if (k / 2 < a.n + b.n)
		__builtin_prefetch(line + n1, 1, 2);
}

/* All pairs of two blocks; on the way, what the next row has there is asked for. */
INLINE void update_meeting(struct online_side a, struct online_side b, float *const *next_a, float *const *next_b,
			   bool same, uint32_t K, struct online_step s)
{
	uint32_t k = 0;
	for (uint32_t i = 0; i < a.n; i++)
		for (uint32_t j = same ? i + 1 : 0; j < b.n; j++) {
			ask_line(next_a, a, next_b, b, k++, s.n1);
			for (uint32_t c = 0; c < K / 4; c++)
				online_pair(a.v[i] + b.at + j * K + 4 * c, b.v[j] + a.at + i * K + 4 * c,
					    a.x ? a.x[i] : 1.0f, a.x ? b.x[j] : 1.0f, a.x != NULL, s);
		}
	for (; k < 2 * (a.n + b.n); k++)
		ask_line(next_a, a, next_b, b, k, s.n1);
}

/* An entry's factors for its own field have no other entry to multiply: a gradient of zero. */
INLINE void update_own(struct online_side a, uint32_t K, struct online_step s)
{
	for (uint32_t i = 0; i < a.n; i++)
		for (uint32_t c = 0; c < K / 4; c++)
			online_four(a.v[i] + a.at + i * K + 4 * c, s,
				    s.slope * (a.x ? a.x[i] : 1.0f) * ((ls_pack_f){0} * -1.0f));
}

/* Linear weights of a block. */
INLINE void update_weights(struct online_side a, ptrdiff_t linear, const struct ls_update *u, float slope)
{
	float v[LINE], s1[LINE], g[LINE];
	for (uint32_t i = 0; i < a.n; i++) {
		v[i] = a.v[i][linear];
		s1[i] = a.v[i][linear + 1];
		g[i] = a.x ? slope * a.x[i] : slope;
	}
	update_lanes(v, s1, NULL, a.n, g, 1.0f, false, 0.0f, u, LS_ADAGRAD, 0);
	for (uint32_t i = 0; i < a.n; i++) {
		a.v[i][linear] = v[i];
		a.v[i][linear + 1] = s1[i];
	}
}

INLINE void update_sides(struct online_side a, struct online_side b, float *const *next, bool same, uint32_t K,
			 struct online_step s)
{
	update_meeting(a, b, next + a.at / K, next + b.at / K, same, K, s);
	if (same)
		update_own(a, K, s);
}

/* As add_blocks. */
INLINE void update_blocks(float *const *v, const float *x, uint32_t n, float *const *next, struct ls_online_meeting at,
			  uint32_t K, struct online_step s)
{
	const uint32_t L = LINE / K, a = at.a, b = at.b, na = block_size(a, n, K), nb = block_size(b, n, K);
	if (a != b && na == L && nb == L)
		update_sides(side_of(v, x, a, L, K), side_of(v, x, b, L, K), next, false, K, s);
	else if (a != b && na == L - 1 && nb == L)
		update_sides(side_of(v, x, a, L - 1, K), side_of(v, x, b, L, K), next, false, K, s);
	else if (a == b && na == L)
		update_sides(side_of(v, x, a, L, K), side_of(v, x, a, L, K), next, true, K, s);
	else
		update_sides(side_of(v, x, a, na, K), side_of(v, x, b, nb, K), next, a == b, K, s);
}

INLINE void online_updates(struct ls_fm_model *m, const struct ls_online_row *r, const float *x,
			   const struct ls_online_row *next, const struct ls_online_share *s, float slope, uint32_t K)
{
	float *v[LS_ONLINE_FIELDS], *later[LS_ONLINE_FIELDS];
	struct online_step step = {m->width, slope, r->update.lr};
	uint32_t n = r->n;
	find_records(m, r, v);
	find_records(m, next, later);
	for (uint32_t i = 0; i < s->n; i++)
		update_blocks(v, x, n, later, s->meeting[i], K, step);
	for (uint32_t c = s->lo; c < s->hi; c++)
		update_weights(side_of(v, x, c, block_size(c, n, K), K), m->linear - m->record, &r->update, slope);
}

static inline void online_update(struct ls_fm_model *m, const struct ls_online_row *r, const struct ls_online_row *next,
				 const struct ls_online_share *s, float slope)
{
	if (next->n != r->n)
		next = r;
	if (m->padded == 4 && !r->x)
		online_updates(m, r, NULL, next, s, slope, 4);
	else if (m->padded == 4)
		online_updates(m, r, r->x, next, s, slope, 4);
	else if (m->padded == 8)
		online_updates(m, r, r->x, next, s, slope, 8);
	else
		online_updates(m, r, r->x, next, s, slope, 16);
}

/* --- any row, any model: by one thread --- */

/* Totals of the classes and P of the entries (cell.h), each in the order of the row. P begins at -0, which changes no
 * term that is added to it. */
INLINE void alone_pairs(const struct ls_fm_model *m, const struct ls_online_row *r, uint32_t o, float *total,
			float *back)
{
	uint32_t K = m->padded, L = ls_online_line(K), classes = ls_online_classes(m->n_fields, K);
	size_t stride = ls_fm_stride(m), each = (size_t)m->outputs * m->n_fields * K,
	       at_o = (size_t)o * m->n_fields * K;
	memset(total, 0, sizeof(float) * classes * K);
	for (uint32_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < (size_t)m->n_fields * K; k++)
			back[i * each + at_o + k] = -0.0f;
	for (uint32_t i = 0; i < r->n; i++)
		for (uint32_t j = i + 1; j < r->n; j++) {
			uint32_t f = r->field[i], g = r->field[j];
			const float *u = m->record + r->feature[i] * stride + at_o + (size_t)g * K;
			const float *w = m->record + r->feature[j] * stride + at_o + (size_t)f * K;
			float *t = total + (size_t)ls_online_class(f, g, L, classes) * K;
			float *to_i = back + i * each + at_o + (size_t)g * K,
			      *to_j = back + j * each + at_o + (size_t)f * K;
			float xi = r->x ? r->x[i] : 1.0f, xj = r->x ? r->x[j] : 1.0f;
			for (uint32_t k = 0; k < K; k++) {
				float ux = u[k] * xi, wx = w[k] * xj;
				t[k] += ux * wx;
				to_i[k] += wx;
				to_j[k] += ux;
			}
		}
}

/* The score: bias, then the classes' parts. */
INLINE float alone_score(const struct ls_fm_model *m, const struct ls_online_row *r, uint32_t o, float bias,
			 const float *total)
{
	uint32_t K = m->padded, L = ls_online_line(K), classes = ls_online_classes(m->n_fields, K);
	size_t stride = ls_fm_stride(m);
	float score = bias;
	for (uint32_t c = 0; c < classes; c++) {
		float sum = 0.0f, t[MAX_K];
		for (uint32_t i = 0; i < r->n; i++)
			if (ls_online_block(r->field[i], L) == c)
				sum += m->linear[r->feature[i] * stride + o] * (r->x ? r->x[i] : 1.0f);
		memcpy(t, total + (size_t)c * K, sizeof(float) * K);
		score += sum + ls_halve_sum(t, (int)K);
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

static bool came_before(const struct ls_online_row *r, uint32_t i)
{
	for (uint32_t j = 0; j < i; j++)
		if (r->feature[j] == r->feature[i])
			return true;
	return false;
}

INLINE void alone_update(const struct ls_update *u, float *v, uint32_t n, const float *g)
{
	update_lanes(v, v + n, v + 2 * (size_t)n, n, g, 1.0f, false, 0.0f, u, u->optimizer, u->regular);
}

static inline bool online_alone(struct ls_fm_model *m, const struct ls_online_row *r, struct ls_online_room *room)
{
	size_t stride = ls_fm_stride(m);
	bool finite = true;
	for (uint32_t o = 0; o < m->outputs; o++) {
		alone_pairs(m, r, o, room->total, room->back);
		room->score[o] = alone_score(m, r, o, room->bias[o], room->total);
	}
	room->loss = ls_cell_row_loss((int)m->opts.task, m->opts.label_smoothing, room->score, m->outputs, r->label,
				      r->weight, room->slope);
	for (uint32_t o = 0; o < m->outputs; o++)
		finite = finite && ls_exp_of(room->score[o]) != LS_EXP_INF && ls_exp_of(room->slope[o]) != LS_EXP_INF;
	if (!finite || ls_exp_of(room->loss) == LS_EXP_INF)
		return false;
	for (uint32_t i = 0; i < r->n; i++) {
		if (came_before(r, i))
			continue;
		alone_gradients(m, r, i, room);
		alone_update(&r->update, m->record + r->feature[i] * stride, m->width, room->sums);
		alone_update(&r->update, m->linear + r->feature[i] * stride, m->outputs, room->linear);
	}
	alone_update(&r->update, room->bias, m->outputs, room->slope);
	return true;
}

#endif
