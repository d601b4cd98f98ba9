/* The mathematics of the engine, against a plain reference in double written for reading:
 * every pair of entries, no tricks. Bounds are those of binary32 arithmetic; that the
 * bits agree everywhere is the business of tests/bitwise. labels: threads isa */
#include <math.h>
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
#include "fm/cpu/dispatch.h"
#include "fm/cuda/host/cuda.h"
#include "fm/model/batch.h"
#include "fm/model/save.h"
#include "models.h"
#include "modes.h"
#include "num/num.h"

enum { ROWS = 40, FEATURES = 12, FIELDS = 4, CLASSES = 3, MAX_ENTRIES = ROWS * 6 };

struct sample {
	struct ls_rows rows;
	uint64_t start[ROWS + 1];
	uint32_t feature[MAX_ENTRIES];
	uint16_t field[MAX_ENTRIES];
	float value[MAX_ENTRIES], label[ROWS], weight[ROWS];
};

/* A small congruential generator: the data need to be various, not random. */
static uint32_t draw(uint32_t *state, uint32_t n)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) % n;
}

/* in_order: an entry of each field, in order, which ffm does in another way. */
static struct sample *make_sample(enum ls_fm_task task, bool in_order)
{
	struct sample *s = ls_xalloc(sizeof *s);
	uint32_t state = 7, e = 0;
	for (uint32_t r = 0; r < ROWS; r++) {
		uint32_t n = in_order ? FIELDS : 1 + draw(&state, 6);
		for (uint32_t i = 0; i < n; i++, e++) {
			/* may repeat within a row */
			s->feature[e] = draw(&state, FEATURES);
			s->field[e] = (uint16_t)draw(&state, FIELDS);
			if (in_order) {
				s->field[e] = (uint16_t)i;
				s->feature[e] = i * (FEATURES / FIELDS) +
						s->feature[e] % (FEATURES / FIELDS);
			}
			s->value[e] = 0.25f * (float)(1 + draw(&state, 8)) - 1.0f;
		}
		s->start[r + 1] = e;
		s->label[r] = task == LS_REGRESSION   ? 0.5f * (float)draw(&state, 9) - 2.0f
			      : task == LS_MULTICLASS ? (float)draw(&state, CLASSES)
						      : (float)draw(&state, 2);
		s->weight[r] = 0.5f * (float)(1 + draw(&state, 3));
	}
	s->rows = (struct ls_rows){.n_rows = ROWS,
				   .n_entries = e,
				   .n_features = FEATURES,
				   .n_fields = FIELDS,
				   .start = s->start,
				   .feature = s->feature,
				   .field = s->field,
				   .value = s->value,
				   .label = s->label,
				   .weight = s->weight};
	return s;
}

/* --- the reference: parameters in one flat array of doubles, addressed by what they are
 * --- */

struct ref {
	const struct ls_fm_model *m;
	double *bias, *linear, *factor,
		*pair; /* [o], [feature][o], [feature][o][block][k], [o][pair] */
};

static double *factor_at(const struct ref *p, uint32_t feature, uint32_t o, uint32_t block)
{
	const struct ls_fm_model *m = p->m;
	return p->factor +
	       (((size_t)feature * m->outputs + o) * m->blocks + block) * m->opts.factors;
}

