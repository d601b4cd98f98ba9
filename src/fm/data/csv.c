#include "fm/data/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A record may be long, but an unclosed quote must not read a file of any size. */
enum { MOST_BYTES = 64 << 20, MOST_CELLS = 1 << 20 };

struct ls_csv {
	struct ls_source *source;
	char delimiter;
	struct ls_slice slice;
	size_t at;     /* in the slice */
	uint64_t line; /* of that byte */
	/* of the record */
	uint64_t first_line;
	char *text;
	size_t len, cap;
	struct ls_csv_cell *cell;
	size_t *start, n, cap_cells, cap_starts;
};

struct ls_csv *ls_csv_new(struct ls_source *s, char delimiter)
{
	struct ls_csv *c = ls_xalloc(sizeof *c);
	c->source = s;
	c->delimiter = delimiter;
	c->line = 1;
	return c;
}

void ls_csv_free(struct ls_csv *c)
{
	if (!c)
		return;
	ls_slice_done(&c->slice);
	free(c->text);
	free(c->cell);
	free(c->start);
	free(c);
}

char ls_csv_delimiter(const struct ls_csv *c)
{
	return c->delimiter;
}

static int fault(const struct ls_csv *c, uint64_t line, const char *what, struct ls_err *err)
{
	return ls_err_set(err, LS_EINPUT, "%s:%llu: %s", ls_source_name(c->source),
			  (unsigned long long)line, what);
}

/* By the first line alone, even if a quote goes on, as a slice may end there. */
static char find_delimiter(const struct ls_slice *slice)
{
	static const char known[] = {',', '\t', ';', '|'};
	bool has[sizeof known] = {false}, quoted = false;
	for (size_t i = 0; i < slice->len && slice->text[i] != '\n'; i++) {
		quoted ^= slice->text[i] == '"';
		for (size_t k = 0; k < sizeof known && !quoted; k++)
			has[k] |= slice->text[i] == known[k];
	}
	for (size_t k = 0; k < sizeof known; k++)
		if (has[k])
			return known[k];
	return ',';
}

/* Sees to it that there is a byte to read: 1, or 0 at the end. A slice ends in a newline. */
static int more(struct ls_csv *c, struct ls_err *err)
{
	int rc = 1;
	while (c->at == c->slice.len && rc > 0) {
		ls_slice_done(&c->slice);
		c->at = 0;
		rc = ls_source_next(c->source, &c->slice, err);
	}
	if (rc > 0 && !c->delimiter)
		c->delimiter = find_delimiter(&c->slice);
	return rc;
}

static int append(struct ls_csv *c, const char *text, size_t n, struct ls_err *err)
{
	if (memchr(text, 0, n))
		return fault(c, c->first_line, "a zero byte: this is not text", err);
	if (c->len + n > MOST_BYTES)
		return fault(c, c->first_line,
			     "a record of more than 64 MiB begins here; is a quote not closed?",
			     err);
	while (c->len + n + 1 > c->cap) {
		size_t cap = c->cap ? 2 * c->cap : 4096;
		char *grown = realloc(c->text, cap);
		if (!grown)
			return ls_err_set(err, LS_ENOMEM, "%s: no memory for a record",
					  ls_source_name(c->source));
		c->text = grown;
		c->cap = cap;
	}
	memcpy(c->text + c->len, text, n);
	c->len += n;
	return 0;
}

/* Up to the delimiter or the end of the line. */
static int read_plain(struct ls_csv *c, struct ls_err *err)
{
	const char *from = c->slice.text + c->at, *p = from;
	while (*p != c->delimiter && *p != '\n' && *p != '\r')
		p++;
	c->at += (size_t)(p - from);
	return append(c, from, (size_t)(p - from), err);
}

static uint64_t count_lines(const char *p, size_t n)
{
	uint64_t lines = 0;
	for (const char *end = p + n; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
		lines++;
	return lines;
}

/* Up to a quote, which is passed; quotes may go over lines, hence slices. */
static int read_to_quote(struct ls_csv *c, struct ls_err *err)
{
	for (;;) {
		int rc = more(c, err);
		if (rc < 0)
			return rc;
		if (rc == 0)
			return fault(c, c->first_line,
				     "a quote is opened in this record and never closed", err);
		const char *from = c->slice.text + c->at;
		const char *quote = memchr(from, '"', c->slice.len - c->at);
		size_t n = quote ? (size_t)(quote - from) : c->slice.len - c->at;
		rc = append(c, from, n, err);
		if (rc)
			return rc;
		c->line += count_lines(from, n);
		c->at += n + (quote != NULL);
		if (quote)
			return 0;
	}
}

static int read_quoted(struct ls_csv *c, struct ls_err *err)
{
	c->at++;
	int rc = read_to_quote(c, err);
	while (rc == 0 && c->slice.text[c->at] == '"') { /* two of them are one */
		rc = append(c, "\"", 1, err);
		c->at++;
		rc = rc ? rc : read_to_quote(c, err);
	}
	if (rc)
		return rc;
	char next = c->slice.text[c->at];
	if (next != c->delimiter && next != '\n' && next != '\r')
		return fault(c, c->line,
			     "text follows a closing quote; within quotes a quote is written twice",
			     err);
	return 0;
}

static int begin_cell(struct ls_csv *c, struct ls_err *err)
{
	if (c->n == MOST_CELLS)
		return fault(c, c->first_line, "more than 1048576 columns", err);
	c->start = ls_grow(c->start, c->n, &c->cap_starts, sizeof *c->start);
	c->start[c->n++] = c->len;
	return 0;
}

/* One cell and what ends it. Returns 1 if another follows on this line. */
static int read_cell(struct ls_csv *c, struct ls_err *err)
{
	int rc = begin_cell(c, err);
	if (rc == 0)
		rc = (c->slice.text[c->at] == '"' ? read_quoted : read_plain)(c, err);
	if (rc == 0)
		rc = append(c, "\n", 1, err);
	if (rc)
		return rc;
	const char *end = c->slice.text + c->at;
	if (*end == '\r' && end[1] != '\n')
		return fault(c, c->line, "a carriage return that ends no line", err);
	c->at += *end == '\r' ? 2 : 1;
	c->line += *end != c->delimiter;
	return *end == c->delimiter;
}

static void finish(struct ls_csv *c, struct ls_csv_record *ret)
{
	while (c->cap_cells < c->n)
		c->cell = ls_grow(c->cell, c->cap_cells, &c->cap_cells, sizeof *c->cell);
	for (size_t i = 0; i < c->n; i++) {
		size_t end = i + 1 < c->n ? c->start[i + 1] : c->len;
		c->cell[i] = (struct ls_csv_cell){c->text + c->start[i], end - c->start[i] - 1};
	}
	*ret = (struct ls_csv_record){c->first_line, c->n, c->cell};
}

int ls_csv_next(struct ls_csv *c, struct ls_csv_record *ret, struct ls_err *err)
{
	int rc;
	while ((rc = more(c, err)) > 0) {
		bool quoted = c->slice.text[c->at] == '"';
		c->first_line = c->line;
		c->len = c->n = 0;
		while ((rc = read_cell(c, err)) > 0)
			continue;
		if (rc)
			return rc;
		if (c->n == 1 && c->len == 1 && !quoted) /* a blank line */
			continue;
		finish(c, ret);
		return 1;
	}
	return rc;
}
