/* Whole incidents: tests/watch/NAME.nvml is a script for the stand-in NVML, in steps of
 * as many seconds as it says, and NAME.expected has the verdicts that changed, in order.
 * LS_UPDATE=1 writes what came out; read it. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/str.h"
#include "watch/health_report.h"
#include "watch/judge.h"

static char root[] = "/tmp/ls-incident-XXXXXX";
static const char incidents[] = LS_SOURCE_DIR "/tests/watch";

static void lay_out(void)
{
	char command[1024];
	snprintf(command, sizeof command,
		 "mkdir -p %s/usr/lib && cp %s/fake/nvml-new/libnvidia-ml.so.1 %s/usr/lib/", root,
		 LS_BINARY_DIR, root);
	assert_int_equal(system(command), 0);
}

static unsigned count_steps(const char *script)
{
	unsigned n = 1;
	for (const char *p = script; (p = strstr(p, "\nthen\n")); p++)
		n++;
	return n;
}

static void changes(const struct ls_judge *j, double t, struct ls_str *out)
{
	for (size_t i = 0; i < ls_judge_count(j); i++) {
		const struct ls_verdict *v = ls_judge_verdict(j, i);
		if (v->changed)
			ls_str_addf(out, "%6.0f %-8s %s: %s: %s\n", t, ls_health_name(v->health),
				    v->label, v->rule->name, v->evidence);
	}
}

/* Time is an input, and begins at a round number. */
static void play(const char *script, struct ls_str *out)
{
	enum { BEGIN = 1000000 };
	struct ls_rules *rules;
	struct ls_xid_table *xids;
	struct ls_sample sample;
	struct ls_err err = {0};
	struct ls_judge_options o = {.expected = -1};
	const char *every = strstr(script, "# every ");
	double seconds = every ? strtod(every + 8, NULL) : 0;
	assert_true(seconds > 0);
	assert_int_equal(ls_rules_load(&rules, &err), 0);
	assert_int_equal(ls_xid_table_load(&xids, &err), 0);
	struct ls_judge *j = ls_judge_new(rules, xids, &o);
	struct ls_sampler *s = ls_sampler_new(root);
	for (unsigned i = 0; i < count_steps(script); i++) {
		char step[16];
		snprintf(step, sizeof step, "%u", i);
		setenv("LS_FAKE_STEP", step, 1);
		ls_sampler_take(s, BEGIN + i * seconds, BEGIN + i * seconds, &sample);
		ls_judge_feed(j, &sample);
		changes(j, i * seconds, out);
		ls_sample_done(&sample);
	}
	ls_str_add(out, "at the end: ");
	ls_health_line(j, out);
	ls_sampler_free(s);
	ls_judge_free(j);
	ls_rules_free(rules);
	ls_xid_table_free(xids);
}

static void one(const char *name)
{
	struct ls_err err;
	struct ls_str out = {0};
	char *script, *want = NULL;
	size_t len;
	char *path = NULL, *expected = NULL;
	assert_true(asprintf(&path, "%s/%s.nvml", incidents, name) > 0);
	assert_true(asprintf(&expected, "%s/%s.expected", incidents, name) > 0);
	assert_int_equal(ls_file_read(path, 1 << 20, &script, &len, &err), 0);
	setenv("LS_FAKE_NVML", path, 1);
	play(script, &out);
	if (getenv("LS_UPDATE"))
		assert_int_equal(ls_file_write_atomic(expected, out.s, out.len, &err), 0);
	assert_int_equal(ls_file_read(expected, 1 << 20, &want, &len, &err), 0);
	if (strcmp(out.s, want) != 0)
		fail_msg("%s: got\n%sexpected\n%s", name, out.s, want);
	free(script);
	free(want);
	free(path);
	free(expected);
	ls_str_done(&out);
}

static void all_incidents(void **state)
{
	(void)state;
	unsigned n = 0;
	DIR *d = opendir(incidents);
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));) {
		char name[64];
		size_t len = strlen(e->d_name);
		if (!ls_str_ends(e->d_name, ".nvml") || len - 5 >= sizeof name)
			continue;
		snprintf(name, sizeof name, "%.*s", (int)len - 5, e->d_name);
		one(name);
		n++;
	}
	closedir(d);
	assert_true(n >= 8);
}

