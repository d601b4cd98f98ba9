/* lockstep fm predict, eval, digest: what is done with a trained model. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/file.h"
#include "base/mem.h"
#include "cmd/fm_common.h"
#include "cmd/fm_files.h"
#include "fm/eval/check_rows.h"
#include "fm/eval/metric.h"
#include "fm/model/save.h"
#include "fm/model/tensors.h"
#include "num/decimal.h"

/* A model, data and the scores between them. */
struct scored {
	struct ls_fm_model *m;
	struct ls_data *data;
	struct ls_columns *columns; /* of a table; or NULL */
	const struct ls_rows *rows;
	float *score;
};

static void scored_done(struct scored *s)
{
	ls_fm_model_free(s->m);
	ls_data_free(s->data);
	ls_columns_free(s->columns);
	free(s->score);
}

static int compute_scores(struct scored *s, const struct ls_fm_device *choice, struct ls_err *err)
{
	struct ls_pool *pool = NULL;
	struct ls_engine engine = {0};
	s->score = ls_alloc_array(s->rows->n_rows * s->m->outputs, sizeof *s->score);
	if (!s->score)
		return ls_err_set(err, LS_ENOMEM, "no memory for %" PRIu64 " scores",
				  s->rows->n_rows);
	int rc = ls_pool_new(choice->threads, &pool, err);
	if (rc == 0)
		rc = ls_fm_engine_make(choice, s->m, NULL, pool, &engine, err);
	if (rc == 0)
		rc = engine.predict(engine.state, s->rows, s->score, err);
	if (engine.free)
		engine.free(engine.state);
	ls_pool_free(pool);
	return rc;
}

/* args: MODEL DATA */
static int score_data(const struct ls_args *args, bool need_labels, struct scored *ret,
		      struct ls_err *err)
{
	struct ls_fm_device choice;
	int rc = ls_fm_engine_options(args, NULL, &choice, err);
	if (rc == 0)
		rc = ls_fm_load_model(args->pos[0], choice.threads, &ret->m, err);
	struct ls_data_opts o = {.threads = choice.threads,
				 .format = ls_args_get(args, "format"),
				 .labels_path = ls_args_get(args, "labels"),
				 .weights_path = ls_args_get(args, "weights"),
				 .need_labels = need_labels,
				 .want_fields = ret->m && ret->m->n_fields > 0};
	if (rc == 0)
		rc = ls_fm_load_data(args, args->pos[1], &o, &ret->columns, &ret->data, err);
	if (rc)
		return rc;
	ret->rows = ls_data_rows(ret->data);
	rc = (need_labels ? ls_fm_check_eval_rows : ls_fm_check_score_rows)(ret->m, ret->rows, err);
	if (rc == 0)
		rc = compute_scores(ret, &choice, err);
	int changed =
		/* a file that has changed explains other errors */
		ls_data_unchanged(ret->data, err);
	return changed ? changed : rc;
}

/* --- predict --- */

static int write_scores(const struct scored *s, const char *path, struct ls_err *err)
{
	struct ls_writer *w = NULL;
	int rc = path ? ls_writer_open(path, &w, err) : 0;
	for (uint64_t i = 0; i < s->rows->n_rows && rc == 0; i++)
		for (uint32_t o = 0; o < s->m->outputs && rc == 0; o++) {
			char text[LS_DECIMAL_TEXT + 1];
			size_t n = ls_decimal_print(s->score[i * s->m->outputs + o], text);
			text[n++] = o + 1 == s->m->outputs ? '\n' : ' ';
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

static void print_scores_json(const struct scored *s)
{
	json_t *list = json_array();
	for (uint64_t i = 0; i < s->rows->n_rows; i++) {
		json_t *row = json_array();
		for (uint32_t o = 0; o < s->m->outputs; o++)
			json_array_append_new(row,
					      json_real((double)s->score[i * s->m->outputs + o]));
		if (s->m->outputs == 1) {
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

static int run_predict(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct scored s = {0};
	struct ls_err err = {0};
	const char *to = output_of(args);
	ls_fm_guard_maps();
	int rc = check_files(args, &err);
	if (rc == 0)
		rc = score_data(args, false, &s, &err);
	if (rc == 0)
		rc = ls_scores_finite(s.m, s.rows, s.score, &err);
	if (rc == 0) {
		note_skipped(s.rows);
		if (!ls_args_has(args, "raw"))
			ls_fm_link(s.m, s.score, s.rows->n_rows);
		if (ls_args_has(args, "json") && !to)
			print_scores_json(&s);
		else
			rc = write_scores(&s, to, &err);
	}
	if (rc == 0 && to && ls_args_has(args, "json"))
		ls_cmd_print_json_take(json_pack("{s:o,s:I}", "file", ls_json_lossy(to), "rows",
						 (json_int_t)s.rows->n_rows));
	scored_done(&s);
	return rc ? ls_cmd_fail(&err) : LS_EXIT_YES;
}

const struct ls_cmd ls_cmd_fm_predict = {
	.name = "predict",
	.summary = "a prediction a row: probability, class probabilities or value",
	.synopsis = "MODEL DATA [-o FILE] [--raw] [--device auto|cpu|cuda[:N]] [--device-memory "
		    "SIZE] [--threads N] "
		    "[--columns FILE] [--format svm|ffm|npz|lsd] [--labels FILE.npy] [--weights "
		    "FILE.npy]",
	.details = "Labels in DATA are not needed. A feature beyond the last that the model has "
		   "counts as absent.",
	.opts = ls_fm_predict_opts,
	.min_pos = 2,
	.max_pos = 2,
	.run = run_predict,
};

/* --- eval --- */

static int run_eval(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct scored s = {0};
	struct ls_err err = {0};
	struct ls_metrics metrics = {0};
	ls_fm_guard_maps();
	int rc = score_data(args, true, &s, &err);
	if (rc == 0)
		rc = ls_metrics_compute(s.m, s.rows, s.score, &metrics, &err);
	if (rc == 0) /* their labels, too */
		rc = ls_data_unchanged(s.data, &err);
	json_t *o = json_pack("{s:I}", "rows", (json_int_t)(s.rows ? s.rows->n_rows : 0));
	for (int i = 0; i < LS_METRICS && rc == 0; i++) {
		if (!metrics.has[i])
			continue;
		json_object_set_new(o, ls_metric_name((enum ls_metric)i),
				    json_real(metrics.value[i]));
		if (!ls_args_has(args, "json"))
			printf("%-9s %.9g\n", ls_metric_name((enum ls_metric)i), metrics.value[i]);
	}
	if (rc == 0 && ls_args_has(args, "json"))
		ls_cmd_print_json_take(json_incref(o));
	json_decref(o);
	scored_done(&s);
	return rc ? ls_cmd_fail(&err) : LS_EXIT_YES;
}

const struct ls_cmd ls_cmd_fm_eval = {
	.name = "eval",
	.summary = "every metric of a model on labelled data",
	.synopsis = "MODEL DATA [--device auto|cpu|cuda[:N]] [--device-memory SIZE] [--threads N] "
		    "[--columns FILE] [--format svm|ffm|npz|lsd] [--labels FILE.npy] [--weights "
		    "FILE.npy]",
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
		struct ls_fm_model *m;
		char hex[LS_SHA256_HEX];
		rc = ls_fm_load_model(args->pos[i], ls_cpus(), &m, &err);
		if (rc)
			break;
		ls_fm_model_digest(m, hex);
		ls_fm_model_free(m);
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
