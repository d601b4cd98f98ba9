/* Numbers as text, compared exactly: 9007199254740993 is not 9007199254740992, and 1e400
 * is not infinite. A number borrows the text that it was read from. Any thread. */
#ifndef LS_COMPARE_DECIMAL_H
#define LS_COMPARE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ls_decimal {
	bool negative, nan, infinite;
	const char *digits; /* from the first that is not 0; may have a point within */
	size_t n;           /* bytes up to the last digit that is not 0; 0 for zero */
	int64_t point;      /* the value is 0.DIGITS times ten to this power */
};

/* False for text that is no number: empty, hexadecimal, or with leading zeros like 007,
 * which are identifiers. "nan", "inf" and "infinity" are numbers in any case. */
bool ls_decimal_parse(const char *s, size_t len, struct ls_decimal *ret);
/* +0 and -0 differ; all NaNs are equal, as text has no payload. */
bool ls_decimal_equal(const struct ls_decimal *a, const struct ls_decimal *b);
/* The nearest double, for reports only. */
double ls_decimal_double(const char *s, size_t len);

#endif
