#include "env/spec/spec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "env/spec/spec_fields.h"

enum { SPEC_LIMIT = 16 << 20 };

/* Facts that are one value: a member of the document each. */
static const struct {
	const char *key;
	enum ls_flavour flavour;
} plain[] = {
	{"python", LS_AS_VERSION}, {"torch", LS_AS_VERSION}, {"torch_cuda", LS_AS_VERSION},
	{"cudnn", LS_AS_CUDNN},    {"cuda", LS_AS_VERSION},  {"driver", LS_AS_VERSION},
	{"nvcc", LS_AS_VERSION},   {"nccl", LS_AS_VERSION},  {"driver_cuda", LS_AS_VERSION},
	{"os", LS_AS_TEXT},        {"kernel", LS_AS_KERNEL}, {"glibc", LS_AS_VERSION},
	{"arch", LS_AS_TEXT},      {"cpu", LS_AS_TEXT},      {"container_toolkit", LS_AS_VERSION},
};

static const char *const members[] = {
	"schema",
	"name",
	"description",
	"date",
	"source",
	"captured",
	"absent",
	"image",
	"python",
	"torch",
	"torch_cuda",
	"cudnn",
	"cuda",
	"driver",
	"nvcc",
	"driver_cuda",
	"nccl",
	"os",
	"kernel",
	"glibc",
	"arch",
	"cpu",
	"gpus",
	"packages",
	"requirements",
	"hardware",
	"env",
	"ci",
	"container_toolkit",
	NULL,
};

const char *ls_level_name(enum ls_level level)
{
	static const char *const names[] = {"required", "recommended", "informational"};
	return names[level];
}

static int parse_level(const json_t *v, const char *where, enum ls_level *ret, struct ls_err *err)
{
	for (int i = 0; json_is_string(v) && i < 3; i++)
		if (strcmp(json_string_value(v), ls_level_name((enum ls_level)i)) == 0) {
			*ret = (enum ls_level)i;
			return 0;
		}
	return ls_err_set(err, LS_EINPUT,
			  "%s: level: expected \"required\", \"recommended\" or \"informational\"",
			  where);
}

static const char *key_at(const void *checks, size_t i)
{
	return ((const struct ls_check *)checks)[i].key;
}

/* Appends the check and returns it; key is copied. */
static struct ls_check *add_check(struct ls_spec *spec, const char *key)
{
	spec->checks =
		ls_grow(spec->checks, spec->n_checks, &spec->cap_checks, sizeof *spec->checks);
	struct ls_check *c = &spec->checks[spec->n_checks++];
	*c = (struct ls_check){.key = ls_xstrdup(key)};
	ls_keymap_add(&spec->map, spec->checks, key_at, spec->n_checks - 1);
	return c;
}

static int level_and_why(struct ls_check *c, const json_t *v, const char *where, struct ls_err *err)
{
	const json_t *level = json_object_get(v, "level");
	int rc = level ? parse_level(level, where, &c->level, err) : 0;
	if (!rc)
		rc = ls_spec_text(v, "why", where, &c->why, err);
	return rc;
}

/* "2.3.1", ["2.3.1", "2.4.0"] or {"match": …, "level": …, "why": …}. */
static int parse_check(struct ls_spec *spec, const char *key, enum ls_flavour flavour,
		       const json_t *v, struct ls_err *err)
{
	static const char *const keys[] = {"match", "level", "why", NULL};
	char *where = ls_xasprintf("%s: %s", spec->path, key);
	struct ls_check *c = add_check(spec, key);
	int rc = 0;
	if (json_is_object(v)) {
		rc = ls_json_only(v, keys, where, err);
		if (!rc)
			rc = level_and_why(c, v, where, err);
		v = json_object_get(v, "match");
		if (!rc && !v)
			rc = ls_err_set(err, LS_EINPUT, "%s: \"match\" is missing", where);
	}
	if (!rc)
		rc = ls_matcher_from_json(v, flavour, where, &c->matcher, err);
	free(where);
	return rc;
}

static int parse_plain(struct ls_spec *spec, struct ls_err *err)
{
	int rc = 0;
	for (size_t i = 0; i < sizeof plain / sizeof *plain && !rc; i++) {
		const json_t *v = json_object_get(spec->json, plain[i].key);
		if (v)
			rc = parse_check(spec, plain[i].key, plain[i].flavour, v, err);
	}
	return rc;
}

