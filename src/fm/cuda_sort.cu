/* Sorting a batch's entries by feature, and moving on: cuda_args.h has the plan. */
#include "fm/cuda_lane.h"
#include "fm/order.h"

/* Exclusive sum over the threads of a block; shared has a word a warp. *ret_total gets the whole. */
LS_DEVICE uint64_t block_scan(uint64_t mine, uint64_t *shared, uint64_t *ret_total)
{
	uint32_t warp = threadIdx.x / 32, warps = blockDim.x / 32;
	uint64_t sum = mine, before = 0, total = 0;
	for (int d = 1; d < 32; d *= 2) {
		uint64_t left = __shfl_up_sync(0xffffffffu, sum, d);
		sum += lane_of() >= (uint32_t)d ? left : 0;
	}
	if (lane_of() == 31)
		shared[warp] = sum;
	__syncthreads();
	for (uint32_t w = 0; w < warps; w++) {
		before += w < warp ? shared[w] : 0;
		total += shared[w];
	}
	__syncthreads();
	*ret_total = total;
	return before + sum - mine;
}

/* A block's own counts of features, so that a frequent one costs the memory one atomic a block and not one an entry:
 * the first features to come have a slot, the others go to memory at once. */
struct counted {
	uint32_t feature[LS_CUDA_CACHE], n[LS_CUDA_CACHE];
};

LS_DEVICE uint32_t slot_of(uint32_t feature)
{
	return feature * 2654435769u / (0x80000000u / LS_CUDA_CACHE * 2);
}

/* One entry: what later kernels want to know of it, and its rank: final, or among those of the block. */
LS_DEVICE void count_entry(const struct ls_cuda_args &a, struct counted *own, uint32_t e, uint32_t b, uint64_t at,
			   float scale)
{
	const struct ls_cuda_sort &s = a.sort;
	uint32_t feature = a.in_feature[at], slot = slot_of(feature);
	uint32_t has = atomicCAS(&own->feature[slot], ~0u, feature);
	s.feature[e] = feature;
	s.row[e] = b;
	s.rank[e] = feature != ~0u && (has == ~0u || has == feature) ? atomicAdd(&own->n[slot], 1u)
								     : atomicAdd(&s.in_count[feature], 1u);
	if (s.x)
		s.x[e] = a.in_value ? a.in_value[at] * scale : scale;
	if (s.field)
		s.field[e] = a.in_field[at];
}

/* The row among `rows` whose entries have number i of the block: first_of ascends. */
LS_DEVICE uint32_t row_with(const uint32_t *first_of, uint32_t rows, uint32_t i)
{
	uint32_t lo = 0;
	for (uint32_t step = LS_CUDA_THREADS / 2; step > 0; step /= 2)
		if (lo + step < rows && first_of[lo + step] <= i)
			lo += step;
	return lo;
}

extern "C" __global__ void __launch_bounds__(256) fm_sort_count(const struct ls_cuda_args a)
{
	__shared__ struct ls_order order;
	__shared__ uint64_t at_of[LS_CUDA_THREADS], scan[LS_CUDA_THREADS / 32];
	__shared__ uint32_t first_of[LS_CUDA_THREADS], base;
	__shared__ float scale_of[LS_CUDA_THREADS];
	__shared__ struct counted own;
	uint64_t step = a.state->base + a.index, total;
	if (threadIdx.x == 0)
		ls_order_init(&order, a.shuffle, a.seed, a.batch, a.n_rows, step);
	for (uint32_t i = threadIdx.x; i < LS_CUDA_CACHE; i += blockDim.x) {
		own.feature[i] = ~0u; /* nobody; a feature of that number has no slot */
		own.n[i] = 0;
	}
	__syncthreads();
	uint32_t lo = blockIdx.x * a.sort_rows, b = lo + threadIdx.x, n = 0;
	bool mine = threadIdx.x < a.sort_rows && b < order.n;
	if (mine) {
		uint64_t row = ls_order_row(&order, b), at = a.start[row];
		n = (uint32_t)(a.start[row + 1] - at);
		at_of[threadIdx.x] = at;
		scale_of[threadIdx.x] =
			a.normalize ? ls_cell_norm(a.in_value ? a.in_value + at : (const float *)0, n) : 1.0f;
		a.sort.pick[b] = row;
		a.sort.length[b] = n;
	}
	uint32_t before = (uint32_t)block_scan(n, scan, &total);
	first_of[threadIdx.x] = before;
	if (threadIdx.x == 0) {
		base = atomicAdd(&a.sort.counts[LS_SORT_ENTRIES], (uint32_t)total);
		if (blockIdx.x == 0)
			a.sort.counts[LS_SORT_ROWS] = order.n;
	}
	__syncthreads();
	if (mine)
		a.sort.first[b] = base + before;
	uint32_t rows = lo >= order.n ? 0 : order.n - lo < a.sort_rows ? order.n - lo : a.sort_rows;
#pragma unroll 4
	for (uint32_t i = threadIdx.x; i < (uint32_t)total; i += blockDim.x) {
		uint32_t r = row_with(first_of, rows, i);
		count_entry(a, &own, base + i, lo + r, at_of[r] + i - first_of[r], scale_of[r]);
	}
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < LS_CUDA_CACHE; i += blockDim.x)
		if (own.n[i])
			own.n[i] = atomicAdd(&a.sort.in_count[own.feature[i]], own.n[i]);
	__syncthreads();
