#include "fm/model/save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "fm/data/content.h"
#include "fm/model/tensors.h"
#include "num/decimal.h"
#include "num/num.h"
#include "tensor/safetensors.h"

enum { MAX_TENSORS = 3 * LS_FM_GROUPS, MAX_META = 20 };

static void add_number(struct ls_str *text, float value)
{
	char digits[LS_DECIMAL_TEXT];
	ls_decimal_print(value, digits);
	ls_str_add(text, digits);
}

static void add_float(struct ls_str *text, const char *key, float value)
{
	ls_str_addf(text, ", \"%s\": ", key);
	add_number(text, value);
}

static void add_count(struct ls_str *text, const char *key, uint64_t value)
{
	ls_str_addf(text, ", \"%s\": %llu", key, (unsigned long long)value);
}

/* What the parts are called in the keys of penalties. */
static const char *const part_names[] = {"bias", "linear", "factors", "fields"};

static void add_penalties(struct ls_str *text, const char *which, const float *penalty)
{
	for (int i = 0; i < LS_FM_PARTS; i++) {
		char key[24];
		snprintf(key, sizeof key, "%s_%s", which, part_names[i]);
		add_float(text, key, penalty[i]);
	}
}

char *ls_fm_opts_text(const struct ls_fm_opts *o)
{
	struct ls_str text = {0};
	ls_str_addf(&text, "{\"kind\": \"%s\", \"task\": \"%s\", \"optimizer\": \"%s\"",
		    ls_fm_kind_of(o), ls_fm_task_name(o->task), ls_fm_optimizer_name(o->optimizer));
	add_count(&text, "factors", o->factors);
	add_count(&text, "classes", o->classes);
	add_count(&text, "batch", o->batch);
	add_float(&text, "lr", o->lr);
	add_penalties(&text, "l1", o->l1);
	add_penalties(&text, "l2", o->l2);
	add_float(&text, "init_scale", o->init_scale);
	add_float(&text, "initial_sum", o->initial_sum);
	add_float(&text, "beta1", o->beta1);
	add_float(&text, "beta2", o->beta2);
	add_float(&text, "eps", o->eps);
	add_float(&text, "ftrl_beta", o->ftrl_beta);
	add_float(&text, "label_smoothing", o->label_smoothing);
	ls_str_add(&text, ", \"class_weight\": [");
	for (uint32_t i = 0; i < o->n_class_weights; i++) {
		ls_str_add(&text, i ? ", " : "");
		add_number(&text, o->class_weight[i]);
	}
	ls_str_addf(&text,
		    "], \"normalize\": %s, \"scale\": %s, \"shuffle\": \"%s\", \"decay\": \"%s\"",
		    o->normalize ? "true" : "false", o->scale ? "true" : "false",
		    ls_fm_shuffle_name(o->shuffle), ls_fm_decay_name(o->decay));
	add_count(&text, "warmup_steps", o->warmup_steps);
	add_count(&text, "decay_steps", o->decay_steps);
	add_count(&text, "seed", o->seed);
	if (o->steps_before)
		add_count(&text, "steps_before", o->steps_before);
	ls_str_add(&text, "}");
	return ls_str_take(&text);
}

/* --- reading options back --- */

struct opts_source {
	const json_t *object;
	bool bad;
};

static float take_float(struct opts_source *s, const json_t *v)
{
	double d = json_number_value(v);
	if (!json_is_number(v) || !(d >= -1e30 && d <= 1e30))
		s->bad = true;
	return s->bad ? 0.0f : (float)d;
}

static float get_float(struct opts_source *s, const char *key)
{
	return take_float(s, json_object_get(s->object, key));
}

static bool get_bool(struct opts_source *s, const char *key)
{
	const json_t *v = json_object_get(s->object, key);
	if (!json_is_boolean(v))
		s->bad = true;
	return json_is_true(v);
}

static uint64_t get_count(struct opts_source *s, const char *key, uint64_t min, uint64_t max)
{
	const json_t *v = json_object_get(s->object, key);
	json_int_t i = json_integer_value(v);
	if (!json_is_integer(v) || i < 0 || (uint64_t)i < min || (uint64_t)i > max)
		s->bad = true;
	return s->bad ? min : (uint64_t)i;
}

