#include "run/run.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/mem.h"
#include "base/proc.h"
#include "run/bytecode.h"
#include "run/cmdline.h"
#include "run/folder.h"
#include "run/git.h"
#include "run/gpuwatch.h"
#include "run/hook.h"
#include "run/ktrace.h"
#include "run/manifest.h"
#include "run/start.h"

struct run {
	const struct ls_run_request *ask;
	const char **argv; /* with {out} filled in */
	size_t argc;
	char *out;
	struct ls_cmdline cmdline;
	struct ls_runenv env;
	struct ls_hook hook;
	struct ls_tree before;
	struct ls_procscan scan;
	json_t *manifest, *gpu_memory; /* the latter: NULL where no GPU tells */
	char *path;
	struct ls_str notices;
	bool held;
};

/* Every "{out}" in a word becomes the folder, and every "{seed}" the seed. */
static char *fill_word(const char *word, const char *out, uint64_t seed)
{
	struct ls_str s = {0};
	for (const char *p; (p = strchr(word, '{')); word = p) {
		ls_str_add_bytes(&s, word, (size_t)(p - word));
		if (ls_str_starts(p, "{out}")) {
			ls_str_add(&s, out);
			p += strlen("{out}");
		} else if (ls_str_starts(p, "{seed}")) {
			ls_str_addf(&s, "%llu", (unsigned long long)seed);
			p += strlen("{seed}");
		} else {
			ls_str_add_bytes(&s, p++, 1);
		}
	}
	ls_str_add(&s, word);
	return ls_str_take(&s);
}

static void fill_argv(struct run *r)
{
	while (r->ask->argv[r->argc])
		r->argc++;
	r->argv = ls_xalloc((r->argc + 1) * sizeof *r->argv);
	for (size_t i = 0; i < r->argc; i++)
		r->argv[i] = fill_word(r->ask->argv[i], r->out, r->ask->policy.seed);
}

/* Finds what is wrong with a request before anything is written. */
static int check_request(struct run *r, struct ls_err *err)
{
	for (const char *const *v = r->ask->vars; v && *v; v++)
		if (!strchr(*v, '=') || **v == '=')
			return ls_err_set(err, LS_EINPUT,
					  "environment \"%.80s\": expected NAME=VALUE", *v);
	for (const char *const *p = r->ask->inputs; p && *p; p++)
		if (access(*p, R_OK) < 0)
			return ls_err_errno(err, *p, "read the input");
	if (strchr(r->ask->out, ':'))
		return ls_err_set(err, LS_EINPUT,
				  "%s: an output folder with a colon cannot stand on PYTHONPATH",
				  r->ask->out);
	char *program;
	int rc = ls_launch_find(r->ask->argv[0], &program, err);
	if (rc)
		return rc;
	free(program);
	ls_cmdline_read(r->ask->argv, &r->cmdline);
	if (r->cmdline.shut)
		return ls_err_set(
			err, LS_EINPUT,
			"%s. The policy would not reach the program, so it was not started: "
			"start it without this",
			r->cmdline.shut);
	return 0;
}

static int make_out(struct run *r, struct ls_err *err)
{
	int rc = ls_folder_make(r->ask->out, err);
	if (rc)
		return rc;
	r->out = realpath(r->ask->out, NULL);
	if (!r->out)
		return ls_err_errno(err, r->ask->out, "resolve");
	r->path = ls_xasprintf("%s/run_manifest.json", r->out);
	return ls_tree_read(r->out, &r->before, err);
}

static int digest_inputs(struct run *r, json_t *list, struct ls_err *err)
{
	int rc = 0;
	for (const char *const *p = r->ask->inputs; p && *p && rc == 0; p++) {
		json_t *one;
		rc = ls_folder_digest(*p, r->out, &one, err);
		if (rc == 0)
			json_array_append_new(list, one);
	}
	return rc;
}

