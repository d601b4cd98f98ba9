/* Sorting entries by feature and by batch, and moving on: cuda_args.h has the plan. */
#include "fm/cuda/device/cuda_lane.h"
#include "fm/model/order.h"

/* Exclusive sum over the threads of a block; shared has a word a warp. *ret_total gets
 * the whole. */
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

/* --- rows --- */

/* The row of every entry, and its x where rows are normalised: eight lanes a row. */
extern "C" __global__ void __launch_bounds__(256) fm_sort_spread(const struct ls_cuda_args a)
{
	enum { LANES = 8 };
	uint64_t rows = (uint64_t)gridDim.x * blockDim.x / LANES;
	for (uint64_t r = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / LANES; r < a.sort.rows; r += rows) {
		uint64_t at = a.start[r];
		uint32_t n = (uint32_t)(a.start[r + 1] - at);
		const float *value = a.in_value ? a.in_value + at : (const float *)0;
		float scale = a.normalize ? ls_cell_norm(value, n) : 1.0f;
		for (uint32_t i = threadIdx.x % LANES; i < n; i += LANES) {
			a.sort.pass.from.with[at + i] = (uint32_t)r;
			if (a.normalize)
				a.x[at + i] = entry_x(value, scale, i);
		}
	}
}

/* How many entries have each digit, of all passes, in shared memory. */
struct digit_counts {
	uint32_t n[LS_SORT_PASSES][1 << LS_SORT_BITS];
};

LS_DEVICE void clear_digits(struct digit_counts *c)
{
	for (uint32_t i = threadIdx.x; i < LS_SORT_PASSES << LS_SORT_BITS; i += blockDim.x)
		c->n[i >> LS_SORT_BITS][i & ((1 << LS_SORT_BITS) - 1)] = 0;
	__syncthreads();
}

/* n entries with that key. */
LS_DEVICE void count_digits(const struct ls_cuda_digits &d, uint32_t key, uint32_t n, struct digit_counts *c)
{
	for (uint32_t p = 0; p < d.passes; p++)
		atomicAdd(&c->n[p][key >> ls_cuda_digit_from(&d, p) & ((1u << ls_cuda_digit_bits(&d, p)) - 1)], n);
}

LS_DEVICE void add_digits(const struct ls_cuda_args &a, const struct digit_counts *c)
{
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < a.sort.digits.passes << LS_SORT_BITS; i += blockDim.x) {
		uint32_t n = c->n[i >> LS_SORT_BITS][i & ((1 << LS_SORT_BITS) - 1)];
		if (n)
			atomicAdd(&a.sort.digit_count[i], n);
	}
}

/* Those of all features. */
extern "C" __global__ void __launch_bounds__(256) fm_sort_digits(const struct ls_cuda_args a)
{
	__shared__ struct digit_counts counts;
	const struct ls_cuda_digits d = a.sort.digits;
	uint64_t step = (uint64_t)gridDim.x * blockDim.x;
	clear_digits(&counts);
#pragma unroll 4
	for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.sort.entries; i += step)
		count_digits(d, a.in_feature[i], 1, &counts);
	add_digits(a, &counts);
}

/* The epoch's order: a block a tile of rows, whose entries it counts. */
extern "C" __global__ void __launch_bounds__(256) fm_sort_order(const struct ls_cuda_args a)
{
	__shared__ struct ls_order order;
	__shared__ uint64_t scan[32];
	__shared__ struct digit_counts counts;
	const struct ls_cuda_sort &s = a.sort;
	uint64_t total, sum = 0;
	if (threadIdx.x == 0)
		ls_order_init(&order, a.shuffle, a.seed, a.batch, s.rows, s.step);
	clear_digits(&counts);
	for (uint32_t k = 0; k < LS_SORT_EACH; k++) {
		uint32_t i = blockIdx.x * LS_SORT_TILE + k * LS_CUDA_THREADS + threadIdx.x;
		if (i >= s.rows)
			break;
		uint64_t row = ls_order_row(&order, i), at = a.start[row];
		uint32_t n = (uint32_t)(a.start[row + 1] - at), place = i / a.batch << s.slot_bits | i % a.batch;
		s.pick[i] = (uint32_t)row;
		*(uint2 *)&s.span[i] = make_uint2((uint32_t)at, n);
		s.place_of[row] = place;
		count_digits(s.digits, place, n, &counts);
		sum += n;
	}
	block_scan(sum, scan, &total);
	if (threadIdx.x == 0)
		s.row_tile[blockIdx.x] = (uint32_t)total;
	add_digits(a, &counts);
}

