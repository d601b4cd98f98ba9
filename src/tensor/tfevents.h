/* TensorBoard's event files: each tag's scalars as a tensor of their values and one of
 * their steps, everything else as bytes. The time of day in each event is left out. The
 * bundle owns everything; the caller frees it. Any thread, one thread at a time an
 * object. */
#ifndef LS_TENSOR_TFEVENTS_H
#define LS_TENSOR_TFEVENTS_H

#include "tensor/tensor.h"

bool ls_tfevents_is(const uint8_t *data, size_t len);
int ls_tfevents_open(const char *path, struct ls_bundle **ret, struct ls_err *err);
/* An image in memory that outlives the bundle. */
int ls_tfevents_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
		      struct ls_err *err);

#endif
