/* labels: isa */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "num/decimal.h"

static uint32_t bits(float x)
{
	uint32_t u;
	memcpy(&u, &x, sizeof u);
	return u;
}

static float parse(const char *text)
{
	char line[2048];
	float x = -7;
	enum ls_decimal_fault why = LS_DECIMAL_OK;
	snprintf(line, sizeof line, "%s\n\n\n\n", text);
	const char *end = ls_decimal_float(line, &x, &why);
	if (!end || *end != '\n')
		fail_msg("\"%s\" was not read", text);
	return x;
}

/* The C library's conversion is correctly rounded; so must ours be. */
static void same(const char *text)
{
	float want = strtof(text, NULL), got = parse(text);
	if (bits(want) != bits(got))
		fail_msg("\"%s\": %08x, expected %08x", text, bits(got), bits(want));
}

static void chosen(void **state)
{
	(void)state;
	static const char *const text[] = {
		"0",
		"-0",
		"1",
		"+1",
		"-1",
		".5",
		"5.",
		"1e0",
		"1E+2",
		"1e-2",
		"007",
		"0.1",
		"0.3",
		"3.4028235e38",
		"1.17549435e-38",
		"1e-45",
		"7.0e-46",
		"7.1e-46",
		"1e-60",
		"-1e-60",
		"1e-400",
		"0e999999999999",
		"0.000000000000000000000000000000000000000000001",
		"16777216",
		"16777217",
		"16777218",
		"16777219",
		"16777217.0000000000000000000000000000000000001",
		"16777216.9999999999999999999999999999999999999",
		"9007199254740993",
		"18446744073709551615",
		"99999999999999999999999999",
		"123456789012345678901234e-20",
		"1.00000005960464477539062500000000000000000000000000000",
		"1.00000005960464477539062500000000000000000000000000001",
		"1.00000005960464477539062499999999999999999999999999999",
		"340282346638528859811704183484516925440",
		"0.00000000000000000000001e23",
		"8.5899346e9",
		"4.4501477170144023e-308",
		"1e22",
		"1e23",
		"123e-22"};
	for (size_t i = 0; i < sizeof text / sizeof *text; i++)
		same(text[i]);
}

static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9E3779B97F4A7C15u;
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

static float from_bits(uint32_t u)
{
	float x;
	memcpy(&x, &u, sizeof x);
	return x;
}

static void many(void **state)
{
	(void)state;
	uint64_t s = 1;
	char text[512];
	for (int i = 0; i < 20000; i++) {
		uint64_t r = next(&s);
		float x = from_bits((uint32_t)r);
		if (x - x != 0)
			continue;
		snprintf(text, sizeof text, "%.9g", (double)x);
		assert_int_equal(bits(parse(text)), bits(x));
		snprintf(text, sizeof text, "%.*g", (int)(r >> 32) % 20, (double)x);
		if (strtof(text, NULL) - strtof(text, NULL) == 0)
			same(text);
		snprintf(text, sizeof text, "%llu.%llu", (unsigned long long)(r % 1000),
			 (unsigned long long)(r >> (r % 60)));
		same(text);
		snprintf(text, sizeof text, "%llue%d", (unsigned long long)(r >> (r % 64)),
			 (int)(r >> 40) % 50 - 30);
		same(text);
	}
}

/* Exactly between two floats, and a hair to either side: where a shortcut through double
 * would round twice. */
static void midpoints(void **state)
{
	(void)state;
	uint64_t s = 2;
	char text[1024];
	for (int i = 0; i < 5000; i++) {
		uint32_t u = (uint32_t)(next(&s) & 0x7FFFFFFF) % 0x7F000000;
		if (i % 2) /* where the shortcut is taken: 1e-10 to 1e10 */
			u = 0x2F000000 + u % 0x22000000;
		double lo = (double)from_bits(u), hi = (double)from_bits(u + 1),
		       mid = lo + (hi - lo) / 2;
		int n = snprintf(text, sizeof text, "%.160f", mid);
		same(text);
		if (text[n - 1] == '0') {
			text[n - 1] = '1';
			same(text);
		}
		snprintf(text, sizeof text, "%.17g", mid);
		same(text);
		snprintf(text, sizeof text, "%.19g", mid);
		same(text);
	}
}

