/* A verify in brief: what ran, its control, its policy, its code and its environment. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/verify.h"

static void row_take(struct ls_table *t, const char *name, struct ls_str value)
{
	ls_table_row(t, (const char *const[]){name, value.s});
	ls_str_done(&value);
}

static const char *text_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

/* The text with the runs' folder as the user wrote it: {out}. */
static void add_with_out(struct ls_str *s, const char *text, const char *out)
{
	for (const char *hit; (hit = strstr(text, out)); text = hit + strlen(out)) {
		ls_str_add_bytes(s, text, (size_t)(hit - text));
		ls_str_add(s, "{out}");
	}
	ls_str_add(s, text);
}

static void add_command(struct ls_table *t, const struct ls_verify *v)
{
	struct ls_str s = {0};
	char *out = ls_xasprintf("%s/out", v->dir);
	size_t i;
	json_t *w;
	json_array_foreach(json_object_get(v->runs[0].result.manifest, "command"), i, w)
	{
		char *word = ls_str_shell(json_string_value(w));
		ls_str_add(&s, i ? " " : "");
		add_with_out(&s, word, out);
		free(word);
	}
	free(out);
	row_take(t, "command", s);
}

static void add_runs(struct ls_table *t, const struct ls_verify *v)
{
	struct ls_str s = {0};
	for (size_t i = 0; i < v->n_runs && ls_str_starts(v->runs[i].label, "run"); i++) {
		const char *vars = v->runs[i].vars;
		ls_str_addf(&s, "%s%s%s%s%s", i ? ", " : "", v->runs[i].label, *vars ? " (" : "",
			    vars, *vars ? ")" : "");
	}
	ls_str_addf(&s, ", seed %llu", (unsigned long long)v->runs[0].seed);
	row_take(t, "runs", s);
}

static void add_control(struct ls_table *t, const struct ls_verify *v)
{
	const struct ls_verify_run *last = &v->runs[v->n_runs - 1];
	struct ls_str s = {0};
	if (v->control) {
		ls_str_addf(&s, "seed %llu: ", (unsigned long long)last->seed);
		ls_comparison_verdict(v->control, &s);
	} else {
		ls_str_add(&s, strcmp(last->label, "control") == 0 ? "not compared" : "not run");
	}
	row_take(t, "control", s);
}

/* Beyond the tolerance outweighs what was not read, and that what is within. */
static int distance(const struct ls_comparison *c)
{
	return c->beyond ? 3 : c->unread ? 2 : c->differs;
}

void ls_verify_second_verdict(const struct ls_verify *v, struct ls_str *out)
{
	size_t far = 0;
	if (v->n_comparisons == 0 || !v->comparisons[0]->tolerance)
		return;
	for (size_t i = 1; i < v->n_comparisons; i++)
		if (distance(v->comparisons[i]) > distance(v->comparisons[far]))
			far = i;
	ls_str_addf(out, "run1 and %s: ", v->runs[far + 1].label);
	ls_comparison_second_verdict(v->comparisons[far], out);
	if (v->control) {
		ls_str_addf(out, "; with seed %llu ",
			    (unsigned long long)v->runs[v->n_runs - 1].seed);
		ls_comparison_second_verdict(v->control, out);
	}
	ls_str_addf(out, " (%s)", v->comparisons[far]->tolerance);
}

static void add_tolerance(struct ls_table *t, const struct ls_verify *v)
{
	struct ls_str s = {0};
	ls_verify_second_verdict(v, &s);
	if (s.len)
		row_take(t, "tolerance", s);
}

const char *ls_verify_held(const struct ls_verify_run *r)
{
	const json_t *hook = json_object_get(r->result.manifest, "hook");
	if (!r->result.held)
		return "NO";
	return json_is_true(json_object_get(hook, "held")) ? "yes" : "nothing to hold";
}

