#include "tensor/onnx.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

/* Field numbers of onnx.proto that matter here. */
enum {
	MODEL_GRAPH = 7,
	GRAPH_INITIALIZER = 5,
	GRAPH_SPARSE = 15,
	TENSOR_DIMS = 1,
	TENSOR_TYPE = 2,
	TENSOR_SEGMENT = 3,
	TENSOR_FLOATS = 4,
	TENSOR_INT32S = 5,
	TENSOR_STRINGS = 6,
	TENSOR_INT64S = 7,
	TENSOR_NAME = 8,
	TENSOR_RAW = 9,
	TENSOR_DOUBLES = 10,
	TENSOR_UINT64S = 11,
	TENSOR_EXTERNAL = 13,
	TENSOR_LOCATION = 14,
	TENSOR_LIMIT = 1 << 18,
	NUMBER_LIMIT = 1 << 26,
};

struct span {
	const uint8_t *p;
	size_t len;
};

struct reader {
	const uint8_t *at, *end, *begin; /* begin: of the file, for messages */
	struct ls_err *err;
};

struct field {
	uint32_t number, wire;
	uint64_t value;   /* wire 0, 1, 5 */
	struct span body; /* wire 2 */
};

static int bad(const struct reader *r, const char *what)
{
	return ls_err_set(r->err, LS_EINPUT, "byte %zu: %s", (size_t)(r->at - r->begin), what);
}

static int read_varint(struct reader *r, uint64_t *ret)
{
	uint64_t x = 0;
	for (int shift = 0; shift < 64; shift += 7) {
		if (r->at == r->end)
			return bad(r, "a number is cut short");
		uint8_t c = *r->at++;
		x |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80)) {
			*ret = x;
			return 0;
		}
	}
	return bad(r, "a number of more than ten bytes");
}

static int read_fixed(struct reader *r, size_t bytes, uint64_t *ret)
{
	if ((size_t)(r->end - r->at) < bytes)
		return bad(r, "a number is cut short");
	*ret = 0;
	for (size_t i = bytes; i-- > 0;)
		*ret = *ret << 8 | r->at[i];
	r->at += bytes;
	return 0;
}

static int read_field(struct reader *r, struct field *f)
{
	uint64_t tag = 0, len = 0;
	int rc = read_varint(r, &tag);
	if (rc)
		return rc;
	f->number = (uint32_t)(tag >> 3);
	f->wire = tag & 7;
	if (tag >> 32 || f->number == 0)
		return bad(r, "not a field of a protobuf message");
	switch (f->wire) {
	case 0:
		return read_varint(r, &f->value);
	case 1:
		return read_fixed(r, 8, &f->value);
	case 5:
		return read_fixed(r, 4, &f->value);
	case 2:
		rc = read_varint(r, &len);
		if (rc)
			return rc;
		if (len > (size_t)(r->end - r->at))
			return ls_err_set(r->err, LS_EINPUT,
					  "byte %zu: claims %" PRIu64 " bytes but only %zu follow",
					  (size_t)(r->at - r->begin), len,
					  (size_t)(r->end - r->at));
		f->body = (struct span){r->at, len};
		r->at += len;
		return 0;
	default:
		return bad(r, "a protobuf group; ONNX has none");
	}
}

/* Numbers of one field, which may come one by one, packed, or in several packed
 * pieces. */
struct numbers {
	uint64_t *items;
	size_t n, cap;
};

/* What a TensorProto says, before it is understood. */
struct proto {
	uint64_t dims[LS_MAX_DIMS];
	size_t ndim;
	uint64_t type;
	struct span name, raw, location, offset, length;
	bool has_raw, external, strings;
	struct numbers numbers;
	uint32_t number_field;
};

static int add_number(struct reader *r, struct proto *t, uint64_t x)
{
	if (t->numbers.n == NUMBER_LIMIT)
		return bad(r, "a tensor with more numbers in a typed field than are read; export "
			      "it with raw data");
	t->numbers.items =
		ls_grow(t->numbers.items, t->numbers.n, &t->numbers.cap, sizeof *t->numbers.items);
	t->numbers.items[t->numbers.n++] = x;
	return 0;
}

