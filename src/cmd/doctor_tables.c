/* Doctor's tables, shown with -v. Unknown is always written out, never left blank and
 * never a zero.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/table.h"
#include "cmd/cmd.h"
#include "cmd/doctor.h"

/* Prints a table with line i + 1 (behind the heading) in colours[i]. */
static void print_table(struct ls_table *t, const char *const *colours)
{
	struct ls_str text = {0};
	ls_table_text(t, &text);
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

/* What two cells of a table may take beside fixed columns of other text; 0: no limit. */
static size_t room(size_t fixed, size_t share, size_t of)
{
	size_t width = ls_doctor_width();
	if (!width)
		return 0;
	size_t left = width > fixed ? (width - fixed) * share / of : 0;
	return left < 12 ? 12 : left;
}

/* "NAME: what it is", as wide as the terminal. */
static void spec_heading(const struct ls_spec *spec)
{
	const char *said = spec->description ? spec->description : "";
	printf("\n%s%s%s%s", ls_cmd_colour(stdout, "bold"), spec->name,
	       ls_cmd_colour(stdout, "off"), *said ? ": " : "");
	ls_doctor_wrap(said, strlen(spec->name) + 2, 4);
	putchar('\n');
}

static size_t widest_check(const struct ls_findings *list)
{
	size_t most = strlen("check");
	for (size_t i = 0; i < list->n; i++) {
		size_t n = list->items[i].fault ? 0 : strlen(list->items[i].id);
		most = n > most ? n : most;
	}
	return most;
}

static void print_checks(const struct ls_report *r)
{
	const struct ls_findings *list = r->findings;
	const char **colours = ls_xalloc((list->n + 1) * sizeof *colours);
	struct ls_table t;
	size_t rows = 0, half = room(9 + widest_check(list) + 2 + 4 + 13, 1, 2);
	ls_table_init(&t, 5, (const char *const[]){"", "check", "expected", "found", "level"});
	for (size_t i = 0; i < list->n; i++) {
		const struct ls_finding *f = &list->items[i];
		if (f->fault)
			continue;
		char *expected = ls_doctor_cell(f->expected, half),
		     *found = ls_doctor_cell(f->found, half);
		ls_table_row(&t, (const char *const[]){ls_doctor_mark(f), f->id, expected, found,
						       ls_level_name(f->level)});
		colours[rows++] = ls_doctor_colour(f);
		free(expected);
		free(found);
	}
	if (rows && r->spec)
		spec_heading(r->spec);
	else if (rows)
		putchar('\n');
	if (rows)
		print_table(&t, colours);
	else
		ls_table_done(&t);
	free(colours);
}

static void print_advice(const char *advice)
{
	bool several = advice && strchr(advice, '\n') && strchr(advice, '\n')[1];
	size_t n = 0;
	for (const char *p = advice; p && *p;) {
		size_t len = strcspn(p, "\n");
		char *step = ls_xstrndup(p, len);
		if (several)
			printf("    %zu. ", ++n);
		else
			printf("    ");
		ls_doctor_wrap(step, several ? 7 : 4, several ? 7 : 4);
		free(step);
		p += len + (p[len] == '\n');
	}
}

static void print_finding(const struct ls_finding *f)
{
	struct ls_str s = {0};
	if (f->expected)
		ls_str_addf(&s, "expected %s, ", f->expected);
	ls_str_addf(&s, "found %s", f->found ? f->found : "nothing");
	if (f->source)
		ls_str_addf(&s, " [%s]", f->source);
	printf("%s%-8s%s%s: ", ls_doctor_colour(f), ls_doctor_mark(f), f->id,
	       ls_cmd_colour(stdout, "off"));
	ls_doctor_wrap(s.s, 8 + strlen(f->id) + 2, 8);
	if (f->why) {
		printf("    why: ");
		ls_doctor_wrap(f->why, 9, 9);
	}
	print_advice(f->advice);
	ls_str_done(&s);
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
				ls_doctor_heading("What to look at");
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
	size_t rows = 0, key = 0;
	for (size_t i = 0; i < facts->n; i++) {
		size_t n =
			in_group(facts->items[i].key, prefixes) ? strlen(facts->items[i].key) : 0;
		key = n > key ? n : key;
	}
	ls_table_init(&t, 3, (const char *const[]){"fact", "value", "source"});
	for (size_t i = 0; i < facts->n; i++) {
		const struct ls_fact *f = &facts->items[i];
		if (!in_group(f->key, prefixes))
			continue;
		char *whole = shown(f), *value = ls_doctor_cell(whole, room(key + 4, 3, 5));
		char *source =
			ls_doctor_cell(strcmp(f->source, "environment") == 0 ? "" : f->source,
				       room(key + 4, 2, 5));
		free(whole);
		ls_table_row(&t, (const char *const[]){f->key, value, source});
		colours[rows++] =
			f->state == LS_FACT_UNKNOWN ? ls_cmd_colour(stdout, "yellow") : "";
		free(value);
		free(source);
	}
	if (rows) {
		ls_doctor_heading(title);
		print_table(&t, colours);
	} else {
		ls_table_done(&t);
	}
	free(colours);
}

/* One line a GPU. A narrow terminal has no room for the last columns. */
static void print_gpus(const struct ls_report *r)
{
	static const char *const what[] = {"name",        "capability", "memory",      "ecc", "mig",
					   "power_limit", "throttle",   "persistence", "uuid"};
	static const char *const titles[] = {"GPU", "name",  "cc",       "memory",      "ECC",
					     "MIG", "power", "throttle", "persistence", "UUID"};
	enum { WIDE = sizeof what / sizeof *what, NARROW = WIDE - 2 };
	size_t n = ls_facts_gpu_count(r->facts), width = ls_doctor_width();
	size_t columns = width && width < 130 ? NARROW : WIDE;
	if (n == 0)
		return;
	struct ls_table t;
	ls_table_init(&t, columns + 1, titles);
	for (size_t i = 0; i < n; i++) {
		char *cells[WIDE + 1] = {ls_xasprintf("%zu", i)};
		for (size_t k = 0; k < columns; k++) {
			const struct ls_fact *f = ls_facts_gpu(r->facts, i, what[k]);
			cells[k + 1] = ls_doctor_cell(!f || f->state == LS_FACT_UNKNOWN ? "unknown"
						      : f->value                        ? f->value
											: "n/a",
						      columns == NARROW ? 20 : 0);
		}
		ls_table_row(&t, (const char *const *)cells);
		for (size_t k = 0; k <= columns; k++)
			free(cells[k]);
	}
	ls_doctor_heading("GPUs");
	print_table(&t, NULL);
}

static void print_facts(const struct ls_report *r)
{
	static const char *const driver[] = {
		"driver_kernel", "driver_nvml",   "driver_cuda", "gpu_count",
		"gpu_visible",   "pci_gpu_count", NULL};
	static const char *const cuda[] = {
		"cuda",       "cuda_version_txt", "nvcc",  "lib.", "bundled.",
		"torch_lib.", "torch_missing",    "cudnn", "nccl", NULL};
	static const char *const python[] = {"python",   "python.",   "torch", "torch_cuda",
					     "package.", "requires.", "deep.", NULL};
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
	ls_doctor_hardware(r);
	print_group(r, "CUDA", cuda);
	print_group(r, "Python", r->cuda ? torch : python);
	if (!r->cuda)
		print_group(r, "Machine", machine);
	print_group(r, "This program", program);
	print_group(r, "Variables that change numerics", variables);
}

void ls_doctor_tables(const struct ls_report *report)
{
	print_checks(report);
	print_facts(report);
	print_problems(report);
}
