#include "fm/data/data.h"

#include <float.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cpus.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "fm/data/csr.h"
#include "fm/data/lsd.h"
#include "fm/data/source.h"
#include "fm/data/tabular.h"
#include "fm/data/text.h"
#include "num/num.h"

struct ls_data {
	struct ls_rows rows;
	int threads;
	struct ls_source *source; /* of .lsd: the rows lie in its mapping */
	uint64_t sum;             /* ls_lsd_sum, when they were looked at */
	/* the file was written to: stays true */
	bool changed;
	struct ls_origin origin;
	void *owned[16];
	size_t n_owned;
};

const struct ls_rows *ls_data_rows(const struct ls_data *d)
{
	return &d->rows;
}

void ls_data_digest(const struct ls_data *d, char ret_hex[65])
{
	ls_rows_digest(&d->rows, d->threads, ret_hex);
}

void ls_data_free(struct ls_data *d)
{
	if (!d)
		return;
	ls_source_free(d->source);
	for (size_t i = 0; i < d->n_owned; i++)
		free(d->owned[i]);
	free(d);
}

/* Not zeroed, so that pages are first touched, and placed, by the thread that fills
 * them. */
static void *own(struct ls_data *d, uint64_t count, size_t size)
{
	enum { HUGE_PAGE = 2 << 20 };
	size_t bytes = count > SIZE_MAX / size ? SIZE_MAX : count ? count * size : 1;
	void *p = NULL;
	/* rows are read in shuffled order: with small pages every row would cost a page
	 * walk */
	if (bytes < HUGE_PAGE)
		p = malloc(bytes);
	else if (bytes < SIZE_MAX && posix_memalign(&p, HUGE_PAGE, bytes) == 0)
		madvise(p, bytes, MADV_HUGEPAGE);
	if (p)
		d->owned[d->n_owned++] = p;
	return p;
}

/* --- blocks of text into one set of arrays --- */

struct gathering {
	struct ls_block *blocks;
	size_t n, cap;
	struct ls_rows total; /* counts only */
	size_t n_runs;
	bool labels, values, weights, fields;
	uint64_t *row_at, *entry_at; /* per block */
	struct ls_row_run *run, *run_end;
	uint64_t *start;
	uint32_t *feature;
	uint16_t *field;
	float *value, *label, *weight;
};

static int gather(void *ctx, struct ls_block *b, struct ls_err *err)
{
	struct gathering *g = ctx;
	(void)err;
	if (b->n_rows == 0)
		return 0;
	g->total.n_rows += b->n_rows;
	g->total.n_entries += b->n_entries;
	if (b->n_entries && b->max_feature >= g->total.n_features)
		g->total.n_features = (uint64_t)b->max_feature + 1;
	if (b->n_entries && b->field && b->max_field >= g->total.n_fields)
		g->total.n_fields = (uint32_t)b->max_field + 1;
	g->n_runs += b->n_runs;
	g->labels = b->unlabelled == 0;
	g->values |= b->value != NULL;
	g->weights |= b->weight != NULL;
	g->fields |= b->field != NULL && b->n_entries;
	g->blocks = ls_grow(g->blocks, g->n, &g->cap, sizeof *g->blocks);
	g->blocks[g->n++] = *b;
	*b = (struct ls_block){0};
	return 0;
}

static void copy_floats(float *to, const float *from, uint64_t n)
{
	if (from)
		memcpy(to, from, n * sizeof *to);
	else
		for (uint64_t i = 0; i < n; i++)
			to[i] = 1;
}

static void copy_block(void *ctx, size_t i)
{
	struct gathering *g = ctx;
	struct ls_block *b = &g->blocks[i];
	uint64_t row = g->row_at[i], entry = g->entry_at[i];
	for (uint64_t r = 0; r < b->n_rows; r++)
		g->start[row + r] = entry + b->start[r];
	memcpy(g->feature + entry, b->feature, b->n_entries * sizeof *b->feature);
	if (g->fields && b->n_entries)
		memcpy(g->field + entry, b->field, b->n_entries * sizeof *b->field);
	if (g->values)
		copy_floats(g->value + entry, b->value, b->n_entries);
	if (g->labels)
		memcpy(g->label + row, b->label, b->n_rows * sizeof *b->label);
	if (g->weights)
		copy_floats(g->weight + row, b->weight, b->n_rows);
	ls_block_done(b);
}