static int parse_gpus(struct ls_spec *spec, struct ls_err *err)
{
	const json_t *v = json_object_get(spec->json, "gpus");
	if (!v)
		return 0;
	char *where = ls_xasprintf("%s: gpus", spec->path);
	struct ls_check *c = add_check(spec, "gpus");
	int rc = json_is_object(v) ? level_and_why(c, v, where, err) : 0;
	if (!rc)
		rc = ls_gpuset_from_json(v, where, &c->gpus, err);
	free(where);
	return rc;
}

/* {"NAME": check, …} under prefix "package." or "env." */
static int parse_named(struct ls_spec *spec, const char *member, const char *prefix,
		       enum ls_flavour flavour, struct ls_err *err)
{
	json_t *all = json_object_get(spec->json, member), *v;
	const char *name;
	if (!all)
		return 0;
	if (!json_is_object(all))
		return ls_err_set(err, LS_EINPUT, "%s: %s: expected an object, found %s",
				  spec->path, member, ls_json_kind(all));
	int rc = 0;
	json_object_foreach(all, name, v)
	{
		bool package = strcmp(member, "packages") == 0;
		if (!(package ? ls_spec_is_package(name) : ls_spec_is_variable(name)))
			return ls_err_set(err, LS_EINPUT, "%s: %s: \"%.80s\" is not the name of %s",
					  spec->path, member, name,
					  package ? "a package" : "an environment variable");
		char *plain_name = package ? ls_spec_package_name(name) : ls_xstrdup(name);
		char *key = ls_xasprintf("%s%s", prefix, plain_name);
		rc = ls_spec_find(spec, key)
			     ? ls_err_set(err, LS_EINPUT, "%s: %s: \"%.80s\" is given twice",
					  spec->path, member, name)
			     : parse_check(spec, key, flavour, v, err);
		free(key);
		free(plain_name);
		if (rc)
			return rc;
	}
	return 0;
}

/* "8 GB" under hardware means at least 8 GB. */
static int hardware_check(struct ls_spec *spec, const char *key, enum ls_flavour flavour,
			  enum ls_level level, const json_t *v, const char *where,
			  struct ls_err *err)
{
	char count[32];
	const char *text = json_string_value(v);
	if (flavour != LS_AS_MEMORY && json_is_integer(v) && json_integer_value(v) >= 1 &&
	    json_integer_value(v) <= 4096) {
		snprintf(count, sizeof count, "%d", (int)json_integer_value(v));
		text = count;
	}
	if (!text && strcmp(key, "gpu_count") == 0)
		return ls_err_set(err, LS_EINPUT, "%s: gpu_count: a count is from 1 to 4096",
				  where);
	if (!text)
		return ls_err_set(err, LS_EINPUT,
				  "%s: %s: expected a text such as \"8 GB\", found %s%s", where,
				  key, ls_json_kind(v),
				  json_is_number(v) ? " (an amount of memory needs its unit)" : "");
	struct ls_check *c = add_check(spec, key);
	c->level = level;
	char *bound = ls_xasprintf("%s%s", strchr("<>=!", *text) && *text ? "" : ">=", text);
	int rc = ls_matcher_parse(bound, flavour, &c->matcher, err);
	if (rc)
		ls_err_prefix(err, "%s: %s", where, key);
	free(bound);
	return rc;
}

static int parse_hardware_level(struct ls_spec *spec, const json_t *v, const char *name,
				enum ls_level level, struct ls_err *err)
{
	static const char *const keys[] = {"ram",       "vram",   "capability",
					   "gpu_count", "driver", NULL};
	static const enum ls_flavour flavours[] = {LS_AS_MEMORY, LS_AS_MEMORY, LS_AS_VERSION,
						   LS_AS_VERSION, LS_AS_VERSION};
	char *where = ls_xasprintf("%s: hardware: %s", spec->path, name);
	int rc = json_is_object(v) ? ls_json_only(v, keys, where, err)
				   : ls_err_set(err, LS_EINPUT, "%s: expected an object, found %s",
						where, ls_json_kind(v));
	for (size_t i = 0; keys[i] && !rc; i++)
		if (json_object_get(v, keys[i]))
			rc = hardware_check(spec, keys[i], flavours[i], level,
					    json_object_get(v, keys[i]), where, err);
	free(where);
	return rc;
}

