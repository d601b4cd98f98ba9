/* labels: isa */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fm/data/csr.h"
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

struct array {
	const char *name;
	enum ls_dtype dtype;
	uint32_t size;
	const void *data;
	uint64_t shape[2];
	size_t ndim;
};

static void add(struct ls_bundle *b, const struct array *a)
{
	struct ls_tensor *t = ls_bundle_add(b, a->name, strlen(a->name));
	struct ls_err err;
	t->dtype = a->dtype;
	t->elem_size = a->size;
	t->data = a->data;
	assert_int_equal(ls_tensor_set_contiguous(t, a->shape, a->ndim, &err), 0);
}

/* The matrix, with another array in the place of the one of that name. */
static int read_with(const struct matrix *m, const struct array *other, struct ls_csr *ret,
		     struct ls_err *err)
{
	const struct array arrays[] = {{"indptr", LS_DT_I64, 8, m->indptr, {m->n_indptr}, 1},
				       {"indices", LS_DT_I32, 4, m->indices, {m->n_indices}, 1},
				       {"data", LS_DT_F64, 8, m->data, {m->n_data}, 1},
				       {"shape", LS_DT_I64, 8, m->shape, {2}, 1},
				       {"format", LS_DT_OPAQUE, 3, m->format, {1}, 1}};
	struct ls_bundle *b = ls_bundle_new("npz");
	for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
		add(b, other && strcmp(other->name, arrays[i].name) == 0 ? other : &arrays[i]);
	assert_int_equal(ls_bundle_seal(b, "t", err), 0);
	int rc = ls_csr_from_bundle(b, "t", ret, err);
	ls_bundle_free(b);
	return rc;
}

