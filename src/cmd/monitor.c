/* lockstep monitor: what the GPUs of this machine do and how they are. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "watch/report.h"
#include "watch/sample.h"

enum { LOOK_US = 100000 }; /* between two looks, for shares of time */

static int now(double *ret, struct ls_err *err)
{
	struct tm tm;
	if (ls_cmd_now(&tm, err))
		return err->code;
	*ret = (double)timegm(&tm);
	return 0;
}

static int print_once(const struct ls_args *args)
{
	struct ls_err err = {0};
	struct ls_sample sample;
	double time;
	if (now(&time, &err))
		return ls_cmd_fail(&err);
	struct ls_sampler *s = ls_sampler_new(getenv("LOCKSTEP_ROOT")); /* scripted, for tests */
	ls_sampler_prime(s);
	usleep(LOOK_US);
	ls_sampler_take(s, time, &sample);
	if (ls_args_has(args, "json")) {
		ls_cmd_print_json_take(ls_watch_json(&sample));
	} else {
		struct ls_str out = {0};
		ls_watch_text(&sample, &out);
		fputs(out.s, stdout);
		ls_str_done(&out);
	}
	ls_sample_done(&sample);
	ls_sampler_free(s);
	return LS_EXIT_YES;
}

static int run_monitor(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	return print_once(args);
}

static const struct ls_opt opts[] = {
	{"once", 0, NULL, "print what is now and end"},
	{0},
};

const struct ls_cmd ls_cmd_monitor = {
	.name = "monitor",
	.summary = "watch GPUs, their processes and their health",
	.synopsis = "[--once]",
	.details = "Without a GPU it shows the host, and says why there is no GPU.",
	.opts = opts,
	.run = run_monitor,
};
