#include "run/manifest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

struct key {
	const char *name;
	json_type type;
	bool needed;
};

static const struct key keys[] = {
	{"schema", JSON_STRING, true},        {"lockstep", JSON_STRING, true},
	{"state", JSON_STRING, true},         {"command", JSON_ARRAY, true},
	{"cwd", JSON_STRING, true},           {"host", JSON_STRING, true},
	{"out", JSON_STRING, true},           {"started", JSON_STRING, true},
	{"git", JSON_OBJECT, true},           {"policy", JSON_OBJECT, true},
	{"inputs", JSON_ARRAY, true},         {"environment", JSON_ARRAY, false},
	{"spec", JSON_OBJECT, false},         {"ended", JSON_STRING, false},
	{"result", JSON_OBJECT, false},       {"resources", JSON_OBJECT, false},
	{"hook", JSON_OBJECT, false},         {"modules", JSON_OBJECT, false},
	{"seeds", JSON_OBJECT, false},        {"gpus", JSON_ARRAY, false},
	{"global_batch", JSON_OBJECT, false}, {"outputs", JSON_ARRAY, false},
	{"trace", JSON_OBJECT, false},        {"env", JSON_OBJECT, false},
	{"determinism", JSON_OBJECT, false},  {"sources", JSON_OBJECT, false},
	{"packages", JSON_OBJECT, false},     {"training", JSON_OBJECT, false},
};

enum { N_KEYS = sizeof keys / sizeof *keys };

static int check_list(const json_t *m, const char *key, json_type type, const char *name,
		      struct ls_err *err)
{
	size_t i;
	json_t *v;
	json_array_foreach(json_object_get(m, key), i,
			   v) if (json_typeof(v) !=
				  type) return ls_err_set(err, LS_EINPUT, "%s: %s[%zu] is %s", name,
							  key, i, ls_json_kind(v));
	return 0;
}

int ls_manifest_check(const json_t *m, const char *name, struct ls_err *err)
{
	const char *names[N_KEYS + 1] = {0};
	if (!json_is_object(m))
		return ls_err_set(err, LS_EINPUT, "%s: not a run manifest: it is %s", name,
				  ls_json_kind(m));
	const char *schema = json_string_value(json_object_get(m, "schema"));
	if (!schema || strcmp(schema, LS_MANIFEST_SCHEMA) != 0)
		return ls_err_set(
			err, LS_EINPUT,
			"%s: not a run manifest of this version: \"schema\" must be \"%s\"", name,
			LS_MANIFEST_SCHEMA);
	for (size_t i = 0; i < N_KEYS; i++) {
		const json_t *v = json_object_get(m, keys[i].name);
		names[i] = keys[i].name;
		if (!v && keys[i].needed)
			return ls_err_set(err, LS_EINPUT, "%s: \"%s\" is missing", name,
					  keys[i].name);
		if (v && json_typeof(v) != keys[i].type)
			return ls_err_set(err, LS_EINPUT, "%s: \"%s\" is %s", name, keys[i].name,
					  ls_json_kind(v));
	}
	int rc = ls_json_only(m, names, name, err);
	if (rc == 0)
		rc = check_list(m, "command", JSON_STRING, name, err);
	static const char *const lists[] = {"inputs", "outputs", "environment", "gpus"};
	for (size_t i = 0; rc == 0 && i < sizeof lists / sizeof *lists; i++)
		rc = check_list(m, lists[i], JSON_OBJECT, name, err);
	return rc;
}

int ls_manifest_load(const char *path, json_t **ret, struct ls_err *err)
{
	struct stat st;
	char *inside = stat(path, &st) == 0 && S_ISDIR(st.st_mode)
			       ? ls_xasprintf("%s/run_manifest.json", path)
			       : NULL;
	const char *file = inside ? inside : path;
	json_t *m;
	int rc = ls_json_load(file, &m, err);
	if (rc == 0) {
		rc = ls_manifest_check(m, file, err);
		if (rc)
			json_decref(m);
		else
			*ret = m;
	}
	free(inside);
	return rc;
}

static const char *text(const json_t *o, const char *key, const char *otherwise)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? s : otherwise;
}

static void line(struct ls_str *out, const char *name, const char *value)
{
	ls_str_addf(out, "%-12s %s\n", name, value);
}

