/* The graph of a model's scores in float32: the operations of fm/model/cell.h, in their
 * order. Adds to the caller's graph. One thread. */
#ifndef LS_FM_EXPORT_FLOAT_GRAPH_H
#define LS_FM_EXPORT_FLOAT_GRAPH_H

#include "fm/export/graph.h"
#include "fm/export/params.h"

/* Inputs, scores and what follows from them. */
void ls_float_graph(struct ls_graph *g, const struct ls_params *p);

#endif
