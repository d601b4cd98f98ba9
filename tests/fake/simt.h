/* CUDA C++ on the host, for tests: a kernel file compiled by g++ with this header in
 * front runs as it stands, every CUDA thread a fiber of its own, so that __syncthreads
 * and warp shuffles are real. Blocks run one after another, those of a cooperative launch
 * at once, each in an OS thread. Threads are taken in the launch's order (forward,
 * reverse, shuffled). A barrier that some thread never reaches ends the process with a
 * message. Nothing here is fast.
 *
 * What kernels may use: threadIdx and kin, __shared__, LS_DYNAMIC_SHARED, __syncthreads,
 * __syncwarp, shuffles, votes, integer atomics, the vector types, bit and cast
 * intrinsics. A spin loop must call __nanosleep. */
#ifndef LS_TESTS_SIMT_H
#define LS_TESTS_SIMT_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>

#include "fake_cuda.h"

#define LS_SIMT 1
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__    __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __shared__   static thread_local /* a block stays in one OS thread */
#define __restrict__ __restrict

struct uint3 {
	unsigned x, y, z;
};
typedef uint3 dim3;

/* --- the scheduler, simt.cpp --- */

namespace simt
{
extern thread_local uint3 thread_index, block_index, block_dim, grid_dim;
void run(const fake_launch &launch, void (*call)(void *), void *context);
void *dynamic_shared();
void check_aligned(const void *p); /* to 16 bytes, or the process ends */
void sync_block();
void sync_warp(unsigned mask);
void yield();
/* Every lane of mask gives bytes and gets those of all lanes; out has 32 slots. */
void exchange(unsigned mask, const void *value, size_t size, void *out);
unsigned lane();
unsigned active_mask(); /* lanes of this warp that have not ended */

template <typename... A, size_t... I>
void call_kernel(void (*kernel)(A...), void **args, std::index_sequence<I...>)
{
	kernel(*static_cast<std::remove_reference_t<A> *>(args[I])...);
}

template <typename... A> void launch(const fake_launch &l, void (*kernel)(A...), void **args)
{
	auto context = std::make_pair(kernel, args);
	run(
		l,
		[](void *c) {
			auto *p = static_cast<decltype(context) *>(c);
			call_kernel(p->first, p->second, std::index_sequence_for<A...>());
		},
		&context);
}
} // namespace simt

#define SIMT_EXPORT(name)                                                                          \
	extern "C" __attribute__((visibility("default"))) void fake_kernel_##name(                 \
		const fake_launch *l, void **args)                                                 \
	{                                                                                          \
		simt::launch(*l, name, args);                                                      \
	}

#define threadIdx               simt::thread_index
#define blockIdx                simt::block_index
#define blockDim                simt::block_dim
#define gridDim                 simt::grid_dim
#define warpSize                32
#define LS_ALIGNED(p)           simt::check_aligned(p)
#define LS_LATER(x)             ((void)(x))
#define LS_DYNAMIC_SHARED(T, n) T *n = static_cast<T *>(simt::dynamic_shared())

static inline void __syncthreads()
{
	simt::sync_block();
}
static inline void __syncwarp(unsigned mask = 0xffffffffu)
{
	simt::sync_warp(mask);
}
static inline void __threadfence()
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void __threadfence_block()
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void __nanosleep(unsigned)
{
	simt::yield();
}
static inline unsigned __activemask()
{
	return simt::active_mask();
}

/* --- shuffles and votes; a lane outside its group of width gets its own value back, as
 * on a GPU --- */

