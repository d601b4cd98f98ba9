/* Exact convolutions: the grids and digits of both sides, and the sums of their products
 * by tensor cores. The gathered side is never written down: a block reads the digits of
 * the source where the window's taps are. A block of 8 warps owns 128 × 64 sums, a warp 32
 * × 32 of them. */
#include "exact/cuda/device/conv_args.h"
#include "exact/cuda/device/exact_mma.h"
#include "gpu/device.h"

enum { WARP_M = 32, WARP_N = 32, ROWS = WARP_M / 16, COLUMNS = WARP_N / 8 };

/* --- grids --- */

static __device__ __forceinline__ int64_t begin_of(const ls_conv_lines &s, int64_t line)
{
	return line / s.per * s.high + line % s.per * s.low;
}

static __device__ __forceinline__ float element(const ls_conv_lines &s, int64_t begin,
						unsigned outer, unsigned place)
{
	int64_t at = begin + outer * s.outer_step;
	if (s.even)
		return ls_reduce_get(s.at, s.type, at + place * s.step[2]);
	unsigned second = (unsigned)s.size[1], third = (unsigned)s.size[2];
	at += place / third / second * s.step[0] + place / third % second * s.step[1] +
	      place % third * s.step[2];
	return ls_reduce_get(s.at, s.type, at);
}

/* Grid: parts of all lines; parts: of a line. */
extern "C" __global__ void exact_conv_tops(ls_conv_lines s, int64_t parts)
{
	const int64_t line = blockIdx.x / parts, begin = begin_of(s, line);
	const int64_t count = s.outer * s.places, from = blockIdx.x % parts * LS_CONV_TOPS_PART;
	const int64_t to = from + LS_CONV_TOPS_PART < count ? from + LS_CONV_TOPS_PART : count;
	const unsigned places = (unsigned)s.places;
	uint32_t top = 0;
	for (int64_t i = from + threadIdx.x; i < to; i += blockDim.x)
		top = ls_conv_top(top,
				  element(s, begin, (unsigned)i / places, (unsigned)i % places));
	for (int by = 16; by; by /= 2)
		top = ls_conv_larger(top, __shfl_xor_sync(0xffffffffu, top, by));
	if (threadIdx.x % 32 == 0) {
		atomicMax(s.top + line, top & ~LS_CONV_NOT_FINITE);
		if (top & LS_CONV_NOT_FINITE)
			atomicOr(s.odd + line, 1u);
	}
}

static __device__ __forceinline__ int32_t whole(const ls_conv_lines &s, int64_t line, int64_t begin,
						unsigned outer, unsigned place)
{
	float first, second;
	int64_t grid = s.by_outer ? line % s.per * s.outer + outer : line;
	ls_grid_scale(s.bits, ls_grid_exp(s.top[grid]), &first, &second);
	return ls_conv_whole(element(s, begin, outer, place), first, second, s.bits);
}

/* --- digits --- */

static __device__ __forceinline__ uint32_t digit_of(const int32_t v[4], int plane)
{
	uint32_t word = 0;
#pragma unroll
	for (int j = 0; j < 4; j++)
		word |= ((uint32_t)v[j] >> (8 * plane) & 0xff) << (8 * j);
	return word;
}

/* 64 channels of 32 places, read the way they lie and written place by place. Grid: line ×
 * blocks of places × blocks of channels. */
