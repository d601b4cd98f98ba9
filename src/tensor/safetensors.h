/* The safetensors format: one file, or shards named by an index
 * (model.safetensors.index.json); and its writer. Readers map the file and give a bundle
 * that owns the mapping; the caller frees it. The writer borrows everything. Any thread,
 * one thread at a time an object. */
#ifndef LS_TENSOR_SAFETENSORS_H
#define LS_TENSOR_SAFETENSORS_H

#include "base/file.h"
#include "tensor/tensor.h"

/* The whole format is checked: header length, strict JSON, dtype and shape against bytes,
 * no hole, no overlap, nothing after the last tensor. Tensors come in header order; the
 * __metadata__ map is in the bundle's values. */
int ls_safetensors_open(const char *path, struct ls_bundle **ret, struct ls_err *err);
/* path is the index file; shards lie beside it, plain names only. Each tensor must be
 * where the index says. */
int ls_safetensors_open_index(const char *path, struct ls_bundle **ret, struct ls_err *err);
/* Adds the tensors of an image in memory, which must outlive the bundle. name stands for
 * it in messages. */
int ls_safetensors_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *name,
			 struct ls_err *err);

/* The header that ls_safetensors_write gives these, without its length; caller frees. */
int ls_safetensors_header(const char *path, const struct ls_tensor *tensors, size_t n,
			  const struct ls_kv *metadata, size_t n_meta, char **ret,
			  struct ls_err *err);

/* Writes tensors (in memory, packed on the way if strided) in the given order,
 * atomically. The same input gives the same bytes: header keys in the order given,
 * metadata first, header padded with spaces to 8 bytes. ret_id may be NULL. */
int ls_safetensors_write(const char *path, const struct ls_tensor *tensors, size_t n,
			 const struct ls_kv *metadata, size_t n_meta, struct ls_file_id *ret_id,
			 struct ls_err *err);

#endif
