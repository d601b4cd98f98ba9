/* How quick a training is, by what it writes; time is an input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "watch/exports.h"
#include "watch/jobs.h"
#include "watch/throughput.h"
#include "watch/trainings.h"

static struct ls_throughput *new_follower(const char *file)
{
	struct ls_throughput *t;
	struct ls_err err = {0};
	assert_int_equal(ls_throughput_new(file, &t, &err), 0);
	return t;
}

static void feed(struct ls_throughput *t, double now, const char *text)
{
	ls_throughput_feed(t, text, strlen(text), now);
}

static void is(const struct ls_throughput *t, double at, double now, double best)
{
	double got_now, got_best;
	const char *why;
	assert_true(ls_throughput_rates(t, at, &got_now, &got_best, &why));
	if (got_now != now || got_best != best)
		fail_msg("%g of %g instead of %g of %g", got_now, got_best, now, best);
}

static void is_unknown(const struct ls_throughput *t, double at)
{
	double a, b;
	const char *why = NULL;
	assert_false(ls_throughput_rates(t, at, &a, &b, &why));
	assert_non_null(why);
}

/* One quick or slow value among many changes nothing. */
static void rates_that_it_writes(void **state)
{
	(void)state;
	struct ls_throughput *t = new_follower("a.jsonl");
	char line[128];
	for (int i = 0; i < 17; i++) {
		snprintf(line, sizeof line,
			 "{\"step\": %d, \"train\": {\"samples_per_second\": %d}, \"x/s\": 7}\n", i,
			 i == 5 ? 9000 : 100);
		is_unknown(t, i);
		feed(t, i, line);
	}
	feed(t, 17, "{\"step\": 17, \"train\": {\"samples_per_second\": 1}}\n");
	is(t, 18, 100, 100);
	for (int i = 0; i < 9; i++)
		feed(t, 20, "{\"step\": 18, \"train\": {\"samples_per_second\": 60}}\n");
	is(t, 20, 60, 100);
	ls_throughput_free(t);
}

/* A program that no longer writes hangs, whatever rate it wrote last. */
static void rates_that_stop(void **state)
{
	(void)state;
	struct ls_throughput *t = new_follower("a.jsonl");
	for (int i = 0; i < 20; i++)
		feed(t, 10 + 2 * i, "{\"rows/s\": 100}\n");
	is(t, 53, 100, 100);
	is(t, 68, 10, 100);
	ls_throughput_free(t);
}

/* Lines come in pieces; CSV has its names in the first line; a run that begins again is
 * another one. */
static void steps_by_the_clock(void **state)
{
	(void)state;
	struct ls_throughput *t = new_follower("a.csv");
	char line[64];
	feed(t, 0, "step,lo");
	feed(t, 0, "ss\n");
	for (int i = 0; i <= 18; i++) {
		is_unknown(t, 2 * i);
		snprintf(line, sizeof line, "%d,0.", 10 * i);
		feed(t, 2 * i, line);
		feed(t, 2 * i, "5\n");
	}
	is(t, 36, 5, 5);
	is(t, 42, 5, 5); /* three times as long as a step usually takes */
	is(t, 56, 0.5, 5);
	feed(t, 60, "5,0.5\n");
	is_unknown(t, 60);
	ls_throughput_free(t);
}

static void files_that_are_none(void **state)
{
	(void)state;
	struct ls_throughput *t;
	struct ls_err err = {0};
	assert_int_equal(ls_throughput_new("model.pt", &t, &err), LS_EINPUT);
	t = new_follower("/nowhere/a.jsonl");
	ls_throughput_look(t, 1);
	is_unknown(t, 1);
	feed(t, 2, "]]]\n");
	is_unknown(t, 2);
	ls_throughput_free(t);
}

static void append(const char *file, const char *mode, int first, int n)
{
	FILE *f = fopen(file, mode);
	assert_non_null(f);
	for (int i = first; i < first + n; i++)
		fprintf(f, "{\"step\": %d, \"rows/s\": 50}\n", i);
	fclose(f);
}

static void a_file_that_grows(void **state)
{
	(void)state;
	char file[] = "/tmp/ls-throughput-XXXXXX.jsonl";
	int fd = mkstemps(file, 6);
	assert_true(fd >= 0);
	close(fd);
	struct ls_throughput *t = new_follower(file);
	append(file, "w", 0, 10);
	ls_throughput_look(t, 1);
	is_unknown(t, 1);
	append(file, "a", 10, 10);
	ls_throughput_look(t, 2);
	is(t, 2, 50, 50);
	append(file, "w", 0, 1); /* a new run */
	ls_throughput_look(t, 3);
	is_unknown(t, 3);
	ls_throughput_free(t);
	unlink(file);
}

