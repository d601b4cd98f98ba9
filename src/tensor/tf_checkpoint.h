/* TensorFlow's checkpoints, an index that names tensors in shards of data, and the
 * fingerprint of a SavedModel. Partitioned variables and compressed indices are
 * LS_EUNKNOWN: such files are sound, and are not read. The bundle owns everything; the
 * caller frees it. Any thread, one thread at a time an object. */
#ifndef LS_TENSOR_TF_CHECKPOINT_H
#define LS_TENSOR_TF_CHECKPOINT_H

#include "tensor/tensor.h"

/* Whether these are the bytes of an index. */
bool ls_tf_index_is(const uint8_t *data, size_t len);
/* How many shards an index has; 0 where it is none, or cannot be read. */
size_t ls_tf_shards(const struct ls_map *index);
/* The name of shard i of n, beside an index whose name without ".index" has stem bytes;
 * the caller frees it. */
char *ls_tf_shard_name(const char *index, size_t stem, size_t i, size_t n);
/* The path of an index; its shards lie beside it. */
int ls_tf_checkpoint_open(const char *path, struct ls_bundle **ret, struct ls_err *err);
/* An image in memory, and its shards; all outlive the bundle. */
int ls_tf_checkpoint_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
			   const struct ls_map *shards, size_t n_shards, struct ls_err *err);
int ls_tf_fingerprint_open(const char *path, struct ls_bundle **ret, struct ls_err *err);
int ls_tf_fingerprint_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
			    struct ls_err *err);

#endif
