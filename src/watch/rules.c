#include "watch/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

enum { MOST_RULES = 200 };

static const char *const keys[] = {"rule",
				   "signal",
				   "warn_above",
				   "warn_below",
				   "critical_above",
				   "clear",
				   "critical_below",
				   "for_s",
				   "when",
				   "clear_for_s",
				   "off",
				   "only",
				   "cause",
				   "advice",
				   "source",
				   "date",
				   NULL};

void ls_rules_free(struct ls_rules *r)
{
	for (size_t i = 0; r && i < r->n; i++) {
		free(r->rules[i].name);
		free(r->rules[i].cause);
		free(r->rules[i].advice);
		free(r->rules[i].source);
	}
	if (r)
		free(r->rules);
	free(r);
}

static struct ls_rule *find(struct ls_rules *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->rules[i].name, name) == 0)
			return &r->rules[i];
	return NULL;
}

static int wrong(struct ls_err *err, const char *where, const char *key, const char *must)
{
	return ls_err_set(err, LS_EINPUT, "%s: \"%s\" must be %s", where, key, must);
}

/* Texts become lines, which one with control characters would break. */
static bool is_plain(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

static int text_of(const json_t *row, const char *key, const char *where, char **text,
		   struct ls_err *err)
{
	const json_t *v = json_object_get(row, key);
	if (!v)
		return 0;
	if (!json_is_string(v) || !*json_string_value(v) || !is_plain(json_string_value(v)))
		return wrong(err, where, key, "a text without control characters");
	free(*text);
	*text = ls_xstrdup(json_string_value(v));
	return 0;
}

static int number_of(const json_t *row, const char *key, const char *where, bool negative,
		     double *ret, struct ls_err *err)
{
	const json_t *v = json_object_get(row, key);
	if (!v)
		return 0;
	if (!json_is_number(v) || (!negative && json_number_value(v) < 0))
		return wrong(err, where, key, negative ? "a number" : "a number from 0 on");
	*ret = json_number_value(v);
	return 0;
}

/* null takes a limit away. */
static int limit_of(const json_t *row, const char *key, const char *where, bool below,
		    struct ls_limit *limit, struct ls_err *err)
{
	const json_t *v = json_object_get(row, key);
	if (!v)
		return 0;
	if (json_is_null(v)) {
		limit->given = limit->given && limit->below != below;
		return 0;
	}
	if (!json_is_number(v))
		return wrong(err, where, key, "a number or null");
	*limit = (struct ls_limit){true, below, json_number_value(v)};
	return 0;
}

static int limits_of(const json_t *row, const char *where, struct ls_rule *rule, struct ls_err *err)
{
	static const char *const names[2][2] = {{"warn_above", "warn_below"},
						{"critical_above", "critical_below"}};
	for (int level = 0; level < 2; level++) {
		if (json_object_get(row, names[level][0]) && json_object_get(row, names[level][1]))
			return ls_err_set(err, LS_EINPUT,
					  "%s: \"%s\" and \"%s\" exclude each other", where,
					  names[level][0], names[level][1]);
		for (int below = 0; below < 2; below++)
			if (limit_of(row, names[level][below], where, below == 1,
				     &rule->limits[level], err))
				return err->code;
	}
	const struct ls_limit *w = &rule->limits[0], *c = &rule->limits[1];
	if (!w->given && !c->given)
		return ls_err_set(err, LS_EINPUT,
				  "%s has no limit: give \"warn_above\", \"warn_below\", "
				  "\"critical_above\" or \"critical_below\"",
				  where);
	if (w->given && c->given &&
	    (w->below != c->below || (w->below ? c->value > w->value : c->value < w->value)))
		return ls_err_set(err, LS_EINPUT,
				  "%s: the critical limit is reached before that of the warning",
				  where);
	return 0;
}

/* A "did you mean" among the names of signals. */
static int no_signal(const char *where, const char *name, struct ls_err *err)
{
	enum { MOST = 128 };
	const char *names[MOST];
	struct ls_signal info;
	int n = 0;
	while (n < MOST - 1 && ls_signal_info(n, &info))
		names[n++] = info.name;
	names[n] = NULL;
	const char *near = ls_str_nearest(name, names);
	return ls_err_set(err, LS_EINPUT, "%s: there is no signal \"%.40s\"%s%s%s", where, name,
			  near ? " (did you mean \"" : "", near ? near : "", near ? "\"?)" : "");
}

static int signal_of(const json_t *row, const char *key, const char *where, int *signal,
		     struct ls_err *err)
{
	const json_t *v = json_object_get(row, key);
	if (!v)
		return 0;
	if (!json_is_string(v))
		return wrong(err, where, key, "the name of a signal");
	int found = ls_signal_find(json_string_value(v));
	if (found < 0)
		return no_signal(where, json_string_value(v), err);
	*signal = found;
	return 0;
}

static int flags_of(const json_t *row, const char *where, struct ls_rule *rule, struct ls_err *err)
{
	const json_t *off = json_object_get(row, "off"), *only = json_object_get(row, "only");
	if (off && !json_is_boolean(off))
		return wrong(err, where, "off", "true or false");
	if (only && (!json_is_string(only) || strcmp(json_string_value(only), "epilog") != 0))
		return wrong(err, where, "only", "\"epilog\"");
	rule->off = off ? json_is_true(off) : rule->off;
	rule->epilog = rule->epilog || only;
	return 0;
}

static int fill(const json_t *row, const char *where, struct ls_rule *rule, struct ls_err *err)
{
	if (ls_json_only(row, keys, where, err) ||
	    signal_of(row, "signal", where, &rule->signal, err) ||
	    signal_of(row, "when", where, &rule->when, err))
		return err->code;
	if (rule->signal < 0)
		return ls_err_set(err, LS_EINPUT,
				  "%s is no shipped rule; a new one needs \"signal\"", where);
	ls_signal_info(rule->signal, &rule->info);
	struct ls_signal when = rule->info;
	ls_signal_info(rule->when, &when);
	if (when.of_host != rule->info.of_host)
		return ls_err_set(err, LS_EINPUT,
				  "%s: one of \"signal\" and \"when\" is of GPUs, the other of "
				  "the host",
				  where);
	if (limits_of(row, where, rule, err) ||
	    number_of(row, "clear", where, false, &rule->clear, err) ||
	    number_of(row, "for_s", where, false, &rule->for_s, err) ||
	    number_of(row, "clear_for_s", where, false, &rule->clear_for_s, err) ||
	    flags_of(row, where, rule, err) || text_of(row, "cause", where, &rule->cause, err) ||
	    text_of(row, "advice", where, &rule->advice, err) ||
	    text_of(row, "source", where, &rule->source, err))
		return err->code;
	rule->own_advice = rule->own_advice || json_object_get(row, "advice");
	if (!rule->cause)
		rule->cause = ls_xasprintf("%s is beyond its limit", rule->info.name);
	return 0;
}

static int add_row(struct ls_rules *r, const json_t *row, const char *file, size_t i,
		   struct ls_err *err)
{
	const char *name = json_string_value(json_object_get(row, "rule"));
	if (!json_is_object(row) || !name || !*name || strlen(name) > 60 || !is_plain(name))
		return ls_err_set(err, LS_EINPUT,
				  "%s: rules[%zu] must be an object with a name in \"rule\"", file,
				  i);
	char *where = ls_xasprintf("%s: rule %s", file, name);
	struct ls_rule *rule = find(r, name);
	int rc = 0;
	if (!rule && r->n == MOST_RULES)
		rc = ls_err_set(err, LS_EINPUT, "%s: there are more than %d rules", file,
				MOST_RULES);
	if (!rule && rc == 0) {
		r->rules = ls_grow(r->rules, r->n, &r->cap, sizeof *r->rules);
		rule = &r->rules[r->n++];
		memset(rule, 0, sizeof *rule);
		rule->name = ls_xstrdup(name);
		rule->signal = rule->when = -1;
	}
	if (rc == 0)
		rc = fill(row, where, rule, err);
	free(where);
	return rc;
}

int ls_rules_merge(struct ls_rules *r, const char *text, size_t len, const char *name,
		   struct ls_err *err)
{
	static const char *const top[] = {"about", "date", "rules", NULL};
	json_t *root, *row;
	size_t i;
	int rc = ls_json_parse(text, len, name, &root, err);
	if (rc)
		return rc;
	const json_t *rows = json_object_get(root, "rules");
	if (!json_is_object(root) || !json_is_array(rows))
		rc = ls_err_set(err, LS_EINPUT, "%s must be an object with a list \"rules\"", name);
	else
		rc = ls_json_only(root, top, name, err);
	if (rc == 0)
		json_array_foreach(rows, i, row)
		{
			rc = add_row(r, row, name, i, err);
			if (rc)
				break;
		}
	json_decref(root);
	return rc;
}

int ls_rules_load(struct ls_rules **ret, struct ls_err *err)
{
	static const char name[] = "data/health-rules.json";
	const struct ls_blob *blob = ls_embed_find(name);
	if (!blob)
		return ls_err_set(err, LS_EINTERNAL, "%s is not in this program", name);
	struct ls_rules *r = ls_xalloc(sizeof *r);
	int rc = ls_rules_merge(r, (const char *)blob->data, blob->len, name, err);
	if (rc) {
		ls_rules_free(r);
		return rc;
	}
	for (size_t i = 0; i < r->n; i++)
		r->rules[i].own_advice = false;
	*ret = r;
	return 0;
}

int ls_rules_leave_out(struct ls_rules *r, const char *name, struct ls_err *err)
{
	struct ls_rule *rule = find(r, name);
	if (rule) {
		rule->off = true;
		return 0;
	}
	const char **names = ls_xalloc((r->n + 1) * sizeof *names);
	for (size_t i = 0; i < r->n; i++)
		names[i] = r->rules[i].name;
	const char *near = ls_str_nearest(name, names);
	int rc = ls_err_set(err, LS_EINPUT, "there is no rule \"%.40s\"%s%s%s", name,
			    near ? " (did you mean \"" : "", near ? near : "", near ? "\"?)" : "");
	free(names);
	return rc;
}