static void add_command(const json_t *m, struct ls_str *out)
{
	size_t i;
	json_t *w;
	ls_str_addf(out, "%-12s", "command");
	json_array_foreach(json_object_get(m, "command"), i, w)
		ls_str_addf(out, " %s", json_string_value(w));
	ls_str_add(out, "\n");
}

static void add_git(const json_t *git, struct ls_str *out)
{
	const char *why = text(git, "unknown", NULL), *diff = text(git, "diff_sha256", NULL);
	if (why) {
		ls_str_addf(out, "%-12s unknown: %s\n", "git", why);
		return;
	}
	ls_str_addf(out, "%-12s %.12s on %s", "git", text(git, "commit", "?"),
		    text(git, "branch", "?"));
	if (json_is_true(json_object_get(git, "dirty")))
		ls_str_addf(out, ", changed files (diff %.12s)", diff ? diff : "?");
	ls_str_add(out, "\n");
}

static void add_policy(const json_t *p, struct ls_str *out)
{
	ls_str_addf(out,
		    "%-12s level %" JSON_INTEGER_FORMAT " (%s), seed %" JSON_INTEGER_FORMAT
		    ", %s\n",
		    "policy", json_integer_value(json_object_get(p, "level")),
		    text(p, "level_name", "?"), json_integer_value(json_object_get(p, "seed")),
		    text(p, "precision", "?"));
}

static void add_gpus(const json_t *gpus, struct ls_str *out)
{
	size_t i;
	json_t *g;
	json_array_foreach(gpus, i, g)
	{
		const json_t *used = json_object_get(g, "peak_allocated_bytes"),
			     *kept = json_object_get(g, "peak_reserved_bytes");
		ls_str_addf(out, "%-12s %" JSON_INTEGER_FORMAT ": %s", i ? "" : "gpu",
			    json_integer_value(json_object_get(g, "index")), text(g, "name", "?"));
		if (json_is_integer(used))
			ls_str_addf(out, ", peak %.1f MiB allocated",
				    json_number_value(used) / 1048576);
		if (json_is_integer(kept))
			ls_str_addf(out, ", %.1f MiB reserved", json_number_value(kept) / 1048576);
		ls_str_add(out, "\n");
	}
}

static void add_hook(const json_t *h, struct ls_str *out)
{
	size_t i;
	json_t *e;
	if (!h)
		return;
	const json_t *held = json_object_get(h, "held");
	if (json_is_null(held))
		line(out, "held", "nothing to hold: no Python interpreter was seen");
	else
		ls_str_addf(out, "%-12s %s, %" JSON_INTEGER_FORMAT " Python interpreters\n", "held",
			    json_is_true(held) ? "yes" : "NO",
			    json_integer_value(json_object_get(h, "count")));
	json_array_foreach(json_object_get(h, "uncovered"), i, e)
		ls_str_addf(out, "%-12s %s\n", "not reached", json_string_value(e));
	json_array_foreach(json_object_get(h, "undone"), i, e) ls_str_addf(
		out, "%-12s %s at %s\n", "undone", text(e, "setting", "?"), text(e, "where", "?"));
	json_array_foreach(json_object_get(h, "nondeterministic"), i, e)
		ls_str_addf(out, "%-12s %s at %s\n", "no det. form", text(e, "operation", "?"),
			    text(e, "where", "?"));
}

static void add_randomness(const json_t *h, struct ls_str *out)
{
	size_t i;
	json_t *e;
	json_array_foreach(json_object_get(h, "seeded"), i, e)
	{
		char *value = json_dumps(json_object_get(e, "value"), JSON_ENCODE_ANY);
		ls_str_addf(out, "%-12s %s by the program with %s at %s\n", i ? "" : "seeded",
			    text(e, "library", "?"), value ? value : "?", text(e, "where", "?"));
		free(value);
	}
	json_array_foreach(json_object_get(h, "shared_streams"), i, e) ls_str_addf(
		out, "%-12s %s: %" JSON_INTEGER_FORMAT " processes drew the same random numbers\n",
		i ? "" : "one stream", text(e, "stream", "?"),
		json_integer_value(json_object_get(e, "processes")));
}

