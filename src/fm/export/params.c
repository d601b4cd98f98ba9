#include "fm/export/params.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fm/export/exact.h"
#include "num/num.h"
#include "num/sum.h"

const char *ls_export_form_name(enum ls_export_form form)
{
	static const char *const names[] = {"float32", "exact", "int8", "fp16"};
	return names[form];
}

/* --- elements --- */

/* Where the factors of a row of the table lie. Feature f has blocks rows from f blocks on:
 * an entry gathers those for one field. */
static const float *factors_at(const struct ls_params *p, uint64_t row, uint32_t o)
{
	const struct ls_fm_model *m = p->m;
	return m->record + row / m->blocks * ls_fm_stride(m) +
	       ((size_t)o * m->blocks + row % m->blocks) * m->padded;
}

static const float *linear_at(const struct ls_params *p, uint64_t row)
{
	return p->m->linear + row * ls_fm_stride(p->m);
}

static float field_weight(const struct ls_fm_model *m, uint32_t o, uint64_t f, uint64_t g)
{
	uint32_t at =
		ls_fm_pair_index(m->n_fields, (uint32_t)(f < g ? f : g), (uint32_t)(f < g ? g : f));
	return m->pair[(size_t)o * m->n_pairs + at];
}

static uint16_t half_of(float v, int exp)
{
	return ls_f16_from((double)v * ls_pow2(LS_EXPORT_HALF_EXP - exp));
}

static float half_value(uint16_t h, int exp)
{
	return ls_f16_value(h) * ls_grid_pow2(exp - LS_EXPORT_HALF_EXP);
}

/* To nearest even, within 127 steps. */
static int8_t step_of(float v, float scale)
{
	int64_t q = scale > 0.0f ? ls_sum_term((double)v / (double)scale) : 0;
	return (int8_t)(q > 127 ? 127 : q < -127 ? -127 : q);
}

/* --- rows of float32 --- */

static void factors_row(const struct ls_params *p, uint64_t row, void *to)
{
	const size_t k = p->m->opts.factors;
	for (uint32_t o = 0; o < p->m->outputs; o++)
		memcpy((float *)to + o * k, factors_at(p, row, o), k * sizeof(float));
}

static void linear_row(const struct ls_params *p, uint64_t row, void *to)
{
	memcpy(to, linear_at(p, row), p->m->outputs * sizeof(float));
}

static void bias_row(const struct ls_params *p, uint64_t row, void *to)
{
	(void)row;
	memcpy(to, p->m->bias, p->m->outputs * sizeof(float));
}

/* By fields f < g: the row of f. All others are 0. */
static void field_row(const struct ls_params *p, uint64_t row, void *to)
{
	const struct ls_fm_model *m = p->m;
	float *out = to;
	for (uint32_t g = 0; g < m->n_fields; g++)
		for (uint32_t o = 0; o < m->outputs; o++, out++)
			*out = g > row ? field_weight(m, o, row, g) : 0.0f;
}

static void own_row(const struct ls_params *p, uint64_t row, void *to)
{
	float *out = to;
	for (uint32_t o = 0; o < p->m->outputs; o++)
		out[o] = field_weight(p->m, o, row, row);
}

static void number_row(const struct ls_params *p, uint64_t row, void *to)
{
	(void)p;
	memcpy(to, &row, sizeof row);
}

/* --- rows of whole numbers --- */

static void exact_row(const float *from, size_t n, int exp, int32_t *to)
{
	for (size_t i = 0; i < n; i++)
		to[i] = ls_exact_round(from[i], exp);
}

static void exact_factors_row(const struct ls_params *p, uint64_t row, void *to)
{
	const size_t k = p->m->opts.factors;
	for (uint32_t o = 0; o < p->m->outputs; o++)
		exact_row(factors_at(p, row, o), k, p->factors_exp[row / p->m->blocks],
			  (int32_t *)to + o * k);
}

static void exact_linear_row(const struct ls_params *p, uint64_t row, void *to)
{
	exact_row(linear_at(p, row), p->m->outputs, p->linear_exp[row], to);
}

/* The sum of the squares of a feature's factors. */
static void norms_row(const struct ls_params *p, uint64_t row, void *to)
{
	int64_t *out = to;
	for (uint32_t o = 0; o < p->m->outputs; o++) {
		const float *v = factors_at(p, row, o);
		out[o] = 0;
		for (uint32_t c = 0; c < p->m->opts.factors; c++) {
			int64_t q = ls_exact_round(v[c], p->factors_exp[row]);
			out[o] += q * q;
		}
	}
}

static void linear_exp_row(const struct ls_params *p, uint64_t row, void *to)
{
	double unit = ls_pow2(p->linear_exp[row]);
	memcpy(to, &unit, sizeof unit);
}

static void factors_exp_row(const struct ls_params *p, uint64_t row, void *to)
{
	double unit = ls_pow2(p->factors_exp[row]);
	memcpy(to, &unit, sizeof unit);
}

