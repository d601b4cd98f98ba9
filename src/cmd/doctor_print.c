/* Doctor's answer on one screen: the verdict, what differs, what to do, and the machine
 * in a few lines. Unknown is always written out, never left blank and never a zero. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "cmd/doctor.h"

/* Findings shown with their advice; of further ones the names. */
enum { SHOWN = 7 };

/* --- the verdict --- */

static void count(const struct ls_report *r, size_t ret[3])
{
	for (size_t i = 0; i < r->findings->n; i++)
		if (r->findings->items[i].level == LS_LEVEL_REQUIRED)
			ret[r->findings->items[i].outcome]++;
}

static const char *verdict_colour(enum ls_outcome verdict)
{
	return ls_cmd_colour(stdout, verdict == LS_OUTCOME_MATCH      ? "green"
				     : verdict == LS_OUTCOME_MISMATCH ? "red"
								      : "yellow");
}

/* Nothing was asked for: the machine's own faults are all that there is to say. */
static void print_no_spec(const struct ls_report *r, enum ls_outcome verdict)
{
	size_t n[3] = {0};
	count(r, n);
	printf("%s", verdict_colour(verdict));
	if (verdict == LS_OUTCOME_MATCH)
		printf("no fault seen");
	else
		printf("%zu fault%s", n[LS_OUTCOME_MISMATCH] + n[LS_OUTCOME_UNKNOWN],
		       n[LS_OUTCOME_MISMATCH] + n[LS_OUTCOME_UNKNOWN] == 1 ? "" : "s");
	printf("%s; no spec was given: nothing to compare with (see `lockstep spec list`)\n",
	       ls_cmd_colour(stdout, "off"));
}

static void print_verdict(const struct ls_report *r)
{
	enum ls_outcome verdict = ls_findings_verdict(r->findings);
	size_t n[3] = {0};
	count(r, n);
	if (!r->spec && !r->cuda) {
		print_no_spec(r, verdict);
		return;
	}
	printf("%s%s%s%s%s: %zu as required, %zu differ, %zu unknown\n", verdict_colour(verdict),
	       ls_outcome_name(verdict), ls_cmd_colour(stdout, "off"), r->spec ? " with " : "",
	       r->spec ? r->spec->name : "", n[LS_OUTCOME_MATCH], n[LS_OUTCOME_MISMATCH],
	       n[LS_OUTCOME_UNKNOWN]);
}

/* --- what differs and what to do --- */

static void print_step(const char *advice)
{
	size_t len = strcspn(advice, "\n");
	char *first = ls_xstrndup(advice, len);
	printf("    -> ");
	ls_doctor_wrap(first, 7, 7);
	free(first);
}

static void print_problem(const struct ls_finding *f)
{
	static const char unknown[] = "unknown: "; /* which the mark says already */
	const char *found = f->found ? f->found : "nothing";
	struct ls_str s = {0};
	ls_str_add(&s, ls_str_starts(found, unknown) ? found + strlen(unknown) : found);
	if (f->expected && strcmp(f->expected, "any") != 0)
		ls_str_addf(&s, "; expected %s", f->expected);
	printf("%s%-8s%s%s: ", ls_doctor_colour(f), ls_doctor_mark(f), f->id,
	       ls_cmd_colour(stdout, "off"));
	ls_doctor_wrap(s.s, 8 + strlen(f->id) + 2, 8);
	if (f->advice)
		print_step(f->advice);
	ls_str_done(&s);
}

/* Required mismatches first, then required unknowns, then what is recommended. */
static int rank(const struct ls_finding *f)
{
	if (f->outcome == LS_OUTCOME_MATCH || f->level == LS_LEVEL_INFORMATIONAL)
		return 3;
	if (f->level == LS_LEVEL_REQUIRED)
		return f->outcome == LS_OUTCOME_MISMATCH ? 0 : 1;
	return 2;
}

static void print_rest(const char *what, const struct ls_str *names)
{
	char *line = ls_xasprintf("%s: %s (-v tells what to do)", what, names->s);
	ls_doctor_wrap(line, 0, 4);
	free(line);
}

