/* A keyed bijection on [0, n): Feistel rounds over the next power of two, repeated while
 * the result is outside (cycle walking, fewer than 2 rounds of it on average). struct
 * ls_perm is the caller's, plain data, constant after init. Any thread; device code too:
 * any rank computes any row's place without the others. */
#ifndef LS_NUM_PERM_H
#define LS_NUM_PERM_H

#include "num/philox.h"
#include "num/port.h"

#define LS_PERM_ROUNDS 6
/* smaller domains have too few round functions to look shuffled */
#define LS_PERM_MIN_BITS 8

struct ls_perm {
	uint64_t n;
	uint64_t key[LS_PERM_ROUNDS];
	/* the two halves; alternate rounds change one by a function of the other */
	uint32_t lo_bits, hi_bits;
};

/* n in [1, 2^40] */
LS_FN void ls_perm_init(struct ls_perm *p, uint64_t key, uint64_t n)
{
	uint32_t bits = n <= 1 ? 0 : (uint32_t)(64 - ls_clz64(n - 1));
	bits = bits < LS_PERM_MIN_BITS ? LS_PERM_MIN_BITS : bits;
	p->n = n;
	p->lo_bits = bits / 2;
	p->hi_bits = bits - bits / 2;
	for (int i = 0; i < LS_PERM_ROUNDS; i += 2) {
		struct ls_u32x4 r = ls_philox(key, (uint64_t)i, n);
		p->key[i] = r.v[0] | (uint64_t)r.v[1] << 32;
		p->key[i + 1] = r.v[2] | (uint64_t)r.v[3] << 32;
	}
}

/* `bits` well-mixed bits of half under key: two multiplications, the high bits taken. */
LS_FN uint32_t ls_perm_mix(uint32_t half, uint64_t key, uint32_t bits)
{
	uint64_t h = (half ^ key) * 0x9e3779b97f4a7c15u;
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
	return (uint32_t)(h >> (64 - bits));
}

/* i < p->n */
LS_FN uint64_t ls_perm_at(const struct ls_perm *p, uint64_t i)
{
	do {
		uint32_t lo = (uint32_t)(i & (((uint64_t)1 << p->lo_bits) - 1)),
			 hi = (uint32_t)(i >> p->lo_bits);
		for (int k = 0; k < LS_PERM_ROUNDS; k += 2) {
			lo ^= ls_perm_mix(hi, p->key[k], p->lo_bits);
			hi ^= ls_perm_mix(lo, p->key[k + 1], p->hi_bits);
		}
		i = (uint64_t)hi << p->lo_bits | lo;
	} while (i >= p->n);
	return i;
}

LS_FN uint64_t ls_perm(uint64_t key, uint64_t n, uint64_t i)
{
	struct ls_perm p;
	ls_perm_init(&p, key, n);
	return ls_perm_at(&p, i);
}

#endif
