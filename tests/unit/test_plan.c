/* Plans: the figures of the guide, and what holds for every plan, over random questions: the
 * global batch and the steps stay, or the plan says that they do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "num/philox.h"
#include "plan/plan.h"
#include "plan/report.h"

static struct ls_plan *plan_of(const struct ls_plan_ask *ask)
{
	struct ls_plan *p = NULL;
	struct ls_err err = {0};
	if (ls_plan_make(ask, &p, &err))
		fail_msg("%s", err.msg);
	return p;
}

static const struct ls_plan_ask guide = {.from = {"L40S", 4},
					 .to = {"H200", 2},
					 .batch = 48,
					 .samples = 103000,
					 .epochs = 30,
					 .warmup_epochs = 5};

static void the_guides_figures(void **state)
{
	(void)state;
	struct ls_plan *p = plan_of(&guide);
	const struct ls_plan_option *best = &p->options[0], *second = &p->options[1];
	assert_true(p->exact);
	assert_int_equal(p->baseline.layout.global, 192);
	assert_int_equal(p->baseline.layout.steps_per_epoch, 537);
	assert_int_equal(best->layout.batch, 96);
	assert_int_equal(best->layout.accum, 1);
	assert_int_equal(second->layout.batch, 48);
	assert_int_equal(second->layout.accum, 2);
	assert_int_equal(best->schedule.warmup_steps, 2685);
	assert_int_equal(best->schedule.total_steps, 16110);
	assert_int_equal(p->unchanged.layout.global, 96);
	assert_int_equal(p->unchanged.schedule.steps_per_epoch, 1073);
	assert_int_equal(p->unchanged.schedule.warmup_steps, 5365);
	ls_plan_free(p);
}

/* --- random plans --- */

struct dice {
	uint32_t n;
};

static uint64_t roll(struct dice *d, uint64_t most)
{
	struct ls_u32x4 r = ls_philox(35, d->n++, 0);
	return (((uint64_t)r.v[0] << 32 | r.v[1]) % most) + 1;
}

static struct ls_plan_ask random_ask(struct dice *d)
{
	struct ls_plan_ask ask = {.from = {"L40S", roll(d, 9)},
				  .to = {"H200", roll(d, 9)},
				  .batch = roll(d, 60),
				  .accum = roll(d, 4),
				  .samples = roll(d, 3000),
				  .drop_last = roll(d, 3) == 1,
				  .epochs = roll(d, 40),
				  .warmup_epochs = (double)roll(d, 80) / 8};
	if (roll(d, 3) == 1) {
		ask.warmup_epochs = -1;
		ask.warmup_steps = roll(d, 5000);
	}
	if (roll(d, 3) == 1) {
		ask.epochs = 0;
		ask.total_steps = roll(d, 100000);
	}
	return ask;
}

static const struct ls_plan_finding *finding(const struct ls_plan *p, const char *what)
{
	for (size_t i = 0; i < p->n_findings; i++)
		if (strcmp(p->findings[i].what, what) == 0)
			return &p->findings[i];
	return NULL;
}

/* A walk through one rank's epoch as PyTorch does it: every ranks-th sample, the list filled up to
 * a multiple of ranks, batches, and a step after accum of them or at the end. */
static void check_by_walking(const struct ls_plan_layout *l, uint64_t samples, bool drop_last)
{
	uint64_t mine = 0, batches = 0, steps = 0, held = 0, in_step = 0, filled = samples;
	while (filled % l->ranks)
		filled++;
	for (uint64_t i = 0; i < filled; i += l->ranks) {
		mine++;
		held++;
		if (held < l->batch && (drop_last || i + l->ranks < filled))
			continue;
		batches++;
		held = 0;
		if (++in_step == l->accum) {
			steps++;
			in_step = 0;
		}
	}
	steps += in_step > 0;
	assert_int_equal(l->padding, filled - samples);
	assert_int_equal(l->rank_samples, mine);
	assert_int_equal(l->micro_batches, batches);
	assert_int_equal(l->steps_per_epoch, steps);
	if (steps)
		assert_int_equal(l->last_accum, in_step ? in_step : l->accum);
}

static void check_option(const struct ls_plan_ask *ask, const struct ls_plan *p,
			 const struct ls_plan_option *o)
{
	const struct ls_plan_option *base = &p->baseline;
	const struct ls_plan_layout *l = &o->layout;
	assert_int_equal(l->global, l->batch * l->ranks * l->accum);
	assert_int_equal(o->same_global, l->global == base->layout.global);
	assert_int_equal(o->same_steps,
			 o->same_global && l->steps_per_epoch == base->layout.steps_per_epoch);
	check_by_walking(l, ask->samples, ask->drop_last);
	if (!o->same_global)
		return;
	assert_true(ask->drop_last || o->same_steps);
	assert_int_equal(o->schedule.total_steps, base->schedule.total_steps);
	assert_int_equal(o->schedule.warmup_steps, base->schedule.warmup_steps);
}

