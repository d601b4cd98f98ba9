/* Lists of a model's features and pairs, against a plain reference that takes every pair
 * of entries of every row, in double; and what was never learnt is not in them. labels:
 * threads */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fm/eval/inspect.h"

/* Rows for several workers. Features and fields that the model lacks come too. */
enum {
	ROWS = 2500,
	LONGEST = 7,
	FEATURES = 20,
	FIELDS = 4,
	CLASSES = 3,
	MORE = 3,
	ENTRIES = ROWS * LONGEST
};

struct sample {
	struct ls_rows rows;
	uint64_t start[ROWS + 1];
	uint32_t feature[ENTRIES];
	uint16_t field[ENTRIES];
	float value[ENTRIES];
};

static uint32_t draw(uint32_t *state, uint32_t n)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) % n;
}

/* Small features are in most rows, twice in some; feature 0 always has the value 0, the
 * last ones are rare. */
static struct sample *make_sample(void)
{
	struct sample *s = ls_xalloc(sizeof *s);
	uint32_t state = 11, e = 0;
	for (uint32_t r = 0; r < ROWS; r++) {
		uint32_t n = draw(&state, LONGEST + 1);
		for (uint32_t i = 0; i < n; i++, e++) {
			uint32_t few = draw(&state, 400) ? FEATURES / 2 : FEATURES + MORE;
			s->feature[e] = draw(&state, few);
			s->field[e] =
				(uint16_t)draw(&state, draw(&state, 40) ? FIELDS : FIELDS + MORE);
			s->value[e] = s->feature[e] ? 0.5f + (float)draw(&state, 3) : 0.0f;
		}
		s->start[r + 1] = e;
	}
	s->rows = (struct ls_rows){.n_rows = ROWS,
				   .n_entries = e,
				   .n_features = FEATURES + MORE,
				   .n_fields = FIELDS + MORE,
				   .start = s->start,
				   .feature = s->feature,
				   .field = s->field,
				   .value = s->value};
	return s;
}

static struct ls_fm_model *fresh(enum ls_fm_kind kind, enum ls_fm_task task, uint32_t factors)
{
	struct ls_fm_opts o = ls_fm_defaults(kind, task, LS_ADAGRAD);
	struct ls_fm_model *m;
	struct ls_pool *pool;
	struct ls_err err = {0};
	o.factors = factors;
	o.classes = task == LS_MULTICLASS ? CLASSES : 1;
	assert_int_equal(ls_pool_new(2, &pool, &err), 0);
	assert_int_equal(ls_fm_model_new(&o, FEATURES, FIELDS, &m, &err), 0);
	ls_fm_model_init(m, pool);
	ls_pool_free(pool);
	return m;
}

static float *factors_of(const struct ls_fm_model *m, uint32_t feature, uint32_t o, uint32_t block)
{
	return m->record + feature * ls_fm_stride(m) + ((size_t)o * m->blocks + block) * m->padded;
}

/* A model in which all that can be listed differs, but for some linear weights that are
 * alike. */
static struct ls_fm_model *learnt(enum ls_fm_kind kind, enum ls_fm_task task, uint32_t factors)
{
	struct ls_fm_model *m = fresh(kind, task, factors);
	uint32_t state = 5;
	for (uint32_t j = 0; j < FEATURES; j++)
		for (uint32_t o = 0; o < m->outputs; o++) {
			m->linear[j * ls_fm_stride(m) + o] = (float)draw(&state, 9) - 4.0f;
			for (uint32_t b = 0; b < m->blocks; b++)
				for (uint32_t k = 0; k < factors; k++)
					factors_of(m, j, o, b)[k] =
						(float)draw(&state, 20001) * 1e-4f - 1.0f;
		}
	for (uint32_t i = 0; i < m->outputs * m->n_pairs; i++)
		m->pair[i] = (float)draw(&state, 20001) * 1e-4f - 1.0f;
	return m;
}

/* --- the reference --- */

struct ref {
	double strength[FEATURES][FEATURES][FIELDS][FIELDS]; /* NAN: no such pair */
	bool seen[FEATURES];
	uint32_t n_pairs, n_features;
	double *sorted; /* |strength|, n_pairs */
};

static double ref_strength(const struct ls_fm_model *m, uint32_t o, uint32_t a, uint32_t fa,
			   uint32_t b, uint32_t fb)
{
	bool ffm = m->opts.kind == LS_FFM;
	const float *v = factors_of(m, a, o, ffm ? fb : 0), *u = factors_of(m, b, o, ffm ? fa : 0);
	double sum = 0;
	for (uint32_t k = 0; k < m->opts.factors; k++)
		sum += (double)v[k] * (double)u[k];
	if (m->opts.kind != LS_FWFM)
		return sum;
	return sum * (double)m->pair[o * m->n_pairs + ls_fm_pair_index(FIELDS, fa < fb ? fa : fb,
								       fa < fb ? fb : fa)];
}

