/* A record: length (8 bytes, little-endian), its checksum (4), the data, their checksum (4). The
 * data are an Event: 2 step, 5 summary; Summary: 1 value; Value: 1 tag, 2 simple_value, 8 tensor;
 * TensorProto: 1 dtype, 4 tensor_content, 5 float_val, 6 double_val. */
#include "job/tfevents.h"

#include <inttypes.h>
#include <string.h>

enum { HEAD = 12, TAIL = 4, DT_FLOAT = 1, DT_DOUBLE = 2 };

/* --- records --- */

uint32_t ls_tfevents_checksum(const uint8_t *data, size_t len)
{
	static const uint32_t nibble[16] = {/* of the polynomial 0x82f63b78, four bits at a time */
					    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
					    0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
					    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
					    0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
	uint32_t c = ~0u;
	for (size_t i = 0; i < len; i++) {
		c ^= data[i];
		c = c >> 4 ^ nibble[c & 15];
		c = c >> 4 ^ nibble[c & 15];
	}
	c = ~c;
	return (c >> 15 | c << 17) + 0xa282ead8u;
}

static uint64_t little(const uint8_t *p, int bytes)
{
	uint64_t v = 0;
	for (int i = bytes; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

/* --- protocol buffers --- */

struct field {
	uint64_t number, type, value; /* value: of a varint, or of 4 or 8 fixed bytes */
	const uint8_t *data;          /* of type 2 */
	size_t len;
};

struct reader {
	const uint8_t *p, *end;
};

static bool varint(struct reader *r, uint64_t *ret)
{
	uint64_t v = 0;
	for (int shift = 0; shift < 70 && r->p < r->end; shift += 7) {
		uint8_t b = *r->p++;
		v |= shift < 64 ? (uint64_t)(b & 0x7f) << shift : 0;
		if (!(b & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

static bool fixed(struct reader *r, int bytes, uint64_t *ret)
{
	if (r->end - r->p < bytes)
		return false;
	*ret = little(r->p, bytes);
	r->p += bytes;
	return true;
}

static bool bytes_of(struct reader *r, struct field *f)
{
	uint64_t len = 0;
	if (!varint(r, &len) || len > (uint64_t)(r->end - r->p))
		return false;
	f->data = r->p;
	f->len = (size_t)len;
	r->p += len;
	return true;
}

/* false: the message is damaged. */
static bool next(struct reader *r, struct field *f)
{
	uint64_t key = 0;
	*f = (struct field){0};
	if (!varint(r, &key))
		return false;
	f->number = key >> 3;
	f->type = key & 7;
	switch (f->type) {
	case 0:
		return varint(r, &f->value);
	case 1:
		return fixed(r, 8, &f->value);
	case 2:
		return bytes_of(r, f);
	case 5:
		return fixed(r, 4, &f->value);
	default:
		return false;
	}
}

static double float_of(uint64_t bits)
{
	uint32_t b = (uint32_t)bits;
	float v;
	memcpy(&v, &b, sizeof v);
	return (double)v;
}

static double double_of(uint64_t bits)
{
	double v;
	memcpy(&v, &bits, sizeof v);
	return v;
}

/* --- events --- */

struct scalar {
	const uint8_t *tag;
	size_t tag_len;
	int n; /* values that were found; a scalar has one */
	double value;
};

static void take(struct scalar *s, double value)
{
	s->n++;
	s->value = value;
}

/* One number in raw or packed bytes. */
static void take_bytes(struct scalar *s, const struct field *f, size_t size)
{
	if (f->type != 2)
		take(s, size == 4 ? float_of(f->value) : double_of(f->value));
	else if (f->len == size)
		take(s, size == 4 ? float_of(little(f->data, 4)) : double_of(little(f->data, 8)));
	else
		s->n += f->len != 0 ? 2 : 0; /* an array: no scalar */
}

static bool tensor(const struct field *of, struct scalar *s)
{
	struct reader r = {of->data, of->data + of->len};
	struct field f, content = {0};
	uint64_t dtype = 0;
	while (r.p < r.end) {
		if (!next(&r, &f))
			return false;
		if (f.number == 1 && f.type == 0)
			dtype = f.value;
		else if (f.number == 4 && f.type == 2)
			content = f;
		else if (f.number == 5 && (f.type == 2 || f.type == 5))
			take_bytes(s, &f, 4);
		else if (f.number == 6 && (f.type == 2 || f.type == 1))
			take_bytes(s, &f, 8);
	}
	if (content.data && (dtype == DT_FLOAT || dtype == DT_DOUBLE))
		take_bytes(s, &content, dtype == DT_FLOAT ? 4 : 8);
	return true;
}

static bool summary_value(const struct field *of, struct scalar *s)
{
	struct reader r = {of->data, of->data + of->len};
	struct field f;
	while (r.p < r.end) {
		if (!next(&r, &f))
			return false;
		if (f.number == 1 && f.type == 2) {
			s->tag = f.data;
			s->tag_len = f.len;
		} else if (f.number == 2 && f.type == 5) {
			take(s, float_of(f.value));
		} else if (f.number == 8 && f.type == 2 && !tensor(&f, s)) {
			return false;
		}
	}
	return true;
}

static int summary(const struct field *of, int64_t step, struct ls_points *p, struct ls_err *err)
{
	struct reader r = {of->data, of->data + of->len};
	struct field f;
	while (r.p < r.end) {
		struct scalar s = {0};
		if (!next(&r, &f) || (f.number == 1 && f.type == 2 && !summary_value(&f, &s)))
			return ls_err_set(err, LS_EINPUT, "a damaged summary");
		int rc = s.n == 1 && s.tag_len ? ls_points_add(p, (const char *)s.tag, s.tag_len,
							       step, s.value, err)
					       : 0;
		if (rc)
			return rc;
	}
	return 0;
}

static int event(const uint8_t *data, size_t len, struct ls_points *p, struct ls_err *err)
{
	struct reader r = {data, data + len};
	struct field f, what = {0};
	int64_t step = 0;
	while (r.p < r.end) {
		if (!next(&r, &f))
			return ls_err_set(err, LS_EINPUT, "a damaged event");
		if (f.number == 2 && f.type == 0)
			step = (int64_t)f.value;
		else if (f.number == 5 && f.type == 2)
			what = f;
	}
	return what.data ? summary(&what, step, p, err) : 0;
}

static int wrong(struct ls_err *err, size_t at, const char *what)
{
	return ls_err_set(err, LS_EINPUT, "byte %zu: the checksum of %s is wrong", at, what);
}

int ls_tfevents_read(const uint8_t *data, size_t len, struct ls_points *p, size_t *ret_whole,
		     struct ls_err *err)
{
	size_t at = 0;
	while (len - at >= HEAD) {
		const uint8_t *d = data + at;
		uint64_t size = little(d, 8);
		if (little(d + 8, 4) != ls_tfevents_checksum(d, 8))
			return wrong(err, at, "a record's length");
		if (len - at < HEAD + TAIL || size > len - at - HEAD - TAIL)
			break;
		const uint8_t *body = d + HEAD;
		if (little(body + size, 4) != ls_tfevents_checksum(body, (size_t)size))
			return wrong(err, at, "a record");
		int rc = event(body, (size_t)size, p, err);
		if (rc) {
			ls_err_prefix(err, "byte %zu", at);
			return rc;
		}
		at += HEAD + (size_t)size + TAIL;
	}
	*ret_whole = at;
	return 0;
}
