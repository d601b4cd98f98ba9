/* Two bundles: tensors by name, values by name. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compare/compare_internal.h"

/* Of what has no elements; a million values may differ, and statistics are large. */
static const struct ls_stats nothing;

struct ls_cmp_item *ls_cmp_add(struct ls_cmp_file *f, enum ls_cmp_kind kind,
			       enum ls_cmp_status status, const char *name)
{
	f->items = ls_grow(f->items, f->n_items, &f->cap_items, sizeof *f->items);
	struct ls_cmp_item *item = &f->items[f->n_items++];
	*item = (struct ls_cmp_item){.kind = kind, .status = status, .name = ls_xstrdup(name)};
	item->stats = &nothing;
	f->differs = true;
	return item;
}

void ls_cmp_set_stats(struct ls_cmp_item *item, const struct ls_stats *stats)
{
	struct ls_stats *copy = ls_xalloc(sizeof *copy);
	*copy = *stats;
	item->stats = copy;
}

void ls_cmp_items_done(struct ls_cmp_file *f)
{
	for (size_t i = 0; i < f->n_items; i++) {
		struct ls_cmp_item *item = &f->items[i];
		free(item->name);
		free(item->a);
		free(item->b);
		free(item->first);
		if (item->stats != &nothing)
			free((void *)(uintptr_t)item->stats);
	}
	f->n_items = 0;
}

const struct ls_limits *ls_cmp_limits(const struct ls_cmp_options *opt, const char *name)
{
	return ls_tolerance_find(opt->tolerance, opt->n_tolerance, name);
}

bool ls_cmp_ignored(const struct ls_cmp_options *opt, const char *name)
{
	for (size_t i = 0; i < opt->n_ignore; i++)
		if (fnmatch(opt->ignore[i], name, 0) == 0)
			return true;
	return false;
}

static char *describe(const struct ls_tensor *t)
{
	char shape[512];
	ls_tensor_shape_text(t, shape, sizeof shape);
	if (ls_dtype_bits(t->dtype) == 0)
		return ls_xasprintf("%s%u %s", ls_dtype_name(t->dtype), t->elem_size, shape);
	return ls_xasprintf("%s %s", ls_dtype_name(t->dtype), shape);
}

/* The flat index as "[row, column]". */
static char *index_text(const struct ls_tensor *t, uint64_t flat)
{
	uint64_t index[LS_MAX_DIMS];
	struct ls_str s = {0};
	if (t->elem_size == 0)
		return ls_xasprintf("byte %" PRIu64, flat);
	for (int i = t->ndim - 1; i >= 0; i--) {
		index[i] = flat % t->shape[i];
		flat /= t->shape[i];
	}
	ls_str_add(&s, "[");
	for (int i = 0; i < t->ndim; i++)
		ls_str_addf(&s, "%s%" PRIu64, i ? ", " : "", index[i]);
	ls_str_add(&s, "]");
	return ls_str_take(&s);
}

static bool same_shape(const struct ls_tensor *a, const struct ls_tensor *b)
{
	if (a->ndim != b->ndim)
		return false;
	for (int i = 0; i < a->ndim; i++)
		if (a->shape[i] != b->shape[i])
			return false;
	return true;
}

static void add_one_sided(struct ls_cmp_file *f, const struct ls_tensor *t, bool in_a)
{
	struct ls_cmp_item *item =
		ls_cmp_add(f, LS_CMP_TENSOR, in_a ? LS_CMP_ONLY_A : LS_CMP_ONLY_B, t->name);
	*(in_a ? &item->a : &item->b) = describe(t);
	f->tensors++;
	f->tensors_differ++;
}

static void add_changed(struct ls_cmp_file *f, const struct ls_tensor *a, const struct ls_tensor *b)
{
	bool type = a->dtype != b->dtype || a->elem_size != b->elem_size;
	struct ls_cmp_item *item =
		ls_cmp_add(f, LS_CMP_TENSOR, type ? LS_CMP_TYPE : LS_CMP_SHAPE, a->name);
	item->a = describe(a);
	item->b = describe(b);
	f->tensors_differ++;
}

static void add_pair(struct ls_cmp_file *f, const struct ls_pair *p)
{
	f->bytes += p->a->nbytes * 2;
	if (p->stats.differing == 0)
		return;
	struct ls_cmp_item *item = ls_cmp_add(f, LS_CMP_TENSOR, LS_CMP_DIFFERS, p->a->name);
	item->dtype = p->a->dtype;
	ls_cmp_set_stats(item, &p->stats);
	item->a = describe(p->a);
	item->first = index_text(p->a, p->stats.first);
	item->within = p->limits && p->stats.beyond == 0;
	f->tensors_differ++;
}

