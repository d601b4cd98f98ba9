/* What the subcommands of lockstep exp do for experiments that Slurm runs. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cmd/exp.h"
#include "job/slurm.h"

static char *self(void)
{
	char *path = realpath("/proc/self/exe", NULL);
	return path ? path : ls_xstrdup("lockstep");
}

static const char *const texts[] = {"partition", "gres", "time",      "mem",
				    "account",   "qos",  "constraint"};
static const char *const counts[] = {"nodes", "throttle"};

enum { TEXTS = sizeof texts / sizeof *texts, COUNTS = sizeof counts / sizeof *counts };

bool ls_exp_slurm_wanted(const struct ls_args *args)
{
	const char *engine = ls_args_get(args, "engine");
	return ls_args_has(args, "slurm") || ls_args_has(args, "partition") ||
	       (engine && strcmp(engine, "slurm") == 0);
}

/* An option that only Slurm has, given for the local engine; or NULL. */
const char *ls_exp_slurm_only(const struct ls_args *args)
{
	for (size_t i = 0; i < TEXTS; i++)
		if (ls_args_has(args, texts[i]))
			return texts[i];
	for (size_t i = 0; i < COUNTS; i++)
		if (ls_args_has(args, counts[i]))
			return counts[i];
	return ls_args_has(args, "slurm") ? "slurm" : ls_args_has(args, "sbatch") ? "sbatch" : NULL;
}

static int options(const struct ls_args *args, json_t *to, struct ls_err *err)
{
	json_t *words = json_array();
	const char *v;
	int rc = 0;
	for (size_t i = 0; i < TEXTS; i++)
		if ((v = ls_args_get(args, texts[i])))
			json_object_set_new(to, texts[i], ls_json_lossy(v));
	for (size_t i = 0; !rc && i < COUNTS; i++) {
		uint64_t n = 0;
		rc = ls_args_u64(args, counts[i], 1, 1000000, &n, err);
		if (!rc && n)
			json_object_set_new(to, counts[i], json_integer((json_int_t)n));
	}
	for (size_t i = 0; (v = ls_args_nth(args, "sbatch", i)); i++)
		json_array_append_new(words, ls_json_lossy(v));
	json_object_set_new(to, "sbatch", words);
	return rc;
}

static void print_sent(const json_t *sent, const struct ls_args *args)
{
	const json_t *e;
	size_t i;
	if (ls_args_has(args, "json")) {
		ls_cmd_print_json_take(json_pack("{s:O}", "submitted", sent));
		return;
	}
	json_array_foreach(sent, i, e)
	{
		printf("%s  Slurm job %s  ", ls_col_text(e, "name"), ls_col_text(e, "job"));
		ls_cmd_print_name(ls_col_text(e, "script"));
		puts("");
	}
}

int ls_exp_slurm_submit(struct ls_store *s, const struct ls_args *args, const char *const *names,
			size_t n, struct ls_submit *how)
{
	json_t *slurm = json_object(), *sent = NULL;
	struct ls_err err = {0};
	char *program = self();
	int status = ls_exp_refresh(s); /* what it comes after may have ended */
	how->slurm = slurm;
	int rc = status ? LS_EIO : options(args, slurm, &err);
	if (!rc)
		rc = ls_slurm_submit(s, names, n, how, program, &sent, &err);
	if (!rc)
		print_sent(sent, args);
	json_decref(sent);
	json_decref(slurm);
	free(program);
	return status ? status : rc ? ls_cmd_fail(&err) : 0;
}

int ls_exp_slurm_retry(struct ls_store *s, const json_t *names)
{
	struct ls_err err = {0};
	char *program = self();
	int rc = ls_slurm_resubmit(s, names, program, &err);
	free(program);
	return rc ? ls_cmd_fail(&err) : 0;
}

enum { ASK_AGAIN_S = 10 }; /* squeue is work for a controller that all users share */

int ls_exp_refresh_sometimes(struct ls_store *s, double *next)
{
	if (ls_clock() < *next)
		return 0;
	*next = ls_clock() + ASK_AGAIN_S;
	return ls_exp_refresh(s);
}

int ls_exp_refresh(struct ls_store *s)
{
	struct ls_slurm_news news;
	struct ls_err err = {0};
	char *program = self();
	int rc = ls_slurm_refresh(s, program, &news, &err);
	free(program);
	if (rc)
		return ls_cmd_fail(&err);
	if (!news.answered) {
		char *text = ls_xasprintf("Slurm does not answer, so what is shown of its %zu "
					  "experiment%s may be old: %s",
					  news.jobs, news.jobs == 1 ? "" : "s", news.why);
		ls_cmd_note(text);
		free(text);
	}
	return 0;
}