static void set(struct ls_trainings *t, const char *token, const char *file)
{
	json_t *rows =
		token ? json_pack("[{s:s,s:s,s:i,s:s,s:[s]}]", "name", "run\033[2Jone", "token",
				  token, "supervisor", 0, "job", "4711_7", "files", file)
		      : json_array();
	assert_non_null(rows);
	ls_trainings_set(t, rows);
	json_decref(rows);
}

/* An experiment is followed by the files that it writes while it runs, and a later
 * attempt begins anew. */
static void experiments_that_run(void **state)
{
	(void)state;
	static struct ls_jobs j = {.asked = true};
	char file[] = "/tmp/ls-training-XXXXXX.jsonl";
	int fd = mkstemps(file, 6);
	assert_true(fd >= 0);
	close(fd);
	struct ls_trainings *t = ls_trainings_new();
	set(t, "first", "/nowhere/a.jsonl");
	assert_int_equal(ls_trainings_look(t, 1, j.rates), 1);
	assert_false(j.rates[0].known);
	append(file, "w", 0, 20);
	set(t, "first", file); /* a second file of the same attempt */
	j.n_rates = ls_trainings_look(t, 2, j.rates);
	assert_int_equal(j.n_rates, 1);
	assert_true(j.rates[0].known && j.rates[0].experiment && j.rates[0].rate == 50);
	assert_string_equal(j.rates[0].name, "run\\x1b[2Jone");
	assert_ptr_equal(ls_jobs_slowest(&j), &j.rates[0]);
	assert_string_equal(ls_trainings_of(t, "", 1, "4711_7"), "run\\x1b[2Jone");
	assert_null(ls_trainings_of(t, "", 1, ""));
	set(t, "second", "/nowhere/a.jsonl");
	j.n_rates = ls_trainings_look(t, 3, j.rates);
	assert_false(j.rates[0].known);
	assert_null(ls_jobs_slowest(&j));
	set(t, NULL, NULL);
	assert_int_equal(ls_trainings_look(t, 4, j.rates), 0);
	ls_trainings_free(t);
	unlink(file);
}

static void record_export(const char *record, double time, const char *file, const char *error)
{
	struct ls_err err = {0};
	struct ls_export e = {time, "onnx", "/m", file, error};
	assert_int_equal(ls_export_append(record, &e, &err), 0);
}

/* A file counts by its last export, of a day; what is no line is passed over, and a record
 * that cannot be read is unknown and never empty. */
static void exports_of_a_day(void **state)
{
	(void)state;
	char folder[] = "/tmp/ls-exports-XXXXXX", path[64], command[256];
	struct ls_export_counts c;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/new/exports.jsonl", folder);
	ls_exports_read(path, 2e9, &c);
	assert_true(c.asked && c.known && c.files == 0 && c.failed == 0);
	record_export(path, 2e9 - 90000, "/old.onnx", "too long ago");
	record_export(path, 2e9 - 30, "/a.onnx", "first\ntry");
	record_export(path, 2e9 - 20, "/b.onnx", "\xff\"");
	FILE *f = fopen(path, "a");
	assert_non_null(f);
	fputs("{\"time\": 2e9, \"file\": \"/c\"\nnull\n", f);
	fclose(f);
	ls_exports_read(path, 2e9, &c);
	assert_true(c.known && c.files == 2 && c.failed == 2);
	assert_string_equal(c.file, "/b.onnx");
	record_export(path, 2e9 - 10, "/b.onnx", NULL);
	ls_exports_read(path, 2e9, &c);
	assert_true(c.files == 2 && c.failed == 1);
	assert_string_equal(c.file, "/a.onnx");
	assert_string_equal(c.error, "first\\x0atry");
	record_export(path, 2e9 - 5, "/a.onnx", NULL);
	ls_exports_read(path, 2e9, &c);
	assert_true(c.files == 2 && c.failed == 0 && !*c.file);
	snprintf(command, sizeof command, "rm %s && mkdir %s", path, path);
	assert_int_equal(system(command), 0);
	ls_exports_read(path, 2e9, &c);
	assert_true(c.asked && !c.known && *c.why);
	snprintf(command, sizeof command, "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_that_stop),      cmocka_unit_test(exports_of_a_day),
		cmocka_unit_test(rates_that_it_writes), cmocka_unit_test(steps_by_the_clock),
		cmocka_unit_test(files_that_are_none),  cmocka_unit_test(a_file_that_grows),
		cmocka_unit_test(experiments_that_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