static int get_word(struct opts_source *s, const char *key)
{
	const char *value = json_string_value(json_object_get(s->object, key));
	int i = value ? ls_fm_word(key, value) : -1;
	if (i < 0)
		s->bad = true;
	return i < 0 ? 0 : i;
}

static void get_penalties(struct opts_source *s, const char *which, float *ret)
{
	for (int i = 0; i < LS_FM_PARTS; i++) {
		char key[24];
		snprintf(key, sizeof key, "%s_%s", which, part_names[i]);
		ret[i] = get_float(s, key);
	}
}

/* "linear" is an fm without factors. */
static enum ls_fm_kind get_kind(struct opts_source *s, bool *ret_linear)
{
	const char *value = json_string_value(json_object_get(s->object, "kind"));
	*ret_linear = value && strcmp(value, "linear") == 0;
	return *ret_linear ? LS_FM : (enum ls_fm_kind)get_word(s, "kind");
}

static void get_class_weights(struct opts_source *s, struct ls_fm_opts *o)
{
	const json_t *list = json_object_get(s->object, "class_weight");
	if (!json_is_array(list) || json_array_size(list) > LS_FM_MAX_CLASSES) {
		s->bad = true;
		return;
	}
	o->n_class_weights = (uint32_t)json_array_size(list);
	for (uint32_t i = 0; i < o->n_class_weights; i++)
		o->class_weight[i] = take_float(s, json_array_get(list, i));
}

static int read_opts(const json_t *object, const char *path, struct ls_fm_opts *ret,
		     struct ls_err *err)
{
	struct opts_source s = {object, !json_is_object(object)};
	bool linear;
	enum ls_fm_kind kind = get_kind(&s, &linear);
	struct ls_fm_opts o = {.kind = kind,
			       .task = (enum ls_fm_task)get_word(&s, "task"),
			       .optimizer = (enum ls_fm_optimizer)get_word(&s, "optimizer"),
			       .shuffle = (enum ls_fm_shuffle)get_word(&s, "shuffle"),
			       .decay = (enum ls_fm_decay)get_word(&s, "decay"),
			       .factors = (uint32_t)get_count(&s, "factors", !linear,
							      linear ? 0 : LS_FM_MAX_FACTORS),
			       .classes = (uint32_t)get_count(&s, "classes", 1, LS_FM_MAX_CLASSES),
			       .batch = (uint32_t)get_count(&s, "batch", 1, LS_FM_MAX_BATCH),
			       .warmup_steps = get_count(&s, "warmup_steps", 0, INT64_MAX),
			       .decay_steps = get_count(&s, "decay_steps", 0, INT64_MAX),
			       .seed = get_count(&s, "seed", 0, INT64_MAX),
			       .lr = get_float(&s, "lr"),
			       .init_scale = get_float(&s, "init_scale"),
			       .initial_sum = get_float(&s, "initial_sum"),
			       .beta1 = get_float(&s, "beta1"),
			       .beta2 = get_float(&s, "beta2"),
			       .eps = get_float(&s, "eps"),
			       .ftrl_beta = get_float(&s, "ftrl_beta"),
			       .label_smoothing = get_float(&s, "label_smoothing"),
			       .normalize = get_bool(&s, "normalize"),
			       .scale = get_bool(&s, "scale")};
	get_penalties(&s, "l1", o.l1);
	get_penalties(&s, "l2", o.l2);
	get_class_weights(&s, &o);
	if (json_object_get(object, "steps_before"))
		o.steps_before = get_count(&s, "steps_before", 1, INT64_MAX);
	if (o.n_class_weights && o.n_class_weights != ls_fm_classes(&o))
		s.bad = true;
	if (json_object_get(object, "online"))
		return ls_err_set(
			err, LS_EINPUT,
			"%s: trained with --online, which lockstep no longer has: train it "
			"again in batches",
			path);
	if (s.bad)
		return ls_err_set(err, LS_EINPUT,
				  "%s: its options are not those of a lockstep model", path);
	*ret = o;
	return 0;
}

/* --- writing --- */

/* Metadata that model and checkpoint share; the strings belong to `texts`. */
struct meta {
	struct ls_kv kv[MAX_META];
	char *texts[MAX_META];
	size_t n;
};

static void add_meta_take(struct meta *meta, const char *key, char *value)
{
	meta->texts[meta->n] = value;
	meta->kv[meta->n++] = (struct ls_kv){key, value};
}