static enum ls_decimal_fault refused(const char *text)
{
	char line[512];
	float x = 7;
	enum ls_decimal_fault why = LS_DECIMAL_OK;
	snprintf(line, sizeof line, "%s\n\n\n\n", text);
	assert_null(ls_decimal_float(line, &x, &why));
	assert_true(x == 7);
	return why;
}

static void refusals(void **state)
{
	(void)state;
	static const char *const garbage[] = {"",  "-",   "+",   ".", "e5", "1e",  "1e+",
					      "x", "--1", "+-1", ":", " 1", "-.e1"};
	static const char *const infinite[] = {"nan",  "NaN",       "-nan", "inf",
					       "+inf", "-Infinity", "INF"};
	static const char *const range[] = {"3.4028236e38",
					    "-3.5e38",
					    "1e39",
					    "1e400",
					    "1e999999999999999999999",
					    "340282356779733661637539395458142568448"};
	for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++)
		assert_int_equal(refused(garbage[i]), LS_DECIMAL_GARBAGE);
	for (size_t i = 0; i < sizeof infinite / sizeof *infinite; i++)
		assert_int_equal(refused(infinite[i]), LS_DECIMAL_INFINITE);
	for (size_t i = 0; i < sizeof range / sizeof *range; i++)
		assert_int_equal(refused(range[i]), LS_DECIMAL_RANGE);
}

/* As many zeros as there are, the exponent counts with all of its digits. */
static void long_exponents(void **state)
{
	(void)state;
	enum { ZEROS = 1500000 };
	char *text = malloc(ZEROS + 40);
	float x = 0;
	enum ls_decimal_fault why = LS_DECIMAL_OK;
	assert_non_null(text);
	memset(text, '0', ZEROS);
	text[1] = '.';
	snprintf(text + ZEROS, 40, "7e%d\n\n\n\n", ZEROS - 1);
	assert_non_null(ls_decimal_float(text, &x, &why));
	assert_true(x == 7);
	snprintf(text + ZEROS, 40, "7e%d9\n\n\n\n", ZEROS - 1);
	assert_null(ls_decimal_float(text, &x, &why));
	assert_int_equal(why, LS_DECIMAL_RANGE);
	free(text);
}

static void same_as_printf(float v)
{
	char is[LS_DECIMAL_TEXT], want[64];
	size_t n = ls_decimal_print(v, is);
	snprintf(want, sizeof want, "%.9g", (double)v);
	assert_string_equal(is, want);
	assert_int_equal(n, strlen(want));
}

/* Where the shortcut begins and ends, just below powers of ten, ties, and numbers without
 * it. */
static void printed(void **state)
{
	(void)state;
	static const float chosen[] = {
		0.0f,         -0.0f,           1.0f,           -1.0f,        0.5f,
		10.0f,        100.0f,          1e8f,           999999936.0f, 1e9f,
		1e10f,        1e-4f,           9.9999997e-5f,  1e-5f,        0.00123f,
		3e38f,        1e-45f,          1.1754944e-38f, 0.1f,         0.99999994f,
		9.99999905f,  99999.9922f,     1048576.5f,     16777216.0f,  33554432.0f,
		123456792.0f, 0.000122070312f, INFINITY};
	for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
		same_as_printf(chosen[i]);
		same_as_printf(-chosen[i]);
	}
	for (uint32_t u = 0x38000000; u < 0x4f000000; u += 10007) /* 3e-5 to 2e9 */
		same_as_printf(from_bits(u));
	for (uint32_t u = 0; u < 0x7f800000; u += 300007)
		same_as_printf(-from_bits(u));
	for (int e = -14; e < 31;
	     e++) /* few bits: numbers that nine digits hold, or end in a tie */
		for (uint32_t m = 0; m < 1024; m++)
			same_as_printf(ldexpf(1.0f + (float)m / 1024.0f, e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chosen),         cmocka_unit_test(many),
		cmocka_unit_test(midpoints),      cmocka_unit_test(refusals),
		cmocka_unit_test(long_exponents), cmocka_unit_test(printed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
