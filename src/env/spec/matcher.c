#include "env/spec/matcher.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/version.h"

enum op { OP_EQ, OP_NE, OP_GE, OP_GT, OP_LE, OP_LT, OP_PREFIX };

struct term {
	enum op op;
	char *text; /* without operator, '*' or ".x" */
	double mib; /* memory only */
};

/* Terms are and-ed; a matcher is one or more alternatives. */
struct alternative {
	char *source; /* as the spec wrote it */
	struct term *terms;
	size_t n, cap;
};

struct ls_matcher {
	enum ls_flavour flavour;
	double tolerance; /* memory only, a fraction */
	struct alternative *alts;
	size_t n, cap;
	char *text;
};

/* --- parsing --- */

static enum op take_operator(char **s)
{
	static const struct {
		const char *sign;
		enum op op;
	} signs[] = {{">=", OP_GE}, {"<=", OP_LE}, {"==", OP_EQ},
		     {"!=", OP_NE}, {">", OP_GT},  {"<", OP_LT}};
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (ls_str_starts(*s, signs[i].sign)) {
			*s = ls_str_trim(*s + strlen(signs[i].sign));
			return signs[i].op;
		}
	return OP_EQ;
}

/* "12.1*" and "12.1.*" and "12.1.x" are prefixes; cuts the mark off and tells. */
static bool take_prefix_mark(char *s, enum ls_flavour flavour)
{
	static const char *const marks[] = {".*", ".x", ".X", "*"};
	size_t first = flavour == LS_AS_TEXT ? 3 : 0; /* in plain text only the star is special */
	for (size_t i = first; i < sizeof marks / sizeof *marks; i++)
		if (ls_str_ends(s, marks[i])) {
			s[strlen(s) - strlen(marks[i])] = 0;
			return true;
		}
	return false;
}

