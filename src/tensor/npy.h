/* numpy's .npy (versions 1 to 3) and .npz. Both map the file; deflated members of an .npz
 * stay packed until they are fetched (ls_bundle_fetch) or read through a cursor. The
 * bundle owns everything; the caller frees it. Any thread, one thread at a time an
 * object. */
#ifndef LS_TENSOR_NPY_H
#define LS_TENSOR_NPY_H

#include "tensor/tensor.h"

/* One tensor, named "array". */
int ls_npy_open(const char *path, struct ls_bundle **ret, struct ls_err *err);
/* A tensor a member, named as numpy names it (without ".npy"). */
int ls_npz_open(const char *path, struct ls_bundle **ret, struct ls_err *err);

/* An image in memory that outlives the bundle; adds to it. */
int ls_npz_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
		 struct ls_err *err);
/* Reads a header: fills dtype, shape, strides, nbytes of t and the place of element 0.
 * total is the length of the whole file, of which data holds the first len bytes. Object
 * arrays are refused: they are programs, not data. */
int ls_npy_header(const uint8_t *data, size_t len, uint64_t total, struct ls_tensor *t,
		  size_t *ret_start, struct ls_err *err);
/* Sets dtype, elem_size and swapped from numpy's name of a type, "<f4". */
int ls_npy_type(const char *descr, struct ls_tensor *t, struct ls_err *err);

#endif
