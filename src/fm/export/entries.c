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

/* One more place at the end of each row, of zeros. */
static int lengthen(struct ls_graph *g, int value)
{
	return LS_NODE(g, "Pad", value, LS_INTS(g, 0, 0, 0, 1));
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

int ls_graph_rows(struct ls_graph *g, const struct ls_entries *e)
{
	int shape = LS_NODE(g, "Shape", e->index), from = LS_INTS(g, 0), to = LS_INTS(g, 1);
	return LS_NODE(g, "Slice", shape, from, to);
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
