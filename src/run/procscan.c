#include "run/procscan.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "run/cmdline.h"

enum { DEPTH = 32, COMMAND = 4096 };

static size_t read_proc(pid_t pid, const char *what, char *buf, size_t size)
{
	char path[128];
	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, buf, size - 1) : -1;
	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = 0;
	return n > 0 ? (size_t)n : 0;
}

static bool runs_python(pid_t pid)
{
	char path[64], target[4096];
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	ssize_t n = readlink(path, target, sizeof target - 1);
	target[n > 0 ? n : 0] = 0;
	return ls_cmdline_is_python(target);
}

static struct ls_procscan_seen *entry(struct ls_procscan *scan, pid_t pid)
{
	for (size_t i = 0; i < scan->n; i++)
		if (scan->seen[i].pid == pid)
			return &scan->seen[i];
	scan->seen = ls_grow(scan->seen, scan->n, &scan->cap, sizeof *scan->seen);
	scan->seen[scan->n] = (struct ls_procscan_seen){.pid = pid};
	return &scan->seen[scan->n++];
}

/* The words of /proc/PID/cmdline, for the same reading that a command line gets. */
static bool is_brief(const char *line, size_t len)
{
	enum { MAX = 64 };
	const char *words[MAX + 1] = {0};
	size_t n = 0;
	for (size_t at = 0; at < len && n < MAX; at += strlen(line + at) + 1)
		words[n++] = line + at;
	struct ls_cmdline c;
	ls_cmdline_read(words, &c);
	bool brief = c.brief;
	ls_cmdline_done(&c);
	return brief;
}

static void note(struct ls_procscan *scan, pid_t pid, const char *parent_line, size_t parent_len)
{
	char line[COMMAND];
	size_t len = read_proc(pid, "cmdline", line, sizeof line);
	/* a copy of its parent has not become a program of its own: forked, or about to exec */
	if (!len || (len == parent_len && memcmp(line, parent_line, len) == 0))
		return;
	struct ls_procscan_seen *s = entry(scan, pid);
	s->times++;
	s->brief = is_brief(line, len);
	if (s->command)
		return;
	for (size_t i = 0; i + 1 < len; i++)
		if (line[i] == 0)
			line[i] = ' ';
	s->command = ls_xstrdup(line);
}

static void walk(struct ls_procscan *scan, pid_t pid, const char *parent_line, size_t parent_len,
		 int depth)
{
	if (runs_python(pid))
		note(scan, pid, parent_line, parent_len);
	if (depth == 0)
		return;
	char line[COMMAND], path[64];
	size_t len = read_proc(pid, "cmdline", line, sizeof line);
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	for (struct dirent *t; tasks && (t = readdir(tasks));) {
		char what[64], children[COMMAND];
		if (t->d_name[0] == '.')
			continue;
		snprintf(what, sizeof what, "task/%.20s/children", t->d_name);
		read_proc(pid, what, children, sizeof children);
		char *save = NULL;
		for (char *w = strtok_r(children, " ", &save); w; w = strtok_r(NULL, " ", &save))
			walk(scan, (pid_t)strtol(w, NULL, 10), line, len, depth - 1);
	}
	if (tasks)
		closedir(tasks);
}

void ls_procscan_look(struct ls_procscan *scan, pid_t root)
{
	walk(scan, root, "", 0, DEPTH);
}

void ls_procscan_done(struct ls_procscan *scan)
{
	for (size_t i = 0; i < scan->n; i++)
		free(scan->seen[i].command);
	free(scan->seen);
	*scan = (struct ls_procscan){0};
}
