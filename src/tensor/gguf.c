#include "tensor/gguf.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tensor/bytes.h"

enum {
	TENSOR_LIMIT = 1 << 18, /* keep the memory that a forged file can ask for bounded */
	VALUE_LIMIT = 1 << 21,
	NAME_LIMIT = 1 << 16,
	DEPTH_LIMIT = 4,
	DIMS = 4, /* the format's own limit */
};

struct gguf {
	struct ls_bundle *b;
	struct ls_bytes in;
	const char *path;
	size_t values;
	uint64_t alignment; /* of the tensors' data, bytes */
	struct ls_err *err;
};

static int wrong(const struct gguf *g, const char *what)
{
	return ls_err_set(g->err, LS_EINPUT, "%s: byte %zu: %s", g->path, g->in.at, what);
}

static int cut(const struct gguf *g)
{
	return wrong(g, "the file ends within its header");
}

/* --- values --- */

enum type { U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64, N_TYPES };

static const struct {
	const char *name;
	unsigned size;
	enum ls_dtype dtype; /* of an array of these */
} types[N_TYPES] = {
	[U8] = {"uint8", 1, LS_DT_U8},        [I8] = {"int8", 1, LS_DT_I8},
	[U16] = {"uint16", 2, LS_DT_U16},     [I16] = {"int16", 2, LS_DT_I16},
	[U32] = {"uint32", 4, LS_DT_U32},     [I32] = {"int32", 4, LS_DT_I32},
	[F32] = {"float32", 4, LS_DT_F32},    [BOOL] = {"bool", 1, LS_DT_BOOL},
	[STRING] = {"string", 0, LS_DT_NONE}, [ARRAY] = {"array", 0, LS_DT_NONE},
	[U64] = {"uint64", 8, LS_DT_U64},     [I64] = {"int64", 8, LS_DT_I64},
	[F64] = {"float64", 8, LS_DT_F64},
};

static int read_text(struct gguf *g, const char **ret, size_t *ret_len)
{
	uint64_t n = ls_bytes_u64(&g->in);
	const uint8_t *s = ls_bytes_take(&g->in, n);
	*ret = (const char *)s;
	*ret_len = s ? (size_t)n : 0;
	return s ? 0 : cut(g);
}

/* A name may hold no NUL, which would end it for us before its end. */
static int read_name(struct gguf *g, char **ret)
{
	const char *s = NULL;
	size_t n = 0;
	int rc = read_text(g, &s, &n);
	if (rc)
		return rc;
	if (n == 0 || n > NAME_LIMIT || memchr(s, 0, n))
		return wrong(g, "a name that is empty, too long, or has a NUL in it");
	*ret = ls_bundle_text(g->b, s, n);
	return 0;
}

static double real_of(enum type t, uint64_t bits)
{
	double d = 0;
	float f = 0;
	uint32_t low = (uint32_t)bits;
	memcpy(&d, &bits, sizeof d);
	memcpy(&f, &low, sizeof f);
	return t == F32 ? (double)f : d;
}

static int64_t signed_of(enum type t, uint64_t bits)
{
	switch (t) {
	case I8:
		return (int8_t)bits;
	case I16:
		return (int16_t)bits;
	case I32:
		return (int32_t)bits;
	default:
		return (int64_t)bits;
	}
}

static int read_scalar(struct gguf *g, const char *name, enum type t)
{
	uint64_t bits = ls_bytes_number(&g->in, types[t].size);
	enum ls_value_kind kind = t == BOOL              ? LS_VAL_BOOL
				  : t == F32 || t == F64 ? LS_VAL_REAL
							 : LS_VAL_INT;
	if (g->in.bad)
		return cut(g);
	struct ls_value *v = ls_bundle_add_value(g->b, name, strlen(name), kind);
	v->i = signed_of(t, bits);
	v->real = real_of(t, bits);
	if (t == U64 && bits > INT64_MAX) {
		char *text = ls_bundle_keep_take(g->b, ls_xasprintf("%" PRIu64, bits));
		v->text = text;
		v->len = strlen(text);
	}
	return 0;
}

static int read_string(struct gguf *g, const char *name)
{
	const char *s = NULL;
	size_t n = 0;
	int rc = read_text(g, &s, &n);
	if (rc)
		return rc;
	const char *text = ls_bundle_text(g->b, s, n);
	struct ls_value *v = ls_bundle_add_value(g->b, name, strlen(name), LS_VAL_STRING);
	v->text = text;
	v->len = n;
	return 0;
}

static int read_value(struct gguf *g, const char *name, uint32_t type, int depth);

/* An array of numbers is a tensor of one dimension. */
static int read_numbers(struct gguf *g, const char *name, enum type t, uint64_t n)
{
	uint64_t bytes = 0;
	if (__builtin_mul_overflow(n, types[t].size, &bytes))
		return cut(g);
	const uint8_t *data = ls_bytes_take(&g->in, bytes);
	if (!data)
		return cut(g);
	struct ls_tensor *made = ls_bundle_add(g->b, name, strlen(name));
	made->dtype = types[t].dtype;
	made->elem_size = types[t].size;
	made->data = data;
	return ls_tensor_set_contiguous(made, &n, 1, g->err);
}

