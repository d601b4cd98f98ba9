/* lockstep monitor: what the GPUs of this machine do and how they are. */
#include "cmd/monitor.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "watch/health_report.h"
#include "watch/report.h"

enum { LOOK_NS = 100000000 }; /* between two looks, for shares of time */

static int read_rules(struct ls_monitor *m, const struct ls_args *args, struct ls_err *err)
{
	const char *file = ls_args_get(args, "rules"), *name;
	char *text;
	size_t len;
	if (ls_rules_load(&m->rules, err) || ls_xid_table_load(&m->xids, err))
		return err->code;
	if (file) {
		if (ls_file_read(file, 1 << 20, &text, &len, err))
			return err->code;
		int rc = ls_rules_merge(m->rules, text, len, file, err);
		free(text);
		if (rc)
			return rc;
	}
	for (size_t i = 0; (name = ls_args_nth(args, "skip", i)); i++)
		if (ls_rules_leave_out(m->rules, name, err))
			return ls_err_prefix(err, "option --skip");
	return 0;
}

static void done(struct ls_monitor *m)
{
	ls_judge_free(m->judge);
	ls_rules_free(m->rules);
	ls_xid_table_free(m->xids);
	ls_sampler_free(m->sampler);
}

static int init(struct ls_monitor *m, const struct ls_args *args, bool once, struct ls_err *err)
{
	uint64_t gpus = 0;
	struct ls_judge_options o = {
		.expected = -1, .once = once, .epilog = ls_args_has(args, "epilog")};
	m->interval = 1;
	if (ls_args_u64(args, "gpus", 0, LS_SAMPLE_GPUS, &gpus, err) ||
	    ls_args_double(args, "interval", 0.1, 3600, &m->interval, err) ||
	    read_rules(m, args, err))
		return err->code;
	if (ls_args_has(args, "gpus"))
		o.expected = (int)gpus;
	m->judge = ls_judge_new(m->rules, m->xids, &o);
	m->sampler = ls_sampler_new(getenv("LOCKSTEP_ROOT")); /* scripted, for tests */
	return 0;
}

static void print_text(const struct ls_monitor *m, const struct ls_sample *sample)
{
	struct ls_str out = {0};
	if (ls_cmd_can_draw(stdout) && !ls_args_has(m->args, "once"))
		ls_str_add(&out, "\033[H\033[2J"); /* the cursor home, the screen empty */
	ls_watch_text(sample, &out);
	ls_str_add(&out, "\n");
	ls_health_text(m->judge, &out);
	fputs(out.s, stdout);
	fflush(stdout);
	ls_str_done(&out);
}

static void print_json(const struct ls_monitor *m, const struct ls_sample *sample)
{
	json_t *o = ls_watch_json(sample), *health = ls_health_json(m->judge);
	json_object_update(o, health);
	json_decref(health);
	ls_cmd_print_json_take(o);
}

/* One look, or one every interval until Ctrl-C where somebody looks at it. */
static int watch(struct ls_monitor *m)
{
	struct ls_sample sample;
	bool json = ls_args_has(m->args, "json");
	bool live = !json && !ls_args_has(m->args, "once") && ls_cmd_can_draw(stdout);
	ls_sampler_prime(m->sampler);
	ls_monitor_sleep(LOOK_NS * 1e-9);
	do {
		ls_monitor_look(m, &sample);
		if (json)
			print_json(m, &sample);
		else
			print_text(m, &sample);
		ls_sample_done(&sample);
		if (live && !ls_monitor_stopped())
			ls_monitor_sleep(m->interval);
	} while (live && !ls_monitor_stopped());
	return LS_EXIT_YES;
}

/* The statuses of monitoring plug-ins, which are not those of other commands. */
static int plugin_status(enum ls_health h)
{
	return h == LS_HEALTH_OK ? 0 : h == LS_HEALTH_WARN ? 1 : h == LS_HEALTH_CRITICAL ? 2 : 3;
}

