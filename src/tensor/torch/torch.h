/* PyTorch's zip checkpoints (.pt, .pth, .ckpt): tensors with strides and shared storages, and
 * everything else as values whose names are paths ("optimizer_states.0.param_groups.0.lr"). Nothing
 * in the file is run. The bundle owns everything; the caller frees it. Any thread, one thread at a
 * time an object. */
#ifndef LS_TENSOR_TORCH_TORCH_H
#define LS_TENSOR_TORCH_TORCH_H

#include "tensor/tensor.h"
#include "tensor/torch/pickle.h"
#include "tensor/zip.h"

int ls_torch_open(const char *path, struct ls_bundle **ret, struct ls_err *err);
/* An image in memory that outlives the bundle; adds to it. */
int ls_torch_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
		   struct ls_err *err);
/* The names that a checkpoint's pickle may hold. */
const struct ls_pk_global *ls_torch_globals(void);
/* Adds a pickle's tensors and values to the bundle; storages are members PREFIX/data/KEY. */
int ls_torch_flatten(struct ls_bundle *b, struct ls_pickle *p, const struct ls_zip *zip,
		     const char *prefix, bool big_endian, struct ls_err *err);

/* Where the archive keeps its pickle: the member "NAME/data.pkl", or NULL when it is no checkpoint.
 */
const struct ls_zip_member *ls_torch_pickle_of(const struct ls_zip *zip);
/* Explains formats that torch.save wrote before version 1.6; NULL when the image is none of them.
 */
const char *ls_torch_legacy(const uint8_t *data, size_t len);

#endif
