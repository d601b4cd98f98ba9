/* lockstep worker: the local engine. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "gpu/nvml.h"
#include "job/worker.h"

static const struct ls_opt opts[] = {
	{"gpus", 0, "LIST", "GPUs it may use: auto (the default), none, or numbers such as 0,1"},
	{"cpus", 0, "N", "experiments without GPUs at the same time (default: the processors)"},
	{"soft-limit", 0, "S", "seconds until a job is told to end by SIGTERM (default 19800)"},
	{"hard-limit", 0, "S", "seconds until a job is killed (default 21600); 0: never"},
	{"grace", 0, "S", "seconds between SIGTERM and the kill (default 120)"},
	{"once", 0, NULL, "end when nothing is left that can run here"},
	{0},
};

static json_t *split(const char *list)
{
	char *text = ls_xstrdup(list), *save = NULL;
	json_t *out = json_array();
	for (char *t = strtok_r(text, ",", &save); t; t = strtok_r(NULL, ",", &save))
		json_array_append_new(out, ls_json_lossy(ls_str_trim(t)));
	free(text);
	return out;
}

/* What a program would see: CUDA_VISIBLE_DEVICES, else all that the driver has. */
static json_t *find_gpus(void)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	struct ls_nvml *nvml = NULL;
	unsigned n = 0;
	int code;
	if (visible)
		return split(visible);
	if (!ls_nvml_open(NULL, &nvml, &code, NULL, NULL) && ls_nvml_count(nvml, &n))
		n = 0;
	ls_nvml_close(nvml);
	json_t *out = json_array();
	for (unsigned i = 0; i < n; i++)
		json_array_append_new(out, json_sprintf("%u", i));
	return out;
}

static json_t *gpus_of(const struct ls_args *args)
{
	const char *list = ls_args_get(args, "gpus");
	if (!list || strcmp(list, "auto") == 0)
		return find_gpus();
	return strcmp(list, "none") == 0 ? json_array() : split(list);
}

static void say(void *ctx, const char *text)
{
	(void)ctx;
	ls_cmd_note(text);
}

static int read_options(const struct ls_args *args, struct ls_worker_options *o, struct ls_err *err)
{
	uint64_t slots = (uint64_t)ls_cpus();
	int rc = ls_args_u64(args, "cpus", 0, 1000000, &slots, err);
	o->slots = (int64_t)slots;
	o->soft = 19800;
	o->hard = 21600;
	o->grace = 120;
	if (!rc)
		rc = ls_args_double(args, "soft-limit", 0, 1e9, &o->soft, err);
	if (!rc)
		rc = ls_args_double(args, "hard-limit", 0, 1e9, &o->hard, err);
	return rc ? rc : ls_args_double(args, "grace", 0, 1e9, &o->grace, err);
}

static int work(struct ls_store *s, const struct ls_worker_options *o, const struct ls_args *args)
{
	struct ls_worker_result r;
	struct ls_err err = {0};
	if (ls_worker_run(s, o, &r, &err))
		return ls_cmd_fail(&err);
	if (ls_args_has(args, "json"))
		ls_cmd_print_json_take(json_pack("{s:I,s:I,s:i}", "done", (json_int_t)r.done,
						 "other", (json_int_t)r.other, "left", r.left));
	if (r.left)
		fprintf(stderr, "lockstep: %d job%s on; the next worker takes them back\n", r.left,
			r.left == 1 ? " goes" : "s go");
	if (r.signal)
		return 128 + r.signal;
	return o->once && r.other ? LS_EXIT_NO : LS_EXIT_YES;
}

static int run(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	struct ls_err err = {0};
	struct ls_worker_options o = {
		.once = ls_args_has(args, "once"), .envp = environ, .say = say};
	if (read_options(args, &o, &err))
		return ls_cmd_usage("worker: %s", err.msg);
	if (ls_store_open(".", &s, &err))
		return ls_cmd_fail(&err);
	char *self = realpath("/proc/self/exe", NULL);
	o.self = self ? self : "lockstep";
	o.gpus = gpus_of(args);
	int status = work(s, &o, args);
	json_decref(o.gpus);
	free(self);
	ls_store_close(s);
	return status;
}

const struct ls_cmd ls_cmd_worker = {
	.name = "worker",
	.summary = "run queued experiments on this machine, one per GPU",
	.synopsis =
		"[--gpus LIST] [--cpus N] [--soft-limit S] [--hard-limit S] [--grace S] [--once]",
	.details =
		"If it is killed, running experiments go on, and the next worker takes them over.\n"
		"With --once the exit status is 1 when an attempt did not succeed.",
	.opts = opts,
	.run = run,
};