static int parse_hardware(struct ls_spec *spec, struct ls_err *err)
{
	static const char *const keys[] = {"minimum", "recommended", NULL};
	const json_t *v;
	int rc = ls_spec_object(spec->json, "hardware", spec->path, keys, &v, err);
	for (int i = 0; keys[i] && !rc && v; i++)
		if (json_object_get(v, keys[i]))
			rc = parse_hardware_level(spec, json_object_get(v, keys[i]), keys[i],
						  (enum ls_level)i, err);
	return rc;
}

static int parse_schema(const struct ls_spec *spec, struct ls_err *err)
{
	const json_t *v = json_object_get(spec->json, "schema");
	if (!v)
		return ls_err_set(err, LS_EINPUT, "%s: \"schema\": 1 is missing; is this a spec?",
				  spec->path);
	if (!json_is_integer(v) || json_integer_value(v) != 1)
		return ls_err_set(err, LS_EINPUT, "%s: schema: this program reads schema 1",
				  spec->path);
	return 0;
}

static int parse_document(struct ls_spec *spec, struct ls_err *err)
{
	if (!json_is_object(spec->json))
		return ls_err_set(err, LS_EINPUT, "%s: a spec is an object, found %s", spec->path,
				  ls_json_kind(spec->json));
	int rc = ls_json_only(spec->json, members, spec->path, err);
	if (!rc)
		rc = parse_schema(spec, err);
	if (!rc)
		rc = ls_spec_parse_fields(spec, err);
	if (!rc)
		rc = parse_plain(spec, err);
	if (!rc)
		rc = parse_gpus(spec, err);
	if (!rc)
		rc = parse_named(spec, "packages", "package.", LS_AS_VERSION, err);
	if (!rc)
		rc = parse_named(spec, "env", "env.", LS_AS_TEXT, err);
	if (!rc)
		rc = parse_hardware(spec, err);
	return rc;
}

int ls_spec_parse(const char *text, size_t len, const char *path, struct ls_spec **ret,
		  struct ls_err *err)
{
	struct ls_spec *spec = ls_xalloc(sizeof *spec);
	spec->path = ls_xstrdup(path);
	int rc = ls_json_parse(text, len, path, &spec->json, err);
	if (!rc)
		rc = parse_document(spec, err);
	if (rc) {
		ls_spec_free(spec);
		return rc;
	}
	*ret = spec;
	return 0;
}

/* Is this the file of another tool, by its name or by how it begins? */
static const char *foreign(const char *path, const char *text)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	for (; *text == '#' || *text == '\n'; text += *text == '\n')
		text += strcspn(text, "\n");
	if (ls_str_ends(name, ".yml") || ls_str_ends(name, ".yaml") ||
	    ls_str_starts(text, "name:") || ls_str_starts(text, "channels:") ||
	    ls_str_starts(text, "dependencies:"))
		return "YAML";
	if (ls_str_starts(name, "Dockerfile") || ls_str_starts(text, "FROM "))
		return "a Dockerfile";
	return ls_str_ends(name, ".txt") && *text && !strchr("{[", *text) ? "a text for pip" : NULL;
}

/* A parse error of such a file becomes the advice to import it. */
static int advise_import(const char *path, const char *text, struct ls_err *err)
{
	const char *what = foreign(path, text);
	if (!what)
		return err ? err->code : LS_EINPUT;
	return ls_err_set(err, LS_EINPUT,
			  "%s: this is %s, and a spec is JSON; make a spec of it: lockstep spec "
			  "import %s -o spec.json",
			  path, what, path);
}

static int no_such_spec(const char *name, struct ls_err *err)
{
	enum { MAX = 64 };
	char *names[MAX + 1] = {0};
	struct ls_str list = {0};
	for (size_t i = 0; i < MAX && (names[i] = ls_spec_shipped(i)); i++)
		ls_str_addf(&list, "%s%s", i ? ", " : "", names[i]);
	const char *near = ls_str_nearest(name, (const char *const *)names);
	ls_err_set(err, LS_ENOENT,
		   "no shipped spec and no file is called \"%.200s\"%s%s%s (shipped: %s)", name,
		   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "",
		   list.s ? list.s : "none");
	for (size_t i = 0; i < MAX; i++)
		free(names[i]);
	ls_str_done(&list);
	return LS_ENOENT;
}

