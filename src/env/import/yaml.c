#include "env/import/yaml.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { DEPTH = 16, KEYS = 4096 };

/* A line that is neither blank nor a comment. The parser moves text and indent forward
 * when it takes a dash. */
struct line {
	unsigned number;
	size_t indent;
	char *text;
};

struct parser {
	const char *path;
	char *copy; /* the text, cut into lines */
	struct line *lines;
	size_t n, cap, at;
	struct ls_err *err;
};

static int fault(struct parser *p, unsigned line, const char *what)
{
	return ls_err_set(p->err, LS_EINPUT, "%s:%u: %s", p->path, line, what);
}

/* --- lines --- */

/* The end of a quoted text that begins at s, or NULL. */
static char *quoted_end(char *s)
{
	char quote = *s;
	for (s++; *s; s++) {
		if (quote == '"' && *s == '\\' && s[1])
			s++;
		else if (*s == quote && quote == '\'' && s[1] == quote)
			s++;
		else if (*s == quote)
			return s;
	}
	return NULL;
}

static bool begins_value(const char *s, const char *start)
{
	return s == start || strchr(" [,", s[-1]);
}

/* Cuts a comment and trailing blanks off. A quotation mark inside of a word is part of
 * it. */
static void cut_comment(char *s)
{
	char *start = s;
	for (; *s; s++) {
		if ((*s == '"' || *s == '\'') && begins_value(s, start)) {
			char *end = quoted_end(s);
			s = end ? end : s;
		} else if (*s == '#' && (s == start || s[-1] == ' ' || s[-1] == '\t')) {
			*s = 0;
			break;
		}
	}
	for (size_t n = strlen(start); n && strchr(" \t\r", start[n - 1]); n--)
		start[n - 1] = 0;
}

static int add_line(struct parser *p, char *s, unsigned number)
{
	size_t indent = strspn(s, " ");
	if (s[indent] == '\t' && s[strspn(s, " \t\r")])
		return fault(p, number, "a tab in the indentation; YAML wants spaces");
	cut_comment(s + indent);
	if (!s[indent])
		return 0;
	if (indent == 0 && (strcmp(s, "---") == 0 || strcmp(s, "...") == 0)) {
		if (s[0] == '-' && p->n == 0)
			return 0;
		return s[0] == '.' ? 0 : fault(p, number, "a second document in the file");
	}
	p->lines = ls_grow(p->lines, p->n, &p->cap, sizeof *p->lines);
	p->lines[p->n++] = (struct line){number, indent, s + indent};
	return 0;
}

static int split(struct parser *p)
{
	char *rest = p->copy, *s;
	int rc = 0;
	for (unsigned number = 1; !rc && (s = strsep(&rest, "\n")); number++)
		rc = add_line(p, s, number);
	return rc;
}

/* --- scalars --- */

static char escaped(char c)
{
	static const char names[] = "nrt\"\\/", values[] = "\n\r\t\"\\/";
	const char *at = c ? strchr(names, c) : NULL;
	return (char)(at ? values[at - names] : 0);
}

/* Reads the quoted text at s; *ret_end is behind it. */
static int take_quoted(struct parser *p, unsigned line, char *s, char **ret, char **ret_end)
{
	char *end = quoted_end(s);
	if (!end)
		return fault(p, line, "a quoted text does not end on its line");
	struct ls_str out = {0};
	char quote = *s;
	for (s++; s < end; s++) {
		char c = *s;
		if (quote == '"' && c == '\\' && !(c = escaped(*++s))) {
			ls_str_done(&out);
			return fault(p, line, "an escape that is not read here");
		}
		s += quote == '\'' && c == quote;
		ls_str_add_bytes(&out, &c, 1);
	}
	*ret = ls_str_take(&out);
	*ret_end = end + 1;
	return 0;
}

