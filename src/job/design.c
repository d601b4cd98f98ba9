#include "job/design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "job/row.h"
#include "job/rule.h"

/* --- templates --- */

static const char *const template_keys[] = {
	"command",       "description", "partition", "num_gpus",  "batch_size",   "accumulation",
	"global_batch",  "samples",     "epochs",    "precision", "warmup_steps", "total_steps",
	"warmup_epochs", "level",       "settings",  "harvest",   "tags",         NULL};

/* A file's name without a slash; the caller frees. NULL after an error. */
static char *template_path(struct ls_store *s, const char *name, struct ls_err *err)
{
	if (!*name || strchr(name, '/') || name[0] == '.') {
		ls_err_set(err, LS_EINPUT, "\"%s\" cannot be a template's name", name);
		return NULL;
	}
	char *folder = ls_store_file(s, "templates");
	char *path = ls_xasprintf("%s/%s.json", folder, name);
	free(folder);
	return path;
}

static bool are_words(const json_t *list)
{
	const json_t *word;
	size_t i;
	json_array_foreach(list, i, word) if (!json_is_string(word)) return false;
	return json_array_size(list) > 0;
}

static bool are_texts(const json_t *object)
{
	const char *key;
	const json_t *v;
	json_object_foreach((json_t *)(uintptr_t)object, key,
			    v) if (!json_is_string(v)) return false;
	return !object || json_is_object(object);
}

int ls_template_check(const json_t *t, const char *path, struct ls_err *err)
{
	static const char *const texts[] = {"description", "partition", "precision"};
	static const char *const counts[] = {"num_gpus",     "batch_size", "accumulation",
					     "global_batch", "samples",    "warmup_steps",
					     "total_steps",  "level"};
	if (!json_is_object(t))
		return ls_err_set(err, LS_EINPUT, "%s: must be an object, is %s", path,
				  ls_json_kind(t));
	int rc = ls_json_only(t, template_keys, path, err);
	if (rc)
		return rc;
	if (!are_words(json_object_get(t, "command")))
		return ls_err_set(
			err, LS_EINPUT,
			"%s: command must be a list of words, [\"python3\", \"train.py\"]", path);
	if (!are_texts(json_object_get(t, "settings")))
		return ls_err_set(err, LS_EINPUT, "%s: settings must be texts by name", path);
	rc = ls_rules_check(json_object_get(t, "harvest"), err);
	if (rc)
		return ls_err_prefix(err, "%s", path);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const json_t *v = json_object_get(t, texts[i]);
		if (v && !json_is_string(v))
			return ls_err_set(err, LS_EINPUT, "%s: %s must be text", path, texts[i]);
	}
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		const json_t *v = json_object_get(t, counts[i]);
		if (v && (!json_is_integer(v) || json_integer_value(v) < 0))
			return ls_err_set(err, LS_EINPUT, "%s: %s must be a number from 0", path,
					  counts[i]);
	}
	return 0;
}

int ls_template_load(struct ls_store *s, const char *name, json_t **ret, struct ls_err *err)
{
	char *path = template_path(s, name, err);
	json_t *t = NULL;
	int rc = path ? 0 : LS_EINPUT;
	if (!rc && !ls_file_exists(path))
		rc = ls_err_set(err, LS_EINPUT,
				"there is no template %s (%s); `lockstep exp template %s -- "
				"COMMAND` makes it",
				name, path, name);
	if (!rc)
		rc = ls_json_load(path, &t, err);
	if (!rc)
		rc = ls_template_check(t, path, err);
	free(path);
	if (rc) {
		json_decref(t);
		return rc;
	}
	json_object_set_new(t, "template", json_string(name));
	*ret = t;
	return 0;
}

int ls_template_save(struct ls_store *s, const char *name, const json_t *design, bool replace,
		     struct ls_err *err)
{
	char *path = template_path(s, name, err);
	int rc = path ? ls_template_check(design, path, err) : LS_EINPUT;
	if (!rc && !replace && ls_file_exists(path))
		rc = ls_err_set(err, LS_EINPUT, "%s: is already there; --replace overwrites it",
				path);
	if (!rc)
		rc = ls_json_write(path, design, err);
	free(path);
	return rc;
}

json_t *ls_design_like(const json_t *row)
{
	static const char *const keys[] = {
		"description",  "template",     "partition",    "precision",
		"command",      "settings",     "harvest",      "num_gpus",
		"batch_size",   "accumulation", "global_batch", "samples",
		"warmup_steps", "total_steps",  "level",        "seed"};
	json_t *design = json_object();
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		json_t *v = json_object_get(row, keys[i]);
		if (v && !json_is_null(v))
			json_object_set_new(design, keys[i], json_deep_copy(v));
	}
	return design;
}

/* --- batch and schedule --- */