static void meta_done(struct meta *meta)
{
	for (size_t i = 0; i < meta->n; i++)
		free(meta->texts[i]);
}

static void common_meta(struct meta *meta, const struct ls_fm_model *m, const char *format,
			const char *data_digest)
{
	*meta = (struct meta){.n = 0};
	add_meta_take(meta, "format", ls_xstrdup(format));
	add_meta_take(meta, "numerics_version", ls_xasprintf("%d", LS_NUMERICS_VERSION));
	add_meta_take(meta, "kind", ls_xstrdup(ls_fm_kind_of(&m->opts)));
	add_meta_take(meta, "task", ls_xstrdup(ls_fm_task_name(m->opts.task)));
	add_meta_take(meta, "n_features", ls_xasprintf("%llu", (unsigned long long)m->n_features));
	add_meta_take(meta, "n_fields", ls_xasprintf("%u", m->n_fields));
	add_meta_take(meta, "seed", ls_xasprintf("%llu", (unsigned long long)m->opts.seed));
	add_meta_take(meta, "data_digest", ls_xstrdup(data_digest));
	add_meta_take(meta, "options", ls_fm_opts_text(&m->opts));
}

/* What stands in the place of the checksum while it is computed. */
static const char no_checksum[] = "0000000000000000";

/* Of all bytes of a file but those that hold it: its header, with zeros in their place, and
 * its tensors. */
static void checksum_text(const char *header, size_t len, const struct ls_fm_model *m,
			  uint32_t states, int threads, char ret[sizeof no_checksum])
{
	uint64_t sum = ls_xxh64(header, len) + ls_fm_model_checksum(m, states, threads);
	snprintf(ret, sizeof no_checksum, "%016llx", (unsigned long long)sum);
}

/* Adds the checksum to the metadata and writes the tensors. */
static int write_tensors(const char *path, const struct ls_fm_model *m, uint32_t states,
			 const struct ls_tensor *tensors, size_t n, int threads, struct meta *meta,
			 struct ls_file_id *ret_id, struct ls_err *err)
{
	char *header, *sum = ls_xstrdup(no_checksum);
	add_meta_take(meta, "checksum", sum);
	int rc = ls_safetensors_header(path, tensors, n, meta->kv, meta->n, &header, err);
	if (rc)
		return rc;
	checksum_text(header, strlen(header), m, states, threads, sum);
	free(header);
	return ls_safetensors_write(path, tensors, n, meta->kv, meta->n, ret_id, err);
}

/* All states must be finite, written or not: AdaGrad and Adam divide by an infinite one,
 * and a parameter that looks sound has not moved. */
int ls_fm_check_finite(const struct ls_fm_model *m, int threads, const char *path,
		       struct ls_err *err)
{
	int rc = 0;
	for (uint32_t s = 0; s <= m->states && rc == 0; s++) {
		struct ls_fm_group groups[LS_FM_GROUPS];
		size_t n = ls_fm_groups(m, s, groups);
		for (size_t i = 0; i < n && rc == 0; i++)
			rc = ls_fm_group_check(&groups[i], threads, path, err);
	}
	return rc;
}

/* Writes the parameters and `states` of the optimizer's states. */
static int write_groups(const char *path, const struct ls_fm_model *m, uint32_t states, int threads,
			struct meta *meta, struct ls_file_id *ret_id, struct ls_err *err)
{
	struct ls_fm_group groups[MAX_TENSORS];
	struct ls_tensor tensors[MAX_TENSORS];
	size_t n = 0;
	int rc = ls_fm_check_finite(m, threads, path, err);
	for (uint32_t s = 0; s <= states; s++)
		n += ls_fm_groups(m, s, groups + n);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = ls_fm_group_describe(&groups[i], &tensors[i], err);
	if (rc)
		return rc;
	return write_tensors(path, m, states, tensors, n, threads, meta, ret_id, err);
}

int ls_fm_save_model(const char *path, const struct ls_fm_model *m, const struct ls_fm_position *at,
		     int threads, struct ls_file_id *ret_id, struct ls_err *err)
{
	struct meta meta;
	struct ls_err mine = {0};
	common_meta(&meta, m, "lockstep-fm", at->data_digest);
	add_meta_take(&meta, "steps", ls_xasprintf("%llu", (unsigned long long)at->step));
	if (*at->warm_digest)
		add_meta_take(&meta, "warm_start", ls_xstrdup(at->warm_digest));
	int rc = write_groups(path, m, 0, threads, &meta, ret_id, err ? err : &mine);
	meta_done(&meta);
	return rc;
}