static bool ref_counts(const struct ls_fm_model *m, const struct ls_rows *rows, uint64_t e)
{
	return rows->feature[e] < FEATURES && (!m->n_fields || rows->field[e] < FIELDS) &&
	       rows->value[e] != 0.0f;
}

static void ref_pair(struct ref *ref, const struct ls_fm_model *m, const struct ls_rows *rows,
		     uint32_t o, uint64_t x, uint64_t y)
{
	uint32_t a = rows->feature[x], b = rows->feature[y];
	uint32_t fa = m->n_fields ? rows->field[x] : 0, fb = m->n_fields ? rows->field[y] : 0;
	if (a > b || (a == b && fa > fb)) {
		ref_pair(ref, m, rows, o, y, x);
	} else if (isnan(ref->strength[a][b][fa][fb])) {
		double t = ref_strength(m, o, a, fa, b, fb);
		ref->strength[a][b][fa][fb] = t;
		ref->sorted[ref->n_pairs++] = fabs(t);
	}
}

static int falling(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x < y) - (x > y);
}

static struct ref *make_ref(const struct ls_fm_model *m, const struct ls_rows *rows, uint32_t o)
{
	size_t room = sizeof(((struct ref *)0)->strength) / sizeof(double);
	struct ref *ref = ls_xalloc(sizeof *ref);
	ref->sorted = ls_xalloc(room * sizeof(double));
	for (size_t i = 0; i < room; i++)
		((double *)ref->strength)[i] = NAN;
	for (uint64_t r = 0; r < rows->n_rows; r++)
		for (uint64_t x = rows->start[r]; x < rows->start[r + 1]; x++) {
			if (!ref_counts(m, rows, x))
				continue;
			ref->n_features += !ref->seen[rows->feature[x]];
			ref->seen[rows->feature[x]] = true;
			for (uint64_t y = x + 1; y < rows->start[r + 1]; y++)
				if (ref_counts(m, rows, y))
					ref_pair(ref, m, rows, o, x, y);
		}
	qsort(ref->sorted, ref->n_pairs, sizeof(double), falling);
	return ref;
}

/* Each pair that is listed is one of the reference, not listed before, and as strong as
 * the reference's at its place.
 */
static void compare_pairs(struct ref *ref, const struct ls_fm_ranks *r, uint32_t n)
{
	assert_int_equal(r->n_pairs, n < ref->n_pairs ? n : ref->n_pairs);
	double *taken = ls_xalloc(r->n_pairs * sizeof *taken);
	for (uint32_t i = 0; i < r->n_pairs; i++) {
		const struct ls_pair_rank *p = &r->pair[i];
		assert_true(p->a <= p->b && p->b < FEATURES && p->field_a < FIELDS &&
			    p->field_b < FIELDS);
		double *want = &ref->strength[p->a][p->b][p->field_a][p->field_b];
		assert_true(fabs(*want - (double)p->strength) < 1e-5); /* not so if it is NAN */
		assert_true(fabs(fabs(*want) - ref->sorted[i]) < 1e-5);
		taken[i] = *want;
		*want = NAN;
	}
	for (uint32_t i = 0; i < r->n_pairs; i++) {
		const struct ls_pair_rank *p = &r->pair[i];
		ref->strength[p->a][p->b][p->field_a][p->field_b] = taken[i];
	}
	free(taken);
}

static void compare_features(const struct ref *ref, const struct ls_fm_model *m, uint32_t o,
			     const struct ls_fm_ranks *r, uint32_t n)
{
	uint32_t larger = 0; /* features that the last one listed does not precede */
	assert_int_equal(r->n_features, n < ref->n_features ? n : ref->n_features);
	const struct ls_feature_rank *last = &r->feature[r->n_features - 1];
	for (uint32_t j = 0; j < FEATURES; j++) {
		float w = fabsf(m->linear[j * ls_fm_stride(m) + o]), least = fabsf(last->linear);
		larger += ref->seen[j] && (w > least || (w == least && j <= last->feature));
	}
	assert_int_equal(larger, r->n_features);
	for (uint32_t i = 0; i < r->n_features; i++) {
		const struct ls_feature_rank *f = &r->feature[i];
		double sum = 0;
		for (uint32_t k = 0; k < m->blocks * m->padded; k++)
			sum += pow((double)factors_of(m, f->feature, o, 0)[k], 2);
		assert_true(ref->seen[f->feature] && fabs(sqrt(sum) - (double)f->norm) < 1e-5);
		assert_true(f->linear == m->linear[f->feature * ls_fm_stride(m) + o]);
		assert_true(
			i == 0 || fabsf(f->linear) < fabsf(f[-1].linear) ||
			(fabsf(f->linear) == fabsf(f[-1].linear) && f->feature > f[-1].feature));
	}
}

