/* The weights of an ONNX model: its initializers as tensors, the rest of it as digests. A
 * reader of protobuf's wire format that needs no generated code and checks every length.
 * The bundle owns everything; the caller frees it. Any thread, one thread at a time an
 * object. */
#ifndef LS_TENSOR_ONNX_H
#define LS_TENSOR_ONNX_H

#include "tensor/tensor.h"

/* External data is read only from files inside of the model's folder. */
int ls_onnx_open(const char *path, struct ls_bundle **ret, struct ls_err *err);
/* An image in memory that outlives the bundle. folder: where external data may lie, or
 * NULL to refuse it. */
int ls_onnx_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
		  const char *folder, struct ls_err *err);

#endif
