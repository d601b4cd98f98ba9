/* What a file says about the run that wrote it: times within the run are its own, others
 * are not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compare/own.h"
#include "tensor/proto.h"

/* Run A: 2026-11-19 08:05:00 to 08:06:00 UTC; run B one hour later. Local time is
 * UTC+5:30. */
static const double begin_a = 1795075500;
static const int64_t pids_a[] = {57, 4001}, pids_b[] = {4100, 9001};
static const struct ls_own runs = {{begin_a, begin_a + 60, 19800, pids_a, 2},
				   {begin_a + 3600, begin_a + 3660, 19800, pids_b, 2}};

static bool named(const char *name, const char *a, const char *b)
{
	return ls_own_same(&runs, name, a, strlen(a), b, strlen(b));
}

static bool same(const char *a, const char *b)
{
	return named("", a, b);
}

static void times_of_the_run(void **state)
{
	(void)state;
	assert_true(same("ft-1795075501.25", "ft-1795079101.123456"));
	assert_true(same("1795075501", "1795079159"));
	assert_true(same("1795075501123", "1795079101123"));
	assert_true(same("at 2026-11-19T08:05:01Z end", "at 2026-11-19T09:05:01Z end"));
	assert_true(same("2026-11-19 13:35:01,123", "2026-11-19 14:35:01,001"));
	assert_true(same("20261119_080501", "20261119_090501"));
	assert_true(same("20261119080501", "20261119090501"));
	assert_true(same("2026-11-19/08-05-01/x", "2026-11-19/09-05-01/x"));
	assert_true(same("2026-11-19@08:05:29", "2026-11-19@09:05:29"));
	assert_true(same("Nov19_08-05-29_vm", "Nov19_09-05-29_vm"));
	assert_true(same("Thu Nov 19 08:05:29 2026", "Thu Nov 19 09:05:29 2026"));
	assert_true(same("[08:05:29] x", "[09:05:29] x"));
	assert_true(same("2026-11-19T10:05:29+02:00", "2026-11-19T11:05:29+02:00"));
}

static void what_is_not_proved(void **state)
{
	(void)state;
	assert_false(same("1795075501", "1795075502"));   /* not within B */
	assert_false(same("1795075401", "1795079101"));   /* before A */
	assert_false(same("17950755011", "17950791011")); /* eleven digits */
	assert_false(same("2026-11-19 08:05:01 a", "2026-11-19 09:05:01 b"));
	assert_false(same("2026-11-19_08-05-01-001", "2026-11-19_09-05-01-002"));
	assert_false(same("2026-11-18 08:05:01", "2026-11-19 09:05:01"));
	assert_false(same("1795075501", "2026-11-19 09:05:01"));
	assert_false(same("loss 57", "loss 4100"));
	assert_false(same("0.25", "0.5"));
	assert_false(same("x", ""));
	assert_false(same("1795075501", "1795079101 "));
}

static void processes(void **state)
{
	(void)state;
	assert_true(same("events.1795075501.vm.4001.0", "events.1795079101.vm.9001.0"));
	assert_true(same("pid 57", "pid 4100"));
	assert_true(same("2026-11-19 08:05:01 [57] x", "2026-11-19 09:05:01 [4100] x"));
	assert_false(same("2026-11-19 08:05:01 57", "2026-11-19 09:05:01 4100"));
	assert_false(same("pid 58", "pid 4100"));
	assert_false(same("pid 57", "pid 4101"));
}

static void durations(void **state)
{
	(void)state;
	assert_true(named("log.4.eval_runtime", "0.25", "0.5"));
	assert_true(same("{\"eval_runtime\": 0.25}", "{\"eval_runtime\": 0.5}"));
	assert_true(named("train_samples_per_second", "250000.5", "1e5"));
	assert_false(named("eval_runtime", "0.25", "500"));
	assert_false(named("eval_runtime", "-0.25", "0.5"));
	assert_false(named("eval_loss", "0.25", "0.5"));
	assert_false(named("eval_runtime", "0.25x", "0.5y"));
}

static void names_of_files(void **state)
{
	(void)state;
	char *a = ls_own_name(&runs.a, "runs/Nov19_08-05-29_vm/events.1795075501.vm.4001.0");
	char *b = ls_own_name(&runs.b, "runs/Nov19_09-05-29_vm/events.1795079101.vm.9001.0");
	char *c = ls_own_name(&runs.b, "runs/Nov19_08-05-29_vm/events.1795079101.vm.9001.0");
	assert_string_equal(a, b);
	assert_string_not_equal(a, c);
	free(a);
	free(b);
	free(c);
}

/* --- event files --- */

