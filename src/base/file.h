/* Files: reading whole, mapping, and atomic writing, so that nobody ever sees half a
 * file.
 * A writer owns a file in the target's folder until commit puts it in the target's place.
 * Where the filesystem can, that file has no name until then, so that a killed process
 * leaves nothing behind. Symbolic links are followed, also dangling ones. Owner, group
 * and mode of a file that is replaced are kept as far as possible. A device or a pipe
 * (/dev/stdout) is written to directly.
 * Any thread, one thread at a time an object. */
#ifndef LS_BASE_FILE_H
#define LS_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Reads a regular file, a pipe or "-" (standard input) of at most limit bytes; *ret is
 * NUL-terminated, caller frees. */
int ls_file_read(const char *path, size_t limit, char **ret, size_t *ret_len, struct ls_err *err);
bool ls_file_exists(const char *path);

struct ls_map {
	const uint8_t *data; /* never NULL after success; len 0 maps to an empty static */
	size_t len;
};

/* The folder of path, "." where it names none; to be freed. */
char *ls_file_folder(const char *path);
/* path with its symbolic links resolved, though nothing may be there. A device or a pipe
 * stays as it is. To be freed. */
char *ls_file_follow(const char *path);
/* Whether two paths lead to the same regular file, also when it does not exist yet. */
bool ls_file_same(const char *a, const char *b);

int ls_file_map(const char *path, struct ls_map *ret, struct ls_err *err); /* regular files only */
/* The same for a file that is already open for reading; path names it in messages. fd
 * stays the caller's. */
int ls_file_map_fd(int fd, const char *path, struct ls_map *ret, struct ls_err *err);
void ls_file_unmap(struct ls_map *map);
/* Gives back the pages of a map from *done to `at`, once they are many. Their contents
 * come back when they are read again. *done begins at 0. */
void ls_file_forget(const struct ls_map *map, size_t *done, size_t at);

/* Opens a file without a name for reading and writing, on the filesystem of path; -1 with
 * errno where that is not possible. */
int ls_file_unnamed(const char *path);

/* The identity of a file and of its content, so that a later change is noticed. */
struct ls_file_id {
	bool known; /* not of devices and pipes, which are whatever they are */
	uint64_t dev, ino, size;
	int64_t sec, nsec; /* when it was last written to */
};

struct ls_file_id ls_file_id_of(int fd);
bool ls_file_id_same(const struct ls_file_id *a, const struct ls_file_id *b);
/* Whether path is still that file with that content; true when id is not known. */
bool ls_file_is(const char *path, const struct ls_file_id *id);

/* Waits until nobody else holds a lock on the folder of path. Returns a descriptor, and
 * closing it releases the lock; -1 where folders cannot be locked, or after ten seconds.
 * The caller of this program may hold the lock, too (flock DIR lockstep ...). */
int ls_file_hold_folder(const char *path);

struct ls_writer;

int ls_writer_open(const char *path, struct ls_writer **ret, struct ls_err *err);
int ls_writer_write(struct ls_writer *w, const void *data, size_t len, struct ls_err *err);
int ls_writer_commit(struct ls_writer *w,
		     struct ls_err *err); /* fsync, rename, fsync the folder; frees w either way */
int ls_writer_commit_id(struct ls_writer *w, struct ls_file_id *ret_id,
			struct ls_err *err); /* ret_id may be NULL */
void ls_writer_abort(struct ls_writer *w);   /* removes the temporary file; NULL is fine */

/* Puts a file that is on the disk in the place of another, or of none, in its folder. */
int ls_file_replace(const char *from, const char *to, struct ls_err *err);

/* The three above in one. */
int ls_file_write_atomic(const char *path, const void *data, size_t len, struct ls_err *err);

#endif
