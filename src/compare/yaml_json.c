#include "compare/yaml_json.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compare/json_pair.h"
#include "compare/yaml_words.h"

enum {
	DEPTH_LIMIT = 100,
	IN_LIMIT = 16 << 20,
	OUT_LIMIT = 64 << 20, /* aliases of aliases make small texts large */
};

/* What a name stands for: bytes of the output. */
struct anchor {
	const char *name;
	size_t len, from, to;
};

struct yaml {
	const char *begin, *at, *end, *name;
	struct ls_str *out;
	struct anchor *anchors;
	size_t n, cap;
	int depth;
	bool tab; /* in the indentation of this line */
	struct ls_err *err;
};

static int wrong(const struct yaml *y, const char *what)
{
	size_t line = 1;
	for (const char *c = y->begin; c < y->at; c++)
		line += *c == '\n';
	return ls_err_set(y->err, LS_EINPUT, "%s: line %zu: not read as YAML: %s", y->name, line,
			  what);
}

/* --- places --- */

static char peek(const struct yaml *y, size_t ahead)
{
	return (size_t)(y->end - y->at) > ahead ? y->at[ahead] : 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_gap(char c)
{
	return c == 0 || c == '\n' || is_blank(c);
}

static bool is_flow_mark(char c)
{
	return c && strchr(",[]{}", c);
}

static bool starts_line(const struct yaml *y)
{
	return y->at == y->begin || y->at[-1] == '\n';
}

static void skip_blanks(struct yaml *y)
{
	while (is_blank(peek(y, 0)))
		y->at++;
}

static void skip_comment(struct yaml *y)
{
	if (peek(y, 0) == '#' && (y->at == y->begin || is_gap(y->at[-1])))
		while (peek(y, 0) && peek(y, 0) != '\n')
			y->at++;
}

/* Moves to the next token; true when it is on another line. */
static bool skip(struct yaml *y)
{
	for (bool crossed = false;; crossed = true) {
		bool begins = crossed || starts_line(y);
		const char *from = y->at;
		skip_blanks(y);
		if (begins)
			y->tab = memchr(from, '\t', (size_t)(y->at - from)) != NULL;
		skip_comment(y);
		if (peek(y, 0) != '\n')
			return crossed;
		y->at++;
	}
}

static long column(const struct yaml *y)
{
	const char *p = y->at;
	while (p > y->begin && p[-1] != '\n')
		p--;
	return (long)(y->at - p);
}

static bool is_marker(const struct yaml *y, const char *text)
{
	return starts_line(y) && y->end - y->at >= 3 && memcmp(y->at, text, 3) == 0 &&
	       is_gap(peek(y, 3));
}

static bool at_end(const struct yaml *y)
{
	return y->at == y->end || is_marker(y, "---") || is_marker(y, "...");
}

static bool is_dash(const struct yaml *y)
{
	return peek(y, 0) == '-' && is_gap(peek(y, 1));
}

/* Nothing but a comment may follow on the line. */
static int end_line(struct yaml *y)
{
	skip_blanks(y);
	skip_comment(y);
	return peek(y, 0) && peek(y, 0) != '\n' ? wrong(y, "something follows a value") : 0;
}

/* --- texts --- */

static void add_string(struct yaml *y, const char *s, size_t len)
{
	ls_str_add(y->out, "\"");
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];
		if (c < 0x20)
			ls_str_addf(y->out, "\\u%04x", c);
		else if (c == '"' || c == '\\')
			ls_str_addf(y->out, "\\%c", c);
		else
			ls_str_add_bytes(y->out, &c, 1);
	}
	ls_str_add(y->out, "\"");
}

static void add_plain(struct yaml *y, const char *s, size_t len)
{
	const char *json = ls_yaml_constant(s, len);
	if (json) {
		ls_str_add(y->out, json);
	} else if (ls_yaml_is_number(s, len)) {
		ls_str_add_bytes(y->out, s, len);
	} else if (ls_yaml_is_doubtful(s, len)) {
		ls_str_add(y->out, "{\"plain\":");
		add_string(y, s, len);
		ls_str_add(y->out, "}");
	} else {
		add_string(y, s, len);
	}
}

