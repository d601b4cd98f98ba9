/* Elements of an HDF5 file: types, datasets, attributes. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/hdf5_reader.h"

enum {
	SLAB = 4 << 20, /* bytes read at once */
	ATTRIBUTE_LIMIT = 64 << 20,
	TYPE_DEPTH = 16,
	DIMS = LS_MAX_DIMS,
};

/* How elements are told: as a tensor, as texts, as names of what they refer to, or
 * not. */
enum how { NUMBERS, TEXTS, VARIABLE_TEXTS, REFERENCES, UNREAD };

struct elements {
	enum how how;
	enum ls_dtype dtype;
	bool swapped;
	size_t size; /* bytes an element */
	int padding; /* of texts: what fills them up */
	int ndim;
	uint64_t dims[DIMS], count;
	bool nothing; /* a dataspace without elements */
};

/* --- types --- */

static enum ls_dtype integer_of(const struct ls_h5 *h, int64_t type)
{
	static const enum ls_dtype plain[] = {LS_DT_U8,  LS_DT_I8,  LS_DT_U16, LS_DT_I16,
					      LS_DT_U32, LS_DT_I32, LS_DT_U64, LS_DT_I64};
	size_t size = h->type_size(type);
	bool is_signed = h->type_sign(type) == 1;
	if (h->type_precision(type) != size * 8)
		return LS_DT_OPAQUE;
	for (size_t i = 0; i < 4; i++)
		if (size == (size_t)1 << i)
			return plain[2 * i + is_signed];
	return LS_DT_OPAQUE;
}

static enum ls_dtype float_of(const struct ls_h5 *h, int64_t type)
{
	size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
	size_t size = h->type_size(type);
	if (h->type_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) < 0 ||
	    mantissa != 0 || exponent != mantissa_bits || sign != 8 * size - 1)
		return LS_DT_OPAQUE;
	if (size == 2)
		return exponent_bits == 5   ? LS_DT_F16
		       : exponent_bits == 8 ? LS_DT_BF16
					    : LS_DT_OPAQUE;
	if (size == 4 && exponent_bits == 8)
		return LS_DT_F32;
	return size == 8 && exponent_bits == 11 ? LS_DT_F64 : LS_DT_OPAQUE;
}

/* h5py writes a complex number as a pair of "r" and "i". */
static enum ls_dtype compound_of(const struct ls_h5 *h, int64_t type, bool *ret_swapped)
{
	enum ls_dtype parts[2] = {LS_DT_NONE, LS_DT_NONE};
	size_t size = h->type_size(type);
	for (unsigned i = 0; i < 2 && h->type_n_members(type) == 2; i++) {
		char *name = h->type_member_name(type, i);
		int64_t member = h->type_member(type, i);
		if (name && strcmp(name, i ? "i" : "r") == 0 && member >= 0 &&
		    h->type_class(member) == LS_H5_FLOAT &&
		    h->type_member_offset(type, i) == i * size / 2) {
			parts[i] = float_of(h, member);
			*ret_swapped = h->type_order(member) == 1;
		}
		if (member >= 0)
			h->type_close(member);
		h->free_memory(name);
	}
	if (parts[0] != parts[1])
		return LS_DT_OPAQUE;
	return parts[0] == LS_DT_F64 && size == 16  ? LS_DT_C128
	       : parts[0] == LS_DT_F32 && size == 8 ? LS_DT_C64
	       : parts[0] == LS_DT_F16 && size == 4 ? LS_DT_C32
						    : LS_DT_OPAQUE;
}

/* Whether all of an element lies where it is, with nothing that points elsewhere. */
static bool is_flat(const struct ls_h5 *h, int64_t type, int depth)
{
	int class = h->type_class(type);
	if (depth == TYPE_DEPTH || class < 0 || class == LS_H5_VLEN || class == LS_H5_REFERENCE ||
	    class > LS_H5_ARRAY)
		return false;
	if (class == LS_H5_STRING)
		return h->type_is_variable(type) == 0;
	if (class != LS_H5_ARRAY && class != LS_H5_COMPOUND)
		return true;
	int n = class == LS_H5_ARRAY ? 1 : h->type_n_members(type);
	bool flat = n >= 0;
	for (int i = 0; i < n && flat; i++) {
		int64_t part = class == LS_H5_ARRAY ? h->type_super(type)
						    : h->type_member(type, (unsigned)i);
		flat = part >= 0 && is_flat(h, part, depth + 1);
		if (part >= 0)
			h->type_close(part);
	}
	return flat;
}

