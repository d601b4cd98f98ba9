// Every function of src/num in device code, for tools/check-ptx to read. Never run.
#include "num/elem.h"
#include "num/halve.h"
#include "num/perm.h"
#include "num/philox.h"
#include "num/sum.h"

extern "C" __global__ void elementary(const float *x, float *y)
{
	y[0] = ls_expf(x[0]);
	y[1] = ls_logf(x[1]);
	y[2] = ls_log1pf(x[2]);
	y[3] = ls_sigmoidf(x[3]);
	y[4] = ls_softplusf(x[4]);
	y[5] = x[6] / ls_sqrtf(x[5]);
	y[6] = ls_logsumexpf(x, 8);
	ls_softmaxf(x, y + 8, 8);
}

extern "C" __global__ void sums(const float *x, unsigned long long *acc, float *y, int n)
{
	int max = LS_EXP_MIN;
	for (int i = 0; i < n; i++)
		max = ls_exp_of(x[i]) > max ? ls_exp_of(x[i]) : max;
	int p = ls_sum_grid(max + 1, (uint64_t)n);
	atomicAdd(acc, (unsigned long long)ls_sum_term((double)x[threadIdx.x] * ls_pow2(p)));
	y[0] = ls_sum_float((int64_t)*acc, p);
	y[1] = ls_halve_sum(x, 16);
	y[2] = ls_halve_sum(x, n);
}

extern "C" __global__ void randomness(unsigned long long seed, unsigned long long n, unsigned long long *at, float *y)
{
	struct ls_perm p;
	ls_perm_init(&p, ls_epoch_key(seed, 1, n), n);
	at[threadIdx.x] = ls_perm_at(&p, threadIdx.x);
	struct ls_u32x4 r = ls_philox(ls_seed_key(seed, 2), threadIdx.x, 0);
	y[0] = ls_u01f(r.v[0]);
	y[1] = ls_symf(r.v[1]);
}