static double dot(const double *a, const double *b, uint32_t n)
{
	double sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* One pair of entries: how two features speak to each other in each kind. */
static double pair_term(const struct ref *p, uint32_t o, uint32_t i, uint32_t fi, uint32_t j,
			uint32_t fj)
{
	uint32_t k = p->m->opts.factors;
	switch (p->m->opts.kind) {
	case LS_FM:
		return dot(factor_at(p, i, o, 0), factor_at(p, j, o, 0), k);
	case LS_FFM:
		return dot(factor_at(p, i, o, fj), factor_at(p, j, o, fi), k);
	default:
		return p->pair[o * p->m->n_pairs +
			       ls_fm_pair_index(FIELDS, fi < fj ? fi : fj, fi < fj ? fj : fi)] *
		       dot(factor_at(p, i, o, 0), factor_at(p, j, o, 0), k);
	}
}

static double ref_score(const struct ref *p, const struct ls_rows *rows, uint64_t row, uint32_t o)
{
	double scale = 1, sum = p->bias[o];
	if (p->m->opts.normalize) {
		double squares = 0;
		for (uint64_t e = rows->start[row]; e < rows->start[row + 1]; e++)
			squares += (double)rows->value[e] * (double)rows->value[e];
		scale = squares > 0 ? 1 / sqrt(squares) : 0;
	}
	for (uint64_t e = rows->start[row]; e < rows->start[row + 1]; e++) {
		double x = (double)rows->value[e] * scale;
		sum += p->linear[rows->feature[e] * p->m->outputs + o] * x;
		for (uint64_t d = rows->start[row]; d < e; d++)
			sum += pair_term(p, o, rows->feature[d], rows->field[d], rows->feature[e],
					 rows->field[e]) *
			       x * (double)rows->value[d] * scale;
	}
	return sum;
}

static double ref_row_loss(const struct ref *p, const struct ls_rows *rows, uint64_t row)
{
	const struct ls_fm_opts *o = &p->m->opts;
	double soft = (double)o->label_smoothing, y = (double)rows->label[row], score[CLASSES],
	       top = -1e300, sum = 0, loss = 0;
	uint32_t n = p->m->outputs;
	for (uint32_t c = 0; c < n; c++) {
		score[c] = ref_score(p, rows, row, c);
		top = score[c] > top ? score[c] : top;
	}
	if (o->task == LS_REGRESSION)
		return 0.5 * (score[0] - y) * (score[0] - y);
	if (o->task == LS_BINARY) {
		double target = y > 0 ? 1 - soft / 2 : soft / 2;
		return log1p(exp(score[0])) - target * score[0];
	}
	for (uint32_t c = 0; c < n; c++)
		sum += exp(score[c] - top);
	for (uint32_t c = 0; c < n; c++)
		loss += ((c == (uint32_t)y ? 1 - soft : 0) + soft / n) *
			(top + log(sum) - score[c]);
	return loss;
}

static double ref_weighted_loss(const struct ref *p, const struct ls_rows *rows, uint64_t row)
{
	const struct ls_fm_opts *o = &p->m->opts;
	/* a target is no class */
	float label = o->task == LS_REGRESSION ? 0 : rows->label[row];
	uint32_t class = o->task == LS_BINARY ? label > 0 : (uint32_t)label;
	double weight = (double)rows->weight[row] *
			(o->n_class_weights ? (double)o->class_weight[class] : 1);
	return weight * ref_row_loss(p, rows, row);
}

static double ref_loss(const struct ref *p, const struct ls_rows *rows)
{
	double sum = 0;
	for (uint64_t r = 0; r < rows->n_rows; r++)
		sum += ref_weighted_loss(p, rows, r);
	return sum;
}

/* Parameters of the engine's model as doubles, in one array; n of them. */
static struct ref ref_of(const struct ls_fm_model *m, double *all, size_t *ret_n)
{
	struct ref p = {.m = m, .bias = all};
	size_t n = 0;
	for (uint32_t o = 0; o < m->outputs; o++)
		all[n++] = (double)m->bias[o];
	p.linear = all + n;
	for (uint64_t j = 0; j < m->n_features; j++)
		for (uint32_t o = 0; o < m->outputs; o++)
			all[n++] = (double)m->linear[j * ls_fm_stride(m) + o];
	p.factor = all + n;
	for (uint64_t j = 0; j < m->n_features; j++)
		for (uint32_t d = 0; d < ls_fm_lanes(m); d++)
			if (d % m->padded < m->opts.factors)
				all[n++] = (double)m->record[j * ls_fm_stride(m) + d];
	p.pair = all + n;
	for (uint32_t i = 0; i < m->outputs * m->n_pairs; i++)
		all[n++] = (double)m->pair[i];
	*ret_n = n;
	return p;
}

/* --- the tests --- */

static struct ls_fm_opts make_opts(enum ls_fm_kind kind, enum ls_fm_task task,
				   enum ls_fm_optimizer optimizer, bool normalize)
{
	struct ls_fm_opts o = ls_fm_defaults(kind, task, optimizer);
	o.factors = 5;
	o.batch = ROWS;
	o.lr = 1.0f;
	o.init_scale = 0.4f;
	o.normalize = normalize;
	o.classes = task == LS_MULTICLASS ? CLASSES : 1;
	o.label_smoothing = task == LS_REGRESSION ? 0 : 0.1f;
	if (task != LS_REGRESSION) {
		o.n_class_weights = task == LS_BINARY ? 2 : CLASSES;
		for (uint32_t c = 0; c < o.n_class_weights; c++)
			o.class_weight[c] = 1.0f + 0.5f * (float)c;
	}
	return o;
}

static struct ls_fm_model *make_model(const struct ls_fm_opts *o, struct ls_pool *pool)
{
	struct ls_fm_model *m;
	struct ls_err err = {0};
	assert_int_equal(ls_fm_model_new(o, FEATURES, FIELDS, &m, &err), 0);
	ls_fm_model_init(m, pool);
	for (uint32_t j = 0; j < FEATURES; j++)
		for (uint32_t out = 0; out < m->outputs; out++)
			m->linear[j * ls_fm_stride(m) + out] = 0.1f * (float)(j + out) - 0.5f;
	for (uint32_t i = 0; i < m->outputs * m->n_pairs; i++)
		m->pair[i] = 0.3f + 0.1f * (float)(i % 11);
	ls_fm_model_start_states(m);
	return m;
}

static void close_to(double got, double want, double scale)
{
	if (!(fabs(got - want) <= 2e-5 * (scale + fabs(want))))
		fail_msg("got %.9g, the reference says %.9g", got, want);
}

static void compare_scores(const struct ls_fm_model *m, const struct ref *p,
			   const struct ls_rows *rows, struct ls_pool *pool)
{
	float score[ROWS * CLASSES];
	struct ls_err err = {0};
	assert_int_equal(ls_cpu_predict(m, rows, pool, score, &err), 0);
	for (uint64_t r = 0; r < ROWS; r++)
		for (uint32_t o = 0; o < m->outputs; o++)
			close_to((double)score[r * m->outputs + o], ref_score(p, rows, r, o), 1);
}

/* One step of SGD over all rows with rate 1 moves each parameter by its gradient / ROWS;
 * the reference's gradient is a central difference. */
static void compare_gradients(struct ls_fm_model *m, const struct ls_rows *rows,
			      struct ls_pool *pool, double *before)
{
	size_t n;
	struct ref p = ref_of(m, before, &n);
	double *want = ls_xalloc(n * sizeof *want), *after = ls_xalloc(n * sizeof *after), loss = 0,
	       h = 1e-5;
	for (size_t i = 0; i < n; i++) {
		double keep = before[i];
		before[i] = keep + h;
		double up = ref_loss(&p, rows);
		before[i] = keep - h;
		want[i] = (up - ref_loss(&p, rows)) / (2 * h);
		before[i] = keep;
	}
	struct ls_cpu *cpu;
	struct ls_err err = {0};
	assert_int_equal(ls_cpu_new(m, rows, pool, NULL, &cpu, &err), 0);
	assert_int_equal(ls_cpu_steps(cpu, 0, 1, &loss, &err), 0);
	close_to(loss, ref_loss(&p, rows), 1);
	ref_of(m, after, &n);
	for (size_t i = 0; i < n; i++)
		close_to((before[i] - after[i]) * ROWS, want[i], 1);
	ls_cpu_free(cpu);
	free(want);
	free(after);
}

static void against_the_reference(void **state)
{
	(void)state;
	struct ls_pool *pool;
	struct ls_err err = {0};
	assert_int_equal(ls_pool_new(2, &pool, &err), 0);
	for (int i = 0; i < 36; i++) { /* 3 kinds × 3 tasks × normalize × in_order */
		enum ls_fm_task task = (enum ls_fm_task)(i / 3 % 3);
		struct sample *s = make_sample(task, i / 18);
		struct ls_fm_opts o = make_opts((enum ls_fm_kind)(i % 3), task, LS_SGD, i / 9 % 2);
		struct ls_fm_model *m = make_model(&o, pool);
		double all[4096];
		size_t n;
		struct ref p = ref_of(m, all, &n);
		assert_true(n < sizeof all / sizeof *all);
		compare_scores(m, &p, &s->rows, pool);
		compare_gradients(m, &s->rows, pool, all);
		ls_fm_model_free(m);
		free(s);
	}
	ls_pool_free(pool);
}

/* Rows of two entries of one field whose factors cancel: U is 0 and W is all there is,
 * far above what squares of U would let expect. The grid of the field weights' gradient
 * has to have room for it. */
static void pairs_cancel(struct ls_fm_model *m, struct sample *s)
{
	for (uint32_t e = 0; e < 2 * ROWS; e++) {
		s->feature[e] = e / 2 % (FEATURES / 2) * 2 + e % 2;
		s->field[e] = 0;
		s->value[e] = 1.0f;
		s->start[e / 2 + 1] = 2 * (e / 2 + 1);
	}
	s->rows.n_entries = 2 * ROWS;
	for (uint32_t j = 0; j < FEATURES; j++)
		for (uint32_t k = 0; k < m->opts.factors; k++)
			m->record[j * ls_fm_stride(m) + k] = (j % 2 ? -1.0f : 1.0f) / 128.0f;
}

/* Weights of a field with itself that are far above all others: an entry's part in its
 * own field's sum, times its weight, is on a grid that has to have room for it. Factors
 * are so small that scores stay so, too. */
static void weights_are_large(struct ls_fm_model *m, struct sample *s)
{
	(void)s;
	for (uint32_t f = 0; f < FIELDS; f++)
		m->pair[ls_fm_pair_index(FIELDS, f, f)] = 0x1.8p20f;
	for (uint32_t j = 0; j < FEATURES; j++)
		for (uint32_t k = 0; k < m->opts.factors; k++)
			m->record[j * ls_fm_stride(m) + k] *= 0x1p-16f;
}

static void own_fields_have_room(void **state)
{
	(void)state;
	static void (*const change[])(struct ls_fm_model * m,
				      struct sample * s) = {pairs_cancel, weights_are_large};
	struct ls_pool *pool;
	struct ls_err err = {0};
	assert_int_equal(ls_pool_new(2, &pool, &err), 0);
	for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
		struct ls_fm_opts o = make_opts(LS_FWFM, LS_BINARY, LS_SGD, false);
		struct ls_fm_model *m = make_model(&o, pool);
		struct sample *s = make_sample(LS_BINARY, false);
		double all[4096];
		change[i](m, s);
		compare_gradients(m, &s->rows, pool, all);
		ls_fm_model_free(m);
		free(s);
	}
	ls_pool_free(pool);
}

