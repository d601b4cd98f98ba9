/* Faults that the compatibility tables know: driver too old for this CUDA, GPU not in
 * this torch build, end of life. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/version.h"
#include "env/rules/findings.h"
#include "env/spec/calendar.h"
#include "env/spec/compat.h"

/* Below the minimum driver of its CUDA version torch does not run at all. For a toolkit
 * that only compiles, the caller passes a lower level. */
static void driver_too_old(struct ls_findings *list, const struct ls_facts *f,
			   const struct ls_compat *c, const char *key, enum ls_level level)
{
	const struct ls_fact *driver = ls_facts_find(f, "driver");
	const char *cuda = ls_facts_value(f, key);
	const char *min = cuda ? ls_compat_min_driver(c, cuda) : NULL;
	int order;
	if (!driver || !driver->value || !min || !ls_version_compare(driver->value, min, &order) ||
	    order >= 0)
		return;
	char *expected = ls_xasprintf("driver >= %s for CUDA %s (%s)", min, cuda, key);
	char *advice = ls_xasprintf("install a driver of at least %s on the host and reboot\n"
				    "or take a torch built for an older CUDA that driver %s runs",
				    min, driver->value);
	ls_findings_fault(list, level, "driver-too-old", expected, driver->value, driver->source,
			  advice);
	free(advice);
	free(expected);
}

/* A driver runs no CUDA of a later major version. The table of drivers says it with the
 * oldest driver; of a CUDA that is newer than the table only the driver's own CUDA
 * tells. */
static void later_major(struct ls_findings *list, const struct ls_fact *driver, const char *torch)
{
	if (ls_findings_find(list, "driver-too-old"))
		return;
	char *expected = ls_xasprintf("a driver for CUDA %ld (torch_cuda %s)",
				      strtol(torch, NULL, 10), torch);
	char *found = ls_xasprintf("a driver for CUDA %s", driver->value);
	char *advice = ls_xasprintf("install a driver for CUDA %s on the host and reboot\n"
				    "or take a torch built for CUDA %s or older",
				    torch, driver->value);
	ls_findings_fault(list, LS_LEVEL_REQUIRED, "driver-too-old", expected, found,
			  driver->source, advice);
	free(advice);
	free(found);
	free(expected);
}

/* Within one major version an older driver runs newer CUDA, but it cannot compile that
 * CUDA's PTX. */
static void minor_compatibility(struct ls_findings *list, const struct ls_facts *f)
{
	const struct ls_fact *driver = ls_facts_find(f, "driver_cuda");
	const char *torch = ls_facts_value(f, "torch_cuda");
	int order;
	if (!torch || !driver || !driver->value ||
	    !ls_version_compare(driver->value, torch, &order) || order >= 0)
		return;
	if (strtol(torch, NULL, 10) != strtol(driver->value, NULL, 10)) {
		later_major(list, driver, torch);
		return;
	}
	char *expected = ls_xasprintf("a driver for CUDA %s, as torch", torch);
	ls_findings_fault(list, LS_LEVEL_INFORMATIONAL, "driver-minor", expected, driver->value,
			  driver->source,
			  "torch runs by minor-version compatibility; kernels that come as PTX "
			  "(Triton, torch.compile, "
			  "extensions) "
			  "may not: a newer driver takes the limit away");
	free(expected);
}

/* "sm_70 sm_75 compute_90", as torch.cuda.get_arch_list() says: an sm runs on its major
 * at its minor or above, a compute on everything from it on. */
static bool in_arch_list(const char *list, const char *capability)
{
	char *end;
	long major = strtol(capability, &end, 10),
	     minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
	for (const char *p = list; *p; p += strspn(p, " ")) {
		size_t len = strcspn(p, " ");
		const char *digits = p + strcspn(p, "0123456789 ");
		long v = strtol(digits, NULL, 10), a = v / 10, b = v % 10;
		if (ls_str_starts(p, "sm_") && a == major && b <= minor)
			return true;
		if (ls_str_starts(p, "compute_") && (a < major || (a == major && b <= minor)))
			return true;
		p += len;
	}
	return false;
}

static void not_in_build(struct ls_findings *list, const struct ls_facts *f, size_t i,
			 const char *capability, const char *builds, const char *source)
{
	const char *name = ls_facts_gpu_value(f, i, "name"), *torch = ls_facts_value(f, "torch");
	char *expected = ls_xasprintf("a GPU that torch %s has code for: %s", torch, builds);
	char *found = ls_xasprintf("GPU %zu: %s, compute capability %s", i, name ? name : "?",
				   capability);
	ls_findings_fault(list, LS_LEVEL_REQUIRED, "arch-not-in-build", expected, found, source,
			  "expect \"no kernel image is available for execution on the device\"\n"
			  "install a torch whose wheels have this architecture: an older CUDA "
			  "build for an old GPU, a newer one "
			  "for a new "
			  "GPU");
	free(found);
	free(expected);
}