/* A double as its bits: text that gives the same double back. */
static char *double_text(double d)
{
	uint64_t u;
	memcpy(&u, &d, sizeof u);
	return ls_xasprintf("%016llx", (unsigned long long)u);
}

int ls_fm_save_checkpoint(const char *path, const struct ls_fm_model *m,
			  const struct ls_fm_position *at, int threads, struct ls_err *err)
{
	struct meta meta;
	struct ls_err mine = {0};
	common_meta(&meta, m, "lockstep-fm-checkpoint", at->data_digest);
	add_meta_take(&meta, "position",
		      ls_xasprintf("{\"step\": %llu, \"epochs\": %llu, \"best_epoch\": %u, "
				   "\"stale_epochs\": %u}",
				   (unsigned long long)at->step, (unsigned long long)at->epochs,
				   at->best_epoch, at->stale_epochs));
	add_meta_take(&meta, "valid_digest", ls_xstrdup(at->valid_digest));
	add_meta_take(&meta, "best_value_bits", double_text(at->best_value));
	add_meta_take(&meta, "loss_bits", double_text(at->loss_so_far));
	add_meta_take(&meta, "metric", ls_xstrdup(at->metric));
	add_meta_take(&meta, "best_digest", ls_xstrdup(at->best_digest));
	add_meta_take(&meta, "warm_start", ls_xstrdup(at->warm_digest));
	add_meta_take(&meta, "label_exponent", ls_xasprintf("%d", m->label_exp));
	int rc = write_groups(path, m, m->states, threads, &meta, NULL, err ? err : &mine);
	meta_done(&meta);
	return rc;
}

/* --- reading --- */

static int wrong(const char *path, const char *what, struct ls_err *err)
{
	return ls_err_set(err, LS_EINPUT, "%s: %s", path, what);
}

/* Copies a tensor into its group; the shape must be what the model's sizes say. */
static int read_group(struct ls_bundle *b, const struct ls_fm_group *g, int threads,
		      const char *path, struct ls_err *err)
{
	struct ls_tensor want, *t = ls_bundle_find(b, g->name);
	if (!t)
		return ls_err_set(err, LS_EINPUT, "%s: tensor \"%s\" is missing", path, g->name);
	int rc = ls_fm_group_describe(g, &want, err);
	if (rc)
		return rc;
	if (t->dtype != LS_DT_F32 || t->ndim != want.ndim ||
	    memcmp(t->shape, want.shape, sizeof(uint64_t) * (size_t)t->ndim))
		return ls_err_set(
			err, LS_EINPUT,
			"%s: tensor \"%s\" has another type or shape than the options say", path,
			g->name);
	return ls_fm_group_fill(g, t->data, threads, path, err);
}

static bool says(const struct ls_bundle *b, const char *key, const char *want)
{
	const char *text = ls_bundle_meta(b, key);
	return text && strcmp(text, want) == 0;
}

/* What the metadata say twice, for readers of the file, must agree. */
static bool says_kind(const struct ls_bundle *b, const struct ls_fm_opts *o)
{
	char seed[24];
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)o->seed);
	return says(b, "kind", ls_fm_kind_of(o)) && says(b, "task", ls_fm_task_name(o->task)) &&
	       says(b, "seed", seed);
}