template <typename T> T simt_take(unsigned mask, T value, unsigned from)
{
	T all[32];
	simt::exchange(mask, &value, sizeof value, all);
	return all[from];
}
template <typename T> T __shfl_sync(unsigned mask, T v, int from, int width = 32)
{
	unsigned base = simt::lane() & ~(unsigned)(width - 1);
	return simt_take(mask, v, base + ((unsigned)from & (unsigned)(width - 1)));
}
template <typename T> T __shfl_xor_sync(unsigned mask, T v, int bits, int width = 32)
{
	unsigned to = simt::lane() ^ (unsigned)bits,
		 top = (simt::lane() | (unsigned)(width - 1)) + 1;
	return simt_take(mask, v, to < top ? to : simt::lane());
}
template <typename T> T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32)
{
	unsigned to = simt::lane() + delta, top = (simt::lane() | (unsigned)(width - 1)) + 1;
	return simt_take(mask, v, to < top ? to : simt::lane());
}
template <typename T> T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32)
{
	unsigned base = simt::lane() & ~(unsigned)(width - 1);
	return simt_take(mask, v,
			 simt::lane() >= base + delta ? simt::lane() - delta : simt::lane());
}
static inline unsigned __ballot_sync(unsigned mask, int yes)
{
	int all[32];
	unsigned out = 0;
	simt::exchange(mask, &yes, sizeof yes, all);
	for (unsigned i = 0; i < 32; i++)
		if (mask >> i & 1 && all[i])
			out |= 1u << i;
	return out;
}
static inline int __any_sync(unsigned mask, int yes)
{
	return __ballot_sync(mask, yes) != 0;
}
static inline int __all_sync(unsigned mask, int yes)
{
	return __ballot_sync(mask, yes) == mask;
}
template <typename T> unsigned __match_any_sync(unsigned mask, T v)
{
	T all[32];
	unsigned out = 0;
	simt::exchange(mask, &v, sizeof v, all);
	for (unsigned i = 0; i < 32; i++)
		if (mask >> i & 1 && memcmp(&all[i], &v, sizeof v) == 0)
			out |= 1u << i;
	return out;
}
template <typename T, typename F> T simt_reduce(unsigned mask, T v, F op)
{
	T all[32];
	simt::exchange(mask, &v, sizeof v, all);
	T out = v;
	for (unsigned i = 0; i < 32; i++)
		if (mask >> i & 1 && i != simt::lane())
			out = op(out, all[i]);
	return out;
}
template <typename T> T __reduce_add_sync(unsigned mask, T v)
{
	return simt_reduce(mask, v, [](T a, T b) { return a + b; });
}
template <typename T> T __reduce_max_sync(unsigned mask, T v)
{
	return simt_reduce(mask, v, [](T a, T b) { return a > b ? a : b; });
}
template <typename T> T __reduce_min_sync(unsigned mask, T v)
{
	return simt_reduce(mask, v, [](T a, T b) { return a < b ? a : b; });
}

/* --- atomics, on integers only: the contract allows no others --- */

