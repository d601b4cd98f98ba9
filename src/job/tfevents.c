/* A record: length (8 bytes, little-endian), its checksum (4), the data, their checksum
 * (4). The data are an Event: 2 step, 5 summary; Summary: 1 value; Value: 1 tag, 2
 * simple_value, 8 tensor; TensorProto: 1 dtype, 4 tensor_content, 5 float_val, 6
 * double_val. */
#include "job/tfevents.h"

#include <inttypes.h>
#include <string.h>

#include "tensor/proto.h"

enum { HEAD = 12, TAIL = 4, DT_FLOAT = 1, DT_DOUBLE = 2 };

struct reader {
	const uint8_t *p;
	size_t left;
};

static struct reader inside(const struct ls_field *f)
{
	return (struct reader){f->data, f->len};
}

/* false: the message is damaged. */
static bool next(struct reader *r, struct ls_field *f)
{
	return ls_field_next(&r->p, &r->left, f);
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
static void take_bytes(struct scalar *s, const struct ls_field *f, size_t size)
{
	if (f->wire != LS_WIRE_BYTES)
		take(s, size == 4 ? float_of(f->value) : double_of(f->value));
	else if (f->len == size)
		take(s, size == 4 ? float_of(ls_little(f->data, 4))
				  : double_of(ls_little(f->data, 8)));
	else
		s->n += f->len != 0 ? 2 : 0; /* an array: no scalar */
}

static bool tensor(const struct ls_field *of, struct scalar *s)
{
	struct reader r = inside(of);
	struct ls_field f, content = {0};
	uint64_t dtype = 0;
	while (r.left) {
		if (!next(&r, &f))
			return false;
		if (f.number == 1 && f.wire == LS_WIRE_VARINT)
			dtype = f.value;
		else if (f.number == 4 && f.wire == LS_WIRE_BYTES)
			content = f;
		else if (f.number == 5 && (f.wire == LS_WIRE_BYTES || f.wire == LS_WIRE_4))
			take_bytes(s, &f, 4);
		else if (f.number == 6 && (f.wire == LS_WIRE_BYTES || f.wire == LS_WIRE_8))
			take_bytes(s, &f, 8);
	}
	if (content.data && (dtype == DT_FLOAT || dtype == DT_DOUBLE))
		take_bytes(s, &content, dtype == DT_FLOAT ? 4 : 8);
	return true;
}

static bool summary_value(const struct ls_field *of, struct scalar *s)
{
	struct reader r = inside(of);
	struct ls_field f;
	while (r.left) {
		if (!next(&r, &f))
			return false;
		if (f.number == 1 && f.wire == LS_WIRE_BYTES) {
			s->tag = f.data;
			s->tag_len = f.len;
		} else if (f.number == 2 && f.wire == LS_WIRE_4) {
			take(s, float_of(f.value));
		} else if (f.number == 8 && f.wire == LS_WIRE_BYTES && !tensor(&f, s)) {
			return false;
		}
	}
	return true;
}

static int summary(const struct ls_field *of, int64_t step, struct ls_points *p, struct ls_err *err)
{
	struct reader r = inside(of);
	struct ls_field f;
	while (r.left) {
		struct scalar s = {0};
		if (!next(&r, &f) ||
		    (f.number == 1 && f.wire == LS_WIRE_BYTES && !summary_value(&f, &s)))
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
	struct reader r = {data, len};
	struct ls_field f, what = {0};
	int64_t step = 0;
	while (r.left) {
		if (!next(&r, &f))
			return ls_err_set(err, LS_EINPUT, "a damaged event");
		if (f.number == 2 && f.wire == LS_WIRE_VARINT)
			step = (int64_t)f.value;
		else if (f.number == 5 && f.wire == LS_WIRE_BYTES)
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
		uint64_t size = ls_little(d, 8);
		if (ls_little(d + 8, 4) != ls_masked_crc(d, 8))
			return wrong(err, at, "a record's length");
		if (len - at < HEAD + TAIL || size > len - at - HEAD - TAIL)
			break;
		const uint8_t *body = d + HEAD;
		if (ls_little(body + size, 4) != ls_masked_crc(body, (size_t)size))
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
