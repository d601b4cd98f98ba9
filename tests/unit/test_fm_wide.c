/* One model, two ways through the kernels, the same bits: factors that are all zero, or a
 * field that no row has, change no other parameter, but columns then have other lanes,
 * rows are no longer one of each field, pairs are taken one by one; and rows are scored
 * alone or side by side. What the bits are is the business of tests/bitwise, and of
 * test_fm whether they are right. labels: once isa long */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fm/cpu/cpu.h"
#include "fm/cpu/dispatch.h"
#include "fm/cpu/kern_sizes.h"
#include "fm/model/batch.h"

enum {
	ROWS = 48,
	ALIKE = 2 * LS_KERN_ROWS,
	BATCH = 16,
	FEATURES = 90,
	CLASSES = 3,
	MAX_FIELDS = 256,
	MAX_ENTRIES = ROWS * MAX_FIELDS
};

struct sample {
	struct ls_rows rows;
	uint64_t start[ROWS + 1];
	uint32_t feature[MAX_ENTRIES];
	uint16_t field[MAX_ENTRIES];
	float value[MAX_ENTRIES], label[ROWS];
};

static uint32_t draw(uint32_t *state, uint32_t n)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) % n;
}

/* Rows with an entry of each field, in order, first as many as may be scored side by
 * side, and then now and then one that lacks a field, has one twice, or has them in
 * reverse. Feature 0 is in most rows, others in few: columns long and short. */
static struct sample *make_sample(uint32_t n_fields, bool with_x, uint32_t classes)
{
	struct sample *s = ls_xalloc(sizeof *s);
	uint32_t state = 7, e = 0;
	for (uint32_t r = 0; r < ROWS; r++) {
		bool odd = r >= ALIKE;
		uint32_t n = n_fields - (odd && r % 5 == 4 && n_fields > 1);
		for (uint32_t i = 0; i < n; i++, e++) {
			s->feature[e] = draw(&state, 3) ? draw(&state, FEATURES) : 0;
			s->field[e] = (uint16_t)(odd && r % 7 == 3         ? n - 1 - i
						 : odd && r % 11 == 5 && i ? i - 1
									   : i);
			s->value[e] = 0.3f * (float)draw(&state, 9) - 1.0f;
		}
		s->start[r + 1] = e;
		s->label[r] = (float)draw(&state, classes);
	}
	s->rows = (struct ls_rows){.n_rows = ROWS,
				   .n_entries = e,
				   .n_features = FEATURES,
				   .n_fields = n_fields,
				   .start = s->start,
				   .feature = s->feature,
				   .field = s->field,
				   .value = with_x ? s->value : NULL,
				   .label = s->label};
	return s;
}

static struct ls_fm_model *make_model(const struct ls_fm_opts *o, uint32_t n_fields,
				      struct ls_pool *pool)
{
	struct ls_fm_model *m;
	struct ls_err err = {0};
	assert_int_equal(ls_fm_model_new(o, FEATURES, n_fields, &m, &err), 0);
	ls_fm_model_init(m, pool);
	return m;
}

/* The factors of one feature, output and field; state 0, or the optimizer's 1 or 2. */
static float *factors_of(const struct ls_fm_model *m, uint32_t feature, uint32_t o, uint32_t block,
			 uint32_t state)
{
	return m->record + feature * ls_fm_stride(m) + state * m->width +
	       ((size_t)o * m->blocks + block) * m->padded;
}

/* Calls f for the places that both models have; `large` has more factors or fields. */
static void for_each_vector(const struct ls_fm_model *small, const struct ls_fm_model *large,
			    uint32_t states,
			    void (*f)(const float *small, float *large, size_t bytes))
{
	for (uint32_t j = 0; j < FEATURES; j++)
		for (uint32_t o = 0; o < small->outputs; o++)
			for (uint32_t b = 0; b < small->blocks; b++)
				for (uint32_t s = 0; s <= states; s++)
					f(factors_of(small, j, o, b, s),
					  factors_of(large, j, o, b, s),
					  sizeof(float) * small->opts.factors);
}

static void copy(const float *small, float *large, size_t bytes)
{
	memcpy(large, small, bytes);
}

static void same(const float *small, float *large, size_t bytes)
{
	assert_memory_equal(small, large, bytes);
}