static int read_array(struct gguf *g, const char *name, int depth)
{
	uint32_t type = ls_bytes_u32(&g->in);
	uint64_t n = ls_bytes_u64(&g->in);
	int rc = 0;
	if (g->in.bad)
		return cut(g);
	if (type >= N_TYPES || depth == DEPTH_LIMIT)
		return wrong(g, "an array of a type that is not read");
	if (types[type].size)
		return read_numbers(g, name, (enum type)type, n);
	char *trait = ls_xasprintf("array of %" PRIu64 " %ss", n, types[type].name);
	ls_bundle_add_trait(g->b, name, trait);
	if (n == 0) {
		struct ls_value *v = ls_bundle_add_value(g->b, name, strlen(name), LS_VAL_OTHER);
		v->len = strlen(trait);
		v->text = ls_bundle_text(g->b, trait, v->len);
	}
	free(trait);
	for (uint64_t i = 0; i < n && rc == 0; i++) {
		char *item = ls_xasprintf("%s.%" PRIu64, name, i);
		rc = read_value(g, item, type, depth + 1);
		free(item);
	}
	return rc;
}

static int read_value(struct gguf *g, const char *name, uint32_t type, int depth)
{
	if (++g->values > VALUE_LIMIT)
		return wrong(g, "more values than a model has");
	if (type == ARRAY)
		return read_array(g, name, depth);
	if (type == STRING)
		return read_string(g, name);
	if (type >= N_TYPES)
		return wrong(g, "a value of a type that is not read");
	if (depth == 0)
		ls_bundle_add_trait(g->b, name, types[type].name);
	return read_scalar(g, name, (enum type)type);
}

/* The alignment is a value like any other, and says where the data begin. */
static int take_alignment(struct gguf *g, const char *name)
{
	const struct ls_value *v = g->b->n_values ? &g->b->values[g->b->n_values - 1] : NULL;
	if (!name || strcmp(name, "general.alignment") != 0 || !v || strcmp(v->name, name) != 0)
		return 0;
	if (v->kind != LS_VAL_INT || v->i <= 0 || v->i > 1 << 20 || (v->i & (v->i - 1)))
		return wrong(g, "general.alignment is not a power of two");
	g->alignment = (uint64_t)v->i;
	return 0;
}

static int read_pair(struct gguf *g)
{
	char *name = NULL;
	int rc = read_name(g, &name);
	if (rc)
		return rc;
	uint32_t type = ls_bytes_u32(&g->in);
	rc = g->in.bad ? cut(g) : read_value(g, name, type, 0);
	return rc ? rc : take_alignment(g, name);
}

/* --- tensors --- */

/* Quantized types are rows of blocks, each a few numbers with a scale of their own. */
struct tensor_type {
	const char *name;
	enum ls_dtype dtype;
	uint16_t block, size; /* elements and bytes of a block */
};

static const struct tensor_type tensor_types[] = {
	[0] = {"F32", LS_DT_F32, 1, 4},
	[1] = {"F16", LS_DT_F16, 1, 2},
	[2] = {"Q4_0", LS_DT_OPAQUE, 32, 18},
	[3] = {"Q4_1", LS_DT_OPAQUE, 32, 20},
	[6] = {"Q5_0", LS_DT_OPAQUE, 32, 22},
	[7] = {"Q5_1", LS_DT_OPAQUE, 32, 24},
	[8] = {"Q8_0", LS_DT_OPAQUE, 32, 34},
	[9] = {"Q8_1", LS_DT_OPAQUE, 32, 40},
	[10] = {"Q2_K", LS_DT_OPAQUE, 256, 84},
	[11] = {"Q3_K", LS_DT_OPAQUE, 256, 110},
	[12] = {"Q4_K", LS_DT_OPAQUE, 256, 144},
	[13] = {"Q5_K", LS_DT_OPAQUE, 256, 176},
	[14] = {"Q6_K", LS_DT_OPAQUE, 256, 210},
	[15] = {"Q8_K", LS_DT_OPAQUE, 256, 292},
	[16] = {"IQ2_XXS", LS_DT_OPAQUE, 256, 66},
	[17] = {"IQ2_XS", LS_DT_OPAQUE, 256, 74},
	[18] = {"IQ3_XXS", LS_DT_OPAQUE, 256, 98},
	[19] = {"IQ1_S", LS_DT_OPAQUE, 256, 50},
	[20] = {"IQ4_NL", LS_DT_OPAQUE, 32, 18},
	[21] = {"IQ3_S", LS_DT_OPAQUE, 256, 110},
	[22] = {"IQ2_S", LS_DT_OPAQUE, 256, 82},
	[23] = {"IQ4_XS", LS_DT_OPAQUE, 256, 136},
	[24] = {"I8", LS_DT_I8, 1, 1},
	[25] = {"I16", LS_DT_I16, 1, 2},
	[26] = {"I32", LS_DT_I32, 1, 4},
	[27] = {"I64", LS_DT_I64, 1, 8},
	[28] = {"F64", LS_DT_F64, 1, 8},
	[29] = {"IQ1_M", LS_DT_OPAQUE, 256, 56},
	[30] = {"BF16", LS_DT_BF16, 1, 2},
	[34] = {"TQ1_0", LS_DT_OPAQUE, 256, 54},
	[35] = {"TQ2_0", LS_DT_OPAQUE, 256, 66},
	[39] = {"MXFP4", LS_DT_OPAQUE, 32, 17},
	[40] = {"NVFP4", LS_DT_OPAQUE, 64, 36},
	[41] = {"Q1_0", LS_DT_OPAQUE, 128, 18},
};

