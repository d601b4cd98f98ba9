#include "watch/health_report.h"

#include <ctype.h>
#include <string.h>

struct counts {
	size_t of[LS_HEALTH_NOT_JUDGED + 1];
};

static struct counts count(const struct ls_judge *j)
{
	struct counts c = {{0}};
	for (size_t i = 0; i < ls_judge_count(j); i++)
		c.of[ls_judge_verdict(j, i)->health]++;
	return c;
}

static void summary(const struct ls_judge *j, struct ls_str *out)
{
	struct counts c = count(j);
	ls_str_addf(out, "%zu critical, %zu warn, %zu unknown, %zu ok, %zu not judged",
		    c.of[LS_HEALTH_CRITICAL], c.of[LS_HEALTH_WARN], c.of[LS_HEALTH_UNKNOWN],
		    c.of[LS_HEALTH_OK], c.of[LS_HEALTH_NOT_JUDGED]);
}

/* The order in which people read: worst first, and of equals the host first. */
static const enum ls_health order[] = {LS_HEALTH_CRITICAL, LS_HEALTH_WARN, LS_HEALTH_UNKNOWN};
enum { ORDER = sizeof order / sizeof *order };

/* A cause that nobody could look at is none. */
static const char *before_cause(const struct ls_verdict *v)
{
	return v->health == LS_HEALTH_UNKNOWN ? "cannot be judged: " : "";
}

void ls_health_text(const struct ls_judge *j, struct ls_str *out)
{
	ls_str_add(out, "Health: ");
	summary(j, out);
	ls_str_add(out, "\n");
	for (int o = 0; o < ORDER; o++)
		for (size_t i = 0; i < ls_judge_count(j); i++) {
			const struct ls_verdict *v = ls_judge_verdict(j, i);
			if (v->health != order[o])
				continue;
			ls_str_addf(out, "%-8s %s: %s%s (%s) [%s]\n", ls_health_name(v->health),
				    v->label, before_cause(v), v->rule->cause, v->evidence,
				    v->rule->name);
			if (v->advice)
				ls_str_addf(out, "         %s\n", v->advice);
		}
}

void ls_health_line(const struct ls_judge *j, struct ls_str *out)
{
	const char *word = ls_health_name(ls_judge_worst(j));
	struct ls_str line = {0};
	bool any = false;
	for (const char *p = word; *p; p++)
		ls_str_addf(&line, "%c", toupper((unsigned char)*p));
	for (int o = 0; o < ORDER; o++)
		for (size_t i = 0; i < ls_judge_count(j); i++) {
			const struct ls_verdict *v = ls_judge_verdict(j, i);
			if (v->health != order[o])
				continue;
			ls_str_addf(&line, "%s %s: %s%s (%s) [%s]", any ? ";" : ":", v->label,
				    before_cause(v), v->rule->cause, v->evidence, v->rule->name);
			any = true;
		}
	ls_str_add(&line, any ? "; " : ": ");
	summary(j, &line);
	ls_str_add_printable(out, line.s);
	ls_str_add(out, "\n");
	ls_str_done(&line);
}

json_t *ls_verdict_json(const struct ls_verdict *v)
{
	json_t *o = json_object();
	json_object_set_new(o, "rule", json_string(v->rule->name));
	json_object_set_new(o, "health", json_string(ls_health_name(v->health)));
	json_object_set_new(o, "gpu", v->gpu < 0 ? json_null() : json_integer(v->gpu));
	json_object_set_new(o, "of", ls_json_lossy(v->label));
	json_object_set_new(o, "cause", json_string(v->rule->cause));
	json_object_set_new(o, "evidence", ls_json_lossy(v->evidence));
	json_object_set_new(o, "advice", v->advice ? json_string(v->advice) : json_null());
	json_object_set_new(o, "since", json_real(v->since));
	return o;
}

json_t *ls_health_json(const struct ls_judge *j)
{
	json_t *list = json_array();
	for (size_t i = 0; i < ls_judge_count(j); i++)
		json_array_append_new(list, ls_verdict_json(ls_judge_verdict(j, i)));
	return json_pack("{s:s,s:o}", "health", ls_health_name(ls_judge_worst(j)), "verdicts",
			 list);
}
