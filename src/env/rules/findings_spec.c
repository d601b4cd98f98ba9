/* Facts against the checks of a spec, with advice for each that is not met. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/version.h"
#include "env/rules/findings.h"
#include "env/spec/spec_wheels.h"

/* "pip install 'torch==2.3.1+cu121' --index-url …". A local version such as +cu121 is on
 * no index but torch's own. */
static char *pip_advice(const struct ls_spec *spec, const char *name, const struct ls_check *check)
{
	struct ls_str rule = {0};
	if (!ls_matcher_requirement(check->matcher, &rule)) {
		ls_str_done(&rule);
		return ls_xasprintf("install %s %s", name, ls_check_text(check));
	}
	const char *exact = ls_matcher_exact(check->matcher);
	char *address = exact ? ls_wheel_index(name, exact) : NULL;
	struct ls_str s = {0};
	ls_str_addf(&s, "pip install '%s%s'", name, rule.s ? rule.s : "");
	if (exact && strchr(exact, '+') && (spec->index || spec->extra_index))
		ls_str_addf(&s, " %s %s", spec->index ? "--index-url" : "--extra-index-url",
			    spec->index ? spec->index : spec->extra_index);
	else if (address)
		ls_str_addf(&s, " --extra-index-url %s", address);
	free(address);
	ls_str_done(&rule);
	return ls_str_take(&s);
}

static char *image_advice(const struct ls_spec *spec, const char *what)
{
	if (spec->image.base)
		return ls_xasprintf("%s comes with the image: build from %s (`lockstep spec render "
				    "%s --dockerfile`)",
				    what, spec->image.base, spec->path);
	return ls_xasprintf("%s comes with the machine or its image: take one that has it", what);
}

static char *env_advice(const char *name, const struct ls_check *check, const struct ls_fact *fact)
{
	const char *exact = ls_matcher_exact(check->matcher);
	if (exact)
		return ls_xasprintf("export %s=%s", name, exact);
	return ls_xasprintf("set %s to %s%s", name, ls_check_text(check),
			    fact && fact->state == LS_FACT_ABSENT ? "; it is not set" : "");
}

static char *mismatch_advice(const struct ls_spec *spec, const struct ls_check *c,
			     const struct ls_fact *fact)
{
	const char *key = c->key;
	if (strcmp(key, "torch") == 0)
		return pip_advice(spec, "torch", c);
	if (ls_str_starts(key, "package."))
		return pip_advice(spec, key + strlen("package."), c);
	if (ls_str_starts(key, "env."))
		return env_advice(key + strlen("env."), c, fact);
	if (strcmp(key, "torch_cuda") == 0)
		return ls_xasprintf(
			"install the torch build for CUDA %s; the spec's torch brings it",
			ls_check_text(c));
	if (strcmp(key, "cudnn") == 0 || strcmp(key, "nccl") == 0)
		return ls_xasprintf("reinstall torch, whose wheel brings its own %s, and take "
				    "other copies out of "
				    "LD_LIBRARY_PATH",
				    key);
	if (strcmp(key, "driver") == 0)
		return ls_xasprintf("install NVIDIA driver %s on the host, then reboot",
				    ls_check_text(c));
	if (strcmp(key, "driver_cuda") == 0)
		return ls_xasprintf("install an NVIDIA driver on the host that supports CUDA %s, "
				    "then reboot",
				    ls_check_text(c));
	if (strcmp(key, "python") == 0)
		return ls_xasprintf("make the environment with Python %s, or name it with --python",
				    ls_check_text(c));
	if (strcmp(key, "gpus") == 0 || strcmp(key, "gpu_count") == 0 || strcmp(key, "vram") == 0 ||
	    strcmp(key, "capability") == 0 || strcmp(key, "ram") == 0)
		return ls_xasprintf("run on a machine with %s %s", key, ls_check_text(c));
	if (strcmp(key, "container_toolkit") == 0)
		return ls_xasprintf("install nvidia-container-toolkit %s on the host; no image "
				    "brings it",
				    ls_check_text(c));
	if (strcmp(key, "kernel") == 0)
		return ls_xasprintf("boot the host with kernel %s; containers share it",
				    ls_check_text(c));
	return image_advice(spec, key);
}

static char *unknown_advice(const struct ls_check *c, const struct ls_fact *fact)
{
	if (strcmp(c->key, "cuda") == 0)
		return ls_xstrdup("nothing to mend: torch_cuda and the libraries tell which CUDA "
				  "runs; absent is not wrong");
	if (strcmp(c->key, "cudnn") == 0)
		return ls_xstrdup("run again with --deep, which asks torch");
	if (!fact)
		return ls_xstrdup("take this check out of the spec, or make it informational");
	return NULL;
}

