/* Keras 3's .keras: a zip archive of config.json, metadata.json and model.weights.h5. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "compare/compare_internal.h"
#include "compare/json_values.h"
#include "tensor/hdf5.h"
#include "tensor/zip.h"

enum { MEMBER_LIMIT = 256 << 20 };

static const char weights[] = "model.weights.h5";

bool ls_keras_is(const struct ls_zip *zip)
{
	return ls_zip_find(zip, "config.json") && ls_zip_find(zip, "metadata.json");
}

/* A member's bytes as they lie in the archive, or inflated into the bundle. */
static int member_bytes(struct ls_bundle *b, const struct ls_zip_member *m, const uint8_t **ret,
			struct ls_err *err)
{
	uint8_t *made = NULL;
	*ret = m->data;
	if (!m->deflated)
		return 0;
	int rc = ls_zip_extract(m, MEMBER_LIMIT, &made, err);
	if (rc == 0)
		*ret = ls_bundle_keep_take(b, made);
	return rc;
}

/* Every save writes its time of day. */
static void drop_time(struct ls_bundle *b)
{
	size_t kept = 0;
	for (size_t i = 0; i < b->n_values; i++)
		if (strcmp(b->values[i].name, "metadata.date_saved") != 0)
			b->values[kept++] = b->values[i];
	b->n_values = kept;
}

/* --- object ids --- */

/* Keras writes the address of a shared object as its id. Which parts share one is told by
 * the place of the first of them instead. */
struct shared {
	int64_t id;
	size_t place; /* among all ids */
	struct ls_value *value;
};

static int by_id(const void *x, const void *y)
{
	const struct shared *a = x, *b = y;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

static void number_shared(struct ls_bundle *b)
{
	struct shared *s = ls_xalloc((b->n_values + 1) * sizeof *s);
	size_t n = 0, first = 0;
	for (size_t i = 0; i < b->n_values; i++) {
		struct ls_value *v = &b->values[i];
		if (v->kind == LS_VAL_INT && !v->text &&
		    ls_str_ends(v->name, ".shared_object_id")) {
			s[n] = (struct shared){v->i, n, v};
			n++;
		}
	}
	qsort(s, n, sizeof *s, by_id);
	for (size_t i = 0; i < n; i++) {
		if (i && s[i].id != s[i - 1].id)
			first = i;
		s[i].value->i = (int64_t)s[first].place;
	}
	free(s);
}

/* A text that is JSON becomes its values; another one stays as it is. */
static void expand(struct ls_bundle *b, size_t i)
{
	const struct ls_value v = b->values[i]; /* the list grows */
	size_t before = b->n_values;
	if (ls_json_values(b, v.name, v.text, v.len, v.name, NULL)) {
		b->n_values = before;
		return;
	}
	b->values[i].kind = LS_VAL_OTHER;
	b->values[i].text = "JSON";
	b->values[i].len = strlen("JSON");
}

void ls_keras_expand(struct ls_bundle *b)
{
	size_t n = b->n_values;
	for (size_t i = 0; i < n; i++) {
		const char *name = b->values[i].name;
		if (b->values[i].kind == LS_VAL_STRING &&
		    (strcmp(name, "@model_config") == 0 || strcmp(name, "@training_config") == 0))
			expand(b, i);
	}
	number_shared(b);
}

static int read_json(struct ls_bundle *b, const struct ls_zip_member *m, const uint8_t *data,
		     struct ls_err *err)
{
	char *prefix = ls_xstrndup(m->name, strlen(m->name) - strlen(".json"));
	int rc = ls_json_values(b, prefix, (const char *)data, (size_t)m->size, m->name, err);
	free(prefix);
	return rc;
}

static int read_member(struct ls_bundle *b, const struct ls_zip_member *m, struct ls_err *err)
{
	const uint8_t *data = NULL;
	bool is_json = ls_str_ends(m->name, ".json"), is_weights = strcmp(m->name, weights) == 0;
	if (!is_json && !is_weights) {
		ls_bundle_add_member(b, m);
		return 0;
	}
	int rc = member_bytes(b, m, &data, err);
	if (rc)
		return rc;
	return is_json ? read_json(b, m, data, err)
		       : ls_hdf5_parse(b, data, (size_t)m->size, m->name, err);
}

int ls_keras_open(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	struct ls_bundle *b = ls_bundle_new("Keras");
	struct ls_zip *zip = ls_bundle_keep_zip(b);
	struct ls_map map;
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0)
		rc = ls_zip_parse(map.data, map.len, path, zip, err);
	for (size_t i = 0; rc == 0 && i < zip->n; i++) {
		rc = read_member(b, &zip->members[i], err);
		if (rc)
			ls_err_prefix(err, "%s", path);
	}
	drop_time(b);
	number_shared(b);
	if (rc == 0)
		rc = ls_bundle_seal(b, path, err);
	return ls_bundle_hand_take(b, rc, ret);
}