extern "C" __global__ void __launch_bounds__(LS_CONV_THREADS) exact_conv_cut(ls_conv_lines s)
{
	__shared__ int32_t q[LS_CONV_CUT_PLACES][LS_CONV_CUT_CHANNELS + 4];
	const unsigned blocks_c =
		(unsigned)((s.pad_outer + LS_CONV_CUT_CHANNELS - 1) / LS_CONV_CUT_CHANNELS);
	const unsigned blocks_p =
		(unsigned)((s.places + LS_CONV_CUT_PLACES - 1) / LS_CONV_CUT_PLACES);
	const unsigned channel = blockIdx.x % blocks_c * LS_CONV_CUT_CHANNELS,
		       place = blockIdx.x / blocks_c % blocks_p * LS_CONV_CUT_PLACES;
	const int64_t line = blockIdx.x / blocks_c / blocks_p, begin = begin_of(s, line);
	const bool across = s.outer_step == 1;
	for (unsigned i = threadIdx.x; i < LS_CONV_CUT_CHANNELS * LS_CONV_CUT_PLACES;
	     i += blockDim.x) {
		unsigned c = across ? i % LS_CONV_CUT_CHANNELS : i / LS_CONV_CUT_PLACES;
		unsigned p = across ? i / LS_CONV_CUT_CHANNELS : i % LS_CONV_CUT_PLACES;
		q[p][c] = channel + c < s.outer && place + p < s.places
				  ? whole(s, line, begin, channel + c, place + p)
				  : 0;
	}
	__syncthreads();
	const int planes = s.bits == LS_GRID_FINE ? 3 : 2;
	uint8_t *to = s.digits + line / s.per * s.to_high + line % s.per * s.to_low + channel;
	for (unsigned i = threadIdx.x; i < LS_CONV_CUT_CHANNELS / 4 * LS_CONV_CUT_PLACES;
	     i += blockDim.x) {
		unsigned c = i % (LS_CONV_CUT_CHANNELS / 4) * 4, p = i / (LS_CONV_CUT_CHANNELS / 4);
		if (channel + c >= s.pad_outer || place + p >= s.places)
			continue;
		for (int d = 0; d < planes; d++)
			*(uint32_t *)(to + d * s.plane + (place + p) * s.to_place + c) =
				digit_of(&q[p][c], d);
	}
}

/* Lines whose elements follow each other; a thread has four of them. Grid: line × blocks
 * of LS_CONV_CUT_ALONG. */
extern "C" __global__ void __launch_bounds__(LS_CONV_THREADS) exact_conv_cut_along(ls_conv_lines s)
{
	const unsigned blocks =
		(unsigned)((s.pad_outer + LS_CONV_CUT_ALONG - 1) / LS_CONV_CUT_ALONG);
	const int64_t line = blockIdx.x / blocks, begin = begin_of(s, line);
	const unsigned at = blockIdx.x % blocks * LS_CONV_CUT_ALONG + 4 * threadIdx.x;
	const unsigned places = (unsigned)s.places, count = (unsigned)(s.outer * s.places);
	const int planes = s.bits == LS_GRID_FINE ? 3 : 2;
	int32_t v[4];
	if (at >= s.pad_outer)
		return;
#pragma unroll
	for (unsigned j = 0; j < 4; j++)
		v[j] = at + j < count ? whole(s, line, begin, (at + j) / places, (at + j) % places)
				      : 0;
	uint8_t *to = s.digits + line / s.per * s.to_high + line % s.per * s.to_low + at;
	for (int d = 0; d < planes; d++)
		*(uint32_t *)(to + d * s.plane) = digit_of(v, d);
}

/* --- shared memory: a stage has `P` planes of each side, lines of 64 bytes --- */

/* Where 16 bytes of a line lie. Four chunks a line, exchanged so that eight lines in a
 * column touch every bank once. */
static __device__ __forceinline__ unsigned place_of(unsigned line, unsigned chunk)
{
	return line * LS_CONV_TILE_K + ((chunk ^ (line >> 1 & 3)) << 4);
}

template <int P> struct stage {
	enum {
		A = LS_CONV_TILE_M * LS_CONV_TILE_K,
		B = LS_CONV_TILE_N * LS_CONV_TILE_K,
		SIZE = P * (A + B)
	};
};

/* --- the gathered side where rows are places: 16 channels of a tap at a time --- */

/* A thread copies chunk threadIdx.x % 4 of rows l and l + 64 of the gathered side, and of
 * line l of the other. */
