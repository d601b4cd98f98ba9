#include "exact/cpu/conv_kern.h"

#include "base/inline.h"
#include "exact/conv.h"
#include "exact/cpu/kern.h"

static uint32_t top(const float *x, int64_t n, uint32_t before)
{
	uint32_t most = 0;
	for (int64_t i = 0; i < n; i++) {
		uint32_t u = ls_bits_f(x[i]) & 0x7fffffff;
		most = u > most ? u : most;
	}
	if (most < 0x7f800000)
		return ls_conv_larger(before, most);
	for (int64_t i = 0; i < n; i++)
		before = ls_conv_top(before, x[i]);
	return before;
}

INLINE void cut_to(const float *x, int64_t n, float first, float second, int bits, float *out)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = (float)ls_conv_whole(x[i], first, second, bits);
}

static void cut(const float *x, int64_t n, float first, float second, int bits, float *out)
{
	if (bits == LS_GRID_FINE)
		cut_to(x, n, first, second, LS_GRID_FINE, out);
	else
		cut_to(x, n, first, second, LS_GRID_COARSE, out);
}

INLINE void panel_across(const float *x, int64_t n, int panel, double *out)
{
	for (int i = 0; i < panel; i++)
		out[i] = i < n ? (double)x[i] : 0.0;
}

/* The width of a panel as a constant, so that the loop has no remainder. */
static void across(const float *x, int64_t n, int panel, int64_t depth, double *out)
{
	for (; n > 0; n -= panel, x += panel, out += panel * depth)
		if (n < panel)
			panel_across(x, n, panel, out);
		else if (panel == 24)
			panel_across(x, 24, 24, out);
		else if (panel == 12)
			panel_across(x, 12, 12, out);
		else
			panel_across(x, panel, panel, out);
}

static void along(const float *x, int64_t n, int panel, double *out)
{
	for (int64_t i = 0; i < n; i++)
		out[i * panel] = (double)x[i];
}

static void values(const int64_t *sum, int64_t n, int e, double *out)
{
	double scale = ls_d_bits((uint64_t)(uint32_t)(e + 1023) << 52);
	uint64_t size = 0;
	for (int64_t i = 0; i < n; i++)
		size |= (uint64_t)(sum[i] ^ (sum[i] >> 63));
	if (size < (uint64_t)1 << 53)
		for (int64_t i = 0; i < n; i++)
			out[i] = (double)sum[i] * scale;
	else
		for (int64_t i = 0; i < n; i++)
			out[i] = ls_grid_value(sum[i], e);
}

static void store(const double *x, int64_t n, float *out)
{
	for (int64_t i = 0; i < n; i++)
		out[i] = ls_f32_from(x[i]);
}

const struct ls_conv_kern LS_EXACT_NAME(conv) = {top, cut, across, along, values, store};