static void describe_type(const struct ls_h5 *h, int64_t type, struct elements *e)
{
	int class = h->type_class(type);
	e->size = h->type_size(type);
	e->dtype = LS_DT_OPAQUE;
	e->how = is_flat(h, type, 0) ? NUMBERS : UNREAD;
	e->swapped = h->type_order(type) == 1;
	if (class == LS_H5_STRING) {
		e->how = h->type_is_variable(type) ? VARIABLE_TEXTS : TEXTS;
		e->padding = h->type_padding(type);
	} else if (class == LS_H5_REFERENCE && e->size == 8 && h->reference_name) {
		e->how = REFERENCES;
	} else if (class == LS_H5_INTEGER) {
		e->dtype = integer_of(h, type);
	} else if (class == LS_H5_FLOAT) {
		e->dtype = float_of(h, type);
	} else if (class == LS_H5_COMPOUND) {
		e->dtype = compound_of(h, type, &e->swapped);
	} else if (class == LS_H5_ENUM) { /* h5py's bool is one */
		int64_t base = h->type_super(type);
		if (base >= 0) {
			e->dtype = integer_of(h, base);
			e->swapped = h->type_order(base) == 1;
			h->type_close(base);
		}
	}
	if (e->dtype == LS_DT_OPAQUE)
		e->swapped = false;
}

static int describe_space(struct ls_h5_reader *r, int64_t space, struct elements *e)
{
	const struct ls_h5 *h = &r->h5;
	int kind = h->space_kind(space);
	e->nothing = kind == LS_H5_SPACE_NULL;
	e->count = 1;
	if (kind == LS_H5_SPACE_SIMPLE) {
		e->ndim = h->space_ndims(space);
		if (e->ndim < 0 || e->ndim > DIMS || h->space_dims(space, e->dims, NULL) < 0)
			return ls_h5_fail(r, "a shape that cannot be read");
	}
	for (int i = 0; i < e->ndim; i++)
		if (__builtin_mul_overflow(e->count, e->dims[i], &e->count))
			return ls_h5_fail(r, "a shape larger than any memory");
	uint64_t bytes;
	if (e->size == 0 || e->size > UINT32_MAX ||
	    __builtin_mul_overflow(e->count, e->size, &bytes))
		return ls_h5_fail(r, "elements larger than any memory");
	return 0;
}

/* --- elements that are text --- */

static int put_text(struct ls_h5_reader *r, const char *s, size_t n, const struct elements *e)
{
	enum { NUL_ENDS = 0, SPACES = 2 };
	if (e->padding == NUL_ENDS)
		n = strnlen(s, n);
	while (n && (s[n - 1] == 0 || (e->padding == SPACES && s[n - 1] == ' ')))
		n--;
	return ls_h5_put_value(r, LS_VAL_STRING, 0, s, n);
}

static int put_reference(struct ls_h5_reader *r, int64_t at, const void *reference)
{
	static const uint8_t none[8];
	char text[1024] = "reference to ";
	size_t start = strlen(text);
	if (memcmp(reference, none, sizeof none) == 0)
		return ls_h5_put_value(r, LS_VAL_OTHER, 0, "no reference", 12);
	ssize_t n = r->h5.reference_name(at, 0, reference, text + start, sizeof text - start);
	if (n <= 0 || (size_t)n >= sizeof text - start)
		return ls_h5_put_value(r, LS_VAL_UNREAD, 0, "a reference without a name", 26);
	return ls_h5_put_value(r, LS_VAL_OTHER, 0, text, strlen(text));
}