/* A single-tensor .npy has no name to match: it is compared with whatever single tensor
 * the other side has. */
static const struct ls_tensor *partner(const struct ls_bundle *a, const struct ls_tensor *t,
				       const struct ls_bundle *b)
{
	if (a->n_tensors == 1 && b->n_tensors == 1 &&
	    (strcmp(a->format, "npy") == 0 || strcmp(b->format, "npy") == 0))
		return &b->tensors[0];
	return ls_bundle_find(b, t->name);
}

static size_t collect(const struct ls_bundle *a, const struct ls_bundle *b,
		      const struct ls_cmp_options *opt, struct ls_cmp_file *f,
		      struct ls_pair *pairs)
{
	size_t n = 0;
	for (size_t i = 0; i < a->n_tensors; i++) {
		const struct ls_tensor *x = &a->tensors[a->by_name[i]], *y = partner(a, x, b);
		if (ls_cmp_ignored(opt, x->name)) {
			f->ignored++;
			continue;
		}
		if (!y) {
			add_one_sided(f, x, true);
			continue;
		}
		f->tensors++;
		if (x->dtype != y->dtype || x->elem_size != y->elem_size || !same_shape(x, y))
			add_changed(f, x, y);
		else
			pairs[n++] = (struct ls_pair){
				.a = x, .b = y, .limits = ls_cmp_limits(opt, x->name)};
	}
	for (size_t i = 0; b->tensors && i < b->n_tensors; i++) {
		const struct ls_tensor *y = &b->tensors[b->by_name[i]];
		if (ls_cmp_ignored(opt, y->name))
			f->ignored++;
		else if (!partner(b, y, a))
			add_one_sided(f, y, false);
	}
	return n;
}

static int compare_tensors(const struct ls_bundle *a, const struct ls_bundle *b,
			   const struct ls_cmp_options *opt, struct ls_cmp_file *f,
			   struct ls_err *err)
{
	struct ls_pair *pairs = ls_alloc_array(a->n_tensors + 1, sizeof *pairs);
	if (!pairs)
		return ls_err_set(err, LS_ENOMEM, "no memory for %zu tensors", a->n_tensors);
	size_t n = collect(a, b, opt, f, pairs);
	int rc = ls_pairs_run(pairs, n, opt, f->name, err);
	for (size_t i = 0; i < n && rc == 0; i++)
		add_pair(f, &pairs[i]);
	free(pairs);
	return rc;
}

/* Bits, not values: +0 is not -0, and a NaN is the same as itself. */
static uint64_t bits_of(double x)
{
	uint64_t bits;
	memcpy(&bits, &x, sizeof bits);
	return bits;
}

bool ls_value_equal(const struct ls_value *a, const struct ls_value *b)
{
	if (a->kind != b->kind || (a->text == NULL) != (b->text == NULL))
		return false;
	if (a->kind == LS_VAL_REAL)
		return bits_of(a->real) == bits_of(b->real);
	if (a->text)
		return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
	return a->i == b->i;
}

char *ls_value_text(const struct ls_value *v)
{
	switch (v->kind) {
	case LS_VAL_NULL:
		return ls_xstrdup("null");
	case LS_VAL_BOOL:
		return ls_xstrdup(v->i ? "true" : "false");
	case LS_VAL_INT:
		return v->text ? ls_xstrdup(v->text) : ls_xasprintf("%" PRId64, v->i);
	case LS_VAL_REAL:
		return ls_xasprintf("%.17g", v->real);
	case LS_VAL_STRING:
		return ls_xasprintf("\"%.*s\"",
				    (int)(v->len < LS_TEXT_SHOWN ? v->len : LS_TEXT_SHOWN),
				    v->text);
	case LS_VAL_BYTES:
		return ls_xasprintf("%zu bytes", v->len);
	case LS_VAL_OTHER:
	case LS_VAL_UNREAD:
		break;
	}
	return ls_xasprintf("%.*s", (int)(v->len < LS_TEXT_SHOWN ? v->len : LS_TEXT_SHOWN),
			    v->text);
}

struct value_list {
	const struct ls_value *values;
	size_t *items; /* indices into values, sorted by name */
	size_t n;
};

static int by_value_name(const void *a, const void *b, void *values)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	const struct ls_value *v = values;
	int order = strcmp(v[x].name, v[y].name);
	return order ? order : (x > y) - (x < y); /* twins keep the order of the file */
}

