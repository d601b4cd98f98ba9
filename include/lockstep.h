/* lockstep: machine-learning runs repeatable to the last bit. The only public header.
 *
 * Objects are opaque: `…_new` and its like make one, `…_free` frees it and accepts NULL.
 * Strings returned as const char * are borrowed and live as long as what they were asked
 * of. A char * or void * that a call gives away is freed by ls_free.
 *
 * A call that can fail returns 0 or a negative LS_E… and fills the caller's struct ls_err,
 * unless that is NULL. On failure what it would have returned by pointer is left alone.
 *
 * Any thread may call anything; one object is used by one call at a time, unless all of
 * them only read it. The library prints nothing, and leaves signal handlers, the locale
 * and the floating-point mode of its host as they are. */
#ifndef LOCKSTEP_H
#define LOCKSTEP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#define LS_API __attribute__((visibility("default")))
#else
#define LS_API
#endif

enum ls_code {
	LS_OK = 0,
	LS_EINPUT = -1,    /* bad usage or bad input */
	LS_EUNKNOWN = -2,  /* cannot tell here: no GPU, no driver, a tool is missing */
	LS_EIO = -3,       /* the machine refused: disk full, permission */
	LS_ENOMEM = -4,    /* no memory */
	LS_EINTERNAL = -5, /* a defect in lockstep */
	LS_ENOENT = -6,    /* a named file is not there */
	LS_EINTR = -7,     /* stopped on request, state saved */
	LS_EDIFFER = -8    /* a real negative answer; numbers that left the finite range */
};

struct ls_err {
	int code;       /* an enum ls_code */
	char msg[1024]; /* what was wrong, where, what to do; no newline at the end */
};

/* "MAJOR.MINOR.PATCH" of the library that is linked, not of this header. */
LS_API const char *ls_version(void);
/* Version of the arithmetic: two libraries with the same number compute the same bits
 * from the same input. */
LS_API int ls_numerics_version(void);
/* Frees a string or a block that a call gave away; accepts NULL. */
LS_API void ls_free(void *p);

/* --- exact operations: the same bits on a CPU and on a CUDA device ---
 *
 * The tensors of an operation are the caller's, and so is their memory, which is the
 * device's where `device` says so. What each operation computes: docs/NUMERICS.md. */

enum ls_exact_type {
	LS_EXACT_F32,
	LS_EXACT_BF16,
	LS_EXACT_F16,
	LS_EXACT_F64,
	LS_EXACT_I64,
	LS_EXACT_I32,
	LS_EXACT_U8,
	LS_EXACT_BOOL /* a byte: 0 or 1 */
};

enum ls_exact_device { LS_EXACT_CPU, LS_EXACT_CUDA };

/* Strides count elements, may be negative, and are 0 for what is broadcast. A tensor that
 * an operation may leave out has at NULL. */
struct ls_exact_tensor {
	void *at;
	int type; /* an enum ls_exact_type */
	int ndim;
	int64_t size[8], stride[8];
};

struct ls_exact_where {
	int device; /* an enum ls_exact_device; CUDA: the context that is current in this thread */
	void *stream;  /* CUDA: a CUstream; nothing waits for it */
	void *scratch; /* memory of the device, aligned to 256 bytes, until the stream has passed */
	size_t scratch_bytes;
	int threads;       /* CPU: at most so many; no number of them changes a bit */
	const char *cache; /* CUDA: a folder for compiled kernels, or NULL */
	const char *isa;   /* CPU: an instruction set by name; NULL: the fastest */
};

/* The tensors of an operation in their order, as words: one with '>' is written, one
 * with '~' may be the same as a written one, one in brackets may be left out. The numbers
 * likewise. */
struct ls_exact_op_info {
	const char *name, *tensors, *numbers;
};

/* One operation. LS_EINPUT: there is none of this name, or counts, types, shapes or
 * overlaps are wrong; nothing has been written then. */
LS_API int ls_exact_op(const char *name, const struct ls_exact_tensor *tensors, size_t n,
		       const double *numbers, size_t m, const struct ls_exact_where *where,
		       struct ls_err *err);
/* Bytes of scratch memory that it needs, often 0. */
LS_API int ls_exact_op_scratch(const char *name, const struct ls_exact_tensor *tensors, size_t n,
			       const double *numbers, size_t m, const struct ls_exact_where *where,
			       size_t *ret_bytes, struct ls_err *err);
/* The index-th operation; LS_ENOENT behind the last. */
LS_API int ls_exact_op_list(size_t index, struct ls_exact_op_info *ret);
/* Ends the threads and frees the kernels that operations have kept for the next one.
 * No operation may be under way. */
LS_API void ls_exact_release(void);

#ifdef __cplusplus
}
#endif

#endif
