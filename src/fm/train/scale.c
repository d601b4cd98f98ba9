#include "fm/train/scale.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fm/model/row_weight.h"
#include "fm/model/tensors.h"
#include "num/sum.h"

enum { MOST_LABEL_EXP = 30 };

/* The greatest e with 2^e <= v, for a normal v above 0. */
static int exp_of_double(double v)
{
	return (int)(ls_bits_d(v) >> 52 & 0x7ff) - 1023;
}

/* Rounded down, of a number that may be negative. */
static int floor_div(int a, int b)
{
	return a >= 0 ? a / b : -((b - 1 - a) / b);
}

static int within(int v, int most)
{
	return v > most ? most : v < -most ? -most : v;
}

/* --- values --- */

/* By feature: the sum of the squares, and how many there are. */
struct squares {
	double sum;
	uint64_t n;
};

static void add_squares(const struct ls_rows *rows, struct squares *ret)
{
	for (uint64_t i = 0; i < rows->n_entries; i++) {
		struct squares *s = &ret[rows->feature[i]];
		s->sum += (double)rows->value[i] * (double)rows->value[i];
		s->n += rows->value[i] != 0.0f;
	}
}

static int exp_of_mean(const struct squares *s)
{
	double mean = s->n ? s->sum / (double)s->n : 1.0;
	if (mean >= 0x1p-6 && mean < 4.0)
		return 0;
	return within(floor_div(exp_of_double(mean) + 1, 2), LS_FM_MOST_EXP);
}

/* Exponents of features from `first` on; NULL where all are 0. */
static int find_exps(const struct ls_rows *rows, uint64_t n_features, uint64_t first, float **ret,
		     struct ls_err *err)
{
	struct squares *s = ls_alloc_array(rows->n_features, sizeof *s);
	float *exps = ls_alloc_array(n_features, sizeof *exps);
	bool any = false;
	if (!s || !exps) {
		free(s);
		free(exps);
		return ls_err_set(err, LS_ENOMEM,
				  "no memory to scale the values of %llu features; --scaling none "
				  "would need none",
				  (unsigned long long)n_features);
	}
	add_squares(rows, s);
	for (uint64_t j = first; j < rows->n_features; j++) {
		exps[j] = (float)exp_of_mean(&s[j]);
		any |= exps[j] != 0.0f;
	}
	free(s);
	if (!any)
		free(exps);
	*ret = any ? exps : NULL;
	return 0;
}

static bool scales_values(const struct ls_fm_model *m, const struct ls_rows *rows)
{
	return m->opts.scale && !m->opts.normalize && rows->value && rows->n_features;
}

/* --- labels --- */

static double variance(const struct ls_fm_opts *o, const struct ls_rows *rows)
{
	double weights = 0, sum = 0, squares = 0;
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		double w = (double)ls_row_weight(o, rows, i, rows->label[i]);
		weights += w;
		sum += w * (double)rows->label[i];
	}
	if (!(weights > 0))
		return 0;
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		double d = (double)rows->label[i] - sum / weights;
		squares += (double)ls_row_weight(o, rows, i, rows->label[i]) * d * d;
	}
	return squares / weights;
}

static int find_label_exp(const struct ls_fm_model *m, const struct ls_rows *rows)
{
	double v = m->opts.scale && m->opts.task == LS_REGRESSION ? variance(&m->opts, rows) : 0;
	return v < 0x1p-1000 || v > 0x1p1000
		       ? 0
		       : within(floor_div(exp_of_double(v) + 2, 4), MOST_LABEL_EXP);
}

int ls_fm_scale_find(struct ls_fm_model *m, const struct ls_rows *rows, struct ls_err *err)
{
	m->label_exp = find_label_exp(m, rows);
	return scales_values(m, rows) ? find_exps(rows, m->n_features, 0, &m->exps, err) : 0;
}

int ls_fm_scale_follow(struct ls_fm_model *m, const struct ls_fm_model *old,
		       const struct ls_rows *rows, struct ls_err *err)
{
	int rc = 0;
	m->label_exp = old->label_exp;
	if (scales_values(m, rows) && old->n_features < rows->n_features)
		rc = find_exps(rows, m->n_features, old->n_features, &m->exps, err);
	if (rc || !old->exps)
		return rc;
	if (!m->exps)
		m->exps = ls_alloc_array(m->n_features ? m->n_features : 1, sizeof *m->exps);
	if (!m->exps)
		return ls_err_set(err, LS_ENOMEM, "no memory to scale the values");
	memcpy(m->exps, old->exps, sizeof *m->exps * old->n_features);
	return 0;
}

