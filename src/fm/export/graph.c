#include "fm/export/graph.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fm/export/proto.h"

/* Field numbers and types of onnx.proto. */
enum {
	GRAPH_NODE = 1,
	GRAPH_NAME = 2,
	GRAPH_INPUT = 11,
	GRAPH_OUTPUT = 12,
	NODE_INPUT = 1,
	NODE_OUTPUT = 2,
	NODE_NAME = 3,
	NODE_OP = 4,
	NODE_ATTRIBUTE = 5,
	ATTRIBUTE_NAME = 1,
	ATTRIBUTE_INT = 3,
	ATTRIBUTE_GRAPH = 6,
	ATTRIBUTE_INTS = 8,
	ATTRIBUTE_TYPE = 20,
	TYPE_INT = 2,
	TYPE_GRAPH = 5,
	TYPE_INTS = 7,
	TENSOR_RAW = 9,
	VALUE_NAME = 1,
	VALUE_TYPE = 2,
	TYPE_TENSOR = 1,
	TYPE_ELEMENT = 1,
	TYPE_SHAPE = 2,
	SHAPE_DIM = 1,
	DIM_VALUE = 1,
	DIM_NAME = 2,
};

/* --- values --- */

int ls_graph_named(struct ls_graph *g, const char *name)
{
	g->names = ls_grow(g->names, g->n_names, &g->cap_names, sizeof *g->names);
	snprintf(g->names[g->n_names], sizeof *g->names, "%s", name);
	return (int)g->n_names++;
}

static int new_value(struct ls_graph *g)
{
	char name[LS_GRAPH_NAME];
	snprintf(name, sizeof name, "%sv%zu", g->prefix, g->n_names);
	return ls_graph_named(g, name);
}

static void add_dim(struct ls_str *shape, const char *dim)
{
	struct ls_str d = {0};
	if (isdigit((unsigned char)*dim))
		ls_proto_int(&d, DIM_VALUE, strtoull(dim, NULL, 10));
	else
		ls_proto_text(&d, DIM_NAME, dim);
	ls_proto_message_take(shape, SHAPE_DIM, &d);
}

static void add_value_info(struct ls_graph *g, uint32_t field, const char *name,
			   enum ls_onnx_type element, const char *const *dims)
{
	struct ls_str info = {0}, type = {0}, tensor = {0}, shape = {0};
	ls_proto_int(&tensor, TYPE_ELEMENT, element);
	for (; *dims; dims++)
		add_dim(&shape, *dims);
	ls_proto_message_take(&tensor, TYPE_SHAPE, &shape);
	ls_proto_message_take(&type, TYPE_TENSOR, &tensor);
	ls_proto_text(&info, VALUE_NAME, name);
	ls_proto_message_take(&info, VALUE_TYPE, &type);
	ls_proto_message_take(&g->inputs, field, &info);
}

int ls_graph_input(struct ls_graph *g, const char *name, enum ls_onnx_type type,
		   const char *const *dims)
{
	char full[LS_GRAPH_NAME];
	snprintf(full, sizeof full, "%s%s", g->prefix, name);
	add_value_info(g, GRAPH_INPUT, full, type, dims);
	return ls_graph_named(g, full);
}

const char *ls_dim_text(uint64_t size, char text[LS_DIM_TEXT])
{
	snprintf(text, LS_DIM_TEXT, "%" PRIu64, size);
	return text;
}

/* --- nodes --- */

static void add_node(struct ls_graph *g, const char *op, const int *in, size_t n_in,
		     const char (*out)[LS_GRAPH_NAME], size_t n_out, const struct ls_str *attrs)
{
	struct ls_str node = {0};
	char name[LS_GRAPH_NAME + 32];
	for (size_t i = 0; i < n_in; i++)
		ls_proto_text(&node, NODE_INPUT, g->names[in[i]]);
	for (size_t i = 0; i < n_out; i++)
		ls_proto_text(&node, NODE_OUTPUT, out[i]);
	snprintf(name, sizeof name, "%s%s%u", g->prefix, op, g->n_nodes++);
	ls_proto_text(&node, NODE_NAME, name);
	ls_proto_text(&node, NODE_OP, op);
	if (attrs)
		ls_str_add_bytes(&node, attrs->s, attrs->len);
	ls_proto_message_take(&g->proto, GRAPH_NODE, &node);
}

