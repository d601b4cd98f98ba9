/* What goes wrong on GPU machines, by the table of docs/guide-monitor.md: each row is made
 * here, and must be answered by its verdict with its advice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/str.h"
#include "env/facts/advice.h"
#include "watch/judge.h"

static const uint64_t gib = 1ull << 30;

/* A machine that is well, at a moment of a run. */
struct scene {
	struct ls_sample s;
	struct ls_watch_gpu gpu;
	struct ls_watch_process programs[2];
	double seconds; /* since the begin */
	struct ls_spec *spec;
};

static void measure(struct scene *c, enum ls_meter_id id, int64_t value)
{
	c->gpu.r.valid[id] = true;
	c->gpu.r.value[id] = value;
}

static void lay_out(struct scene *c)
{
	c->s = (struct ls_sample){.time = 1e9 + c->seconds,
				  .steady = 1e9 + c->seconds,
				  .has_nvml = true,
				  .n_gpus = 1};
	snprintf(c->s.driver, sizeof c->s.driver, "580.65.06");
	snprintf(c->s.cuda, sizeof c->s.cuda, "13.0");
	memset(&c->gpu, 0, sizeof c->gpu);
	for (int id = 0; id < LS_METERS; id++)
		c->gpu.r.code[id] = LS_NVML_NOT_SUPPORTED;
	measure(c, LS_METER_UTILIZATION, 95);
	measure(c, LS_METER_MEMORY_TOTAL, (int64_t)(100 * gib));
	measure(c, LS_METER_MEMORY_USED, (int64_t)(70 * gib));
	measure(c, LS_METER_THROTTLE, 0);
	c->gpu.processes_known = true;
	c->gpu.n_processes = 1;
	c->s.gpus = &c->gpu;
	c->programs[0] = (struct ls_watch_process){.p = {.pid = 4711, .has_memory = true}};
	c->programs[1] = c->programs[0];
	c->s.n_processes = 1;
	c->s.processes = c->programs;
	c->s.host = (struct ls_host){
		.has_cpu = true, .cpus = 16, .cpu = 0.2, .busiest = 0.5, .has_io_wait = true};
}

/* --- what goes wrong --- */

static void no_driver(struct scene *c)
{
	c->s.has_nvml = false;
	c->s.n_gpus = 0;
	c->s.n_processes = 0;
	c->s.no_nvml_code = LS_NVML_NO_LIBRARY;
	snprintf(c->s.no_nvml, sizeof c->s.no_nvml, "there is no NVIDIA driver");
}

static void container_without_library(struct scene *c)
{
	no_driver(c);
	c->s.in_container = true;
}

static void container_without_gpu(struct scene *c)
{
	c->s.in_container = true;
	c->s.n_gpus = 0;
	c->s.n_processes = 0;
}

static void driver_updated(struct scene *c)
{
	no_driver(c);
	c->s.no_nvml_code = LS_NVML_VERSION_MISMATCH;
}

static void newer_cuda(struct scene *c)
{
	static const char text[] = "{\"schema\": 1, \"name\": \"x\", \"driver_cuda\": \">=13.1\"}";
	char path[] = "/tmp/ls-answer-XXXXXX.json";
	struct ls_err err = {0};
	if (c->spec)
		return;
	int fd = mkstemps(path, 5);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
	close(fd);
	if (ls_spec_load(path, &c->spec, &err))
		fail_msg("%s", err.msg);
	unlink(path);
}

static void idle(struct scene *c)
{
	measure(c, LS_METER_UTILIZATION, 40);
}

static void one_core(struct scene *c)
{
	idle(c);
	c->s.host.busiest = 1;
}

static void disk(struct scene *c)
{
	idle(c);
	c->s.host.io_wait = 0.6;
}

static void small_batches(struct scene *c)
{
	idle(c);
	measure(c, LS_METER_MEMORY_USED, (int64_t)(20 * gib));
}

static void hot(struct scene *c)
{
	idle(c);
	measure(c, LS_METER_THROTTLE, 0x40);
}

