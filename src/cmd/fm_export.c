/* lockstep fm export: a model as an ONNX file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "cmd/fm_common.h"
#include "cmd/fm_files.h"
#include "fm/cpu/cpu.h"
#include "fm/eval/check_rows.h"
#include "fm/eval/metric.h"
#include "fm/export/export.h"
#include "fm/export/verify.h"
#include "fm/model/save.h"

struct export
{
	const struct ls_args *args;
	const char *model, *to;
	char *real, *at; /* where the file goes, links followed; where it is until it is checked */
	struct ls_export_opts opts;
	enum ls_export_form form;
	struct ls_fm_model *m;
	struct ls_pool *pool;
	struct ls_params params;
	struct ls_export_result result;
	bool written;
	/* the loss of quality */
	struct ls_data *data;
	struct ls_metrics before, after;
	uint64_t float_bytes;
	/* the check in ONNX Runtime */
	char *python; /* NULL: none */
	bool demanded;
	struct ls_sample *sample;
	struct ls_verdict verdict;
};

static void done(struct export *e)
{
	free(e->real);
	free(e->at);
	free(e->python);
	ls_sample_free(e->sample);
	ls_data_free(e->data);
	ls_params_done(&e->params);
	ls_export_result_done(&e->result);
	ls_fm_model_free(e->m);
	ls_pool_free(e->pool);
}

/* --- what is wanted --- */

static int read_form(struct export *e, struct ls_err *err)
{
	const char *quantize = ls_args_get(e->args, "quantize");
	bool exact = ls_args_has(e->args, "exact");
	if (quantize && exact)
		return ls_err_set(
			err, LS_EINPUT,
			"--exact and --quantize are two forms of the parameters: give one");
	if (!quantize && ls_args_has(e->args, "data"))
		return ls_err_set(err, LS_EINPUT,
				  "--data measures what --quantize loses, which is not given");
	e->form = exact              ? LS_EXPORT_EXACT
		  : !quantize        ? LS_EXPORT_FLOAT
		  : *quantize == 'i' ? LS_EXPORT_INT8
				     : LS_EXPORT_FP16;
	return 0;
}

static int read_options(struct export *e, struct ls_err *err)
{
	const char *above = ls_args_get(e->args, "external-above"),
		   *python = ls_args_get(e->args, "verify");
	e->opts = (struct ls_export_opts){.external_above = LS_ONNX_MOST};
	int rc = read_form(e, err);
	if (rc == 0 && above)
		rc = ls_str_to_size(above, "--external-above", &e->opts.external_above, err);
	if (rc == 0 && e->opts.external_above > LS_ONNX_MOST)
		return ls_err_set(err, LS_EINPUT,
				  "--external-above: an ONNX file has at most 2 GiB; parameters "
				  "beyond that must be in a file of their own");
	if (rc == 0 && python && ls_args_has(e->args, "no-verify"))
		return ls_err_set(err, LS_EINPUT, "--verify and --no-verify exclude each other");
	if (rc == 0 && !ls_args_has(e->args, "no-verify"))
		e->python = ls_proc_find(python ? python : "python3");
	e->demanded = python != NULL;
	if (rc == 0 && python && !e->python)
		return ls_err_set(err, LS_ENOENT, "--verify %s: there is no such program", python);
	return rc;
}

static int check_files(struct export *e, struct ls_err *err)
{
	struct stat st;
	struct ls_fm_files f = {.inputs = {{"MODEL", e->model, false},
					   {"--data", ls_args_get(e->args, "data"), false},
					   {"--labels", ls_args_get(e->args, "labels"), false},
					   {"--weights", ls_args_get(e->args, "weights"), false}},
				.outputs = {{"--onnx", e->to, false}}};
	int rc = ls_fm_files_check(&f, err);
	if (rc)
		return rc;
	e->real = ls_file_follow(e->to);
	if (stat(e->real, &st) == 0 && !S_ISREG(st.st_mode))
		return ls_err_set(err, LS_EINPUT, "--onnx %s: is no regular file", e->to);
	e->at = ls_xasprintf("%s.unverified", e->real);
	return 0;
}

static int load(struct export *e, struct ls_err *err)
{
	const char *data = ls_args_get(e->args, "data");
	int rc = ls_fm_load_model(e->model, ls_cpus(), &e->m, err);
	if (rc == 0)
		rc = ls_pool_new(ls_cpus(), &e->pool, err);
	if (rc == 0 && data)
		rc = ls_fm_load(e->args, data, LS_FM_DATA, e->m->n_fields > 0, true, ls_cpus(),
				&e->data, err);
	if (rc == 0 && data)
		rc = ls_fm_check_eval_rows(e->m, ls_data_rows(e->data), err);
	return rc ? rc : ls_params_init(&e->params, e->m, e->form, err);
}

