/* What tables know of this machine's GPUs: batch sizes to begin with, what was tried on
 * them, and what to try against a symptom. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "cmd/doctor.h"

static void add_take(struct ls_str *out, char *line, size_t indent)
{
	ls_str_addf(out, "%*s", (int)indent, "");
	ls_doctor_wrap_to(out, line, indent, indent + 4);
	free(line);
}

static bool same_gpu(const struct ls_facts *f, size_t a, size_t b)
{
	static const char *const what[] = {"name", "memory"};
	for (size_t k = 0; k < sizeof what / sizeof *what; k++) {
		const char *x = ls_facts_gpu_value(f, a, what[k]),
			   *y = ls_facts_gpu_value(f, b, what[k]);
		if (!x || !y || strcmp(x, y) != 0)
			return false;
	}
	return true;
}

/* One GPU of a kind speaks for all. */
static bool is_first(const struct ls_facts *f, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same_gpu(f, k, i))
			return false;
	return true;
}

static const char *name_of(const struct ls_report *r, size_t i)
{
	const char *name = ls_facts_gpu_value(r->facts, i, "name");
	return name ? name : "a GPU of unknown name";
}

static void add_batch(struct ls_str *out, const struct ls_report *r, size_t i)
{
	const struct ls_batch_range *b = ls_report_batch(r, i);
	if (b)
		add_take(out,
			 ls_xasprintf("%s: batches of %u to %u to begin with (%s; a rule of thumb)",
				      name_of(r, i), b->batch_min, b->batch_max, b->note),
			 0);
	else
		add_take(out,
			 ls_xasprintf("%s: no batch size is known for its memory", name_of(r, i)),
			 0);
}

static void add_tested(struct ls_str *out, const struct ls_report *r, size_t i)
{
	const json_t *row;
	const char *name = ls_facts_gpu_value(r->facts, i, "name");
	size_t n = 0, k = 0;
	for (; (row = ls_advice_tested(r->advice, NULL, name, &k)); n++) {
		char *tested = ls_tested_text(row);
		add_take(out, ls_xasprintf("tested on %s", tested), 2);
		free(tested);
	}
	if (!n)
		add_take(out, ls_xstrdup("tested on: no record of this GPU"), 2);
}

void ls_doctor_hardware(const struct ls_report *r)
{
	size_t n = ls_facts_gpu_count(r->facts);
	struct ls_str out = {0};
	for (size_t i = 0; i < n; i++)
		if (is_first(r->facts, i)) {
			add_batch(&out, r, i);
			add_tested(&out, r, i);
		}
	if (n) {
		ls_doctor_heading("Known of these GPUs");
		fputs(out.s, stdout);
	}
	ls_str_done(&out);
}

void ls_doctor_symptom(const struct ls_report *r, struct ls_str *out)
{
	const json_t *row = r->symptom ? ls_advice_symptom(r->advice, r->symptom) : NULL;
	const json_t *steps = json_object_get(row, "steps");
	const char *cores = ls_facts_value(r->facts, "cpu.count");
	if (!r->symptom)
		return;
	ls_str_addf(out, "\n%s%s%s\n", ls_cmd_colour(stdout, "bold"), r->symptom,
		    ls_cmd_colour(stdout, "off"));
	if (!row)
		ls_str_add(out, "the tables have no advice for it\n");
	for (size_t i = 0; i < json_array_size(steps); i++)
		add_take(
			out,
			ls_xasprintf("%zu. %s", i + 1, json_string_value(json_array_get(steps, i))),
			0);
	for (size_t i = 0; i < ls_facts_gpu_count(r->facts); i++)
		if (is_first(r->facts, i))
			add_batch(out, r, i);
	if (cores)
		add_take(out,
			 ls_xasprintf("this machine: %s processors for DataLoader workers", cores),
			 0);
}