static bool allocate(struct ls_data *d, struct gathering *g)
{
	uint64_t rows = g->total.n_rows, entries = g->total.n_entries;
	g->start = own(d, rows + 1, sizeof *g->start);
	g->feature = own(d, entries, sizeof *g->feature);
	g->field = g->fields ? own(d, entries, sizeof *g->field) : NULL;
	g->value = g->values ? own(d, entries, sizeof *g->value) : NULL;
	g->label = g->labels ? own(d, rows, sizeof *g->label) : NULL;
	g->weight = g->weights ? own(d, rows, sizeof *g->weight) : NULL;
	g->run = g->run_end = own(d, g->n_runs, sizeof *g->run);
	return g->start && g->feature && g->run && (g->field || !g->fields) &&
	       (g->value || !g->values) && (g->label || !g->labels) && (g->weight || !g->weights);
}

static int join(struct ls_data *d, struct gathering *g, const char *name, struct ls_err *err)
{
	if (!allocate(d, g))
		return ls_err_set(err, LS_ENOMEM,
				  "%s: no memory for its %llu entries; `lockstep fm convert` makes "
				  "a file that is "
				  "used without loading it",
				  name, (unsigned long long)g->total.n_entries);
	g->row_at = ls_xalloc((g->n + 1) * sizeof *g->row_at);
	g->entry_at = ls_xalloc((g->n + 1) * sizeof *g->entry_at);
	for (size_t i = 0; i < g->n; i++) {
		g->row_at[i + 1] = g->row_at[i] + g->blocks[i].n_rows;
		g->entry_at[i + 1] = g->entry_at[i] + g->blocks[i].n_entries;
		memcpy(g->run_end, g->blocks[i].run, g->blocks[i].n_runs * sizeof *g->run);
		g->run_end += g->blocks[i].n_runs;
	}
	ls_parallel(d->threads, g->n, copy_block, g);
	g->start[g->total.n_rows] = g->total.n_entries;
	d->rows = g->total;
	d->rows.start = g->start;
	d->rows.feature = g->feature;
	d->rows.field = g->field;
	d->rows.value = g->value;
	d->rows.label = g->label;
	d->rows.weight = g->weight;
	d->origin.run = g->run;
	d->origin.n_runs = g->n_runs;
	free(g->row_at);
	free(g->entry_at);
	return 0;
}

static int load_text(struct ls_data *d, struct ls_source *s, const struct ls_data_opts *o,
		     struct ls_err *err)
{
	struct gathering g = {0};
	int rc = ls_text_read(s, ls_text_format_named(o->format), d->threads, gather, &g, err);
	if (rc == LS_ENOMEM)
		ls_err_advise(err,
			      "`lockstep fm convert` makes a file that is used without loading it");
	if (rc == 0)
		rc = join(d, &g, ls_source_name(s), err);
	for (size_t i = 0; i < g.n; i++)
		ls_block_done(&g.blocks[i]);
	free(g.blocks);
	return rc;
}

/* --- tables --- */

/* .lsd may be what a table became; whoever learns from a table has one. */
static bool is_table(const struct ls_source *s, const struct ls_data_opts *o)
{
	return o->columns->learn || ls_source_content(s) == LS_CONTENT_TEXT;
}

static int load_table(struct ls_data *d, struct ls_source *s, const struct ls_data_opts *o,
		      struct ls_err *err)
{
	struct ls_tabular t;
	int rc = ls_tabular_read(s, o->columns, o->need_labels || o->columns->learn, &t, err);
	if (rc)
		return rc;
	void *arrays[] = {t.start, t.feature, t.field, t.value, t.label, t.weight};
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
		d->owned[d->n_owned++] = arrays[i];
	d->rows = (struct ls_rows){.n_rows = t.n_rows,
				   .n_entries = t.n_entries,
				   .n_features = t.n_entries ? (uint64_t)t.max_feature + 1 : 0,
				   .n_fields = t.n_entries ? (uint32_t)t.max_field + 1 : 0,
				   .start = t.start,
				   .feature = t.feature,
				   .field = t.field,
				   .value = t.value,
				   .label = t.label,
				   .weight = t.weight};
	return 0;
}

/* --- .npz, and vectors beside the data --- */

static int load_npz(struct ls_data *d, const char *path, struct ls_err *err)
{
	struct ls_csr c;
	int rc = ls_csr_load(path, &c, err);
	if (rc)
		return rc;
	d->owned[d->n_owned++] = c.start;
	d->owned[d->n_owned++] = c.feature;
	d->owned[d->n_owned++] = c.value;
	d->rows = (struct ls_rows){.n_rows = c.n_rows,
				   .n_entries = c.n_entries,
				   .n_features = c.n_features,
				   .start = c.start,
				   .feature = c.feature,
				   .value = c.value};
	return 0;
}

