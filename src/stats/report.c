#include <math.h>
#include <string.h>

#include "stats/stats.h"

int ls_stats_margin(const char *text, struct ls_stats_ask *ret, struct ls_err *err)
{
	struct ls_stats_ask ask = ls_stats_ask_default;
	char number[64];
	if (!text) {
		*ret = ask;
		return 0;
	}
	ask.absolute = !ls_str_ends(text, "%");
	snprintf(number, sizeof number, "%.*s", (int)strlen(text) - !ask.absolute, text);
	int rc = ls_str_to_double(number, 1e-300, 1e300, "option --margin", &ask.margin, err);
	if (!ask.absolute)
		ask.margin /= 100;
	if (!rc)
		*ret = ask;
	return rc;
}

const char *ls_stats_verdict_name(enum ls_stats_verdict verdict)
{
	static const char *const names[] = {"same",       "different", "different, within margin",
					    "equivalent", "undecided", "untested"};
	return names[verdict];
}

static void add_p(struct ls_str *out, double p)
{
	if (p < 0.0001)
		ls_str_add(out, "p < 0.0001");
	else
		ls_str_addf(out, "p = %.4f", p);
}

/* " (0.12 %)", or nothing where a share of v has no meaning. */
static void add_share(struct ls_str *out, double part, double whole)
{
	if (isfinite(part) && isfinite(whole) && whole != 0)
		ls_str_addf(out, " (%.2g %%)", 100 * part / fabs(whole));
}

void ls_stats_group_text(const struct ls_stats_group *g, struct ls_str *out)
{
	ls_str_addf(out, "%zu run%s", g->n, g->n == 1 ? "" : "s");
	if (g->kind == LS_STATS_NOT_FINITE)
		ls_str_addf(out, ", %zu not finite", g->n - g->n_finite);
	if (g->kind == LS_STATS_NONE || g->kind == LS_STATS_NOT_FINITE)
		return;
	if (g->kind == LS_STATS_ONE || g->kind == LS_STATS_EQUAL) {
		ls_str_addf(out, "  %s%.6g  spread unknown", g->n > 1 ? "all " : "", g->mean);
		return;
	}
	ls_str_addf(out, "  mean %.6g", g->mean);
	ls_str_addf(out, "  sd %.3g", g->sd);
	add_share(out, g->sd, g->mean);
	ls_str_addf(out, "  range %.6g to %.6g", g->min, g->max);
	ls_str_addf(out, "  95 %% of the mean %.6g to %.6g", g->low, g->high);
}

static void add_ties(const struct ls_stats_group *g, struct ls_str *out)
{
	if (g->kind == LS_STATS_SPREAD && g->n > 2 && 2 * g->n_distinct <= g->n + 1)
		ls_str_addf(out,
			    " Only %zu of %zu values are different: the metric is coarse, and the "
			    "true spread may be larger.",
			    g->n_distinct, g->n);
}

static void spread_sentence(const struct ls_stats_group *g, struct ls_str *out)
{
	double single = (g->run_high - g->mean) * sqrt(2 / (1 + 1 / (double)g->n));
	ls_str_addf(out,
		    "With %zu seeds the mean is known to ±%.2g, and one further run may lie "
		    "anywhere from %.6g to %.6g (95 %%). Two single runs that differ by less than "
		    "%.2g",
		    g->n, g->high - g->mean, g->run_low, g->run_high, single);
	add_share(out, single, g->mean);
	ls_str_add(out, " show nothing.");
	add_ties(g, out);
}

void ls_stats_group_sentence(const struct ls_stats_group *g, struct ls_str *out)
{
	switch (g->kind) {
	case LS_STATS_NONE:
		ls_str_add(out, "There is no value: nothing can be said.");
		break;
	case LS_STATS_NOT_FINITE:
		ls_str_addf(out,
			    "%zu of %zu values are NaN or infinite: such a run has diverged, and "
			    "mean and spread mean nothing.",
			    g->n - g->n_finite, g->n);
		break;
	case LS_STATS_ONE:
		ls_str_add(out, "One seed cannot show any spread.");
		break;
	case LS_STATS_EQUAL:
		ls_str_addf(out,
			    "All %zu values are %.6g: either the program does not follow the seed "
			    "or the metric is too coarse to show a spread. It is unknown, not "
			    "zero.",
			    g->n, g->mean);
		break;
	case LS_STATS_SPREAD:
		spread_sentence(g, out);
		break;
	}
}