static void add_gpu_memory(const json_t *list, struct ls_str *out)
{
	const double mib = 1048576;
	size_t i;
	json_t *g;
	json_array_foreach(list, i, g)
		ls_str_addf(out,
			    "%-12s %" JSON_INTEGER_FORMAT
			    ": %.1f MiB in use before, at most %.1f of %.1f, whoever holds them\n",
			    i ? "" : "gpu memory", json_integer_value(json_object_get(g, "index")),
			    json_number_value(json_object_get(g, "used_before_bytes")) / mib,
			    json_number_value(json_object_get(g, "used_peak_bytes")) / mib,
			    json_number_value(json_object_get(g, "total_bytes")) / mib);
}

static void add_result(const json_t *m, struct ls_str *out)
{
	const json_t *r = json_object_get(m, "result"), *use = json_object_get(m, "resources");
	if (!r) {
		line(out, "result",
		     "none: the run was not finished, or lockstep itself was killed");
		return;
	}
	const char *sig = text(r, "signal_name", NULL);
	if (sig)
		line(out, "result", sig);
	else
		ls_str_addf(out, "%-12s exit status %" JSON_INTEGER_FORMAT "\n", "result",
			    json_integer_value(json_object_get(r, "status")));
	ls_str_addf(out, "%-12s %.3f s wall, %.3f s user, %.3f s system, peak memory %.1f MiB\n",
		    "resources", json_number_value(json_object_get(use, "wall_s")),
		    json_number_value(json_object_get(use, "user_s")),
		    json_number_value(json_object_get(use, "system_s")),
		    json_number_value(json_object_get(use, "peak_rss_bytes")) / 1048576);
	add_gpu_memory(json_object_get(use, "gpu_memory"), out);
}

static void add_files(const json_t *m, const char *key, struct ls_str *out)
{
	size_t i;
	json_t *e;
	json_array_foreach(json_object_get(m, key), i, e)
		ls_str_addf(out, "%-12s %.16s %s\n", i ? "" : key, text(e, "sha256", "-"),
			    text(e, "path", "?"));
}

static void add_modules(const json_t *m, struct ls_str *out)
{
	const char *name;
	json_t *v;
	json_object_foreach(json_object_get(m, "modules"), name, v) if (json_is_string(v))
		ls_str_addf(out, "%-12s %s\n", name, json_string_value(v));
}

static char *number_or_unknown(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	return json_is_integer(v) ? ls_xasprintf("%" JSON_INTEGER_FORMAT, json_integer_value(v))
				  : ls_xstrdup("unknown");
}

static void add_batch(const json_t *b, struct ls_str *out)
{
	if (!b)
		return;
	char *global = number_or_unknown(b, "global"), *each = number_or_unknown(b, "per_process"),
	     *world = number_or_unknown(b, "world_size"),
	     *accumulate = number_or_unknown(b, "accumulate");
	ls_str_addf(out, "%-12s %s (%s a process, %s processes, accumulation %s)\n", "global batch",
		    global, each, world, accumulate);
	free(global);
	free(each);
	free(world);
	free(accumulate);
}

static void add_training(const json_t *t, struct ls_str *out)
{
	size_t i;
	json_t *e;
	json_array_foreach(json_object_get(t, "optimizers"), i, e)
	{
		char *steps = number_or_unknown(e, "steps"),
		     *backward = number_or_unknown(e, "backward_per_step");
		ls_str_addf(out, "%-12s %s, %s steps, backward passes a step: %s\n",
			    i ? "" : "optimizer", text(e, "class", "?"), steps, backward);
		free(steps);
		free(backward);
	}
	json_array_foreach(json_object_get(t, "schedulers"), i, e)
	{
		char *steps = number_or_unknown(e, "steps");
		ls_str_addf(out, "%-12s %s, %s steps\n", i ? "" : "scheduler",
			    text(e, "class", "?"), steps);
		free(steps);
	}
}

void ls_manifest_text(const json_t *m, struct ls_str *out)
{
	add_command(m, out);
	line(out, "state", text(m, "state", "?"));
	line(out, "folder", text(m, "cwd", "?"));
	line(out, "host", text(m, "host", "?"));
	line(out, "started", text(m, "started", "?"));
	add_git(json_object_get(m, "git"), out);
	add_policy(json_object_get(m, "policy"), out);
	add_modules(m, out);
	add_batch(json_object_get(m, "global_batch"), out);
	add_training(json_object_get(m, "training"), out);
	add_gpus(json_object_get(m, "gpus"), out);
	add_hook(json_object_get(m, "hook"), out);
	add_randomness(json_object_get(m, "hook"), out);
	add_result(m, out);
	add_files(m, "inputs", out);
	add_files(m, "outputs", out);
}
