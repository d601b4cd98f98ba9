/* How far apart numbers may be for the second verdict of a comparison, which stands
 * beside the exact one and never replaces it. A rule owns its pattern; ls_tolerance_done
 * frees it. Any thread. */
#ifndef LS_COMPARE_TOLERANCE_H
#define LS_COMPARE_TOLERANCE_H

#include "base/err.h"
#include "base/str.h"
#include "compare/element.h"

struct ls_tolerance {
	char *glob; /* names that it is for; "*" for all */
	struct ls_limits limits;
};

/* "abs=1e-8,rel=1e-5", "optimizer*:ulp=4": at least one of abs, rel and ulp. */
int ls_tolerance_parse(const char *text, struct ls_tolerance *ret, struct ls_err *err);
void ls_tolerance_done(struct ls_tolerance *t);

/* Rules in the order in which they were given, and their texts in one line for reports.
 * {0} is ready for use; ls_tolerance_rules_done frees. */
struct ls_tolerance_rules {
	struct ls_tolerance *items;
	size_t n, cap;
	struct ls_str text;
};
int ls_tolerance_rules_add(struct ls_tolerance_rules *r, const char *text, struct ls_err *err);
void ls_tolerance_rules_done(struct ls_tolerance_rules *r);

/* The limits of the last rule that the name matches; NULL where none does. */
const struct ls_limits *ls_tolerance_find(const struct ls_tolerance *rules, size_t n,
					  const char *name);
/* Of numbers that differ, be it as text: two texts with one nearest double count as one
 * ULP apart, and what is infinite as a double is never within. */
bool ls_within_reals(const struct ls_limits *limits, double a, double b);
bool ls_within_integers(const struct ls_limits *limits, int64_t a, int64_t b);

#endif
