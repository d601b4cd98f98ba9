#include <float.h>
#include <math.h>

#include "fm/export/entries.h"
#include "fm/export/exact.h"
#include "num/sum.h"

/* Values of the graph. A large number is a sum of words times 2^0, 2^28, 2^56 and so
 * on. */
enum { WORDS = 5 };

struct words {
	int w[WORDS];
};

/* Values on a grid of their row: whole numbers, and batch × 1 what their unit is. */
struct grid {
	int x, unit;
};

struct build {
	struct ls_graph *g;
	const struct ls_params *p;
	const struct ls_fm_model *m;
	int bias, linear, factors; /* initializers */
	struct ls_entries e;
	int ok;                 /* batch: whether all values are numbers, and not too many */
	int powers, ups, units; /* tables by a row's exponent */
	int base, move, back;   /* constants of split */
};

static int sum_over(struct ls_graph *g, int value, const int64_t *axes, size_t n)
{
	struct ls_str attrs = {0};
	int list = ls_graph_ints(g, axes, n);
	ls_attr_int(&attrs, "keepdims", 0);
	return ls_graph_node(g, "ReduceSum", LS_VALUES(value, list), 1, &attrs);
}

static int cast(struct ls_graph *g, int value, enum ls_onnx_type to)
{
	return LS_NODE_INT(g, "Cast", "to", to, value);
}

/* --- values on the grid of their row --- */

static void set_ok(struct build *b)
{
	struct ls_graph *g = b->g;
	int most = ls_graph_scalar_float(g, FLT_MAX), size = LS_NODE(g, "Abs", b->e.value),
	    below = LS_NODE(g, "LessOrEqual", size, most), bad = LS_NODE(g, "Not", below),
	    none = ls_graph_scalar_float(g, 0.0f), zero = ls_graph_scalar_int(g, 0),
	    count = sum_over(g, cast(g, bad, LS_ONNX_INT64), (const int64_t[]){1}, 1),
	    numbers = LS_NODE(g, "Equal", count, zero), length = ls_graph_length(g, &b->e),
	    limit = ls_graph_scalar_int(g, LS_EXACT_ENTRIES + LS_ENTRIES_MORE + 1),
	    brief = LS_NODE(g, "Less", length, limit);
	b->e.value = LS_NODE(g, "Where", bad, none, b->e.value);
	b->ok = LS_NODE(g, "And", numbers, brief);
}

enum { EXPONENTS = LS_EXACT_MOST - LS_EXACT_LEAST + 1 };

/* 2^(sign e + more) for each exponent of a row. */
static int power_table(struct ls_graph *g, int sign, int more)
{
	double powers[EXPONENTS];
	for (int i = 0; i < EXPONENTS; i++)
		powers[i] = ls_pow2(sign * (LS_EXACT_LEAST + i) + more);
	return ls_graph_tensor(g, LS_ONNX_DOUBLE, (const uint64_t[]){EXPONENTS}, 1, powers,
			       sizeof powers);
}

/* Batch: the place in the tables of the power of two above the largest magnitude, which is
 * how many powers it reaches. */
static int exponents(const struct build *b, int values)
{
	struct ls_graph *g = b->g;
	struct ls_str attrs = {0};
	ls_attr_ints(&attrs, "axes", (const int64_t[]){1}, 1);
	ls_attr_int(&attrs, "keepdims", 1);
	int size = LS_NODE(g, "Abs", values),
	    largest = ls_graph_node(g, "ReduceMax", LS_VALUES(size), 1, &attrs),
	    below = LS_NODE(g, "Less", largest, b->powers), reached = LS_NODE(g, "Not", below);
	return sum_over(g, cast(g, reached, LS_ONNX_INT64), (const int64_t[]){1}, 1);
}