static struct value_list sorted_values(const struct ls_bundle *b, bool meta,
				       const struct ls_cmp_options *opt, struct ls_cmp_file *f)
{
	struct value_list l = {b->values, ls_xalloc((b->n_values + 1) * sizeof *l.items), 0};
	for (size_t i = 0; i < b->n_values; i++) {
		if (b->values[i].meta && !meta)
			continue;
		if (ls_cmp_ignored(opt, b->values[i].name))
			f->ignored++;
		else
			l.items[l.n++] = i;
	}
	qsort_r(l.items, l.n, sizeof *l.items, by_value_name, b->values);
	return l;
}

/* Whether the text for people is the whole value. */
static bool is_plain(const struct ls_value *v)
{
	if (v->kind == LS_VAL_BYTES || v->kind == LS_VAL_OTHER || v->kind == LS_VAL_UNREAD)
		return false;
	return !v->text || (v->len < LS_TEXT_SHOWN && !memchr(v->text, 0, v->len));
}

/* Two numbers of one kind; whole numbers beyond 64 bits are text. */
static bool is_within(const struct ls_cmp_options *opt, const struct ls_value *a,
		      const struct ls_value *b)
{
	const struct ls_limits *limits = ls_cmp_limits(opt, a->name);
	if (a->kind == LS_VAL_REAL && b->kind == LS_VAL_REAL)
		return ls_within_reals(limits, a->real, b->real);
	return a->kind == LS_VAL_INT && b->kind == LS_VAL_INT && !a->text && !b->text &&
	       ls_within_integers(limits, a->i, b->i);
}

static void add_value(const struct ls_cmp_options *opt, struct ls_cmp_file *f,
		      const struct ls_value *a, const struct ls_value *b)
{
	f->values++;
	if (!a && !b)
		return; /* cannot be; the analyser does not know */
	if (a && b && a->kind == LS_VAL_UNREAD && b->kind == LS_VAL_UNREAD) {
		f->unread++;
		return;
	}
	if (a && b && ls_value_equal(a, b))
		return;
	struct ls_cmp_item *item = ls_cmp_add(f, LS_CMP_VALUE,
					      a && b ? LS_CMP_DIFFERS
					      : a    ? LS_CMP_ONLY_A
						     : LS_CMP_ONLY_B,
					      (a ? a : b)->name);
	item->a = a ? ls_value_text(a) : NULL;
	item->b = b ? ls_value_text(b) : NULL;
	item->plain = a && b && a->kind == b->kind && is_plain(a) && is_plain(b);
	item->within = a && b && is_within(opt, a, b);
	f->values_differ++;
}

static bool has_meta(const struct ls_bundle *b)
{
	for (size_t i = 0; i < b->n_values; i++)
		if (b->values[i].meta)
			return true;
	return false;
}

/* Metadata about the packaging counts where both sides have some, and between two
 * safetensors files always. */
static bool wants_meta(const struct ls_bundle *a, const struct ls_bundle *b)
{
	if (strcmp(a->format, "safetensors") == 0 && strcmp(b->format, "safetensors") == 0)
		return true;
	return strcmp(a->format, b->format) == 0 && has_meta(a) && has_meta(b);
}

/* --- traits: what names stand for --- */

static int by_trait_name(const void *a, const void *b)
{
	const struct ls_trait *x = a, *y = b;
	int order = strcmp(x->name, y->name);
	return order ? order : strcmp(x->text, y->text);
}

/* A container's name covers a pattern for what is in it: "a.*" ignores what "a" is,
 * too. */
static bool is_trait_ignored(const struct ls_cmp_options *opt, const char *name)
{
	char *inside = ls_xasprintf("%s.", name);
	bool ignored = *name && (ls_cmp_ignored(opt, name) || ls_cmp_ignored(opt, inside));
	free(inside);
	return ignored;
}

static bool is_below(const char *name, const char *container)
{
	size_t n = strlen(container);
	return strncmp(name, container, n) == 0 && (n == 0 || name[n] == 0 || name[n] == '.');
}

/* Whether the other side has this name, or something under it. Names that are missing
 * there are told as missing; only where they are not does a missing container matter. */
