/* How many of its threads a job puts to work. Threads that meet at barriers are as slow
 * as the slowest of them. When another program, or another virtual machine, takes a core
 * away, one thread fewer may be several times as fast. Work is therefore done in
 * stretches of some milliseconds. After a stretch in which the processors were not ours
 * all the time, the next one is tried with fewer threads; if it was quicker, that number
 * stays. Now and then more threads are tried, because cores come back. Only for work
 * whose result does not depend on the number of threads. struct ls_active_threads owns
 * nothing. One thread calls. */
#ifndef LS_BASE_ACTIVE_THREADS_H
#define LS_BASE_ACTIVE_THREADS_H

#include <stdbool.h>
#include <stdint.h>

enum ls_active_trial { LS_ACTIVE_FEWER, LS_ACTIVE_MORE, LS_ACTIVE_WAYS };

struct ls_active_threads {
	int most, now;              /* threads: the most there are, and how many work now */
	int stay;                   /* threads before the trial that is under way; no trial: now */
	double rate;                /* units a second with `stay` threads; 0: not known yet */
	int size[LS_ACTIVE_WAYS];   /* by how many threads the next trial differs */
	int pause[LS_ACTIVE_WAYS];  /* stretches between a failed trial and the next */
	int left[LS_ACTIVE_WAYS];   /* stretches that are left of the pause */
	int calm;                   /* stretches in a row in which no thread waited */
	double units, seconds, cpu; /* of this stretch so far */
	bool settling; /* fewer threads work now, but the scheduler follows later: not judged yet */
	bool held;     /* the number stays as it is, except in a drill */
	uint32_t turn; /* the number of the drill's next stretch, from 1 on */
};

/* All threads work at first. */
void ls_active_init(struct ls_active_threads *active, int threads);
/* Fixes the number of threads: for tests, and where the user asked for more threads than
 * there are processors. */
void ls_active_hold(struct ls_active_threads *active, int threads);
/* Another number of threads in every stretch, of a few units each: for tests. */
void ls_active_drill(struct ls_active_threads *active);
/* Units of work, at least one, until this stretch is over. */
uint64_t ls_active_units(const struct ls_active_threads *active);
/* Reports that active->now threads did so many units in so many seconds, for which the
 * processors worked cpu seconds (all threads together). May change active->now. */
void ls_active_did(struct ls_active_threads *active, uint64_t units, double seconds, double cpu);

#endif
