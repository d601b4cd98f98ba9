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

/* --- count --- */

/* A tile's own counts of features, so that a frequent one costs the memory one atomic a tile and not one an entry: the
 * first features to come have a slot, the others go to memory at once. */
struct slots {
	uint32_t *feature; /* ~0: nobody; a feature of that number has no slot */
	uint32_t *n;       /* entries; later the first one's rank among the feature's, less `at` */
	uint32_t *at;      /* its first entry in the tile's order */
	uint32_t mask;
};

struct tile {
	struct slots slots;
	uint32_t *order;    /* slot << 16 | entry, by slot */
	uint64_t *at_of;    /* by row of the tile: its first entry in the data, */
	uint32_t *first_of; /* and in the tile; */
	float *scale_of;
	uint32_t row, rows, base, entries; /* its first row; its first entry */
	bool ordered;                      /* entries fit into `order` */
};

/* Shared words that are one a block. */
struct tile_words {
	struct ls_order order;
	uint64_t scan[32];
	uint32_t base, others, news;
};

/* Where a tile's arrays lie in the block's shared memory: cuda_kernels.c counts the same bytes. */
LS_DEVICE struct tile tile_arrays(const struct ls_cuda_args &a, uint64_t *shared)
{
	uint32_t *word = (uint32_t *)(shared + a.tile_rows), n = a.tile_slots;
	struct tile t = {{word + 2 * a.tile_rows, word + 2 * a.tile_rows + n, word + 2 * a.tile_rows + 2 * n, n - 1},
			 word + 2 * a.tile_rows + 3 * n,
			 shared,
			 word,
			 (float *)(word + a.tile_rows),
			 blockIdx.x * a.tile_rows,
			 0,
			 0,
			 0,
			 false};
	return t;
}

/* Which rows, where they are, and room for their entries. All threads call. */
LS_DEVICE void tile_rows(const struct ls_cuda_args &a, struct tile *t, struct tile_words *w)
{
	uint64_t total;
	uint32_t i = threadIdx.x, n = 0;
	if (i == 0)
		ls_order_init(&w->order, a.shuffle, a.seed, a.batch, a.n_rows, a.state->base + a.index);
	if (i == 0)
		w->others = w->news = 0;
	for (uint32_t s = i; s <= t->slots.mask; s += blockDim.x) {
		t->slots.feature[s] = ~0u;
		t->slots.n[s] = 0;
	}
	__syncthreads();
	uint32_t left = t->row < w->order.n ? w->order.n - t->row : 0;
	t->rows = left < a.tile_rows ? left : a.tile_rows;
	if (i < t->rows) {
		uint64_t row = ls_order_row(&w->order, t->row + i), at = a.start[row];
		n = (uint32_t)(a.start[row + 1] - at);
		t->at_of[i] = at;
		t->scale_of[i] = a.normalize ? ls_cell_norm(a.in_value ? a.in_value + at : (const float *)0, n) : 1.0f;
		a.sort.pick[t->row + i] = row;
		a.sort.length[t->row + i] = n;
	}
	uint32_t before = (uint32_t)block_scan(n, w->scan, &total);
	if (i < a.tile_rows)
		t->first_of[i] = before;
	if (i == 0) {
		w->base = atomicAdd(&a.sort.counts[LS_SORT_ENTRIES], (uint32_t)total);
		a.sort.tile_first[blockIdx.x] = w->base;
		if (blockIdx.x == 0)
			a.sort.counts[LS_SORT_ROWS] = w->order.n;
	}
	__syncthreads();
	t->base = w->base;
	t->entries = (uint32_t)total;
	t->ordered = t->entries <= a.tile_most;
	if (i < t->rows)
		a.sort.first[t->row + i] = t->base + before;
}

/* The slot of a feature that has or gets one; else more than the mask. */
LS_DEVICE uint32_t slot_of(const struct slots *s, uint32_t feature)
{
	uint32_t slot = feature * 2654435769u >> 16 & s->mask;
	for (int tries = 0; tries < 2; tries++, slot ^= 1) {
		uint32_t has = *(volatile uint32_t *)&s->feature[slot];
		if (has == ~0u)
			has = atomicCAS(&s->feature[slot], ~0u, feature);
		if (feature != ~0u && (has == ~0u || has == feature))
			return slot;
	}
	return ~0u;
}