template <typename T, typename U> T atomicAdd(T *p, U v)
{
	return __atomic_fetch_add(p, (T)v, __ATOMIC_SEQ_CST);
}
/* wraps at v, which here is the largest number alone */
static inline unsigned atomicInc(unsigned *p, unsigned)
{
	return __atomic_fetch_add(p, 1u, __ATOMIC_SEQ_CST);
}
template <typename T, typename U> T atomicSub(T *p, U v)
{
	return __atomic_fetch_sub(p, (T)v, __ATOMIC_SEQ_CST);
}
template <typename T, typename U> T atomicOr(T *p, U v)
{
	return __atomic_fetch_or(p, (T)v, __ATOMIC_SEQ_CST);
}
template <typename T, typename U> T atomicAnd(T *p, U v)
{
	return __atomic_fetch_and(p, (T)v, __ATOMIC_SEQ_CST);
}
template <typename T, typename U> T atomicXor(T *p, U v)
{
	return __atomic_fetch_xor(p, (T)v, __ATOMIC_SEQ_CST);
}
template <typename T, typename U> T atomicExch(T *p, U v)
{
	return __atomic_exchange_n(p, (T)v, __ATOMIC_SEQ_CST);
}
template <typename T, typename U, typename V> T atomicCAS(T *p, U expected, V v)
{
	T old = (T)expected;
	__atomic_compare_exchange_n(p, &old, (T)v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return old;
}
template <typename T, typename U> T atomicMax(T *p, U v)
{
	T old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
	while (old < (T)v && !__atomic_compare_exchange_n(p, &old, (T)v, false, __ATOMIC_SEQ_CST,
							  __ATOMIC_SEQ_CST)) {
	}
	return old;
}
template <typename T, typename U> T atomicMin(T *p, U v)
{
	T old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
	while ((T)v < old && !__atomic_compare_exchange_n(p, &old, (T)v, false, __ATOMIC_SEQ_CST,
							  __ATOMIC_SEQ_CST)) {
	}
	return old;
}

/* --- bits, casts, loads --- */

template <typename To, typename From> To simt_cast(From from)
{
	To to;
	static_assert(sizeof to == sizeof from, "a cast of bits keeps the size");
	memcpy(&to, &from, sizeof to);
	return to;
}
static inline unsigned __float_as_uint(float x)
{
	return simt_cast<unsigned>(x);
}
static inline float __uint_as_float(unsigned x)
{
	return simt_cast<float>(x);
}
static inline int __float_as_int(float x)
{
	return simt_cast<int>(x);
}
static inline float __int_as_float(int x)
{
	return simt_cast<float>(x);
}
static inline long long __double_as_longlong(double x)
{
	return simt_cast<long long>(x);
}
static inline double __longlong_as_double(long long x)
{
	return simt_cast<double>(x);
}
static inline double __fma_rn(double a, double b, double c)
{
	return __builtin_fma(a, b, c);
}
static inline int __popc(unsigned x)
{
	return __builtin_popcount(x);
}
static inline int __popcll(unsigned long long x)
{
	return __builtin_popcountll(x);
}
static inline int __ffs(int x)
{
	return __builtin_ffs(x);
}
static inline int __clz(int x)
{
	return x ? __builtin_clz((unsigned)x) : 32;
}
static inline int __clzll(long long x)
{
	return x ? __builtin_clzll((unsigned long long)x) : 64;
}
static inline unsigned __umulhi(unsigned a, unsigned b)
{
	return (unsigned)((unsigned long long)a * b >> 32);
}
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
	unsigned long long both = (unsigned long long)y << 32 | x;
	unsigned out = 0;
	for (int i = 0; i < 4; i++)
		out |= (unsigned)(both >> (selector >> (4 * i) & 7) * 8 & 0xff) << (8 * i);
	return out;
}
template <typename T> T __ldg(const T *p)
{
	return *p;
}
template <typename T> T __ldcg(const T *p)
{
	return *p;
}
template <typename T> T __ldcs(const T *p)
{
	return *p;
}
template <typename T> void __stcs(T *p, T v)
{
	*p = v;
}
template <typename T> void __stcg(T *p, T v)
{
	*p = v;
}
template <typename T> T min(T a, T b)
{
	return b < a ? b : a;
}
template <typename T> T max(T a, T b)
{
	return a < b ? b : a;
}

#define SIMT_VECTOR(T, name)                                                                       \
	struct alignas(2 * sizeof(T)) name##2                                                      \
	{                                                                                          \
		T x, y;                                                                            \
	};                                                                                         \
	struct alignas(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) name##4                            \
	{                                                                                          \
		T x, y, z, w;                                                                      \
	};                                                                                         \
	static inline name##2 make_##name##2(T x, T y)                                             \
	{                                                                                          \
		return name##2 {x, y};                                                             \
	}                                                                                          \
	static inline name##4 make_##name##4(T x, T y, T z, T w)                                   \
	{                                                                                          \
		return name##4 {x, y, z, w};                                                       \
	}
SIMT_VECTOR(float, float)
SIMT_VECTOR(double, double)
SIMT_VECTOR(int, int)
SIMT_VECTOR(unsigned, uint)
SIMT_VECTOR(long long, longlong)
SIMT_VECTOR(unsigned long long, ulonglong)
SIMT_VECTOR(unsigned short, ushort)
SIMT_VECTOR(unsigned char, uchar)

/* --- exact/cuda/device/exact_mma.h --- */

static inline void ls_copy16(void *to, const void *from)
{
	simt::check_aligned(to);
	simt::check_aligned(from);
	memcpy(to, from, 16);
}
static inline void ls_commit_copies()
{
}
template <int N> void ls_wait_copies()
{
}
static inline void ls_load_fragments(uint32_t r[4], const void *row)
{
	const void *rows[32];
	simt::check_aligned(row);
	simt::exchange(0xffffffffu, &row, sizeof row, rows);
	for (unsigned i = 0; i < 4; i++)
		r[i] = ((const uint32_t *)rows[8 * i + simt::lane() / 4])[simt::lane() % 4];
}
/* Byte k of a word, with or without its sign. */
static inline int simt_byte(bool is_signed, uint32_t word, unsigned k)
{
	uint8_t byte = (uint8_t)(word >> (8 * k));
	return is_signed ? (int8_t)byte : byte;
}
template <bool A_SIGNED, bool B_SIGNED>
void ls_mma(int32_t c[4], const uint32_t a[4], const uint32_t b[2])
{
	struct fragments {
		uint32_t a[4], b[2];
	} own = {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}}, all[32];
	simt::exchange(0xffffffffu, &own, sizeof own, all);
	for (unsigned i = 0; i < 4; i++)
		for (unsigned k = 0; k < 32; k++) {
			const fragments &x = all[simt::lane() / 4 * 4 + k % 16 / 4];
			const fragments &y = all[(simt::lane() % 4 * 2 + i % 2) * 4 + k % 16 / 4];
			c[i] += simt_byte(A_SIGNED, x.a[k / 16 * 2 + i / 2], k % 4) *
				simt_byte(B_SIGNED, y.b[k / 16], k % 4);
		}
}

