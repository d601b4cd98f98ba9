/* A libcuda.so.1 without a GPU: see fake_cuda.h. Devices and memory are here, streams and
 * graphs in fake_stream.c, code in fake_code.c and fake_image.c, bookkeeping in
 * fake_state.c. */
#include "fake_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_stream.h"

/* --- the driver --- */

unsigned cuInit(unsigned flags)
{
	if (!config.cc)
		fake_cuda_setup(getenv("LS_FAKE_CUDA"), getenv("LS_FAKE_CUDA_CONFIG"));
	ENTER_ALWAYS(cuInit);
	const char *kernels = getenv("LS_FAKE_CUDA_KERNELS");
	if (kernels && !dlopen(kernels, RTLD_NOW | RTLD_GLOBAL)) {
		fprintf(stderr, "fake_cuda: %s\n", dlerror());
		abort();
	}
	if (config.devices == 0)
		return LS_CU_NO_DEVICE;
	initialised = 1;
	return flags ? LS_CU_INVALID_VALUE : 0;
}

unsigned cuDriverGetVersion(int *version)
{
	if (!config.cc)
		fake_cuda_setup(getenv("LS_FAKE_CUDA"), getenv("LS_FAKE_CUDA_CONFIG"));
	ENTER_ALWAYS(cuDriverGetVersion); /* the real one answers before cuInit, too */
	*version = config.cuda;
	return 0;
}

unsigned cuGetErrorName(unsigned code, const char **name)
{
	static char text[32];
	ENTER_ALWAYS(cuGetErrorName);
	snprintf(text, sizeof text, "FAKE_ERROR_%u", code);
	*name = code == 12345 ? NULL : text; /* one code that this driver has never heard of */
	return code == 12345 ? LS_CU_INVALID_VALUE : 0;
}

unsigned cuGetErrorString(unsigned code, const char **text)
{
	ENTER_ALWAYS(cuGetErrorString);
	*text = code == 12345 ? NULL : "a scripted failure";
	return code == 12345 ? LS_CU_INVALID_VALUE : 0;
}

unsigned cuDeviceGetCount(int *count)
{
	ENTER_NO_CONTEXT(cuDeviceGetCount);
	*count = config.devices;
	return 0;
}

unsigned cuDeviceGet(int *device, int ordinal)
{
	ENTER_NO_CONTEXT(cuDeviceGet);
	if (ordinal < 0 || ordinal >= config.devices)
		return LS_CU_INVALID_DEVICE;
	*device = ordinal;
	return 0;
}

unsigned cuDeviceGetName(char *name, int size, int device)
{
	ENTER_NO_CONTEXT(cuDeviceGetName);
	snprintf(name, (size_t)size, "Stand-in GPU %d", device);
	return 0;
}

unsigned cuDeviceGetPCIBusId(char *id, int size, int device)
{
	ENTER_NO_CONTEXT(cuDeviceGetPCIBusId);
	snprintf(id, (size_t)size, "0000:%02x:00.0", 16 + device);
	return 0;
}

unsigned cuDeviceGetAttribute(int *value, unsigned attribute, int device)
{
	ENTER_NO_CONTEXT(cuDeviceGetAttribute);
	switch (attribute) {
	case LS_CU_ATTR_CC_MAJOR:
		*value = config.cc / 10;
		return 0;
	case LS_CU_ATTR_CC_MINOR:
		*value = config.cc % 10;
		return 0;
	case LS_CU_ATTR_MULTIPROCESSORS:
		*value = config.sm;
		return 0;
	case LS_CU_ATTR_WARP_SIZE:
		*value = 32;
		return 0;
	case LS_CU_ATTR_MAX_THREADS_PER_BLOCK:
		*value = 1024;
		return 0;
	case LS_CU_ATTR_MAX_THREADS_PER_MULTIPROCESSOR:
		*value = 2048;
		return 0;
	case LS_CU_ATTR_COPY_ENGINES:
		*value = 2;
		return 0;
	case LS_CU_ATTR_MEMORY_KHZ:
		*value = 5001000; /* a T4's */
		return 0;
	case LS_CU_ATTR_MEMORY_BITS:
		*value = 256;
		return 0;
	case LS_CU_ATTR_L2_BYTES:
		*value = 1 << 20;
		return 0;
	case LS_CU_ATTR_SHARED_PER_MULTIPROCESSOR:
	case LS_CU_ATTR_SHARED_PER_BLOCK_OPTIN:
		*value = 96 << 10;
		return 0;
	case LS_CU_ATTR_COOPERATIVE_LAUNCH:
		*value = 1;
		return 0;
	case LS_CU_ATTR_INTEGRATED:
		*value = 0;
		return 0;
	default:
		return device < config.devices ? LS_CU_INVALID_VALUE : LS_CU_INVALID_DEVICE;
	}
}

unsigned cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	ENTER_NO_CONTEXT(cuDeviceTotalMem_v2);
	*bytes = device < config.devices ? config.mem : 0;
	return 0;
}

static char contexts[16];

unsigned cuDevicePrimaryCtxRetain(ls_cu_context *context, int device)
{
	ENTER_NO_CONTEXT(cuDevicePrimaryCtxRetain);
	if (device < 0 || device >= 16)
		return LS_CU_INVALID_DEVICE;
	*context = (ls_cu_context)(void *)&contexts[device];
	add_object("primary context", *context, 0);
	return 0;
}

