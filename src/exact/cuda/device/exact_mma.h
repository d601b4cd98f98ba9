/* Instructions of the exact product's kernel: copies into shared memory that overlap with
 * work, fragments, and products of bytes by tensor cores. Device code; tests/fake/simt.h
 * has the same functions for the host. */
#ifndef LS_EXACT_CUDA_MMA_H
#define LS_EXACT_CUDA_MMA_H

#include "num/port.h"

#if defined(__CUDACC__)
/* 16 bytes from global to shared memory; done when ls_wait_copies says so. */
static __device__ __forceinline__ void ls_copy16(void *to, const void *from)
{
#if __CUDA_ARCH__ >= 800
	unsigned at = (unsigned)__cvta_generic_to_shared(to);
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
#else
	*(uint4 *)to = *(const uint4 *)from;
#endif
}

static __device__ __forceinline__ void ls_commit_copies()
{
#if __CUDA_ARCH__ >= 800
	asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until at most N of the groups committed last are under way. */
template <int N> static __device__ __forceinline__ void ls_wait_copies()
{
#if __CUDA_ARCH__ >= 800
	asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

/* Four 8 × 16-byte matrices: lane l gets word l % 4 of row l / 4 of each; `row` is the
 * address of row l % 8 of matrix l / 8. */
static __device__ __forceinline__ void ls_load_fragments(uint32_t r[4], const void *row)
{
	unsigned at = (unsigned)__cvta_generic_to_shared(row);
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
		     : "r"(at));
}

#define LS_MMA_HALF(ta, tb, c0, c1, x, y)                                                          \
	asm volatile("mma.sync.aligned.m8n8k16.row.col.s32." ta "." tb                             \
		     ".s32 {%0, %1}, {%2}, {%3}, {%0, %1};"                                        \
		     : "+r"(c0), "+r"(c1)                                                          \
		     : "r"(x), "r"(y))
#define LS_MMA_WHOLE(ta, tb)                                                                       \
	asm volatile("mma.sync.aligned.m16n8k32.row.col.s32." ta "." tb                            \
		     ".s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"        \
		     : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                              \
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#if __CUDA_ARCH__ >= 800
#define LS_MMA(ta, tb) LS_MMA_WHOLE(ta, tb)
#else
#define LS_MMA(ta, tb)                                                                             \
	do {                                                                                       \
		LS_MMA_HALF(ta, tb, c[0], c[1], a[0], b[0]);                                       \
		LS_MMA_HALF(ta, tb, c[0], c[1], a[2], b[1]);                                       \
		LS_MMA_HALF(ta, tb, c[2], c[3], a[1], b[0]);                                       \
		LS_MMA_HALF(ta, tb, c[2], c[3], a[3], b[1]);                                       \
	} while (0)
#endif

/* c (16 × 8) += a (16 × 32 bytes) b (32 × 8), fragments as mma.m16n8k32 has them. */
template <bool A_SIGNED, bool B_SIGNED>
static __device__ __forceinline__ void ls_mma(int32_t c[4], const uint32_t a[4],
					      const uint32_t b[2])
{
	if (A_SIGNED && B_SIGNED)
		LS_MMA("s8", "s8");
	else if (A_SIGNED)
		LS_MMA("s8", "u8");
	else if (B_SIGNED)
		LS_MMA("u8", "s8");
	else
		LS_MMA("u8", "u8");
}
#endif

#endif
