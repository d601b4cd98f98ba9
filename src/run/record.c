/* Reading what the hook wrote: a file of JSON lines an interpreter, put together into one account
 * of the run. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/hook.h"

enum { RECORD_LIMIT = 16 << 20, KEEP = 64 };

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? s : "";
}

static void copy_keys(json_t *to, const json_t *from, const char *const *keys)
{
	for (; *keys; keys++) {
		json_t *v = json_object_get(from, *keys);
		if (v)
			json_object_set(to, *keys, v);
	}
}

static void take_module(json_t *record, json_t *event)
{
	json_t *modules = json_object_get(record, "modules");
	json_object_del(event, "event");
	json_object_del(event, "time");
	json_object_set(modules, text_of(event, "name"), event);
}

static int take_event(json_t *record, json_t *event, const char *where, struct ls_err *err)
{
	static const char *const start[] = {"pid",        "ppid",   "forked_from", "host",
					    "executable", "argv",   "python",      "prefix",
					    "hash_probe", "rank",   "world_size",  "env",
					    "time",       "nested", NULL};
	static const char *const end[] = {"settings", "loaders", "batch", "gpus", "ops", NULL};
	const char *kind = text_of(event, "event");
	if (strcmp(kind, "start") == 0) {
		copy_keys(record, event, start);
	} else if (strcmp(kind, "module") == 0 && *text_of(event, "name")) {
		take_module(record, event);
	} else if (strcmp(kind, "undone") == 0 || strcmp(kind, "nondeterministic") == 0 ||
		   strcmp(kind, "failed") == 0) {
		json_array_append(json_object_get(record, kind), event);
		json_object_del(event, "event"); /* kind is gone with it */
	} else if (strcmp(kind, "exit") == 0) {
		copy_keys(record, event, end);
		json_object_set_new(record, "exited", json_true());
	} else {
		return ls_err_set(err, LS_EINPUT, "%s: not an event of the hook", where);
	}
	return 0;
}

static int take_line(json_t *record, const char *line, size_t len, const char *where,
		     struct ls_err *err)
{
	json_t *event;
	int rc = ls_json_parse(line, len, where, &event, err);
	if (rc)
		return rc;
	rc = json_is_object(event)
		     ? take_event(record, event, where, err)
		     : ls_err_set(err, LS_EINPUT, "%s: not an event of the hook", where);
	json_decref(event);
	return rc;
}

int ls_hook_parse(const char *text, size_t len, const char *name, json_t **ret, struct ls_err *err)
{
	json_t *record = json_pack("{s:{},s:[],s:[],s:[],s:b}", "modules", "undone",
				   "nondeterministic", "failed", "exited", 0);
	int rc = 0, line = 1;
	for (size_t at = 0; at < len && rc == 0; line++) {
		const char *end = memchr(text + at, '\n', len - at);
		if (!end)
			break; /* cut short by a kill */
		char where[256];
		snprintf(where, sizeof where, "%.200s:%d", name, line);
		rc = take_line(record, text + at, (size_t)(end - (text + at)), where, err);
		at = (size_t)(end - text) + 1;
	}
	if (rc)
		json_decref(record);
	else
		*ret = record;
	return rc;
}

/* Adds b to list unless one with the same key text is there; counts processes. */
static void merge_event(json_t *list, json_t *event, const char *key)
{
	size_t i;
	json_t *have;
	json_array_foreach(list, i, have)
	{
		if (strcmp(text_of(have, key), text_of(event, key)) != 0 ||
		    !json_equal(json_object_get(have, "found"), json_object_get(event, "found")))
			continue;
		json_int_t n = json_integer_value(json_object_get(have, "processes"));
		json_object_set_new(have, "processes", json_integer(n + 1));
		if (!*text_of(have, "where"))
			json_object_set(have, "where", json_object_get(event, "where"));
		return;
	}
	json_object_set_new(event, "processes", json_integer(1));
	json_array_append(list, event);
}

static void merge_list(json_t *all, json_t *record, const char *list, const char *key)
{
	size_t i;
	json_t *event, *to = json_object_get(all, list);
	json_array_foreach(json_object_get(record, list), i, event) merge_event(to, event, key);
}

static void merge_modules(json_t *all, json_t *record)
{
	const char *name;
	json_t *module, *modules = json_object_get(all, "modules"),
			*seeds = json_object_get(all, "seeds");
	json_object_foreach(json_object_get(record, "modules"), name, module)
	{
		json_t *version = json_object_get(module, "version"),
		       *seed = json_object_get(module, "seed");
		if (version && !json_object_get(modules, name))
			json_object_set(modules, name, version);
		if (json_is_integer(seed) && !json_object_get(seeds, name))
			json_object_set(seeds, name, seed);
	}
}

static json_int_t number(const json_t *o, const char *key, json_int_t otherwise)
{
	const json_t *v = json_object_get(o, key);
	if (json_is_integer(v))
		return json_integer_value(v);
	if (json_is_string(v) && *json_string_value(v))
		return strtoll(json_string_value(v), NULL, 10);
	return otherwise;
}

/* The loader that shuffles is the one that trains. */
static const json_t *training_loader(const json_t *loaders)
{
	size_t i;
	json_t *l;
	json_array_foreach(loaders, i, l)
	{
		const char *sampler = text_of(l, "sampler");
		if (strcmp(sampler, "RandomSampler") == 0 ||
		    strcmp(sampler, "DistributedSampler") == 0)
			return l;
	}
	return json_array_get(loaders, 0);
}