struct by_places {
	int z[2], y[2], x[2];  /* where tap 0 of the two rows reads */
	const uint8_t *row[2]; /* of their sample; null: beyond the last row */
	const uint8_t *line;   /* of the other side */
	int tap[LS_CONV_DIMS], chunk;
};

static __device__ __forceinline__ void next_tap(const ls_conv_gemm &g, by_places &s)
{
	if (++s.tap[2] < g.c.dim[2].taps)
		return;
	s.tap[2] = 0;
	if (++s.tap[1] < g.c.dim[1].taps)
		return;
	s.tap[1] = 0;
	s.tap[0]++;
}

static __device__ __forceinline__ void begin(const ls_conv_gemm &g, int64_t row, int64_t column,
					     int64_t group, int64_t from, by_places &s)
{
	const unsigned chunks = (unsigned)(g.channels / 16);
	const unsigned first = (unsigned)(from / 16) + threadIdx.x % 4;
	const int64_t places = ls_conv_places(&g.c);
	const int64_t sample_bytes = ls_conv_source_places(&g.c) * g.c.groups * g.channels;
	const int64_t taps = ls_conv_taps(&g.c);
	s.chunk = (int)(first % chunks);
	struct ls_conv_at tap = {{0, 0, 0}};
	if (taps)
		tap = ls_conv_tap(&g.c, first / chunks % taps);
	for (int d = 0; d < LS_CONV_DIMS; d++)
		s.tap[d] = (int)tap.at[d];
	if (first / chunks >= taps)
		s.tap[0] = (int)g.c.dim[0].taps; /* behind the last */
	for (int h = 0; h < 2; h++) {
		int64_t r = row + threadIdx.x / 4 + 64 * h;
		s.row[h] = nullptr;
		s.z[h] = s.y[h] = s.x[h] = 0;
		if (r >= g.rows)
			continue;
		struct ls_conv_at at = ls_conv_place(&g.c, r % places);
		s.row[h] = g.source + r / places * sample_bytes + group * g.channels;
		s.z[h] = (int)(at.at[0] * g.c.dim[0].step + g.c.dim[0].off);
		s.y[h] = (int)(at.at[1] * g.c.dim[1].step + g.c.dim[1].off);
		s.x[h] = (int)(at.at[2] * g.c.dim[2].step + g.c.dim[2].off);
	}
	s.line = g.other + (group * g.pad_lines + column + threadIdx.x / 4) * g.other_line;
}

template <int P>
static __device__ __forceinline__ void fill(const ls_conv_gemm &g, uint8_t *to, int64_t,
					    by_places &s)
{
	const unsigned at = place_of(threadIdx.x / 4, threadIdx.x % 4);
	const ls_conv_dim *d = g.c.dim;
	const bool there = s.tap[0] < d[0].taps;
#pragma unroll
	for (int h = 0; h < 2; h++) {
		const int z = s.z[h] + s.tap[0] * (int)d[0].off_step;
		const int y = s.y[h] + s.tap[1] * (int)d[1].off_step;
		const int x = s.x[h] + s.tap[2] * (int)d[2].off_step;
		const bool inside = there && s.row[h] && (unsigned)z < (unsigned)d[0].size &&
				    (unsigned)y < (unsigned)d[1].size &&
				    (unsigned)x < (unsigned)d[2].size;
		const int64_t flat = ((int64_t)z * d[1].size + y) * d[2].size + x;
		const uint8_t *from =
			inside ? s.row[h] + flat * (g.c.groups * g.channels) + s.chunk * 16
			       : g.zeros;
		const int64_t plane = inside ? g.source_plane : 0;
#pragma unroll
		for (int p = 0; p < P; p++)
			ls_copy16(to + p * stage<P>::A + h * (stage<P>::A / 2) + at,
				  from + p * plane);
	}
	const int64_t w_tap = ((d[0].tap_first + s.tap[0] * d[0].tap_step) * g.c.w_taps[1] +
			       d[1].tap_first + s.tap[1] * d[1].tap_step) *
				      g.c.w_taps[2] +
			      d[2].tap_first + s.tap[2] * d[2].tap_step;
	const uint8_t *from = there ? s.line + w_tap * g.channels + s.chunk * 16 : g.zeros;
	const int64_t plane = there ? g.other_plane : 0;
#pragma unroll
	for (int p = 0; p < P; p++)
		ls_copy16(to + P * stage<P>::A + p * stage<P>::B + at, from + p * plane);
	for (s.chunk += 4; s.chunk >= g.channels / 16; s.chunk -= (int)(g.channels / 16))
		next_tap(g, s);
}

