#include "watch/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* How long a rule has been beyond its limits, of one GPU or of the host. */
struct track {
	bool beyond[2]; /* in the last sample: warn, critical */
	double from[2]; /* since when without a break */
	double seen[2]; /* when last */
	enum ls_health health;
	double since;
};

struct ls_judge {
	const struct ls_rules *rules;
	struct ls_judge_options o;
	struct ls_history history;
	struct track *host, *gpus; /* a rule each; a GPU's rules after one another */
	struct ls_verdict *verdicts;
	size_t n, cap;
	bool fed;
};

struct ls_judge *ls_judge_new(const struct ls_rules *rules, const struct ls_xid_table *xids,
			      const struct ls_judge_options *o)
{
	struct ls_judge *j = ls_xalloc(sizeof *j);
	j->rules = rules;
	j->o = *o;
	j->history.expected = o->expected;
	j->history.once = o->once;
	j->history.table = xids;
	j->history.spec = o->spec;
	j->history.advice = o->advice;
	j->history.driver_of_run = o->driver != NULL;
	snprintf(j->history.driver, sizeof j->history.driver, "%s", o->driver ? o->driver : "");
	j->host = ls_xalloc((rules->n + 1) * sizeof *j->host);
	j->gpus = ls_xalloc((rules->n * LS_SAMPLE_GPUS + 1) * sizeof *j->gpus);
	return j;
}

void ls_judge_free(struct ls_judge *j)
{
	if (!j)
		return;
	free(j->host);
	free(j->gpus);
	free(j->verdicts);
	free(j);
}

/* Once beyond, the value has to come back by the margin. */
static bool beyond(const struct ls_limit *l, double value, double margin)
{
	if (!l->given)
		return false;
	return l->below ? value < l->value + margin : value > l->value - margin;
}

static enum ls_health step(const struct ls_rule *rule, struct track *t, double value, double now)
{
	enum ls_health health = LS_HEALTH_OK;
	for (int i = 0; i < 2; i++) {
		enum ls_health level = i == 0 ? LS_HEALTH_WARN : LS_HEALTH_CRITICAL;
		bool held = t->health >= level && t->health <= LS_HEALTH_CRITICAL;
		bool is = beyond(&rule->limits[i], value, held ? rule->clear : 0);
		if (is && !t->beyond[i])
			t->from[i] = now;
		if (is)
			t->seen[i] = now;
		t->beyond[i] = is;
		if ((is && (held || now - t->from[i] >= rule->for_s)) ||
		    (!is && held && now - t->seen[i] < rule->clear_for_s))
			health = level;
	}
	return health;
}

/* A number with its unit, as people write it. */
static void number_text(double v, const char *unit, char *ret, size_t size)
{
	char bytes[LS_SIZE_TEXT];
	if (isinf(v))
		snprintf(ret, size, "never");
	else if (strcmp(unit, "B") == 0 && v >= 0) {
		ls_str_of_size((uint64_t)v, bytes);
		snprintf(ret, size, "%s", bytes);
	} else
		snprintf(ret, size, "%.4g%s%s", v, *unit ? " " : "", unit);
}

static void evidence(const struct ls_rule *rule, double value, const char *why,
		     struct ls_verdict *v)
{
	char number[64], limit[64] = "";
	int level = v->health == LS_HEALTH_CRITICAL ? 1 : 0;
	const struct ls_limit *l = &rule->limits[level];
	number_text(value, rule->info.unit, number, sizeof number);
	if (l->given && (v->health == LS_HEALTH_WARN || v->health == LS_HEALTH_CRITICAL)) {
		char at[48];
		number_text(l->value, rule->info.unit, at, sizeof at);
		snprintf(limit, sizeof limit, ", %s %s", l->below ? "below" : "above", at);
	}
	if (*why)
		snprintf(v->evidence, sizeof v->evidence, "%.250s", why);
	else
		snprintf(v->evidence, sizeof v->evidence, "%s %s%s", rule->info.name, number,
			 limit);
}

/* Whether the rule applies now; otherwise *v says why it is not judged. */
static bool applies(const struct ls_judge *j, const struct ls_sample *s, const struct ls_rule *rule,
		    unsigned gpu, struct ls_verdict *v)
{
	struct ls_signal_answer when;
	v->health = LS_HEALTH_NOT_JUDGED;
	if (j->o.once && rule->for_s > 0) {
		snprintf(v->evidence, sizeof v->evidence, "it takes %.0f seconds of samples",
			 rule->for_s);
		return false;
	}
	if (rule->when < 0)
		return true;
	if (ls_signal_value(rule->when, s, &j->history, gpu, &when) != LS_SIGNAL_KNOWN) {
		snprintf(v->evidence, sizeof v->evidence, "%.200s", when.why);
		return false;
	}
	if (when.value > 0)
		return true;
	snprintf(v->evidence, sizeof v->evidence, "nothing runs");
	v->health = LS_HEALTH_OK;
	return false;
}

