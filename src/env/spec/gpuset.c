/* The set of GPUs that a spec accepts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/gpu_catalog.h"
#include "env/facts/version.h"
#include "env/spec/matcher.h"

struct kind {
	char *name;
	struct ls_matcher *count; /* NULL: one or more */
};

struct ls_gpuset {
	struct kind *kinds;
	size_t n, cap;
	bool mixed;                /* all_of: every kind is there, and no other */
	struct ls_matcher *count;  /* of all GPUs, or NULL */
	struct ls_matcher *memory; /* of each GPU, or NULL */
	char *min_capability;      /* or NULL */
	const char *ecc, *mig;     /* "on" or "off" of each GPU, or NULL */
	char *text;
};

/* --- parsing --- */

static int parse_member(const json_t *v, const char *member, enum ls_flavour flavour,
			const char *where, struct ls_matcher **ret, struct ls_err *err)
{
	char *place = ls_xasprintf("%s: %s", where, member);
	int rc = ls_matcher_from_json(v, flavour, place, ret, err);
	free(place);
	return rc;
}

static int parse_count(const json_t *v, const char *where, struct ls_matcher **ret,
		       struct ls_err *err)
{
	char text[32];
	if (json_is_string(v) &&
	    json_string_value(v)[strspn(json_string_value(v), "0123456789<>=!, *")])
		return ls_err_set(err, LS_EINPUT,
				  "%s: count: \"%.80s\" is not a count such as 4 or \">=2\"", where,
				  json_string_value(v));
	if (!json_is_integer(v))
		return parse_member(v, "count", LS_AS_VERSION, where, ret, err);
	if (json_integer_value(v) < 1 || json_integer_value(v) > 4096)
		return ls_err_set(err, LS_EINPUT, "%s: count: a count is from 1 to 4096", where);
	snprintf(text, sizeof text, "%d", (int)json_integer_value(v));
	return ls_matcher_parse(text, LS_AS_VERSION, ret, err);
}

