#include "tensor/cursor.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/zip.h"

struct ls_cursor {
	const struct ls_tensor *t;
	uint64_t index[LS_MAX_DIMS]; /* of the next element */
	uint64_t done;               /* bytes given */
	struct ls_inflater *in;      /* packed tensors only */
	uint8_t *whole;              /* packed and strided: inflated first, as strides jump */
	struct ls_tensor unpacked;
};

bool ls_tensor_is_plain(const struct ls_tensor *t)
{
	return t->data && !t->swapped && !t->conjugated && !t->negated &&
	       ls_tensor_is_contiguous(t);
}

struct ls_cursor *ls_cursor_new(const struct ls_tensor *t)
{
	struct ls_cursor *c = ls_xalloc(sizeof *c);
	c->t = t;
	return c;
}

void ls_cursor_free(struct ls_cursor *c)
{
	if (!c)
		return;
	ls_inflater_free(c->in);
	free(c->whole);
	free(c);
}

static size_t swap_unit(const struct ls_tensor *t)
{
	if (t->dtype == LS_DT_C32 || t->dtype == LS_DT_C64 || t->dtype == LS_DT_C128)
		return t->elem_size / 2;
	return t->dtype == LS_DT_TEXT ? 4 : t->elem_size;
}

static void swap_bytes(uint8_t *p, size_t len, size_t unit)
{
	for (size_t at = 0; at + unit <= len; at += unit)
		for (size_t i = 0, j = unit - 1; i < j; i++, j--) {
			uint8_t x = p[at + i];
			p[at + i] = p[at + j];
			p[at + j] = x;
		}
}

/* Flips the sign of each number of a lazy view; of complex ones, of the parts that it
 * says. */
static void flip_signs(const struct ls_tensor *t, uint8_t *p, size_t len)
{
	size_t unit = swap_unit(t);
	bool complex = unit < t->elem_size;
	for (size_t at = 0; at + unit <= len; at += unit) {
		bool imaginary = complex && at / unit % 2;
		if (t->negated != (imaginary && t->conjugated))
			p[at + unit - 1] ^= 0x80;
	}
}

/* Copies n elements that lie step elements apart; the common sizes are worth a loop of
 * their own.
 */
static void gather(uint8_t *out, const uint8_t *in, uint64_t n, int64_t step, size_t size)
{
	int64_t stride = step * (int64_t)size;
	if (step == 1)
		memcpy(out, in, n * size);
	else if (size == 4)
		for (uint64_t i = 0; i < n; i++)
			memcpy(out + i * 4, in + (int64_t)i * stride, 4);
	else if (size == 8)
		for (uint64_t i = 0; i < n; i++)
			memcpy(out + i * 8, in + (int64_t)i * stride, 8);
	else
		for (uint64_t i = 0; i < n; i++)
			memcpy(out + i * size, in + (int64_t)i * stride, size);
}

/* Moves the index on by n elements of the last dimension, carrying into the outer
 * ones. */
static void advance(struct ls_cursor *c, uint64_t n)
{
	int d = c->t->ndim - 1;
	c->index[d] += n;
	while (d > 0 && c->index[d] == c->t->shape[d]) {
		c->index[d] = 0;
		c->index[--d]++;
	}
}

static void read_strided(struct ls_cursor *c, uint8_t *out, uint64_t elements)
{
	const struct ls_tensor *t = c->t;
	int last = t->ndim - 1;
	while (elements) {
		int64_t at = 0;
		for (int d = 0; d <= last; d++)
			at += (int64_t)c->index[d] * t->stride[d];
		uint64_t run = t->shape[last] - c->index[last];
		if (run > elements)
			run = elements;
		gather(out, t->data + at * (int64_t)t->elem_size, run, t->stride[last],
		       t->elem_size);
		out += run * t->elem_size;
		elements -= run;
		advance(c, run);
	}
}

/* Makes the inflater stand at element 0. A strided packed tensor (numpy's Fortran order)
 * is inflated as a whole. */
static int unpack(struct ls_cursor *c, struct ls_err *err)
{
	const struct ls_zip_member *m = c->t->packed;
	if (ls_tensor_is_contiguous(c->t)) {
		uint8_t skip[4096];
		c->in = ls_inflater_new(m);
		int rc = 0;
		for (uint64_t left = c->t->packed_skip; left && rc == 0;) {
			size_t n = left < sizeof skip ? (size_t)left : sizeof skip;
			rc = ls_inflater_read(c->in, skip, n, err);
			left -= n;
		}
		return rc;
	}
	int rc = ls_zip_extract(m, UINT64_C(16) << 30, &c->whole, err);
	if (rc)
		return rc;
	c->unpacked = *c->t;
	c->unpacked.data = c->whole + c->t->packed_skip;
	c->t = &c->unpacked;
	return 0;
}

int ls_cursor_read(struct ls_cursor *c, void *buf, size_t len, struct ls_err *err)
{
	if (len == 0)
		return 0;
	assert(len <= c->t->nbytes - c->done);
	if (!c->t->data && !c->in) {
		int rc = unpack(c, err);
		if (rc)
			return rc;
	}
	if (c->in) {
		int rc = ls_inflater_read(c->in, buf, len, err);
		if (rc)
			return rc;
	} else if (ls_tensor_is_contiguous(c->t)) {
		memcpy(buf, c->t->data + c->done, len);
	} else {
		read_strided(c, buf, len / c->t->elem_size);
	}
	c->done += len;
	if (c->t->swapped)
		swap_bytes(buf, len, swap_unit(c->t));
	if (c->t->conjugated || c->t->negated)
		flip_signs(c->t, buf, len);
	return 0;
}

int ls_bundle_fetch(struct ls_bundle *b, struct ls_tensor *t, uint64_t limit, struct ls_err *err)
{
	if (ls_tensor_is_plain(t))
		return 0;
	if (t->nbytes > limit)
		return ls_err_set(err, LS_EINPUT,
				  "tensor \"%.200s\": %" PRIu64 " bytes; at most %" PRIu64
				  " are read",
				  t->name, t->nbytes, limit);
	uint8_t *buf = ls_alloc_array(t->nbytes + 1, 1);
	if (!buf)
		return ls_err_set(err, LS_ENOMEM,
				  "tensor \"%.200s\": no memory for %" PRIu64 " bytes", t->name,
				  t->nbytes);
	struct ls_cursor *c = ls_cursor_new(t);
	int rc = ls_cursor_read(c, buf, t->nbytes, err);
	ls_cursor_free(c);
	if (rc) {
		free(buf);
		return rc;
	}
	uint64_t shape[LS_MAX_DIMS];
	memcpy(shape, t->shape, sizeof shape);
	ls_tensor_set_contiguous(t, shape, (size_t)t->ndim, NULL);
	t->data = ls_bundle_keep_take(b, buf);
	t->swapped = t->conjugated = t->negated = false;
	t->packed = NULL;
	return 0;
}
