#include "job/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "job/attempt.h"
#include "job/harvest.h"
#include "job/queue.h"
#include "job/row.h"
#include "job/start.h"

enum {
	RENEW_S = LS_LEASE_S / 3,
	LOOK_S = 10,   /* a fallback: changes are announced by the wake file */
	TROUBLE_S = 1, /* before the next try after an error of the store or the disk */
	ORPHAN_MS = 20,
};

/* A job that this worker owns. */
struct job {
	json_t *row;
	char *lock;
	pid_t child; /* the supervisor, where this process made it; else 0 */
	int watch;   /* readable when the supervisor has ended, or -1 */
	bool stopping;
};

struct worker {
	struct ls_store *s;
	const struct ls_worker_options *o;
	struct ls_owner owner;
	struct job *jobs;
	size_t n, cap;
	int lock, signals, wake;
	int stops; /* how often it was asked to end */
	bool changed, idle, trouble;
	double renewed, pause_until;
	struct ls_worker_result r;
};

static void say(struct worker *w, const char *text)
{
	w->o->say(w->o->ctx, text);
}

/* An error that may pass, such as a full disk: told once, tried again until it is
 * gone. */
static void trouble(struct worker *w, const struct ls_err *err)
{
	if (!w->trouble)
		say(w, err->msg);
	w->trouble = true;
	w->pause_until = ls_clock() + TROUBLE_S;
}

/* --- jobs --- */

static struct job *add_job(struct worker *w, json_t *row_take, pid_t child)
{
	w->jobs = ls_grow(w->jobs, w->n, &w->cap, sizeof *w->jobs);
	struct job *j = &w->jobs[w->n++];
	*j = (struct job){.row = row_take, .child = child, .watch = -1};
	j->lock = ls_queue_lock(w->s, ls_col_text(row_take, "token"));
	if (child)
		j->watch = (int)syscall(SYS_pidfd_open, child, 0);
	else
		j->watch = ls_attempt_watch(j->lock);
	return j;
}

static void drop_job(struct worker *w, size_t i)
{
	struct job *j = &w->jobs[i];
	if (j->watch >= 0)
		close(j->watch);
	free(j->lock);
	json_decref(j->row);
	w->jobs[i] = w->jobs[--w->n];
}

static void tell_end(struct worker *w, const json_t *row, const char *state)
{
	char *text = ls_xasprintf("%s: attempt %lld: %s", ls_col_text(row, "name"),
				  (long long)ls_col_int(row, "attempt", 0),
				  strcmp(state, "queued") ? state : "lost, queued again");
	say(w, text);
	free(text);
	if (strcmp(state, "done") == 0)
		w->r.done++;
	else
		w->r.other++;
}

/* Records the end; false: the store refused, try again later. */
static bool finish(struct worker *w, const json_t *row, const struct ls_ending *e)
{
	struct ls_err err = {0};
	const char *state = NULL;
	if (ls_queue_finish(w->s, &w->owner, row, e, &state, &err)) {
		trouble(w, &err);
		return false;
	}
	w->changed = true;
	if (state) {
		tell_end(w, row, state);
		if (ls_harvest_manifest(w->s, row, &err))
			say(w, err.msg);
	}
	return true;
}

/* The supervisor is gone, or was never seen. What is left of the job decides. */
static void settle(struct worker *w, size_t i)
{
	struct job *j = &w->jobs[i];
	struct ls_ending e;
	if (j->watch >= 0)
		close(j->watch);
	j->watch = -1;
	if (j->child && waitpid(j->child, NULL, WNOHANG) == j->child)
		j->child = 0;
	if (ls_attempt_alive(j->lock)) {
		j->watch = ls_attempt_watch(j->lock);
		if (j->watch < 0) /* processes without a supervisor */
			ls_attempt_kill(ls_col_text(j->row, "token"));
		return;
	}
	char *path =
		ls_xasprintf("%s/%s/exit.json", ls_store_root(w->s), ls_col_text(j->row, "folder"));
	ls_ending_read(path, &e);
	free(path);
	/* Without a record nobody has waited for its processes: also those that have let
	 * go of the lock must be gone before another attempt may begin. */
	if (!e.known &&
	    (ls_attempt_kill(ls_col_text(j->row, "token")) || ls_attempt_dying(j->lock)))
		return;
	if (!finish(w, j->row, &e))
		return;
	unlink(j->lock);
	drop_job(w, i);
}

