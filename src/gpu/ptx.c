#include "gpu/ptx.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

struct cut {
	const char *text;
	size_t len, at;
	const char *const *names;
	bool *found; /* by name */
	size_t kept; /* text before this offset is in out, or was dropped */
	struct ls_str out;
	const char *fault; /* why the text is not understood; `at` is where */
};

static bool fails(struct cut *c, const char *why)
{
	c->fault = why;
	return false;
}

/* --- comments, strings, words --- */

static bool is_word(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       ch == '_' || ch == '$';
}

static size_t word_end(const struct cut *c, size_t at)
{
	while (at < c->len && is_word(c->text[at]))
		at++;
	return at;
}

static bool is(const struct cut *c, size_t at, size_t end, const char *word)
{
	size_t len = strlen(word);
	return end - at == len && memcmp(c->text + at, word, len) == 0;
}

static size_t skip_blanks(const struct cut *c, size_t at)
{
	while (at < c->len && (c->text[at] == ' ' || c->text[at] == '\t'))
		at++;
	return at;
}

/* At '/': skips a comment, or that one character. */
static bool skip_comment(struct cut *c)
{
	const char *from = c->text + c->at, *end;
	size_t left = c->len - c->at;
	if (left < 2 || (from[1] != '/' && from[1] != '*')) {
		c->at++;
		return true;
	}
	if (from[1] == '/') {
		end = memchr(from, '\n', left);
		c->at = end ? (size_t)(end - c->text) : c->len;
		return true;
	}
	end = memmem(from + 2, left - 2, "*/", 2);
	if (!end)
		return fails(c, "a comment without an end");
	c->at = (size_t)(end - c->text) + 2;
	return true;
}

/* At '"': skips a string. PTX has no escapes in strings, so a backslash is refused:
 * another reader might take it for one. */
static bool skip_string(struct cut *c)
{
	for (size_t i = c->at + 1; i < c->len && c->text[i] != '\n' && c->text[i] != '\\'; i++)
		if (c->text[i] == '"') {
			c->at = i + 1;
			return true;
		}
	return fails(c, "a string without an end on its line");
}

/* Skips one comment, string, or other character. */
static bool skip_piece(struct cut *c)
{
	char ch = c->text[c->at];
	if (ch == '/')
		return skip_comment(c);
	if (ch == '"')
		return skip_string(c);
	c->at++;
	return true;
}

/* Skips text without meaning here, which is nearly all of a body. Bodies have megabytes,
 * and this also runs when the code is cached. */
static void skip_plain(struct cut *c)
{
	static const bool special[256] = {['{'] = true, ['}'] = true, ['/'] = true, ['"'] = true};
	const unsigned char *p = (const unsigned char *)c->text + c->at,
			    *end = (const unsigned char *)c->text + c->len;
	while (end - p >= 4 && !(special[p[0]] | special[p[1]] | special[p[2]] | special[p[3]]))
		p += 4;
	while (p < end && !special[*p])
		p++;
	c->at = (size_t)(p - (const unsigned char *)c->text);
}

/* At '{': skips to behind the matching '}'. */
static bool skip_braces(struct cut *c)
{
	size_t depth = 0, from = c->at;
	while (c->at < c->len) {
		char ch = c->text[c->at];
		if (!skip_piece(c))
			return false;
		depth += ch == '{';
		depth -= ch == '}';
		if (depth == 0)
			return true;
		skip_plain(c);
	}
	c->at = from;
	return fails(c, "a brace that is not closed");
}

/* --- kernels --- */

/* Finds where the line of `.entry` at dot begins; only linkage may stand before it. */
static bool find_start(struct cut *c, size_t dot, size_t *ret)
{
	size_t start = dot;
	while (start > 0 && c->text[start - 1] != '\n')
		start--;
	for (size_t at = start; at < dot; at = skip_blanks(c, at)) {
		size_t end = c->text[at] == '.' ? word_end(c, at + 1) : at;
		if (!is(c, at, end, ".visible") && !is(c, at, end, ".weak"))
			return fails(c, "an .entry that does not begin its line");
		at = end;
	}
	*ret = start;
	return true;
}