static void full(struct scene *c)
{
	measure(c, LS_METER_MEMORY_USED, (int64_t)(95 * gib));
}

static void grows_full(struct scene *c)
{
	measure(c, LS_METER_MEMORY_USED, (int64_t)(92 * gib) + (int64_t)(c->seconds * 4e6));
}

static void full_of_two(struct scene *c)
{
	full(c);
	c->gpu.n_processes = 2;
	c->s.n_processes = 2;
}

static void grows(struct scene *c)
{
	measure(c, LS_METER_MEMORY_USED, (int64_t)(70 * gib) + (int64_t)(c->seconds * 20e6));
}

static void tasks_fail(struct scene *c)
{
	c->s.jobs = (struct ls_jobs){.asked = true, .counted = true, .ended = 20, .done = 18};
}

static void slower(struct scene *c)
{
	c->s.jobs.n_rates = 1;
	c->s.jobs.rates[0] =
		(struct ls_training_rate){.name = "a", .known = true, .rate = 60, .best = 100};
}

static void no_export(struct scene *c)
{
	c->s.jobs.exports =
		(struct ls_export_counts){.asked = true, .known = true, .files = 3, .failed = 1};
}

static const struct {
	const char *what;
	void (*happens)(struct scene *c);
} scenes[] = {
	{"no GPU: there is no driver", no_driver},
	{"no GPU: a container without the driver's library", container_without_library},
	{"no GPU: a container with the driver and no GPU", container_without_gpu},
	{"versions: the driver was updated", driver_updated},
	{"versions: CUDA newer than the driver", newer_cuda},
	{"GPU used less than 80 % while a program uses it", idle},
	{"slow: one processor is full", one_core},
	{"slow: the disk", disk},
	{"slow: half of the memory is free", small_batches},
	{"slow: heat", hot},
	{"memory above 90 %", full},
	{"memory above 90 %, and it grows", grows_full},
	{"memory above 90 %, of two programs", full_of_two},
	{"out of memory in half an hour", grows},
	{"fewer than 95 % of the tasks succeed", tasks_fail},
	{"samples a second fall by 30 %", slower},
	{"a model cannot be exported to ONNX", no_export},
};
enum { SCENES = sizeof scenes / sizeof *scenes };

/* --- judged --- */

static struct ls_rules *rules;
static struct ls_xid_table *xids;
static struct ls_advice *advice;

static const struct ls_verdict *verdict_of(const struct ls_judge *j, const char *rule)
{
	for (size_t i = 0; i < ls_judge_count(j); i++)
		if (strcmp(ls_judge_verdict(j, i)->rule->name, rule) == 0)
			return ls_judge_verdict(j, i);
	return NULL;
}

/* Before it happens nothing is wrong; then it goes on for eleven minutes. */
static void play(void (*happens)(struct scene *c), const char *what, const char *rule,
		 const char *begins)
{
	enum { LONG = 660, STEP = 10 };
	struct scene c = {.seconds = 0};
	lay_out(&c);
	if (happens)
		happens(&c);
	struct ls_judge_options o = {.expected = -1, .advice = advice, .spec = c.spec};
	struct ls_judge *j = ls_judge_new(rules, xids, &o);
	for (; c.seconds <= LONG; c.seconds += STEP) {
		lay_out(&c);
		if (happens)
			happens(&c);
		ls_judge_feed(j, &c.s);
	}
	if (!happens) {
		assert_int_equal(ls_judge_worst(j), LS_HEALTH_OK);
	} else {
		const struct ls_verdict *v = verdict_of(j, rule);
		if (!v || v->health == LS_HEALTH_OK || v->health == LS_HEALTH_NOT_JUDGED)
			fail_msg("%s: %s says nothing", what, rule);
		if (!v->advice || !*v->advice || !ls_str_starts(v->advice, begins))
			fail_msg("%s: %s advises \"%s\", not \"%s\"", what, rule, v->advice,
				 begins);
	}
	ls_judge_free(j);
	ls_spec_free(c.spec);
}