/* The large model becomes the small one, with zeros beside it. */
static void start_alike(const struct ls_fm_model *small, struct ls_fm_model *large)
{
	for (uint32_t j = 0; j < FEATURES; j++)
		memset(large->record + j * ls_fm_stride(large), 0, sizeof(float) * large->width);
	for_each_vector(small, large, 0, copy);
	ls_fm_model_start_states(large);
}

static double train(struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool)
{
	struct ls_cpu *cpu;
	struct ls_err err = {0};
	double loss = 0;
	assert_int_equal(ls_cpu_new(m, rows, pool, NULL, &cpu, &err), 0);
	if (ls_cpu_steps(cpu, 0, 2 * ls_fm_steps_per_epoch(&m->opts, rows->n_rows), &loss, &err))
		fail_msg("%s", err.msg);
	ls_cpu_free(cpu);
	return loss;
}

static void compare(const struct ls_fm_model *small, const struct ls_fm_model *large)
{
	size_t pairs = (size_t)small->outputs * small->n_pairs * (1 + small->states);
	for_each_vector(small, large, small->states, same);
	for (uint32_t j = 0; j < FEATURES; j++)
		same(small->linear + j * ls_fm_stride(small),
		     large->linear + j * ls_fm_stride(large),
		     sizeof(float) * ls_fm_linear_size(small));
	same(small->bias, large->bias, sizeof(float) * ls_fm_linear_size(small));
	if (pairs)
		same(small->pair, large->pair, sizeof(float) * pairs);
}

/* Rows may be scored side by side; each alone has the same bits, by every build of the
 * kernels. */
static void compare_builds(const struct ls_fm_model *m, const struct ls_rows *rows,
			   const float *want)
{
	static const char *const names[] = {"baseline", "avx2", "avx512"};
	uint64_t longest = 0;
	for (uint64_t r = 0; r < ROWS; r++)
		longest = rows->start[r + 1] - rows->start[r] > longest
				  ? rows->start[r + 1] - rows->start[r]
				  : longest;
	size_t bytes = sizeof(float) * ls_kern_scratch(m, longest);
	float *scratch = ls_xalloc(bytes), score[ROWS * CLASSES];
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct ls_kern *kern = ls_kern_dispatch(names[i]);
		for (uint64_t each = 1; kern && each <= ROWS; each = each == 1 ? 13 : each + 27) {
			for (uint64_t r = 0, n; r < ROWS; r += n) {
				n = ROWS - r < each ? ROWS - r : each;
				memset(scratch, 0xff, bytes);
				kern->predict(m, rows, r, r + n, score + r * m->outputs, scratch);
			}
			assert_memory_equal(score, want, ROWS * m->outputs * sizeof(float));
		}
	}
	free(scratch);
}

/* Scores alone take ways of their own through a row. */
static void compare_scores(const struct ls_fm_model *small, const struct ls_fm_model *large,
			   const struct ls_rows *rows, struct ls_pool *pool)
{
	float score[2][ROWS * CLASSES];
	assert_int_equal(ls_cpu_predict(small, rows, pool, score[0], NULL), 0);
	assert_int_equal(ls_cpu_predict(large, rows, pool, score[1], NULL), 0);
	assert_memory_equal(score[0], score[1], ROWS * small->outputs * sizeof(float));
	compare_builds(small, rows, score[0]);
}

/* What one case has more than its twin. */
struct twin {
	enum ls_fm_kind kind;
	uint32_t factors, more_factors;
	uint32_t fields, more_fields;
};

static void train_twins(const struct twin *t, const struct ls_fm_opts *opts, bool with_x,
			struct ls_pool *pool)
{
	struct sample *s =
		make_sample(t->fields, with_x, opts->task == LS_MULTICLASS ? CLASSES : 2);
	struct ls_fm_opts o = *opts;
	o.factors = t->factors;
	struct ls_fm_model *small = make_model(&o, t->fields, pool);
	o.factors = t->more_factors;
	struct ls_fm_model *large = make_model(&o, t->more_fields, pool);
	start_alike(small, large);
	assert_true(train(small, &s->rows, pool) == train(large, &s->rows, pool));
	compare(small, large);
	compare_scores(small, large, &s->rows, pool);
	ls_fm_model_free(small);
	ls_fm_model_free(large);
	free(s);
}

/* By one pool or the other, such that neither goes with one value of any option; turn:
 * which of them begins. */