/* --- quoted scalars --- */

/* Line ends within a scalar: one is a blank, n are n - 1 line ends. Moves to the next
 * text. */
static size_t count_lines(struct yaml *y)
{
	size_t n = 0;
	for (; is_gap(peek(y, 0)) && y->at < y->end; y->at++)
		n += *y->at == '\n';
	return n;
}

static void add_lines(struct ls_str *text, size_t n)
{
	if (n == 1)
		ls_str_add(text, " ");
	for (; n > 1; n--)
		ls_str_add(text, "\n");
}

static int hex_escape(struct yaml *y, int n, struct ls_str *text)
{
	unsigned c = 0;
	for (; n > 0; n--) {
		static const char all[] = "0123456789abcdef0123456789ABCDEF";
		char d = peek(y, 0);
		const char *at = d ? strchr(all, d) : NULL;
		if (!at)
			return wrong(y, "an escape that is not hexadecimal");
		c = c << 4 | ((unsigned)(at - all) & 15U);
		y->at++;
	}
	if (c > 0x10ffff)
		return wrong(y, "an escape beyond Unicode");
	ls_json_add_utf8(text, c);
	return 0;
}

static int escape(struct yaml *y, struct ls_str *text)
{
	static const char from[] = "abtnvfre \"/\\", to[] = "\a\b\t\n\v\f\r\033 \"/\\";
	char c = peek(y, 1);
	const char *known = c ? strchr(from, c) : NULL;
	y->at += c && c != '\n' && c != '\r' ? 2 : 1;
	if (known) {
		ls_str_add_bytes(text, &to[known - from], 1);
		return 0;
	}
	switch (c) {
	case '\r':
	case '\n': /* the line goes on */
		for (size_t n = count_lines(y); n > 1; n--)
			ls_str_add(text, "\n");
		return 0;
	case '0':
		ls_str_add_bytes(text, "", 1);
		return 0;
	case 'x':
		return hex_escape(y, 2, text);
	case 'u':
		return hex_escape(y, 4, text);
	case 'U':
		return hex_escape(y, 8, text);
	case 'N':
	case '_':
		ls_json_add_utf8(text, c == 'N' ? 0x85 : 0xa0);
		return 0;
	case 'L':
	case 'P':
		ls_json_add_utf8(text, c == 'L' ? 0x2028 : 0x2029);
		return 0;
	default:
		return wrong(y, "an unknown escape");
	}
}

/* Blanks around a line end go, but not those that were escaped: the first keep bytes. */
static void fold(struct yaml *y, struct ls_str *text, size_t keep)
{
	while (text->len > keep && is_blank(text->s[text->len - 1]))
		text->len--;
	add_lines(text, count_lines(y));
}

static int quoted(struct yaml *y, struct ls_str *text)
{
	char quote = *y->at++;
	size_t keep = 0;
	int rc = 0;
	while (rc == 0) {
		char c = peek(y, 0);
		if (c == 0)
			return wrong(y, "a quotation that does not end");
		if (c == '\n') {
			fold(y, text, keep);
		} else if (c == '\\' && quote == '"') {
			rc = escape(y, text);
			keep = text->len;
		} else if (c != quote) {
			ls_str_add_bytes(text, y->at++, 1);
		} else if (quote == '\'' && peek(y, 1) == quote) {
			ls_str_add_bytes(text, y->at, 1);
			y->at += 2;
		} else {
			y->at++;
			return 0;
		}
	}
	return rc;
}

/* --- plain scalars --- */

static bool ends_key(const struct yaml *y, bool in_flow)
{
	return peek(y, 0) == ':' && (is_gap(peek(y, 1)) || (in_flow && is_flow_mark(peek(y, 1))));
}