static void compare_rows(const struct ls_fm_model *m, const struct ls_rows *rows, uint32_t o)
{
	static const uint32_t tops[] = {1, 2, 15, 100, 10000};
	struct ref *ref = make_ref(m, rows, o);
	struct ls_err err = {0};
	for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
		struct ls_fm_ranks one, more;
		assert_int_equal(ls_fm_rank_rows(m, o, tops[i], rows, 1, &one, &err), 0);
		assert_true(one.exact);
		compare_pairs(ref, &one, tops[i]);
		compare_features(ref, m, o, &one, tops[i]);
		for (int threads = 2; threads < 20; threads = 2 * threads + 1) {
			assert_int_equal(ls_fm_rank_rows(m, o, tops[i], rows, threads, &more, &err),
					 0);
			assert_int_equal(more.n_pairs, one.n_pairs);
			assert_int_equal(more.n_features, one.n_features);
			assert_memory_equal(more.pair, one.pair, sizeof *one.pair * one.n_pairs);
			assert_memory_equal(more.feature, one.feature,
					    sizeof *one.feature * one.n_features);
			ls_fm_ranks_done(&more);
		}
		ls_fm_ranks_done(&one);
	}
	free(ref->sorted);
	free(ref);
}

static void rows_against_the_reference(void **state)
{
	(void)state;
	static const uint32_t factors[] = {4, 7, 16, 18};
	struct sample *s = make_sample();
	for (int kind = LS_FM; kind <= LS_FWFM; kind++)
		for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
			enum ls_fm_task task = i == 1 ? LS_MULTICLASS : LS_BINARY;
			struct ls_fm_model *m = learnt((enum ls_fm_kind)kind, task, factors[i]);
			for (uint32_t o = 0; o < m->outputs; o++)
				compare_rows(m, &s->rows, o);
			ls_fm_model_free(m);
		}
	free(s);
}

/* --- a model alone --- */

static void nothing_is_learnt_at_first(void **state)
{
	(void)state;
	for (int kind = LS_FM; kind <= LS_FWFM; kind++)
		for (int task = LS_BINARY; task <= LS_MULTICLASS; task++) {
			struct ls_fm_model *m =
				fresh((enum ls_fm_kind)kind, (enum ls_fm_task)task, 5);
			struct ls_fm_ranks r;
			ls_fm_rank_model(m, m->outputs - 1, 10, &r);
			assert_int_equal(r.n_features, 0);
			assert_int_equal(r.n_pairs, 0);
			assert_true(r.exact);
			ls_fm_ranks_done(&r);
			ls_fm_model_free(m);
		}
}

/* One factor of features 3 and 12, the linear weight of 7, and the weight of fields 1 and
 * 2 have moved by a bit. */
static struct ls_fm_model *hardly_moved(enum ls_fm_kind kind)
{
	struct ls_fm_model *m = fresh(kind, LS_MULTICLASS, 5);
	float *v = factors_of(m, 3, 1, m->blocks - 1), *u = factors_of(m, 12, 0, 0) + 4;
	*v = nextafterf(*v, 1.0f);
	*u = nextafterf(*u, 1.0f);
	m->linear[7 * ls_fm_stride(m) + 1] = 0.25f;
	if (m->pair)
		m->pair[1 * m->n_pairs + ls_fm_pair_index(FIELDS, 1, 2)] = nextafterf(1.0f, 0.0f);
	return m;
}

static void assert_pair(const struct ls_fm_ranks *r, uint32_t a, uint32_t b)
{
	assert_int_equal(r->n_pairs, 1);
	assert_int_equal(r->pair[0].a, a);
	assert_int_equal(r->pair[0].b, b);
}

static void what_has_moved_is_listed(void **state)
{
	(void)state;
	for (int kind = LS_FM; kind <= LS_FWFM; kind++) {
		struct ls_fm_model *m = hardly_moved((enum ls_fm_kind)kind);
		struct ls_fm_ranks r;
		ls_fm_rank_model(m, 1, 10, &r);
		assert_int_equal(r.n_features, 3);
		assert_int_equal(r.feature[0].feature, 7);
		assert_int_equal(r.feature[1].feature, 3);
		assert_int_equal(r.feature[2].feature, 12);
		if (kind == LS_FM)
			assert_pair(&r, 3, 12);
		else if (kind == LS_FFM)
			assert_pair(&r, 3, FIELDS - 1); /* of feature 12 it was another output */
		else
			assert_pair(&r, 1, 2);
		ls_fm_ranks_done(&r);
		ls_fm_model_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_against_the_reference),
		cmocka_unit_test(nothing_is_learnt_at_first),
		cmocka_unit_test(what_has_moved_is_listed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