static struct ls_yaml *add_item(struct ls_yaml *to, unsigned line)
{
	to->items = ls_grow(to->items, to->n, &to->cap, sizeof *to->items);
	struct ls_yaml *item = &to->items[to->n++];
	*item = (struct ls_yaml){.line = line};
	return item;
}

/* "a, 'b']": the rest of a list in brackets, whose items are scalars. */
static int flow_list(struct parser *p, unsigned line, char *s, struct ls_yaml *ret)
{
	ret->kind = LS_YAML_LIST;
	for (s += strspn(s, " "); *s && *s != ']'; s += strspn(s, " ")) {
		struct ls_yaml *item = add_item(ret, line);
		if (*s == '"' || *s == '\'') {
			int rc = take_quoted(p, line, s, &item->text, &s);
			if (rc)
				return rc;
		} else {
			size_t n = strcspn(s, ",]");
			item->text = ls_xstrndup(s, n);
			ls_str_trim(item->text);
			if (strpbrk(item->text, "[{}"))
				return fault(p, line, "a list inside of a list in brackets");
			s += n;
		}
		s += strspn(s, " ");
		if (*s == ',')
			s++;
		else if (*s != ']')
			break;
	}
	if (*s != ']' || s[1])
		return fault(p, line, "a list in brackets does not end on its line");
	return 0;
}

static int scalar(struct parser *p, unsigned line, char *s, struct ls_yaml *ret)
{
	ret->line = line;
	if (*s == '[')
		return flow_list(p, line, s + 1, ret);
	ret->kind = LS_YAML_SCALAR;
	if (*s == '"' || *s == '\'') {
		char *end = s;
		int rc = take_quoted(p, line, s, &ret->text, &end);
		return rc || !*end ? rc : fault(p, line, "text behind a quoted text");
	}
	/* a dependency may well begin with * or >; as values of YAML these mean more */
	if (*s && strchr("&*!|>{}%@`?]", *s))
		return fault(p, line,
			     "anchors, tags, block texts and braces of YAML are not read here; "
			     "write the value plainly or in quotes");
	ret->text = ls_xstrdup(s);
	return 0;
}

/* --- blocks --- */

static bool is_dash(const char *s)
{
	return s[0] == '-' && (s[1] == ' ' || !s[1]);
}

/* The colon that ends the key at the start of s, or NULL. */
static char *key_end(char *s)
{
	char *from = s;
	if (*s == '"' || *s == '\'')
		from = quoted_end(s);
	for (char *c = from; c && (c = strchr(c, ':')); c++)
		if (!c[1] || c[1] == ' ')
			return c;
	return NULL;
}

static int block(struct parser *p, size_t indent, int depth, struct ls_yaml *ret);

/* What follows a key or a dash with nothing behind it on its line: a block that is
 * further in (a list may stand under its key), or nothing. */
static int child(struct parser *p, size_t indent, bool list_too, unsigned line, int depth,
		 struct ls_yaml *ret)
{
	struct line *next = p->at < p->n ? &p->lines[p->at] : NULL;
	bool deeper = next && (next->indent > indent ||
			       (list_too && next->indent == indent && is_dash(next->text)));
	if (deeper)
		return block(p, next->indent, depth + 1, ret);
	ret->text = ls_xstrdup("");
	ret->line = line;
	return 0;
}

static int list(struct parser *p, size_t indent, int depth, struct ls_yaml *ret)
{
	ret->kind = LS_YAML_LIST;
	while (p->at < p->n && p->lines[p->at].indent == indent && is_dash(p->lines[p->at].text)) {
		struct line *l = &p->lines[p->at];
		struct ls_yaml *item = add_item(ret, l->number);
		size_t skip = 1 + strspn(l->text + 1, " ");
		int rc;
		l->text += skip;
		l->indent += skip;
		if (!*l->text) {
			p->at++;
			rc = child(p, indent, false, l->number, depth, item);
		} else if (is_dash(l->text) || key_end(l->text)) {
			rc = block(p, l->indent, depth + 1, item);
		} else {
			p->at++;
			rc = scalar(p, l->number, l->text, item);
		}
		if (rc)
			return rc;
	}
	return 0;
}