/* A row a pair of fields, in either order. */
static void exact_field_row(const struct ls_params *p, uint64_t row, void *to)
{
	const uint32_t fields = p->m->n_fields;
	int32_t *out = to;
	for (uint32_t o = 0; o < p->m->outputs; o++)
		out[o] = ls_exact_round(field_weight(p->m, o, row / fields, row % fields),
					p->exp_fields);
}

/* --- quantized rows --- */

static void half_row(const float *from, size_t n, int exp, uint16_t *to)
{
	for (size_t i = 0; i < n; i++)
		to[i] = half_of(from[i], exp);
}

static void half_factors_row(const struct ls_params *p, uint64_t row, void *to)
{
	const size_t k = p->m->opts.factors;
	for (uint32_t o = 0; o < p->m->outputs; o++)
		half_row(factors_at(p, row, o), k, p->exp_factors, (uint16_t *)to + o * k);
}

static void half_linear_row(const struct ls_params *p, uint64_t row, void *to)
{
	half_row(linear_at(p, row), p->m->outputs, p->exp_linear, to);
}

static void step_factors_row(const struct ls_params *p, uint64_t row, void *to)
{
	const size_t k = p->m->opts.factors;
	int8_t *out = to;
	for (uint32_t o = 0; o < p->m->outputs; o++)
		for (size_t c = 0; c < k; c++)
			*out++ = step_of(factors_at(p, row, o)[c], p->scale[row / p->m->blocks]);
}

static void scale_row(const struct ls_params *p, uint64_t row, void *to)
{
	memcpy(to, &p->scale[row], sizeof *p->scale);
}

/* --- which rows a form has --- */

static void add(struct ls_params *p, struct ls_weights w)
{
	p->list[p->n++] = w;
}

/* A model without features has one row of zeros. */
static void add_by_feature(struct ls_params *p, struct ls_weights w)
{
	if (p->m->n_features == 0) {
		w.row = NULL;
		w.rows = w.dims[0] = 1;
	}
	add(p, w);
}

struct choice {
	enum ls_onnx_type type;
	uint64_t size;
	void (*row)(const struct ls_params *p, uint64_t row, void *to);
};

static void add_features(struct ls_params *p)
{
	static const struct choice linear[] = {{LS_ONNX_FLOAT, 4, linear_row},
					       {LS_ONNX_INT32, 4, exact_linear_row},
					       {LS_ONNX_HALF, 2, half_linear_row},
					       {LS_ONNX_HALF, 2, half_linear_row}},
				   factors[] = {{LS_ONNX_FLOAT, 4, factors_row},
						{LS_ONNX_INT32, 4, exact_factors_row},
						{LS_ONNX_INT8, 1, step_factors_row},
						{LS_ONNX_HALF, 2, half_factors_row}};
	const struct choice *l = &linear[p->form], *f = &factors[p->form];
	const uint64_t n = p->m->n_features, outputs = p->m->outputs, k = p->m->opts.factors,
		       rows = n * p->m->blocks;
	add_by_feature(p,
		       (struct ls_weights){
			       "linear", l->type, {n, outputs}, 2, n, outputs * l->size, l->row});
	if (p->form == LS_EXPORT_EXACT)
		add_by_feature(
			p, (struct ls_weights){
				   "linear_unit", LS_ONNX_DOUBLE, {n}, 1, n, 8, linear_exp_row});
	if (k == 0)
		return;
	add_by_feature(p, (struct ls_weights){"factors",
					      f->type,
					      {rows, outputs, k},
					      3,
					      rows,
					      outputs * k * f->size,
					      f->row});
	if (p->form == LS_EXPORT_INT8)
		add_by_feature(p, (struct ls_weights){
					  "factors_scale", LS_ONNX_FLOAT, {n}, 1, n, 4, scale_row});
	if (p->form == LS_EXPORT_EXACT)
		add_by_feature(
			p, (struct ls_weights){
				   "factors_unit", LS_ONNX_DOUBLE, {n}, 1, n, 8, factors_exp_row});
	if (p->form == LS_EXPORT_EXACT && p->m->opts.kind == LS_FM)
		add_by_feature(p, (struct ls_weights){"norms",
						      LS_ONNX_INT64,
						      {n, outputs},
						      2,
						      n,
						      outputs * 8,
						      norms_row});
}

static void add_fields(struct ls_params *p)
{
	const uint64_t fields = p->m->n_fields, outputs = p->m->outputs, all = fields * fields;
	if (p->form == LS_EXPORT_EXACT) {
		add(p, (struct ls_weights){"field_weights",
					   LS_ONNX_INT32,
					   {all, outputs},
					   2,
					   all,
					   outputs * 4,
					   exact_field_row});
		return;
	}
	add(p, (struct ls_weights){"field_weights",
				   LS_ONNX_FLOAT,
				   {fields, fields, outputs},
				   3,
				   fields,
				   fields * outputs * 4,
				   field_row});
	add(p, (struct ls_weights){"own_weights",
				   LS_ONNX_FLOAT,
				   {fields, outputs},
				   2,
				   fields,
				   outputs * 4,
				   own_row});
	add(p, (struct ls_weights){
		       "field_numbers", LS_ONNX_INT64, {fields}, 1, fields, 8, number_row});
}

