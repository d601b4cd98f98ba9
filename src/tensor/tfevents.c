#include "tensor/tfevents.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/proto.h"

/* Numbers of fields in the messages Event, Summary.Value and TensorProto. */
enum { WALL_TIME = 1, STEP = 2, FILE_VERSION = 3, SUMMARY = 5 };
enum { VALUE = 1 };
enum { TAG = 1, SIMPLE_VALUE = 2, TENSOR = 8 };
enum { DTYPE = 1, SHAPE = 2, CONTENT = 4, FLOATS = 5, DOUBLES = 6 };
enum { DT_FLOAT = 1, DT_DOUBLE = 2 };

enum { TAG_LIMIT = 1 << 14, OTHER_LIMIT = 1 << 20 };

struct scalar {
	const uint8_t *tag;
	uint32_t tag_len;
	bool wide; /* binary64 */
	int64_t step;
	uint64_t bits;
	size_t order; /* in the file */
};

struct events {
	struct ls_bundle *b;
	struct scalar *items;
	size_t n, cap, others;
	const char *path;
	size_t at; /* of the event, for messages */
	struct ls_err *err;
};

static int wrong(const struct events *e, const char *what)
{
	return ls_err_set(e->err, LS_EINPUT, "%s: event at byte %zu: %s", e->path, e->at, what);
}

/* --- values --- */

/* A tensor without dimensions of one float or double, as TensorFlow 2 writes scalars. */
static bool scalar_of(const struct ls_field *tensor, struct scalar *ret)
{
	const uint8_t *p = tensor->data;
	size_t left = tensor->len, found = 0;
	uint64_t dtype = 0;
	struct ls_field f;
	while (left) {
		if (!ls_field_next(&p, &left, &f))
			return false;
		if (f.number == DTYPE && f.wire == LS_WIRE_VARINT) {
			dtype = f.value;
		} else if (f.number == SHAPE && f.wire == LS_WIRE_BYTES && f.len == 0) {
			continue;
		} else if (f.number == CONTENT || f.number == FLOATS || f.number == DOUBLES) {
			if (f.len != 4 && f.len != 8)
				return false;
			ret->bits = 0;
			memcpy(&ret->bits, f.data, f.len);
			found = f.len;
		} else {
			return false;
		}
	}
	ret->wide = dtype == DT_DOUBLE;
	return (dtype == DT_FLOAT && found == 4) || (dtype == DT_DOUBLE && found == 8);
}

/* Takes the name. */
static int add_bytes(struct events *e, char *name, const uint8_t *data, size_t len)
{
	if (++e->others > OTHER_LIMIT) {
		free(name);
		return wrong(e, "more values than a log has");
	}
	struct ls_value *v = ls_bundle_add_value(e->b, name, strlen(name), LS_VAL_BYTES);
	v->text = (const char *)data;
	v->len = len;
	free(name);
	return 0;
}

static int add_value(struct events *e, const struct ls_field *value, int64_t step)
{
	struct scalar s = {.step = step};
	const uint8_t *p = value->data;
	size_t left = value->len;
	bool is_scalar = false;
	struct ls_field f;
	while (left) {
		if (!ls_field_next(&p, &left, &f))
			return wrong(e, "a value that cannot be read");
		if (f.number == TAG && f.wire == LS_WIRE_BYTES) {
			s.tag = f.data;
			s.tag_len = f.len < TAG_LIMIT ? (uint32_t)f.len : TAG_LIMIT;
		} else if (f.number == SIMPLE_VALUE && f.wire == LS_WIRE_4) {
			is_scalar = true;
			s.bits = f.value;
		} else if (f.number == TENSOR && f.wire == LS_WIRE_BYTES) {
			is_scalar = scalar_of(&f, &s);
		}
	}
	if (s.tag && memchr(s.tag, 0, s.tag_len))
		return wrong(e, "a tag with a NUL in it");
	if (!is_scalar || !s.tag)
		return add_bytes(e,
				 ls_xasprintf("%.*s (step %" PRId64 ")", (int)s.tag_len,
					      s.tag ? (const char *)s.tag : "", step),
				 value->data, value->len);
	s.order = e->n;
	e->items = ls_grow(e->items, e->n, &e->cap, sizeof *e->items);
	e->items[e->n++] = s;
	return 0;
}

/* --- events --- */

static int add_summary(struct events *e, const struct ls_field *summary, int64_t step)
{
	const uint8_t *p = summary->data;
	size_t left = summary->len;
	int rc = 0;
	struct ls_field f;
	while (left && rc == 0) {
		if (!ls_field_next(&p, &left, &f))
			return wrong(e, "a summary that cannot be read");
		rc = f.number == VALUE && f.wire == LS_WIRE_BYTES
			     ? add_value(e, &f, step)
			     : add_bytes(e, ls_xasprintf("summary field %" PRIu64, f.number),
					 f.data, f.len);
	}
	return rc;
}

