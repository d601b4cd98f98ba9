/* Training a row at a time: a row that all threads do together, at once or after a barrier, with lines as they lie or
 * spread (online_table.h), leaves the bytes that it leaves when one thread does it alone. An L2 penalty so small that
 * every product with it is zero makes all rows go alone and changes no gradient. What the bytes are is the business of
 * tests/bitwise, and of test_fm whether they are right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fm/cpu.h"
#include "fm/online.h"

enum { MAX_ROWS = 90, MAX_FIELDS = 256, OWN = 3, MAX_ENTRIES = MAX_ROWS * MAX_FIELDS };

static const float NOTHING = 1e-45f; /* the least float above zero: times anything below 0.5 it is zero */

struct sample {
	struct ls_rows rows;
	uint64_t start[MAX_ROWS + 1];
	uint32_t feature[MAX_ENTRIES];
	uint16_t field[MAX_ENTRIES];
	float value[MAX_ENTRIES], label[MAX_ROWS], weight[MAX_ROWS];
};

/* What a case is; all of it drawn. */
struct plan {
	uint32_t rows, fields, factors;
	uint32_t stray, gaps; /* one entry in so many has a feature of another field, or is not there; 0: none */
	bool values, weights, normalize, smooth;
	enum ls_fm_task task;
	enum ls_fm_shuffle shuffle;
	uint64_t seed;
};

static uint32_t draw(uint32_t *state, uint32_t n)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) % n;
}

/* Rows with an entry of each field, in order, but for gaps; a few have a field twice or are turned round. A field has
 * OWN features, and the features of an entry that strays are another field's. */
static struct sample *make_sample(const struct plan *p, uint32_t *state)
{
	struct sample *s = ls_xalloc(sizeof *s);
	uint32_t e = 0;
	for (uint32_t r = 0; r < p->rows; r++) {
		uint32_t odd = draw(state, 20), n = p->fields;
		for (uint32_t i = 0; i < n; i++) {
			if (p->gaps && draw(state, p->gaps) == 0)
				continue;
			uint32_t of = p->stray && draw(state, p->stray) == 0 ? draw(state, p->fields) : i;
			s->feature[e] = of * OWN + draw(state, OWN);
			s->field[e] = (uint16_t)(odd == 1 ? n - 1 - i : odd == 2 && i ? i - 1 : i);
			s->value[e++] = 0.25f * (float)draw(state, 9) - 1.0f;
		}
		s->start[r + 1] = e;
		s->label[r] = (float)draw(state, 2);
		s->weight[r] = 0.5f * (float)(1 + draw(state, 3));
	}
	s->rows = (struct ls_rows){.n_rows = p->rows,
				   .n_entries = e,
				   .n_features = (uint64_t)p->fields * OWN,
				   .n_fields = p->fields,
				   .start = s->start,
				   .feature = s->feature,
				   .field = s->field,
				   .value = p->values ? s->value : NULL,
				   .label = s->label,
				   .weight = p->weights ? s->weight : NULL};
	return s;
}

static struct plan make_plan(uint32_t *state)
{
	static const uint32_t factors[] = {3, 4, 4, 5, 8, 8, 13, 16, 16}, often[] = {0, 400, 30, 5};
	struct plan p = {.rows = 1 + draw(state, MAX_ROWS),
			 .fields = 1 + draw(state, 40),
			 .factors = factors[draw(state, 9)],
			 .stray = often[draw(state, 4)],
			 .gaps = often[draw(state, 4)],
			 .values = draw(state, 2),
			 .weights = draw(state, 2),
			 .normalize = draw(state, 3) == 0,
			 .smooth = draw(state, 2),
			 .task = draw(state, 2) ? LS_BINARY : LS_REGRESSION,
			 .shuffle = (enum ls_fm_shuffle)draw(state, 3),
			 .seed = draw(state, 1000)};
	return p;
}

