/* The parameters of a model as initializers of an ONNX graph, which are written row by row
 * because they may be as large as memory. Borrows the model; ls_params_init fills the
 * caller's struct, which owns nothing. Read-only afterwards; any thread. */
#ifndef LS_FM_EXPORT_PARAMS_H
#define LS_FM_EXPORT_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "fm/export/graph.h"
#include "fm/model/model.h"

enum ls_export_form { LS_EXPORT_FLOAT };

struct ls_params;

struct ls_weights {
	const char *name;
	enum ls_onnx_type type;
	uint64_t dims[3];
	size_t n_dims;
	uint64_t rows, row_bytes;
	void (*row)(const struct ls_params *p, uint64_t row, void *to);
};

enum { LS_WEIGHTS = 8 };

struct ls_params {
	const struct ls_fm_model *m;
	enum ls_export_form form;
	struct ls_weights list[LS_WEIGHTS];
	size_t n;
};

void ls_params_init(struct ls_params *p, const struct ls_fm_model *m, enum ls_export_form form);

/* Bytes of an initializer's elements. */
static inline uint64_t ls_weights_bytes(const struct ls_weights *w)
{
	return w->rows * w->row_bytes;
}

/* The sizes that graphs are made of. A model without features has one row of zeros. */
static inline uint64_t ls_params_rows(const struct ls_fm_model *m)
{
	return m->n_features ? m->n_features : 1;
}

#endif