static void print_problems(const struct ls_report *r)
{
	struct ls_str more = {0}, told = {0};
	size_t shown = 0;
	for (int k = 0; k < 3; k++)
		for (size_t i = 0; i < r->findings->n; i++) {
			const struct ls_finding *f = &r->findings->items[i];
			if (rank(f) != k)
				continue;
			if (shown == 0)
				putchar('\n');
			if (shown++ < SHOWN)
				print_problem(f);
			else
				ls_str_addf(&more, "%s%s", more.len ? ", " : "", f->id);
		}
	for (size_t i = 0; i < r->findings->n; i++) {
		const struct ls_finding *f = &r->findings->items[i];
		if (f->outcome != LS_OUTCOME_MATCH && f->level == LS_LEVEL_INFORMATIONAL)
			ls_str_addf(&told, "%s%s", told.len ? ", " : "", f->id);
	}
	if (more.len)
		print_rest("and", &more);
	if (told.len)
		print_rest(shown ? "to know" : "\nto know", &told);
	ls_str_done(&more);
	ls_str_done(&told);
}

/* --- the machine in a few lines --- */

/* ", WORD VALUE" of a known fact, nothing of an absent one, "WORD unknown" of an unknown
 * one. */
static void add_fact(struct ls_str *s, const struct ls_facts *f, const char *key, const char *word)
{
	const struct ls_fact *fact = ls_facts_find(f, key);
	if (!fact || fact->state == LS_FACT_ABSENT)
		return;
	ls_str_addf(s, "%s%s%s%s", s->len ? ", " : "", word, *word ? " " : "",
		    fact->value ? fact->value : "unknown");
}

/* Why a line has nothing to show, as the fact tells it. */
static void add_reason(struct ls_str *s, const struct ls_fact *fact)
{
	if (!s->len && fact && !fact->value)
		ls_str_addf(s, "%s: %s", ls_fact_state_name(fact->state), fact->reason);
}

static void print_line(const char *title, struct ls_str *s, const char *otherwise)
{
	printf("%-10s", title);
	ls_doctor_wrap(s->len ? s->s : otherwise, 10, 10);
	ls_str_done(s);
}

static void add_gpus(struct ls_str *s, const struct ls_facts *f)
{
	size_t n = ls_facts_gpu_count(f);
	for (size_t i = 0, run; i < n; i += run) {
		const char *name = ls_facts_gpu_value(f, i, "name"),
			   *memory = ls_facts_gpu_value(f, i, "memory");
		for (run = 1; i + run < n; run++) {
			const char *next = ls_facts_gpu_value(f, i + run, "name");
			if (!name || !next || strcmp(name, next) != 0)
				break;
		}
		ls_str_addf(s, "%s%zu × %s (%s)", i ? ", " : "", run,
			    name ? name : "a GPU of unknown name",
			    memory ? memory : "memory unknown");
	}
}

static void print_machine(const struct ls_facts *f)
{
	struct ls_str s = {0};
	const struct ls_fact *count = ls_facts_find(f, "gpu_count"),
			     *driver = ls_facts_find(f, "driver");
	putchar('\n');
	add_fact(&s, f, "os", "");
	add_fact(&s, f, "arch", "");
	add_fact(&s, f, "kernel", "kernel");
	add_fact(&s, f, "container", "container");
	print_line("system", &s, "unknown");
	add_gpus(&s, f);
	add_reason(&s, count);
	print_line("GPU", &s, "none");
	add_reason(&s, driver);
	if (!s.len) {
		add_fact(&s, f, "driver", "");
		add_fact(&s, f, "driver_cuda", "CUDA");
	}
	print_line("driver", &s, "none");
	add_fact(&s, f, "python", "");
	add_fact(&s, f, "python.path", "");
	print_line("Python", &s, "none on PATH");
	add_fact(&s, f, "torch", "");
	add_fact(&s, f, "torch_cuda", "CUDA");
	add_fact(&s, f, "cudnn", "cuDNN");
	add_fact(&s, f, "nccl", "NCCL");
	print_line("torch", &s, "not installed");
	add_fact(&s, f, "cuda", "");
	print_line("toolkit", &s, "none");
}

void ls_doctor_print(const struct ls_report *report, bool verbose)
{
	print_verdict(report);
	if (verbose) {
		ls_doctor_tables(report);
		return;
	}
	print_problems(report);
	print_machine(report->facts);
	printf("\n-v shows every check, fact and source\n");
}
