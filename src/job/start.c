#include "job/start.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "job/attempt.h"
#include "job/command.h"
#include "job/experiment.h"
#include "job/queue.h"
#include "job/row.h"
#include "job/supervise.h"

/* --- environment --- */

struct env {
	char **items; /* NULL-terminated, owned */
	size_t n, cap;
};

static void env_set(struct env *e, const char *name, const char *value)
{
	size_t len = strlen(name);
	char *item = ls_xasprintf("%s=%s", name, value);
	for (size_t i = 0; i < e->n; i++)
		if (strncmp(e->items[i], item, len + 1) == 0) {
			free(e->items[i]);
			e->items[i] = item;
			return;
		}
	e->items = ls_grow(e->items, e->n + 1, &e->cap, sizeof *e->items);
	e->items[e->n++] = item;
	e->items[e->n] = NULL;
}

static void env_begin(struct env *e, char *const *envp)
{
	*e = (struct env){0};
	for (size_t i = 0; envp[i]; i++) {
		e->items = ls_grow(e->items, e->n + 1, &e->cap, sizeof *e->items);
		e->items[e->n++] = ls_xstrdup(envp[i]);
		e->items[e->n] = NULL;
	}
}

static void env_done(struct env *e)
{
	ls_command_free(e->items);
}

/* GPUs as CUDA shall see them, in the order in which nvidia-smi counts. */
static void env_gpus(struct env *e, const json_t *gpus)
{
	struct ls_str list = {0};
	const json_t *gpu;
	size_t i;
	json_array_foreach(gpus, i, gpu)
		ls_str_addf(&list, "%s%s", i ? "," : "", json_string_value(gpu));
	env_set(e, "CUDA_VISIBLE_DEVICES", list.s ? list.s : "");
	env_set(e, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
	ls_str_done(&list);
}

/* --- the attempt's place and words --- */

struct place {
	char *folder, *out, *previous; /* previous: "" for the first attempt */
};

static void place_done(struct place *p)
{
	free(p->folder);
	free(p->out);
	free(p->previous);
}

static int place_make(struct ls_store *s, const json_t *row, struct place *ret, struct ls_err *err)
{
	const char *root = ls_store_root(s), *name = ls_col_text(row, "name");
	long long attempt = (long long)ls_col_int(row, "attempt", 0);
	ret->folder = ls_xasprintf("%s/%s", root, ls_col_text(row, "folder"));
	ret->out = ls_xasprintf("%s/out", ret->folder);
	ret->previous =
		attempt > 1 ? ls_xasprintf("%s/runs/%s/attempt-%lld/out", root, name, attempt - 1)
			    : ls_xstrdup("");
	return ls_folder_make(ret->out, err);
}

/* `lockstep run` around the command, where a level was asked for. */
static void wrap(json_t *command, const json_t *row, const char *self, const char *out)
{
	const json_t *level = json_object_get(row, "level"), *seed = json_object_get(row, "seed");
	if (!json_is_integer(level))
		return;
	json_t *front =
		json_pack("[s,s,s,o,s,s]", self, "run", "--level",
			  json_sprintf("%lld", (long long)json_integer_value(level)), "--out", out);
	if (json_is_integer(seed)) {
		json_array_append_new(front, json_string("--seed"));
		json_array_append_new(front,
				      json_sprintf("%lld", (long long)json_integer_value(seed)));
	}
	json_array_append_new(front, json_string("--"));
	json_array_extend(front, command);
	json_array_clear(command);
	json_array_extend(command, front);
	json_decref(front);
}

static int make_words(const json_t *row, const struct ls_worker_options *o, const struct place *p,
		      char ***ret, struct ls_err *err)
{
	json_t *values =
		ls_experiment_values(row, p->out, p->previous, ls_col_int(row, "attempt", 0));
	json_t *command = json_copy(json_object_get(row, "command"));
	wrap(command, row, o->self, p->out);
	int rc = ls_command_words(command, ls_experiment_value, values, ret, err);
	json_decref(command);
	json_decref(values);
	return rc;
}

static void make_env(const json_t *row, const struct ls_worker_options *o, const struct place *p,
		     struct env *ret)
{
	env_begin(ret, o->envp);
	env_gpus(ret, json_object_get(row, "gpus"));
	env_set(ret, LS_ATTEMPT_VARIABLE, ls_col_text(row, "token"));
	env_set(ret, "LOCKSTEP_EXPERIMENT", ls_col_text(row, "name"));
	env_set(ret, "LOCKSTEP_OUT", p->out);
	env_set(ret, "LOCKSTEP_PREVIOUS", p->previous);
}

/* A limit of 0 that was given means none; one that was not given is the worker's. */
static double limit(const json_t *row, const char *key, double usual)
{
	double own = ls_col_real(row, key, -1);
	return own >= 0 ? own : usual;
}

static int launch(struct ls_store *s, const struct ls_worker_options *o, const json_t *row,
		  struct ls_supervise *what, pid_t *ret_pid, struct ls_err *err)
{
	char *lock = ls_queue_lock(s, ls_col_text(row, "token"));
	int rc = ls_attempt_lock(lock, &what->lock, err);
	if (!rc) {
		what->soft = limit(row, "soft_limit", o->soft);
		what->hard = limit(row, "hard_limit", o->hard);
		what->grace = limit(row, "grace", o->grace);
		pid_t pid = fork();
		if (pid == 0)
			ls_supervise(what);
		if (pid < 0)
			rc = ls_err_errno(err, "fork", "make a process");
		else
			*ret_pid = pid;
		close(what->lock); /* the supervisor's copy holds the lock now */
	}
	free(lock);
	return rc;
}

int ls_start(struct ls_store *s, const struct ls_worker_options *o, const json_t *row,
	     pid_t *ret_pid, struct ls_err *err)
{
	struct place p = {0};
	struct env env = {0};
	char **words = NULL;
	int rc = place_make(s, row, &p, err);
	if (!rc)
		rc = make_words(row, o, &p, &words, err);
	if (!rc) {
		make_env(row, o, &p, &env);
		struct ls_supervise what = {.folder = p.folder,
					    .cwd = ls_store_root(s),
					    .argv = words,
					    .envp = env.items};
		rc = launch(s, o, row, &what, ret_pid, err);
	}
	env_done(&env);
	ls_command_free(words);
	place_done(&p);
	return rc;
}