static void settle_ended(struct worker *w)
{
	for (size_t i = w->n; i-- > 0;) {
		struct pollfd p = {.fd = w->jobs[i].watch, .events = POLLIN};
		if (p.fd < 0 || poll(&p, 1, 0) > 0)
			settle(w, i);
	}
}

/* --- taking jobs --- */

static void could_not_start(struct worker *w, const json_t *row, const struct ls_err *why)
{
	struct ls_ending e = {.not_started = true};
	snprintf(e.why, sizeof e.why, "%.250s", why->msg);
	trouble(w, why);
	if (!finish(w, row, &e)) /* it is ours and has no process: settled with the others */
		add_job(w, json_incref((json_t *)(uintptr_t)row), 0);
}

static void start(struct worker *w, json_t *row)
{
	struct ls_err err = {0};
	pid_t pid = 0;
	if (ls_start(w->s, w->o, row, &pid, &err)) {
		could_not_start(w, row, &err);
		return;
	}
	add_job(w, json_incref(row), pid);
}

static void claim(struct worker *w)
{
	json_t *rows = NULL, *row;
	struct ls_err err = {0};
	size_t i;
	if (ls_queue_claim(w->s, &w->owner, &rows, &err)) {
		trouble(w, &err);
		return;
	}
	w->trouble = false;
	w->idle = json_array_size(rows) == 0;
	json_array_foreach(rows, i, row) start(w, row);
	json_decref(rows);
}

/* Whether the owner of a foreign job is gone or has not renewed its lease. */
static bool abandoned(struct worker *w, const json_t *foreign)
{
	char *lock = ls_queue_lock(w->s, ls_col_text(foreign, "owner"));
	bool alive = ls_attempt_alive(lock);
	free(lock);
	return !alive || ls_col_int(foreign, "lease_over", 0);
}

static void adopt(struct worker *w)
{
	json_t *list = NULL, *foreign, *row;
	struct ls_err err = {0};
	size_t i;
	if (ls_queue_foreign(w->s, &w->owner, &list, &err)) {
		trouble(w, &err);
		return;
	}
	json_array_foreach(list, i, foreign)
	{
		row = NULL;
		if (!abandoned(w, foreign))
			continue;
		if (ls_queue_adopt(w->s, &w->owner, foreign, &row, &err))
			trouble(w, &err);
		else if (row)
			add_job(w, row, 0);
	}
	json_decref(list);
}

/* Asks supervisors to end what was cancelled, in case the one who cancelled could not. */
static void pass_cancels(struct worker *w)
{
	json_t *list = NULL, *row;
	struct ls_err err = {0};
	size_t i;
	if (w->n == 0 || ls_queue_cancelled(w->s, &w->owner, &list, &err))
		return;
	json_array_foreach(list, i, row) for (size_t k = 0; k < w->n;
					      k++) if (!w->jobs[k].stopping &&
						       ls_col_int(w->jobs[k].row, "id", 0) ==
							       ls_col_int(row, "id", -1))
	{
		w->jobs[k].stopping = true;
		ls_attempt_stop(w->jobs[k].lock);
	}
	json_decref(list);
}

static void renew(struct worker *w)
{
	struct ls_err err = {0};
	if (w->n == 0 || ls_clock() < w->renewed + RENEW_S)
		return;
	if (ls_queue_renew(w->s, &w->owner, &err))
		trouble(w, &err);
	w->renewed = ls_clock();
}

/* --- waiting --- */

static double min_of(double a, double b)
{
	return a < b ? a : b;
}

