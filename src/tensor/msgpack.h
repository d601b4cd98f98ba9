/* MessagePack as flax writes it: nested maps of arrays and values. The bundle owns
 * everything; the caller frees it. Any thread, one thread at a time an object. */
#ifndef LS_TENSOR_MSGPACK_H
#define LS_TENSOR_MSGPACK_H

#include "tensor/tensor.h"

int ls_msgpack_open(const char *path, struct ls_bundle **ret, struct ls_err *err);
/* An image in memory that outlives the bundle. */
int ls_msgpack_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
		     struct ls_err *err);

#endif
