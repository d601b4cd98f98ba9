/* lockstep fm predict, eval, digest: what is done with a trained model. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/dataset.h"
#include "api/model.h"
#include "base/file.h"
#include "base/mem.h"
#include "cmd/fm_common.h"
#include "cmd/fm_files.h"
#include "num/decimal.h"

/* A model, data, and the scores between them where they are wanted. */
struct session {
	struct ls_options *options;
	struct ls_model *model;
	struct ls_dataset *data;
	struct ls_columns *columns; /* of a table; or NULL */
	const struct ls_rows *rows;
	uint32_t outputs;
	float *score;
};

static void session_done(struct session *s)
{
	ls_options_free(s->options);
	ls_model_free(s->model);
	ls_dataset_free(s->data);
	ls_columns_free(s->columns);
	free(s->score);
}

/* args: MODEL DATA */
static int open_session(const struct ls_args *args, const char *command, struct session *ret,
			struct ls_err *err)
{
	const char *columns = ls_args_get(args, "columns"), *device = ls_args_get(args, "device");
	int rc = ls_fm_public_options(command, args, &ret->options, err);
	if (rc == 0)
		rc = ls_options_check(ret->options, err);
	if (rc == 0)
		rc = ls_model_load(args->pos[0], &ret->model, err);
	if (rc == 0 && columns)
		rc = ls_columns_load(columns, &ret->columns, err);
	if (rc == 0)
		rc = ls_dataset_load(args->pos[1], ret->options, &ret->data, err);
	if (rc)
		return rc;
	ret->rows = ls_dataset_rows(ret->data);
	ret->outputs = ls_model_outputs(ret->model);
	if (device && strncmp(device, "cuda", 4) == 0)
		ls_fm_note_cache();
	return 0;
}

/* --- predict --- */

static int write_scores(const struct session *s, const char *path, struct ls_err *err)
{
	struct ls_writer *w = NULL;
	int rc = path ? ls_writer_open(path, &w, err) : 0;
	for (uint64_t i = 0; i < s->rows->n_rows && rc == 0; i++)
		for (uint32_t o = 0; o < s->outputs && rc == 0; o++) {
			char text[LS_DECIMAL_TEXT + 1];
			size_t n = ls_decimal_print(s->score[i * s->outputs + o], text);
			text[n++] = o + 1 == s->outputs ? '\n' : ' ';
			if (w)
				rc = ls_writer_write(w, text, n, err);
			else
				fwrite(text, 1, n, stdout);
		}
	if (rc)
		ls_writer_abort(w);
	return rc || !w ? rc : ls_writer_commit(w, err);
}

static json_t *class_names(const struct ls_columns *c)
{
	json_t *list = json_array();
	for (size_t i = 0; i < c->n_classes; i++)
		json_array_append_new(list, json_string(c->class[i]));
	return list;
}

static void print_scores_json(const struct session *s)
{
	json_t *list = json_array();
	for (uint64_t i = 0; i < s->rows->n_rows; i++) {
		json_t *row = json_array();
		for (uint32_t o = 0; o < s->outputs; o++)
			json_array_append_new(row, json_real((double)s->score[i * s->outputs + o]));
		if (s->outputs == 1) {
			json_array_append(list, json_array_get(row, 0));
			json_decref(row);
		} else {
			json_array_append_new(list, row);
		}
	}
	json_t *o = json_pack("{s:o}", "predictions", list);
	if (s->columns && s->columns->n_classes)
		json_object_set_new(o, "classes", class_names(s->columns));
	ls_cmd_print_json_take(o);
}

/* NULL: standard output. */
static const char *output_of(const struct ls_args *args)
{
	const char *to = ls_args_get(args, "output");
	return to && strcmp(to, "-") != 0 ? to : NULL;
}

static int check_files(const struct ls_args *args, struct ls_err *err)
{
	struct ls_fm_files f = {.inputs = {{"MODEL", args->pos[0], false},
					   {"DATA", args->pos[1], false},
					   {"--labels", ls_args_get(args, "labels"), false},
					   {"--weights", ls_args_get(args, "weights"), false},
					   {"--columns", ls_args_get(args, "columns"), false}},
				.outputs = {{"-o", output_of(args), false}}};
	return ls_fm_files_check(&f, err);
}

/* A warning for those who paste the predictions beside the lines of the data: there are
 * fewer of them. */
static void note_skipped(const struct ls_rows *rows)
{
	const struct ls_origin *from = rows->origin;
	if (rows->label || !from || !from->n_runs)
		return;
	const struct ls_row_run *last = &from->run[from->n_runs - 1];
	uint64_t lines = last->line + (rows->n_rows - last->row) - 1;
	struct ls_err note;
	if (lines <= rows->n_rows)
		return;
	ls_err_set(&note, LS_EINPUT,
		   "%s: %" PRIu64 " of the first %" PRIu64
		   " lines are blank or comments and have no prediction",
		   from->name, lines - rows->n_rows, lines);
	ls_cmd_note(note.msg);
}

static int predict(const struct ls_args *args, struct session *s, struct ls_err *err)
{
	int rc = open_session(args, "fm predict", s, err);
	if (rc)
		return rc;
	s->score = ls_alloc_array(s->rows->n_rows * s->outputs, sizeof *s->score);
	if (!s->score)
		return ls_err_set(err, LS_ENOMEM, "no memory for %" PRIu64 " scores",
				  s->rows->n_rows);
	return ls_model_predict(s->model, s->data, s->options, s->score, err);
}