unsigned cuDevicePrimaryCtxRelease_v2(int device)
{
	unsigned fault = scripted("cuDevicePrimaryCtxRelease_v2",
				  count_call("cuDevicePrimaryCtxRelease_v2"));
	drain_all();
	if (!drop_object("primary context", &contexts[device]))
		return LS_CU_INVALID_CONTEXT;
	return fault;
}

unsigned cuCtxSetCurrent(ls_cu_context context)
{
	ENTER_NO_CONTEXT(cuCtxSetCurrent);
	current = context;
	return 0;
}

unsigned cuCtxGetCurrent(ls_cu_context *context)
{
	ENTER_NO_CONTEXT(cuCtxGetCurrent);
	*context = current;
	return 0;
}

unsigned cuCtxGetDevice(int *device)
{
	ENTER(cuCtxGetDevice);
	*device = (int)((char *)current - contexts);
	return 0;
}

/* --- memory --- */

unsigned cuMemGetInfo_v2(size_t *avail, size_t *total)
{
	ENTER(cuMemGetInfo_v2);
	*avail = config.mem - device_bytes;
	*total = config.mem;
	return 0;
}

unsigned cuMemAlloc_v2(ls_cu_ptr *p, size_t size)
{
	ENTER(cuMemAlloc_v2);
	if (size == 0)
		return LS_CU_INVALID_VALUE;
	if (size > config.mem - device_bytes)
		return LS_CU_OUT_OF_MEMORY;
	void *memory = malloc(size);
	if (!memory)
		return LS_CU_OUT_OF_MEMORY;
	memset(memory, 0xA5, size);
	device_bytes += size;
	add_object("device memory", memory, size);
	*p = (ls_cu_ptr)(uintptr_t)memory;
	return 0;
}

unsigned cuMemFree_v2(ls_cu_ptr p)
{
	unsigned fault = scripted("cuMemFree_v2", count_call("cuMemFree_v2"));
	drain_all();
	void *memory = (void *)(uintptr_t)p;
	struct object *o = find_object("device memory", memory);
	size_t size = o ? o->size : 0;
	if (!drop_object("device memory", memory))
		return LS_CU_INVALID_VALUE;
	device_bytes -= size;
	free(memory);
	return fault ? fault : sticky;
}

unsigned cuMemHostAlloc(void **p, size_t size, unsigned flags)
{
	ENTER(cuMemHostAlloc);
	void *memory = flags <= 7 && size ? malloc(size) : NULL;
	if (!memory)
		return LS_CU_INVALID_VALUE;
	memset(memory, 0xA5, size);
	add_object("locked host memory", memory, size);
	*p = memory;
	return 0;
}

unsigned cuMemFreeHost(void *p)
{
	unsigned fault = scripted("cuMemFreeHost", count_call("cuMemFreeHost"));
	drain_all();
	if (!drop_object("locked host memory", p))
		return LS_CU_INVALID_VALUE;
	free(p);
	return fault ? fault : sticky;
}

unsigned cuMemHostRegister_v2(void *p, size_t size, unsigned flags)
{
	ENTER(cuMemHostRegister_v2);
	if (!p || !size || flags > 15)
		return LS_CU_INVALID_VALUE;
	add_object("registered host memory", p, size);
	return 0;
}

unsigned cuMemHostUnregister(void *p)
{
	unsigned fault = scripted("cuMemHostUnregister", count_call("cuMemHostUnregister"));
	drain_all();
	if (!drop_object("registered host memory", p))
		return LS_CU_INVALID_VALUE;
	return fault ? fault : sticky;
}

unsigned cuMemcpyHtoDAsync_v2(ls_cu_ptr to, const void *from, size_t size, ls_cu_stream s)
{
	ENTER(cuMemcpyHtoDAsync_v2);
	if (!from || !inside(to, size))
		return LS_CU_INVALID_VALUE;
	return submit(s, &(struct op){.kind = OP_COPY,
				      .to = (void *)(uintptr_t)to,
				      .from = from,
				      .size = size});
}

unsigned cuMemcpyDtoHAsync_v2(void *to, ls_cu_ptr from, size_t size, ls_cu_stream s)
{
	ENTER(cuMemcpyDtoHAsync_v2);
	if (!to || !inside(from, size))
		return LS_CU_INVALID_VALUE;
	return submit(s, &(struct op){.kind = OP_COPY,
				      .to = to,
				      .from = (void *)(uintptr_t)from,
				      .size = size});
}

unsigned cuMemcpyDtoDAsync_v2(ls_cu_ptr to, ls_cu_ptr from, size_t size, ls_cu_stream s)
{
	ENTER(cuMemcpyDtoDAsync_v2);
	if (!inside(to, size) || !inside(from, size))
		return LS_CU_INVALID_VALUE;
	return submit(s, &(struct op){.kind = OP_COPY,
				      .to = (void *)(uintptr_t)to,
				      .from = (void *)(uintptr_t)from,
				      .size = size});
}

unsigned cuMemsetD8Async(ls_cu_ptr to, unsigned char byte, size_t size, ls_cu_stream s)
{
	ENTER(cuMemsetD8Async);
	if (!inside(to, size))
		return LS_CU_INVALID_VALUE;
	return submit(s, &(struct op){.kind = OP_FILL,
				      .to = (void *)(uintptr_t)to,
				      .byte = byte,
				      .size = size});
}
