/* MATLAB files of version 5 (.mat as MATLAB 5 to 7 and scipy write it): numeric arrays as
 * tensors, texts, cells and structs by name. Version 7.3 is HDF5. The bundle owns
 * everything; the caller frees it. Any thread, one thread at a time an object. */
#ifndef LS_TENSOR_MAT_H
#define LS_TENSOR_MAT_H

#include "tensor/tensor.h"

bool ls_mat_is(const uint8_t *data, size_t len);
int ls_mat_open(const char *path, struct ls_bundle **ret, struct ls_err *err);
/* An image in memory that outlives the bundle. */
int ls_mat_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
		 struct ls_err *err);

#endif
