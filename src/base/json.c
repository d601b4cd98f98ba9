#include "base/json.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

static json_malloc_t host_malloc;

static void *malloc_or_give_up(size_t size)
{
	void *p = host_malloc(size);
	if (!p && size && ls_mem_guarded())
		ls_no_memory();
	return p;
}

static void install(void)
{
	json_free_t host_free;
	json_get_alloc_funcs(&host_malloc, &host_free);
	json_set_alloc_funcs(malloc_or_give_up, host_free);
}

void ls_json_guard(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, install);
}

int ls_json_parse(const char *text, size_t len, const char *name, json_t **ret, struct ls_err *err)
{
	json_error_t je;
	json_t *v = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &je);
	if (!v)
		return ls_err_set(err, LS_EINPUT, "%s:%d:%d: not valid JSON: %s", name, je.line,
				  je.column, je.text);
	*ret = v;
	return 0;
}

int ls_json_load(const char *path, json_t **ret, struct ls_err *err)
{
	enum { LIMIT = 64 << 20 };
	char *text;
	size_t len;
	int rc = ls_file_read(path, LIMIT, &text, &len, err);
	if (rc)
		return rc;
	rc = ls_json_parse(text, len, path, ret, err);
	free(text);
	return rc;
}

int ls_json_only(const json_t *object, const char *const *names, const char *where,
		 struct ls_err *err)
{
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)object, key, value)
	{
		bool known = false;
		for (const char *const *n = names; *n && !known; n++)
			known = strcmp(*n, key) == 0;
		if (known)
			continue;
		const char *near = ls_str_nearest(key, names);
		if (near)
			return ls_err_set(err, LS_EINPUT,
					  "%s: unknown key \"%.80s\" (did you mean \"%s\"?)", where,
					  key, near);
		return ls_err_set(err, LS_EINPUT, "%s: unknown key \"%.80s\"", where, key);
	}
	return 0;
}

char *ls_json_text(const json_t *value)
{
	char *raw = json_dumps(value, JSON_INDENT(2) | JSON_ENCODE_ANY);
	if (!raw)
		ls_no_memory();
	char *text = ls_xasprintf("%s\n", raw);
	free(raw);
	return text;
}

int ls_json_write(const char *path, const json_t *value, struct ls_err *err)
{
	char *text = ls_json_text(value);
	int rc = ls_file_write_atomic(path, text, strlen(text), err);
	free(text);
	return rc;
}

json_t *ls_json_lossy(const char *text)
{
	json_t *v = json_string(text);
	if (v)
		return v;
	struct ls_str s = {0};
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c < 128)
			ls_str_add_bytes(&s, text, 1);
		else
			ls_str_addf(&s, "\\x%02x", c);
	}
	v = json_string(s.s);
	ls_str_done(&s);
	return v;
}

const char *ls_json_kind(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
	case JSON_REAL:
		return "a number";
	case JSON_TRUE:
	case JSON_FALSE:
		return "true or false";
	default:
		return "null";
	}
}
