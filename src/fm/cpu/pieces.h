/* A worker's sorted keys of a step, taken a piece at a time by itself and, once they are done with
 * their own, by others. Pieces end where a feature does, so that each feature is one worker's.
 * Borrows the keys. Begins with ls_pieces_withdraw. A take may overlap an offer, or a withdrawal;
 * keys are offered again only once every taker of those before is done. */
#ifndef LS_FM_CPU_PIECES_H
#define LS_FM_CPU_PIECES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ls_pieces {
	const uint64_t *keys;
	size_t n;
	char pad[64];
	_Atomic size_t at; /* of the next piece, which all who take change; LS_PIECES_NONE: then
			      nothing else is read */
	char pad_end[64];
};

#define LS_PIECES_NONE SIZE_MAX

/* Nothing is to be taken. */
static inline void ls_pieces_withdraw(struct ls_pieces *p)
{
	atomic_store_explicit(&p->at, LS_PIECES_NONE, memory_order_release);
}

/* n sorted keys, feature in their upper 32 bits. */
void ls_pieces_offer(struct ls_pieces *p, const uint64_t *keys, size_t n);
/* Keys *ret_at .. *ret_end: the share-th part of what is left, or somewhat more. false: nothing is
 * left. */
bool ls_pieces_take(struct ls_pieces *p, size_t share, size_t *ret_at, size_t *ret_end);

#endif