static uint64_t divisors(uint64_t n)
{
	uint64_t found = 0;
	for (uint64_t d = 1; d <= n; d++)
		found += n % d == 0;
	return found;
}

static void check_exact(const struct ls_plan_ask *ask, const struct ls_plan *p)
{
	uint64_t global = p->baseline.layout.global;
	assert_int_equal(p->exact, global % ask->to.count == 0);
	assert_int_equal(p->exact, p->options[0].same_global);
	assert_int_equal(!p->exact, finding(p, "global_batch") != NULL);
	if (p->exact)
		assert_int_equal(p->n_options, divisors(global / ask->to.count));
	else if (p->fewer)
		assert_true(p->fewer->same_global && p->fewer->layout.ranks < ask->to.count);
}

/* Nearer would be one more or one fewer a share. */
static void check_nearest(const struct ls_plan_ask *ask, const struct ls_plan *p)
{
	int64_t off = (int64_t)p->options[0].layout.global - (int64_t)p->baseline.layout.global;
	int64_t count = (int64_t)ask->to.count;
	assert_true(2 * llabs(off) <= count || p->options[0].layout.global == ask->to.count);
}

static void random_plans_keep_their_word(void **state)
{
	(void)state;
	struct dice d = {0};
	unsigned exact = 0, lost = 0;
	for (int i = 0; i < 3000; i++) {
		struct ls_plan_ask ask = random_ask(&d);
		struct ls_plan *p = plan_of(&ask);
		for (size_t k = 0; k < p->n_options; k++)
			check_option(&ask, p, &p->options[k]);
		if (p->fewer)
			check_option(&ask, p, p->fewer);
		check_exact(&ask, p);
		check_nearest(&ask, p);
		bool moved = p->exact && !p->options[0].same_steps;
		assert_int_equal(moved, finding(p, "steps_per_epoch") != NULL);
		exact += p->exact;
		lost += moved;
		ls_plan_free(p);
	}
	assert_true(exact > 500 && exact < 2500 && lost > 0); /* all kinds were there */
}

/* --- bounds --- */

static void hostile_numbers_are_refused(void **state)
{
	(void)state;
	const uint64_t wild[] = {0, UINT64_MAX, (uint64_t)1 << 63, ((uint64_t)1 << 53) + 1,
				 ((uint64_t)1 << 40) + 1};
	for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
		struct ls_plan_ask asks[] = {guide, guide, guide, guide};
		asks[0].batch = wild[i];
		asks[1].from.count = wild[i];
		asks[2].to.count = wild[i];
		asks[3].accum = wild[i] ? wild[i] : UINT64_MAX;
		for (size_t k = 0; k < sizeof asks / sizeof *asks; k++) {
			struct ls_plan *p = NULL;
			struct ls_err err = {0};
			assert_int_equal(ls_plan_make(&asks[k], &p, &err), LS_EINPUT);
			assert_null(p);
			assert_true(strlen(err.msg) > 10);
		}
	}
}

/* Anything else is either refused or planned, and then written. */
static void wild_numbers_do_no_harm(void **state)
{
	(void)state;
	struct dice d = {1u << 20};
	for (int i = 0; i < 100; i++) {
		uint64_t n[7];
		for (size_t k = 0; k < 7; k++)
			n[k] = roll(&d, (uint64_t)1 << roll(&d, k < 2 ? 21 : k < 4 ? 33 : 55));
		struct ls_plan_ask ask = {.from = {NULL, n[0]},
					  .to = {"T4", n[1]},
					  .batch = n[2],
					  .accum = n[3] >> 20,
					  .samples = n[4],
					  .epochs = n[5],
					  .warmup_epochs = (double)n[6]};
		struct ls_plan *p = NULL;
		struct ls_err err = {0};
		struct ls_str text = {0};
		if (ls_plan_make(&ask, &p, &err))
			continue;
		ls_plan_text(p, 0, &text);
		json_decref(ls_plan_json(p));
		ls_str_done(&text);
		ls_plan_free(p);
	}
}

static void gpus_are_parsed(void **state)
{
	(void)state;
	static const char *const wrong[] = {"",        ":",       ":4",
					    "L40S",    "L40S:",   "L40S:0",
					    "L40S:-1", "L40S:4x", "L40S:18446744073709551617"};
	char *name;
	uint64_t count;
	struct ls_err err;
	assert_int_equal(ls_plan_parse_gpus("RTX 4090:8", &name, &count, &err), 0);
	assert_string_equal(name, "RTX 4090");
	assert_int_equal(count, 8);
	free(name);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(ls_plan_parse_gpus(wrong[i], &name, &count, &err), LS_EINPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_guides_figures),
		cmocka_unit_test(random_plans_keep_their_word),
		cmocka_unit_test(hostile_numbers_are_refused),
		cmocka_unit_test(wild_numbers_do_no_harm),
		cmocka_unit_test(gpus_are_parsed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
