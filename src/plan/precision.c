#include "plan/precision.h"

#include <string.h>

/* What stands in for a precision that one side lacks: the next one that trains alike. */
static enum ls_precision stand_in(enum ls_precision p)
{
	switch (p) {
	case LS_FP4:
		return LS_FP8;
	case LS_FP8:
		return LS_BF16;
	case LS_BF16:
		return LS_FP16;
	default:
		return LS_FP32;
	}
}

static unsigned has(const struct ls_gpu_model *m)
{
	return m ? m->precisions : ~0u;
}

void ls_plan_choose_precision(const struct ls_plan_ask *ask, struct ls_plan *p)
{
	p->common = has(p->from) & has(p->to) & ((1u << LS_PRECISIONS) - 1);
	p->precision = ask->precision;
	while (p->precision && p->precision != LS_FP32 && !(p->common & (unsigned)p->precision))
		p->precision = stand_in(p->precision);
	p->tf32 = ask->tf32;
	if (p->precision == LS_TF32)
		p->tf32 = 1;
	if (!(p->common & LS_TF32))
		p->tf32 = 0; /* a GPU without it computes in FP32, whatever the setting says */
}

/* From nearest to farthest. Bits can be equal only where GPU, ranks and micro-batch
 * are. */
void ls_plan_expect(struct ls_plan *p)
{
	const struct ls_plan_layout *was = &p->baseline.layout, *now = &p->options[0].layout;
	bool same_place = p->from && p->from == p->to && was->ranks == now->ranks &&
			  was->batch == now->batch && was->accum == now->accum;
	const struct ls_plan_variance all[] = {
		{1, 0.1, 0.5, "global batch, schedule in steps, precision and workers fixed"},
		{2, 0.01, 0.1, "also every seed, deterministic algorithms, TF32 off"},
		{3, 0.01, 0.1,
		 "as level 2: bits are equal only on the same GPU, ranks and micro-batch"}};
	if (!p->exact)
		return;
	memcpy(p->variance, all, sizeof all);
	p->n_variance = sizeof all / sizeof *all;
	if (same_place)
		p->variance[2] = (struct ls_plan_variance){
			3, 0, 0, "also one thread, blocking launches, one order of sums"};
}
