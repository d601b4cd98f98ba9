#include "tensor/npy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "tensor/zip.h"

enum {
	HEADER_LIMIT = 1 << 16
}; /* numpy writes a few hundred bytes; structured types some thousands */

/* The header is a Python dict literal; this reads the little of that language which numpy
 * writes.
 */
struct lit {
	const char *s;
	size_t len, at;
	struct ls_err *err;
};

static int wrong(const struct lit *p, const char *what)
{
	return ls_err_set(p->err, LS_EINPUT, "npy header, byte %zu: %s", p->at, what);
}

static char peek(struct lit *p)
{
	while (p->at < p->len && (p->s[p->at] == ' ' || p->s[p->at] == '\n'))
		p->at++;
	return p->at < p->len ? p->s[p->at] : 0;
}

static bool take(struct lit *p, char c)
{
	if (peek(p) != c || p->at >= p->len)
		return false;
	p->at++;
	return true;
}

static bool take_word(struct lit *p, const char *word)
{
	size_t n = strlen(word);
	peek(p);
	if (p->len - p->at < n || memcmp(p->s + p->at, word, n) != 0)
		return false;
	p->at += n;
	return true;
}

static int read_string(struct lit *p, char *buf, size_t size)
{
	char quote = peek(p);
	if (quote != '\'' && quote != '"')
		return wrong(p, "a quoted string is expected");
	const char *from = p->s + ++p->at, *end = memchr(from, quote, p->len - p->at);
	if (!end || memchr(from, '\\', (size_t)(end - from)) || (size_t)(end - from) >= size)
		return wrong(p, "a string without end, with an escape, or too long");
	memcpy(buf, from, (size_t)(end - from));
	buf[end - from] = 0;
	p->at += (size_t)(end - from) + 1;
	return 0;
}

static int read_number(struct lit *p, uint64_t *ret)
{
	uint64_t n = 0;
	if (peek(p) < '0' || peek(p) > '9')
		return wrong(p, "a whole number is expected");
	for (; p->at < p->len && p->s[p->at] >= '0' && p->s[p->at] <= '9'; p->at++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(p->s[p->at] - '0'), &n))
			return wrong(p, "a number beyond 64 bits");
	if (p->at < p->len && p->s[p->at] == 'L') /* written by Python 2 */
		p->at++;
	*ret = n;
	return 0;
}

struct header {
	char descr[64]; /* "<f4"; "[" for a structured type */
	bool fortran, has_descr, has_fortran, has_shape;
	uint64_t shape[LS_MAX_DIMS];
	size_t ndim;
};

static int read_shape(struct lit *p, struct header *h)
{
	if (!take(p, '('))
		return wrong(p, "the shape is not a tuple");
	while (!take(p, ')')) {
		if (h->ndim == LS_MAX_DIMS)
			return wrong(p, "more than 32 dimensions");
		int rc = read_number(p, &h->shape[h->ndim]);
		if (rc)
			return rc;
		h->ndim++;
		if (!take(p, ',') && peek(p) != ')')
			return wrong(p, "the shape is not closed");
	}
	return 0;
}

/* Steps over the list that describes a structured type; its elements are compared as
 * bytes. */
static int skip_list(struct lit *p)
{
	int depth = 0;
	char text[256];
	do {
		char c = peek(p);
		if (c == '\'' || c == '"') {
			if (read_string(p, text, sizeof text))
				return LS_EINPUT;
			if (strchr(text, 'O') && strlen(text) <= 3)
				return wrong(p, "a structured type with Python objects; those are "
						"programs and are not read");
			continue;
		}
		if (c == 0)
			return wrong(p, "the type is not closed");
		depth += (c == '[' || c == '(') - (c == ']' || c == ')');
		p->at++;
	} while (depth > 0);
	return 0;
}

static int read_descr(struct lit *p, struct header *h)
{
	if (peek(p) != '[')
		return read_string(p, h->descr, sizeof h->descr);
	memcpy(h->descr, "[", 2);
	return skip_list(p);
}

static int read_pair(struct lit *p, struct header *h)
{
	char key[32];
	int rc = read_string(p, key, sizeof key);
	if (rc)
		return rc;
	if (!take(p, ':'))
		return wrong(p, "\":\" is expected");
	bool *has = strcmp(key, "descr") == 0           ? &h->has_descr
		    : strcmp(key, "fortran_order") == 0 ? &h->has_fortran
		    : strcmp(key, "shape") == 0         ? &h->has_shape
							: NULL;
	if (!has || *has)
		return wrong(p, "an unknown or repeated key");
	*has = true;
	if (has == &h->has_shape)
		return read_shape(p, h);
	if (has == &h->has_descr)
		return read_descr(p, h);
	h->fortran = take_word(p, "True");
	return h->fortran || take_word(p, "False") ? 0 : wrong(p, "True or False is expected");
}

