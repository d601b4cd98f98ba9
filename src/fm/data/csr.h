/* scipy's CSR matrices in .npz (scipy.sparse.save_npz) and vectors in .npy, as arrays for
 * rows. What is returned belongs to the caller: free() each array, or ls_csr_done. Any
 * thread. */
#ifndef LS_FM_DATA_CSR_H
#define LS_FM_DATA_CSR_H

#include <stdint.h>

#include "base/err.h"

struct ls_bundle;

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

#endif
