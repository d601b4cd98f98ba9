/* What a file says about the run that wrote it: the time of day, the process, how long it
 * took. Two runs of one program differ in that, and a comparison that knows both runs can
 * tell such differences apart. Only what is proved counts: a time must lie within the run
 * that it is said of, on both sides, and everything around it must agree. Everything is
 * borrowed; any thread. */
#ifndef LS_COMPARE_OWN_H
#define LS_COMPARE_OWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"

struct ls_own_run {
	double begin, end;   /* seconds since 1970 */
	long utc_offset;     /* of the machine's local time, in seconds, east is positive */
	const int64_t *pids; /* the run's processes */
	size_t n_pids;
};

struct ls_own {
	struct ls_own_run a, b;
};

/* Whether two texts, or bytes, are the same but for what each says about its own run.
 * name: of the value, as a number that is a duration is known by its name; may be "". */
bool ls_own_same(const struct ls_own *own, const char *name, const void *a, size_t na,
		 const void *b, size_t nb);
/* The same for whole files: zip archives by their members, TensorBoard's event files by
 * their records, others by their bytes. */
bool ls_own_same_file(const struct ls_own *own, const struct ls_map *a, const struct ls_map *b);
/* A file's name in which what names the run is blotted out, so that the files of two runs
 * can be paired. The caller frees it. */
char *ls_own_name(const struct ls_own_run *run, const char *name);

/* --- for the files of this module --- */

/* The length of the time that begins at s[at] and lies within the run, or 0. *ret_form:
 * how it is written; two times correspond only when their forms are the same. */
size_t ls_own_time(const struct ls_own_run *run, const char *s, size_t n, size_t at, int *ret_form);

/* Whether a number of this name is a duration that the run may have measured. */
bool ls_own_measured(const struct ls_own_run *run, const char *key, size_t len, double value);
/* TensorBoard's event files (own_events.c). */
bool ls_own_is_events(const struct ls_map *m);
bool ls_own_same_events(const struct ls_own *own, const struct ls_map *a, const struct ls_map *b);

#endif
