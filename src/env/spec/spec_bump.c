#include "env/spec/spec_bump.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/version.h"
#include "env/spec/spec_wheels.h"

/* --- one expectation --- */

static size_t numbers_in(const char *text)
{
	size_t n = *text != 0;
	for (; *text; text++)
		n += *text == '.';
	return n;
}

/* The first n numbers of a version: 12.4 of 12.4.105. */
static char *first_numbers(const char *version, size_t n)
{
	const char *end = version;
	for (size_t i = 0; i < n && *end; i++)
		end += (i ? 1 : 0) + strcspn(end + (i ? 1 : 0), ".+");
	return ls_xstrndup(version, (size_t)(end - version));
}

static char *moved_prefix(const char *old_text, const char *mark, const char *new_value)
{
	char *lead = ls_xstrndup(old_text, strlen(old_text) - strlen(mark));
	char *numbers = first_numbers(new_value, numbers_in(lead));
	char *text = ls_xasprintf("%s%s", numbers, mark);
	free(numbers);
	free(lead);
	return text;
}

static char *without_local(const char *version)
{
	return ls_xstrndup(version, strcspn(version, "+"));
}

char *ls_spec_bump_text(const char *old_text, const char *new_value)
{
	static const char *const marks[] = {".*", ".x", ".X", "*"};
	struct ls_version v;
	bool one = !strpbrk(old_text, ",<!"), version = ls_version_parse(new_value, &v);
	for (size_t i = 0; one && version && i < sizeof marks / sizeof *marks; i++)
		if (ls_str_ends(old_text, marks[i]) && !strpbrk(old_text, "=>"))
			return moved_prefix(old_text, marks[i], new_value);
	bool bound =
		one && version && (ls_str_starts(old_text, ">=") || ls_str_starts(old_text, "~="));
	if (bound && old_text[0] == '~') {
		char *numbers = first_numbers(new_value, numbers_in(old_text));
		char *text = ls_xasprintf("~=%s", numbers);
		free(numbers);
		return text;
	}
	char *plain = bound || (version && !strchr(old_text, '+')) ? without_local(new_value)
								   : ls_xstrdup(new_value);
	char *text = bound ? ls_xasprintf(">=%s", plain) : ls_xstrdup(plain);
	free(plain);
	return text;
}

/* --- the document --- */

/* Where the document has the expectation of a key: its object and its name there. */
static json_t *owner_of(json_t *doc, const char *key, const char **ret_name)
{
	static const char package[] = "package.", env[] = "env.";
	const char *name;
	json_t *value, *object = doc;
	*ret_name = key;
	if (ls_str_starts(key, env)) {
		*ret_name = key + strlen(env);
		object = json_object_get(doc, "env");
	} else if (ls_str_starts(key, package)) {
		object = json_object_get(doc, "packages");
		json_object_foreach(object, name, value)
		{
			char *plain = ls_spec_package_name(name);
			bool same = strcmp(plain, key + strlen(package)) == 0;
			free(plain);
			if (same)
				*ret_name = name;
		}
	}
	return json_object_get(object, *ret_name) ? object : NULL;
}

/* Where the expectation itself is: the member, or its "match"; NULL: there is none. */
static json_t *expectation_of(json_t *doc, const char *key, const char **ret_name)
{
	const char *name;
	json_t *object = owner_of(doc, key, &name), *value = json_object_get(object, name);
	*ret_name = json_is_object(value) ? "match" : name;
	if (!json_is_object(value))
		return object;
	return json_object_get(value, "match") ? value : NULL;
}

void ls_spec_set_pin(json_t *doc, const char *key, const char *text)
{
	const char *name;
	json_t *object = expectation_of(doc, key, &name);
	if (object)
		json_object_set_new(object, name, json_string(text));
}

static void move_pin(json_t *doc, const struct ls_drift_item *it, const char *new_value)
{
	const char *name;
	const json_t *object = expectation_of(doc, it->key, &name);
	const json_t *old = json_object_get(object, name);
	/* of a list of alternatives none holds any more */
	char *text = json_is_string(old) ? ls_spec_bump_text(json_string_value(old), new_value)
					 : ls_xstrdup(new_value);
	ls_spec_set_pin(doc, it->key, text);
	free(text);
}

/* …/whl/cu121 becomes …/whl/cu124 with the torch that it serves. */
static void move_index(json_t *doc, const char *name, const char *old_build, const char *new_build)
{
	json_t *requirements = json_object_get(doc, "requirements");
	const char *address = json_string_value(json_object_get(requirements, name));
	if (!address || !ls_str_ends(address, old_build))
		return;
	size_t lead = strlen(address) - strlen(old_build);
	if (lead && address[lead - 1] == '/') {
		char *text = ls_xasprintf("%.*s%s", (int)lead, address, new_build);
		json_object_set_new(requirements, name, json_string(text));
		free(text);
	}
}

void ls_spec_move_index(json_t *doc, const char *old_build, const char *new_build)
{
	move_index(doc, "index", old_build, new_build);
	move_index(doc, "extra_index", old_build, new_build);
}

static void move_indexes(json_t *doc, const struct ls_spec_diff *d)
{
	char *old_build = ls_wheel_build(ls_spec_exact(d->old_spec, "torch")),
	     *new_build = ls_wheel_build(ls_spec_exact(d->new_spec, "torch"));
	if (old_build && new_build && strcmp(old_build, new_build) != 0)
		ls_spec_move_index(doc, old_build, new_build);
	free(old_build);
	free(new_build);
}

json_t *ls_spec_bump(const struct ls_spec_diff *d)
{
	json_t *doc = json_deep_copy(d->old_spec->json);
	for (size_t i = 0; i < d->n; i++) {
		const struct ls_drift_item *it = &d->items[i];
		const char *value = ls_spec_exact(d->new_spec, it->key);
		if (it->drifted && it->what == LS_DRIFT_CHANGED && value)
			move_pin(doc, it, value);
	}
	move_indexes(doc, d);
	if (d->drifted && d->new_spec->date)
		json_object_set_new(doc, "date", json_string(d->new_spec->date));
	return doc;
}
