#include "job/slurm_script.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "job/command.h"
#include "job/experiment.h"
#include "job/row.h"
#include "job/slurm_read.h"

/* --- options --- */

static bool fits_a_line(const json_t *v)
{
	for (const char *p = json_string_value(v); p && *p; p++)
		if ((unsigned char)*p < ' ' || *p == 127)
			return false;
	return json_is_string(v) && json_string_length(v) > 0;
}

int ls_slurm_options_check(const json_t *options, struct ls_err *err)
{
	const char *key;
	const json_t *v, *word;
	size_t i;
	json_object_foreach((json_t *)(uintptr_t)options, key, v)
	{
		if (json_is_string(v) && !fits_a_line(v))
			return ls_err_set(err, LS_EINPUT,
					  "option --%s: empty, or with control characters", key);
		json_array_foreach(
			v, i,
			word) if (!fits_a_line(word) ||
				  !ls_str_starts(
					  json_string_value(word),
					  "--")) return ls_err_set(err, LS_EINPUT,
								   "option --sbatch: \"%.100s\" "
								   "does not begin with --",
								   json_string_value(word));
	}
	return 0;
}

static void add_word(json_t *words, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add_word(json_t *words, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	json_array_append_new(words, json_vsprintf(fmt, ap));
	va_end(ap);
}

static bool is_array(const struct ls_slurm_script *w)
{
	return json_array_size(w->rows) > 1;
}

/* '%' begins a pattern in the name of an output file. */
static void add_log(const struct ls_slurm_script *w, json_t *words)
{
	struct ls_str path = {0};
	for (const char *p = w->project; *p; p++)
		ls_str_add_bytes(&path, *p == '%' ? "%%" : p, *p == '%' ? 2 : 1);
	add_word(words, "--output=%s/%s%s.out", path.s, w->log, is_array(w) ? "-%a" : "");
	ls_str_done(&path);
}

/* GPUs by Slurm's usual name for them; a site with another one is told by --gres. */
static int add_gpus(const struct ls_slurm_script *w, const json_t *row, json_t *words,
		    struct ls_err *err)
{
	int64_t gpus = ls_col_int(row, "num_gpus", 0), nodes = ls_col_int(w->options, "nodes", 1);
	const char *gres = ls_col_text(w->options, "gres");
	if (gpus % nodes != 0)
		return ls_err_set(err, LS_EINPUT,
				  "%s: %lld GPUs are no whole number on each of %lld nodes",
				  ls_col_text(row, "name"), (long long)gpus, (long long)nodes);
	if (gres)
		add_word(words, "--gres=%s", gres);
	else if (gpus)
		add_word(words, "--gres=gpu:%lld", (long long)(gpus / nodes));
	return 0;
}

/* Slurm counts time limits in minutes. */
static void add_time(const struct ls_slurm_script *w, const json_t *row, json_t *words)
{
	const char *time = ls_col_text(w->options, "time");
	double hard = ls_col_real(row, "hard_limit", 0);
	if (time)
		add_word(words, "--time=%s", time);
	else if (hard > 0)
		add_word(words, "--time=%.0f", ceil(hard / 60));
}

static void add_array(const struct ls_slurm_script *w, json_t *words)
{
	size_t n = json_array_size(w->rows);
	int64_t throttle = ls_col_int(w->options, "throttle", 0);
	if (!is_array(w))
		return;
	if (throttle)
		add_word(words, "--array=0-%zu%%%lld", n - 1, (long long)throttle);
	else
		add_word(words, "--array=0-%zu", n - 1);
}

static const char *job_name(const struct ls_slurm_script *w)
{
	const json_t *row = json_array_get(w->rows, 0);
	return ls_col_text(row, is_array(w) ? "group" : "name");
}

int ls_slurm_words(const struct ls_slurm_script *w, json_t **ret, struct ls_err *err)
{
	static const char *const plain[] = {"mem", "account", "qos", "constraint"};
	const json_t *row = json_array_get(w->rows, 0), *word;
	const char *partition = ls_col_text(w->options, "partition");
	json_t *words = json_array();
	size_t i;
	add_word(words, "--job-name=%s", job_name(w));
	add_word(words, "--comment=" LS_SLURM_COMMENT "%s", w->uuid);
	add_log(w, words);
	add_word(words, "--open-mode=append");
	add_word(words, "--requeue");
	add_array(w, words);
	partition = partition ? partition : ls_col_text(row, "partition");
	if (partition)
		add_word(words, "--partition=%s", partition);
	add_word(words, "--nodes=%lld", (long long)ls_col_int(w->options, "nodes", 1));
	add_word(words, "--ntasks-per-node=1");
	add_word(words, "--cpus-per-task=%lld", (long long)ls_col_int(row, "slots", 1));
	int rc = add_gpus(w, row, words, err);
	add_time(w, row, words);
	for (i = 0; i < sizeof plain / sizeof *plain; i++)
		if (ls_col_text(w->options, plain[i]))
			add_word(words, "--%s=%s", plain[i], ls_col_text(w->options, plain[i]));
	json_array_foreach(json_object_get(w->options, "sbatch"), i, word)
		json_array_append(words, (json_t *)(uintptr_t)word);
	if (w->dependency)
		add_word(words, "--dependency=%s", w->dependency);
	if (rc)
		json_decref(words);
	else
		*ret = words;
	return rc;
}

/* --- the program --- */

/* What is only known when the script runs, as marks that no other text has. */
static const struct {
	const char *name, *mark, *shell;
} late[] = {{"out", "\001out\001", "\"$LOCKSTEP_OUT\""},
	    {"previous", "\001previous\001", "\"$LOCKSTEP_PREVIOUS\""},
	    {"attempt", "\001attempt\001", "\"$attempt\""}};

enum { LATE = sizeof late / sizeof *late };

static void add_quoted(struct ls_str *out, const char *text, size_t len)
{
	struct ls_str piece = {0};
	ls_str_add_bytes(&piece, text, len);
	char *quoted = ls_str_shell(piece.s ? piece.s : "");
	ls_str_add(out, quoted);
	free(quoted);
	ls_str_done(&piece);
}

/* A word for the shell: marks become variables, all else is quoted. */
static void add_shell_word(struct ls_str *out, const char *word)
{
	const char *p = word;
	do {
		const char *mark = strchr(p, late[0].mark[0]);
		size_t i = 0;
		while (mark && i < LATE && !ls_str_starts(mark, late[i].mark))
			i++;
		if (!mark || i == LATE) {
			add_quoted(out, p, strlen(p));
			return;
		}
		if (mark > p)
			add_quoted(out, p, (size_t)(mark - p));
		ls_str_add(out, late[i].shell);
		p = mark + strlen(late[i].mark);
	} while (*p);
}

/* `lockstep run` in front, where a level was asked for. */
static void add_level(const struct ls_slurm_script *w, const json_t *row, struct ls_str *out)
{
	const json_t *level = json_object_get(row, "level"), *seed = json_object_get(row, "seed");
	if (!json_is_integer(level))
		return;
	ls_str_add(out, " ");
	add_quoted(out, w->self, strlen(w->self));
	ls_str_addf(out, " run --level %lld --out \"$LOCKSTEP_OUT\"",
		    (long long)json_integer_value(level));
	if (json_is_integer(seed))
		ls_str_addf(out, " --seed %lld", (long long)json_integer_value(seed));
	ls_str_add(out, " --");
}

static int add_command(const struct ls_slurm_script *w, const json_t *row, struct ls_str *out,
		       struct ls_err *err)
{
	json_t *values = ls_experiment_values(row, "", "", 1);
	char **words = NULL;
	for (size_t i = 0; i < LATE; i++)
		json_object_set_new(values, late[i].name, json_string(late[i].mark));
	int rc = ls_command_words(json_object_get(row, "command"), ls_experiment_value, values,
				  &words, err);
	json_decref(values);
	if (rc)
		return rc;
	ls_str_add(out, "exec");
	add_level(w, row, out);
	for (size_t i = 0; words[i]; i++) {
		ls_str_add(out, " ");
		add_shell_word(out, words[i]);
	}
	ls_command_free(words);
	return 0;
}

static int add_program(const struct ls_slurm_script *w, struct ls_str *out, struct ls_err *err)
{
	const json_t *row;
	size_t i;
	int rc = 0;
	ls_str_add(out, "program() {\n");
	if (is_array(w))
		ls_str_add(out, "\tcase $experiment in\n");
	json_array_foreach(w->rows, i, row)
	{
		if (is_array(w))
			ls_str_addf(out, "\t%s) ", ls_col_text(row, "name"));
		else
			ls_str_add(out, "\t");
		rc = rc ? rc : add_command(w, row, out, err);
		ls_str_add(out, is_array(w) ? " ;;\n" : "\n");
	}
	ls_str_add(out, is_array(w) ? "\tesac\n}\n" : "}\n");
	return rc;
}

/* Which experiment this is, and the number of the submission's first attempt. */
static void add_names(const struct ls_slurm_script *w, struct ls_str *out)
{
	const json_t *row;
	size_t i;
	if (!is_array(w)) {
		row = json_array_get(w->rows, 0);
		ls_str_addf(out, "experiment=%s first=%lld\n", ls_col_text(row, "name"),
			    (long long)ls_col_int(row, "attempt", 0) + 1);
		return;
	}
	ls_str_add(out, "experiments=(");
	json_array_foreach(w->rows, i, row)
		ls_str_addf(out, "%s%s", i ? " " : "", ls_col_text(row, "name"));
	ls_str_add(out, ")\nfirsts=(");
	json_array_foreach(w->rows, i, row) ls_str_addf(
		out, "%s%lld", i ? " " : "", (long long)ls_col_int(row, "attempt", 0) + 1);
	ls_str_add(out, ")\nexperiment=${experiments[$SLURM_ARRAY_TASK_ID]} "
			"first=${firsts[$SLURM_ARRAY_TASK_ID]}\n");
}

/* --- the whole --- */

static void add_directives(const json_t *words, struct ls_str *out)
{
	const json_t *word;
	size_t i;
	json_array_foreach(words, i, word)
	{
		char *quoted = ls_str_shell(json_string_value(word));
		ls_str_addf(out, "#SBATCH %s\n", quoted);
		free(quoted);
	}
}

int ls_slurm_script(const struct ls_slurm_script *w, struct ls_str *out, struct ls_err *err)
{
	const json_t *row = json_array_get(w->rows, 0);
	json_t *words = NULL;
	int rc = ls_slurm_words(w, &words, err);
	if (rc)
		return rc;
	ls_str_addf(
		out,
		"#!/bin/bash\n"
		"# %s, written by `lockstep exp submit`. Slurm has a copy of its own, so that a "
		"change in\n# this file only counts if you submit it yourself.\n",
		job_name(w));
	add_directives(words, out);
	json_decref(words);
	char *project = ls_str_shell(w->project);
	ls_str_addf(out, "\ncd -- %s || exit\n", project);
	free(project);
	add_names(w, out);
	rc = add_program(w, out, err);
	double soft = ls_col_real(row, "soft_limit", 0), grace = ls_col_real(row, "grace", 300);
	ls_str_addf(out, "submission=%s soft_limit=%.12g grace=%.12g requeue=%s\n", w->uuid, soft,
		    grace, ls_col_int(row, "requeue", 0) ? "true" : "false");
	const struct ls_blob *attempt = ls_embed_find("src/job/slurm_attempt.sh");
	ls_str_add_bytes(out, attempt->data, attempt->len);
	return rc;
}