/* --- the gathered side where rows are tap * channels + channel, and the depth is places
 * of all samples: four places of eight channels at a time, which have to be turned --- */

struct by_taps {
	int off[LS_CONV_DIMS];   /* where the tap reads, of place 0 */
	const uint8_t *channels; /* of the source; null: beyond the last row */
	const uint8_t *line;     /* of the other side */
};

static __device__ __forceinline__ unsigned own_rows() /* the first of eight */
{
	return (threadIdx.x % 2 + threadIdx.x / 32 * 2) * 8;
}

static __device__ __forceinline__ unsigned own_places() /* the first of four */
{
	return threadIdx.x / 2 % 16 * 4;
}

static __device__ __forceinline__ void begin(const ls_conv_gemm &g, int64_t row, int64_t column,
					     int64_t group, int64_t from, by_taps &s)
{
	const int64_t r = row + own_rows();
	struct ls_conv_at tap = ls_conv_tap(&g.c, r / g.channels);
	for (int d = 0; d < LS_CONV_DIMS; d++)
		s.off[d] = (int)(g.c.dim[d].off + tap.at[d] * g.c.dim[d].off_step);
	s.channels = r < g.rows ? g.source + group * g.channels + r % g.channels : nullptr;
	s.line = g.other + (group * g.pad_lines + column + threadIdx.x / 4) * g.other_line + from +
		 threadIdx.x % 4 * 16;
}

/* Where each of four places, the first of which is number k, reads; -1: nowhere. */
static __device__ __forceinline__ void places_from(const ls_conv_gemm &g, const by_taps &s,
						   int64_t k, int64_t at[4])
{
	const ls_conv_dim *d = g.c.dim;
	const unsigned n0 = (unsigned)d[0].places, n1 = (unsigned)d[1].places,
		       n2 = (unsigned)d[2].places;
	unsigned rest = (unsigned)k;
	int x = (int)(rest % n2);
	rest /= n2;
	int y = (int)(rest % n1);
	rest /= n1;
	int z = (int)(rest % n0);
	int64_t sample = rest / n0;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		const int64_t from_z = z * d[0].step + s.off[0], from_y = y * d[1].step + s.off[1],
			      from_x = x * d[2].step + s.off[2];
		const bool inside = s.channels && sample < g.c.samples && from_z >= 0 &&
				    from_z < d[0].size && from_y >= 0 && from_y < d[1].size &&
				    from_x >= 0 && from_x < d[2].size;
		at[i] = inside ? ((sample * d[0].size + from_z) * d[1].size + from_y) * d[2].size +
					 from_x
			       : -1;
		if (++x == (int)n2) {
			x = 0;
			if (++y == (int)n1) {
				y = 0;
				if (++z == (int)n0) {
					z = 0;
					sample++;
				}
			}
		}
	}
}

/* Byte i of word j becomes byte j of word i. */
static __device__ __forceinline__ void turn(uint32_t w[4])
{
	const uint32_t even = 0x00ff00ffu;
	uint32_t a = (w[0] & even) | (w[1] & even) << 8, b = (w[0] >> 8 & even) | (w[1] & ~even);
	uint32_t c = (w[2] & even) | (w[3] & even) << 8, d = (w[2] >> 8 & even) | (w[3] & ~even);
	w[0] = (a & 0xffff) | c << 16;
	w[1] = (b & 0xffff) | d << 16;
	w[2] = a >> 16 | (c & 0xffff0000u);
	w[3] = b >> 16 | (d & 0xffff0000u);
}

