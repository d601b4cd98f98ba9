#include "tensor/msgpack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "tensor/bytes.h"

enum { DEPTH_LIMIT = 64, ENTRY_LIMIT = 1 << 20, PATH_LIMIT = 4096, KEY_LIMIT = 1024 };

/* flax's extension types: an array, a complex number, a scalar of numpy. */
enum { EXT_ARRAY = 1, EXT_COMPLEX = 2, EXT_SCALAR = 3 };

enum kind { NIL, BOOL, INT, UINT, REAL, TEXT, BYTES, ARRAY, MAP, EXT };

/* What stands at the beginning of a value. */
struct head {
	enum kind kind;
	uint64_t n; /* the number's bits, or how many bytes, elements or pairs follow */
	double real;
	bool narrow; /* a binary32 */
	uint8_t ext;
};

struct pack {
	struct ls_bundle *b;
	struct ls_bytes in;
	const char *path;
	struct ls_str name;
	size_t entries;
	int depth;
	struct ls_err *err;
};

static int wrong(const struct pack *p, const char *what)
{
	return ls_err_set(p->err, LS_EINPUT, "%s: byte %zu: \"%.200s\": %s", p->path, p->in.at,
			  p->name.len ? p->name.s : "(top)", what);
}

/* --- heads --- */

/* Numbers and lengths have the most significant byte first. */
static uint64_t big(struct ls_bytes *in, unsigned size)
{
	const uint8_t *at = ls_bytes_take(in, size);
	uint64_t n = 0;
	for (unsigned i = 0; at && i < size; i++)
		n = n << 8 | at[i];
	return n;
}

static struct head real_head(struct ls_bytes *in, bool narrow)
{
	struct head h = {.kind = REAL, .narrow = narrow};
	uint64_t bits = big(in, narrow ? 4 : 8);
	uint32_t low = (uint32_t)bits;
	float f;
	memcpy(&f, &low, sizeof f);
	memcpy(&h.real, &bits, sizeof h.real);
	if (narrow)
		h.real = (double)f;
	return h;
}

static struct head int_head(struct ls_bytes *in, unsigned size)
{
	uint64_t n = big(in, size);
	if (size < 8 && n >> (8 * size - 1))
		n |= UINT64_MAX << 8 * size;
	return (struct head){.kind = INT, .n = n};
}

static struct head ext_head(struct ls_bytes *in, uint64_t n)
{
	return (struct head){.kind = EXT, .n = n, .ext = ls_bytes_u8(in)};
}

/* Heads of a byte and a number of 1, 2, 4 or 8 bytes. */
static bool sized_head(struct ls_bytes *in, uint8_t c, struct head *ret)
{
	static const struct {
		uint8_t first, last, size;
		enum kind kind;
	} forms[] = {{0xc4, 0xc6, 1, BYTES},
		     {0xcc, 0xcf, 1, UINT},
		     {0xd9, 0xdb, 1, TEXT},
		     {0xdc, 0xdd, 2, ARRAY},
		     {0xde, 0xdf, 2, MAP}};
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (c >= forms[i].first && c <= forms[i].last) {
			ret->kind = forms[i].kind;
			ret->n = big(in, (unsigned)forms[i].size << (c - forms[i].first));
			return true;
		}
	return false;
}

static int read_head(struct pack *p, struct head *ret)
{
	struct ls_bytes *in = &p->in;
	uint8_t c = ls_bytes_u8(in);
	*ret = (struct head){.kind = NIL};
	if (c < 0x80 || c >= 0xe0)
		*ret = (struct head){.kind = INT, .n = (uint64_t)(int64_t)(int8_t)c};
	else if (c < 0x90)
		*ret = (struct head){.kind = MAP, .n = c & 15U};
	else if (c < 0xa0)
		*ret = (struct head){.kind = ARRAY, .n = c & 15U};
	else if (c < 0xc0)
		*ret = (struct head){.kind = TEXT, .n = c & 31U};
	else if (c == 0xc2 || c == 0xc3)
		*ret = (struct head){.kind = BOOL, .n = c & 1U};
	else if (c == 0xca || c == 0xcb)
		*ret = real_head(in, c == 0xca);
	else if (c >= 0xd0 && c <= 0xd3)
		*ret = int_head(in, 1U << (c - 0xd0));
	else if (c >= 0xc7 && c <= 0xc9)
		*ret = ext_head(in, big(in, 1U << (c - 0xc7)));
	else if (c >= 0xd4 && c <= 0xd8)
		*ret = ext_head(in, 1U << (c - 0xd4));
	else if (c != 0xc0 && !sized_head(in, c, ret))
		return wrong(p, "a byte that begins no value");
	return in->bad ? wrong(p, "the file ends within a value") : 0;
}

