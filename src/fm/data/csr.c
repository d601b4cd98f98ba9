#include "fm/data/csr.h"

#include <float.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/npy.h"

enum { NO_LIMIT = -1, INTEGER_TEXT = 24 };

bool ls_csr_is_integer(enum ls_dtype t)
{
	return t >= LS_DT_BOOL && t <= LS_DT_I64;
}

int64_t ls_csr_integer(const struct ls_tensor *t, uint64_t i)
{
	const uint8_t *p = t->data + i * t->elem_size;
	uint64_t raw = 0;
	memcpy(&raw, p, t->elem_size);
	switch (t->dtype) {
	case LS_DT_I8:
		return (int8_t)raw;
	case LS_DT_I16:
		return (int16_t)raw;
	case LS_DT_I32:
		return (int32_t)raw;
	default:
		return (int64_t)raw;
	}
}

/* Element i for a message: also of what integer_at makes negative. */
static const char *integer_text(const struct ls_tensor *t, uint64_t i, char ret[INTEGER_TEXT])
{
	int64_t v = ls_csr_integer(t, i);
	if (t->dtype == LS_DT_U64)
		snprintf(ret, INTEGER_TEXT, "%llu", (unsigned long long)v);
	else
		snprintf(ret, INTEGER_TEXT, "%lld", (long long)v);
	return ret;
}

/* Element i as binary32: one rounding from whatever the file holds. */
static float float_at(const struct ls_tensor *t, uint64_t i)
{
	const uint8_t *p = t->data + i * t->elem_size;
	if (t->dtype == LS_DT_F32) {
		float x;
		memcpy(&x, p, sizeof x);
		return x;
	}
	if (t->dtype == LS_DT_F64) {
		double x;
		memcpy(&x, p, sizeof x);
		/* beyond the range: infinity, which every caller refuses */
		return (float)x;
	}
	if (t->dtype == LS_DT_U64) {
		uint64_t x;
		memcpy(&x, p, sizeof x);
		return (float)x;
	}
	return (float)ls_csr_integer(t, i);
}

bool ls_csr_is_number(enum ls_dtype t)
{
	return ls_csr_is_integer(t) || t == LS_DT_F32 || t == LS_DT_F64;
}

static int need(struct ls_bundle *b, const char *path, const char *name, struct ls_tensor **ret,
		struct ls_err *err)
{
	struct ls_tensor *t = ls_bundle_find(b, name);
	if (!t) {
		ls_err_set(err, LS_EINPUT,
			   "%s: no array \"%s\": not written by scipy.sparse.save_npz?", path,
			   name);
		return LS_EINPUT;
	}
	int rc = ls_bundle_fetch(b, t, (uint64_t)NO_LIMIT, err);
	if (rc) {
		ls_err_prefix(err, "%s", path);
		return rc;
	}
	*ret = t;
	return 0;
}

static int need_vector(struct ls_bundle *b, const char *path, const char *name, bool integers,
		       struct ls_tensor **ret, struct ls_err *err)
{
	struct ls_tensor *t = NULL;
	int rc = need(b, path, name, &t, err);
	if (rc)
		return rc;
	if (!(integers ? ls_csr_is_integer(t->dtype) : ls_csr_is_number(t->dtype)))
		return ls_err_set(err, LS_EINPUT, "%s: array \"%s\" holds %s; it should hold %s",
				  path, name, ls_dtype_name(t->dtype),
				  integers ? "integers" : "bool, integers, float32 or float64");
	if (t->ndim != 1)
		return ls_err_set(err, LS_EINPUT, "%s: array \"%s\" has %d dimensions, not one",
				  path, name, t->ndim);
	*ret = t;
	return 0;
}

