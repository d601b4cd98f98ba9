/* ONNX export: the wire format, the exact score, quantized parameters. That the files run
 * is shown by tests/onnx.
 * labels: isa */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "fm/export/exact.h"
#include "fm/export/float_graph.h"
#include "fm/export/proto.h"
#include "fm/export/verify.h"

static void wire_format(void **state)
{
	(void)state;
	static const uint8_t want[] = {0x08, 0xac, 0x02, 0x12, 0x02, 'h', 'i', 0x1a, 0x02, 0x08,
				       0x00, 0xa2, 0x01, 0x01, 'x',
				       /* -1 has ten bytes */
				       0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
				       0x01};
	struct ls_str s = {0}, inner = {0};
	ls_proto_int(&s, 1, 300);
	ls_proto_text(&s, 2, "hi");
	ls_proto_int(&inner, 1, 0);
	ls_proto_message_take(&s, 3, &inner);
	ls_proto_bytes(&s, 20, "x", 1);
	ls_proto_int(&s, 5, UINT64_MAX);
	assert_null(inner.s);
	assert_int_equal(s.len, sizeof want);
	assert_memory_equal(s.s, want, sizeof want);
	ls_str_done(&s);
}

enum { FEATURES = 5, FIELDS = 3 };

/* Factors and weights that differ, whole multiples of 1/8. */
static struct ls_fm_model *make(enum ls_fm_kind kind, enum ls_fm_task task)
{
	struct ls_fm_opts o = ls_fm_defaults(kind, task, LS_SGD);
	struct ls_fm_model *m = NULL;
	struct ls_err err;
	int n = 0;
	o.factors = 3;
	o.classes = task == LS_MULTICLASS ? 2 : 1;
	assert_int_equal(ls_fm_model_new_bare(&o, FEATURES, FIELDS, &m, &err), 0);
	for (uint32_t c = 0; c < m->outputs; c++)
		m->bias[c] = 0.25f + (float)c;
	for (uint64_t f = 0; f < FEATURES; f++) {
		float *w = m->linear + f * ls_fm_stride(m), *v = m->record + f * ls_fm_stride(m);
		for (uint32_t c = 0; c < m->outputs; c++)
			w[c] = (float)(n++ % 13 - 6) / 8;
		for (size_t i = 0; i < ls_fm_lanes(m); i++)
			v[i] = i % m->padded < o.factors ? (float)(n++ % 11 - 5) / 8 : 0.0f;
	}
	for (uint32_t i = 0; i < m->outputs * m->n_pairs; i++)
		m->pair[i] = (float)(i % 7) / 4;
	return m;
}

/* Nothing is rounded in these rows, so that the definition's score is the mathematical
 * one. */
static double plain_score(const struct ls_fm_model *m, const struct ls_rows *r, uint64_t row,
			  uint32_t o)
{
	double score = (double)m->bias[o];
	for (uint64_t i = r->start[row]; i < r->start[row + 1]; i++) {
		if (!ls_fm_knows(m, r->feature, r->field, i))
			continue;
		const float *a = m->record + r->feature[i] * ls_fm_stride(m);
		score += (double)m->linear[r->feature[i] * ls_fm_stride(m) + o] *
			 (double)r->value[i];
		for (uint64_t j = i + 1; j < r->start[row + 1]; j++) {
			if (!ls_fm_knows(m, r->feature, r->field, j))
				continue;
			uint32_t f = r->field[i], g = r->field[j];
			bool ffm = m->opts.kind == LS_FFM;
			const float *b = m->record + r->feature[j] * ls_fm_stride(m),
				    *v = a + (o * m->blocks + (ffm ? g : 0)) * m->padded,
				    *w = b + (o * m->blocks + (ffm ? f : 0)) * m->padded;
			double dot = 0;
			for (uint32_t c = 0; c < m->opts.factors; c++)
				dot += (double)v[c] * (double)w[c];
			if (m->n_pairs)
				dot *= (double)m->pair[o * m->n_pairs +
						       ls_fm_pair_index(FIELDS, f < g ? f : g,
									f < g ? g : f)];
			score += dot * (double)r->value[i] * (double)r->value[j];
		}
	}
	return score;
}

