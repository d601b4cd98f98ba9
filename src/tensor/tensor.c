#include "tensor/tensor.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct {
	const char *name, *safetensors;
	unsigned bits;
} dtypes[LS_DT_COUNT] = {
	[LS_DT_NONE] = {"none", NULL, 0},
	[LS_DT_BOOL] = {"bool", "BOOL", 8},
	[LS_DT_U8] = {"uint8", "U8", 8},
	[LS_DT_I8] = {"int8", "I8", 8},
	[LS_DT_U16] = {"uint16", "U16", 16},
	[LS_DT_I16] = {"int16", "I16", 16},
	[LS_DT_U32] = {"uint32", "U32", 32},
	[LS_DT_I32] = {"int32", "I32", 32},
	[LS_DT_U64] = {"uint64", "U64", 64},
	[LS_DT_I64] = {"int64", "I64", 64},
	[LS_DT_F16] = {"float16", "F16", 16},
	[LS_DT_BF16] = {"bfloat16", "BF16", 16},
	[LS_DT_F32] = {"float32", "F32", 32},
	[LS_DT_F64] = {"float64", "F64", 64},
	[LS_DT_F8_E4M3FN] = {"float8_e4m3fn", "F8_E4M3", 8},
	[LS_DT_F8_E4M3FNUZ] = {"float8_e4m3fnuz", "F8_E4M3FNUZ", 8},
	[LS_DT_F8_E5M2] = {"float8_e5m2", "F8_E5M2", 8},
	[LS_DT_F8_E5M2FNUZ] = {"float8_e5m2fnuz", "F8_E5M2FNUZ", 8},
	[LS_DT_F8_E8M0FNU] = {"float8_e8m0fnu", "F8_E8M0", 8},
	[LS_DT_F4_X2] = {"float4_e2m1fn_x2", NULL, 8},
	[LS_DT_F4] = {"float4_e2m1fn", "F4", 4},
	[LS_DT_F6_E2M3] = {"float6_e2m3", "F6_E2M3", 6},
	[LS_DT_F6_E3M2] = {"float6_e3m2", "F6_E3M2", 6},
	[LS_DT_C32] = {"complex32", NULL, 32},
	[LS_DT_C64] = {"complex64", "C64", 64},
	[LS_DT_C128] = {"complex128", NULL, 128},
	[LS_DT_BITS] = {"bits", NULL, 8},
	[LS_DT_I4] = {"int4", NULL, 4},
	[LS_DT_TEXT] = {"text", NULL, 0},
	[LS_DT_OPAQUE] = {"bytes", NULL, 0},
};

const char *ls_dtype_name(enum ls_dtype t)
{
	return dtypes[t].name;
}

unsigned ls_dtype_bits(enum ls_dtype t)
{
	return dtypes[t].bits;
}

const char *ls_dtype_safetensors(enum ls_dtype t)
{
	return dtypes[t].safetensors;
}

enum ls_dtype ls_dtype_of_safetensors(const char *name)
{
	for (int t = 1; t < LS_DT_COUNT; t++)
		if (dtypes[t].safetensors && strcmp(dtypes[t].safetensors, name) == 0)
			return (enum ls_dtype)t;
	return LS_DT_NONE;
}

enum ls_dtype ls_dtype_of_torch(const char *name)
{
	static const struct {
		const char *name;
		enum ls_dtype t;
	} others[] = {{"half", LS_DT_F16},     {"float", LS_DT_F32},    {"double", LS_DT_F64},
		      {"short", LS_DT_I16},    {"int", LS_DT_I32},      {"long", LS_DT_I64},
		      {"chalf", LS_DT_C32},    {"cfloat", LS_DT_C64},   {"cdouble", LS_DT_C128},
		      {"bits8", LS_DT_BITS},   {"bits1x8", LS_DT_BITS}, {"bits2x4", LS_DT_BITS},
		      {"bits4x2", LS_DT_BITS}, {"int1", LS_DT_BITS},    {"int2", LS_DT_BITS},
		      {"int3", LS_DT_BITS},    {"int4", LS_DT_BITS},    {"int5", LS_DT_BITS},
		      {"int6", LS_DT_BITS},    {"int7", LS_DT_BITS},    {"uint1", LS_DT_BITS},
		      {"uint2", LS_DT_BITS},   {"uint3", LS_DT_BITS},   {"uint4", LS_DT_BITS},
		      {"uint5", LS_DT_BITS},   {"uint6", LS_DT_BITS},   {"uint7", LS_DT_BITS},
		      {"bits16", LS_DT_U16}};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strcmp(others[i].name, name) == 0)
			return others[i].t;
	for (int t = 1; t <= LS_DT_C128; t++)
		if (strcmp(dtypes[t].name, name) == 0)
			return t >= LS_DT_F4 && t <= LS_DT_F6_E3M2 ? LS_DT_NONE : (enum ls_dtype)t;
	return LS_DT_NONE;
}

uint64_t ls_tensor_count(const struct ls_tensor *t)
{
	uint64_t n = 1;
	for (int i = 0; i < t->ndim; i++)
		n *= t->shape[i]; /* cannot overflow: ls_tensor_set_contiguous looked */
	return n;
}

bool ls_tensor_is_contiguous(const struct ls_tensor *t)
{
	uint64_t expect = 1;
	if (ls_tensor_count(t) == 0)
		return true;
	for (int i = t->ndim - 1; i >= 0; i--) {
		if (t->shape[i] != 1 && t->stride[i] != (int64_t)expect)
			return false;
		expect *= t->shape[i];
	}
	return true;
}

/* Elements of a shape; the product without its zeros must also fit, as the strides are
 * made of it.
 */
static int count_of(const uint64_t *shape, size_t ndim, uint64_t *ret, struct ls_err *err)
{
	uint64_t n = 1;
	bool zero = false;
	for (size_t i = 0; i < ndim; i++) {
		if (shape[i] == 0)
			zero = true;
		else if (__builtin_mul_overflow(n, shape[i], &n) || n > INT64_MAX / 16)
			return ls_err_set(err, LS_EINPUT,
					  "the shape has more elements than any memory");
	}
	*ret = zero ? 0 : n;
	return 0;
}

int ls_tensor_set_contiguous(struct ls_tensor *t, const uint64_t *shape, size_t ndim,
			     struct ls_err *err)
{
	uint64_t n = 0, bits = t->elem_size ? (uint64_t)t->elem_size * 8 : ls_dtype_bits(t->dtype);
	if (ndim > LS_MAX_DIMS)
		return ls_err_set(err, LS_EINPUT, "%zu dimensions; at most %d are read", ndim,
				  LS_MAX_DIMS);
	int rc = count_of(shape, ndim, &n, err);
	if (rc)
		return rc;
	if (__builtin_mul_overflow(n, bits, &n))
		return ls_err_set(err, LS_EINPUT, "the shape has more bytes than any memory");
	int64_t step = 1;
	for (size_t i = ndim; i-- > 0;) {
		t->shape[i] = shape[i];
		t->stride[i] = step;
		step *= shape[i] ? (int64_t)shape[i] : 1;
	}
	t->ndim = (int)ndim;
	t->nbytes = (n + 7) / 8;
	return 0;
}

void ls_tensor_shape_text(const struct ls_tensor *t, char *buf, size_t size)
{
	size_t used = (size_t)snprintf(buf, size, "[");
	for (int i = 0; i < t->ndim && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%llu", i ? ", " : "",
					 (unsigned long long)t->shape[i]);
	if (used < size)
		snprintf(buf + used, size - used, "]");
}
