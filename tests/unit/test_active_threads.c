/* How many threads are put to work: what the rule does on machines that lose cores and
 * get them back, runs of part of a pool, and that training gives the same bytes whoever
 * is away. labels: threads long */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/active_threads.h"
#include "base/mem.h"
#include "base/pool.h"
#include "fm/cpu/cpu.h"
#include "fm/model/batch.h"
#include "models.h"
#include "num/philox.h"

/* --- the rule --- */

enum { THREADS = 16 };

/* A machine on which so many threads do a unit of work a millisecond each, as long as
 * they have a core each; if not, all wait for those who share one, a third of the time at
 * best. Who had to share still does for a while after others have gone. */
struct machine {
	int cores;    /* that are ours */
	double crowd; /* when there were last more threads than cores; 0: never */
	/* threads wait for something else, which fewer of them would as well, */
	bool incurable;
	bool flickers; /* in every other stretch or so */
	uint32_t turn;
	double seconds; /* so far */
};

/* A call's work, or the stretch's: what the active does of it. Returns the seconds. */
static double work(struct machine *m, struct ls_active_threads *c, uint64_t most)
{
	uint64_t units = ls_active_units(c);
	units = units < most ? units : most;
	if (c->now > m->cores)
		m->crowd = m->seconds + 1e-9;
	bool crowded = m->crowd > 0.0 && m->seconds <= m->crowd + 0.01, waits = crowded;
	waits |= m->incurable && (!m->flickers || ls_philox(6, m->turn++, 0).v[0] % 2);
	double seconds = (double)units * 0.001 / (c->now * (crowded ? 0.3 : 1.0));
	ls_active_did(c, units, seconds, seconds * c->now * (waits ? 0.5 : 0.98));
	m->seconds += seconds;
	return seconds;
}

/* For so many seconds; returns the share of them in which `wanted` threads worked. */
static double share_of(struct machine *m, struct ls_active_threads *c, int wanted, double seconds,
		       uint64_t most)
{
	double end = m->seconds + seconds, with = 0.0;
	while (m->seconds < end) {
		bool as_wanted = c->now == wanted;
		double took = work(m, c, most);
		with += as_wanted ? took : 0.0;
		assert_in_range(c->now, 1, c->most);
	}
	return with / seconds;
}

static void all_work_on_a_machine_of_their_own(void **state)
{
	(void)state;
	struct machine m = {.cores = THREADS};
	struct ls_active_threads c;
	ls_active_init(&c, THREADS);
	for (int i = 0; i < 10000; i++) {
		work(&m, &c, UINT64_MAX);
		assert_int_equal(c.now, THREADS);
	}
}

/* As many stay away as cores are taken, soon, and for most of the time; all come back. In
 * whole stretches, and in calls that are much shorter. */
static void who_has_no_core_stays_away(void **state)
{
	(void)state;
	static const uint64_t calls[] = {UINT64_MAX, 50, 1};
	for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
		for (int taken = 1; taken <= THREADS / 2;
		     taken++) { /* of more, crowding costs less */
			struct machine m = {.cores = THREADS};
			struct ls_active_threads c;
			ls_active_init(&c, THREADS);
			assert_true(share_of(&m, &c, THREADS, 1.0, calls[k]) > 0.99);
			m.cores = THREADS - taken;
			/* the time to find it out */
			share_of(&m, &c, m.cores, 4.0, calls[k]);
			assert_true(share_of(&m, &c, m.cores, 20.0, calls[k]) > 0.9);
			m.cores = THREADS;
			share_of(&m, &c, THREADS, 4.0, calls[k]);
			assert_true(share_of(&m, &c, THREADS, 20.0, calls[k]) > 0.99);
		}
}

static void who_waits_for_something_else_stays(void **state)
{
	(void)state;
	struct machine m = {.cores = THREADS, .incurable = true};
	struct ls_active_threads c;
	ls_active_init(&c, THREADS);
	share_of(&m, &c, THREADS, 4.0, UINT64_MAX);
	assert_true(share_of(&m, &c, THREADS, 100.0, UINT64_MAX) >
		    0.95); /* the rest with half of them or more */
}

/* Nor are fewer tried again and again because now and then nobody waits: trials are half
 * as fast with two threads. */
static void who_waits_now_and_then_stays(void **state)
{
	(void)state;
	struct machine m = {.cores = THREADS, .incurable = true, .flickers = true};
	struct ls_active_threads c;
	ls_active_init(&c, 2);
	assert_true(share_of(&m, &c, 2, 100.0, UINT64_MAX) > 0.95);
}

