/* TensorBoard's event files: records of length, checksum, event, checksum. An event is a protobuf
 * message of a time and, mostly, a summary: values with a tag each. */
#include <string.h>

#include "compare/own.h"

static uint64_t little(const uint8_t *p, int bytes)
{
	uint64_t v = 0;
	for (int i = bytes; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

/* CRC-32C, rotated and shifted as TensorFlow's records have it. */
static uint32_t masked_crc(const uint8_t *p, size_t n)
{
	uint32_t crc = ~0U;
	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78U : 0);
	}
	crc = ~crc;
	return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

/* The event at *at; moves on behind it. False when this is no record, or a damaged one. */
static bool next_event(const struct ls_map *m, size_t *at, const uint8_t **ret, size_t *ret_len)
{
	enum { HEAD = 12, TAIL = 4 };
	const uint8_t *p = m->data + *at;
	size_t left = m->len - *at;
	if (left < HEAD + TAIL || masked_crc(p, 8) != little(p + 8, 4))
		return false;
	uint64_t len = little(p, 8);
	if (len > left - HEAD - TAIL || masked_crc(p + HEAD, len) != little(p + HEAD + len, 4))
		return false;
	*ret = p + HEAD;
	*ret_len = len;
	*at += HEAD + len + TAIL;
	return true;
}

/* An event begins with its time, field 1 as a binary64. */
static bool is_timed(const struct ls_own_run *run, const uint8_t *event, size_t len)
{
	double time;
	if (len < 9 || event[0] != 0x09)
		return false;
	uint64_t bits = little(event + 1, 8);
	memcpy(&time, &bits, sizeof time);
	return time >= run->begin && time <= run->end;
}

/* --- protobuf --- */

struct field {
	uint64_t number;
	int wire; /* 0 varint, 1 eight bytes, 2 bytes with a length, 5 four bytes */
	const uint8_t *data;
	size_t len;
};

static bool varint(const uint8_t **p, size_t *left, uint64_t *ret)
{
	uint64_t v = 0;
	for (int shift = 0; *left && shift < 64; shift += 7) {
		uint8_t byte = *(*p)++;
		--*left;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

/* The next field of a message; moves on behind it. */
static bool next_field(const uint8_t **p, size_t *left, struct field *ret)
{
	uint64_t tag, len;
	if (!varint(p, left, &tag))
		return false;
	struct field f = {.number = tag >> 3, .wire = (int)(tag & 7), .data = *p};
	size_t before = *left;
	if (f.wire == 0) {
		if (!varint(p, left, &len))
			return false;
		f.len = before - *left;
		*ret = f;
		return true;
	}
	len = f.wire == 1 ? 8 : 4;
	if ((f.wire == 2 && !varint(p, left, &len)) || f.wire == 3 || f.wire == 4 || f.wire > 5 ||
	    len > *left)
		return false;
	f.data = *p;
	f.len = len;
	*p += len;
	*left -= len;
	*ret = f;
	return true;
}

/* --- summaries --- */

/* What is needed of a value: "eval/runtime", 0.25. */
struct value {
	const uint8_t *tag;
	size_t tag_len;
	const uint8_t *number; /* a binary32, or NULL */
};

static struct value read_value(const struct field *f)
{
	enum { TAG = 1, NUMBER = 2 };
	struct value v = {0};
	struct field part;
	const uint8_t *p = f->data;
	size_t left = f->len;
	while (left && next_field(&p, &left, &part)) {
		if (part.number == TAG && part.wire == 2) {
			v.tag = part.data;
			v.tag_len = part.len;
		} else if (part.number == NUMBER && part.wire == 5) {
			v.number = part.data;
		}
	}
	return v;
}

static double real(const uint8_t *p)
{
	uint32_t bits = (uint32_t)little(p, 4);
	float x;
	memcpy(&x, &bits, sizeof x);
	return (double)x;
}

/* Both measure a duration under the same tag, and nothing else is different. */
static bool same_measured(const struct ls_own *own, const struct field *a, const struct field *b)
{
	struct value x = read_value(a), y = read_value(b);
	if (a->len != b->len || !x.number || !y.number || !x.tag || !y.tag ||
	    x.tag_len != y.tag_len || memcmp(x.tag, y.tag, x.tag_len) != 0)
		return false;
	size_t at = (size_t)(x.number - a->data);
	const char *tag = (const char *)x.tag;
	return at == (size_t)(y.number - b->data) && memcmp(a->data, b->data, at) == 0 &&
	       memcmp(a->data + at + 4, b->data + at + 4, a->len - at - 4) == 0 &&
	       ls_own_measured(&own->a, tag, x.tag_len, real(x.number)) &&
	       ls_own_measured(&own->b, tag, y.tag_len, real(y.number));
}

enum { SUMMARY = 5, VALUE = 1 };

static bool same_value(const struct ls_own *own, const struct field *x, const struct field *y)
{
	return same_measured(own, x, y) || ls_own_same(own, "", x->data, x->len, y->data, y->len);
}

/* Two messages whose fields correspond one by one. inner: the field that same judges; the others
 * are texts or numbers. */
static bool
same_fields(const struct ls_own *own, const struct field *a, const struct field *b, uint64_t inner,
	    bool (*same)(const struct ls_own *own, const struct field *x, const struct field *y))
{
	const uint8_t *p = a->data, *q = b->data;
	size_t n = a->len, m = b->len;
	struct field x, y;
	while (n && m) {
		if (!next_field(&p, &n, &x) || !next_field(&q, &m, &y) || x.number != y.number ||
		    x.wire != y.wire)
			return false;
		if (x.number == inner && x.wire == 2
			    ? !same(own, &x, &y)
			    : !ls_own_same(own, "", x.data, x.len, y.data, y.len))
			return false;
	}
	return n == 0 && m == 0;
}

static bool same_summary(const struct ls_own *own, const struct field *x, const struct field *y)
{
	return same_fields(own, x, y, VALUE, same_value);
}

static bool same_event(const struct ls_own *own, const uint8_t *a, size_t n, const uint8_t *b,
		       size_t m)
{
	struct field x = {.data = a, .len = n}, y = {.data = b, .len = m};
	return same_fields(own, &x, &y, SUMMARY, same_summary);
}

bool ls_own_is_events(const struct ls_map *m)
{
	const uint8_t *event;
	size_t at = 0, len;
	return next_event(m, &at, &event, &len);
}

bool ls_own_same_events(const struct ls_own *own, const struct ls_map *a, const struct ls_map *b)
{
	const uint8_t *x, *y;
	size_t i = 0, j = 0, n, m;
	while (i < a->len && j < b->len)
		if (!next_event(a, &i, &x, &n) || !next_event(b, &j, &y, &m) ||
		    !is_timed(&own->a, x, n) || !is_timed(&own->b, y, m) ||
		    !same_event(own, x + 9, n - 9, y + 9, m - 9))
			return false;
	return i == a->len && j == b->len;
}
