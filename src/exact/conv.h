/* Exact convolutions and their gradients (docs/NUMERICS.md, "Convolutions"). C and CUDA
 * alike. Owns nothing.
 *
 * All of them are sums over taps of a moving window. Along each dimension, tap t of place
 * p reads the source at p * step + off + t * off_step; what lies outside is no term. A
 * gradient by the input with a stride is one such sum for each remainder of a place by
 * the stride (`phase`), with its own taps. */
#ifndef LS_EXACT_CONV_H
#define LS_EXACT_CONV_H

#include "exact/reduce.h"

enum { LS_CONV_FORWARD, LS_CONV_BACK_INPUT, LS_CONV_BACK_WEIGHT };
enum { LS_CONV_DIMS = 3 };
/* Terms of one sum. */
#define LS_CONV_MOST_TERMS ((int64_t)1 << 31)
/* The top of a line that has an infinity or a NaN is that of its other elements, with
 * this bit. */
#define LS_CONV_NOT_FINITE 0x80000000u

/* Samples × channels × places; strides in elements. */
struct ls_conv_tensor {
	void *at;
	int type;
	int64_t sample, channel, place[LS_CONV_DIMS];
};

struct ls_conv_dim {
	int64_t size;   /* of the source */
	int64_t places; /* of the window: of the result, or for back_weight of g */
	int64_t step, off, off_step;
	int64_t taps, tap_first, tap_step; /* which of the weights' taps */
	int64_t place_first, place_step;   /* which of the result's places */
};

/* Forward: source x, lines are output channels. back_input: source g, lines are input
 * channels. back_weight: source x, lines are output channels, and the result is w. Lines
 * and channels are those of a group. */
struct ls_conv {
	int kind, bits;
	int64_t samples, groups, lines, channels;
	struct ls_conv_dim dim[LS_CONV_DIMS];
	struct ls_conv_tensor source;
	/* w, its sample a line and its channel one of the source's; of a group `w_group`
	 * elements. back_weight: g */
	struct ls_conv_tensor other;
	int64_t w_group;
	int64_t w_taps[LS_CONV_DIMS]; /* all that w has */
	struct ls_conv_tensor out;    /* back_weight: like w */
	const void *bias;             /* one for each line of each group, or NULL */
	int64_t bias_step;
	int bias_type;
};

LS_FN int64_t ls_conv_places(const struct ls_conv *c)
{
	return c->dim[0].places * c->dim[1].places * c->dim[2].places;
}

LS_FN int64_t ls_conv_taps(const struct ls_conv *c)
{
	return c->dim[0].taps * c->dim[1].taps * c->dim[2].taps;
}

LS_FN int64_t ls_conv_source_places(const struct ls_conv *c)
{
	return c->dim[0].size * c->dim[1].size * c->dim[2].size;
}

/* Number `flat` of the places (or taps), of which dimensions 1 and 2 have so many. */
struct ls_conv_at {
	int64_t at[LS_CONV_DIMS];
};

LS_FN struct ls_conv_at ls_conv_split(int64_t flat, int64_t second, int64_t third)
{
	struct ls_conv_at p;
	p.at[2] = flat % third;
	flat /= third;
	p.at[1] = flat % second;
	p.at[0] = flat / second;
	return p;
}

LS_FN struct ls_conv_at ls_conv_place(const struct ls_conv *c, int64_t flat)
{
	return ls_conv_split(flat, c->dim[1].places, c->dim[2].places);
}

LS_FN struct ls_conv_at ls_conv_tap(const struct ls_conv *c, int64_t flat)
{
	return ls_conv_split(flat, c->dim[1].taps, c->dim[2].taps);
}

/* Where the tap of a place reads, as the number of a place of the source; -1: outside. */
LS_FN int64_t ls_conv_reads(const struct ls_conv *c, const struct ls_conv_at *place,
			    const struct ls_conv_at *tap)
{
	int64_t flat = 0;
	for (int d = 0; d < LS_CONV_DIMS; d++) {
		const struct ls_conv_dim *k = &c->dim[d];
		int64_t at = place->at[d] * k->step + k->off + tap->at[d] * k->off_step;
		if (at < 0 || at >= k->size)
			return -1;
		flat = flat * k->size + at;
	}
	return flat;
}

/* The weights' tap, as their own number. */
LS_FN int64_t ls_conv_w_tap(const struct ls_conv *c, const struct ls_conv_at *tap)
{
	int64_t flat = 0;
	for (int d = 0; d < LS_CONV_DIMS; d++)
		flat = flat * c->w_taps[d] + c->dim[d].tap_first + tap->at[d] * c->dim[d].tap_step;
	return flat;
}

LS_FN int64_t ls_conv_offset(const struct ls_conv_tensor *x, int64_t sample, int64_t channel,
			     const struct ls_conv_at *place)
{
	return sample * x->sample + channel * x->channel + place->at[0] * x->place[0] +
	       place->at[1] * x->place[1] + place->at[2] * x->place[2];
}

LS_FN float ls_conv_source(const struct ls_conv *c, int64_t sample, int64_t channel, int64_t flat)
{
	struct ls_conv_at at = ls_conv_split(flat, c->dim[1].size, c->dim[2].size);
	return ls_reduce_get(c->source.at, c->source.type,
			     ls_conv_offset(&c->source, sample, channel, &at));
}