/* --- exact/cuda/device/exact_wgmma.h --- */

/* A barrier's word: threads that it waits for, how many have not arrived, the parity of
 * the phase under way, and bytes that are missing. Copies are done at once. */
struct simt_barrier {
	uint16_t count, missing, phase, bytes; /* bytes: in units of 16 */
};
static inline void simt_advance(uint64_t *word, int arrivals, int units)
{
	simt_barrier b = simt_cast<simt_barrier>(*word);
	b.missing = (uint16_t)(b.missing - arrivals);
	b.bytes = (uint16_t)(b.bytes + units);
	if (b.missing == 0 && b.bytes == 0) {
		b.missing = b.count;
		b.phase ^= 1;
	}
	*word = simt_cast<uint64_t>(b);
}
static inline void ls_barrier_init(uint64_t *word, unsigned count)
{
	simt_barrier b = {(uint16_t)count, (uint16_t)count, 0, 0};
	*word = simt_cast<uint64_t>(b);
}
static inline void ls_barriers_made()
{
}
static inline void ls_barrier_arrive(uint64_t *word)
{
	simt_advance(word, 1, 0);
}
static inline void ls_barrier_expect(uint64_t *word, unsigned bytes)
{
	simt_advance(word, 1, (int)bytes / 16);
}
static inline void ls_barrier_wait(uint64_t *word, unsigned parity)
{
	while (simt_cast<simt_barrier>(*(volatile uint64_t *)word).phase == parity)
		simt::yield();
}
static inline void ls_copy_block(void *to, const void *from, unsigned bytes, uint64_t *word)
{
	simt::check_aligned(to);
	simt::check_aligned(from);
	memcpy(to, from, bytes);
	simt_advance(word, 0, -(int)(bytes / 16));
}
template <int N> void ls_registers_give()
{
}
template <int N> void ls_registers_take()
{
}
static inline void ls_wgmma_begin()
{
}
static inline void ls_wgmma_commit()
{
}
template <int N> void ls_wgmma_wait()
{
	simt::sync_warp(0xffffffffu);
}
/* Byte k of a line, where its 16 bytes are exchanged by bits 7 to 9 of the address. */
static inline int simt_block_byte(bool is_signed, const void *side, unsigned line, unsigned k)
{
	uintptr_t at = (uintptr_t)side + line * 128 + k;
	return simt_byte(is_signed, *(const uint8_t *)(at ^ (at >> 7 & 7) << 4), 0);
}
template <bool A_SIGNED, bool B_SIGNED, int N>
void simt_wgmma(int32_t *c, const void *a, const void *b)
{
	const unsigned lane = simt::lane(), warp = simt::thread_index.x / 32 % 4;
	for (unsigned i = 0; i < N / 2; i++) {
		const unsigned row = warp * 16 + lane / 4 + i / 2 % 2 * 8;
		const unsigned column = i / 4 * 8 + lane % 4 * 2 + i % 2;
		for (unsigned k = 0; k < 32; k++)
			c[i] += simt_block_byte(A_SIGNED, a, row, k) *
				simt_block_byte(B_SIGNED, b, column, k);
	}
}
template <bool A_SIGNED, bool B_SIGNED> void ls_wgmma_64(int32_t *c, const void *a, const void *b)
{
	simt_wgmma<A_SIGNED, B_SIGNED, 64>(c, a, b);
}
template <bool A_SIGNED, bool B_SIGNED> void ls_wgmma_128(int32_t *c, const void *a, const void *b)
{
	simt_wgmma<A_SIGNED, B_SIGNED, 128>(c, a, b);
}

#endif