static int64_t step_of(const uint8_t *p, size_t left)
{
	struct ls_field f;
	while (left && ls_field_next(&p, &left, &f))
		if (f.number == STEP && f.wire == LS_WIRE_VARINT)
			return (int64_t)f.value;
	return 0;
}

static int add_event(struct events *e, const uint8_t *data, size_t len)
{
	const uint8_t *p = data;
	size_t left = len;
	int64_t step = step_of(data, len);
	int rc = 0;
	struct ls_field f;
	while (left && rc == 0) {
		if (!ls_field_next(&p, &left, &f))
			return wrong(e, "an event that cannot be read");
		if (f.number == SUMMARY && f.wire == LS_WIRE_BYTES)
			rc = add_summary(e, &f, step);
		else if (f.number != WALL_TIME && f.number != STEP)
			rc = add_bytes(e,
				       f.number == FILE_VERSION
					       ? ls_xstrdup("file_version")
					       : ls_xasprintf("event field %" PRIu64
							      " (step %" PRId64 ")",
							      f.number, step),
				       f.data, f.len);
	}
	return rc;
}

/* --- tensors --- */

static int by_tag(const void *x, const void *y)
{
	const struct scalar *a = x, *b = y;
	size_t n = a->tag_len < b->tag_len ? a->tag_len : b->tag_len;
	int order = memcmp(a->tag, b->tag, n);
	if (order == 0)
		order = (a->tag_len > b->tag_len) - (a->tag_len < b->tag_len);
	if (order == 0)
		order = a->wide - b->wide;
	return order ? order : (a->order > b->order) - (a->order < b->order);
}

static bool same_tag(const struct scalar *a, const struct scalar *b)
{
	return a->wide == b->wide && a->tag_len == b->tag_len &&
	       memcmp(a->tag, b->tag, a->tag_len) == 0;
}

static void add_tensor(struct ls_bundle *b, char *name_take, enum ls_dtype dtype, uint64_t n,
		       const void *data)
{
	struct ls_tensor *t = ls_bundle_add(b, name_take, strlen(name_take));
	t->dtype = dtype;
	t->elem_size = ls_dtype_bits(dtype) / 8;
	t->data = data;
	ls_tensor_set_contiguous(t, &n, 1, NULL);
	free(name_take);
}

/* The scalars of one tag, n of them. */
static void add_scalars(struct ls_bundle *b, const struct scalar *s, size_t n)
{
	size_t size = s->wide ? 8 : 4;
	uint8_t *values = ls_bundle_keep_take(b, ls_xalloc(n * size));
	int64_t *steps = ls_bundle_keep_take(b, ls_xalloc(n * sizeof *steps));
	for (size_t i = 0; i < n; i++) {
		memcpy(values + i * size, &s[i].bits, size);
		steps[i] = s[i].step;
	}
	const char *twin = s->wide ? " (float64)" : "";
	add_tensor(b, ls_xasprintf("%.*s%s", (int)s->tag_len, (const char *)s->tag, twin),
		   s->wide ? LS_DT_F64 : LS_DT_F32, n, values);
	add_tensor(b, ls_xasprintf("%.*s%s: steps", (int)s->tag_len, (const char *)s->tag, twin),
		   LS_DT_I64, n, steps);
}

static void add_tensors(struct events *e)
{
	if (e->n)
		qsort(e->items, e->n, sizeof *e->items, by_tag);
	for (size_t i = 0, end; i < e->n; i = end) {
		for (end = i + 1; end < e->n && same_tag(&e->items[i], &e->items[end]);)
			end++;
		add_scalars(e->b, &e->items[i], end - i);
	}
}

bool ls_tfevents_is(const uint8_t *data, size_t len)
{
	const uint8_t *event = NULL;
	size_t at = 0, n = 0;
	/* an event begins with its time, field 1 as a binary64 */
	return len >= 12 && len - 12 >= 9 && data[12] == 0x09 &&
	       ls_tfrecord_next(data, len, &at, &event, &n);
}

int ls_tfevents_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *path,
		      struct ls_err *err)
{
	struct events e = {.b = b, .path = path, .err = err};
	const uint8_t *event = NULL;
	size_t n = 0;
	int rc = 0;
	for (size_t at = 0; at < len && rc == 0;) {
		e.at = at;
		rc = ls_tfrecord_next(data, len, &at, &event, &n)
			     ? add_event(&e, event, n)
			     : wrong(&e, "a record that is damaged or cut short");
	}
	if (rc == 0)
		add_tensors(&e);
	free(e.items);
	return rc ? rc : ls_bundle_seal(b, path, err);
}

int ls_tfevents_open(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	struct ls_bundle *b = ls_bundle_new("TensorBoard");
	struct ls_map map;
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0)
		rc = ls_tfevents_parse(b, map.data, map.len, path, err);
	return ls_bundle_hand_take(b, rc, ret);
}