/* One record: an event of a time, and what follows it. */
static struct ls_map record(uint8_t *buf, double time, const uint8_t *rest, size_t n)
{
	uint8_t *p = buf + 12;
	uint64_t len = 9 + n;
	uint32_t crc;
	p[0] = 0x09;
	memcpy(p + 1, &time, 8);
	memcpy(p + 9, rest, n);
	memcpy(buf, &len, 8);
	crc = ls_masked_crc(buf, 8);
	memcpy(buf + 8, &crc, 4);
	crc = ls_masked_crc(p, len);
	memcpy(p + len, &crc, 4);
	return (struct ls_map){buf, 12 + len + 4};
}

/* A summary of one tag with one number. */
static struct ls_map event_file(uint8_t *buf, double time, const char *tag, float number)
{
	uint8_t p[128];
	size_t tag_len = strlen(tag);
	p[0] = 0x2a;
	p[1] = (uint8_t)(tag_len + 9);
	p[2] = 0x0a;
	p[3] = (uint8_t)(tag_len + 7);
	p[4] = 0x0a;
	p[5] = (uint8_t)tag_len;
	memcpy(p + 6, tag, tag_len);
	p[6 + tag_len] = 0x15;
	memcpy(p + 7 + tag_len, &number, 4);
	return record(buf, time, p, tag_len + 11);
}

static bool same_events(double time_b, const char *tag, float number_a, float number_b)
{
	uint8_t a[256], b[256];
	struct ls_map x = event_file(a, begin_a + 1.5, tag, number_a);
	struct ls_map y = event_file(b, time_b, tag, number_b);
	return ls_own_same_file(&runs, &x, &y);
}

static void event_files(void **state)
{
	(void)state;
	double later = begin_a + 3601;
	assert_true(same_events(later, "loss", 1, 1));
	assert_false(same_events(later, "loss", 1, 2));
	assert_false(same_events(begin_a + 2, "loss", 1, 1)); /* not the time of run B */
	assert_true(same_events(later, "eval/runtime", 1, 2));
	assert_false(same_events(later, "eval/runtime", 1, 2000));
	uint8_t a[256], b[256];
	struct ls_map x = event_file(a, begin_a + 1.5, "loss", 1);
	struct ls_map y = event_file(b, later, "loss", 1);
	b[y.len - 1] ^= 1; /* a damaged record is not judged */
	assert_false(ls_own_same_file(&runs, &x, &y));
}

/* A session of TensorBoard's hparams: a map of two names to numbers, which protobuf
 * writes in either order. seed: the low byte of the second number. */
static struct ls_map session(uint8_t *buf, double time, const char *tag, bool swapped, uint8_t seed)
{
	static const uint8_t head[] = {0x2a, 0x59, 0x0a, 0x57, 0x0a, 0x1c};
	static const uint8_t middle[] = "J7\n5\n\x07hparams\x12*\x1a(";
	static const uint8_t epochs[] = "\n\x13\n\x06"
					"epochs\x12\t\x11\0\0\0\0\0\0\0@";
	uint8_t second[] = "\n\x11\n\x04seed\x12\t\x11\0\0\0\0\0\0\x94@", p[128], *q = p;
	enum { TAG = 28, EPOCHS = sizeof epochs - 1, SEED = sizeof second - 1 };
	second[SEED - 8] = seed;
	memcpy(q, head, sizeof head);
	q += sizeof head;
	memcpy(q, tag, TAG);
	q += TAG;
	memcpy(q, middle, sizeof middle - 1);
	q += sizeof middle - 1;
	memcpy(q + (swapped ? SEED : 0), epochs, EPOCHS);
	memcpy(q + (swapped ? 0 : EPOCHS), second, SEED);
	return record(buf, time, p, (size_t)(q - p) + EPOCHS + SEED);
}

static bool same_sessions(const char *tag, bool swapped, uint8_t seed)
{
	uint8_t a[256], b[256];
	struct ls_map x = session(a, begin_a + 1.5, tag, false, 1);
	struct ls_map y = session(b, begin_a + 3601, tag, swapped, seed);
	assert_int_equal(x.len, 12 + 100 + 4);
	return ls_own_same_file(&runs, &x, &y);
}

static void hyperparameters(void **state)
{
	(void)state;
	assert_true(same_sessions("_hparams_/session_start_info", false, 1));
	assert_true(same_sessions("_hparams_/session_start_info", true, 1));
	assert_false(same_sessions("_hparams_/session_start_info", true, 2));
	assert_false(same_sessions("_hparams_/session_start_xxxx", true, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_of_the_run), cmocka_unit_test(what_is_not_proved),
		cmocka_unit_test(processes),        cmocka_unit_test(durations),
		cmocka_unit_test(names_of_files),   cmocka_unit_test(event_files),
		cmocka_unit_test(hyperparameters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
