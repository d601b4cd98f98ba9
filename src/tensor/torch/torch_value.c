/* Values of a checkpoint: numbers, text, types, devices, sets. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/torch/torch_internal.h"

struct ls_value *ls_torch_value(struct ls_walk *w, enum ls_value_kind kind)
{
	struct ls_value *v = w->path.len ? ls_bundle_add_value(w->b, w->path.s, w->path.len, kind)
					 : ls_bundle_add_value(w->b, "(top)", 5, kind);
	v->meta = w->meta;
	return v;
}

int ls_torch_emit_text(struct ls_walk *w, enum ls_value_kind kind, const char *s, size_t len)
{
	/* bytes may be many, and lie in the pickle, which the bundle keeps */
	const char *copy = kind == LS_VAL_BYTES ? s : ls_bundle_text(w->b, s, len);
	struct ls_value *v = ls_torch_value(w, kind);
	v->text = copy;
	v->len = len;
	return 0;
}

int ls_torch_emit_other(struct ls_walk *w, char *text_take)
{
	ls_torch_emit_text(w, LS_VAL_OTHER, text_take, strlen(text_take));
	free(text_take);
	return 0;
}

int ls_torch_emit_unread(struct ls_walk *w, const char *what)
{
	return ls_torch_emit_text(w, LS_VAL_UNREAD, what, strlen(what));
}

int ls_torch_emit_big(struct ls_walk *w, const struct ls_pk_node *n)
{
	if (n->a)
		return ls_torch_emit_text(w, LS_VAL_INT, n->s, n->n);
	struct ls_str s = {0};
	ls_str_add(&s, "0x");
	for (size_t i = n->n; i-- > 0;)
		ls_str_addf(&s, "%02x", (uint8_t)n->s[i]);
	ls_torch_emit_text(w, LS_VAL_INT, s.s, s.len);
	ls_str_done(&s);
	return 0;
}

int ls_torch_emit_global(struct ls_walk *w, const struct ls_pk_node *n)
{
	const struct ls_pk_global *g = ls_pickle_global(w->p, n);
	return ls_torch_emit_other(w, ls_xasprintf("%s.%s", g->module, g->name));
}

int ls_torch_emit_device(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *type = ls_torch_arg(w, call, 0), *index = ls_torch_arg(w, call, 1);
	if (!type || type->kind != LS_PK_STR || type->n > 60)
		return ls_torch_wrong(w, "a device without a name");
	if (index && index->kind == LS_PK_INT)
		return ls_torch_emit_other(
			w, ls_xasprintf("device %.*s:%" PRId64, (int)type->n, type->s, index->i));
	return ls_torch_emit_other(w, ls_xasprintf("device %.*s", (int)type->n, type->s));
}

/* The text of a path or layout: its arguments, joined. */
int ls_torch_emit_joined(struct ls_walk *w, const struct ls_pk_node *call, const char *what)
{
	struct ls_str s = {0};
	ls_str_add(&s, what);
	for (size_t i = 0; i < ls_torch_at(w, call->b)->n; i++) {
		const struct ls_pk_node *part = ls_torch_arg(w, call, i);
		if (part->kind != LS_PK_STR) {
			ls_str_done(&s);
			return ls_torch_wrong(w, "a path or layout that is not text");
		}
		ls_str_add(&s, i ? "/" : " ");
		ls_str_add_bytes(&s, part->s, part->n);
	}
	ls_torch_emit_text(w, LS_VAL_OTHER, s.s, s.len);
	ls_str_done(&s);
	return 0;
}

int ls_torch_emit_complex(struct ls_walk *w, const struct ls_pk_node *call)
{
	const struct ls_pk_node *re = ls_torch_arg(w, call, 0), *im = ls_torch_arg(w, call, 1);
	if (!re || !im || re->kind != LS_PK_REAL || im->kind != LS_PK_REAL)
		return ls_torch_wrong(w, "a complex number without its parts");
	return ls_torch_emit_other(w, ls_xasprintf("complex %a %a", re->real, im->real));
}

int ls_torch_bytes_of(struct ls_walk *w, const struct ls_pk_node *n, const uint8_t **ret,
		      size_t *ret_len)
{
	if (ls_torch_is_call(w, n, A_BYTES))
		n = ls_torch_arg(w, n, 0);
	if (n && (n->kind == LS_PK_BYTES || n->kind == LS_PK_STR)) {
		/* a text may live as long as the pickle only */
		*ret = (const uint8_t *)(n->kind == LS_PK_STR ? ls_bundle_text(w->b, n->s, n->n)
							      : n->s);
		*ret_len = n->n;
		return 0;
	}
	const struct ls_pk_node *text =
		ls_torch_is_call(w, n, A_ENCODE) ? ls_torch_arg(w, n, 0) : NULL;
	if (!text || text->kind != LS_PK_STR)
		return ls_torch_wrong(w, "bytes are expected");
	uint8_t *out = ls_bundle_keep_take(w->b, ls_xalloc(text->n + 1));
	size_t len = 0;
	for (size_t i = 0; i < text->n; i++) {
		uint8_t c = (uint8_t)text->s[i];
		if (c >= 0x80) { /* U+0080 to U+00FF: two bytes of UTF-8 */
			if ((c & 0xfe) != 0xc2 || i + 1 >= text->n)
				return ls_torch_wrong(w, "bytes that are not latin1");
			c = (uint8_t)(c << 6 | ((uint8_t)text->s[++i] & 0x3f));
		}
		out[len++] = c;
	}
	*ret = out;
	*ret_len = len;
	return 0;
}

