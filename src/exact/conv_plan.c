#include "exact/conv_plan.h"

/* --- the check --- */

static int check_dim(const struct ls_conv_plan *p, int d, struct ls_err *err)
{
	int64_t window = p->dilation[d] * (p->kernel[d] - 1) + 1;
	int64_t room = p->in[d] + 2 * p->pad[d];
	if (p->stride[d] < 1 || p->dilation[d] < 1 || p->kernel[d] < 1)
		return ls_err_set(err, LS_EINPUT,
				  "a convolution has a stride, a dilation or a kernel below 1");
	if (p->stride[d] >= 1 << 30 || p->dilation[d] >= 1 << 30 || p->kernel[d] >= 1 << 30 ||
	    p->pad[d] >= 1 << 30 || p->in[d] >= 1 << 30)
		return ls_err_set(err, LS_EINPUT, "a convolution has sizes of 2^30 or more");
	if (p->pad[d] < 0 || room < window || p->out[d] != (room - window) / p->stride[d] + 1)
		return ls_err_set(err, LS_EINPUT,
				  "a convolution of size %lld, padding %lld and a window of %lld "
				  "has no %lld places at a stride of %lld",
				  (long long)p->in[d], (long long)p->pad[d], (long long)window,
				  (long long)p->out[d], (long long)p->stride[d]);
	return 0;
}

int ls_conv_check(const struct ls_conv_plan *p, struct ls_err *err)
{
	const struct ls_conv *c = &p->conv;
	double terms = c->kind == LS_CONV_BACK_WEIGHT ? (double)c->samples : (double)c->channels;
	for (int d = 0; d < LS_CONV_DIMS; d++) {
		int rc = check_dim(p, d, err);
		if (rc)
			return rc;
		terms *= (double)(c->kind == LS_CONV_BACK_WEIGHT ? p->out[d] : p->kernel[d]);
	}
	if (terms > (double)LS_CONV_MOST_TERMS)
		return ls_err_set(err, LS_EINPUT,
				  "an exact convolution sums at most %lld terms, not %g",
				  (long long)LS_CONV_MOST_TERMS, terms);
	if (c->bits != LS_GRID_FINE && c->bits != LS_GRID_COARSE)
		return ls_err_set(err, LS_EINPUT,
				  "the grid of a convolution has %d or %d bits, not %d",
				  LS_GRID_COARSE, LS_GRID_FINE, c->bits);
	return 0;
}

/* --- its sums --- */

int64_t ls_conv_phases(const struct ls_conv_plan *p)
{
	return p->conv.kind == LS_CONV_BACK_INPUT ? p->stride[0] * p->stride[1] * p->stride[2] : 1;
}

static int64_t divisor_of(int64_t a, int64_t b)
{
	return b ? divisor_of(b, a % b) : a;
}

/* Place q = first + t * stride of the input is read by tap r from (q + pad - r *
 * dilation) / stride, where that is whole: for every so many-th tap. */
static struct ls_conv_dim back_dim(const struct ls_conv_plan *p, int d, int64_t first)
{
	int64_t stride = p->stride[d], common = divisor_of(stride, p->dilation[d]);
	int64_t every = stride / common, tap = 0;
	while (tap < every && tap < p->kernel[d] &&
	       (first + p->pad[d] - tap * p->dilation[d]) % stride != 0)
		tap++;
	bool any = tap < every && tap < p->kernel[d];
	return (struct ls_conv_dim){
		.size = p->out[d],
		.places = p->in[d] > first ? (p->in[d] - first + stride - 1) / stride : 0,
		.step = 1,
		.off = any ? (first + p->pad[d] - tap * p->dilation[d]) / stride : 0,
		.off_step = -p->dilation[d] / common,
		.taps = any ? (p->kernel[d] - tap + every - 1) / every : 0,
		.tap_first = tap,
		.tap_step = every,
		.place_first = first,
		.place_step = stride,
	};
}

struct ls_conv ls_conv_phase(const struct ls_conv_plan *p, int64_t phase)
{
	struct ls_conv c = p->conv;
	struct ls_conv_at first = ls_conv_split(phase, p->stride[1], p->stride[2]);
	for (int d = 0; d < LS_CONV_DIMS; d++) {
		c.w_taps[d] = p->kernel[d];
		if (c.kind == LS_CONV_BACK_INPUT)
			c.dim[d] = back_dim(p, d, first.at[d]);
		else
			c.dim[d] = (struct ls_conv_dim){.size = p->in[d],
							.places = p->out[d],
							.step = p->stride[d],
							.off = -p->pad[d],
							.off_step = p->dilation[d],
							.taps = p->kernel[d],
							.tap_step = 1,
							.place_step = 1};
	}
	return c;
}
