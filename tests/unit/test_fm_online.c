/* Training a row at a time: a row that all threads do together, at once or after a barrier, with
 * lines as they lie or spread (online_table.h), leaves the bytes that it leaves when one thread
 * does it alone, which ls_online_shares asks for. What the bytes are is the business of
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
#include "fm/cpu/cpu.h"
#include "fm/cpu/kern/simd.h"
#include "fm/cpu/online.h"

enum { MAX_ROWS = 90, MAX_FIELDS = 256, OWN = 3, MAX_ENTRIES = MAX_ROWS * MAX_FIELDS };

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
	uint32_t stray, gaps; /* one entry in so many has a feature of another field, or is not
				 there; 0: none */
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

/* Rows with an entry of each field, in order, but for gaps; a few have a field twice or are turned
 * round. A field has OWN features, and the features of an entry that strays are another field's. */
static struct sample *make_sample(const struct plan *p, uint32_t *state)
{
	struct sample *s = ls_xalloc(sizeof *s);
	uint32_t e = 0;
	for (uint32_t r = 0; r < p->rows; r++) {
		uint32_t odd = draw(state, 20), n = p->fields;
		for (uint32_t i = 0; i < n; i++) {
			if (p->gaps && draw(state, p->gaps) == 0)
				continue;
			uint32_t of =
				p->stray && draw(state, p->stray) == 0 ? draw(state, p->fields) : i;
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

static struct ls_fm_model *make_model(const struct plan *p, struct ls_pool *pool)
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
	assert_int_equal(ls_fm_model_new(&o, (uint64_t)p->fields * OWN, p->fields, &m, &err), 0);
	ls_fm_model_init(m, pool);
	return m;
}

/* An epoch and a half in calls of up to `most` steps, by all threads, some, or other numbers in
 * turn; between some of them the model is put in order. */
static struct ls_fm_model *train(const struct plan *p, const struct ls_rows *rows, bool alone,
				 int threads, uint64_t most, uint32_t *state, double *loss)
{
	struct ls_pool *pool;
	struct ls_cpu *cpu;
	struct ls_err err = {0};
	assert_int_equal(ls_pool_new(threads, &pool, &err), 0);
	struct ls_fm_model *m = make_model(p, pool);
	ls_online_shares = !alone;
	assert_int_equal(ls_cpu_new(m, rows, pool, NULL, &cpu, &err), 0);
	*loss = 0;
	for (uint64_t step = 0, end = rows->n_rows + rows->n_rows / 2; step < end;) {
		uint64_t n = 1 + draw(state, (uint32_t)most);
		n = n < end - step ? n : end - step;
		ls_cpu_hold(cpu,
			    draw(state, 2) ? threads : 1 + (int)draw(state, (uint32_t)threads));
		if (draw(state, 3) == 0)
			ls_cpu_drill(cpu);
		assert_int_equal(ls_cpu_steps(cpu, step, n, loss, &err), 0);
		step += n;
		if (draw(state, 3) == 0)
			ls_cpu_fetch(cpu);
	}
	ls_cpu_free(cpu);
	ls_pool_free(pool);
	return m;
}

static void same_bytes(const struct ls_fm_model *a, const struct ls_fm_model *b,
		       const struct plan *p, int threads)
{
	if (memcmp(a->linear, b->linear, sizeof(float) * a->n_features * ls_fm_stride(a)) != 0 ||
	    memcmp(a->sums, b->sums, sizeof(float) * a->n_features * a->n_sums) != 0 ||
	    memcmp(a->bias, b->bias, sizeof(float) * ls_fm_linear_size(a)) != 0)
		fail_msg("%u rows, %u fields, %u factors, stray %u, gaps %u, values %d, normalize "
			 "%d, spread %d, "
			 "%u in front, %d threads: other bytes",
			 p->rows, p->fields, p->factors, p->stray, p->gaps, p->values, p->normalize,
			 ls_online_spreads, ls_online_front_most, threads);
}

static void compare(const struct plan *p, int threads, uint32_t *state)
{
	struct sample *s = make_sample(p, state);
	double want_loss, loss;
	ls_online_front_most = 0;
	struct ls_fm_model *want = train(p, &s->rows, true, 1, 2 * MAX_ROWS, state, &want_loss);
	for (int spread = 0; spread < 2; spread++) {
		ls_online_spreads = spread;
		ls_online_front_most = draw(state, 2) ? 1 + draw(state, 40) : 1 << 13;
		struct ls_fm_model *m = train(p, &s->rows, false, threads,
					      1 + draw(state, 2 * p->rows), state, &loss);
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
	for (int i = 0; i < 30; i++) {
		struct plan p = make_plan(&seed);
		compare(&p, 1 + i % 5, &seed);
	}
}

/* Where the ways change: more classes than threads share out, and more threads than classes. */
static void at_the_edges(void **state)
{
	(void)state;
	uint32_t seed = 5;
	static const uint32_t edge[][2] = {{1, 4},   {2, 4},   {3, 4},   {1, 16},
					   {62, 16}, {63, 16}, {64, 16}, {80, 8},
					   {127, 8}, {128, 8}, {255, 4}, {256, 4}};
	for (size_t i = 0; i < sizeof edge / sizeof *edge; i++) {
		struct plan p = make_plan(&seed);
		p.fields = edge[i][0];
		bool many = p.fields > 9; /* most rows have no feature twice, a few lack a field */
		p.rows = many ? 5 : 70;
		p.factors = edge[i][1];
		p.stray = many ? 1000 : 100;
		p.gaps = many ? 300 : p.gaps;
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

/* Every two fields meet in one class, and a thread's classes are whole lines of a record. */
static void lines_have_one_class(void **state)
{
	(void)state;
	for (uint32_t padded = 4; padded <= 16; padded *= 2)
		for (uint32_t fields = 1; fields <= 40; fields++) {
			struct plan p = {.fields = fields, .factors = padded, .task = LS_BINARY};
			struct ls_pool *pool;
			struct ls_err err = {0};
			assert_int_equal(ls_pool_new(1, &pool, &err), 0);
			struct ls_fm_model *m = make_model(&p, pool);
			uint32_t line = ls_online_line(padded),
				 classes = ls_online_classes(fields, padded);
			assert_int_equal(ls_fm_stride(m) % LS_FM_LINE, 0);
			assert_int_equal(m->width % LS_FM_LINE, 0);
			for (uint32_t f = 0; f < fields; f++)
				for (uint32_t g = 1; g < fields; g++) {
					size_t before = (size_t)(m->record - m->linear) +
							(size_t)(g - 1) * padded;
					bool same_line = before / LS_FM_LINE ==
							 (before + padded) / LS_FM_LINE;
					assert_int_equal(
						ls_online_class(f, g, line, classes) ==
							ls_online_class(f, g - 1, line, classes),
						same_line || classes == 1);
				}
			ls_fm_model_free(m);
			ls_pool_free(pool);
		}
}

/* Features by how often they are seen come to the front, as many as may, and go back to where they
 * were. */
static uint32_t try_front(const struct plan *p, uint32_t most, int threads, uint32_t *state)
{
	struct sample *s = make_sample(p, state);
	struct ls_online_front f = {0};
	struct ls_pool *pool;
	struct ls_err err = {0};
	assert_int_equal(ls_pool_new(threads, &pool, &err), 0);
	struct ls_fm_model *m = make_model(p, pool);
	size_t stride = ls_fm_stride(m), bytes = sizeof(float) * m->n_features * stride;
	float *before = ls_xalloc(bytes);
	memcpy(before, m->linear, bytes);
	ls_online_front_most = most;
	assert_int_equal(ls_online_front_init(&f, m, &s->rows, &err), 0);
	assert_true(f.n <= most);
	ls_online_front_set(&f, m, pool, true);
	for (uint64_t j = 0; j < m->n_features; j++)
		assert_memory_equal(m->linear + f.place[j] * stride, before + j * stride,
				    sizeof(float) * stride);
	ls_online_front_set(&f, m, pool, false);
	assert_memory_equal(m->linear, before, bytes);
	ls_online_front_free(&f);
	free(before);
	ls_fm_model_free(m);
	ls_pool_free(pool);
	free(s);
	return f.n;
}

static void front_and_back(void **state)
{
	(void)state;
	uint32_t seed = 17, in_front = 0;
	for (int i = 0; i < 30; i++) {
		struct plan p = make_plan(&seed);
		in_front += try_front(&p, draw(&seed, 60), 1 + i % 3, &seed);
	}
	assert_true(in_front > 200);
}

/* Rows of two entries each: feature 7, and 8 to 10 in turn; in the later half of them 9 alone. */
struct sample_of_two {
	uint64_t start[200001];
	uint32_t feature[400000];
	uint16_t field[400000];
};

static struct sample_of_two *make_two(uint64_t n, struct ls_rows *rows)
{
	struct sample_of_two *s = ls_xalloc(sizeof *s);
	for (uint64_t i = 0; i <= n; i++)
		s->start[i] = 2 * i;
	for (uint64_t i = 0; i < 2 * n; i++) {
		s->feature[i] = i % 2 ? 7 : i > n ? 9 : 8 + (uint32_t)(i / 2 % 3);
		s->field[i] = i % 2;
	}
	*rows = (struct ls_rows){.n_rows = n,
				 .n_entries = 2 * n,
				 .n_features = 12,
				 .n_fields = 2,
				 .start = s->start,
				 .feature = s->feature,
				 .field = s->field};
	return s;
}

static void the_most_frequent_are_in_front(void **state)
{
	(void)state;
	static const uint64_t n_rows[] = {30, 3000, 200000}; /* the last are counted in part */
	static const uint32_t most[] = {0, 1, 2, 3, 4, 100};
	/* 8 is seen once more than 10; as often, in what is counted of the last, and then neither
	 * is in front */
	static const uint32_t want[3][6] = {
		{0, 1, 2, 3, 4, 4}, {0, 1, 2, 3, 4, 4}, {0, 1, 2, 2, 4, 4}};
	struct plan p = {.fields = 4, .factors = 4, .task = LS_BINARY};
	struct ls_pool *pool;
	struct ls_err err = {0};
	assert_int_equal(ls_pool_new(1, &pool, &err), 0);
	struct ls_fm_model *m = make_model(&p, pool);
	for (int i = 0; i < 3 * 6; i++) {
		struct ls_online_front f = {0};
		struct ls_rows rows;
		struct sample_of_two *s = make_two(n_rows[i / 6], &rows);
		ls_online_front_most = most[i % 6];
		assert_int_equal(ls_online_front_init(&f, m, &rows, &err), 0);
		assert_int_equal(f.n, want[i / 6][i % 6]);
		assert_int_equal(f.place[7], f.n ? 0 : 7);
		assert_int_equal(f.place[9], f.n > 1 ? 1 : 9);
		ls_online_front_free(&f);
		free(s);
	}
	ls_fm_model_free(m);
	ls_pool_free(pool);
}

/* Where lines are spread, the record of a feature that stays in its field is at home there,
 * wherever it lies. */
static void homes_are_by_place(void **state)
{
	(void)state;
	uint32_t seed = 29;
	for (int i = 0; i < 10; i++) {
		struct plan p = {
			.rows = 80, .fields = 2 + draw(&seed, 30), .factors = 4, .task = LS_BINARY};
		struct sample *s = make_sample(&p, &seed);
		struct ls_online_table t = {0};
		struct ls_pool *pool;
		struct ls_err err = {0};
		for (uint64_t e = 0; e < s->rows.n_entries; e++)
			s->field[e] = (uint16_t)(s->feature[e] / OWN);
		assert_int_equal(ls_pool_new(2, &pool, &err), 0);
		struct ls_fm_model *m = make_model(&p, pool);
		ls_online_shares = ls_online_spreads = true;
		ls_online_front_most = 1 + draw(&seed, 60);
		assert_int_equal(ls_online_table_init(&t, m, &s->rows, pool, &err), 0);
		for (uint64_t e = 0; e < s->rows.n_entries; e++)
			assert_int_equal(ls_online_home(&t, t.front.place[s->feature[e]]),
					 s->field[e]);
		ls_online_table_free(&t);
		ls_fm_model_free(m);
		ls_pool_free(pool);
		free(s);
	}
}

/* Vectors have their own instruction for it on some machines: over all sums that there can be. */
static void newton_of_vectors(void **state)
{
	(void)state;
	for (uint32_t u = 0; u < 0x7f800000u; u += 257 * 4) {
		float s[4], y[4];
		for (uint32_t i = 0; i < 4; i++) {
			s[i] = ls_f_bits(u + 257 * i);
			y[i] = ls_cell_seed(s[i]);
			s[i] *= y[i];
		}
		ls_pack_f got = ls_pack_newton((ls_pack_f){s[0], s[1], s[2], s[3]},
					       (ls_pack_f){y[0], y[1], y[2], y[3]});
		for (int i = 0; i < 4; i++) {
			assert_int_equal(ls_bits_f(got[i]),
					 ls_bits_f(0.5f * ls_fmaf_by_sum(-s[i], y[i], 3.0f)));
			assert_int_equal(ls_bits_f(got[i]), ls_bits_f(ls_cell_newton(s[i], y[i])));
		}
	}
}

/* Four lanes by sums are as one (test_num has one against fma): of numbers half way between two
 * floats but for a little, and of any bits. */
static void fma_of_vectors(void **state)
{
	(void)state;
	uint32_t bits = 1;
	for (uint32_t i = 0; i < 1u << 18; i++) {
		float v[3][4];
		for (uint32_t k = 0; k < 12; k++) {
			bits = bits * 1664525u + 1013904223u;
			uint32_t close = k % 3 == 1 ? 0x33800000u - (bits >> 24 & 7) * 2
						    : 0x3f800000u + (bits >> 24 & 7);
			v[k % 3][k / 3] = ls_f_bits(i % 2 ? bits : close | (bits & 0x80000000u));
		}
		ls_pack_f got = ls_pack_fma_by_sum(*(ls_pack_f *)v[0], *(ls_pack_f *)v[1],
						   *(ls_pack_f *)v[2]);
		for (int k = 0; k < 4; k++) {
			float want = ls_fmaf_by_sum(v[0][k], v[1][k], v[2][k]);
			assert_true(want != want ? got[k] != got[k]
						 : ls_bits_f(got[k]) == ls_bits_f(want));
		}
	}
}

/* A zero keeps its sign. */
static void one_number_in_all_lanes(void **state)
{
	(void)state;
	ls_pack_f pack = ls_pack_all(-0.0f);
	ls_mid_f mid = ls_mid_all(-0.0f);
	ls_wide_f wide = ls_wide_all(-0.0f);
	for (int i = 0; i < 4; i++)
		assert_int_equal(ls_bits_f(pack[i]), 0x80000000u);
	for (int i = 0; i < LS_MID; i++)
		assert_int_equal(ls_bits_f(mid[i]), 0x80000000u);
	for (int i = 0; i < LS_WIDE; i++)
		assert_int_equal(ls_bits_f(wide[i]), 0x80000000u);
}

/* A row that is not finite stops all threads there, is named, and adds nothing to the loss; in a
 * call of its own it leaves nothing to the next row. Once it is put right the training goes on,
 * into the next epoch. */
static struct ls_fm_model *stop_and_go_on(const struct plan *p, int threads, bool alone)
{
	uint32_t seed = 2;
	struct sample *s = make_sample(p, &seed);
	struct ls_pool *pool;
	struct ls_cpu *cpu;
	struct ls_err err = {0};
	double loss = -1;
	float *bad = &s->value[s->start[70]];
	bad[0] = bad[1] = 3e38f;
	assert_int_equal(ls_pool_new(threads, &pool, &err), 0);
	struct ls_fm_model *m = make_model(p, pool);
	ls_online_shares = !alone;
	assert_int_equal(ls_cpu_new(m, &s->rows, pool, NULL, &cpu, &err), 0);
	for (uint64_t first = 0; first <= 70; first += 70) {
		ls_cpu_hold(cpu, first ? (threads + 1) / 2 : threads);
		assert_int_equal(ls_cpu_steps(cpu, first, first ? 1 : MAX_ROWS, &loss, &err),
				 LS_EDIFFER);
		assert_non_null(strstr(err.msg, "row 71: "));
		assert_true(loss == -1);
	}
	bad[0] = bad[1] = 1.0f;
	assert_int_equal(ls_cpu_steps(cpu, 71, MAX_ROWS, &loss, &err), 0);
	ls_cpu_free(cpu);
	ls_pool_free(pool);
	free(s);
	return m;
}

static void infinity_is_named(void **state)
{
	(void)state;
	const struct plan p = {.rows = MAX_ROWS,
			       .fields = 9,
			       .factors = 4,
			       .values = true,
			       .task = LS_REGRESSION,
			       .shuffle = LS_SHUFFLE_NONE};
	struct ls_fm_model *want = stop_and_go_on(&p, 1, true);
	for (int threads = 1; threads <= 5; threads++)
		for (int alone = 0; alone < 2; alone++) {
			struct ls_fm_model *m = stop_and_go_on(&p, threads, alone);
			same_bytes(want, m, &p, threads);
			ls_fm_model_free(m);
		}
	ls_fm_model_free(want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(together_and_alone_agree),
		cmocka_unit_test(at_the_edges),
		cmocka_unit_test(alone_by_any_threads),
		cmocka_unit_test(lines_have_one_class),
		cmocka_unit_test(infinity_is_named),
		cmocka_unit_test(front_and_back),
		cmocka_unit_test(the_most_frequent_are_in_front),
		cmocka_unit_test(homes_are_by_place),
		cmocka_unit_test(newton_of_vectors),
		cmocka_unit_test(fma_of_vectors),
		cmocka_unit_test(one_number_in_all_lanes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
