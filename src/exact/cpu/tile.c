#include "exact/cpu/tile.h"

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

#if defined(__AVX512F__)
enum { LANES = 8, ROWS = 8, VECTORS = 3 };
#elif defined(__AVX2__)
enum { LANES = 4, ROWS = 4, VECTORS = 3 };
#elif defined(__aarch64__)
enum { LANES = 2, ROWS = 6, VECTORS = 4 };
#else
enum { LANES = 2, ROWS = 4, VECTORS = 3 };
#endif
enum { COLUMNS = VECTORS * LANES };

typedef double vec __attribute__((vector_size(8 * LANES), aligned(8)));

/* Whole numbers of at most 2^22: a block's sum stays below 2^53, where doubles are
 * exact. */
static void add(const double *a, const double *b, int64_t depth, int64_t *sum, int64_t stride)
{
	vec total[ROWS][VECTORS] = {{{0}}};
	for (int64_t d = 0; d < depth; d++, a += ROWS, b += COLUMNS) {
		vec y[VECTORS];
		UNROLL
		for (int v = 0; v < VECTORS; v++)
			y[v] = *(const vec *)(b + v * LANES);
		UNROLL
		for (int i = 0; i < ROWS; i++) {
			UNROLL
			for (int v = 0; v < VECTORS; v++)
				total[i][v] += a[i] * y[v];
		}
	}
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLUMNS; j++)
			sum[i * stride + j] += (int64_t)total[i][j / LANES][j % LANES];
}

const struct ls_exact_tile LS_EXACT_NAME(tile) = {ROWS, COLUMNS, add};
