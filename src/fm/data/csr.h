/* scipy's CSR matrices in .npz (scipy.sparse.save_npz) and vectors in .npy, as arrays for
 * rows. What is returned belongs to the caller: free() each array, or ls_csr_done. Any
 * thread. */
#ifndef LS_FM_DATA_CSR_H
#define LS_FM_DATA_CSR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "tensor/tensor.h"

struct ls_csr {
	uint64_t n_rows, n_entries;
	/* largest index that occurs + 1, not the width of the matrix */
	uint64_t n_features;
	uint64_t *start;
	uint32_t *feature;
	float *value; /* NULL when all are 1 */
};

int ls_csr_load(const char *path, struct ls_csr *ret, struct ls_err *err);
/* From an open .npz; fetches its tensors. */
int ls_csr_from_bundle(struct ls_bundle *b, const char *path, struct ls_csr *ret,
		       struct ls_err *err);
void ls_csr_done(struct ls_csr *c);

/* A .npy with n numbers (shape [n] or [n, 1]), finite and not below least; what names one
 * of them: "label". */
int ls_csr_vector(const char *path, uint64_t n, const char *what, float least, float **ret,
		  struct ls_err *err);

/* --- the parts, for rows from other arrays (fm/data/arrays.h) --- */

bool ls_csr_is_integer(enum ls_dtype t);
bool ls_csr_is_number(enum ls_dtype t);
/* Element i as an integer; beyond int64 (uint64 only) it becomes negative, which every
 * caller refuses. */
int64_t ls_csr_integer(const struct ls_tensor *t, uint64_t i);
/* Fills c->start and c->n_rows from indptr; c->n_entries is known. */
int ls_csr_fill_start(const struct ls_tensor *t, const char *path, struct ls_csr *c,
		      struct ls_err *err);
/* Fills c->feature and c->n_features from c->n_entries indices. */
int ls_csr_fill_features(const struct ls_tensor *t, const char *path, uint64_t columns,
			 struct ls_csr *c, struct ls_err *err);
/* Numbers as floats, refused when not finite or below least; *ret is NULL when drop_ones
 * and all are 1. */
int ls_csr_floats(const struct ls_tensor *t, const char *path, const char *what, float least,
		  bool drop_ones, float **ret, struct ls_err *err);

#endif