int ls_data_vectors(const char *name, uint64_t n_rows, bool labels, bool weights,
		    const struct ls_data_opts *o, float **ret_label, float **ret_weight,
		    struct ls_err *err)
{
	float *label = NULL, *weight = NULL;
	int rc = 0;
	if ((o->labels_path && labels) || (o->weights_path && weights))
		return ls_err_set(err, LS_EINPUT,
				  "%s: the data have %s of their own beside those in %s", name,
				  o->labels_path && labels ? "labels" : "weights",
				  o->labels_path && labels ? o->labels_path : o->weights_path);
	if (o->labels_path)
		rc = ls_csr_vector(o->labels_path, n_rows, "label", -FLT_MAX, &label, err);
	if (rc == 0 && o->weights_path)
		rc = ls_csr_vector(o->weights_path, n_rows, "weight", 0, &weight, err);
	if (rc) {
		free(label);
		return rc;
	}
	*ret_label = label;
	*ret_weight = weight;
	return 0;
}

/* Of the files of labels and weights. */
static void own_names(struct ls_data *d, const struct ls_data_opts *o)
{
	if (o->labels_path)
		d->origin.labels = d->owned[d->n_owned++] = ls_xstrdup(o->labels_path);
	if (o->weights_path)
		d->origin.weights = d->owned[d->n_owned++] = ls_xstrdup(o->weights_path);
}

static int load_vectors(struct ls_data *d, const char *name, const struct ls_data_opts *o,
			struct ls_err *err)
{
	float *label = NULL, *weight = NULL;
	int rc = ls_data_vectors(name, d->rows.n_rows, d->rows.label, d->rows.weight, o, &label,
				 &weight, err);
	if (rc)
		return rc;
	d->owned[d->n_owned++] = label;
	d->owned[d->n_owned++] = weight;
	d->rows.label = label ? label : d->rows.label;
	d->rows.weight = weight ? weight : d->rows.weight;
	own_names(d, o);
	return 0;
}

/* --- what the file is, and what the caller needs --- */

int ls_data_check_format(const struct ls_source *s, const struct ls_data_opts *o,
			 struct ls_err *err)
{
	enum ls_content content = ls_source_content(s);
	const char *name = ls_source_name(s);
	const char *advice = ls_content_advice(content);
	if (advice)
		return ls_err_set(err, LS_EINPUT, "%s: holds %s, not rows: %s", name,
				  ls_content_name(content), advice);
	if (content == LS_CONTENT_NPY || content == LS_CONTENT_SAFETENSORS)
		return ls_err_set(err, LS_EINPUT, "%s: holds %s, not rows: text, .npz or .lsd",
				  name, ls_content_name(content));
	if (content != LS_CONTENT_TEXT && !ls_source_map(s))
		return ls_err_set(err, LS_EINPUT, "%s: %s data must be a regular file", name,
				  ls_content_name(content));
	if (!o->format)
		return 0;
	bool text = strcmp(o->format, "svm") == 0 || strcmp(o->format, "ffm") == 0;
	if (!text && strcmp(o->format, "npz") != 0 && strcmp(o->format, "lsd") != 0)
		return ls_err_set(err, LS_EINPUT, "format \"%s\" is none of svm, ffm, npz, lsd",
				  o->format);
	if (strcmp(ls_content_name(content), text ? "text" : o->format) != 0)
		return ls_err_set(err, LS_EINPUT, "%s: holds %s, not %s", name,
				  ls_content_name(content), o->format);
	return 0;
}

int ls_data_check_needs(const char *name, bool labels, bool fields, const struct ls_data_opts *o,
			struct ls_err *err)
{
	if (o->need_labels && !labels)
		return ls_err_set(err, LS_EINPUT,
				  "%s: rows have no label; --labels FILE would give them, for "
				  "those of --valid --valid-labels",
				  name);
	if (o->want_fields && !fields)
		return ls_err_set(err, LS_EINPUT,
				  "%s: entries have no field; libffm text (field:index:value) has",
				  name);
	return 0;
}

/* --- .lsd --- */

