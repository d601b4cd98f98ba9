/* Looking at the machine: every fact of docs/FORMATS.md, read from files, from NVML and
 * from libcuda, without starting anything (--deep apart, which starts Python). The
 * caller's texts are borrowed for the call; the facts are the caller's. Any thread;
 * nothing here prints, exits or reads the environment of its own accord. */
#ifndef LS_ENV_GATHER_GATHER_H
#define LS_ENV_GATHER_GATHER_H

#include <stdbool.h>

#include "base/err.h"
#include "env/facts/facts.h"

struct ls_gather {
	const char *const
		*env; /* "NAME=value" strings, NULL-terminated: the environment to judge */
	const char
		*python; /* an interpreter, by path or by name on PATH; NULL: the first on PATH */
	const char *const
		*packages; /* further distributions to look for, NULL-terminated, or NULL */
	const char *const
		*variables; /* further environment variables to record, NULL-terminated, or NULL */
	const char *root;   /* prefix of every path looked at, for tests; NULL or "": the machine
			       itself */
	bool deep;          /* also start that Python and import torch */
};

/* Fails only on input that is wrong in itself (LS_EINPUT or LS_ENOENT: python names no
 * file). */
int ls_gather(const struct ls_gather *how, struct ls_facts **ret, struct ls_err *err);

#endif
