#include "fm/export/entries.h"

int ls_graph_unsqueeze(struct ls_graph *g, int value, const int64_t *axes, size_t n)
{
	return LS_NODE(g, "Unsqueeze", value, ls_graph_ints(g, axes, n));
}

/* Whether 0 <= number < count. */
static int within(struct ls_graph *g, int number, int zero, uint64_t count)
{
	int below = LS_NODE(g, "Less", number, ls_graph_scalar_int(g, (int64_t)count)),
	    negative = LS_NODE(g, "Less", number, zero), real = LS_NODE(g, "Not", negative);
	return LS_NODE(g, "And", below, real);
}

/* More places at the end of each row, of zeros. */
static int lengthen(struct ls_graph *g, int value)
{
	return LS_NODE(g, "Pad", value, LS_INTS(g, 0, 0, 0, LS_ENTRIES_MORE));
}

struct ls_entries ls_graph_entries(struct ls_graph *g, const struct ls_fm_model *m)
{
	static const char *const dims[] = {"batch", "entries", NULL};
	int index = ls_graph_input(g, "index", LS_ONNX_INT64, dims),
	    field = m->n_fields ? ls_graph_input(g, "field", LS_ONNX_INT64, dims) : 0,
	    value = ls_graph_input(g, "value", LS_ONNX_FLOAT, dims),
	    zero = ls_graph_scalar_int(g, 0), none = ls_graph_scalar_float(g, 0.0f),
	    known = within(g, index, zero, m->n_features);
	if (m->n_fields)
		known = LS_NODE(g, "And", known, within(g, field, zero, m->n_fields));
	struct ls_entries e = {0};
	e.index = lengthen(g, LS_NODE(g, "Where", known, index, zero));
	if (m->n_fields)
		e.field = lengthen(g, LS_NODE(g, "Where", known, field, zero));
	e.value = lengthen(g, LS_NODE(g, "Where", known, value, none));
	return e;
}

int ls_graph_length(struct ls_graph *g, const struct ls_entries *e)
{
	int shape = LS_NODE(g, "Shape", e->index);
	return LS_NODE(g, "Gather", shape, ls_graph_scalar_int(g, 1));
}

int ls_graph_rows(struct ls_graph *g, const struct ls_entries *e)
{
	int shape = LS_NODE(g, "Shape", e->index), from = LS_INTS(g, 0), to = LS_INTS(g, 1);
	return LS_NODE(g, "Slice", shape, from, to);
}

static struct ls_entries chosen(struct ls_graph *g, const struct ls_entries *e, bool fields,
				int places)
{
	struct ls_entries c = {0};
	c.index = LS_NODE_INT(g, "Gather", "axis", 1, e->index, places);
	c.field = fields ? LS_NODE_INT(g, "Gather", "axis", 1, e->field, places) : 0;
	c.value = LS_NODE_INT(g, "Gather", "axis", 1, e->value, places);
	return c;
}

struct ls_pairs ls_graph_pairs(struct ls_graph *g, const struct ls_entries *e, bool fields)
{
	int zero = ls_graph_scalar_int(g, 0), one = ls_graph_scalar_int(g, 1),
	    n = ls_graph_length(g, e), range = LS_NODE(g, "Range", zero, n, one),
	    i = LS_UNSQUEEZE(g, range, 1), j = LS_UNSQUEEZE(g, range, 0),
	    before = LS_NODE(g, "Less", i, j), both = LS_NODE(g, "NonZero", before),
	    first = LS_NODE(g, "Gather", both, zero), second = LS_NODE(g, "Gather", both, one);
	struct ls_pairs p;
	p.first = chosen(g, e, fields, first);
	p.second = chosen(g, e, fields, second);
	return p;
}

int ls_graph_places(struct ls_graph *g, int number, uint64_t count, int other)
{
	int size = ls_graph_scalar_int(g, (int64_t)count), first = LS_NODE(g, "Mul", number, size);
	return LS_NODE(g, "Add", first, other);
}

void ls_graph_outputs(struct ls_graph *g, const struct ls_fm_model *m, int score)
{
	static const char *const one[] = {"batch", NULL};
	if (m->opts.task == LS_MULTICLASS) {
		char classes[LS_DIM_TEXT];
		const char *const each[] = {"batch", ls_dim_text(m->outputs, classes), NULL};
		ls_graph_output(g, score, "score", LS_ONNX_FLOAT, each);
		ls_graph_output(g, LS_NODE_INT(g, "Softmax", "axis", 1, score), "probability",
				LS_ONNX_FLOAT, each);
		struct ls_str attrs = {0};
		ls_attr_int(&attrs, "axis", 1);
		ls_attr_int(&attrs, "keepdims", 0);
		ls_graph_output(g, ls_graph_node(g, "ArgMax", LS_VALUES(score), 1, &attrs), "class",
				LS_ONNX_INT64, one);
		return;
	}
	score = LS_NODE(g, "Squeeze", score, LS_INTS(g, 1));
	ls_graph_output(g, score, "score", LS_ONNX_FLOAT, one);
	if (m->opts.task == LS_BINARY)
		ls_graph_output(g, LS_NODE(g, "Sigmoid", score), "probability", LS_ONNX_FLOAT, one);
}
