/* What the graphs have in common: their inputs as entries that the model knows, and their
 * outputs from scores. Adds to the caller's graph. One thread. */
#ifndef LS_FM_EXPORT_ENTRIES_H
#define LS_FM_EXPORT_ENTRIES_H

#include "fm/export/graph.h"
#include "fm/model/model.h"

/* Values of the graph, batch × entries. There is one entry at least: each row is made
 * longer by one that counts nothing. An entry that the model does not know has index,
 * field and value 0. */
struct ls_entries {
	int index, field, value; /* field: only where the model has fields */
};

struct ls_entries ls_graph_entries(struct ls_graph *g, const struct ls_fm_model *m);

/* How many rows there are: one number, an axis of a shape. */
int ls_graph_rows(struct ls_graph *g, const struct ls_entries *e);

/* From scores (batch × outputs, float32). */
void ls_graph_outputs(struct ls_graph *g, const struct ls_fm_model *m, int score);

/* With more axes of size 1. */
int ls_graph_unsqueeze(struct ls_graph *g, int value, const int64_t *axes, size_t n);
#define LS_UNSQUEEZE(g, value, ...)                                                                \
	ls_graph_unsqueeze(g, value, (const int64_t[]){__VA_ARGS__},                               \
			   sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

#endif
