/* The terms of reductions, and what follows their sums: one definition for every device
 * (docs/NUMERICS.md, "Sums and statistics"). A term is binary64; that of a loss is
 * rounded to binary32 first, so that a loss is the sum of the losses of its elements.
 * Owns nothing. Any thread; device code too.
 *
 * Operands of an element are v[0], v[1] …, in the order that the comment gives. */
#ifndef LS_EXACT_TERMS_H
#define LS_EXACT_TERMS_H

#include "exact/sums.h"
#include "num/elem.h"

enum ls_term {
	LS_TERM_SUM,     /* x */
	LS_TERM_ABS,     /* |x| */
	LS_TERM_SQUARE,  /* x² */
	LS_TERM_MOMENTS, /* x; two sums, about the pivot */
	LS_TERM_GRADS,   /* g, x, mean, 1/std; sums of g and of g times the normalised x */
	LS_TERM_GAINS,   /* g, x, 1/rms; one sum, of g times the normalised x */
	LS_TERM_PAIR,    /* x, y; two sums */
	LS_TERM_PEAK,    /* x; no sum: the largest |x| */
	LS_TERM_LARGEST, /* x; no sum */
	LS_TERM_LEAST,
	LS_TERM_AT_LARGEST, /* x; no sum, the index of the first */
	LS_TERM_AT_LEAST,
	/* losses of an element, of binary32 */
	LS_TERM_MSE,    /* x, y */
	LS_TERM_L1,     /* x, y */
	LS_TERM_SMOOTH, /* x, y; number[0]: beta */
	LS_TERM_HUBER,  /* x, y; number[0]: delta */
	LS_TERM_BCE,    /* x, y, weight */
	LS_TERM_LOGITS, /* x, y, weight, weight of the positive */
	LS_TERM_KL,     /* log of q, p */
	LS_TERM_KL_LOG, /* log of q, log of p */
	/* maps: the term is the result */
	LS_MAP_NORMAL,  /* x, mean, 1/std, weight, bias */
	LS_MAP_INVERSE, /* variance; number[0]: eps */
	LS_MAP_BACK,    /* g, x, mean, 1/std, weight, sums of LS_TERM_GRADS; number[0]: n */
	LS_MAP_MSE,     /* x, y, g of the result; number[1]: what the loss was divided by */
	LS_MAP_L1,      /* likewise */
	LS_MAP_SMOOTH,  /* likewise; number[0]: beta */
	LS_MAP_HUBER,   /* likewise; number[0]: delta */
	LS_MAP_BCE,     /* x, y, g, weight; number[1] */
	LS_MAP_LOGITS,  /* x, y, g, weight, weight of the positive; number[1] */
	LS_TERMS
};

enum { LS_TERM_OPERANDS = 7 };

LS_FN int ls_term_is_map(int kind)
{
	return kind >= LS_MAP_NORMAL;
}

/* The result is found without a sum. */
LS_FN int ls_term_is_key(int kind)
{
	return kind >= LS_TERM_PEAK && kind <= LS_TERM_AT_LEAST;
}

LS_FN int ls_term_is_index(int kind)
{
	return kind == LS_TERM_AT_LARGEST || kind == LS_TERM_AT_LEAST;
}

LS_FN int ls_term_is_loss(int kind)
{
	return kind >= LS_TERM_MSE && kind <= LS_TERM_KL_LOG;
}

LS_FN int ls_term_sums(int kind)
{
	return kind == LS_TERM_MOMENTS || kind == LS_TERM_GRADS || kind == LS_TERM_PAIR ? 2 : 1;
}

LS_FN int ls_term_operands(int kind)
{
	switch (kind) {
	case LS_MAP_BACK:
		return 7;
	case LS_MAP_NORMAL:
	case LS_MAP_LOGITS:
		return 5;
	case LS_TERM_GRADS:
	case LS_TERM_LOGITS:
	case LS_MAP_BCE:
		return 4;
	case LS_TERM_GAINS:
	case LS_TERM_BCE:
	case LS_MAP_MSE:
	case LS_MAP_L1:
	case LS_MAP_SMOOTH:
	case LS_MAP_HUBER:
		return 3;
	case LS_TERM_PAIR:
	case LS_TERM_MSE:
	case LS_TERM_L1:
	case LS_TERM_SMOOTH:
	case LS_TERM_HUBER:
	case LS_TERM_KL:
	case LS_TERM_KL_LOG:
		return 2;
	default:
		return 1;
	}
}

LS_FN double ls_abs_d(double x)
{
	return ls_d_bits(ls_bits_d(x) & 0x7fffffffffffffffu);
}

/* --- losses of an element --- */

