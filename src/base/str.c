#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void ls_str_done(struct ls_str *str)
{
	free(str->s);
	*str = (struct ls_str){0};
}

static void reserve(struct ls_str *str, size_t more)
{
	size_t need = str->len + more + 1;
	if (need <= str->cap)
		return;
	str->cap = need < 64 ? 64 : need * 2;
	str->s = ls_xrealloc(str->s, str->cap);
}

void ls_str_add_bytes(struct ls_str *str, const void *bytes, size_t len)
{
	reserve(str, len);
	if (len)
		memcpy(str->s + str->len, bytes, len);
	str->len += len;
	str->s[str->len] = 0;
}

void ls_str_add(struct ls_str *str, const char *text)
{
	ls_str_add_bytes(str, text, strlen(text));
}

void ls_str_addf(struct ls_str *str, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n > 0) {
		reserve(str, (size_t)n);
		vsnprintf(str->s + str->len, (size_t)n + 1, fmt, again);
		str->len += (size_t)n;
	}
	va_end(again);
}

/* Bytes of the printable character at s, or 0. Line separators and marks that change the
 * direction of writing do not count as printable: a terminal would show another line than
 * the one that was written. */
static size_t printable_at(const unsigned char *s)
{
	static const uint32_t least[] = {
		[2] = 0xa0, [3] = 0x800, [4] = 0x10000}; /* below 0xa0: controls once more */
	if (s[0] < 0x80)
		return s[0] >= 0x20 && s[0] != 0x7f;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	uint32_t c = s[0] & (0x7fU >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3fU);
	}
	bool turns = (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
	return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) || turns ? 0 : n;
}

void ls_str_add_printable(struct ls_str *str, const char *text)
{
	while (*text) {
		size_t n = printable_at((const unsigned char *)text);
		if (n)
			ls_str_add_bytes(str, text, n);
		else
			ls_str_addf(str, "\\x%02x", (unsigned char)*text);
		text += n ? n : 1;
	}
}

void ls_str_add_html(struct ls_str *str, const char *text)
{
	static const char from[] = "<>&\"";
	static const char *const to[] = {"&lt;", "&gt;", "&amp;", "&quot;"};
	for (; text && *text; text++) {
		const char *special = strchr(from, *text);
		if (special)
			ls_str_add(str, to[special - from]);
		else if ((unsigned char)*text < 0x20 && *text != '\n' && *text != '\t')
			ls_str_add(str, "?");
		else
			ls_str_add_bytes(str, text, 1);
	}
}

void ls_str_add_markdown(struct ls_str *str, const char *text)
{
	struct ls_str clean = {0};
	if (text)
		ls_str_add_printable(&clean, text);
	for (const char *p = clean.s; p && *p; p++) {
		if (strchr("|`<>&*_[]\\#~@", *p))
			ls_str_addf(str, "&#%d;", *p);
		else
			ls_str_add_bytes(str, p, 1);
	}
	ls_str_done(&clean);
}

char *ls_str_take(struct ls_str *str)
{
	char *s = str->s ? str->s : ls_xstrdup("");
	*str = (struct ls_str){0};
	return s;
}

char *ls_str_shell(const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+,:=";
	struct ls_str s = {0};
	bool bare = *word && !word[strspn(word, plain)];
	if (!bare)
		ls_str_add(&s, "'");
	for (; *word; word++)
		if (*word == '\'')
			ls_str_add(&s, "'\\''");
		else
			ls_str_add_bytes(&s, word, 1);
	if (!bare)
		ls_str_add(&s, "'");
	return ls_str_take(&s);
}

bool ls_str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool ls_str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);
	return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

char *ls_str_trim(char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	size_t n = strlen(s);
	while (n && isspace((unsigned char)s[n - 1]))
		s[--n] = 0;
	return s;
}

/* Levenshtein distance; words longer than a row of the table count as far apart. */
static size_t distance(const char *a, const char *b)
{
	enum { MAX = 64 };
	size_t n = strlen(a), m = strlen(b), row[MAX + 1];
	if (m > MAX || n > MAX)
		return MAX;
	for (size_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);
			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[m];
}

const char *ls_str_nearest(const char *word, const char *const *names)
{
	const char *best = NULL;
	size_t limit = strlen(word) / 3 + 1;
	for (; *names; names++) {
		size_t d = distance(word, *names);
		if (d <= limit && d < strlen(*names)) {
			limit = d ? d - 1 : 0;
			best = *names;
			if (!d)
				break;
		}
	}
	return best;
}

int ls_str_to_u64(const char *s, uint64_t min, uint64_t max, const char *what, uint64_t *ret,
		  struct ls_err *err)
{
	char *end;
	errno = 0;
	unsigned long long v = strtoull(s, &end, 10);
	if (!isdigit((unsigned char)*s) || *end || errno || v < min || v > max)
		return ls_err_set(err, LS_EINPUT,
				  "%s: \"%.80s\" is not a whole number from %" PRIu64
				  " to %" PRIu64,
				  what, s, min, max);
	*ret = v;
	return 0;
}

int ls_str_to_double(const char *s, double min, double max, const char *what, double *ret,
		     struct ls_err *err)
{
	char *end;
	errno = 0;
	double v = strtod(s, &end);
	if (end == s || *end || isspace((unsigned char)*s) || !(v >= min && v <= max))
		return ls_err_set(err, LS_EINPUT, "%s: \"%.80s\" is not a number from %g to %g",
				  what, s, min, max);
	*ret = v;
	return 0;
}

int ls_str_to_size(const char *s, const char *what, uint64_t *ret, struct ls_err *err)
{
	static const char units[] = "KMGT";
	char *end;
	errno = 0;
	unsigned long long v = strtoull(s, &end, 10);
	const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	int shift = unit ? 10 * (int)(unit - units + 1) : 0;
	bool tail = unit && (!end[1] || strcmp(end + 1, "iB") == 0);
	if (!isdigit((unsigned char)*s) || errno || (*end && !tail) || v == 0 ||
	    v > UINT64_MAX >> shift)
		return ls_err_set(err, LS_EINPUT,
				  "%s: \"%.80s\" is not a size: a whole number of bytes, or of K, "
				  "M, G or T (1024 each)",
				  what, s);
	*ret = (uint64_t)v << shift;
	return 0;
}

void ls_str_of_size(uint64_t bytes, char ret[LS_SIZE_TEXT])
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes;
	size_t u = 0;
	for (; value >= 1024 && u < 4; u++)
		value /= 1024;
	snprintf(ret, LS_SIZE_TEXT, u ? "%.1f %s" : "%.0f %s", value, units[u]);
}
