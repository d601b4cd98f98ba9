// The host emulation of kernels, tested: barriers, shuffles, votes, shared memory,
// grid-wide waiting, and a barrier that is never reached. Plain asserts by hand, for the
// file is C++.
#include "simt.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

static int faults;

static void check(bool ok, const char *what, const fake_launch &l)
{
	if (!ok) {
		printf("FAILED: %s, %u blocks of %u, order %d\n", what, l.grid[0], l.block[0],
		       (int)l.order);
		faults++;
	}
}

/* out[block] = sum over the block of (global index + 1), by shuffles within warps and
 * shared memory between them */
extern "C" __global__ void block_sums(uint64_t *out)
{
	__shared__ uint64_t partial[32];
	uint64_t v = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x + 1;
	unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = (blockDim.x + 31) / 32;
	unsigned lanes = warp + 1 < warps || blockDim.x % 32 == 0 ? 32 : blockDim.x % 32;
	unsigned mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
	for (unsigned d = 16; d; d /= 2) {
		uint64_t other = __shfl_down_sync(mask, v, d);
		if (lane + d < lanes)
			v += other;
	}
	if (lane == 0)
		partial[warp] = v;
	__syncthreads();
	if (threadIdx.x == 0) {
		uint64_t sum = 0;
		for (unsigned w = 0; w < warps; w++)
			sum += partial[w];
		out[blockIdx.x] = sum;
	}
}
SIMT_EXPORT(block_sums)

/* Votes and matches of the lanes of half warps, which meet apart from each other. */
extern "C" __global__ void halves(unsigned *out)
{
	unsigned lane = threadIdx.x % 32, mask = lane < 16 ? 0xffffu : 0xffff0000u;
	unsigned odd = __ballot_sync(mask, lane & 1);
	unsigned like_me = __match_any_sync(mask, lane % 4);
	unsigned total = __reduce_add_sync(mask, lane);
	unsigned partner = __shfl_xor_sync(0xffffffffu, lane, 16);
	out[threadIdx.x] = odd + like_me + total + (partner << 24);
}
SIMT_EXPORT(halves)

/* Half of the threads leave before the barrier; the others still meet there. Dynamic
 * shared memory.
 */
extern "C" __global__ void some_leave(int *out)
{
	LS_DYNAMIC_SHARED(int, seen);
	if (threadIdx.x % 2)
		return;
	seen[threadIdx.x] = (int)threadIdx.x;
	__syncthreads();
	__syncwarp(~0u);
	int next = (int)(threadIdx.x + 2 < blockDim.x ? threadIdx.x + 2 : 0);
	out[threadIdx.x] = seen[next];
}
SIMT_EXPORT(some_leave)

/* Every block waits for all the others, twice. */
extern "C" __global__ void grid_wait(unsigned *counter, unsigned *out)
{
	for (unsigned round = 1; round <= 2; round++) {
		__syncthreads();
		if (threadIdx.x == 0) {
			__threadfence();
			atomicAdd(counter, 1u);
			while (atomicAdd(counter, 0u) < round * gridDim.x)
				__nanosleep(20);
		}
		__syncthreads();
	}
	if (threadIdx.x == 0)
		out[blockIdx.x] = atomicAdd(counter, 0u);
}
SIMT_EXPORT(grid_wait)

extern "C" __global__ void never_met(int *out)
{
	if (threadIdx.x == 0)
		__syncwarp(3);
	else
		__syncthreads();
	*out = 1;
}
SIMT_EXPORT(never_met)

template <typename T>
static void launch(fake_kernel_fn *f, const fake_launch &l, std::vector<T> &out)
{
	T *p = out.data();
	void *args[] = {&p};
	f(&l, args);
}

static void sums(fake_order order)
{
	for (unsigned blocks : {1u, 3u, 17u})
		for (unsigned threads : {1u, 31u, 32u, 33u, 100u, 1024u}) {
			fake_launch l = {{blocks, 1, 1}, {threads, 1, 1}, 0, order, 0};
			std::vector<uint64_t> out(blocks, 7);
			launch(fake_kernel_block_sums, l, out);
			bool ok = true;
			for (uint64_t b = 0; b < blocks; b++)
				ok = ok && out[b] == threads * (b * threads) +
							     (uint64_t)threads * (threads + 1) / 2;
			check(ok, "sums by shuffles and shared memory", l);
		}
}

static void votes(fake_order order)
{
	fake_launch l = {{1, 1, 1}, {64, 1, 1}, 0, order, 0};
	std::vector<unsigned> out(64);
	launch(fake_kernel_halves, l, out);
	bool ok = true;
	for (unsigned i = 0; i < 64; i++) {
		unsigned lane = i % 32, low = lane < 16;
		unsigned expected = (low ? 0xaaaau : 0xaaaa0000u) +
				    ((low ? 0x1111u : 0x11110000u) << lane % 4) +
				    (low ? 120u : 376u) + ((lane ^ 16u) << 24);
		ok = ok && out[i] == expected;
	}
	check(ok, "votes of half warps", l);
}

static void leavers(fake_order order)
{
	fake_launch l = {{1, 1, 1}, {70, 1, 1}, 70 * sizeof(int), order, 0};
	std::vector<int> out(70, -1);
	launch(fake_kernel_some_leave, l, out);
	bool ok = true;
	for (int i = 0; i < 70; i++)
		ok = ok && out[(size_t)i] == (i % 2 ? -1 : i + 2 < 70 ? i + 2 : 0);
	check(ok, "a barrier without the threads that have ended", l);
}

static void grids(fake_order order)
{
	fake_launch l = {{5, 1, 1}, {33, 1, 1}, 0, order, 1};
	unsigned counter = 0, *c = &counter;
	std::vector<unsigned> out(5);
	unsigned *p = out.data();
	void *args[] = {&c, &p};
	fake_kernel_grid_wait(&l, args);
	bool ok = counter == 10;
	for (unsigned v : out)
		ok = ok && v == 10;
	check(ok, "blocks that wait for each other", l);
}

static void deadlocks(fake_order order)
{
	fake_launch l = {{1, 1, 1}, {2, 1, 1}, 0, order, 0};
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		std::vector<int> out(1);
		if (!freopen("/dev/null", "w", stderr))
			_exit(9);
		launch(fake_kernel_never_met, l, out);
		_exit(0);
	}
	int status = 0;
	waitpid(child, &status, 0);
	check(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "a barrier that is never met", l);
}

int main()
{
	for (fake_order order : {FAKE_FORWARD, FAKE_REVERSE, FAKE_SHUFFLE}) {
		sums(order);
		votes(order);
		leavers(order);
		grids(order);
		deadlocks(order);
	}
	printf("%d faults\n", faults);
	return faults != 0;
}