LS_DEVICE void put_ordered(const struct ls_cuda_args &a, const struct tile *t, uint32_t at, uint32_t feature,
			   uint32_t rank, uint32_t row, uint32_t entry)
{
	a.sort.tile_feature[t->base + at] = feature;
	a.sort.tile_rank[t->base + at] = rank;
	a.sort.tile_row[t->base + at] = t->row + row;
	if (a.sort.tile_entry)
		a.sort.tile_entry[t->base + at] = t->base + entry;
}

LS_DEVICE void put_new(const struct ls_cuda_args &a, const struct tile *t, struct tile_words *w, uint32_t feature)
{
	a.sort.new_feature[t->base + atomicAdd(&w->news, 1u)] = feature;
}

/* One entry with its rank: among those of the slot, or final. What later kernels want to know of it; those without a
 * slot come last in the tile's order. */
LS_DEVICE void put_entry(const struct ls_cuda_args &a, const struct tile *t, struct tile_words *w, uint32_t feature,
			 uint32_t slot, uint32_t rank, uint32_t row, uint32_t i)
{
	const struct ls_cuda_sort &s = a.sort;
	uint32_t e = t->base + i;
	uint64_t at = t->at_of[row] + i - t->first_of[row];
	s.feature[e] = feature;
	s.rank[e] = slot <= t->slots.mask ? slot << 16 | rank : ~0u;
	if (slot > t->slots.mask) {
		put_ordered(a, t, t->entries - 1 - atomicAdd(&w->others, 1u), feature, rank, row, i);
		if (rank == 0)
			put_new(a, t, w, feature);
	}
	if (s.x)
		s.x[e] = a.in_value ? a.in_value[at] * t->scale_of[row] : t->scale_of[row];
	if (s.field)
		s.field[e] = a.in_field[at];
}

/* The row of the tile whose entries have number i: first_of ascends. */
LS_DEVICE uint32_t row_with(const struct tile *t, uint32_t i)
{
	uint32_t lo = 0;
	for (uint32_t step = 512; step > 0; step /= 2)
		if (lo + step < t->rows && t->first_of[lo + step] <= i)
			lo += step;
	return lo;
}

/* Eight lanes a row; loads that do not wait for each other. */
enum { ROW_LANES = 8, AT_ONCE = 5 };

LS_DEVICE void count_entries(const struct ls_cuda_args &a, const struct tile *t, struct tile_words *w)
{
	for (uint32_t row = threadIdx.x / ROW_LANES; row < t->rows; row += blockDim.x / ROW_LANES) {
		uint32_t n = (row + 1 < t->rows ? t->first_of[row + 1] : t->entries) - t->first_of[row];
		const uint32_t *from = a.in_feature + t->at_of[row];
		for (uint32_t lo = threadIdx.x % ROW_LANES; lo < n; lo += ROW_LANES * AT_ONCE) {
			uint32_t feature[AT_ONCE], slot[AT_ONCE], rank[AT_ONCE];
#pragma unroll
			for (uint32_t k = 0; k < AT_ONCE; k++)
				feature[k] = from[lo + k * ROW_LANES < n ? lo + k * ROW_LANES : lo];
#pragma unroll
			for (uint32_t k = 0; k < AT_ONCE; k++) {
				slot[k] = t->ordered ? slot_of(&t->slots, feature[k]) : ~0u;
				rank[k] = 0;
				if (lo + k * ROW_LANES < n && slot[k] <= t->slots.mask)
					rank[k] = atomicAdd(&t->slots.n[slot[k]], 1u);
				else if (lo + k * ROW_LANES < n)
					rank[k] = atomicAdd(&a.sort.in_count[feature[k]], 1u);
			}
#pragma unroll
			for (uint32_t k = 0; k < AT_ONCE; k++)
				if (lo + k * ROW_LANES < n)
					put_entry(a, t, w, feature[k], slot[k], rank[k], row,
						  t->first_of[row] + lo + k * ROW_LANES);
		}
	}
}

