#include "tensor/mat.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "tensor/bytes.h"
#include "tensor/zip.h"

enum {
	HEADER = 128, /* a text with the time of the save, then version and byte order */
	DEPTH_LIMIT = 32,
	ENTRY_LIMIT = 1 << 20,
	PATH_LIMIT = 4096,
	UNPACK_LIMIT = 256 << 20, /* bytes of all compressed elements */
	FIELD_LIMIT = 64,         /* bytes of a field's name; MATLAB has 63 and a NUL */
};

/* What an element is. */
enum {
	MI_INT8 = 1,
	MI_UINT8,
	MI_INT16,
	MI_UINT16,
	MI_INT32,
	MI_UINT32,
	MI_SINGLE,
	MI_DOUBLE = 9,
	MI_INT64 = 12,
	MI_UINT64,
	MI_MATRIX,
	MI_COMPRESSED,
	MI_UTF8,
	MI_UTF16,
	MI_UTF32
};

/* What an array is. */
enum {
	MX_CELL = 1,
	MX_STRUCT,
	MX_OBJECT,
	MX_CHAR,
	MX_SPARSE,
	MX_DOUBLE,
	MX_SINGLE,
	MX_INT8,
	MX_UINT8,
	MX_INT16,
	MX_UINT16,
	MX_INT32,
	MX_UINT32,
	MX_INT64,
	MX_UINT64,
	MX_FUNCTION,
	MX_OPAQUE
};

enum { COMPLEX = 0x08, LOGICAL = 0x02 }; /* flags */

static const char *const class_names[] = {
	NULL,    "cell",  "struct", "object", "char",   "sparse", "double", "single",   "int8",
	"uint8", "int16", "uint16", "int32",  "uint32", "int64",  "uint64", "function", "opaque"};

struct mat {
	struct ls_bundle *b;
	const char *path;
	struct ls_str name; /* of the array that is being read */
	size_t entries, unpacked;
	int depth;
	struct ls_err *err;
};

/* An element: its type and its bytes. */
struct element {
	uint32_t type;
	const uint8_t *data;
	size_t len;
};

static int wrong(const struct mat *m, const char *what)
{
	return ls_err_set(m->err, LS_EINPUT, "%s: \"%.200s\": %s", m->path,
			  m->name.len ? m->name.s : "", what);
}

/* Small elements have their bytes within the tag; all others are padded to 8. */
static int next(struct mat *m, struct ls_bytes *in, struct element *ret)
{
	uint32_t type = ls_bytes_u32(in);
	uint64_t len = type >> 16, padding;
	if (len) {
		type &= 0xffff;
		padding = len <= 4 ? 4 - len : 0;
	} else {
		len = ls_bytes_u32(in);
		padding = type == MI_COMPRESSED ? 0 : (8 - len % 8) % 8;
	}
	const uint8_t *data = ls_bytes_take(in, len);
	if (!data)
		return wrong(m, "an element that is cut short");
	/* the padding behind the last one may be missing */
	ls_bytes_take(in, padding < ls_bytes_left(in) ? padding : ls_bytes_left(in));
	*ret = (struct element){type, data, (size_t)len};
	return 0;
}

static enum ls_dtype type_of(uint32_t type)
{
	static const enum ls_dtype types[] = {
		[MI_INT8] = LS_DT_I8,    [MI_UINT8] = LS_DT_U8,   [MI_INT16] = LS_DT_I16,
		[MI_UINT16] = LS_DT_U16, [MI_INT32] = LS_DT_I32,  [MI_UINT32] = LS_DT_U32,
		[MI_SINGLE] = LS_DT_F32, [MI_DOUBLE] = LS_DT_F64, [MI_INT64] = LS_DT_I64,
		[MI_UINT64] = LS_DT_U64, [MI_UTF8] = LS_DT_U8,    [MI_UTF16] = LS_DT_U16,
		[MI_UTF32] = LS_DT_U32};
	return type < sizeof types / sizeof *types ? types[type] : LS_DT_NONE;
}

/* --- names --- */

