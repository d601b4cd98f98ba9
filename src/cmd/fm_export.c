/* lockstep fm export: a model as an ONNX file. */
#include <inttypes.h>

#include "base/cpus.h"
#include "cmd/fm_common.h"
#include "cmd/fm_files.h"
#include "fm/export/export.h"
#include "fm/model/save.h"

static int read_options(const struct ls_args *args, struct ls_export_opts *ret, struct ls_err *err)
{
	const char *above = ls_args_get(args, "external-above");
	*ret = (struct ls_export_opts){.form = LS_EXPORT_FLOAT, .external_above = LS_ONNX_MOST};
	int rc = above ? ls_str_to_size(above, "--external-above", &ret->external_above, err) : 0;
	if (rc == 0 && ret->external_above > LS_ONNX_MOST)
		return ls_err_set(err, LS_EINPUT,
				  "--external-above: an ONNX file has at most 2 GiB; parameters "
				  "beyond that must be in a file of their own");
	return rc;
}

static int check_files(const char *model, const char *to, struct ls_err *err)
{
	struct ls_fm_files f = {.inputs = {{"MODEL", model, false}},
				.outputs = {{"--onnx", to, false}}};
	return ls_fm_files_check(&f, err);
}

static void print_text(const char *to, const struct ls_fm_model *m,
		       const struct ls_export_result *r)
{
	ls_cmd_print_name(to);
	printf(": %s, %s, %" PRIu64 " bytes\n", ls_fm_kind_name(m->opts.kind),
	       ls_fm_task_name(m->opts.task), r->bytes);
	if (r->data_path) {
		ls_cmd_print_name(r->data_path);
		printf(": its parameters, %" PRIu64 " bytes\n", r->data_bytes);
	}
	printf("digest %s\n", r->digest);
}

static void print_json(const char *to, const struct ls_fm_model *m, const struct ls_export_opts *o,
		       const struct ls_export_result *r)
{
	json_t *v =
		json_pack("{s:o,s:I,s:s,s:s,s:s,s:s,s:I}", "file", ls_json_lossy(to), "bytes",
			  (json_int_t)r->bytes, "digest", r->digest, "kind",
			  ls_fm_kind_name(m->opts.kind), "task", ls_fm_task_name(m->opts.task),
			  "form", ls_export_form_name(o->form), "opset", (json_int_t)LS_ONNX_OPSET);
	if (r->data_path) {
		json_object_set_new(v, "data_file", ls_json_lossy(r->data_path));
		json_object_set_new(v, "data_bytes", json_integer((json_int_t)r->data_bytes));
	}
	ls_cmd_print_json_take(v);
}

static int run(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	const char *to = ls_args_get(args, "onnx");
	struct ls_export_opts o;
	struct ls_export_result r = {0};
	struct ls_fm_model *m = NULL;
	struct ls_err err = {0};
	if (!to)
		return ls_cmd_usage("fm export: --onnx FILE is missing");
	ls_fm_guard_maps();
	int rc = read_options(args, &o, &err);
	if (rc == 0)
		rc = check_files(args->pos[0], to, &err);
	if (rc == 0)
		rc = ls_fm_load_model(args->pos[0], ls_cpus(), &m, &err);
	if (rc == 0)
		rc = ls_export_onnx(m, to, &o, &r, &err);
	if (rc == 0 && ls_args_has(args, "json"))
		print_json(to, m, &o, &r);
	else if (rc == 0)
		print_text(to, m, &r);
	ls_export_result_done(&r);
	ls_fm_model_free(m);
	return rc ? ls_cmd_fail(&err) : LS_EXIT_YES;
}

static const struct ls_opt opts[] = {
	{"onnx", 0, "FILE.onnx", "where to write; required"},
	{"external-above", 0, "SIZE",
	 "parameters go to a file beside it from this size on (default 2G, the most that ONNX "
	 "can)"},
	{0},
};

const struct ls_cmd ls_cmd_fm_export = {
	.name = "export",
	.summary = "a model as an ONNX file, for serving",
	.synopsis = "MODEL --onnx FILE.onnx [--external-above SIZE]",
	.details = "The graph's inputs are index and value (and field, for ffm and fwfm), batch × "
		   "entries; an index of\n"
		   "-1 pads a row. Its outputs are score and probability, and class for several "
		   "classes.",
	.opts = opts,
	.min_pos = 1,
	.max_pos = 1,
	.run = run,
};