/* --- what the caller's thread, and those that it has made, may have been left in --- */

/* Subnormal parameters and steps are among them, so that flushing is seen. */
static struct ls_fm_model *trained_in(uint64_t mode, const struct ls_fm_opts *o,
				      const struct ls_rows *rows, float *ret_score,
				      double *ret_loss)
{
	struct ls_pool *pool;
	struct ls_cpu *cpu = NULL;
	struct ls_err err = {0};
	assert_int_equal(ls_pool_new(1, &pool, &err), 0);
	struct ls_fm_model *m = make_model(o, pool);
	for (uint32_t j = 0; j < FEATURES; j++)
		m->linear[j * ls_fm_stride(m)] = 0x1.2345p-130f;
	m->bias[0] = 0x1.7p-131f;
	ls_pool_free(pool);
	uint64_t plain = ls_fp_enter();
	ls_fp_leave(mode);
	/* its threads begin in their maker's mode */
	int rc = ls_pool_new(2, &pool, &err);
	rc = rc ? rc : ls_cpu_predict(m, rows, pool, ret_score, &err);
	rc = rc ? rc : ls_cpu_new(m, rows, pool, NULL, &cpu, &err);
	*ret_loss = 0;
	rc = rc ? rc : ls_cpu_steps(cpu, 0, 3, ret_loss, &err);
	uint64_t left = ls_fp_enter();
	ls_fp_leave(plain);
	assert_int_equal(rc, 0);
	assert_true((left & mode) == mode); /* nor is the caller's mode changed */
	ls_cpu_free(cpu);
	ls_pool_free(pool);
	return m;
}

