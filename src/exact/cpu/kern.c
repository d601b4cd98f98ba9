#include "exact/cpu/kern.h"

#include <string.h>

#include "base/inline.h"
#include "exact/cpu/tile.h"
#include "exact/element.h"

enum { CHUNK = 256, MOST_PANEL = 32 };

/* n elements, `stride` apart, as floats. */
static void fetch(const void *from, enum ls_exact_type type, int64_t at, int64_t stride, int64_t n,
		  float *out)
{
	const float *f32 = (const float *)from + at;
	const uint16_t *u16 = (const uint16_t *)from + at;
	if (type == LS_EXACT_F32 && stride == 1)
		memcpy(out, f32, sizeof(float) * (size_t)n);
	else if (type == LS_EXACT_F32)
		for (int64_t i = 0; i < n; i++)
			out[i] = f32[i * stride];
	else if (type == LS_EXACT_BF16)
		for (int64_t i = 0; i < n; i++)
			out[i] = ls_bf16_value(u16[i * stride]);
	else
		for (int64_t i = 0; i < n; i++)
			out[i] = ls_f16_value(u16[i * stride]);
}

static uint32_t top_of(const float *x, int64_t n, uint32_t top)
{
	for (int64_t i = 0; i < n; i++) {
		uint32_t u = ls_bits_f(x[i]) & 0x7fffffff;
		top = u > top ? u : top;
	}
	return top;
}

static void tops_along(const struct ls_exact_side *s, int64_t lines, int64_t depth, uint32_t *ret)
{
	float x[CHUNK];
	for (int64_t l = 0; l < lines; l++) {
		ret[l] = 0;
		for (int64_t d = 0, n; d < depth; d += n) {
			n = depth - d < CHUNK ? depth - d : CHUNK;
			fetch(s->at, s->type, l * s->line + d * s->depth, s->depth, n, x);
			ret[l] = top_of(x, n, ret[l]);
		}
	}
}

static void tops_across(const struct ls_exact_side *s, int64_t lines, int64_t depth, uint32_t *ret)
{
	float x[CHUNK];
	memset(ret, 0, sizeof *ret * (size_t)lines);
	for (int64_t l = 0, n; l < lines; l += n) {
		n = lines - l < CHUNK ? lines - l : CHUNK;
		for (int64_t d = 0; d < depth; d++) {
			fetch(s->at, s->type, l * s->line + d * s->depth, s->line, n, x);
			for (int64_t i = 0; i < n; i++) {
				uint32_t u = ls_bits_f(x[i]) & 0x7fffffff;
				ret[l + i] = u > ret[l + i] ? u : ret[l + i];
			}
		}
	}
}

static void tops(const struct ls_exact_side *s, int64_t lines, int64_t depth, uint32_t *ret)
{
	(s->line == 1 ? tops_across : tops_along)(s, lines, depth, ret);
}

static void scale_of(const struct ls_exact_side *s, int64_t line, float *first, float *second)
{
	uint32_t top = s->top[line];
	ls_grid_scale(s->bits, ls_grid_exp(ls_exact_finite(top) ? top : 0), first, second);
}

/* All bits, or none where the line is not finite: its products are not looked at
 * (value_of), and as zeros they cannot overflow a sum. */
static int32_t mask_of(const struct ls_exact_side *s, int64_t line)
{
	return ls_exact_finite(s->top[line]) ? -1 : 0;
}

INLINE void round_along(const float *x, int64_t n, float first, float second, int bits,
			int32_t mask, double *out)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = (double)(ls_grid_round(x[i], first, second, bits) & mask);
}

/* Lines whose elements follow each other in depth: one line after the other. */
static void pack_along(const struct ls_exact_side *s, int64_t line, int lines, int64_t at,
		       int64_t depth, int panel, double *out)
{
	float x[LS_EXACT_DEPTH], first, second;
	double whole[LS_EXACT_DEPTH];
	for (int l = 0; l < lines; l++) {
		int32_t mask = mask_of(s, line + l);
		scale_of(s, line + l, &first, &second);
		fetch(s->at, s->type, (line + l) * s->line + at * s->depth, s->depth, depth, x);
		if (s->bits == LS_GRID_FINE)
			round_along(x, depth, first, second, LS_GRID_FINE, mask, whole);
		else
			round_along(x, depth, first, second, LS_GRID_COARSE, mask, whole);
		for (int64_t d = 0; d < depth; d++)
			out[d * panel + l] = whole[d];
	}
}