static void twins_by_optimizer(const struct twin *t, struct ls_pool *const pools[2], int turn)
{
	for (int variant = 0; variant < 4 * 2 * 2 * 2; variant++) {
		bool with_x = variant & 4, multiclass = variant & 8, regular = variant & 16;
		struct ls_fm_opts o =
			ls_fm_defaults(t->kind, multiclass ? LS_MULTICLASS : LS_BINARY,
				       (enum ls_fm_optimizer)(variant & 3));
		o.classes = multiclass ? CLASSES : 1;
		o.batch = BATCH;
		o.init_scale = 0.2f;
		for (int i = 0; i < LS_FM_PARTS && regular; i++) {
			o.l1[i] = 1e-4f;
			o.l2[i] = i == LS_ON_LINEAR ? 0 : 1e-3f;
		}
		train_twins(t, &o, with_x, pools[__builtin_parity((unsigned)variant) ^ turn]);
	}
}

static void all_twins(const struct twin *twins, size_t n)
{
	struct ls_pool *pools[2];
	struct ls_err err = {0};
	for (int i = 0; i < 2; i++)
		assert_int_equal(ls_pool_new(1 + 2 * i, &pools[i], &err), 0);
	for (size_t i = 0; i < n; i++)
		twins_by_optimizer(&twins[i], pools, i % 2);
	for (int i = 0; i < 2; i++)
		ls_pool_free(pools[i]);
}

/* Short columns of 4, 8, 16 and 32 lanes against wide ones; pairs of fields four at a
 * time against one by one. */
static void zero_factors_change_nothing(void **state)
{
	(void)state;
	static const struct twin twins[] = {{LS_FM, 3, 9, 4, 4},      {LS_FM, 8, 12, 4, 4},
					    {LS_FM, 16, 20, 4, 4},    {LS_FM, 32, 44, 4, 4},
					    {LS_FWFM, 4, 12, 7, 7},   {LS_FWFM, 8, 12, 7, 7},
					    {LS_FWFM, 16, 28, 10, 10}};
	all_twins(twins, sizeof twins / sizeof *twins);
}

/* Rows of one entry a field against rows without one; wide columns of 4, 8 and 16 lanes
 * against longer ones. */
static void a_field_nobody_has_changes_nothing(void **state)
{
	(void)state;
	static const struct twin twins[] = {{LS_FFM, 4, 4, 1, 2},
					    {LS_FFM, 3, 3, 2, 3},
					    {LS_FFM, 4, 4, 4, 5},
					    {LS_FFM, 8, 8, 3, 4},
					    {LS_FFM, 20, 20, 5, 6}};
	all_twins(twins, sizeof twins / sizeof *twins);
}

/* Up to 256 fields a row's records are held as pointers. */
static void many_fields(void **state)
{
	(void)state;
	struct ls_err err = {0};
	struct ls_pool *pool;
	struct ls_fm_opts o = ls_fm_defaults(LS_FFM, LS_BINARY, LS_ADAGRAD);
	o.batch = BATCH;
	assert_int_equal(ls_pool_new(2, &pool, &err), 0);
	train_twins(&(struct twin){LS_FFM, 4, 4, MAX_FIELDS, MAX_FIELDS + 1}, &o, true, pool);
	train_twins(&(struct twin){LS_FFM, 4, 4, MAX_FIELDS, MAX_FIELDS + 1}, &o, false, pool);
	ls_pool_free(pool);
}

/* Up to 96 of them, with 4 factors, their lines are listed, however many floats of linear
 * weights are before them. */
static void listed_lines(void **state)
{
	(void)state;
	struct ls_err err = {0};
	struct ls_pool *pool;
	assert_int_equal(ls_pool_new(1, &pool, &err), 0);
	for (uint32_t variant = 0; variant < 4 * 2 * 4; variant++) {
		uint32_t fields = 94 + variant % 4;
		bool multiclass = variant & 4;
		struct ls_fm_opts o = ls_fm_defaults(LS_FFM, multiclass ? LS_MULTICLASS : LS_BINARY,
						     (enum ls_fm_optimizer)(variant / 8));
		o.batch = BATCH;
		o.classes = multiclass ? CLASSES : 1;
		train_twins(&(struct twin){LS_FFM, 4, 4, fields, fields + 1}, &o, variant & 1,
			    pool);
	}
	ls_pool_free(pool);
}

