/* What lockstep uses of the CUDA driver API, declared here so that building needs no CUDA
 * headers: one list of symbols, from which the table of functions, the loader and the
 * stand-in driver are made. tests/gpu/cuda_api_check.c compares it with NVIDIA's cuda.h.
 * The handles belong to the driver. Constant data; any thread. */
#ifndef LS_GPU_CUDA_API_H
#define LS_GPU_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

/* The driver's own tags, so that a declaration here and one in cuda.h are the same type.
 * Enumerations are unsigned. */
typedef struct CUctx_st *ls_cu_context;
typedef struct CUmod_st *ls_cu_module;
typedef struct CUfunc_st *ls_cu_function;
typedef struct CUstream_st *ls_cu_stream;
typedef struct CUevent_st *ls_cu_event;
typedef struct CUgraph_st *ls_cu_graph;
typedef struct CUgraphExec_st *ls_cu_graph_exec;
typedef struct CUlinkState_st *ls_cu_link;
typedef unsigned long long ls_cu_ptr;

enum ls_cu_result {
	LS_CU_SUCCESS = 0,
	LS_CU_INVALID_VALUE = 1,
	LS_CU_OUT_OF_MEMORY = 2,
	LS_CU_NOT_INITIALIZED = 3,
	LS_CU_DEINITIALIZED = 4,
	LS_CU_STUB_LIBRARY = 34,
	LS_CU_INSUFFICIENT_DRIVER = 35, /* the runtime API's number; some drivers let it through */
	LS_CU_CALL_REQUIRES_NEWER_DRIVER = 36,
	LS_CU_DEVICE_UNAVAILABLE = 46,
	LS_CU_NO_DEVICE = 100,
	LS_CU_INVALID_DEVICE = 101,
	LS_CU_DEVICE_NOT_LICENSED = 102,
	LS_CU_INVALID_IMAGE = 200,
	LS_CU_INVALID_CONTEXT = 201,
	LS_CU_NO_BINARY_FOR_GPU = 209,
	LS_CU_ECC_UNCORRECTABLE = 214,
	LS_CU_INVALID_PTX = 218,
	LS_CU_NVLINK_UNCORRECTABLE = 220,
	LS_CU_JIT_COMPILER_NOT_FOUND = 221,
	LS_CU_UNSUPPORTED_PTX_VERSION = 222,
	LS_CU_JIT_COMPILATION_DISABLED = 223,
	LS_CU_CONTAINED = 226,
	LS_CU_OPERATING_SYSTEM = 304,
	LS_CU_INVALID_HANDLE = 400,
	LS_CU_NOT_FOUND = 500,
	LS_CU_NOT_READY = 600,
	LS_CU_ILLEGAL_ADDRESS = 700,
	LS_CU_LAUNCH_OUT_OF_RESOURCES = 701,
	LS_CU_LAUNCH_TIMEOUT = 702,
	LS_CU_CONTEXT_IS_DESTROYED = 709,
	LS_CU_ASSERT = 710,
	LS_CU_HARDWARE_STACK_ERROR = 714,
	LS_CU_ILLEGAL_INSTRUCTION = 715,
	LS_CU_MISALIGNED_ADDRESS = 716,
	LS_CU_INVALID_ADDRESS_SPACE = 717,
	LS_CU_INVALID_PC = 718,
	LS_CU_LAUNCH_FAILED = 719,
	LS_CU_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
	LS_CU_NOT_PERMITTED = 800,
	LS_CU_NOT_SUPPORTED = 801,
	LS_CU_SYSTEM_NOT_READY = 802,
	LS_CU_SYSTEM_DRIVER_MISMATCH = 803,
	LS_CU_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
	LS_CU_MPS_CONNECTION_FAILED = 805,
	LS_CU_MPS_CLIENT_TERMINATED = 810,
	LS_CU_STREAM_CAPTURE_INVALIDATED = 901,
	LS_CU_UNKNOWN = 999,
};