/* One element of many gets its index as a name. */
static int put_element(struct ls_h5_reader *r, int64_t at, const struct elements *e, uint64_t index,
		       const uint8_t *p)
{
	size_t before = r->path.len;
	const char *s = NULL;
	if (e->ndim)
		ls_str_addf(&r->path, ".%llu", (unsigned long long)index);
	int rc;
	if (e->how == VARIABLE_TEXTS) {
		memcpy(&s, p, sizeof s);
		rc = s ? ls_h5_put_value(r, LS_VAL_STRING, 0, s, strlen(s))
		       : ls_h5_put_value(r, LS_VAL_NULL, 0, "", 0);
	} else if (e->how == TEXTS) {
		rc = put_text(r, (const char *)p, e->size, e);
	} else {
		rc = put_reference(r, at, p);
	}
	r->path.len = before;
	r->path.s[before] = 0;
	return rc;
}

static int put_elements(struct ls_h5_reader *r, int64_t at, const struct elements *e,
			uint64_t first, const uint8_t *p, uint64_t n)
{
	int rc = 0;
	for (uint64_t i = 0; i < n && rc == 0; i++)
		rc = put_element(r, at, e, first + i, p + i * e->size);
	return rc;
}

/* --- tensors --- */

static int put_tensor(struct ls_h5_reader *r, const struct elements *e, uint64_t place)
{
	putc(LS_H5_TENSOR, r->out);
	ls_h5_put_name(r);
	putc((int)e->dtype, r->out);
	putc(e->swapped, r->out);
	putc(e->ndim, r->out);
	ls_h5_put_number(r, e->size, 4);
	for (int i = 0; i < e->ndim; i++)
		ls_h5_put_number(r, e->dims[i], 8);
	ls_h5_put_number(r, place, 8);
	ls_h5_put_number(r, e->count * e->size, 8);
	return ls_h5_count(r);
}

/* Elements that are not in one piece in the file are read in slabs of whole rows along
 * the first dimension that has more than one. */
struct slabs {
	int64_t dataset, type;
	int axis;
	uint64_t rows, row_elements, step;
	uint64_t chunk[DIMS]; /* a chunk is unpacked whole, so a slab is not less */
};

static void plan_slabs(struct ls_h5_reader *r, const struct elements *e, int64_t plist,
		       struct slabs *s)
{
	while (s->axis < e->ndim && e->dims[s->axis] == 1)
		s->axis++;
	bool whole = s->axis >= e->ndim;
	s->rows = whole ? 1 : e->dims[s->axis];
	s->row_elements = s->rows ? e->count / s->rows : 0;
	uint64_t bytes = s->row_elements * e->size;
	s->step = bytes && bytes < SLAB ? SLAB / bytes : 1;
	if (!whole && r->h5.layout(plist) == LS_H5_CHUNKED &&
	    r->h5.chunk(plist, DIMS, s->chunk) == e->ndim && s->step < s->chunk[s->axis])
		s->step = s->chunk[s->axis];
	if (s->step > s->rows)
		s->step = s->rows;
}

static int read_slab(struct ls_h5_reader *r, const struct elements *e, const struct slabs *s,
		     uint64_t row, uint64_t n, void *buf)
{
	const struct ls_h5 *h = &r->h5;
	uint64_t start[DIMS] = {0}, count[DIMS];
	if (s->axis >= e->ndim)
		return h->dataset_read(s->dataset, s->type, 0, 0, 0, buf) < 0;
	memcpy(count, e->dims, sizeof count);
	start[s->axis] = row;
	count[s->axis] = n;
	int64_t file = h->dataset_space(s->dataset), memory = h->space_make(e->ndim, count, NULL);
	bool bad = file < 0 || memory < 0 ||
		   h->space_select(file, 0, start, NULL, count, NULL) < 0 ||
		   h->dataset_read(s->dataset, s->type, memory, file, 0, buf) < 0;
	if (!bad && e->how == VARIABLE_TEXTS) {
		bad = put_elements(r, s->dataset, e, row * s->row_elements, buf,
				   n * s->row_elements) != 0;
		h->vlen_reclaim(s->type, memory, 0, buf);
	}
	h->space_close(file);
	h->space_close(memory);
	return bad;
}