/* --- grids and scales --- */

static uint32_t largest_of(const float *v, size_t n, uint32_t so_far)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t bits = ls_bits_f(v[i]) & 0x7fffffffu;
		so_far = bits > so_far ? bits : so_far;
	}
	return so_far;
}

/* Of fp16 such that its power of two is a normal float. */
static int exponent(const struct ls_params *p, uint32_t largest_bits)
{
	int exp = ls_grid_exp(largest_bits), least = LS_EXPORT_HALF_EXP - 126;
	return p->form == LS_EXPORT_EXACT || exp > least ? exp : least;
}

static void find_exponents(struct ls_params *p)
{
	const struct ls_fm_model *m = p->m;
	uint32_t linear = 0, factors = 0, fields;
	for (uint64_t f = 0; f < m->n_features; f++) {
		linear = largest_of(linear_at(p, f), m->outputs, linear);
		factors = largest_of(m->record + f * ls_fm_stride(m), ls_fm_lanes(m), factors);
	}
	fields = m->pair ? largest_of(m->pair, (size_t)m->outputs * m->n_pairs, 0) : 0;
	p->exp_linear = exponent(p, linear);
	p->exp_factors = exponent(p, factors);
	p->exp_fields = exponent(p, fields);
}

static uint32_t largest_linear(const struct ls_params *p, uint64_t feature)
{
	return largest_of(linear_at(p, feature), p->m->outputs, 0);
}

static uint32_t largest_factor(const struct ls_params *p, uint64_t feature)
{
	const struct ls_fm_model *m = p->m;
	return largest_of(m->record + feature * ls_fm_stride(m), ls_fm_lanes(m), 0);
}

static int no_memory(const struct ls_params *p, struct ls_err *err)
{
	return ls_err_set(err, LS_ENOMEM, "no memory for the scales of %" PRIu64 " features",
			  p->m->n_features);
}

static int find_scales(struct ls_params *p, struct ls_err *err)
{
	const uint64_t n = p->m->n_features;
	p->scale = ls_alloc_array(n + 1, sizeof *p->scale);
	if (!p->scale)
		return no_memory(p, err);
	for (uint64_t f = 0; f < n; f++)
		p->scale[f] = ls_f_bits(largest_factor(p, f)) / 127.0f;
	return 0;
}

static int find_units(struct ls_params *p, struct ls_err *err)
{
	const uint64_t n = p->m->n_features;
	p->linear_exp = ls_alloc_array(n + 1, sizeof *p->linear_exp);
	p->factors_exp = ls_alloc_array(n + 1, sizeof *p->factors_exp);
	if (!p->linear_exp || !p->factors_exp)
		return no_memory(p, err);
	for (uint64_t f = 0; f < n; f++) {
		p->linear_exp[f] = (int16_t)ls_grid_exp(largest_linear(p, f));
		p->factors_exp[f] = (int16_t)ls_grid_exp(largest_factor(p, f));
	}
	return 0;
}

int ls_params_init(struct ls_params *p, const struct ls_fm_model *m, enum ls_export_form form,
		   struct ls_err *err)
{
	uint64_t saved = ls_fp_enter();
	*p = (struct ls_params){.m = m, .form = form};
	find_exponents(p);
	int rc = form == LS_EXPORT_INT8    ? find_scales(p, err)
		 : form == LS_EXPORT_EXACT ? find_units(p, err)
					   : 0;
	ls_fp_leave(saved);
	add(p, (struct ls_weights){
		       "bias", LS_ONNX_FLOAT, {m->outputs}, 1, 1, m->outputs * 4, bias_row});
	add_features(p);
	if (m->opts.kind == LS_FWFM)
		add_fields(p);
	return rc;
}

void ls_params_done(struct ls_params *p)
{
	free(p->scale);
	free(p->linear_exp);
	free(p->factors_exp);
	p->scale = NULL;
	p->linear_exp = p->factors_exp = NULL;
}

void ls_params_round(const struct ls_params *p, struct ls_fm_model *m)
{
	const size_t stride = ls_fm_stride(m);
	uint64_t saved = ls_fp_enter();
	for (uint64_t f = 0; f < m->n_features && p->form > LS_EXPORT_EXACT; f++) {
		float *w = m->linear + f * stride, *v = m->record + f * stride;
		for (uint32_t o = 0; o < m->outputs; o++)
			w[o] = half_value(half_of(w[o], p->exp_linear), p->exp_linear);
		for (size_t i = 0; i < ls_fm_lanes(m); i++)
			v[i] = p->form == LS_EXPORT_INT8
				       ? (float)step_of(v[i], p->scale[f]) * p->scale[f]
				       : half_value(half_of(v[i], p->exp_factors), p->exp_factors);
	}
	ls_fp_leave(saved);
}