enum ls_cu_device_attribute {
	LS_CU_ATTR_MAX_THREADS_PER_BLOCK = 1,
	LS_CU_ATTR_WARP_SIZE = 10,
	LS_CU_ATTR_MULTIPROCESSORS = 16,
	LS_CU_ATTR_INTEGRATED = 18,
	LS_CU_ATTR_MEMORY_KHZ = 36,
	LS_CU_ATTR_MEMORY_BITS = 37,
	LS_CU_ATTR_L2_BYTES = 38,
	LS_CU_ATTR_MAX_THREADS_PER_MULTIPROCESSOR = 39,
	LS_CU_ATTR_COPY_ENGINES = 40,
	LS_CU_ATTR_CC_MAJOR = 75,
	LS_CU_ATTR_CC_MINOR = 76,
	LS_CU_ATTR_SHARED_PER_MULTIPROCESSOR = 81,
	LS_CU_ATTR_COOPERATIVE_LAUNCH = 95,
	LS_CU_ATTR_SHARED_PER_BLOCK_OPTIN = 97,
};

enum ls_cu_constant {
	LS_CU_STREAM_NON_BLOCKING = 1,
	LS_CU_EVENT_DEFAULT = 0,
	LS_CU_EVENT_DISABLE_TIMING = 2,
	LS_CU_CAPTURE_THREAD_LOCAL = 1,
	LS_CU_HOSTALLOC_PORTABLE = 1,
	LS_CU_JIT_ERROR_LOG = 5,
	LS_CU_JIT_ERROR_LOG_BYTES = 6,
	LS_CU_JIT_INPUT_PTX = 1,
	LS_CU_FUNC_MAX_THREADS = 0,
	LS_CU_FUNC_SHARED_BYTES = 1,
	LS_CU_FUNC_LOCAL_BYTES = 3,
	LS_CU_FUNC_REGISTERS = 4,
	LS_CU_FUNC_MAX_DYNAMIC_SHARED = 8,
};

/* X(member, symbol, arguments). The symbols are those that libcuda.so.1 exports, version
 * suffix included; all are there in drivers from CUDA 11.4 on. */