static bool has_name(const struct ls_bundle *b, const struct value_list *values, const char *name)
{
	size_t low = 0, high = values->n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (strcmp(values->values[values->items[mid]].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < values->n &&
	       strncmp(values->values[values->items[low]].name, name, strlen(name)) == 0;
	     low++)
		if (is_below(values->values[values->items[low]].name, name))
			return true;
	for (low = 0, high = b->n_tensors; low < high;) {
		size_t mid = low + (high - low) / 2;
		if (strcmp(b->tensors[b->by_name[mid]].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < b->n_tensors &&
	       strncmp(b->tensors[b->by_name[low]].name, name, strlen(name)) == 0;
	     low++)
		if (is_below(b->tensors[b->by_name[low]].name, name))
			return true;
	return false;
}

/* Whether a trait that b lacks is a difference. Shards have no outermost container. */
static bool matters(const struct ls_bundle *b, const struct value_list *values,
		    const struct ls_trait *t)
{
	return *t->name && has_name(b, values, t->name);
}

static void add_trait(struct ls_cmp_file *f, const struct ls_trait *a, const struct ls_trait *b)
{
	const char *name = (a ? a : b)->name;
	struct ls_cmp_item *item =
		ls_cmp_add(f, LS_CMP_VALUE, LS_CMP_DIFFERS, *name ? name : "(top)");
	item->a = ls_xstrdup(a ? a->text : "no container of this name");
	item->b = ls_xstrdup(b ? b->text : "no container of this name");
	f->values++;
	f->values_differ++;
}

/* Sorts the traits of a bundle; each shard of a model says again what the whole is. */
static size_t sort_traits(const struct ls_bundle *b)
{
	size_t kept = 0;
	if (b->n_traits)
		qsort(b->traits, b->n_traits, sizeof *b->traits, by_trait_name);
	for (size_t i = 0; i < b->n_traits; i++)
		if (kept == 0 || by_trait_name(&b->traits[kept - 1], &b->traits[i]) != 0)
			b->traits[kept++] = b->traits[i];
	return kept;
}

static void compare_traits(const struct ls_bundle *a, const struct value_list *values_a,
			   const struct ls_bundle *b, const struct value_list *values_b,
			   const struct ls_cmp_options *opt, struct ls_cmp_file *f)
{
	size_t n = sort_traits(a), m = sort_traits(b);
	for (size_t i = 0, j = 0; i < n || j < m;) {
		const struct ls_trait *x = i < n ? &a->traits[i] : NULL;
		const struct ls_trait *y = j < m ? &b->traits[j] : NULL;
		int order = !x ? 1 : !y ? -1 : strcmp(x->name, y->name);
		bool differs = order == 0  ? strcmp(x->text, y->text) != 0
			       : order < 0 ? matters(b, values_b, x)
					   : matters(a, values_a, y);
		if (differs && !is_trait_ignored(opt, (order <= 0 ? x : y)->name))
			add_trait(f, order <= 0 ? x : NULL, order >= 0 ? y : NULL);
		i += order <= 0;
		j += order >= 0;
	}
}

static void compare_values(const struct ls_bundle *a, const struct ls_bundle *b,
			   const struct ls_cmp_options *opt, struct ls_cmp_file *f)
{
	bool meta = wants_meta(a, b);
	struct value_list x = sorted_values(a, meta, opt, f), y = sorted_values(b, meta, opt, f);
	for (size_t i = 0, j = 0; i < x.n || j < y.n;) {
		const struct ls_value *v = i < x.n ? &x.values[x.items[i]] : NULL;
		const struct ls_value *w = j < y.n ? &y.values[y.items[j]] : NULL;
		int order = !v ? 1 : !w ? -1 : strcmp(v->name, w->name);
		add_value(opt, f, order <= 0 ? v : NULL, order >= 0 ? w : NULL);
		i += order <= 0;
		j += order >= 0;
	}
	if (strcmp(a->format, b->format) == 0)
		compare_traits(a, &x, b, &y, opt, f);
	free(x.items);
	free(y.items);
}

void ls_cmp_count(const struct ls_bundle *b, const struct ls_cmp_options *opt,
		  struct ls_cmp_file *f)
{
	for (size_t i = 0; i < b->n_tensors; i++) {
		bool ignored = ls_cmp_ignored(opt, b->tensors[i].name);
		f->tensors += !ignored;
		f->ignored += ignored;
		f->bytes += ignored ? 0 : b->tensors[i].nbytes * 2;
	}
	for (size_t i = 0; i < b->n_values; i++) {
		bool ignored = ls_cmp_ignored(opt, b->values[i].name);
		f->values += !ignored;
		f->ignored += ignored;
	}
}

int ls_cmp_bundles(const struct ls_bundle *a, const struct ls_bundle *b,
		   const struct ls_cmp_options *opt, struct ls_cmp_file *f, struct ls_err *err)
{
	int rc = compare_tensors(a, b, opt, f, err);
	if (rc == 0)
		compare_values(a, b, opt, f);
	return rc;
}
