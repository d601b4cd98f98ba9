/* Sorting a batch's entries by feature, and moving on: cuda_args.h has the plan. */
#include "fm/cuda_lane.h"
#include "fm/order.h"

/* The data row of batch row b, and of the step's rows how many there are. */
LS_DEVICE uint64_t pick_row(const struct ls_cuda_args &a, const struct ls_order *order, uint64_t step, uint32_t b)
{
	if (a.row_id)
		return a.staged_from + (step - a.state->first) * a.batch + b;
	return ls_order_row(order, b);
}

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

/* One entry: its place among those of its feature, and what later kernels want to know of it. */
LS_DEVICE void count_entry(const struct ls_cuda_args &a, uint32_t e, uint32_t b, uint64_t at, float scale)
{
	const struct ls_cuda_sort &s = a.sort;
	uint32_t feature = a.in_feature[at];
	s.feature[e] = feature;
	s.row[e] = b;
	s.rank[e] = atomicAdd(&s.in_count[feature], 1u);
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
	uint64_t step = a.state->base + a.index, total;
	if (threadIdx.x == 0)
		ls_order_init(&order, a.shuffle, a.seed, a.batch, a.n_rows, step);
	__syncthreads();
	uint32_t lo = blockIdx.x * a.sort_rows, b = lo + threadIdx.x, n = 0;
	bool mine = threadIdx.x < a.sort_rows && b < order.n;
	if (mine) {
		uint64_t row = pick_row(a, &order, step, b), at = a.start[row];
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
		count_entry(a, base + i, lo + r, at_of[r] + i - first_of[r], scale_of[r]);
	}
}

/* A feature with many entries: tasks of at most chunk entries each. */
LS_DEVICE void make_tasks(const struct ls_cuda_args &a, uint32_t feature, uint32_t from, uint32_t n)
{
	const struct ls_cuda_sort &s = a.sort;
	uint32_t parts = (n + a.chunk - 1) / a.chunk, first = atomicAdd(&s.counts[LS_SORT_TASKS], parts), heavy = 0;
	if (parts > 1) {
		heavy = atomicAdd(&s.counts[LS_SORT_HEAVY], 1u) + 1;
		s.heavy_parts[heavy - 1] = parts;
	}
	for (uint32_t p = 0; p < parts; p++) {
		uint32_t left = n - p * a.chunk;
		struct ls_cuda_task t = {feature, from + p * a.chunk, left < a.chunk ? left : a.chunk, heavy};
		s.task[first + p] = t;
	}
}

/* The first entry of a feature, if e is that, makes room for all of them: entries low, light tasks high. */
LS_DEVICE uint64_t room_for(const struct ls_cuda_sort &s, uint32_t e, uint32_t entries, uint32_t *ret_feature)
{
	if (e >= entries || s.rank[e] != 0)
		return 0;
	uint32_t feature = s.feature[e], n = s.in_count[feature];
	s.in_count[feature] = 0;
	*ret_feature = feature;
	return n | (uint64_t)(n <= LS_CUDA_LIGHT) << 32;
}

extern "C" __global__ void __launch_bounds__(256) fm_sort_place(const struct ls_cuda_args a)
{
	enum { EACH = 4 };
	__shared__ uint64_t scan[LS_CUDA_THREADS / 32];
	__shared__ uint32_t base[2];
	const struct ls_cuda_sort &s = a.sort;
	uint32_t entries = s.counts[LS_SORT_ENTRIES];
	for (uint32_t lo = blockIdx.x * blockDim.x * EACH; lo < entries; lo += gridDim.x * blockDim.x * EACH) {
		uint32_t feature[EACH];
		uint64_t room[EACH], mine = 0, total;
#pragma unroll
		for (uint32_t k = 0; k < EACH; k++) {
			room[k] = room_for(s, lo + k * blockDim.x + threadIdx.x, entries, &feature[k]);
			mine += room[k];
		}
		uint64_t before = block_scan(mine, scan, &total);
		if (threadIdx.x == 0) {
			base[0] = atomicAdd(&s.counts[LS_SORT_PLACED], (uint32_t)total);
			base[1] = atomicAdd(&s.counts[LS_SORT_LIGHT], (uint32_t)(total >> 32));
		}
		__syncthreads();
		uint32_t from = base[0] + (uint32_t)before, at = base[1] + (uint32_t)(before >> 32);
#pragma unroll
		for (uint32_t k = 0; k < EACH; k++) {
			uint32_t n = (uint32_t)room[k];
			if (!n)
				continue;
			s.offset[feature[k]] = from;
			if (n <= LS_CUDA_LIGHT) {
				struct ls_cuda_task t = {feature[k], from, n, 0};
				s.light[at++] = t;
			} else {
				make_tasks(a, feature[k], from, n);
			}
			from += n;
		}
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