/* Slots get their places in the tile's order and their ranks among all. */
LS_DEVICE void count_slots(const struct ls_cuda_args &a, const struct tile *t, struct tile_words *w)
{
	uint64_t total;
	uint32_t each = (t->slots.mask + blockDim.x) / blockDim.x, lo = threadIdx.x * each, sum = 0;
	for (uint32_t s = lo; s < lo + each && s <= t->slots.mask; s++)
		sum += t->slots.n[s];
	uint32_t at = (uint32_t)block_scan(sum, w->scan, &total);
	for (uint32_t s = lo; s < lo + each && s <= t->slots.mask; s++) {
		t->slots.at[s] = at;
		at += t->slots.n[s];
	}
	__syncthreads();
	for (uint32_t s = threadIdx.x; s <= t->slots.mask; s += blockDim.x) {
		uint32_t n = t->slots.n[s], feature = t->slots.feature[s];
		if (!n)
			continue;
		uint32_t rank = atomicAdd(&a.sort.in_count[feature], n);
		t->slots.n[s] = rank - t->slots.at[s];
		if (rank == 0)
			put_new(a, t, w, feature);
	}
}

/* Entries that have a slot, in the order of slots. Where only the row is to be known, `order` has it, else the entry.
 */
LS_DEVICE void order_entries(const struct ls_cuda_args &a, const struct tile *t, const struct tile_words *w)
{
	bool by_row = !a.sort.tile_entry;
	for (uint32_t row = threadIdx.x / ROW_LANES; row < t->rows; row += blockDim.x / ROW_LANES) {
		uint32_t end = row + 1 < t->rows ? t->first_of[row + 1] : t->entries;
#pragma unroll 5
		for (uint32_t i = t->first_of[row] + threadIdx.x % ROW_LANES; i < end; i += ROW_LANES) {
			uint32_t rank = a.sort.rank[t->base + i], slot = rank >> 16;
			if (rank != ~0u)
				t->order[t->slots.at[slot] + (rank & 0xffffu)] = slot << 16 | (by_row ? row : i);
		}
	}
	__syncthreads();
	for (uint32_t at = threadIdx.x; at < t->entries - w->others; at += blockDim.x) {
		uint32_t slot = t->order[at] >> 16, i = t->order[at] & 0xffffu;
		put_ordered(a, t, at, t->slots.feature[slot], t->slots.n[slot] + at, by_row ? i : row_with(t, i), i);
	}
}

LS_DEVICE void count_tile(const struct ls_cuda_args &a, struct tile_words *w, uint64_t *shared)
{
	struct tile t = tile_arrays(a, shared);
	tile_rows(a, &t, w);
	count_entries(a, &t, w);
	__syncthreads();
	if (t.ordered) {
		count_slots(a, &t, w);
		__syncthreads();
		order_entries(a, &t, w);
	}
	if (threadIdx.x == 0)
		a.sort.tile_new[blockIdx.x] = w->news;
}

extern "C" __global__ void __launch_bounds__(1024) fm_sort_count(const struct ls_cuda_args a)
{
	LS_DYNAMIC_SHARED(uint64_t, shared);
	__shared__ struct tile_words words;
	count_tile(a, &words, shared);
}

/* --- place --- */

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

LS_DEVICE uint32_t parts_of(const struct ls_cuda_args &a, uint32_t n)
{
	return n > LS_CUDA_SOME ? (n + a.chunk - 1) / a.chunk : 0;
}

LS_DEVICE uint32_t list_of(uint32_t n)
{
	return n <= 1 ? 0 : n <= LS_CUDA_FEW ? 1 : 2;
}

/* What a feature with n entries needs: entries (low) and tasks of warps (high) … */
LS_DEVICE uint64_t room_needs(const struct ls_cuda_args &a, uint32_t n)
{
	return n | (uint64_t)parts_of(a, n) << 32;
}

/* … and a place in one of the lists, or to meet: 16 bits each, in the order of counts. */
LS_DEVICE uint64_t list_needs(const struct ls_cuda_args &a, uint32_t n)
{
	uint64_t heavy = (uint64_t)(parts_of(a, n) > 1) << 48;
	return n && n <= LS_CUDA_SOME ? (uint64_t)1 << 16 * list_of(n) : heavy;
}

LS_DEVICE void place_feature(const struct ls_cuda_args &a, uint32_t feature, uint32_t n, uint64_t room, uint64_t lists,
			     const uint32_t *base)
{
	const struct ls_cuda_sort &s = a.sort;
	struct ls_cuda_task t = {feature, (uint32_t)room, n, 0};
	s.offset[feature] = t.from;
	if (n <= LS_CUDA_SOME) {
		uint32_t list = list_of(n);
		s.light[list][base[list] + (uint32_t)(lists >> 16 * list & 0xffffu)] = t;
	} else {
		make_tasks(a, t, parts_of(a, n), (uint32_t)(room >> 32), base[LS_CUDA_LISTS] + (uint32_t)(lists >> 48));
	}
}

