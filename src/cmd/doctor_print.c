/* Doctor's tables. Unknown is always written out, never left blank and never a zero. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/table.h"
#include "cmd/cmd.h"
#include "cmd/doctor.h"

static const char *mark(const struct ls_finding *f)
{
	if (f->outcome == LS_OUTCOME_MATCH)
		return "ok";
	if (f->outcome == LS_OUTCOME_UNKNOWN)
		return "unknown";
	return f->level == LS_LEVEL_REQUIRED ? "DIFFERS" : "differs";
}

static const char *colour_of(const struct ls_finding *f)
{
	if (f->outcome == LS_OUTCOME_MATCH)
		return ls_cmd_colour(stdout, "green");
	if (f->level == LS_LEVEL_INFORMATIONAL)
		return ls_cmd_colour(stdout, "dim");
	return ls_cmd_colour(stdout,
			     f->outcome == LS_OUTCOME_MISMATCH && f->level == LS_LEVEL_REQUIRED
				     ? "red"
				     : "yellow");
}

static bool begun; /* something stands above: a heading is set off from it */

static void heading(const char *text)
{
	printf("%s%s%s%s\n", begun ? "\n" : "", ls_cmd_colour(stdout, "bold"), text,
	       ls_cmd_colour(stdout, "off"));
}

/* Prints a table with line i + 1 (behind the heading) in colours[i]. */
static void print_table(struct ls_table *t, const char *const *colours)
{
	struct ls_str text = {0};
	ls_table_text(t, &text);
	begun = true;
	size_t i = 0;
	for (const char *p = text.s; p && *p; i++) {
		size_t len = strcspn(p, "\n");
		const char *colour = i == 0    ? ls_cmd_colour(stdout, "dim")
				     : colours ? colours[i - 1]
					       : "";
		printf("%s%.*s%s\n", colour, (int)len, p,
		       *colour ? ls_cmd_colour(stdout, "off") : "");
		p += len + (p[len] == '\n');
	}
	ls_str_done(&text);
	ls_table_done(t);
}

/* Values come from files and variables that anybody may have written: no control character reaches
 * the terminal. */
static char *printable_take(char *s)
{
	for (char *p = s; *p; p++)
		if ((unsigned char)*p < 32 || *p == 127)
			*p = '?';
	return s;
}

/* Long reasons are told in full below; the table keeps its shape. */
static char *shortened(const char *s)
{
	enum { WIDTH = 60 };
	if (!s || strlen(s) <= WIDTH)
		return printable_take(ls_xstrdup(s ? s : ""));
	size_t n = WIDTH - 3;
	while (n && ((unsigned char)s[n] & 0xc0) == 0x80)
		n--; /* not inside a UTF-8 sequence */
	return printable_take(ls_xasprintf("%.*s…", (int)n, s));
}

static void print_checks(const struct ls_report *r)
{
	const struct ls_findings *list = r->findings;
	const char **colours = ls_xalloc((list->n + 1) * sizeof *colours);
	struct ls_table t;
	size_t rows = 0;
	ls_table_init(&t, 5, (const char *const[]){"", "check", "expected", "found", "level"});
	for (size_t i = 0; i < list->n; i++) {
		const struct ls_finding *f = &list->items[i];
		if (f->fault)
			continue;
		char *expected = shortened(f->expected), *found = shortened(f->found);
		ls_table_row(&t, (const char *const[]){mark(f), f->id, expected, found,
						       ls_level_name(f->level)});
		colours[rows++] = colour_of(f);
		free(expected);
		free(found);
	}
	if (rows && r->spec)
		printf("%s%s%s%s%s\n\n", ls_cmd_colour(stdout, "bold"), r->spec->name,
		       ls_cmd_colour(stdout, "off"), r->spec->description ? ": " : "",
		       r->spec->description ? r->spec->description : "");
	if (rows)
		print_table(&t, colours);
	else
		ls_table_done(&t);
	free(colours);
}

static void print_advice(const char *advice)
{
	size_t lines = 0, n = 0;
	for (const char *p = advice; p && *p; p += strcspn(p, "\n"), p += *p == '\n')
		lines++;
	for (const char *p = advice; p && *p;) {
		size_t len = strcspn(p, "\n");
		if (lines > 1)
			printf("    %zu. %.*s\n", ++n, (int)len, p);
		else
			printf("    %.*s\n", (int)len, p);
		p += len + (p[len] == '\n');
	}
}

static void print_finding(const struct ls_finding *f)
{
	char *found = printable_take(ls_xstrdup(f->found ? f->found : "nothing"));
	printf("%s%-8s%s%s", colour_of(f), mark(f), f->id, ls_cmd_colour(stdout, "off"));
	if (f->expected)
		printf(": expected %s", f->expected);
	printf("%s found %s", f->expected ? "," : ":", found);
	free(found);
	if (f->source)
		printf(" %s[%s]%s", ls_cmd_colour(stdout, "dim"), f->source,
		       ls_cmd_colour(stdout, "off"));
	putchar('\n');
	if (f->why)
		printf("    %swhy: %s%s\n", ls_cmd_colour(stdout, "dim"), f->why,
		       ls_cmd_colour(stdout, "off"));
	print_advice(f->advice);
}

static void print_problems(const struct ls_report *r)
{
	bool any = false;
	for (int level = LS_LEVEL_REQUIRED; level <= LS_LEVEL_INFORMATIONAL; level++)
		for (size_t i = 0; i < r->findings->n; i++) {
			const struct ls_finding *f = &r->findings->items[i];
			if (f->outcome == LS_OUTCOME_MATCH || (int)f->level != level)
				continue;
			if (!any)
				heading("What to look at");
			any = true;
			print_finding(f);
		}
}

