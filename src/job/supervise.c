#include "job/supervise.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "job/attempt.h"

enum { LEFTOVER_GRACE_S = 5, NOT_STARTED = 127 };

struct state {
	const struct ls_supervise *what;
	int record, signals, log;
	pid_t child; /* the program; 0 once it has ended */
	double begun, kill_at;
	struct ls_ending end;
};

/* --- the tree: everything below this process, which adopts its orphans --- */

static pid_t parent_of(pid_t pid)
{
	char path[64], *text = NULL;
	size_t len;
	pid_t parent = 0;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (ls_file_read(path, 1 << 16, &text, &len, NULL))
		return 0;
	const char *p = strrchr(text, ')'); /* ") S 123 …" */
	if (p && strlen(p) > 4)
		parent = (pid_t)strtol(p + 4, NULL, 10);
	free(text);
	return parent;
}

static bool below(pid_t pid, pid_t top)
{
	for (int depth = 0; pid > 1 && depth < 1000; depth++) {
		pid = parent_of(pid);
		if (pid == top)
			return true;
	}
	return false;
}

static void signal_tree(int number)
{
	DIR *dir = opendir("/proc");
	for (struct dirent *e; dir && (e = readdir(dir));) {
		pid_t pid = isdigit((unsigned char)e->d_name[0])
				    ? (pid_t)strtol(e->d_name, NULL, 10)
				    : 0;
		if (pid > 1 && below(pid, getpid()))
			kill(pid, number);
	}
	if (dir)
		closedir(dir);
}

/* --- starting --- */

static _Noreturn void become(const struct state *st, pid_t supervisor)
{
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* without a supervisor nobody would hear of its end */
	if (getppid() != supervisor)
		(_exit)(NOT_STARTED); /* it died before that call */
	int null = open("/dev/null", O_RDONLY);
	dup2(null, 0);
	dup2(st->log, 1);
	dup2(st->log, 2);
	fcntl(st->what->lock, F_SETFD, 0); /* the program holds the lock, too */
	if (chdir(st->what->cwd) == 0)
		execvpe(st->what->argv[0], st->what->argv, st->what->envp);
	dprintf(2, "lockstep: cannot start %s: %s\n", st->what->argv[0], strerror(errno));
	(_exit)(NOT_STARTED); /* a forked child that could not become the program */
}

static void close_others(const struct ls_supervise *what)
{
	/* the worker's descriptors: its database, its own lock, what it watches */
	for (int fd = 3; fd < 3 + 1024; fd++)
		if (fd != what->lock)
			close(fd);
	syscall(SYS_close_range, 3 + 1024, ~0u, 0);
}

static int prepare(struct state *st)
{
	struct ls_err err = {0};
	sigset_t wanted;
	char *path = ls_xasprintf("%s/exit.json", st->what->folder);
	int rc = ls_ending_reserve(path, &st->record, &err);
	free(path);
	path = ls_xasprintf("%s/output.log", st->what->folder);
	st->log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	free(path);
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGCHLD);
	sigaddset(&wanted, SIGTERM);
	sigprocmask(SIG_SETMASK, &wanted, NULL);
	st->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	return rc || st->log < 0 || st->signals < 0 ? -1 : 0;
}

/* --- the end --- */

static void stop(struct state *st, enum ls_stopped by)
{
	double now = ls_clock(), grace = st->what->grace;
	/* Both `exp cancel` and the worker tell it. Many programs take a second SIGTERM
	 * for an order to end without a checkpoint. */
	if (st->end.stopped != LS_STOPPED_NOT && by != LS_STOPPED_HARD)
		return;
	st->end.stopped = by;
	if (by == LS_STOPPED_HARD)
		grace = 0;
	if (st->child)
		kill(st->child, grace > 0 ? SIGTERM : SIGKILL);
	st->kill_at = fmin(st->kill_at, now + grace);
}

static void child_ended(struct state *st, int status)
{
	st->child = 0;
	st->end.known = true;
	st->end.wall_s = ls_clock() - st->begun;
	st->end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	st->end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	/* what it has left behind ends with it */
	signal_tree(SIGTERM);
	if (st->end.stopped == LS_STOPPED_NOT)
		st->kill_at = ls_clock() + LEFTOVER_GRACE_S;
}

/* Whether any process is left below this one. */
static bool reap(struct state *st)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, WNOHANG);
		if (pid == 0)
			return true;
		if (pid < 0)
			return false;
		if (pid == st->child)
			child_ended(st, status);
	}
}

static void take_signals(struct state *st)
{
	struct signalfd_siginfo info;
	while (read(st->signals, &info, sizeof info) == (ssize_t)sizeof info)
		if (info.ssi_signo == SIGTERM)
			stop(st, LS_STOPPED_CANCEL);
}

/* The next moment at which something has to be done. */
static double deadline(const struct state *st)
{
	const struct ls_supervise *w = st->what;
	double at = st->kill_at;
	if (st->child && w->soft > 0 && st->end.stopped == LS_STOPPED_NOT)
		at = fmin(at, st->begun + w->soft);
	if (st->child && w->hard > 0 && st->end.stopped != LS_STOPPED_HARD)
		at = fmin(at, st->begun + w->hard);
	return at;
}

static void keep_limits(struct state *st)
{
	const struct ls_supervise *w = st->what;
	double now = ls_clock();
	if (st->child && w->hard > 0 && now >= st->begun + w->hard)
		stop(st, LS_STOPPED_HARD);
	else if (st->child && w->soft > 0 && now >= st->begun + w->soft &&
		 st->end.stopped == LS_STOPPED_NOT)
		stop(st, LS_STOPPED_SOFT);
	if (now >= st->kill_at) {
		signal_tree(SIGKILL);
		st->kill_at = now + 0.1; /* again, for those that were just being made */
	}
}

static void watch(struct state *st)
{
	while (reap(st)) {
		struct pollfd p = {.fd = st->signals, .events = POLLIN};
		double left = deadline(st) - ls_clock();
		int ms = left > 1e6 ? -1 : left > 0 ? (int)(left * 1000) + 1 : 0;
		poll(&p, 1, ms);
		take_signals(st);
		keep_limits(st);
	}
}

static void record(struct state *st)
{
	struct rusage u;
	getrusage(RUSAGE_CHILDREN, &u);
	st->end.user_s = (double)u.ru_utime.tv_sec + 1e-6 * (double)u.ru_utime.tv_usec;
	st->end.system_s = (double)u.ru_stime.tv_sec + 1e-6 * (double)u.ru_stime.tv_usec;
	st->end.peak_rss = (int64_t)u.ru_maxrss * 1024;
	/* The room is there already; where the disk refuses even so, wait for it to
	 * recover, because without this record the attempt counts as lost. */
	while (ls_ending_write(st->record, &st->end))
		poll(NULL, 0, 1000);
}

_Noreturn void ls_supervise(const struct ls_supervise *what)
{
	struct state st = {.what = what, .kill_at = INFINITY, .record = -1, .log = -1};
	setsid();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	close_others(what);
	ls_attempt_sign(what->lock);
	if (prepare(&st))
		(_exit)(1); /* no record: the attempt counts as lost and is made again */
	st.begun = ls_clock();
	pid_t self = getpid();
	st.child = fork();
	if (st.child == 0)
		become(&st, self);
	if (st.child < 0)
		(_exit)(1);
	watch(&st);
	record(&st);
	(_exit)(0); /* a forked child: the worker's exit handlers are not its own */
}