/* Whether the policy held, in the words of the first run that does not say "yes". */
static const char *held_text(const struct ls_verify *v)
{
	const char *text = "yes";
	for (size_t i = 0; i < v->n_runs && strcmp(text, "yes") == 0; i++)
		text = ls_verify_held(&v->runs[i]);
	return text;
}

static void add_policy(struct ls_table *t, const struct ls_verify *v)
{
	const json_t *p = json_object_get(v->runs[0].result.manifest, "policy");
	const char *precision = text_of(p, "precision");
	struct ls_str s = {0};
	ls_str_addf(&s, "level %d, %s, held: %s",
		    (int)json_integer_value(json_object_get(p, "level")),
		    precision ? precision : "unknown precision", held_text(v));
	row_take(t, "policy", s);
}

static void add_code(struct ls_table *t, const json_t *manifest)
{
	const json_t *git = json_object_get(manifest, "git");
	const char *commit = text_of(git, "commit");
	struct ls_str s = {0};
	ls_str_addf(&s, "commit %s%s", commit ? commit : "unknown",
		    json_is_true(json_object_get(git, "dirty"))
			    ? ", with changes that are not committed"
			    : "");
	row_take(t, "code", s);
}

static const json_t *fact(const json_t *manifest, const char *key)
{
	size_t i;
	json_t *f;
	json_array_foreach(json_object_get(manifest, "environment"), i, f)
	{
		const char *name = text_of(f, "key");
		if (name && strcmp(name, key) == 0)
			return f;
	}
	return NULL;
}

/* Adds "driver 570.86", or "driver unknown"; nothing where there is none. */
static void add_fact(struct ls_str *out, const json_t *manifest, const char *key, const char *title)
{
	const json_t *f = fact(manifest, key);
	const char *state = text_of(f, "state"), *value = text_of(f, "value");
	if (state && strcmp(state, "absent") != 0)
		ls_str_addf(out, "%s%s%s", out->len ? ", " : "", title, value ? value : "unknown");
}

static const char *gpu_name(const json_t *manifest, unsigned i)
{
	char key[32];
	snprintf(key, sizeof key, "gpu.%u.name", i);
	return text_of(fact(manifest, key), "value");
}

/* Adds "2 × NVIDIA H200" for neighbours of one name, and the driver. */
static void add_gpus(struct ls_str *out, const json_t *manifest)
{
	const char *name = gpu_name(manifest, 0);
	unsigned same = 0;
	for (unsigned i = 0; name; i++) {
		const char *next = gpu_name(manifest, i + 1);
		same++;
		if (next && strcmp(name, next) == 0)
			continue;
		ls_str_addf(out, "%s%u × %s", out->len ? ", " : "", same, name);
		name = next;
		same = 0;
	}
	if (gpu_name(manifest, 0))
		add_fact(out, manifest, "driver", "driver ");
}

static void add_environment(struct ls_table *t, const json_t *manifest)
{
	struct ls_str s = {0};
	const char *name;
	json_t *version;
	json_object_foreach(json_object_get(manifest, "modules"), name, version)
	{
		if (json_is_string(version))
			ls_str_addf(&s, "%s%s %s", s.len ? ", " : "", name,
				    json_string_value(version));
	}
	add_fact(&s, manifest, "python", "Python ");
	add_gpus(&s, manifest);
	add_fact(&s, manifest, "cpu", "CPU ");
	add_fact(&s, manifest, "os", "OS ");
	if (s.len == 0)
		ls_str_add(&s, "unknown");
	row_take(t, "environment", s);
}

void ls_verify_brief(const struct ls_verify *v, struct ls_table *ret)
{
	const json_t *manifest = v->runs[0].result.manifest;
	ls_table_init(ret, 2, (const char *const[]){"", ""});
	add_command(ret, v);
	add_runs(ret, v);
	add_control(ret, v);
	add_tolerance(ret, v);
	add_policy(ret, v);
	add_code(ret, manifest);
	add_environment(ret, manifest);
}
