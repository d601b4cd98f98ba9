/* Facts against the checks of a spec, with advice for each that is not met. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/version.h"
#include "env/rules/findings.h"

/* "pip install 'torch==2.3.1+cu121' --extra-index-url …", or a sentence where the spec pins no
 * single version. */
static char *pip_advice(const struct ls_spec *spec, const char *name, const struct ls_check *check)
{
	const char *exact = ls_matcher_exact(check->matcher);
	if (!exact)
		return ls_xasprintf("install a %s that is %s", name, ls_check_text(check));
	bool local = strchr(exact, '+') != NULL;
	const char *flag = spec->index ? " --index-url " : " --extra-index-url ";
	const char *index = spec->index ? spec->index : spec->extra_index;
	return ls_xasprintf("pip install '%s==%s'%s%s", name, exact, local && index ? flag : "",
			    local && index ? index : "");
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
	if (strcmp(key, "driver") == 0 || strcmp(key, "driver_cuda") == 0)
		return ls_xasprintf(
			"install an NVIDIA driver on the host that makes %s %s, then reboot", key,
			ls_check_text(c));
	if (strcmp(key, "python") == 0)
		return ls_xasprintf("make the environment with Python %s, or name it with --python",
				    ls_check_text(c));
	if (strcmp(key, "gpus") == 0 || strcmp(key, "gpu_count") == 0 || strcmp(key, "vram") == 0 ||
	    strcmp(key, "capability") == 0 || strcmp(key, "ram") == 0)
		return ls_xasprintf("run on a machine with %s %s", key, ls_check_text(c));
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

/* Absent is an answer, and the answer is no; a spec that wants nothing of a variable does not
 * mention it. */
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

static void compare_gpus(struct ls_findings *list, const struct ls_facts *facts,
			 const struct ls_spec *spec, const struct ls_check *c)
{
	size_t n = ls_facts_gpu_count(facts);
	struct ls_gpu_seen *seen = ls_xalloc((n + 1) * sizeof *seen);
	for (size_t i = 0; i < n; i++) {
		seen[i].name = ls_facts_gpu_value(facts, i, "name");
		seen[i].capability = ls_facts_gpu_value(facts, i, "capability");
		const char *memory = ls_facts_gpu_value(facts, i, "memory");
		if (memory && !ls_version_memory(memory, &seen[i].memory_mib))
			seen[i].memory_mib = 0;
	}
	char why[256] = "";
	enum ls_match m = ls_gpuset_test(c->gpus, seen, n, why, sizeof why);
	enum ls_outcome o = m == LS_MATCH_YES  ? LS_OUTCOME_MATCH
			    : m == LS_MATCH_NO ? LS_OUTCOME_MISMATCH
					       : LS_OUTCOME_UNKNOWN;
	const struct ls_fact *count = ls_facts_find(facts, "gpu_count");
	if (n == 0) {
		add(list, spec, c, count, o);
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

void ls_findings_compare(struct ls_findings *list, const struct ls_facts *facts,
			 const struct ls_spec *spec)
{
	for (size_t i = 0; i < spec->n_checks; i++) {
		const struct ls_check *c = &spec->checks[i];
		const struct ls_fact *fact = ls_facts_find(facts, c->key);
		if (c->gpus)
			compare_gpus(list, facts, spec, c);
		else
			add(list, spec, c, fact, judge(c, fact));
	}
}

void ls_findings_demand_cuda(struct ls_findings *list, const struct ls_facts *facts,
			     const struct ls_spec *spec)
{
	static const struct {
		const char *key, *advice;
	} wanted[] = {
		{"driver", "install an NVIDIA driver on the host"},
		{"driver_cuda", "install an NVIDIA driver on the host"},
		{"gpu_count", NULL},
		{"torch", "pip install torch into this Python, or name another with --python"},
		{"torch_cuda", "install a torch built for CUDA; this one has none"},
		{"cudnn", "reinstall torch, whose CUDA wheels bring cuDNN"},
	};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		const struct ls_check *asked = spec ? ls_spec_find(spec, wanted[i].key) : NULL;
		const struct ls_fact *fact = ls_facts_find(facts, wanted[i].key);
		if (asked && asked->level == LS_LEVEL_REQUIRED)
			continue;
		bool zero = fact && fact->state == LS_FACT_KNOWN && strcmp(fact->value, "0") == 0;
		enum ls_outcome o = !fact || fact->state == LS_FACT_UNKNOWN || zero
					    ? LS_OUTCOME_UNKNOWN
				    : fact->state == LS_FACT_ABSENT ? LS_OUTCOME_MISMATCH
								    : LS_OUTCOME_MATCH;
		struct ls_finding f = {.id = wanted[i].key,
				       .outcome = o,
				       .level = LS_LEVEL_REQUIRED,
				       .expected = "any",
				       .advice = o == LS_OUTCOME_MATCH ? NULL : wanted[i].advice};
		ls_findings_add_fact(list, &f, fact);
	}
}
