#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

struct ls_writer {
	int fd;
	char *path;   /* as the caller named it, for messages */
	char *target; /* path with its links resolved: the file that is replaced */
	bool direct;  /* the target is a device or a pipe */
	bool there; /* a file is replaced: its owner, group and mode are kept as far as that can be
		     */
	uid_t owner;
	gid_t group;
	mode_t mode;
	char *temp; /* a name beside the target; NULL: direct, or a file that has no name before
		       commit */
	size_t used;
	char buffer[1 << 16];
};

static int read_all(int fd, const char *path, size_t limit, char **ret, size_t *ret_len,
		    struct ls_err *err)
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
			return ls_err_set(err, LS_EINPUT,
					  "%s: larger than the %zu bytes that such a file may have",
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

int ls_file_map_fd(int fd, const char *path, struct ls_map *ret, struct ls_err *err)
{
	static const uint8_t empty[1];
	struct stat st;
	if (fstat(fd, &st) < 0)
		return ls_err_errno(err, path, "stat");
	if (!S_ISREG(st.st_mode))
		return ls_err_set(err, LS_EINPUT, "%s: not a regular file", path);
	void *data = NULL;
	if (st.st_size > 0) {
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (data == MAP_FAILED)
			return ls_err_errno(err, path, "map");
	}
	*ret = (struct ls_map){data ? data : empty, (size_t)st.st_size};
	return 0;
}

int ls_file_map(const char *path, struct ls_map *ret, struct ls_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC |
				    O_NONBLOCK); /* a pipe without a writer would wait for one */
	if (fd < 0)
		return ls_err_errno(err, path, "open");
	int rc = ls_file_map_fd(fd, path, ret, err);
	close(fd);
	return rc;
}