static int read_header(const struct ls_bundle *b, const char *path, const char *format,
		       struct ls_fm_opts *ret_opts, uint64_t *ret_features, uint32_t *ret_fields,
		       struct ls_err *err)
{
	const char *is = ls_bundle_meta(b, "format"),
		   *version = ls_bundle_meta(b, "numerics_version");
	const char *features = ls_bundle_meta(b, "n_features"),
		   *fields = ls_bundle_meta(b, "n_fields");
	const char *options = ls_bundle_meta(b, "options");
	if (!is || !ls_str_starts(is, "lockstep-fm"))
		return wrong(path, "not written by lockstep fm", err);
	if (strcmp(is, format) != 0)
		return wrong(path,
			     strcmp(format, "lockstep-fm") == 0
				     ? "a checkpoint, not a model: train on with --resume"
				     : "a model, not a checkpoint; --warm-start takes models",
			     err);
	uint64_t n, f;
	if (!version || ls_str_to_u64(version, 0, INT32_MAX, "version", &n, NULL) ||
	    n != LS_NUMERICS_VERSION)
		return ls_err_set(err, LS_EINPUT,
				  "%s: made under numerics version %s, this is version %d: train "
				  "it again, or take the "
				  "lockstep that made it",
				  path, version ? version : "unknown", LS_NUMERICS_VERSION);
	if (!features || !fields || !options ||
	    ls_str_to_u64(features, 0, (uint64_t)1 << 32, "n_features", &n, NULL) ||
	    ls_str_to_u64(fields, 0, 65536, "n_fields", &f, NULL))
		return wrong(path, "its metadata is not complete", err);
	json_t *object;
	int rc = ls_json_parse(options, strlen(options), path, &object, err);
	if (rc)
		return rc;
	rc = read_opts(object, path, ret_opts, err);
	json_decref(object);
	if (rc == 0 && !says_kind(b, ret_opts))
		rc = wrong(path, "its kind, task or seed is not that of its options", err);
	*ret_features = n;
	*ret_fields = (uint32_t)f;
	return rc;
}

/* Before memory is allocated: the file must be large enough for what its metadata
 * claim. */
static int check_claim(const struct ls_bundle *b, const struct ls_fm_opts *opts,
		       uint64_t n_features, uint32_t n_fields, const char *path, struct ls_err *err)
{
	const struct ls_tensor *t = ls_bundle_find(b, "factors"), *l = ls_bundle_find(b, "linear");
	if (!l || l->ndim < 1 || l->shape[0] != n_features)
		return wrong(path, "its tensors do not match its metadata", err);
	if (!opts->factors)
		return 0;
	if (!t || t->ndim < 2 || t->shape[0] != n_features ||
	    t->shape[t->ndim - 1] != opts->factors)
		return wrong(path, "its tensors do not match its metadata", err);
	if (opts->kind == LS_FFM && n_fields != 1 &&
	    (t->ndim < 3 || t->shape[t->ndim - 2] != n_fields))
		return wrong(path, "its tensors do not match its metadata", err);
	return 0;
}

/* A copy of the header with zeros in the place of its checksum; caller frees. NULL: it has
 * none. */
static char *header_without(const struct ls_map *file, const char *checksum, size_t *ret_len)
{
	uint64_t len;
	memcpy(&len, file->data, sizeof len);
	char *header = ls_xstrndup((const char *)file->data + sizeof len, len),
	     *field = ls_xasprintf("\"checksum\":\"%s\"", checksum), *at = strstr(header, field);
	bool found = at && strlen(checksum) == strlen(no_checksum);
	if (found)
		memcpy(at + strlen("\"checksum\":\""), no_checksum, strlen(no_checksum));
	else
		free(header);
	free(field);
	*ret_len = len;
	return found ? header : NULL;
}

/* What has been read is what was written: a flipped bit of a parameter, which may be any
 * number, would predict and train on. */
static int check_sum(const struct ls_bundle *b, const struct ls_fm_model *m, const char *path,
		     int threads, struct ls_err *err)
{
	const char *stored = ls_bundle_meta(b, "checksum");
	char sum[sizeof no_checksum];
	size_t len;
	if (!stored)
		return wrong(path,
			     "has no checksum: another program wrote it, or an earlier lockstep; "
			     "train it again",
			     err);
	char *header = header_without(&b->maps[0], stored, &len);
	if (header)
		checksum_text(header, len, m, m->states, threads, sum);
	bool same = header && strcmp(sum, stored) == 0;
	free(header);
	return same ? 0
		    : wrong(path,
			    "its checksum is not that of its contents: the "
			    "file is damaged, or another program changed it",
			    err);
}

/* Opens it; of another kind of file the message says what it is. */
static int open_file(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	bool rows = false;
	int rc = ls_safetensors_open(path, ret, err);
	const char *what = rc == LS_EINPUT ? ls_content_not_model(path, &rows) : NULL;
	if (!what)
		return rc;
	return ls_err_set(err, LS_EINPUT, "%s: holds %s, not a model%s", path, what,
			  rows ? "; where both are given the model comes before the data"
			       : "; a model is what `lockstep fm train -o` writes");
}

