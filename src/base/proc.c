#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

enum { KEEP = 16 << 20 };

static int start(const char *const *argv, int out, int errfd, pid_t *ret)
{
	posix_spawn_file_actions_t fa;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, out, 1);
	posix_spawn_file_actions_adddup2(&fa, errfd, 2);
	/* this program ignores SIGPIPE; its children should not */
	posix_spawnattr_t attr;
	posix_spawnattr_init(&attr);
	sigset_t defaults;
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	sigset_t none; /* the caller may have blocked signals in order to wait for them */
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	int rc = posix_spawnp(ret, argv[0], &fa, &attr, (char *const *)(uintptr_t)argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&fa);
	return rc;
}

/* Reads what is available; false at the end of the stream. */
static bool drain(int fd, struct ls_str *to)
{
	char buf[1 << 14];
	ssize_t n = read(fd, buf, sizeof buf);
	if (n > 0 && to->len < KEEP)
		ls_str_add_bytes(to, buf, (size_t)n);
	return n > 0 || (n < 0 && errno == EINTR);
}

static void collect(int out, int errfd, pid_t pid, double until, struct ls_proc_result *r)
{
	struct pollfd p[2] = {{.fd = out, .events = POLLIN}, {.fd = errfd, .events = POLLIN}};
	struct ls_str *to[2] = {&r->out, &r->err};
	while (p[0].fd >= 0 || p[1].fd >= 0) {
		double left = until - ls_clock();
		if (left <= 0) {
			r->timed_out = true;
			kill(pid, SIGKILL);
			return;
		}
		if (poll(p, 2, left < 1000 ? (int)(left * 1000) + 1 : 1000000) < 0) {
			if (errno != EINTR)
				return;
			continue;
		}
		for (int i = 0; i < 2; i++)
			if (p[i].fd >= 0 && p[i].revents && !drain(p[i].fd, to[i]))
				p[i].fd = -1;
	}
}

/* Waits for the child to end. One that closed its output and lives on is killed in time,
 * too. */
static int reap(pid_t pid, double until, struct ls_proc_result *r)
{
	int status = 0;
	for (long pause = 100000;; pause = pause < 20000000 ? pause * 2 : pause) {
		pid_t got = waitpid(pid, &status, WNOHANG);
		if (got == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (got < 0 && errno != EINTR)
			return 128;
		if (!r->timed_out && ls_clock() >= until) {
			r->timed_out = true;
			kill(pid, SIGKILL);
		}
		nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
	}
}

static bool is_program(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *ls_proc_find(const char *name)
{
	if (strchr(name, '/'))
		return is_program(name) ? ls_xstrdup(name) : NULL;
	const char *path =
		(getenv)("PATH"); /* as execvp does; the library reads no other variable here */
	for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
		size_t len = strcspn(p, ":");
		char *full = len ? ls_xasprintf("%.*s/%s", (int)len, p, name) : ls_xstrdup(name);
		if (is_program(full))
			return full;
		free(full);
		p += len + (p[len] == ':');
	}
	return NULL;
}

int ls_proc_run(const char *const *argv, double seconds, struct ls_proc_result *ret,
		struct ls_err *err)
{
	/* Looked up here, because under qemu-user posix_spawn does not report a failed
	 * exec. */
	char *program = ls_proc_find(argv[0]);
	if (!program)
		return ls_err_set(err, LS_ENOENT, "%s: no such program on PATH", argv[0]);
	free(program);
	int out[2], er[2];
	if (pipe2(out, O_CLOEXEC) < 0)
		return ls_err_errno(err, argv[0], "make a pipe");
	if (pipe2(er, O_CLOEXEC) < 0) {
		close(out[0]);
		close(out[1]);
		return ls_err_errno(err, argv[0], "make a pipe");
	}
	pid_t pid;
	int rc = start(argv, out[1], er[1], &pid);
	close(out[1]);
	close(er[1]);
	if (rc) {
		errno = rc;
		rc = ls_err_errno(err, argv[0], "start");
	} else {
		struct ls_proc_result r = {0};
		double until = ls_clock() + seconds;
		collect(out[0], er[0], pid, until, &r);
		r.status = reap(pid, until, &r);
		*ret = r;
	}
	close(out[0]);
	close(er[0]);
	return rc;
}

void ls_proc_result_done(struct ls_proc_result *r)
{
	ls_str_done(&r->out);
	ls_str_done(&r->err);
}