/* --- rows --- */

static bool scale_values(const struct ls_fm_model *m, const struct ls_rows *rows,
			 struct ls_fm_scaled *ret)
{
	/* values that are all 1 have become others */
	ret->value = ls_alloc_array(rows->n_entries ? rows->n_entries : 1, sizeof *ret->value);
	for (uint64_t i = 0; ret->value && i < rows->n_entries; i++) {
		uint32_t j = rows->feature[i];
		double x = rows->value ? (double)rows->value[i] : 1.0;
		ret->value[i] = (float)(j < m->n_features ? x * ls_pow2(-(int)m->exps[j]) : x);
	}
	ret->rows.value = ret->value;
	return ret->value != NULL;
}

static bool scale_labels(const struct ls_fm_model *m, const struct ls_rows *rows,
			 struct ls_fm_scaled *ret)
{
	double scale = ls_pow2(-2 * m->label_exp);
	ret->label = ls_alloc_array(rows->n_rows, sizeof *ret->label);
	for (uint64_t i = 0; ret->label && i < rows->n_rows; i++)
		ret->label[i] = (float)((double)rows->label[i] * scale);
	ret->rows.label = ret->label;
	return ret->label != NULL;
}

int ls_fm_scale_rows(const struct ls_fm_model *m, const struct ls_rows *rows, bool labels,
		     struct ls_fm_scaled *ret, struct ls_err *err)
{
	*ret = (struct ls_fm_scaled){.rows = *rows};
	bool ok = !m->exps || scale_values(m, rows, ret);
	if (ok && labels && m->label_exp)
		ok = scale_labels(m, rows, ret);
	if (ok)
		return 0;
	ls_fm_scaled_done(ret);
	return ls_err_set(err, LS_ENOMEM,
			  "no memory for a scaled copy of %llu values; --scaling none would need "
			  "none",
			  (unsigned long long)rows->n_entries);
}

void ls_fm_scaled_done(struct ls_fm_scaled *s)
{
	free(s->value);
	free(s->label);
	s->value = s->label = NULL;
}

/* --- parameters --- */

bool ls_fm_is_scaled(const struct ls_fm_model *m)
{
	return m->exps || m->label_exp;
}

static void times(float *v, size_t n, int exp)
{
	double scale = ls_pow2(exp);
	for (size_t i = 0; i < n; i++)
		v[i] = (float)((double)v[i] * scale);
}

/* The first n features and the bias. way: 1 out of the training, -1 into it. */
static void scale_parameters(struct ls_fm_model *m, const struct ls_fm_model *units, uint64_t n,
			     int way)
{
	int t = units->label_exp;
	for (uint64_t j = 0; j < n; j++) {
		int e = units->exps ? (int)units->exps[j] : 0;
		times(m->linear + j * ls_fm_stride(m), m->outputs, way * (2 * t - e));
		times(m->record + j * ls_fm_stride(m), ls_fm_lanes(m), way * (t - e));
	}
	times(m->bias, m->outputs, way * 2 * t);
}

void ls_fm_scale_out(const struct ls_fm_model *m, struct ls_fm_model *ret)
{
	ls_fm_model_copy(ret, m);
	scale_parameters(ret, m, m->n_features, 1);
}

void ls_fm_scale_from(struct ls_fm_model *m, const struct ls_fm_model *old)
{
	scale_parameters(m, old, old->n_features, 1);
	scale_parameters(m, m, old->n_features, -1);
}

int ls_fm_scale_digest(const struct ls_fm_model *m, char ret_hex[LS_SHA256_HEX], struct ls_err *err)
{
	struct ls_fm_model *out;
	if (!ls_fm_is_scaled(m)) {
		ls_fm_model_digest(m, ret_hex);
		return 0;
	}
	int rc = ls_fm_model_new_bare(&m->opts, m->n_features, m->n_fields, &out, err);
	if (rc)
		return rc;
	ls_fm_scale_out(m, out);
	ls_fm_model_digest(out, ret_hex);
	ls_fm_model_free(out);
	return 0;
}