/* Skips from behind the name, over parameters and performance directives, to behind the
 * body. */
static bool skip_entry(struct cut *c)
{
	while (c->at < c->len && c->text[c->at] != '{') {
		char ch = c->text[c->at];
		size_t end = ch == '.' ? word_end(c, c->at + 1) : c->at;
		if (ch == ';' || ch == '}' || is(c, c->at, end, ".entry") ||
		    is(c, c->at, end, ".func"))
			return fails(c, "an .entry without a body");
		if (!skip_piece(c))
			return false;
	}
	return c->at < c->len ? skip_braces(c) : fails(c, "an .entry without a body");
}

static bool is_wanted(struct cut *c, size_t at, size_t end)
{
	bool wanted = false;
	for (size_t i = 0; c->names[i]; i++)
		if (is(c, at, end, c->names[i]))
			wanted = c->found[i] = true;
	return wanted;
}

/* dot: of ".entry"; at: behind that word. */
static bool read_entry(struct cut *c, size_t dot)
{
	size_t start, name = skip_blanks(c, c->at), end = word_end(c, name);
	if (!find_start(c, dot, &start))
		return false;
	if (name == c->at || end == name)
		return fails(c, "an .entry without a name beside it");
	c->at = end;
	if (!skip_entry(c))
		return false;
	if (!is_wanted(c, name, end)) {
		ls_str_add_bytes(&c->out, c->text + c->kept, start - c->kept);
		c->kept = c->at;
	}
	return true;
}

/* --- the module --- */

static bool read_directive(struct cut *c)
{
	size_t dot = c->at, end = word_end(c, dot + 1);
	size_t next = skip_blanks(c, end);
	c->at = end;
	if (is(c, dot, end, ".section"))
		return fails(c, "a debug section");
	if ((is(c, dot, end, ".visible") || is(c, dot, end, ".weak")) &&
	    (next == c->len || c->text[next] == '\n'))
		return fails(c, "a linkage whose line ends behind it");
	return is(c, dot, end, ".entry") ? read_entry(c, dot) : true;
}

static bool read_module(struct cut *c)
{
	if (memchr(c->text, 0, c->len))
		return fails(c, "a zero byte in it");
	while (c->at < c->len) {
		char ch = c->text[c->at];
		if (ch == '}')
			return fails(c, "a closing brace too many");
		if (ch == '{' ? !skip_braces(c) : ch == '.' ? !read_directive(c) : !skip_piece(c))
			return false;
	}
	ls_str_add_bytes(&c->out, c->text + c->kept, c->len - c->kept);
	return true;
}

static size_t line_of(const struct cut *c)
{
	size_t line = 1;
	for (size_t i = 0; i < c->at && i < c->len; i++)
		line += c->text[i] == '\n';
	return line;
}

static int check_found(const struct cut *c, struct ls_err *err)
{
	for (size_t i = 0; c->names[i]; i++)
		if (!c->found[i])
			return ls_err_set(err, LS_EINTERNAL,
					  "there is no kernel called %s in the PTX", c->names[i]);
	return 0;
}

int ls_ptx_cut(const char *text, size_t len, const char *const *names, char **ret, size_t *ret_len,
	       struct ls_err *err)
{
	struct cut c = {.text = text, .len = len, .names = names};
	size_t n = 0;
	while (names[n])
		n++;
	c.found = ls_xalloc((n + 1) * sizeof *c.found);
	int rc = read_module(&c) ? check_found(&c, err)
				 : ls_err_set(err, LS_EINPUT, "the PTX has, in line %zu, %s",
					      line_of(&c), c.fault);
	if (rc == 0) {
		*ret_len = c.out.len;
		*ret = ls_str_take(&c.out);
	}
	ls_str_done(&c.out);
	free(c.found);
	return rc;
}
