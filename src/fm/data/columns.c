#include "fm/data/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "fm/data/csv.h"
#include "fm/data/hash.h"

static const char format[] = "lockstep-fm-columns";
enum { VERSION = 1 };

struct ls_columns *ls_columns_new(void)
{
	struct ls_columns *c = ls_xalloc(sizeof *c);
	c->seed = LS_HASH_SEED;
	c->bits = LS_HASH_BITS;
	return c;
}

void ls_columns_free(struct ls_columns *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++)
		free(c->column[i].name);
	for (size_t i = 0; i < c->n_classes; i++)
		free(c->class[i]);
	for (size_t i = 0; i < c->n_names; i++)
		free(c->name[i].name);
	free(c->label);
	free(c->weight);
	free(c->column);
	free(c->class);
	free(c->name);
	free(c);
}

static int add_column(struct ls_columns *c, const char *name, size_t len, bool numeric,
		      struct ls_err *err)
{
	for (size_t i = 0; i < c->n; i++)
		if (strlen(c->column[i].name) == len && memcmp(c->column[i].name, name, len) == 0)
			return ls_err_set(err, LS_EINPUT, "column \"%.100s\" is named twice",
					  c->column[i].name);
	if (c->n == LS_COLUMNS_MOST)
		return ls_err_set(err, LS_EINPUT, "more than %d columns", LS_COLUMNS_MOST);
	if (len == 0)
		return ls_err_set(err, LS_EINPUT, "a column's name is empty");
	c->column = ls_grow(c->column, c->n, &c->cap, sizeof *c->column);
	c->column[c->n++] = (struct ls_column){ls_xstrndup(name, len), numeric};
	return 0;
}

int ls_columns_add(struct ls_columns *c, const char *list, bool numeric, struct ls_err *err)
{
	struct ls_source *s;
	struct ls_csv_record r = {0};
	ls_source_open_memory("the list of columns", list, strlen(list), 0, &s);
	struct ls_csv *csv = ls_csv_new(s, ',');
	int rc = ls_csv_next(csv, &r, err);
	if (rc == 0)
		rc = ls_err_set(err, LS_EINPUT, "the list of columns is empty");
	for (size_t i = 0; i < r.n && rc >= 0; i++)
		rc = add_column(c, r.cell[i].text, r.cell[i].len, numeric, err);
	ls_csv_free(csv);
	ls_source_free(s);
	return rc < 0 ? rc : 0;
}

bool ls_columns_missing(const char *text, size_t len)
{
	static const char *const words[] = {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i]) == len && memcmp(text, words[i], len) == 0)
			return true;
	return false;
}

size_t ls_columns_class(const struct ls_columns *c, const char *text, size_t len)
{
	size_t low = 0, high = c->n_classes;
	while (low < high) {
		size_t i = (low + high) / 2;
		int order = strncmp(text, c->class[i], len);
		order = order ? order : -(int)(c->class[i][len] != 0);
		if (order == 0)
			return i;
		if (order < 0)
			high = i;
		else
			low = i + 1;
	}
	return SIZE_MAX;
}

const char *ls_columns_feature(const struct ls_columns *c, uint32_t feature)
{
	size_t low = 0, high = c->n_names;
	while (low < high) {
		size_t i = (low + high) / 2;
		if (c->name[i].feature == feature)
			return c->name[i].name;
		if (c->name[i].feature > feature)
			high = i;
		else
			low = i + 1;
	}
	return NULL;
}

/* --- writing --- */

static json_t *columns_json(const struct ls_columns *c)
{
	json_t *list = json_array();
	for (size_t i = 0; i < c->n; i++)
		json_array_append_new(list,
				      json_pack("{s:s,s:s}", "name", c->column[i].name, "kind",
						c->column[i].numeric ? "numeric" : "categorical"));
	return list;
}

static json_t *classes_json(const struct ls_columns *c)
{
	json_t *list = c->n_classes ? json_array() : json_null();
	for (size_t i = 0; i < c->n_classes; i++)
		json_array_append_new(list, json_string(c->class[i]));
	return list;
}

static json_t *names_json(const struct ls_columns *c)
{
	json_t *names = json_object();
	for (size_t i = 0; i < c->n_names; i++) {
		char *key = ls_xasprintf("%u", c->name[i].feature);
		json_object_set_new(names, key, ls_json_lossy(c->name[i].name));
		free(key);
	}
	return names;
}

int ls_columns_save(const struct ls_columns *c, const char *path, struct ls_err *err)
{
	char delimiter[2] = {c->delimiter, 0};
	json_t *o =
		json_pack("{s:s,s:i,s:s,s:I,s:i,s:s,s:b,s:s,s:s?,s:o,s:o,s:o}", "format", format,
			  "version", VERSION, "hash", "xxh3-64", "seed", (json_int_t)c->seed,
			  "bits", (int)c->bits, "delimiter", delimiter, "header", !c->no_header,
			  "label", c->label, "weight", c->weight, "columns", columns_json(c),
			  "classes", classes_json(c), "names", names_json(c));
	if (!o)
		return ls_err_set(err, LS_EINPUT, "%s: the name of a column is not UTF-8", path);
	int rc = ls_json_write(path, o, err);
	json_decref(o);
	return rc;
}

/* --- reading --- */

static int bad(const char *name, const char *what, struct ls_err *err)
{
	return ls_err_set(
		err, LS_EINPUT,
		"%s: %s is not as `lockstep fm convert` writes it; convert the table again", name,
		what);
}

static char *copy_string(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));
	return s && *s ? ls_xstrdup(s) : NULL;
}

