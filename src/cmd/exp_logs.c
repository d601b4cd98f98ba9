/* lockstep exp logs: the output of an attempt, also while it grows. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/exp.h"
#include "job/experiment.h"

enum { LOOK_MS = 1000 }; /* for what inotify does not tell: the end of the job */

static const struct ls_opt logs_opts[] = {
	{"follow", 'f', NULL, "go on until it has ended"},
	{"attempt", 0, "N", "of this attempt (default: the last)"},
	LS_EXP_ID_OPT,
	{0},
};

static int copy_new(int fd)
{
	char buf[1 << 16];
	ssize_t n;
	while ((n = read(fd, buf, sizeof buf)) > 0)
		if (fwrite(buf, 1, (size_t)n, stdout) != (size_t)n)
			return LS_EXIT_INTERNAL;
	fflush(stdout);
	return 0;
}

/* Whether that attempt is the one that runs now. */
static bool running(struct ls_store *s, const char *name, uint64_t attempt)
{
	json_t *row = NULL;
	if (ls_experiment_get(s, name, &row, NULL))
		return false;
	bool is = strcmp(ls_col_text(row, "state"), "running") == 0 &&
		  (uint64_t)ls_col_int(row, "attempt", 0) == attempt;
	json_decref(row);
	return is;
}

static int follow(struct ls_store *s, const char *name, uint64_t attempt, const char *path, int fd)
{
	int events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), status = 0;
	double next = 0;
	char buf[4096];
	if (events >= 0)
		inotify_add_watch(events, path, IN_MODIFY);
	for (bool more = true; more && !status;) {
		status = ls_exp_refresh_sometimes(s, &next);
		more = !status &&
		       running(s, name, attempt); /* asked first: what came before is copied */
		status = status ? status : copy_new(fd);
		struct pollfd p = {.fd = events, .events = POLLIN};
		if (more && !status)
			poll(&p, 1, LOOK_MS);
		while (events >= 0 && read(events, buf, sizeof buf) > 0) {
		}
	}
	if (events >= 0)
		close(events);
	return status;
}

static int print_log(struct ls_store *s, const char *name, uint64_t attempt,
		     const struct ls_args *args)
{
	struct ls_err err = {0};
	char *path = ls_xasprintf("%s/runs/%s/attempt-%llu/output.log", ls_store_root(s), name,
				  (unsigned long long)attempt);
	int fd = open(path, O_RDONLY | O_CLOEXEC), status;
	for (int i = 0;
	     fd < 0 && ls_args_has(args, "follow") && running(s, name, attempt) && i < 10000;
	     i++) { /* it was claimed and is just being started */
		poll(NULL, 0, 1);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd < 0) {
		ls_err_errno(&err, path, "open");
		status = ls_cmd_fail(&err);
	} else if (ls_args_has(args, "follow")) {
		status = follow(s, name, attempt, path, fd);
	} else {
		status = copy_new(fd);
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return status;
}

/* The experiment as it is; with --follow once its first attempt has begun, or it left the
 * queue. */
static int get(struct ls_store *s, const char *name, bool follow, json_t **ret)
{
	struct ls_err err = {0};
	double next = 0;
	for (;;) {
		int status = ls_exp_refresh_sometimes(s, &next);
		if (status)
			return status;
		if (ls_experiment_get(s, name, ret, &err))
			return ls_cmd_fail(&err);
		if (!follow || ls_col_int(*ret, "attempt", 0) ||
		    strcmp(ls_col_text(*ret, "state"), "queued") != 0)
			return 0;
		json_decref(*ret);
		poll(NULL, 0, LOOK_MS);
	}
}

static int run_logs(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	struct ls_err err = {0};
	json_t *row = NULL;
	uint64_t attempt = 0;
	const char *name = ls_exp_name("logs", args);
	if (!name)
		return LS_EXIT_INPUT;
	if (ls_args_u64(args, "attempt", 1, INT32_MAX, &attempt, &err))
		return ls_cmd_usage("logs: %s", err.msg);
	int status = ls_exp_open(&s);
	if (status)
		return status;
	status = get(s, name, ls_args_has(args, "follow"), &row);
	if (!status) {
		attempt = attempt ? attempt : (uint64_t)ls_col_int(row, "attempt", 0);
		if (attempt == 0)
			status = ls_cmd_usage("logs: %s has not run yet; `lockstep exp explain "
					      "%s` says why",
					      name, name);
		else
			status = print_log(s, name, attempt, args);
	}
	json_decref(row);
	ls_store_close(s);
	return status;
}

const struct ls_cmd ls_cmd_exp_logs = {
	.name = "logs",
	.summary = "what an experiment has printed",
	.synopsis = "[-f] [--attempt N] [--exp-id NAME] [NAME]",
	.opts = logs_opts,
	.max_pos = 1,
	.run = run_logs,
};
