#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

struct ls_writer {
	int fd;
	char *path;   /* as the caller named it, for messages */
	char *target; /* where links lead from there: what is replaced */
	char *temp;   /* NULL: the target is a device or a pipe and is written to directly */
	size_t used;
	char buffer[1 << 16];
};

static int read_all(int fd, const char *path, size_t limit, char **ret, size_t *ret_len, struct ls_err *err)
{
	size_t len = 0, cap = 1 << 14;
	char *buf = ls_xrealloc(NULL, cap);
	for (;;) {
		ssize_t n = read(fd, buf + len, cap - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			free(buf);
			return ls_err_errno(err, path, "read");
		}
		if (n == 0)
			break;
		len += (size_t)n;
		if (len > limit) {
			free(buf);
			return ls_err_set(err, LS_EINPUT, "%s: larger than the %zu bytes that such a file may have",
					  path, limit);
		}
		if (cap - len < 2)
			buf = ls_xrealloc(buf, cap *= 2);
	}
	buf[len] = 0;
	*ret = buf;
	*ret_len = len;
	return 0;
}

int ls_file_read(const char *path, size_t limit, char **ret, size_t *ret_len, struct ls_err *err)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ls_err_errno(err, path, "open");
	int rc = read_all(fd, is_stdin ? "standard input" : path, limit, ret, ret_len, err);
	if (!is_stdin)
		close(fd);
	return rc;
}

bool ls_file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

int ls_file_map(const char *path, struct ls_map *ret, struct ls_err *err)
{
	static const uint8_t empty[1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer would wait for one */
	if (fd < 0)
		return ls_err_errno(err, path, "open");
	struct stat st;
	int rc = 0;
	void *data = NULL;
	if (fstat(fd, &st) < 0)
		rc = ls_err_errno(err, path, "stat");
	else if (!S_ISREG(st.st_mode))
		rc = ls_err_set(err, LS_EINPUT, "%s: not a regular file", path);
	else if (st.st_size > 0) {
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data == MAP_FAILED)
			rc = ls_err_errno(err, path, "map");
	}
	close(fd);
	if (rc == 0)
		*ret = (struct ls_map){data ? data : empty, (size_t)st.st_size};
	return rc;
}

void ls_file_unmap(struct ls_map *map)
{
	if (map->len)
		munmap((void *)(uintptr_t)map->data, map->len);
	*map = (struct ls_map){0};
}

/* Returns an open file under a new name beside target, or -1 with errno. The process's umask applies. */
static int create_beside(const char *target, char **ret_temp)
{
	static atomic_uint serial;
	for (int tries = 0; tries < 100; tries++) {
		char *temp = ls_xasprintf("%s.tmp.%ld.%u", target, (long)getpid(), atomic_fetch_add(&serial, 1));
		int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0) {
			*ret_temp = temp;
			return fd;
		}
		int saved = errno;
		free(temp);
		errno = saved;
		if (errno != EEXIST)
			break;
	}
	return -1;
}

static void release(struct ls_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	free(w->temp);
	free(w->target);
	free(w->path);
	free(w);
}

int ls_writer_open(const char *path, struct ls_writer **ret, struct ls_err *err)
{
	struct stat st;
	bool there = stat(path, &st) == 0;
	if (there && S_ISDIR(st.st_mode))
		return ls_err_set(err, LS_EINPUT, "%s: is a folder, a file is to be written", path);
	struct ls_writer *w = ls_xalloc(sizeof *w);
	w->path = ls_xstrdup(path);
	w->target = there ? realpath(path, NULL) : NULL;
	if (!w->target)
		w->target = ls_xstrdup(path);
	/* renaming over /dev/null would be the end of it */
	bool direct = there && !S_ISREG(st.st_mode);
	w->fd = direct ? open(path, O_WRONLY | O_CLOEXEC) : create_beside(w->target, &w->temp);
	if (w->fd < 0) {
		ls_err_errno(err, path, direct ? "open" : "create a temporary file beside it");
		if (err)
			err->code = LS_EIO; /* also for a missing folder: the place to write to is no input */
		release(w);
		return LS_EIO;
	}
	*ret = w;
	return 0;
}

static int flush(struct ls_writer *w, const char *data, size_t len, struct ls_err *err)
{
	while (len) {
		ssize_t n = write(w->fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			ls_err_errno(err, w->path, "write");
			if (err)
				err->code = LS_EIO;
			return LS_EIO;
		}
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

int ls_writer_write(struct ls_writer *w, const void *data, size_t len, struct ls_err *err)
{
	if (len <= sizeof w->buffer - w->used) {
		memcpy(w->buffer + w->used, data, len);
		w->used += len;
		return 0;
	}
	int rc = flush(w, w->buffer, w->used, err);
	w->used = 0;
	if (rc == 0 && len >= sizeof w->buffer)
		return flush(w, data, len, err);
	if (rc == 0) {
		memcpy(w->buffer, data, len);
		w->used = len;
	}
	return rc;
}

static int sync_folder(const char *path, struct ls_err *err)
{
	char *dir = ls_xstrdup(path), *slash = strrchr(dir, '/');
	if (slash)
		slash[slash == dir] = 0;
	int fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = 0;
	if (fd >= 0) {
		if (fsync(fd) < 0 && errno != EINVAL)
			rc = ls_err_errno(err, dir, "sync the folder");
		close(fd);
	}
	free(dir);
	return rc;
}

static int into_place(struct ls_writer *w, struct ls_err *err)
{
	if (!w->temp)
		return 0;
	if (fsync(w->fd) < 0 && errno != EINVAL && errno != EROFS)
		return ls_err_errno(err, w->path, "sync");
	if (rename(w->temp, w->target) < 0)
		return ls_err_errno(err, w->path, "rename into place");
	return 0;
}

int ls_writer_commit(struct ls_writer *w, struct ls_err *err)
{
	int rc = flush(w, w->buffer, w->used, err);
	if (rc == 0)
		rc = into_place(w, err);
	if (rc) {
		rc = LS_EIO;
		if (err)
			err->code = rc;
		ls_writer_abort(w);
		return rc;
	}
	if (w->temp)
		rc = sync_folder(w->target, err);
	release(w);
	return rc;
}

void ls_writer_abort(struct ls_writer *w)
{
	if (!w)
		return;
	if (w->temp)
		unlink(w->temp);
	release(w);
}

int ls_file_write_atomic(const char *path, const void *data, size_t len, struct ls_err *err)
{
	struct ls_writer *w;
	int rc = ls_writer_open(path, &w, err);
	if (rc)
		return rc;
	rc = ls_writer_write(w, data, len, err);
	if (rc) {
		ls_writer_abort(w);
		return rc;
	}
	return ls_writer_commit(w, err);
}
