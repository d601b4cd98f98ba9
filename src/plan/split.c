#include "plan/split.h"

static void use_pair(uint64_t batch, uint64_t accum, ls_split_fn *use, void *ctx)
{
	if (batch <= LS_PLAN_MAX_BATCH && accum <= LS_PLAN_MAX_ACCUM)
		use(ctx, batch, accum);
}

/* Divisors come in pairs about the square root, so that a search up to it finds all:
 * first the accumulations below it, rising, then the batches below it, falling. */
void ls_plan_split(uint64_t share, ls_split_fn *use, void *ctx)
{
	uint64_t d = 1;
	for (; d * d <= share; d++)
		if (share % d == 0)
			use_pair(share / d, d, use, ctx);
	for (d--; d >= 1; d--)
		if (share % d == 0 && d * d != share)
			use_pair(d, share / d, use, ctx);
}

uint64_t ls_plan_most_gpus(uint64_t global, uint64_t most)
{
	while (global % most)
		most--;
	return most;
}
