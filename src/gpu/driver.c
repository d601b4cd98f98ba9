#include "gpu/driver.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dl.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "gpu/cuda_err.h"

struct ls_gpu {
	struct ls_cuda cu;
	struct ls_dl *lib;
	ls_cu_context context;
	int device;
	struct ls_gpu_info info;
	bool lost;
	bool adopted; /* the context is the caller's */
};

/* --- the library --- */

#define SYMBOL(member, symbol, args) LS_DL_NEED(struct ls_cuda, member, #symbol),
static const struct ls_dl_sym symbols[] = {LS_CUDA_FUNCTIONS(SYMBOL) LS_DL_END};
#undef SYMBOL

/* Turns cu into a sentence. cuda is filled; the device's info may still be empty. */
static int explain(const struct ls_cuda *cuda, const struct ls_gpu_info *info, unsigned cu,
		   const char *doing, struct ls_err *err)
{
	struct ls_cuda_err_context c = {.doing = doing,
					.driver_cuda = info->driver_cuda,
					.cc = info->cc,
					.opening = !info->opened};
	if (cuda->error_name(cu, &c.name) != LS_CU_SUCCESS)
		c.name = NULL;
	if (cuda->error_text(cu, &c.text) != LS_CU_SUCCESS)
		c.text = NULL;
	return ls_cuda_err(cu, &c, err);
}

static int library_open(const char *library, struct ls_cuda *cuda, struct ls_dl **ret,
			struct ls_err *err)
{
	/* Under WSL the library is outside the loader's path. The path is tried only
	 * where it exists, so that messages elsewhere do not speak of it. */
	static const char wsl[] = "/usr/lib/wsl/lib/libcuda.so.1";
	const char *const names[] = {library ? library : "libcuda.so.1",
				     !library && ls_file_exists(wsl) ? wsl : NULL, NULL};
	struct ls_dl *lib;
	struct ls_err why;
	if (ls_dl_open(names, symbols, cuda, &lib, &why))
		return ls_err_set(
			err, LS_EUNKNOWN,
			"no usable NVIDIA driver here (%s): install one, or use --device cpu",
			why.msg);
	unsigned cu = cuda->init(0);
	if (cu) {
		int rc = explain(cuda, &(struct ls_gpu_info){0}, cu, "starting the NVIDIA driver",
				 err);
		ls_dl_close(lib);
		return rc;
	}
	/* The driver starts threads and does not support being unloaded: it stays until
	 * the process ends. */
	void *pin = dlopen(ls_dl_path(lib), RTLD_LAZY | RTLD_NODELETE);
	if (pin)
		dlclose(pin);
	*ret = lib;
	return 0;
}

int ls_gpu_count(const char *library, int *ret_devices, int *ret_driver_cuda, struct ls_err *err)
{
	struct ls_cuda cuda;
	struct ls_dl *lib = NULL;
	int rc = library_open(library, &cuda, &lib, err), devices = 0, version = 0;
	if (rc)
		return rc;
	unsigned cu = cuda.version(&version);
	if (!cu)
		cu = cuda.count(&devices);
	if (cu == LS_CU_NO_DEVICE)
		cu = 0;
	if (cu)
		rc = explain(&cuda, &(struct ls_gpu_info){0}, cu, "counting the GPUs", err);
	ls_dl_close(lib);
	if (rc)
		return rc;
	*ret_devices = devices;
	*ret_driver_cuda = version;
	return 0;
}

/* --- failures of an open device --- */

