#include <math.h>

#include "run/seeds.h"

static enum ls_seeds_answer answer_of_one(const struct ls_stats_group *g)
{
	if (g->kind == LS_STATS_NOT_FINITE)
		return LS_SEEDS_NO;
	return g->kind == LS_STATS_SPREAD ? LS_SEEDS_YES : LS_SEEDS_UNKNOWN;
}

enum ls_seeds_answer ls_seeds_answer(const struct ls_seeds *s)
{
	if (s->failed)
		return LS_SEEDS_NO;
	if (s->n_configs == 1)
		return answer_of_one(&s->configs[0].group);
	switch (s->pair.verdict) {
	case LS_STATS_SAME:
	case LS_STATS_EQUIVALENT:
	case LS_STATS_SMALL:
		return LS_SEEDS_YES;
	case LS_STATS_DIFFERENT:
		return LS_SEEDS_NO;
	default:
		return LS_SEEDS_UNKNOWN;
	}
}

void ls_seeds_sentence(const struct ls_seeds *s, struct ls_str *out)
{
	if (s->failed)
		ls_str_add(out, s->failed);
	else if (s->n_configs == 1)
		ls_stats_group_sentence(&s->configs[0].group, out);
	else
		ls_stats_pair_sentence(&s->pair, s->configs[0].name, s->configs[1].name, out);
}

static void config_text(const struct ls_seeds_config *c, const char *title, struct ls_str *out)
{
	ls_str_addf(out, "%s\n", title);
	for (size_t i = 0; i < c->n; i++) {
		ls_str_addf(out, "  seed %llu  %.9g  ", (unsigned long long)c->runs[i].seed,
			    c->runs[i].value);
		ls_str_add_printable(out, c->runs[i].source);
		ls_str_add(out, "\n");
	}
	ls_str_add(out, "  ");
	ls_stats_group_text(&c->group, out);
	ls_str_add(out, "\n");
}

void ls_seeds_text(const struct ls_seeds *s, struct ls_str *out)
{
	struct ls_str metric = {0};
	ls_str_add_printable(&metric, s->metric);
	if (s->n_configs == 1)
		config_text(&s->configs[0], metric.s, out);
	else
		ls_str_addf(out, "%s\n", metric.s);
	for (size_t i = 0; s->n_configs == 2 && i < 2; i++)
		config_text(&s->configs[i], s->configs[i].name, out);
	if (s->n_configs == 2)
		ls_stats_pair_text(&s->pair, out);
	ls_str_done(&metric);
}

static json_t *runs_json(const struct ls_seeds_config *c)
{
	json_t *list = json_array();
	for (size_t i = 0; i < c->n; i++) {
		const struct ls_seeds_run *r = &c->runs[i];
		json_t *value = isfinite(r->value) ? json_real(r->value) : json_null();
		json_array_append_new(list,
				      json_pack("{s:I, s:s, s:o, s:o}", "seed", (json_int_t)r->seed,
						"folder", r->label, "value", value, "source",
						ls_json_lossy(r->source)));
	}
	return list;
}

json_t *ls_seeds_json(const struct ls_seeds *s)
{
	static const char *const answers[] = {"yes", "no", "unknown"};
	struct ls_str sentence = {0};
	json_t *o = json_object(), *configs = json_array();
	ls_seeds_sentence(s, &sentence);
	json_object_set_new(o, "answer", json_string(answers[ls_seeds_answer(s)]));
	json_object_set_new(o, "sentence", ls_json_lossy(sentence.s));
	json_object_set_new(o, "metric", ls_json_lossy(s->metric));
	json_object_set_new(o, "folder", ls_json_lossy(s->dir));
	for (size_t i = 0; i < s->n_configs; i++) {
		const struct ls_seeds_config *c = &s->configs[i];
		json_array_append_new(configs,
				      json_pack("{s:o, s:o, s:o}", "name", ls_json_lossy(c->name),
						"runs", runs_json(c), "statistics",
						ls_stats_group_json(&c->group)));
	}
	json_object_set_new(o, "last_lines", s->tail ? ls_json_lossy(s->tail) : json_null());
	json_object_set_new(o, "configurations", configs);
	if (s->n_configs == 2)
		json_object_set_new(
			o, "comparison",
			ls_stats_pair_json(&s->pair, s->configs[0].name, s->configs[1].name));
	ls_str_done(&sentence);
	return o;
}