static size_t push(struct mat *m, const char *separator, const char *s, size_t len)
{
	size_t before = m->name.len;
	ls_str_add(&m->name, before ? separator : "");
	ls_str_add_bytes(&m->name, s, len);
	return before;
}

static void pop(struct mat *m, size_t before)
{
	m->name.len = before;
	if (m->name.s)
		m->name.s[before] = 0;
}

static const char *name_of(const struct mat *m)
{
	return m->name.len ? m->name.s : "";
}

/* --- arrays --- */

struct array {
	uint8_t class, flags;
	uint64_t dims[LS_MAX_DIMS];
	size_t ndim;
};

static void add_text(struct mat *m, enum ls_value_kind kind, const char *text)
{
	const char *copy = ls_bundle_text(m->b, text, strlen(text));
	struct ls_value *v = ls_bundle_add_value(m->b, name_of(m), strlen(name_of(m)), kind);
	v->text = copy;
	v->len = strlen(text);
}

static void add_class(struct mat *m, const struct array *a)
{
	char *text =
		ls_xasprintf("%s%s", class_names[a->class], a->flags & LOGICAL ? ", logical" : "");
	ls_bundle_add_trait(m->b, name_of(m), text);
	free(text);
}

/* The first dimension is the fastest. */
static int add_tensor(struct mat *m, const struct array *a, const struct element *e,
		      const char *suffix)
{
	enum ls_dtype dtype = type_of(e->type);
	int64_t step = 1;
	if (dtype == LS_DT_NONE)
		return wrong(m, "elements of an unknown type");
	size_t before = push(m, "", suffix, strlen(suffix));
	struct ls_tensor *t = ls_bundle_add(m->b, name_of(m), strlen(name_of(m)));
	pop(m, before);
	t->dtype = dtype;
	t->elem_size = ls_dtype_bits(dtype) / 8;
	t->data = e->data;
	int rc = ls_tensor_set_contiguous(t, a->dims, a->ndim, m->err);
	if (rc == 0 && t->nbytes != e->len)
		rc = wrong(m, "a shape that does not fit its elements");
	for (size_t i = 0; rc == 0 && i < a->ndim; i++) {
		t->stride[i] = step;
		step *= t->shape[i] ? (int64_t)t->shape[i] : 1;
	}
	return rc;
}

/* Real and imaginary parts lie apart, and so do the parts of a sparse array, whose
 * numbers have lengths of their own. */
static int add_parts(struct mat *m, struct ls_bytes *in, const struct array *a,
		     const char *const *names, size_t n)
{
	/* a character of UTF-8 may take several bytes */
	bool rows = a->class == MX_SPARSE || a->class == MX_CHAR;
	int rc = 0;
	for (size_t i = 0; i < n && rc == 0; i++) {
		struct element e;
		rc = next(m, in, &e);
		if (rc)
			break;
		uint32_t size = ls_dtype_bits(type_of(e.type)) / 8;
		struct array row = {.dims = {size ? e.len / size : 0}, .ndim = 1};
		rc = add_tensor(m, rows ? &row : a, &e, names[i]);
	}
	return rc;
}

/* For what is not told as a tensor of its shape. */
static void add_shape(struct mat *m, const struct array *a)
{
	struct ls_str s = {0};
	ls_str_add(&s, class_names[a->class]);
	for (size_t i = 0; i < a->ndim; i++)
		ls_str_addf(&s, "%s%" PRIu64, i ? " x " : " ", a->dims[i]);
	add_text(m, LS_VAL_OTHER, s.s);
	ls_str_done(&s);
}

static int read_numbers(struct mat *m, struct ls_bytes *in, const struct array *a)
{
	static const char *const plain[] = {"", ".imag"}, *const complex[] = {".real", ".imag"};
	static const char *const sparse[] = {".rows", ".columns", ".real", ".imag"};
	bool pair = a->flags & COMPLEX;
	if (a->class == MX_CHAR)
		add_shape(m, a);
	if (a->class != MX_SPARSE)
		return add_parts(m, in, a, pair ? complex : plain, pair ? 2 : 1);
	add_shape(m, a);
	return add_parts(m, in, a, sparse, pair ? 4 : 3);
}

