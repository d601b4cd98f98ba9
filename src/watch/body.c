#include "watch/body.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static struct ls_body *body_new(const char *data, size_t len, char *own)
{
	struct ls_body *b = ls_xalloc(sizeof *b);
	atomic_init(&b->holders, 1);
	b->data = data;
	b->len = len;
	b->own = own;
	return b;
}

struct ls_body *ls_body_take(struct ls_str *text)
{
	size_t len = text->len;
	char *own = ls_str_take(text);
	return body_new(own, len, own);
}

struct ls_body *ls_body_borrow(const void *data, size_t len)
{
	return body_new(data, len, NULL);
}

struct ls_body *ls_body_json_take(json_t *value)
{
	char *text = value ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
	if (!text)
		ls_no_memory();
	json_decref(value);
	return body_new(text, strlen(text), text);
}

struct ls_body *ls_body_hold(struct ls_body *b)
{
	atomic_fetch_add(&b->holders, 1);
	return b;
}

void ls_body_drop(struct ls_body *b)
{
	if (!b || atomic_fetch_sub(&b->holders, 1) != 1)
		return;
	free(b->own);
	free(b);
}