static int add_numbers(struct reader *r, struct proto *t, const struct field *f)
{
	if (t->number_field && t->number_field != f->number)
		return bad(r, "a tensor with its data in two fields");
	t->number_field = f->number;
	if (f->wire != 2)
		return add_number(r, t, f->value);
	struct reader in = {f->body.p, f->body.p + f->body.len, r->begin, r->err};
	size_t fixed = f->number == TENSOR_FLOATS ? 4 : f->number == TENSOR_DOUBLES ? 8 : 0;
	if (fixed && !t->has_raw &&
	    t->numbers.n == 0) { /* as good as raw: packed little-endian numbers in one piece */
		t->raw = f->body;
		t->has_raw = true;
		return 0;
	}
	if (t->has_raw)
		return bad(r, "a tensor with its data in two pieces");
	while (in.at < in.end) {
		uint64_t x = 0;
		int rc = fixed ? read_fixed(&in, fixed, &x) : read_varint(&in, &x);
		if (rc || (rc = add_number(&in, t, x)))
			return rc;
	}
	return 0;
}

static int add_dims(struct reader *r, struct proto *t, const struct field *f)
{
	bool packed = f->wire == 2;
	struct reader in =
		packed ? (struct reader){f->body.p, f->body.p + f->body.len, r->begin, r->err} : *r;
	do {
		uint64_t d = f->value;
		if (packed && in.at == in.end)
			return 0;
		if (packed && read_varint(&in, &d))
			return LS_EINPUT;
		if (t->ndim == LS_MAX_DIMS || d > INT64_MAX)
			return bad(r, "a tensor of more than 32 dimensions, or of a negative one");
		t->dims[t->ndim++] = d;
	} while (packed);
	return 0;
}

static bool span_is(struct span s, const char *text)
{
	return s.len == strlen(text) && memcmp(s.p, text, s.len) == 0;
}

/* external_data: pairs of key and value. */
static int add_external(struct reader *r, struct proto *t, struct span entry)
{
	struct reader in = {entry.p, entry.p + entry.len, r->begin, r->err};
	struct span key = {0}, value = {0};
	while (in.at < in.end) {
		struct field f = {0};
		int rc = read_field(&in, &f);
		if (rc)
			return rc;
		if (f.number == 1 && f.wire == 2)
			key = f.body;
		if (f.number == 2 && f.wire == 2)
			value = f.body;
	}
	if (span_is(key, "location"))
		t->location = value;
	else if (span_is(key, "offset"))
		t->offset = value;
	else if (span_is(key, "length"))
		t->length = value;
	return 0;
}

static int read_proto_field(struct reader *r, struct proto *t, const struct field *f)
{
	switch (f->number) {
	case TENSOR_DIMS:
		return add_dims(r, t, f);
	case TENSOR_TYPE:
		t->type = f->value;
		return 0;
	case TENSOR_SEGMENT:
		return bad(r, "a tensor in segments");
	case TENSOR_FLOATS:
	case TENSOR_INT32S:
	case TENSOR_INT64S:
	case TENSOR_DOUBLES:
	case TENSOR_UINT64S:
		return add_numbers(r, t, f);
	case TENSOR_STRINGS:
		t->strings = true;
		return 0;
	case TENSOR_NAME:
		t->name = f->body;
		return 0;
	case TENSOR_RAW:
		t->raw = f->body;
		t->has_raw = f->wire == 2;
		return 0;
	case TENSOR_EXTERNAL:
		return f->wire == 2 ? add_external(r, t, f->body)
				    : bad(r, "external data described wrongly");
	case TENSOR_LOCATION:
		t->external = f->value == 1;
		return 0;
	default:
		return 0;
	}
}

static enum ls_dtype type_of(uint64_t onnx)
{
	static const enum ls_dtype types[] = {
		LS_DT_NONE,        LS_DT_F32,       LS_DT_U8,          LS_DT_I8,
		LS_DT_U16,         LS_DT_I16,       LS_DT_I32,         LS_DT_I64,
		LS_DT_NONE,        LS_DT_BOOL,      LS_DT_F16,         LS_DT_F64,
		LS_DT_U32,         LS_DT_U64,       LS_DT_C64,         LS_DT_C128,
		LS_DT_BF16,        LS_DT_F8_E4M3FN, LS_DT_F8_E4M3FNUZ, LS_DT_F8_E5M2,
		LS_DT_F8_E5M2FNUZ, LS_DT_I4,        LS_DT_I4,          LS_DT_F4,
		LS_DT_F8_E8M0FNU};
	return onnx < sizeof types / sizeof *types ? types[onnx] : LS_DT_NONE;
}

