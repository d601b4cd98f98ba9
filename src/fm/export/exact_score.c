#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "fm/export/exact.h"
#include "num/num.h"
#include "num/sum.h"

__extension__ typedef __int128 wide;

/* A value on its row's grids: times the unit of the feature's linear weights, times that
 * of its factors, and as it is. */
enum { FOR_LINEAR, FOR_FACTORS, PLAIN, GRIDS };

/* An entry that the model knows. */
struct entry {
	uint32_t feature, field;
	double value[GRIDS];
	int64_t x[GRIDS];
};

struct exact {
	const struct ls_params *p;
	const struct ls_fm_model *m;
	struct entry *entry;
	uint32_t n;
	double unit[GRIDS]; /* of x */
};

int ls_exact_pair_exp(const struct ls_params *p)
{
	int factors = -2 * LS_GRID_FINE;
	switch (p->m->opts.kind) {
	case LS_FM:
		return factors - 1; /* each pair counts twice in (sum)^2 */
	case LS_FWFM:
		return factors + p->exp_fields - LS_GRID_FINE;
	default:
		return factors;
	}
}

/* --- a row --- */

static void add_entry(struct exact *s, const struct ls_rows *rows, uint64_t i)
{
	uint32_t feature = rows->feature[i];
	double x = rows->value ? (double)rows->value[i] : 1.0;
	s->entry[s->n++] = (struct entry){.feature = feature,
					  .field = s->m->n_fields ? rows->field[i] : 0,
					  .value = {x * ls_pow2(s->p->linear_exp[feature]),
						    x * ls_pow2(s->p->factors_exp[feature]), x}};
}

/* The power of two above the largest magnitude. */
static int exponent(const struct exact *s, int grid)
{
	int most = LS_EXACT_LEAST;
	for (uint32_t i = 0; i < s->n; i++) {
		int e = (int)(ls_bits_d(s->entry[i].value[grid]) >> 52 & 0x7ff) - 1022;
		most = e > most ? e : most;
	}
	return most;
}

static void read_row(struct exact *s, const struct ls_rows *rows, uint64_t row)
{
	for (uint64_t i = rows->start[row]; i < rows->start[row + 1]; i++)
		if (ls_fm_knows(s->m, rows->feature, rows->field, i))
			add_entry(s, rows, i);
	for (int grid = 0; grid < GRIDS; grid++) {
		int e = exponent(s, grid);
		double scale = ls_pow2(LS_GRID_FINE - e);
		s->unit[grid] = ls_pow2(e - LS_GRID_FINE);
		for (uint32_t i = 0; i < s->n; i++)
			s->entry[i].x[grid] = ls_sum_term(s->entry[i].value[grid] * scale);
	}
}

/* --- sums --- */

static const float *factors_of(const struct exact *s, uint32_t o, const struct entry *e,
			       uint32_t field)
{
	const struct ls_fm_model *m = s->m;
	uint32_t block = m->opts.kind == LS_FFM ? field : 0;
	return m->record + e->feature * ls_fm_stride(m) +
	       ((size_t)o * m->blocks + block) * m->padded;
}

/* The product of two entries' factors, each for the other's field. */
static int64_t dot(const struct exact *s, uint32_t o, const struct entry *a, const struct entry *b)
{
	const float *v = factors_of(s, o, a, b->field), *w = factors_of(s, o, b, a->field);
	const int16_t *exp = s->p->factors_exp;
	int64_t sum = 0;
	for (uint32_t c = 0; c < s->m->opts.factors; c++)
		sum += (int64_t)ls_exact_round(v[c], exp[a->feature]) *
		       ls_exact_round(w[c], exp[b->feature]);
	return sum;
}

static int64_t pair_weight(const struct exact *s, uint32_t o, uint32_t f, uint32_t g)
{
	const struct ls_fm_model *m = s->m;
	if (m->opts.kind != LS_FWFM)
		return 1;
	uint32_t at =
		f < g ? ls_fm_pair_index(m->n_fields, f, g) : ls_fm_pair_index(m->n_fields, g, f);
	return ls_exact_round(m->pair[(size_t)o * m->n_pairs + at], s->p->exp_fields);
}

static int64_t low_limb(wide t)
{
	const int64_t base = (int64_t)1 << LS_EXACT_LIMB;
	int64_t low = (int64_t)(t & (base - 1));
	return low < base / 2 ? low : low - base;
}

/* high 2^28 + low in binary64. */
static double in_double(wide high, wide low)
{
	int64_t limb[4];
	for (int i = 0; i < 4; i++) {
		limb[i] = low_limb(low);
		low = ((low - limb[i]) >> LS_EXACT_LIMB) + (i == 0 ? high : 0);
	}
	int64_t middle = limb[3] * ((int64_t)1 << LS_EXACT_LIMB) + limb[2],
		end = limb[1] * ((int64_t)1 << LS_EXACT_LIMB) + limb[0];
	return ((double)(int64_t)low * 0x1p56 + (double)middle) * 0x1p56 + (double)end;
}

/* In fm each pair twice, as there the exponent says. */
static double pair_sum(const struct exact *s, uint32_t o)
{
	wide high = 0, low = 0;
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t j = i + 1; j < s->n; j++) {
			const struct entry *a = &s->entry[i], *b = &s->entry[j];
			int64_t x = a->x[FOR_FACTORS] * b->x[FOR_FACTORS], d = dot(s, o, a, b),
				r = pair_weight(s, o, a->field, b->field);
			high += (wide)(r * ((x - low_limb(x)) >> LS_EXACT_LIMB)) * d;
			low += (wide)(r * low_limb(x)) * d;
		}
	return s->m->opts.kind == LS_FM ? in_double(2 * high, 2 * low) : in_double(high, low);
}

static double linear_sum(const struct exact *s, uint32_t o)
{
	int64_t sum = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct entry *e = &s->entry[i];
		float w = s->m->linear[e->feature * ls_fm_stride(s->m) + o];
		sum += ls_exact_round(w, s->p->linear_exp[e->feature]) * e->x[FOR_LINEAR];
	}
	return (double)sum;
}

/* The square of a row's length; 1 of a row of zeros, or of one that is not scaled. */
static double square_of_length(const struct exact *s)
{
	int64_t sum = 0;
	for (uint32_t i = 0; i < s->n; i++)
		sum += s->entry[i].x[PLAIN] * s->entry[i].x[PLAIN];
	return s->m->opts.normalize && sum ? (double)sum * s->unit[PLAIN] * s->unit[PLAIN] : 1.0;
}

void ls_exact_score(const struct ls_params *p, const struct ls_rows *rows, uint64_t row, float *ret)
{
	uint64_t n = rows->start[row + 1] - rows->start[row];
	struct exact s = {.p = p, .m = p->m};

	for (uint32_t o = 0; o < p->m->outputs; o++)
		ret[o] = NAN;
	if (n > LS_EXACT_ENTRIES)
		return;
	s.entry = ls_xalloc(sizeof *s.entry * (n + 1));
	read_row(&s, rows, row);
	double square = square_of_length(&s), unit = s.unit[FOR_FACTORS];
	for (uint32_t o = 0; o < p->m->outputs; o++) {
		double line = linear_sum(&s, o) * s.unit[FOR_LINEAR] * ls_pow2(-LS_GRID_FINE),
		       pairs = pair_sum(&s, o) * unit * unit * ls_pow2(ls_exact_pair_exp(p));
		ret[o] = (float)((double)p->m->bias[o] + line / __builtin_sqrt(square) +
				 pairs / square);
	}
	free(s.entry);
}