#define LS_CUDA_FUNCTIONS(X)                                                                       \
	X(init, cuInit, (unsigned))                                                                \
	X(version, cuDriverGetVersion, (int *))                                                    \
	X(error_name, cuGetErrorName, (unsigned, const char **))                                   \
	X(error_text, cuGetErrorString, (unsigned, const char **))                                 \
	X(count, cuDeviceGetCount, (int *))                                                        \
	X(device, cuDeviceGet, (int *, int))                                                       \
	X(name, cuDeviceGetName, (char *, int, int))                                               \
	X(pci_bus_id, cuDeviceGetPCIBusId, (char *, int, int))                                     \
	X(attribute, cuDeviceGetAttribute, (int *, unsigned, int))                                 \
	X(total_mem, cuDeviceTotalMem_v2, (size_t *, int))                                         \
	X(retain, cuDevicePrimaryCtxRetain, (ls_cu_context *, int))                                \
	X(release, cuDevicePrimaryCtxRelease_v2, (int))                                            \
	X(set_current, cuCtxSetCurrent, (ls_cu_context))                                           \
	X(get_current, cuCtxGetCurrent, (ls_cu_context *))                                         \
	X(get_device, cuCtxGetDevice, (int *))                                                     \
	X(mem_info, cuMemGetInfo_v2, (size_t *, size_t *))                                         \
	X(alloc, cuMemAlloc_v2, (ls_cu_ptr *, size_t))                                             \
	X(free, cuMemFree_v2, (ls_cu_ptr))                                                         \
	X(host_alloc, cuMemHostAlloc, (void **, size_t, unsigned))                                 \
	X(host_free, cuMemFreeHost, (void *))                                                      \
	X(host_register, cuMemHostRegister_v2, (void *, size_t, unsigned))                         \
	X(host_unregister, cuMemHostUnregister, (void *))                                          \
	X(upload, cuMemcpyHtoDAsync_v2, (ls_cu_ptr, const void *, size_t, ls_cu_stream))           \
	X(download, cuMemcpyDtoHAsync_v2, (void *, ls_cu_ptr, size_t, ls_cu_stream))               \
	X(copy, cuMemcpyDtoDAsync_v2, (ls_cu_ptr, ls_cu_ptr, size_t, ls_cu_stream))                \
	X(fill, cuMemsetD8Async, (ls_cu_ptr, unsigned char, size_t, ls_cu_stream))                 \
	X(stream_create, cuStreamCreate, (ls_cu_stream *, unsigned))                               \
	X(stream_destroy, cuStreamDestroy_v2, (ls_cu_stream))                                      \
	X(stream_sync, cuStreamSynchronize, (ls_cu_stream))                                        \
	X(stream_wait, cuStreamWaitEvent, (ls_cu_stream, ls_cu_event, unsigned))                   \
	X(capture_begin, cuStreamBeginCapture_v2, (ls_cu_stream, unsigned))                        \
	X(capture_end, cuStreamEndCapture, (ls_cu_stream, ls_cu_graph *))                          \
	X(graph_instantiate, cuGraphInstantiateWithFlags,                                          \
	  (ls_cu_graph_exec *, ls_cu_graph, unsigned long long))                                   \
	X(graph_launch, cuGraphLaunch, (ls_cu_graph_exec, ls_cu_stream))                           \
	X(graph_destroy, cuGraphDestroy, (ls_cu_graph))                                            \
	X(graph_exec_destroy, cuGraphExecDestroy, (ls_cu_graph_exec))                              \
	X(event_create, cuEventCreate, (ls_cu_event *, unsigned))                                  \
	X(event_destroy, cuEventDestroy_v2, (ls_cu_event))                                         \
	X(event_record, cuEventRecord, (ls_cu_event, ls_cu_stream))                                \
	X(event_query, cuEventQuery, (ls_cu_event))                                                \
	X(event_sync, cuEventSynchronize, (ls_cu_event))                                           \
	X(event_elapsed, cuEventElapsedTime, (float *, ls_cu_event, ls_cu_event))                  \
	X(module_load, cuModuleLoadDataEx,                                                         \
	  (ls_cu_module *, const void *, unsigned, unsigned *, void **))                           \
	X(module_unload, cuModuleUnload, (ls_cu_module))                                           \
	X(module_function, cuModuleGetFunction, (ls_cu_function *, ls_cu_module, const char *))    \
	X(link_create, cuLinkCreate_v2, (unsigned, unsigned *, void **, ls_cu_link *))             \
	X(link_add, cuLinkAddData_v2,                                                              \
	  (ls_cu_link, unsigned, void *, size_t, const char *, unsigned, unsigned *, void **))     \
	X(link_complete, cuLinkComplete, (ls_cu_link, void **, size_t *))                          \
	X(link_destroy, cuLinkDestroy, (ls_cu_link))                                               \
	X(func_get, cuFuncGetAttribute, (int *, unsigned, ls_cu_function))                         \
	X(func_set, cuFuncSetAttribute, (ls_cu_function, unsigned, int))                           \
	X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                  \
	  (int *, ls_cu_function, int, size_t))                                                    \
	X(launch, cuLaunchKernel,                                                                  \
	  (ls_cu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,   \
	   ls_cu_stream, void **, void **))                                                        \
	X(launch_cooperative, cuLaunchCooperativeKernel,                                           \
	  (ls_cu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,   \
	   ls_cu_stream, void **))

#define LS_CUDA_MEMBER(member, symbol, args)                                                       \
	unsigned(*member) args; /* NOLINT(bugprone-macro-parentheses) */
struct ls_cuda {
	LS_CUDA_FUNCTIONS(LS_CUDA_MEMBER)
};
#undef LS_CUDA_MEMBER

#endif
