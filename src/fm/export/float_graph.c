#include "fm/export/float_graph.h"

#include "fm/export/entries.h"

/* What graphs of all kinds read. */
struct build {
	struct ls_graph *g;
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

/* Bias, then the entries' linear parts: batch × outputs. */
static int linear_part(const struct build *b)
{
	struct ls_graph *g = b->g;
	int weight = LS_NODE(g, "Gather", b->linear, b->e.index),
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
	int factors = LS_NODE(g, "Gather", b->factors, b->e.index),
	    t = LS_NODE(g, "Mul", factors, LS_UNSQUEEZE(g, b->e.value, 2, 3)),
	    sum = sum_in_order(g, t, 1), squares = sum_in_order(g, LS_NODE(g, "Mul", t, t), 1),
	    square = LS_NODE(g, "Mul", sum, sum), pairs = LS_NODE(g, "Sub", square, squares);
	pairs = halve(g, pairs, b->m->opts.factors, 3);
	return LS_NODE(g, "Mul", pairs, ls_graph_scalar_float(g, 0.5f));
}

void ls_float_graph(struct ls_graph *g, const struct ls_params *p)
{
	struct build b = {.g = g, .m = p->m};
	b.bias = ls_graph_named(g, "bias");
	b.linear = ls_graph_named(g, "linear");
	b.factors = ls_graph_named(g, "factors");
	b.e = ls_graph_entries(g, p->m);
	if (p->m->opts.normalize)
		b.e.value = normalized(g, b.e.value);
	int line = linear_part(&b), pairs = fm_pairs(&b);
	ls_graph_outputs(g, p->m, LS_NODE(g, "Add", line, pairs));
}
