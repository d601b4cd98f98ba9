/* Names in pickles that stand for more than an object of a class. */
#include <string.h>

#include "tensor/torch/torch_internal.h"

#define DTYPE(n)                                                                                   \
	{                                                                                          \
		"torch", n, A_DTYPE, NULL                                                          \
	}
#define STORAGE(n)                                                                                 \
	{                                                                                          \
		"torch", n "Storage", A_STORAGE, NULL                                              \
	}

static const struct ls_pk_global globals[] = {
	{"torch._utils", "_rebuild_tensor_v2", A_TENSOR, NULL},
	{"torch._utils", "_rebuild_tensor_v3", A_TENSOR_V3, NULL},
	{"torch._utils", "_rebuild_tensor", A_TENSOR, NULL},
	{"torch._utils", "_rebuild_parameter", A_PARAMETER, NULL},
	{"torch._utils", "_rebuild_parameter_with_state", A_PARAMETER, NULL},
	{"torch._utils", "_rebuild_sparse_tensor", A_SPARSE, NULL},
	{"torch._utils", "_rebuild_qtensor", A_QUANTIZED, NULL},
	{"torch._tensor", "_rebuild_from_type_v2", A_FROM_TYPE, NULL},
	{"torch._utils", "_rebuild_nested_tensor", A_NESTED, NULL},
	{"copyreg", "_reconstructor", A_RECONSTRUCT, NULL},
	{"copy_reg", "_reconstructor", A_RECONSTRUCT, NULL},
	{"joblib.numpy_pickle", "NumpyArrayWrapper", A_JOBLIB, ls_joblib_raw},
	{"torch.nn.parameter", "Parameter", A_TYPE, NULL},
	{"torch.nn.parameter", "Buffer", A_TYPE, NULL},
	{"torch", "Tensor", A_TYPE, NULL},
	{"torch", "device", A_DEVICE, NULL},
	{"torch", "Size", A_SIZE, NULL},
	{"torch.serialization", "_get_layout", A_LAYOUT, NULL},
	{"torch.storage", "_load_from_bytes", A_LOAD_BYTES, NULL},
	{"torch.storage", "UntypedStorage", A_STORAGE, NULL},
	{"torch.storage", "TypedStorage", A_STORAGE, NULL},
	STORAGE("Float"),
	STORAGE("Double"),
	STORAGE("Half"),
	STORAGE("BFloat16"),
	STORAGE("Long"),
	STORAGE("Int"),
	STORAGE("Short"),
	STORAGE("Char"),
	STORAGE("Byte"),
	STORAGE("Bool"),
	STORAGE("ComplexFloat"),
	STORAGE("ComplexDouble"),
	STORAGE("QInt8"),
	STORAGE("QUInt8"),
	STORAGE("QInt32"),
	STORAGE("QUInt4x2"),
	STORAGE("QUInt2x4"),
	STORAGE("Untyped"),
	DTYPE("float32"),
	DTYPE("float64"),
	DTYPE("float16"),
	DTYPE("bfloat16"),
	DTYPE("float8_e4m3fn"),
	DTYPE("float8_e4m3fnuz"),
	DTYPE("float8_e5m2"),
	DTYPE("float8_e5m2fnuz"),
	DTYPE("float8_e8m0fnu"),
	DTYPE("float4_e2m1fn_x2"),
	DTYPE("uint8"),
	DTYPE("uint16"),
	DTYPE("uint32"),
	DTYPE("uint64"),
	DTYPE("int8"),
	DTYPE("int16"),
	DTYPE("int32"),
	DTYPE("int64"),
	DTYPE("bool"),
	DTYPE("complex32"),
	DTYPE("complex64"),
	DTYPE("complex128"),
	DTYPE("bits8"),
	DTYPE("bits16"),
	DTYPE("bits1x8"),
	DTYPE("bits2x4"),
	DTYPE("bits4x2"),
	DTYPE("int1"),
	DTYPE("int2"),
	DTYPE("int3"),
	DTYPE("int4"),
	DTYPE("int5"),
	DTYPE("int6"),
	DTYPE("int7"),
	DTYPE("uint1"),
	DTYPE("uint2"),
	DTYPE("uint3"),
	DTYPE("uint4"),
	DTYPE("uint5"),
	DTYPE("uint6"),
	DTYPE("uint7"),
	DTYPE("qint8"),
	DTYPE("quint8"),
	DTYPE("qint32"),
	DTYPE("quint4x2"),
	DTYPE("quint2x4"),
	DTYPE("per_tensor_affine"),
	DTYPE("per_channel_affine"),
	{"collections", "OrderedDict", A_DICT, NULL},
	{"collections", "defaultdict", A_DICT, NULL},
	{"collections", "Counter", A_DICT, NULL},
	{"builtins", "dict", A_DICT, NULL},
	{"__builtin__", "dict", A_DICT, NULL},
	{"lightning.fabric.utilities.data", "AttributeDict", A_DICT, NULL},
	{"lightning.pytorch.utilities.parsing", "AttributeDict", A_DICT, NULL},
	{"lightning_fabric.utilities.data", "AttributeDict", A_DICT, NULL},
	{"pytorch_lightning.utilities.parsing", "AttributeDict", A_DICT, NULL},
	{"argparse", "Namespace", A_NAMESPACE, NULL},
	{"types", "SimpleNamespace", A_NAMESPACE, NULL},
	{"builtins", "set", A_SET, NULL},
	{"__builtin__", "set", A_SET, NULL},
	{"builtins", "frozenset", A_SET, NULL},
	{"__builtin__", "frozenset", A_SET, NULL},
	{"builtins", "complex", A_COMPLEX, NULL},
	{"__builtin__", "complex", A_COMPLEX, NULL},
	{"builtins", "bytearray", A_BYTES, NULL},
	{"__builtin__", "bytearray", A_BYTES, NULL},
	{"_codecs", "encode", A_ENCODE, NULL},
	{"builtins", "list", A_TYPE, NULL},
	{"builtins", "int", A_TYPE, NULL},
	{"builtins", "float", A_TYPE, NULL},
	{"builtins", "str", A_TYPE, NULL},
	{"builtins", "bool", A_TYPE, NULL},
	{"builtins", "tuple", A_TYPE, NULL},
	{"__builtin__", "list", A_TYPE, NULL},
	{"__builtin__", "int", A_TYPE, NULL},
	{"__builtin__", "float", A_TYPE, NULL},
	{"pathlib", "PosixPath", A_PATH, NULL},
	{"pathlib", "PurePosixPath", A_PATH, NULL},
	{"pathlib._local", "PosixPath", A_PATH, NULL},
	{"numpy.core.multiarray", "scalar", A_NP_SCALAR, NULL},
	{"numpy._core.multiarray", "scalar", A_NP_SCALAR, NULL},
	{"numpy.core.multiarray", "_reconstruct", A_NP_ARRAY, NULL},
	{"numpy._core.multiarray", "_reconstruct", A_NP_ARRAY, NULL},
	{"numpy.core.numeric", "_frombuffer", A_NP_BUFFER, NULL},
	{"numpy._core.numeric", "_frombuffer", A_NP_BUFFER, NULL},
	{"numpy", "dtype", A_NP_DTYPE, NULL},
	{"numpy", "ndarray", A_NP_CLASS, NULL},
	{NULL, NULL, 0, NULL},
};