/* What stands of a plain scalar on this line, without the blanks behind it. */
static void take_line(struct yaml *y, bool in_flow, struct ls_str *text)
{
	const char *from = y->at, *to = y->at;
	for (char c; (c = peek(y, 0)) && c != '\n'; y->at++) {
		if (ends_key(y, in_flow) || (in_flow && is_flow_mark(c)) ||
		    (c == '#' && y->at > from && is_blank(y->at[-1])))
			break;
		if (!is_blank(c))
			to = y->at + 1;
	}
	ls_str_add_bytes(text, from, (size_t)(to - from));
}

/* Whether the scalar goes on where y is, on a later line. */
static bool goes_on(const struct yaml *y, long parent, bool in_flow)
{
	if (at_end(y) || peek(y, 0) == '#')
		return false;
	return in_flow ? !is_flow_mark(peek(y, 0)) && !ends_key(y, true) : column(y) > parent;
}

static int plain(struct yaml *y, long parent, bool in_flow, struct ls_str *text)
{
	if (strchr("&*!|>%@`\"'#,[]{}", peek(y, 0)) ||
	    (strchr("?:-", peek(y, 0)) &&
	     (is_gap(peek(y, 1)) || (in_flow && is_flow_mark(peek(y, 1))))))
		return wrong(y, "a character that begins no plain text");
	for (;;) {
		take_line(y, in_flow, text);
		const char *stop = y->at;
		size_t n = peek(y, 0) == '\n' ? count_lines(y) : 0;
		if (n == 0 || !goes_on(y, parent, in_flow)) {
			y->at = stop;
			break;
		}
		add_lines(text, n);
	}
	if (!in_flow && ends_key(y, false))
		return wrong(y, "a colon in a text of several lines");
	return 0;
}

/* --- block scalars --- */

struct block {
	bool folded;
	char chomp;  /* '-', '+', or 0 */
	long indent; /* of its lines; -1 while it is not known */
	bool was_further;
	size_t breaks; /* line ends since the last text */
};

static int block_head(struct yaml *y, long parent, struct block *ret)
{
	*ret = (struct block){.folded = *y->at++ == '>', .indent = -1};
	for (int i = 0; i < 2; i++) {
		char c = peek(y, 0);
		if ((c == '-' || c == '+') && !ret->chomp)
			ret->chomp = c;
		else if (c >= '1' && c <= '9' && ret->indent < 0)
			ret->indent = (parent < 0 ? 0 : parent) + (c - '0');
		else
			break;
		y->at++;
	}
	int rc = end_line(y);
	if (rc == 0 && peek(y, 0) == '\n')
		y->at++;
	return rc;
}

/* Whether the line at y belongs to the scalar; an empty one has no indent of its own. */
static bool block_line(const struct yaml *y, long parent, struct block *b, bool *ret_empty)
{
	const char *p = y->at;
	while (p < y->end && *p == ' ' && (b->indent < 0 || p - y->at < b->indent))
		p++;
	const char *rest = p;
	while (rest < y->end && (*rest == ' ' || *rest == '\r'))
		rest++;
	long indent = (long)(p - y->at);
	*ret_empty = (rest == y->end || *rest == '\n') && (b->indent < 0 || indent < b->indent);
	if (y->at == y->end || *ret_empty)
		return y->at < y->end;
	if (b->indent < 0 && indent > parent)
		b->indent = indent;
	return b->indent >= 0 && indent >= b->indent && !at_end(y);
}

static void add_breaks(struct block *b, bool further, struct ls_str *text)
{
	bool folds = b->folded && text->len && !further && !b->was_further;
	if (folds) {
		add_lines(text, b->breaks);
	} else {
		for (; b->breaks; b->breaks--)
			ls_str_add(text, "\n");
	}
	b->breaks = 0;
	b->was_further = further;
}

static void take_block_line(struct yaml *y, struct block *b, bool empty, struct ls_str *text)
{
	const char *nl = memchr(y->at, '\n', (size_t)(y->end - y->at)), *stop = nl ? nl : y->end;
	if (!empty) {
		const char *from = y->at + b->indent, *to = stop;
		while (to > from && to[-1] == '\r')
			to--;
		add_breaks(b, from < to && is_blank(*from), text);
		ls_str_add_bytes(text, from, (size_t)(to - from));
	}
	b->breaks += nl != NULL;
	y->at = nl ? nl + 1 : stop;
}