static int read_columns(struct ls_columns *c, const json_t *list, const char *name,
			struct ls_err *err)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *o = json_array_get(list, i);
		const char *column = json_string_value(json_object_get(o, "name")),
			   *kind = json_string_value(json_object_get(o, "kind"));
		if (!column || !kind ||
		    (strcmp(kind, "numeric") != 0 && strcmp(kind, "categorical") != 0))
			return bad(name, "\"columns\"", err);
		int rc = add_column(c, column, strlen(column), *kind == 'n', err);
		if (rc)
			return ls_err_prefix(err, "%s", name);
	}
	return c->n ? 0 : bad(name, "\"columns\"", err);
}

static int read_classes(struct ls_columns *c, const json_t *list, const char *name,
			struct ls_err *err)
{
	size_t n = json_array_size(list);
	if (json_is_null(list))
		return 0;
	if (n < 1 || n > LS_COLUMNS_CLASSES)
		return bad(name, "\"classes\"", err);
	c->class = ls_xalloc(n * sizeof *c->class);
	for (size_t i = 0; i < n; i++) {
		const char *s = json_string_value(json_array_get(list, i));
		if (!s || (i && strcmp(c->class[i - 1], s) >= 0))
			return bad(name, "\"classes\"", err);
		c->class[c->n_classes++] = ls_xstrdup(s);
	}
	return 0;
}

static int by_feature(const void *a, const void *b)
{
	const struct ls_feature_name *x = a, *y = b;
	return (x->feature > y->feature) - (x->feature < y->feature);
}

static int read_names(struct ls_columns *c, json_t *names, const char *name, struct ls_err *err)
{
	const char *key;
	json_t *value;
	if (!json_is_object(names) || json_object_size(names) > LS_COLUMNS_NAMES)
		return bad(name, "\"names\"", err);
	json_object_foreach(names, key, value)
	{
		uint64_t feature;
		if (!json_is_string(value) || ls_str_to_u64(key, 0, (UINT64_C(1) << c->bits) - 1,
							    "a feature", &feature, NULL))
			return bad(name, "\"names\"", err);
		c->name = ls_grow(c->name, c->n_names, &c->cap_names, sizeof *c->name);
		c->name[c->n_names++] = (struct ls_feature_name){
			(uint32_t)feature, ls_xstrdup(json_string_value(value))};
	}
	if (c->n_names)
		qsort(c->name, c->n_names, sizeof *c->name, by_feature);
	return 0;
}

static int read_numbers(struct ls_columns *c, const json_t *o, const char *name, struct ls_err *err)
{
	const char *hash = json_string_value(json_object_get(o, "hash")),
		   *delimiter = json_string_value(json_object_get(o, "delimiter"));
	json_int_t seed = json_integer_value(json_object_get(o, "seed")),
		   bits = json_integer_value(json_object_get(o, "bits"));
	if (!hash || strcmp(hash, "xxh3-64") != 0)
		return bad(name, "\"hash\"", err);
	if (seed < 0 || !json_is_integer(json_object_get(o, "seed")))
		return bad(name, "\"seed\"", err);
	if (bits < 1 || bits > LS_HASH_MOST_BITS)
		return bad(name, "\"bits\"", err);
	if (!delimiter || strlen(delimiter) > 1 || (*delimiter && strchr("\"\r\n", *delimiter)))
		return bad(name, "\"delimiter\"", err);
	c->seed = (uint64_t)seed;
	c->bits = (unsigned)bits;
	c->delimiter = *delimiter;
	c->no_header = !json_is_true(json_object_get(o, "header"));
	c->label = copy_string(o, "label");
	c->weight = copy_string(o, "weight");
	return c->label ? 0 : bad(name, "\"label\"", err);
}

static int read_all(struct ls_columns *c, json_t *o, const char *name, struct ls_err *err)
{
	static const char *const keys[] = {"format",    "version", "hash",  "seed",   "bits",
					   "delimiter", "header",  "label", "weight", "columns",
					   "classes",   "names",   NULL};
	const char *is = json_string_value(json_object_get(o, "format"));
	if (!is || strcmp(is, format) != 0)
		return ls_err_set(
			err, LS_EINPUT,
			"%s: does not say how a table becomes rows; `lockstep fm convert` "
			"writes such a file beside the rows",
			name);
	if (json_integer_value(json_object_get(o, "version")) != VERSION)
		return bad(name, "\"version\"", err);
	int rc = ls_json_only(o, keys, name, err);
	if (rc == 0)
		rc = read_numbers(c, o, name, err);
	if (rc == 0)
		rc = read_columns(c, json_object_get(o, "columns"), name, err);
	if (rc == 0)
		rc = read_classes(c, json_object_get(o, "classes"), name, err);
	return rc ? rc : read_names(c, json_object_get(o, "names"), name, err);
}

static int from_json_take(json_t *o, const char *name, struct ls_columns **ret, struct ls_err *err)
{
	struct ls_columns *c = ls_columns_new();
	int rc = read_all(c, o, name, err);
	json_decref(o);
	if (rc)
		ls_columns_free(c);
	else
		*ret = c;
	return rc;
}

int ls_columns_load(const char *path, struct ls_columns **ret, struct ls_err *err)
{
	json_t *o;
	int rc = ls_json_load(path, &o, err);
	return rc ? rc : from_json_take(o, path, ret, err);
}

int ls_columns_parse(const char *text, size_t len, const char *name, struct ls_columns **ret,
		     struct ls_err *err)
{
	json_t *o;
	int rc = ls_json_parse(text, len, name, &o, err);
	return rc ? rc : from_json_take(o, name, ret, err);
}