/* Typed fields to packed little-endian elements. */
static int pack_numbers(struct ls_bundle *b, const struct proto *p, struct ls_tensor *t,
			struct ls_err *err)
{
	size_t parts = t->dtype == LS_DT_C64 || t->dtype == LS_DT_C128 ? 2 : 1;
	size_t size = t->elem_size ? t->elem_size / parts : 1;
	if (t->nbytes != p->numbers.n * size)
		return ls_err_set(err, LS_EINPUT, "%zu numbers do not fill its shape",
				  p->numbers.n);
	uint8_t *out = ls_bundle_keep_take(b, ls_xalloc(p->numbers.n * size + 1));
	for (size_t i = 0; i < p->numbers.n; i++)
		for (size_t k = 0; k < size; k++)
			out[i * size + k] = (uint8_t)(p->numbers.items[i] >> (8 * k));
	t->data = out;
	return 0;
}

static int decimal(struct span s, uint64_t fallback, uint64_t *ret, struct ls_err *err)
{
	char text[24];
	if (s.len == 0) {
		*ret = fallback;
		return 0;
	}
	if (s.len >= sizeof text)
		return ls_err_set(err, LS_EINPUT, "external data with a number that is too long");
	memcpy(text, s.p, s.len);
	text[s.len] = 0;
	return ls_str_to_u64(text, 0, INT64_MAX, "external data", ret, err);
}

/* The file that external data names, provided that it lies inside of the folder, symbolic
 * links followed. */
static int external_path(const char *folder, struct span location, char **ret, struct ls_err *err)
{
	char *wanted =
		ls_xasprintf("%s/%.*s", folder, (int)(location.len < 1000 ? location.len : 1000),
			     (const char *)location.p);
	char *root = realpath(folder, NULL), *real = root ? realpath(wanted, NULL) : NULL;
	size_t n = root ? strlen(root) : 0;
	int rc = 0;
	if (location.len == 0 || location.p[0] == '/' || memchr(location.p, 0, location.len))
		rc = ls_err_set(err, LS_EINPUT, "external data outside of the model's folder");
	else if (!real)
		rc = ls_err_set(err, LS_EINPUT, "its external data %.200s is not there", wanted);
	else if (strncmp(real, root, n) != 0 || (real[n] != '/' && n > 1))
		rc = ls_err_set(err, LS_EINPUT,
				"external data outside of the model's folder: %.200s", wanted);
	free(wanted);
	free(root);
	if (rc)
		free(real);
	else
		*ret = real;
	return rc;
}

static int map_external(struct ls_bundle *b, const char *folder, const struct proto *p,
			struct ls_tensor *t, struct ls_err *err)
{
	char *path = NULL;
	uint64_t offset = 0, length = 0;
	struct ls_map map;
	if (!folder)
		return ls_err_set(err, LS_EINPUT, "external data, and no folder to look in");
	int rc = external_path(folder, p->location, &path, err);
	if (rc == 0)
		rc = ls_bundle_map(b, path, &map, err);
	free(path);
	if (rc == 0)
		rc = decimal(p->offset, 0, &offset, err);
	if (rc == 0)
		rc = decimal(p->length, t->nbytes, &length, err);
	if (rc)
		return rc;
	if (length != t->nbytes || offset > map.len || length > map.len - offset)
		return ls_err_set(err, LS_EINPUT,
				  "external data of %" PRIu64 " bytes at %" PRIu64
				  " does not fit its shape or its file of %zu bytes",
				  length, offset, map.len);
	t->data = map.data + offset;
	return 0;
}