static void exact_scores(void **state)
{
	(void)state;
	static const uint64_t start[] = {0, 0, 4, 7};
	static const uint32_t feature[] = {0, 3, 1, 3, 9, 2, 4};
	static const uint16_t field[] = {0, 2, 2, 1, 0, 7, 1};
	static const float value[] = {1, -0.5f, 2, 3, 1000, 1, -0.25f};
	const struct ls_rows rows = {.n_rows = 3,
				     .n_entries = 7,
				     .n_features = 10,
				     .n_fields = 8,
				     .start = start,
				     .feature = feature,
				     .field = field,
				     .value = value};
	for (int kind = LS_FM; kind <= LS_FWFM; kind++)
		for (int task = LS_BINARY; task <= LS_MULTICLASS; task++) {
			struct ls_fm_model *m = make((enum ls_fm_kind)kind, (enum ls_fm_task)task);
			struct ls_params p;
			float score[2];
			struct ls_err err;
			assert_int_equal(ls_params_init(&p, m, LS_EXPORT_EXACT, &err), 0);
			for (uint64_t row = 0; row < rows.n_rows; row++) {
				ls_exact_score(&p, &rows, row, score);
				for (uint32_t o = 0; o < m->outputs; o++)
					assert_true((double)score[o] ==
						    plain_score(m, &rows, row, o));
			}
			ls_params_done(&p);
			ls_fm_model_free(m);
		}
}

static void quantized(void **state)
{
	(void)state;
	struct ls_fm_model *m = make(LS_FM, LS_BINARY);
	struct ls_params p;
	struct ls_err err;
	float *v = m->record;
	v[0] = 1e30f;
	v[1] = -1e30f;
	v[2] = 0.0f;
	memset(m->record + ls_fm_stride(m), 0, sizeof(float) * 4);
	assert_int_equal(ls_params_init(&p, m, LS_EXPORT_INT8, &err), 0);
	ls_params_round(&p, m);
	assert_true(fabsf(v[0] - 1e30f) <= 1e24f && v[1] == -v[0] && v[2] == 0.0f);
	assert_true(m->record[ls_fm_stride(m)] == 0.0f);
	ls_params_done(&p);
	v[0] = 1e30f;
	v[1] = 1e-30f;
	assert_int_equal(ls_params_init(&p, m, LS_EXPORT_FP16, &err), 0);
	ls_params_round(&p, m);
	assert_true(fabsf(v[0] / 1e30f - 1.0f) <= 0x1p-11f && v[1] == 0.0f);
	for (size_t i = 0; i < ls_fm_stride(m) * FEATURES; i++)
		m->linear[i] = 0.0f;
	ls_params_done(&p);
	assert_int_equal(ls_params_init(&p, m, LS_EXPORT_FP16, &err), 0);
	ls_params_round(&p, m);
	assert_true(v[0] == 0.0f && m->linear[0] == 0.0f);
	ls_params_done(&p);
	ls_fm_model_free(m);
}

/* Bytes of a graph do not depend on the compiler: it must not choose the order of nodes. */
static void graph_bytes(void **state)
{
	(void)state;
	static const char want[] =
		"745a96308e88f300b745148d65a83cc0ac47131cee44da93ce0cee06ff5f19ca";
	struct ls_str all = {0};
	char hex[LS_SHA256_HEX];
	for (int kind = LS_FM; kind <= LS_FWFM; kind++)
		for (int form = LS_EXPORT_FLOAT; form <= LS_EXPORT_FP16; form++) {
			struct ls_fm_model *m =
				make((enum ls_fm_kind)kind, form % 2 ? LS_MULTICLASS : LS_BINARY);
			struct ls_params p;
			struct ls_graph g = {.prefix = ""};
			struct ls_err err;
			m->opts.normalize = form >= LS_EXPORT_EXACT;
			assert_int_equal(ls_params_init(&p, m, (enum ls_export_form)form, &err), 0);
			(form == LS_EXPORT_EXACT ? ls_exact_graph : ls_float_graph)(&g, &p);
			ls_str_add_bytes(&all, g.inputs.s, g.inputs.len);
			ls_str_add_bytes(&all, g.proto.s, g.proto.len);
			ls_graph_done(&g);
			ls_params_done(&p);
			ls_fm_model_free(m);
		}
	ls_sha256(all.s, all.len, hex);
	ls_str_done(&all);
	assert_string_equal(hex, want);
}

/* A sample has empty rows, full ones, and entries that the model does not know. */
static void samples(void **state)
{
	(void)state;
	struct ls_fm_model *m = make(LS_FFM, LS_BINARY);
	struct ls_sample *s = ls_sample_new(m);
	uint64_t empty = 0, unknown = 0;
	for (uint64_t row = 0; row < s->rows.n_rows; row++)
		empty += s->start[row] == s->start[row + 1];
	for (uint64_t i = 0; i < s->rows.n_entries; i++) {
		unknown += !ls_fm_knows(m, s->feature, s->field, i);
		assert_true(isfinite(s->value[i]) && s->field[i] < FIELDS);
	}
	assert_true(empty > 0 && unknown > 0 && unknown * 4 < s->rows.n_entries);
	ls_sample_free(s);
	ls_sample_free(NULL);
	ls_fm_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wire_format), cmocka_unit_test(exact_scores),
		cmocka_unit_test(quantized),   cmocka_unit_test(graph_bytes),
		cmocka_unit_test(samples),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