/* --- values --- */

static const char *name_of(const struct pack *p)
{
	return p->name.len ? p->name.s : "(top)";
}

static struct ls_value *add(struct pack *p, enum ls_value_kind kind)
{
	return ls_bundle_add_value(p->b, name_of(p), strlen(name_of(p)), kind);
}

static void add_text(struct pack *p, enum ls_value_kind kind, const void *s, size_t n)
{
	const char *copy = kind == LS_VAL_BYTES ? s : ls_bundle_text(p->b, s, n);
	struct ls_value *v = add(p, kind);
	v->text = copy;
	v->len = n;
}

static void add_trait(struct pack *p, const char *text)
{
	ls_bundle_add_trait(p->b, p->name.len ? p->name.s : "", text);
}

static void add_number(struct pack *p, const struct head *h)
{
	if (h->kind == REAL) {
		if (h->narrow)
			add_trait(p, "float32");
		add(p, LS_VAL_REAL)->real = h->real;
	} else if (h->kind == UINT && h->n > INT64_MAX) {
		char text[32];
		snprintf(text, sizeof text, "%" PRIu64, h->n);
		add_text(p, LS_VAL_INT, text, strlen(text));
	} else {
		add(p, h->kind == BOOL ? LS_VAL_BOOL : LS_VAL_INT)->i = (int64_t)h->n;
	}
}

static int visit(struct pack *p);

static int descend(struct pack *p, const char *key, size_t len)
{
	size_t before = p->name.len;
	ls_str_add(&p->name, before ? "." : "");
	ls_str_add_bytes(&p->name, key, len);
	int rc = p->name.len > PATH_LIMIT ? wrong(p, "a name of more than 4096 bytes") : visit(p);
	p->name.len = before;
	if (p->name.s)
		p->name.s[before] = 0;
	return rc;
}

/* A key is a text, or a number, which is told by a sign of its own. */
static int visit_pair(struct pack *p)
{
	struct head h;
	char number[32];
	int rc = read_head(p, &h);
	if (rc)
		return rc;
	if (h.kind == INT || h.kind == UINT) {
		snprintf(number, sizeof number, "[%" PRId64 "]", (int64_t)h.n);
		return descend(p, number, strlen(number));
	}
	const uint8_t *key = h.kind == TEXT ? ls_bytes_take(&p->in, h.n) : NULL;
	if (!key || h.n > KEY_LIMIT || memchr(key, 0, h.n))
		return wrong(p, "a key that is no short text");
	return descend(p, (const char *)key, (size_t)h.n);
}

static int visit_container(struct pack *p, const struct head *h)
{
	char index[32];
	int rc = 0;
	if (p->depth == DEPTH_LIMIT)
		return wrong(p, "nested deeper than 64");
	add_trait(p, h->kind == MAP ? "a map" : "an array");
	if (h->n == 0)
		add_text(p, LS_VAL_OTHER, h->kind == MAP ? "{}" : "[]", 2);
	p->depth++;
	for (uint64_t i = 0; i < h->n && rc == 0; i++) {
		snprintf(index, sizeof index, "%" PRIu64, i);
		rc = h->kind == MAP ? visit_pair(p) : descend(p, index, strlen(index));
	}
	p->depth--;
	return rc;
}

/* --- flax's arrays: (shape, name of the type, bytes) --- */

static int read_shape(struct pack *p, uint64_t shape[LS_MAX_DIMS], size_t *ret_n)
{
	struct head h;
	int rc = read_head(p, &h);
	if (rc)
		return rc;
	if (h.kind != ARRAY || h.n > LS_MAX_DIMS)
		return wrong(p, "an array without a shape");
	*ret_n = (size_t)h.n;
	for (size_t i = 0; i < *ret_n; i++) {
		rc = read_head(p, &h);
		if (rc)
			return rc;
		if ((h.kind != INT && h.kind != UINT) || (int64_t)h.n < 0)
			return wrong(p, "a dimension that is no number");
		shape[i] = h.n;
	}
	return 0;
}

