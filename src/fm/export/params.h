/* The parameters of a model as initializers of an ONNX graph, which are written row by row
 * because they may be as large as memory. Borrows the model; ls_params_done frees the
 * rest. Read-only after ls_params_init; any thread. */
#ifndef LS_FM_EXPORT_PARAMS_H
#define LS_FM_EXPORT_PARAMS_H

#include <stdint.h>

#include "base/err.h"
#include "fm/export/graph.h"
#include "fm/model/model.h"

enum ls_export_form {
	LS_EXPORT_FLOAT,
	LS_EXPORT_EXACT, /* whole numbers on the grid of exact/grid.h */
	LS_EXPORT_INT8,  /* factors: a scale a feature; linear weights as in fp16 */
	LS_EXPORT_FP16   /* times a power of two, one for all factors */
};

struct ls_params;

struct ls_weights {
	const char *name;
	enum ls_onnx_type type;
	uint64_t dims[3];
	size_t n_dims;
	uint64_t rows, row_bytes;
	/* NULL: zeros */
	void (*row)(const struct ls_params *p, uint64_t row, void *to);
};

enum { LS_WEIGHTS = 8 };

struct ls_params {
	const struct ls_fm_model *m;
	enum ls_export_form form;
	/* 2^exp is the power of two above the largest magnitude in a table */
	int exp_linear, exp_factors, exp_fields;
	/* exact: the same of a feature's linear weights and of its factors; else NULL */
	int16_t *linear_exp, *factors_exp;
	float *scale; /* int8: what a step of a feature's factors is; else NULL */
	struct ls_weights list[LS_WEIGHTS];
	size_t n;
};

/* Values of fp16 are below 2^15. */
enum { LS_EXPORT_HALF_EXP = 15 };

int ls_params_init(struct ls_params *p, const struct ls_fm_model *m, enum ls_export_form form,
		   struct ls_err *err);
void ls_params_done(struct ls_params *p);
/* The parameters of p's model become those that a graph of p computes with. */
void ls_params_round(const struct ls_params *p, struct ls_fm_model *m);

const char *ls_export_form_name(enum ls_export_form form);

/* Bytes of an initializer's elements. */
static inline uint64_t ls_weights_bytes(const struct ls_weights *w)
{
	return w->rows * w->row_bytes;
}

#endif