static int read_dict(struct lit *p, struct header *h)
{
	if (!take(p, '{'))
		return wrong(p, "\"{\" is expected");
	while (!take(p, '}')) {
		int rc = read_pair(p, h);
		if (rc)
			return rc;
		if (!take(p, ',') && peek(p) != '}')
			return wrong(p, "\",\" is expected");
	}
	if (peek(p) || p->at < p->len)
		return wrong(p, "text after the header");
	if (!h->has_descr || !h->has_fortran || !h->has_shape)
		return wrong(p, "descr, fortran_order or shape is missing");
	return 0;
}

static enum ls_dtype plain_type(char kind, uint64_t size)
{
	static const struct {
		char kind;
		uint8_t size;
		enum ls_dtype t;
	} types[] = {{'b', 1, LS_DT_BOOL}, {'u', 1, LS_DT_U8},   {'i', 1, LS_DT_I8},
		     {'u', 2, LS_DT_U16},  {'i', 2, LS_DT_I16},  {'u', 4, LS_DT_U32},
		     {'i', 4, LS_DT_I32},  {'u', 8, LS_DT_U64},  {'i', 8, LS_DT_I64},
		     {'f', 2, LS_DT_F16},  {'f', 4, LS_DT_F32},  {'f', 8, LS_DT_F64},
		     {'c', 8, LS_DT_C64},  {'c', 16, LS_DT_C128}};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (types[i].kind == kind && types[i].size == size)
			return types[i].t;
	return LS_DT_NONE;
}

int ls_npy_type(const char *descr, struct ls_tensor *t, struct ls_err *err)
{
	uint64_t size = 0;
	char order = descr[0], kind = order ? descr[1] : 0;
	if (kind == 'O')
		return ls_err_set(
			err, LS_EINPUT,
			"an array of Python objects; those are programs and are not read");
	const char *digits = kind ? descr + 2 : "", *unit = digits + strspn(digits, "0123456789");
	bool dated = (kind == 'M' || kind == 'm') && *unit == '[';
	if (!strchr("<>|=", order) || unit == digits || unit - digits > 8 || (*unit && !dated))
		return ls_err_set(err, LS_EINPUT, "unknown element type \"%.60s\"", descr);
	for (const char *d = digits; d < unit; d++)
		size = size * 10 + (uint64_t)(*d - '0');
	if (kind == 'U')
		size *= 4;
	t->dtype = plain_type(kind, size);
	if (t->dtype == LS_DT_NONE && strchr("SVUMmfcat", kind))
		t->dtype = kind == 'U' ? LS_DT_TEXT : LS_DT_OPAQUE;
	if (t->dtype == LS_DT_NONE || size > UINT32_MAX)
		return ls_err_set(err, LS_EINPUT, "unknown element type \"%.60s\"", descr);
	t->elem_size = (uint32_t)size;
	t->swapped = order == '>' && size > 1 && !strchr("SVa", kind);
	return 0;
}

/* A structured type's size is what the file leaves for each element. */
static int set_structured(struct ls_tensor *t, const struct header *h, uint64_t bytes,
			  struct ls_err *err)
{
	uint64_t n = 1;
	for (size_t i = 0; i < h->ndim; i++)
		if (__builtin_mul_overflow(n, h->shape[i], &n))
			return ls_err_set(err, LS_EINPUT,
					  "the shape has more elements than any memory");
	t->dtype = LS_DT_OPAQUE;
	t->elem_size = 1;
	if (n && (bytes % n || bytes / n > UINT32_MAX || bytes == 0))
		return ls_err_set(err, LS_EINPUT,
				  "%" PRIu64 " elements do not fill %" PRIu64 " bytes", n, bytes);
	if (n)
		t->elem_size = (uint32_t)(bytes / n);
	return 0;
}

static void set_fortran(struct ls_tensor *t)
{
	int64_t step = 1;
	for (int i = 0; i < t->ndim; i++) {
		t->stride[i] = step;
		step *= t->shape[i] ? (int64_t)t->shape[i] : 1;
	}
}

