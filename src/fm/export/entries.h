/* What the graphs have in common: their inputs as entries that the model knows, and their
 * outputs from scores. Adds to the caller's graph. One thread. */
#ifndef LS_FM_EXPORT_ENTRIES_H
#define LS_FM_EXPORT_ENTRIES_H

#include <stdbool.h>

#include "fm/export/graph.h"
#include "fm/model/model.h"

/* Values of the graph, batch × entries. There are two entries at least, and so a pair: each
 * row is made longer by LS_ENTRIES_MORE that count nothing. An entry that the model does not know
 * has index, field and value 0. */
struct ls_entries {
	int index, field, value; /* field: only where the model has fields */
};

enum { LS_ENTRIES_MORE = 2 };

struct ls_entries ls_graph_entries(struct ls_graph *g, const struct ls_fm_model *m);

/* The pairs of entries i < j, first those of the first entry: batch × pairs. */
struct ls_pairs {
	struct ls_entries first, second;
};

struct ls_pairs ls_graph_pairs(struct ls_graph *g, const struct ls_entries *e, bool fields);

/* number × count + other: a row of a table by two numbers. */
int ls_graph_places(struct ls_graph *g, int number, uint64_t count, int other);

/* How many rows there are: one number, an axis of a shape. */
int ls_graph_rows(struct ls_graph *g, const struct ls_entries *e);

/* How many entries a row has: a scalar. */
int ls_graph_length(struct ls_graph *g, const struct ls_entries *e);

/* From scores (batch × outputs, float32). */
void ls_graph_outputs(struct ls_graph *g, const struct ls_fm_model *m, int score);

/* With more axes of size 1. */
int ls_graph_unsqueeze(struct ls_graph *g, int value, const int64_t *axes, size_t n);
#define LS_UNSQUEEZE(g, value, ...)                                                                \
	ls_graph_unsqueeze(g, value, (const int64_t[]){__VA_ARGS__},                               \
			   sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

#endif
