/* What a kernel file (.cu) needs beyond CUDA C++ so that it runs on a GPU and also under
 * the tests' emulation. Owns nothing; device code only, empty for the C compiler. */
#ifndef LS_GPU_DEVICE_H
#define LS_GPU_DEVICE_H

/* LS_ALIGNED(p): p is a multiple of 16 bytes, as a vector load requires; the emulation
 * stops where it is not.
 * LS_LATER(x): the compiler may not use the float x before this point. Otherwise it would
 * wait for the load of x at the place where that stands.
 * LS_DYNAMIC_SHARED(T, name): name points to the block's dynamic shared memory, aligned
 * to 16 bytes.
 * The emulation (tests/fake/simt.h) defines its own. */
#if defined(__CUDACC__)
#define LS_ALIGNED(p)
#define LS_LATER(x) asm volatile("" : "+f"(x))
#define LS_DYNAMIC_SHARED(T, name)                                                                 \
	extern __shared__ __align__(16) unsigned char ls_dynamic_shared[];                         \
	T *name = (T *)ls_dynamic_shared
#endif

#endif