/* What a user's file advises goes before what fits the measurement. */
static const char *advice(const struct ls_rule *rule, const struct ls_signal_answer *a)
{
	return a->advice && !rule->own_advice ? a->advice : rule->advice;
}

static void judge_one(struct ls_judge *j, const struct ls_sample *s, const struct ls_rule *rule,
		      unsigned gpu, struct track *t, struct ls_verdict *v)
{
	struct ls_signal_answer a;
	v->advice = rule->advice;
	if (!applies(j, s, rule, gpu, v)) {
		t->beyond[0] = t->beyond[1] = false;
		return;
	}
	switch (ls_signal_value(rule->signal, s, &j->history, gpu, &a)) {
	case LS_SIGNAL_KNOWN:
		v->health = step(rule, t, a.value, s->steady);
		v->advice = advice(rule, &a);
		evidence(rule, a.value, a.why, v);
		return;
	case LS_SIGNAL_ABSENT:
		v->health = LS_HEALTH_NOT_JUDGED;
		break;
	case LS_SIGNAL_UNKNOWN:
		v->health = LS_HEALTH_UNKNOWN;
		v->advice = advice(rule, &a);
		break;
	}
	t->beyond[0] = t->beyond[1] = false;
	snprintf(v->evidence, sizeof v->evidence, "%.250s", a.why);
}

/* Nobody is told of the difference between what is well and what is not judged. */
static enum ls_health shown(enum ls_health h)
{
	return h == LS_HEALTH_NOT_JUDGED ? LS_HEALTH_OK : h;
}

static void add_verdict(struct ls_judge *j, const struct ls_sample *s, const struct ls_rule *rule,
			int gpu, struct track *t)
{
	j->verdicts = ls_grow(j->verdicts, j->n, &j->cap, sizeof *j->verdicts);
	struct ls_verdict *v = &j->verdicts[j->n++];
	memset(v, 0, sizeof *v);
	v->rule = rule;
	v->gpu = gpu;
	if (gpu < 0)
		snprintf(v->label, sizeof v->label, "host");
	else
		ls_watch_gpu_label(s, (unsigned)gpu, v->label, sizeof v->label);
	judge_one(j, s, rule, gpu < 0 ? LS_SAMPLE_GPUS : (unsigned)gpu, t, v);
	v->changed = shown(v->health) != shown(j->fed ? t->health : LS_HEALTH_OK);
	if (v->changed || !j->fed)
		t->since = s->time;
	t->health = v->health;
	v->since = t->since;
}

void ls_judge_feed(struct ls_judge *j, const struct ls_sample *s)
{
	ls_history_add(&j->history, s);
	j->n = 0;
	for (int gpu = -1; gpu < (int)s->n_gpus; gpu++)
		for (size_t r = 0; r < j->rules->n; r++) {
			const struct ls_rule *rule = &j->rules->rules[r];
			if (rule->off || rule->info.of_host != (gpu < 0) ||
			    (rule->epilog && !j->o.epilog))
				continue;
			struct track *t =
				gpu < 0 ? &j->host[r] : &j->gpus[(size_t)gpu * j->rules->n + r];
			add_verdict(j, s, rule, gpu, t);
		}
	j->fed = true;
}

size_t ls_judge_count(const struct ls_judge *j)
{
	return j->n;
}

const struct ls_verdict *ls_judge_verdict(const struct ls_judge *j, size_t i)
{
	return &j->verdicts[i];
}

enum ls_health ls_judge_worst(const struct ls_judge *j)
{
	size_t count[LS_HEALTH_NOT_JUDGED + 1] = {0};
	for (size_t i = 0; i < j->n; i++)
		count[j->verdicts[i].health]++;
	if (count[LS_HEALTH_CRITICAL])
		return LS_HEALTH_CRITICAL;
	if (count[LS_HEALTH_WARN])
		return LS_HEALTH_WARN;
	return count[LS_HEALTH_UNKNOWN] || !count[LS_HEALTH_OK] ? LS_HEALTH_UNKNOWN : LS_HEALTH_OK;
}

const struct ls_xid_counts *ls_judge_xids(const struct ls_judge *j, unsigned gpu)
{
	return &j->history.gpus[gpu].xids;
}
