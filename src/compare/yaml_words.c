#include "compare/yaml_words.h"

#include <string.h>
#include <strings.h>

static bool is(const char *s, size_t len, const char *word)
{
	return strlen(word) == len && memcmp(word, s, len) == 0;
}

static size_t digits(const char *s, size_t len, size_t i)
{
	size_t from = i;
	while (i < len && s[i] >= '0' && s[i] <= '9')
		i++;
	return i - from;
}

bool ls_yaml_is_number(const char *s, size_t len)
{
	size_t i = len && s[0] == '-', n = digits(s, len, i);
	if (n == 0 || (n > 1 && s[i] == '0'))
		return false;
	i += n;
	if (i == len || s[i] != '.')
		return i == len;
	n = digits(s, len, i + 1);
	i += 1 + n;
	/* 1e-4 without a point, and 1.0e4 without a sign, are text in version 1.1 */
	if (n && len - i > 2 && (s[i] == 'e' || s[i] == 'E') &&
	    (s[i + 1] == '+' || s[i + 1] == '-')) {
		n = digits(s, len, i + 2);
		i += 2 + n;
	}
	return n && i == len;
}

bool ls_yaml_is_doubtful(const char *s, size_t len)
{
	static const char *const words[] = {"y", "n", "yes", "no", "on", "off", NULL};
	for (const char *const *w = words; *w; w++)
		if (strlen(*w) == len && strncasecmp(*w, s, len) == 0)
			return true;
	size_t i = len && strchr("+-.", s[0]);
	i += i < len && s[0] != '.' && s[i] == '.';
	if (i >= len || digits(s, len, i) == 0)
		return len == 1 && s[0] == '=';
	while (i < len && strchr("0123456789abcdefABCDEFxXoO_.:+- TtZz", s[i]))
		i++;
	return i == len;
}

const char *ls_yaml_constant(const char *s, size_t len)
{
	static const struct {
		const char *const words[5];
		const char *json;
	} all[] = {{{"", "~", "null", "Null", "NULL"}, "null"},
		   {{"true", "True", "TRUE", NULL}, "true"},
		   {{"false", "False", "FALSE", NULL}, "false"},
		   {{".nan", ".NaN", ".NAN", NULL}, "NaN"},
		   {{".inf", ".Inf", ".INF", NULL}, "Infinity"},
		   {{"+.inf", "+.Inf", "+.INF", NULL}, "Infinity"},
		   {{"-.inf", "-.Inf", "-.INF", NULL}, "-Infinity"}};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		for (size_t k = 0; k < 5 && all[i].words[k]; k++)
			if (is(s, len, all[i].words[k]))
				return all[i].json;
	return NULL;
}

bool ls_yaml_is_text(const char *s, size_t len)
{
	return !ls_yaml_constant(s, len) && !ls_yaml_is_number(s, len) &&
	       !ls_yaml_is_doubtful(s, len);
}
