/* Named tensors and plain values as files hold them, and the bundle that a reader fills
 * from one file. A bundle owns names, shapes, mappings and inflated blocks; tensors
 * borrow from it and die with it (ls_bundle_free). A bundle is built by one thread and
 * may then be read by any; ls_bundle_fetch writes and wants one thread. */
#ifndef LS_TENSOR_TENSOR_H
#define LS_TENSOR_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/file.h"

enum ls_dtype {
	LS_DT_NONE,
	LS_DT_BOOL,
	LS_DT_U8,
	LS_DT_I8,
	LS_DT_U16,
	LS_DT_I16,
	LS_DT_U32,
	LS_DT_I32,
	LS_DT_U64,
	LS_DT_I64,
	LS_DT_F16,
	LS_DT_BF16,
	LS_DT_F32,
	LS_DT_F64,
	LS_DT_F8_E4M3FN,
	LS_DT_F8_E4M3FNUZ,
	LS_DT_F8_E5M2,
	LS_DT_F8_E5M2FNUZ,
	LS_DT_F8_E8M0FNU,
	LS_DT_F4_X2, /* torch.float4_e2m1fn_x2: two values a byte */
	LS_DT_F4, /* packed below the byte, as safetensors counts them: bits, not bytes, an element
		   */
	LS_DT_F6_E2M3,
	LS_DT_F6_E3M2,
	LS_DT_C32, /* complex of two F16, F32, F64 */
	LS_DT_C64,
	LS_DT_C128,
	LS_DT_BITS, /* torch.bits*, int1…int7, uint1…uint7: bytes without arithmetic meaning */
	LS_DT_I4,   /* ONNX INT4/UINT4: two a byte */
	LS_DT_TEXT, /* numpy 'U': UCS-4 text, elem_size / 4 code points */
	LS_DT_OPAQUE, /* numpy 'S', 'V', structured, dates, long double: elem_size bytes without
			 meaning to us */
	LS_DT_COUNT
};

const char *ls_dtype_name(enum ls_dtype t); /* "float32", as torch and numpy say it */
unsigned
ls_dtype_bits(enum ls_dtype t); /* an element; 0 for TEXT and OPAQUE, whose size the file gives */
const char *
ls_dtype_safetensors(enum ls_dtype t); /* "F32", or NULL when that format cannot hold it */
enum ls_dtype ls_dtype_of_safetensors(const char *name); /* LS_DT_NONE when unknown */
enum ls_dtype ls_dtype_of_torch(const char *name);       /* from "float32", "bits4x2", … */

enum { LS_MAX_DIMS = 32 };

struct ls_zip;
struct ls_zip_member;

struct ls_tensor {
	const char *name;
	enum ls_dtype dtype;
	uint32_t elem_size; /* bytes an element; 0 when elements are smaller than a byte: then
			       packed, row-major */
	int ndim;           /* 0: a scalar, one element */
	uint64_t shape[LS_MAX_DIMS];
	int64_t stride[LS_MAX_DIMS]; /* in elements; see ls_tensor_set_contiguous */
	const uint8_t *data; /* element 0, little-endian unless swapped; may be unaligned. NULL:
				deflated */
	uint64_t nbytes; /* of all elements packed together; data spans as much only when contiguous
			  */
	bool swapped;    /* stored big-endian */
	bool conjugated, negated; /* torch's lazy views: the sign of the imaginary part, or of
				     all, is to be flipped */
	const struct ls_zip_member *
		packed; /* where data is NULL: the deflated member and the bytes before element 0 */
	uint64_t packed_skip;
};

uint64_t ls_tensor_count(const struct ls_tensor *t); /* elements */
bool ls_tensor_is_contiguous(const struct ls_tensor *t);
/* Sets shape, row-major strides and nbytes from dtype and elem_size. Fails on overflow
 * and on more than LS_MAX_DIMS. */
int ls_tensor_set_contiguous(struct ls_tensor *t, const uint64_t *shape, size_t ndim,
			     struct ls_err *err);
/* The shape as "[2, 3]". */
void ls_tensor_shape_text(const struct ls_tensor *t, char *buf, size_t size);