/* One thread, and a active that was told, are asked nothing; nor does time that cannot be
 * change anything. */
static void some_never_change(void **state)
{
	(void)state;
	struct ls_active_threads c;
	ls_active_init(&c, 1);
	assert_true(ls_active_units(&c) == UINT64_MAX);
	ls_active_did(&c, 1000, 1.0, 0.1);
	assert_int_equal(c.now, 1);
	ls_active_init(&c, 7);
	ls_active_hold(&c, 5);
	assert_true(ls_active_units(&c) == UINT64_MAX);
	for (int i = 0; i < 100; i++)
		ls_active_did(&c, 1000, 1.0, 0.1);
	assert_int_equal(c.now, 5);
	ls_active_init(&c, 7);
	for (int i = 0; i < 100; i++) {
		ls_active_did(&c, 1, 0.0, 0.0);
		assert_true(ls_active_units(&c) > 0);
	}
	assert_int_equal(c.now, 7);
}

/* --- runs of part of a pool --- */

enum { RUNS = 3000, POOL = 5 };

struct part_run {
	struct ls_pool *pool;
	int expected;
	_Atomic int here[2], wrong;
};

static void count_in(void *context, int thread, int threads)
{
	struct part_run *p = context;
	if (thread >= p->expected || threads != p->expected)
		atomic_fetch_add(&p->wrong, 1);
	for (int i = 0; i < 2; i++) {
		atomic_fetch_add(&p->here[i], 1);
		ls_pool_barrier(p->pool);
		if (atomic_load(&p->here[i]) != threads)
			atomic_fetch_add(&p->wrong, 1);
	}
}

static void a_run_is_of_as_many_as_were_asked(void **state)
{
	(void)state;
	struct part_run p = {0};
	assert_int_equal(ls_pool_new(POOL, &p.pool, NULL), 0);
	for (uint32_t i = 0; i < RUNS; i++) {
		p.expected = i % 8 == 7 ? POOL : 1 + (int)(ls_philox(4, i, 0).v[0] % POOL);
		atomic_store(&p.here[0], 0);
		atomic_store(&p.here[1], 0);
		if (i % 8 == 7)
			ls_pool_run(p.pool, count_in, &p);
		else
			ls_pool_run_some(p.pool, p.expected, count_in, &p);
		assert_int_equal(atomic_load(&p.here[1]), p.expected);
	}
	assert_int_equal(atomic_load(&p.wrong), 0);
	ls_pool_free(p.pool);
}

/* --- training --- */

enum { ROWS = 3000, IN_ROW = 6, FIELDS = 3, FEATURES = 700, BATCH = 50, STEPS = 120 };

struct sample {
	uint64_t start[ROWS + 1];
	uint32_t feature[ROWS * IN_ROW];
	uint16_t field[ROWS * IN_ROW];
	float label[ROWS];
	struct ls_rows rows;
};

static struct sample *make_sample(void)
{
	struct sample *s = ls_xalloc(sizeof *s);
	for (uint32_t r = 0; r < ROWS; r++) {
		s->start[r + 1] = IN_ROW * (r + 1);
		s->label[r] = (float)(r % 3 == 0);
		for (uint32_t i = 0; i < IN_ROW; i++) {
			s->feature[r * IN_ROW + i] = ls_philox(8, r, i).v[0] % FEATURES;
			s->field[r * IN_ROW + i] = (uint16_t)(i % FIELDS);
		}
	}
	s->rows = (struct ls_rows){.n_rows = ROWS,
				   .n_entries = ROWS * IN_ROW,
				   .n_features = FEATURES,
				   .n_fields = FIELDS,
				   .start = s->start,
				   .feature = s->feature,
				   .field = s->field,
				   .label = s->label};
	return s;
}

/* In calls of 1 to 20 steps, each by another number of workers, or in one call whose
 * stretches are; or all by the one thread that there is. */
static void some_calls(struct ls_cpu *cpu, int threads, double *loss)
{
	struct ls_err err;
	for (uint64_t step = 0, n; step < STEPS; step += n) {
		struct ls_u32x4 draw = ls_philox(5, step, (uint64_t)threads);
		n = 1 + draw.v[0] % 20;
		n = n < STEPS - step ? n : STEPS - step;
		ls_cpu_hold(cpu, 1 + (int)(draw.v[1] % (uint32_t)threads));
		assert_int_equal(ls_cpu_steps(cpu, step, n, loss, &err), 0);
	}
}

