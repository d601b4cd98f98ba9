/* Parts of a batch of work for workers that are not equally quick: a core may be shared with
 * another machine, or with another thread. Parts follow the time that each worker took for its last
 * ones. What comes of the work must not depend on who did it. struct ls_shares owns its array:
 * ls_shares_init, ls_shares_free. Workers that keep a copy each and adjust it by the same times
 * agree on all parts. */
#ifndef LS_BASE_BALANCE_H
#define LS_BASE_BALANCE_H

#include <stdint.h>

struct ls_shares {
	int workers;
	double *begin; /* workers + 1: where each one's part begins, of 1 */
};

/* Equal parts. */
void ls_shares_init(struct ls_shares *s, int workers);
void ls_shares_free(struct ls_shares *s);
/* Equal parts again, of as many workers as it was made for or fewer. */
void ls_shares_level(struct ls_shares *s, int workers);

/* The first of `total` things that is this worker's; for `workers`, total. */
static inline uint64_t ls_shares_begin(const struct ls_shares *s, uint64_t total, int worker)
{
	return (uint64_t)((double)total * s->begin[worker]);
}

/* times: by worker, what it took for its part, in any unit. Parts move half way to what would have
 * been equal times, and by an eighth at most, so that one bad time does little harm. Times that are
 * not above 0 change nothing. */
void ls_shares_adjust(struct ls_shares *s, const double *times);

#endif