static int block_scalar(struct yaml *y, long parent, struct ls_str *text)
{
	struct block b;
	bool empty = false;
	int rc = block_head(y, parent, &b);
	if (rc)
		return rc;
	while (block_line(y, parent, &b, &empty))
		take_block_line(y, &b, empty, text);
	if (b.chomp != '-' && b.breaks && (text->len || b.chomp == '+'))
		for (size_t n = b.chomp == '+' ? b.breaks : 1; n; n--)
			ls_str_add(text, "\n");
	return 0;
}

/* --- nodes --- */

struct node {
	const char *tag, *anchor;
	size_t tag_len, anchor_len, from;
	bool crossed; /* a line end between the properties and the value */
};

static size_t word(struct yaml *y)
{
	const char *from = y->at;
	while (!is_gap(peek(y, 0)) && !is_flow_mark(peek(y, 0)))
		y->at++;
	return (size_t)(y->at - from);
}

/* Takes tag and anchor, which stand before a value. */
static int begin_node(struct yaml *y, struct node *n)
{
	*n = (struct node){.from = y->out->len};
	if (++y->depth > DEPTH_LIMIT)
		return wrong(y, "nested too deep");
	for (char c; (c = peek(y, 0)) == '!' || c == '&';) {
		const char **what = c == '!' ? &n->tag : &n->anchor;
		if (*what)
			return wrong(y, "two tags or two anchors of one value");
		*what = c == '!' ? y->at : ++y->at;
		size_t len = word(y);
		*(c == '!' ? &n->tag_len : &n->anchor_len) = len;
		if (len == 0)
			return wrong(y, "an anchor without a name");
		n->crossed |= skip(y);
	}
	if (n->tag) {
		ls_str_add(y->out, "{");
		add_string(y, n->tag, n->tag_len);
		ls_str_add(y->out, ":");
	}
	return 0;
}

static int end_node(struct yaml *y, const struct node *n)
{
	y->depth--;
	if (n->tag)
		ls_str_add(y->out, "}");
	if (y->out->len > OUT_LIMIT)
		return wrong(y, "its aliases make more than 64 MiB of it");
	if (n->anchor) {
		y->anchors = ls_grow(y->anchors, y->n, &y->cap, sizeof *y->anchors);
		y->anchors[y->n++] =
			(struct anchor){n->anchor, n->anchor_len, n->from, y->out->len};
	}
	return 0;
}

static int alias(struct yaml *y)
{
	const char *name = ++y->at;
	size_t len = word(y);
	for (size_t i = y->n; i-- > 0;) {
		const struct anchor *a = &y->anchors[i];
		if (a->len != len || memcmp(a->name, name, len) != 0)
			continue;
		char *copy = ls_xstrndup(y->out->s + a->from, a->to - a->from);
		ls_str_add_bytes(y->out, copy, a->to - a->from);
		free(copy);
		return 0;
	}
	return wrong(y, "an alias of nothing before it");
}

/* A scalar by its style; *ret_text when quotes or a block make it text. */
static int styled(struct yaml *y, long parent, bool in_flow, struct ls_str *text, bool *ret_text)
{
	char c = peek(y, 0);
	*ret_text = true;
	if (c == '"' || c == '\'') {
		int rc = quoted(y, text);
		return rc || in_flow ? rc : end_line(y);
	}
	if (!in_flow && (c == '|' || c == '>'))
		return block_scalar(y, parent, text);
	*ret_text = false;
	return plain(y, parent, in_flow, text);
}

static int scalar(struct yaml *y, long parent, bool in_flow)
{
	struct ls_str text = {0};
	bool is_string;
	int rc = styled(y, parent, in_flow, &text, &is_string);
	if (rc == 0 && is_string)
		add_string(y, text.s, text.len);
	else if (rc == 0)
		add_plain(y, text.s ? text.s : "", text.len);
	ls_str_done(&text);
	return rc;
}

