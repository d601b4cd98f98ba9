/* An ONNX graph while it is built: nodes in the order in which they are added, each with
 * one output unless said otherwise, and small constants. A value is a number here and has
 * a name in the file. ls_graph_done frees. One thread a graph. */
#ifndef LS_FM_EXPORT_GRAPH_H
#define LS_FM_EXPORT_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* TensorProto.DataType */
enum ls_onnx_type {
	LS_ONNX_FLOAT = 1,
	LS_ONNX_INT8 = 3,
	LS_ONNX_INT32 = 6,
	LS_ONNX_INT64 = 7,
	LS_ONNX_BOOL = 9,
	LS_ONNX_HALF = 10,
	LS_ONNX_DOUBLE = 11
};

enum { LS_ONNX_OPSET = 13, LS_ONNX_IR = 7 };

/* Field numbers of onnx.proto that more than one file writes. */
enum { LS_GRAPH_INITIALIZER = 5, LS_TENSOR_DIMS = 1, LS_TENSOR_TYPE = 2, LS_TENSOR_NAME = 8 };

enum { LS_GRAPH_NAME = 24, LS_DIM_TEXT = 24 };

struct ls_graph {
	const char *prefix;   /* of the names of values: a body's differ from its owner's */
	struct ls_str proto;  /* fields of the GraphProto so far */
	struct ls_str inputs; /* its inputs and outputs */
	char (*names)[LS_GRAPH_NAME];
	size_t n_names, cap_names;
	unsigned n_nodes;
};

/* A value by its name: an initializer that is written elsewhere. */
int ls_graph_named(struct ls_graph *g, const char *name);
/* dims: texts, NULL at the end; digits are a size, other words a name of one. */
int ls_graph_input(struct ls_graph *g, const char *name, enum ls_onnx_type type,
		   const char *const *dims);
void ls_graph_output(struct ls_graph *g, int value, const char *name, enum ls_onnx_type type,
		     const char *const *dims);

/* A size for a list of dims: returns text. */
const char *ls_dim_text(uint64_t size, char text[LS_DIM_TEXT]);

/* Attributes of a node: the fields of a NodeProto. */
void ls_attr_int(struct ls_str *attrs, const char *name, int64_t value);
void ls_attr_ints(struct ls_str *attrs, const char *name, const int64_t *values, size_t n);
void ls_attr_graph_take(struct ls_str *attrs, const char *name, struct ls_graph *body);

/* n_out outputs, the first of which is returned and the others follow it. attrs may be
 * NULL, and is freed. */
int ls_graph_node(struct ls_graph *g, const char *op, const int *in, size_t n_in, size_t n_out,
		  struct ls_str *attrs);

int ls_graph_scalar_int(struct ls_graph *g, int64_t value);
int ls_graph_scalar_float(struct ls_graph *g, float value);
int ls_graph_scalar_double(struct ls_graph *g, double value);
int ls_graph_ints(struct ls_graph *g, const int64_t *values, size_t n);
/* A tensor of any type; the bytes are those of its elements. */
int ls_graph_tensor(struct ls_graph *g, enum ls_onnx_type type, const uint64_t *dims, size_t n,
		    const void *bytes, size_t len);

void ls_graph_done(struct ls_graph *g);

/* Calls that add to a graph never stand beside each other in one list of arguments: their
 * order, and so the bytes of the file, would be the compiler's.
 *
 * A node by its inputs, and the same with one integer attribute. */
#define LS_VALUES(...)      (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int)
#define LS_NODE(g, op, ...) ls_graph_node(g, op, LS_VALUES(__VA_ARGS__), 1, NULL)
#define LS_NODE_INT(g, op, name, value, ...)                                                       \
	ls_graph_node_int(g, op, name, value, LS_VALUES(__VA_ARGS__))
#define LS_INTS(g, ...)                                                                            \
	ls_graph_ints(g, (const int64_t[]){__VA_ARGS__},                                           \
		      sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static inline int ls_graph_node_int(struct ls_graph *g, const char *op, const char *name,
				    int64_t value, const int *in, size_t n_in)
{
	struct ls_str attrs = {0};
	ls_attr_int(&attrs, name, value);
	return ls_graph_node(g, op, in, n_in, 1, &attrs);
}

#endif
