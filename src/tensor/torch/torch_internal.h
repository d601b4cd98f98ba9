/* What the reader of checkpoints is made of: the known names, the walk over the pickle's tree,
 * tensors and storages. Borrows the pickle, the archive and the bundle for the length of one
 * ls_torch_flatten. Internal; one thread. */
#ifndef LS_TENSOR_TORCH_TORCH_INTERNAL_H
#define LS_TENSOR_TORCH_TORCH_INTERNAL_H

#include "base/str.h"
#include "tensor/torch/torch.h"

/* What a known name stands for; the action of the table in torch_globals.c. */
enum ls_torch_action {
	A_DICT,      /* a dict, perhaps with pairs as its argument */
	A_NAMESPACE, /* its attributes */
	A_SET,
	A_COMPLEX,
	A_BYTES,
	A_ENCODE,
	A_TYPE, /* a type as a value */
	A_PATH,
	A_STORAGE,
	A_DTYPE,
	A_DEVICE,
	A_SIZE,
	A_LAYOUT,
	A_TENSOR, /* storage, offset, size, stride */
	A_TENSOR_V3,
	A_PARAMETER,
	A_FROM_TYPE,
	A_SPARSE,
	A_NP_SCALAR,
	A_NP_ARRAY,
	A_NP_BUFFER,
	A_NP_DTYPE,
	A_NP_CLASS,
	A_QUANTIZED,
};

struct ls_walk {
	struct ls_bundle *b;
	struct ls_pickle *p;
	const struct ls_zip *zip;
	const char *prefix;
	struct ls_str path;
	size_t entries, text;
	int depth;
	bool big_endian, meta;
	struct ls_err *err;
};

/* An error that names the path. */
int ls_torch_wrong(struct ls_walk *w, const char *what);
struct ls_pk_node *ls_torch_at(struct ls_walk *w, uint32_t id);
/* The n-th argument of a call, or NULL. */
struct ls_pk_node *ls_torch_arg(struct ls_walk *w, const struct ls_pk_node *call, size_t n);
/* Also for NULL: false. */
bool ls_torch_is_call(struct ls_walk *w, const struct ls_pk_node *n, enum ls_torch_action action);
bool ls_torch_is_global(const struct ls_pk_node *n, enum ls_torch_action action);

/* Each adds what the node stands for to the bundle, under the walk's path. */
int ls_torch_emit_tensor(struct ls_walk *w, const struct ls_pk_node *call);
int ls_torch_emit_storage(struct ls_walk *w, const struct ls_pk_node *n);
int ls_torch_emit_np_array(struct ls_walk *w, const struct ls_pk_node *call);
int ls_torch_emit_np_buffer(struct ls_walk *w, const struct ls_pk_node *call);
int ls_torch_emit_np_scalar(struct ls_walk *w, const struct ls_pk_node *call);
/* Bytes as protocol 3 writes them, or as protocol 2 does: text to be encoded as latin1. */
int ls_torch_bytes_of(struct ls_walk *w, const struct ls_pk_node *n, const uint8_t **ret,
		      size_t *ret_len);

#endif