/* log x, not below -100 */
LS_FN double ls_log_above(double x)
{
	double t = x > 0.0 ? ls_log_d(x) : -100.0;
	return t < -100.0 ? -100.0 : t;
}

LS_FN double ls_bce(double x, double y, double w)
{
	double rest = 1.0 - x;
	double t = y * ls_log_above(x) + (1.0 - y) * ls_log_above(rest);
	t = x == x ? -(w * t) : x;
	return t;
}

LS_FN double ls_logits(double x, double y, double w, double positive)
{
	double t = (1.0 - y) * x + (1.0 + (positive - 1.0) * y) * ls_softplus_d(-x);
	return w * t;
}

LS_FN double ls_kl(double log_q, double p)
{
	double t = p > 0.0 ? p * (ls_log_d(p) - log_q) : 0.0;
	return p == p ? t : p;
}

/* half of d² within width, then a line */
LS_FN double ls_huber(double d, double width)
{
	double a = ls_abs_d(d);
	return a < width ? 0.5 * d * d : width * (a - 0.5 * width);
}

LS_FN double ls_smooth(double d, double beta)
{
	double a = ls_abs_d(d);
	return a < beta ? 0.5 * d * d / beta : a - 0.5 * beta;
}

LS_FN double ls_sign_d(double x)
{
	return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
}

/* --- terms --- */

LS_FN double ls_loss_of(int kind, const float *v, const double *number)
{
	double x = (double)v[0], y = (double)v[1], d = x - y;
	switch (kind) {
	case LS_TERM_MSE:
		return d * d;
	case LS_TERM_L1:
		return ls_abs_d(d);
	case LS_TERM_SMOOTH:
		return ls_smooth(d, number[0]);
	case LS_TERM_HUBER:
		return ls_huber(d, number[0]);
	case LS_TERM_BCE:
		return ls_bce(x, y, (double)v[2]);
	case LS_TERM_LOGITS:
		return ls_logits(x, y, (double)v[2], (double)v[3]);
	case LS_TERM_KL:
		return ls_kl(x, y);
	default: /* LS_TERM_KL_LOG */
		return ls_exp_d(y) * (y - x);
	}
}

LS_FN double ls_normal(double x, double mean, double inverse)
{
	return (x - mean) * inverse;
}

LS_FN double ls_loss_slope(int kind, const float *v, const double *number)
{
	double x = (double)v[0], y = (double)v[1], d = x - y, a = ls_abs_d(d);
	switch (kind) {
	case LS_MAP_MSE:
		return 2.0 * d;
	case LS_MAP_L1:
		return ls_sign_d(d);
	case LS_MAP_SMOOTH:
		return a < number[0] ? d / number[0] : ls_sign_d(d);
	case LS_MAP_HUBER:
		return a < number[0] ? d : number[0] * ls_sign_d(d);
	case LS_MAP_BCE: {
		double t = (1.0 - x) * x;
		return (double)v[3] * (d / (t < 1e-12 ? 1e-12 : t));
	}
	default: { /* LS_MAP_LOGITS */
		double t = 1.0 + ((double)v[4] - 1.0) * y;
		return (double)v[3] * ((1.0 - y) - t * ls_sigmoid_d(-x));
	}
	}
}

LS_FN double ls_map_of(int kind, const float *v, const double *number)
{
	if (kind == LS_MAP_INVERSE)
		return 1.0 / ls_sqrt_d((double)v[0] + number[0]);
	if (kind == LS_MAP_NORMAL)
		return ls_normal((double)v[0], (double)v[1], (double)v[2]) * (double)v[3] +
		       (double)v[4];
	if (kind == LS_MAP_BACK) {
		double normal = ls_normal((double)v[1], (double)v[2], (double)v[3]);
		double t = ((double)v[0] - (double)v[5] / number[0]) -
			   normal * ((double)v[6] / number[0]);
		return (double)v[4] * (double)v[3] * t;
	}
	return ls_loss_slope(kind, v, number) * ((double)v[2] / number[1]);
}

/* The terms of an element: ret[0], and ret[1] where there are two sums. */
LS_FN void ls_terms_of(int kind, const float *v, const double *number, double pivot, double *ret)
{
	double x = (double)v[0];
	ret[0] = x;
	if (kind == LS_TERM_ABS)
		ret[0] = ls_abs_d(x);
	else if (kind == LS_TERM_SQUARE)
		ret[0] = x * x;
	else if (kind == LS_TERM_MOMENTS) {
		ret[0] = x - pivot;
		ret[1] = ret[0] * ret[0];
	} else if (kind == LS_TERM_GRADS)
		ret[1] = x * ls_normal((double)v[1], (double)v[2], (double)v[3]);
	else if (kind == LS_TERM_GAINS)
		ret[0] = x * ((double)v[1] * (double)v[2]);
	else if (kind == LS_TERM_PAIR)
		ret[1] = (double)v[1];
	else if (ls_term_is_loss(kind))
		ret[0] = (double)(float)ls_loss_of(kind, v, number);
	else if (ls_term_is_map(kind))
		ret[0] = ls_map_of(kind, v, number);
}

