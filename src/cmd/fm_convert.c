/* lockstep fm convert: rows in any form, and tables, to the mapped binary form. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/fm_files.h"
#include "fm/data/columns.h"
#include "fm/data/data.h"
#include "fm/data/hash.h"

static const struct ls_opt opts[] = {
	{"output", 'o', "FILE.lsd", "where to write; required"},
	{"format", 0, "svm|ffm|npz|lsd",
	 "what DATA is, where its first bytes and tokens could mislead"},
	{"labels", 0, "FILE.npy", "a label a row, for data that have none"},
	{"weights", 0, "FILE.npy", "a weight a row, for data that have none"},
	{"label", 0, "COLUMN", "DATA is a table in CSV, and this its column of labels"},
	{"weight", 0, "COLUMN", "the table's column of weights"},
	{"categorical", 0, "A,B", "columns of which each value becomes a feature"},
	{"numeric", 0, "C,D", "columns that are a feature each, with their numbers as values"},
	{"hash-bits", 0, "N", "the table's features are numbered below 2^N (default 18)"},
	{"seed", 0, "N", "of the hash that numbers them (default 1337)"},
	{"delimiter", 0, "C", "between cells (default: found out from the first line)"},
	{"no-header", 0, NULL, "the table has no names of columns; they are called 1, 2, 3, ..."},
	{"columns", 0, "FILE", "a table that becomes rows as the one that this was written for"},
	{"threads", 0, "N",
	 "threads to parse with (default: all CPUs it may use); the file is the same"},
	{0},
};

/* Of a table: what its columns are, and the file that says so. */
struct table {
	struct ls_columns *columns; /* NULL: DATA is no table */
	char *path;                 /* of the description that is written; NULL: none is */
};

static void print_rows(const char *path, const struct ls_rows *r, const char *digest)
{
	ls_cmd_print_name(path);
	printf(": %" PRIu64 " rows, %" PRIu64 " entries, %" PRIu64 " features", r->n_rows,
	       r->n_entries, r->n_features);
	if (r->n_fields)
		printf(", %" PRIu32 " fields", r->n_fields);
	printf("%s%s%s\ndigest %s\n", r->value ? "" : ", every value 1",
	       r->label ? "" : ", no labels", r->weight ? ", weighted" : "", digest);
}

static void print_table(const struct table *t)
{
	const struct ls_columns *c = t->columns;
	enum { SHOWN = 10 };
	ls_cmd_print_name(t->path);
	printf(": %zu features have names", c->n_names);
	if (c->cut)
		printf(", the first of more");
	if (c->shared)
		printf("; %" PRIu64 " are shared by several (--hash-bits %u has fewer)", c->shared,
		       c->bits + 2 < LS_HASH_MOST_BITS ? c->bits + 2 : LS_HASH_MOST_BITS);
	for (size_t i = 0; i < c->n_classes && i < SHOWN; i++) {
		printf("%s%zu ", i ? ", " : "\nclasses: ", i);
		ls_cmd_print_name(c->class[i]);
	}
	puts(c->n_classes > SHOWN ? ", …" : "");
}

static void print_json(const char *path, const struct ls_rows *r, const char *digest,
		       const struct table *t)
{
	json_t *o = json_pack("{s:o,s:I,s:I,s:I,s:I,s:b,s:b,s:b,s:s}", "file", ls_json_lossy(path),
			      "rows", (json_int_t)r->n_rows, "entries", (json_int_t)r->n_entries,
			      "features", (json_int_t)r->n_features, "fields",
			      (json_int_t)r->n_fields, "values", r->value != NULL, "labels",
			      r->label != NULL, "weights", r->weight != NULL, "digest", digest);
	if (t->path)
		json_object_update_new(o, json_pack("{s:o,s:I,s:I,s:I}", "columns",
						    ls_json_lossy(t->path), "names",
						    (json_int_t)t->columns->n_names, "shared",
						    (json_int_t)t->columns->shared, "classes",
						    (json_int_t)t->columns->n_classes));
	ls_cmd_print_json_take(o);
}

/* What was written is read back, which checks every byte of it. */
static int report(const char *path, int threads, bool json, const struct table *t,
		  struct ls_err *err)
{
	struct ls_data_opts o = {.threads = threads};
	struct ls_data *d;
	char digest[65];
	int rc = ls_data_load(path, &o, &d, err);
	if (rc)
		return rc;
	ls_data_digest(d, digest);
	if (json)
		print_json(path, ls_data_rows(d), digest, t);
	else
		print_rows(path, ls_data_rows(d), digest);
	if (!json && t->path)
		print_table(t);
	ls_data_free(d);
	return 0;
}

/* --- tables --- */

static int read_delimiter(const char *text, char *ret, struct ls_err *err)
{
	if (text && (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0))
		text = "\t";
	if (text && (strlen(text) != 1 || strchr("\"\r\n", *text)))
		return ls_err_set(err, LS_EINPUT,
				  "option --delimiter: \"%.40s\" is not one byte, nor \"tab\"",
				  text);
	*ret = text ? *text : 0;
	return 0;
}