static char *shown(const struct ls_fact *f)
{
	if (f->state == LS_FACT_KNOWN)
		return f->note ? ls_xasprintf("%s (%s)", f->value, f->note) : ls_xstrdup(f->value);
	if (ls_str_starts(f->key, "env."))
		return f->note ? ls_xasprintf("%s (%s)", f->reason, f->note)
			       : ls_xstrdup(f->reason);
	return ls_xasprintf("%s: %s", ls_fact_state_name(f->state), f->reason);
}

static bool in_group(const char *key, const char *const *prefixes)
{
	for (; *prefixes; prefixes++) {
		size_t len = strlen(*prefixes);
		if (strncmp(key, *prefixes, len) == 0 &&
		    (key[len] == 0 || (*prefixes)[len - 1] == '.'))
			return true;
	}
	return false;
}

static void print_group(const struct ls_report *r, const char *title, const char *const *prefixes)
{
	const struct ls_facts *facts = r->facts;
	const char **colours = ls_xalloc((facts->n + 1) * sizeof *colours);
	struct ls_table t;
	size_t rows = 0;
	ls_table_init(&t, 3, (const char *const[]){"fact", "value", "source"});
	for (size_t i = 0; i < facts->n; i++) {
		const struct ls_fact *f = &facts->items[i];
		if (!in_group(f->key, prefixes))
			continue;
		char *value = printable_take(shown(f));
		const char *source = strcmp(f->source, "environment") == 0 ? "" : f->source;
		ls_table_row(&t, (const char *const[]){f->key, value, source});
		colours[rows++] =
			f->state == LS_FACT_UNKNOWN ? ls_cmd_colour(stdout, "yellow") : "";
		free(value);
	}
	if (rows) {
		heading(title);
		print_table(&t, colours);
	} else {
		ls_table_done(&t);
	}
	free(colours);
}

static void print_gpus(const struct ls_report *r)
{
	static const char *const what[] = {"name",        "capability",  "memory",   "ecc", "mig",
					   "persistence", "power_limit", "throttle", "uuid"};
	enum { N = sizeof what / sizeof *what };
	size_t n = ls_facts_gpu_count(r->facts);
	if (n == 0)
		return;
	struct ls_table t;
	ls_table_init(&t, N + 1,
		      (const char *const[]){"GPU", "name", "cc", "memory", "ECC", "MIG",
					    "persistence", "power", "throttle", "UUID"});
	for (size_t i = 0; i < n; i++) {
		char index[24];
		const char *cells[N + 1] = {index};
		snprintf(index, sizeof index, "%zu", i);
		for (size_t k = 0; k < N; k++) {
			const struct ls_fact *f = ls_facts_gpu(r->facts, i, what[k]);
			cells[k + 1] = !f || f->state == LS_FACT_UNKNOWN ? "unknown"
				       : f->value                        ? f->value
									 : "n/a";
		}
		ls_table_row(&t, cells);
	}
	heading("GPUs");
	print_table(&t, NULL);
}

static void print_facts(const struct ls_report *r)
{
	static const char *const driver[] = {"driver_kernel", "driver_nvml",   "driver_cuda",
					     "gpu_count",     "pci_gpu_count", NULL};
	static const char *const cuda[] = {"cuda",     "cuda_version_txt", "nvcc",  "lib.",
					   "bundled.", "torch_lib.",       "cudnn", "nccl",
					   NULL};
	static const char *const python[] = {"python",   "python.", "torch", "torch_cuda",
					     "package.", "deep.",   NULL};
	static const char *const torch[] = {"python",
					    "python.path",
					    "torch",
					    "torch_cuda",
					    "package.torchvision",
					    "package.torchaudio",
					    "deep.",
					    NULL};
	static const char *const machine[] = {
		"os",   "kernel", "glibc",     "arch",  "cpu",
		"cpu.", "ram",    "container", "image", "container_toolkit",
		NULL};
	static const char *const program[] = {"gpu_code", NULL}, *const variables[] = {"env.",
										       NULL};
	print_group(r, "Driver", driver);
	print_gpus(r);
	print_group(r, "CUDA", cuda);
	print_group(r, "Python", r->cuda ? torch : python);
	if (!r->cuda)
		print_group(r, "Machine", machine);
	print_group(r, "This program", program);
	print_group(r, "Variables that change numerics", variables);
}

static void print_verdict(const struct ls_report *r)
{
	size_t count[3] = {0};
	for (size_t i = 0; i < r->findings->n; i++)
		if (r->findings->items[i].level == LS_LEVEL_REQUIRED)
			count[r->findings->items[i].outcome]++;
	enum ls_outcome verdict = ls_findings_verdict(r->findings);
	const char *colour = verdict == LS_OUTCOME_MATCH      ? "green"
			     : verdict == LS_OUTCOME_MISMATCH ? "red"
							      : "yellow";
	if (!r->spec && !r->cuda && verdict == LS_OUTCOME_MATCH) {
		printf("\nno spec was given: nothing to compare with; see `lockstep spec list`\n");
		return;
	}
	printf("\n%s%s%s: %zu as required, %zu differ, %zu unknown\n",
	       ls_cmd_colour(stdout, colour), ls_outcome_name(verdict),
	       ls_cmd_colour(stdout, "off"), count[LS_OUTCOME_MATCH], count[LS_OUTCOME_MISMATCH],
	       count[LS_OUTCOME_UNKNOWN]);
}

void ls_doctor_print(const struct ls_report *report)
{
	print_checks(report);
	if (!report->spec)
		print_facts(report);
	else
		print_gpus(report);
	print_problems(report);
	print_verdict(report);
}
