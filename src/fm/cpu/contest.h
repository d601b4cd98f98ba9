/* Which of several builds of the kernels is the quickest here: they take turns at the work itself,
 * for all give the same bytes, and the one that was the quickest in any of its turns does the rest.
 * Where one build is known to be the best, or is asked for, there is nothing to find out. struct
 * ls_contest owns nothing. One thread calls. */
#ifndef LS_FM_CPU_CONTEST_H
#define LS_FM_CPU_CONTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "fm/cpu/step.h"

enum { LS_CONTEST_TURNS = 5 }; /* of each */

struct ls_contest {
	const struct ls_kern *rival[LS_KERN_RIVALS];
	uint32_t n, turns;           /* rivals; turns that were taken */
	double best[LS_KERN_RIVALS]; /* seconds a unit of work; 0: none yet */
};

/* False: there is no build of that name here. */
bool ls_contest_init(struct ls_contest *c, const char *name);
/* Whose turn it is, or who has won. */
const struct ls_kern *ls_contest_kern(const struct ls_contest *c);
bool ls_contest_is_open(const struct ls_contest *c);
/* Of whose turn it was: so many units of work in so many seconds. */
void ls_contest_did(struct ls_contest *c, uint64_t units, double seconds);

#endif
