/* A CUDA device through the driver API, loaded at run time: memory, copies, streams,
 * events, modules, launches, graphs. The caller owns what it makes and frees it before
 * the device; free functions accept 0 and NULL, and never fail. One thread at a time a
 * device; a thread other than the one that opened it calls ls_gpu_use first.
 *
 * Every failure is a sentence with what to do. LS_EUNKNOWN: no driver, no GPU, driver too
 * old, no code for this GPU. LS_EINPUT: no such device number. LS_ENOMEM: out of memory.
 * LS_EIO: the device is lost (ls_gpu_is_lost says so too): every later call on it fails,
 * and what its memory held is gone. LS_EINTERNAL: a call was wrong. */
#ifndef LS_GPU_DRIVER_H
#define LS_GPU_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "gpu/cuda_api.h"

struct ls_gpu;

struct ls_gpu_info {
	int index;
	char name[96];
	char pci[32]; /* "0000:18:00.0", as nvidia-smi and the kernel's Xid lines write it; "" when
			 unknown */
	int cc;       /* compute capability, 90 for 9.0 */
	int driver_cuda; /* newest CUDA the driver knows, 13000 for 13.0 */
	uint64_t memory;
	int multiprocessors, warp, max_threads_per_block, max_threads_per_multiprocessor;
	int copy_engines;
	uint64_t l2, shared_per_multiprocessor,
		shared_per_block; /* bytes; shared_per_block after opting in */
	bool cooperative, integrated;
	bool opened; /* it has a context, and things may run on it */
};

/* library: a path, or NULL for the system's libcuda.so.1. */
int ls_gpu_open(const char *library, int index, struct ls_gpu **ret, struct ls_err *err);
/* The device of the context that is current in this thread. The context stays the
 * caller's: ls_gpu_close leaves it alone. LS_EINPUT: there is none. */
int ls_gpu_adopt(struct ls_gpu **ret, struct ls_err *err);
/* The context that is current in this thread, as a name for it; NULL: none. gpu: any. */
const void *ls_gpu_current(const struct ls_gpu *gpu);
const void *ls_gpu_context(const struct ls_gpu *gpu);
void ls_gpu_close(struct ls_gpu *gpu);
const struct ls_gpu_info *ls_gpu_info(const struct ls_gpu *gpu);
bool ls_gpu_is_lost(const struct ls_gpu *gpu);
int ls_gpu_use(struct ls_gpu *gpu, struct ls_err *err); /* makes it the calling thread's device */

/* Without opening a device: how many there are (0 is an answer), and the driver's CUDA
 * version. */
int ls_gpu_count(const char *library, int *ret_devices, int *ret_driver_cuda, struct ls_err *err);
/* The peak memory bandwidth of a device in bytes a second, by its clock and bus width. It
 * need not be open. */
int ls_gpu_bandwidth(const char *library, int index, double *ret, struct ls_err *err);

/* --- memory; `what` names the memory in messages, as in "parameters" --- */
int ls_gpu_mem_info(struct ls_gpu *gpu, uint64_t *ret_free, uint64_t *ret_total,
		    struct ls_err *err);
int ls_gpu_alloc(struct ls_gpu *gpu, uint64_t bytes, const char *what, ls_cu_ptr *ret,
		 struct ls_err *err);
void ls_gpu_free(struct ls_gpu *gpu, ls_cu_ptr p);
/* Page-locked host memory, which copies at full speed and asynchronously. */
int ls_gpu_host_alloc(struct ls_gpu *gpu, uint64_t bytes, const char *what, void **ret,
		      struct ls_err *err);
void ls_gpu_host_free(struct ls_gpu *gpu, void *p);
/* Page-locks memory that exists already. A mapped file may refuse; the caller then copies
 * without. */
int ls_gpu_host_register(struct ls_gpu *gpu, void *p, uint64_t bytes, struct ls_err *err);
void ls_gpu_host_unregister(struct ls_gpu *gpu, void *p);

/* --- in stream order; the host side of a copy must stay until the stream has passed it.
 * bytes may be 0 --- */
int ls_gpu_upload(struct ls_gpu *gpu, ls_cu_stream s, ls_cu_ptr to, const void *from,
		  uint64_t bytes, struct ls_err *err);
int ls_gpu_download(struct ls_gpu *gpu, ls_cu_stream s, void *to, ls_cu_ptr from, uint64_t bytes,
		    struct ls_err *err);
int ls_gpu_copy(struct ls_gpu *gpu, ls_cu_stream s, ls_cu_ptr to, ls_cu_ptr from, uint64_t bytes,
		struct ls_err *err);