static int describe(struct ls_tensor *t, const struct header *h, uint64_t bytes, struct ls_err *err)
{
	struct ls_tensor made = *t;
	int rc = h->descr[0] == '[' ? set_structured(&made, h, bytes, err)
				    : ls_npy_type(h->descr, &made, err);
	if (rc == 0)
		rc = ls_tensor_set_contiguous(&made, h->shape, h->ndim, err);
	if (rc)
		return rc;
	if (made.elem_size == 0) /* numpy has strings of length 0 */
		made.nbytes = 0;
	if (made.nbytes != bytes)
		return ls_err_set(err, LS_EINPUT,
				  "the shape and type need %" PRIu64
				  " bytes of data, the file has %" PRIu64,
				  made.nbytes, bytes);
	if (h->fortran)
		set_fortran(&made);
	*t = made;
	return 0;
}

int ls_npy_header(const uint8_t *data, size_t len, uint64_t total, struct ls_tensor *t,
		  size_t *ret_start, struct ls_err *err)
{
	if (len < 10 || memcmp(data, "\x93NUMPY", 6) != 0)
		return ls_err_set(err, LS_EINPUT, "not an npy file");
	if (data[6] < 1 || data[6] > 3 || data[7] != 0 || (data[6] > 1 && len < 12))
		return ls_err_set(err, LS_EINPUT, "npy version %d.%d; 1.0 to 3.0 are read", data[6],
				  data[7]);
	size_t start = data[6] == 1 ? 10 : 12, size = (size_t)(data[8] | data[9] << 8);
	if (data[6] > 1)
		size |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
	if (size > HEADER_LIMIT)
		return ls_err_set(err, LS_EINPUT,
				  "claims a header of %zu bytes; at most %d are read", size,
				  HEADER_LIMIT);
	if (size > len - start)
		return ls_err_set(err, LS_EINPUT,
				  "claims a header of %zu bytes but only %zu follow", size,
				  len - start);
	struct lit p = {(const char *)data + start, size, 0, err};
	struct header h = {0};
	int rc = read_dict(&p, &h);
	if (rc == 0)
		rc = describe(t, &h, total - start - size, err);
	if (rc == 0)
		*ret_start = start + size;
	return rc;
}

int ls_npy_open(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	struct ls_bundle *b = ls_bundle_new("npy");
	struct ls_map map;
	size_t start;
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0) {
		struct ls_tensor *t = ls_bundle_add(b, "array", 5);
		rc = ls_npy_header(map.data, map.len, map.len, t, &start, err);
		if (rc)
			ls_err_prefix(err, "%s", path);
		else
			t->data = map.data + start;
	}
	if (rc == 0)
		rc = ls_bundle_seal(b, path, err);
	return ls_bundle_hand_take(b, rc, ret);
}

/* The first bytes of a deflated member, enough for any header that is read. */
static int read_head(const struct ls_zip_member *m, uint8_t **ret, size_t *ret_len,
		     struct ls_err *err)
{
	size_t len = m->size < HEADER_LIMIT + 12 ? (size_t)m->size : HEADER_LIMIT + 12;
	uint8_t *buf = ls_xalloc(len + 1);
	struct ls_inflater *in = ls_inflater_new(m);
	int rc = ls_inflater_read(in, buf, len, err);
	ls_inflater_free(in);
	if (rc) {
		free(buf);
		return rc;
	}
	*ret = buf;
	*ret_len = len;
	return 0;
}

static int add_member(struct ls_bundle *b, const struct ls_zip_member *m, struct ls_err *err)
{
	if (!ls_str_ends(m->name, ".npy")) {
		ls_bundle_add_member(b, m);
		return 0;
	}
	struct ls_tensor *t = ls_bundle_add(b, m->name, strlen(m->name) - 4);
	uint8_t *head = NULL;
	size_t len = m->size, start;
	int rc = m->deflated ? read_head(m, &head, &len, err) : 0;
	if (rc)
		return rc; /* which names the member already */
	rc = ls_npy_header(m->deflated ? head : m->data, len, m->size, t, &start, err);
	free(head);
	if (rc)
		return ls_err_prefix(err, "member \"%.200s\"", m->name);
	if (m->deflated) {
		t->packed = m;
		t->packed_skip = start;
	} else {
		t->data = m->data + start;
	}
	return 0;
}

int ls_npz_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
		 struct ls_err *err)
{
	struct ls_zip *zip = ls_bundle_keep_zip(b);
	int rc = ls_zip_parse(data, len, path, zip, err);
	for (size_t i = 0; rc == 0 && i < zip->n; i++) {
		rc = add_member(b, &zip->members[i], err);
		if (rc)
			ls_err_prefix(err, "%s", path);
	}
	return rc ? rc : ls_bundle_seal(b, path, err);
}

int ls_npz_open(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	struct ls_bundle *b = ls_bundle_new("npz");
	struct ls_map map;
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0)
		rc = ls_npz_parse(b, map.data, map.len, path, err);
	return ls_bundle_hand_take(b, rc, ret);
}