static void merge_batch(json_t *all, const json_t *record)
{
	const json_t *l = training_loader(json_object_get(record, "loaders"));
	const json_t *batch = json_object_get(record, "batch");
	json_int_t each = number(l, "batch_size", 0);
	if (!each || json_object_get(all, "global_batch"))
		return;
	json_int_t world = number(batch, "world_size", number(record, "world_size", 1));
	json_int_t accumulate = number(batch, "accumulate", 1);
	if (world < 1 || accumulate < 1 || each > 1 << 30 || world > 1 << 20 ||
	    accumulate > 1 << 10)
		return;
	json_object_set_new(all, "global_batch",
			    json_pack("{s:I,s:I,s:I,s:I,s:I}", "per_process", each, "world_size",
				      world, "accumulate", accumulate, "global",
				      each * world * accumulate, "workers",
				      number(l, "num_workers", 0)));
}

static void merge_gpus(json_t *all, const json_t *record)
{
	size_t i;
	json_t *g, *to = json_object_get(all, "gpus");
	json_array_foreach(json_object_get(record, "gpus"), i, g)
	{
		json_object_set(g, "pid", json_object_get(record, "pid"));
		json_array_append(to, g);
	}
}

/* The switches by their short names, as read back at the end of the first process that had torch.
 */
static void merge_determinism(json_t *all, const json_t *record)
{
	static const struct {
		const char *name, *setting;
	} keys[] = {{"cudnn_deterministic", "torch.backends.cudnn.deterministic"},
		    {"cudnn_benchmark", "torch.backends.cudnn.benchmark"},
		    {"deterministic_algorithms", "torch.deterministic_algorithms"},
		    {"cudnn_allow_tf32", "torch.backends.cudnn.allow_tf32"},
		    {"matmul_allow_tf32", "torch.backends.cuda.matmul.allow_tf32"},
		    {"float32_matmul_precision", "torch.float32_matmul_precision"}};
	const json_t *settings = json_object_get(record, "settings");
	if (!json_object_get(settings, keys[0].setting) || json_object_get(all, "determinism"))
		return;
	json_t *o = json_object();
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		json_object_set(o, keys[i].name, json_object_get(settings, keys[i].setting));
	json_object_set_new(all, "determinism", o);
}

static void merge(json_t *all, json_t *record)
{
	merge_determinism(all, record);
	merge_list(all, record, "undone", "setting");
	merge_list(all, record, "nondeterministic", "operation");
	merge_list(all, record, "failed", "reason");
	merge_modules(all, record);
	merge_batch(all, record);
	merge_gpus(all, record);
	json_array_append(json_object_get(all, "pids"), json_object_get(record, "pid"));
	static const char *const dropped[] = {"undone", "nondeterministic", "failed", "env",
					      "gpus",   "loaders",          NULL};
	for (const char *const *d = dropped; *d; d++)
		json_object_del(record, *d);
	json_t *list = json_object_get(all, "interpreters");
	if (json_array_size(list) < KEEP)
		json_array_append(list, record);
}

/* In the order in which the interpreters started, so that two runs list them alike. */
static int by_start(const void *a, const void *b)
{
	double x = json_number_value(json_object_get(*(json_t *const *)a, "time"));
	double y = json_number_value(json_object_get(*(json_t *const *)b, "time"));
	return (x > y) - (x < y);
}

/* A record that cannot be read says that the policy cannot be shown to have held, not that the run
 * is lost. */
static json_t *read_one(const char *dir, const char *name)
{
	char *path = ls_xasprintf("%s/%s", dir, name), *text;
	size_t len;
	json_t *record;
	struct ls_err err;
	int rc = ls_file_read(path, RECORD_LIMIT, &text, &len, &err);
	if (rc == 0) {
		rc = ls_hook_parse(text, len, path, &record, &err);
		free(text);
	}
	if (rc)
		record = json_pack("{s:{},s:[],s:[],s:[{s:o}],s:b}", "modules", "undone",
				   "nondeterministic", "failed", "reason", ls_json_lossy(err.msg),
				   "exited", 0);
	free(path);
	return record;
}

int ls_hook_collect(const char *seen_dir, json_t **ret, struct ls_err *err)
{
	DIR *d = opendir(seen_dir);
	if (!d)
		return ls_err_set(err, LS_EIO, "%s: cannot read the interpreters' records: %s",
				  seen_dir, strerror(errno));
	json_t **records = NULL;
	size_t n = 0, cap = 0;
	for (struct dirent *e; (e = readdir(d));) {
		if (!ls_str_ends(e->d_name, ".jsonl"))
			continue;
		records = ls_grow(records, n, &cap, sizeof(json_t *));
		records[n++] = read_one(seen_dir, e->d_name);
	}
	closedir(d);
	if (n)
		qsort(records, n, sizeof(json_t *), by_start);
	json_t *all = json_pack("{s:[],s:I,s:[],s:[],s:[],s:{},s:{},s:[],s:[]}", "interpreters",
				"count", (json_int_t)n, "undone", "nondeterministic", "failed",
				"modules", "seeds", "gpus", "pids");
	for (size_t i = 0; i < n; i++) {
		merge(all, records[i]);
		json_decref(records[i]);
	}
	free(records);
	*ret = all;
	return 0;
}

static bool has_record(const json_t *pids, pid_t pid)
{
	size_t i;
	json_t *p;
	json_array_foreach(pids, i, p) if (json_integer_value(p) == pid) return true;
	return false;
}

void ls_hook_match(json_t *collected, const struct ls_procscan *scan)
{
	json_t *uncovered = json_array(), *pids = json_object_get(collected, "pids");
	for (size_t i = 0; i < scan->n; i++) {
		const struct ls_procscan_seen *s = &scan->seen[i];
		if (s->times > 1 && !s->brief && !has_record(pids, s->pid))
			json_array_append_new(uncovered, ls_json_lossy(s->command));
	}
	json_object_set_new(collected, "uncovered", uncovered);
	json_object_del(collected, "pids");
}
