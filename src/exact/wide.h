/* Operations element by element that depend on more than their inputs, or whose results
 * are no floats: random numbers, dropout, casts (docs/NUMERICS.md, "Operations of neural
 * networks"). Owns nothing. Any thread; device code too.
 *
 * Randomness is a function of a key, made of seed and call, and of an element's number:
 * its place in the row-major order of the tensor, and `first`. */
#ifndef LS_EXACT_WIDE_H
#define LS_EXACT_WIDE_H

#include "exact/elem.h"
#include "num/function.h"
#include "num/perm.h"
#include "num/philox.h"

enum ls_wide_kind {
	LS_WIDE_CAST,
	LS_WIDE_RAND,      /* number 0, 1: from, to */
	LS_WIDE_RANDN,     /* mean, standard deviation */
	LS_WIDE_RANDINT,   /* from, how many */
	LS_WIDE_BERNOULLI, /* the probability, or a tensor of them */
	LS_WIDE_BERNOULLI_TENSOR,
	LS_WIDE_DROPOUT, /* the probability that an element is dropped, and 1 / (1 - it) */
	LS_WIDE_RANDPERM /* how many */
};

enum { LS_WIDE_TENSORS = 3, LS_EXACT_PURPOSE = 0x45584143 /* of its keys: "EXAC" */ };

struct ls_wide {
	int kind, inputs, outputs, ndim;
	int vectors; /* GPU: groups of four elements can be moved at a time */
	int64_t count, size[LS_ELEM_DIMS];
	struct ls_elem_tensor t[LS_WIDE_TENSORS]; /* inputs, then outputs */
	double number[2];
	uint64_t key, first;
	struct ls_perm perm;
};

/* --- memory --- */

LS_FN double ls_wide_load(const void *at, int type, int64_t i)
{
	switch (type) {
	case LS_ELEM_F64:
		return ((const double *)at)[i];
	case LS_ELEM_I64: /* rounded to odd, so that what follows rounds once */
		return ls_grid_value(((const int64_t *)at)[i], 0);
	case LS_ELEM_I32:
		return (double)((const int32_t *)at)[i];
	default:
		return (double)ls_elem_load(at, type, i);
	}
}

/* Towards zero; held within [least, most]; 0 for NaN. least and most are powers of two or
 * one less: as doubles they are exact, or the next above. */
LS_FN int64_t ls_wide_whole(double y, double below, int64_t least, int64_t most)
{
	if (y != y)
		return 0;
	if (y >= below)
		return most;
	return y <= -below ? least : (int64_t)y;
}

LS_FN void ls_wide_store(void *at, int type, int64_t i, double y)
{
	switch (type) {
	case LS_ELEM_F64:
		((double *)at)[i] = y != y ? ls_d_bits(0x7ff8000000000000u) : y;
		break;
	case LS_ELEM_I64:
		((int64_t *)at)[i] = ls_wide_whole(y, 0x1p63, (int64_t)((uint64_t)1 << 63),
						   (int64_t)(~(uint64_t)0 >> 1));
		break;
	case LS_ELEM_I32:
		((int32_t *)at)[i] = (int32_t)ls_wide_whole(y, 0x1p31, -2147483647 - 1, 2147483647);
		break;
	default:
		ls_elem_store(at, type, i, y);
	}
}

/* --- random numbers --- */

/* The words of elements 4 n to 4 n + 3; another stream has other words. */
LS_FN struct ls_u32x4 ls_wide_words(uint64_t key, uint64_t number, uint64_t stream)
{
	return ls_philox(key, number >> 2, stream);
}

/* In [0, 1), with as many bits as the type can hold: rounding never gives 1. */
LS_FN double ls_wide_unit(uint32_t word, int type)
{
	int bits = type == LS_ELEM_BF16  ? 8
		   : type == LS_ELEM_F16 ? 11
		   : type == LS_ELEM_F32 ? 24
					 : 32;
	uint32_t top = word >> (32 - bits);
	return (double)top * ls_d_bits((uint64_t)(uint32_t)(1023 - bits) << 52);
}

/* Box and Muller: two words make two normal numbers, by cosine and by sine. The angle is
 * the second word, a full turn being 2^32. */
LS_FN double ls_wide_normal(uint32_t first, uint32_t second, int odd)
{
	double u = ((double)first + 0.5) * 0x1p-32;
	double r = ls_sqrt_d(-2.0 * ls_log_d(u));
	return r * ls_sin_turn((uint64_t)second << 32, odd ? 0 : 1);
}

/* Element `number` of [0, many): the high half of 64 bits times `many`. */
LS_FN double ls_wide_below(uint32_t high, uint32_t low, double many)
{
	uint64_t n = (uint64_t)many, bits = (uint64_t)high << 32 | low;
	uint64_t a = bits >> 32, b = bits & 0xffffffffu, c = n >> 32, d = n & 0xffffffffu;
	uint64_t middle = a * d + (b * d >> 32), other = b * c + (middle & 0xffffffffu);
	return (double)(a * c + (middle >> 32) + (other >> 32));
}

LS_FN int ls_wide_happens(uint32_t word, double probability)
{
	return (double)word < probability * 4294967296.0;
}

/* Outputs y of element `number`, whose input is x, from the words of its group of four.
 * n: the numbers; type: of the first output. */
LS_FN void ls_wide_formula(int kind, uint64_t key, const struct ls_perm *perm, const double *n,
			   uint64_t number, const uint32_t *word, double x, int type, double *y)
{
	unsigned at = (unsigned)(number & 3);
	float kept;
	switch (kind) {
	case LS_WIDE_RAND:
		y[0] = n[0] + (n[1] - n[0]) * ls_wide_unit(word[at], type);
		break;
	case LS_WIDE_RANDN:
		y[0] = n[0] + n[1] * ls_wide_normal(word[at & 2], word[at | 1], at & 1);
		break;
	case LS_WIDE_RANDINT: {
		struct ls_u32x4 low = ls_wide_words(key, number, 1);
		y[0] = n[0] + ls_wide_below(word[at], low.v[at], n[1]);
		break;
	}
	case LS_WIDE_BERNOULLI:
		y[0] = ls_wide_happens(word[at], n[0]);
		break;
	case LS_WIDE_BERNOULLI_TENSOR:
		y[0] = ls_wide_happens(word[at], x);
		break;
	case LS_WIDE_DROPOUT:
		kept = (float)x * (float)n[1];
		y[1] = !ls_wide_happens(word[at], n[0]);
		y[0] = y[1] != 0.0 ? (double)kept : 0.0;
		break;
	case LS_WIDE_RANDPERM:
		y[0] = (double)ls_perm_at(perm, number);
		break;
	default:
		y[0] = x;
	}
}

/* Whether a kind uses the words of its group. */
LS_FN int ls_wide_is_random(int kind)
{
	return kind != LS_WIDE_CAST && kind != LS_WIDE_RANDPERM;
}

#endif
