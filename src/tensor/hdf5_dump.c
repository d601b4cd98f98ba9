#include "tensor/hdf5_dump.h"

#include <stdlib.h>

#include "tensor/bytes.h"

enum { NAME_LIMIT = 1 << 16, RECORD_LIMIT = 1 << 21 };

struct dump {
	struct ls_bundle *b;
	struct ls_bytes in;
	const uint8_t *file;
	size_t file_len;
	struct ls_err *err;
};

static int wrong(const struct dump *d)
{
	return ls_err_set(d->err, LS_EINPUT,
			  "libhdf5 said something about the file that cannot be (record at %zu)",
			  d->in.at);
}

static int read_text(struct dump *d, const char **ret, size_t *ret_len)
{
	uint32_t n = ls_bytes_u32(&d->in);
	const uint8_t *s = ls_bytes_take(&d->in, n);
	if (!s)
		return wrong(d);
	*ret = (const char *)s;
	*ret_len = n;
	return 0;
}

static int read_name(struct dump *d, const char **ret, size_t *ret_len)
{
	int rc = read_text(d, ret, ret_len);
	if (rc)
		return rc;
	return *ret && *ret_len <= NAME_LIMIT && !memchr(*ret, 0, *ret_len) ? 0 : wrong(d);
}

/* The bytes of a tensor: in the file itself, or behind the record. */
static const uint8_t *find_bytes(struct dump *d, uint64_t place, uint64_t n)
{
	if (place == LS_H5_NO_PLACE)
		return ls_bytes_take(&d->in, n);
	return place <= d->file_len && n <= d->file_len - place ? d->file + place : NULL;
}

static int read_tensor(struct dump *d)
{
	const char *name = NULL;
	size_t len = 0;
	uint64_t shape[LS_MAX_DIMS];
	int rc = read_name(d, &name, &len);
	if (rc)
		return rc;
	uint8_t dtype = ls_bytes_u8(&d->in), swapped = ls_bytes_u8(&d->in),
		ndim = ls_bytes_u8(&d->in);
	uint32_t size = ls_bytes_u32(&d->in);
	if (ndim > LS_MAX_DIMS || dtype == LS_DT_NONE || dtype >= LS_DT_COUNT || size == 0 ||
	    (ls_dtype_bits(dtype) && ls_dtype_bits(dtype) != size * 8))
		return wrong(d);
	for (size_t i = 0; i < ndim; i++)
		shape[i] = ls_bytes_u64(&d->in);
	uint64_t place = ls_bytes_u64(&d->in), n = ls_bytes_u64(&d->in);
	const uint8_t *data = d->in.bad ? NULL : find_bytes(d, place, n);
	if (!data)
		return wrong(d);
	struct ls_tensor *t = ls_bundle_add(d->b, name, len);
	t->dtype = dtype;
	t->elem_size = size;
	t->swapped = swapped;
	t->data = data;
	rc = ls_tensor_set_contiguous(t, shape, ndim, d->err);
	return rc ? rc : t->nbytes == n ? 0 : wrong(d);
}

static int read_value(struct dump *d)
{
	const char *name = NULL, *text = NULL;
	size_t len = 0, text_len = 0;
	int rc = read_name(d, &name, &len);
	if (rc)
		return rc;
	uint8_t kind = ls_bytes_u8(&d->in);
	uint64_t bits = ls_bytes_u64(&d->in);
	rc = read_text(d, &text, &text_len);
	if (rc)
		return rc;
	if (ls_bytes_u8(&d->in) || d->in.bad || kind > LS_VAL_UNREAD)
		return wrong(d);
	struct ls_value *v = ls_bundle_add_value(d->b, name, len, (enum ls_value_kind)kind);
	v->i = (int64_t)bits;
	memcpy(&v->real, &bits, sizeof v->real);
	if (kind == LS_VAL_STRING || kind == LS_VAL_OTHER || kind == LS_VAL_UNREAD) {
		v->text = text;
		v->len = text_len;
	}
	return 0;
}

static int read_trait(struct dump *d)
{
	const char *name = NULL, *text = NULL;
	size_t len = 0, text_len = 0;
	int rc = read_name(d, &name, &len);
	if (rc == 0)
		rc = read_name(d, &text, &text_len);
	if (rc)
		return rc;
	ls_bundle_add_trait(d->b, ls_bundle_text(d->b, name, len),
			    ls_bundle_text(d->b, text, text_len));
	return 0;
}

static int read_failure(struct dump *d)
{
	const char *text = NULL;
	size_t len = 0;
	uint8_t code = ls_bytes_u8(&d->in);
	int rc = read_text(d, &text, &len);
	if (rc)
		return rc;
	return ls_err_set(d->err, code == 1 ? LS_EUNKNOWN : LS_EINPUT, "%.*s",
			  (int)(len < 900 ? len : 900), text);
}

static int read_record(struct dump *d, bool *ret_end)
{
	switch (ls_bytes_u8(&d->in)) {
	case LS_H5_TENSOR:
		return read_tensor(d);
	case LS_H5_VALUE:
		return read_value(d);
	case LS_H5_TRAIT:
		return read_trait(d);
	case LS_H5_FAILED:
		return read_failure(d);
	case LS_H5_END:
		*ret_end = true;
		return 0;
	default:
		return wrong(d);
	}
}

int ls_h5_dump_read(struct ls_bundle *b, const uint8_t *file, size_t file_len, const uint8_t *dump,
		    size_t dump_len, struct ls_err *err)
{
	struct dump d = {.b = b, .in = {.data = dump, .len = dump_len}, .file = file};
	d.file_len = file_len;
	d.err = err;
	bool end = false;
	int rc = 0;
	for (size_t i = 0; rc == 0 && !end; i++)
		rc = i < RECORD_LIMIT ? read_record(&d, &end) : wrong(&d);
	return rc;
}
