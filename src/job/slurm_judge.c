#include "job/slurm_judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void say(struct ls_slurm_verdict *v, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void say(struct ls_slurm_verdict *v, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(v->why, sizeof v->why, fmt, ap);
	va_end(ap);
}

static void end(struct ls_slurm_verdict *v, const char *outcome, const char *state)
{
	v->what = LS_SLURM_ENDED;
	v->outcome = outcome;
	v->state = state;
}

static bool says(const struct ls_slurm_facts *f, const char *state)
{
	return f->answered && f->job && strcmp(f->job->state, state) == 0;
}

/* The job is alive as far as anybody knows. */
static void stay(const struct ls_slurm_facts *f, struct ls_slurm_verdict *v)
{
	v->what = LS_SLURM_STAYS;
	if (!f->answered)
		say(v, "unknown, asking again: Slurm does not answer");
	else if (*f->job->reason)
		say(v, "%s (%s)", f->job->state, f->job->reason);
	else
		say(v, "%s%s%s", f->job->state, *f->job->nodes ? " on " : "", f->job->nodes);
}

/* A record or an answer is still expected. False: it was waited for long enough. */
static bool owed(const struct ls_slurm_facts *f, struct ls_slurm_verdict *v, const char *what)
{
	v->missing = true;
	if (f->missing_s >= LS_SLURM_MISSING_S)
		return false;
	v->what = LS_SLURM_STAYS;
	say(v, "unknown, asking again: %s", what);
	return true;
}

/* --- by the record --- */

static void judge_status(const struct ls_ending *e, const char *more, struct ls_slurm_verdict *v)
{
	if (e->signal) {
		end(v, "failed", "failed");
		say(v, "killed by signal %d (%s)%s", e->signal, strsignal(e->signal), more);
	} else if (e->status) {
		end(v, "failed", "failed");
		say(v, "exit status %d%s", e->status, more);
	} else {
		end(v, "done", "done");
	}
}

/* The program was told to end by Slurm; Slurm knows why. */
static void judge_told(const struct ls_slurm_facts *f, struct ls_slurm_verdict *v)
{
	if (says(f, "CANCELLED") || (f->cancel && !says(f, "TIMEOUT"))) {
		end(v, "cancelled", "cancelled");
		say(v, "cancelled while it ran");
	} else if (says(f, "TIMEOUT") || says(f, "DEADLINE")) {
		end(v, "timeout", "failed");
		say(v, "stopped at Slurm's time limit after %.0f s", f->end.wall_s);
	} else if (says(f, "COMPLETED") || says(f, "FAILED")) {
		end(v, "failed", "failed");
		say(v, "told to end by a signal, exit status %d", f->end.status);
	} else {
		end(v, "lost", "dead");
		say(v, "told to end by Slurm (%s)",
		    f->answered && f->job ? f->job->state : "which no longer knows why");
	}
}

static void judge_record(const struct ls_slurm_facts *f, struct ls_slurm_verdict *v)
{
	char more[64] = "";
	if (f->answered && f->job && !says(f, "FAILED") && !says(f, "COMPLETED"))
		snprintf(more, sizeof more, "; Slurm: %s", f->job->state);
	if (f->end.stopped == LS_STOPPED_TOLD) {
		judge_told(f, v);
	} else if (f->end.stopped != LS_STOPPED_NOT) {
		end(v, "timeout", "failed");
		say(v, "stopped at the soft time limit after %.0f s%s", f->end.wall_s,
		    f->again ? ", and Slurm did not requeue it" : "");
	} else {
		judge_status(&f->end, more, v);
	}
}

/* --- without a record --- */

