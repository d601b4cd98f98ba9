#include "env/facts/gpu_catalog.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/data_table.h"
#include "env/facts/version.h"

struct ls_gpu_catalog {
	json_t *gpus, *batches; /* the files; texts are borrowed from them */
	struct ls_gpu_model *models;
	size_t n, cap;
	struct ls_batch_range *ranges; /* by rising memory */
	size_t n_ranges, cap_ranges;
};

/* --- names --- */

enum { WORD = 64 };

/* The next word of a GPU's name into word; false at the end. Blanks, dashes and
 * underscores separate. */
static bool next_word(const char **p, char word[WORD])
{
	static const char separators[] = " -_()";
	size_t skip = strspn(*p, separators), n = strcspn(*p + skip, separators);
	if (!n)
		return false;
	snprintf(word, WORD, "%.*s", (int)(n < WORD ? n : WORD - 1), *p + skip);
	*p += skip + n;
	return true;
}

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (strcasecmp(word, *list) == 0)
			return true;
	return false;
}

static bool next_model_word(const char **p, char word[WORD])
{
	static const char *const vendor[] = {"NVIDIA", "Tesla", "GeForce", "Quadro", NULL};
	while (next_word(p, word))
		if (!is_one_of(word, vendor))
			return true;
	return false;
}

/* Whether name begins with all words of wanted; then *ret_rest is what follows them. */
static bool begins_with(const char *name, const char *wanted, const char **ret_rest)
{
	char a[WORD], b[WORD];
	bool any = false;
	while (next_model_word(&wanted, a)) {
		if (!next_model_word(&name, b) || strcasecmp(a, b) != 0)
			return false;
		any = true;
	}
	*ret_rest = name;
	return any;
}

bool ls_gpu_name_is(const char *wanted, const char *name)
{
	static const char *const another_model[] = {"Ti", "SUPER", "Laptop", "Max", "Mobile", NULL};
	char next[WORD];
	const char *rest;
	return begins_with(name, wanted, &rest) &&
	       !(next_model_word(&rest, next) && is_one_of(next, another_model));
}

/* --- loading --- */

static const char *const precision_names[LS_PRECISIONS] = {"fp32", "tf32", "fp16",
							   "bf16", "fp8",  "fp4"};

const char *ls_precision_name(enum ls_precision p)
{
	for (unsigned i = 0; i < LS_PRECISIONS; i++)
		if ((unsigned)p == 1u << i)
			return precision_names[i];
	return NULL;
}

enum ls_precision ls_precision_of(const char *name)
{
	for (unsigned i = 0; i < LS_PRECISIONS; i++)
		if (strcmp(name, precision_names[i]) == 0)
			return (enum ls_precision)(1u << i);
	return (enum ls_precision)0;
}

static const char *text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static unsigned number(const json_t *object, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(object, key));
	return v > 0 && v < 100000000 ? (unsigned)v : 0;
}

/* The precisions whose first compute capability is at most this one. */
static unsigned precisions_of(const json_t *root, const char *capability)
{
	unsigned set = 0;
	int order;
	size_t i;
	json_t *row;
	json_array_foreach(json_object_get(root, "precisions"), i, row)
	{
		const char *name = text(row, "precision"), *since = text(row, "capability");
		if (name && since && ls_version_compare(since, capability, &order) && order <= 0)
			set |= (unsigned)ls_precision_of(name);
	}
	return set;
}

static int add_models(struct ls_gpu_catalog *c, const json_t *row, struct ls_err *err)
{
	const char *family = text(row, "gpu"), *capability = text(row, "capability");
	const json_t *sizes = json_object_get(row, "memory");
	if (!family || !capability || !text(row, "link") || !json_array_size(sizes))
		return ls_err_set(err, LS_EINTERNAL, "data/gpus.json: row %zu is incomplete", c->n);
	for (size_t i = 0; i < json_array_size(sizes); i++) {
		const json_t *size = json_array_get(sizes, i);
		unsigned gb = number(size, "gb");
		c->models = ls_grow(c->models, c->n, &c->cap, sizeof *c->models);
		c->models[c->n++] = (struct ls_gpu_model){
			.name = json_array_size(sizes) > 1 ? ls_xasprintf("%s-%uGB", family, gb)
							   : ls_xstrdup(family),
			.family = family,
			.capability = capability,
			.memory_gb = gb,
			.reported_mib = number(size, "mib"),
			.precisions = precisions_of(c->gpus, capability),
			.link = text(row, "link"),
			.row = row,
		};
	}
	return 0;
}

static void add_range(struct ls_gpu_catalog *c, const json_t *row)
{
	c->ranges = ls_grow(c->ranges, c->n_ranges, &c->cap_ranges, sizeof *c->ranges);
	c->ranges[c->n_ranges++] =
		(struct ls_batch_range){number(row, "vram_gb"), number(row, "batch_min"),
					number(row, "batch_max"), text(row, "note")};
}

