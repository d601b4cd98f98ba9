/* The value of a metric in JSON, JSON lines, CSV and printed lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/seed_metric.h"

#define N(a) (sizeof(a) / sizeof *(a))

enum format { JSON, CSV, LOG };
enum outcome { FOUND, ABSENT, AMBIGUOUS, BROKEN };

static const struct {
	enum format format;
	const char *text, *name;
	enum outcome outcome;
	double value;
	size_t line;
} cases[] = {
	{JSON, "{\"loss\": 1}\n{\"loss\": 0.5, \"x\": \"loss\"}\n", "loss", FOUND, 0.5, 2},
	{JSON, "{\"val/f1\": 0.25}", "val/f1", FOUND, 0.25, 1},
	{JSON, "{\"val\": {\"f1\": 0.25}}", "val/f1", FOUND, 0.25, 1},
	{JSON, "{\"val\": {\"f1\": 0.25}}", "val.f1", FOUND, 0.25, 1},
	{JSON, "{\"h\": [{\"e\": 1},\n {\"e\": -2e3}]}", "e", FOUND, -2000, 2},
	{JSON, "{\"f1\": 1, \"best\": {\"f1\": 2}}", "f1", FOUND, 1, 1},
	{JSON, "{\"best\": {\"f1\": 2}, \"f1\": 1}", "f1", FOUND, 1, 1},
	{JSON, "{\"a\": {\"f1\": 2}, \"b\": {\"f1\": 1}}", "f1", AMBIGUOUS, 0, 0},
	{JSON, "{\"train/f1\": 2, \"val/f1\": 1}", "f1", AMBIGUOUS, 0, 0},
	{JSON, "{\"xf1\": 2}", "f1", ABSENT, 0, 0},
	{JSON, "{\"f1\": true, \"f1\": \"0.5\", \"f1\": null}", "f1", ABSENT, 0, 0},
	{JSON, "{\"f1\": NaN}", "f1", FOUND, NAN, 1},
	{JSON, "{\"f1\": \"-Infinity\"}", "f1", FOUND, -INFINITY, 1},
	{JSON, "{\"f1\": 1e400}", "f1", FOUND, INFINITY, 1},
	{JSON, "{\"f1\": 1}\n{\"f1\": 2", "f1", BROKEN, 0, 0},
	{JSON, "{\"f1\": 1}\n{\"f1\": 0x10}", "f1", BROKEN, 0, 0},
	{JSON, "{\"f1\": 1}]", "f1", BROKEN, 0, 0},
	{JSON, "{\"f\\u0031\": 3, \"\": 1}", "f1", FOUND, 3, 1},
	{JSON, "{\"\\u00e9\\ud83d\\ude00\": 3}", "\xc3\xa9\xf0\x9f\x98\x80", FOUND, 3, 1},
	{JSON, "", "f1", ABSENT, 0, 0},
	{CSV, "epoch,val/f1\n0,0.5\n1,\n2,0.75\n3,\n", "val/f1", FOUND, 0.75, 4},
	{CSV, "\"a,b\",\"f\"\"1\"\r\n1,2\r\n\"3\",\"4\"\r\n", "f\"1", FOUND, 4, 3},
	{CSV, "f1,f1\n1,2\n", "f1", AMBIGUOUS, 0, 0},
	{CSV, "f1\nhigh\n", "f1", BROKEN, 0, 0},
	{CSV, "f1\n\"1", "f1", BROKEN, 0, 0},
	{CSV, "f1\nnan\n", "f1", FOUND, NAN, 2},
	{CSV, "f1\n", "f1", ABSENT, 0, 0},
	{LOG, "f1: 0.5\nepoch 3, f1=0.75, loss=2\n", "f1", FOUND, 0.75, 2},
	{LOG, "{'eval_f1': np.float64(0.25), 'x': 1}", "eval_f1", FOUND, 0.25, 1},
	{LOG, "f1 = tensor(0.5, device='cuda:0')\n", "f1", FOUND, 0.5, 1},
	{LOG, "100%|###|\rval/f1: 91.5%", "val/f1", FOUND, 91.5, 1},
	{LOG, "val/f1: 1 best_f1: 2 f10: 3", "f1", ABSENT, 0, 0},
	{LOG, "f1: none, f1: 12s, f1", "f1", ABSENT, 0, 0},
	{LOG, "f1: nan", "f1", FOUND, NAN, 1},
	{LOG, "The f1: 0.5.", "f1", FOUND, 0.5, 1},
};

static void check(size_t i)
{
	struct ls_seed_metric_found f;
	/* a block of its own without a NUL, so that a reader beyond it is seen */
	size_t len = strlen(cases[i].text);
	char *text = malloc(len + !len);
	memcpy(text, cases[i].text, len);
	if (cases[i].format == JSON)
		ls_seed_metric_json(text, len, cases[i].name, &f);
	else if (cases[i].format == CSV)
		ls_seed_metric_csv(text, len, ',', cases[i].name, &f);
	else
		ls_seed_metric_log(text, len, cases[i].name, &f);
	free(text);
	enum outcome got = f.n == 0 ? ABSENT : f.broken ? BROKEN : f.ambiguous ? AMBIGUOUS : FOUND;
	if (got != cases[i].outcome)
		fail_msg("case %zu (%s): outcome %d", i, cases[i].text, got);
	if (got == FOUND &&
	    (f.line != cases[i].line ||
	     (f.value != cases[i].value && !(isnan(f.value) && isnan(cases[i].value)))))
		fail_msg("case %zu (%s): %g in line %zu", i, cases[i].text, f.value, f.line);
}

static void texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < N(cases); i++)
		check(i);
}

/* Neither depth nor the length of a name costs stack or memory without bound. */
static void hostile(void **state)
{
	(void)state;
	enum { SIZE = 1 << 20 };
	struct ls_seed_metric_found f;
	char *text = malloc(SIZE);
	memset(text, '[', SIZE);
	ls_seed_metric_json(text, SIZE, "f1", &f);
	assert_true(f.broken && f.n == 0);
	memset(text, 'a', SIZE);
	memcpy(text, "{\"", 2);
	memcpy(text + SIZE - 5, "\": 1}", 5);
	ls_seed_metric_json(text, SIZE, "f1", &f);
	assert_true(!f.broken && f.n == 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(hostile)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
