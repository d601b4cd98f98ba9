/* Files of the machine under a prefix, so that a whole scripted machine can lie in a
 * folder. Paths go in and come out without the prefix ("/proc/cpuinfo"); symbolic links
 * are followed inside it, as chroot would. What is returned is the caller's to free. Any
 * thread. */
#ifndef LS_ENV_FACTS_ROOT_H
#define LS_ENV_FACTS_ROOT_H

#include <stdbool.h>
#include <stddef.h>

/* The place to open: prefix and path with every symbolic link resolved; NULL when it is
 * not there. */
char *ls_root_open_path(const char *root, const char *path);
/* path with every symbolic link resolved, without the prefix; NULL when it is not
 * there. */
char *ls_root_resolve(const char *root, const char *path);
bool ls_root_exists(const char *root, const char *path);
bool ls_root_is_dir(const char *root, const char *path);
bool ls_root_is_program(const char *root,
			const char *path); /* a regular file with an execute bit */

/* The first limit bytes at most, NUL-terminated; NULL when it cannot be read. ret_len may
 * be NULL. */
char *ls_root_read(const char *root, const char *path, size_t limit, size_t *ret_len);
/* The same with blanks at both ends removed; NULL also when nothing is left. */
char *ls_root_line(const char *root, const char *path);

/* Takes the next folder off a list such as PATH and returns it, the caller's; *list is
 * NULL behind the last. An empty or relative element is relative to the working
 * directory; on a scripted machine, which has none, it is skipped. NULL: no more. An
 * empty text is one empty element. */
char *ls_root_next(const char *root, const char **list, const char *separators);

/* A shared library of a scripted machine, to be opened from there so that the real one is
 * never asked; NULL when the machine has none. */
char *ls_root_library(const char *root, const char *name);

/* Names in a folder, sorted, without "." and ".."; NULL-terminated; NULL when it cannot
 * be read. */
char **ls_root_list(const char *root, const char *path);
void ls_root_list_free(char **names);

#endif