/* Lines that lie side by side: one depth after the other. */
static void pack_across(const struct ls_exact_side *s, int64_t line, int lines, int64_t at,
			int64_t depth, int panel, double *out)
{
	float x[MOST_PANEL], first[MOST_PANEL], second[MOST_PANEL];
	int32_t mask[MOST_PANEL];
	for (int l = 0; l < lines; l++) {
		mask[l] = mask_of(s, line + l);
		scale_of(s, line + l, first + l, second + l);
	}
	for (int64_t d = 0; d < depth; d++) {
		fetch(s->at, s->type, line * s->line + (at + d) * s->depth, s->line, lines, x);
		for (int l = 0; l < lines; l++)
			out[d * panel + l] =
				(double)(ls_grid_round(x[l], first[l], second[l], s->bits) &
					 mask[l]);
	}
}

static void pack(const struct ls_exact_side *s, int64_t line, int64_t lines, int64_t at,
		 int64_t depth, int panel, double *out)
{
	for (int64_t l = 0; l < lines; l += panel, out += depth * panel) {
		int n = lines - l < panel ? (int)(lines - l) : panel;
		if (n < panel)
			memset(out, 0, sizeof *out * (size_t)(depth * panel));
		(s->line == 1 ? pack_across : pack_along)(s, line + l, n, at, depth, panel, out);
	}
}

/* --- after the sum --- */

static double value_of(const struct ls_exact_product *p, const struct ls_exact_row *r, int64_t j)
{
	uint32_t top_b = r->top_b[j];
	if (!ls_exact_finite(r->top_a) || !ls_exact_finite(top_b))
		return ls_exact_not_finite(p, r->batch, r->i, r->j + j);
	int e = ls_grid_exp(r->top_a) + ls_grid_exp(top_b) - 2 * p->bits;
	return r->high ? ls_grid_value_wide(r->high[j], r->low[j], e) : ls_grid_value(r->sum[j], e);
}

/* Whether all sums are exact as doubles, and all elements finite: the usual case. */
static bool is_plain(const struct ls_exact_row *r, int64_t from, int64_t n)
{
	uint32_t top = r->top_a;
	uint64_t size = 0;
	if (r->high)
		return false;
	for (int64_t j = from; j < from + n; j++) {
		top = r->top_b[j] > top ? r->top_b[j] : top;
		size |= (uint64_t)(r->sum[j] ^ (r->sum[j] >> 63));
	}
	return ls_exact_finite(top) && size < (uint64_t)1 << 53;
}

static void values(const struct ls_exact_product *p, const struct ls_exact_row *r, int64_t from,
		   int64_t n, double *t)
{
	if (!is_plain(r, from, n)) {
		for (int64_t j = 0; j < n; j++)
			t[j] = value_of(p, r, from + j);
		return;
	}
	int e = ls_grid_exp(r->top_a) - 2 * p->bits + 1023;
	for (int64_t j = 0; j < n; j++) {
		int both = e + ls_grid_exp(r->top_b[from + j]);
		t[j] = (double)r->sum[from + j] * ls_d_bits((uint64_t)(uint32_t)both << 52);
	}
}

/* t += factor * the row's elements of x. */
static void add(const struct ls_exact_matrix *x, double factor, const struct ls_exact_row *r,
		int64_t from, int64_t n, double *t)
{
	float y[CHUNK];
	fetch(x->at, x->type, r->batch * x->batch + r->i * x->row + (r->j + from) * x->column,
	      x->column, n, y);
	for (int64_t j = 0; j < n; j++) {
		double term = factor * (double)y[j];
		t[j] = t[j] + term;
	}
}

static void store(const struct ls_exact_matrix *out, const struct ls_exact_row *r, int64_t from,
		  int64_t n, const double *t)
{
	int64_t at = r->batch * out->batch + r->i * out->row + (r->j + from) * out->column;
	if (out->type == LS_EXACT_F32 && out->column == 1)
		for (int64_t j = 0; j < n; j++)
			((float *)out->at)[at + j] = ls_f32_from(t[j]);
	else
		for (int64_t j = 0; j < n; j++)
			ls_exact_put(out, r->batch, r->i, r->j + from + j, t[j]);
}

static void finish(const struct ls_exact_product *p, const struct ls_exact_row *r)
{
	double t[CHUNK];
	for (int64_t from = 0, n; from < r->n; from += n) {
		n = r->n - from < CHUNK ? r->n - from : CHUNK;
		values(p, r, from, n, t);
		for (int64_t j = 0; j < n; j++)
			t[j] *= (double)p->alpha;
		if (p->c.at)
			add(&p->c, (double)p->beta, r, from, n, t);
		if (p->bias.at)
			add(&p->bias, 1.0, r, from, n, t);
		store(&p->out, r, from, n, t);
	}
}

const struct ls_exact_kern LS_EXACT_NAME(kern) = {
	LS_EXACT_ISA,
	&LS_EXACT_NAME(elem),
	&LS_EXACT_NAME(reduce),
	&LS_EXACT_NAME(rows),
	&LS_EXACT_NAME(conv),
	&LS_EXACT_NAME(tile),
	tops,
	pack,
	finish,
};
