#include "env/spec/spec_capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/version.h"
#include "env/spec/spec_fields.h"

struct capture {
	const struct ls_facts *facts;
	json_t *out, *skipped, *absent;
};

/* The facts that become members of the document, and how much they matter when the
 * capture is used as a pin. */
static const struct {
	const char *key;
	enum ls_flavour flavour;
	enum ls_level level;
} members[] = {
	{"python", LS_AS_VERSION, LS_LEVEL_REQUIRED},
	{"torch", LS_AS_VERSION, LS_LEVEL_REQUIRED},
	{"torch_cuda", LS_AS_VERSION, LS_LEVEL_REQUIRED},
	{"cudnn", LS_AS_CUDNN, LS_LEVEL_REQUIRED},
	{"cuda", LS_AS_VERSION, LS_LEVEL_REQUIRED},
	{"driver", LS_AS_VERSION, LS_LEVEL_REQUIRED},
	{"driver_cuda", LS_AS_VERSION, LS_LEVEL_INFORMATIONAL},
	{"nvcc", LS_AS_VERSION, LS_LEVEL_INFORMATIONAL},
	{"nccl", LS_AS_VERSION, LS_LEVEL_INFORMATIONAL},
	{"container_toolkit", LS_AS_VERSION, LS_LEVEL_INFORMATIONAL},
	{"os", LS_AS_TEXT, LS_LEVEL_INFORMATIONAL},
	{"kernel", LS_AS_KERNEL, LS_LEVEL_INFORMATIONAL},
	{"glibc", LS_AS_VERSION, LS_LEVEL_INFORMATIONAL},
	{"arch", LS_AS_TEXT, LS_LEVEL_INFORMATIONAL},
	{"cpu", LS_AS_TEXT, LS_LEVEL_INFORMATIONAL},
};

static bool writes_as(const char *value, enum ls_flavour flavour)
{
	struct ls_matcher *m = NULL;
	if (strlen(value) > 1024 || ls_matcher_parse(value, flavour, &m, NULL))
		return false;
	bool yes = ls_matcher_test(m, value) == LS_MATCH_YES && ls_matcher_exact(m);
	ls_matcher_free(m);
	return yes;
}

static json_t *expectation(const char *value, enum ls_level level)
{
	if (level == LS_LEVEL_REQUIRED)
		return json_string(value);
	return json_pack("{s:s,s:s}", "match", value, "level", ls_level_name(level));
}

/* Puts the fact into object under name, or says that it could not. */
static void put(struct capture *c, json_t *object, const char *name, const struct ls_fact *f,
		enum ls_flavour flavour, enum ls_level level)
{
	if (f->state == LS_FACT_ABSENT)
		json_array_append_new(c->absent, json_string(f->key));
	if (f->state != LS_FACT_KNOWN)
		return;
	json_t *v = writes_as(f->value, flavour) ? expectation(f->value, level) : NULL;
	if (v)
		json_object_set_new(object, name, v);
	else
		json_array_append_new(c->skipped, json_string(f->key));
}

static void put_members(struct capture *c)
{
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		const struct ls_fact *f = ls_facts_find(c->facts, members[i].key);
		if (f)
			put(c, c->out, members[i].key, f, members[i].flavour, members[i].level);
	}
}

/* Facts called prefix + name, as the object member; left out when there are none. */
static void put_named(struct capture *c, const char *member, const char *prefix,
		      enum ls_flavour flavour, enum ls_level level)
{
	json_t *object = json_object();
	for (size_t i = 0; i < c->facts->n; i++) {
		const struct ls_fact *f = &c->facts->items[i];
		const char *name = f->key + strlen(prefix);
		if (!ls_str_starts(f->key, prefix) ||
		    strcmp(f->key, "package.torch") == 0) /* torch has its own member */
			continue;
		if (flavour == LS_AS_TEXT ? ls_spec_is_variable(name) : ls_spec_is_package(name))
			put(c, object, name, f, flavour, level);
	}
	if (json_object_size(object))
		json_object_set_new(c->out, member, object);
	else
		json_decref(object);
}

/* The number of GPUs with this name, or 0 when a GPU before the i-th has the same
 * name. */
static size_t count_name(const struct ls_facts *facts, size_t n, size_t i, const char *name)
{
	size_t count = 0;
	for (size_t k = 0; k < n; k++) {
		const char *other = ls_facts_gpu_value(facts, k, "name");
		if (!other || strcmp(other, name) != 0)
			continue;
		if (k < i)
			return 0;
		count++;
	}
	return count;
}

/* {"name", "count"} for each name, in the order of the machine; NULL where a GPU does not
 * tell. */
static json_t *kinds(const struct ls_facts *facts, size_t n)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++) {
		const char *name = ls_facts_gpu_value(facts, i, "name");
		size_t count = name ? count_name(facts, n, i, name) : 0;
		if (!name) {
			json_decref(list);
			return NULL;
		}
		if (count)
			json_array_append_new(list, json_pack("{s:s,s:I}", "name", name, "count",
							      (json_int_t)count));
	}
	return list;
}

static void put_gpus(struct capture *c)
{
	size_t n = ls_facts_gpu_count(c->facts);
	if (n == 0 || n > 4096)
		return;
	const char *memory = ls_facts_value(c->facts, "vram"),
		   *capability = ls_facts_value(c->facts, "capability");
	double mib;
	struct ls_version v;
	json_t *g = json_object(), *names = kinds(c->facts, n);
	bool same = json_array_size(names) == 1;
	if (names)
		json_object_set_new(g, same ? "one_of" : "all_of", names);
	else
		json_object_set_new(g, "count", json_integer((json_int_t)n));
	if (capability && ls_version_parse(capability, &v))
		json_object_set_new(g, "min_capability", json_string(capability));
	if (memory && same && ls_version_memory(memory, &mib)) {
		char *text = ls_xasprintf("%.0f MiB", mib);
		json_object_set_new(g, "memory", json_string(text));
		free(text);
	}
	json_object_set_new(c->out, "gpus", g);
}

static void put_image(struct capture *c)
{
	static const char set[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./:_-";
	const char *image = ls_facts_value(c->facts, "image");
	if (image && *image && !image[strspn(image, set)])
		json_object_set_new(c->out, "image", json_string(image));
}

json_t *ls_spec_capture(const struct ls_facts *facts, const struct ls_capture *how,
			json_t **ret_skipped)
{
	struct capture c = {.facts = facts,
			    .out = json_object(),
			    .skipped = json_array(),
			    .absent = json_array()};
	json_object_set_new(c.out, "schema", json_integer(1));
	json_object_set_new(c.out, "name", json_string(how->name));
	json_object_set_new(c.out, "description", json_string(how->description));
	json_object_set_new(c.out, "date", json_string(how->date));
	json_object_set_new(c.out, "captured", json_true());
	put_image(&c);
	put_members(&c);
	put_gpus(&c);
	put_named(&c, "packages", "package.", LS_AS_VERSION, LS_LEVEL_REQUIRED);
	put_named(&c, "env", "env.", LS_AS_TEXT, LS_LEVEL_RECOMMENDED);
	json_object_set_new(c.out, "absent", c.absent);
	*ret_skipped = c.skipped;
	return c.out;
}