int ls_spec_load(const char *name_or_path, struct ls_spec **ret, struct ls_err *err)
{
	bool path = strchr(name_or_path, '/') || ls_str_ends(name_or_path, ".json") ||
		    strcmp(name_or_path, "-") == 0;
	char *text, *blob_name = ls_xasprintf("specs/%s.json", name_or_path);
	const struct ls_blob *blob = path ? NULL : ls_embed_find(blob_name);
	size_t len;
	free(blob_name);
	if (blob)
		return ls_spec_parse((const char *)blob->data, blob->len, name_or_path, ret, err);
	if (!path && !ls_file_exists(name_or_path))
		return no_such_spec(name_or_path, err);
	int rc = ls_file_read(name_or_path, SPEC_LIMIT, &text, &len, err);
	if (rc)
		return rc;
	rc = ls_spec_parse(text, len, name_or_path, ret, err);
	if (rc && *text && !strchr("{[ \t\n\"", *text))
		rc = advise_import(name_or_path, text, err);
	free(text);
	return rc;
}

void ls_spec_free(struct ls_spec *spec)
{
	if (!spec)
		return;
	for (size_t i = 0; i < spec->n_checks; i++) {
		free(spec->checks[i].key);
		free(spec->checks[i].why);
		ls_matcher_free(spec->checks[i].matcher);
		ls_gpuset_free(spec->checks[i].gpus);
	}
	free(spec->checks);
	ls_keymap_done(&spec->map);
	ls_spec_free_fields(spec);
	free(spec->path);
	json_decref(spec->json);
	free(spec);
}

const struct ls_check *ls_spec_find(const struct ls_spec *spec, const char *key)
{
	size_t i = ls_keymap_find(&spec->map, spec->checks, key_at, key);
	return i == SIZE_MAX ? NULL : &spec->checks[i];
}

bool ls_spec_is_absent(const struct ls_spec *spec, const char *key)
{
	for (char **p = spec->absent; p && *p; p++)
		if (strcmp(*p, key) == 0)
			return true;
	return false;
}

enum ls_level ls_spec_absent_level(const char *key)
{
	static const char *const told[] = {"nvcc", "nccl", "container_toolkit", "image", NULL};
	if (ls_str_starts(key, "env."))
		return LS_LEVEL_RECOMMENDED;
	for (const char *const *t = told; *t; t++)
		if (strcmp(*t, key) == 0)
			return LS_LEVEL_INFORMATIONAL;
	return LS_LEVEL_REQUIRED;
}

bool ls_spec_requires(const struct ls_spec *spec)
{
	for (size_t i = 0; i < spec->n_checks; i++)
		if (spec->checks[i].level == LS_LEVEL_REQUIRED)
			return true;
	for (char **p = spec->absent; p && *p; p++)
		if (ls_spec_absent_level(*p) == LS_LEVEL_REQUIRED)
			return true;
	return false;
}

const char *ls_spec_exact(const struct ls_spec *spec, const char *key)
{
	const struct ls_check *c = ls_spec_find(spec, key);
	return c && c->matcher ? ls_matcher_exact(c->matcher) : NULL;
}

const char *ls_check_text(const struct ls_check *check)
{
	return check->gpus ? ls_gpuset_text(check->gpus) : ls_matcher_text(check->matcher);
}

char *ls_spec_package_name(const char *name)
{
	char *out = ls_xstrdup(name);
	size_t n = 0;
	for (const char *p = name; *p; p++) {
		char c = strchr("-_.", *p) ? '-' : (char)tolower((unsigned char)*p);
		if (c != '-' || n == 0 || out[n - 1] != '-')
			out[n++] = c;
	}
	out[n] = 0;
	return out;
}

char *ls_spec_shipped(size_t i)
{
	static const char folder[] = "specs/", ending[] = ".json";
	for (const struct ls_blob *b = ls_embedded; b->name; b++)
		if (ls_str_starts(b->name, folder) && ls_str_ends(b->name, ending) && i-- == 0)
			return ls_xstrndup(b->name + strlen(folder),
					   strlen(b->name) - strlen(folder) - strlen(ending));
	return NULL;
}

const char **ls_spec_named(const struct ls_spec *spec, const char *prefix)
{
	size_t n = 0, len = strlen(prefix), room = spec ? spec->n_checks : 0;
	for (char **p = spec ? spec->absent : NULL; p && *p; p++)
		room++;
	const char **list = ls_xalloc((room + 1) * sizeof *list);
	for (size_t i = 0; spec && i < spec->n_checks; i++)
		if (strncmp(spec->checks[i].key, prefix, len) == 0)
			list[n++] = spec->checks[i].key + len;
	for (char **p = spec ? spec->absent : NULL; p && *p; p++)
		if (strncmp(*p, prefix, len) == 0)
			list[n++] = *p + len;
	return list;
}