static void add(struct ls_findings *list, const struct ls_spec *spec, const struct ls_check *c,
		const struct ls_fact *fact, enum ls_outcome outcome)
{
	char *advice = outcome == LS_OUTCOME_MISMATCH  ? mismatch_advice(spec, c, fact)
		       : outcome == LS_OUTCOME_UNKNOWN ? unknown_advice(c, fact)
						       : NULL;
	struct ls_finding f = {.id = c->key,
			       .outcome = outcome,
			       .level = c->level,
			       .expected = ls_check_text(c),
			       .why = c->why,
			       .advice = advice};
	ls_findings_add_fact(list, &f, fact);
	free(advice);
}

/* An absent fact is a mismatch: the spec asks for a value. */
static enum ls_outcome judge(const struct ls_check *c, const struct ls_fact *fact)
{
	if (!fact || fact->state == LS_FACT_UNKNOWN)
		return LS_OUTCOME_UNKNOWN;
	if (fact->state == LS_FACT_ABSENT)
		return LS_OUTCOME_MISMATCH;
	enum ls_match m = ls_matcher_test(c->matcher, fact->value);
	return m == LS_MATCH_YES  ? LS_OUTCOME_MATCH
	       : m == LS_MATCH_NO ? LS_OUTCOME_MISMATCH
				  : LS_OUTCOME_UNKNOWN;
}

/* "2 × Tesla T4 (15360 MiB)", in the order of the machine. */
static char *gpus_text(const struct ls_facts *facts, size_t n)
{
	struct ls_str s = {0};
	for (size_t i = 0, run; i < n; i += run) {
		const char *name = ls_facts_gpu_value(facts, i, "name"),
			   *memory = ls_facts_gpu_value(facts, i, "memory");
		for (run = 1; i + run < n; run++) {
			const char *next = ls_facts_gpu_value(facts, i + run, "name");
			if (!name || !next || strcmp(name, next) != 0)
				break;
		}
		ls_str_addf(&s, "%s%zu × %s", i ? ", " : "", run,
			    name ? name : "(a GPU that does not tell its name)");
		if (memory)
			ls_str_addf(&s, " (%s)", memory);
	}
	return ls_str_take(&s);
}

/* What programs see, where CUDA_VISIBLE_DEVICES hides some of the GPUs. */
static const struct ls_fact *seen_count(const struct ls_facts *facts)
{
	const struct ls_fact *seen = ls_facts_find(facts, "gpu_visible");
	return seen ? seen : ls_facts_find(facts, "gpu_count");
}

static bool same_names(const struct ls_facts *facts, size_t n)
{
	const char *first = ls_facts_gpu_value(facts, 0, "name");
	for (size_t i = 1; i < n; i++) {
		const char *name = ls_facts_gpu_value(facts, i, "name");
		if (!first || !name || strcmp(first, name) != 0)
			return false;
	}
	return true;
}

static void compare_gpus(struct ls_findings *list, const struct ls_facts *facts,
			 const struct ls_spec *spec, const struct ls_check *c)
{
	const struct ls_fact *count = seen_count(facts);
	size_t all = ls_facts_gpu_count(facts),
	       n = count && count->value ? (size_t)strtoul(count->value, NULL, 10) : 0;
	bool which_is_open = n && n < all && !same_names(facts, all);
	n = n < all ? n : all;
	struct ls_gpu_seen *seen = ls_xalloc((n + 1) * sizeof *seen);
	for (size_t i = 0; i < n; i++) {
		seen[i].name = ls_facts_gpu_value(facts, i, "name");
		seen[i].capability = ls_facts_gpu_value(facts, i, "capability");
		const char *memory = ls_facts_gpu_value(facts, i, "memory");
		if (memory && !ls_version_memory(memory, &seen[i].memory_mib))
			seen[i].memory_mib = 0;
		seen[i].ecc = ls_facts_gpu_value(facts, i, "ecc");
		seen[i].mig = ls_facts_gpu_value(facts, i, "mig");
	}
	char why[256] = "";
	enum ls_match m = ls_gpuset_test(c->gpus, seen, n, why, sizeof why);
	enum ls_outcome o = m == LS_MATCH_YES  ? LS_OUTCOME_MATCH
			    : m == LS_MATCH_NO ? LS_OUTCOME_MISMATCH
					       : LS_OUTCOME_UNKNOWN;
	if (n == 0) {
		add(list, spec, c, count, o);
	} else if (which_is_open) {
		struct ls_fact f = {.state = LS_FACT_UNKNOWN,
				    .reason = (char *)(uintptr_t) "CUDA_VISIBLE_DEVICES chooses "
								  "among GPUs of several kinds",
				    .source = count->source};
		add(list, spec, c, &f, LS_OUTCOME_UNKNOWN);
	} else {
		char *text = gpus_text(facts, n);
		char *found = *why && m != LS_MATCH_YES ? ls_xasprintf("%s; %s", text, why)
							: ls_xstrdup(text);
		struct ls_fact f = {
			.state = LS_FACT_KNOWN, .value = found, .source = count->source};
		add(list, spec, c, &f, o);
		free(found);
		free(text);
	}
	free(seen);
}

