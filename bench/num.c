/* Nanoseconds a call of what src/num gives, one thread: bench_num [REPEATS]. Best of
 * several repeats of a loop over an array; "chain" feeds each result into the next
 * argument and so shows latency. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "num/elem.h"
#include "num/halve.h"
#include "num/perm.h"
#include "num/philox.h"
#include "num/sum.h"

enum { N = 1 << 14 };

static float in[N], out[N];
static uint64_t sink;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define LOOP(name, f)                                                                              \
	static void name(void)                                                                     \
	{                                                                                          \
		for (int i = 0; i < N; i++)                                                        \
			out[i] = f(in[i]);                                                         \
	}
LOOP(run_exp, ls_expf)
LOOP(run_log, ls_logf)
LOOP(run_log1p, ls_log1pf)
LOOP(run_sigmoid, ls_sigmoidf)
LOOP(run_softplus, ls_softplusf)
#define STEP(g) ((g) / ls_sqrtf((g) * (g) + 1.0f)) /* as AdaGrad divides */
LOOP(run_step, STEP)

static void chain_sigmoid(void)
{
	float x = in[0];
	for (int i = 0; i < N; i++)
		x = in[i] - ls_sigmoidf(x);
	out[0] = x;
}

static void chain_softplus(void)
{
	float x = in[0];
	for (int i = 0; i < N; i++)
		x = in[i] - ls_softplusf(x);
	out[0] = x;
}

static void run_sum(void)
{
	double scale = ls_pow2(ls_sum_grid(8, N));
	uint64_t acc = 0;
	for (int i = 0; i < N; i++)
		acc += ls_bits_d((double)in[i] * scale + LS_MAGIC);
	sink += acc - N * LS_MAGIC_BITS;
}

static void run_max_exp(void)
{
	int max = LS_EXP_MIN;
	for (int i = 0; i < N; i++) {
		int e = ls_exp_of(in[i]);
		max = e > max ? e : max;
	}
	sink += (uint64_t)max;
}

static void run_halve16(void)
{
	for (int i = 0; i < N; i += 16)
		out[i] = ls_halve_sum(in + i, 16);
}

static void run_halve8(void)
{
	for (int i = 0; i < N; i += 8)
		out[i] = ls_halve_sum(in + i, 8);
}

static void run_philox(void)
{
	for (int i = 0; i < N; i++)
		sink += ls_philox(7, (uint64_t)i, 0).v[0];
}

static void run_perm(void)
{
	struct ls_perm p;
	ls_perm_init(&p, 3, 45000000);
	for (int i = 0; i < N; i++)
		sink += ls_perm_at(&p, (uint64_t)i);
}

static const struct {
	const char *name;
	void (*run)(void);
	int calls;
} loops[] = {
	{"exp", run_exp, N},
	{"log", run_log, N},
	{"log1p", run_log1p, N},
	{"sigmoid", run_sigmoid, N},
	{"softplus", run_softplus, N},
	{"sigmoid chain", chain_sigmoid, N},
	{"softplus chain", chain_softplus, N},
	{"root and division", run_step, N},
	{"sum term", run_sum, N},
	{"max exponent", run_max_exp, N},
	{"halving sum of 8", run_halve8, N / 8},
	{"halving sum of 16", run_halve16, N / 16},
	{"philox (4 words)", run_philox, N},
	{"permutation of 45e6", run_perm, N},
};

int main(int argc, char **argv)
{
	long repeats = argc > 1 ? strtol(argv[1], NULL, 10) : 200;
	for (int i = 0; i < N; i++)
		in[i] = ls_symf(ls_philox(1, (uint64_t)i, 0).v[0]) * 8.0f;
	for (size_t k = 0; k < sizeof loops / sizeof *loops; k++) {
		double best = 1e30;
		for (long r = 0; r < repeats; r++) {
			double start = now();
			loops[k].run();
			/* the results are wanted */
			__asm__ volatile("" : : "r"(out) : "memory");
			double ns = (now() - start) / loops[k].calls;
			best = ns < best ? ns : best;
		}
		printf("%-20s %7.2f ns\n", loops[k].name, best);
	}
	return sink == 42;
}