void ls_file_forget(const struct ls_map *map, size_t *done, size_t at)
{
	enum { STEP = 8 << 20 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	if (at > map->len || at < *done || at - *done < STEP)
		return;
	size_t end = at / page * page;
	madvise((void *)(uintptr_t)(map->data + *done), end - *done, MADV_DONTNEED);
	*done = end;
}

void ls_file_unmap(struct ls_map *map)
{
	if (map->len)
		munmap((void *)(uintptr_t)map->data, map->len);
	*map = (struct ls_map){0};
}

char *ls_file_folder(const char *path)
{
	char *dir = ls_xstrdup(path), *slash = strrchr(dir, '/');
	if (slash) {
		slash[slash == dir] = 0;
		return dir;
	}
	free(dir);
	return ls_xstrdup(".");
}

/* A name beside target that no other writer uses. Of a long name only the beginning is
 * kept, because the whole must be a legal name too. */
static char *name_beside(const char *target)
{
	static atomic_uint serial;
	enum { MOST = 200 };
	const char *slash = strrchr(target, '/');
	size_t folder = slash ? (size_t)(slash + 1 - target) : 0, name = strlen(target + folder);
	return ls_xasprintf("%.*s.tmp.%ld.%u", (int)(folder + (name < MOST ? name : MOST)), target,
			    (long)getpid(), atomic_fetch_add(&serial, 1));
}

enum { TRIES = 100 }; /* such names may be left over from a process with the same number */

/* Opens a file under a new name beside target; -1 with errno. The process's umask
 * applies. */
static int create_beside(const char *target, char **ret_temp)
{
	for (int tries = 0; tries < TRIES; tries++) {
		char *temp = name_beside(target);
		int fd = open(temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
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

/* Opens a file in target's folder that vanishes with the process, however that ends; -1
 * where the filesystem has no unnamed files. */
static int create_unnamed(const char *target)
{
	char *dir = ls_file_folder(target);
	int fd = open(dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
	free(dir);
	struct stat st;
	/* Linux before 5.19 ignored the umask here on filesystems without access lists.
	 * What looks like that case is made the other way. */
	if (fd >= 0 && (fstat(fd, &st) < 0 || (st.st_mode & 0777) == 0666)) {
		close(fd);
		return -1;
	}
	return fd;
}

char *ls_file_follow(const char *path)
{
	enum { MOST = 40 };
	struct stat st;
	bool other = stat(path, &st) == 0 &&
		     !S_ISREG(st.st_mode); /* the text of a link to a pipe is no path */
	char *at = ls_xstrdup(path);
	for (int i = 0; i < MOST && !other; i++) {
		char to[4096];
		ssize_t n = readlink(at, to, sizeof to);
		if (n <= 0 || (size_t)n == sizeof to)
			break;
		char *folder = ls_file_folder(at);
		char *next = *to == '/' ? ls_xstrndup(to, (size_t)n)
					: ls_xasprintf("%s/%.*s", folder, (int)n, to);
		free(folder);
		free(at);
		at = next;
	}
	return at;
}

int ls_file_unnamed(const char *path)
{
	char *temp = NULL, *target = ls_file_follow(path);
	int fd = create_unnamed(target);
	if (fd < 0 && (fd = create_beside(target, &temp)) >= 0)
		unlink(temp);
	free(temp);
	free(target);
	return fd;
}

/* Gives the unnamed file fd a name beside target; NULL with errno where that cannot be
 * done. */
static char *link_beside(int fd, const char *target)
{
	char self[64];
	snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
	for (int tries = 0; tries < TRIES; tries++) {
		char *temp = name_beside(target);
		if (linkat(AT_FDCWD, self, AT_FDCWD, temp, AT_SYMLINK_FOLLOW) == 0)
			return temp;
		int saved = errno;
		free(temp);
		errno = saved;
		if (errno != EEXIST)
			break;
	}
	return NULL;
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

/* The new file must not be readable by more users than the old one was. Where it cannot
 * have the old file's group, it gets no permissions for its group. */
static int like_the_old(const struct ls_writer *w, int fd)
{
	if (fd < 0 || !w->there)
		return fd;
	bool same = fchown(fd, w->owner, w->group) == 0 || fchown(fd, (uid_t)-1, w->group) == 0;
	(void)!fchmod(fd, w->mode & (same ? 0777 : 0707));
	return fd;
}

int ls_writer_open(const char *path, struct ls_writer **ret, struct ls_err *err)
{
	struct stat st;
	bool there = stat(path, &st) == 0;
	if (there && S_ISDIR(st.st_mode))
		return ls_err_set(err, LS_EINPUT, "%s: is a folder, a file is to be written", path);
	struct ls_writer *w = ls_xalloc(sizeof *w);
	w->path = ls_xstrdup(path);
	w->target = ls_file_follow(path);
	w->there = there && S_ISREG(st.st_mode);
	if (w->there) {
		w->owner = st.st_uid;
		w->group = st.st_gid;
		w->mode = st.st_mode;
	}
	/* rename would replace /dev/null itself */
	w->direct = there && !S_ISREG(st.st_mode);
	w->fd = w->direct ? open(path, O_WRONLY | O_CLOEXEC)
			  : like_the_old(w, create_unnamed(w->target));
	if (w->fd < 0 && !w->direct)
		w->fd = like_the_old(w, create_beside(w->target, &w->temp));
	if (w->fd < 0) {
		ls_err_errno(err, path, w->direct ? "open" : "create a temporary file beside it");
		if (err)
			err->code = LS_EIO; /* also for a missing folder: an output, not an input */
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

static int open_folder(const char *dir)
{
	return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int ls_file_hold_folder(const char *path)
{
	enum { TRIES_A_SECOND = 20, SECONDS = 10 };
	const struct timespec pause = {0, 1000000000 / TRIES_A_SECOND};
	char *dir = ls_file_folder(path);
	int fd = open_folder(dir), rc = -1;
	free(dir);
	for (int i = 0; fd >= 0 && i < TRIES_A_SECOND * SECONDS; i++) {
		rc = flock(fd, LOCK_EX | LOCK_NB);
		if (rc == 0 || errno != EWOULDBLOCK)
			break;
		nanosleep(&pause, NULL);
	}
	if (fd >= 0 && rc < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int sync_folder(const char *path, struct ls_err *err)
{
	char *dir = ls_file_folder(path);
	int fd = open_folder(dir);
	int rc = 0;
	if (fd >= 0) {
		if (fsync(fd) < 0 && errno != EINVAL)
			rc = ls_err_errno(err, dir, "sync the folder");
		close(fd);
	}
	free(dir);
	return rc;
}

int ls_file_replace(const char *from, const char *to, struct ls_err *err)
{
	return rename(from, to) < 0 ? ls_err_errno(err, to, "replace") : sync_folder(to, err);
}

/* Without /proc, or on a filesystem without links, an unnamed file cannot get a name. Its
 * bytes are copied to a named one. */
static int copy_beside(struct ls_writer *w, struct ls_err *err)
{
	int fd = like_the_old(w, create_beside(w->target, &w->temp));
	if (fd < 0)
		return ls_err_errno(err, w->path, "create a temporary file beside it");
	off_t at = 0;
	ssize_t n;
	do
		n = sendfile(fd, w->fd, &at, 1 << 30);
	while (n > 0 || (n < 0 && errno == EINTR));
	int rc = n < 0 ? ls_err_errno(err, w->path, "write") : 0;
	close(w->fd);
	w->fd = fd;
	return rc;
}

static int sync_file(const struct ls_writer *w, struct ls_err *err)
{
	if (fsync(w->fd) < 0 && errno != EINVAL && errno != EROFS)
		return ls_err_errno(err, w->path, "sync");
	return 0;
}

static int into_place(struct ls_writer *w, struct ls_err *err)
{
	int rc = sync_file(w, err); /* slow, so the temporary name is made after it */
	if (rc == 0 && !w->temp && !(w->temp = link_beside(w->fd, w->target))) {
		rc = copy_beside(w, err);
		rc = rc ? rc : sync_file(w, err);
	}
	if (rc == 0 && rename(w->temp, w->target) < 0)
		rc = ls_err_errno(err, w->path, "rename into place");
	return rc;
}

static struct ls_file_id id_of(const struct stat *st)
{
	return (struct ls_file_id){S_ISREG(st->st_mode),  st->st_dev,         st->st_ino,
				   (uint64_t)st->st_size, st->st_mtim.tv_sec, st->st_mtim.tv_nsec};
}

struct ls_file_id ls_file_id_of(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 ? id_of(&st) : (struct ls_file_id){0};
}

bool ls_file_id_same(const struct ls_file_id *a, const struct ls_file_id *b)
{
	return a->known == b->known && a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->sec == b->sec && a->nsec == b->nsec;
}

bool ls_file_is(const char *path, const struct ls_file_id *id)
{
	struct stat st;
	if (!id->known)
		return true;
	if (stat(path, &st) < 0)
		return false;
	struct ls_file_id is = id_of(&st);
	return ls_file_id_same(&is, id);
}

int ls_writer_commit(struct ls_writer *w, struct ls_err *err)
{
	return ls_writer_commit_id(w, NULL, err);
}

int ls_writer_commit_id(struct ls_writer *w, struct ls_file_id *ret_id, struct ls_err *err)
{
	int rc = flush(w, w->buffer, w->used, err);
	if (rc == 0 && !w->direct)
		rc = into_place(w, err);
	if (rc == 0 && ret_id) /* by its descriptor: the name may lead elsewhere by now */
		*ret_id = ls_file_id_of(w->fd);
	if (rc) {
		rc = LS_EIO;
		if (err)
			err->code = rc;
		ls_writer_abort(w);
		return rc;
	}
	if (!w->direct)
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

/* --- the identity of a file --- */

/* A file that exists is its inode; one that does not exist yet is a name in a folder. */
struct identity {
	bool known, there;
	struct stat st; /* of the file, or of its folder */
	char *name;     /* there, or NULL */
};

static struct identity identify(const char *path)
{
	struct identity id = {0};
	id.there = stat(path, &id.st) == 0;
	if (id.there) {
		id.known = S_ISREG(id.st.st_mode); /* /dev/null may be as many things as it likes */
		return id;
	}
	char *target = ls_file_follow(path), *folder = ls_file_folder(target);
	const char *slash = strrchr(target, '/');
	id.known = stat(folder, &id.st) == 0;
	id.name = ls_xstrdup(slash ? slash + 1 : target);
	free(folder);
	free(target);
	return id;
}

bool ls_file_same(const char *a, const char *b)
{
	struct identity x = identify(a), y = identify(b);
	bool same = x.known && y.known && x.there == y.there && x.st.st_dev == y.st.st_dev &&
		    x.st.st_ino == y.st.st_ino && (x.there || strcmp(x.name, y.name) == 0);
	free(x.name);
	free(y.name);
	return same;
}