/* The format's name is stored as bytes, or as text by some versions. */
static int check_format(struct ls_bundle *b, const char *path, struct ls_err *err)
{
	struct ls_tensor *t = NULL;
	char name[8] = "";
	int rc = need(b, path, "format", &t, err);
	if (rc)
		return rc;
	size_t step = t->dtype == LS_DT_TEXT ? 4 : 1;
	for (size_t i = 0; i < sizeof name - 1 && i * step < t->nbytes; i++)
		name[i] = (char)t->data[i * step];
	if (strcmp(name, "csr") != 0)
		return ls_err_set(err, LS_EINPUT,
				  "%s: a sparse matrix in format \"%s\"; save m.tocsr()", path,
				  name);
	return 0;
}

static int check_shape(struct ls_bundle *b, const char *path, uint64_t n_rows,
		       uint64_t *ret_columns, struct ls_err *err)
{
	struct ls_tensor *t = NULL;
	int rc = need_vector(b, path, "shape", true, &t, err);
	if (rc)
		return rc;
	if (ls_tensor_count(t) != 2 || ls_csr_integer(t, 0) < 0 || ls_csr_integer(t, 1) < 0 ||
	    (uint64_t)ls_csr_integer(t, 0) != n_rows)
		return ls_err_set(err, LS_EINPUT, "%s: the shape does not agree with the arrays",
				  path);
	*ret_columns = (uint64_t)ls_csr_integer(t, 1);
	return 0;
}

static int no_memory(const char *path, struct ls_err *err)
{
	return ls_err_set(err, LS_ENOMEM, "%s: no memory for its rows", path);
}

int ls_csr_fill_start(const struct ls_tensor *t, const char *path, struct ls_csr *c,
		      struct ls_err *err)
{
	uint64_t n = ls_tensor_count(t);
	char text[INTEGER_TEXT];
	if (n == 0)
		return ls_err_set(err, LS_EINPUT, "%s: array \"indptr\" is empty", path);
	c->n_rows = n - 1;
	c->start = ls_alloc_array(n, sizeof *c->start);
	if (!c->start)
		return no_memory(path, err);
	for (uint64_t i = 0; i < n; i++) {
		int64_t v = ls_csr_integer(t, i);
		bool ok = i ? v >= (int64_t)c->start[i - 1] : v == 0;
		if (!ok || (uint64_t)v > c->n_entries)
			return ls_err_set(err, LS_EINPUT,
					  "%s: indptr[%llu] is %s: not ascending from 0 to %llu",
					  path, (unsigned long long)i, integer_text(t, i, text),
					  (unsigned long long)c->n_entries);
		c->start[i] = (uint64_t)v;
	}
	if (c->start[n - 1] != c->n_entries)
		return ls_err_set(
			err, LS_EINPUT, "%s: indptr ends at %llu, but there are %llu entries", path,
			(unsigned long long)c->start[n - 1], (unsigned long long)c->n_entries);
	return 0;
}

static int bad_column(const struct ls_tensor *t, uint64_t i, const char *path, uint64_t columns,
		      struct ls_err *err)
{
	char text[INTEGER_TEXT];
	integer_text(t, i, text);
	if (columns == 0)
		return ls_err_set(err, LS_EINPUT,
				  "%s: indices[%llu] is %s: the matrix has no columns", path,
				  (unsigned long long)i, text);
	return ls_err_set(err, LS_EINPUT, "%s: indices[%llu] is %s: not a column from 0 to %llu",
			  path, (unsigned long long)i, text,
			  (unsigned long long)(columns <= UINT32_MAX ? columns - 1 : UINT32_MAX));
}

int ls_csr_fill_features(const struct ls_tensor *t, const char *path, uint64_t columns,
			 struct ls_csr *c, struct ls_err *err)
{
	c->feature = ls_alloc_array(c->n_entries, sizeof *c->feature);
	if (!c->feature)
		return no_memory(path, err);
	for (uint64_t i = 0; i < c->n_entries; i++) {
		int64_t v = ls_csr_integer(t, i);
		if (v < 0 || (uint64_t)v >= columns || v > (int64_t)UINT32_MAX)
			return bad_column(t, i, path, columns, err);
		c->feature[i] = (uint32_t)v;
		if ((uint64_t)v >= c->n_features)
			c->n_features = (uint64_t)v + 1;
	}
	return 0;
}