/* The larger key wins; a NaN has the largest. Never 0. */
LS_FN uint32_t ls_term_key(int kind, float x)
{
	uint32_t key =
		ls_float_key(kind == LS_TERM_PEAK ? ls_f_bits(ls_bits_f(x) & 0x7fffffffu) : x);
	return (kind == LS_TERM_LEAST || kind == LS_TERM_AT_LEAST) && x == x ? ~key : key;
}

LS_FN float ls_term_of_key(int kind, uint32_t key)
{
	return ls_key_float(kind == LS_TERM_LEAST && key != 0xffffffffu ? ~key : key);
}

/* --- the grids, between the halves --- */

struct ls_grids {
	double pivot, scale[2];
	uint32_t top[2];
};

/* From the bounds of n terms. For moments these are keys of the largest and of the
 * least, for all else exponents. */
LS_FN struct ls_grids ls_grids_of(int kind, const struct ls_sum_state *s, int64_t n)
{
	struct ls_grids g;
	g.pivot = 0.0;
	g.top[0] = s->top[0];
	g.top[1] = s->top[1];
	if (kind == LS_TERM_MOMENTS) {
		float least = ls_key_float(~s->top[1]), largest = ls_key_float(s->top[0]);
		double spread = 0.0;
		if (!s->flags && s->top[0]) {
			g.pivot = ls_pivot(least, largest);
			spread = ls_spread(least, largest, g.pivot);
		}
		g.top[0] = ls_term_top(spread);
		g.top[1] = ls_term_top(spread * spread);
	}
	for (int i = 0; i < 2; i++)
		g.scale[i] = ls_pow2(ls_term_grid(g.top[i], n));
	return g;
}

/* --- results, after the halves --- */

enum ls_finish {
	LS_AS_SUM,   /* of each sum: the sum */
	LS_AS_MEAN,  /* of each sum: by the divisor */
	LS_AS_ROOT,  /* the square root of the sum */
	LS_AS_VAR,   /* variance, mean */
	LS_AS_STD,   /* standard deviation, mean */
	LS_AS_NORM,  /* mean, 1 / sqrt(variance + eps), and running mean and variance */
	LS_AS_RATIO, /* first sum by second, second sum */
};

struct ls_finish_conf {
	int how;
	double divisor;                 /* of mean and variance */
	double eps, momentum, unbiased; /* of LS_AS_NORM; the divisor of the running variance */
};

/* Results of n terms into ret; [2] and [3] are the old running mean and variance. */
LS_FN void ls_finish_of(int kind, const struct ls_finish_conf *f, const struct ls_sum_state *s,
			int64_t n, double ret[4])
{
	struct ls_grids g = ls_grids_of(kind, s, n);
	double sum[2];
	for (int i = 0; i < 2; i++) {
		uint32_t flags = kind == LS_TERM_MOMENTS ? s->flags & 7
							 : s->flags >> (LS_TERM_FLAGS * i) & 7;
		sum[i] = flags ? ls_flags_value(flags)
			       : ls_grid_value((int64_t)s->sum[i], -ls_term_grid(g.top[i], n));
	}
	if (f->how == LS_AS_SUM || f->how == LS_AS_MEAN) {
		ret[0] = f->how == LS_AS_SUM ? sum[0] : sum[0] / f->divisor;
		ret[1] = f->how == LS_AS_SUM ? sum[1] : sum[1] / f->divisor;
	} else if (f->how == LS_AS_ROOT)
		ret[0] = ls_sqrt_d(sum[0]);
	else if (f->how == LS_AS_RATIO) {
		ret[0] = sum[0] / sum[1];
		ret[1] = sum[1];
	} else {
		double mean = s->flags ? sum[0] : ls_mean_of(g.pivot, sum[0], n);
		double squares = s->flags ? ls_d_bits(0x7ff8000000000000u)
					  : ls_squares_of(sum[0], sum[1], n);
		double variance = squares / f->divisor;
		ret[0] = f->how == LS_AS_STD ? ls_sqrt_d(variance) : variance;
		ret[1] = mean;
		if (f->how == LS_AS_NORM) {
			ret[0] = mean;
			ret[1] = 1.0 / ls_sqrt_d(variance + f->eps);
			ret[2] = (1.0 - f->momentum) * ret[2] + f->momentum * mean;
			ret[3] = (1.0 - f->momentum) * ret[3] +
				 f->momentum * (squares / f->unbiased);
		}
	}
}

#endif