/* The key and its colon. Quotes stay where the key would be no text without them. */
static int key(struct yaml *y, bool in_flow)
{
	struct ls_str text = {0};
	bool is_quoted = peek(y, 0) == '"' || peek(y, 0) == '\'';
	int rc = 0;
	if (is_quoted)
		rc = quoted(y, &text);
	else if (strchr("&*!|>%@`#,[]{}", peek(y, 0)) || is_dash(y) ||
		 (peek(y, 0) == '?' && is_gap(peek(y, 1))))
		rc = wrong(y, "a key of a form that is not read");
	else
		take_line(y, in_flow, &text);
	const char *s = text.s ? text.s : "";
	bool marked = is_quoted && (!ls_yaml_is_text(s, text.len) || s[0] == '"');
	struct ls_str full = {0};
	ls_str_addf(&full, "%s", marked ? "\"" : "");
	ls_str_add_bytes(&full, s, text.len);
	ls_str_addf(&full, "%s", marked ? "\"" : "");
	if (rc == 0)
		add_string(y, full.s ? full.s : "", full.len);
	ls_str_done(&text);
	ls_str_done(&full);
	return rc;
}

/* --- collections in brackets --- */

static int flow_node(struct yaml *y);

static int flow_pair(struct yaml *y)
{
	int rc = key(y, true);
	skip(y);
	ls_str_add(y->out, ":");
	if (rc || peek(y, 0) != ':') {
		ls_str_add(y->out, "null");
		return rc;
	}
	y->at++;
	skip(y);
	if (peek(y, 0) == ',' || peek(y, 0) == '}') {
		ls_str_add(y->out, "null");
		return 0;
	}
	return flow_node(y);
}

static int flow(struct yaml *y)
{
	bool is_map = *y->at == '{';
	char close = is_map ? '}' : ']';
	ls_str_add_bytes(y->out, y->at++, 1);
	for (bool first = true;; first = false) {
		skip(y);
		if (peek(y, 0) == close)
			break;
		if (y->at == y->end)
			return wrong(y, "brackets that do not end");
		if (!first)
			ls_str_add(y->out, ",");
		int rc = is_map ? flow_pair(y) : flow_node(y);
		if (rc)
			return rc;
		skip(y);
		if (peek(y, 0) == ',')
			y->at++;
		else if (peek(y, 0) != close)
			return wrong(y, "no comma between two values in brackets");
	}
	ls_str_add_bytes(y->out, y->at++, 1);
	return 0;
}

static int flow_node(struct yaml *y)
{
	struct node n;
	int rc = begin_node(y, &n);
	char c = peek(y, 0);
	if (rc)
		return rc;
	if (c == '*')
		rc = alias(y);
	else if (c == '[' || c == '{')
		rc = flow(y);
	else if ((n.tag || n.anchor) && (c == ',' || c == ']' || c == '}'))
		ls_str_add(y->out, "null");
	else
		rc = scalar(y, -1, true);
	return rc ? rc : end_node(y, &n);
}

/* --- collections by indentation --- */

enum {
	COMPACT = 1,  /* a collection may begin on the line of its parent */
	LIST_HERE = 2 /* a list may stand in the column of its parent */
};

static int block_node(struct yaml *y, long parent, int how);

/* Whether "key:" stands here. */
static bool is_key(const struct yaml *y)
{
	struct yaml at = *y;
	struct ls_str text = {0};
	struct ls_err ignored;
	at.err = &ignored;
	bool good = true;
	if (peek(y, 0) == '"' || peek(y, 0) == '\'') {
		const char *nl = memchr(y->at, '\n', (size_t)(y->end - y->at));
		at.end = nl ? nl : y->end;
		good = quoted(&at, &text) == 0;
		skip_blanks(&at);
	} else {
		take_line(&at, false, &text);
	}
	ls_str_done(&text);
	return good && ends_key(&at, false);
}

/* Behind an entry of a collection in this column: whether another one may follow. */
static int next_entry(struct yaml *y, long col, bool *ret)
{
	skip(y);
	*ret = !at_end(y) && column(y) >= col;
	if (*ret && (y->tab || column(y) > col))
		return wrong(y, y->tab ? "a tab in the indentation" : "indented too far");
	return 0;
}

