#include "fm/export/float_graph.h"

#include <string.h>

#include "exact/grid.h"
#include "fm/export/entries.h"

/* What graphs of all kinds read. */
struct build {
	struct ls_graph *g;
	const struct ls_params *p;
	const struct ls_fm_model *m;
	int bias, linear, factors; /* initializers */
	struct ls_entries e;
};

/* The sum along an axis from its first place on: the last of the sums so far. A
 * ReduceSum's order is the runtime's. */
static int sum_in_order(struct ls_graph *g, int terms, int64_t axis)
{
	int so_far = LS_NODE(g, "CumSum", terms, ls_graph_scalar_int(g, axis));
	return LS_NODE_INT(g, "Gather", "axis", axis, so_far, ls_graph_scalar_int(g, -1));
}

/* The last axis, of n places, zero-padded to a power of two and halved (num/halve.h). rank:
 * how many axes there are. */
static int halve(struct ls_graph *g, int value, uint32_t n, size_t rank)
{
	int64_t pads[8] = {0};
	uint32_t width = 1;
	while (width < n)
		width *= 2;
	pads[2 * rank - 1] = (int64_t)(width - n);
	if (width > n)
		value = LS_NODE(g, "Pad", value, ls_graph_ints(g, pads, 2 * rank));
	for (; width > 1; width /= 2) {
		struct ls_str attrs = {0};
		ls_attr_int(&attrs, "axis", -1);
		int low = ls_graph_node(g, "Split", LS_VALUES(value), 2, &attrs);
		value = LS_NODE(g, "Add", low, low + 1);
	}
	return LS_NODE(g, "Squeeze", value, LS_INTS(g, -1));
}

/* Values scaled to length 1; rows of zeros stay zeros. */
static int normalized(struct ls_graph *g, int value)
{
	int squares = sum_in_order(g, LS_NODE(g, "Mul", value, value), 1),
	    zero = ls_graph_scalar_float(g, 0.0f), one = ls_graph_scalar_float(g, 1.0f),
	    scale = LS_NODE(g, "Div", one, LS_NODE(g, "Sqrt", squares)),
	    some = LS_NODE(g, "Greater", squares, zero),
	    safe = LS_NODE(g, "Where", some, scale, zero);
	return LS_NODE(g, "Mul", value, LS_UNSQUEEZE(g, safe, 1));
}

/* Stored numbers as float32: of fp16 by one power of two, of int8 by a scale of the
 * feature. */
static int unpacked(const struct build *b, int stored, enum ls_export_form form, int exp, int index)
{
	struct ls_graph *g = b->g;
	if (form == LS_EXPORT_FLOAT)
		return stored;
	int number = LS_NODE_INT(g, "Cast", "to", LS_ONNX_FLOAT, stored), scale;
	if (form == LS_EXPORT_FP16) {
		scale = ls_graph_scalar_float(g, ls_grid_pow2(exp - LS_EXPORT_HALF_EXP));
	} else {
		int scales = ls_graph_named(g, "factors_scale");
		scale = LS_NODE(g, "Gather", scales, index);
		scale = LS_UNSQUEEZE(g, scale, 2, 3);
	}
	return LS_NODE(g, "Mul", number, scale);
}

/* The factors of the entries e. place: their rows of the table. */
static int factors_at(const struct build *b, const struct ls_entries *e, int place)
{
	int stored = LS_NODE(b->g, "Gather", b->factors, place);
	return unpacked(b, stored, b->p->form, b->p->exp_factors, e->index);
}

/* Factors times value: batch × entries × outputs × factors. */
static int terms_at(const struct build *b, const struct ls_entries *e, int place)
{
	int factors = factors_at(b, e, place), values = LS_UNSQUEEZE(b->g, e->value, 2, 3);
	return LS_NODE(b->g, "Mul", factors, values);
}

/* Bias, then the entries' linear parts: batch × outputs. */
static int linear_part(const struct build *b)
{
	struct ls_graph *g = b->g;
	enum ls_export_form form = b->p->form == LS_EXPORT_FLOAT ? LS_EXPORT_FLOAT : LS_EXPORT_FP16;
	int stored = LS_NODE(g, "Gather", b->linear, b->e.index),
	    weight = unpacked(b, stored, form, b->p->exp_linear, b->e.index),
	    terms = LS_NODE(g, "Mul", weight, LS_UNSQUEEZE(g, b->e.value, 2)),
	    rows = ls_graph_rows(g, &b->e), each = LS_INTS(g, 1, b->m->outputs),
	    shape = LS_NODE_INT(g, "Concat", "axis", 0, rows, each),
	    first = LS_NODE(g, "Expand", b->bias, shape);
	return sum_in_order(g, LS_NODE_INT(g, "Concat", "axis", 1, first, terms), 1);
}