static int set_name(struct kind *k, const json_t *v, const char *where, struct ls_err *err)
{
	if (!json_is_string(v) || !json_string_length(v) ||
	    strlen(json_string_value(v)) != json_string_length(v))
		return ls_err_set(err, LS_EINPUT, "%s: expected the name of a GPU, found %s", where,
				  v ? ls_json_kind(v) : "nothing");
	for (const char *p = json_string_value(v); *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return ls_err_set(err, LS_EINPUT, "%s: a name with control characters",
					  where);
	if (!ls_gpu_name_is(json_string_value(v), json_string_value(v)))
		return ls_err_set(err, LS_EINPUT,
				  "%s: \"%.80s\" names no model: no GPU would ever match", where,
				  json_string_value(v));
	k->name = ls_xstrdup(json_string_value(v));
	return 0;
}

static int add_kind(struct ls_gpuset *g, const json_t *v, const char *where, struct ls_err *err)
{
	static const char *const keys[] = {"name", "count", NULL};
	g->kinds = ls_grow(g->kinds, g->n, &g->cap, sizeof *g->kinds);
	struct kind *k = &g->kinds[g->n++];
	*k = (struct kind){0};
	if (!json_is_object(v))
		return set_name(k, v, where, err);
	int rc = ls_json_only(v, keys, where, err);
	if (!rc)
		rc = set_name(k, json_object_get(v, "name"), where, err);
	if (!rc && json_object_get(v, "count"))
		rc = parse_count(json_object_get(v, "count"), where, &k->count, err);
	return rc;
}

static int add_kinds(struct ls_gpuset *g, const json_t *v, const char *where, struct ls_err *err)
{
	int rc = 0;
	if (!json_is_array(v))
		return add_kind(g, v, where, err);
	if (json_array_size(v) == 0)
		return ls_err_set(err, LS_EINPUT, "%s: an empty list matches nothing", where);
	for (size_t i = 0; i < json_array_size(v) && !rc; i++)
		rc = add_kind(g, json_array_get(v, i), where, err);
	return rc;
}

static int parse_capability(struct ls_gpuset *g, const json_t *v, const char *where,
			    struct ls_err *err)
{
	struct ls_version version;
	if (!json_is_string(v) || !ls_version_parse(json_string_value(v), &version) ||
	    version.n_parts != 2 || version.part[0] > 99)
		return ls_err_set(err, LS_EINPUT,
				  "%s: min_capability: expected a text such as \"8.0\"", where);
	g->min_capability = ls_xstrdup(json_string_value(v));
	return 0;
}

static int parse_mode(const json_t *v, const char *member, const char *where, const char **ret,
		      struct ls_err *err)
{
	const char *text = json_string_value(v);
	if (!v)
		return 0;
	if (!text || (strcmp(text, "on") != 0 && strcmp(text, "off") != 0))
		return ls_err_set(err, LS_EINPUT, "%s: %s: expected \"on\" or \"off\"", where,
				  member);
	*ret = *text && text[1] == 'n' ? "on" : "off";
	return 0;
}

/* What each GPU has to be. */
static int parse_each(struct ls_gpuset *g, const json_t *v, const char *where, struct ls_err *err)
{
	const json_t *capability = json_object_get(v, "min_capability"),
		     *memory = json_object_get(v, "memory");
	int rc = capability ? parse_capability(g, capability, where, err) : 0;
	if (!rc && memory)
		rc = parse_member(memory, "memory", LS_AS_MEMORY, where, &g->memory, err);
	if (!rc)
		rc = parse_mode(json_object_get(v, "ecc"), "ecc", where, &g->ecc, err);
	return rc ? rc : parse_mode(json_object_get(v, "mig"), "mig", where, &g->mig, err);
}

static bool expects_nothing(const struct ls_gpuset *g)
{
	return !g->n && !g->count && !g->min_capability && !g->memory && !g->ecc && !g->mig;
}

static int parse_object(struct ls_gpuset *g, const json_t *v, const char *where, struct ls_err *err)
{
	static const char *const keys[] = {"one_of", "all_of", "count", "min_capability",
					   "memory", "ecc",    "mig",   "level",
					   "why",    NULL};
	const json_t *one_of = json_object_get(v, "one_of"), *all_of = json_object_get(v, "all_of"),
		     *count = json_object_get(v, "count");
	int rc = ls_json_only(v, keys, where, err);
	if (!rc && one_of && all_of)
		rc = ls_err_set(err, LS_EINPUT, "%s: one_of and all_of exclude each other", where);
	if (!rc && (one_of || all_of))
		rc = add_kinds(g, one_of ? one_of : all_of, where, err);
	g->mixed = all_of != NULL;
	if (!rc && count)
		rc = parse_count(count, where, &g->count, err);
	if (!rc)
		rc = parse_each(g, v, where, err);
	if (!rc && expects_nothing(g))
		rc = ls_err_set(err, LS_EINPUT,
				"%s: expects nothing; give one_of, all_of, count, min_capability, "
				"memory, ecc or mig",
				where);
	return rc;
}

static void describe(struct ls_gpuset *g)
{
	struct ls_str s = {0};
	for (size_t i = 0; i < g->n; i++) {
		ls_str_addf(&s, "%s%s", !i ? "" : g->mixed ? " and " : " or ", g->kinds[i].name);
		if (g->kinds[i].count)
			ls_str_addf(&s, " x %s", ls_matcher_text(g->kinds[i].count));
	}
	if (g->count)
		ls_str_addf(&s, "%scount %s", s.len ? ", " : "", ls_matcher_text(g->count));
	if (g->min_capability)
		ls_str_addf(&s, "%scapability >=%s", s.len ? ", " : "", g->min_capability);
	if (g->memory)
		ls_str_addf(&s, "%smemory %s", s.len ? ", " : "", ls_matcher_text(g->memory));
	if (g->ecc)
		ls_str_addf(&s, "%sECC %s", s.len ? ", " : "", g->ecc);
	if (g->mig)
		ls_str_addf(&s, "%sMIG %s", s.len ? ", " : "", g->mig);
	g->text = ls_str_take(&s);
}

int ls_gpuset_from_json(const json_t *v, const char *where, struct ls_gpuset **ret,
			struct ls_err *err)
{
	struct ls_gpuset *g = ls_xalloc(sizeof *g);
	int rc = json_is_object(v) ? parse_object(g, v, where, err) : add_kinds(g, v, where, err);
	if (rc) {
		ls_gpuset_free(g);
		return rc;
	}
	describe(g);
	*ret = g;
	return 0;
}

void ls_gpuset_free(struct ls_gpuset *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->n; i++) {
		free(g->kinds[i].name);
		ls_matcher_free(g->kinds[i].count);
	}
	free(g->kinds);
	ls_matcher_free(g->count);
	ls_matcher_free(g->memory);
	free(g->min_capability);
	free(g->text);
	free(g);
}