/* A nested tuple of keys has an end. */
enum { TEXT_DEPTH = 4, KEY_LIMIT = 4096 };

static bool node_text(struct ls_walk *w, const struct ls_pk_node *n, bool quoted, int depth,
		      struct ls_str *s);

/* Names end at a NUL, so none may be in them; within quotes the quote is escaped, too. */
static void add_escaped(struct ls_str *s, const char *text, size_t len, bool quoted)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c == 0 || (quoted && (c < 0x20 || c == '\'' || c == '\\')))
			ls_str_addf(s, "\\x%02x", c);
		else
			ls_str_add_bytes(s, &text[i], 1);
	}
}

static bool tuple_text(struct ls_walk *w, const struct ls_pk_node *n, int depth, struct ls_str *s)
{
	bool good = depth < TEXT_DEPTH;
	ls_str_add(s, "(");
	for (size_t i = 0; i < n->n && good && s->len <= KEY_LIMIT; i++) {
		ls_str_add(s, i ? ", " : "");
		good = node_text(w, ls_torch_at(w, n->items[i]), true, depth + 1, s);
	}
	ls_str_add(s, ")");
	return good && s->len <= KEY_LIMIT;
}

/* Bytes as protocol 2 writes them. */
static bool encoded_text(struct ls_walk *w, const struct ls_pk_node *n, struct ls_str *s)
{
	const uint8_t *bytes = NULL;
	size_t len = 0;
	if (ls_torch_bytes_of(w, n, &bytes, &len))
		return false;
	ls_str_add(s, "b'");
	add_escaped(s, (const char *)bytes, len, true);
	ls_str_add(s, "'");
	return true;
}

/* "torch.device('cuda', 0)": an object that is all in its arguments. */
static bool call_text(struct ls_walk *w, const struct ls_pk_node *n, int depth, struct ls_str *s)
{
	return !n->c && !n->n && node_text(w, ls_torch_at(w, n->a), false, depth + 1, s) &&
	       tuple_text(w, ls_torch_at(w, n->b), depth, s);
}

/* What a key, or an element of a set, is called. False for what has no short text. */
static bool node_text(struct ls_walk *w, const struct ls_pk_node *n, bool quoted, int depth,
		      struct ls_str *s)
{
	const struct ls_pk_global *g;
	switch ((enum ls_pk)n->kind) {
	case LS_PK_NONE:
		ls_str_add(s, "None");
		return true;
	case LS_PK_BOOL:
		ls_str_add(s, n->i ? "True" : "False");
		return true;
	case LS_PK_INT:
		ls_str_addf(s, "%" PRId64, n->i);
		return true;
	case LS_PK_REAL:
		ls_str_addf(s, quoted ? "%#.17g" : "%.17g", n->real);
		return true;
	case LS_PK_STR:
	case LS_PK_BYTES:
		ls_str_add(s, !quoted ? "" : n->kind == LS_PK_STR ? "'" : "b'");
		add_escaped(s, n->s, n->n, quoted);
		ls_str_add(s, quoted ? "'" : "");
		return true;
	case LS_PK_TUPLE:
		return tuple_text(w, n, depth, s);
	case LS_PK_GLOBAL:
		g = ls_pickle_global(w->p, n);
		ls_str_addf(s, "%s.%s", g->module, g->name);
		return true;
	case LS_PK_CALL:
		if (ls_torch_is_call(w, n, A_ENCODE))
			return encoded_text(w, n, s);
		return depth < TEXT_DEPTH && call_text(w, n, depth, s);
	default:
		return false;
	}
}

bool ls_torch_key_text(struct ls_walk *w, const struct ls_pk_node *n, bool quoted, struct ls_str *s)
{
	size_t before = s->len;
	if (node_text(w, n, quoted, 0, s))
		return true;
	s->len = before;
	return false;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A set has no order: its elements' texts, sorted. */
bool ls_torch_emit_set(struct ls_walk *w, const struct ls_pk_node *n)
{
	char **texts = ls_xalloc((n->n + 1) * sizeof *texts);
	size_t made = 0;
	bool good = true;
	while (good && made < n->n) {
		struct ls_str s = {0};
		good = ls_torch_key_text(w, ls_torch_at(w, n->items[made]), true, &s);
		texts[made++] = ls_str_take(&s);
	}
	qsort(texts, made, sizeof *texts, by_text);
	struct ls_str all = {0};
	ls_str_add(&all, "{");
	for (size_t i = 0; i < made; i++) {
		ls_str_addf(&all, "%s%s", i ? ", " : "", texts[i]);
		free(texts[i]);
	}
	ls_str_add(&all, "}");
	free(texts);
	if (good)
		ls_torch_emit_text(w, LS_VAL_OTHER, all.s, all.len);
	ls_str_done(&all);
	return good;
}
