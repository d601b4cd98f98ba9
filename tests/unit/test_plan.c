/* Plans: the figures of the guide, and what holds for every plan, over random questions:
 * the global batch and the steps stay, or the plan says that they do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "num/philox.h"
#include "plan/config.h"
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

/* A walk through one rank's epoch as PyTorch does it: every ranks-th sample, the list
 * filled up to a multiple of ranks, batches, and a step after accum of them or at the
 * end. */
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

/* With another global batch the training sees as many samples as before: the epochs stay,
 * and steps that were given are scaled to the nearest. */
static void check_other_schedule(const struct ls_plan_ask *ask, const struct ls_plan *p,
				 const struct ls_plan_option *o)
{
	const struct ls_plan_option *base = &p->baseline;
	int64_t now = (int64_t)o->layout.global, was = (int64_t)base->layout.global;
	if (ask->total_steps)
		assert_true(2 * llabs((int64_t)o->schedule.total_steps * now -
				      (int64_t)base->schedule.total_steps * was) <=
			    now);
	else
		assert_int_equal(o->schedule.total_steps, ask->epochs * o->layout.steps_per_epoch);
	if (ask->warmup_steps)
		assert_true(2 * llabs((int64_t)o->schedule.warmup_steps * now -
				      (int64_t)base->schedule.warmup_steps * was) <=
			    now);
	assert_int_equal(o->schedule.has_warmup, base->schedule.has_warmup);
}

static void check_refused(const struct ls_plan_ask *ask)
{
	struct ls_plan *p = NULL;
	struct ls_err err = {0};
	assert_int_equal(ls_plan_make(ask, &p, &err), LS_EINPUT);
	assert_non_null(strstr(err.msg, "no step"));
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
	if (!o->same_global) {
		check_other_schedule(ask, p, o);
		return;
	}
	assert_true(ask->drop_last || o->same_steps);
	assert_int_equal(o->schedule.total_steps, base->schedule.total_steps);
	assert_int_equal(o->schedule.warmup_steps, base->schedule.warmup_steps);
}