template <int P>
static __device__ __forceinline__ void fill(const ls_conv_gemm &g, uint8_t *to, int64_t k,
					    by_taps &s)
{
	const unsigned line = own_rows(), chunk = own_places() / 16, byte = own_places() % 16;
	int64_t at[4];
	places_from(g, s, k + own_places(), at);
#pragma unroll
	for (int p = 0; p < P; p++) {
		uint32_t w[2][4];
#pragma unroll
		for (int i = 0; i < 4; i++) {
			uint2 two = {0, 0};
			if (at[i] >= 0)
				two = *(const uint2 *)(s.channels + p * g.source_plane +
						       at[i] * (g.c.groups * g.channels));
			w[0][i] = two.x;
			w[1][i] = two.y;
		}
#pragma unroll
		for (int h = 0; h < 2; h++) {
			turn(w[h]);
#pragma unroll
			for (unsigned i = 0; i < 4; i++)
				*(uint32_t *)(to + p * stage<P>::A +
					      place_of(line + 4 * h + i, chunk) + byte) = w[h][i];
		}
	}
	const unsigned own = place_of(threadIdx.x / 4, threadIdx.x % 4);
#pragma unroll
	for (int p = 0; p < P; p++)
		ls_copy16(to + P * stage<P>::A + p * stage<P>::B + own, s.line + p * g.other_plane);
	s.line += LS_CONV_TILE_K;
}

/* --- a warp's part --- */

template <int P> struct sums {
	int32_t c[2 * P - 1][ROWS][COLUMNS][4]; /* by the sum of the digits' numbers */
};

/* All products of digit `I` of the gathered side with the digits of the other. */
template <int P, int I>
static __device__ __forceinline__ void digit(sums<P> &s, const uint8_t *side, unsigned row,
					     unsigned chunk, const uint32_t b[P][COLUMNS][2])
{
	uint32_t a[ROWS][4];
#pragma unroll
	for (int i = 0; i < ROWS; i++)
		ls_load_fragments(a[i], side + I * stage<P>::A + place_of(row + 16 * i, chunk));
#pragma unroll
	for (int i = 0; i < ROWS; i++)
#pragma unroll
		for (int j = 0; j < COLUMNS; j++) {
			ls_mma<I == P - 1, false>(s.c[I][i][j], a[i], b[0][j]);
			if (P == 3)
				ls_mma<I == P - 1, false>(s.c[I + 1][i][j], a[i], b[1][j]);
			ls_mma<I == P - 1, true>(s.c[I + P - 1][i][j], a[i], b[P - 1][j]);
		}
}

template <int P>
static __device__ __forceinline__ void work(sums<P> &s, const uint8_t *at, unsigned warp_m,
					    unsigned warp_n)
{
	const unsigned lane = threadIdx.x % 32;
#pragma unroll 1
	for (unsigned half = 0; half < 2; half++) {
		uint32_t b[P][COLUMNS][2];
		unsigned column = warp_n + lane % 8 + lane / 16 * 8;
#pragma unroll
		for (int p = 0; p < P; p++)
#pragma unroll
			for (int j = 0; j < COLUMNS; j += 2)
				ls_load_fragments(b[p][j],
						  at + P * stage<P>::A + p * stage<P>::B +
							  place_of(column + 8 * j,
								   half * 2 + (lane / 8 & 1)));
		unsigned row = warp_m + lane % 16, chunk = half * 2 + lane / 16;
		digit<P, 0>(s, at, row, chunk, b);
		digit<P, 1>(s, at, row, chunk, b);
		if (P == 3)
			digit<P, P - 1>(s, at, row, chunk, b);
	}
}

/* --- results --- */

/* What results of one row have alike. */
struct row_of {
	int64_t row, out;      /* where they go, without the line */
	int64_t sample, place; /* by_taps: channel, tap */
	uint32_t top, odd;
	bool there;
};