static int read_array(struct mat *m, struct ls_bytes *in, const char *separator, const char *name,
		      size_t len);

/* The arrays that the elements of a cell or the fields of a struct are. */
static int read_member(struct mat *m, struct ls_bytes *in, const char *separator, const char *name,
		       size_t len)
{
	struct element e;
	int rc = next(m, in, &e);
	if (rc)
		return rc;
	if (e.type != MI_MATRIX)
		return wrong(m, "a part that is no array");
	struct ls_bytes inner = {.data = e.data, .len = e.len};
	return read_array(m, &inner, separator, name, len);
}

static uint64_t count(const struct array *a)
{
	uint64_t n = 1;
	for (size_t i = 0; i < a->ndim; i++)
		if (__builtin_mul_overflow(n, a->dims[i], &n))
			return UINT64_MAX;
	return n;
}

static int read_cells(struct mat *m, struct ls_bytes *in, const struct array *a)
{
	char index[32];
	uint64_t n = count(a);
	int rc = 0;
	for (uint64_t i = 0; i < n && rc == 0; i++) {
		snprintf(index, sizeof index, "{%" PRIu64 "}", i + 1);
		rc = read_member(m, in, "", index, strlen(index));
	}
	return rc;
}

static int read_fields(struct mat *m, struct ls_bytes *in, const struct array *a,
		       const struct element *names, size_t width)
{
	char index[32];
	uint64_t n = names->len < width ? 0 : count(a); /* a struct may have no fields */
	int rc = 0;
	for (uint64_t i = 0; i < n && rc == 0; i++) {
		size_t before = m->name.len;
		snprintf(index, sizeof index, "(%" PRIu64 ")", i + 1);
		if (n != 1)
			push(m, "", index, strlen(index));
		for (size_t at = 0; rc == 0 && at + width <= names->len; at += width) {
			const char *name = (const char *)names->data + at;
			rc = read_member(m, in, ".", name, strnlen(name, width));
		}
		pop(m, before);
	}
	return rc;
}

static int read_struct(struct mat *m, struct ls_bytes *in, const struct array *a)
{
	struct element e = {0}, width = {0}, names = {0};
	int rc = a->class == MX_OBJECT ? next(m, in, &e) : 0;
	if (rc == 0 && a->class == MX_OBJECT) {
		char *class = ls_xasprintf("%.*s", (int)(e.len < 200 ? e.len : 200),
					   (const char *)e.data);
		add_text(m, LS_VAL_OTHER, class);
		free(class);
	}
	if (rc == 0)
		rc = next(m, in, &width);
	if (rc == 0)
		rc = next(m, in, &names);
	if (rc)
		return rc;
	if (width.len != 4 || width.data[0] == 0 || width.data[0] > FIELD_LIMIT)
		return wrong(m, "names of fields that cannot be read");
	return read_fields(m, in, a, &names, width.data[0]);
}

static int read_contents(struct mat *m, struct ls_bytes *in, const struct array *a)
{
	switch (a->class) {
	case MX_CELL:
	case MX_STRUCT:
	case MX_OBJECT: {
		add_shape(m, a);
		return a->class == MX_CELL ? read_cells(m, in, a) : read_struct(m, in, a);
	}
	case MX_FUNCTION:
	case MX_OPAQUE:
		add_text(m, LS_VAL_UNREAD, "a function or an object");
		return 0;
	default:
		return read_numbers(m, in, a);
	}
}

