/* What several runs of one training say about its metric: the spread over seeds, and
 * whether two configurations differ by more than their seeds do. A result owns nothing
 * but its numbers; JSON is a new reference of the caller's. Any thread.
 *
 * A number that cannot be known is NaN here, null in JSON and told in the sentence. No
 * interval of width zero and no probability of zero is ever given. */
#ifndef LS_STATS_STATS_H
#define LS_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/str.h"

enum { LS_STATS_MAX = 10000 }; /* values of a group; more are refused */

enum ls_stats_kind {
	LS_STATS_NONE,       /* no value */
	LS_STATS_NOT_FINITE, /* at least one is NaN or infinite: nothing else is computed */
	LS_STATS_ONE,        /* one value: its spread is unknown */
	LS_STATS_EQUAL,      /* all equal: no spread was seen, which does not mean none */
	LS_STATS_SPREAD,
};

struct ls_stats_group {
	enum ls_stats_kind kind;
	size_t n, n_finite, n_distinct;
	double mean, min, max;
	double sd;                /* of the sample, by n - 1; NaN below two values */
	double low, high;         /* 95 % interval of the mean by Student's t */
	double run_low, run_high; /* where one further run lies in 95 of 100 cases */
};

/* Refuses more than LS_STATS_MAX values. */
int ls_stats_describe(const double *values, size_t n, struct ls_stats_group *ret,
		      struct ls_err *err);

struct ls_stats_ask {
	double margin;     /* what still counts as equal: a share of |mean of a|, as 0.005 */
	bool absolute;     /* margin is in units of the metric instead */
	bool same_digests; /* the caller has compared what the runs wrote, and it is equal */
	uint64_t seed;     /* of the bootstrap */
};

static const struct ls_stats_ask ls_stats_ask_default = {.margin = 0.005};

/* The default with the margin of an option --margin: "0.5%", a share of the first mean,
 * or a value in units of the metric. NULL: the default. */
int ls_stats_margin(const char *text, struct ls_stats_ask *ret, struct ls_err *err);

enum ls_stats_verdict {
	LS_STATS_SAME,       /* the digests are equal: there is nothing to test */
	LS_STATS_DIFFERENT,  /* by more than the seeds explain, and not within the margin */
	LS_STATS_SMALL,      /* by more than the seeds explain, but within the margin */
	LS_STATS_EQUIVALENT, /* within the margin */
	LS_STATS_UNDECIDED,  /* too few seeds for this spread and margin */
	LS_STATS_UNTESTED,   /* no test is possible: the sentence says why */
};

struct ls_stats_pair {
	struct ls_stats_group a, b;
	enum ls_stats_verdict verdict;
	bool borrowed;     /* one group's values are all equal: the other's spread is taken */
	double difference; /* mean of b less mean of a */
	double relative;   /* the same as a share of |mean of a|; NaN when that is 0 */
	double margin;     /* in units of the metric */
	double t, df, p;   /* Welch's test, two-sided */
	double low, high;  /* its 95 % interval of the difference */
	double p_margin;   /* the larger of two one-sided tests (TOST): small when equivalent */
	double boot_low, boot_high; /* 95 % percentile bootstrap of the difference */
	double detectable;          /* the difference that these seeds would show in 4 of 5 cases */
	uint64_t seeds_needed;      /* a group, to show equality within the margin in 4 of 5
				       cases; 0 when unknown or above LS_STATS_MAX */
};

int ls_stats_compare(const double *a, size_t n_a, const double *b, size_t n_b,
		     const struct ls_stats_ask *ask, struct ls_stats_pair *ret, struct ls_err *err);

/* One line: "5 runs  mean 0.8206  sd 0.0003 …". No newline. */
void ls_stats_group_text(const struct ls_stats_group *g, struct ls_str *out);
/* Plain sentences on what these runs can and cannot show. No newline. */
void ls_stats_group_sentence(const struct ls_stats_group *g, struct ls_str *out);
/* name_a and name_b are what the configurations are called. */
void ls_stats_pair_sentence(const struct ls_stats_pair *p, const char *name_a, const char *name_b,
			    struct ls_str *out);
/* Lines with the tests' numbers, each ending in a newline; nothing when none was made. */
void ls_stats_pair_text(const struct ls_stats_pair *p, struct ls_str *out);

json_t *ls_stats_group_json(const struct ls_stats_group *g);
json_t *ls_stats_pair_json(const struct ls_stats_pair *p, const char *name_a, const char *name_b);
const char *ls_stats_verdict_name(enum ls_stats_verdict verdict); /* "different" */

#endif
