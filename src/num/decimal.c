#include "num/decimal.h"

#include <float.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "num/port.h"

/* What the scanner saw: mantissa * 10^exponent, the mantissa cut after 19 significant
 * digits. */
struct decimal {
	uint64_t mantissa;
	int64_t exponent;
	bool negative, cut;
};

static bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

static const char *scan_digits(const char *p, struct decimal *d, bool fraction)
{
	for (; is_digit(*p); p++) {
		if (d->mantissa < 1000000000000000000u) {
			d->mantissa = d->mantissa * 10 + (uint64_t)(*p - '0');
			d->exponent -= fraction;
		} else {
			d->cut |= *p != '0';
			d->exponent += !fraction;
		}
	}
	return p;
}

/* p is after the 'e'. Exponents beyond 10^17 are all alike: no text has enough zeros to
 * outweigh them. */
static const char *scan_exponent(const char *p, struct decimal *d)
{
	bool negative = *p == '-';
	if (*p == '-' || *p == '+')
		p++;
	if (!is_digit(*p))
		return NULL;
	int64_t e = 0;
	for (; is_digit(*p); p++)
		if (e < 100000000000000000)
			e = e * 10 + (*p - '0');
	d->exponent += negative ? -e : e;
	return p;
}

static const char *scan(const char *p, struct decimal *d)
{
	d->negative = *p == '-';
	if (*p == '-' || *p == '+')
		p++;
	const char *whole = p;
	p = scan_digits(p, d, false);
	bool any = p > whole;
	if (*p == '.') {
		const char *fraction = ++p;
		p = scan_digits(p, d, true);
		any |= p > fraction;
	}
	if (!any)
		return NULL;
	if (*p == 'e' || *p == 'E')
		return scan_exponent(p + 1, d);
	return p;
}

static const double ten[] = {
	1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}; /* exact */

/* At most two roundings lie between the decimal and x: mantissa to double, and one
 * multiplication or division by an exact power of ten. The digits that were cut weigh
 * less than one more. So x is within 4 units in its last place, and rounding x to
 * binary32 is right unless x is that near to the midpoint of two floats. Then this
 * returns false. */
static bool quick(const struct decimal *d, float *ret)
{
	if (d->exponent < -22 || d->exponent > 22)
		return false;
	double x = (double)d->mantissa;
	bool exact = d->exponent >= 0 && d->exponent <= 4 && d->mantissa < 1u << 24;
	x = d->exponent < 0 ? x / ten[-d->exponent] : x * ten[d->exponent];
	if (x < (double)FLT_MIN || x > 1e38)
		return false;
	uint64_t bits;
	memcpy(&bits, &x, sizeof bits);
	uint64_t tail = bits & 0x1FFFFFFF;
	if (!exact && tail - 0x0FFFFFF8 <= 0x10)
		return false;
	*ret = (float)x;
	return true;
}

/* The rare case: the C library's conversion, which is correctly rounded, in the C
 * locale. */
static float slow(const char *p, size_t len)
{
	char small[128], *text = len < sizeof small ? small : ls_xalloc(len + 1);
	memcpy(text, p, len);
	text[len] = 0;
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	float x = strtof_l(text, NULL, c);
	freelocale(c);
	if (text != small)
		free(text);
	return x;
}

static enum ls_decimal_fault what_is_it(const char *p)
{
	p += *p == '-' || *p == '+';
	bool word = strncasecmp(p, "nan", 3) == 0 || strncasecmp(p, "inf", 3) == 0;
	return word ? LS_DECIMAL_INFINITE : LS_DECIMAL_GARBAGE;
}

const char *ls_decimal_float(const char *p, float *ret, enum ls_decimal_fault *ret_fault)
{
	struct decimal d = {0};
	float x = 0;
	const char *end = scan(p, &d);
	if (!end) {
		*ret_fault = what_is_it(p);
		return NULL;
	}
	if (d.mantissa == 0)
		x = d.negative ? -0.0F : 0.0F;
	else if (quick(&d, &x))
		x = d.negative ? -x : x;
	else
		x = slow(p, (size_t)(end - p));
	if (x > FLT_MAX || x < -FLT_MAX) {
		*ret_fault = LS_DECIMAL_RANGE;
		return NULL;
	}
	*ret = x;
	return end;
}

const char *ls_decimal_fault_text(enum ls_decimal_fault fault)
{
	switch (fault) {
	case LS_DECIMAL_INFINITE:
		return "not a finite number";
	case LS_DECIMAL_RANGE:
		return "too large for a 32-bit float";
	default:
		return "not a number";
	}
}

/* --- and back --- */

/* |v| as its first nine digits, rounded to nearest, ties to even, and the exponent of the
 * first; false if it is not within [1e-4, 1e9), where all of it is exact in 64 bits: 24
 * of v's times 10^12 at most. */
static bool nine_digits(float v, uint32_t *ret_digits, int *ret_exponent)
{
	uint32_t bits = ls_bits_f(v) & 0x7fffffffu;
	double size = (double)ls_f_bits(bits) * 1e4; /* exact, too */
	if (!(size >= 1.0 && size < 1e13))
		return false;
	/* v is its 24 bits divided by 2^shift */
	int at = 0, shift = 150 - (int)(bits >> 23);
	while (size >= ten[at + 1])
		at++;
	uint64_t n = (uint64_t)((bits & 0x7fffff) | 0x800000) * (uint64_t)ten[12 - at];
	if (shift > 0) {
		uint64_t rest = n & (((uint64_t)1 << shift) - 1), half = (uint64_t)1 << (shift - 1);
		n >>= shift;
		n += rest > half || (rest == half && n % 2);
	} else {
		n <<= -shift;
	}
	/* never 10^9: no binary32 is so little below a power of ten */
	*ret_digits = (uint32_t)n;
	*ret_exponent = at - 4;
	return true;
}

/* The rare case, in the C locale: the C library's. */
static size_t print_any(float v, char ret[LS_DECIMAL_TEXT])
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), was = uselocale(c);
	int n = snprintf(ret, LS_DECIMAL_TEXT, "%.9g", (double)v);
	uselocale(was);
	freelocale(c);
	return (size_t)n;
}

size_t ls_decimal_print(float v, char ret[LS_DECIMAL_TEXT])
{
	uint32_t digits;
	int exponent, kept = 9;
	char text[9], *to = ret;
	if (!nine_digits(v, &digits, &exponent))
		return print_any(v, ret);
	for (int i = 8; i >= 0; i--, digits /= 10)
		text[i] = (char)('0' + digits % 10);
	while (kept > 1 && kept > exponent + 1 && text[kept - 1] == '0')
		kept--;
	if (v < 0.0f)
		*to++ = '-';
	for (int i = exponent < 0 ? exponent : 0; i < kept;
	     i++) { /* before the first digit there are zeros */
		*to++ = i < 0 ? '0' : text[i];
		if (i == exponent && i + 1 < kept)
			*to++ = '.';
	}
	*to = 0;
	return (size_t)(to - ret);
}