/* A torch that the table does not have: where even the last one of this CUDA that it has
 * is without code for the GPU, this one may be, too. */
static void arch_unknown(struct ls_findings *list, const struct ls_facts *f,
			 const struct ls_compat *c, size_t i, const char *capability)
{
	const char *torch = ls_facts_value(f, "torch"), *cuda = ls_facts_value(f, "torch_cuda"),
		   *machine = ls_facts_value(f, "arch"), *builds = NULL, *row_cuda;
	const json_t *last = NULL;
	for (size_t k = 0; cuda && k < ls_compat_rows(c, LS_COMPAT_TORCH); k++) {
		const json_t *row = ls_compat_row(c, LS_COMPAT_TORCH, k);
		row_cuda = ls_row_text(row, "cuda");
		if (row_cuda && strtol(row_cuda, NULL, 10) == strtol(cuda, NULL, 10) &&
		    ls_compat_torch_known(c, torch) == LS_TORCH_UNKNOWN)
			last = row;
	}
	if (!last || !machine || ls_compat_runs_on(last, machine, capability, &builds) || !builds)
		return;
	char *found = ls_xasprintf("GPU %zu has compute capability %s; torch %s+%s has code for %s",
				   i, capability, ls_row_text(last, "torch"),
				   ls_row_text(last, "build"), builds);
	char *expected =
		ls_xasprintf("code for the GPU in torch %s, which the tables do not have", torch);
	ls_findings_blind(list, LS_LEVEL_REQUIRED, "arch-unknown", expected, found,
			  ls_compat_file(LS_COMPAT_TORCH),
			  "run again with --deep, which asks torch\n"
			  "or take newer tables with --tables DIR");
	free(expected);
	free(found);
}

/* Asked of torch itself where --deep did, otherwise of the table of wheels. */
static void architectures(struct ls_findings *list, const struct ls_facts *f,
			  const struct ls_compat *c)
{
	const char *torch = ls_facts_value(f, "torch"), *deep = ls_facts_value(f, "deep.arch_list");
	const char *machine = ls_facts_value(f, "arch");
	const json_t *row =
		torch && ls_facts_value(f, "torch_cuda") ? ls_compat_torch(c, torch) : NULL;
	for (size_t i = 0; i < ls_facts_gpu_count(f); i++) {
		const char *capability = ls_facts_gpu_value(f, i, "capability"),
			   *name = ls_facts_gpu_value(f, i, "name");
		const char *builds = NULL;
		if (!capability && name)
			capability = ls_compat_capability(c, name);
		if (!capability || !torch)
			continue;
		if (deep && *deep) {
			if (!in_arch_list(deep, capability))
				not_in_build(list, f, i, capability, deep,
					     "torch.cuda.get_arch_list()");
		} else if (row && machine &&
			   !ls_compat_runs_on(row, machine, capability, &builds) && builds) {
			not_in_build(list, f, i, capability, builds,
				     ls_compat_file(LS_COMPAT_TORCH));
		} else if (!row) {
			arch_unknown(list, f, c, i, capability);
		}
	}
}

/* The cuDNN that this torch was built with: as its metadata require it, otherwise as the
 * table of wheels has it. */
static const char *wanted_cudnn(const struct ls_facts *f, const struct ls_compat *c)
{
	const char *torch = ls_facts_value(f, "torch"), *cuda = ls_facts_value(f, "torch_cuda");
	char key[64];
	struct ls_version v;
	if (!torch || !cuda)
		return NULL;
	snprintf(key, sizeof key, "requires.nvidia-cudnn-cu%ld", strtol(cuda, NULL, 10));
	const char *rule = ls_facts_value(f, key);
	if (rule && ls_str_starts(rule, "==") && ls_version_parse(rule + 2, &v))
		return rule + 2;
	const json_t *row = ls_compat_torch(c, torch);
	return row ? ls_row_text(row, "cudnn") : NULL;
}

/* Has a finding already said that this package is not the version that torch requires? */
static bool is_told(const struct ls_findings *list, const struct ls_fact *cudnn)
{
	for (size_t i = 0; i < list->n; i++)
		if (ls_str_starts(list->items[i].id, "requires-nvidia-cudnn-") &&
		    list->items[i].found && strcmp(list->items[i].found, cudnn->value) == 0)
			return true;
	return false;
}