#pragma unroll 4
	for (uint32_t i = threadIdx.x; i < (uint32_t)total; i += blockDim.x) {
		uint32_t feature = a.sort.feature[base + i], slot = slot_of(feature);
		if (own.feature[slot] == feature)
			a.sort.rank[base + i] += own.n[slot];
	}
}

/* A feature with many entries: tasks of at most chunk entries each. */
LS_DEVICE void make_tasks(const struct ls_cuda_args &a, struct ls_cuda_task all, uint32_t parts, uint32_t at,
			  uint32_t heavy)
{
	if (parts > 1)
		a.sort.heavy_parts[heavy] = parts;
	for (uint32_t p = 0; p < parts; p++) {
		uint32_t left = all.n - p * a.chunk;
		struct ls_cuda_task t = {all.feature, all.from + p * a.chunk, left < a.chunk ? left : a.chunk,
					 parts > 1 ? heavy + 1 : 0};
		a.sort.task[at + p] = t;
	}
}

/* Tasks (low) and places to meet (high) that a feature with so many entries needs. */
LS_DEVICE uint64_t heavy_needs(const struct ls_cuda_args &a, uint32_t n)
{
	uint32_t parts = n > LS_CUDA_LIGHT ? (n + a.chunk - 1) / a.chunk : 0;
	return parts | (uint64_t)(parts > 1) << 32;
}

/* The same of entries and tasks of groups. */
LS_DEVICE uint64_t light_needs(uint32_t n)
{
	return n | (uint64_t)(n > 0 && n <= LS_CUDA_LIGHT) << 32;
}

extern "C" __global__ void __launch_bounds__(256) fm_sort_place(const struct ls_cuda_args a)
{
	enum { EACH = 8 }; /* entries a thread: a block asks for room once for all of them */
	__shared__ uint64_t scan[LS_CUDA_THREADS / 32], base[2];
	const struct ls_cuda_sort &s = a.sort;
	uint32_t entries = s.counts[LS_SORT_ENTRIES];
	for (uint32_t lo = blockIdx.x * blockDim.x * EACH; lo < entries; lo += gridDim.x * blockDim.x * EACH) {
		uint32_t n[EACH], feature[EACH]; /* n: of the feature that the entry is the first of, or 0 */
		uint64_t light = 0, heavy = 0, all_light, all_heavy;
#pragma unroll
		for (uint32_t k = 0; k < EACH; k++) {
			uint32_t e = lo + k * blockDim.x + threadIdx.x;
			n[k] = e < entries && s.rank[e] == 0;
			feature[k] = e < entries ? s.feature[e] : 0;
		}
#pragma unroll
		for (uint32_t k = 0; k < EACH; k++)
			n[k] = n[k] ? s.in_count[feature[k]] : 0;
#pragma unroll
		for (uint32_t k = 0; k < EACH; k++) {
			if (n[k])
				s.in_count[feature[k]] = 0;
			light += light_needs(n[k]);
			heavy += heavy_needs(a, n[k]);
		}
		light = block_scan(light, scan, &all_light);
		heavy = block_scan(heavy, scan, &all_heavy);
		if (threadIdx.x == 0) {
			base[0] = atomicAdd((unsigned long long *)&s.counts[LS_SORT_PLACED],
					    (unsigned long long)all_light);
			base[1] = atomicAdd((unsigned long long *)&s.counts[LS_SORT_TASKS],
					    (unsigned long long)all_heavy);
		}
		__syncthreads();
		light += base[0];
		heavy += base[1];
#pragma unroll
		for (uint32_t k = 0; k < EACH; k++) {
			if (!n[k])
				continue;
			struct ls_cuda_task t = {s.feature[lo + k * blockDim.x + threadIdx.x], (uint32_t)light, n[k],
						 0};
			s.offset[t.feature] = t.from;
			if (n[k] <= LS_CUDA_LIGHT)
				s.light[light >> 32] = t;
			else
				make_tasks(a, t, (uint32_t)heavy_needs(a, n[k]), (uint32_t)heavy,
					   (uint32_t)(heavy >> 32));
			light += light_needs(n[k]);
			heavy += heavy_needs(a, n[k]);
		}
		__syncthreads();
	}
}

extern "C" __global__ void __launch_bounds__(256) fm_sort_scatter(const struct ls_cuda_args a)
{
	const struct ls_cuda_sort &s = a.sort;
	uint32_t entries = s.counts[LS_SORT_ENTRIES], step = gridDim.x * blockDim.x;
	for (uint32_t e = blockIdx.x * blockDim.x + threadIdx.x; e < entries; e += step) {
		uint32_t place = s.offset[s.feature[e]] + s.rank[e];
		s.by_row[place] = s.row[e];
		if (s.by_entry)
			s.by_entry[place] = e;
		if (s.by_x)
			s.by_x[place] = s.x[e];
		if (s.by_field)
			s.by_field[place] = s.field[e];
	}
}

/* The graph's steps are done: the next launch of it starts behind them. */
extern "C" __global__ void fm_advance(const struct ls_cuda_args a)
{
	if (threadIdx.x == 0)
		a.state->base += a.index;
}