/* Without a GPU nothing about GPUs is ever ok, unless none is expected. */
static void no_gpu(void **state)
{
	(void)state;
	struct ls_rules *rules;
	struct ls_xid_table *xids;
	struct ls_err err = {0};
	assert_int_equal(ls_rules_load(&rules, &err), 0);
	assert_int_equal(ls_xid_table_load(&xids, &err), 0);
	struct ls_sample nothing = {.time = 5, .steady = 5, .no_nvml = "there is no driver"};
	struct ls_judge_options o = {.expected = -1};
	struct ls_judge *j = ls_judge_new(rules, xids, &o);
	ls_judge_feed(j, &nothing);
	assert_int_equal(ls_judge_worst(j), LS_HEALTH_UNKNOWN);
	ls_judge_free(j);
	o.expected = 1;
	j = ls_judge_new(rules, xids, &o);
	ls_judge_feed(j, &nothing);
	assert_int_equal(ls_judge_worst(j), LS_HEALTH_CRITICAL);
	ls_judge_free(j);
	o.expected = 0;
	j = ls_judge_new(rules, xids, &o);
	ls_judge_feed(j, &nothing);
	assert_int_equal(ls_judge_worst(j), LS_HEALTH_OK);
	ls_judge_free(j);
	ls_rules_free(rules);
	ls_xid_table_free(xids);
}

static void refused(const char *text, const char *message)
{
	struct ls_rules *rules;
	struct ls_err err = {0};
	assert_int_equal(ls_rules_load(&rules, &err), 0);
	assert_int_equal(ls_rules_merge(rules, text, strlen(text), "f", &err), LS_EINPUT);
	if (!strstr(err.msg, message))
		fail_msg("\"%s\" does not have \"%s\"", err.msg, message);
	ls_rules_free(rules);
}

static void rules_that_are_wrong(void **state)
{
	(void)state;
	refused("[]", "must be an object");
	refused("{\"rules\": [1]}", "rules[0] must be an object");
	refused("{\"rules\": [], \"rulez\": 1}", "rulez");
	refused("{\"rules\": [{\"rule\": \"x\", \"warn_above\": 1}]}", "needs \"signal\"");
	refused("{\"rules\": [{\"rule\": \"x\\ny\", \"warn_above\": 1}]}", "rules[0] must be");
	refused("{\"rules\": [{\"rule\": \"gpu-lost\", \"cause\": \"a\\nb\"}]}",
		"control characters");
	refused("{\"rules\": [{\"rule\": \"x\", \"signal\": \"temperatur\", \"warn_above\": 1}]}",
		"did you mean \"temperature\"");
	refused("{\"rules\": [{\"rule\": \"x\", \"signal\": \"power\"}]}", "no limit");
	refused("{\"rules\": [{\"rule\": \"memory-high\", \"warn_abov\": 1}]}", "warn_above");
	refused("{\"rules\": [{\"rule\": \"memory-high\", \"critical_above\": 1}]}",
		"before that of the warning");
	refused("{\"rules\": [{\"rule\": \"memory-high\", \"warn_above\": 1, \"warn_below\": 1}]}",
		"exclude each other");
	refused("{\"rules\": [{\"rule\": \"memory-high\", \"for_s\": -1}]}", "from 0 on");
	refused("{\"rules\": [{\"rule\": \"memory-high\", \"off\": 1}]}", "true or false");
	refused("{\"rules\": [{\"rule\": \"host-disk\", \"when\": \"processes\"}]}", "of the host");
}

static void rules_that_change(void **state)
{
	(void)state;
	static const char text[] =
		"{\"rules\": [{\"rule\": \"memory-high\", \"warn_above\": 95, \"for_s\": 0},"
		" {\"rule\": \"hot\", \"signal\": \"temperature\", \"critical_above\": 80},"
		" {\"rule\": \"host-disk\", \"critical_above\": null}]}";
	struct ls_rules *rules;
	struct ls_err err = {0};
	assert_int_equal(ls_rules_load(&rules, &err), 0);
	size_t shipped = rules->n;
	assert_int_equal(ls_rules_merge(rules, text, sizeof text - 1, "f", &err), 0);
	assert_int_equal(rules->n, shipped + 1);
	for (size_t i = 0; i < rules->n; i++) {
		const struct ls_rule *r = &rules->rules[i];
		if (strcmp(r->name, "memory-high") == 0)
			assert_true(r->limits[0].value == 95 && r->for_s == 0 && r->clear == 2);
		if (strcmp(r->name, "host-disk") == 0)
			assert_true(r->limits[0].given && !r->limits[1].given);
	}
	assert_string_equal(rules->rules[shipped].info.unit, "C");
	assert_int_equal(ls_rules_leave_out(rules, "hod", &err), LS_EINPUT);
	assert_non_null(strstr(err.msg, "did you mean \"hot\""));
	assert_int_equal(ls_rules_leave_out(rules, "hot", &err), 0);
	assert_true(rules->rules[shipped].off);
	ls_rules_free(rules);
}

int main(void)
{
	char command[64];
	if (!mkdtemp(root))
		return 1;
	lay_out();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_incidents),
		cmocka_unit_test(no_gpu),
		cmocka_unit_test(rules_that_are_wrong),
		cmocka_unit_test(rules_that_change),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof command, "rm -r %s", root);
	return failed + (system(command) != 0);
}