/* Slurm says that it is over: the word for each way. */
static void judge_over(const struct ls_slurm_facts *f, struct ls_slurm_verdict *v)
{
	const char *state = f->job->state;
	if (says(f, "CANCELLED")) {
		end(v, "cancelled", "cancelled");
		say(v, f->cancel ? "cancelled while it ran" : "cancelled in Slurm");
	} else if (says(f, "TIMEOUT") || says(f, "DEADLINE")) {
		end(v, "timeout", "failed");
		say(v, "killed at Slurm's time limit");
	} else if (says(f, "OUT_OF_MEMORY")) {
		end(v, "failed", "failed");
		say(v, "killed by Slurm: it used more memory than it had asked for (--mem)");
	} else if (says(f, "COMPLETED") || says(f, "FAILED")) {
		if (owed(f, v, "Slurm says that it has ended, and its record is not there yet"))
			return;
		end(v, "failed", "failed");
		say(v, "Slurm says %s, and the script left no record", state);
	} else {
		end(v, "lost", "dead");
		say(v, "Slurm: %s", state);
	}
}

static void judge_absent(const struct ls_slurm_facts *f, struct ls_slurm_verdict *v)
{
	if (f->lease_s < LS_SLURM_LEASE_S && f->missing_s >= LS_SLURM_MISSING_S) {
		v->missing = true;
		v->what = LS_SLURM_STAYS;
		say(v,
		    "unknown, asking again: Slurm no longer knows the job, but it renewed its "
		    "lease %.0f s ago",
		    f->lease_s);
	} else if (!owed(f, v, "Slurm no longer knows the job, and its record is not there")) {
		end(v, "lost", "dead");
		say(v, "lost: Slurm no longer knows the job, and it left no record");
	}
}

/* It runs again, or will. */
static void judge_again(const struct ls_slurm_facts *f, struct ls_slurm_verdict *v)
{
	bool soft = f->end.known && f->end.stopped == LS_STOPPED_SOFT;
	v->what = LS_SLURM_REQUEUED;
	v->outcome = soft ? "timeout" : "lost";
	if (soft)
		say(v, "stopped at the soft time limit after %.0f s", f->end.wall_s);
	else if (f->end.known && f->end.stopped == LS_STOPPED_NOT)
		say(v, "exit status %d, and requeued by Slurm",
		    f->end.signal ? 128 + f->end.signal : f->end.status);
	else
		say(v, "taken off its node: preempted, requeued, or the node failed");
}

static void judge_running(const struct ls_slurm_facts *f, struct ls_slurm_verdict *v)
{
	bool alive = f->answered && f->job && ls_slurm_class(f->job->state) != LS_SLURM_OVER;
	/* of an attempt that began after the question, the answer does not say that it
	 * was lost */
	bool waits = alive && f->before && ls_slurm_class(f->job->state) == LS_SLURM_WAITS;
	bool done = f->end.known && f->end.stopped == LS_STOPPED_NOT && f->end.status == 0 &&
		    f->end.signal == 0;
	if (!done && (f->next || waits))
		judge_again(f, v);
	else if (done || (f->end.known && f->answered && !alive))
		judge_record(f, v);
	else if (alive || !f->answered)
		stay(f, v);
	else if (f->job)
		judge_over(f, v);
	else
		judge_absent(f, v);
}

static void judge_waiting(const struct ls_slurm_facts *f, struct ls_slurm_verdict *v)
{
	if (f->next) {
		v->what = LS_SLURM_BEGINS;
	} else if (!f->answered || (f->job && ls_slurm_class(f->job->state) != LS_SLURM_OVER)) {
		stay(f, v);
	} else if (f->job && strcmp(f->job->state, "CANCELLED") == 0) {
		v->what = LS_SLURM_DROPPED;
		say(v, f->cancel ? "cancelled before it ran" : "cancelled in Slurm before it ran");
	} else if (f->job) {
		if (owed(f, v, "Slurm says that it has ended, and its folder is not there yet"))
			return;
		end(v, "lost", "failed");
		say(v, "Slurm: %s before the program began; the end of job-*.out says why",
		    f->job->state);
	} else if (!owed(f, v, "Slurm does not list the job, and it has not begun")) {
		v->what = LS_SLURM_DROPPED;
		say(v, "Slurm no longer knows the job, which never began: cancelled there, or "
		       "lost");
	}
}

void ls_slurm_judge(const struct ls_slurm_facts *f, struct ls_slurm_verdict *ret)
{
	*ret = (struct ls_slurm_verdict){0};
	if (f->running)
		judge_running(f, ret);
	else
		judge_waiting(f, ret);
}