static void modes_do_not_reach_the_bytes(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct sample *s = make_sample(LS_BINARY, false);
		struct ls_fm_opts o = make_opts((enum ls_fm_kind)i, LS_BINARY, LS_ADAGRAD, true);
		float want_score[ROWS] = {0}, score[ROWS] = {0};
		double want_loss, loss;
		o.batch = ROWS;
		o.init_scale = 1e-3f;
		uint64_t plain = ls_fp_enter();
		ls_fp_leave(plain);
		struct ls_fm_model *want = trained_in(plain, &o, &s->rows, want_score, &want_loss);
		for (size_t k = 0; k < sizeof fp_modes / sizeof *fp_modes; k++) {
			struct ls_fm_model *m = trained_in(fp_modes[k], &o, &s->rows, score, &loss);
			assert_memory_equal(score, want_score, sizeof score);
			assert_true(loss == want_loss);
			assert_same_model(m, want);
			ls_fm_model_free(m);
		}
		ls_fm_model_free(want);
		free(s);
	}
}

/* Kernels count parameters of a kind in 32 bits. */
static void sizes_have_an_end(void **state)
{
	(void)state;
	struct ls_fm_opts o = ls_fm_defaults(LS_FWFM, LS_MULTICLASS, LS_SGD);
	struct ls_fm_model *m = NULL;
	struct ls_err err = {0};
	o.classes = 256;
	assert_int_equal(ls_fm_model_new(&o, 10, 4096, &m, &err),
			 LS_EINPUT); /* 256 × 4096 × 4097 / 2 weights */
	assert_non_null(strstr(err.msg, "256 outputs with 4096 fields"));
	o.classes = 128;
	o.factors = 256;
	assert_int_equal(ls_fm_model_new(&o, 10, 1 << 14, &m, &err), LS_EINPUT);
	o.classes = 2;
	o.factors = 4;
	assert_int_equal(ls_fm_model_new(&o, 10, 100, &m, &err), 0);
	ls_fm_model_free(m);
}