/* One block: sums over the tiles of rows before. */
extern "C" __global__ void __launch_bounds__(256) fm_sort_scan(const struct ls_cuda_args a)
{
	enum { EACH = 4 };
	__shared__ uint64_t scan[32];
	uint32_t tiles = (a.sort.rows + LS_SORT_TILE - 1) / LS_SORT_TILE, *count = a.sort.row_tile, sum = 0;
	for (uint32_t lo = 0; lo < tiles; lo += EACH * blockDim.x) {
		uint32_t at = lo + EACH * threadIdx.x, n[EACH], mine = 0;
		uint64_t total;
		for (uint32_t k = 0; k < EACH; k++) {
			n[k] = at + k < tiles ? count[at + k] : 0;
			mine += n[k];
		}
		uint32_t before = sum + (uint32_t)block_scan(mine, scan, &total);
		for (uint32_t k = 0; k < EACH; k++) {
			if (at + k < tiles)
				count[at + k] = before;
			before += n[k];
		}
		sum += (uint32_t)total;
	}
}

/* Entries before each row, when those before its tile are known. */
extern "C" __global__ void __launch_bounds__(256) fm_sort_firsts(const struct ls_cuda_args a)
{
	__shared__ uint64_t scan[32];
	const struct ls_cuda_sort &s = a.sort;
	uint64_t total, before = s.row_tile[blockIdx.x];
	for (uint32_t k = 0; k < LS_SORT_EACH; k++) {
		uint32_t i = blockIdx.x * LS_SORT_TILE + k * LS_CUDA_THREADS + threadIdx.x;
		uint32_t n = i < s.rows ? s.span[i].n : 0, at = (uint32_t)(before + block_scan(n, scan, &total));
		if (i < s.rows)
			s.first[i] = at;
		if (i + 1 == s.rows)
			s.first[s.rows] = at + n;
		before += total;
	}
}

/* --- a pass --- */

LS_DEVICE uint32_t digit_of(const struct ls_cuda_pass &p, uint32_t key)
{
	return key >> p.shift & ((1u << p.bits) - 1);
}

struct pass_shared {
	/* by warp and digit: entries before */
	uint16_t rank[LS_CUDA_THREADS / 32][1 << LS_SORT_BITS];
	/* where a digit's entries go, less where they are here */
	uint32_t base[1 << LS_SORT_BITS];
	uint32_t key[LS_SORT_TILE], word[LS_SORT_TILE]; /* in the order of digits */
	uint64_t scan[32];
	uint32_t tile;
};

/* The active lanes that have the same digit of at most BITS bits. */
template <int BITS> LS_DEVICE uint32_t same_digit(uint32_t digit, bool there)
{
	uint32_t same = __ballot_sync(0xffffffffu, there);
#pragma unroll
	for (int b = 0; b < BITS; b++) {
		bool one = (digit >> b & 1) != 0;
		uint32_t ones = __ballot_sync(0xffffffffu, one);
		same &= one ? ones : ~ones;
	}
	return same;
}

/* A thread's entries: those it reads are 32 apart, those it writes a block. FULL: no tile
 * has fewer. */
struct mover {
	uint16_t at[LS_SORT_EACH]; /* in the tile's order of what it read */
	/* entries of the warp, its first, entries of the tile */
	uint32_t here, from, all;
};

template <bool FULL> LS_DEVICE bool is_there(uint32_t i, uint32_t n)
{
	return FULL || i < n;
}

/* Each entry's number among those of its digit in its warp. */
template <int BITS, bool FULL>
LS_DEVICE void rank_entries(const struct ls_cuda_pass &p, const uint32_t *key, uint16_t *rank, struct mover *m)
{
	uint32_t left = (1u << lane_of()) - 1;
	for (uint32_t d = lane_of(); d < 1u << p.bits; d += 32)
		rank[d] = 0;
	__syncwarp();
#pragma unroll
	for (uint32_t k = 0; k < LS_SORT_EACH; k++) {
		bool there = is_there<FULL>(k * 32 + lane_of(), m->here);
		m->at[k] = 0;
		if (!FULL && k * 32 >= m->here)
			continue;
		uint32_t digit = digit_of(p, key[k]), same = same_digit<BITS>(digit, there), before = rank[digit];
		__syncwarp();
		m->at[k] = (uint16_t)(before + (uint32_t)__popc(same & left));
		if (there && !(same & left))
			rank[digit] = (uint16_t)(before + (uint32_t)__popc(same));
		__syncwarp();
	}
}