static int block_list(struct yaml *y, long col)
{
	bool more = true;
	ls_str_add(y->out, "[");
	for (bool first = true; more && is_dash(y); first = false) {
		if (!first)
			ls_str_add(y->out, ",");
		y->at++;
		int rc = block_node(y, col, COMPACT);
		if (rc == 0)
			rc = next_entry(y, col, &more);
		if (rc)
			return rc;
	}
	ls_str_add(y->out, "]");
	return 0;
}

static int block_map(struct yaml *y, long col)
{
	bool more = true;
	ls_str_add(y->out, "{");
	for (bool first = true; more; first = false) {
		if (!first)
			ls_str_add(y->out, ",");
		int rc = is_key(y) ? key(y, false) : wrong(y, "no key and colon");
		if (rc)
			return rc;
		skip_blanks(y);
		y->at++;
		ls_str_add(y->out, ":");
		rc = block_node(y, col, LIST_HERE);
		if (rc == 0)
			rc = next_entry(y, col, &more);
		if (rc)
			return rc;
	}
	ls_str_add(y->out, "}");
	return 0;
}

/* Whether a token on a line of its own belongs to a parent in this column. */
static bool is_child(const struct yaml *y, long parent, int how)
{
	long col = column(y);
	return col > parent || (col == parent && (how & LIST_HERE) && is_dash(y));
}

static int block_value(struct yaml *y, long parent, bool may_begin)
{
	char c = peek(y, 0);
	int rc;
	if (c == '*' || c == '[' || c == '{') {
		rc = c == '*' ? alias(y) : flow(y);
		return rc ? rc : end_line(y);
	}
	bool list = is_dash(y);
	if (!list && !is_key(y))
		return scalar(y, parent, false);
	if (!may_begin)
		return wrong(y, "a list or a key where a value is expected");
	return list ? block_list(y, column(y)) : block_map(y, column(y));
}

static int block_node(struct yaml *y, long parent, int how)
{
	struct node n;
	bool crossed = skip(y) || starts_line(y);
	bool absent = at_end(y) || (crossed && !is_child(y, parent, how));
	if (absent) {
		ls_str_add(y->out, "null");
		return 0;
	}
	if (crossed && y->tab)
		return wrong(y, "a tab in the indentation");
	int rc = begin_node(y, &n);
	if (rc)
		return rc;
	bool named = n.tag || n.anchor;
	if (at_end(y) || (n.crossed && !is_child(y, parent, how)))
		ls_str_add(y->out, "null");
	else
		rc = block_value(y, parent, n.crossed || (!named && (crossed || (how & COMPACT))));
	return rc ? rc : end_node(y, &n);
}

/* --- documents --- */

static int document(struct yaml *y)
{
	skip(y);
	if (peek(y, 0) == '%')
		return wrong(y, "a directive");
	if (is_marker(y, "---"))
		y->at += 3;
	int rc = block_node(y, -1, COMPACT);
	if (rc)
		return rc;
	skip(y);
	if (is_marker(y, "...")) {
		y->at += 3;
		skip(y);
	}
	return y->at == y->end ? 0 : wrong(y, "a second document, or a line that belongs to none");
}

static int check_text(struct yaml *y)
{
	if (y->end - y->begin > IN_LIMIT)
		return wrong(y, "more than 16 MiB");
	for (const char *c = y->begin; c < y->end; c++)
		if ((unsigned char)*c < 0x20 && !strchr("\t\n\r", *c ? *c : 'x')) {
			y->at = c;
			return wrong(y, "a control character");
		}
	return 0;
}

int ls_yaml_json(const char *text, size_t len, const char *name, struct ls_str *out,
		 struct ls_err *err)
{
	static const char mark[] = "\xef\xbb\xbf";
	size_t from = len >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
	struct yaml y = {.begin = text + from, .end = text + len, .name = name, .out = out};
	y.at = y.begin;
	y.err = err;
	int rc = check_text(&y);
	if (rc == 0)
		rc = document(&y);
	free(y.anchors);
	return rc;
}
