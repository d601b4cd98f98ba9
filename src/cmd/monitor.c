/* lockstep monitor: what the GPUs of this machine do and how they are. */
#include "cmd/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "cmd/monitor_view.h"
#include "cmd/screen.h"
#include "run/manifest.h"
#include "watch/health_report.h"
#include "watch/report.h"

enum { LOOK_NS = 100000000 }; /* between two looks, for shares of time */
/* How long check and probe may take. The first probe after an update compiles kernels. */
enum { CHECK_S = 20, PROBE_S = 300 };

static int read_rules(struct ls_monitor *m, const struct ls_args *args, struct ls_err *err)
{
	const char *file = ls_args_get(args, "rules"), *name;
	char *text;
	size_t len;
	if (ls_rules_load(&m->rules, err) || ls_xid_table_load(&m->xids, err) ||
	    ls_advice_load(&m->advice, err))
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

/* The driver that a run was begun with. */
static int read_driver(struct ls_monitor *m, const char *path, struct ls_err *err)
{
	json_t *manifest, *row;
	const char *driver = NULL;
	size_t i;
	if (!path)
		return 0;
	int rc = ls_manifest_load(path, &manifest, err);
	if (rc)
		return rc;
	json_array_foreach(json_object_get(manifest, "environment"), i, row)
	{
		const char *key = json_string_value(json_object_get(row, "key"));
		if (key && strcmp(key, "driver") == 0)
			driver = json_string_value(json_object_get(row, "value"));
	}
	if (driver)
		m->driver = ls_xstrdup(driver);
	else
		rc = ls_err_set(err, LS_EINPUT, "%s: the run had no driver", path);
	json_decref(manifest);
	return rc;
}

/* --exports, or the user's record. */
static void follow_exports(struct ls_monitor *m, const struct ls_args *args, bool here)
{
	const char *given = ls_args_get(args, "exports");
	char *record = given ? ls_xstrdup(given) : here ? ls_cmd_export_record() : NULL;
	if (record)
		ls_job_watch_exports(m->jobs, record);
	free(record);
}

/* What runs and the machine are compared with. here: also experiments of the folder that
 * it was started in. */
static int read_wishes(struct ls_monitor *m, const struct ls_args *args, bool here,
		       struct ls_err *err)
{
	const char *spec = ls_args_get(args, "spec"), *project = ls_args_get(args, "project"), *log;
	struct ls_err unused = {0};
	m->jobs = ls_job_watch_new();
	if (!project && here) /* a folder without experiments is no error when none was named */
		ls_job_watch_project(m->jobs, ".", &unused);
	if (project && ls_job_watch_project(m->jobs, project, err))
		return ls_err_prefix(err, "option --project %s", project);
	if ((spec && ls_spec_load(spec, &m->spec, err)) ||
	    read_driver(m, ls_args_get(args, "manifest"), err))
		return err->code;
	follow_exports(m, args, here);
	for (size_t i = 0; (log = ls_args_nth(args, "log", i)); i++)
		if (ls_job_watch_log(m->jobs, log, err))
			return ls_err_prefix(err, "option --log");
	return 0;
}

static void done(struct ls_monitor *m)
{
	ls_job_watch_free(m->jobs);
	ls_spec_free(m->spec);
	free(m->driver);
	ls_judge_free(m->judge);
	ls_rules_free(m->rules);
	ls_xid_table_free(m->xids);
	ls_advice_free(m->advice);
	ls_sampler_free(m->sampler);
}

static int init(struct ls_monitor *m, const struct ls_args *args, bool once, struct ls_err *err)
{
	uint64_t gpus = 0;
	struct ls_judge_options o = {
		.expected = -1, .once = once, .epilog = ls_args_has(args, "epilog")};
	m->interval = 1;
	m->within = args->n_pos && strcmp(args->pos[0], "probe") == 0 ? PROBE_S : CHECK_S;
	if (ls_args_u64(args, "gpus", 0, LS_SAMPLE_GPUS, &gpus, err) ||
	    ls_args_double(args, "interval", 0.1, 3600, &m->interval, err) ||
	    ls_args_double(args, "within", 0.1, 3600, &m->within, err) ||
	    read_rules(m, args, err) || read_wishes(m, args, !once, err))
		return err->code;
	if (ls_args_has(args, "gpus"))
		o.expected = (int)gpus;
	o.advice = m->advice;
	o.spec = m->spec;
	o.driver = m->driver;
	m->judge = ls_judge_new(m->rules, m->xids, &o);
	m->root = getenv("LOCKSTEP_ROOT");
	m->sampler = ls_sampler_new(m->root);
	if (ls_args_has(args, "pcie"))
		ls_sampler_ask_traffic(m->sampler);
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

/* A terminal that ncurses does not know, or a machine without ncurses: tables. */
static int watch_plain(struct ls_monitor *m)
{
	struct ls_sample sample;
	while (!ls_monitor_stopped()) {
		ls_monitor_look(m, &sample);
		print_text(m, &sample);
		ls_sample_done(&sample);
		ls_monitor_sleep(m->interval);
	}
	return LS_EXIT_YES;
}

/* Keys are answered at once, between two looks as well. */
static void wait_with_keys(struct ls_view *v, struct ls_screen *screen,
			   const struct ls_sample *sample, const struct ls_judge *j)
{
	double until = ls_clock() + v->interval;
	while (!v->ended && !ls_monitor_stopped()) {
		double left = until - ls_clock();
		if (left <= 0 && !v->paused)
			return;
		int key = ls_screen_key(screen, left > 0 && left < 0.5 ? left : 0.5);
		ls_view_key(v, key);
		if (key != LS_KEY_NONE)
			ls_view_draw(v, screen, sample, j);
	}
}

static int watch_live(struct ls_monitor *m)
{
	struct ls_screen *screen;
	struct ls_sample sample;
	struct ls_err ignored;
	if (!isatty(STDIN_FILENO) ||
	    ls_screen_open(*ls_cmd_colour(stdout, "red") != 0, &screen, &ignored))
		return watch_plain(m);
	struct ls_view *v = ls_xalloc(sizeof *v);
	v->interval = m->interval;
	while (!v->ended && !ls_monitor_stopped()) {
		ls_monitor_look(m, &sample);
		ls_view_add(v, &sample);
		ls_view_draw(v, screen, &sample, m->judge);
		wait_with_keys(v, screen, &sample, m->judge);
		ls_sample_done(&sample);
	}
	ls_screen_close(screen);
	free(v);
	return LS_EXIT_YES;
}

/* One look, or one every interval until Ctrl-C where somebody looks at it. */
static int watch(struct ls_monitor *m)
{
	struct ls_sample sample;
	bool json = ls_args_has(m->args, "json");
	bool live = !json && !ls_args_has(m->args, "once") && ls_cmd_can_draw(stdout);
	ls_sampler_prime(m->sampler, ls_monitor_steady());
	ls_monitor_sleep(LOOK_NS * 1e-9);
	if (live)
		return watch_live(m);
	ls_monitor_look(m, &sample);
	if (json)
		print_json(m, &sample);
	else
		print_text(m, &sample);
	ls_sample_done(&sample);
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

static int probe(struct ls_monitor *m)
{
	return plugin_status(ls_monitor_probe(m));
}

/* --- a driver that hangs --- */

static int unknown(const struct ls_monitor *m, const char *why)
{
	if (ls_args_has(m->args, "json"))
		ls_cmd_print_json_take(json_pack("{s:s,s:[],s:o}", "health", "unknown", "verdicts",
						 "why", ls_json_lossy(why)));
	else
		printf("UNKNOWN: %s\n", why);
	fflush(stdout);
	return plugin_status(LS_HEALTH_UNKNOWN);
}

/* The end of the pipe that the child holds closes with its last breath. */
static bool ends_within(int pipe_end, double seconds)
{
	struct pollfd p = {pipe_end, POLLIN, 0};
	double until = ls_clock() + seconds;
	for (;;) {
		double left = until - ls_clock();
		int n = poll(&p, 1, left > 0 ? (int)(left * 1000) + 1 : 0);
		if (n > 0)
			return true;
		if (left <= 0)
			return false;
	}
}

static int ended(struct ls_monitor *m, pid_t child)
{
	char why[64];
	int status;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return unknown(m, "the look was lost");
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	snprintf(why, sizeof why, "the look was ended by signal %d", WTERMSIG(status));
	return unknown(m, why);
}

/* A call into a driver that hangs never returns, and not even a signal ends it. So a child
 * looks, and this process has the last word. */
static int guarded(struct ls_monitor *m, int (*look)(struct ls_monitor *m))
{
	char why[160];
	int ends[2];
	fflush(NULL);
	pid_t child = pipe2(ends, O_CLOEXEC) ? -1 : fork();
	if (child < 0)
		return look(m);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		int status = look(m);
		fflush(NULL);
		_exit(status);
	}
	close(ends[1]);
	bool in_time = ends_within(ends[0], m->within);
	close(ends[0]);
	if (in_time)
		return ended(m, child);
	kill(child, SIGKILL);
	snprintf(why, sizeof why,
		 "no answer for %g s: the driver hangs. Drain the machine, look into the kernel's "
		 "log, and reboot",
		 m->within);
	return unknown(m, why);
}

enum face { FACE_WATCH, FACE_CHECK, FACE_PROBE, FACE_LISTEN };

/* Options that some faces do not have. */
static int misplaced(const struct ls_args *args, enum face face)
{
	enum { WATCH = 1 << FACE_WATCH, CHECK = 1 << FACE_CHECK, LISTEN = 1 << FACE_LISTEN };
	static const struct {
		const char *option;
		unsigned faces;
		const char *of;
	} own[] = {{"epilog", CHECK, "monitor check"},
		   {"within", CHECK | 1 << FACE_PROBE, "monitor check and probe"},
		   {"beside-jobs", 1 << FACE_PROBE, "monitor probe"},
		   {"token-file", LISTEN, "--listen"},
		   {"history", LISTEN, "--listen"},
		   {"peers", LISTEN, "--listen"},
		   {"once", WATCH, "monitor alone"},
		   {"interval", WATCH | LISTEN, "monitor alone and --listen"},
		   {"json", ~(unsigned)LISTEN, "monitor alone, check and probe"},
		   {"pcie", WATCH | LISTEN, "monitor alone and --listen"},
		   {"rules", WATCH | CHECK | LISTEN, "monitor alone, check and --listen"},
		   {"skip", WATCH | CHECK | LISTEN, "monitor alone, check and --listen"},
		   {"gpus", WATCH | CHECK | LISTEN, "monitor alone, check and --listen"},
		   {"spec", WATCH | CHECK | LISTEN, "monitor alone, check and --listen"},
		   {"manifest", WATCH | CHECK | LISTEN, "monitor alone, check and --listen"},
		   {"project", WATCH | CHECK | LISTEN, "monitor alone, check and --listen"},
		   {"log", WATCH | CHECK | LISTEN, "monitor alone, check and --listen"},
		   {"exports", WATCH | CHECK | LISTEN, "monitor alone, check and --listen"}};
	if (ls_args_has(args, "listen") && face != FACE_LISTEN)
		return ls_cmd_usage("monitor: %s does not listen", args->pos[0]);
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (ls_args_has(args, own[i].option) && !(own[i].faces >> face & 1))
			return ls_cmd_usage("monitor: --%s belongs to %s", own[i].option,
					    own[i].of);
	return 0;
}

static int run_face(struct ls_monitor *m, enum face face)
{
	switch (face) {
	case FACE_CHECK:
		return guarded(m, check);
	case FACE_PROBE:
		return guarded(m, probe);
	case FACE_LISTEN:
		return ls_monitor_listen(m);
	default:
		return watch(m);
	}
}

static int run_monitor(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_err err = {0};
	struct ls_monitor m = {.args = args};
	const char *what = args->n_pos ? args->pos[0] : "", *config;
	enum face face = strcmp(what, "check") == 0    ? FACE_CHECK
			 : strcmp(what, "probe") == 0  ? FACE_PROBE
			 : ls_args_has(args, "listen") ? FACE_LISTEN
						       : FACE_WATCH;
	bool plugin = face == FACE_CHECK || face == FACE_PROBE;
	if (args->n_pos && !plugin)
		return ls_cmd_usage("monitor: \"%s\" is neither \"check\" nor \"probe\"", what);
	if ((config = ls_args_get(args, "print-config")))
		return ls_monitor_print_config(config);
	int status = misplaced(args, face);
	if (status)
		return status;
	bool once = face != FACE_LISTEN && (plugin || ls_args_has(args, "once") ||
					    ls_args_has(args, "json") || !ls_cmd_can_draw(stdout));
	if (!once)
		ls_monitor_until_stopped();
	if (init(&m, args, once, &err) == 0)
		status = run_face(&m, face);
	else
		status = plugin ? unknown(&m, err.msg) : ls_cmd_fail(&err);
	done(&m);
	return status;
}

static const struct ls_opt opts[] = {
	{"once", 0, NULL, "print what is now and end"},
	{"listen", 0, "ADDRESS", "answer over HTTP: 127.0.0.1:9495, or a port alone"},
	{"token-file", 0, "FILE", "a secret that clients of --listen must have; mode 0600"},
	{"history", 0, "DIR",
	 "where --listen keeps what was measured (~/.local/state/lockstep/monitor), or none"},
	{"peers", 0, "HOST:PORT,…",
	 "monitors of other machines, which the page of --listen shows as well"},
	{"interval", 'i', "S", "seconds between two looks (1)"},
	{"rules", 0, "FILE", "health rules that change or add to the shipped ones"},
	{"pcie", 0, NULL, "also measure PCIe traffic, which takes some 40 ms a GPU and look"},
	{"skip", 0, "RULE", "leave a rule out; may be given several times"},
	{"gpus", 0, "N", "how many GPUs there should be; 0 on a machine without"},
	{"spec", 0, "NAME|FILE", "the spec whose GPUs and driver the machine must have"},
	{"manifest", 0, "FILE", "the manifest of a run, whose driver must be that of now"},
	{"project", 0, "DIR",
	 "experiments: judge how many of a day succeed; --listen shows them (.)"},
	{"log", 0, "FILE", "metrics that a training writes: judge its speed; several times"},
	{"exports", 0, "FILE", "a record of exports of models: judge whether they succeed"},
	{"print-config", 0, "prometheus|alerts|grafana|systemd|compose|daemonset|dockerfile",
	 "print this file for a fleet and end"},
	{"beside-jobs", 0, NULL, "probe: also GPUs that a program uses"},
	{"epilog", 0, NULL, "check: a job has ended, and nothing of it may be left"},
	{"within", 0, "S", "check and probe: unknown after so many seconds (20; probe 300)"},
	{0},
};

#define JUDGED                                                                                     \
	"[--rules FILE] [--skip RULE]… [--gpus N] [--spec NAME|FILE] [--manifest FILE] "         \
	"[--project DIR] [--log FILE]… [--exports FILE]"

const struct ls_cmd ls_cmd_monitor = {
	.name = "monitor",
	.summary = "watch GPUs, their processes and their health",
	.synopsis = "[--once] [--interval S] [--pcie] " JUDGED "\n"
		    "--listen ADDRESS [--token-file FILE] [--history DIR] [--peers HOST:PORT,…] "
		    "[--interval S] [--pcie] " JUDGED "\n"
		    "check " JUDGED " [--epilog] [--within S]\n"
		    "probe [--beside-jobs] [--within S]\n"
		    "--print-config prometheus|alerts|grafana|systemd|compose|daemonset|dockerfile",
	.details =
		"On a terminal it is a live view; with --listen 9495 it is a page for a browser, "
		"at\n"
		"http://127.0.0.1:9495/, with history, jobs and experiments. Without a GPU it "
		"shows\n"
		"the host, and says why there is no GPU.\n"
		"check prints one line and ends with 0 (ok), 1 (warn), 2 (critical) or 3\n"
		"(unknown), as monitoring plug-ins do. probe does a second of arithmetic on each\n"
		"GPU whose result is known to the bit, and ends like check.",
	.opts = opts,
	.max_pos = 1,
	.run = run_monitor,
};
