/* What an ELF file asks of the loader: which libraries it needs and where it wants them
 * looked for. Read from its dynamic section; nothing is loaded. The struct owns its texts
 * until ls_elf_done, which accepts one of zeros. Any thread. */
#ifndef LS_ENV_ELF_ELF_H
#define LS_ENV_ELF_ELF_H

#include <stddef.h>

#include "base/err.h"

struct ls_elf {
	char *rpath;   /* DT_RPATH: looked at before LD_LIBRARY_PATH, unless there is a runpath; or
			  NULL */
	char *runpath; /* DT_RUNPATH: looked at after it; or NULL */
	char *soname;  /* DT_SONAME: the name that other files need it under; or NULL */
	char **needed; /* DT_NEEDED, in order; NULL-terminated */
};

/* 64-bit little-endian files. Every offset is checked: LS_EINPUT for what is none or
 * points outside itself. */
int ls_elf_read(const void *bytes, size_t len, struct ls_elf *ret, struct ls_err *err);
void ls_elf_done(struct ls_elf *elf);

/* A list such as "$ORIGIN:${ORIGIN}/../../nvidia/cudnn/lib" with the folder origin put
 * in; caller frees. */
char *ls_elf_expand(const char *list, const char *origin);

#endif
