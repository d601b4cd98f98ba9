/* What the files of the CUDA engine share: the engine itself, its memory, its kernels.
 * Not for others. The engine owns everything in struct ls_fm_cuda. One thread. */
#ifndef LS_FM_CUDA_HOST_CUDA_INTERNAL_H
#define LS_FM_CUDA_HOST_CUDA_INTERNAL_H

#include <stdbool.h>

#include "fm/cuda/device/cuda_args.h"
#include "fm/cuda/host/cuda.h"

enum {
	LS_CUDA_MAX_ALLOCS = 96,
	LS_CUDA_MAX_STRETCH = 4096,
	LS_CUDA_WINDOWS = 2,
	LS_CUDA_PIECES = 4
};

/* Entries that are sorted at a time: their numbers have 32 bits. */
#define LS_CUDA_MAX_ENTRIES (UINT32_MAX - ((uint32_t)1 << 16))

enum ls_cuda_kernel {
	LS_K_SPREAD,
	LS_K_DIGITS,
	LS_K_ORDER,
	LS_K_SCAN,
	LS_K_FIRSTS,
	LS_K_PASS,
	LS_K_LOOK,
	LS_K_TASKS,
	LS_K_ADVANCE,
	LS_K_ROWS,
	LS_K_COLUMNS,
	LS_K_PAIRS, /* fwfm */
	LS_K_PREDICT,
	LS_K_KERNELS
};

/* The arrays of the training data (rows.h), and the numbers of the rows. */
enum ls_cuda_array {
	LS_A_START,
	LS_A_NUMBER,
	LS_A_LABEL,
	LS_A_WEIGHT,
	LS_A_FEATURE,
	LS_A_FIELD,
	LS_A_VALUE,
	LS_A_ARRAYS
};

/* The rows of steps first..first + steps of one epoch (cuda_rows.c): all of its steps or,
 * if the data stream, some. */
struct ls_cuda_window {
	uint64_t first, steps; /* no steps: nothing is in it */
	uint32_t rows, entries;
	void *locked;   /* page-locked; host points into it */
	uint64_t *from; /* by row: its first entry in the whole data */
	void *host[LS_A_ARRAYS], *device[LS_A_ARRAYS];
	ls_cu_event copied, used; /* the copy there; the steps that were put so far */
};

/* Page-locked buffers of copies (cuda_copy.c). */
struct ls_cuda_pieces {
	char *host;
	ls_cu_event done[LS_CUDA_PIECES];
	bool busy[LS_CUDA_PIECES]; /* an upload from it was put, and not waited for */
	uint32_t next;
};

struct ls_fm_cuda {
	struct ls_fm_model *m;
	const struct ls_rows *rows;
	struct ls_pool *pool;
	struct ls_cuda_conf conf;
	struct ls_gpu *gpu;
	ls_cu_module modules[2];
	struct ls_gpu_kernel kernel[LS_K_KERNELS];
	/* of those of the model's kind that this engine needs; "": not, or of the sort */
	char name[LS_K_KERNELS][32];
	unsigned grid[LS_K_KERNELS], threads[LS_K_KERNELS],
		shared[LS_K_KERNELS]; /* bytes, dynamic */
	ls_cu_stream main;
	ls_cu_graph_exec graph[LS_CUDA_WINDOWS]; /* by view */
	uint32_t graph_steps;

	ls_cu_ptr allocs[LS_CUDA_MAX_ALLOCS];
	uint32_t n_allocs;
	uint64_t allocated; /* bytes */
	bool counting;      /* allocate and copy nothing, only add up `allocated` */

	struct ls_cuda_args args; /* all but what changes from launch to launch */
	uint64_t entries;         /* capacity of a batch, */
	uint64_t graph_entries;   /* of the batches of a graph */

	bool streams;  /* the data go there in windows */
	uint32_t view; /* the window that the kernels see; 0 where all data are there */
	uint32_t window_rows;
	uint64_t window_entries;
	struct ls_cuda_window window[LS_CUDA_WINDOWS];
	const struct ls_cuda_window *sorted; /* the one that is, or NULL */
	bool by_feature;                     /* all data are in that order */
	float *x;                            /* after normalisation */
	ls_cu_stream copies;                 /* of windows */
	struct ls_cuda_pieces pieces;

	struct ls_update *updates; /* host side of a stretch, page-locked */
	double *losses;
	struct ls_cuda_state *state;
	struct ls_cuda_place {
		uint64_t first, base, rows; /* as struct ls_cuda_state begins */
	} * places;                         /* by step of a stretch: where parts begin */
};

/* Device memory that lives as long as the engine, zeroed; *ret is a device pointer. */
int ls_cuda_alloc(struct ls_fm_cuda *c, uint64_t bytes, const char *what, void *ret,
		  struct ls_err *err);
