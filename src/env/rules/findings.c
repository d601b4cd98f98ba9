#include "env/rules/findings.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct ls_findings *ls_findings_new(void)
{
	return ls_xalloc(sizeof(struct ls_findings));
}

void ls_findings_free(struct ls_findings *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->n; i++) {
		const struct ls_finding *f = &list->items[i];
		const char *const owned[] = {f->id,     f->expected, f->found,
					     f->source, f->why,      f->advice};
		for (size_t j = 0; j < sizeof owned / sizeof *owned; j++)
			free((void *)(uintptr_t)owned[j]);
	}
	free(list->items);
	free(list);
}

static char *copy(const char *s)
{
	return s ? ls_xstrdup(s) : NULL;
}

void ls_findings_add(struct ls_findings *list, const struct ls_finding *f)
{
	list->items = ls_grow(list->items, list->n, &list->cap, sizeof *list->items);
	list->items[list->n++] = (struct ls_finding){.id = copy(f->id),
						     .fault = f->fault,
						     .outcome = f->outcome,
						     .level = f->level,
						     .expected = copy(f->expected),
						     .found = copy(f->found),
						     .source = copy(f->source),
						     .why = copy(f->why),
						     .advice = copy(f->advice)};
}

void ls_findings_add_fact(struct ls_findings *list, const struct ls_finding *f,
			  const struct ls_fact *fact)
{
	struct ls_finding with = *f;
	char *text = NULL;
	if (!fact)
		text = ls_xstrdup("unknown: doctor does not look at this");
	else if (fact->state == LS_FACT_KNOWN)
		text = ls_xstrdup(fact->value);
	else
		text = ls_xasprintf("%s: %s", ls_fact_state_name(fact->state), fact->reason);
	with.found = text;
	with.source = fact ? fact->source : NULL;
	ls_findings_add(list, &with);
	free(text);
}

static void add_fault(struct ls_findings *list, enum ls_outcome outcome, enum ls_level level,
		      const char *const texts[5])
{
	ls_findings_add(list, &(struct ls_finding){.id = texts[0],
						   .fault = true,
						   .outcome = outcome,
						   .level = level,
						   .expected = texts[1],
						   .found = texts[2],
						   .source = texts[3],
						   .advice = texts[4]});
}

void ls_findings_fault(struct ls_findings *list, enum ls_level level, const char *id,
		       const char *expected, const char *found, const char *source,
		       const char *advice)
{
	add_fault(list, LS_OUTCOME_MISMATCH, level,
		  (const char *const[]){id, expected, found, source, advice});
}

void ls_findings_blind(struct ls_findings *list, enum ls_level level, const char *id,
		       const char *expected, const char *found, const char *source,
		       const char *advice)
{
	add_fault(list, LS_OUTCOME_UNKNOWN, level,
		  (const char *const[]){id, expected, found, source, advice});
}

const struct ls_finding *ls_findings_find(const struct ls_findings *list, const char *id)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->items[i].id, id) == 0)
			return &list->items[i];
	return NULL;
}

enum ls_outcome ls_findings_verdict(const struct ls_findings *list)
{
	bool unknown = false;
	for (size_t i = 0; i < list->n; i++) {
		const struct ls_finding *f = &list->items[i];
		if (f->level != LS_LEVEL_REQUIRED)
			continue;
		if (f->outcome == LS_OUTCOME_MISMATCH)
			return LS_OUTCOME_MISMATCH;
		unknown = unknown || f->outcome == LS_OUTCOME_UNKNOWN;
	}
	return unknown ? LS_OUTCOME_UNKNOWN : LS_OUTCOME_MATCH;
}

const char *ls_outcome_name(enum ls_outcome outcome)
{
	return outcome == LS_OUTCOME_MATCH      ? "match"
	       : outcome == LS_OUTCOME_MISMATCH ? "mismatch"
						: "unknown";
}

static json_t *text(const char *s)
{
	json_t *v = s ? json_string(s) : json_null();
	return v ? v : json_string("(not UTF-8)");
}

static json_t *lines(const char *s)
{
	json_t *list = json_array();
	while (s && *s) {
		size_t len = strcspn(s, "\n");
		json_array_append_new(list, json_stringn(s, len));
		s += len + (s[len] == '\n');
	}
	return list;
}

json_t *ls_findings_json(const struct ls_findings *list)
{
	json_t *out = json_array();
	for (size_t i = 0; i < list->n; i++) {
		const struct ls_finding *f = &list->items[i];
		json_t *o = json_object();
		json_object_set_new(o, "id", text(f->id));
		json_object_set_new(o, "kind", json_string(f->fault ? "fault" : "check"));
		json_object_set_new(o, "outcome", json_string(ls_outcome_name(f->outcome)));
		json_object_set_new(o, "level", json_string(ls_level_name(f->level)));
		json_object_set_new(o, "expected", text(f->expected));
		json_object_set_new(o, "found", text(f->found));
		json_object_set_new(o, "source", text(f->source));
		if (f->why)
			json_object_set_new(o, "why", text(f->why));
		json_object_set_new(o, "advice", lines(f->advice));
		json_array_append_new(out, o);
	}
	return out;
}
