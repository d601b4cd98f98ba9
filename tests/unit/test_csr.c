#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fm/csr.h"
#include "tensor/tensor.h"

/* A matrix as an .npz would hold it; tests change one thing at a time. */
struct matrix {
	int64_t indptr[4], shape[2];
	int32_t indices[5];
	double data[5];
	uint64_t n_indptr, n_indices, n_data;
	char format[4];
};

static struct matrix good(void)
{
	return (struct matrix){.indptr = {0, 2, 2, 5},
			       .shape = {3, 100},
			       .indices = {7, 3, 9, 9, 0},
			       .data = {1, 2.5, 1, -1, 0},
			       .n_indptr = 4,
			       .n_indices = 5,
			       .n_data = 5,
			       .format = "csr"};
}

static void add(struct ls_bundle *b, const char *name, enum ls_dtype dtype, uint32_t size, const void *data, uint64_t n)
{
	struct ls_tensor *t = ls_bundle_add(b, name, strlen(name));
	struct ls_err err;
	t->dtype = dtype;
	t->elem_size = size;
	t->data = data;
	assert_int_equal(ls_tensor_set_contiguous(t, &n, 1, &err), 0);
}

static int read_matrix(const struct matrix *m, struct ls_csr *ret, struct ls_err *err)
{
	struct ls_bundle *b = ls_bundle_new("npz");
	add(b, "indptr", LS_DT_I64, 8, m->indptr, m->n_indptr);
	add(b, "indices", LS_DT_I32, 4, m->indices, m->n_indices);
	add(b, "data", LS_DT_F64, 8, m->data, m->n_data);
	add(b, "shape", LS_DT_I64, 8, m->shape, 2);
	add(b, "format", LS_DT_OPAQUE, 3, m->format, 1);
	assert_int_equal(ls_bundle_seal(b, "t", err), 0);
	int rc = ls_csr_from_bundle(b, "t", ret, err);
	ls_bundle_free(b);
	return rc;
}

static void reads(void **state)
{
	(void)state;
	struct matrix m = good();
	struct ls_csr c;
	struct ls_err err = {0};
	if (read_matrix(&m, &c, &err))
		fail_msg("%s", err.msg);
	static const uint64_t start[] = {0, 2, 2, 5};
	static const uint32_t feature[] = {7, 3, 9, 9, 0};
	static const float value[] = {1, 2.5F, 1, -1, 0};
	assert_int_equal(c.n_rows, 3);
	assert_int_equal(c.n_entries, 5);
	assert_int_equal(c.n_features, 10);
	assert_memory_equal(c.start, start, sizeof start);
	assert_memory_equal(c.feature, feature, sizeof feature);
	assert_memory_equal(c.value, value, sizeof value);
	ls_csr_done(&c);
	for (int i = 0; i < 5; i++)
		m.data[i] = 1;
	assert_int_equal(read_matrix(&m, &c, &err), 0);
	assert_null(c.value);
	ls_csr_done(&c);
}

static void refused(const struct matrix *m, const char *message)
{
	struct ls_csr c;
	struct ls_err err = {0};
	int rc = read_matrix(m, &c, &err);
	if (rc != LS_EINPUT || strcmp(err.msg, message) != 0)
		fail_msg("status %d, message \"%s\", expected \"%s\"", rc, err.msg, message);
}

static void refuses(void **state)
{
	(void)state;
	struct matrix m = good();
	m.indptr[0] = 1;
	refused(&m, "t: indptr[0] is 1: not ascending from 0 to 5");
	m = good();
	m.indptr[2] = 1;
	refused(&m, "t: indptr[2] is 1: not ascending from 0 to 5");
	m = good();
	m.indptr[2] = 6;
	refused(&m, "t: indptr[2] is 6: not ascending from 0 to 5");
	m = good();
	m.indptr[1] = -1;
	refused(&m, "t: indptr[1] is -1: not ascending from 0 to 5");
	m = good();
	m.indptr[3] = 4;
	refused(&m, "t: indptr ends at 4, but there are 5 entries");
	m = good();
	m.n_indptr = 0;
	refused(&m, "t: array \"indptr\" is empty");
	m = good();
	m.indices[1] = -3;
	refused(&m, "t: indices[1] is -3: not a column from 0 to 99");
	m = good();
	m.indices[4] = 100;
	refused(&m, "t: indices[4] is 100: not a column from 0 to 99");
	m = good();
	m.shape[0] = 4;
	refused(&m, "t: the shape does not agree with the arrays");
	m = good();
	m.n_data = 4;
	refused(&m, "t: indices and data differ in length");
	m = good();
	m.data[2] = 1e39;
	refused(&m, "t: data[2] is not a finite 32-bit float");
	m = good();
	m.data[0] = (double)NAN;
	refused(&m, "t: data[0] is not a finite 32-bit float");
	m = good();
	memcpy(m.format, "csc", 4);
	refused(&m, "t: a sparse matrix in format \"csc\"; save m.tocsr()");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(reads), cmocka_unit_test(refuses)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
