#include "job/attempt.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "job/row.h"

/* --- who a process is --- */

struct identity {
	char state; /* "R", "Z" … */
	unsigned long flags;
	long threads;
	unsigned long long ticks; /* when it was started, since boot: with its number, who it is */
};

/* From /proc/PID/stat. False: there is no such process. */
static bool look_at(pid_t pid, struct identity *ret)
{
	enum { STATE = 0, FLAGS = 6, THREADS = 17, START = 19 };
	char path[64], *text = NULL, *save = NULL;
	size_t len;
	*ret = (struct identity){0};
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (ls_file_read(path, 1 << 16, &text, &len, NULL))
		return false;
	/* the name in parentheses may hold anything; the fields follow it */
	char *p = strrchr(text, ')');
	p = p ? strtok_r(p + 1, " ", &save) : NULL;
	for (int i = 0; p && i <= START; i++, p = strtok_r(NULL, " ", &save)) {
		if (i == STATE)
			ret->state = *p;
		else if (i == FLAGS)
			ret->flags = strtoul(p, NULL, 10);
		else if (i == THREADS)
			ret->threads = strtol(p, NULL, 10);
		else if (i == START)
			ret->ticks = strtoull(p, NULL, 10);
	}
	free(text);
	return true;
}

static unsigned long long start_ticks(pid_t pid)
{
	struct identity id;
	look_at(pid, &id);
	return id.ticks;
}

/* --- the lock --- */