/* The number of entries of a digit in the tiles before this one, which has n (decoupled
 * look-back). A tile first publishes 1 << 62 and its own count, then 1 << 63 and the
 * count up to its end. Tiles are taken in order, so those before are running or done. */
LS_DEVICE void publish(uint64_t *at, uint64_t word)
{
	*(volatile uint64_t *)at = word;
}

LS_DEVICE uint64_t hear(const uint64_t *at)
{
	return *(const volatile uint64_t *)at;
}

LS_DEVICE uint32_t tile_before(uint64_t *mine, uint32_t tile, uint32_t digits, uint32_t n)
{
	enum { AT_ONCE = 4 };
	const uint64_t all = (uint64_t)1 << 63;
	uint64_t before = 0;
	bool known = tile == 0;
	for (uint32_t back = 1; !known; back += AT_ONCE) {
		uint64_t word[AT_ONCE];
#pragma unroll
		for (uint32_t j = 0; j < AT_ONCE; j++)
			word[j] = back + j <= tile ? hear(mine - (uint64_t)(back + j) * digits) : all;
#pragma unroll
		for (uint32_t j = 0; j < AT_ONCE; j++) {
			while (!known && !(word[j] >> 62)) {
				__nanosleep(40);
				word[j] = hear(mine - (uint64_t)(back + j) * digits);
			}
			before += known ? 0 : (uint32_t)word[j];
			known = known || word[j] >= all;
		}
	}
	publish(mine, all | (before + n));
	return (uint32_t)before;
}

/* From counts of warps to places in the tile. Returns the tile's entries of the thread's
 * digit and publishes them. base gets where they go, less where they are in the tile and
 * less those of the tiles before. */
LS_DEVICE uint32_t place_digits(const struct ls_cuda_args &a, struct pass_shared *sh, uint64_t *published)
{
	const struct ls_cuda_pass &p = a.sort.pass;
	uint32_t d = threadIdx.x, n = 0;
	bool mine = d < 1u << p.bits;
	for (uint32_t w = 0; w < LS_CUDA_THREADS / 32 && mine; w++) {
		uint32_t here = sh->rank[w][d];
		sh->rank[w][d] = (uint16_t)n;
		n += here;
	}
	if (mine)
		publish(published, (uint64_t)1 << 62 | n);
	uint32_t of_digit = mine ? a.sort.digit_count[(p.number << LS_SORT_BITS) + d] : 0;
	uint64_t total, before = block_scan((uint64_t)of_digit << 32 | n, sh->scan, &total);
	if (mine) {
		sh->base[d] = (uint32_t)(before >> 32) - (uint32_t)before;
		for (uint32_t w = 0; w < LS_CUDA_THREADS / 32; w++)
			sh->rank[w][d] = (uint16_t)(sh->rank[w][d] + (uint32_t)before);
	}
	__syncthreads();
	return n;
}

/* One word of each entry. */
template <bool FULL> LS_DEVICE void load_words(const struct mover &m, const uint32_t *from, uint32_t *word)
{
#pragma unroll
	for (uint32_t k = 0; k < LS_SORT_EACH; k++) {
		uint32_t i = k * 32 + lane_of();
		word[k] = is_there<FULL>(i, m.here) ? (from ? from[m.from + i] : m.from + i) : 0;
	}
}

template <bool FULL> LS_DEVICE void order_words(const struct mover &m, const uint32_t *word, uint32_t *shared)
{
#pragma unroll
	for (uint32_t k = 0; k < LS_SORT_EACH; k++)
		if (is_there<FULL>(k * 32 + lane_of(), m.here))
			shared[m.at[k]] = word[k];
}

/* Words that are in the order of digits to their places, and, unless it is NULL, the keys
 * to theirs. */
template <bool FULL>
LS_DEVICE void write_words(const struct ls_cuda_pass &p, const struct mover &m, const struct pass_shared *sh,
			   uint32_t *keys, uint32_t *words)
{
#pragma unroll
	for (uint32_t k = 0; k < LS_SORT_EACH; k++) {
		uint32_t j = k * LS_CUDA_THREADS + threadIdx.x;
		if (!is_there<FULL>(j, m.all))
			continue;
		uint32_t key = sh->key[j], to = sh->base[digit_of(p, key)] + j;
		if (keys)
			keys[to] = key;
		words[to] = sh->word[j];
	}
}

