#include "run/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"

/* In the child. A program that cannot be executed reports its errno through the pipe. */
static void become(const struct ls_launch *what, const char *program, const sigset_t *mask,
		   int report)
{
	if (what->output >= 0) {
		dup2(what->output, STDOUT_FILENO);
		dup2(what->output, STDERR_FILENO);
	}
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execve(program, (char *const *)(uintptr_t)what->argv, what->envp);
	int e = errno;
	ssize_t n = write(report, &e, sizeof e);
	(_exit)(n == sizeof e ? 126 : 127); /* a child of ours, before it is another program */
}

static int start(const struct ls_launch *what, const char *program, const sigset_t *mask,
		 pid_t *ret, struct ls_err *err)
{
	int report[2], e = 0;
	if (pipe2(report, O_CLOEXEC) < 0)
		return ls_err_errno(err, program, "make a pipe");
	pid_t pid = fork();
	if (pid == 0)
		become(what, program, mask, report[1]);
	close(report[1]);
	if (pid < 0) {
		close(report[0]);
		return ls_err_errno(err, program, "start");
	}
	ssize_t n = read(report[0], &e, sizeof e);
	close(report[0]);
	if (n == sizeof e) {
		waitpid(pid, NULL, 0);
		return ls_err_set(err, LS_EINPUT, "%s: cannot be executed: %s", program,
				  strerror(e));
	}
	*ret = pid;
	return 0;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void fill(struct ls_launched *r, int status, const struct rusage *use)
{
	r->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	r->status = r->signal ? 128 + r->signal : WEXITSTATUS(status);
	r->user_s = seconds(use->ru_utime);
	r->system_s = seconds(use->ru_stime);
	r->peak_rss = (int64_t)use->ru_maxrss * 1024;
}

/* A key press reaches the child by itself, as it is in our process group; what kill sends
 * to us alone is passed on. */
static void pass_on(struct ls_launched *r, const siginfo_t *info)
{
	r->interrupted = info->si_signo;
	if (info->si_code != SI_KERNEL)
		kill(r->pid, info->si_signo);
}

/* Looks soon at first, as interpreters start early, and then as often as a hundredth of a
 * core affords, between 20 times a second and once. */
static long look(struct ls_procscan *scan, pid_t child, long pause_ms)
{
	enum { OFTEN = 50, SELDOM = 1000 };
	double begin = ls_clock();
	ls_procscan_look(scan, child);
	double afford_ms = 1e5 * (ls_clock() - begin);
	if (pause_ms < OFTEN)
		return 2 * pause_ms;
	return afford_ms < OFTEN ? OFTEN : afford_ms > SELDOM ? SELDOM : (long)afford_ms;
}

static void wait_for(struct ls_launched *r, struct ls_procscan *scan, const sigset_t *set)
{
	long pause_ms = 10;
	for (;;) {
		struct rusage use;
		int status;
		pid_t got = wait4(r->pid, &status, WNOHANG, &use);
		if (got == r->pid) {
			fill(r, status, &use);
			return;
		}
		if (got < 0 && errno != EINTR) {
			r->status = 127;
			return;
		}
		struct timespec pause = {pause_ms / 1000, pause_ms % 1000 * 1000000};
		siginfo_t info;
		int sig = sigtimedwait(set, &info, &pause);
		if (sig > 0 && sig != SIGCHLD)
			pass_on(r, &info);
		else if (sig < 0 && errno == EAGAIN && scan)
			pause_ms = look(scan, r->pid, pause_ms);
	}
}

int ls_launch_find(const char *name, char **ret, struct ls_err *err)
{
	struct stat st;
	*ret = ls_proc_find(name);
	if (*ret)
		return 0;
	if (strchr(name, '/') && stat(name, &st) == 0)
		return ls_err_set(err, LS_EINPUT, "%s: %s", name,
				  S_ISDIR(st.st_mode) ? "a folder, not a program"
						      : "not executable");
	if (strchr(name, '/'))
		return ls_err_set(err, LS_ENOENT, "%s: no such program", name);
	return ls_err_set(err, LS_ENOENT, "%s: no such program on PATH", *name ? name : "\"\"");
}

struct errand {
	const struct ls_launch *what;
	pid_t child;
};

static void *meanwhile(void *errand)
{
	const struct errand *e = errand;
	e->what->meanwhile(e->what->ctx, e->child);
	return NULL;
}

int ls_launch(const struct ls_launch *what, struct ls_procscan *scan, struct ls_launched *ret,
	      struct ls_err *err)
{
	char *program;
	int rc = ls_launch_find(what->argv[0], &program, err);
	if (rc)
		return rc;
	sigset_t set, old;
	sigemptyset(&set);
	const int signals[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaddset(&set, signals[i]);
	signal(SIGCHLD,
	       SIG_DFL); /* ignored by a careless parent, it would hide how the child ended */
	sigprocmask(SIG_BLOCK, &set, &old);
	struct ls_launched r = {0};
	double begin = ls_clock();
	rc = start(what, program, &old, &r.pid, err);
	if (rc == 0) {
		pthread_t thread;
		struct errand errand = {what, r.pid};
		bool apart =
			what->meanwhile && pthread_create(&thread, NULL, meanwhile, &errand) == 0;
		if (what->meanwhile && !apart)
			meanwhile(&errand);
		wait_for(&r, scan, &set);
		r.wall_s = ls_clock() - begin;
		if (apart)
			pthread_join(thread, NULL);
		*ret = r;
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	free(program);
	return rc;
}
