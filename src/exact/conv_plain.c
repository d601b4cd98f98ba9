/* The definition of exact convolutions: every triple of an element of the input, one of
 * the output and a weight that belong together gives one term. */
#include <stdlib.h>

#include "base/mem.h"
#include "exact/conv_plan.h"
#include "num/num.h"

/* Channels of all groups: of the input, and of the output. */
static int64_t inputs(const struct ls_conv *c)
{
	return c->groups * (c->kind == LS_CONV_BACK_INPUT ? c->lines : c->channels);
}

static int64_t outputs(const struct ls_conv *c)
{
	return c->groups * (c->kind == LS_CONV_BACK_INPUT ? c->channels : c->lines);
}

static int64_t product(const int64_t *n)
{
	return n[0] * n[1] * n[2];
}

/* x, y and w as numbers in order, one of which is the result. */
struct side {
	float *value;
	int32_t *whole;
	uint32_t *top; /* of each line */
	int64_t *line; /* of each element */
	int64_t count, lines;
};

struct plain {
	const struct ls_conv_plan *p;
	struct side x, y, w; /* input, output, weights */
	int64_t *high, *low; /* of each result */
	double *odd;
	int *found;
};

static struct side new_side(int64_t count, int64_t lines)
{
	return (struct side){ls_xalloc(sizeof(float) * (size_t)(count + 1)),
			     ls_xalloc(sizeof(int32_t) * (size_t)(count + 1)),
			     ls_xalloc(sizeof(uint32_t) * (size_t)(lines + 1)),
			     ls_xalloc(sizeof(int64_t) * (size_t)(count + 1)),
			     count,
			     lines};
}

static void free_side(struct side *s)
{
	free(s->value);
	free(s->whole);
	free(s->top);
	free(s->line);
}

static void cut(struct side *s, int bits)
{
	float first, second;
	for (int64_t l = 0; l < s->lines; l++)
		s->top[l] = 0;
	for (int64_t i = 0; i < s->count; i++)
		s->top[s->line[i]] = ls_conv_top(s->top[s->line[i]], s->value[i]);
	for (int64_t i = 0; i < s->count; i++) {
		ls_grid_scale(bits, ls_conv_exp(s->top[s->line[i]]), &first, &second);
		s->whole[i] = ls_conv_whole(s->value[i], first, second, bits);
	}
}

/* Elements of samples × channels × places; a line is a sample's group, or for
 * back_weight a channel. */
static void read_samples(const struct ls_conv *c, const struct ls_conv_tensor *x,
			 const int64_t *size, int64_t channels, struct side *s)
{
	int64_t places = product(size), each = channels / c->groups;
	for (int64_t i = 0; i < s->count; i++) {
		int64_t sample = i / (channels * places), channel = i / places % channels;
		struct ls_conv_at at = ls_conv_split(i % places, size[1], size[2]);
		s->value[i] =
			ls_reduce_get(x->at, x->type, ls_conv_offset(x, sample, channel, &at));
		s->line[i] = c->kind == LS_CONV_BACK_WEIGHT ? channel
							    : sample * c->groups + channel / each;
	}
}

/* Output channels × input channels of the group × taps. */
static void read_weights(const struct plain *a, struct side *s)
{
	const struct ls_conv *c = &a->p->conv;
	int64_t taps = product(a->p->kernel);
	int64_t in = inputs(c) / c->groups, out = outputs(c) / c->groups;
	bool back = c->kind == LS_CONV_BACK_INPUT;
	for (int64_t i = 0; i < s->count; i++) {
		int64_t o = i / (in * taps), k = i / taps % in, group = o / out;
		struct ls_conv_at at = ls_conv_split(i % taps, a->p->kernel[1], a->p->kernel[2]);
		int64_t offset =
			ls_conv_offset(&c->other, back ? k : o % out, back ? o % out : k, &at);
		s->value[i] =
			ls_reduce_get(c->other.at, c->other.type, group * c->w_group + offset);
		s->line[i] = back ? group * in + k : o;
	}
}

static void term(struct plain *a, int64_t to, const struct side *l, int64_t i, const struct side *r,
		 int64_t k)
{
	int64_t t = (int64_t)l->whole[i] * r->whole[k];
	a->high[to] += t >> LS_GRID_SPLIT;
	a->low[to] += t & ((1 << LS_GRID_SPLIT) - 1);
	ls_conv_odd_term(l->value[i], r->value[k], &a->odd[to], &a->found[to]);
}

/* The terms of output o, place and tap, of one sample. */
static void terms(struct plain *a, int64_t sample, int64_t o, int64_t place, int64_t tap)
{
	const struct ls_conv_plan *p = a->p;
	const struct ls_conv *c = &p->conv;
	struct ls_conv_at at = ls_conv_split(place, p->out[1], p->out[2]);
	struct ls_conv_at r = ls_conv_split(tap, p->kernel[1], p->kernel[2]);
	int64_t from = 0, in = inputs(c) / c->groups, group = o / (outputs(c) / c->groups);
	for (int d = 0; d < LS_CONV_DIMS; d++) {
		int64_t q = at.at[d] * p->stride[d] - p->pad[d] + r.at[d] * p->dilation[d];
		if (q < 0 || q >= p->in[d])
			return;
		from = from * p->in[d] + q;
	}
	for (int64_t k = 0; k < in; k++) {
		int64_t x = (sample * inputs(c) + group * in + k) * product(p->in) + from;
		int64_t y = (sample * outputs(c) + o) * product(p->out) + place;
		int64_t w = (o * in + k) * product(p->kernel) + tap;
		if (c->kind == LS_CONV_FORWARD)
			term(a, y, &a->x, x, &a->w, w);
		else if (c->kind == LS_CONV_BACK_INPUT)
			term(a, x, &a->y, y, &a->w, w);
		else
			term(a, w, &a->x, x, &a->y, y);
	}
}