/* 0.5 halve(S S - Q) */
static int fm_pairs(const struct build *b)
{
	struct ls_graph *g = b->g;
	int t = terms_at(b, &b->e, b->e.index), sum = sum_in_order(g, t, 1),
	    squares = sum_in_order(g, LS_NODE(g, "Mul", t, t), 1),
	    square = LS_NODE(g, "Mul", sum, sum), pairs = LS_NODE(g, "Sub", square, squares);
	pairs = halve(g, pairs, b->m->opts.factors, 3);
	return LS_NODE(g, "Mul", pairs, ls_graph_scalar_float(g, 0.5f));
}

/* halve(sum over pairs of two entries' terms, each for the other's field) */
static int ffm_pairs(const struct build *b)
{
	struct ls_graph *g = b->g;
	struct ls_pairs p = ls_graph_pairs(g, &b->e, true);
	int place = ls_graph_places(g, p.first.index, b->m->n_fields, p.second.field),
	    other = ls_graph_places(g, p.second.index, b->m->n_fields, p.first.field),
	    first = terms_at(b, &p.first, place), second = terms_at(b, &p.second, other),
	    products = LS_NODE(g, "Mul", first, second);
	return halve(g, sum_in_order(g, products, 1), b->m->opts.factors, 3);
}

/* --- fwfm --- */

/* a b + c, rounded once to binary64 and again to binary32: all but always fma. */
static int fused(struct ls_graph *g, int a, int b, int c)
{
	int wide_a = LS_NODE_INT(g, "Cast", "to", LS_ONNX_DOUBLE, a),
	    wide_b = LS_NODE_INT(g, "Cast", "to", LS_ONNX_DOUBLE, b),
	    wide_c = LS_NODE_INT(g, "Cast", "to", LS_ONNX_DOUBLE, c),
	    product = LS_NODE(g, "Mul", wide_a, wide_b), sum = LS_NODE(g, "Add", product, wide_c);
	return LS_NODE_INT(g, "Cast", "to", LS_ONNX_FLOAT, sum);
}

/* Shapes of an fwfm's values. */
struct shapes {
	char field[LS_DIM_TEXT], output[LS_DIM_TEXT], factor[LS_DIM_TEXT];
	const char *sums[5], *lanes[4], *fields[3], *weights[3], *outputs[2], *none[1];
};

static void set_shapes(struct shapes *s, const struct ls_fm_model *m)
{
	const char *fields = ls_dim_text(m->n_fields, s->field),
		   *outputs = ls_dim_text(m->outputs, s->output),
		   *factors = ls_dim_text(m->opts.factors, s->factor);
	memcpy(s->sums, (const char *[]){"batch", fields, outputs, factors, NULL}, sizeof s->sums);
	memcpy(s->lanes, (const char *[]){"batch", outputs, factors, NULL}, sizeof s->lanes);
	memcpy(s->fields, (const char *[]){"batch", fields, NULL}, sizeof s->fields);
	memcpy(s->weights, (const char *[]){fields, outputs, NULL}, sizeof s->weights);
	memcpy(s->outputs, (const char *[]){outputs, NULL}, sizeof s->outputs);
	s->none[0] = NULL;
}

/* An entry comes to U and W of its field. */
static void entry_body(struct ls_graph *g, const struct shapes *s)
{
	int u = ls_graph_input(g, "u", LS_ONNX_FLOAT, s->sums),
	    w = ls_graph_input(g, "w", LS_ONNX_FLOAT, s->sums),
	    is_field = ls_graph_input(g, "is", LS_ONNX_FLOAT, s->fields),
	    t = ls_graph_input(g, "t", LS_ONNX_FLOAT, s->lanes),
	    mask = LS_UNSQUEEZE(g, is_field, 2, 3), term = LS_UNSQUEEZE(g, t, 1),
	    part = LS_NODE(g, "Mul", mask, term), sum = LS_NODE(g, "Add", u, part);
	ls_graph_output(g, sum, "u_next", LS_ONNX_FLOAT, s->sums);
	ls_graph_output(g, fused(g, u, part, w), "w_next", LS_ONNX_FLOAT, s->sums);
}

/* Field f: E_f is complete, and comes with U_f to the total. r(f,f) W_f comes to the own.
 * U_f comes to E of the fields behind it, by weights that are 0 for the others. */
