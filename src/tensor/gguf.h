/* GGUF, the model files of llama.cpp: tensors, also in quantized blocks, and typed
 * values. The bundle owns everything; the caller frees it. Any thread, one thread at a
 * time an object. */
#ifndef LS_TENSOR_GGUF_H
#define LS_TENSOR_GGUF_H

#include "tensor/tensor.h"

int ls_gguf_open(const char *path, struct ls_bundle **ret, struct ls_err *err);
/* An image in memory that outlives the bundle. */
int ls_gguf_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
		  struct ls_err *err);

#endif
