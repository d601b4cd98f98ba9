/* What the kernels of exact convolutions share with the host: sizes and device addresses,
 * passed by value. C and CUDA alike. The host owns the memory. The kernels run one after
 * another: the top of each line (exact_conv_tops), its whole numbers as bytes
 * (exact_conv_cut, exact_conv_cut_along), for both sides; the sums of products
 * (exact_conv_gemm_*); and where several blocks add to a sum, its result
 * (exact_conv_finish). */
#ifndef LS_EXACT_CUDA_CONV_ARGS_H
#define LS_EXACT_CUDA_CONV_ARGS_H

#include "exact/conv.h"

enum {
	/* of a block of threads: rows of the gathered side, columns of the other, bytes of
	 * depth in a stage of the pipeline */
	LS_CONV_TILE_M = 128,
	LS_CONV_TILE_N = 64,
	LS_CONV_TILE_K = 64,
	LS_CONV_THREADS = 256,
	LS_CONV_OWN = 33, /* numbers of 64 bits in a row of a warp's results, one of them a gap */
	LS_CONV_CHANNELS = 16, /* are cut to a multiple of so many, with zeros */
	/* what a block cuts at a time */
	LS_CONV_CUT_CHANNELS = 64,
	LS_CONV_CUT_PLACES = 32,
	LS_CONV_CUT_ALONG = 4 * LS_CONV_THREADS,
	LS_CONV_TOPS_PART = 1 << 13, /* elements that a block looks at */
	/* depth whose sums of three digit products fit 32 bits: 3 · 255² · 2^14 < 2^32,
	 * and with the signs of the digits below 2^31 */
	LS_CONV_CHUNK = 1 << 14
};

/* Lines of a tensor, each with `outer` × places elements on one grid. Line l begins at
 * element l / per * high + l % per * low. */
struct ls_conv_lines {
	const void *at;
	int type, bits;
	int64_t lines, per, high, low;
	int64_t outer, outer_step;
	int64_t size[LS_CONV_DIMS], step[LS_CONV_DIMS], places;
	int even;            /* all places are step[2] apart */
	uint32_t *top, *odd; /* odd: whether a line has an infinity or a NaN */
	/* The grid of an element is that of its line, or of line l % per * outer + o, where
	 * o is the element's outer number. */
	int by_outer;
	/* Byte d of an element is at digits[d * plane + l / per * to_high + l % per *
	 * to_low + place * to_place + o], the lowest first; the last is signed, the others are
	 * not. o goes on to pad_outer with zeros. exact_conv_cut_along: o * places + place
	 * instead of the last two. */
	uint8_t *digits;
	int64_t plane, to_high, to_low, to_place, pad_outer;
};

struct ls_conv_gemm {
	struct ls_conv c;
	const uint8_t *source, *other, *zeros; /* digits; 16 zeros */
	int64_t source_plane, other_plane;
	int64_t channels;              /* of a group, with zeros */
	int64_t pad_lines, other_line; /* lines of a group; bytes of a line */
	int64_t rows, depth;           /* depth: bytes, with zeros up to a stage */
	int64_t part;                  /* of the depth, for blockIdx.y */
	const uint32_t *source_top, *source_odd, *other_top, *other_odd;
	/* Sums to which several blocks add, by group, line and row; NULL: one block has all
	 * of a sum. low NULL: one word is enough */
	uint64_t *high, *low;
	int stages; /* of the pipeline: 1, 2 or 4 */
};

#endif