/* Dimensions stand with the fastest first, and the fastest is cut into blocks. */
static int read_shape(struct gguf *g, struct ls_tensor *t)
{
	uint64_t shape[DIMS];
	uint32_t n = ls_bytes_u32(&g->in);
	if (!g->in.bad && n > DIMS)
		return wrong(g, "a tensor of more than four dimensions");
	for (uint32_t i = g->in.bad ? 0 : n; i-- > 0;)
		shape[i] = ls_bytes_u64(&g->in);
	uint32_t number = ls_bytes_u32(&g->in);
	if (g->in.bad)
		return cut(g);
	if (number >= sizeof tensor_types / sizeof *tensor_types || !tensor_types[number].name)
		return ls_err_set(g->err, LS_EINPUT,
				  "%s: tensor \"%.200s\": type %" PRIu32
				  " is not known to this version",
				  g->path, t->name, number);
	const struct tensor_type *type = &tensor_types[number];
	if (n && shape[n - 1] % type->block)
		return wrong(g, "a row that does not end with a block");
	if (n)
		shape[n - 1] /= type->block;
	t->dtype = type->dtype;
	t->elem_size = type->size;
	ls_bundle_add_trait(g->b, t->name, type->name);
	return ls_tensor_set_contiguous(t, shape, n, g->err);
}

static int read_tensor(struct gguf *g, uint64_t *ret_offset)
{
	char *name = NULL;
	int rc = read_name(g, &name);
	if (rc || !name)
		return rc;
	struct ls_tensor *t = ls_bundle_add(g->b, name, strlen(name));
	rc = read_shape(g, t);
	if (rc)
		return rc;
	*ret_offset = ls_bytes_u64(&g->in);
	return g->in.bad ? cut(g) : 0;
}

/* Offsets count from the first aligned byte behind the header. */
static int place(struct gguf *g, struct ls_tensor *t, uint64_t offset, uint64_t begin)
{
	if (offset % g->alignment || begin > g->in.len || offset > g->in.len - begin ||
	    t->nbytes > g->in.len - begin - offset)
		return ls_err_set(g->err, LS_EINPUT,
				  "%s: tensor \"%.200s\": its %" PRIu64
				  " bytes are not where the file says (%" PRIu64 ")",
				  g->path, t->name, t->nbytes, offset);
	t->data = g->in.data + begin + offset;
	return 0;
}

static int read_tensors(struct gguf *g, uint64_t n, uint64_t pairs)
{
	int rc = 0;
	for (uint64_t i = 0; i < pairs && rc == 0; i++)
		rc = read_pair(g);
	if (rc)
		return rc;
	size_t first = g->b->n_tensors; /* arrays of numbers come before */
	uint64_t *offsets = ls_xalloc((n + 1) * sizeof *offsets);
	for (uint64_t i = 0; i < n && rc == 0; i++)
		rc = read_tensor(g, &offsets[i]);
	uint64_t begin = (g->in.at + g->alignment - 1) & ~(g->alignment - 1);
	for (uint64_t i = 0; i < n && rc == 0; i++)
		rc = place(g, &g->b->tensors[first + i], offsets[i], begin);
	free(offsets);
	return rc;
}

int ls_gguf_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
		  struct ls_err *err)
{
	struct gguf g = {.b = b, .in = {.data = data, .len = len}, .path = path, .alignment = 32};
	g.err = err;
	const uint8_t *magic = ls_bytes_take(&g.in, 4);
	if (!magic || memcmp(magic, "GGUF", 4) != 0)
		return wrong(&g, "not a GGUF file");
	uint32_t version = ls_bytes_u32(&g.in);
	if (version != 2 && version != 3)
		return ls_err_set(err, LS_EINPUT,
				  "%s: GGUF version %" PRIu32
				  "; 2 and 3 are read, with the least significant byte first",
				  path, version);
	uint64_t n = ls_bytes_u64(&g.in), pairs = ls_bytes_u64(&g.in);
	if (g.in.bad)
		return cut(&g);
	if (n > TENSOR_LIMIT || pairs > VALUE_LIMIT)
		return wrong(&g, "claims more tensors or values than a model has");
	int rc = read_tensors(&g, n, pairs);
	return rc ? rc : ls_bundle_seal(b, path, err);
}

int ls_gguf_open(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	struct ls_bundle *b = ls_bundle_new("GGUF");
	struct ls_map map;
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0)
		rc = ls_gguf_parse(b, map.data, map.len, path, err);
	return ls_bundle_hand_take(b, rc, ret);
}
