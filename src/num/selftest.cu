/* The device half of the self-test: the functions of the numerics contract at n indices,
 * and order-free sums of what they give, by atomics. Any grid gives the same bytes.
 * tests/gpu/gpu_selftest.c compares them with the host's. */
#include "num/selftest.h"

/* out: n rows of LS_SELFTEST_COLUMNS; sums: zeroed before. */
extern "C" __global__ void __launch_bounds__(1024) selftest(uint32_t *out, struct ls_selftest_sums *sums, uint64_t n)
{
	struct ls_selftest_sums mine = {0, 0, 0};
	uint64_t step = (uint64_t)gridDim.x * blockDim.x;
	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
		ls_selftest_row(i, n, out + i * LS_SELFTEST_COLUMNS, &mine);
	atomicAdd((unsigned long long *)&sums->exp_sum, (unsigned long long)mine.exp_sum);
	atomicAdd((unsigned long long *)&sums->log_sum, (unsigned long long)mine.log_sum);
	atomicAdd((unsigned long long *)&sums->checksum, (unsigned long long)mine.checksum);
}

/* Function number which at the count inputs whose bits are first, first + 1, …;
 * tests/gpu/gpu_selftest.c asks for all. */
extern "C" __global__ void __launch_bounds__(1024)
	selftest_function(float *out, uint32_t first, uint32_t count, int which)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		out[i] = ls_selftest_function(which, ls_f_bits(first + i));
}