/* --- testing --- */

static enum ls_match test_count(const struct ls_matcher *count, size_t n)
{
	char text[32];
	snprintf(text, sizeof text, "%zu", n);
	return count ? ls_matcher_test(count, text) : LS_MATCH_YES;
}

/* All GPUs are of one accepted kind and as many as that kind wants. */
static enum ls_match test_one_of(const struct ls_gpuset *g, const struct ls_gpu_seen *gpus,
				 size_t n)
{
	enum ls_match best = LS_MATCH_NO;
	for (size_t k = 0; k < g->n; k++) {
		enum ls_match one = test_count(g->kinds[k].count, n);
		for (size_t i = 0; i < n && one != LS_MATCH_NO; i++) {
			if (!gpus[i].name)
				one = LS_MATCH_UNKNOWN;
			else if (!ls_gpu_name_is(g->kinds[k].name, gpus[i].name))
				one = LS_MATCH_NO;
		}
		if (one != LS_MATCH_NO)
			best = one;
		if (one == LS_MATCH_YES)
			break;
	}
	return best;
}

/* Each kind is there in its number, and every GPU is of one of the kinds. */
static enum ls_match test_all_of(const struct ls_gpuset *g, const struct ls_gpu_seen *gpus,
				 size_t n)
{
	size_t *seen = ls_xalloc((g->n + 1) * sizeof *seen);
	enum ls_match all = LS_MATCH_YES;
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;
		while (gpus[i].name && k < g->n && !ls_gpu_name_is(g->kinds[k].name, gpus[i].name))
			k++;
		if (!gpus[i].name)
			all = all == LS_MATCH_NO ? all : LS_MATCH_UNKNOWN;
		else if (k == g->n)
			all = LS_MATCH_NO;
		else
			seen[k]++;
	}
	for (size_t k = 0; k < g->n && all == LS_MATCH_YES; k++)
		all = seen[k] ? test_count(g->kinds[k].count, seen[k]) : LS_MATCH_NO;
	free(seen);
	return all;
}

static enum ls_match test_kinds(const struct ls_gpuset *g, const struct ls_gpu_seen *gpus, size_t n)
{
	if (!g->n)
		return LS_MATCH_YES;
	return g->mixed ? test_all_of(g, gpus, n) : test_one_of(g, gpus, n);
}

/* "2 x Tesla T4 and 1 x NVIDIA L4", each name once. */
static void add_names(struct ls_str *s, const struct ls_gpu_seen *gpus, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = gpus[i].name ? gpus[i].name : "an unknown GPU";
		size_t count = 0, first = n;
		for (size_t k = n; k-- > 0;) {
			const char *other = gpus[k].name ? gpus[k].name : "an unknown GPU";
			if (strcmp(name, other) == 0) {
				count++;
				first = k;
			}
		}
		if (first == i)
			ls_str_addf(s, "%s%zu x %s", i ? " and " : "", count, name);
	}
}

static enum ls_match test_capability(const struct ls_gpuset *g, const struct ls_gpu_seen *gpu)
{
	int order;
	if (!g->min_capability)
		return LS_MATCH_YES;
	if (!gpu->capability || !ls_version_compare(gpu->capability, g->min_capability, &order))
		return LS_MATCH_UNKNOWN;
	return order >= 0 ? LS_MATCH_YES : LS_MATCH_NO;
}

static enum ls_match test_memory(const struct ls_gpuset *g, const struct ls_gpu_seen *gpu)
{
	char text[64];
	if (!g->memory)
		return LS_MATCH_YES;
	if (!(gpu->memory_mib > 0))
		return LS_MATCH_UNKNOWN;
	snprintf(text, sizeof text, "%.0f MiB", gpu->memory_mib);
	return ls_matcher_test(g->memory, text);
}

static enum ls_match worse(enum ls_match a, enum ls_match b)
{
	if (a == LS_MATCH_NO || b == LS_MATCH_NO)
		return LS_MATCH_NO;
	return a == LS_MATCH_UNKNOWN || b == LS_MATCH_UNKNOWN ? LS_MATCH_UNKNOWN : LS_MATCH_YES;
}