static int view_lsd(struct ls_data *d, struct ls_err *err)
{
	const struct ls_map *map = ls_source_map(d->source);
	int rc = ls_lsd_view(d->origin.name, map, d->threads, &d->rows, err);
	d->sum = rc ? 0 : ls_lsd_sum(map);
	return rc;
}

int ls_data_unchanged(struct ls_data *d, struct ls_err *err)
{
	struct ls_rows now;
	if (d->source && !d->changed && !ls_source_unchanged(d->source)) {
		const struct ls_map *map = ls_source_map(d->source);
		ls_source_accept(
			/* first: what is written from here on is seen the next time */
			d->source);
		d->changed = ls_lsd_view(d->origin.name, map, d->threads, &now, NULL) != 0 ||
			     ls_lsd_sum(map) != d->sum;
	}
	if (!d->changed)
		return 0;
	return ls_err_set(err, LS_EINPUT,
			  "%s: was written to while it was in use, and what came of it is not "
			  "kept: start again, and "
			  "replace such a file by renaming another over it",
			  d->origin.name);
}

/* Rows without entries have no field that could be missing. */
static void mind_empty_rows(struct ls_rows *rows)
{
	static const uint16_t none[1];
	if (rows->n_entries == 0)
		rows->field = none;
}

void ls_data_of_rows_take(const char *name, const struct ls_rows *rows, void *const *blocks,
			  size_t n, int threads, struct ls_data **ret)
{
	struct ls_data *d = ls_xalloc(sizeof *d);
	char *copy = d->owned[d->n_owned++] = ls_xstrdup(name);
	for (size_t i = 0; i < n; i++)
		d->owned[d->n_owned++] = blocks[i];
	d->threads = threads > 0 ? threads : ls_cpus();
	d->rows = *rows;
	d->origin.name = copy;
	d->rows.origin = &d->origin;
	mind_empty_rows(&d->rows);
	*ret = d;
}

static int load_take(struct ls_source *s, const struct ls_data_opts *o, struct ls_data **ret,
		     struct ls_err *err)
{
	static const struct ls_data_opts usual = {0};
	o = o ? o : &usual;
	struct ls_data *d = ls_xalloc(sizeof *d);
	d->source = s;
	d->threads = o->threads > 0 ? o->threads : ls_cpus();
	char *name = ls_xstrdup(ls_source_name(s));
	d->owned[d->n_owned++] = name;
	d->origin.name = name;
	int rc = ls_data_check_format(s, o, err);
	if (rc == 0 && o->columns && is_table(s, o))
		rc = load_table(d, s, o, err);
	else if (rc == 0 && ls_source_content(s) == LS_CONTENT_LSD)
		rc = view_lsd(d, err);
	else if (rc == 0 && ls_source_content(s) == LS_CONTENT_ZIP)
		rc = load_npz(d, name, err);
	else if (rc == 0)
		rc = load_text(d, s, o, err);
	if (rc == 0 && d->rows.n_rows == 0)
		rc = ls_err_set(err, LS_EINPUT, "%s: no rows", name);
	if (rc == 0)
		rc = load_vectors(d, name, o, err);
	mind_empty_rows(&d->rows);
	if (rc == 0)
		rc = ls_data_check_needs(name, d->rows.label, d->rows.field, o, err);
	if (rc) {
		ls_data_free(d);
		return rc;
	}
	if (ls_source_content(s) == LS_CONTENT_LSD) {
		ls_source_read_anywhere(s);
	} else {
		ls_source_free(s);
		d->source = NULL;
	}
	d->rows.origin = &d->origin;
	*ret = d;
	return 0;
}

int ls_data_load_take(struct ls_source *s, const struct ls_data_opts *o, struct ls_data **ret,
		      struct ls_err *err)
{
	uint64_t saved = ls_fp_enter(); /* threads begin in their maker's mode */
	int rc = load_take(s, o, ret, err);
	ls_fp_leave(saved);
	return rc;
}

int ls_data_load(const char *path, const struct ls_data_opts *o, struct ls_data **ret,
		 struct ls_err *err)
{
	struct ls_source *s;
	int rc = ls_source_open(path, o ? o->slice_bytes : 0, &s, err);
	return rc ? rc : ls_data_load_take(s, o, ret, err);
}

int ls_data_load_memory(const char *name, const void *bytes, size_t len,
			const struct ls_data_opts *o, struct ls_data **ret, struct ls_err *err)
{
	struct ls_source *s;
	ls_source_open_memory(name, bytes, len, o ? o->slice_bytes : 0, &s);
	return ls_data_load_take(s, o, ret, err);
}