/* The values, times a unit of each feature if there is a table of them. */
static struct grid grid_of(const struct build *b, const char *unit)
{
	struct ls_graph *g = b->g;
	struct grid r;
	int values = cast(g, b->e.value, LS_ONNX_DOUBLE);
	if (unit) {
		int table = ls_graph_named(g, unit), each = LS_NODE(g, "Gather", table, b->e.index);
		values = LS_NODE(g, "Mul", values, each);
	}
	int exponent = exponents(b, values), up = LS_NODE(g, "Gather", b->ups, exponent),
	    down = LS_NODE(g, "Gather", b->units, exponent), scale = LS_UNSQUEEZE(g, up, 1),
	    scaled = LS_NODE(g, "Mul", values, scale), whole = LS_NODE(g, "Round", scaled);
	r.x = cast(g, whole, LS_ONNX_INT64);
	r.unit = LS_UNSQUEEZE(g, down, 1);
	return r;
}

/* --- large numbers --- */

/* value = high 2^28 + low, low from -2^27 on and below 2^27. |value| < 2^62. */
struct halves {
	int high, low;
};

static struct halves split(const struct build *b, int value)
{
	struct ls_graph *g = b->g;
	/* positive, so that the division rounds down in every runtime */
	int moved = LS_NODE(g, "Add", value, b->move), parts = LS_NODE(g, "Div", moved, b->base),
	    high = LS_NODE(g, "Sub", parts, b->back), most = LS_NODE(g, "Mul", high, b->base);
	return (struct halves){high, LS_NODE(g, "Sub", value, most)};
}

/* The sum over axes of one times other, each below 2^55, of up to 2^22 terms. */
static struct words sum_of_products(const struct build *b, int one, int other, const int64_t *axes,
				    size_t n)
{
	struct ls_graph *g = b->g;
	struct halves p = split(b, one), q = one == other ? p : split(b, other);
	int ends = LS_NODE(g, "Mul", p.low, q.low), cross = LS_NODE(g, "Mul", p.high, q.low),
	    cross2 = LS_NODE(g, "Mul", p.low, q.high), middle = LS_NODE(g, "Add", cross, cross2),
	    tops = LS_NODE(g, "Mul", p.high, q.high);
	struct halves low = split(b, ends), mid = split(b, middle), top = split(b, tops);
	struct words r;
	r.w[0] = sum_over(g, low.low, axes, n);
	r.w[1] = sum_over(g, LS_NODE(g, "Add", low.high, mid.low), axes, n);
	r.w[2] = sum_over(g, LS_NODE(g, "Add", mid.high, top.low), axes, n);
	r.w[3] = sum_over(g, top.high, axes, n);
	r.w[4] = -1;
	return r;
}

/* Words in binary64: each below 2^27 but the last, two of them together, the last first. */
static int words_value(const struct build *b, struct words r)
{
	struct ls_graph *g = b->g;
	for (int i = 0; i < WORDS - 1; i++) {
		struct halves h = split(b, r.w[i]);
		r.w[i] = h.low;
		r.w[i + 1] = r.w[i + 1] < 0 ? h.high : LS_NODE(g, "Add", r.w[i + 1], h.high);
	}
	int shift = ls_graph_scalar_double(g, 0x1p56), high = LS_NODE(g, "Mul", r.w[3], b->base),
	    middle = LS_NODE(g, "Add", high, r.w[2]), next = LS_NODE(g, "Mul", r.w[1], b->base),
	    low = LS_NODE(g, "Add", next, r.w[0]),
	    top = LS_NODE(g, "Mul", cast(g, r.w[4], LS_ONNX_DOUBLE), shift),
	    sum = LS_NODE(g, "Add", top, cast(g, middle, LS_ONNX_DOUBLE)),
	    moved = LS_NODE(g, "Mul", sum, shift);
	return LS_NODE(g, "Add", moved, cast(g, low, LS_ONNX_DOUBLE));
}

/* --- pairs: batch × outputs --- */

