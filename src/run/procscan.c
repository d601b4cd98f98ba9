#include "run/procscan.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/auxvec.h>
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

/* Whether code of libpython is mapped: a frozen program, or one that embeds Python. */
static bool maps_libpython(pid_t pid)
{
	enum { LINE = 4352 }; /* a path has at most 4096 bytes */
	char path[64], line[LINE];
	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	FILE *f = fopen(path, "re");
	bool found = false;
	while (f && !found && fgets(line, sizeof line, f))
		found = strstr(line, "/libpython") && strstr(line, " r-xp ");
	if (f)
		fclose(f);
	return found;
}

/* Programs of the system that can run Python scripts (gdb, perf, vim) have libpython,
 * too, and are not what the user calls a Python program. */
static bool is_of_the_system(const char *exe)
{
	return ls_str_starts(exe, "/usr/bin/") || ls_str_starts(exe, "/usr/sbin/") ||
	       ls_str_starts(exe, "/usr/lib") || ls_str_starts(exe, "/bin/");
}

static bool runs_python(pid_t pid)
{
	char path[64], target[4096];
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	ssize_t n = readlink(path, target, sizeof target - 1);
	target[n > 0 ? n : 0] = 0;
	return ls_cmdline_is_python(target) ||
	       (n > 0 && !is_of_the_system(target) && maps_libpython(pid));
}

void ls_procscan_image(pid_t pid, char ret[LS_IMAGE_TEXT])
{
	static const unsigned long kinds[] = {AT_ENTRY, AT_RANDOM, AT_SYSINFO_EHDR};
	unsigned long vector[128] = {0}, found[3] = {0};
	size_t n = read_proc(pid, "auxv", (char *)vector, sizeof vector) / sizeof *vector;
	for (size_t i = 0; i + 1 < n; i += 2)
		for (size_t k = 0; k < 3; k++)
			if (vector[i] == kinds[k])
				found[k] = vector[i + 1];
	if (n)
		snprintf(ret, LS_IMAGE_TEXT, "%lx-%lx-%lx", found[0], found[1], found[2]);
	else
		ret[0] = 0;
}

static struct ls_procscan_seen *entry(struct ls_procscan *scan, pid_t pid)
{
	struct ls_procscan_seen new = {.pid = pid};
	ls_procscan_image(pid, new.image);
	for (size_t i = 0; i < scan->n; i++)
		if (scan->seen[i].pid == pid && strcmp(scan->seen[i].image, new.image) == 0)
			return &scan->seen[i];
	scan->seen = ls_grow(scan->seen, scan->n, &scan->cap, sizeof *scan->seen);
	scan->seen[scan->n] = new;
	return &scan->seen[scan->n++];
}

/* The words of /proc/PID/cmdline, for the same reading that a command line gets. */
static void read_words(const char *line, size_t len, struct ls_procscan_seen *s)
{
	enum { MAX = 64 };
	const char *words[MAX + 1] = {0};
	size_t n = 0;
	for (size_t at = 0; at < len && n < MAX; at += strlen(line + at) + 1)
		words[n++] = line + at;
	struct ls_cmdline c;
	ls_cmdline_read(words, &c);
	s->brief = c.brief;
	s->shut = c.shut != NULL;
	ls_cmdline_done(&c);
}

static void note(struct ls_procscan *scan, pid_t pid, const char *parent_line, size_t parent_len)
{
	char line[COMMAND];
	size_t len = read_proc(pid, "cmdline", line, sizeof line);
	/* a copy of its parent is not a program of its own: forked, or about to exec */
	if (!len || (len == parent_len && memcmp(line, parent_line, len) == 0))
		return;
	struct ls_procscan_seen *s = entry(scan, pid);
	s->times++;
	read_words(line, len, s);
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