static struct ls_fm_model *make_model(const struct plan *p, bool alone, struct ls_pool *pool)
{
	struct ls_fm_opts o = ls_fm_defaults(LS_FFM, p->task, LS_ADAGRAD);
	struct ls_fm_model *m;
	struct ls_err err = {0};
	o.online = true;
	o.batch = 1;
	o.factors = p->factors;
	o.init_scale = 0.05f;
	o.normalize = p->normalize;
	o.label_smoothing = p->smooth && p->task == LS_BINARY ? 0.1f : 0.0f;
	o.shuffle = p->shuffle;
	o.seed = p->seed;
	o.l2 = alone ? NOTHING : 0.0f;
	assert_int_equal(ls_fm_model_new(&o, (uint64_t)p->fields * OWN, p->fields, &m, &err), 0);
	ls_fm_model_init(m, pool);
	return m;
}

/* An epoch and a half in calls of up to `most` steps; between some of them the model is put in order. */
static struct ls_fm_model *train(const struct plan *p, const struct ls_rows *rows, bool alone, int threads,
				 uint64_t most, uint32_t *state, double *loss)
{
	struct ls_pool *pool;
	struct ls_cpu *cpu;
	struct ls_err err = {0};
	assert_int_equal(ls_pool_new(threads, &pool, &err), 0);
	struct ls_fm_model *m = make_model(p, alone, pool);
	assert_int_equal(ls_cpu_new(m, rows, pool, NULL, &cpu, &err), 0);
	*loss = 0;
	for (uint64_t step = 0, end = rows->n_rows + rows->n_rows / 2; step < end;) {
		uint64_t n = 1 + draw(state, (uint32_t)most);
		n = n < end - step ? n : end - step;
		assert_int_equal(ls_cpu_steps(cpu, step, n, loss, &err), 0);
		step += n;
		if (draw(state, 3) == 0)
			ls_cpu_fetch(cpu);
	}
	ls_cpu_free(cpu);
	ls_pool_free(pool);
	return m;
}

static void same_bytes(const struct ls_fm_model *a, const struct ls_fm_model *b, const struct plan *p, int threads)
{
	if (memcmp(a->linear, b->linear, sizeof(float) * a->n_features * ls_fm_stride(a)) != 0 ||
	    memcmp(a->bias, b->bias, sizeof(float) * ls_fm_linear_size(a)) != 0)
		fail_msg("%u rows, %u fields, %u factors, stray %u, gaps %u, values %d, normalize %d, spread %d, "
			 "%d threads: other bytes",
			 p->rows, p->fields, p->factors, p->stray, p->gaps, p->values, p->normalize, ls_online_spreads,
			 threads);
}

static void compare(const struct plan *p, int threads, uint32_t *state)
{
	struct sample *s = make_sample(p, state);
	double want_loss, loss;
	struct ls_fm_model *want = train(p, &s->rows, true, 1, 2 * MAX_ROWS, state, &want_loss);
	for (int spread = 0; spread < 2; spread++) {
		ls_online_spreads = spread;
		struct ls_fm_model *m = train(p, &s->rows, false, threads, 1 + draw(state, 2 * p->rows), state, &loss);
		same_bytes(want, m, p, threads);
		assert_true(loss == want_loss);
		ls_fm_model_free(m);
	}
	ls_fm_model_free(want);
	free(s);
}

static void together_and_alone_agree(void **state)
{
	(void)state;
	uint32_t seed = 11;
	for (int i = 0; i < 40; i++) {
		struct plan p = make_plan(&seed);
		compare(&p, 1 + i % 5, &seed);
	}
}

/* Where the ways change: more classes than threads share out, and more threads than classes. */
static void at_the_edges(void **state)
{
	(void)state;
	uint32_t seed = 5;
	static const uint32_t edge[][2] = {{1, 4},   {2, 4},  {3, 4},   {1, 16},  {62, 16}, {63, 16},
					   {64, 16}, {80, 8}, {127, 8}, {128, 8}, {255, 4}, {256, 4}};
	for (size_t i = 0; i < sizeof edge / sizeof *edge; i++) {
		struct plan p = make_plan(&seed);
		p.fields = edge[i][0];
		p.rows = p.fields < 10 ? 70 : 6;
		p.factors = edge[i][1];
		p.stray = 100;
		compare(&p, 3, &seed);
	}
}

