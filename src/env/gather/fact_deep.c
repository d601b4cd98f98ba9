/* --deep: the same questions asked of a running Python. Facts go under "deep."; findings
 * compare them with the files.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/str.h"
#include "env/facts/root.h"
#include "env/gather/look.h"

enum { PATIENCE = 300 }; /* seconds; importing torch from a cold network disk takes minutes */

static const char source[] = "python: deep_probe.py";

/* How Python says that torch is not installed. */
static const char no_torch[] = "ModuleNotFoundError: No module named 'torch'";

/* Scalars as text: true, 8902, "2.3.1". */
static char *text_of(const json_t *v)
{
	if (json_is_string(v))
		return ls_xstrdup(json_string_value(v));
	if (json_is_array(v)) {
		struct ls_str s = {0};
		size_t i;
		json_t *e;
		json_array_foreach(v, i, e) ls_str_addf(
			&s, "%s%s", i ? " " : "", json_is_string(e) ? json_string_value(e) : "?");
		return ls_str_take(&s);
	}
	return json_dumps(v, JSON_ENCODE_ANY);
}

static void answer(struct ls_look *look, const json_t *doc, const char *name)
{
	char *key = ls_xasprintf("deep.%s", name);
	const json_t *v = json_object_get(doc, name);
	const json_t *errors = json_object_get(doc, "errors");
	const char *fault = json_string_value(json_object_get(errors, name)),
		   *import = json_string_value(json_object_get(errors, "_torch"));
	fault = fault ? fault : import;
	if (!v && import && ls_str_starts(import, no_torch)) {
		ls_facts_absent(look->facts, key, source, import);
	} else if (v && json_is_null(v)) {
		ls_facts_absent(look->facts, key, source, "None");
	} else if (v && json_is_array(v) && json_array_size(v) == 0) {
		ls_facts_absent(look->facts, key, source, "an empty list");
	} else if (v) {
		char *text = text_of(v);
		ls_facts_set(look->facts, key, text, source);
		free(text);
	} else if (fault) {
		ls_facts_unknown(look->facts, key, source, fault);
	} /* else it was not asked: a torch without GPU has no NCCL to ask */
	free(key);
}

static void members(struct ls_look *look, const json_t *object, const char *prefix)
{
	const char *name;
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)object, name, v)
	{
		char *key = ls_xasprintf("%s%s", prefix, name), *text = text_of(v);
		ls_facts_set(look->facts, key, text, source);
		free(text);
		free(key);
	}
}

/* A distribution that was asked for and is not among the answers is not installed. */
static void not_installed(struct ls_look *look, const json_t *packages)
{
	for (size_t i = 0, n = look->facts->n; packages && i < n; i++) {
		const char *key = look->facts->items[i].key;
		if (!ls_str_starts(key, "package.") ||
		    json_object_get(packages, key + strlen("package.")))
			continue;
		char *deep = ls_xasprintf("deep.%s", key);
		ls_facts_absent(look->facts, deep, source, "not installed");
		free(deep);
	}
}

static void all_answers(struct ls_look *look, const json_t *doc)
{
	static const char *const names[] = {"python",     "torch", "torch_file",
					    "torch_cuda", "cudnn", "cuda_available",
					    "arch_list",  "nccl",  NULL};
	for (const char *const *n = names; *n; n++)
		answer(look, doc, *n);
	members(look, json_object_get(doc, "libraries"), "deep.lib.");
	members(look, json_object_get(doc, "packages"), "deep.package.");
	not_installed(look, json_object_get(doc, "packages"));
}

/* What the files left open the running Python knows. */
static void fill_in(struct ls_look *look, const char *key)
{
	char *deep_key = ls_xasprintf("deep.%s", key);
	const struct ls_fact *file = ls_facts_find(look->facts, key),
			     *deep = ls_facts_find(look->facts, deep_key);
	if (file && file->state == LS_FACT_UNKNOWN && deep && deep->state != LS_FACT_UNKNOWN)
		ls_facts_copy(look->facts, key, deep_key);
	free(deep_key);
}

static void fill_in_all(struct ls_look *look)
{
	static const char *const keys[] = {"python", "torch", "torch_cuda", "cudnn", "nccl", NULL};
	for (const char *const *k = keys; *k; k++)
		fill_in(look, *k);
	for (size_t i = 0; i < look->facts->n; i++)
		if (ls_str_starts(look->facts->items[i].key, "package."))
			fill_in(look, look->facts->items[i].key);
}

/* The object is the last line; whatever packages print while they are imported comes
 * before it. */
static json_t *last_line(const char *out)
{
	const char *p = out ? strrchr(out, '{') : NULL, *line = out;
	json_t *doc = NULL;
	if (!p)
		return NULL;
	for (const char *nl = out; (nl = strchr(nl, '\n')) && nl[1]; nl++)
		line = nl + 1;
	return ls_json_parse(line, strlen(line), source, &doc, NULL) == 0 ? doc : NULL;
}

/* "package.x" facts known so far, joined by commas. */
static char *package_list(const struct ls_look *look)
{
	struct ls_str s = {0};
	for (size_t i = 0; i < look->facts->n; i++)
		if (ls_str_starts(look->facts->items[i].key, "package."))
			ls_str_addf(&s, "%s%s", s.len ? "," : "",
				    look->facts->items[i].key + strlen("package."));
	return ls_str_take(&s);
}

static void refused(struct ls_look *look, const char *reason)
{
	ls_facts_unknown(look->facts, "deep.python", source, reason);
	ls_facts_unknown(look->facts, "deep.torch", source, reason);
}

void ls_look_deep(struct ls_look *look)
{
	const struct ls_blob *script = ls_embed_find("python/probe/deep_probe.py");
	if (!look->python || !script) {
		refused(look,
			look->python ? "the probe is not in this program" : "no Python was found");
		return;
	}
	char *packages = package_list(look),
	     *program = ls_xasprintf("%s%s", look->root, look->python->path);
	const char *const argv[] = {program, "-c", (const char *)script->data, packages, NULL};
	struct ls_proc_result r = {0};
	struct ls_err err;
	int rc = ls_proc_run(argv, PATIENCE, &r, &err);
	json_t *doc = rc == 0 ? last_line(r.out.s) : NULL;
	/* a package that prints an object as Python ends has not answered for the
	 * probe */
	bool answered = json_is_string(json_object_get(doc, "python"));
	if (answered) {
		all_answers(look, doc);
		fill_in_all(look);
	} else {
		char *why =
			rc    ? ls_xstrdup(err.msg)
			: doc ? ls_xasprintf(
					"the last line that %s printed is not the probe's answer",
					program)
			      : ls_xasprintf("%s ended with status %d%s%s%.300s", program, r.status,
					     r.timed_out ? " (took too long)" : "",
					     r.err.len ? ": " : "", r.err.len ? r.err.s : "");
		refused(look, ls_str_trim(why));
		free(why);
	}
	json_decref(doc);
	ls_proc_result_done(&r);
	free(program);
	free(packages);
}
