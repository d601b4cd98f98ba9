/* Reads what the hook wrote, one file of JSON lines for each interpreter, and merges the
 * files into one account of the run. */
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
	static const char *const start[] = {
		"pid",    "ppid",   "forked_from", "host",  "executable", "argv",
		"python", "prefix", "hash_probe",  "rank",  "world_size", "env",
		"time",   "nested", "image",       "child", NULL};
	static const char *const end[] = {"settings", "loaders", "batch",    "gpus",
					  "ops",      "streams", "training", "sources",
					  "packages", "exact",   NULL};
	const char *kind = text_of(event, "event");
	if (strcmp(kind, "start") == 0) {
		copy_keys(record, event, start);
	} else if (strcmp(kind, "module") == 0 && *text_of(event, "name")) {
		take_module(record, event);
	} else if (strcmp(kind, "undone") == 0 || strcmp(kind, "nondeterministic") == 0 ||
		   strcmp(kind, "failed") == 0 || strcmp(kind, "seeded") == 0) {
		json_array_append(json_object_get(record, kind), event);
		json_object_del(event, "event"); /* kind is gone with it */
	} else if (strcmp(kind, "exit") == 0) {
		copy_keys(record, event, end);
		json_object_set_new(record, "exited", json_true());
	} else if (strcmp(kind, "exec") == 0) {
		json_object_set(record, "exec", json_object_get(event, "argv"));
	} else if (strcmp(kind, "spawn") == 0) {
		json_array_append(json_object_get(record, "spawns"), event);
	} else if (strcmp(kind, "unwatched") == 0) {
		json_object_set(record, "unwatched", json_object_get(event, "reason"));
	} else if (strcmp(kind, "exec failed") == 0) {
		json_object_del(record, "exec");
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
	json_t *record = json_pack("{s:{},s:[],s:[],s:[],s:[],s:[],s:b}", "modules", "undone",
				   "nondeterministic", "failed", "seeded", "spawns", "exited", 0);
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

/* Adds an event to a list, or counts one more process where the list has the same
 * event. */
static void merge_event(json_t *list, json_t *event, const char *key, const char *value)
{
	size_t i;
	json_t *have;
	json_array_foreach(list, i, have)
	{
		if (strcmp(text_of(have, key), text_of(event, key)) != 0 ||
		    !json_equal(json_object_get(have, value), json_object_get(event, value)))
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

static void merge_list(json_t *all, json_t *record, const char *list, const char *key,
		       const char *value)
{
	size_t i;
	json_t *event, *to = json_object_get(all, list);
	json_array_foreach(json_object_get(record, list), i, event)
		merge_event(to, event, key, value);
}

/* Counts the processes that drew from one stream: the same generator, begun in the same
 * state. */
static void merge_streams(json_t *all, const json_t *record)
{
	const char *library;
	json_t *state;
	json_object_foreach(json_object_get(record, "streams"), library, state)
	{
		json_t *event = json_pack("{s:s,s:O}", "stream", library, "state", state);
		merge_event(json_object_get(all, "shared_streams"), event, "stream", "state");
		json_decref(event);
	}
}

static void drop_unshared(json_t *streams)
{
	for (size_t i = json_array_size(streams); i-- > 0;) {
		json_t *e = json_array_get(streams, i);
		json_object_del(e, "state");
		if (json_integer_value(json_object_get(e, "processes")) < 2)
			json_array_remove(streams, i);
	}
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
	json_int_t accumulate = number(batch, "accumulate", number(l, "batches_per_step", 0));
	if (world < 1 || accumulate < 0 || each < 1 || each > 1 << 30 || world > 1 << 20 ||
	    accumulate > 1 << 10)
		return;
	json_t *times = accumulate ? json_integer(accumulate) : json_null();
	json_t *global = accumulate ? json_integer(each * world * accumulate) : json_null();
	json_object_set_new(all, "global_batch",
			    json_pack("{s:I,s:I,s:o,s:o,s:I}", "per_process", each, "world_size",
				      world, "accumulate", times, "global", global, "workers",
				      number(l, "num_workers", 0)));
}

/* The first training that is told: rank 0's, or that of the process that started
 * first. */
static void merge_training(json_t *all, const json_t *record)
{
	json_t *training = json_object_get(record, "training");
	if (json_is_object(training) && !json_object_get(all, "training"))
		json_object_set(all, "training", training);
}

/* Two processes that had something different under one name: both are told. */
static void merge_texts(json_t *all, const json_t *record, const char *what)
{
	const char *name;
	json_t *text, *to = json_object_get(all, what);
	json_object_foreach(json_object_get(record, what), name, text)
	{
		const char *have = json_string_value(json_object_get(to, name));
		const char *new = json_string_value(text);
		if (!new || (have && strstr(have, new)))
			continue;
		if (have && strlen(have) > 1000)
			continue;
		char *both = have ? ls_xasprintf("%s and %s", have, new) : ls_xstrdup(new);
		json_object_set_new(to, name, json_string(both));
		free(both);
	}
}

static void add_number(json_t *o, const char *key, json_int_t n)
{
	json_object_set_new(o, key, json_integer(json_integer_value(json_object_get(o, key)) + n));
}

/* Calls of all processes together; reason and line of an operation outside are the first
 * process's. */
static void merge_exact_calls(json_t *all, const json_t *one)
{
	const char *name;
	json_t *v, *exact = json_object_get(all, "exact"),
		   *outside = json_object_get(all, "outside");
	json_object_foreach(json_object_get(one, "exact"), name, v)
		add_number(exact, name, json_integer_value(v));
	json_object_foreach(json_object_get(one, "outside"), name, v)
	{
		json_t *have = json_object_get(outside, name);
		if (have)
			add_number(have, "calls", number(v, "calls", 0));
		else
			json_object_set(outside, name, v);
	}
	add_number(all, "calls", number(one, "calls", 0));
	add_number(all, "exact_calls", number(one, "exact_calls", 0));
}

static void count_kinds(json_t *all)
{
	const char *name;
	json_t *v, *exact = json_object_get(all, "exact"),
		   *outside = json_object_get(all, "outside");
	size_t kinds = json_object_size(exact), out = json_object_size(outside);
	json_object_foreach(outside, name, v) kinds += !json_object_get(exact, name);
	json_object_set_new(all, "kinds", json_integer((json_int_t)kinds));
	json_object_set_new(all, "exact_kinds", json_integer((json_int_t)(kinds - out)));
}

static void merge_exact(json_t *all, const json_t *record)
{
	json_t *one = json_object_get(record, "exact"), *have = json_object_get(all, "exact");
	if (!json_is_object(one))
		return;
	if (!have) {
		have = json_pack("{s:O*,s:O*,s:{},s:{}}", "numerics",
				 json_object_get(one, "numerics"), "strict",
				 json_object_get(one, "strict"), "exact", "outside");
		json_object_set_new(all, "exact", have);
	}
	merge_exact_calls(have, one);
	count_kinds(have);
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

/* The switches by their short names, as read back at the end of the first process that
 * had torch.
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

/* What is needed to tell which process images left a record. */
static void merge_image(json_t *all, const json_t *record)
{
	static const char *const keys[] = {"pid", "host", "time", "image", "exec", NULL};
	json_t *image = json_object();
	copy_keys(image, record, keys);
	json_array_append_new(json_object_get(all, "images"), image);
}

static void merge(json_t *all, json_t *record)
{
	merge_determinism(all, record);
	merge_list(all, record, "undone", "setting", "found");
	merge_list(all, record, "nondeterministic", "operation", "raised");
	merge_list(all, record, "failed", "reason", "reason");
	merge_list(all, record, "seeded", "library", "value");
	merge_streams(all, record);
	merge_modules(all, record);
	merge_batch(all, record);
	merge_training(all, record);
	merge_texts(all, record, "sources");
	merge_texts(all, record, "packages");
	merge_gpus(all, record);
	merge_exact(all, record);
	merge_image(all, record);
	json_array_extend(json_object_get(all, "spawns"), json_object_get(record, "spawns"));
	static const char *const dropped[] = {
		"undone", "nondeterministic", "failed",  "env",      "gpus",   "loaders", "streams",
		"seeded", "training",         "sources", "packages", "spawns", "exact",   NULL};
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

/* A record that cannot be read becomes a failure of the policy; the run itself is not
 * lost. */
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
	json_t *all =
		json_pack("{s:[],s:I,s:[],s:[],s:[],s:[],s:[],s:{},s:{},s:{},s:{},s:[],s:[],s:[]}",
			  "interpreters", "count", (json_int_t)n, "undone", "nondeterministic",
			  "failed", "seeded", "shared_streams", "modules", "seeds", "sources",
			  "packages", "gpus", "images", "spawns");
	for (size_t i = 0; i < n; i++) {
		merge(all, records[i]);
		json_decref(records[i]);
	}
	free(records);
	drop_unshared(json_object_get(all, "shared_streams"));
	*ret = all;
	return 0;
}