static int check(struct ls_monitor *m)
{
	struct ls_sample sample;
	ls_monitor_look(m, &sample);
	if (ls_args_has(m->args, "json")) {
		ls_cmd_print_json_take(ls_health_json(m->judge));
	} else {
		struct ls_str out = {0};
		ls_health_line(m->judge, &out);
		fputs(out.s, stdout);
		ls_str_done(&out);
	}
	ls_sample_done(&sample);
	return plugin_status(ls_judge_worst(m->judge));
}

static int failed(bool is_check, const struct ls_err *err)
{
	int status = ls_cmd_fail(err);
	return is_check ? plugin_status(LS_HEALTH_UNKNOWN) : status;
}

static int run_monitor(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_err err = {0};
	struct ls_monitor m = {.args = args};
	bool is_check = args->n_pos == 1 && strcmp(args->pos[0], "check") == 0;
	if (args->n_pos && !is_check)
		return ls_cmd_usage("monitor: \"%s\" is not \"check\"", args->pos[0]);
	if (!is_check && ls_args_has(args, "epilog"))
		return ls_cmd_usage("monitor: --epilog belongs to monitor check");
	bool listens = ls_args_has(args, "listen");
	if (is_check && listens)
		return ls_cmd_usage("monitor: check does not listen");
	static const char *const needs_listen[] = {"token-file", "history", "project"};
	for (size_t i = 0; !listens && i < sizeof needs_listen / sizeof *needs_listen; i++)
		if (ls_args_has(args, needs_listen[i]))
			return ls_cmd_usage("monitor: --%s belongs to --listen", needs_listen[i]);
	bool once = !listens && (is_check || ls_args_has(args, "once") ||
				 ls_args_has(args, "json") || !ls_cmd_can_draw(stdout));
	if (!once)
		ls_monitor_until_stopped();
	int rc = init(&m, args, once, &err);
	int status = rc         ? failed(is_check, &err)
		     : is_check ? check(&m)
		     : listens  ? ls_monitor_listen(&m)
				: watch(&m);
	done(&m);
	return status;
}

static const struct ls_opt opts[] = {
	{"once", 0, NULL, "print what is now and end"},
	{"listen", 0, "ADDRESS", "answer over HTTP: 127.0.0.1:9495, or a port alone"},
	{"token-file", 0, "FILE", "a secret that clients of --listen must have; mode 0600"},
	{"history", 0, "DIR",
	 "where --listen keeps what was measured (~/.local/state/lockstep/monitor), or none"},
	{"project", 0, "DIR", "the project whose jobs and experiments --listen shows (.)"},
	{"interval", 'i', "S", "seconds between two looks (1)"},
	{"rules", 0, "FILE", "health rules that change or add to the shipped ones"},
	{"skip", 0, "RULE", "leave a rule out; may be given several times"},
	{"gpus", 0, "N", "how many GPUs there should be; 0 on a machine without"},
	{"epilog", 0, NULL, "check: a job has ended, and nothing of it may be left"},
	{0},
};

const struct ls_cmd ls_cmd_monitor = {
	.name = "monitor",
	.summary = "watch GPUs, their processes and their health",
	.synopsis = "[--once] [--interval S] [--rules FILE] [--skip RULE]… [--gpus N]\n"
		    "--listen ADDRESS [--token-file FILE] [--history DIR] [--project DIR] "
		    "[--interval S] [--rules FILE] [--skip RULE]… [--gpus N]\n"
		    "check [--rules FILE] [--skip RULE]… [--gpus N] [--epilog]",
	.details = "Without a GPU it shows the host, and says why there is no GPU.\n"
		   "check prints one line and ends with 0 (ok), 1 (warn), 2 (critical) or 3\n"
		   "(unknown), as monitoring plug-ins do.",
	.opts = opts,
	.max_pos = 1,
	.run = run_monitor,
};
