/* Load balancing: how much of a batch each worker does. Workers are not equally quick,
 * because a core may be shared with another program or another thread. Shares follow the
 * time that each worker took for its last one. The result of the work must not depend on
 * who did it. struct ls_balance owns its array: ls_balance_init, ls_balance_free. Workers
 * that each keep a copy and adjust it by the same times agree on all shares. */
#ifndef LS_BASE_BALANCE_H
#define LS_BASE_BALANCE_H

#include <stdint.h>

struct ls_balance {
	int workers;
	double *begin; /* workers + 1: where each worker's share begins, as a fraction of 1 */
};

/* Equal shares. */
void ls_balance_init(struct ls_balance *s, int workers);
void ls_balance_free(struct ls_balance *s);
/* Back to equal shares, for as many workers as at ls_balance_init or fewer. */
void ls_balance_level(struct ls_balance *s, int workers);

/* The first of `total` items that belongs to this worker; for worker == workers,
 * total. */
static inline uint64_t ls_balance_begin(const struct ls_balance *s, uint64_t total, int worker)
{
	return (uint64_t)((double)total * s->begin[worker]);
}

/* times: what each worker took for its share, in any unit. Shares move half way to what
 * would have given equal times, and by an eighth at most, so that one outlier does little
 * harm. Times that are not above 0 change nothing. */
void ls_balance_adjust(struct ls_balance *s, const double *times);

#endif