static int make_tensor(struct ls_bundle *b, const struct proto *p, const char *folder,
		       struct ls_err *err)
{
	struct ls_tensor *t = ls_bundle_add(b, (const char *)p->name.p, p->name.len), made = *t;
	made.dtype = type_of(p->type);
	if (p->strings || made.dtype == LS_DT_NONE)
		return ls_err_set(err, LS_EINPUT, "element type %" PRIu64 "%s is not read", p->type,
				  p->strings ? " (text)" : "");
	made.elem_size = ls_dtype_bits(made.dtype) % 8 ? 0 : ls_dtype_bits(made.dtype) / 8;
	int rc = ls_tensor_set_contiguous(&made, p->dims, p->ndim, err);
	if (rc)
		return rc;
	size_t index = b->n_tensors - 1;
	if (p->external) {
		rc = map_external(b, folder, p, &made, err);
	} else if (p->has_raw) {
		made.data = p->raw.p;
		if (p->raw.len != made.nbytes)
			rc = ls_err_set(err, LS_EINPUT,
					"%zu bytes of data, but its shape needs %" PRIu64,
					p->raw.len, made.nbytes);
	} else {
		rc = pack_numbers(b, p, &made, err);
	}
	b->tensors[index] = made;
	return rc;
}

static int read_tensor(struct ls_bundle *b, const struct reader *outer, struct span body,
		       const char *folder)
{
	struct reader r = {body.p, body.p + body.len, outer->begin, outer->err};
	struct proto p = {0};
	int rc = 0;
	if (b->n_tensors >= TENSOR_LIMIT)
		return bad(&r, "more initializers than a model has");
	while (rc == 0 && r.at < r.end) {
		struct field f = {0};
		rc = read_field(&r, &f);
		if (rc == 0)
			rc = read_proto_field(&r, &p, &f);
	}
	if (rc == 0) {
		rc = make_tensor(b, &p, folder, r.err);
		if (rc)
			ls_err_prefix(r.err, "initializer \"%.*s\"",
				      (int)(p.name.len < 200 ? p.name.len : 200),
				      p.name.len ? (const char *)p.name.p : "");
	}
	free(p.numbers.items);
	return rc;
}

static void add_digest(struct ls_bundle *b, const char *name, struct ls_sha256 *h)
{
	char hex[LS_SHA256_HEX];
	ls_sha256_final(h, hex);
	struct ls_value *v = ls_bundle_add_value(b, name, strlen(name), LS_VAL_OTHER);
	v->text = ls_bundle_keep_take(b, ls_xasprintf("sha256 %s", hex));
	v->len = strlen(v->text);
}

static int read_graph(struct ls_bundle *b, const struct reader *outer, struct span body,
		      const char *folder)
{
	struct reader r = {body.p, body.p + body.len, outer->begin, outer->err};
	struct ls_sha256 *rest = ls_sha256_new();
	int rc = 0;
	while (rc == 0 && r.at < r.end) {
		const uint8_t *from = r.at;
		struct field f = {0};
		rc = read_field(&r, &f);
		if (rc)
			break;
		if (f.number == GRAPH_INITIALIZER && f.wire == 2)
			rc = read_tensor(b, &r, f.body, folder);
		else
			ls_sha256_add(rest, from, (size_t)(r.at - from));
	}
	add_digest(b, "graph without initializers", rest);
	return rc;
}

static int read_model(struct ls_bundle *b, struct reader *r, const char *folder)
{
	struct ls_sha256 *rest = ls_sha256_new();
	bool graph = false;
	int rc = 0;
	while (rc == 0 && r->at < r->end) {
		const uint8_t *from = r->at;
		struct field f = {0};
		rc = read_field(r, &f);
		if (rc)
			break;
		if (f.number != MODEL_GRAPH || f.wire != 2) {
			ls_sha256_add(rest, from, (size_t)(r->at - from));
			continue;
		}
		rc = graph ? bad(r, "two graphs") : read_graph(b, r, f.body, folder);
		graph = true;
	}
	add_digest(b, "model without graph", rest);
	return rc == 0 && !graph ? bad(r, "no graph: not an ONNX model") : rc;
}

int ls_onnx_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
		  const char *folder, struct ls_err *err)
{
	struct reader r = {data, data + len, data, err};
	int rc = read_model(b, &r, folder);
	if (rc)
		return ls_err_prefix(err, "%s", path);
	return ls_bundle_seal(b, path, err);
}

int ls_onnx_open(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	struct ls_bundle *b = ls_bundle_new("ONNX");
	struct ls_map map;
	char *folder = ls_file_folder(path);
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0)
		rc = ls_onnx_parse(b, map.data, map.len, path, folder, err);
	free(folder);
	return ls_bundle_hand_take(b, rc, ret);
}