static int failed(struct ls_gpu *gpu, unsigned cu, struct ls_err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int failed(struct ls_gpu *gpu, unsigned cu, struct ls_err *err, const char *fmt, ...)
{
	char doing[200], where[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(doing, sizeof doing, fmt, ap);
	va_end(ap);
	snprintf(where, sizeof where, "cuda:%d (%s%s%s): %s", gpu->info.index, gpu->info.name,
		 gpu->info.pci[0] ? ", " : "", gpu->info.pci, doing);
	gpu->lost = gpu->lost || ls_cuda_err_is_lost(cu);
	return explain(&gpu->cu, &gpu->info, cu, where, err);
}

/* A lost device is not asked again: drivers differ in whether they repeat the error,
 * return another, or hang. */
static int usable(const struct ls_gpu *gpu, struct ls_err *err)
{
	if (!gpu->lost)
		return 0;
	return ls_err_set(
		err, LS_EIO,
		"cuda:%d (%s): the device was lost earlier; start again from the last checkpoint",
		gpu->info.index, gpu->info.name);
}

/* --- opening --- */

static unsigned attributes(const struct ls_cuda *cuda, int device, struct ls_gpu_info *info)
{
	int major = 0, minor = 0, l2 = 0, shared_mp = 0, shared_block = 0, cooperative = 0,
	    integrated = 0;
	const struct {
		unsigned attribute;
		int *to;
	} wanted[] = {
		{LS_CU_ATTR_CC_MAJOR, &major},
		{LS_CU_ATTR_CC_MINOR, &minor},
		{LS_CU_ATTR_MULTIPROCESSORS, &info->multiprocessors},
		{LS_CU_ATTR_WARP_SIZE, &info->warp},
		{LS_CU_ATTR_MAX_THREADS_PER_BLOCK, &info->max_threads_per_block},
		{LS_CU_ATTR_MAX_THREADS_PER_MULTIPROCESSOR, &info->max_threads_per_multiprocessor},
		{LS_CU_ATTR_COPY_ENGINES, &info->copy_engines},
		{LS_CU_ATTR_L2_BYTES, &l2},
		{LS_CU_ATTR_SHARED_PER_MULTIPROCESSOR, &shared_mp},
		{LS_CU_ATTR_SHARED_PER_BLOCK_OPTIN, &shared_block},
		{LS_CU_ATTR_COOPERATIVE_LAUNCH, &cooperative},
		{LS_CU_ATTR_INTEGRATED, &integrated},
	};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		unsigned cu = cuda->attribute(wanted[i].to, wanted[i].attribute, device);
		if (cu)
			return cu;
	}
	info->cc = major * 10 + minor;
	info->l2 = (uint64_t)l2;
	info->shared_per_multiprocessor = (uint64_t)shared_mp;
	info->shared_per_block = (uint64_t)shared_block;
	info->cooperative = cooperative != 0;
	info->integrated = integrated != 0;
	return 0;
}

static unsigned describe(struct ls_gpu *gpu)
{
	struct ls_gpu_info *info = &gpu->info;
	size_t memory = 0;
	unsigned cu = gpu->cu.device(&gpu->device, info->index);
	if (!cu)
		cu = gpu->cu.name(info->name, sizeof info->name - 1, gpu->device);
	if (!cu)
		cu = gpu->cu.total_mem(&memory, gpu->device);
	if (!cu)
		cu = attributes(&gpu->cu, gpu->device, info);
	info->memory = memory;
	if (!cu && gpu->cu.pci_bus_id(info->pci, sizeof info->pci - 1, gpu->device))
		info->pci[0] = 0; /* only for messages */
	return cu;
}

static int choose(struct ls_gpu *gpu, int index, struct ls_err *err)
{
	int devices = 0;
	unsigned cu = gpu->cu.version(&gpu->info.driver_cuda);
	if (!cu)
		cu = gpu->cu.count(&devices);
	if (!cu && devices == 0)
		cu = LS_CU_NO_DEVICE;
	if (cu)
		return explain(&gpu->cu, &gpu->info, cu, "counting the GPUs", err);
	if (index < 0 || index >= devices)
		return ls_err_set(err, LS_EINPUT,
				  "there is no device cuda:%d: the GPUs visible here are numbered "
				  "0 to %d; see "
				  "nvidia-smi -L and CUDA_VISIBLE_DEVICES",
				  index, devices - 1);
	gpu->info.index = index;
	return 0;
}

int ls_gpu_bandwidth(const char *library, int index, double *ret, struct ls_err *err)
{
	struct ls_gpu gpu = {0};
	int khz = 0, bits = 0, rc = library_open(library, &gpu.cu, &gpu.lib, err);
	if (!rc)
		rc = choose(&gpu, index, err);
	if (!rc) {
		unsigned cu = gpu.cu.device(&gpu.device, index);
		if (!cu)
			cu = gpu.cu.attribute(&khz, LS_CU_ATTR_MEMORY_KHZ, gpu.device);
		if (!cu)
			cu = gpu.cu.attribute(&bits, LS_CU_ATTR_MEMORY_BITS, gpu.device);
		if (cu)
			rc = failed(&gpu, cu, err, "asking for the speed of its memory");
	}
	ls_dl_close(gpu.lib);
	if (!rc)
		*ret = 2e3 * (double)khz * (double)bits / 8; /* two transfers a cycle */
	return rc;
}

int ls_gpu_open(const char *library, int index, struct ls_gpu **ret, struct ls_err *err)
{
	struct ls_gpu *gpu = ls_xalloc(sizeof *gpu);
	int rc = library_open(library, &gpu->cu, &gpu->lib, err);
	if (!rc)
		rc = choose(gpu, index, err);
	if (!rc) {
		unsigned cu = describe(gpu);
		if (!cu)
			cu = gpu->cu.retain(&gpu->context, gpu->device);
		if (cu)
			rc = failed(gpu, cu, err, "opening the device");
	}
	if (!rc)
		rc = ls_gpu_use(gpu, err);
	gpu->info.opened = rc == 0;
	if (rc) {
		ls_gpu_close(gpu);
		return rc;
	}
	*ret = gpu;
	return 0;
}

static int adopt(struct ls_gpu *gpu, struct ls_err *err)
{
	int device = 0;
	unsigned cu = gpu->cu.get_current(&gpu->context);
	if (!cu && !gpu->context)
		return ls_err_set(err, LS_EINPUT,
				  "this thread has no CUDA context: make a device current first");
	if (!cu)
		cu = gpu->cu.get_device(&device);
	if (cu)
		return explain(&gpu->cu, &gpu->info, cu, "asking for the current device", err);
	int rc = choose(gpu, device, err);
	if (rc)
		return rc;
	cu = describe(gpu);
	gpu->info.opened = cu == 0;
	return cu ? failed(gpu, cu, err, "looking at the device") : 0;
}

int ls_gpu_adopt(struct ls_gpu **ret, struct ls_err *err)
{
	struct ls_gpu *gpu = ls_xalloc(sizeof *gpu);
	gpu->adopted = true;
	int rc = library_open(NULL, &gpu->cu, &gpu->lib, err);
	if (!rc)
		rc = adopt(gpu, err);
	if (rc)
		ls_gpu_close(gpu);
	else
		*ret = gpu;
	return rc;
}

const void *ls_gpu_current(const struct ls_gpu *gpu)
{
	ls_cu_context c = NULL;
	return gpu->cu.get_current(&c) ? NULL : c;
}

const void *ls_gpu_context(const struct ls_gpu *gpu)
{
	return gpu->context;
}

void ls_gpu_close(struct ls_gpu *gpu)
{
	if (!gpu)
		return;
	if (gpu->context && !gpu->adopted) {
		gpu->cu.set_current(NULL);
		gpu->cu.release(gpu->device);
	}
	ls_dl_close(gpu->lib);
	free(gpu);
}

const struct ls_gpu_info *ls_gpu_info(const struct ls_gpu *gpu)
{
	return &gpu->info;
}

bool ls_gpu_is_lost(const struct ls_gpu *gpu)
{
	return gpu->lost;
}

int ls_gpu_use(struct ls_gpu *gpu, struct ls_err *err)
{
	unsigned cu = gpu->cu.set_current(gpu->context);
	return cu ? failed(gpu, cu, err, "choosing the device") : 0;
}

/* --- memory --- */

int ls_gpu_mem_info(struct ls_gpu *gpu, uint64_t *ret_free, uint64_t *ret_total, struct ls_err *err)
{
	size_t avail = 0, total = 0;
	int rc = usable(gpu, err);
	if (rc)
		return rc;
	unsigned cu = gpu->cu.mem_info(&avail, &total);
	if (cu)
		return failed(gpu, cu, err, "asking for free memory");
	*ret_free = avail;
	*ret_total = total;
	return 0;
}

static int no_room(struct ls_gpu *gpu, unsigned cu, uint64_t bytes, const char *what,
		   struct ls_err *err)
{
	size_t avail = 0, total = 0;
	char size[LS_SIZE_TEXT], have[LS_SIZE_TEXT], all[LS_SIZE_TEXT];
	ls_str_of_size(bytes, size);
	if (cu != LS_CU_OUT_OF_MEMORY || gpu->cu.mem_info(&avail, &total))
		return failed(gpu, cu, err, "allocating %s for %s", size, what);
	ls_str_of_size(avail, have);
	ls_str_of_size(total, all);
	return failed(gpu, cu, err, "allocating %s for %s with %s of %s free", size, what, have,
		      all);
}

int ls_gpu_alloc(struct ls_gpu *gpu, uint64_t bytes, const char *what, ls_cu_ptr *ret,
		 struct ls_err *err)
{
	ls_cu_ptr p = 0;
	int rc = usable(gpu, err);
	if (rc)
		return rc;
	unsigned cu = gpu->cu.alloc(&p, bytes ? bytes : 1); /* the driver refuses 0 */
	if (cu)
		return no_room(gpu, cu, bytes, what, err);
	*ret = p;
	return 0;
}

void ls_gpu_free(struct ls_gpu *gpu, ls_cu_ptr p)
{
	if (p)
		gpu->cu.free(p);
}

int ls_gpu_host_alloc(struct ls_gpu *gpu, uint64_t bytes, const char *what, void **ret,
		      struct ls_err *err)
{
	void *p = NULL;
	int rc = usable(gpu, err);
	if (rc)
		return rc;
	unsigned cu = gpu->cu.host_alloc(&p, bytes ? bytes : 1, LS_CU_HOSTALLOC_PORTABLE);
	if (cu == LS_CU_OUT_OF_MEMORY) {
		char size[LS_SIZE_TEXT];
		ls_str_of_size(bytes, size);
		return ls_err_set(err, LS_ENOMEM,
				  "the machine has no %s of memory to lock for %s; see `ulimit -l` "
				  "and free memory",
				  size, what);
	}
	if (cu)
		return failed(gpu, cu, err, "locking host memory for %s", what);
	*ret = p;
	return 0;
}

void ls_gpu_host_free(struct ls_gpu *gpu, void *p)
{
	if (p)
		gpu->cu.host_free(p);
}

int ls_gpu_host_register(struct ls_gpu *gpu, void *p, uint64_t bytes, struct ls_err *err)
{
	int rc = usable(gpu, err);
	if (rc)
		return rc;
	unsigned cu = gpu->cu.host_register(p, bytes, LS_CU_HOSTALLOC_PORTABLE);
	return cu ? failed(gpu, cu, err, "locking host memory") : 0;
}

void ls_gpu_host_unregister(struct ls_gpu *gpu, void *p)
{
	if (p)
		gpu->cu.host_unregister(p);
}

/* --- in stream order --- */

int ls_gpu_upload(struct ls_gpu *gpu, ls_cu_stream s, ls_cu_ptr to, const void *from,
		  uint64_t bytes, struct ls_err *err)
{
	int rc = usable(gpu, err);
	if (rc || bytes == 0)
		return rc;
	unsigned cu = gpu->cu.upload(to, from, bytes, s);
	return cu ? failed(gpu, cu, err, "copying to the device") : 0;
}

int ls_gpu_download(struct ls_gpu *gpu, ls_cu_stream s, void *to, ls_cu_ptr from, uint64_t bytes,
		    struct ls_err *err)
{
	int rc = usable(gpu, err);
	if (rc || bytes == 0)
		return rc;
	unsigned cu = gpu->cu.download(to, from, bytes, s);
	return cu ? failed(gpu, cu, err, "copying from the device") : 0;
}

int ls_gpu_copy(struct ls_gpu *gpu, ls_cu_stream s, ls_cu_ptr to, ls_cu_ptr from, uint64_t bytes,
		struct ls_err *err)
{
	int rc = usable(gpu, err);
	if (rc || bytes == 0)
		return rc;
	unsigned cu = gpu->cu.copy(to, from, bytes, s);
	return cu ? failed(gpu, cu, err, "copying on the device") : 0;
}

int ls_gpu_fill(struct ls_gpu *gpu, ls_cu_stream s, ls_cu_ptr to, unsigned char byte,
		uint64_t bytes, struct ls_err *err)
{
	int rc = usable(gpu, err);
	if (rc || bytes == 0)
		return rc;
	unsigned cu = gpu->cu.fill(to, byte, bytes, s);
	return cu ? failed(gpu, cu, err, "filling device memory") : 0;
}

int ls_gpu_stream_new(struct ls_gpu *gpu, ls_cu_stream *ret, struct ls_err *err)
{
	ls_cu_stream s = NULL;
	int rc = usable(gpu, err);
	if (rc)
		return rc;
	unsigned cu = gpu->cu.stream_create(&s, LS_CU_STREAM_NON_BLOCKING);
	if (cu)
		return failed(gpu, cu, err, "making a stream");
	*ret = s;
	return 0;
}

void ls_gpu_stream_free(struct ls_gpu *gpu, ls_cu_stream s)
{
	if (s)
		gpu->cu.stream_destroy(s);
}

int ls_gpu_sync(struct ls_gpu *gpu, ls_cu_stream s, struct ls_err *err)
{
	int rc = usable(gpu, err);
	if (rc)
		return rc;
	unsigned cu = gpu->cu.stream_sync(s);
	return cu ? failed(gpu, cu, err, "waiting for the device") : 0;
}

/* --- events --- */

int ls_gpu_event_new(struct ls_gpu *gpu, bool timed, ls_cu_event *ret, struct ls_err *err)
{
	ls_cu_event e = NULL;
	int rc = usable(gpu, err);
	if (rc)
		return rc;
	unsigned cu =
		gpu->cu.event_create(&e, timed ? LS_CU_EVENT_DEFAULT : LS_CU_EVENT_DISABLE_TIMING);
	if (cu)
		return failed(gpu, cu, err, "making an event");
	*ret = e;
	return 0;
}

void ls_gpu_event_free(struct ls_gpu *gpu, ls_cu_event e)
{
	if (e)
		gpu->cu.event_destroy(e);
}

int ls_gpu_event_record(struct ls_gpu *gpu, ls_cu_stream s, ls_cu_event e, struct ls_err *err)
{
	int rc = usable(gpu, err);
	if (rc)
		return rc;
	unsigned cu = gpu->cu.event_record(e, s);
	return cu ? failed(gpu, cu, err, "recording an event") : 0;
}

int ls_gpu_event_wait(struct ls_gpu *gpu, ls_cu_stream s, ls_cu_event e, struct ls_err *err)
{
	int rc = usable(gpu, err);
	if (rc)
		return rc;
	unsigned cu = gpu->cu.stream_wait(s, e, 0);
	return cu ? failed(gpu, cu, err, "ordering two streams") : 0;
}

int ls_gpu_event_sync(struct ls_gpu *gpu, ls_cu_event e, struct ls_err *err)
{
	int rc = usable(gpu, err);
	if (rc)
		return rc;
	unsigned cu = gpu->cu.event_sync(e);
	return cu ? failed(gpu, cu, err, "waiting for the device") : 0;
}

int ls_gpu_event_done(struct ls_gpu *gpu, ls_cu_event e, bool *ret, struct ls_err *err)
{
	int rc = usable(gpu, err);
	if (rc)
		return rc;
	unsigned cu = gpu->cu.event_query(e);
	if (cu && cu != LS_CU_NOT_READY)
		return failed(gpu, cu, err, "asking for an event");
	*ret = cu == LS_CU_SUCCESS;
	return 0;
}

int ls_gpu_event_ms(struct ls_gpu *gpu, ls_cu_event from, ls_cu_event to, double *ret,
		    struct ls_err *err)
{
	float ms = 0;
	int rc = usable(gpu, err);
	if (rc)
		return rc;
	unsigned cu = gpu->cu.event_elapsed(&ms, from, to);
	if (cu)
		return failed(gpu, cu, err, "timing the device");
	*ret = (double)ms;
	return 0;
}

/* --- code --- */

enum { LOG_BYTES = 2048 };

/* Adds the first line of the compiler's log, which names the faulty PTX line. */
static int failed_code(struct ls_gpu *gpu, unsigned cu, char *log, const char *name,
		       const char *doing, struct ls_err *err)
{
	log[LOG_BYTES - 1] = 0;
	log[strcspn(log, "\n")] = 0;
	if (*log)
		return failed(gpu, cu, err, "%s %s (%.120s)", doing, name, log);
	return failed(gpu, cu, err, "%s %s", doing, name);
}

int ls_gpu_module_load(struct ls_gpu *gpu, const char *name, const void *image, ls_cu_module *ret,
		       unsigned *ret_cu, struct ls_err *err)
{
	char log[LOG_BYTES] = "";
	unsigned options[] = {LS_CU_JIT_ERROR_LOG, LS_CU_JIT_ERROR_LOG_BYTES}, cu = 0;
	void *values[] = {log, (void *)(uintptr_t)sizeof log};
	ls_cu_module m = NULL;
	int rc = usable(gpu, err);
	if (!rc) {
		cu = gpu->cu.module_load(&m, image, 2, options, values);
		if (cu)
			rc = failed_code(gpu, cu, log, name, "loading the kernels", err);
	}
	if (ret_cu)
		*ret_cu = cu;
	if (!rc)
		*ret = m;
	return rc;
}

void ls_gpu_module_free(struct ls_gpu *gpu, ls_cu_module m)
{
	if (m)
		gpu->cu.module_unload(m);
}

static unsigned assemble(const struct ls_cuda *cuda, ls_cu_link link, const char *name,
			 const char *ptx, size_t len, void **ret, size_t *ret_len)
{
	void *image = NULL, *copy;
	size_t size = 0;
	/* the driver wants the closing NUL counted, and does not write through the
	 * pointer */
	unsigned cu = cuda->link_add(link, LS_CU_JIT_INPUT_PTX, (void *)(uintptr_t)ptx, len + 1,
				     name, 0, NULL, NULL);
	if (!cu)
		cu = cuda->link_complete(link, &image, &size);
	if (cu)
		return cu;
	copy = ls_alloc_array(size ? size : 1, 1);
	if (!copy)
		return LS_CU_OUT_OF_MEMORY;
	memcpy(copy, image, size); /* the image goes with the link */
	*ret = copy;
	*ret_len = size;
	return 0;
}

int ls_gpu_assemble(struct ls_gpu *gpu, const char *name, const char *ptx, size_t len, void **ret,
		    size_t *ret_len, unsigned *ret_cu, struct ls_err *err)
{
	char log[LOG_BYTES] = "";
	unsigned options[] = {LS_CU_JIT_ERROR_LOG, LS_CU_JIT_ERROR_LOG_BYTES}, cu = 0;
	void *values[] = {log, (void *)(uintptr_t)sizeof log};
	ls_cu_link link = NULL;
	int rc = usable(gpu, err);
	if (!rc) {
		cu = gpu->cu.link_create(2, options, values, &link);
		if (!cu) {
			cu = assemble(&gpu->cu, link, name, ptx, len, ret, ret_len);
			gpu->cu.link_destroy(link);
		}
		if (cu)
			rc = failed_code(gpu, cu, log, name, "compiling the kernels", err);
	}
	if (ret_cu)
		*ret_cu = cu;
	return rc;
}

int ls_gpu_kernel(struct ls_gpu *gpu, ls_cu_module m, const char *name, struct ls_gpu_kernel *ret,
		  struct ls_err *err)
{
	struct ls_gpu_kernel k = {.name = name};
	int rc = usable(gpu, err);
	if (rc)
		return rc;
	const struct {
		unsigned attribute;
		int *to;
	} wanted[] = {{LS_CU_FUNC_MAX_THREADS, &k.max_threads},
		      {LS_CU_FUNC_REGISTERS, &k.registers},
		      {LS_CU_FUNC_SHARED_BYTES, &k.shared},
		      {LS_CU_FUNC_LOCAL_BYTES, &k.local}};
	unsigned cu = gpu->cu.module_function(&k.f, m, name);
	for (size_t i = 0; !cu && i < sizeof wanted / sizeof *wanted; i++)
		cu = gpu->cu.func_get(wanted[i].to, wanted[i].attribute, k.f);
	if (cu)
		return failed(gpu, cu, err, "finding the kernel %s", name);
	*ret = k;
	return 0;
}

int ls_gpu_kernel_shared(struct ls_gpu *gpu, const struct ls_gpu_kernel *k, unsigned bytes,
			 struct ls_err *err)
{
	int rc = usable(gpu, err);
	if (rc)
		return rc;
	unsigned cu = gpu->cu.func_set(k->f, LS_CU_FUNC_MAX_DYNAMIC_SHARED, (int)bytes);
	return cu ? failed(gpu, cu, err, "asking for %u bytes of shared memory for %s", bytes,
			   k->name)
		  : 0;
}

int ls_gpu_kernel_blocks(struct ls_gpu *gpu, const struct ls_gpu_kernel *k, unsigned threads,
			 unsigned shared, int *ret, struct ls_err *err)
{
	int blocks = 0, rc = usable(gpu, err);
	if (rc)
		return rc;
	unsigned cu = gpu->cu.occupancy(&blocks, k->f, (int)threads, shared);
	if (cu)
		return failed(gpu, cu, err, "asking how many blocks of %s fit", k->name);
	*ret = blocks;
	return 0;
}

int ls_gpu_launch(struct ls_gpu *gpu, ls_cu_stream s, const struct ls_gpu_kernel *k,
		  const struct ls_gpu_shape *shape, void **args, struct ls_err *err)
{
	int rc = usable(gpu, err);
	if (rc)
		return rc;
	unsigned d[6], cu;
	for (int i = 0; i < 3; i++) {
		d[i] = shape->grid[i] ? shape->grid[i] : 1;
		d[i + 3] = shape->block[i] ? shape->block[i] : 1;
	}
	if (shape->cooperative)
		cu = gpu->cu.launch_cooperative(k->f, d[0], d[1], d[2], d[3], d[4], d[5],
						shape->shared, s, args);
	else
		cu = gpu->cu.launch(k->f, d[0], d[1], d[2], d[3], d[4], d[5], shape->shared, s,
				    args, NULL);
	return cu ? failed(gpu, cu, err,
			   "launching %s as %u x %u x %u blocks of %u x %u x %u threads", k->name,
			   d[0], d[1], d[2], d[3], d[4], d[5])
		  : 0;
}

/* --- graphs --- */

int ls_gpu_capture_begin(struct ls_gpu *gpu, ls_cu_stream s, struct ls_err *err)
{
	int rc = usable(gpu, err);
	if (rc)
		return rc;
	unsigned cu = gpu->cu.capture_begin(s, LS_CU_CAPTURE_THREAD_LOCAL);
	return cu ? failed(gpu, cu, err, "beginning a graph") : 0;
}

int ls_gpu_capture_end(struct ls_gpu *gpu, ls_cu_stream s, ls_cu_graph_exec *ret,
		       struct ls_err *err)
{
	ls_cu_graph graph = NULL;
	ls_cu_graph_exec exec = NULL;
	unsigned cu = gpu->cu.capture_end(s, &graph);
	if (!cu)
		cu = gpu->cu.graph_instantiate(&exec, graph, 0);
	if (graph)
		gpu->cu.graph_destroy(graph);
	if (cu)
		return failed(gpu, cu, err, "making a graph");
	*ret = exec;
	return 0;
}

void ls_gpu_capture_drop(struct ls_gpu *gpu, ls_cu_stream s)
{
	ls_cu_graph graph = NULL;
	gpu->cu.capture_end(s, &graph); /* its error is one that the caller knows already */
	if (graph)
		gpu->cu.graph_destroy(graph);
}

int ls_gpu_graph_launch(struct ls_gpu *gpu, ls_cu_stream s, ls_cu_graph_exec g, struct ls_err *err)
{
	int rc = usable(gpu, err);
	if (rc)
		return rc;
	unsigned cu = gpu->cu.graph_launch(g, s);
	return cu ? failed(gpu, cu, err, "launching a graph") : 0;
}

void ls_gpu_graph_free(struct ls_gpu *gpu, ls_cu_graph_exec g)
{
	if (g)
		gpu->cu.graph_exec_destroy(g);
}
