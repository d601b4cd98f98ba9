/* What the files of the CUDA engine share: the engine itself, its memory, its kernels. Not for others.
 * The engine owns everything in struct ls_fm_cuda. One thread. */
#ifndef LS_FM_CUDA_INTERNAL_H
#define LS_FM_CUDA_INTERNAL_H

#include <stdbool.h>

#include "fm/cuda.h"
#include "fm/cuda_args.h"

enum { LS_CUDA_MAX_SLOTS = 4, LS_CUDA_MAX_ALLOCS = 128, LS_CUDA_MAX_STRETCH = 4096 };

enum ls_cuda_kernel {
	LS_K_COUNT,
	LS_K_PLACE,
	LS_K_SCATTER,
	LS_K_ADVANCE,
	LS_K_ROWS,
	LS_K_COLUMNS,
	LS_K_PAIRS, /* fwfm */
	LS_K_PREDICT,
	LS_K_KERNELS
};

struct ls_fm_cuda {
	struct ls_fm_model *m;
	const struct ls_rows *rows;
	struct ls_pool *pool;
	struct ls_cuda_conf conf;
	struct ls_gpu *gpu;
	ls_cu_module modules[2];
	struct ls_gpu_kernel kernel[LS_K_KERNELS];
	unsigned grid[LS_K_KERNELS];
	ls_cu_stream main, side[LS_CUDA_MAX_SLOTS];
	ls_cu_event begun, sorted[LS_CUDA_MAX_SLOTS], used[LS_CUDA_MAX_SLOTS];
	ls_cu_graph_exec graph;
	uint32_t graph_steps;

	ls_cu_ptr allocs[LS_CUDA_MAX_ALLOCS];
	uint32_t n_allocs;
	uint64_t allocated; /* bytes */

	struct ls_cuda_args args; /* all but index and sort, which change from launch to launch */
	struct ls_cuda_sort slot[LS_CUDA_MAX_SLOTS];
	uint32_t slots;
	uint64_t entries; /* capacity of a batch */

	struct ls_update *updates; /* host side of a stretch, page-locked */
	double *losses;
	struct ls_cuda_state *state;
};

/* Device memory that lives as long as the engine, zeroed; *ret is a device pointer. */
int ls_cuda_alloc(struct ls_fm_cuda *c, uint64_t bytes, const char *what, void *ret, struct ls_err *err);
int ls_cuda_upload(struct ls_fm_cuda *c, const void *from, uint64_t bytes, const void *to, struct ls_err *err);
ls_cu_ptr ls_cuda_ptr(const void *device);

/* cuda_memory.c: everything of the engine that is memory. */
int ls_cuda_put_model(struct ls_fm_cuda *c, struct ls_err *err);
int ls_cuda_get_model(struct ls_fm_cuda *c, struct ls_err *err);
int ls_cuda_put_rows(struct ls_fm_cuda *c, struct ls_err *err);
int ls_cuda_make_batch(struct ls_fm_cuda *c, struct ls_err *err);

/* cuda_predict.c */
int ls_cuda_predict(struct ls_fm_cuda *c, const struct ls_rows *rows, float *ret_score, struct ls_err *err);

int ls_cuda_launch(struct ls_fm_cuda *c, ls_cu_stream s, enum ls_cuda_kernel k, unsigned grid,
		   const struct ls_cuda_args *args, struct ls_err *err);

#endif
