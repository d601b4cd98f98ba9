/* Kernel logs read back: what was launched, in order, and where two logs part. A ktrace
 * owns its names and mapping (ls_ktrace_done), a parting its texts. Any thread, one at a
 * time an object. */
#ifndef LS_RUN_KTRACE_H
#define LS_RUN_KTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "run/ktrace_format.h"

struct ls_kernel {
	uint32_t name;
	uint64_t numbers[LS_KT_FIELDS]; /* grid x y z, block x y z, shared bytes, stream */
};

/* A log being read from its beginning to its end; memory does not grow with the number of
 * launches.
 */
struct ls_ktrace {
	const uint8_t *data; /* borrowed, or the mapping */
	size_t len, at;
	const char *name; /* borrowed: for messages */
	struct ls_map map;
	char **names;
	size_t n_names, cap_names;
	uint64_t launches, digest; /* so far */
	bool complete;             /* ended in order, not by a kill */
	char *note;                /* why nothing was traced, or NULL */
};

int ls_ktrace_begin(struct ls_ktrace *t, const uint8_t *data, size_t len, const char *name,
		    struct ls_err *err);
int ls_ktrace_open(struct ls_ktrace *t, const char *path, struct ls_err *err);
/* 1: a launch, 0: the end, negative: the log is damaged, and the message names the
 * byte. */
int ls_ktrace_next(struct ls_ktrace *t, struct ls_kernel *ret, struct ls_err *err);
void ls_ktrace_done(struct ls_ktrace *t);

struct ls_kernel_parting {
	bool differs;
	uint64_t at; /* launch number */
	char *a, *b; /* "name grid 1x2x3 block 4x1x1 shared 0 stream 0", "the end" */
};

/* The first launch at which two logs differ. */
int ls_ktrace_part(const char *a, const char *b, struct ls_kernel_parting *ret, struct ls_err *err);
void ls_kernel_parting_done(struct ls_kernel_parting *p);

/* Summary of a run's trace folder for the manifest: {"kernels": [...], "ops": [...]} in
 * the order in which processes began. New reference. */
json_t *ls_trace_summary(const char *dir);

#endif
