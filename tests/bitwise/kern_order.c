/* The kernels with the sum over factors in straight order instead of halving. */
#include "num/halve.h"

static inline float straight_sum(const float *t, int n)
{
	float sum = 0.0f;
	for (int i = 0; i < n; i++)
		sum += t[i];
	return sum;
}

#define ls_halve_sum straight_sum
#include "../../src/fm/cpu/kern/kern.c"