int ls_gpu_fill(struct ls_gpu *gpu, ls_cu_stream s, ls_cu_ptr to, unsigned char byte,
		uint64_t bytes, struct ls_err *err);

int ls_gpu_stream_new(struct ls_gpu *gpu, ls_cu_stream *ret, struct ls_err *err);
void ls_gpu_stream_free(struct ls_gpu *gpu, ls_cu_stream s);
int ls_gpu_sync(struct ls_gpu *gpu, ls_cu_stream s,
		struct ls_err *err); /* waits; reports what failed meanwhile */

/* --- events: order between streams, and time --- */
int ls_gpu_event_new(struct ls_gpu *gpu, bool timed, ls_cu_event *ret, struct ls_err *err);
void ls_gpu_event_free(struct ls_gpu *gpu, ls_cu_event e);
int ls_gpu_event_record(struct ls_gpu *gpu, ls_cu_stream s, ls_cu_event e, struct ls_err *err);
int ls_gpu_event_wait(struct ls_gpu *gpu, ls_cu_stream s, ls_cu_event e,
		      struct ls_err *err);                                    /* s waits, not we */
int ls_gpu_event_sync(struct ls_gpu *gpu, ls_cu_event e, struct ls_err *err); /* we wait */
int ls_gpu_event_done(struct ls_gpu *gpu, ls_cu_event e, bool *ret, struct ls_err *err);
int ls_gpu_event_ms(struct ls_gpu *gpu, ls_cu_event from, ls_cu_event to, double *ret,
		    struct ls_err *err);

/* --- code; gpu/kernels.h finds the image --- */
/* image: PTX text ending in a NUL, or a cubin. *ret_cu (may be NULL) is the driver's
 * code, also on failure, so that the caller can tell "this image is not for this driver"
 * from the rest. */
int ls_gpu_module_load(struct ls_gpu *gpu, const char *name, const void *image, ls_cu_module *ret,
		       unsigned *ret_cu, struct ls_err *err);
void ls_gpu_module_free(struct ls_gpu *gpu, ls_cu_module m);
/* PTX to machine code for this device, by the driver's compiler; the caller frees
 * *ret. */
int ls_gpu_assemble(struct ls_gpu *gpu, const char *name, const char *ptx, size_t len, void **ret,
		    size_t *ret_len, unsigned *ret_cu, struct ls_err *err);

struct ls_gpu_kernel {
	const char *name; /* borrowed from the caller of ls_gpu_kernel */
	ls_cu_function f;
	int max_threads, registers; /* per block, per thread */
	int shared, local;          /* bytes: static per block, spilled per thread */
};

int ls_gpu_kernel(struct ls_gpu *gpu, ls_cu_module m, const char *name, struct ls_gpu_kernel *ret,
		  struct ls_err *err);
/* Allows so much dynamic shared memory; beyond 48 KiB this call is needed. */
int ls_gpu_kernel_shared(struct ls_gpu *gpu, const struct ls_gpu_kernel *k, unsigned bytes,
			 struct ls_err *err);
/* Blocks of that shape that one multiprocessor holds at a time; 0 when none fits. */
int ls_gpu_kernel_blocks(struct ls_gpu *gpu, const struct ls_gpu_kernel *k, unsigned threads,
			 unsigned shared, int *ret, struct ls_err *err);

struct ls_gpu_shape {
	unsigned grid[3], block[3]; /* a 0 stands for 1 */
	unsigned shared;            /* dynamic, bytes */
	bool cooperative;           /* all blocks at once, so that they may wait for each other */
};

/* args: the address of each parameter, as cuLaunchKernel has it. */
int ls_gpu_launch(struct ls_gpu *gpu, ls_cu_stream s, const struct ls_gpu_kernel *k,
		  const struct ls_gpu_shape *shape, void **args, struct ls_err *err);

/* --- graphs: work put into s between begin and end is recorded, and then launched as one
 * --- */
int ls_gpu_capture_begin(struct ls_gpu *gpu, ls_cu_stream s, struct ls_err *err);
int ls_gpu_capture_end(struct ls_gpu *gpu, ls_cu_stream s, ls_cu_graph_exec *ret,
		       struct ls_err *err);
void ls_gpu_capture_drop(struct ls_gpu *gpu,
			 ls_cu_stream s); /* instead of end, after a failure in between */
int ls_gpu_graph_launch(struct ls_gpu *gpu, ls_cu_stream s, ls_cu_graph_exec g, struct ls_err *err);
void ls_gpu_graph_free(struct ls_gpu *gpu, ls_cu_graph_exec g);

#endif
