/* How many of its threads a job puts to work. Threads that meet at barriers are as slow as the
 * slowest of them: where another program, or another machine on the same processors, takes a core
 * away, one thread fewer may be several times as fast. So work is done in stretches of some
 * milliseconds, and where processors were not ours all the time, the next is tried with fewer
 * threads; if that was quicker, they stay away. Now and then more are tried, for cores come back.
 * Only for work whose result does not depend on how many do it.
 * struct ls_crew owns nothing. One thread calls. */
#ifndef LS_BASE_ACTIVE_THREADS_H
#define LS_BASE_ACTIVE_THREADS_H

#include <stdbool.h>
#include <stdint.h>

enum ls_crew_way { LS_CREW_FEWER, LS_CREW_MORE, LS_CREW_WAYS };

struct ls_crew {
	int most, now;           /* threads: there are, and to put to work */
	int stay;                /* as many as before the trial that is under way; none is: now */
	double rate;             /* units a second when so many worked; 0: not known yet */
	int size[LS_CREW_WAYS];  /* threads that the next trial puts to work less, or more */
	int pause[LS_CREW_WAYS]; /* stretches from a trial that failed to the next */
	int left[LS_CREW_WAYS];  /* of them */
	int calm;                /* stretches in a row in which nobody waited */
	double units, seconds, cpu; /* of the stretch so far */
	bool settling; /* fewer work now, but where threads run follows that only after a while: not
			  judged yet */
	bool held;     /* nothing is to change, but by a drill, */
	uint32_t turn; /* of which this is the next: from 1 on */
};

/* All threads work at first. */
void ls_crew_init(struct ls_crew *crew, int threads);
/* So many from now on, whatever comes: for tests, and for who asked for more than there are
 * processors. */
void ls_crew_hold(struct ls_crew *crew, int threads);
/* Another number in every stretch, each of a few units, whatever comes: for tests. */
void ls_crew_drill(struct ls_crew *crew);
/* Units of work, at least one, until the stretch will be over. */
uint64_t ls_crew_units(const struct ls_crew *crew);
/* crew->now threads did so many units of work in so many seconds, for which processors worked cpu
 * seconds (all threads together). May change crew->now. */
void ls_crew_did(struct ls_crew *crew, uint64_t units, double seconds, double cpu);

#endif
