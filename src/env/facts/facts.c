#include "env/facts/facts.h"

#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static const char package_prefix[] = "package.";

struct ls_facts *ls_facts_new(void)
{
	return ls_xalloc(sizeof(struct ls_facts));
}

static void clear(struct ls_fact *f)
{
	free(f->value);
	free(f->source);
	free(f->reason);
	free(f->note);
	f->value = f->source = f->reason = f->note = NULL;
}

void ls_facts_free(struct ls_facts *facts)
{
	if (!facts)
		return;
	for (size_t i = 0; i < facts->n; i++) {
		clear(&facts->items[i]);
		free(facts->items[i].key);
	}
	free(facts->items);
	ls_keymap_done(&facts->map);
	free(facts);
}

static char *copy(const char *s)
{
	return s ? ls_xstrdup(s) : NULL;
}

/* PEP 503: lower case, runs of - _ . become one -. */
static char *stored_key(const char *key)
{
	char *out = ls_xstrdup(key);
	if (!ls_str_starts(key, package_prefix))
		return out;
	char *to = out + strlen(package_prefix);
	for (const char *from = to; *from; from++) {
		bool dash = *from == '-' || *from == '_' || *from == '.';
		if (!dash)
			*to++ = (char)tolower((unsigned char)*from);
		else if (to[-1] != '-')
			*to++ = '-';
	}
	*to = 0;
	return out;
}

static const char *key_at(const void *items, size_t i)
{
	return ((const struct ls_fact *)items)[i].key;
}

static struct ls_fact *find(const struct ls_facts *facts, const char *key)
{
	char *wanted = stored_key(key);
	size_t i = ls_keymap_find(&facts->map, facts->items, key_at, wanted);
	free(wanted);
	return i == SIZE_MAX ? NULL : &facts->items[i];
}

static struct ls_fact *slot(struct ls_facts *facts, const char *key)
{
	struct ls_fact *f = find(facts, key);
	if (f) {
		clear(f);
		return f;
	}
	facts->items = ls_grow(facts->items, facts->n, &facts->cap, sizeof *facts->items);
	f = &facts->items[facts->n++];
	*f = (struct ls_fact){.key = stored_key(key)};
	ls_keymap_add(&facts->map, facts->items, key_at, facts->n - 1);
	return f;
}

static void put(struct ls_facts *facts, const char *key, const struct ls_fact *from)
{
	/* copied first: from may be an element of the array that slot() moves, or the
	 * very fact that it clears */
	struct ls_fact c = {.state = from->state,
			    .value = copy(from->value),
			    .source = ls_xstrdup(from->source),
			    .reason = copy(from->reason),
			    .note = copy(from->note)};
	struct ls_fact *f = slot(facts, key);
	c.key = f->key;
	*f = c;
}

void ls_facts_set(struct ls_facts *facts, const char *key, const char *value, const char *source)
{
	assert(value && source);
	put(facts, key,
	    &(struct ls_fact){.state = LS_FACT_KNOWN,
			      .value = (char *)(uintptr_t)value,
			      .source = (char *)(uintptr_t)source});
}

void ls_facts_absent(struct ls_facts *facts, const char *key, const char *source,
		     const char *reason)
{
	assert(source && reason);
	put(facts, key,
	    &(struct ls_fact){.state = LS_FACT_ABSENT,
			      .source = (char *)(uintptr_t)source,
			      .reason = (char *)(uintptr_t)reason});
}

void ls_facts_unknown(struct ls_facts *facts, const char *key, const char *source,
		      const char *reason)
{
	assert(source && reason);
	put(facts, key,
	    &(struct ls_fact){.state = LS_FACT_UNKNOWN,
			      .source = (char *)(uintptr_t)source,
			      .reason = (char *)(uintptr_t)reason});
}

void ls_facts_note(struct ls_facts *facts, const char *key, const char *note)
{
	struct ls_fact *f = find(facts, key);
	assert(f);
	free(f->note);
	f->note = copy(note);
}

void ls_facts_copy(struct ls_facts *facts, const char *to, const char *from)
{
	const struct ls_fact *f = find(facts, from);
	assert(f);
	put(facts, to, f);
}

const struct ls_fact *ls_facts_find(const struct ls_facts *facts, const char *key)
{
	return find(facts, key);
}

const char *ls_facts_value(const struct ls_facts *facts, const char *key)
{
	const struct ls_fact *f = find(facts, key);
	return f ? f->value : NULL;
}

const struct ls_fact *ls_facts_gpu(const struct ls_facts *facts, size_t n, const char *what)
{
	char key[96];
	snprintf(key, sizeof key, "gpu.%zu.%s", n, what);
	return find(facts, key);
}

const char *ls_facts_gpu_value(const struct ls_facts *facts, size_t n, const char *what)
{
	const struct ls_fact *f = ls_facts_gpu(facts, n, what);
	return f ? f->value : NULL;
}

size_t ls_facts_gpu_count(const struct ls_facts *facts)
{
	const char *n = ls_facts_value(facts, "gpu_count");
	return n ? (size_t)strtoul(n, NULL, 10) : 0;
}

const char *ls_fact_state_name(enum ls_fact_state state)
{
	return state == LS_FACT_KNOWN ? "known" : state == LS_FACT_ABSENT ? "absent" : "unknown";
}

static json_t *text_or_null(const char *s)
{
	if (!s)
		return json_null();
	json_t *v = json_string(s);
	return v ? v : json_sprintf("(%zu bytes that are not UTF-8)", strlen(s));
}

json_t *ls_facts_json(const struct ls_facts *facts)
{
	json_t *list = json_array();
	for (size_t i = 0; i < facts->n; i++) {
		const struct ls_fact *f = &facts->items[i];
		json_t *o = json_object();
		json_object_set_new(o, "key", text_or_null(f->key));
		json_object_set_new(o, "state", json_string(ls_fact_state_name(f->state)));
		json_object_set_new(o, "value", text_or_null(f->value));
		json_object_set_new(o, "source", text_or_null(f->source));
		if (f->reason)
			json_object_set_new(o, "reason", text_or_null(f->reason));
		if (f->note)
			json_object_set_new(o, "note", text_or_null(f->note));
		json_array_append_new(list, o);
	}
	return list;
}
