/* Torch and the packages that it was built for: versions that its metadata require,
 * libraries that an import would not find. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/rules/findings.h"

/* Packages that hold libraries which torch loads: another version computes other bits, or
 * fails. */
static bool holds_libraries(const char *name)
{
	return ls_str_starts(name, "nvidia-") || ls_str_starts(name, "cuda-toolkit");
}

/* "pip install 'nvidia-cudnn-cu13==9.26.0.51'" */
static void add_install(struct ls_str *s, const char *name, const char *specifier)
{
	ls_str_addf(s, " '%s%s'", name, strcmp(specifier, "*") == 0 ? "" : specifier);
}

static void differs(struct ls_findings *list, const char *torch, const struct ls_fact *rule,
		    const char *name, const struct ls_fact *have, enum ls_outcome outcome)
{
	enum ls_level level = holds_libraries(name) ? LS_LEVEL_REQUIRED : LS_LEVEL_RECOMMENDED;
	char *id = ls_xasprintf("requires-%s", name);
	char *expected = ls_xasprintf("%s %s, as torch %s requires", name, rule->value, torch);
	struct ls_str advice = {0};
	ls_str_add(&advice, "pip install");
	add_install(&advice, name, rule->value);
	if (outcome == LS_OUTCOME_MISMATCH)
		ls_findings_fault(list, level, id, expected, have->value, have->source, advice.s);
	else
		ls_findings_blind(list, level, id, expected,
				  have->value ? have->value : have->reason, have->source, advice.s);
	ls_str_done(&advice);
	free(expected);
	free(id);
}

static enum ls_outcome judge(const struct ls_fact *rule, const struct ls_fact *have)
{
	struct ls_matcher *m = NULL;
	if (!have->value || ls_matcher_parse(rule->value, LS_AS_VERSION, &m, NULL))
		return LS_OUTCOME_UNKNOWN;
	enum ls_match answer = ls_matcher_test(m, have->value);
	ls_matcher_free(m);
	return answer == LS_MATCH_YES  ? LS_OUTCOME_MATCH
	       : answer == LS_MATCH_NO ? LS_OUTCOME_MISMATCH
				       : LS_OUTCOME_UNKNOWN;
}

static const char requires_prefix[] = "requires.";

/* The installed package that a rule speaks of; NULL when there is none. */
static const struct ls_fact *package_of(const struct ls_facts *f, const char *name)
{
	char *key = ls_xasprintf("package.%s", name);
	const struct ls_fact *have = ls_facts_find(f, key);
	free(key);
	return have && have->state != LS_FACT_ABSENT ? have : NULL;
}

/* Library packages that are required and not there: names for people, and for pip. */
static void not_there(const struct ls_facts *f, struct ls_str *names, struct ls_str *install)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct ls_fact *rule = &f->items[i];
		if (!ls_str_starts(rule->key, requires_prefix) || !rule->value)
			continue;
		const char *name = rule->key + strlen(requires_prefix);
		if (!holds_libraries(name) || package_of(f, name))
			continue;
		ls_str_addf(names, "%s%s", names->len ? ", " : "", name);
		add_install(install, name, rule->value);
	}
}

static void libraries_missing(struct ls_findings *list, const struct ls_facts *f)
{
	const struct ls_fact *missing = ls_facts_find(f, "torch_missing");
	struct ls_str names = {0}, install = {0};
	not_there(f, &names, &install);
	char *advice = names.len ? ls_xasprintf("pip install%s", install.s)
				 : ls_xstrdup("install torch anew: its wheels bring these "
					      "libraries, or name where to find them");
	if (missing && missing->value)
		ls_findings_fault(list, LS_LEVEL_REQUIRED, "libraries-missing",
				  "every library that torch needs", missing->value, missing->source,
				  advice);
	else if (names.len) /* torch finds its libraries elsewhere, in a toolkit or in conda's */
		ls_findings_fault(list, LS_LEVEL_RECOMMENDED, "packages-missing", names.s,
				  "not installed", ls_facts_find(f, "torch")->source, advice);
	free(advice);
	ls_str_done(&names);
	ls_str_done(&install);
}

void ls_findings_wheels(struct ls_findings *list, const struct ls_facts *f)
{
	const char *torch = ls_facts_value(f, "torch");
	if (!torch)
		return;
	for (size_t i = 0; i < f->n; i++) {
		const struct ls_fact *rule = &f->items[i];
		if (!ls_str_starts(rule->key, requires_prefix) || !rule->value)
			continue;
		const char *name = rule->key + strlen(requires_prefix);
		const struct ls_fact *have = package_of(f, name);
		enum ls_outcome o = have ? judge(rule, have) : LS_OUTCOME_MATCH;
		if (o != LS_OUTCOME_MATCH)
			differs(list, torch, rule, name, have, o);
	}
	libraries_missing(list, f);
}