static int read_head(struct mat *m, struct ls_bytes *in, struct array *a, struct element *name)
{
	struct element flags, dims;
	int rc = next(m, in, &flags);
	if (rc)
		return rc;
	if (flags.type != MI_UINT32 || flags.len != 8)
		return wrong(m, "an array without its flags");
	a->class = flags.data[0];
	a->flags = flags.data[1];
	if (a->class == 0 || a->class > MX_OPAQUE)
		return wrong(m, "an array of an unknown class");
	if (a->class == MX_OPAQUE) { /* without dimensions: the name comes next */
		return next(m, in, name);
	}
	rc = next(m, in, &dims);
	if (rc)
		return rc;
	a->ndim = dims.len / 4;
	if (dims.type != MI_INT32 || dims.len % 4 || a->ndim < 2 || a->ndim > LS_MAX_DIMS)
		return wrong(m, "an array without a shape");
	struct ls_bytes d = {.data = dims.data, .len = dims.len};
	for (size_t i = 0; i < a->ndim; i++)
		a->dims[i] = ls_bytes_u32(&d);
	return next(m, in, name);
}

static int read_array(struct mat *m, struct ls_bytes *in, const char *separator, const char *name,
		      size_t len)
{
	struct array a = {0};
	struct element own = {0};
	if (in->len == 0 && name) { /* an empty array within a cell or a struct */
		size_t before = push(m, separator, name, len);
		add_text(m, LS_VAL_OTHER, "an empty array");
		pop(m, before);
		return 0;
	}
	if (m->depth == DEPTH_LIMIT || ++m->entries > ENTRY_LIMIT || m->name.len > PATH_LIMIT)
		return wrong(m, "nested deeper, or with more arrays, than is read");
	int rc = read_head(m, in, &a, &own);
	if (rc)
		return rc;
	if (!name) {
		name = (const char *)own.data;
		len = own.len;
	}
	if (len && memchr(name, 0, len))
		return wrong(m, "a name with a NUL in it");
	size_t before = push(m, separator, name, len);
	m->depth++;
	add_class(m, &a);
	rc = read_contents(m, in, &a);
	m->depth--;
	pop(m, before);
	return rc;
}

static int unpack(struct mat *m, const struct element *e, struct ls_bytes *ret)
{
	uint8_t *made = NULL;
	size_t len = 0;
	int rc = ls_unzlib(e->data, e->len, UNPACK_LIMIT - m->unpacked, &made, &len, m->err);
	if (rc)
		return ls_err_prefix(m->err, "%s", m->path);
	m->unpacked += len;
	*ret = (struct ls_bytes){.data = ls_bundle_keep_take(m->b, made), .len = len};
	return 0;
}

static int read_all(struct mat *m, struct ls_bytes *in)
{
	int rc = 0;
	while (rc == 0 && ls_bytes_left(in)) {
		struct element e = {0};
		struct ls_bytes inner = {0};
		rc = next(m, in, &e);
		if (rc == 0 && e.type == MI_COMPRESSED) {
			rc = unpack(m, &e, &inner);
			if (rc == 0)
				rc = next(m, &inner, &e);
		}
		if (rc)
			break;
		if (e.type != MI_MATRIX)
			return wrong(m, "an element that is no array");
		inner = (struct ls_bytes){.data = e.data, .len = e.len};
		rc = read_array(m, &inner, "", NULL, 0);
	}
	return rc;
}

bool ls_mat_is(const uint8_t *data, size_t len)
{
	return len >= HEADER && memcmp(data, "MATLAB 5.0 MAT-file", 19) == 0;
}

int ls_mat_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
		 struct ls_err *err)
{
	struct mat m = {.b = b, .path = path, .err = err};
	struct ls_bytes in = {.data = data, .len = len};
	const uint8_t *head = ls_bytes_take(&in, HEADER);
	if (!head || memcmp(head + 124, "\0\1IM", 4) != 0)
		return ls_err_set(err, LS_EINPUT,
				  "%s: not a MATLAB file of version 5 with the least significant "
				  "byte first",
				  path);
	int rc = read_all(&m, &in);
	ls_str_done(&m.name);
	return rc ? rc : ls_bundle_seal(b, path, err);
}

int ls_mat_open(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	struct ls_bundle *b = ls_bundle_new("MATLAB");
	struct ls_map map;
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0)
		rc = ls_mat_parse(b, map.data, map.len, path, err);
	return ls_bundle_hand_take(b, rc, ret);
}