static void one_call(struct ls_cpu *cpu, double *loss)
{
	struct ls_err err;
	ls_cpu_drill(cpu);
	assert_int_equal(ls_cpu_steps(cpu, 0, STEPS, loss, &err), 0);
}

static struct ls_fm_model *trained(const struct sample *s, enum ls_fm_kind kind, int threads,
				   bool drill, double *ret_loss)
{
	struct ls_fm_opts o = ls_fm_defaults(kind, LS_BINARY, LS_ADAGRAD);
	struct ls_pool *pool;
	struct ls_fm_model *m;
	struct ls_cpu *cpu;
	struct ls_err err;
	o.factors = 8;
	o.batch = BATCH;
	assert_int_equal(ls_pool_new(threads, &pool, &err), 0);
	assert_int_equal(ls_fm_model_new(&o, FEATURES, kind == LS_FM ? 0 : FIELDS, &m, &err), 0);
	ls_fm_model_init(m, pool);
	assert_int_equal(ls_cpu_new(m, &s->rows, pool, NULL, &cpu, &err), 0);
	*ret_loss = 0.0;
	if (drill)
		one_call(cpu, ret_loss);
	else
		some_calls(cpu, threads, ret_loss);
	ls_cpu_free(cpu);
	ls_pool_free(pool);
	return m;
}

/* 9 threads: from 8 workers on the sort goes another way. */
static void who_works_does_not_reach_the_bytes(void **state)
{
	(void)state;
	struct sample *s = make_sample();
	for (enum ls_fm_kind kind = LS_FM; kind <= LS_FWFM; kind++) {
		double want_loss, loss;
		struct ls_fm_model *want = trained(s, kind, 1, false, &want_loss);
		for (int i = 0; i < 6; i++) {
			static const int threads[] = {2, 5, 9};
			struct ls_fm_model *m = trained(s, kind, threads[i / 2], i % 2, &loss);
			assert_true(loss == want_loss && loss > 0.0);
			assert_same_model(m, want);
			ls_fm_model_free(m);
		}
		ls_fm_model_free(want);
	}
	free(s);
}

/* Row and step are named, and the loss is left alone. */
static void a_later_stretch_that_is_not_finite(void **state)
{
	(void)state;
	enum { BAD = 2500 };
	struct sample *s = make_sample();
	struct ls_fm_opts o = ls_fm_defaults(LS_FM, LS_BINARY, LS_ADAGRAD);
	float *value = ls_xalloc(sizeof *value * ROWS * IN_ROW);
	struct ls_pool *pool;
	struct ls_fm_model *m;
	struct ls_cpu *cpu;
	struct ls_err err;
	double loss = -1.0;
	for (uint32_t e = 0; e < ROWS * IN_ROW; e++)
		value[e] = e / IN_ROW == BAD ? 3e38f : 1.0f;
	s->rows.value = value;
	o.batch = BATCH;
	o.shuffle = LS_SHUFFLE_NONE;
	assert_int_equal(ls_pool_new(5, &pool, &err), 0);
	assert_int_equal(ls_fm_model_new(&o, FEATURES, 0, &m, &err), 0);
	ls_fm_model_init(m, pool);
	assert_int_equal(ls_cpu_new(m, &s->rows, pool, NULL, &cpu, &err), 0);
	ls_cpu_drill(cpu);
	assert_int_equal(ls_cpu_steps(cpu, 3, STEPS, &loss, &err), LS_EDIFFER);
	assert_non_null(strstr(err.msg, "row 2501: "));
	assert_non_null(strstr(err.msg, "in step 51:"));
	assert_true(loss == -1.0);
	ls_cpu_free(cpu);
	ls_fm_model_free(m);
	ls_pool_free(pool);
	free(value);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_work_on_a_machine_of_their_own),
		cmocka_unit_test(who_has_no_core_stays_away),
		cmocka_unit_test(who_waits_for_something_else_stays),
		cmocka_unit_test(who_waits_now_and_then_stays),
		cmocka_unit_test(some_never_change),
		cmocka_unit_test(a_run_is_of_as_many_as_were_asked),
		cmocka_unit_test(who_works_does_not_reach_the_bytes),
		cmocka_unit_test(a_later_stretch_that_is_not_finite),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
