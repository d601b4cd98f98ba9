/* What the reader of checkpoints is made of: the known names, the walk over the pickle's
 * tree, tensors and storages. Borrows the pickle, the archive and the bundle for the
 * length of one ls_torch_flatten. Internal; one thread. */
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
	A_NESTED,
	A_RECONSTRUCT, /* copyreg._reconstructor(class, base, state) */
	A_JOBLIB,      /* the array's bytes follow in the file */
	A_LOAD_BYTES,  /* a storage in the format before torch 1.6, within a pickle */
};

struct ls_walk {
	struct ls_bundle *b;
	struct ls_pickle *p;
	const struct ls_torch_data *data;
	struct ls_str path;
	const char *tensor_kind; /* of the next tensor: "Parameter"; NULL for a plain one */
	const char *class;       /* of the next container: "OrderedDict"; NULL for a plain one */
	size_t entries, text;
	int depth;
	bool meta;
	struct ls_err *err;
	/* What a node becomes, and what a reference to a node that it is in. */
	int (*visit)(struct ls_walk *w, struct ls_pk_node *n);
	int (*cycle)(struct ls_walk *w, int levels_up);
};

/* An error that names the path. */
int ls_torch_wrong(struct ls_walk *w, const char *what);
struct ls_pk_node *ls_torch_at(struct ls_walk *w, uint32_t id);
/* The n-th argument of a call, or NULL. */
struct ls_pk_node *ls_torch_arg(struct ls_walk *w, const struct ls_pk_node *call, size_t n);
/* Also for NULL: false. */
bool ls_torch_is_call(struct ls_walk *w, const struct ls_pk_node *n, enum ls_torch_action action);
bool ls_torch_is_global(struct ls_walk *w, const struct ls_pk_node *n, enum ls_torch_action action);

/* Visits a node, or a child under a key or index; the path is as before afterwards. */
int ls_torch_visit(struct ls_walk *w, uint32_t id);
int ls_torch_descend(struct ls_walk *w, const char *key, size_t index, uint32_t child);
/* Visits a child under the path as it is; refuses a path that is too long. */
int ls_torch_enter(struct ls_walk *w, uint32_t child);
void ls_torch_restore(struct ls_walk *w, size_t length);

/* Containers. */
int ls_torch_visit_pairs(struct ls_walk *w, const struct ls_pk_node *n);
int ls_torch_visit_sequence(struct ls_walk *w, const struct ls_pk_node *n, bool tuple);
int ls_torch_visit_set(struct ls_walk *w, const struct ls_pk_node *n, const char *class);
int ls_torch_visit_set_call(struct ls_walk *w, const struct ls_pk_node *call);
int ls_torch_visit_dict_call(struct ls_walk *w, const struct ls_pk_node *call);
int ls_torch_visit_size(struct ls_walk *w, const struct ls_pk_node *call);
int ls_torch_visit_bytes_call(struct ls_walk *w, const struct ls_pk_node *call);
/* state is a dict of attributes, or None. */
int ls_torch_visit_attributes(struct ls_walk *w, const struct ls_pk_node *state);
/* What the walk's path stands for. */
void ls_torch_trait(struct ls_walk *w, const char *text);

/* Values. */
struct ls_value *ls_torch_value(struct ls_walk *w, enum ls_value_kind kind);
int ls_torch_emit_text(struct ls_walk *w, enum ls_value_kind kind, const char *s, size_t len);
int ls_torch_emit_other(struct ls_walk *w, char *text_take);
int ls_torch_emit_unread(struct ls_walk *w, const char *what);
int ls_torch_emit_big(struct ls_walk *w, const struct ls_pk_node *n);
int ls_torch_emit_global(struct ls_walk *w, const struct ls_pk_node *n);
int ls_torch_emit_device(struct ls_walk *w, const struct ls_pk_node *call);
int ls_torch_emit_joined(struct ls_walk *w, const struct ls_pk_node *call, const char *what);
int ls_torch_emit_complex(struct ls_walk *w, const struct ls_pk_node *call);
/* False, and nothing added, for what has no short text. */
bool ls_torch_emit_set(struct ls_walk *w, const struct ls_pk_node *n);
bool ls_torch_key_text(struct ls_walk *w, const struct ls_pk_node *n, bool quoted,
		       struct ls_str *s);

/* An object of any class as data: tensors by their kind, others by class, arguments,
 * state and items. */
int ls_torch_emit_object(struct ls_walk *w, const struct ls_pk_node *call);

/* LS_DT_NONE for a name that is not known. */
enum ls_dtype ls_torch_storage_type(const char *name);

/* A file of the format before torch 1.6: its object, and its storages sorted by key. The
 * caller ends it with ls_torch_legacy_done, also after an error. */
struct ls_torch_legacy {
	struct ls_pickle *object;
	struct ls_torch_storage *storages;
	size_t n;
};

int ls_torch_legacy_read(const uint8_t *data, size_t len, struct ls_torch_legacy *l,
			 struct ls_err *err);
void ls_torch_legacy_done(struct ls_torch_legacy *l);
/* The same of bytes that hold one storage. */
int ls_torch_legacy_storage(const uint8_t *data, size_t len, enum ls_dtype *ret_dtype,
			    const uint8_t **ret, uint64_t *ret_bytes, struct ls_err *err);
int ls_joblib_raw(const struct ls_pickle *p, const struct ls_pk_node *call, const uint8_t *rest,
		  size_t len, size_t *ret_skip, uint64_t *ret_size, struct ls_err *err);
/* Whether a wrapper of joblib stands for an array of objects. */
bool ls_joblib_is_objects(const struct ls_pickle *p, const struct ls_pk_node *call);
int ls_torch_emit_np_joblib(struct ls_walk *w, const struct ls_pk_node *call);
/* The value of a text key; NULL where d is no dict or has no such key. */
const struct ls_pk_node *ls_pickle_get(const struct ls_pickle *p, const struct ls_pk_node *d,
				       const char *key);
struct ls_tensor *ls_torch_add_tensor(struct ls_walk *w);
/* A shape or strides: a tuple of whole numbers, or a torch.Size of one. */
int ls_torch_dims(struct ls_walk *w, const struct ls_pk_node *n, uint64_t out[LS_MAX_DIMS],
		  size_t *ret_n);
/* Each adds what the node stands for to the bundle, under the walk's path. */
int ls_torch_emit_tensor(struct ls_walk *w, const struct ls_pk_node *call);
int ls_torch_emit_storage(struct ls_walk *w, const struct ls_pk_node *n);
int ls_torch_emit_np_array(struct ls_walk *w, const struct ls_pk_node *call);
int ls_torch_emit_np_buffer(struct ls_walk *w, const struct ls_pk_node *call);
int ls_torch_emit_np_scalar(struct ls_walk *w, const struct ls_pk_node *call);
/* Bytes as protocol 3 writes them, or as protocol 2 does: text to be encoded as
 * latin1. */
int ls_torch_bytes_of(struct ls_walk *w, const struct ls_pk_node *n, const uint8_t **ret,
		      size_t *ret_len);

#endif