/* Keys: those of the list, or the places of rows. */
template <bool FULL> LS_DEVICE void load_keys(const struct ls_cuda_args &a, const struct mover &m, uint32_t *key)
{
	const struct ls_cuda_pass &p = a.sort.pass;
	load_words<FULL>(m, p.row ? p.row : p.from.key, key);
	if (!p.row)
		return;
#pragma unroll
	for (uint32_t k = 0; k < LS_SORT_EACH; k++)
		key[k] = a.sort.place_of[key[k]];
}

template <int BITS, bool FULL>
LS_DEVICE void move_tile(const struct ls_cuda_args &a, struct mover *m, struct pass_shared *sh)
{
	const struct ls_cuda_pass &p = a.sort.pass;
	uint32_t key[LS_SORT_EACH], with[LS_SORT_EACH], digits = 1u << p.bits;
	uint64_t *published = a.sort.tile_digits + (uint64_t)sh->tile * digits + threadIdx.x;
	uint16_t *rank = sh->rank[threadIdx.x / 32];
	load_keys<FULL>(a, *m, key);
	rank_entries<BITS, FULL>(p, key, rank, m);
	__syncthreads();
	uint32_t n = place_digits(a, sh, published);
#pragma unroll
	for (uint32_t k = 0; k < LS_SORT_EACH; k++)
		m->at[k] = (uint16_t)(m->at[k] + rank[digit_of(p, key[k])]);
	order_words<FULL>(*m, key, sh->key);
	load_words<FULL>(*m, p.from.with, with);
	order_words<FULL>(*m, with, sh->word);
	if (threadIdx.x < digits)
		sh->base[threadIdx.x] += tile_before(published, sh->tile, digits, n);
	__syncthreads();
	write_words<FULL>(p, *m, sh, p.to.key, p.to.with);
	if (!p.to.entry)
		return;
	load_words<FULL>(*m, p.from.entry, with);
	__syncthreads();
	order_words<FULL>(*m, with, sh->word);
	__syncthreads();
	write_words<FULL>(p, *m, sh, (uint32_t *)0, p.to.entry);
}

/* Entries of a tile to their places, by way of shared memory, so that what is written
 * lies side by side. */
extern "C" __global__ void __launch_bounds__(256, 3) fm_sort_pass(const struct ls_cuda_args a)
{
	__shared__ struct pass_shared sh;
	if (threadIdx.x == 0)
		sh.tile = atomicAdd(&a.sort.ticket[a.sort.pass.number], 1u);
	__syncthreads();
	uint32_t lo = sh.tile * LS_SORT_TILE, left = a.sort.entries - lo, mine = threadIdx.x / 32 * 32 * LS_SORT_EACH;
	struct mover m;
	m.all = left < LS_SORT_TILE ? left : (uint32_t)LS_SORT_TILE;
	m.from = lo + mine;
	m.here = m.all <= mine ? 0 : m.all - mine;
	if (m.all < LS_SORT_TILE)
		move_tile<8, false>(a, &m, &sh);
	else if (a.sort.pass.bits <= 4)
		move_tile<4, true>(a, &m, &sh);
	else if (a.sort.pass.bits <= 6)
		move_tile<6, true>(a, &m, &sh);
	else
		move_tile<8, true>(a, &m, &sh);
}

/* --- what goes with entries --- */

/* The number of an entry in its batch, whose rows lie one behind another. */
LS_DEVICE uint32_t renumbered(const struct ls_cuda_args &a, uint32_t place, uint32_t entry)
{
	const struct ls_cuda_sort &s = a.sort;
	uint64_t batch = (uint64_t)(place >> s.slot_bits) * a.batch, row = batch + (place & ((1u << s.slot_bits) - 1));
	return entry - s.span[row].at + s.first[row] - s.first[batch];
}