/* torch refuses a cuDNN of another major version, and one older in the second number. A
 * newer one runs, and computes other bits. */
static void other_cudnn(struct ls_findings *list, const struct ls_facts *f,
			const struct ls_compat *c)
{
	const struct ls_fact *have = ls_facts_find(f, "cudnn");
	const char *wanted = wanted_cudnn(f, c);
	char plain[LS_VERSION_TEXT];
	struct ls_version a, b;
	if (!wanted || !have || !have->value || !ls_version_cudnn(have->value, plain) ||
	    !ls_version_parse(plain, &a) || !ls_version_parse(wanted, &b))
		return;
	if (is_told(list, have))
		return;
	bool refused = a.part[0] != b.part[0] || a.part[1] < b.part[1];
	if (!refused && a.part[1] == b.part[1] &&
	    (a.n_parts < 3 || b.n_parts < 3 || a.part[2] == b.part[2]))
		return;
	char *expected = ls_xasprintf("cuDNN %s, which torch %s was built with", wanted,
				      ls_facts_value(f, "torch"));
	char *found = have->note ? ls_xasprintf("%s (%s)", have->value, have->note)
				 : ls_xstrdup(have->value);
	ls_findings_fault(list, refused ? LS_LEVEL_REQUIRED : LS_LEVEL_RECOMMENDED,
			  refused ? "cudnn-refused" : "cudnn-newer", expected, found, have->source,
			  refused ? "expect \"cuDNN version incompatibility\": install the cuDNN "
				    "that torch requires, and take other copies out of "
				    "LD_LIBRARY_PATH and LD_PRELOAD"
				  : "it runs, but results may differ: install the cuDNN that torch "
				    "requires");
	free(found);
	free(expected);
}

static void end_of_life(struct ls_findings *list, const struct ls_facts *f,
			const struct ls_compat *c, const char *today)
{
	const struct ls_fact *driver = ls_facts_find(f, "driver");
	const json_t *row = driver && driver->value ? ls_compat_branch(c, driver->value) : NULL;
	const char *eol = row ? ls_row_text(row, "eol") : NULL,
		   *branch = row ? ls_row_text(row, "branch") : NULL;
	if (!eol || !branch || strncmp(eol, today, strlen(eol)) >= 0)
		return;
	char *found = ls_xasprintf("%s, of branch %s, which ended %s", driver->value, branch, eol);
	ls_findings_fault(list, LS_LEVEL_INFORMATIONAL, "driver-end-of-life",
			  "a driver branch that is still maintained", found,
			  ls_compat_file(LS_COMPAT_BRANCHES),
			  "plan the move to a maintained branch; R580 is long-term");
	free(found);
}

/* Judged by the oldest table, which knows least of new releases. */
static void old_tables(struct ls_findings *list, const struct ls_compat *c, const char *today)
{
	enum { A_YEAR = 366 };
	const char *oldest = NULL, *file = NULL;
	char day[11];
	snprintf(day, sizeof day, "%.10s", today);
	for (int t = 0; t < LS_COMPAT_TABLES; t++) {
		const char *date = ls_compat_date(c, (enum ls_compat_table)t);
		if (date && ls_calendar_is_date(date) && (!oldest || strcmp(date, oldest) < 0)) {
			oldest = date;
			file = ls_compat_file((enum ls_compat_table)t);
		}
	}
	if (!oldest || ls_calendar_days(oldest, day) <= A_YEAR)
		return;
	char *found = ls_xasprintf("%s of %s", file, oldest);
	ls_findings_fault(list, LS_LEVEL_INFORMATIONAL, "tables-old",
			  "compatibility tables younger than a year", found, file,
			  "newer releases are unknown to it: take a newer lockstep, or newer "
			  "tables with --tables DIR");
	free(found);
}

void ls_findings_compat(struct ls_findings *list, const struct ls_facts *facts, const char *today)
{
	struct ls_compat *c;
	struct ls_err err;
	if (ls_compat_load(&c, &err)) {
		ls_findings_fault(list, LS_LEVEL_REQUIRED, "compatibility-tables",
				  "tables that can be read", err.msg, "data/",
				  "a defect of this build of lockstep");
		return;
	}
	driver_too_old(list, facts, c, "torch_cuda", LS_LEVEL_REQUIRED);
	minor_compatibility(list, facts);
	if (!ls_findings_find(list, "driver-too-old"))
		driver_too_old(list, facts, c, "cuda", LS_LEVEL_RECOMMENDED);
	architectures(list, facts, c);
	other_cudnn(list, facts, c);
	end_of_life(list, facts, c, today);
	old_tables(list, c, today);
	ls_compat_free(c);
}