static double value_of(const struct plain *a, int64_t i, uint32_t one, uint32_t other)
{
	if (a->found[i])
		return a->odd[i];
	return ls_grid_value_wide(a->high[i], a->low[i],
				  ls_conv_exp(one) + ls_conv_exp(other) - 2 * a->p->conv.bits);
}

static void write_samples(const struct plain *a, const int64_t *size, int64_t channels,
			  const struct side *source)
{
	const struct ls_conv *c = &a->p->conv;
	int64_t places = product(size);
	for (int64_t i = 0; i < c->samples * channels * places; i++) {
		int64_t sample = i / (channels * places), channel = i / places % channels;
		struct ls_conv_at at = ls_conv_split(i % places, size[1], size[2]);
		double t = value_of(a, i, source->top[sample * c->groups + channel / c->lines],
				    a->w.top[channel]);
		ls_reduce_put(c->out.at, c->out.type, ls_conv_offset(&c->out, sample, channel, &at),
			      ls_conv_biased(c, channel / c->lines, channel % c->lines, t));
	}
}

static void write_weights(const struct plain *a)
{
	const struct ls_conv *c = &a->p->conv;
	int64_t taps = product(a->p->kernel);
	for (int64_t i = 0; i < outputs(c) * c->channels * taps; i++) {
		int64_t o = i / (c->channels * taps), k = i / taps % c->channels;
		struct ls_conv_at at = ls_conv_split(i % taps, a->p->kernel[1], a->p->kernel[2]);
		double t = value_of(a, i, a->y.top[o], a->x.top[o / c->lines * c->channels + k]);
		ls_reduce_put(c->out.at, c->out.type, ls_conv_offset(&c->out, o, k, &at), t);
	}
}

static void run(struct plain *a)
{
	const struct ls_conv_plan *p = a->p;
	const struct ls_conv *c = &p->conv;
	if (c->kind != LS_CONV_BACK_INPUT)
		read_samples(c, &c->source, p->in, inputs(c), &a->x);
	if (c->kind != LS_CONV_FORWARD)
		read_samples(c, c->kind == LS_CONV_BACK_INPUT ? &c->source : &c->other, p->out,
			     outputs(c), &a->y);
	if (c->kind != LS_CONV_BACK_WEIGHT)
		read_weights(a, &a->w);
	cut(&a->x, c->bits);
	cut(&a->y, c->bits);
	cut(&a->w, c->bits);
	for (int64_t n = 0; n < c->samples; n++)
		for (int64_t o = 0; o < outputs(c); o++)
			for (int64_t place = 0; place < product(p->out); place++)
				for (int64_t tap = 0; tap < product(p->kernel); tap++)
					terms(a, n, o, place, tap);
	if (c->kind == LS_CONV_FORWARD)
		write_samples(a, p->out, outputs(c), &a->x);
	else if (c->kind == LS_CONV_BACK_INPUT)
		write_samples(a, p->in, inputs(c), &a->y);
	else
		write_weights(a);
}

int ls_conv_plain(const struct ls_conv_plan *p, struct ls_err *err)
{
	const struct ls_conv *c = &p->conv;
	int rc = ls_conv_check(p, err);
	if (rc)
		return rc;
	bool by_sample = c->kind != LS_CONV_BACK_WEIGHT;
	int64_t x = c->samples * inputs(c) * product(p->in),
		y = c->samples * outputs(c) * product(p->out),
		w = outputs(c) * inputs(c) / c->groups * product(p->kernel);
	int64_t most = x > y ? x : y, lines = c->samples * c->groups;
	most = most > w ? most : w;
	/* the result is among them: its numbers stay 0, and are not looked at */
	struct plain a = {.p = p,
			  .x = new_side(x, by_sample ? lines : inputs(c)),
			  .y = new_side(y, by_sample ? lines : outputs(c)),
			  .w = new_side(w, c->kind == LS_CONV_BACK_INPUT ? inputs(c) : outputs(c)),
			  .high = ls_xalloc(sizeof(int64_t) * (size_t)(most + 1)),
			  .low = ls_xalloc(sizeof(int64_t) * (size_t)(most + 1)),
			  .odd = ls_xalloc(sizeof(double) * (size_t)(most + 1)),
			  .found = ls_xalloc(sizeof(int) * (size_t)(most + 1))};
	uint64_t saved = ls_fp_enter();
	run(&a);
	ls_fp_leave(saved);
	free_side(&a.x);
	free_side(&a.y);
	free_side(&a.w);
	free(a.high);
	free(a.low);
	free(a.odd);
	free(a.found);
	return 0;
}