static void set(json_t *design, const char *key, int64_t value)
{
	json_object_set_new(design, key, json_integer(value));
}

/* One of batch_size and accumulation from the others; `times` is their product. */
static int divide(json_t *d, int64_t global, int64_t ranks, struct ls_err *err)
{
	int64_t batch = ls_col_int(d, "batch_size", 0), accum = ls_col_int(d, "accumulation", 0);
	int64_t by = ranks * (batch ? batch : accum ? accum : 1);
	if (global % by != 0)
		return ls_err_set(err, LS_EINPUT,
				  "a global batch of %lld is no multiple of %lld GPU%s times %s "
				  "%lld; `lockstep plan` lists what divides it",
				  (long long)global, (long long)ranks, ranks == 1 ? "" : "s",
				  batch ? "batch" : "accumulation", (long long)(by / ranks));
	if (batch) {
		set(d, "accumulation", global / by);
	} else {
		set(d, "batch_size", global / by);
		set(d, "accumulation", accum ? accum : 1);
	}
	return 0;
}

int ls_design_batch(json_t *d, struct ls_err *err)
{
	enum { MOST = 1 << 30 };
	int64_t gpus = ls_col_int(d, "num_gpus", 0), ranks = gpus > 0 ? gpus : 1;
	int64_t batch = ls_col_int(d, "batch_size", 0), accum = ls_col_int(d, "accumulation", 0);
	int64_t global = ls_col_int(d, "global_batch", 0);
	if (batch > MOST || accum > MOST || global > MOST || ranks > MOST)
		return ls_err_set(err, LS_EINPUT, "batches and GPUs are at most %d", MOST);
	if (global && batch && accum && global / accum != batch * ranks)
		return ls_err_set(err, LS_EINPUT,
				  "batch %lld x %lld GPU%s x accumulation %lld is not the global "
				  "batch %lld",
				  (long long)batch, (long long)ranks, ranks == 1 ? "" : "s",
				  (long long)accum, (long long)global);
	if (global && !(batch && accum))
		return divide(d, global, ranks, err);
	if (batch && !accum)
		set(d, "accumulation", accum = 1);
	if (batch && !global && batch * ranks <= INT64_MAX / accum)
		set(d, "global_batch", batch * ranks * accum);
	return 0;
}

#define MOST_SAMPLES ((int64_t)1 << 50)

int ls_design_steps(json_t *d, double epochs, double warmup_epochs, struct ls_err *err)
{
	int64_t samples = ls_col_int(d, "samples", 0), global = ls_col_int(d, "global_batch", 0);
	if (epochs < 0 && warmup_epochs < 0)
		return 0;
	if (samples > MOST_SAMPLES || global > MOST_SAMPLES)
		return ls_err_set(err, LS_EINPUT, "so many samples cannot be counted in steps");
	if (!samples || !global)
		return ls_err_set(err, LS_EINPUT,
				  "epochs become steps by samples and batch: give --samples and "
				  "--batch-size, or --total-steps and --warmup-steps");
	const int64_t whole = (samples + global - 1) / global; /* the last batch is partial */
	double steps = (double)whole;
	if (epochs * steps > 1e15 || warmup_epochs * steps > 1e15)
		return ls_err_set(err, LS_EINPUT, "so many epochs cannot be counted in steps");
	if (epochs >= 0)
		set(d, "total_steps", (int64_t)llround(epochs * steps));
	if (warmup_epochs >= 0)
		set(d, "warmup_steps", (int64_t)llround(warmup_epochs * steps));
	return 0;
}

/* --- seeds --- */

static void add_seed(const json_t *design, uint64_t seed, json_t *to)
{
	json_t *d = json_deep_copy(design);
	const char *name = ls_col_text(design, "name");
	char *own = ls_xasprintf("%s_seed%llu", name, (unsigned long long)seed);
	json_object_set_new(d, "group", json_string(name));
	json_object_set_new(d, "name", json_string(own));
	set(d, "seed", (int64_t)seed);
	free(own);
	json_array_append_new(to, d);
}

int ls_design_seeds(const json_t *design, const char *seeds, json_t **ret, struct ls_err *err)
{
	char *text = ls_xstrdup(seeds), *save = NULL;
	json_t *list = json_array();
	int rc = 0;
	for (char *t = strtok_r(text, ",", &save); t && !rc; t = strtok_r(NULL, ",", &save)) {
		uint64_t seed = 0;
		rc = ls_str_to_u64(ls_str_trim(t), 0, INT64_MAX, "option --seeds", &seed, err);
		if (!rc)
			add_seed(design, seed, list);
	}
	if (!rc && json_array_size(list) == 0)
		rc = ls_err_set(err, LS_EINPUT, "option --seeds: a list such as 42,123,456");
	free(text);
	if (rc)
		json_decref(list);
	else
		*ret = list;
	return rc;
}