enum ls_value_kind {
	LS_VAL_NULL,
	LS_VAL_BOOL,
	LS_VAL_INT,
	LS_VAL_REAL,
	LS_VAL_STRING,
	LS_VAL_BYTES,
	LS_VAL_OTHER,
	LS_VAL_UNREAD
};

/* State that is not a tensor: step counts, metrics, names. OTHER is a description
 * ("torch.device cuda:0") in text. UNREAD is something that this program cannot judge;
 * text says what. */
struct ls_value {
	const char *name;
	enum ls_value_kind kind;
	bool meta; /* about the packaging: __metadata__ of safetensors, _metadata of a state_dict */
	int64_t i; /* INT, BOOL */
	double real;      /* REAL */
	const char *text; /* STRING, OTHER (and INT beyond 64 bits, in decimal or hexadecimal):
			     NUL-terminated */
	size_t len;       /* of text; BYTES and STRING may hold NULs */
};

/* What the name of a tensor or of a container stands for: "list", "dict", "Parameter".
 * Only formats that have such types fill these in, and only files of one format are
 * compared by them. */
struct ls_trait {
	const char *name; /* empty for the outermost container */
	const char *text;
};

struct ls_kv {
	const char *key, *value;
};

struct ls_bundle {
	const char *format; /* "safetensors", "npz", "PyTorch", … */
	struct ls_tensor *tensors;
	size_t n_tensors, cap_tensors;
	struct ls_value *values; /* safetensors: the __metadata__ map */
	size_t n_values, cap_values;
	struct ls_trait *traits;
	size_t n_traits, cap_traits;
	/* what the above borrows from */
	void **blocks;
	size_t n_blocks, cap_blocks;
	struct ls_map *maps;
	char **map_paths; /* beside maps: a file is mapped once */
	size_t n_maps, cap_maps, cap_map_paths;
	struct ls_zip **zips; /* the archives that packed members belong to */
	size_t n_zips, cap_zips;
	size_t *by_name; /* indices into tensors, sorted by name; made by ls_bundle_seal */
};

struct ls_bundle *ls_bundle_new(const char *format);
void ls_bundle_free(struct ls_bundle *b);
void *ls_bundle_keep_take(struct ls_bundle *b, void *block); /* freed with the bundle; returns it */
char *ls_bundle_text(struct ls_bundle *b, const char *s, size_t len);
/* Maps a file for the life of the bundle. */
int ls_bundle_map(struct ls_bundle *b, const char *path, struct ls_map *ret, struct ls_err *err);
/* The same for a file that is open, perhaps one without a name. */
int ls_bundle_map_fd(struct ls_bundle *b, int fd, struct ls_map *ret, struct ls_err *err);
/* An archive that tensors come from, still empty; freed with the bundle. */
struct ls_zip *ls_bundle_keep_zip(struct ls_bundle *b);
/* A new zeroed entry; valid until the next one is added. The name is copied. */
struct ls_tensor *ls_bundle_add(struct ls_bundle *b, const char *name, size_t len);
/* A member of an archive as its bytes: text, vocabularies and other assets. */
void ls_bundle_add_member(struct ls_bundle *b, const struct ls_zip_member *m);
struct ls_value *ls_bundle_add_value(struct ls_bundle *b, const char *name, size_t len,
				     enum ls_value_kind kind);
/* Copies both texts. */
void ls_bundle_add_trait(struct ls_bundle *b, const char *name, const char *text);
/* Ends the building: refuses a name that occurs twice, makes ls_bundle_find work. path is
 * for the message. */
int ls_bundle_seal(struct ls_bundle *b, const char *path, struct ls_err *err);
/* The end of an opener: b goes to *ret when rc is 0 and is freed when not. Returns rc. */
int ls_bundle_hand_take(struct ls_bundle *b, int rc, struct ls_bundle **ret);
struct ls_tensor *ls_bundle_find(const struct ls_bundle *b, const char *name);
const char *ls_bundle_meta(const struct ls_bundle *b,
			   const char *key); /* a STRING value, or NULL */
/* Makes t's elements lie in memory, contiguous and little-endian (t->data, t->nbytes), at
 * most limit bytes; maps stay maps. */
int ls_bundle_fetch(struct ls_bundle *b, struct ls_tensor *t, uint64_t limit, struct ls_err *err);

#endif
