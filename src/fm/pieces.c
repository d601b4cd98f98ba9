#include "fm/pieces.h"

enum { LEAST = 64 }; /* keys: fewer are not worth the way */

void ls_pieces_offer(struct ls_pieces *p, const uint64_t *keys, size_t n)
{
	p->keys = keys;
	p->n = n;
	atomic_store_explicit(&p->at, n ? 0 : LS_PIECES_NONE, memory_order_release);
}

static size_t piece_end(const struct ls_pieces *p, size_t at, size_t share)
{
	size_t left = p->n - at, want = left / share > LEAST ? left / share : LEAST, end = at + want;
	if (want >= left)
		return p->n;
	while (end < p->n && p->keys[end] >> 32 == p->keys[end - 1] >> 32)
		end++;
	return end;
}

bool ls_pieces_take(struct ls_pieces *p, size_t share, size_t *ret_at, size_t *ret_end)
{
	size_t at = atomic_load_explicit(&p->at, memory_order_acquire), end;
	do {
		if (at == LS_PIECES_NONE)
			return false;
		end = piece_end(p, at, share);
	} while (!atomic_compare_exchange_weak_explicit(&p->at, &at, end < p->n ? end : LS_PIECES_NONE,
							memory_order_acquire, memory_order_acquire));
	*ret_at = at;
	*ret_end = end;
	return true;
}
