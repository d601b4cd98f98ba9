#include "fm/cpu/pieces.h"

enum { LEAST = 64 }; /* keys: fewer are not worth the way */

void ls_pieces_offer(struct ls_pieces *p, const uint64_t *keys, size_t n)
{
	p->keys = keys;
	p->n = n;
	atomic_store_explicit(&p->at, n ? 0 : LS_PIECES_NONE, memory_order_release);
}

/* Where the feature of the key before `at` ends, at or after it: quick if that is soon, as it
 * mostly is. */
static size_t feature_end(const struct ls_pieces *p, size_t at)
{
	uint64_t feature = p->keys[at - 1] >> 32;
	size_t step = 1, end;
	for (; at + step <= p->n && p->keys[at + step - 1] >> 32 == feature; step *= 2)
		at += step;
	end = at + step < p->n ? at + step : p->n;
	while (at < end) {
		size_t mid = at + (end - at) / 2;
		if (p->keys[mid] >> 32 == feature)
			at = mid + 1;
		else
			end = mid;
	}
	return at;
}

static size_t piece_end(const struct ls_pieces *p, size_t at, size_t share)
{
	size_t left = p->n - at, want = left / share > LEAST ? left / share : LEAST;
	return want < left ? feature_end(p, at + want) : p->n;
}

bool ls_pieces_take(struct ls_pieces *p, size_t share, size_t *ret_at, size_t *ret_end)
{
	size_t at = atomic_load_explicit(&p->at, memory_order_acquire), end;
	do {
		if (at == LS_PIECES_NONE)
			return false;
		end = piece_end(p, at, share);
	} while (!atomic_compare_exchange_weak_explicit(
		&p->at, &at, end < p->n ? end : LS_PIECES_NONE, memory_order_acquire,
		memory_order_acquire));
	*ret_at = at;
	*ret_end = end;
	return true;
}