int ls_graph_node(struct ls_graph *g, const char *op, const int *in, size_t n_in, size_t n_out,
		  struct ls_str *attrs)
{
	int first = new_value(g);
	for (size_t i = 1; i < n_out; i++)
		new_value(g);
	add_node(g, op, in, n_in, (const char(*)[LS_GRAPH_NAME])(g->names + first), n_out, attrs);
	if (attrs)
		ls_str_done(attrs);
	return first;
}

void ls_graph_output(struct ls_graph *g, int value, const char *name, enum ls_onnx_type type,
		     const char *const *dims)
{
	char full[1][LS_GRAPH_NAME];
	snprintf(full[0], sizeof full[0], "%s%s", g->prefix, name);
	add_node(g, "Identity", &value, 1, (const char(*)[LS_GRAPH_NAME])full, 1, NULL);
	add_value_info(g, GRAPH_OUTPUT, full[0], type, dims);
}

/* --- attributes --- */

void ls_attr_int(struct ls_str *attrs, const char *name, int64_t value)
{
	struct ls_str a = {0};
	ls_proto_text(&a, ATTRIBUTE_NAME, name);
	ls_proto_int(&a, ATTRIBUTE_INT, (uint64_t)value);
	ls_proto_int(&a, ATTRIBUTE_TYPE, TYPE_INT);
	ls_proto_message_take(attrs, NODE_ATTRIBUTE, &a);
}

void ls_attr_ints(struct ls_str *attrs, const char *name, const int64_t *values, size_t n)
{
	struct ls_str a = {0};
	ls_proto_text(&a, ATTRIBUTE_NAME, name);
	for (size_t i = 0; i < n; i++)
		ls_proto_int(&a, ATTRIBUTE_INTS, (uint64_t)values[i]);
	ls_proto_int(&a, ATTRIBUTE_TYPE, TYPE_INTS);
	ls_proto_message_take(attrs, NODE_ATTRIBUTE, &a);
}

void ls_attr_graph_take(struct ls_str *attrs, const char *name, struct ls_graph *body)
{
	struct ls_str a = {0};
	ls_proto_text(&body->proto, GRAPH_NAME, "body");
	ls_str_add_bytes(&body->proto, body->inputs.s, body->inputs.len);
	ls_proto_text(&a, ATTRIBUTE_NAME, name);
	ls_proto_message_take(&a, ATTRIBUTE_GRAPH, &body->proto);
	ls_proto_int(&a, ATTRIBUTE_TYPE, TYPE_GRAPH);
	ls_proto_message_take(attrs, NODE_ATTRIBUTE, &a);
	ls_graph_done(body);
}

/* --- constants --- */

int ls_graph_tensor(struct ls_graph *g, enum ls_onnx_type type, const uint64_t *dims, size_t n,
		    const void *bytes, size_t len)
{
	struct ls_str t = {0};
	int value = new_value(g);
	for (size_t i = 0; i < n; i++)
		ls_proto_int(&t, LS_TENSOR_DIMS, dims[i]);
	ls_proto_int(&t, LS_TENSOR_TYPE, type);
	ls_proto_text(&t, LS_TENSOR_NAME, g->names[value]);
	ls_proto_bytes(&t, TENSOR_RAW, bytes, len);
	ls_proto_message_take(&g->proto, LS_GRAPH_INITIALIZER, &t);
	return value;
}

int ls_graph_scalar_int(struct ls_graph *g, int64_t value)
{
	return ls_graph_tensor(g, LS_ONNX_INT64, NULL, 0, &value, sizeof value);
}

int ls_graph_scalar_float(struct ls_graph *g, float value)
{
	return ls_graph_tensor(g, LS_ONNX_FLOAT, NULL, 0, &value, sizeof value);
}

int ls_graph_scalar_double(struct ls_graph *g, double value)
{
	return ls_graph_tensor(g, LS_ONNX_DOUBLE, NULL, 0, &value, sizeof value);
}

int ls_graph_ints(struct ls_graph *g, const int64_t *values, size_t n)
{
	uint64_t dims[1] = {n};
	return ls_graph_tensor(g, LS_ONNX_INT64, dims, 1, values, n * sizeof *values);
}

void ls_graph_done(struct ls_graph *g)
{
	ls_str_done(&g->proto);
	ls_str_done(&g->inputs);
	free(g->names);
	*g = (struct ls_graph){0};
}