/* One parameter through each optimizer, against the textbook in double. */
static void optimizers_follow_the_textbook(void **state)
{
	(void)state;
	struct ls_fm_opts o = ls_fm_defaults(LS_FM, LS_BINARY, LS_ADAM);
	o.l2[LS_ON_FACTORS] = 0.01f;
	double m = 0, u = 0, v = 0.3, beta1 = 0.9, beta2 = 0.999, b1 = 1, b2 = 1;
	struct ls_param p = {0.3f, 0, 0}, a = {0.3f, 1, 0};
	double sum = 1, w = 0.3;
	struct ls_fm_opts ada = ls_fm_defaults(LS_FM, LS_BINARY, LS_ADAGRAD);
	for (uint64_t step = 0; step < 50; step++) {
		double g = 0.5 - 0.03 * (double)step, r = g + 0.01 * v;
		struct ls_update update = ls_fm_update(&o, step, 1);
		p = ls_cell_update(p, (float)g, &update, &update.penalty[LS_ON_FACTORS]);
		m = beta1 * m + (1 - beta1) * r;
		u = beta2 * u + (1 - beta2) * r * r;
		b1 *= beta1;
		b2 *= beta2;
		v -= 0.001 * (m / (1 - b1)) / (sqrt(u / (1 - b2)) + 1e-8 / sqrt(1 - b2));
		close_to((double)p.v, v, 1);
		update = ls_fm_update(&ada, step, 1);
		a = ls_cell_update(a, (float)g, &update, &update.penalty[LS_ON_FACTORS]);
		sum += g * g;
		w -= 0.04 * g / sqrt(sum);
		close_to((double)a.v, w, 1);
	}
}