static void user_vars(struct run *r)
{
	for (const char *const *v = r->ask->vars; v && *v; v++) {
		char *name = ls_xstrndup(*v, strcspn(*v, "="));
		ls_runenv_set(&r->env, name, strchr(*v, '=') + 1);
		free(name);
	}
}

static int prepare_env(struct run *r, struct ls_err *err)
{
	const struct ls_policy *policy = &r->ask->policy;
	ls_runenv_init(&r->env, r->ask->envp);
	ls_policy_apply(policy, &r->env);
	user_vars(r);
	int rc = ls_hook_init(&r->hook, r->out, policy, &r->env, err);
	if (rc)
		return rc;
	ls_bytecode_bring(r->ask->cache, r->hook.dir);
	if (ls_runenv_get(&r->env, "LOCKSTEP_CHILD"))
		ls_runenv_set(&r->env, "LOCKSTEP_CHILD", NULL); /* of a run around this one */
	char seed[32];
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)policy->seed);
	ls_runenv_set(&r->env, "LOCKSTEP_OUT", r->out);
	ls_runenv_set(&r->env, "LOCKSTEP_SEED", seed);
	ls_runenv_set(&r->env, "LOCKSTEP_PRECISION", policy->precision);
	if (policy->trace && strcmp(policy->trace, "kernels") == 0 && policy->inject) {
		ls_runenv_set(&r->env, "CUDA_INJECTION64_PATH", policy->inject);
		ls_runenv_set(&r->env, "LOCKSTEP_TRACE_DIR", r->hook.trace_dir);
	}
	return 0;
}

static int start_manifest(struct run *r, struct ls_err *err)
{
	json_t *policy = ls_policy_json(&r->ask->policy), *inputs = json_array();
	json_object_set(policy, "env", r->env.changes);
	json_object_set_new(policy, "observed_env", ls_policy_observed(&r->env));
	int rc = ls_manifest_start_take((const char *const *)r->argv, r->out, policy, inputs,
					&r->manifest, err);
	if (rc)
		return rc;
	if (r->ask->spec)
		json_object_set(r->manifest, "spec", (json_t *)(uintptr_t)r->ask->spec);
	rc = digest_inputs(r, inputs, err);
	return rc ? rc : ls_json_write(r->path, r->manifest, err);
}

static bool has_ended(pid_t child)
{
	siginfo_t info = {0};
	return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	       info.si_pid == child;
}

/* Adds the facts of the machine while the command runs, as gathering them may take a
 * second. Writes the manifest again unless the command has ended; a failure to write
 * shows at the end. */
static void add_facts(struct run *r, pid_t child)
{
	json_t *environment = NULL, *block = NULL;
	r->ask->facts(r->ask->facts_ctx, &environment, &block);
	json_object_set(r->manifest, "environment", environment);
	json_object_set(r->manifest, "env", block);
	if (!has_ended(child))
		ls_json_write(r->path, r->manifest, NULL);
}

/* Waits until the command ends, at most ms milliseconds; returns whether it has ended.
 * handle: a pidfd of the command, or -1 where the kernel has none. */
static bool ends_within(pid_t child, int handle, int ms)
{
	enum { STEP_MS = 5 };
	if (handle >= 0) {
		struct pollfd p = {.fd = handle, .events = POLLIN};
		return poll(&p, 1, ms) > 0; /* a signal that interrupts it: not yet */
	}
	for (; ms > 0 && !has_ended(child); ms -= STEP_MS)
		poll(NULL, 0, STEP_MS);
	return has_ended(child);
}

/* Runs on a thread of its own while the command runs. */
static void meanwhile(void *run, pid_t child)
{
	struct run *r = run;
	struct ls_gpuwatch watch;
	int handle = (int)syscall(SYS_pidfd_open, child, 0);
	ls_gpuwatch_begin(&watch);
	add_facts(r, child);
	while (watch.n && !ends_within(child, handle, LS_GPUWATCH_MS))
		ls_gpuwatch_look(&watch);
	r->gpu_memory = ls_gpuwatch_end(&watch);
	if (handle >= 0)
		close(handle);
}