/* Sum over c of (sum of V X)^2, less the sum of X^2 V^2. */
static int fm_pairs(const struct build *b, int values)
{
	struct ls_graph *g = b->g;
	int gathered = LS_NODE(g, "Gather", b->factors, b->e.index),
	    factors = cast(g, gathered, LS_ONNX_INT64), x = LS_UNSQUEEZE(g, values, 2, 3),
	    t = LS_NODE(g, "Mul", factors, x), s = sum_over(g, t, (const int64_t[]){1}, 1),
	    norms = ls_graph_named(g, "norms"), norm = LS_NODE(g, "Gather", norms, b->e.index),
	    square = LS_NODE(g, "Mul", values, values), squares = LS_UNSQUEEZE(g, square, 2);
	struct words all = sum_of_products(b, s, s, (const int64_t[]){2}, 1),
		     own = sum_of_products(b, squares, norm, (const int64_t[]){1}, 1);
	for (int i = 0; i < WORDS - 1; i++)
		all.w[i] = LS_NODE(g, "Sub", all.w[i], own.w[i]);
	return words_value(b, all);
}

/* The products of two entries' factors, of the rows of their table: batch × pairs ×
 * outputs. */
static int dots(const struct build *b, int place, int other)
{
	struct ls_graph *g = b->g;
	int first = LS_NODE(g, "Gather", b->factors, place),
	    second = LS_NODE(g, "Gather", b->factors, other), one = cast(g, first, LS_ONNX_INT64),
	    two = cast(g, second, LS_ONNX_INT64);
	return sum_over(g, LS_NODE(g, "Mul", one, two), (const int64_t[]){3}, 1);
}

/* X_i X_j: batch × pairs × 1. */
static int value_products(struct ls_graph *g, const struct ls_pairs *p)
{
	return LS_UNSQUEEZE(g, LS_NODE(g, "Mul", p->first.value, p->second.value), 2);
}

static struct ls_pairs pairs_of_row(const struct build *b, int values)
{
	struct ls_entries e = b->e;
	e.value = values;
	return ls_graph_pairs(b->g, &e, true);
}

static int ffm_pairs(const struct build *b, int values)
{
	struct ls_graph *g = b->g;
	struct ls_pairs p = pairs_of_row(b, values);
	int place = ls_graph_places(g, p.first.index, b->m->n_fields, p.second.field),
	    other = ls_graph_places(g, p.second.index, b->m->n_fields, p.first.field),
	    products = dots(b, place, other), x = value_products(g, &p);
	return words_value(b, sum_of_products(b, x, products, (const int64_t[]){1}, 1));
}

/* X_i X_j R is cut in two before it is multiplied. */
static int fwfm_pairs(const struct build *b, int values)
{
	struct ls_graph *g = b->g;
	struct ls_pairs p = pairs_of_row(b, values);
	int products = dots(b, p.first.index, p.second.index), x = value_products(g, &p),
	    place = ls_graph_places(g, p.first.field, b->m->n_fields, p.second.field),
	    weights = ls_graph_named(g, "field_weights"),
	    found = LS_NODE(g, "Gather", weights, place), weight = cast(g, found, LS_ONNX_INT64);
	struct halves h = split(b, x);
	int low = LS_NODE(g, "Mul", weight, h.low), high = LS_NODE(g, "Mul", weight, h.high);
	struct words l = sum_of_products(b, low, products, (const int64_t[]){1}, 1),
		     t = sum_of_products(b, high, products, (const int64_t[]){1}, 1);
	for (int i = 1; i < WORDS - 1; i++)
		l.w[i] = LS_NODE(g, "Add", l.w[i], t.w[i - 1]);
	l.w[4] = t.w[3];
	return words_value(b, l);
}

/* --- the score --- */

static int linear_part(const struct build *b)
{
	struct ls_graph *g = b->g;
	struct grid grid = grid_of(b, "linear_unit");
	int gathered = LS_NODE(g, "Gather", b->linear, b->e.index),
	    weight = cast(g, gathered, LS_ONNX_INT64), x = LS_UNSQUEEZE(g, grid.x, 2),
	    sum = sum_over(g, LS_NODE(g, "Mul", weight, x), (const int64_t[]){1}, 1),
	    value = cast(g, sum, LS_ONNX_DOUBLE), scaled = LS_NODE(g, "Mul", value, grid.unit);
	return LS_NODE(g, "Mul", scaled, ls_graph_scalar_double(g, ls_pow2(-LS_GRID_FINE)));
}

