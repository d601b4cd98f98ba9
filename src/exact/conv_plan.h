/* What a caller asks of an exact convolution, the sums that it is made of, and its
 * definition, a term at a time. Owns nothing; any thread. */
#ifndef LS_EXACT_CONV_PLAN_H
#define LS_EXACT_CONV_PLAN_H

#include "base/err.h"
#include "exact/conv.h"

struct ls_conv_plan {
	struct ls_conv conv; /* without dim and w_taps */
	/* of the forward convolution */
	int64_t in[LS_CONV_DIMS], out[LS_CONV_DIMS], kernel[LS_CONV_DIMS];
	int64_t stride[LS_CONV_DIMS], pad[LS_CONV_DIMS], dilation[LS_CONV_DIMS];
};

/* LS_EINPUT: a window that does not fit the sizes, a grid that is not defined, or too many
 * terms. */
int ls_conv_check(const struct ls_conv_plan *p, struct ls_err *err);

int64_t ls_conv_phases(const struct ls_conv_plan *p);
struct ls_conv ls_conv_phase(const struct ls_conv_plan *p, int64_t phase);

/* The definition: what every other way is compared with. */
int ls_conv_plain(const struct ls_conv_plan *p, struct ls_err *err);

#endif
