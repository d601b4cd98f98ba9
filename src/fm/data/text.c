#include "fm/data/text.h"

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/decimal.h"

/* Where the parser stands. Capacities come from the length of the slice: the shortest
 * entry is " 0:0", the shortest row "0\n", so nothing below grows inside the loops, and
 * untouched pages cost nothing. */
struct parser {
	struct ls_block *b;
	size_t cap_entries, cap_rows;
	const char *line;   /* first byte of the current line */
	uint64_t n_lines;   /* the current one included */
	const char *bad_at; /* the token a fault is about */
	char msg[sizeof((struct ls_text_fault *)0)->msg];
	char word[41]; /* of a message */
	bool labelled; /* the current row */
	bool no_memory;
};

__attribute__((cold, format(printf, 3, 4))) static const char *
fault(struct parser *s, const char *at, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(s->msg, sizeof s->msg, fmt, ap);
	va_end(ap);
	s->bad_at = at;
	return NULL;
}

__attribute__((cold)) static const char *out_of_memory(struct parser *s)
{
	s->no_memory = true;
	return NULL;
}

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline const char *skip_blanks(const char *p)
{
	while (is_blank(*p))
		p++;
	return p;
}

/* The end of what counts on this line: its newline, with or without carriage return, or a
 * comment. */
static inline bool at_end(const char *p)
{
	return *p == '\n' || *p == '#' || (*p == '\r' && p[1] == '\n');
}

static inline bool token_ends(const char *p)
{
	return is_blank(*p) || *p == '\n' || (*p == '\r' && p[1] == '\n');
}

static bool has_colon(const char *p)
{
	while (!token_ends(p) && *p != ':')
		p++;
	return *p == ':';
}

/* The token's first 40 bytes as a terminal may see them; valid until the next. */
__attribute__((cold)) static const char *word(struct parser *s, const char *p)
{
	size_t n = 0;
	for (; !token_ends(p + n) && n < sizeof s->word - 1; n++)
		s->word[n] = (char)(p[n] < ' ' || p[n] > '~' ? '?' : p[n]);
	s->word[n] = '\0';
	return s->word;
}

/* What to do about a token that tells of a table. */
__attribute__((cold)) static const char *table_advice(const char *word)
{
	return strpbrk(word, ",;\"")
		       ? "; if this is CSV, `lockstep fm convert --label COLUMN` makes rows of it"
		       : "";
}

/* Up to eight digits at p in one load: their number, and their value in *ret (0 when
 * there are none). */
