#include "env/facts/root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

enum { MAX_LINKS = 40 };

/* The target of a symbolic link, or NULL when the file is not a link. */
static char *link_target(const char *file)
{
	char buf[4096];
	ssize_t n = readlink(file, buf, sizeof buf - 1);
	return n < 0 ? NULL : ls_xstrndup(buf, (size_t)n);
}

/* Takes one component off rest and onto done; ".." takes one off done. */
static void step(struct ls_str *done, const char *name, size_t len)
{
	if (len == 0 || (len == 1 && name[0] == '.'))
		return;
	if (len == 2 && name[0] == '.' && name[1] == '.') {
		while (done->len && done->s && done->s[--done->len] != '/')
			;
		if (done->s)
			done->s[done->len] = 0;
		return;
	}
	ls_str_add(done, "/");
	ls_str_add_bytes(done, name, len);
}

/* When done (under root) is a link: takes it back off and returns its target followed by
 * rest. */
static char *follow(const char *root, struct ls_str *done, const char *rest)
{
	char *file = ls_xasprintf("%s%s", root, done->s ? done->s : "");
	char *target = done->len ? link_target(file) : NULL;
	free(file);
	if (!target)
		return NULL;
	if (target[0] == '/')
		done->len = 0;
	else
		while (done->len && done->s && done->s[--done->len] != '/')
			;
	if (done->s)
		done->s[done->len] = 0;
	char *next = ls_xasprintf("%s/%s", target, rest);
	free(target);
	return next;
}

char *ls_root_resolve(const char *root, const char *path)
{
	struct ls_str done = {0};
	char *rest = ls_xstrdup(path), *p = rest;
	int links = 0;
	root = root ? root : "";
	while (*p) {
		size_t len = strcspn(p, "/");
		step(&done, p, len);
		const char *after = p + len + (p[len] == '/');
		char *next = len ? follow(root, &done, after) : NULL;
		if (next && ++links > MAX_LINKS) {
			free(next);
			goto gone;
		}
		if (next) {
			free(rest);
			rest = p = next;
		} else {
			p += len + (p[len] == '/');
		}
	}
	char *file = ls_xasprintf("%s%s", root, done.s ? done.s : "");
	int there = access(*file ? file : "/", F_OK);
	free(file);
	if (there == 0) {
		free(rest);
		if (!done.len)
			ls_str_add(&done, "/");
		return ls_str_take(&done);
	}
gone:
	free(rest);
	ls_str_done(&done);
	return NULL;
}

char *ls_root_open_path(const char *root, const char *path)
{
	char *real = ls_root_resolve(root, path);
	if (!real)
		return NULL;
	char *full = ls_xasprintf("%s%s", root ? root : "", real);
	free(real);
	return full;
}

bool ls_root_exists(const char *root, const char *path)
{
	char *real = ls_root_resolve(root, path);
	free(real);
	return real != NULL;
}

static bool stat_of(const char *root, const char *path, struct stat *ret)
{
	char *file = ls_root_open_path(root, path);
	bool ok = file && stat(file, ret) == 0;
	free(file);
	return ok;
}

bool ls_root_is_dir(const char *root, const char *path)
{
	struct stat st;
	return stat_of(root, path, &st) && S_ISDIR(st.st_mode);
}

bool ls_root_is_program(const char *root, const char *path)
{
	struct stat st;
	return stat_of(root, path, &st) && S_ISREG(st.st_mode) && (st.st_mode & 0111);
}

char *ls_root_read(const char *root, const char *path, size_t limit, size_t *ret_len)
{
	char *file = ls_root_open_path(root, path);
	int fd = file ? open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	free(file);
	if (fd < 0)
		return NULL;
	struct ls_str text = {0};
	char buf[1 << 14];
	ssize_t n = 0;
	while (text.len < limit) {
		size_t want = limit - text.len < sizeof buf ? limit - text.len : sizeof buf;
		n = read(fd, buf, want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		ls_str_add_bytes(&text, buf, (size_t)n);
	}
	close(fd);
	if (n < 0) {
		ls_str_done(&text);
		return NULL;
	}
	if (ret_len)
		*ret_len = text.len;
	return ls_str_take(&text);
}

char *ls_root_line(const char *root, const char *path)
{
	char *text = ls_root_read(root, path, 4096, NULL);
	if (!text)
		return NULL;
	char *trimmed = ls_str_trim(text);
	char *out = *trimmed ? ls_xstrdup(trimmed) : NULL;
	free(text);
	return out;
}

static char *absolute(const char *root, const char *element, size_t len)
{
	char here[4096];
	if (len && *element == '/')
		return ls_xstrndup(element, len);
	if ((root && *root) || !getcwd(here, sizeof here))
		return NULL;
	return len ? ls_xasprintf("%s/%.*s", here, (int)len, element) : ls_xstrdup(here);
}

char *ls_root_next(const char *root, const char **list, const char *separators)
{
	char *dir = NULL;
	while (*list && !dir) {
		const char *element = *list;
		size_t len = strcspn(element, separators);
		*list = element[len] ? element + len + 1 : NULL;
		dir = absolute(root, element, len);
	}
	return dir;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **ls_root_list(const char *root, const char *path)
{
	char *file = ls_root_open_path(root, path);
	DIR *d = file ? opendir(file) : NULL;
	free(file);
	if (!d)
		return NULL;
	char **names = NULL;
	size_t n = 0, cap = 0;
	for (struct dirent *e; (e = readdir(d));) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		names = ls_grow(names, n, &cap, sizeof *names);
		names[n++] = ls_xstrdup(e->d_name);
	}
	closedir(d);
	if (n)
		qsort(names, n, sizeof *names, by_name);
	names = ls_grow(names, n, &cap, sizeof *names);
	names[n] = NULL;
	return names;
}

void ls_root_list_free(char **names)
{
	for (char **p = names; p && *p; p++)
		free(*p);
	free(names);
}

char *ls_root_library(const char *root, const char *name)
{
	static const char *const dirs[] = {"/usr/lib/x86_64-linux-gnu",
					   "/usr/lib/aarch64-linux-gnu",
					   "/usr/lib64",
					   "/usr/lib",
					   "/usr/local/nvidia/lib64",
					   NULL};
	for (const char *const *d = dirs; *d; d++) {
		char *path = ls_xasprintf("%s/%s", *d, name);
		char *file = ls_root_exists(root, path) ? ls_xasprintf("%s%s", root, path) : NULL;
		free(path);
		if (file)
			return file;
	}
	return NULL;
}
