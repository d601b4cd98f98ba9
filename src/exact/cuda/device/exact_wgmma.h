/* Instructions of the exact product's kernel for compute capability 9.0: copies of whole
 * blocks into shared memory that tell a barrier when they are there, and products of bytes
 * by four warps together, which read both sides from shared memory. Device code;
 * tests/fake/simt.h has the same functions for the host. */
#ifndef LS_EXACT_CUDA_WGMMA_H
#define LS_EXACT_CUDA_WGMMA_H

#include "num/port.h"

#if defined(__CUDACC__)
static __device__ __forceinline__ unsigned ls_shared_address(const void *p)
{
	return (unsigned)__cvta_generic_to_shared(p);
}

/* --- barriers: a phase ends when `count` threads have arrived and all bytes that were
 * expected are there --- */

static __device__ __forceinline__ void ls_barrier_init(uint64_t *b, unsigned count)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(ls_shared_address(b)),
		     "r"(count)
		     : "memory");
}

/* After the barriers of a block are made, before other threads use them. */
static __device__ __forceinline__ void ls_barriers_made()
{
	asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

static __device__ __forceinline__ void ls_barrier_arrive(uint64_t *b)
{
	asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(ls_shared_address(b))
		     : "memory");
}

/* Arrives, and expects so many bytes. */
static __device__ __forceinline__ void ls_barrier_expect(uint64_t *b, unsigned bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
			     ls_shared_address(b)),
		     "r"(bytes)
		     : "memory");
}

/* Until the phase of this parity has ended. */
static __device__ __forceinline__ void ls_barrier_wait(uint64_t *b, unsigned parity)
{
	unsigned done;
	do
		asm volatile("{ .reg .pred p; "
			     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
			     "selp.u32 %0, 1, 0, p; }"
			     : "=r"(done)
			     : "r"(ls_shared_address(b)), "r"(parity)
			     : "memory");
	while (!done);
}

/* A multiple of 16 bytes from global to shared memory. */
static __device__ __forceinline__ void ls_copy_block(void *to, const void *from, unsigned bytes,
						     uint64_t *b)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
		     "[%0], [%1], %2, [%3];" ::"r"(ls_shared_address(to)),
		     "l"(from), "r"(bytes), "r"(ls_shared_address(b))
		     : "memory");
}

/* --- registers of four warps: fewer, so that others can have more --- */

template <int N> static __device__ __forceinline__ void ls_registers_give()
{
	asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}