const struct ls_pk_global *ls_torch_globals(void)
{
	return globals;
}

enum ls_dtype ls_torch_storage_type(const char *name)
{
	static const struct {
		const char *name;
		enum ls_dtype t;
	} types[] = {{"FloatStorage", LS_DT_F32},        {"DoubleStorage", LS_DT_F64},
		     {"HalfStorage", LS_DT_F16},         {"BFloat16Storage", LS_DT_BF16},
		     {"LongStorage", LS_DT_I64},         {"IntStorage", LS_DT_I32},
		     {"ShortStorage", LS_DT_I16},        {"CharStorage", LS_DT_I8},
		     {"ByteStorage", LS_DT_U8},          {"BoolStorage", LS_DT_BOOL},
		     {"ComplexFloatStorage", LS_DT_C64}, {"ComplexDoubleStorage", LS_DT_C128},
		     {"UntypedStorage", LS_DT_U8},       {"QInt8Storage", LS_DT_I8},
		     {"QUInt8Storage", LS_DT_U8},        {"QInt32Storage", LS_DT_I32},
		     {"QUInt4x2Storage", LS_DT_BITS},    {"QUInt2x4Storage", LS_DT_BITS}};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(types[i].name, name) == 0)
			return types[i].t;
	return LS_DT_NONE;
}