static __device__ __forceinline__ row_of find_row(const ls_conv_gemm &g, int64_t group, int64_t row)
{
	row_of r = {row, 0, 0, 0, 0, 0, row < g.rows};
	if (!r.there)
		return r;
	int64_t line;
	if (g.c.kind == LS_CONV_BACK_WEIGHT) {
		r.sample = row % g.channels;
		r.place = row / g.channels;
		r.there = r.sample < g.c.channels;
		if (!r.there)
			return r;
		line = group * g.c.channels + r.sample;
		r.out = ls_conv_w_out(&g.c, group, 0, r.sample, r.place);
	} else {
		const unsigned places = (unsigned)ls_conv_places(&g.c);
		r.sample = (unsigned)row / places;
		r.place = (unsigned)row % places;
		line = r.sample * g.c.groups + group;
		r.out = ls_conv_out(&g.c, group, 0, r.sample, r.place);
	}
	r.top = g.source_top[line];
	r.odd = g.source_odd[line];
	return r;
}

static __device__ __forceinline__ void put(const ls_conv_gemm &g, int64_t group, const row_of &r,
					   int64_t line, bool wide, int64_t high, int64_t low)
{
	const int64_t number = group * g.c.lines + line;
	const bool weight = g.c.kind == LS_CONV_BACK_WEIGHT;
	const int e = ls_grid_exp(r.top) + ls_grid_exp(g.other_top[number]) - 2 * g.c.bits;
	double t = wide ? ls_grid_value_wide(high, low, e) : ls_grid_value(high, e), odd;
	if ((r.odd || g.other_odd[number]) &&
	    (weight ? ls_conv_w_not_finite(&g.c, group, line, r.sample, r.place, &odd)
		    : ls_conv_not_finite(&g.c, group, line, r.sample, r.place, &odd)))
		t = odd;
	if (!weight)
		t = ls_conv_biased(&g.c, group, line, t);
	ls_reduce_put(g.c.out.at, g.c.out.type,
		      r.out + line * (weight ? g.c.out.sample : g.c.out.channel), t);
}

/* The sum of one block, or its part of one. */
static __device__ __forceinline__ void finish(const ls_conv_gemm &g, int64_t group, const row_of &r,
					      int64_t line, int64_t sum)
{
	if (!g.high) {
		put(g, group, r, line, false, sum, 0);
		return;
	}
	const int64_t at = (group * g.c.lines + line) * g.rows + r.row;
	if (g.low) {
		atomicAdd((unsigned long long *)g.high + at,
			  (unsigned long long)(sum >> LS_GRID_SPLIT));
		atomicAdd((unsigned long long *)g.low + at,
			  (unsigned long long)(sum & ((1 << LS_GRID_SPLIT) - 1)));
	} else
		atomicAdd((unsigned long long *)g.high + at, (unsigned long long)sum);
}

extern "C" __global__ void exact_conv_finish(ls_conv_gemm g)
{
	const int64_t count = g.c.groups * g.c.lines * g.rows;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
	     i += (int64_t)gridDim.x * blockDim.x) {
		const int64_t line = i / g.rows, group = line / g.c.lines;
		const row_of r = find_row(g, group, i % g.rows);
		if (r.there)
			put(g, group, r, line % g.c.lines, g.low != nullptr, (int64_t)g.high[i],
			    g.low ? (int64_t)g.low[i] : 0);
	}
}

/* The sums of 16 rows of the warp, through shared memory, so that neighbouring lanes have
 * neighbouring rows, which are places. */