static void notice_list(struct run *r, const json_t *held, const char *list, const char *fmt,
			const char *a, const char *b)
{
	size_t i;
	json_t *e;
	json_array_foreach(json_object_get(held, list), i, e)
	{
		const char *where = json_string_value(json_object_get(e, "where"));
		char *found = b ? json_dumps(json_object_get(e, b), JSON_ENCODE_ANY) : NULL;
		const char *what = json_string_value(json_object_get(e, a));
		ls_str_addf(&r->notices, fmt, what ? what : "?", found ? found : "");
		if (where && *where)
			ls_str_addf(&r->notices, " at %s", where);
		ls_str_add(&r->notices, "\n");
		free(found);
	}
}

static void judge(struct run *r, json_t *held)
{
	size_t i;
	json_t *e;
	json_array_foreach(json_object_get(held, "uncovered"), i, e)
		ls_str_addf(&r->notices, "the policy did not reach a Python interpreter: %.300s\n",
			    json_string_value(e));
	r->held = json_array_size(json_object_get(held, "uncovered")) == 0 &&
		  json_array_size(json_object_get(held, "failed")) == 0;
	if (r->cmdline.python && !r->cmdline.brief &&
	    json_integer_value(json_object_get(held, "count")) == 0) {
		ls_str_add(&r->notices, "the policy did not take hold: no interpreter of this run "
					"loaded the hook\n");
		r->held = false;
	}
	size_t nested = 0;
	json_array_foreach(json_object_get(held, "interpreters"), i, e) nested +=
		json_is_true(json_object_get(e, "nested"));
	if (nested)
		ls_str_addf(&r->notices,
			    "a lockstep run inside this one had a policy of its own for %zu "
			    "interpreters\n",
			    nested);
	notice_list(r, held, "failed", "%s%s", "reason", NULL);
	notice_list(r, held, "undone", "the program changed %s to %s", "setting", "found");
	notice_list(r, held, "nondeterministic", "no deterministic form: %s%s", "operation", NULL);
	bool nothing = r->held && json_integer_value(json_object_get(held, "count")) == 0;
	json_object_set_new(held, "held", nothing ? json_null() : json_boolean(r->held));
}

/* "exact: 61 of 63 kinds of calls; outside: aten.foo (train.py:12)" */
static void tell_exact(struct run *r)
{
	enum { SHOWN = 8 };
	size_t n = 0;
	const char *name;
	json_t *v, *exact = json_object_get(r->manifest, "exact"),
		   *outside = json_object_get(exact, "outside");
	if (!r->ask->policy.exact)
		return;
	if (!exact) {
		ls_str_add(&r->notices, "exact: no process of this run computed with PyTorch\n");
		return;
	}
	ls_str_addf(&r->notices, "exact: %lld of %lld kinds of calls",
		    (long long)json_integer_value(json_object_get(exact, "exact_kinds")),
		    (long long)json_integer_value(json_object_get(exact, "kinds")));
	json_object_foreach(outside, name, v)
	{
		const char *where = json_string_value(json_object_get(v, "where"));
		if (n++ < SHOWN)
			ls_str_addf(&r->notices, "%s%s (%s)", n == 1 ? "; outside: " : ", ", name,
				    where ? where : "?");
	}
	if (n > SHOWN)
		ls_str_addf(&r->notices, ", and %zu more", n - SHOWN);
	ls_str_add(&r->notices, "\n");
}

static json_t *result_json(const struct ls_launched *c)
{
	return json_pack("{s:i,s:o,s:o}", "status", c->status, "signal",
			 c->signal ? json_integer(c->signal) : json_null(), "signal_name",
			 c->signal ? json_string(strsignal(c->signal)) : json_null());
}

