#include "compare/tolerance.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int bad(struct ls_err *err, const char *text)
{
	return ls_err_set(err, LS_EINPUT,
			  "--tolerance %s: expected [GLOB:]LIMIT[,LIMIT…] with the limits abs=X, "
			  "rel=X and ulp=N, such as abs=1e-8,rel=1e-5 or 'optimizer*:ulp=4'",
			  text);
}

static bool read_real(const char *s, size_t len, double *ret)
{
	char digits[64], *end;
	if (len == 0 || len >= sizeof digits || (*s != '.' && (*s < '0' || *s > '9')) ||
	    memchr(s, 'x', len))
		return false;
	memcpy(digits, s, len);
	digits[len] = 0;
	*ret = strtod(digits, &end);
	return *end == 0 && isfinite(*ret);
}

static bool read_count(const char *s, size_t len, uint64_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < len; i++)
		if (s[i] < '0' || s[i] > '9' || __builtin_mul_overflow(*ret, 10, ret) ||
		    __builtin_add_overflow(*ret, (uint64_t)(s[i] - '0'), ret))
			return false;
	return len > 0;
}

/* One limit, up to a comma or the end. */
static bool read_limit(const char *s, size_t len, struct ls_limits *ret)
{
	if (len > 4 && memcmp(s, "abs=", 4) == 0)
		return read_real(s + 4, len - 4, &ret->abs);
	if (len > 4 && memcmp(s, "rel=", 4) == 0)
		return read_real(s + 4, len - 4, &ret->rel);
	return len > 4 && memcmp(s, "ulp=", 4) == 0 && read_count(s + 4, len - 4, &ret->ulp);
}

int ls_tolerance_parse(const char *text, struct ls_tolerance *ret, struct ls_err *err)
{
	const char *colon = strrchr(text, ':'), *s = colon ? colon + 1 : text;
	struct ls_limits limits = {0};
	if (colon == text)
		return bad(err, text);
	for (;;) {
		size_t len = strcspn(s, ",");
		if (!read_limit(s, len, &limits))
			return bad(err, text);
		if (!s[len])
			break;
		s += len + 1;
	}
	*ret = (struct ls_tolerance){
		colon ? ls_xstrndup(text, (size_t)(colon - text)) : ls_xstrdup("*"), limits};
	return 0;
}

void ls_tolerance_done(struct ls_tolerance *t)
{
	free(t->glob);
	*t = (struct ls_tolerance){0};
}

int ls_tolerance_rules_add(struct ls_tolerance_rules *r, const char *text, struct ls_err *err)
{
	struct ls_tolerance rule;
	int rc = ls_tolerance_parse(text, &rule, err);
	if (rc)
		return rc;
	r->items = ls_grow(r->items, r->n, &r->cap, sizeof *r->items);
	ls_str_addf(&r->text, "%s%s", r->n ? "; " : "", text);
	r->items[r->n++] = rule;
	return 0;
}

void ls_tolerance_rules_done(struct ls_tolerance_rules *r)
{
	for (size_t i = 0; i < r->n; i++)
		ls_tolerance_done(&r->items[i]);
	free(r->items);
	ls_str_done(&r->text);
	*r = (struct ls_tolerance_rules){0};
}

const struct ls_limits *ls_tolerance_find(const struct ls_tolerance *rules, size_t n,
					  const char *name)
{
	while (n-- > 0)
		if (fnmatch(rules[n].glob, name, 0) == 0)
			return &rules[n].limits;
	return NULL;
}

bool ls_within_reals(const struct ls_limits *limits, double a, double b)
{
	if (!limits || isinf(a) || isinf(b))
		return false;
	if (memcmp(&a, &b, sizeof a) == 0) /* texts with one nearest double */
		b = nextafter(b, INFINITY);
	return ls_count_beyond(limits, LS_DT_F64, 8, (const uint8_t *)&a, (const uint8_t *)&b, 8) ==
	       0;
}

bool ls_within_integers(const struct ls_limits *limits, int64_t a, int64_t b)
{
	return limits && ls_count_beyond(limits, LS_DT_I64, 8, (const uint8_t *)&a,
					 (const uint8_t *)&b, 8) == 0;
}
