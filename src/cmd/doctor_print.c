/* Doctor's answer on one screen: the verdict, what differs, what to do, and the machine
 * in a few lines. Unknown is always written out, never left blank and never a zero. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd/cmd.h"
#include "cmd/doctor.h"

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

/* Required mismatches first, then required unknowns, then what is recommended; then what
 * is only named. */
static int rank(const struct ls_finding *f)
{
	if (f->outcome == LS_OUTCOME_MATCH)
		return 4;
	if (f->level == LS_LEVEL_INFORMATIONAL)
		return 3;
	if (f->level == LS_LEVEL_REQUIRED)
		return f->outcome == LS_OUTCOME_MISMATCH ? 0 : 1;
	return 2;
}

/* Problems by rank; the first n_told of them are told with what to do, the rest is
 * named. */
struct problems {
	const struct ls_finding **items;
	size_t n, n_told;
};

static struct problems problems_of(const struct ls_findings *list)
{
	struct problems p = {ls_xalloc((list->n + 1) * sizeof *p.items), 0, 0};
	for (int k = 0; k < 3; k++)
		for (size_t i = 0; i < list->n; i++)
			if (rank(&list->items[i]) == k)
				p.items[p.n++] = &list->items[i];
	p.n_told = p.n;
	return p;
}

static size_t step_length(const struct ls_finding *f)
{
	return f->advice ? strcspn(f->advice, "\n") : 0;
}

/* The first step of "pip install 'torch==2.3.1' --index-url …": its requirement, quotes
 * included, and what follows it. False: another step. */
static bool is_pip_step(const struct ls_finding *f, struct ls_str *requirement, struct ls_str *rest)
{
	static const char pip[] = "pip install '";
	size_t n = step_length(f), from = sizeof pip - 2;
	if (!f->advice || !ls_str_starts(f->advice, pip))
		return false;
	const char *end = memchr(f->advice + sizeof pip - 1, '\'', n - (sizeof pip - 1));
	if (!end)
		return false;
	size_t to = (size_t)(end + 1 - f->advice);
	ls_str_add_bytes(requirement, f->advice + from, to - from);
	ls_str_add_bytes(rest, f->advice + to, n - to);
	return true;
}

/* One command installs all packages from the same place: pip would otherwise undo one for
 * the sake of another. NULL: an earlier problem has it. */
static char *pip_step(const struct problems *p, size_t at)
{
	struct ls_str all = {0}, place = {0}, own = {0};
	bool first = true;
	is_pip_step(p->items[at], &own, &place);
	for (size_t i = 0; i < p->n_told; i++) {
		struct ls_str requirement = {0}, rest = {0};
		if (is_pip_step(p->items[i], &requirement, &rest) &&
		    strcmp(rest.s ? rest.s : "", place.s ? place.s : "") == 0) {
			first &= i >= at;
			ls_str_addf(&all, " %s", requirement.s);
		}
		ls_str_done(&requirement);
		ls_str_done(&rest);
	}
	char *step = first ? ls_xasprintf("pip install%s%s", all.s, place.s ? place.s : "") : NULL;
	ls_str_done(&all);
	ls_str_done(&place);
	ls_str_done(&own);
	return step;
}

static void add_step(struct ls_str *out, const struct problems *p, size_t i)
{
	const struct ls_finding *f = p->items[i];
	struct ls_str requirement = {0}, rest = {0};
	char *step = is_pip_step(f, &requirement, &rest) ? pip_step(p, i)
		     : f->advice                         ? ls_xstrndup(f->advice, step_length(f))
							 : NULL;
	if (step) {
		ls_str_add(out, "    -> ");
		ls_doctor_wrap_to(out, step, 7, 7);
	}
	free(step);
	ls_str_done(&requirement);
	ls_str_done(&rest);
}

static void add_problem(struct ls_str *out, const struct problems *p, size_t i)
{
	static const char unknown[] = "unknown: "; /* which the mark says already */
	const struct ls_finding *f = p->items[i];
	const char *found = f->found ? f->found : "nothing";
	struct ls_str s = {0};
	ls_str_add(&s, ls_str_starts(found, unknown) ? found + strlen(unknown) : found);
	if (f->expected && strcmp(f->expected, "any") != 0)
		ls_str_addf(&s, "; expected %s", f->expected);
	ls_str_addf(out, "%s%-8s%s%s: ", ls_doctor_colour(f), ls_doctor_mark(f), f->id,
		    ls_cmd_colour(stdout, "off"));
	ls_doctor_wrap_to(out, s.s, 8 + strlen(f->id) + 2, 8);
	add_step(out, p, i);
	ls_str_done(&s);
}

/* Names in a row, of many the first ones. */
struct names {
	struct ls_str text;
	size_t n;
};