uint64_t ls_cuda_rounded(uint64_t bytes); /* what an allocation of so many takes */
int ls_cuda_upload(struct ls_fm_cuda *c, const void *from, uint64_t bytes, const void *to,
		   struct ls_err *err);
ls_cu_ptr ls_cuda_ptr(const void *device);

/* cuda_memory.c: everything of the engine that is memory. */
int ls_cuda_put_model(struct ls_fm_cuda *c, struct ls_err *err);
int ls_cuda_get_model(struct ls_fm_cuda *c, struct ls_err *err);
/* Bytes that are free and allowed. */
int ls_cuda_left(struct ls_fm_cuda *c, uint64_t *ret, struct ls_err *err);
/* Whether all fits, before anything is allocated: sets c->streams. *ret_room: bytes left
 * for windows. */
int ls_cuda_plan(struct ls_fm_cuda *c, uint64_t *ret_room, struct ls_err *err);
int ls_cuda_make_batch(struct ls_fm_cuda *c, struct ls_err *err);

/* n runs of size bytes in the host's memory, stride bytes from one to the next; without
 * gaps in the device's. */
struct ls_cuda_runs {
	char *host;
	uint64_t n, size, stride;
};

static inline struct ls_cuda_runs ls_cuda_whole(const void *host, uint64_t bytes)
{
	return (struct ls_cuda_runs){(char *)(uintptr_t)host, 1, bytes, bytes};
}

/* cuda_copy.c: in the main stream; the host's memory is read and written before the call
 * returns, or, if it is small, before the stream is waited for. */
int ls_cuda_copy_in(struct ls_fm_cuda *c, const struct ls_cuda_runs *from, const void *to,
		    struct ls_err *err);
int ls_cuda_copy_out(struct ls_fm_cuda *c, const struct ls_cuda_runs *to, const void *from,
		     struct ls_err *err);
void ls_cuda_free_pieces(struct ls_fm_cuda *c);

/* cuda_rows.c */
/* Entries that a batch can have at most. */
uint64_t ls_cuda_most_entries(const struct ls_rows *rows, uint64_t batch);
/* all data in so many bytes */
bool ls_cuda_rows_fit(struct ls_fm_cuda *c, uint64_t room);
/* bytes of windows of one step */
uint64_t ls_cuda_least_windows(struct ls_fm_cuda *c);
int ls_cuda_put_rows(struct ls_fm_cuda *c, uint64_t room, struct ls_err *err);
void ls_cuda_free_windows(struct ls_fm_cuda *c);
/* Lets the kernels see the window with a step, once it is copied and sorted. */
int ls_cuda_show_window(struct ls_fm_cuda *c, uint64_t step, struct ls_cuda_window **ret,
			struct ls_err *err);
/* The steps before `next` are queued. If the window has no more, the next window is
 * filled while they run. */
int ls_cuda_leave_window(struct ls_fm_cuda *c, uint64_t next, struct ls_err *err);

/* cuda_sort.c: memory for data of that size, and the sort of what the kernels see. */
uint32_t ls_cuda_slot_bits(const struct ls_fm_cuda *c);
uint64_t ls_cuda_sort_bytes(struct ls_fm_cuda *c, uint64_t rows, uint64_t entries);
int ls_cuda_make_sort(struct ls_fm_cuda *c, uint64_t rows, uint64_t entries, struct ls_err *err);
int ls_cuda_put_sort(struct ls_fm_cuda *c, const struct ls_cuda_window *w, struct ls_err *err);

/* cuda_predict.c */
int ls_cuda_predict(struct ls_fm_cuda *c, const struct ls_rows *rows, float *ret_score,
		    struct ls_err *err);

/* cuda_kernels.c: the kernels of this model (without rows only those that predict), their
 * grids for a batch, and launches with a given grid or with the kernel's. */
int ls_cuda_find_kernels(struct ls_fm_cuda *c, struct ls_err *err);
int ls_cuda_size_grids(struct ls_fm_cuda *c, struct ls_err *err);
int ls_cuda_launch(struct ls_fm_cuda *c, ls_cu_stream s, enum ls_cuda_kernel k, unsigned grid,
		   const struct ls_cuda_args *args, struct ls_err *err);
int ls_cuda_put(struct ls_fm_cuda *c, ls_cu_stream s, enum ls_cuda_kernel k,
		const struct ls_cuda_args *args, struct ls_err *err);

static inline uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Whether entries have values other than 1. */
static inline bool ls_cuda_has_x(const struct ls_fm_cuda *c)
{
	return c->rows->value || c->m->opts.normalize;
}

#endif