static enum ls_match test_mode(const char *wanted, const char *found)
{
	if (!wanted)
		return LS_MATCH_YES;
	if (!found)
		return LS_MATCH_UNKNOWN;
	return strcmp(wanted, found) == 0 ? LS_MATCH_YES : LS_MATCH_NO;
}

static enum ls_match test_modes(const struct ls_gpuset *g, const struct ls_gpu_seen *gpu, size_t i,
				struct ls_str *why)
{
	const char *name = gpu->name ? gpu->name : "unknown";
	enum ls_match ecc = test_mode(g->ecc, gpu->ecc), mig = test_mode(g->mig, gpu->mig);
	if (ecc != LS_MATCH_YES)
		ls_str_addf(why, "GPU %zu (%s) has ECC %s; ", i, name,
			    gpu->ecc ? gpu->ecc : "unknown");
	if (mig != LS_MATCH_YES)
		ls_str_addf(why, "GPU %zu (%s) has MIG %s; ", i, name,
			    gpu->mig ? gpu->mig : "unknown");
	return worse(ecc, mig);
}

static enum ls_match each_gpu(const struct ls_gpuset *g, const struct ls_gpu_seen *gpus, size_t n,
			      struct ls_str *why)
{
	enum ls_match all = LS_MATCH_YES;
	for (size_t i = 0; i < n; i++) {
		const char *name = gpus[i].name ? gpus[i].name : "unknown";
		enum ls_match capability = test_capability(g, &gpus[i]),
			      memory = test_memory(g, &gpus[i]);
		if (capability != LS_MATCH_YES)
			ls_str_addf(why, "GPU %zu (%s) has compute capability %s; ", i, name,
				    gpus[i].capability ? gpus[i].capability : "unknown");
		if (memory != LS_MATCH_YES)
			ls_str_addf(why, "GPU %zu (%s) has %.0f MiB; ", i, name,
				    gpus[i].memory_mib);
		all = worse(all, worse(capability, memory));
		all = worse(all, test_modes(g, &gpus[i], i, why));
	}
	return all;
}

enum ls_match ls_gpuset_test(const struct ls_gpuset *g, const struct ls_gpu_seen *gpus, size_t n,
			     char *why, size_t size)
{
	struct ls_str s = {0};
	enum ls_match all = LS_MATCH_UNKNOWN;
	if (n == 0) {
		ls_str_add(&s, "no GPU is seen; ");
	} else {
		enum ls_match kinds = test_kinds(g, gpus, n), count = test_count(g->count, n);
		if (kinds != LS_MATCH_YES) {
			add_names(&s, gpus, n);
			ls_str_add(&s, n == 1 ? " is not among the accepted GPUs; "
					      : " are not among the accepted GPUs; ");
		}
		if (count != LS_MATCH_YES)
			ls_str_addf(&s, "%zu GPU%s seen; ", n, n == 1 ? " is" : "s are");
		all = worse(worse(kinds, count), each_gpu(g, gpus, n, &s));
	}
	if (why && size)
		snprintf(why, size, "%.*s", s.len ? (int)s.len - 2 : 0, s.s ? s.s : "");
	ls_str_done(&s);
	return all;
}

const char *ls_gpuset_text(const struct ls_gpuset *g)
{
	return g->text;
}

const char *ls_gpuset_name(const struct ls_gpuset *g, size_t i)
{
	return i < g->n ? g->kinds[i].name : NULL;
}

const char *ls_gpuset_min_capability(const struct ls_gpuset *g)
{
	return g->min_capability;
}

const char *ls_gpuset_ecc(const struct ls_gpuset *g)
{
	return g->ecc;
}

const char *ls_gpuset_mig(const struct ls_gpuset *g)
{
	return g->mig;
}

size_t ls_gpuset_count(const struct ls_gpuset *g)
{
	const char *text =
		g->n == 1 && g->kinds[0].count ? ls_matcher_exact(g->kinds[0].count) : NULL;
	return text ? (size_t)strtoul(text, NULL, 10) : 0;
}

double ls_gpuset_memory_mib(const struct ls_gpuset *g)
{
	return g->memory ? ls_matcher_mib(g->memory) : 0;
}