/* The rate goes up to the given one and down from it: to 0, where it stays, or as the
 * inverse root. */
static void rates_follow_their_schedule(void **state)
{
	(void)state;
	struct ls_fm_opts o = ls_fm_defaults(LS_FM, LS_BINARY, LS_ADAGRAD);
	o.lr = 0.5f;
	o.warmup_steps = 4;
	o.decay_steps = 8;
	for (uint64_t step = 0; step < 40; step++) {
		float up = (float)(step + 1) / 8.0f, past = ((float)step - 4.0f) / 8.0f;
		float linear = step < 12 ? 0.5f * (1.0f - past) : 0.0f;
		o.decay = LS_DECAY_LINEAR;
		assert_true(ls_fm_update(&o, step, 1).lr == (step < 4 ? up : linear));
		o.decay = LS_DECAY_INVSQRT;
		close_to((double)ls_fm_update(&o, step, 1).lr,
			 step < 4 ? (double)up : 0.5 / sqrt(1 + (double)past), 0);
		o.decay = LS_DECAY_NONE;
		assert_true(ls_fm_update(&o, step, 1).lr == (step < 4 ? up : 0.5f));
	}
}

/* FTRL keeps the start that it is given without penalties; they pull it towards 0 even where
 * the gradient is 0, and L1 makes small weights exactly zero. */
static void ftrl_starts_and_shrinks(void **state)
{
	(void)state;
	struct ls_fm_opts o = ls_fm_defaults(LS_FM, LS_BINARY, LS_FTRL);
	o.l1[LS_ON_LINEAR] = 0.5f;
	o.l2[LS_ON_LINEAR] = 0.1f;
	o.l2[LS_ON_FACTORS] = 10.0f;
	struct ls_update u = ls_fm_update(&o, 0, 1);
	const struct ls_penalty *none = &u.penalty[LS_ON_BIAS], *both = &u.penalty[LS_ON_LINEAR];
	struct ls_param p = {0.02f, ls_cell_ftrl_start(0.02f, &u), 0};
	close_to((double)ls_cell_ftrl(p, 0.0f, &u, none).v, 0.02, 1e-8);
	/* z is -0.2: half of it is left by an L2 as large as beta / lr, nothing by an L1 of 0.5 */
	close_to((double)ls_cell_ftrl(p, 0.0f, &u, &u.penalty[LS_ON_FACTORS]).v, 0.01, 1e-8);
	assert_true(ls_cell_ftrl(p, 0.0f, &u, both).v == 0.0f);
	p = ls_cell_ftrl(p, 0.3f, &u, both);
	assert_true(p.v == 0.0f);
	for (int i = 0; i < 20; i++)
		p = ls_cell_ftrl(p, 0.3f, &u, both);
	assert_true(p.v < 0.0f);
}

static void batches_cover_every_row_once(void **state)
{
	(void)state;
	uint64_t sizes[] = {1, 5, 64, 4095, 4096, 9000};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (int shuffle = 0; shuffle < 3; shuffle++) {
			struct ls_fm_opts o = ls_fm_defaults(LS_FM, LS_BINARY, LS_SGD);
			o.shuffle = (enum ls_fm_shuffle)shuffle;
			o.batch = 64;
			uint8_t *seen = ls_xalloc(sizes[i]);
			uint64_t steps = ls_fm_steps_per_epoch(&o, sizes[i]);
			/* the second epoch */
			for (uint64_t s = steps; s < 2 * steps; s++) {
				struct ls_order order = ls_fm_order(&o, sizes[i], s);
				for (uint32_t b = 0; b < order.n; b++)
					assert_int_equal(seen[ls_order_row(&order, b)]++, 0);
			}
			for (uint64_t r = 0; r < sizes[i]; r++)
				assert_int_equal(seen[r], 1);
			free(seen);
		}
}