/* Of the options that say what is learnt from a table. */
static int new_table(const struct ls_args *args, struct table *t, struct ls_err *err)
{
	struct ls_columns *c = t->columns = ls_columns_new();
	const char *label = ls_args_get(args, "label"), *weight = ls_args_get(args, "weight"),
		   *categorical = ls_args_get(args, "categorical"),
		   *numeric = ls_args_get(args, "numeric");
	uint64_t bits = c->bits;
	if (!categorical && !numeric)
		return ls_err_set(err, LS_EINPUT,
				  "--label needs --categorical or --numeric, the columns that rows "
				  "are made of");
	c->learn = true;
	c->label = ls_xstrdup(label);
	c->weight = weight ? ls_xstrdup(weight) : NULL;
	c->no_header = ls_args_has(args, "no-header");
	int rc = ls_args_u64(args, "hash-bits", 1, LS_HASH_MOST_BITS, &bits, err);
	c->bits = (unsigned)bits;
	if (rc == 0)
		rc = ls_args_u64(args, "seed", 0, INT64_MAX, &c->seed, err);
	if (rc == 0)
		rc = read_delimiter(ls_args_get(args, "delimiter"), &c->delimiter, err);
	if (rc == 0 && categorical)
		rc = ls_columns_add(c, categorical, false, err);
	if (rc == 0 && numeric)
		rc = ls_columns_add(c, numeric, true, err);
	t->path = ls_xasprintf("%s.columns.json", ls_args_get(args, "output"));
	return rc;
}

/* An option for tables beside rows, or the other way round, would do nothing. */
static int check_table_options(const struct ls_args *args, struct ls_err *err)
{
	static const char *const learn[] = {"weight", "categorical", "numeric",  "hash-bits",
					    "seed",   "delimiter",   "no-header"},
				 *const rows[] = {"format", "labels", "weights"};
	const char *label = ls_args_get(args, "label"), *columns = ls_args_get(args, "columns");
	if (label && columns)
		return ls_err_set(err, LS_EINPUT,
				  "--label does not go with --columns, which says it");
	for (size_t i = 0; i < sizeof learn / sizeof *learn && !label; i++)
		if (ls_args_has(args, learn[i]))
			return ls_err_set(err, LS_EINPUT,
					  columns ? "--%s does not go with --columns, which says it"
						  : "--%s is for a table and needs --label COLUMN",
					  learn[i]);
	for (size_t i = 0; i < sizeof rows / sizeof *rows && (label || columns); i++)
		if (ls_args_has(args, rows[i]))
			return ls_err_set(err, LS_EINPUT,
					  "--%s is for rows; of a table --label and --weight name "
					  "columns",
					  rows[i]);
	return 0;
}

static int table_options(const struct ls_args *args, struct table *t, struct ls_err *err)
{
	const char *columns = ls_args_get(args, "columns");
	int rc = check_table_options(args, err);
	if (rc == 0 && columns)
		rc = ls_columns_load(columns, &t->columns, err);
	else if (rc == 0 && ls_args_has(args, "label"))
		rc = new_table(args, t, err);
	return rc;
}

/* --- the whole --- */

static int check_files(const struct ls_args *args, const struct table *t, struct ls_err *err)
{
	struct stat st;
	const char *to = ls_args_get(args, "output");
	struct ls_fm_files files = {
		.inputs = {{"DATA", args->pos[0], false},
			   {"--labels", ls_args_get(args, "labels"), false},
			   {"--weights", ls_args_get(args, "weights"), false},
			   {"--columns", ls_args_get(args, "columns"), false}},
		.outputs = {{"-o", to, false}, {"the description of the columns", t->path, false}}};
	int rc = ls_fm_files_check(&files, err);
	if (rc == 0 && stat(to, &st) == 0 && !S_ISREG(st.st_mode)) /* read again, for the summary */
		rc = ls_err_set(err, LS_EINPUT, "-o %s: cannot be written: it is no regular file",
				to);
	return rc;
}

static int convert(const struct ls_args *args, int threads, struct table *t, struct ls_err *err)
{
	const char *to = ls_args_get(args, "output");
	struct ls_data_opts o = {.threads = threads,
				 .format = ls_args_get(args, "format"),
				 .labels_path = ls_args_get(args, "labels"),
				 .weights_path = ls_args_get(args, "weights"),
				 .columns = t->columns,
				 .need_labels = t->columns != NULL};
	int rc = ls_data_convert(args->pos[0], &o, to, err);
	if (rc == 0 && t->path)
		rc = ls_columns_save(t->columns, t->path, err);
	return rc ? rc : report(to, threads, ls_args_has(args, "json"), t, err);
}

static int run(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_err err = {0};
	struct table table = {0};
	uint64_t threads = 0;
	if (!ls_args_get(args, "output"))
		return ls_cmd_usage("fm convert: -o FILE.lsd is missing");
	ls_fm_guard_maps();
	int rc = ls_args_u64(args, "threads", 1, 4096, &threads, &err);
	if (rc == 0)
		rc = table_options(args, &table, &err);
	if (rc == 0)
		rc = check_files(args, &table, &err);
	if (rc == 0)
		rc = convert(args, (int)threads, &table, &err);
	ls_columns_free(table.columns);
	free(table.path);
	return rc ? ls_cmd_fail(&err) : LS_EXIT_YES;
}

const struct ls_cmd ls_cmd_fm_convert = {
	.name = "convert",
	.summary = "text, npz or a table to the mapped binary form",
	.synopsis = "DATA -o FILE.lsd [OPTION …]",
	.details = "DATA is libsvm or libffm text (gzip or not, - for standard input), a scipy CSR "
		   "matrix in .npz, or .lsd;\n"
		   "with --label it is a table in CSV, and FILE.lsd.columns.json then says how it "
		   "became rows.\n"
		   "Text may be larger than memory, a table not. Prints what was written and its "
		   "digest, which is the digest\n"
		   "of the rows and does not depend on the form they are in.",
	.opts = opts,
	.min_pos = 1,
	.max_pos = 1,
	.run = run,
};