static int add_outputs(struct run *r, struct ls_err *err)
{
	struct ls_tree after;
	int rc = ls_tree_read(r->out, &after, err);
	if (rc)
		return rc;
	json_object_set_new(r->manifest, "outputs", ls_tree_written(&r->before, &after));
	ls_tree_done(&after);
	return 0;
}

static void move_key(json_t *to, json_t *from, const char *key)
{
	json_t *v = json_object_get(from, key);
	if (v)
		json_object_set(to, key, v);
	json_object_del(from, key);
}

static int finish_manifest(struct run *r, const struct ls_launched *c, struct ls_err *err)
{
	json_t *held, *m = r->manifest;
	int rc = ls_hook_collect(r->hook.seen, &held, err);
	if (rc)
		return rc;
	ls_hook_match(held, &r->scan);
	judge(r, held);
	static const char *const up[] = {"modules",  "seeds",    "determinism",  "gpus", "sources",
					 "packages", "training", "global_batch", "exact"};
	for (size_t i = 0; i < sizeof up / sizeof *up; i++)
		move_key(m, held, up[i]);
	tell_exact(r);
	json_object_set_new(m, "hook", held);
	json_object_set_new(m, "state", json_string("finished"));
	json_object_set_new(m, "ended", ls_manifest_time());
	json_object_set_new(m, "result", result_json(c));
	json_object_set_new(m, "resources",
			    json_pack("{s:f,s:f,s:f,s:I}", "wall_s", c->wall_s, "user_s", c->user_s,
				      "system_s", c->system_s, "peak_rss_bytes",
				      (json_int_t)c->peak_rss));
	if (r->gpu_memory)
		json_object_set(json_object_get(m, "resources"), "gpu_memory", r->gpu_memory);
	if (r->hook.trace_dir)
		json_object_set_new(m, "trace", ls_trace_summary(r->hook.trace_dir));
	rc = add_outputs(r, err);
	return rc ? rc : ls_json_write(r->path, m, err);
}

static void run_done(struct run *r)
{
	for (size_t i = 0; r->argv && i < r->argc; i++)
		free((char *)(uintptr_t)r->argv[i]);
	free(r->argv);
	free(r->out);
	free(r->path);
	ls_cmdline_done(&r->cmdline);
	if (r->env.changes)
		ls_runenv_done(&r->env);
	ls_hook_done(&r->hook);
	ls_tree_done(&r->before);
	ls_procscan_done(&r->scan);
	json_decref(r->manifest);
	json_decref(r->gpu_memory);
	ls_str_done(&r->notices);
}

static int prepare(struct run *r, struct ls_err *err)
{
	int rc = check_request(r, err);
	if (rc == 0)
		rc = make_out(r, err);
	if (rc)
		return rc;
	fill_argv(r);
	rc = prepare_env(r, err);
	return rc ? rc : start_manifest(r, err);
}

int ls_run(const struct ls_run_request *request, struct ls_run_result *ret, struct ls_err *err)
{
	struct run r = {.ask = request};
	struct ls_launched child;
	int rc = prepare(&r, err);
	if (rc == 0) {
		struct ls_launch what = {r.argv, r.env.vars, request->output,
					 request->facts ? meanwhile : NULL, &r};
		rc = ls_launch(&what, &r.scan, &child, err);
		if (rc)
			unlink(r.path); /* nothing ran, nothing to tell */
	}
	if (rc == 0) {
		ls_bytecode_keep(request->cache, r.hook.dir);
		rc = finish_manifest(&r, &child, err);
	}
	if (rc == 0) {
		*ret = (struct ls_run_result){r.manifest, r.path, child, r.held, r.notices};
		r.manifest = NULL;
		r.path = NULL;
		r.notices = (struct ls_str){0};
	}
	run_done(&r);
	return rc;
}

void ls_run_result_done(struct ls_run_result *result)
{
	json_decref(result->manifest);
	free(result->path);
	ls_str_done(&result->notices);
	*result = (struct ls_run_result){0};
}
