/* Data to .lsd. Text goes through block by block, so that it may be larger than memory;
 * other forms are mapped anyway. */

#include "base/cpus.h"
#include "fm/data/data.h"
#include "fm/data/lsd.h"
#include "fm/data/source.h"
#include "fm/data/text.h"
#include "num/num.h"

struct stream {
	struct ls_lsd_writer *w;
	bool any_rows, labels, fields;
};

static int add_block(void *ctx, struct ls_block *b, struct ls_err *err)
{
	struct stream *s = ctx;
	struct ls_rows part = {
		.n_rows = b->n_rows,
		.n_entries = b->n_entries,
		.n_features = b->n_entries ? (uint64_t)b->max_feature + 1 : 0,
		.n_fields = b->n_entries && b->field ? (uint32_t)b->max_field + 1 : 0,
		.start = b->start,
		.feature = b->feature,
		.field = b->field,
		.value = b->value,
		.label = b->unlabelled ? NULL : b->label,
		.weight = b->weight,
	};
	if (b->n_rows == 0)
		return 0;
	s->any_rows = true;
	s->labels = part.label != NULL;
	s->fields |= part.n_fields > 0;
	return ls_lsd_add(s->w, &part, err);
}

static int stream_text(struct ls_source *source, const struct ls_data_opts *o,
		       struct ls_lsd_writer *w, struct ls_err *err)
{
	struct stream s = {.w = w};
	int threads = o->threads > 0 ? o->threads : ls_cpus();
	int rc = ls_text_read(source, ls_text_format_named(o->format), threads, add_block, &s, err);
	if (rc == LS_ENOMEM && threads > 1)
		ls_err_advise(err, "fewer --threads need less");
	const char *name = ls_source_name(source);
	if (rc == 0 && !s.any_rows)
		rc = ls_err_set(err, LS_EINPUT, "%s: no rows", name);
	return rc ? rc : ls_data_check_needs(name, s.labels, s.fields, o, err);
}

static int copy_rows_take(struct ls_source *source, const struct ls_data_opts *o,
			  struct ls_lsd_writer *w, struct ls_err *err)
{
	struct ls_data *d;
	int rc = ls_data_load_take(source, o, &d, err);
	if (rc)
		return rc;
	rc = ls_lsd_add(w, ls_data_rows(d), err);
	if (rc == 0)
		rc = ls_data_unchanged(d, err);
	ls_data_free(d);
	return rc;
}

int ls_data_convert(const char *path, const struct ls_data_opts *o, const char *to,
		    struct ls_err *err)
{
	static const struct ls_data_opts usual = {0};
	struct ls_source *source;
	struct ls_lsd_writer *w = NULL;
	o = o ? o : &usual;
	int rc = ls_source_open(path, o->slice_bytes, &source, err);
	if (rc)
		return rc;
	if (!(rc = ls_data_check_format(source, o, err)))
		rc = ls_lsd_create(to, &w, err);
	/* Labels and weights from elsewhere want the number of rows first, and labels in words
	 * all of them: then text is loaded too. */
	bool whole = o->columns || o->labels_path || o->weights_path ||
		     ls_source_content(source) != LS_CONTENT_TEXT;
	if (rc == 0 && whole) {
		rc = copy_rows_take(source, o, w, err);
		source = NULL;
	} else if (rc == 0) {
		uint64_t saved = ls_fp_enter();
		rc = stream_text(source, o, w, err);
		ls_fp_leave(saved);
	}
	ls_source_free(source);
	if (rc == 0)
		return ls_lsd_commit(w, err);
	ls_lsd_abort(w);
	return rc;
}