int ls_gpu_catalog_load(struct ls_gpu_catalog **ret, struct ls_err *err)
{
	struct ls_gpu_catalog *c = ls_xalloc(sizeof *c);
	size_t i;
	json_t *row;
	int rc = ls_data_table("data/gpus.json", &c->gpus, err);
	if (!rc)
		rc = ls_data_table("data/batch-by-vram.json", &c->batches, err);
	json_array_foreach(json_object_get(c->gpus, "rows"), i, row) if (!rc) rc =
		add_models(c, row, err);
	json_array_foreach(json_object_get(c->batches, "rows"), i, row) add_range(c, row);
	if (rc)
		ls_gpu_catalog_free(c);
	else
		*ret = c;
	return rc;
}

void ls_gpu_catalog_free(struct ls_gpu_catalog *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++)
		free(c->models[i].name);
	free(c->models);
	free(c->ranges);
	json_decref(c->gpus);
	json_decref(c->batches);
	free(c);
}

/* --- questions --- */

size_t ls_gpu_catalog_count(const struct ls_gpu_catalog *c)
{
	return c->n;
}

const struct ls_gpu_model *ls_gpu_catalog_model(const struct ls_gpu_catalog *c, size_t i)
{
	return &c->models[i];
}

const struct ls_batch_range *ls_gpu_catalog_batch(const struct ls_gpu_catalog *c, double vram_gb)
{
	const struct ls_batch_range *found = NULL;
	for (size_t i = 0; i < c->n_ranges; i++)
		if (c->ranges[i].vram_gb <= vram_gb)
			found = &c->ranges[i];
	return found;
}

double ls_gpu_model_bytes(const struct ls_gpu_model *m)
{
	const double mib = 1048576;
	return m->reported_mib ? m->reported_mib * mib : m->memory_gb * 1024 * mib * 15 / 16;
}

/* Whether what follows the family's name says nothing else than this model: its memory,
 * and the form of the card. "NVL" or "Laptop" is another product. */
static bool tail_agrees(const struct ls_gpu_model *m, const char *rest)
{
	static const char *const forms[] = {"PCIe", "SXM",  "SXM2", "SXM3",  "SXM4", "SXM5",
					    "SXM6", "HBM2", "HBM3", "HBM3e", NULL};
	char word[WORD];
	while (next_model_word(&rest, word)) {
		char *end;
		unsigned long gb = strtoul(word, &end, 10);
		bool memory = isdigit((unsigned char)word[0]) && strcasecmp(end, "GB") == 0;
		if (memory ? gb != m->memory_gb : !is_one_of(word, forms))
			return false;
	}
	return true;
}

static bool goes_by(const struct ls_gpu_model *m, const char *name)
{
	const json_t *aliases = json_object_get(m->row, "aliases");
	const char *rest;
	if (begins_with(name, m->family, &rest) && tail_agrees(m, rest))
		return true;
	for (size_t i = 0; i < json_array_size(aliases); i++)
		if (begins_with(name, json_string_value(json_array_get(aliases, i)), &rest) &&
		    tail_agrees(m, rest))
			return true;
	return false;
}

static int unknown_gpu(const struct ls_gpu_catalog *c, const char *name, struct ls_err *err)
{
	const char **names = ls_xalloc((c->n + 1) * sizeof *names);
	struct ls_str upper = {0};
	for (size_t i = 0; i < c->n; i++)
		names[i] = c->models[i].name;
	for (const char *p = name; *p && upper.len < WORD; p++)
		ls_str_add_bytes(&upper, &(char){(char)toupper((unsigned char)*p)}, 1);
	const char *near = ls_str_nearest(upper.s ? upper.s : "", names);
	free(names);
	ls_str_done(&upper);
	if (near)
		return ls_err_set(err, LS_EINPUT,
				  "GPU \"%.60s\" is not in the catalogue (did you mean \"%s\"?)",
				  name, near);
	return ls_err_set(err, LS_EINPUT, "GPU \"%.60s\" is not in the catalogue", name);
}

int ls_gpu_catalog_find(const struct ls_gpu_catalog *c, const char *name,
			const struct ls_gpu_model **ret, struct ls_err *err)
{
	const struct ls_gpu_model *found[2];
	size_t n = 0;
	for (size_t i = 0; i < c->n && n < 2; i++)
		if (goes_by(&c->models[i], name))
			found[n++] = &c->models[i];
	if (!n)
		return unknown_gpu(c, name, err);
	if (n > 1)
		return ls_err_set(err, LS_EINPUT,
				  "GPU \"%.60s\" exists with several sizes of memory: say %s or %s",
				  name, found[0]->name, found[1]->name);
	*ret = found[0];
	return 0;
}

/* Up to a tenth of the nameplate is not reported: ECC bits and what the driver keeps. An
 * unknown model has what it reports, rounded up to whole GiB. */
const struct ls_batch_range *ls_gpu_catalog_batch_of(const struct ls_gpu_catalog *c,
						     const char *name, unsigned mib)
{
	double gib = mib / 1024.0, whole = (double)(unsigned)gib;
	double gb = whole < gib ? whole + 1 : whole;
	for (size_t i = 0; name && i < c->n; i++) {
		const struct ls_gpu_model *m = &c->models[i];
		if (goes_by(m, name) && m->memory_gb >= gb && m->memory_gb * 0.9 <= gib)
			return ls_gpu_catalog_batch(c, m->memory_gb);
	}
	return mib ? ls_gpu_catalog_batch(c, gb) : NULL;
}
