#include "compare/json_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { SHORT_DIGITS = 18 }; /* of a whole number that 64 bits hold for sure */

static bool is_short(const struct ls_json_token *t, int64_t *ret)
{
	size_t i = t->len && t->text[0] == '-';
	int64_t n = 0;
	if (t->len - i > SHORT_DIGITS || (i && t->text[i] == '0'))
		return false; /* -0 is not 0 */
	for (; i < t->len; i++) {
		if (t->text[i] < '0' || t->text[i] > '9')
			return false;
		n = n * 10 + (t->text[i] - '0');
	}
	*ret = t->text[0] == '-' ? -n : n;
	return true;
}

static void add_text(struct ls_bundle *b, const char *name, enum ls_value_kind kind,
		     const char *text, size_t len)
{
	const char *copy = ls_bundle_text(b, text, len);
	struct ls_value *v = ls_bundle_add_value(b, name, strlen(name), kind);
	v->text = copy;
	v->len = len;
}

void ls_json_value_add(struct ls_bundle *b, const char *name, const struct ls_json_token *t)
{
	int64_t n = 0;
	switch (t->kind) {
	case LS_JSON_NULL:
		ls_bundle_add_value(b, name, strlen(name), LS_VAL_NULL);
		return;
	case LS_JSON_BOOL:
		ls_bundle_add_value(b, name, strlen(name), LS_VAL_BOOL)->i = t->text[0] == 't';
		return;
	case LS_JSON_NUMBER:
		if (is_short(t, &n))
			ls_bundle_add_value(b, name, strlen(name), LS_VAL_INT)->i = n;
		else
			add_text(b, name, LS_VAL_INT, t->text, t->len);
		return;
	case LS_JSON_STRING:
		add_text(b, name, LS_VAL_STRING, t->text, t->len);
		return;
	default: /* an empty array or object */
		add_text(b, name, LS_VAL_OTHER, t->kind == LS_JSON_ARRAY ? "[]" : "{}", 2);
	}
}

struct target {
	struct ls_bundle *b;
	const char *prefix;
};

static char *full_name(const struct target *t, const char *name)
{
	return ls_xasprintf("%s%s%s", t->prefix, *t->prefix && *name ? "." : "", name);
}

static void add_leaf(void *ctx, const char *name, const struct ls_json_token *a,
		     const struct ls_json_token *b)
{
	struct target *t = ctx;
	char *full = full_name(t, name);
	(void)b; /* the same text */
	ls_json_value_add(t->b, full, a);
	free(full);
}

static void add_container(void *ctx, const char *name, enum ls_json_kind kind)
{
	struct target *t = ctx;
	char *full = full_name(t, name);
	ls_bundle_add_trait(t->b, full, kind == LS_JSON_ARRAY ? "an array" : "an object");
	free(full);
}

int ls_json_values(struct ls_bundle *b, const char *prefix, const char *text, size_t len,
		   const char *text_name, struct ls_err *err)
{
	struct target t = {b, prefix};
	struct ls_json_sink sink = {.leaf = add_leaf, .ctx = &t, .container = add_container};
	return ls_json_pair_walk(text, len, text_name, text, len, text_name, &sink, err);
}