static int run_predict(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct session s = {0};
	struct ls_err err = {0};
	const char *to = output_of(args);
	ls_fm_guard_maps();
	int rc = check_files(args, &err);
	if (rc == 0)
		rc = predict(args, &s, &err);
	if (rc == 0) {
		note_skipped(s.rows);
		if (ls_args_has(args, "json") && !to)
			print_scores_json(&s);
		else
			rc = write_scores(&s, to, &err);
	}
	if (rc == 0 && to && ls_args_has(args, "json"))
		ls_cmd_print_json_take(json_pack("{s:o,s:I}", "file", ls_json_lossy(to), "rows",
						 (json_int_t)s.rows->n_rows));
	session_done(&s);
	return rc ? ls_cmd_fail(&err) : LS_EXIT_YES;
}

const struct ls_cmd ls_cmd_fm_predict = {
	.name = "predict",
	.summary = "a prediction a row: probability, class probabilities or value",
	.synopsis = "MODEL DATA [-o FILE] [OPTION …]",
	.details = "Labels in DATA are not needed. A feature beyond the last that the model has "
		   "counts as absent.",
	.opts = ls_fm_predict_opts,
	.min_pos = 2,
	.max_pos = 2,
	.run = run_predict,
};

/* --- eval --- */

/* Metrics by name: those that are there, and why others of this task are not. */
struct judged {
	json_t *metrics, *left_out;
};

static void add_metric(const struct judged *j, const char *name, bool has, double value,
		       const char *why)
{
	if (has)
		json_object_set_new(j->metrics, name, json_real(value));
	else if (why)
		json_object_set_new(j->left_out, name, json_string(why));
}

static int judge(const struct session *s, const struct judged *j, struct ls_err *err)
{
	struct ls_metrics m = {0};
	struct ls_more_metrics more = {0};
	int rc = ls_model_eval_more(s->model, s->data, s->options, &m, &more, err);
	for (int i = 0; i < LS_METRICS && rc == 0; i++)
		add_metric(j, ls_metric_name((enum ls_metric)i), m.has[i], m.value[i],
			   i == LS_AUC && s->model->m->opts.task == LS_BINARY
				   ? "all rows are of one class"
				   : NULL);
	for (int i = 0; i < LS_MORE_METRICS && rc == 0; i++)
		add_metric(j, ls_more_name((enum ls_more_metric)i), more.has[i], more.value[i],
			   more.why[i]);
	return rc;
}

static void print_judged(const struct judged *j)
{
	const char *name;
	json_t *value;
	json_object_foreach(j->metrics, name, value)
	{
		printf("%-11s %.9g\n", name, json_real_value(value));
	}
	json_object_foreach(j->left_out, name, value)
	{
		printf("%-11s left out: %s\n", name, json_string_value(value));
	}
}

static void print_judged_json(const struct judged *j, uint64_t rows)
{
	json_t *o = json_pack("{s:I}", "rows", (json_int_t)rows);
	json_object_update(o, j->metrics);
	if (json_object_size(j->left_out))
		json_object_set(o, "left_out", j->left_out);
	ls_cmd_print_json_take(o);
}

static int run_eval(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct session s = {0};
	struct ls_err err = {0};
	struct judged j = {json_object(), json_object()};
	ls_fm_guard_maps();
	int rc = open_session(args, "fm eval", &s, &err);
	if (rc == 0)
		rc = judge(&s, &j, &err);
	if (rc == 0 && ls_args_has(args, "json"))
		print_judged_json(&j, s.rows->n_rows);
	else if (rc == 0)
		print_judged(&j);
	json_decref(j.metrics);
	json_decref(j.left_out);
	session_done(&s);
	return rc ? ls_cmd_fail(&err) : LS_EXIT_YES;
}

const struct ls_cmd ls_cmd_fm_eval = {
	.name = "eval",
	.summary = "every metric of a model on labelled data",
	.synopsis = "MODEL DATA [OPTION …]",
	.opts = ls_fm_eval_opts,
	.min_pos = 2,
	.max_pos = 2,
	.run = run_eval,
};

/* --- digest --- */

static void print_digest(const char *hex, const char *path)
{
	printf("%s  ", hex);
	ls_cmd_print_name(path);
	putchar('\n');
}

static int run_digest(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	json_t *list = json_array();
	bool json = ls_args_has(args, "json");
	struct ls_err err = {0};
	int rc = 0;
	ls_fm_guard_maps();
	for (size_t i = 0; i < args->n_pos && rc == 0; i++) {
		struct ls_model *m;
		char hex[65];
		rc = ls_model_load(args->pos[i], &m, &err);
		if (rc)
			break;
		rc = ls_model_digest(m, hex, &err);
		ls_model_free(m);
		if (rc)
			break;
		json_array_append_new(list, json_pack("{s:o,s:s}", "model",
						      ls_json_lossy(args->pos[i]), "digest", hex));
		if (!json)
			print_digest(hex, args->pos[i]);
	}
	if (rc == 0 && json)
		ls_cmd_print_json_take(json_pack("{s:O}", "models", list));
	json_decref(list);
	return rc ? ls_cmd_fail(&err) : LS_EXIT_YES;
}

const struct ls_cmd ls_cmd_fm_digest = {
	.name = "digest",
	.summary = "the digest of a model's parameters, which must agree everywhere",
	.synopsis = "MODEL …",
	.min_pos = 1,
	.max_pos = -1,
	.run = run_digest,
};