static inline unsigned digits8(const char *p, uint32_t *ret)
{
	uint64_t w;
	memcpy(&w, p, sizeof w);
	w = le64toh(w) ^ 0x3030303030303030u;
	uint64_t other =
		(((w & 0x7F7F7F7F7F7F7F7Fu) + 0x7676767676767676u) | w) & 0x8080808080808080u;
	unsigned n = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
	if (n == 0) {
		*ret = 0;
		return 0;
	}
	w <<= 64 - 8 * n; /* leading zeros to eight digits; then pairs, fours, all */
	w = w * 10 + (w >> 8);
	*ret = (uint32_t)((((w & 0x000000FF000000FFu) * 0x000F424000000064u) +
			   (((w >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u)) >>
			  32);
	return n;
}

/* An unsigned number of any length; anything beyond max gives max + 1. Returns the byte
 * after it, p when there is none. */
static const char *long_number(const char *p, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;
	for (; (unsigned char)(*p - '0') < 10; p++)
		if (v <= max)
			v = v * 10 + (uint64_t)(*p - '0');
	*ret = v <= max ? v : max + 1;
	return p;
}

/* --- values, weights: arrays that exist only once something differs from 1 --- */

static bool make_ones(float **array, size_t cap, uint64_t n)
{
	float *a = malloc((cap ? cap : 1) * sizeof *a);
	if (!a)
		return false;
	for (uint64_t i = 0; i < n; i++)
		a[i] = 1;
	*array = a;
	return true;
}

__attribute__((noinline)) static const char *odd_value(struct parser *s, const char *p, uint64_t n)
{
	float v;
	enum ls_decimal_fault why;
	const char *end = ls_decimal_float(p, &v, &why);
	if (!end)
		return fault(s, p, "value \"%s\" is %s", word(s, p), ls_decimal_fault_text(why));
	if (!token_ends(end))
		return fault(s, p, "value \"%s\" is not a number", word(s, p));
	if (v != 1 && !s->b->value && !make_ones(&s->b->value, s->cap_entries, n))
		return out_of_memory(s);
	if (s->b->value)
		s->b->value[n] = v;
	return end;
}

static inline const char *parse_value(struct parser *s, const char *p, uint64_t n)
{
	if (p[0] == '1' && (p[1] == ' ' || p[1] == '\n') && !s->b->value)
		return p + 1;
	return odd_value(s, p, n);
}

/* --- index and field --- */

__attribute__((cold)) static const char *bad_number(struct parser *s, const char *p,
						    const char *what, uint64_t max)
{
	uint64_t v;
	const char *end = long_number(p + (*p == '-'), max, &v);
	const char *w = word(s, p);
	int len = (int)strcspn(w, ":"); /* of the number alone */
	bool part = p > s->line && p[-1] == ':';
	/* A token without a colon does not tell the format: that comes from other tokens,
	 * perhaps of another slice. */
	if (!part && !has_colon(p))
		return fault(s, p, "\"%s\" is not index:value%s", w, table_advice(w));
	if (*p == '-' && end > p + 1)
		return fault(s, p, "%s \"%.*s\" is negative; the least is 0", what, len, w);
	if (end > p && v > max)
		return fault(s, p, "%s \"%.*s\" is beyond %llu", what, len, w,
			     (unsigned long long)max);
	return fault(s, p, "\"%s\" is not %s", w,
		     s->b->field ? "field:index:value" : "index:value");
}

/* A number from 0 to max, followed by a colon. Returns the byte after the colon. */
static inline const char *parse_number(struct parser *s, const char *p, const char *what,
				       uint32_t max, uint32_t *ret)
{
	unsigned n = digits8(p, ret);
	const char *end = p + n;
	if (__builtin_expect(n == 8, 0)) {
		uint64_t v;
		end = long_number(p, max, &v);
		if (v > max)
			return bad_number(s, p, what, max);
		*ret = (uint32_t)v;
	}
	if (__builtin_expect(n == 0 || *end != ':' || *ret > max, 0))
		return bad_number(s, p, what, max);
	return end + 1;
}

/* --- rows --- */

/* A token without colon in second place. */
static const char *parse_weight(struct parser *s, const char *p, uint64_t row)
{
	float w;
	enum ls_decimal_fault why;
	const char *end = ls_decimal_float(p, &w, &why);
	if (!end || !token_ends(end))
		return fault(s, p, "weight \"%s\" is %s", word(s, p),
			     ls_decimal_fault_text(end ? LS_DECIMAL_GARBAGE : why));
	if (w < 0)
		return fault(s, p, "weight \"%s\" is negative", word(s, p));
	if (w != 1 && !s->b->weight) {
		if (!make_ones(&s->b->weight, s->cap_rows, s->cap_rows))
			return out_of_memory(s);
	}
	if (s->b->weight)
		s->b->weight[row] = w;
	return end;
}

/* A label in front, if there is one. Returns the first byte of what follows. */
static const char *parse_label(struct parser *s, const char *p)
{
	struct ls_block *b = s->b;
	s->labelled = !has_colon(p);
	if (!s->labelled) {
		b->label[b->n_rows] = 0;
	} else {
		enum ls_decimal_fault why = LS_DECIMAL_GARBAGE;
		const char *end = ls_decimal_float(p, &b->label[b->n_rows], &why);
		if (!end || !token_ends(end)) {
			const char *w = word(s, p);
			return fault(s, p, "label \"%s\" is %s%s", w,
				     ls_decimal_fault_text(end ? LS_DECIMAL_GARBAGE : why),
				     table_advice(w));
		}
		p = skip_blanks(end);
	}
	if (!s->labelled || at_end(p) || has_colon(p))
		return p;
	p = parse_weight(s, p, b->n_rows);
	return p ? skip_blanks(p) : NULL;
}

static inline const char *svm_entries(struct parser *s, const char *p)
{
	struct ls_block *b = s->b;
	uint64_t n = b->n_entries;
	uint32_t max = b->max_feature;
	while (!at_end(p)) {
		uint32_t feature;
		p = parse_number(s, p, "index", UINT32_MAX, &feature);
		if (!p || !(p = parse_value(s, p, n)))
			return NULL;
		b->feature[n++] = feature;
		max = feature > max ? feature : max;
		p = skip_blanks(p);
	}
	b->n_entries = n;
	b->max_feature = max;
	return p;
}

static inline const char *ffm_entries(struct parser *s, const char *p)
{
	struct ls_block *b = s->b;
	uint64_t n = b->n_entries;
	uint32_t max = b->max_feature, max_field = b->max_field;
	while (!at_end(p)) {
		uint32_t field, feature;
		p = parse_number(s, p, "field", UINT16_MAX, &field);
		if (!p || !(p = parse_number(s, p, "index", UINT32_MAX, &feature)) ||
		    !(p = parse_value(s, p, n)))
			return NULL;
		b->field[n] = (uint16_t)field;
		b->feature[n++] = feature;
		max = feature > max ? feature : max;
		max_field = field > max_field ? field : max_field;
		p = skip_blanks(p);
	}
	b->n_entries = n;
	b->max_feature = max;
	b->max_field = (uint16_t)max_field;
	return p;
}

static struct ls_text_place place(const struct parser *s, const char *at)
{
	return (struct ls_text_place){s->n_lines, (uint64_t)(at - s->line) + 1};
}

/* Takes the row into the last run, or begins another. */
static bool add_to_run(struct parser *s, const char *row)
{
	struct ls_block *b = s->b;
	struct ls_text_place at = place(s, row);
	const struct ls_row_run *last = b->n_runs ? &b->run[b->n_runs - 1] : NULL;
	if (last && at.line - last->line == b->n_rows - last->row && at.column == last->column)
		return true;
	if (!b->run || (b->n_runs & (b->n_runs - 1)) == 0) { /* full */
		void *more = realloc(b->run, (b->n_runs ? 2 * b->n_runs : 1) * sizeof *b->run);
		if (!more)
			return false;
		b->run = more;
	}
	b->run[b->n_runs++] = (struct ls_row_run){b->n_rows, at.line, at.column};
	return true;
}

static const char *parse_row(struct parser *s, const char *p)
{
	struct ls_block *b = s->b;
	const char *row = p;
	p = parse_label(s, p);
	if (p)
		p = b->field ? ffm_entries(s, p) : svm_entries(s, p);
	if (!p)
		return NULL;
	if (!add_to_run(s, row))
		return out_of_memory(s);
	if (b->n_rows == 0)
		b->first_unlabelled = !s->labelled;
	b->start[++b->n_rows] = b->n_entries;
	b->unlabelled += !s->labelled;
	if (b->unlabelled && b->unlabelled != b->n_rows)
		return fault(s, row, LS_TEXT_MIXED);
	return p;
}

static bool parse_lines(struct parser *s, const struct ls_slice *slice)
{
	const char *end = slice->text + slice->len;
	for (const char *p = slice->text; p < end;) {
		s->line = p;
		s->n_lines++;
		p = skip_blanks(p);
		if (!at_end(p) && !(p = parse_row(s, p)))
			return false;
		while (*p != '\n') /* a carriage return or a comment */
			p++;
		p++;
	}
	return true;
}

enum ls_text_format ls_text_format_named(const char *name)
{
	if (!name)
		return LS_TEXT_UNKNOWN;
	return strcmp(name, "ffm") == 0 ? LS_TEXT_FFM : LS_TEXT_SVM;
}

enum ls_text_format ls_text_detect(const struct ls_slice *slice)
{
	const char *p = slice->text, *end = p + slice->len;
	while (p < end) {
		p = skip_blanks(p);
		if (at_end(p)) {
			p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
			continue;
		}
		int colons = 0;
		for (; !token_ends(p) && *p != '\r'; p++)
			colons += *p == ':';
		if (colons)
			return colons > 1 ? LS_TEXT_FFM : LS_TEXT_SVM;
		if (*p == '\r')
			p++;
		if (*p == '\n')
			p++;
	}
	return LS_TEXT_UNKNOWN;
}

void ls_block_done(struct ls_block *b)
{
	free(b->start);
	free(b->feature);
	free(b->field);
	free(b->value);
	free(b->label);
	free(b->weight);
	free(b->run);
	*b = (struct ls_block){0};
}

static bool allocate(struct parser *s, size_t len, bool fields)
{
	s->cap_entries = len / 4 + 2;
	s->cap_rows = len / 2 + 2; /* and the end of the last */
	struct ls_block *b = s->b;
	b->start = malloc(s->cap_rows * sizeof *b->start);
	b->label = malloc(s->cap_rows * sizeof *b->label);
	b->feature = malloc(s->cap_entries * sizeof *b->feature);
	b->field = fields ? malloc(s->cap_entries * sizeof *b->field) : NULL;
	if (!b->start || !b->label || !b->feature || (fields && !b->field))
		return false;
	b->start[0] = 0;
	return true;
}

struct ls_text_place ls_block_first(const struct ls_block *b)
{
	return b->n_runs ? (struct ls_text_place){b->run->line, b->run->column}
			 : (struct ls_text_place){0};
}

int ls_text_parse(const struct ls_slice *slice, enum ls_text_format format, struct ls_block *ret,
		  struct ls_text_fault *where)
{
	struct ls_block b = {0};
	struct parser s = {.b = &b};
	bool ok = allocate(&s, slice->len, format == LS_TEXT_FFM);
	if (ok && parse_lines(&s, slice)) {
		b.n_lines = s.n_lines;
		b.format = b.n_entries ? format : LS_TEXT_UNKNOWN;
		*ret = b;
		return 0;
	}
	if (ok && !s.no_memory) {
		*where = (struct ls_text_fault){place(&s, s.bad_at), "", b.n_rows,
						b.first_unlabelled, ls_block_first(&b)};
		memcpy(where->msg, s.msg, sizeof where->msg);
	}
	ls_block_done(&b);
	return !ok || s.no_memory ? LS_ENOMEM : LS_EINPUT;
}
