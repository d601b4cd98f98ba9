#include "compare/decimal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool parse_word(const char *s, size_t len, struct ls_decimal *ret)
{
	ret->nan = len == 3 && strncasecmp(s, "nan", 3) == 0;
	ret->infinite = (len == 3 && strncasecmp(s, "inf", 3) == 0) ||
			(len == 8 && strncasecmp(s, "infinity", 8) == 0);
	return ret->nan || ret->infinite;
}

/* The power of ten behind "e"; at most 15 digits, so that sums cannot overflow. */
static bool parse_exponent(const char *s, size_t len, int64_t *ret)
{
	bool negative = len && s[0] == '-';
	size_t i = len && (s[0] == '-' || s[0] == '+');
	*ret = 0;
	if (i == len || len - i > 15)
		return false;
	for (; i < len; i++) {
		if (!is_digit(s[i]))
			return false;
		*ret = *ret * 10 + (s[i] - '0');
	}
	if (negative)
		*ret = -*ret;
	return true;
}

/* Digits with at most one point; sets digits, n and point without the exponent. */
static bool parse_mantissa(const char *s, size_t len, struct ls_decimal *ret)
{
	size_t digits = 0, whole = len, first = len, last = 0;
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '.' && whole == len) {
			whole = i;
			continue;
		}
		if (!is_digit(s[i]))
			return false;
		digits++;
		if (s[i] != '0') {
			first = first == len ? i : first;
			last = i + 1;
		}
	}
	if (digits == 0 || (len > 1 && s[0] == '0' && is_digit(s[1])))
		return false;
	if (first == len)
		return true; /* zero */
	ret->digits = s + first;
	ret->n = last - first;
	ret->point = (int64_t)whole - (int64_t)first + (first > whole);
	return true;
}

bool ls_decimal_parse(const char *s, size_t len, struct ls_decimal *ret)
{
	struct ls_decimal d = {0};
	int64_t exponent = 0;
	if (len && (s[0] == '-' || s[0] == '+')) {
		d.negative = s[0] == '-';
		s++;
		len--;
	}
	if (!parse_word(s, len, &d)) {
		size_t mantissa = 0;
		while (mantissa < len && s[mantissa] != 'e' && s[mantissa] != 'E')
			mantissa++;
		if (!parse_mantissa(s, mantissa, &d) ||
		    (mantissa < len &&
		     !parse_exponent(s + mantissa + 1, len - mantissa - 1, &exponent)))
			return false;
		d.point = d.n ? d.point + exponent : 0;
	}
	*ret = d;
	return true;
}

/* The next digit, or -1 at the end; skips the point. */
static int next_digit(const struct ls_decimal *d, size_t *at)
{
	if (*at < d->n && d->digits[*at] == '.')
		(*at)++;
	return *at < d->n ? d->digits[(*at)++] : -1;
}

bool ls_decimal_equal(const struct ls_decimal *a, const struct ls_decimal *b)
{
	if (a->nan || b->nan)
		return a->nan && b->nan;
	if (a->negative != b->negative || a->infinite != b->infinite || a->point != b->point ||
	    (a->n == 0) != (b->n == 0))
		return false;
	size_t i = 0, j = 0;
	int x, y;
	do {
		x = next_digit(a, &i);
		y = next_digit(b, &j);
	} while (x == y && x >= 0);
	return x == y;
}

double ls_decimal_double(const char *s, size_t len)
{
	char text[512];
	size_t n = len < sizeof text - 1 ? len : sizeof text - 1;
	memcpy(text, s, n);
	text[n] = 0;
	return strtod(text, NULL);
}