extern "C" __global__ void __launch_bounds__(256) fm_sort_look(const struct ls_cuda_args a)
{
	const struct ls_cuda_sort &s = a.sort;
#pragma unroll 4
	for (uint32_t k = 0; k < LS_SORT_EACH; k++) {
		uint32_t i = blockIdx.x * LS_SORT_TILE + k * LS_CUDA_THREADS + threadIdx.x;
		if (i >= s.entries)
			break;
		uint32_t e = s.by_batch.entry[i];
		if (s.by_x)
			s.by_x[i] = a.x[e];
		if (s.by_field)
			s.by_field[i] = a.in_field[e];
		if (s.renumber)
			s.by_batch.entry[i] = renumbered(a, s.by_batch.key[i], e);
	}
}

/* --- tasks --- */

/* Sorted entries of one batch, a tile of them: where features begin. */
struct task_tile {
	const uint32_t *feature;
	uint32_t lo, hi, end; /* in all; of the batch's entries */
};

struct task_shared {
	uint32_t head[LS_SORT_TILE +
		      /* the numbers of the features' first entries, then the end of the
		       * last feature */
		      1];
	uint32_t before[LS_CUDA_THREADS / 32]; /* by warp: its heads */
	uint64_t scan[32];
	uint32_t base[LS_CUDA_LISTS + 2];
};

/* The first entry in from..to that is not of the feature, by a warp. Near entries are
 * tried first. */
LS_DEVICE uint32_t feature_end(const uint32_t *feature, uint32_t is, uint32_t from, uint32_t to)
{
	for (bool near = true; from < to; near = false) { /* most searches end soon */
		uint32_t step = near ? 1 : (to - from + 31) / 32, left = to - from, at = lane_of() * step;
		bool same = at < left && feature[from + at] == is;
		uint32_t n = (uint32_t)__popc(__ballot_sync(0xffffffffu, same));
		if (n == 0)
			return from;
		to = n * step < left && !(near && n == 32) ? from + n * step : to;
		from += (n - 1) * step + 1;
	}
	return to;
}

/* Where features begin in the tile: returns how many do. All threads call. */
LS_DEVICE uint32_t find_heads(const struct task_tile &t, uint32_t first, struct task_shared *sh)
{
	uint32_t f[LS_SORT_EACH], bits[LS_SORT_EACH], warp = threadIdx.x / 32, n = 0, all = 0;
	uint32_t from = t.lo + warp * 32 * LS_SORT_EACH + lane_of();
#pragma unroll
	for (uint32_t k = 0; k < LS_SORT_EACH; k++)
		f[k] = from + k * 32 < t.hi ? t.feature[from + k * 32] : 0;
	uint32_t left = from - lane_of() > first && from - lane_of() < t.hi ? t.feature[from - lane_of() - 1] : 0;
#pragma unroll
	for (uint32_t k = 0; k < LS_SORT_EACH; k++) {
		uint32_t i = from + k * 32, before = __shfl_up_sync(0xffffffffu, f[k], 1);
		before = lane_of() ? before : left;
		left = __shfl_sync(0xffffffffu, f[k], 31);
		bits[k] = __ballot_sync(0xffffffffu, i < t.hi && (i == first || f[k] != before));
		n += (uint32_t)__popc(bits[k]);
	}
	if (lane_of() == 0)
		sh->before[warp] = n;
	__syncthreads();
	n = 0;
	for (uint32_t w = 0; w < LS_CUDA_THREADS / 32; w++) {
		n += w < warp ? sh->before[w] : 0;
		all += sh->before[w];
	}
#pragma unroll
	for (uint32_t k = 0; k < LS_SORT_EACH; k++) {
		if (bits[k] >> lane_of() & 1)
			sh->head[n + (uint32_t)__popc(bits[k] & ((1u << lane_of()) - 1))] = from + k * 32;
		n += (uint32_t)__popc(bits[k]);
	}
	if (all && warp == 0) {
		uint32_t last = feature_end(t.feature, t.feature[t.hi - 1], t.hi, t.end);
		if (lane_of() == 0)
			sh->head[all] = last;
	}
	__syncthreads();
	return all;
}

/* A feature with many entries: tasks of at most chunk entries each. */
LS_DEVICE void make_tasks(const struct ls_cuda_args &a, const struct batch_lists &l, struct ls_cuda_task all,
			  uint32_t parts, uint32_t at, uint32_t heavy)
{
	if (parts > 1)
		l.heavy_parts[heavy] = parts;
	for (uint32_t p = 0; p < parts; p++) {
		uint32_t left = all.n - p * a.chunk;
		struct ls_cuda_task t = {all.feature, all.from + p * a.chunk, left < a.chunk ? left : a.chunk,
					 parts > 1 ? heavy + 1 : 0};
		l.task[at + p] = t;
	}
}