static int pair_part(const struct build *b)
{
	static int (*const pairs_of[])(const struct build *, int) = {
		[LS_FM] = fm_pairs, [LS_FFM] = ffm_pairs, [LS_FWFM] = fwfm_pairs};
	struct ls_graph *g = b->g;
	struct grid grid = grid_of(b, "factors_unit");
	int sum = pairs_of[b->m->opts.kind](b, grid.x), first = LS_NODE(g, "Mul", sum, grid.unit),
	    both = LS_NODE(g, "Mul", first, grid.unit);
	return LS_NODE(g, "Mul", both, ls_graph_scalar_double(g, ls_pow2(ls_exact_pair_exp(b->p))));
}

/* Batch × 1: the square of a row's length; 1 of rows of zeros. */
static int square_of_length(const struct build *b)
{
	struct ls_graph *g = b->g;
	struct grid grid = grid_of(b, NULL);
	int squares = LS_NODE(g, "Mul", grid.x, grid.x),
	    sum = sum_over(g, squares, (const int64_t[]){1}, 1), column = LS_UNSQUEEZE(g, sum, 1),
	    value = cast(g, column, LS_ONNX_DOUBLE), first = LS_NODE(g, "Mul", value, grid.unit),
	    both = LS_NODE(g, "Mul", first, grid.unit), zero = ls_graph_scalar_int(g, 0),
	    some = LS_NODE(g, "Greater", column, zero), one = ls_graph_scalar_double(g, 1.0);
	return LS_NODE(g, "Where", some, both, one);
}

/* (bias + linear part) + pairs, batch × outputs. */
static int parts_sum(const struct build *b)
{
	struct ls_graph *g = b->g;
	bool normalize = b->m->opts.normalize;
	int square = normalize ? square_of_length(b) : 0, line = linear_part(b);
	if (normalize)
		line = LS_NODE(g, "Div", line, LS_NODE(g, "Sqrt", square));
	int bias = cast(g, b->bias, LS_ONNX_DOUBLE), sum = LS_NODE(g, "Add", bias, line);
	if (b->m->opts.factors == 0)
		return sum;
	int pairs = pair_part(b);
	if (normalize)
		pairs = LS_NODE(g, "Div", pairs, square);
	return LS_NODE(g, "Add", sum, pairs);
}

static void set_constants(struct build *b)
{
	struct ls_graph *g = b->g;
	b->bias = ls_graph_named(g, "bias");
	b->linear = ls_graph_named(g, "linear");
	b->factors = ls_graph_named(g, "factors");
	b->base = ls_graph_scalar_int(g, (int64_t)1 << LS_EXACT_LIMB);
	b->move = ls_graph_scalar_int(g, ((int64_t)1 << 62) + ((int64_t)1 << (LS_EXACT_LIMB - 1)));
	b->back = ls_graph_scalar_int(g, (int64_t)1 << (62 - LS_EXACT_LIMB));
	b->powers = power_table(g, 1, 0);
	b->ups = power_table(g, -1, LS_GRID_FINE);
	b->units = power_table(g, 1, -LS_GRID_FINE);
}

void ls_exact_graph(struct ls_graph *g, const struct ls_params *p)
{
	struct build b = {.g = g, .p = p, .m = p->m};
	set_constants(&b);
	b.e = ls_graph_entries(g, p->m);
	set_ok(&b);
	int sum = parts_sum(&b), score = cast(g, sum, LS_ONNX_FLOAT),
	    nan = ls_graph_scalar_float(g, NAN), ok = LS_UNSQUEEZE(g, b.ok, 1);
	ls_graph_outputs(g, p->m, LS_NODE(g, "Where", ok, score, nan));
}