/* Rows of other models or sizes than the usual go alone by any number of threads. */
static void alone_by_any_threads(void **state)
{
	(void)state;
	uint32_t seed = 3;
	for (int i = 0; i < 4; i++) {
		struct plan p = make_plan(&seed);
		double a_loss, b_loss;
		p.factors = i % 2 ? 12 : 20;
		struct sample *s = make_sample(&p, &seed);
		struct ls_fm_model *a = train(&p, &s->rows, false, 1, 50, &seed, &a_loss);
		struct ls_fm_model *b = train(&p, &s->rows, false, 2 + i % 3, 70, &seed, &b_loss);
		same_bytes(a, b, &p, 2 + i % 3);
		assert_true(a_loss == b_loss);
		ls_fm_model_free(a);
		ls_fm_model_free(b);
		free(s);
	}
}

/* Every two fields meet in one class, and a thread's classes are whole lines of a record, the next state's too. */
static void lines_have_one_class(void **state)
{
	(void)state;
	for (uint32_t padded = 4; padded <= 16; padded *= 2)
		for (uint32_t fields = 1; fields <= 40; fields++) {
			struct plan p = {.fields = fields, .factors = padded, .task = LS_BINARY};
			struct ls_pool *pool;
			struct ls_err err = {0};
			assert_int_equal(ls_pool_new(1, &pool, &err), 0);
			struct ls_fm_model *m = make_model(&p, false, pool);
			uint32_t line = ls_online_line(padded), classes = ls_online_classes(fields, padded);
			assert_int_equal(ls_fm_stride(m) % LS_FM_LINE, 0);
			assert_int_equal(m->width % LS_FM_LINE, 0);
			for (uint32_t f = 0; f < fields; f++)
				for (uint32_t g = 1; g < fields; g++) {
					size_t before = (size_t)(m->record - m->linear) + (size_t)(g - 1) * padded;
					bool same_line = before / LS_FM_LINE == (before + padded) / LS_FM_LINE;
					assert_int_equal(ls_online_class(f, g, line, classes) ==
								 ls_online_class(f, g - 1, line, classes),
							 same_line || classes == 1);
				}
			ls_fm_model_free(m);
			ls_pool_free(pool);
		}
}

/* A row that is not finite stops all threads there, is named, and adds nothing to the loss. */
static void infinity_is_named(void **state)
{
	(void)state;
	for (int threads = 1; threads <= 5; threads++)
		for (int alone = 0; alone < 2; alone++) {
			struct plan p = {
				.rows = MAX_ROWS, .fields = 9, .factors = 4, .values = true, .task = LS_REGRESSION};
			uint32_t seed = 2;
			struct sample *s = make_sample(&p, &seed);
			struct ls_pool *pool;
			struct ls_cpu *cpu;
			struct ls_err err = {0};
			double loss = -1;
			s->value[s->start[70]] = 3e38f;
			s->value[s->start[70] + 1] = 3e38f;
			assert_int_equal(ls_pool_new(threads, &pool, &err), 0);
			p.shuffle = LS_SHUFFLE_NONE;
			struct ls_fm_model *m = make_model(&p, alone, pool);
			assert_int_equal(ls_cpu_new(m, &s->rows, pool, NULL, &cpu, &err), 0);
			assert_int_equal(ls_cpu_steps(cpu, 0, MAX_ROWS, &loss, &err), LS_EDIFFER);
			assert_non_null(strstr(err.msg, "row 71 "));
			assert_true(loss == -1);
			ls_cpu_free(cpu);
			ls_fm_model_free(m);
			ls_pool_free(pool);
			free(s);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(together_and_alone_agree), cmocka_unit_test(at_the_edges),
		cmocka_unit_test(alone_by_any_threads),     cmocka_unit_test(lines_have_one_class),
		cmocka_unit_test(infinity_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
