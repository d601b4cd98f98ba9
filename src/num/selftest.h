/* What the GPU self-test computes for one index, on the device (selftest.cu) and on the
 * host (tests/gpu/gpu_selftest.c; the golden tests of the functions take them from here
 * too): every elementary function, the random functions and terms of an order-free sum,
 * over arguments of all sizes. Owns nothing. Any thread; device code too. */
#ifndef LS_NUM_SELFTEST_H
#define LS_NUM_SELFTEST_H

#include "num/elem.h"
#include "num/halve.h"
#include "num/perm.h"
#include "num/philox.h"
#include "num/sum.h"

enum { LS_SELFTEST_COLUMNS = 12 }; /* numbers written for an index */

/* Sums over the indices, one a kind of term; added to with 64-bit integer atomics on a
 * device. */
struct ls_selftest_sums {
	int64_t exp_sum, log_sum, checksum;
};

/* An elementary function by number, in the order of the golden digests. */
LS_FN float ls_selftest_function(int which, float x)
{
	switch (which) {
	case 0:
		return ls_expf(x);
	case 1:
		return ls_logf(x);
	case 2:
		return ls_log1pf(x);
	case 3:
		return ls_sigmoidf(x);
	default:
		return ls_softplusf(x);
	}
}

/* Any bit pattern for most, and moderate values for every fourth, where functions do
 * something. */
LS_FN float ls_selftest_argument(uint64_t i)
{
	struct ls_u32x4 r = ls_philox(ls_seed_key(7, 1), i, 0);
	return i % 4 == 0 ? ls_symf(r.v[0]) * 20.0f : ls_f_bits(r.v[0]);
}

/* Fills out[0 … LS_SELFTEST_COLUMNS) and adds what index i gives to the sums: integers,
 * so that no order matters. */
LS_FN void ls_selftest_row(uint64_t i, uint64_t n, uint32_t *out, struct ls_selftest_sums *sums)
{
	float x = ls_selftest_argument(i), t[5];
	struct ls_u32x4 r = ls_philox(ls_seed_key(7, 2), i, n);
	for (int k = 0; k < 5; k++)
		t[k] = ls_symf(r.v[k % 4] + (uint32_t)k);
	for (int which = 0; which < 5; which++)
		out[which] = ls_bits_f(ls_selftest_function(which, x));
	out[5] = ls_bits_f(x > 0.0f && x < ls_f_bits(0x7f800000u) ? t[0] / ls_sqrtf(x) : 0.0f);
	out[6] = ls_bits_f(ls_symf(r.v[2]));
	out[7] = ls_bits_f(ls_halve_sum(t, 5));
	out[8] = ls_bits_f(ls_u01f(r.v[3]));
	out[9] = (uint32_t)ls_perm(ls_epoch_key(7, 3, 1), n, i);
	double v = (double)ls_sigmoidf(ls_symf(r.v[0]) * 8.0f);
	out[10] = (uint32_t)(ls_bits_d(v / 3.0) >> 7);
	out[11] =
		/* a subnormal, which must not be flushed */
		ls_bits_f((float)(v * 1e-30) / 3e10f);
	int p = ls_sum_grid(1, n);
	sums->exp_sum += ls_sum_term(v * ls_pow2(p));
	p = ls_sum_grid(8, n);
	sums->log_sum += ls_sum_term((double)ls_logf(ls_u01f(r.v[1]) + 1e-6f) * ls_pow2(p));
	for (int k = 0; k < LS_SELFTEST_COLUMNS; k++) /* modulo 2^64, through unsigned */
		sums->checksum = (int64_t)((uint64_t)sums->checksum +
					   (uint64_t)out[k] * (2 * (uint64_t)k + i * 2 + 1));
}

#endif