/* Batches that divide n and, with drop_last, are not larger than a rank's share. */
static uint64_t divisors(uint64_t n, uint64_t most)
{
	uint64_t found = 0;
	for (uint64_t d = 1; d <= n && d <= most; d++)
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
		assert_int_equal(
			p->n_options,
			divisors(global / ask->to.count,
				 ask->drop_last ? p->options[0].layout.rank_samples : UINT64_MAX));
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

/* Whoever reads only one of the forms is told, too. */
static void check_outputs(const struct ls_plan *p)
{
	struct ls_str text = {0}, yaml = {0}, env = {0};
	json_t *json = ls_plan_json(p);
	ls_plan_text(p, 0, &text);
	ls_plan_yaml(p, &yaml);
	ls_plan_env(p, &env);
	assert_int_equal(p->exact, !strstr(text.s, "NOT the same global batch"));
	assert_int_equal(p->exact, !strstr(yaml.s, "NOT the same training"));
	assert_int_equal(p->exact, !strstr(env.s, "NOT the same training"));
	assert_int_equal(p->exact, json_is_true(json_object_get(json, "exact")));
	json_decref(json);
	ls_str_done(&text);
	ls_str_done(&yaml);
	ls_str_done(&env);
}

static void random_plans_keep_their_word(void **state)
{
	(void)state;
	struct dice d = {0};
	unsigned exact = 0, lost = 0;
	for (int i = 0; i < 3000; i++) {
		struct ls_plan_ask ask = random_ask(&d);
		if (ask.drop_last &&
		    ask.batch > (ask.samples + ask.from.count - 1) / ask.from.count) {
			check_refused(&ask); /* the baseline has no step */
			continue;
		}
		struct ls_plan *p = plan_of(&ask);
		for (size_t k = 0; k < p->n_options; k++)
			check_option(&ask, p, &p->options[k]);
		if (p->fewer)
			check_option(&ask, p, p->fewer);
		check_exact(&ask, p);
		check_nearest(&ask, p);
		if (i % 10 == 0)
			check_outputs(p);
		bool moved = p->exact && !p->options[0].same_steps;
		assert_int_equal(moved, finding(p, "steps_per_epoch") != NULL);
		exact += p->exact;
		lost += moved;
		ls_plan_free(p);
	}
	assert_true(exact > 500 && exact < 2500 && lost > 0); /* all kinds were there */
}

/* --- memory --- */

static enum ls_fit fit_of(const struct ls_plan *p, uint64_t batch)
{
	for (size_t i = 0; i < p->n_options; i++)
		if (p->options[i].layout.batch == batch)
			return p->options[i].memory.fit;
	fail_msg("no option with a batch of %d", (int)batch);
	return LS_FIT_NO;
}

/* 140.4 GiB of an H200 over 45 of an L40S: a batch up to 3.1 times the baseline's surely
 * fits. */
static void the_baseline_proves(void **state)
{
	(void)state;
	struct ls_plan_ask ask = guide;
	struct ls_plan *p = plan_of(&ask);
	assert_int_equal(fit_of(p, 96), LS_FIT_YES);
	assert_string_equal(p->options[0].memory.source, "baseline");
	ls_plan_free(p);
	ask.to = (struct ls_plan_gpus){"H200", 1};
	p = plan_of(&ask); /* 192 on one is not proven, but within the table */
	assert_int_equal(fit_of(p, 96), LS_FIT_YES);
	assert_int_equal(fit_of(p, 192), LS_FIT_LIKELY);
	assert_int_equal(p->options[0].layout.batch, 96); /* what surely fits comes first */
	ls_plan_free(p);
	ask.from.name = ask.to.name = NULL;
	p = plan_of(&ask);
	assert_int_equal(fit_of(p, 1), LS_FIT_UNKNOWN);
	assert_non_null(finding(p, "memory"));
	ls_plan_free(p);
}

/* A peak of 20 GiB with 48 samples needs 20 to 40 with 96, and 5 to 20 with 12. */
static void a_measured_peak_bounds(void **state)
{
	(void)state;
	const uint64_t gib = (uint64_t)1 << 30;
	struct ls_plan_ask ask = guide;
	ask.to = (struct ls_plan_gpus){"RTX 4090", 1}; /* 24 GB, of which 22.5 GiB are there */
	ask.peak_bytes = 20 * gib;
	struct ls_plan *p = plan_of(&ask);
	assert_int_equal(fit_of(p, 192), LS_FIT_UNKNOWN);
	assert_int_equal(fit_of(p, 48), LS_FIT_YES);
	assert_true(p->options[0].memory.most_bytes <= 22.5 * (double)gib);
	assert_int_equal(p->options[0].layout.batch, 48);
	ls_plan_free(p);
	ask.params = 1000000000; /* 16 GiB do not depend on the batch, so 192 need 28 */
	ask.optimizer = LS_OPT_MOMENTUM;
	p = plan_of(&ask);
	assert_int_equal(fit_of(p, 192), LS_FIT_NO);
	assert_int_equal(fit_of(p, 24), LS_FIT_YES);
	ls_plan_free(p);
}

static void an_estimate_counts(void **state)
{
	(void)state;
	struct ls_plan_ask ask = guide;
	ask.to = (struct ls_plan_gpus){"T4", 2};
	ask.params = 1300000000;
	ask.optimizer = LS_OPT_ADAM;
	struct ls_plan *p = plan_of(&ask); /* 20 bytes a parameter are more than 15 GiB */
	assert_int_equal(p->options[0].memory.fit, LS_FIT_NO);
	assert_int_equal(p->options[0].layout.batch, 1); /* what misses by least */
	assert_int_equal(finding(p, "memory")->risk, LS_RISK_HIGH);
	ls_plan_free(p);
	ask.params = 100000000;
	ask.activation_bytes = (uint64_t)100 << 20;
	p = plan_of(&ask); /* 2.9 GiB and 0.1 a sample */
	assert_int_equal(fit_of(p, 96), LS_FIT_YES);
	assert_string_equal(p->options[0].memory.source, "estimate");
	ask.activation_bytes = (uint64_t)125 << 20;
	ls_plan_free(p);
	p = plan_of(&ask);
	assert_int_equal(fit_of(p, 96), LS_FIT_TIGHT);
	assert_int_equal(p->options[0].layout.batch, 48);
	ls_plan_free(p);
}

/* --- precision --- */

static void precisions_of_both_sides(void **state)
{
	(void)state;
	const struct {
		const char *from, *to;
		enum ls_precision asked, planned;
	} cases[] = {{"L40S", "H200", LS_BF16, LS_BF16},
		     {"L40S", "H200", LS_FP8, LS_FP8},
		     {"L40S", "A100-80GB", LS_FP8, LS_BF16},
		     {"A100-40GB", "V100-32GB", LS_BF16, LS_FP16},
		     {"T4", "H200", LS_TF32, LS_FP32},
		     {"B200", "L4", LS_FP4, LS_FP8},
		     {"B200", "P100", LS_FP4, LS_FP16},
		     {"T4", "P100", LS_FP16, LS_FP16},
		     {"L40S", "H200", 0, 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ls_plan_ask ask = guide;
		ask.from.name = cases[i].from;
		ask.to.name = cases[i].to;
		ask.precision = cases[i].asked;
		struct ls_plan *p = plan_of(&ask);
		const struct ls_plan_finding *f = finding(p, "precision");
		assert_int_equal(p->precision, cases[i].planned);
		assert_int_equal(cases[i].asked != cases[i].planned, f && f->risk == LS_RISK_HIGH);
		ls_plan_free(p);
	}
}

static void tf32_of_both_sides(void **state)
{
	(void)state;
	struct ls_plan_ask ask = guide;
	ask.tf32 = -1;
	struct ls_plan *p = plan_of(&ask);
	assert_int_equal(p->tf32, -1);
	assert_int_equal(finding(p, "tf32")->risk, LS_RISK_LOW);
	ls_plan_free(p);
	ask.tf32 = 1;
	p = plan_of(&ask);
	assert_int_equal(p->tf32, 1);
	assert_null(finding(p, "tf32"));
	ls_plan_free(p);
	ask.to.name = "V100-32GB";
	p = plan_of(&ask);
	assert_int_equal(p->tf32, 0);
	assert_int_equal(finding(p, "tf32")->risk, LS_RISK_HIGH);
	ls_plan_free(p);
}

/* --- caveats, which appear only when they apply --- */

static bool says(const struct ls_plan_ask *ask, const char *what)
{
	struct ls_plan *p = plan_of(ask);
	bool there = finding(p, what) != NULL;
	ls_plan_free(p);
	return there;
}

static void caveats_when_they_apply(void **state)
{
	(void)state;
	struct ls_plan_ask ask = guide, same = guide;
	same.to = same.from;
	static const char *const none[] = {"batch_norm",   "loss_average", "last_step",
					   "padding",      "data_order",   "reduction",
					   "workers",      "gpu",          "unchanged_batch",
					   "global_batch", "learning_rate"};
	same.workers = 12;
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		assert_false(says(&same, none[i]));
	assert_true(says(&ask, "batch_norm"));
	assert_false(says(&ask, "loss_average") || says(&ask, "last_step") ||
		     says(&ask, "padding"));
	ask.norm = LS_NORM_NONE;
	assert_false(says(&ask, "batch_norm"));
	ask.norm = LS_NORM_SYNC; /* 2 × 96 and 4 × 48 are the same */
	assert_false(says(&ask, "batch_norm"));
	ask.norm = LS_NORM_PER_GPU; /* keeps 48 a GPU, and accumulates */
	assert_false(says(&ask, "batch_norm"));
	assert_true(says(&ask, "loss_average") && says(&ask, "last_step"));
	ask.samples = 192 * 100; /* no partial step */
	assert_false(says(&ask, "last_step"));
	ask.samples = 103001; /* 3 repeated on 4 ranks, 1 on 2 */
	assert_true(says(&ask, "padding"));
	ask.workers = 12;
	assert_true(says(&ask, "workers"));
}

static void learning_rates(void **state)
{
	(void)state;
	struct ls_plan_ask ask = guide;
	ask.learning_rate = 0.1;
	ask.to.count = 5; /* 190 for 192 */
	ask.optimizer = LS_OPT_SGD;
	struct ls_plan *p = plan_of(&ask);
	assert_true(p->learning_rate == 0.1 * (190.0 / 192.0));
	assert_int_equal(p->n_variance, 0);
	ls_plan_free(p);
	ask.optimizer = LS_OPT_UNKNOWN; /* two rules, and no choice */
	p = plan_of(&ask);
	assert_true(p->learning_rate == 0 && p->lr_root > p->lr_linear);
	ls_plan_free(p);
	ask.to.count = 2;
	p = plan_of(&ask);
	assert_true(p->learning_rate == 0.1 && p->n_variance == 3);
	assert_true(p->variance[2].most_percent > 0); /* other GPUs: not bit by bit */
	ls_plan_free(p);
	ask.to = ask.from;
	p = plan_of(&ask);
	assert_true(p->variance[2].most_percent == 0);
	ls_plan_free(p);
}

static void peaks_of_manifests(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t peak;
	} cases[] = {{"{\"gpus\":[{\"peak_allocated_bytes\":5},{\"peak_allocated_bytes\":3,"
		      "\"peak_reserved_bytes\":9}]}",
		      9},
		     {"{\"gpus\":[{\"peak_allocated_bytes\":5}],\"resources\":{\"gpu_memory\":["
		      "{\"used_before_bytes\":10,\"used_peak_bytes\":17}]}}",
		      7},
		     {"{\"gpus\":[{\"peak_allocated_bytes\":null}]}", 0},
		     {"{\"gpus\":[{\"peak_allocated_bytes\":-4}]}", 0},
		     {"{\"gpus\":[{\"peak_allocated_bytes\":9223372036854775807}]}", 0},
		     {"{\"gpus\":7,\"resources\":[1]}", 0}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		json_t *m = NULL;
		uint64_t peak = 0;
		struct ls_err err = {0};
		assert_int_equal(ls_json_parse(cases[i].text, strlen(cases[i].text), "m", &m, &err),
				 0);
		assert_int_equal(ls_plan_measured(m, &peak, &err), cases[i].peak ? 0 : LS_EINPUT);
		assert_int_equal(peak, cases[i].peak);
		json_decref(m);
	}
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
		cmocka_unit_test(the_baseline_proves),
		cmocka_unit_test(a_measured_peak_bounds),
		cmocka_unit_test(an_estimate_counts),
		cmocka_unit_test(precisions_of_both_sides),
		cmocka_unit_test(tf32_of_both_sides),
		cmocka_unit_test(caveats_when_they_apply),
		cmocka_unit_test(learning_rates),
		cmocka_unit_test(peaks_of_manifests),
		cmocka_unit_test(hostile_numbers_are_refused),
		cmocka_unit_test(wild_numbers_do_no_harm),
		cmocka_unit_test(gpus_are_parsed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