static void field_body(struct ls_graph *g, const struct shapes *s)
{
	int e = ls_graph_input(g, "e", LS_ONNX_FLOAT, s->sums),
	    total = ls_graph_input(g, "total", LS_ONNX_FLOAT, s->lanes),
	    own = ls_graph_input(g, "own", LS_ONNX_FLOAT, s->lanes),
	    u = ls_graph_input(g, "u", LS_ONNX_FLOAT, s->lanes),
	    w = ls_graph_input(g, "w", LS_ONNX_FLOAT, s->lanes),
	    weights = ls_graph_input(g, "weights", LS_ONNX_FLOAT, s->weights),
	    self = ls_graph_input(g, "self", LS_ONNX_FLOAT, s->outputs),
	    f = ls_graph_input(g, "f", LS_ONNX_INT64, s->none),
	    e_f = LS_NODE_INT(g, "Gather", "axis", 1, e, f), beside = LS_UNSQUEEZE(g, u, 1),
	    each = LS_UNSQUEEZE(g, weights, 0, 3), alone = LS_UNSQUEEZE(g, self, 0, 2);
	ls_graph_output(g, fused(g, beside, each, e), "e_next", LS_ONNX_FLOAT, s->sums);
	ls_graph_output(g, fused(g, u, e_f, total), "total_next", LS_ONNX_FLOAT, s->lanes);
	ls_graph_output(g, fused(g, w, alone, own), "own_next", LS_ONNX_FLOAT, s->lanes);
}

/* The first `states` inputs are carried from one step to the next and returned; the others
 * are cut along `axes`. */
static int scan_take(struct ls_graph *g, struct ls_graph *body, const int *in, size_t n,
		     size_t states, const int64_t *axes)
{
	struct ls_str attrs = {0};
	ls_attr_graph_take(&attrs, "body", body);
	ls_attr_int(&attrs, "num_scan_inputs", (int64_t)(n - states));
	ls_attr_ints(&attrs, "scan_input_axes", axes, n - states);
	return ls_graph_node(g, "Scan", in, n, states, &attrs);
}

/* Zeros: batch × dims. */
static int zeros(const struct build *b, const int64_t *dims, size_t n)
{
	struct ls_graph *g = b->g;
	int rows = ls_graph_rows(g, &b->e), rest = ls_graph_ints(g, dims, n),
	    shape = LS_NODE_INT(g, "Concat", "axis", 0, rows, rest),
	    zero = ls_graph_scalar_float(g, 0.0f);
	return LS_NODE(g, "Expand", zero, shape);
}

/* U, and W behind it. */
static int fwfm_sums(const struct build *b, const struct shapes *s, int nothing)
{
	struct ls_graph *g = b->g, body = {.prefix = "entry_"};
	int t = terms_at(b, &b->e, b->e.index), field = LS_UNSQUEEZE(g, b->e.field, 2),
	    equal = LS_NODE(g, "Equal", field, ls_graph_named(g, "field_numbers")),
	    is_field = LS_NODE_INT(g, "Cast", "to", LS_ONNX_FLOAT, equal);
	entry_body(&body, s);
	return scan_take(g, &body, LS_VALUES(nothing, nothing, is_field, t), 2,
			 (const int64_t[]){1, 1});
}

/* halve(sum of U_f E_f + sum of r(f,f) W_f) */
static int fwfm_pairs(const struct build *b)
{
	const struct ls_fm_model *m = b->m;
	struct ls_graph *g = b->g, body = {.prefix = "field_"};
	struct shapes s;
	set_shapes(&s, m);
	int weights = ls_graph_named(g, "field_weights"), own = ls_graph_named(g, "own_weights"),
	    numbers = ls_graph_named(g, "field_numbers"),
	    sums = zeros(b, (const int64_t[]){m->n_fields, m->outputs, m->opts.factors}, 3),
	    lanes = zeros(b, (const int64_t[]){m->outputs, m->opts.factors}, 2),
	    u = fwfm_sums(b, &s, sums);
	field_body(&body, &s);
	int e = scan_take(g, &body, LS_VALUES(sums, lanes, lanes, u, u + 1, weights, own, numbers),
			  3, (const int64_t[]){1, 1, 0, 0, 0});
	return halve(g, LS_NODE(g, "Add", e + 1, e + 2), m->opts.factors, 3);
}

void ls_float_graph(struct ls_graph *g, const struct ls_params *p)
{
	static int (*const pairs_of[])(const struct build *) = {
		[LS_FM] = fm_pairs, [LS_FFM] = ffm_pairs, [LS_FWFM] = fwfm_pairs};
	struct build b = {.g = g, .p = p, .m = p->m};
	b.bias = ls_graph_named(g, "bias");
	b.linear = ls_graph_named(g, "linear");
	b.factors = ls_graph_named(g, "factors");
	b.e = ls_graph_entries(g, p->m);
	if (p->m->opts.normalize)
		b.e.value = normalized(g, b.e.value);
	int score = linear_part(&b);
	if (p->m->opts.factors) {
		int pairs = pairs_of[p->m->opts.kind](&b);
		score = LS_NODE(g, "Add", score, pairs);
	}
	ls_graph_outputs(g, p->m, score);
}