int ls_csr_floats(const struct ls_tensor *t, const char *path, const char *what, float least,
		  bool drop_ones, float **ret, struct ls_err *err)
{
	uint64_t n = ls_tensor_count(t);
	float *a = ls_alloc_array(n, sizeof *a);
	bool ones = true;
	if (!a)
		return no_memory(path, err);
	for (uint64_t i = 0; i < n; i++) {
		a[i] = float_at(t, i);
		ones &= a[i] == 1;
		if (a[i] >= least && a[i] <= FLT_MAX)
			continue;
		ls_err_set(err, LS_EINPUT, "%s: %s[%llu] is %s", path, what, (unsigned long long)i,
			   a[i] < 0 && a[i] >= -FLT_MAX ? "negative" : "not a finite 32-bit float");
		free(a);
		return LS_EINPUT;
	}
	if (ones && drop_ones) {
		free(a);
		a = NULL;
	}
	*ret = a;
	return 0;
}

void ls_csr_done(struct ls_csr *c)
{
	free(c->start);
	free(c->feature);
	free(c->value);
	*c = (struct ls_csr){0};
}

int ls_csr_from_bundle(struct ls_bundle *b, const char *path, struct ls_csr *ret,
		       struct ls_err *err)
{
	struct ls_tensor *indptr = NULL, *indices = NULL, *data = NULL;
	struct ls_csr c = {0};
	uint64_t columns = 0;
	int rc = check_format(b, path, err);
	if (rc || (rc = need_vector(b, path, "indptr", true, &indptr, err)) ||
	    (rc = need_vector(b, path, "indices", true, &indices, err)) ||
	    (rc = need_vector(b, path, "data", false, &data, err)))
		return rc;
	c.n_entries = ls_tensor_count(indices);
	if (ls_tensor_count(data) != c.n_entries)
		return ls_err_set(err, LS_EINPUT, "%s: indices and data differ in length", path);
	rc = ls_csr_fill_start(indptr, path, &c, err);
	if (rc == 0)
		rc = check_shape(b, path, c.n_rows, &columns, err);
	if (rc == 0)
		rc = ls_csr_fill_features(indices, path, columns, &c, err);
	if (rc == 0)
		rc = ls_csr_floats(data, path, "data", -FLT_MAX, true, &c.value, err);
	if (rc)
		ls_csr_done(&c);
	else
		*ret = c;
	return rc;
}

int ls_csr_load(const char *path, struct ls_csr *ret, struct ls_err *err)
{
	struct ls_bundle *b;
	int rc = ls_npz_open(path, &b, err);
	if (rc)
		return rc;
	rc = ls_csr_from_bundle(b, path, ret, err);
	ls_bundle_free(b);
	return rc;
}

int ls_csr_vector(const char *path, uint64_t n, const char *what, float least, float **ret,
		  struct ls_err *err)
{
	struct ls_bundle *b;
	struct ls_tensor *t = NULL;
	int rc = ls_npy_open(path, &b, err);
	if (rc)
		return rc;
	rc = need(b, path, "array", &t, err);
	bool flat = rc == 0 && (t->ndim == 1 || (t->ndim == 2 && t->shape[1] == 1));
	if (rc == 0 && !ls_csr_is_number(t->dtype))
		rc = ls_err_set(
			err, LS_EINPUT,
			"%s: numbers of type %s; %ss may be bool, integers, float32 or float64",
			path, ls_dtype_name(t->dtype), what);
	if (rc == 0 && (!flat || t->shape[0] != n)) {
		char shape[128];
		ls_tensor_shape_text(t, shape, sizeof shape);
		rc = ls_err_set(err, LS_EINPUT,
				"%s: %s of shape %s where one %s for each of %llu rows is wanted",
				path, ls_dtype_name(t->dtype), shape, what, (unsigned long long)n);
	}
	if (rc == 0)
		rc = ls_csr_floats(t, path, what, least, false, ret, err);
	ls_bundle_free(b);
	return rc;
}
