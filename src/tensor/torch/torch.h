/* PyTorch's zip checkpoints (.pt, .pth, .ckpt): tensors with strides and shared storages,
 * and everything else as values whose names are paths
 * ("optimizer_states.0.param_groups.0.lr"). Nothing in the file is run. The bundle owns
 * everything; the caller frees it. Any thread, one thread at a time an object. */
#ifndef LS_TENSOR_TORCH_TORCH_H
#define LS_TENSOR_TORCH_TORCH_H

#include "tensor/tensor.h"
#include "tensor/torch/pickle.h"
#include "tensor/zip.h"

int ls_torch_open(const char *path, struct ls_bundle **ret, struct ls_err *err);
/* A pickle of any objects, also as joblib.dump writes it. */
int ls_pickle_open(const char *path, struct ls_bundle **ret, struct ls_err *err);
int ls_pickle_read(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
		   struct ls_err *err);
/* The shards that pytorch_model.bin.index.json names. */
int ls_torch_open_index(const char *path, struct ls_bundle **ret, struct ls_err *err);
/* An image in memory that outlives the bundle; adds to it under a name that may be empty.
 * The caller seals the bundle. */
int ls_torch_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
		   const char *name, struct ls_err *err);
/* The names that a checkpoint's pickle may hold. */
const struct ls_pk_global *ls_torch_globals(void);

/* A storage that lies in the file itself, in formats without an archive. */
struct ls_torch_storage {
	const char *key;
	size_t key_len;
	const uint8_t *data;
	uint64_t bytes;
};

/* Where the storages of a pickle are: members PREFIX/FOLDER/KEY of an archive, or a
 * list. */
struct ls_torch_data {
	const struct ls_zip *zip; /* NULL: the list */
	const char *prefix, *folder;
	bool big_endian;
	const struct ls_torch_storage *storages; /* sorted by key, as memcmp orders them */
	size_t n_storages;
};

/* Adds a pickle's tensors and values to the bundle, under a name that may be empty. The
 * bundle must keep the pickle's bytes. */
int ls_torch_flatten(struct ls_bundle *b, struct ls_pickle *p, const struct ls_torch_data *data,
		     const char *name, struct ls_err *err);

/* Where the archive keeps its pickle: the member "NAME/data.pkl", or NULL when it is no
 * checkpoint.
 */
const struct ls_zip_member *ls_torch_pickle_of(const struct ls_zip *zip);
/* Whether torch.save wrote the image before version 1.6, as a row of pickles. */
bool ls_torch_is_legacy(const uint8_t *data, size_t len);
/* Whether it is of 2016, a tar archive; those are recognised, not read. */
bool ls_torch_is_tar(const uint8_t *data, size_t len);

#endif