static int check_operand(const struct term *t, enum ls_flavour flavour, const char *source,
			 struct ls_err *err)
{
	struct ls_version v, build;
	const char *rest;
	if (!*t->text && t->op != OP_PREFIX && flavour != LS_AS_TEXT)
		return ls_err_set(err, LS_EINPUT, "\"%.80s\": nothing to compare with", source);
	if (flavour == LS_AS_TEXT || flavour == LS_AS_MEMORY || !*t->text)
		return 0;
	if (flavour == LS_AS_KERNEL) {
		if (t->op != OP_EQ && t->op != OP_PREFIX &&
		    !ls_version_kernel(t->text, &v, &build, &rest))
			return ls_err_set(
				err, LS_EINPUT,
				"\"%.80s\": \"%.80s\" is not a kernel's release such as 5.15",
				source, t->text);
		return 0;
	}
	/* the characters of versions and no others: renderers put these into files for
	 * shells */
	if (t->text[strspn(t->text,
			   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+_-")])
		return ls_err_set(err, LS_EINPUT,
				  "\"%.80s\" is not a version, nor one of 12.1*, 8.x, >=535.86.10, "
				  ">=3.10,<3.13",
				  source);
	if (!isdigit((unsigned char)t->text[*t->text == 'v']))
		return ls_err_set(err, LS_EINPUT,
				  "\"%.80s\": a version begins with a digit, as 2.3.1 or 8.x do",
				  source);
	if (t->op != OP_EQ && t->op != OP_PREFIX && !ls_version_parse(t->text, &v))
		return ls_err_set(err, LS_EINPUT, "\"%.80s\": \"%.80s\" is not a version", source,
				  t->text);
	return 0;
}

static void add_term(struct alternative *a, enum op op, const char *text, double mib)
{
	a->terms = ls_grow(a->terms, a->n, &a->cap, sizeof *a->terms);
	a->terms[a->n++] = (struct term){.op = op, .text = ls_xstrdup(text), .mib = mib};
}

/* "~=3.9.0" is >=3.9.0 and 3.9.*: compatible up to the last number written. */
static int parse_compatible(struct alternative *a, const char *s, struct ls_err *err)
{
	struct ls_version v;
	if (!ls_version_parse(s, &v) || v.n_parts < 2 || *v.local)
		return ls_err_set(err, LS_EINPUT,
				  "\"%.80s\": ~= wants a version of two numbers or more, such as "
				  "~=3.9.0",
				  a->source);
	struct ls_str prefix = {0};
	for (unsigned i = 0; i + 1 < v.n_parts; i++)
		ls_str_addf(&prefix, "%s%llu", i ? "." : "", (unsigned long long)v.part[i]);
	add_term(a, OP_GE, s, 0);
	add_term(a, OP_PREFIX, prefix.s, 0);
	ls_str_done(&prefix);
	return 0;
}

static int parse_term(struct ls_matcher *m, struct alternative *a, char *s, struct ls_err *err)
{
	struct term t = {.op = OP_EQ};
	char cudnn[LS_VERSION_TEXT];
	s = ls_str_trim(s);
	if (m->flavour == LS_AS_VERSION && ls_str_starts(s, "~="))
		return parse_compatible(a, ls_str_trim(s + 2), err);
	if (m->flavour != LS_AS_TEXT)
		t.op = take_operator(&s);
	if (m->flavour != LS_AS_MEMORY && t.op == OP_EQ && take_prefix_mark(s, m->flavour))
		t.op = OP_PREFIX;
	if (m->flavour == LS_AS_MEMORY && !ls_version_memory(s, &t.mib))
		return ls_err_set(err, LS_EINPUT,
				  "\"%.80s\" is not an amount of memory with its unit, such as "
				  "16 GB or >=4 GB",
				  a->source);
	if (m->flavour == LS_AS_CUDNN && t.op != OP_PREFIX && ls_version_cudnn(s, cudnn))
		s = cudnn;
	t.text = s;
	int rc = check_operand(&t, m->flavour, a->source, err);
	if (rc)
		return rc;
	add_term(a, t.op, s, t.mib);
	return 0;
}

/* Cuts "±5%" or "+-5%" off the end. */
static int take_tolerance(struct ls_matcher *m, char *s, struct ls_err *err)
{
	char *mark = strstr(s, "\xc2\xb1"), *end;
	size_t len = 2;
	if (!mark)
		mark = strstr(s, "+-");
	if (!mark)
		return 0;
	double percent = strtod(mark + len, &end);
	if (end == mark + len || strcmp(end, "%") != 0 || !(percent >= 0 && percent <= 100))
		return ls_err_set(err, LS_EINPUT,
				  "\"%.80s\": a tolerance reads \xc2\xb1"
				  "5%%",
				  s);
	m->tolerance = percent / 100;
	*mark = 0;
	return 0;
}

/* Expectations end up in Dockerfiles, scripts and YAML: one line each. */
static bool has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	return false;
}

/* -1, 0, 1 as a is below, at or above b; false when they cannot be ordered. */
static bool order_terms(const struct ls_matcher *m, const struct term *a, const struct term *b,
			int *ret)
{
	if (m->flavour != LS_AS_MEMORY)
		return ls_version_compare(a->text, b->text, ret);
	*ret = a->mib < b->mib ? -1 : a->mib > b->mib;
	return true;
}

/* >2.5,<2.3: the one wants more than the other allows. */
static bool exclude(const struct ls_matcher *m, const struct term *low, const struct term *high)
{
	bool from = low->op == OP_GE || low->op == OP_GT || low->op == OP_EQ ||
		    low->op == OP_PREFIX,
	     to = high->op == OP_LE || high->op == OP_LT || high->op == OP_EQ;
	int order;
	if (!from || !to || low == high || !order_terms(m, low, high, &order))
		return false;
	bool strict = low->op == OP_GT || high->op == OP_LT;
	return order > 0 || (order == 0 && strict);
}

static int check_bounds(const struct ls_matcher *m, const struct alternative *a, struct ls_err *err)
{
	for (size_t i = 0; i < a->n; i++)
		for (size_t k = 0; k < a->n; k++)
			if (exclude(m, &a->terms[i], &a->terms[k]))
				return ls_err_set(err, LS_EINPUT,
						  "\"%.80s\": nothing meets both of these bounds",
						  a->source);
	return 0;
}

static int add_alternative(struct ls_matcher *m, const char *text, struct ls_err *err)
{
	if (has_control(text))
		return ls_err_set(err, LS_EINPUT, "a value with control characters");
	m->alts = ls_grow(m->alts, m->n, &m->cap, sizeof *m->alts);
	struct alternative *a = &m->alts[m->n++];
	*a = (struct alternative){.source = ls_xstrdup(text)};
	char *copy = ls_xstrdup(text), *rest = copy;
	int rc = m->flavour == LS_AS_MEMORY ? take_tolerance(m, copy, err) : 0;
	if (m->flavour == LS_AS_TEXT && !rc)
		rc = parse_term(m, a, copy, err);
	else
		for (char *part; !rc && (part = strsep(&rest, ","));)
			rc = parse_term(m, a, part, err);
	free(copy);
	return rc ? rc : check_bounds(m, a, err);
}

static void finish(struct ls_matcher *m)
{
	struct ls_str s = {0};
	for (size_t i = 0; i < m->n; i++)
		ls_str_addf(&s, "%s%s", i ? " or " : "",
			    *m->alts[i].source ? m->alts[i].source : "\"\"");
	m->text = ls_str_take(&s);
}

static struct ls_matcher *matcher_new(enum ls_flavour flavour)
{
	struct ls_matcher *m = ls_xalloc(sizeof *m);
	m->flavour = flavour;
	m->tolerance = 0.10;
	return m;
}

int ls_matcher_parse(const char *text, enum ls_flavour flavour, struct ls_matcher **ret,
		     struct ls_err *err)
{
	struct ls_matcher *m = matcher_new(flavour);
	int rc = add_alternative(m, text, err);
	if (rc) {
		ls_matcher_free(m);
		return rc;
	}
	finish(m);
	*ret = m;
	return 0;
}

static int add_json(struct ls_matcher *m, const json_t *v, struct ls_err *err)
{
	if (!json_is_string(v))
		return ls_err_set(err, LS_EINPUT, "expected a string, found %s", ls_json_kind(v));
	if (strlen(json_string_value(v)) != json_string_length(v) || json_string_length(v) > 4096)
		return ls_err_set(err, LS_EINPUT,
				  "a value with a NUL byte, or longer than 4096 bytes");
	return add_alternative(m, json_string_value(v), err);
}

int ls_matcher_from_json(const json_t *v, enum ls_flavour flavour, const char *where,
			 struct ls_matcher **ret, struct ls_err *err)
{
	struct ls_matcher *m = matcher_new(flavour);
	int rc = 0;
	if (!json_is_array(v)) {
		rc = add_json(m, v, err);
	} else {
		for (size_t i = 0; i < json_array_size(v) && !rc; i++)
			rc = add_json(m, json_array_get(v, i), err);
		if (!rc && json_array_size(v) == 0)
			rc = ls_err_set(err, LS_EINPUT, "an empty list matches nothing");
	}
	if (rc) {
		ls_err_prefix(err, "%s", where);
		ls_matcher_free(m);
		return rc;
	}
	finish(m);
	*ret = m;
	return 0;
}

void ls_matcher_free(struct ls_matcher *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n; i++) {
		for (size_t j = 0; j < m->alts[i].n; j++)
			free(m->alts[i].terms[j].text);
		free(m->alts[i].terms);
		free(m->alts[i].source);
	}
	free(m->alts);
	free(m->text);
	free(m);
}

/* --- testing --- */

static enum ls_match yes_if(bool b)
{
	return b ? LS_MATCH_YES : LS_MATCH_NO;
}

static enum ls_match by_order(enum op op, int order)
{
	switch (op) {
	case OP_NE:
		return yes_if(order != 0);
	case OP_GE:
		return yes_if(order >= 0);
	case OP_GT:
		return yes_if(order > 0);
	case OP_LE:
		return yes_if(order <= 0);
	case OP_LT:
		return yes_if(order < 0);
	default:
		return yes_if(order == 0);
	}
}

/* 12.1 begins 12.1.105 but not 12.10: a number is not cut in two. */
static enum ls_match begins(const char *prefix, const char *value)
{
	size_t n = strlen(prefix);
	if (!ls_str_starts(value, prefix))
		return LS_MATCH_NO;
	bool cut = n && isdigit((unsigned char)prefix[n - 1]) && isdigit((unsigned char)value[n]);
	return yes_if(!cut);
}

/* A wheel's cuDNN has four parts and the library's three: only what both have is
 * compared. */
static void cut_to_common(struct ls_version *a, struct ls_version *b)
{
	unsigned n = a->n_parts < b->n_parts ? a->n_parts : b->n_parts;
	for (unsigned i = n < 3 ? 3 : n; i < LS_VERSION_PARTS; i++)
		a->part[i] = b->part[i] = 0;
}

static enum ls_match test_version(const struct term *t, const char *value, bool cudnn)
{
	struct ls_version want, have;
	if (!ls_version_parse(t->text, &want) || !ls_version_parse(value, &have)) {
		if (t->op == OP_EQ)
			return yes_if(strcmp(t->text, value) == 0);
		return LS_MATCH_UNKNOWN;
	}
	if (cudnn)
		cut_to_common(&want, &have);
	int order = ls_version_order(&have, &want);
	/* 2.3.1 accepts 2.3.1+cu121; 2.3.1+cu121 accepts nothing else */
	if (!order && *want.local && (t->op == OP_EQ || t->op == OP_NE))
		order = strcmp(have.local, want.local);
	return by_order(t->op, order);
}

/* Whether a kernel is 5.15.0 or 5.15.0-1053 or 5.15.0-1053-aws is asked as precisely as
 * the spec puts it. */
static enum ls_match test_kernel(const struct term *t, const char *value)
{
	struct ls_version want, have, want_build, have_build;
	const char *want_rest, *have_rest;
	if (!ls_version_kernel(t->text, &want, &want_build, &want_rest) ||
	    !ls_version_kernel(value, &have, &have_build, &have_rest)) {
		if (t->op == OP_EQ || t->op == OP_NE)
			return by_order(t->op, strcmp(t->text, value));
		return LS_MATCH_UNKNOWN;
	}
	int order = ls_version_order(&have, &want);
	if (!order && want_build.n_parts)
		order = ls_version_order(&have_build, &want_build);
	if (!order && *want_rest && (t->op == OP_EQ || t->op == OP_NE))
		order = strcmp(value, t->text);
	return by_order(t->op, order);
}

static enum ls_match test_memory(const struct term *t, double tolerance, const char *value)
{
	double mib;
	if (!ls_version_memory(value, &mib))
		return LS_MATCH_UNKNOWN;
	double slack = t->mib * tolerance;
	switch (t->op) {
	case OP_GE:
	case OP_GT:
		return yes_if(mib >= t->mib - slack);
	case OP_LE:
	case OP_LT:
		return yes_if(mib <= t->mib + slack);
	case OP_NE:
		return yes_if(fabs(mib - t->mib) > slack);
	default:
		return yes_if(fabs(mib - t->mib) <= slack);
	}
}

static enum ls_match test_term(const struct ls_matcher *m, const struct term *t, const char *value)
{
	char cudnn[LS_VERSION_TEXT];
	if (m->flavour == LS_AS_MEMORY)
		return test_memory(t, m->tolerance, value);
	if (m->flavour == LS_AS_CUDNN && ls_version_cudnn(value, cudnn))
		value = cudnn;
	if (t->op == OP_PREFIX)
		return begins(t->text, value);
	if (m->flavour == LS_AS_TEXT)
		return yes_if(strcmp(t->text, value) == 0);
	if (m->flavour == LS_AS_KERNEL)
		return test_kernel(t, value);
	return test_version(t, value, m->flavour == LS_AS_CUDNN);
}

static enum ls_match test_alternative(const struct ls_matcher *m, const struct alternative *a,
				      const char *value)
{
	enum ls_match all = LS_MATCH_YES;
	for (size_t i = 0; i < a->n; i++) {
		enum ls_match one = test_term(m, &a->terms[i], value);
		if (one == LS_MATCH_NO)
			return one;
		if (one == LS_MATCH_UNKNOWN)
			all = one;
	}
	return all;
}

enum ls_match ls_matcher_test(const struct ls_matcher *m, const char *value)
{
	if (!value)
		return LS_MATCH_UNKNOWN;
	enum ls_match best = LS_MATCH_NO;
	for (size_t i = 0; i < m->n; i++) {
		enum ls_match one = test_alternative(m, &m->alts[i], value);
		if (one == LS_MATCH_YES)
			return one;
		if (one == LS_MATCH_UNKNOWN)
			best = one;
	}
	return best;
}

/* --- asking --- */

const char *ls_matcher_text(const struct ls_matcher *m)
{
	return m->text;
}

const char *ls_matcher_exact(const struct ls_matcher *m)
{
	if (m->n != 1 || m->alts[0].n != 1 || m->alts[0].terms[0].op != OP_EQ ||
	    m->flavour == LS_AS_MEMORY)
		return NULL;
	return m->alts[0].terms[0].text;
}

const char *ls_matcher_lowest(const struct ls_matcher *m)
{
	if (m->n != 1)
		return NULL;
	for (size_t i = 0; i < m->alts[0].n; i++) {
		const struct term *t = &m->alts[0].terms[i];
		if (*t->text &&
		    (t->op == OP_EQ || t->op == OP_GE || t->op == OP_GT || t->op == OP_PREFIX))
			return t->text;
	}
	return NULL;
}

bool ls_matcher_requirement(const struct ls_matcher *m, struct ls_str *out)
{
	static const char *const signs[] = {
		[OP_EQ] = "==", [OP_NE] = "!=", [OP_GE] = ">=",    [OP_GT] = ">",
		[OP_LE] = "<=", [OP_LT] = "<",  [OP_PREFIX] = "=="};
	const struct alternative *a = &m->alts[0];
	size_t start = out->len;
	for (size_t i = 0; i < a->n; i++) {
		const struct term *t = &a->terms[i];
		if (t->op == OP_PREFIX && !*t->text)
			continue;
		if (t->op == OP_PREFIX && t->text[strspn(t->text, "0123456789.")])
			return false;
		ls_str_addf(out, "%s%s%s%s", out->len > start ? "," : "", signs[t->op], t->text,
			    t->op == OP_PREFIX ? ".*" : "");
	}
	return m->flavour == LS_AS_VERSION;
}

double ls_matcher_mib(const struct ls_matcher *m)
{
	return m->flavour == LS_AS_MEMORY ? m->alts[0].terms[0].mib : 0;
}

enum ls_flavour ls_matcher_flavour(const struct ls_matcher *m)
{
	return m->flavour;
}

json_t *ls_matcher_json(const struct ls_matcher *m)
{
	if (m->n == 1)
		return json_string(m->alts[0].source);
	json_t *list = json_array();
	for (size_t i = 0; i < m->n; i++)
		json_array_append_new(list, json_string(m->alts[i].source));
	return list;
}

json_t *ls_matcher_terms(const struct ls_matcher *m)
{
	static const char *const signs[] =
		{[OP_EQ] = "==", [OP_NE] = "!=", [OP_GE] = ">=",        [OP_GT] = ">",
		 [OP_LE] = "<=", [OP_LT] = "<",  [OP_PREFIX] = "begins"},
				 *const flavours[] = {[LS_AS_VERSION] = "version",
						      [LS_AS_CUDNN] = "cudnn",
						      [LS_AS_TEXT] = "text",
						      [LS_AS_MEMORY] = "memory",
						      [LS_AS_KERNEL] = "kernel"};
	bool memory = m->flavour == LS_AS_MEMORY;
	json_t *any = json_array();
	for (size_t i = 0; i < m->n; i++) {
		json_t *terms = json_array();
		for (size_t j = 0; j < m->alts[i].n; j++) {
			const struct term *t = &m->alts[i].terms[j];
			json_t *value = memory ? json_real(t->mib) : json_string(t->text);
			json_array_append_new(terms, json_pack("[s,o]", signs[t->op], value));
		}
		json_array_append_new(any, terms);
	}
	json_t *o = json_pack("{s:s,s:o}", "as", flavours[m->flavour], "any", any);
	if (memory)
		json_object_set_new(o, "tolerance", json_real(m->tolerance));
	return o;
}