static int read_matrix(const struct matrix *m, struct ls_csr *ret, struct ls_err *err)
{
	return read_with(m, NULL, ret, err);
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

static void refused_with(const struct matrix *m, const struct array *other, const char *message)
{
	struct ls_csr c;
	struct ls_err err = {0};
	int rc = read_with(m, other, &c, &err);
	if (rc != LS_EINPUT || strcmp(err.msg, message) != 0)
		fail_msg("status %d, message \"%s\", expected \"%s\"", rc, err.msg, message);
}

static void refused(const struct matrix *m, const char *message)
{
	refused_with(m, NULL, message);
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
	m.shape[1] = -1;
	refused(&m, "t: the shape does not agree with the arrays");
	m = good();
	m.shape[1] = 0;
	refused(&m, "t: indices[0] is 7: the matrix has no columns");
	m = good();
	m.n_data = 4;
	refused(&m, "t: indices and data differ in length");
	m = good();
	m.n_indices = 4;
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

static void indices_are(const struct array *indices, const uint32_t want[5])
{
	struct matrix m = good();
	struct ls_csr c;
	struct ls_err err = {0};
	m.shape[1] = INT64_C(1) << 40; /* wider than any index; only the columns that occur count */
	if (read_with(&m, indices, &c, &err))
		fail_msg("%s: %s", ls_dtype_name(indices->dtype), err.msg);
	assert_memory_equal(c.feature, want, 5 * sizeof *want);
	assert_true(c.n_features == (uint64_t)want[4] + 1);
	ls_csr_done(&c);
}

static void every_type_of_index(void **state)
{
	(void)state;
	static const uint32_t low[] = {7, 3, 9, 9, 100}, high[] = {7, 3, 9, 9, UINT32_MAX};
	static const uint8_t u8[] = {7, 3, 9, 9, 100};
	static const uint16_t u16[] = {7, 3, 9, 9, 100};
	static const uint64_t u64[] = {7, 3, 9, 9, UINT32_MAX};
	indices_are(&(struct array){"indices", LS_DT_U8, 1, u8, {5}, 1}, low);
	indices_are(&(struct array){"indices", LS_DT_I8, 1, u8, {5}, 1}, low);
	indices_are(&(struct array){"indices", LS_DT_U16, 2, u16, {5}, 1}, low);
	indices_are(&(struct array){"indices", LS_DT_I16, 2, u16, {5}, 1}, low);
	indices_are(&(struct array){"indices", LS_DT_I32, 4, low, {5}, 1}, low);
	indices_are(&(struct array){"indices", LS_DT_U32, 4, high, {5}, 1}, high);
	indices_are(&(struct array){"indices", LS_DT_U64, 8, u64, {5}, 1}, high);
	indices_are(&(struct array){"indices", LS_DT_I64, 8, u64, {5}, 1}, high);
}

static void bad_indices(void **state)
{
	(void)state;
	static const int8_t i8[] = {7, 3, -9, 9, 0};
	static const int16_t i16[] = {7, 3, -9, 9, 0};
	static const int64_t wide[] = {7, 3, 9, INT64_C(1) << 32, 0}, cube[] = {3, 100, 1};
	static const uint64_t huge[] = {7, 3, UINT64_C(1) << 63, 9, 0},
			      far[] = {0, UINT64_MAX, 2, 5};
	static const float real[] = {7, 3, 9, 9, 0};
	struct matrix m = good();
	refused_with(&m, &(struct array){"indices", LS_DT_I8, 1, i8, {5}, 1},
		     "t: indices[2] is -9: not a column from 0 to 99");
	refused_with(&m, &(struct array){"indices", LS_DT_I16, 2, i16, {5}, 1},
		     "t: indices[2] is -9: not a column from 0 to 99");
	refused_with(&m, &(struct array){"indices", LS_DT_F32, 4, real, {5}, 1},
		     "t: array \"indices\" holds float32; it should hold integers");
	refused_with(&m, &(struct array){"indices", LS_DT_I32, 4, m.indices, {5, 1}, 2},
		     "t: array \"indices\" has 2 dimensions, not one");
	refused_with(&m, &(struct array){"indices", LS_DT_U64, 8, huge, {5}, 1},
		     "t: indices[2] is 9223372036854775808: not a column from 0 to 99");
	refused_with(&m, &(struct array){"indptr", LS_DT_U64, 8, far, {4}, 1},
		     "t: indptr[1] is 18446744073709551615: not ascending from 0 to 5");
	refused_with(&m, &(struct array){"shape", LS_DT_I64, 8, cube, {3}, 1},
		     "t: the shape does not agree with the arrays");
	m.shape[1] = INT64_C(1) << 40;
	refused_with(&m, &(struct array){"indices", LS_DT_I64, 8, wide, {5}, 1},
		     "t: indices[3] is 4294967296: not a column from 0 to 4294967295");
}

static void values_are(const struct array *data, const float want[5])
{
	struct matrix m = good();
	struct ls_csr c;
	struct ls_err err = {0};
	if (read_with(&m, data, &c, &err))
		fail_msg("%s: %s", ls_dtype_name(data->dtype), err.msg);
	assert_memory_equal(c.value, want, 5 * sizeof *want);
	ls_csr_done(&c);
}

static void every_type_of_value(void **state)
{
	(void)state;
	static const float flags[] = {1, 0, 1, 1, 0}, low[] = {1, 0, -3, 100, -128};
	static const float large[] = {1, 0, 0x1p63F, 0x1p64F, 0x1p24F};
	static const uint8_t b[] = {1, 0, 1, 1, 0};
	static const int8_t i8[] = {1, 0, -3, 100, -128};
	static const int16_t i16[] = {1, 0, -3, 100, -128};
	static const int32_t i32[] = {1, 0, -3, 100, -128};
	static const int64_t i64[] = {1, 0, -3, 100, -128};
	static const uint64_t u64[] = {1, 0, UINT64_C(1) << 63, UINT64_MAX, (1 << 24) + 1};
	static const uint16_t half[] = {0x3c00, 0, 0, 0, 0};
	values_are(&(struct array){"data", LS_DT_BOOL, 1, b, {5}, 1}, flags);
	values_are(&(struct array){"data", LS_DT_I8, 1, i8, {5}, 1}, low);
	values_are(&(struct array){"data", LS_DT_I16, 2, i16, {5}, 1}, low);
	values_are(&(struct array){"data", LS_DT_I32, 4, i32, {5}, 1}, low);
	values_are(&(struct array){"data", LS_DT_I64, 8, i64, {5}, 1}, low);
	values_are(&(struct array){"data", LS_DT_F32, 4, low, {5}, 1}, low);
	values_are(&(struct array){"data", LS_DT_U64, 8, u64, {5}, 1}, large);
	struct matrix m = good();
	refused_with(&m, &(struct array){"data", LS_DT_F16, 2, half, {5}, 1},
		     "t: array \"data\" holds float16; it should hold bool, integers, float32 or "
		     "float64");
}

/* As text, four bytes a character, it is the same word. */
static void format_as_text(void **state)
{
	(void)state;
	static const uint32_t csr[] = {'c', 's', 'r'}, coo[] = {'c', 'o', 'o'};
	struct matrix m = good();
	struct ls_csr c;
	struct ls_err err = {0};
	if (read_with(&m, &(struct array){"format", LS_DT_TEXT, 12, csr, {1}, 1}, &c, &err))
		fail_msg("%s", err.msg);
	ls_csr_done(&c);
	refused_with(&m, &(struct array){"format", LS_DT_TEXT, 12, coo, {1}, 1},
		     "t: a sparse matrix in format \"coo\"; save m.tocsr()");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(refuses),
		cmocka_unit_test(bad_indices),
		cmocka_unit_test(every_type_of_index),
		cmocka_unit_test(every_type_of_value),
		cmocka_unit_test(format_as_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