/* Products that are next to nothing, and negative, leave -0 in the sum over fields; with
 * a bias of -0 and linear weights of 0 a score would be it, too, if rows that are scored
 * side by side were not added up as others are. */
static void zero_has_one_sign(void **state)
{
	(void)state;
	enum { FIELDS = 2 };
	struct ls_err err = {0};
	struct ls_pool *pool;
	assert_int_equal(ls_pool_new(1, &pool, &err), 0);
	for (uint32_t variant = 0; variant < 3 * 3; variant++) {
		struct ls_fm_opts o =
			ls_fm_defaults((enum ls_fm_kind)(variant % 3), LS_BINARY, LS_SGD);
		o.factors = 4u << variant / 3;
		struct sample *s = make_sample(FIELDS, true, 2);
		struct ls_fm_model *m = make_model(&o, FIELDS, pool);
		float score[ROWS];
		for (uint64_t e = 0; e < s->rows.n_entries; e++) {
			s->feature[e] = s->field[e];
			s->value[e] = -1;
		}
		for (uint32_t i = 0; i < FIELDS; i++)
			for (size_t d = 0; d < ls_fm_lanes(m); d++)
				m->record[i * ls_fm_stride(m) + d] = i ? -1e-25f : 1e-25f;
		m->bias[0] = -0.0f;
		assert_int_equal(ls_cpu_predict(m, &s->rows, pool, score, &err), 0);
		compare_builds(m, &s->rows, score);
		ls_fm_model_free(m);
		free(s);
	}
	ls_pool_free(pool);
}

/* The rows of s, some of them with features that no model knows, or in fields that it
 * does not know, if it has any. */
static struct sample *with_unknown(const struct sample *s, uint32_t n_fields, bool with_x,
				   bool fields)
{
	struct sample *u = ls_xalloc(sizeof *u);
	uint32_t e = 0;
	for (uint32_t r = 0; r < ROWS; r++) {
		for (uint64_t i = s->start[r]; i <= s->start[r + 1]; i++) {
			if (r % 3 == 0 && i == s->start[r] + r % 4) {
				u->feature[e] = fields && r % 2 && r % 9 ? 0 : FEATURES + r;
				u->field[e] = (uint16_t)(r % 2 * n_fields);
				u->value[e++] = 0.5f;
			}
			if (i < s->start[r + 1]) {
				u->feature[e] = s->feature[i];
				u->field[e] = s->field[i];
				u->value[e++] = s->value[i];
			}
		}
		u->start[r + 1] = e;
	}
	u->rows = (struct ls_rows){.n_rows = ROWS,
				   .n_entries = e,
				   .n_features = FEATURES + ROWS,
				   .n_fields = n_fields + 1,
				   .start = u->start,
				   .feature = u->feature,
				   .field = u->field,
				   .value = with_x ? u->value : NULL};
	return u;
}

static void unknown_features_count_for_nothing(void **state)
{
	(void)state;
	struct ls_err err = {0};
	struct ls_pool *pool;
	assert_int_equal(ls_pool_new(1, &pool, &err), 0);
	for (uint32_t variant = 0; variant < 3 * 5 * 2; variant++) {
		enum { FIELDS = 7 };
		struct ls_fm_opts o =
			ls_fm_defaults((enum ls_fm_kind)(variant % 3), LS_MULTICLASS, LS_ADAGRAD);
		o.factors = (uint32_t[]){4, 8, 12, 16, 32}[variant / 3 % 5];
		o.classes = CLASSES;
		bool with_x = variant / 15;
		struct sample *s = make_sample(FIELDS, with_x, CLASSES),
			      *u = with_unknown(s, FIELDS, with_x, variant % 3 != LS_FM);
		struct ls_fm_model *m = make_model(&o, FIELDS, pool);
		float score[ROWS * CLASSES];
		assert_int_equal(ls_cpu_predict(m, &s->rows, pool, score, &err), 0);
		compare_builds(m, &s->rows, score);
		compare_builds(m, &u->rows, score);
		ls_fm_model_free(m);
		free(s);
		free(u);
	}
	ls_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zero_factors_change_nothing),
		cmocka_unit_test(a_field_nobody_has_changes_nothing),
		cmocka_unit_test(many_fields),
		cmocka_unit_test(listed_lines),
		cmocka_unit_test(zero_has_one_sign),
		cmocka_unit_test(unknown_features_count_for_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
