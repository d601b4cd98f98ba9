/* Randomness as a function: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011) of a key and
 * a counter, and variates. Owns nothing: no state, no order of consumption. Any thread;
 * device code too. A key stands for (seed, purpose) or (seed, purpose, epoch); the
 * counter is the global row or parameter index. */
#ifndef LS_NUM_PHILOX_H
#define LS_NUM_PHILOX_H

#include "num/port.h"

struct ls_u32x4 {
	uint32_t v[4];
};

/* Counter words v[0], v[1] are counter_lo (low half first), v[2], v[3] counter_hi; the
 * key's low half is key word 0. */
LS_FN struct ls_u32x4 ls_philox(uint64_t key, uint64_t counter_lo, uint64_t counter_hi)
{
	uint32_t c0 = (uint32_t)counter_lo, c1 = (uint32_t)(counter_lo >> 32);
	uint32_t c2 = (uint32_t)counter_hi, c3 = (uint32_t)(counter_hi >> 32);
	uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
	struct ls_u32x4 r;
	for (int round = 0; round < 10; round++) {
		uint64_t a = (uint64_t)c0 * 0xd2511f53u, b = (uint64_t)c2 * 0xcd9e8d57u;
		c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
		c1 = (uint32_t)b;
		c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
		c3 = (uint32_t)a;
		k0 += 0x9e3779b9u;
		k1 += 0xbb67ae85u;
	}
	r.v[0] = c0;
	r.v[1] = c1;
	r.v[2] = c2;
	r.v[3] = c3;
	return r;
}

/* The key of a purpose: Philox itself is the mixing function, at counter (purpose, 0)
 * under the seed. */
LS_FN uint64_t ls_seed_key(uint64_t seed, uint32_t purpose)
{
	struct ls_u32x4 r = ls_philox(seed, purpose, 0);
	return r.v[0] | (uint64_t)r.v[1] << 32;
}

/* The same with an epoch, at counter (2^32 + purpose, epoch): never the counter of a key
 * without one. */
LS_FN uint64_t ls_epoch_key(uint64_t seed, uint32_t purpose, uint64_t epoch)
{
	struct ls_u32x4 r = ls_philox(seed, (uint64_t)1 << 32 | purpose, epoch);
	return r.v[0] | (uint64_t)r.v[1] << 32;
}

/* Uniform in (0, 1): (2 j + 1) 2^-24 with j the high 23 bits. Exact, never 0 nor 1,
 * symmetric about 1/2. */
LS_FN float ls_u01f(uint32_t u)
{
	return (float)(int32_t)(u >> 9 << 1 | 1) * 0x1p-24f;
}

/* Uniform in (-1, 1): (2 j + 1 - 2^23) 2^-23 with j the high 23 bits less its top one:
 * odd multiples of 2^-23. Exact, never 0, symmetric about 0. */
LS_FN float ls_symf(uint32_t u)
{
	return (float)((int32_t)(u >> 9 << 1 | 1) - (1 << 23)) * 0x1p-23f;
}

#endif