static int read_slabs(struct ls_h5_reader *r, const struct elements *e, const struct slabs *s)
{
	uint8_t *buf = ls_alloc_array(s->step * s->row_elements, e->size);
	int rc = buf ? 0 : ls_h5_fail(r, "no memory for its rows");
	for (uint64_t row = 0; buf && row < s->rows && rc == 0; row += s->step) {
		uint64_t n = s->rows - row < s->step ? s->rows - row : s->step;
		memset(buf, 0, n * s->row_elements * e->size); /* reading may leave holes */
		if (read_slab(r, e, s, row, n, buf))
			rc = r->failed ? 1 : ls_h5_fail(r, "its elements cannot be read");
		else if (e->how == NUMBERS)
			fwrite(buf, e->size, n * s->row_elements, r->out);
		else if (e->how != VARIABLE_TEXTS)
			rc = put_elements(r, s->dataset, e, row * s->row_elements, buf,
					  n * s->row_elements);
		else if (s->axis >= e->ndim)
			rc = put_elements(r, s->dataset, e, 0, buf, n * s->row_elements);
	}
	free(buf);
	return rc;
}

/* A filter that the library does not have, as one from a plugin. */
static bool has_filters(const struct ls_h5 *h, int64_t plist)
{
	int n = h->n_filters(plist);
	for (int i = 0; i < n; i++) {
		unsigned flags = 0, config = 0;
		size_t values = 0;
		char name[1] = "";
		int id = h->filter(plist, (unsigned)i, &flags, &values, NULL, sizeof name, name,
				   &config);
		if (id < 0 || h->filter_there(id) <= 0)
			return false;
	}
	return n >= 0;
}

static int read_elements(struct ls_h5_reader *r, int64_t dataset, int64_t type, int64_t plist,
			 const struct elements *e)
{
	const struct ls_h5 *h = &r->h5;
	int layout = h->layout(plist);
	if (layout == LS_H5_VIRTUAL || h->external_count(plist) > 0)
		return ls_h5_put_value(r, LS_VAL_UNREAD, 0, "elements in other files", 23);
	if (!has_filters(h, plist))
		return ls_h5_put_value(r, LS_VAL_UNREAD, 0,
				       "elements behind a filter that is not "
				       "here",
				       41);
	uint64_t place = LS_H5_NO_PLACE, bytes = e->count * e->size;
	if (layout == LS_H5_CONTIGUOUS && e->how == NUMBERS && h->n_filters(plist) == 0 &&
	    h->dataset_stored(dataset) == bytes)
		place = h->dataset_offset(dataset);
	if (place == LS_H5_NO_PLACE && bytes > r->budget)
		return ls_h5_fail(r, "unpacks to far more than the file holds: refused");
	int rc = e->how == NUMBERS ? put_tensor(r, e, place) : 0;
	if (rc || place != LS_H5_NO_PLACE || e->count == 0)
		return rc;
	r->budget -= bytes;
	struct slabs s = {.dataset = dataset, .type = type};
	plan_slabs(r, e, plist, &s);
	return read_slabs(r, e, &s);
}

/* What has no elements is told all the same. */
static int put_nothing(struct ls_h5_reader *r, const struct elements *e)
{
	char text[100];
	snprintf(text, sizeof text, "no elements of %s%s", ls_dtype_name(e->dtype),
		 e->how == NUMBERS ? "" : " text");
	return ls_h5_put_value(r, LS_VAL_OTHER, 0, text, strlen(text));
}

static int put_kind(struct ls_h5_reader *r, const struct elements *e)
{
	char text[64];
	if (e->how == UNREAD)
		return ls_h5_put_value(r, LS_VAL_UNREAD, 0, "elements of a type that is not read",
				       35);
	if (e->nothing || (e->count == 0 && e->how != NUMBERS))
		return put_nothing(r, e);
	if (e->how == NUMBERS || e->ndim == 0)
		return 0;
	snprintf(text, sizeof text, "%llu elements in %d dimensions", (unsigned long long)e->count,
		 e->ndim);
	return ls_h5_put_trait(r, text);
}

static bool is_done(const struct elements *e)
{
	return e->how == UNREAD || e->nothing || (e->count == 0 && e->how != NUMBERS);
}

static int describe(struct ls_h5_reader *r, int64_t type, int64_t space, struct elements *e)
{
	describe_type(&r->h5, type, e);
	int rc = describe_space(r, space, e);
	return rc ? rc : put_kind(r, e);
}