template <int P>
static __device__ __forceinline__ void finish_rows(const ls_conv_gemm &g, const sums<P> &s, int i,
						   int64_t *own, int64_t group, int64_t row,
						   int64_t column)
{
	const unsigned lane = threadIdx.x % 32;
#pragma unroll
	for (int j = 0; j < COLUMNS; j++)
#pragma unroll
		for (int r = 0; r < 4; r++) {
			int64_t sum = 0;
#pragma unroll
			for (int d = 2 * P - 2; d >= 0; d--)
				sum = (int64_t)((uint64_t)sum << 8) + s.c[d][i][j][r];
			own[(lane / 4 + r / 2 * 8) * LS_CONV_OWN + 8 * j + lane % 4 * 2 + r % 2] =
				sum;
		}
	__syncwarp();
	const row_of r = find_row(g, group, row + 16 * i + lane % 16);
#pragma unroll 1
	for (unsigned l = lane / 16; l < WARP_N && r.there && column + l < g.c.lines; l += 2)
		finish(g, group, r, column + l, own[lane % 16 * LS_CONV_OWN + l]);
	__syncwarp();
}

/* Grid: tiles; parts of the depth; groups. */
template <int P, typename S> static __device__ __forceinline__ void gemm(const ls_conv_gemm &given)
{
	/* a reference to the argument itself would make every thread a copy of it */
	__shared__ ls_conv_gemm g;
	LS_DYNAMIC_SHARED(uint8_t, memory);
	if (threadIdx.x == 0)
		g = given;
	__syncthreads();
	const int64_t columns = (g.c.lines + LS_CONV_TILE_N - 1) / LS_CONV_TILE_N;
	const int64_t row = blockIdx.x / columns * LS_CONV_TILE_M,
		      column = blockIdx.x % columns * LS_CONV_TILE_N;
	const int64_t from = blockIdx.y * g.part;
	const int64_t depth = g.depth - from < g.part ? g.depth - from : g.part;
	const int steps = (int)(depth / LS_CONV_TILE_K);
	const unsigned warp = threadIdx.x / 32, warp_m = warp % 4 * WARP_M,
		       warp_n = warp / 4 * WARP_N;
	const int stages = g.stages, ring = stages - 1; /* stages is a power of two */
	S side;
	begin(g, row, column, blockIdx.z, from, side);
	sums<P> s = {};
	for (int k = 0; k < stages - 1; k++) {
		if (k < steps)
			fill<P>(g, memory + k * stage<P>::SIZE, from + k * LS_CONV_TILE_K, side);
		ls_commit_copies();
	}
	for (int k = 0; k < steps; k++) {
		const int next = k + stages - 1;
		if (stages > 3)
			ls_wait_copies<2>();
		else
			ls_wait_copies<0>();
		__syncthreads();
		if (next < steps)
			fill<P>(g, memory + (next & ring) * stage<P>::SIZE,
				from + next * LS_CONV_TILE_K, side);
		ls_commit_copies();
		if (stages == 1) {
			ls_wait_copies<0>();
			__syncthreads();
		}
		work<P>(s, memory + (k & ring) * stage<P>::SIZE, warp_m, warp_n);
	}
	__syncthreads();
	int64_t *own = (int64_t *)memory + warp * (16 * LS_CONV_OWN);
#pragma unroll
	for (int i = 0; i < ROWS; i++)
		finish_rows<P>(g, s, i, own, blockIdx.z, row + warp_m, column + warp_n);
}

extern "C" __global__ void __launch_bounds__(LS_CONV_THREADS, 1)
	exact_conv_gemm_fine(ls_conv_gemm g)
{
	gemm<3, by_places>(g);
}

extern "C" __global__ void __launch_bounds__(LS_CONV_THREADS, 1)
	exact_conv_gemm_coarse(ls_conv_gemm g)
{
	gemm<2, by_places>(g);
}

extern "C" __global__ void __launch_bounds__(LS_CONV_THREADS, 1)
	exact_conv_weight_fine(ls_conv_gemm g)
{
	gemm<3, by_taps>(g);
}

extern "C" __global__ void __launch_bounds__(LS_CONV_THREADS, 1)
	exact_conv_weight_coarse(ls_conv_gemm g)
{
	gemm<2, by_taps>(g);
}