/* How a checkpoint's training scales values and labels; room for the former, which are
 * read with the parameters. */
static int read_scale(const struct ls_bundle *b, const char *path, struct ls_fm_model *m,
		      struct ls_err *err)
{
	const char *text = ls_bundle_meta(b, "label_exponent");
	double exp;
	if (!text ||
	    ls_str_to_double(text, -LS_FM_MOST_EXP, LS_FM_MOST_EXP, "label_exponent", &exp, NULL))
		return wrong(path, "its metadata is not complete", err);
	m->label_exp = (int)exp;
	if (!ls_bundle_find(b, "exponents"))
		return 0;
	m->exps = ls_alloc_array(m->n_features ? m->n_features : 1, sizeof *m->exps);
	return m->exps ? 0 : ls_err_set(err, LS_ENOMEM, "%s: no memory for its exponents", path);
}

static int check_exps(const struct ls_fm_model *m, const char *path, struct ls_err *err)
{
	for (uint64_t j = 0; m->exps && j < m->n_features; j++)
		if (!(m->exps[j] >= -LS_FM_MOST_EXP && m->exps[j] <= LS_FM_MOST_EXP) ||
		    m->exps[j] != (float)(int)m->exps[j])
			return wrong(path, "its exponents cannot be", err);
	return 0;
}

/* A model without states, or a checkpoint, by its format. */
static int load(const char *path, const char *format, int threads, struct ls_bundle **ret_bundle,
		struct ls_fm_model **ret, struct ls_err *err)
{
	struct ls_bundle *b;
	int rc = open_file(path, &b, err);
	if (rc)
		return rc;
	struct ls_fm_opts opts;
	uint64_t n_features = 0;
	uint32_t n_fields = 0;
	struct ls_fm_model *m = NULL;
	bool bare = strcmp(format, "lockstep-fm") == 0;
	rc = read_header(b, path, format, &opts, &n_features, &n_fields, err);
	if (rc == 0)
		rc = check_claim(b, &opts, n_features, n_fields, path, err);
	if (rc == 0) {
		rc = (bare ? ls_fm_model_new_bare : ls_fm_model_new_stored)(&opts, n_features,
									    n_fields, &m, err);
		if (rc)
			ls_err_prefix(err, "%s", path);
		if (rc == LS_ENOMEM)
			ls_err_advise(err, "it takes a machine with more, or a higher limit");
	}
	if (rc == 0 && !bare)
		rc = read_scale(b, path, m, err);
	for (uint32_t s = 0; rc == 0 && s <= m->states; s++) {
		struct ls_fm_group groups[LS_FM_GROUPS];
		/* padding, which is in no file */
		if (s == 1 && m->padded != opts.factors)
			ls_fm_model_start_states(m);
		size_t n = ls_fm_groups(m, s, groups);
		for (size_t i = 0; i < n && rc == 0; i++)
			rc = read_group(b, &groups[i], threads, path, err);
	}
	if (rc == 0)
		rc = check_sum(b, m, path, threads, err);
	if (rc == 0)
		rc = check_exps(m, path, err);
	if (rc) {
		ls_fm_model_free(m);
		ls_bundle_free(b);
		return rc;
	}
	*ret_bundle = b;
	*ret = m;
	return 0;
}

/* A text of the metadata, if it is there and not too long. */
static bool get_text(const struct ls_bundle *b, const char *key, char *ret, size_t size)
{
	const char *text = ls_bundle_meta(b, key);
	if (!text || strlen(text) >= size)
		return false;
	memcpy(ret, text, strlen(text) + 1);
	return true;
}

int ls_fm_load_model(const char *path, int threads, struct ls_fm_model **ret, struct ls_err *err)
{
	return ls_fm_load_model_at(path, threads, ret, NULL, err);
}

/* What a model's file says of its training; what it lacks stays empty. */
static void model_position(const struct ls_bundle *b, struct ls_fm_position *ret)
{
	const char *steps = ls_bundle_meta(b, "steps");
	*ret = (struct ls_fm_position){0};
	if (steps)
		ls_str_to_u64(steps, 0, INT64_MAX, "steps", &ret->step, NULL);
	get_text(b, "data_digest", ret->data_digest, sizeof ret->data_digest);
	get_text(b, "warm_start", ret->warm_digest, sizeof ret->warm_digest);
}

