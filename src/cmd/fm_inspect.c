/* lockstep fm inspect: the heaviest features and the strongest pairs of a model, or of
 * data by a model. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/table.h"
#include "cmd/fm_common.h"
#include "cmd/fm_files.h"
#include "fm/eval/inspect.h"
#include "fm/model/save.h"

struct inspection {
	struct ls_fm_model *m;
	struct ls_data *data;       /* NULL: the model alone */
	struct ls_columns *columns; /* names; or NULL */
	struct ls_fm_ranks ranks;
	bool fields; /* pairs have fields beside their features */
	uint64_t output;
};

/* What a pair's a, b and strength are. */
static const char *const *pair_heading(const struct inspection *in)
{
	static const char *const heading[][3] = {
		[LS_FM] = {"feature", "feature", "strength"},
		[LS_FFM] = {"feature", "field", "length"},
		[LS_FWFM] = {"field", "field", "weight"},
	};
	return heading[in->data ? LS_FM : in->m->opts.kind];
}

/* --- printing --- */

enum { CELL = 32 };

static void add_number(char (*cell)[CELL], double value)
{
	snprintf(*cell, CELL, "%.6g", value);
}

static void end_table(struct ls_table *t)
{
	struct ls_str out = {0};
	ls_table_text(t, &out);
	fputs(out.s, stdout);
	ls_str_done(&out);
	ls_table_done(t);
}

/* A feature or a field by its number and, where it is known, its name. Caller frees. */
static char *name_of(const struct inspection *in, const char *what, uint32_t number)
{
	const struct ls_columns *c = in->columns;
	bool feature = strcmp(what, "feature") == 0;
	const char *name = !c              ? NULL
			   : feature       ? ls_columns_feature(c, number)
			   : number < c->n ? c->column[number].name
					   : NULL;
	struct ls_str text = {0};
	ls_str_addf(&text, "%u%s", number, name ? " " : "");
	ls_str_add_printable(&text, name ? name : "");
	return ls_str_take(&text);
}

static void print_features(const struct inspection *in)
{
	const struct ls_fm_ranks *r = &in->ranks;
	struct ls_table t;
	ls_table_init(&t, 3, (const char *const[]){"feature", "linear", "factors' length"});
	for (uint32_t i = 0; i < r->n_features; i++) {
		char c[2][CELL], *name = name_of(in, "feature", r->feature[i].feature);
		add_number(&c[0], (double)r->feature[i].linear);
		add_number(&c[1], (double)r->feature[i].norm);
		ls_table_row(&t, (const char *const[]){name, c[0], c[1]});
		free(name);
	}
	end_table(&t);
}

static void print_pairs(const struct inspection *in)
{
	const struct ls_fm_ranks *r = &in->ranks;
	const char *const *heading = pair_heading(in);
	struct ls_table t;
	ls_table_init(&t, 3, heading);
	for (uint32_t i = 0; i < r->n_pairs; i++) {
		char c[CELL], *a = name_of(in, heading[0], r->pair[i].a),
			      *b = name_of(in, heading[1], r->pair[i].b);
		add_number(&c, (double)r->pair[i].strength);
		ls_table_row(&t, (const char *const[]){a, b, c});
		free(a);
		free(b);
	}
	end_table(&t);
}

static void print_pairs_in_fields(const struct inspection *in)
{
	const struct ls_fm_ranks *r = &in->ranks;
	struct ls_table t;
	ls_table_init(&t, 5,
		      (const char *const[]){"field", "feature", "field", "feature", "strength"});
	for (uint32_t i = 0; i < r->n_pairs; i++) {
		const struct ls_pair_rank *p = &r->pair[i];
		char c[CELL],
			*name[4] = {name_of(in, "field", p->field_a), name_of(in, "feature", p->a),
				    name_of(in, "field", p->field_b), name_of(in, "feature", p->b)};
		add_number(&c, (double)p->strength);
		ls_table_row(&t, (const char *const[]){name[0], name[1], name[2], name[3], c});
		for (size_t k = 0; k < 4; k++)
			free(name[k]);
	}
	end_table(&t);
}

static void print_ranks(const struct inspection *in)
{
	print_features(in);
	puts("");
	(in->fields ? print_pairs_in_fields : print_pairs)(in);
	if (!in->ranks.exact)
		puts("(among the features with the longest factors; pairs of others were not "
		     "looked at)");
}

/* JSON has no infinity: null. */
static json_t *number(float x)
{
	return isfinite(x) ? json_real((double)x) : json_null();
}

static void set_name(const struct inspection *in, json_t *o, const char *key, uint32_t feature)
{
	const char *name = in->columns ? ls_columns_feature(in->columns, feature) : NULL;
	if (name)
		json_object_set_new(o, key, ls_json_lossy(name));
}

