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

/* Exclusive sum over the threads of a block, in shared memory of blockDim.x words; *ret_total gets the whole. */
LS_DEVICE uint32_t block_scan(uint32_t mine, uint32_t *shared, uint32_t *ret_total)
{
	uint32_t t = threadIdx.x, sum = mine;
	shared[t] = mine;
	__syncthreads();
	for (uint32_t d = 1; d < blockDim.x; d *= 2) {
		uint32_t left = t >= d ? shared[t - d] : 0;
		__syncthreads();
		sum += left;
		shared[t] = sum;
		__syncthreads();
	}
	*ret_total = shared[blockDim.x - 1];
	__syncthreads();
	return sum - mine;
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

extern "C" __global__ void __launch_bounds__(256) fm_sort_count(const struct ls_cuda_args a)
{
	__shared__ struct ls_order order;
	__shared__ uint64_t at_of[LS_CUDA_THREADS];
	__shared__ uint32_t scan[LS_CUDA_THREADS], first_of[LS_CUDA_THREADS], length_of[LS_CUDA_THREADS], base;
	__shared__ float scale_of[LS_CUDA_THREADS];
	uint64_t step = a.state->base + a.index;
	if (threadIdx.x == 0)
		ls_order_init(&order, a.shuffle, a.seed, a.batch, a.n_rows, step);
	__syncthreads();
	uint32_t lo = blockIdx.x * a.sort_rows, b = lo + threadIdx.x, n = 0, total;
	bool mine = threadIdx.x < a.sort_rows && b < order.n;
	if (mine) {
		uint64_t row = pick_row(a, &order, step, b), at = a.start[row];
		n = (uint32_t)(a.start[row + 1] - at);
		at_of[threadIdx.x] = at;
		length_of[threadIdx.x] = n;
		scale_of[threadIdx.x] =
			a.normalize ? ls_cell_norm(a.in_value ? a.in_value + at : (const float *)0, n) : 1.0f;
		a.sort.pick[b] = row;
		a.sort.length[b] = n;
	}
	uint32_t before = block_scan(mine ? n : 0, scan, &total);
	if (threadIdx.x == 0) {
		base = atomicAdd(&a.sort.counts[LS_SORT_ENTRIES], total);
		if (blockIdx.x == 0)
			a.sort.counts[LS_SORT_ROWS] = order.n;
	}
	__syncthreads();
	if (mine)
		a.sort.first[b] = first_of[threadIdx.x] = base + before;
	__syncthreads();
	uint32_t rows = lo >= order.n ? 0 : order.n - lo < a.sort_rows ? order.n - lo : a.sort_rows;
	for (uint32_t r = threadIdx.x / 16; r < rows; r += blockDim.x / 16)
		for (uint32_t i = threadIdx.x % 16; i < length_of[r]; i += 16)
			count_entry(a, first_of[r] + i, lo + r, at_of[r] + i, scale_of[r]);
}

/* A feature's tasks: at most chunk entries each. */
LS_DEVICE void make_tasks(const struct ls_cuda_args &a, uint32_t feature, uint32_t from, uint32_t n, uint32_t parts,
			  uint32_t first_task)
{
	const struct ls_cuda_sort &s = a.sort;
	uint32_t heavy = 0;
	if (parts > 1) {
		heavy = atomicAdd(&s.counts[LS_SORT_HEAVY], 1u) + 1;
		s.heavy_parts[heavy - 1] = parts;
	}
	for (uint32_t p = 0; p < parts; p++) {
		uint32_t left = n - p * a.chunk;
		struct ls_cuda_task t = {feature, from + p * a.chunk, left < a.chunk ? left : a.chunk, heavy};
		s.task[first_task + p] = t;
	}
}

extern "C" __global__ void __launch_bounds__(256) fm_sort_place(const struct ls_cuda_args a)
{
	__shared__ uint32_t scan[LS_CUDA_THREADS], base[2];
	const struct ls_cuda_sort &s = a.sort;
	uint32_t entries = s.counts[LS_SORT_ENTRIES];
	for (uint32_t lo = blockIdx.x * blockDim.x; lo < entries; lo += gridDim.x * blockDim.x) {
		uint32_t e = lo + threadIdx.x, n = 0, feature = 0, total, tasks;
		if (e < entries && s.rank[e] == 0) {
			feature = s.feature[e];
			n = s.in_count[feature];
			s.in_count[feature] = 0;
		}
		uint32_t parts = (n + a.chunk - 1) / a.chunk;
		uint32_t before = block_scan(n, scan, &total), tasks_before = block_scan(parts, scan, &tasks);
		if (threadIdx.x == 0) {
			base[0] = atomicAdd(&s.counts[LS_SORT_PLACED], total);
			base[1] = atomicAdd(&s.counts[LS_SORT_TASKS], tasks);
		}
		__syncthreads();
		if (n) {
			s.offset[feature] = base[0] + before;
			make_tasks(a, feature, base[0] + before, n, parts, base[1] + tasks_before);
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