int ls_fm_load_model_at(const char *path, int threads, struct ls_fm_model **ret,
			struct ls_fm_position *ret_at, struct ls_err *err)
{
	struct ls_bundle *b;
	int rc = load(path, "lockstep-fm", threads, &b, ret, err);
	if (rc)
		return rc;
	if (ret_at)
		model_position(b, ret_at);
	ls_bundle_free(b);
	return 0;
}

bool ls_fm_is_checkpoint(const char *path)
{
	struct ls_bundle *b;
	bool is = ls_safetensors_open(path, &b, NULL) == 0;
	if (is) {
		is = says(b, "format", "lockstep-fm-checkpoint");
		ls_bundle_free(b);
	}
	return is;
}

int ls_fm_check_model(const char *path, const struct ls_fm_opts *o, const char *data_digest,
		      const char *warm_digest, struct ls_err *err)
{
	struct ls_bundle *b;
	struct ls_fm_opts opts;
	uint64_t features;
	uint32_t fields;
	int rc = open_file(path, &b, err);
	if (rc)
		return rc;
	rc = read_header(b, path, "lockstep-fm", &opts, &features, &fields, err);
	const char *data = ls_bundle_meta(b, "data_digest"),
		   *warm = ls_bundle_meta(b, "warm_start");
	char *is = rc ? NULL : ls_fm_opts_text(&opts), *want = ls_fm_opts_text(o);
	if (rc == 0 && (!data || strcmp(data, data_digest) != 0 || strcmp(is, want) != 0))
		rc = wrong(path, "a model of other data or options", err);
	else if (rc == 0 && strcmp(warm ? warm : "", warm_digest) != 0)
		rc = wrong(path, "a model with another --warm-start", err);
	free(is);
	free(want);
	ls_bundle_free(b);
	return rc;
}

static bool parse_bits(const char *text, double *ret)
{
	char *end;
	uint64_t u = text && strlen(text) == 16 ? strtoull(text, &end, 16) : 0;
	if (!text || strlen(text) != 16 || *end)
		return false;
	memcpy(ret, &u, sizeof u);
	return true;
}

static int read_position(const struct ls_bundle *b, const char *path, struct ls_fm_position *at,
			 struct ls_err *err)
{
	const char *text = ls_bundle_meta(b, "position");
	json_t *object = NULL;
	*at = (struct ls_fm_position){0};
	if (!text || !get_text(b, "data_digest", at->data_digest, sizeof at->data_digest) ||
	    !get_text(b, "valid_digest", at->valid_digest, sizeof at->valid_digest) ||
	    !get_text(b, "metric", at->metric, sizeof at->metric) ||
	    !get_text(b, "best_digest", at->best_digest, sizeof at->best_digest) ||
	    !get_text(b, "warm_start", at->warm_digest, sizeof at->warm_digest) ||
	    ls_json_parse(text, strlen(text), path, &object, err))
		return wrong(path, "its position is missing or not readable", err);
	struct opts_source s = {object, !json_is_object(object)};
	at->step = get_count(&s, "step", 0, INT64_MAX);
	at->epochs = get_count(&s, "epochs", 0, INT64_MAX);
	at->best_epoch = (uint32_t)get_count(&s, "best_epoch", 0, UINT32_MAX);
	at->stale_epochs = (uint32_t)get_count(&s, "stale_epochs", 0, UINT32_MAX);
	json_decref(object);
	if (s.bad || !parse_bits(ls_bundle_meta(b, "best_value_bits"), &at->best_value) ||
	    !parse_bits(ls_bundle_meta(b, "loss_bits"), &at->loss_so_far))
		return wrong(path, "its position is not readable", err);
	return 0;
}

int ls_fm_load_checkpoint(const char *path, int threads, struct ls_fm_model **ret,
			  struct ls_fm_position *ret_at, struct ls_err *err)
{
	struct ls_bundle *b;
	struct ls_fm_model *m;
	struct ls_fm_position at;
	int rc = load(path, "lockstep-fm-checkpoint", threads, &b, &m, err);
	if (rc)
		return rc;
	rc = read_position(b, path, &at, err);
	ls_bundle_free(b);
	if (rc) {
		ls_fm_model_free(m);
		return rc;
	}
	*ret = m;
	*ret_at = at;
	return 0;
}