/* --- the loss of quality --- */

static int measure(struct export *e, struct ls_metrics *ret, struct ls_err *err)
{
	if (!e->data)
		return 0;
	const struct ls_rows *rows = ls_data_rows(e->data);
	float *score = ls_alloc_array(rows->n_rows * e->m->outputs, sizeof *score);
	if (!score)
		return ls_err_set(err, LS_ENOMEM, "no memory for %" PRIu64 " scores", rows->n_rows);
	int rc = ls_cpu_predict(e->m, rows, e->pool, score, err);
	if (rc == 0)
		rc = ls_metrics_compute(e->m, rows, score, ret, err);
	free(score);
	int changed = ls_data_unchanged(e->data, err);
	return changed ? changed : rc;
}

static int find_float_bytes(struct export *e, struct ls_err *err)
{
	struct ls_params plain;
	int rc = ls_params_init(&plain, e->m, LS_EXPORT_FLOAT, err);
	if (rc == 0)
		e->float_bytes = ls_export_bytes(&plain);
	ls_params_done(&plain);
	return rc;
}

/* --- the check --- */

static int scratch_file(char **ret, struct ls_err *err)
{
	const char *tmp = getenv("TMPDIR");
	char *name = ls_xasprintf("%s/lockstep-export-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	int fd = mkstemp(name);
	if (fd < 0) {
		int rc = ls_err_errno(err, name, "make");
		free(name);
		return rc;
	}
	close(fd);
	*ret = name;
	return 0;
}

static int verify(struct export *e, struct ls_err *err)
{
	char *scratch = NULL;
	if (!e->python)
		return 0;
	int rc = scratch_file(&scratch, err);
	if (rc == 0 && e->form != LS_EXPORT_EXACT)
		rc = ls_cpu_predict(e->m, &e->sample->rows, e->pool, e->sample->score, err);
	if (rc == 0)
		rc = ls_export_verify(&e->params, e->at, e->python, e->sample, scratch, &e->verdict,
				      err);
	if (rc)
		ls_err_prefix(err, "%s", e->to);
	if (rc == 0 && e->demanded && !e->verdict.ran)
		rc = ls_err_set(err, LS_EUNKNOWN, "%s cannot check the file: %s", e->python,
				e->verdict.why);
	if (scratch)
		unlink(scratch);
	free(scratch);
	return rc;
}

/* The file takes its place when it is known to be right. The scores of the exact form come
 * from the parameters as they are, those of the others from rounded ones. */
static int write_and_check(struct export *e, struct ls_err *err)
{
	e->sample = ls_sample_new(e->m);
	if (e->form == LS_EXPORT_EXACT)
		ls_sample_score_exact(e->sample, &e->params);
	int rc = ls_export_onnx(&e->params, e->real, e->at, &e->opts, &e->result, err);
	e->written = rc == 0;
	if (rc == 0)
		ls_params_round(&e->params, e->m);
	if (rc == 0)
		rc = measure(e, &e->after, err);
	if (rc == 0)
		rc = verify(e, err);
	if (rc == 0)
		rc = ls_file_replace(e->at, e->real, err);
	if (rc && e->written) {
		unlink(e->at);
		if (e->result.data_path)
			unlink(e->result.data_path);
	}
	return rc;
}

/* --- what was done --- */

static void print_quality(const struct export *e)
{
	printf("size      %" PRIu64 " -> %" PRIu64 " bytes\n", e->float_bytes,
	       e->result.bytes + e->result.data_bytes);
	for (int i = 0; i < LS_METRICS; i++)
		if (e->before.has[i] && e->after.has[i])
			printf("%-9s %.9g -> %.9g\n", ls_metric_name((enum ls_metric)i),
			       e->before.value[i], e->after.value[i]);
}

static void print_verdict(const struct export *e)
{
	const struct ls_verdict *v = &e->verdict;
	if (v->ran && e->form == LS_EXPORT_EXACT)
		printf("ONNX Runtime %s: %" PRIu64 " rows, scores equal to the bit with 1 and 2 "
		       "threads, optimized or not\n",
		       v->runtime, v->rows);
	else if (v->ran)
		printf("ONNX Runtime %s: %" PRIu64 " rows, largest difference %.3g\n", v->runtime,
		       v->rows, v->largest);
	else if (e->python)
		printf("not checked in ONNX Runtime: %s: %s\n", e->python, v->why);
	else
		printf("not checked in ONNX Runtime: %s\n",
		       ls_args_has(e->args, "no-verify") ? "--no-verify" : "there is no python3");
}

static void print_text(const struct export *e)
{
	const struct ls_export_result *r = &e->result;
	ls_cmd_print_name(e->to);
	printf(": %s, %s, %s, %" PRIu64 " bytes\n", ls_fm_kind_of(&e->m->opts),
	       ls_fm_task_name(e->m->opts.task), ls_export_form_name(e->form), r->bytes);
	if (r->data_path) {
		ls_cmd_print_name(r->data_path);
		printf(": its parameters, %" PRIu64 " bytes\n", r->data_bytes);
	}
	if (e->float_bytes)
		print_quality(e);
	print_verdict(e);
	printf("digest %s\n", r->digest);
}

static json_t *metrics_json(const struct ls_metrics *m)
{
	json_t *o = json_object();
	for (int i = 0; i < LS_METRICS; i++)
		if (m->has[i])
			json_object_set_new(o, ls_metric_name((enum ls_metric)i),
					    json_real(m->value[i]));
	return o;
}

static json_t *verdict_json(const struct ls_verdict *v)
{
	if (!v->ran)
		return json_null();
	return json_pack("{s:s,s:I,s:f}", "onnxruntime", v->runtime, "rows", (json_int_t)v->rows,
			 "largest_difference", v->largest);
}

static void print_json(const struct export *e)
{
	const struct ls_export_result *r = &e->result;
	json_t *v = json_pack("{s:o,s:I,s:s,s:s,s:s,s:s,s:i,s:o}", "file", ls_json_lossy(e->to),
			      "bytes", (json_int_t)r->bytes, "digest", r->digest, "kind",
			      ls_fm_kind_of(&e->m->opts), "task", ls_fm_task_name(e->m->opts.task),
			      "form", ls_export_form_name(e->form), "opset", LS_ONNX_OPSET,
			      "checked", verdict_json(&e->verdict));
	if (r->data_path) {
		json_object_set_new(v, "data_file", ls_json_lossy(r->data_path));
		json_object_set_new(v, "data_bytes", json_integer((json_int_t)r->data_bytes));
	}
	if (e->float_bytes)
		json_object_set_new(v, "float32_bytes", json_integer((json_int_t)e->float_bytes));
	if (e->data) {
		json_object_set_new(v, "before", metrics_json(&e->before));
		json_object_set_new(v, "after", metrics_json(&e->after));
	}
	ls_cmd_print_json_take(v);
}

static int export_model(struct export *e, struct ls_err *err)
{
	int rc = load(e, err);
	if (rc == 0 && e->form >= LS_EXPORT_INT8)
		rc = find_float_bytes(e, err);
	if (rc == 0)
		rc = measure(e, &e->before, err);
	if (rc == 0)
		rc = write_and_check(e, err);
	ls_cmd_record_export("onnx", e->model, e->to, rc ? err : NULL);
	return rc;
}

static int run(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct export e = {.args = args, .model = args->pos[0], .to = ls_args_get(args, "onnx")};
	struct ls_err err = {0};
	if (!e.to)
		return ls_cmd_usage("fm export: --onnx FILE is missing");
	ls_fm_guard_maps();
	int rc = read_options(&e, &err);
	if (rc == 0)
		rc = check_files(&e, &err);
	if (rc == 0)
		rc = export_model(&e, &err);
	if (rc == 0)
		(ls_args_has(args, "json") ? print_json : print_text)(&e);
	done(&e);
	return rc ? ls_cmd_fail(&err) : LS_EXIT_YES;
}

static const struct ls_opt opts[] = {
	{"onnx", 0, "FILE.onnx", "where to write; required"},
	{"exact", 0, NULL, "whole numbers, for the same bits in every runtime"},
	{"quantize", 0, "int8|fp16", "smaller parameters; what that loses is measured"},
	{"data", 0, "DATA", "rows to measure the loss on"},
	LS_FM_DATA_OPTS,
	{"external-above", 0, "SIZE",
	 "parameters go to a file beside it from this size on (default 2G, the most that ONNX "
	 "can)"},
	{"verify", 0, "PYTHON",
	 "check the file in this Python's ONNX Runtime, which must be there (default: python3, if "
	 "it has one)"},
	{"no-verify", 0, NULL, "do not check it"},
	{0},
};

const struct ls_cmd ls_cmd_fm_export = {
	.name = "export",
	.summary = "a model as an ONNX file, for serving",
	.synopsis = "MODEL --onnx FILE.onnx [OPTION …]",
	.details = "The graph's inputs are index and value (and field, for ffm and fwfm), batch × "
		   "entries; an index of\n"
		   "-1 pads a row. Its outputs are score and probability, and class for several "
		   "classes.",
	.opts = opts,
	.min_pos = 1,
	.max_pos = 1,
	.run = run,
};