static json_t *features_json(const struct inspection *in)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < in->ranks.n_features; i++) {
		const struct ls_feature_rank *f = &in->ranks.feature[i];
		json_t *o = json_pack("{s:I,s:o,s:o}", "feature", (json_int_t)f->feature, "linear",
				      number(f->linear), "norm", number(f->norm));
		set_name(in, o, "name", f->feature);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *pairs_json(const struct inspection *in)
{
	const char *const *is = pair_heading(in);
	json_t *list = json_array();
	for (uint32_t i = 0; i < in->ranks.n_pairs; i++) {
		const struct ls_pair_rank *p = &in->ranks.pair[i];
		json_t *o = json_pack("{s:I,s:I,s:o}", "a", (json_int_t)p->a, "b", (json_int_t)p->b,
				      "strength", number(p->strength));
		if (in->fields) {
			json_object_set_new(o, "field_a", json_integer(p->field_a));
			json_object_set_new(o, "field_b", json_integer(p->field_b));
		}
		if (strcmp(is[0], "feature") == 0)
			set_name(in, o, "name_a", p->a);
		if (strcmp(is[1], "feature") == 0)
			set_name(in, o, "name_b", p->b);
		json_array_append_new(list, o);
	}
	return list;
}

static void print_ranks_json(const struct inspection *in)
{
	const struct ls_fm_model *m = in->m;
	const char *const *is = pair_heading(in);
	json_t *o =
		json_pack("{s:s,s:s,s:I,s:I,s:I,s:s,s:o}", "kind", ls_fm_kind_of(&m->opts), "task",
			  ls_fm_task_name(m->opts.task), "factors", (json_int_t)m->opts.factors,
			  "features", (json_int_t)m->n_features, "fields", (json_int_t)m->n_fields,
			  "of", in->data ? "data" : "model", "top_features", features_json(in));
	json_object_set_new(o, "pair",
			    json_pack("{s:s,s:s,s:s}", "a", is[0], "b", is[1], "strength", is[2]));
	json_object_set_new(o, "top_pairs", pairs_json(in));
	json_object_set_new(o, "exact", json_boolean(in->ranks.exact));
	if (m->opts.task == LS_MULTICLASS)
		json_object_set_new(o, "class", json_integer((json_int_t)in->output));
	ls_cmd_print_json_take(o);
}

/* --- the command --- */

struct wish {
	uint64_t top, output, threads;
	const char *data; /* NULL: none */
};

static int read_wish(const struct ls_args *args, struct wish *ret, struct ls_err *err)
{
	*ret = (struct wish){.top = 10, .threads = ls_cpus() < 1024 ? (uint64_t)ls_cpus() : 1024};
	ret->data = args->n_pos > 1 ? args->pos[1] : NULL;
	int rc = ls_args_u64(args, "top", 1, 100000, &ret->top, err);
	if (rc == 0)
		rc = ls_args_u64(args, "class", 0, LS_FM_MAX_CLASSES, &ret->output, err);
	if (rc == 0)
		rc = ls_args_u64(args, "threads", 1, 1024, &ret->threads, err);
	if (rc == 0 && !ret->data && ls_args_has(args, "format"))
		return ls_err_set(err, LS_EINPUT,
				  "--format says what DATA is, and there is no DATA");
	return rc;
}

static int load_files(const struct ls_args *args, const struct wish *w, struct inspection *in,
		      struct ls_err *err)
{
	int threads = (int)w->threads, rc = ls_fm_load_model(args->pos[0], threads, &in->m, err);
	if (rc)
		return rc;
	if (w->output >= in->m->outputs)
		return ls_err_set(err, LS_EINPUT,
				  "--class: the model has %u output(s), counted from 0",
				  in->m->outputs);
	in->fields = w->data && in->m->n_fields;
	in->output = w->output;
	struct ls_data_opts o = {.threads = threads,
				 .format = ls_args_get(args, "format"),
				 .want_fields = in->fields};
	return ls_fm_load_data(args, w->data, &o, &in->columns, &in->data, err);
}

static int find_ranks(const struct wish *w, struct inspection *in, struct ls_err *err)
{
	uint32_t output = (uint32_t)w->output, top = (uint32_t)w->top;
	if (!in->data) {
		ls_fm_rank_model(in->m, output, top, &in->ranks);
		return 0;
	}
	int rc = ls_fm_rank_rows(in->m, output, top, ls_data_rows(in->data), (int)w->threads,
				 &in->ranks, err);
	int changed =
		/* a file that has changed explains other errors */
		ls_data_unchanged(in->data, err);
	return changed ? changed : rc;
}

static int run_inspect(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct wish w;
	struct inspection in = {0};
	struct ls_err err = {0};
	ls_fm_guard_maps();
	int rc = read_wish(args, &w, &err);
	if (rc == 0)
		rc = load_files(args, &w, &in, &err);
	if (rc == 0)
		rc = find_ranks(&w, &in, &err);
	if (rc == 0)
		(ls_args_has(args, "json") ? print_ranks_json : print_ranks)(&in);
	ls_fm_ranks_done(&in.ranks);
	ls_data_free(in.data);
	ls_columns_free(in.columns);
	ls_fm_model_free(in.m);
	return rc ? ls_cmd_fail(&err) : LS_EXIT_YES;
}

static const struct ls_opt inspect_opts[] = {
	{"top", 0, "N", "how many features and pairs (default 10)"},
	{"class", 0, "N", "the class to look at, for multiclass models (default 0)"},
	{"threads", 0, "N", "threads (default: all CPUs it may use); the result is the same"},
	{"columns", 0, "FILE", "names of features and fields; DATA in CSV becomes rows by it"},
	{"format", 0, "svm|ffm|npz|lsd",
	 "what DATA is, where its first bytes and tokens could mislead"},
	{0},
};

const struct ls_cmd ls_cmd_fm_inspect = {
	.name = "inspect",
	.summary = "the heaviest features and the strongest interactions",
	.synopsis = "MODEL [DATA] [OPTION …]",
	.details = "With DATA: of what is in its rows, pairs of features that are in a row "
		   "together; labels are not "
		   "needed. Without: of all that the model has learnt.",
	.opts = inspect_opts,
	.min_pos = 1,
	.max_pos = 2,
	.run = run_inspect,
};
