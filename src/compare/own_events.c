/* TensorBoard's event files: records of length, checksum, event, checksum. An event is a
 * protobuf message of a time and, mostly, a summary: values with a tag each. */
#include <string.h>

#include "compare/own.h"
#include "tensor/proto.h"

/* The event at *at; moves on behind it. False when this is no record, or a damaged
 * one. */
static bool next_event(const struct ls_map *m, size_t *at, const uint8_t **ret, size_t *ret_len)
{
	return ls_tfrecord_next(m->data, m->len, at, ret, ret_len);
}

/* An event begins with its time, field 1 as a binary64. */
static bool is_timed(const struct ls_own_run *run, const uint8_t *event, size_t len)
{
	double time;
	if (len < 9 || event[0] != 0x09)
		return false;
	memcpy(&time, event + 1, sizeof time);
	return time >= run->begin && time <= run->end;
}

/* --- summaries --- */

/* What is needed of a value: "eval/runtime", 0.25. */
struct value {
	const uint8_t *tag;
	size_t tag_len;
	const uint8_t *number; /* a binary32, or NULL */
};

static struct value read_value(const struct ls_field *f)
{
	enum { TAG = 1, NUMBER = 2 };
	struct value v = {0};
	struct ls_field part;
	const uint8_t *p = f->data;
	size_t left = f->len;
	while (left && ls_field_next(&p, &left, &part)) {
		if (part.number == TAG && part.wire == LS_WIRE_BYTES) {
			v.tag = part.data;
			v.tag_len = part.len;
		} else if (part.number == NUMBER && part.wire == LS_WIRE_4) {
			v.number = part.data;
		}
	}
	return v;
}

static double real(const uint8_t *p)
{
	float x;
	memcpy(&x, p, sizeof x);
	return (double)x;
}

/* Both measure a duration under the same tag, and nothing else is different. */
static bool same_measured(const struct ls_own *own, const struct ls_field *a,
			  const struct ls_field *b)
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

/* Two messages whose fields correspond one by one. inner: the field that same judges; the
 * others are texts or numbers. */
static bool same_fields(const struct ls_own *own, const struct ls_field *a,
			const struct ls_field *b, uint64_t inner,
			bool (*same)(const struct ls_own *own, const struct ls_field *x,
				     const struct ls_field *y))
{
	const uint8_t *p = a->data, *q = b->data;
	size_t n = a->len, m = b->len;
	struct ls_field x, y;
	while (n && m) {
		if (!ls_field_next(&p, &n, &x) || !ls_field_next(&q, &m, &y) ||
		    x.number != y.number || x.wire != y.wire)
			return false;
		if (x.number == inner && x.wire == LS_WIRE_BYTES
			    ? !same(own, &x, &y)
			    : !ls_own_same(own, "", x.data, x.len, y.data, y.len))
			return false;
	}
	return n == 0 && m == 0;
}

/* --- hyperparameters --- */

static bool same_bytes(const struct ls_field *x, const struct ls_field *y)
{
	return x->number == y->number && x->wire == y->wire && x->len == y->len &&
	       memcmp(x->data, y->data, x->len) == 0;
}

/* How many fields of the message are the same as f. */
static size_t occurrences(const struct ls_field *message, const struct ls_field *f)
{
	const uint8_t *p = message->data;
	size_t left = message->len, n = 0;
	struct ls_field g;
	while (left && ls_field_next(&p, &left, &g))
		n += same_bytes(f, &g);
	return n;
}

enum { ENTRIES_MAX = 1000 };

/* Both messages have the same fields. A map's entries are among them, which protobuf
 * writes in an order that changes from process to process. */
static bool same_entries(const struct ls_own *own, const struct ls_field *x,
			 const struct ls_field *y)
{
	(void)own;
	const uint8_t *p = x->data;
	size_t left = x->len, n = 0;
	struct ls_field f;
	if (x->len != y->len)
		return false;
	for (; left; n++)
		if (n == ENTRIES_MAX || !ls_field_next(&p, &left, &f) ||
		    occurrences(x, &f) != occurrences(y, &f))
			return false;
	return true;
}

/* The way to the map: a value's metadata (9) of a plugin (1), its content (2), what is
 * said of the session (3). */
static bool same_content(const struct ls_own *own, const struct ls_field *x,
			 const struct ls_field *y)
{
	return same_fields(own, x, y, 3, same_entries);
}

static bool same_plugin(const struct ls_own *own, const struct ls_field *x,
			const struct ls_field *y)
{
	return same_fields(own, x, y, 2, same_content);
}

static bool same_metadata(const struct ls_own *own, const struct ls_field *x,
			  const struct ls_field *y)
{
	return same_fields(own, x, y, 1, same_plugin);
}

static bool is_session(const struct ls_field *f)
{
	static const char tag[] = "_hparams_/session_start_info";
	struct value v = read_value(f);
	return v.tag_len == sizeof tag - 1 && memcmp(v.tag, tag, v.tag_len) == 0;
}

static bool same_value(const struct ls_own *own, const struct ls_field *x, const struct ls_field *y)
{
	if (is_session(x) && is_session(y) && same_fields(own, x, y, 9, same_metadata))
		return true;
	return same_measured(own, x, y) || ls_own_same(own, "", x->data, x->len, y->data, y->len);
}

static bool same_summary(const struct ls_own *own, const struct ls_field *x,
			 const struct ls_field *y)
{
	return same_fields(own, x, y, VALUE, same_value);
}

static bool same_event(const struct ls_own *own, const uint8_t *a, size_t n, const uint8_t *b,
		       size_t m)
{
	struct ls_field x = {.data = a, .len = n}, y = {.data = b, .len = m};
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
