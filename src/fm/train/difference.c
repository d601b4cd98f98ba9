#include "fm/train/difference.h"

#include <stdio.h>
#include <string.h>

#include "num/decimal.h"

/* Adds a value of such a text: a number in as few digits as it takes, so that 0.04 is not
 * 0.0399999991, and a list, which has commas of its own, as it stands. */
static void add_value(struct ls_str *text, const char *value)
{
	enum { MOST = 9 };
	enum ls_decimal_fault why;
	float is, again = 0;
	char digits[32] = "";
	size_t len = *value == '[' ? strcspn(value, "]") + 1 : strcspn(value, ",}");
	bool whole = strspn(value, "0123456789") == len;
	if (*value == '[' || whole || !ls_decimal_float(value, &is, &why)) {
		ls_str_add_bytes(text, value, len);
		return;
	}
	for (int n = 1; n <= MOST && (n == 1 || again != is); n++) {
		snprintf(digits, sizeof digits - 1, "%.*g\n", n, (double)is);
		ls_decimal_float(digits, &again, &why);
	}
	ls_str_add_bytes(text, digits, strcspn(digits, "\n"));
}

void ls_fm_first_difference(const char *was, const char *is, struct ls_str *ret)
{
	size_t i = 0, key = 1;
	for (; was[i] && was[i] == is[i]; i++)
		if (ls_str_starts(was + i, ", \""))
			key = i + 2;
	size_t name = strcspn(was + key + 1, "\""), value = key + name + 4;
	ls_str_add_bytes(ret, was + key + 1, name);
	ls_str_add(ret, " was ");
	add_value(ret, was + value);
	ls_str_add(ret, ", is ");
	add_value(ret, is + value);
}