static enum ls_dtype read_type(struct pack *p)
{
	struct head h;
	char name[32];
	if (read_head(p, &h) || (h.kind != TEXT && h.kind != BYTES) || h.n >= sizeof name)
		return LS_DT_NONE;
	const uint8_t *s = ls_bytes_take(&p->in, h.n);
	if (!s)
		return LS_DT_NONE;
	memcpy(name, s, h.n);
	name[h.n] = 0;
	return ls_dtype_of_torch(name);
}

static int read_array(struct pack *p)
{
	uint64_t shape[LS_MAX_DIMS];
	size_t ndim = 0;
	struct head h;
	int rc = read_head(p, &h);
	if (rc == 0 && (h.kind != ARRAY || h.n != 3))
		rc = wrong(p, "an array that flax did not write");
	if (rc == 0)
		rc = read_shape(p, shape, &ndim);
	enum ls_dtype dtype = rc ? LS_DT_NONE : read_type(p);
	if (rc == 0 && (dtype == LS_DT_NONE || ls_dtype_bits(dtype) % 8))
		rc = wrong(p, "an array of an unknown type");
	if (rc == 0)
		rc = read_head(p, &h);
	if (rc)
		return rc;
	const uint8_t *data = h.kind == BYTES ? ls_bytes_take(&p->in, h.n) : NULL;
	if (!data)
		return wrong(p, "an array without its bytes");
	struct ls_tensor *t = ls_bundle_add(p->b, name_of(p), strlen(name_of(p)));
	t->dtype = dtype;
	t->elem_size = ls_dtype_bits(dtype) / 8;
	t->data = data;
	rc = ls_tensor_set_contiguous(t, shape, ndim, p->err);
	return rc || t->nbytes == h.n ? rc : wrong(p, "a shape that does not fit its bytes");
}

/* The extension is a text of MessagePack itself. */
static int visit_ext(struct pack *p, const struct head *h)
{
	size_t end = p->in.at;
	if (h->n > ls_bytes_left(&p->in))
		return wrong(p, "the file ends within a value");
	end += (size_t)h->n;
	if (h->ext != EXT_ARRAY && h->ext != EXT_SCALAR) {
		add_trait(p, h->ext == EXT_COMPLEX ? "a complex number" : "an extension");
		add_text(p, LS_VAL_BYTES, ls_bytes_take(&p->in, h->n), (size_t)h->n);
		return 0;
	}
	struct ls_bytes outer = p->in;
	p->in.len = end;
	if (h->ext == EXT_SCALAR)
		add_trait(p, "a scalar");
	int rc = read_array(p);
	if (rc == 0 && p->in.at != end)
		rc = wrong(p, "an array with something behind it");
	p->in = outer;
	p->in.at = end;
	return rc;
}

static int visit(struct pack *p)
{
	struct head h;
	const uint8_t *s;
	int rc = ++p->entries > ENTRY_LIMIT ? wrong(p, "more entries than a model has")
					    : read_head(p, &h);
	if (rc)
		return rc;
	switch (h.kind) {
	case NIL:
		add(p, LS_VAL_NULL);
		return 0;
	case TEXT:
	case BYTES:
		s = ls_bytes_take(&p->in, h.n);
		if (!s)
			return wrong(p, "the file ends within a text");
		add_text(p, h.kind == TEXT ? LS_VAL_STRING : LS_VAL_BYTES, s, (size_t)h.n);
		return 0;
	case ARRAY:
	case MAP:
		return visit_container(p, &h);
	case EXT:
		return visit_ext(p, &h);
	default:
		add_number(p, &h);
		return 0;
	}
}

int ls_msgpack_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
		     struct ls_err *err)
{
	struct pack p = {.b = b, .in = {.data = data, .len = len}, .path = path, .err = err};
	int rc = visit(&p);
	if (rc == 0 && ls_bytes_left(&p.in))
		rc = wrong(&p, "something follows the value");
	ls_str_done(&p.name);
	return rc ? rc : ls_bundle_seal(b, path, err);
}

int ls_msgpack_open(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	struct ls_bundle *b = ls_bundle_new("MessagePack");
	struct ls_map map;
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0)
		rc = ls_msgpack_parse(b, map.data, map.len, path, err);
	return ls_bundle_hand_take(b, rc, ret);
}
