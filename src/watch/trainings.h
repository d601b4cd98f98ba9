/* The trainings that are followed: running experiments of a project, and files that
 * somebody named. The list owns its followers; ls_trainings_free accepts NULL. Time comes
 * from the caller. One thread at a time an object. */
#ifndef LS_WATCH_TRAININGS_H
#define LS_WATCH_TRAININGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

enum { LS_TRAINING_NAME = 128, LS_TRAININGS = 64 };

/* How quick one of them is. */
struct ls_training_rate {
	char name[LS_TRAINING_NAME]; /* of the experiment, or of the file */
	bool experiment, known;
	double rate, best; /* only when known */
	char why[96];      /* when not */
};

struct ls_trainings;

struct ls_trainings *ls_trainings_new(void);
void ls_trainings_free(struct ls_trainings *t);

/* LS_EINPUT: no file of metrics, by its name, or too many of them. */
int ls_trainings_add_log(struct ls_trainings *t, const char *file, struct ls_err *err);
/* rows: what ls_running gives. Those that are no longer there are forgotten. */
void ls_trainings_set(struct ls_trainings *t, const json_t *rows);
/* Reads what has been written since the last look. Returns how many rates were put into
 * ret, at most LS_TRAININGS. */
size_t ls_trainings_look(struct ls_trainings *t, double now, struct ls_training_rate *ret);

/* The experiment that a process belongs to: by Slurm's job ("" for none), or because it
 * was started by the experiment's supervisor. NULL: none. Borrowed until the next set. */
const char *ls_trainings_of(const struct ls_trainings *t, const char *root, unsigned pid,
			    const char *job);

#endif