LS_FN float ls_conv_weight(const struct ls_conv *c, int64_t group, int64_t line, int64_t channel,
			   int64_t w_tap)
{
	struct ls_conv_at at = ls_conv_split(w_tap, c->w_taps[1], c->w_taps[2]);
	return ls_reduce_get(c->other.at, c->other.type,
			     group * c->w_group + ls_conv_offset(&c->other, line, channel, &at));
}

LS_FN float ls_conv_g(const struct ls_conv *c, int64_t sample, int64_t line, int64_t flat)
{
	struct ls_conv_at at = ls_conv_place(c, flat);
	return ls_reduce_get(c->other.at, c->other.type,
			     ls_conv_offset(&c->other, sample, line, &at));
}

/* The larger top, and whether either is not finite. */
LS_FN uint32_t ls_conv_larger(uint32_t a, uint32_t b)
{
	uint32_t x = a & ~LS_CONV_NOT_FINITE, y = b & ~LS_CONV_NOT_FINITE;
	return (x > y ? x : y) | ((a | b) & LS_CONV_NOT_FINITE);
}

LS_FN uint32_t ls_conv_top(uint32_t so_far, float x)
{
	uint32_t u = ls_bits_f(x) & 0x7fffffffu;
	return u >= 0x7f800000u ? so_far | LS_CONV_NOT_FINITE : ls_conv_larger(so_far, u);
}

LS_FN int ls_conv_exp(uint32_t top)
{
	return ls_grid_exp(top & ~LS_CONV_NOT_FINITE);
}

/* x in steps of the grid of its line; what is not finite is 0. */
LS_FN int32_t ls_conv_whole(float x, float first, float second, int bits)
{
	return (ls_bits_f(x) & 0x7fffffffu) >= 0x7f800000u ? 0
							   : ls_grid_round(x, first, second, bits);
}

/* Adds a term that has an infinity or a NaN; *found is set by it. */
LS_FN void ls_conv_odd_term(float x, float y, double *t, int *found)
{
	if ((ls_bits_f(x) & 0x7fffffffu) < 0x7f800000u &&
	    (ls_bits_f(y) & 0x7fffffffu) < 0x7f800000u)
		return;
	*t = *t + (double)x * (double)y;
	*found = 1;
}

/* What IEEE says of the terms of a result that are not finite, in any order. 0: there are
 * none. Line and channel are those of the group; column, of back_weight: tap *
 * channels + channel. */
LS_SLOW int ls_conv_not_finite(const struct ls_conv *c, int64_t group, int64_t line, int64_t sample,
			       int64_t place, double *ret)
{
	struct ls_conv_at at = ls_conv_place(c, place);
	int found = 0;
	*ret = 0;
	for (int64_t t = 0; t < ls_conv_taps(c); t++) {
		struct ls_conv_at tap = ls_conv_tap(c, t);
		int64_t from = ls_conv_reads(c, &at, &tap), w = ls_conv_w_tap(c, &tap);
		for (int64_t d = 0; from >= 0 && d < c->channels && *ret == *ret; d++)
			ls_conv_odd_term(ls_conv_source(c, sample, group * c->channels + d, from),
					 ls_conv_weight(c, group, line, d, w), ret, &found);
	}
	return found;
}

LS_SLOW int ls_conv_w_not_finite(const struct ls_conv *c, int64_t group, int64_t line,
				 int64_t channel, int64_t t, double *ret)
{
	struct ls_conv_at tap = ls_conv_tap(c, t);
	int64_t places = ls_conv_places(c);
	int found = 0;
	*ret = 0;
	for (int64_t k = 0; k < c->samples * places && *ret == *ret; k++) {
		int64_t sample = k / places, place = k % places;
		struct ls_conv_at at = ls_conv_place(c, place);
		int64_t from = ls_conv_reads(c, &at, &tap);
		if (from >= 0)
			ls_conv_odd_term(
				ls_conv_source(c, sample, group * c->channels + channel, from),
				ls_conv_g(c, sample, group * c->lines + line, place), ret, &found);
	}
	return found;
}

/* --- where results go --- */

LS_FN int64_t ls_conv_out(const struct ls_conv *c, int64_t group, int64_t line, int64_t sample,
			  int64_t place)
{
	struct ls_conv_at at = ls_conv_place(c, place);
	for (int d = 0; d < LS_CONV_DIMS; d++)
		at.at[d] = c->dim[d].place_first + at.at[d] * c->dim[d].place_step;
	return ls_conv_offset(&c->out, sample, group * c->lines + line, &at);
}

LS_FN int64_t ls_conv_w_out(const struct ls_conv *c, int64_t group, int64_t line, int64_t channel,
			    int64_t tap)
{
	struct ls_conv_at at = ls_conv_tap(c, tap);
	return ls_conv_offset(&c->out, group * c->lines + line, channel, &at);
}

LS_FN double ls_conv_biased(const struct ls_conv *c, int64_t group, int64_t line, double t)
{
	if (!c->bias)
		return t;
	return t + (double)ls_reduce_get(c->bias, c->bias_type,
					 (group * c->lines + line) * c->bias_step);
}

#endif
