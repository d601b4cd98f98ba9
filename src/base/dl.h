/* Libraries opened at run time into a typed table of functions, with fall-back names for
 * older versions of a symbol. The caller owns the table and the handle; ls_dl_close
 * invalidates both and accepts NULL. Any thread.
 *
 *     struct fns { int (*init)(void); int (*version)(int *); };
 *     static const struct ls_dl_sym syms[] = {
 *         LS_DL_NEED(struct fns, init, "fooInit_v2", "fooInit"),
 *         LS_DL_MAY(struct fns, version, "fooGetVersion"),
 *         LS_DL_END};
 *     rc = ls_dl_open((const char *const[]){"libfoo.so.1", NULL}, syms, &fns, &lib, &err);
 *
 * Of several names the first one that exists is taken. A LS_DL_MAY symbol that is absent
 * leaves its member NULL. Names that fall back to one another must have one signature;
 * others are members of their own. */
#ifndef LS_BASE_DL_H
#define LS_BASE_DL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { LS_DL_NAMES = 4 };

struct ls_dl_sym {
	const char *names[LS_DL_NAMES]; /* newest first, NULL-padded; the table ends with names[0]
					   == NULL */
	size_t offset;                  /* of the member in the table of functions */
	bool needed;
};

#define LS_DL_NEED(type, member, ...)                                                              \
	{                                                                                          \
		{__VA_ARGS__}, offsetof(type, member), true                                        \
	}
#define LS_DL_MAY(type, member, ...)                                                               \
	{                                                                                          \
		{__VA_ARGS__}, offsetof(type, member), false                                       \
	}

#define LS_DL_END                                                                                  \
	{                                                                                          \
		{NULL}, 0, false                                                                   \
	}

struct ls_dl;

/* Opens the first of names (NULL-terminated; sonames or paths) that loads and fills
 * table. LS_EUNKNOWN when none is there, or when a needed symbol is missing: the machine
 * cannot tell, the input was not wrong. table and *ret_lib are untouched on failure. */
int ls_dl_open(const char *const *names, const struct ls_dl_sym *syms, void *table,
	       struct ls_dl **ret_lib, struct ls_err *err);
void ls_dl_close(struct ls_dl *lib);
void ls_dl_keep(
	struct ls_dl *lib); /* frees lib and leaves the library loaded until the process ends */

const char *ls_dl_path(const struct ls_dl *lib); /* the file that was loaded; borrowed from lib */

#endif
