/* lockstep fm convert: rows in any form to the mapped binary form. */
#include <inttypes.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "cmd/fm_files.h"
#include "fm/data/data.h"

static const struct ls_opt opts[] = {
	{"output", 'o', "FILE.lsd", "where to write; required"},
	{"format", 0, "svm|ffm|npz|lsd",
	 "what DATA is, where its first bytes and tokens could mislead"},
	{"labels", 0, "FILE.npy", "a label a row, for data that have none"},
	{"weights", 0, "FILE.npy", "a weight a row, for data that have none"},
	{"threads", 0, "N",
	 "threads to parse with (default: all CPUs it may use); the file is the same"},
	{0},
};

static void print_text(const char *path, const struct ls_rows *r, const char *digest)
{
	ls_cmd_print_name(path);
	printf(": %" PRIu64 " rows, %" PRIu64 " entries, %" PRIu64 " features", r->n_rows,
	       r->n_entries, r->n_features);
	if (r->n_fields)
		printf(", %" PRIu32 " fields", r->n_fields);
	printf("%s%s%s\ndigest %s\n", r->value ? "" : ", every value 1",
	       r->label ? "" : ", no labels", r->weight ? ", weighted" : "", digest);
}

static void print_json(const char *path, const struct ls_rows *r, const char *digest)
{
	ls_cmd_print_json_take(
		json_pack("{s:o,s:I,s:I,s:I,s:I,s:b,s:b,s:b,s:s}", "file", ls_json_lossy(path),
			  "rows", (json_int_t)r->n_rows, "entries", (json_int_t)r->n_entries,
			  "features", (json_int_t)r->n_features, "fields", (json_int_t)r->n_fields,
			  "values", r->value != NULL, "labels", r->label != NULL, "weights",
			  r->weight != NULL, "digest", digest));
}

/* What was written is read back, which checks every byte of it. */
static int report(const char *path, int threads, bool json, struct ls_err *err)
{
	struct ls_data_opts o = {.threads = threads};
	struct ls_data *d;
	char digest[65];
	int rc = ls_data_load(path, &o, &d, err);
	if (rc)
		return rc;
	ls_data_digest(d, digest);
	if (json)
		print_json(path, ls_data_rows(d), digest);
	else
		print_text(path, ls_data_rows(d), digest);
	ls_data_free(d);
	return 0;
}

static int run(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_err err = {0};
	struct stat st;
	uint64_t threads = 0;
	const char *to = ls_args_get(args, "output");
	if (!to)
		return ls_cmd_usage("fm convert: -o FILE.lsd is missing");
	int rc = ls_args_u64(args, "threads", 1, 4096, &threads, &err);
	struct ls_data_opts o = {
		.threads = (int)threads,
		.format = ls_args_get(args, "format"),
		.labels_path = ls_args_get(args, "labels"),
		.weights_path = ls_args_get(args, "weights"),
	};
	struct ls_fm_files files = {.inputs = {{"DATA", args->pos[0], false},
					       {"--labels", o.labels_path, false},
					       {"--weights", o.weights_path, false}},
				    .outputs = {{"-o", to, false}}};
	ls_fm_guard_maps();
	if (rc == 0)
		rc = ls_fm_files_check(&files, &err);
	if (rc == 0 && stat(to, &st) == 0 && !S_ISREG(st.st_mode)) /* read again, for the summary */
		rc = ls_err_set(&err, LS_EINPUT, "-o %s: cannot be written: it is no regular file",
				to);
	if (rc == 0)
		rc = ls_data_convert(args->pos[0], &o, to, &err);
	if (rc == 0)
		rc = report(to, o.threads, ls_args_has(args, "json"), &err);
	return rc ? ls_cmd_fail(&err) : LS_EXIT_YES;
}

const struct ls_cmd ls_cmd_fm_convert = {
	.name = "convert",
	.summary = "text or npz to the mapped binary form",
	.synopsis = "DATA -o FILE.lsd [--format svm|ffm|npz|lsd] [--labels FILE.npy] [--weights "
		    "FILE.npy] [--threads N]",
	.details = "DATA is libsvm or libffm text (gzip or not, - for standard input), a scipy CSR "
		   "matrix in .npz, or "
		   ".lsd.\n"
		   "Text may be larger than memory. Prints what was written and its digest, which "
		   "is the digest of the\n"
		   "rows and does not depend on the form they are in.",
	.opts = opts,
	.min_pos = 1,
	.max_pos = 1,
	.run = run,
};