/* How long nothing has to be done, in milliseconds. */
static int patience(const struct worker *w)
{
	double until = ls_clock() + LOOK_S;
	if (w->n > 0)
		until = min_of(until, w->renewed + RENEW_S);
	if (w->trouble)
		until = min_of(until, w->pause_until);
	for (size_t i = 0; i < w->n && !w->trouble; i++)
		if (w->jobs[i].watch < 0)
			until = min_of(until, ls_clock() + 1e-3 * ORPHAN_MS);
	double left = until - ls_clock();
	return left > 0 ? (int)(left * 1000) + 1 : 0;
}

static void take_signals(struct worker *w)
{
	struct signalfd_siginfo info;
	while (read(w->signals, &info, sizeof info) == (ssize_t)sizeof info) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		w->r.signal = (int)info.ssi_signo;
		w->stops += info.ssi_signo == SIGHUP ? 2 : 1;
		if (w->stops == 1 && w->n > 0)
			say(w, "waiting for the jobs that run; once more leaves them to their "
			       "supervisors, and the next worker takes them back");
	}
}

static void drain(int fd)
{
	char buf[4096];
	while (read(fd, buf, sizeof buf) > 0) {
	}
}

static void wait_for_events(struct worker *w)
{
	struct pollfd *p = ls_xalloc((w->n + 2) * sizeof *p);
	p[0] = (struct pollfd){.fd = w->signals, .events = POLLIN};
	p[1] = (struct pollfd){.fd = w->wake, .events = POLLIN};
	for (size_t i = 0; i < w->n; i++)
		p[i + 2] = (struct pollfd){.fd = w->jobs[i].watch, .events = POLLIN};
	poll(p, (nfds_t)(w->n + 2), patience(w));
	free(p);
	take_signals(w);
	if (w->wake >= 0)
		drain(w->wake);
}

/* --- the whole --- */

static bool over(const struct worker *w)
{
	if (w->stops > 1)
		return true;
	return w->n == 0 && (w->stops > 0 || (w->o->once && w->idle && !w->trouble));
}

static void look(struct worker *w)
{
	settle_ended(w);
	if (w->trouble && ls_clock() < w->pause_until)
		return;
	adopt(w);
	pass_cancels(w);
	renew(w);
	if (w->stops == 0)
		claim(w);
}

static int open_events(struct worker *w, struct ls_err *err)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	w->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (w->signals < 0)
		return ls_err_errno(err, "signalfd", "make");
	char *path = ls_store_file(w->s, "wake");
	ls_store_wake(w->s); /* makes the file */
	w->wake = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->wake >= 0)
		inotify_add_watch(w->wake, path, IN_CLOSE_WRITE);
	free(path);
	return 0;
}

static int enter(struct worker *w, struct ls_err *err)
{
	ls_uuid(w->owner.uuid);
	w->owner.gpus = w->o->gpus;
	w->owner.slots = w->o->slots;
	char *lock = ls_queue_lock(w->s, w->owner.uuid);
	int rc = ls_attempt_lock(lock, &w->lock, err);
	free(lock);
	if (!rc)
		rc = open_events(w, err);
	if (!rc)
		rc = ls_queue_bury(w->s, err);
	return rc ? rc : ls_queue_register(w->s, &w->owner, err);
}

static void leave(struct worker *w)
{
	char *lock = ls_queue_lock(w->s, w->owner.uuid);
	w->r.left = (int)w->n;
	ls_queue_leave(w->s, &w->owner, NULL);
	unlink(lock);
	free(lock);
	while (w->n > 0)
		drop_job(w, 0);
	free(w->jobs);
	close(w->lock);
	close(w->signals);
	if (w->wake >= 0)
		close(w->wake);
}

int ls_worker_run(struct ls_store *s, const struct ls_worker_options *o,
		  struct ls_worker_result *ret, struct ls_err *err)
{
	struct worker w = {.s = s, .o = o, .renewed = ls_clock()};
	int rc = enter(&w, err);
	if (rc)
		return rc;
	for (look(&w); !over(&w); look(&w))
		wait_for_events(&w);
	leave(&w);
	*ret = w.r;
	return 0;
}