/* A score that overflows stops training with the row's number, and nothing is written. */
static void infinity_is_named(void **state)
{
	(void)state;
	struct sample *s = make_sample(LS_REGRESSION, false);
	s->value[s->start[17]] = 3e38f;
	struct ls_pool *pool;
	struct ls_err err = {0};
	assert_int_equal(ls_pool_new(2, &pool, &err), 0);
	struct ls_fm_opts o = make_opts(LS_FM, LS_REGRESSION, LS_SGD, false);
	struct ls_fm_model *m = make_model(&o, pool);
	struct ls_cpu *cpu;
	double loss = -1;
	assert_int_equal(ls_cpu_new(m, &s->rows, pool, NULL, &cpu, &err), 0);
	assert_int_equal(ls_cpu_steps(cpu, 0, 1, &loss, &err), LS_EDIFFER);
	assert_non_null(strstr(err.msg, "row 18: "));
	assert_true(loss == -1);
	ls_cpu_free(cpu);
	m->linear[ls_fm_stride(m)] = INFINITY;
	assert_int_equal(ls_fm_save_model("/tmp/ls-never-written", m, &(struct ls_fm_position){0},
					  2, NULL, &err),
			 LS_EDIFFER);
	assert_int_not_equal(remove("/tmp/ls-never-written"), 0);
	ls_fm_model_free(m);
	ls_pool_free(pool);
	free(s);
}

static void auto_takes_the_gpu_where_it_pays(void **state)
{
	(void)state;
	struct ls_fm_model m = {.opts = ls_fm_defaults(LS_FM, LS_BINARY, LS_ADAGRAD),
				.n_features = 1000000,
				.n_fields = 39,
				.outputs = 1,
				.padded = 16};
	struct ls_rows few = {.n_rows = 100000, .n_entries = 3900000},
		       many = {.n_rows = 40000000, .n_entries = 1560000000};
	const double h200 = 4.9e12, t4 = 0.32e12;
	const struct ls_cuda_workload large = {1, 16, h200, true}, small_gpu = {1, 16, t4, true},
				      cold = {1, 16, h200, false}, two = {1, 2, t4, true},
				      long_cold = {20, 16, h200, false};
	m.opts.batch = 65536;
	assert_true(ls_cuda_is_faster(&m, &many, &large));
	/* over before the GPU has started */
	assert_false(ls_cuda_is_faster(&m, &few, &large));
	assert_false(
		/* its memory is too slow for 16 threads */
		ls_cuda_is_faster(&m, &many, &small_gpu));
	assert_true(ls_cuda_is_faster(&m, &many, &two)); /* but not for two */
	/* compiling takes longer than training */
	assert_false(ls_cuda_is_faster(&m, &many, &cold));
	assert_true(ls_cuda_is_faster(&m, &many, &long_cold));
	m.opts.batch = 16;
	assert_false(ls_cuda_is_faster(&m, &many, &large)); /* steps too small */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_the_reference),
		cmocka_unit_test(own_fields_have_room),
		cmocka_unit_test(optimizers_follow_the_textbook),
		cmocka_unit_test(auto_takes_the_gpu_where_it_pays),
		cmocka_unit_test(ftrl_starts_and_shrinks),
		cmocka_unit_test(batches_cover_every_row_once),
		cmocka_unit_test(infinity_is_named),
		cmocka_unit_test(modes_do_not_reach_the_bytes),
		cmocka_unit_test(sizes_have_an_end),
		cmocka_unit_test(rates_follow_their_schedule),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