LS_DEVICE uint32_t parts_of(const struct ls_cuda_args &a, uint32_t n)
{
	return n > LS_CUDA_SOME ? (n - 1) / a.chunk + 1 : 0;
}

LS_DEVICE uint32_t list_of(uint32_t n)
{
	return n <= 1 ? 0 : n <= LS_CUDA_FEW ? 1 : 2;
}

/* What a feature with n entries needs: a place in one of the lists, or to meet: 16 bits
 * each, in the order of counts. */
LS_DEVICE uint64_t list_needs(const struct ls_cuda_args &a, uint32_t n)
{
	return n <= LS_CUDA_SOME ? (uint64_t)1 << 16 * list_of(n) : (uint64_t)(n > a.chunk) << 48;
}

LS_DEVICE void place_feature(const struct ls_cuda_args &a, const struct batch_lists &l, struct ls_cuda_task t,
			     uint32_t task, uint64_t lists, const uint32_t *base)
{
	uint32_t list = list_of(t.n);
	if (t.n <= LS_CUDA_SOME)
		l.light[list][base[1 + list] + (uint32_t)(lists >> 16 * list & 0xffffu)] = t;
	else
		make_tasks(a, l, t, parts_of(a, t.n), base[0] + task,
			   base[1 + LS_CUDA_LISTS] + (uint32_t)(lists >> 48));
}

/* Some features a thread: counted, and then put into their lists. */
LS_DEVICE void put_features(const struct ls_cuda_args &a, const struct task_tile &t, const struct batch_lists &l,
			    uint32_t n_heads, struct task_shared *sh)
{
	uint32_t each = (n_heads + blockDim.x - 1) / blockDim.x, lo = threadIdx.x * each, hi = lo + each;
	uint64_t tasks = 0, lists = 0, all_tasks, all_lists;
	hi = hi < n_heads ? hi : n_heads;
	for (uint32_t h = lo; h < hi; h++) {
		uint32_t n = sh->head[h + 1] - sh->head[h];
		tasks += parts_of(a, n);
		lists += list_needs(a, n);
	}
	tasks = block_scan(tasks, sh->scan, &all_tasks);
	lists = block_scan(lists, sh->scan, &all_lists);
	if (threadIdx.x <= 1 + LS_CUDA_LISTS) {
		uint32_t list = (uint32_t)(all_lists >> 16 * ((threadIdx.x + 3) % 4) & 0xffffu);
		sh->base[threadIdx.x] = atomicAdd(&l.counts[threadIdx.x], threadIdx.x ? list : (uint32_t)all_tasks);
	}
	__syncthreads();
	for (uint32_t h = lo; h < hi; h++) {
		uint32_t from = sh->head[h], n = sh->head[h + 1] - from;
		uint32_t slot = a.sort.by_batch.key[from] & ((1u << a.sort.slot_bits) - 1);
		struct ls_cuda_task task = {t.feature[from], from, n, n == 1 ? slot : 0};
		place_feature(a, l, task, (uint32_t)tasks, lists, sh->base);
		tasks += parts_of(a, n);
		lists += list_needs(a, n);
	}
}

/* The features of a.index steps: step_tiles blocks a step. */
extern "C" __global__ void __launch_bounds__(256, 5) fm_sort_tasks(const struct ls_cuda_args a)
{
	__shared__ struct task_shared sh;
	uint32_t step = blockIdx.x / a.step_tiles, tile = blockIdx.x % a.step_tiles;
	struct batch b = batch_at(a, a.state->base + step);
	struct task_tile t = {a.sort.by_batch.with, b.first[0] + tile * LS_SORT_TILE, 0, b.first[b.rows]};
	if ((uint64_t)tile * LS_SORT_TILE >= t.end - b.first[0])
		return;
	t.hi = t.end - t.lo < LS_SORT_TILE ? t.end : t.lo + LS_SORT_TILE;
	uint32_t n = find_heads(t, b.first[0], &sh);
	if (n)
		put_features(a, t, lists_of(a, step, b), n, &sh);
}

/* After the steps of a graph: the next launch starts with the step after them. */
extern "C" __global__ void fm_advance(const struct ls_cuda_args a)
{
	if (threadIdx.x == 0)
		a.state->base += a.index;
}