static char *cell(char **line)
{
	char *begin = *line + 1, *end = strchr(begin, '|');
	assert_non_null(end);
	*end = 0;
	*line = end;
	begin = ls_str_trim(begin);
	if (*begin == '`' && begin[strlen(begin) - 1] == '`') {
		begin[strlen(begin) - 1] = 0;
		begin++;
	}
	return begin;
}

static void row(char *line, bool used[SCENES])
{
	char *what = cell(&line);
	*line = '|';
	char *rule = cell(&line);
	*line = '|';
	char *begins = cell(&line);
	for (int i = 0; i < SCENES; i++)
		if (strcmp(scenes[i].what, what) == 0) {
			used[i] = true;
			play(scenes[i].happens, what, rule, begins);
			return;
		}
	fail_msg("nobody makes: %s", what);
}

static void each_row_is_answered(void **state)
{
	static const char head[] = "| what goes wrong | verdict | its advice |\n|---|---|---|\n";
	(void)state;
	bool used[SCENES] = {false};
	struct ls_err err = {0};
	char *text, *save = NULL;
	size_t len;
	assert_int_equal(
		ls_file_read(LS_SOURCE_DIR "/docs/guide-monitor.md", 1 << 20, &text, &len, &err),
		0);
	char *table = strstr(text, head);
	assert_non_null(table);
	table += sizeof head - 1;
	char *end = strstr(table, "\n\n");
	assert_non_null(end);
	*end = 0;
	for (char *line = strtok_r(table, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		row(line, used);
	for (int i = 0; i < SCENES; i++)
		if (!used[i])
			fail_msg("the table has no row: %s", scenes[i].what);
	free(text);
}

/* How long something lasts does not depend on the machine's clock, which somebody may set:
 * neither an hour forward, nor an hour back. */
static void clocks_that_are_set(void **state)
{
	static const double jumps[] = {3600, -3600};
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct scene c = {.seconds = 0};
		struct ls_judge_options o = {.expected = -1};
		struct ls_judge *j = ls_judge_new(rules, xids, &o);
		for (; c.seconds < 100; c.seconds += 10) {
			lay_out(&c);
			measure(&c, LS_METER_UTILIZATION, 40);
			measure(&c, LS_METER_MEMORY_USED,
				(int64_t)gib * (60 - (int64_t)c.seconds / 10));
			c.s.time += c.seconds > 50 ? jumps[i] : 0;
			ls_judge_feed(j, &c.s);
			assert_int_equal(ls_judge_worst(j), LS_HEALTH_OK);
		}
		ls_judge_free(j);
	}
}

static void nothing_is_wrong(void **state)
{
	(void)state;
	play(NULL, "nothing", "", "");
}

/* Advice in a user's file goes before the checklists'. */
static void advice_of_ones_own(void **state)
{
	static const char text[] =
		"{\"rules\": [{\"rule\": \"memory-high\", \"advice\": \"ask Anna\"}]}";
	(void)state;
	struct ls_rules *shipped = rules;
	struct ls_err err = {0};
	assert_int_equal(ls_rules_load(&rules, &err), 0);
	assert_int_equal(ls_rules_merge(rules, text, sizeof text - 1, "f", &err), 0);
	play(full, "full", "memory-high", "ask Anna");
	play(idle, "idle", "utilization-low", "Slow training");
	ls_rules_free(rules);
	rules = shipped;
}

int main(void)
{
	struct ls_err err = {0};
	if (ls_rules_load(&rules, &err) || ls_xid_table_load(&xids, &err) ||
	    ls_advice_load(&advice, &err))
		return 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row_is_answered),
		cmocka_unit_test(nothing_is_wrong),
		cmocka_unit_test(clocks_that_are_set),
		cmocka_unit_test(advice_of_ones_own),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ls_rules_free(rules);
	ls_xid_table_free(xids);
	ls_advice_free(advice);
	return failed;
}