/* Why no test was made. */
static void untested(const struct ls_stats_pair *p, const char *name_a, const char *name_b,
		     struct ls_str *out)
{
	const struct ls_stats_group *g[] = {&p->a, &p->b};
	const char *const name[] = {name_a, name_b};
	ls_str_add(out, "No test is possible.");
	size_t before = out->len;
	for (int i = 0; i < 2; i++) {
		if (g[i]->kind == LS_STATS_EQUAL || g[i]->kind == LS_STATS_SPREAD)
			continue;
		ls_str_addf(out, " %s: ", name[i]);
		ls_stats_group_sentence(g[i], out);
	}
	if (out->len > before)
		return;
	if (p->a.kind == LS_STATS_SPREAD || p->b.kind == LS_STATS_SPREAD)
		ls_str_add(out, " The values are too large or too close together for binary64.");
	else
		ls_str_addf(out,
			    " All values of %s are %.6g and all of %s are %.6g: without any spread "
			    "over the seeds, chance cannot be told from a difference.",
			    name_a, p->a.mean, name_b, p->b.mean);
}

static void add_difference(const struct ls_stats_pair *p, struct ls_str *out)
{
	ls_str_addf(out, "%+.3g", p->difference);
	if (isfinite(p->relative))
		ls_str_addf(out, " (%+.2g %%)", 100 * p->relative);
}

static void add_margin(const struct ls_stats_pair *p, struct ls_str *out)
{
	ls_str_addf(out, "±%.3g", p->margin);
	add_share(out, p->margin, p->a.mean);
}

static void finding(const struct ls_stats_pair *p, const char *name_a, const char *name_b,
		    struct ls_str *out)
{
	bool differs = p->verdict == LS_STATS_DIFFERENT || p->verdict == LS_STATS_SMALL;
	ls_str_addf(out, "%s less %s is ", name_b, name_a);
	add_difference(p, out);
	ls_str_add(out,
		   differs ? ": more than the seeds explain" : ": no more than the seeds explain");
	if (p->verdict == LS_STATS_EQUIVALENT || p->verdict == LS_STATS_SMALL) {
		ls_str_addf(out, ", %s shown to be within ", differs ? "but" : "and");
		add_margin(p, out);
	} else if (isnan(p->margin)) {
		ls_str_add(out, "; a relative margin has no meaning as the first mean is 0");
	} else {
		ls_str_add(out, "; not shown to be within ");
		add_margin(p, out);
	}
	ls_str_add(out, ".");
}

static void add_power(const struct ls_stats_pair *p, struct ls_str *out)
{
	ls_str_addf(out, " %zu and %zu seeds with this spread show a difference of %.2g", p->a.n,
		    p->b.n, p->detectable);
	add_share(out, p->detectable, p->a.mean);
	ls_str_add(out, " in four of five cases and mostly miss a smaller one.");
	if (p->verdict != LS_STATS_UNDECIDED || isnan(p->margin))
		return;
	if (p->seeds_needed > p->a.n && p->seeds_needed > p->b.n)
		ls_str_addf(out, " To show agreement within the margin takes about %llu each.",
			    (unsigned long long)p->seeds_needed);
	else if (p->seeds_needed == 0)
		ls_str_addf(out, " To show agreement within the margin takes more than %d each.",
			    LS_STATS_MAX);
}