struct place_words {
	uint64_t scan[32], room;
	uint32_t base[LS_CUDA_LISTS + 1];
};

LS_DEVICE void place_tile(const struct ls_cuda_args &a, uint32_t tile, struct place_words *w)
{
	enum { EACH = 4 }; /* features a thread: a block asks for room once for all of them */
	const struct ls_cuda_sort &s = a.sort;
	const uint32_t *feature = s.new_feature + s.tile_first[tile], all = s.tile_new[tile];
	for (uint32_t lo = threadIdx.x; lo - threadIdx.x < all; lo += EACH * blockDim.x) {
		uint32_t n[EACH], f[EACH];
		uint64_t room = 0, lists = 0, all_room, all_lists;
#pragma unroll
		for (uint32_t k = 0; k < EACH; k++)
			f[k] = feature[lo + k * blockDim.x < all ? lo + k * blockDim.x : 0];
#pragma unroll
		for (uint32_t k = 0; k < EACH; k++) {
			n[k] = __ldcg(&s.in_count[f[k]]); /* other blocks' atomics are in L2 */
			n[k] = lo + k * blockDim.x < all ? n[k] : 0;
			room += room_needs(a, n[k]);
			lists += list_needs(a, n[k]);
		}
		room = block_scan(room, w->scan, &all_room);
		lists = block_scan(lists, w->scan, &all_lists);
		if (threadIdx.x == 0)
			w->room = atomicAdd((unsigned long long *)&s.counts[LS_SORT_PLACED],
					    (unsigned long long)all_room);
		if (threadIdx.x <= LS_CUDA_LISTS)
			w->base[threadIdx.x] = atomicAdd(&s.counts[LS_SORT_LIGHT + threadIdx.x],
							 (uint32_t)(all_lists >> 16 * threadIdx.x & 0xffffu));
		__syncthreads();
		room += w->room;
#pragma unroll
		for (uint32_t k = 0; k < EACH; k++) {
			if (!n[k])
				continue;
			s.in_count[f[k]] = 0;
			place_feature(a, f[k], n[k], room, lists, w->base);
			room += room_needs(a, n[k]);
			lists += list_needs(a, n[k]);
		}
		__syncthreads();
	}
}

extern "C" __global__ void __launch_bounds__(1024) fm_sort_place(const struct ls_cuda_args a)
{
	__shared__ struct place_words words;
	place_tile(a, blockIdx.x, &words);
}

/* --- scatter --- */

/* Entries from `from` on, by a block. */
LS_DEVICE void scatter(const struct ls_cuda_args &a, uint32_t from, uint32_t step)
{
	const struct ls_cuda_sort &s = a.sort;
	uint32_t entries = s.counts[LS_SORT_ENTRIES];
#pragma unroll 4
	for (uint32_t i = from; i < entries; i += step) {
		uint32_t place = s.offset[s.tile_feature[i]] + s.tile_rank[i];
		s.by_row[place] = s.tile_row[i];
		if (!s.tile_entry)
			continue;
		uint32_t e = s.tile_entry[i];
		if (s.by_entry)
			s.by_entry[place] = e;
		if (s.by_x)
			s.by_x[place] = s.x[e];
		if (s.by_field)
			s.by_field[place] = s.field[e];
	}
}

extern "C" __global__ void __launch_bounds__(256) fm_sort_scatter(const struct ls_cuda_args a)
{
	scatter(a, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
}

/* A batch that is one tile: everything by one block. */
extern "C" __global__ void __launch_bounds__(1024) fm_sort_one(const struct ls_cuda_args a)
{
	LS_DYNAMIC_SHARED(uint64_t, shared);
	__shared__ struct tile_words words;
	__shared__ struct place_words place;
	count_tile(a, &words, shared);
	__threadfence();
	__syncthreads();
	place_tile(a, 0, &place);
	__threadfence();
	__syncthreads();
	scatter(a, threadIdx.x, blockDim.x);
}

/* The graph's steps are done: the next launch of it starts behind them. */
extern "C" __global__ void fm_advance(const struct ls_cuda_args a)
{
	if (threadIdx.x == 0)
		a.state->base += a.index;
}