int ls_h5_dataset(struct ls_h5_reader *r, int64_t dataset)
{
	const struct ls_h5 *h = &r->h5;
	struct elements e = {0};
	int64_t type = h->dataset_type(dataset), space = h->dataset_space(dataset),
		plist = h->dataset_plist(dataset);
	int rc = 0;
	if (type < 0 || space < 0 || plist < 0) {
		rc = ls_h5_fail(r, "a dataset that cannot be read");
	} else {
		rc = describe(r, type, space, &e);
		if (rc == 0 && !is_done(&e))
			rc = read_elements(r, dataset, type, plist, &e);
	}
	if (plist >= 0)
		h->plist_close(plist);
	if (space >= 0)
		h->space_close(space);
	if (type >= 0)
		h->type_close(type);
	return rc;
}

/* --- attributes --- */

/* A single number is a value, whose type is told beside it. */
static int put_scalar(struct ls_h5_reader *r, const struct elements *e, const uint8_t *p)
{
	uint64_t bits = 0;
	double real = 0;
	for (size_t i = 0; i < e->size; i++)
		bits |= (uint64_t)p[e->swapped ? e->size - 1 - i : i] << 8 * i;
	ls_h5_put_trait(r, ls_dtype_name(e->dtype));
	if (e->dtype == LS_DT_F64)
		return ls_h5_put_value(r, LS_VAL_REAL, bits, "", 0);
	if (e->dtype == LS_DT_F32) {
		float f;
		uint32_t low = (uint32_t)bits;
		memcpy(&f, &low, sizeof f);
		real = f;
		memcpy(&bits, &real, sizeof bits);
		return ls_h5_put_value(r, LS_VAL_REAL, bits, "", 0);
	}
	bool is_signed = e->dtype == LS_DT_I8 || e->dtype == LS_DT_I16 || e->dtype == LS_DT_I32;
	if (is_signed && bits >> (e->size * 8 - 1))
		bits |= UINT64_MAX << (e->size * 8 - 1);
	return ls_h5_put_value(r, LS_VAL_INT, bits, "", 0);
}

static bool is_scalar(const struct elements *e)
{
	return e->ndim == 0 &&
	       (e->dtype == LS_DT_F64 || e->dtype == LS_DT_F32 ||
		(e->dtype >= LS_DT_U8 && e->dtype <= LS_DT_I64 && e->dtype != LS_DT_U64));
}

static int put_attribute(struct ls_h5_reader *r, int64_t attribute, const struct elements *e,
			 const uint8_t *p)
{
	if (e->how != NUMBERS)
		return put_elements(r, attribute, e, 0, p, e->count);
	if (is_scalar(e))
		return put_scalar(r, e, p);
	int rc = put_tensor(r, e, LS_H5_NO_PLACE);
	fwrite(p, e->size, e->count, r->out);
	return rc;
}

static int read_attribute(struct ls_h5_reader *r, int64_t attribute, int64_t type, int64_t space,
			  const struct elements *e)
{
	if (e->count > ATTRIBUTE_LIMIT / e->size)
		return ls_h5_fail(r, "an attribute larger than any that is read");
	uint8_t *buf = ls_xalloc(e->count * e->size + 1);
	int rc = e->count && r->h5.attribute_read(attribute, type, buf) < 0
			 ? ls_h5_fail(r, "an attribute that cannot be read")
			 : put_attribute(r, attribute, e, buf);
	if (e->how == VARIABLE_TEXTS && !r->failed)
		r->h5.vlen_reclaim(type, space, 0, buf);
	free(buf);
	return rc;
}

int ls_h5_attribute(struct ls_h5_reader *r, int64_t attribute)
{
	const struct ls_h5 *h = &r->h5;
	struct elements e = {0};
	int64_t type = h->attribute_type(attribute), space = h->attribute_space(attribute);
	int rc = 0;
	if (type < 0 || space < 0) {
		rc = ls_h5_fail(r, "an attribute that cannot be read");
	} else {
		rc = describe(r, type, space, &e);
		if (rc == 0 && !is_done(&e))
			rc = read_attribute(r, attribute, type, space, &e);
	}
	if (space >= 0)
		h->space_close(space);
	if (type >= 0)
		h->type_close(type);
	return rc;
}
