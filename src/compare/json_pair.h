/* Two JSON texts walked side by side, without building a tree: memory is a few bytes for
 * each key of the largest object, and only where two objects have their keys in different
 * orders. Texts are borrowed; names and tokens are valid during the call. Any thread, one
 * call a thread. */
#ifndef LS_COMPARE_JSON_PAIR_H
#define LS_COMPARE_JSON_PAIR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

enum ls_json_kind {
	LS_JSON_NONE,
	LS_JSON_NULL,
	LS_JSON_BOOL,
	LS_JSON_NUMBER, /* also NaN, Infinity and -Infinity, which Python writes */
	LS_JSON_STRING,
	LS_JSON_ARRAY,
	LS_JSON_OBJECT
};

/* A leaf: a scalar, an empty array or object, or either of these where the other text has
 * something else. */
struct ls_json_token {
	enum ls_json_kind kind;
	const char *text; /* as written; a string without its quotes, escapes decoded */
	size_t len;
};

struct ls_json_sink {
	/* One of a and b is NULL where the other text has no such leaf. name is a path
	 * like "results.0.loss", empty for a text that is one leaf. */
	void (*leaf)(void *ctx, const char *name, const struct ls_json_token *a,
		     const struct ls_json_token *b);
	void *ctx;
	/* An array or object that both texts have under this name; or NULL. */
	void (*container)(void *ctx, const char *name, enum ls_json_kind kind);
};

/* Fails on text that is not JSON; the message begins with the text's name and the
 * byte. */
int ls_json_pair_walk(const char *a, size_t a_len, const char *a_name, const char *b, size_t b_len,
		      const char *b_name, const struct ls_json_sink *sink, struct ls_err *err);
bool ls_json_token_equal(const struct ls_json_token *a, const struct ls_json_token *b);
/* Appends a code point, at most 0x10ffff. */
void ls_json_add_utf8(struct ls_str *s, unsigned c);
/* For people; the caller frees. */
char *ls_json_token_text(const struct ls_json_token *t);

#endif