static void add_name(struct names *names, const char *id)
{
	enum { MOST = 8 };
	if (names->n++ < MOST)
		ls_str_addf(&names->text, "%s%s", names->n > 1 ? ", " : "", id);
	else if (names->n == MOST + 1)
		ls_str_add(&names->text, ", …");
}

static void add_names(struct ls_str *out, const char *what, struct names *names)
{
	if (names->n) {
		char *line = ls_xasprintf("%zu %s: %s (-v tells what to do)", names->n, what,
					  names->text.s);
		ls_doctor_wrap_to(out, line, 0, 4);
		free(line);
	}
	ls_str_done(&names->text);
}

static void add_problems(struct ls_str *out, const struct ls_findings *list,
			 const struct problems *p)
{
	struct names more = {0}, know = {0};
	for (size_t i = 0; i < p->n; i++)
		if (i < p->n_told)
			add_problem(out, p, i);
		else
			add_name(&more, p->items[i]->id);
	for (size_t i = 0; i < list->n; i++)
		if (rank(&list->items[i]) == 3)
			add_name(&know, list->items[i].id);
	add_names(out, "more", &more);
	add_names(out, know.n == 1 ? "note" : "notes", &know);
}

static size_t lines_of(const struct ls_str *s)
{
	size_t n = 0;
	for (const char *p = s->s; p && *p; p++)
		n += *p == '\n';
	return n;
}

/* As many problems with what to do as fit, at least one. */
static void fit_problems(struct ls_str *out, const struct ls_findings *list, size_t room)
{
	struct problems p = problems_of(list);
	if (p.n_told > room) /* each takes a line at least */
		p.n_told = room ? room : 1;
	for (;;) {
		add_problems(out, list, &p);
		if (lines_of(out) <= room || p.n_told < 2)
			break;
		ls_str_done(out);
		p.n_told--;
	}
	free(p.items);
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

static void add_line(struct ls_str *out, const char *title, struct ls_str *s, const char *otherwise)
{
	ls_str_addf(out, "%-10s", title);
	ls_doctor_wrap_to(out, s->len ? s->s : otherwise, 10, 10);
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

static void add_machine(struct ls_str *out, const struct ls_facts *f)
{
	struct ls_str s = {0};
	const struct ls_fact *count = ls_facts_find(f, "gpu_count"),
			     *driver = ls_facts_find(f, "driver");
	ls_str_add(out, "\n");
	add_fact(&s, f, "os", "");
	add_fact(&s, f, "arch", "");
	add_fact(&s, f, "kernel", "kernel");
	add_fact(&s, f, "container", "container");
	add_line(out, "system", &s, "unknown");
	add_gpus(&s, f);
	add_reason(&s, count);
	add_line(out, "GPU", &s, "none");
	add_reason(&s, driver);
	if (!s.len) {
		add_fact(&s, f, "driver", "");
		add_fact(&s, f, "driver_cuda", "CUDA");
	}
	add_line(out, "driver", &s, "none");
	add_fact(&s, f, "python", "");
	add_fact(&s, f, "python.path", "");
	add_line(out, "Python", &s, "none on PATH");
	add_fact(&s, f, "torch", "");
	add_fact(&s, f, "torch_cuda", "CUDA");
	add_fact(&s, f, "cudnn", "cuDNN");
	add_fact(&s, f, "nccl", "NCCL");
	add_line(out, "torch", &s, "not installed");
	add_fact(&s, f, "cuda", "");
	add_line(out, "toolkit", &s, "none");
}

/* What differs, or the machine, may be long; the screen is not. What there is no room
 * for, -v shows. */
static void print_screen(const struct ls_report *r)
{
	enum { AROUND = 5 }; /* verdict, two empty lines, the line of -v, the shell's prompt */
	struct ls_str symptom = {0}, problems = {0}, machine = {0};
	size_t height = ls_doctor_height() - AROUND;
	ls_doctor_symptom(r, &symptom);
	add_machine(&machine, r->facts);
	size_t taken = lines_of(&symptom);
	fit_problems(&problems, r->findings, height > taken ? height - taken : 0);
	taken += lines_of(&problems);
	if (problems.len)
		printf("\n%s", problems.s);
	if (symptom.len)
		fputs(symptom.s, stdout);
	else if (taken + lines_of(&machine) <= height)
		fputs(machine.s, stdout);
	printf("\n-v shows every check, fact and source\n");
	ls_str_done(&symptom);
	ls_str_done(&problems);
	ls_str_done(&machine);
}

void ls_doctor_print(const struct ls_report *report, bool verbose)
{
	struct ls_str symptom = {0};
	print_verdict(report);
	if (!verbose) {
		print_screen(report);
		return;
	}
	ls_doctor_tables(report);
	ls_doctor_symptom(report, &symptom);
	if (symptom.len)
		fputs(symptom.s, stdout);
	ls_str_done(&symptom);
}