/* What the spec says is not there: a variable that was not set when it was captured. */
static void compare_absent(struct ls_findings *list, const struct ls_facts *facts, const char *key)
{
	const struct ls_fact *fact = ls_facts_find(facts, key);
	enum ls_outcome o = !fact || fact->state == LS_FACT_UNKNOWN ? LS_OUTCOME_UNKNOWN
			    : fact->state == LS_FACT_ABSENT         ? LS_OUTCOME_MATCH
								    : LS_OUTCOME_MISMATCH;
	bool variable = ls_str_starts(key, "env."), package = ls_str_starts(key, "package.");
	char *advice = o != LS_OUTCOME_MISMATCH ? NULL
		       : variable               ? ls_xasprintf("unset %s", key + strlen("env."))
		       : package
			       ? ls_xasprintf("pip uninstall %s", key + strlen("package."))
			       : ls_xasprintf("the spec's machine has no %s: take one without, or "
					      "take it out of the spec's \"absent\"",
					      key);
	struct ls_finding f = {.id = key,
			       .outcome = o,
			       .level = ls_spec_absent_level(key),
			       .expected = "absent",
			       .advice = advice};
	ls_findings_add_fact(list, &f, fact);
	free(advice);
}

enum ls_gpu_need ls_findings_gpu_need(const struct ls_spec *spec, bool cuda)
{
	static const char *const on_gpu[] = {"gpus",   "gpu_count",   "vram", "capability",
					     "driver", "driver_cuda", NULL},
				 *const with_gpu[] = {"torch_cuda", "cudnn", "cuda",
						      "nccl",       "nvcc",  "container_toolkit",
						      NULL};
	enum ls_gpu_need need = spec ? LS_GPU_UNWANTED : LS_GPU_OPTIONAL;
	if (cuda)
		return LS_GPU_REQUIRED;
	for (size_t i = 0; spec && i < spec->n_checks; i++) {
		const struct ls_check *c = &spec->checks[i];
		for (const char *const *k = on_gpu; *k; k++)
			if (strcmp(c->key, *k) == 0) {
				if (c->level == LS_LEVEL_REQUIRED)
					return LS_GPU_REQUIRED;
				need = LS_GPU_OPTIONAL;
			}
		for (const char *const *k = with_gpu; *k; k++)
			if (strcmp(c->key, *k) == 0)
				need = LS_GPU_OPTIONAL;
	}
	return need;
}

void ls_findings_compare(struct ls_findings *list, const struct ls_facts *facts,
			 const struct ls_spec *spec)
{
	for (size_t i = 0; i < spec->n_checks; i++) {
		const struct ls_check *c = &spec->checks[i];
		const struct ls_fact *fact = strcmp(c->key, "gpu_count") == 0
						     ? seen_count(facts)
						     : ls_facts_find(facts, c->key);
		if (c->gpus)
			compare_gpus(list, facts, spec, c);
		else
			add(list, spec, c, fact, judge(c, fact));
	}
	for (char **key = spec->absent; key && *key; key++)
		compare_absent(list, facts, *key);
}

/* What to do about a driver that is not seen. A kernel module that is loaded, or an NVML
 * that answers, means that there is one: the faults tell what is wrong with it. */
static const char *driver_advice(const struct ls_facts *facts)
{
	bool there = ls_facts_value(facts, "driver_kernel") || ls_facts_value(facts, "nvml");
	return there ? NULL : "install an NVIDIA driver on the host";
}

void ls_findings_demand_cuda(struct ls_findings *list, const struct ls_facts *facts,
			     const struct ls_spec *spec)
{
	const struct {
		const char *key, *advice;
	} wanted[] = {
		{"driver", driver_advice(facts)},
		{"driver_cuda", driver_advice(facts)},
		{"gpu_count", NULL},
		{"torch", "pip install torch into this Python, or name another with --python"},
		{"torch_cuda", "install a torch built for CUDA; this one has none"},
		{"cudnn", "reinstall torch, whose CUDA wheels bring cuDNN"},
	};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		const char *key = wanted[i].key;
		const struct ls_check *asked = spec ? ls_spec_find(spec, key) : NULL;
		const struct ls_fact *fact = strcmp(key, "gpu_count") == 0
						     ? seen_count(facts)
						     : ls_facts_find(facts, key);
		if (asked && asked->level == LS_LEVEL_REQUIRED)
			continue;
		bool zero = fact && fact->state == LS_FACT_KNOWN && strcmp(fact->value, "0") == 0;
		enum ls_outcome o = !fact || fact->state == LS_FACT_UNKNOWN || zero
					    ? LS_OUTCOME_UNKNOWN
				    : fact->state == LS_FACT_ABSENT ? LS_OUTCOME_MISMATCH
								    : LS_OUTCOME_MATCH;
		struct ls_finding f = {.id = key,
				       .outcome = o,
				       .level = LS_LEVEL_REQUIRED,
				       .expected = "any",
				       .advice = o == LS_OUTCOME_MATCH ? NULL : wanted[i].advice};
		ls_findings_add_fact(list, &f, fact);
	}
}
