/* HDF5 files: datasets as tensors, attributes as values, texts as values. They are read
 * through libhdf5 of the machine, in a process of its own that can do nothing but read;
 * what it says is checked like a file. The caller frees the bundle. Any thread. */
#ifndef LS_TENSOR_HDF5_H
#define LS_TENSOR_HDF5_H

#include "tensor/tensor.h"

/* Whether the image begins as HDF5 does, perhaps behind a block of 512 bytes or more. */
bool ls_hdf5_is(const uint8_t *data, size_t len);
/* LS_EUNKNOWN where the machine has no libhdf5. */
int ls_hdf5_open(const char *path, struct ls_bundle **ret, struct ls_err *err);
/* Adds an image to a bundle, which must keep it; name is for messages. */
int ls_hdf5_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *name,
		  struct ls_err *err);

#endif