void ls_stats_pair_sentence(const struct ls_stats_pair *p, const char *name_a, const char *name_b,
			    struct ls_str *out)
{
	if (p->verdict == LS_STATS_SAME) {
		ls_str_addf(out, "%s and %s wrote the same bytes: there is nothing to test.",
			    name_a, name_b);
		return;
	}
	if (p->verdict == LS_STATS_UNTESTED) {
		untested(p, name_a, name_b, out);
		return;
	}
	finding(p, name_a, name_b, out);
	add_power(p, out);
	if (p->borrowed)
		ls_str_addf(out,
			    " All values of %s are equal, so the spread of %s was taken for both.",
			    p->a.kind == LS_STATS_EQUAL ? name_a : name_b,
			    p->a.kind == LS_STATS_EQUAL ? name_b : name_a);
	add_ties(&p->a, out);
	add_ties(&p->b, out);
}

void ls_stats_pair_text(const struct ls_stats_pair *p, struct ls_str *out)
{
	if (isnan(p->p))
		return;
	ls_str_add(out, "difference ");
	add_difference(p, out);
	ls_str_addf(out, "  95 %% %.3g to %.3g\n", p->low, p->high);
	ls_str_addf(out, "Welch's t = %.3f, df = %.1f, ", p->t, p->df);
	add_p(out, p->p);
	ls_str_add(out, "\n");
	if (isfinite(p->p_margin)) {
		ls_str_add(out, "equivalence within ");
		add_margin(p, out);
		ls_str_add(out, ": ");
		add_p(out, p->p_margin);
		ls_str_add(out, "\n");
	}
	if (isfinite(p->boot_low))
		ls_str_addf(out, "bootstrap 95 %% %.3g to %.3g%s\n", p->boot_low, p->boot_high,
			    p->a.n < 8 || p->b.n < 8 ? ", too narrow below 8 values" : "");
}

static void put(json_t *object, const char *key, double v)
{
	json_object_set_new(object, key, isfinite(v) ? json_real(v) : json_null());
}

static void put_interval(json_t *object, const char *key, double low, double high)
{
	json_t *both =
		isfinite(low) && isfinite(high) ? json_pack("[f, f]", low, high) : json_null();
	json_object_set_new(object, key, both);
}

json_t *ls_stats_group_json(const struct ls_stats_group *g)
{
	struct ls_str s = {0};
	json_t *o = json_object();
	json_object_set_new(o, "n", json_integer((json_int_t)g->n));
	json_object_set_new(o, "not_finite", json_integer((json_int_t)(g->n - g->n_finite)));
	json_object_set_new(o, "distinct", json_integer((json_int_t)g->n_distinct));
	put(o, "mean", g->mean);
	put(o, "sd", g->kind == LS_STATS_SPREAD ? g->sd : NAN);
	put_interval(o, "range", g->min, g->max);
	put_interval(o, "mean_95", g->low, g->high);
	put_interval(o, "run_95", g->run_low, g->run_high);
	ls_stats_group_sentence(g, &s);
	json_object_set_new(o, "sentence", json_string(s.s));
	ls_str_done(&s);
	return o;
}

static json_t *welch_json(const struct ls_stats_pair *p)
{
	json_t *o = json_object();
	put(o, "t", p->t);
	put(o, "df", p->df);
	put(o, "p", p->p);
	put_interval(o, "difference_95", p->low, p->high);
	json_object_set_new(o, "spread_of_other", json_boolean(p->borrowed));
	return o;
}

json_t *ls_stats_pair_json(const struct ls_stats_pair *p, const char *name_a, const char *name_b)
{
	struct ls_str s = {0};
	json_t *o = json_object(), *tost = json_object();
	json_object_set_new(o, "verdict", json_string(ls_stats_verdict_name(p->verdict)));
	ls_stats_pair_sentence(p, name_a, name_b, &s);
	json_object_set_new(o, "sentence", ls_json_lossy(s.s));
	put(o, "difference", p->difference);
	put(o, "relative", p->relative);
	json_object_set_new(o, "welch", welch_json(p));
	put(tost, "margin", p->margin);
	put(tost, "p", p->p_margin);
	json_object_set_new(o, "equivalence", tost);
	put_interval(o, "bootstrap_95", p->boot_low, p->boot_high);
	put(o, "detectable", p->detectable);
	json_object_set_new(o, "seeds_needed",
			    p->seeds_needed ? json_integer((json_int_t)p->seeds_needed)
					    : json_null());
	ls_str_done(&s);
	return o;
}