template <int N> static __device__ __forceinline__ void ls_registers_take()
{
	asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

/* --- products: a group of them is under way until ls_wgmma_wait says otherwise --- */

static __device__ __forceinline__ void ls_wgmma_begin()
{
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

static __device__ __forceinline__ void ls_wgmma_commit()
{
	asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Until at most N of the groups committed last are under way. */
template <int N> static __device__ __forceinline__ void ls_wgmma_wait()
{
	asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

/* Lines of 128 bytes in blocks as exact_args.h has them, from a byte of line 0 on. */
static __device__ __forceinline__ uint64_t ls_wgmma_side(const void *at)
{
	const uint64_t eight_lines = 1024, exchanged = 1;
	return (uint64_t)(ls_shared_address(at) >> 4 & 0x3fff) | (uint64_t)1 << 16 |
	       eight_lines >> 4 << 32 | exchanged << 62;
}

#define LS_WGMMA_64(ta, tb)                                                                        \
	asm volatile("wgmma.mma_async.sync.aligned.m64n64k32.s32." ta "." tb " "                   \
		     "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "     \
		     "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, " \
		     "%31}, "                                                                      \
		     "%32, %33, 1;"                                                                \
		     : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]), "+r"(c[4]), "+r"(c[5]),     \
		       "+r"(c[6]), "+r"(c[7]), "+r"(c[8]), "+r"(c[9]), "+r"(c[10]), "+r"(c[11]),   \
		       "+r"(c[12]), "+r"(c[13]), "+r"(c[14]), "+r"(c[15]), "+r"(c[16]),            \
		       "+r"(c[17]), "+r"(c[18]), "+r"(c[19]), "+r"(c[20]), "+r"(c[21]),            \
		       "+r"(c[22]), "+r"(c[23]), "+r"(c[24]), "+r"(c[25]), "+r"(c[26]),            \
		       "+r"(c[27]), "+r"(c[28]), "+r"(c[29]), "+r"(c[30]), "+r"(c[31])             \
		     : "l"(ls_wgmma_side(a)), "l"(ls_wgmma_side(b)))

#define LS_WGMMA_128(ta, tb)                                                                       \
	asm volatile(                                                                              \
		"wgmma.mma_async.sync.aligned.m64n128k32.s32." ta "." tb " "                       \
		"{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "          \
		"%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
		"%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
		"%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, "      \
		"%63}, "                                                                           \
		"%64, %65, 1;"                                                                     \
		: "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]), "+r"(c[4]), "+r"(c[5]),          \
		  "+r"(c[6]), "+r"(c[7]), "+r"(c[8]), "+r"(c[9]), "+r"(c[10]), "+r"(c[11]),        \
		  "+r"(c[12]), "+r"(c[13]), "+r"(c[14]), "+r"(c[15]), "+r"(c[16]), "+r"(c[17]),    \
		  "+r"(c[18]), "+r"(c[19]), "+r"(c[20]), "+r"(c[21]), "+r"(c[22]), "+r"(c[23]),    \
		  "+r"(c[24]), "+r"(c[25]), "+r"(c[26]), "+r"(c[27]), "+r"(c[28]), "+r"(c[29]),    \
		  "+r"(c[30]), "+r"(c[31]), "+r"(c[32]), "+r"(c[33]), "+r"(c[34]), "+r"(c[35]),    \
		  "+r"(c[36]), "+r"(c[37]), "+r"(c[38]), "+r"(c[39]), "+r"(c[40]), "+r"(c[41]),    \
		  "+r"(c[42]), "+r"(c[43]), "+r"(c[44]), "+r"(c[45]), "+r"(c[46]), "+r"(c[47]),    \
		  "+r"(c[48]), "+r"(c[49]), "+r"(c[50]), "+r"(c[51]), "+r"(c[52]), "+r"(c[53]),    \
		  "+r"(c[54]), "+r"(c[55]), "+r"(c[56]), "+r"(c[57]), "+r"(c[58]), "+r"(c[59]),    \
		  "+r"(c[60]), "+r"(c[61]), "+r"(c[62]), "+r"(c[63])                               \
		: "l"(ls_wgmma_side(a)), "l"(ls_wgmma_side(b)))

/* c (64 × 64) += a (64 × 32 bytes) b (64 × 32 bytes, transposed). */
template <bool A_SIGNED, bool B_SIGNED>
static __device__ __forceinline__ void ls_wgmma_64(int32_t *c, const void *a, const void *b)
{
	if (A_SIGNED && B_SIGNED)
		LS_WGMMA_64("s8", "s8");
	else if (A_SIGNED)
		LS_WGMMA_64("s8", "u8");
	else if (B_SIGNED)
		LS_WGMMA_64("u8", "s8");
	else
		LS_WGMMA_64("u8", "u8");
}

/* c (64 × 128) += a (64 × 32 bytes) b (128 × 32 bytes, transposed). */
template <bool A_SIGNED, bool B_SIGNED>
static __device__ __forceinline__ void ls_wgmma_128(int32_t *c, const void *a, const void *b)
{
	if (A_SIGNED && B_SIGNED)
		LS_WGMMA_128("s8", "s8");
	else if (A_SIGNED)
		LS_WGMMA_128("s8", "u8");
	else if (B_SIGNED)
		LS_WGMMA_128("u8", "s8");
	else
		LS_WGMMA_128("u8", "u8");
}
#endif

#endif