int ls_attempt_lock(const char *lock, int *ret_fd, struct ls_err *err)
{
	int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return ls_err_errno(err, lock, "make");
	/* room for the signature, so that a disk that fills up later cannot prevent it */
	char blank[64];
	memset(blank, ' ', sizeof blank);
	if (flock(fd, LOCK_EX | LOCK_NB) ||
	    pwrite(fd, blank, sizeof blank, 0) != (ssize_t)sizeof blank) {
		int rc = ls_err_errno(err, lock, "lock");
		close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

void ls_attempt_sign(int fd)
{
	char line[64];
	int n = snprintf(line, sizeof line, "%d %llu\n", (int)getpid(), start_ticks(getpid()));
	if (pwrite(fd, line, (size_t)n, 0) != n) {
		/* a full disk: nobody can watch this supervisor, but its lock is seen */
	}
}

bool ls_attempt_alive(const char *lock)
{
	int fd = open(lock, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool alive = flock(fd, LOCK_EX | LOCK_NB) != 0;
	close(fd);
	return alive;
}

/* Who signed; 0 where nobody did. */
static long signer(const char *lock, unsigned long long *ret_ticks)
{
	char *text = NULL, *end;
	size_t len;
	*ret_ticks = 0;
	if (ls_file_read(lock, 256, &text, &len, NULL))
		return 0;
	long pid = strtol(text, &end, 10);
	*ret_ticks = strtoull(end, NULL, 10);
	free(text);
	return pid;
}

int ls_attempt_watch(const char *lock)
{
	unsigned long long ticks;
	long pid = signer(lock, &ticks);
	if (pid <= 1 || !ticks)
		return -1;
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	/* asked after the descriptor is there, so that it cannot be another process's any
	 * more */
	if (fd >= 0 && start_ticks((pid_t)pid) != ticks) {
		close(fd);
		fd = -1;
	}
	return fd;
}

pid_t ls_attempt_supervisor(const char *lock)
{
	unsigned long long ticks;
	long pid = signer(lock, &ticks);
	return pid > 1 && ticks && start_ticks((pid_t)pid) == ticks ? (pid_t)pid : 0;
}

void ls_attempt_stop(const char *lock)
{
	int fd = ls_attempt_watch(lock);
	if (fd < 0)
		return;
	syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0);
	close(fd);
}

/* Whether the environment that a process was started with has NAME=token. */
static bool carries(pid_t pid, const char *wanted)
{
	enum { MOST = 4 << 20 };
	char path[64], *text = NULL;
	size_t len, n = strlen(wanted);
	snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	if (ls_file_read(path, MOST, &text, &len, NULL))
		return false;
	bool found = false;
	for (size_t at = 0; at < len && !found; at += strlen(text + at) + 1)
		found = len - at >= n && strcmp(text + at, wanted) == 0;
	free(text);
	return found;
}

/* Calls `each` with every process until it returns true. */
static bool any_process(bool (*each)(pid_t pid, const void *ctx), const void *ctx)
{
	bool found = false;
	DIR *dir = opendir("/proc");
	for (struct dirent *e; dir && !found && (e = readdir(dir));)
		if (isdigit((unsigned char)e->d_name[0]))
			found = each((pid_t)strtol(e->d_name, NULL, 10), ctx);
	if (dir)
		closedir(dir);
	return found;
}

static bool is_dying(pid_t pid, const void *since)
{
	enum { EXITING = 4 }; /* PF_EXITING of the kernel's task flags */
	struct identity id;
	struct stat st;
	char path[64];
	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	if (stat(path, &st) || st.st_uid != geteuid() || !look_at(pid, &id))
		return false;
	/* a zombie has let go of everything, unless other threads of it are still
	 * ending */
	bool gone = id.state == 'X' || (id.state == 'Z' && id.threads <= 1);
	return (id.flags & EXITING) && !gone && id.ticks >= *(const unsigned long long *)since;
}

bool ls_attempt_dying(const char *lock)
{
	unsigned long long since;
	signer(lock, &since);
	return any_process(is_dying, &since);
}

struct hunt {
	const char *wanted; /* "LOCKSTEP_ATTEMPT=token" */
	int *n;
};

static bool kill_if_carries(pid_t pid, const void *ctx)
{
	const struct hunt *h = ctx;
	if (pid > 1 && pid != getpid() && carries(pid, h->wanted) && kill(pid, SIGKILL) == 0)
		++*h->n;
	return false;
}

int ls_attempt_kill(const char *token)
{
	int n = 0;
	char *wanted = ls_xasprintf(LS_ATTEMPT_VARIABLE "=%s", token);
	any_process(kill_if_carries, &(struct hunt){wanted, &n});
	free(wanted);
	return n;
}

/* --- the exit record --- */

enum { ROOM = 4096 };

int ls_ending_reserve(const char *path, int *ret_fd, struct ls_err *err)
{
	char blank[ROOM];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	memset(blank, ' ', sizeof blank);
	if (fd < 0 || write(fd, blank, sizeof blank) != ROOM || fsync(fd)) {
		int rc = ls_err_errno(err, path, "write");
		if (fd >= 0)
			close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

static const char *const stopped_names[] = {"no", "cancel", "soft", "hard", "told"};

int ls_ending_write(int fd, const struct ls_ending *e)
{
	char text[ROOM];
	json_t *v =
		json_pack("{s:i,s:i,s:s,s:f,s:f,s:f,s:I}", "status", e->status, "signal", e->signal,
			  "stopped", stopped_names[e->stopped], "wall_s", e->wall_s, "user_s",
			  e->user_s, "system_s", e->system_s, "peak_rss", (json_int_t)e->peak_rss);
	char *json = json_dumps(v, JSON_INDENT(1));
	json_decref(v);
	memset(text, ' ', sizeof text);
	size_t n = strlen(json);
	memcpy(text, json, n < ROOM - 1 ? n : ROOM - 1);
	text[ROOM - 1] = '\n';
	free(json);
	return pwrite(fd, text, ROOM, 0) == ROOM && fsync(fd) == 0 ? 0 : LS_EIO;
}

void ls_ending_parse(const char *text, size_t len, struct ls_ending *ret)
{
	*ret = (struct ls_ending){0};
	json_t *v;
	if (ls_json_parse(text, len, "record", &v, NULL))
		return;
	const char *stopped = ls_col_text(v, "stopped");
	int64_t status = ls_col_int(v, "status", -1), sig = ls_col_int(v, "signal", -1);
	int by = -1;
	for (int i = 0; stopped && i <= LS_STOPPED_TOLD; i++)
		if (strcmp(stopped, stopped_names[i]) == 0)
			by = i;
	if (by >= 0 && status >= 0 && status <= 255 && sig >= 0 && sig <= 127) {
		*ret = (struct ls_ending){.known = true,
					  .status = (int)status,
					  .signal = (int)sig,
					  .stopped = (enum ls_stopped)by,
					  .wall_s = ls_col_real(v, "wall_s", 0),
					  .user_s = ls_col_real(v, "user_s", 0),
					  .system_s = ls_col_real(v, "system_s", 0),
					  .peak_rss = ls_col_int(v, "peak_rss", 0)};
	}
	json_decref(v);
}

void ls_ending_read(const char *path, struct ls_ending *ret)
{
	char *text = NULL;
	size_t len;
	*ret = (struct ls_ending){0};
	if (!ls_file_read(path, ROOM, &text, &len, NULL))
		ls_ending_parse(text, len, ret);
	free(text);
}