static int take_key(struct parser *p, struct line *l, char *colon, char **ret)
{
	char *end;
	if (*l->text != '"' && *l->text != '\'') {
		*colon = 0;
		*ret = ls_xstrdup(ls_str_trim(l->text));
		return **ret ? 0 : fault(p, l->number, "a key without a name");
	}
	int rc = take_quoted(p, l->number, l->text, ret, &end);
	return rc || end == colon ? rc : fault(p, l->number, "text behind a quoted text");
}

static int entry(struct parser *p, size_t indent, int depth, struct ls_yaml *map)
{
	struct line *l = &p->lines[p->at];
	char *colon = key_end(l->text), *key = NULL;
	if (!colon)
		return fault(p, l->number, "expected \"key: value\"");
	char *value = colon + 1 + strspn(colon + 1, " ");
	if (map->n >= KEYS)
		return fault(p, l->number, "too many keys");
	int rc = take_key(p, l, colon, &key);
	if (!rc && ls_yaml_get(map, key))
		rc = fault(p, l->number, "a key that is there already");
	if (rc) {
		free(key);
		return rc;
	}
	struct ls_yaml *item = add_item(map, l->number);
	item->key = key;
	p->at++;
	return *value ? scalar(p, l->number, value, item)
		      : child(p, indent, true, l->number, depth, item);
}

static int block(struct parser *p, size_t indent, int depth, struct ls_yaml *ret)
{
	struct line *first = &p->lines[p->at];
	int rc = 0;
	if (depth > DEPTH)
		return fault(p, first->number, "nested too deep");
	ret->line = first->number;
	if (is_dash(first->text)) {
		rc = list(p, indent, depth, ret);
	} else {
		ret->kind = LS_YAML_MAP;
		while (!rc && p->at < p->n && p->lines[p->at].indent == indent &&
		       !is_dash(p->lines[p->at].text))
			rc = entry(p, indent, depth, ret);
	}
	if (!rc && p->at < p->n && p->lines[p->at].indent > indent)
		rc = fault(p, p->lines[p->at].number, "this line is indented too far");
	return rc;
}

static int document(struct parser *p, struct ls_yaml *ret)
{
	if (p->n == 0)
		return ls_err_set(p->err, LS_EINPUT, "%s: is empty", p->path);
	int rc = block(p, p->lines[0].indent, 0, ret);
	if (!rc && p->at < p->n)
		rc = fault(p, p->lines[p->at].number, "this line does not belong to what is above");
	return rc;
}

int ls_yaml_parse(const char *text, size_t len, const char *path, struct ls_yaml **ret,
		  struct ls_err *err)
{
	struct parser p = {.path = path, .copy = ls_xstrndup(text, len), .err = err};
	struct ls_yaml *root = ls_xalloc(sizeof *root);
	int rc = memchr(text, 0, len)
			 ? ls_err_set(err, LS_EINPUT, "%s: has NUL bytes; this is no text", path)
			 : split(&p);
	if (!rc)
		rc = document(&p, root);
	free(p.lines);
	free(p.copy);
	if (rc)
		ls_yaml_free(root);
	else
		*ret = root;
	return rc;
}

static void clear(struct ls_yaml *node)
{
	for (size_t i = 0; i < node->n; i++)
		clear(&node->items[i]);
	free(node->items);
	free(node->key);
	free(node->text);
}

void ls_yaml_free(struct ls_yaml *node)
{
	if (node)
		clear(node);
	free(node);
}

const struct ls_yaml *ls_yaml_get(const struct ls_yaml *map, const char *key)
{
	for (size_t i = 0; map->kind == LS_YAML_MAP && i < map->n; i++)
		if (map->items[i].key && strcmp(map->items[i].key, key) == 0)
			return &map->items[i];
	return NULL;
}
