/* The engine's kernels: which ones a model needs, how many threads each gets, and their
 * launch. */
#include <stdio.h>

#include "fm/cuda/host/cuda_internal.h"

/* Lanes that share a vector of so many factors: a power of two that the kernels are made
 * for. */
static unsigned lanes_of(unsigned factors)
{
	unsigned chunks = factors / 4;
	return chunks <= 1 ? 1 : chunks <= 2 ? 2 : chunks <= 4 ? 4 : chunks <= 8 ? 8 : 32;
}

static uint64_t multiprocessors(const struct ls_fm_cuda *c)
{
	return (uint64_t)ls_gpu_info(c->gpu)->multiprocessors;
}

/* --- those of this model --- */

static int find_sort(struct ls_fm_cuda *c, struct ls_err *err)
{
	static const char *const names[] = {
		[LS_K_SPREAD] = "fm_sort_spread", [LS_K_DIGITS] = "fm_sort_digits",
		[LS_K_ORDER] = "fm_sort_order",   [LS_K_SCAN] = "fm_sort_scan",
		[LS_K_FIRSTS] = "fm_sort_firsts", [LS_K_PASS] = "fm_sort_pass",
		[LS_K_LOOK] = "fm_sort_look",     [LS_K_TASKS] = "fm_sort_tasks",
		[LS_K_ADVANCE] = "fm_advance",    [LS_K_ADVANCE + 1] = NULL,
	};
	int rc = ls_kernels_load(c->gpu, &c->conf.kernels, "cuda_sort", names, &c->modules[0], NULL,
				 err);
	for (size_t k = 0; names[k] && rc == 0; k++)
		rc = ls_gpu_kernel(c->gpu, c->modules[0], names[k], &c->kernel[k], err);
	return rc;
}

/* A kernel of the model's kind; variant: of those made for several numbers; negative:
 * there is but one. */
static void name_kernel(struct ls_fm_cuda *c, enum ls_cuda_kernel k, const char *what, int variant)
{
	const char *kind = ls_fm_kind_name(c->m->opts.kind);
	if (variant >= 0)
		snprintf(c->name[k], sizeof c->name[k], "%s_%s_%d", kind, what, variant);
	else
		snprintf(c->name[k], sizeof c->name[k], "%s_%s", kind, what);
}

/* Blocks for the work of so many threads, at most as many as the GPU holds at a time. */
static int grid_for(struct ls_fm_cuda *c, enum ls_cuda_kernel k, uint64_t work, struct ls_err *err)
{
	int each = 0;
	int rc = ls_gpu_kernel_blocks(c->gpu, &c->kernel[k], c->threads[k], c->shared[k], &each,
				      err);
	uint64_t most = (uint64_t)(each > 0 ? each : 1) * multiprocessors(c);
	uint64_t need = (work + c->threads[k] - 1) / c->threads[k];
	c->grid[k] = (unsigned)least(need ? need : 1, most);
	return rc;
}

/* Shared memory that one of `blocks` blocks of a multiprocessor may have. */
static uint64_t shared_room(const struct ls_fm_cuda *c, unsigned blocks)
{
	const struct ls_gpu_info *i = ls_gpu_info(c->gpu);
	uint64_t each = i->shared_per_multiprocessor / blocks,
		 spare = 4 << 10; /* the kernel's own, and the driver's */
	each = least(each, i->shared_per_block);
	return each > spare ? each - spare : 0;
}

/* ffm: rows in shared memory, as many as two blocks a multiprocessor have room for. */
static void size_ffm_rows(struct ls_fm_cuda *c)
{
	uint64_t fields = c->m->n_fields, padded = c->m->padded;
	uint64_t pairs = (fields * (fields - 1) / 2 + 3) / 4 * 4,
		 floats = padded * (fields * fields + pairs + 1);
	uint64_t each =
		/* cuda_ffm.cu: shared_row_of */
		4 * ((floats + 5 * fields + 31) / 32 * 32 + 4);
	uint64_t fit = least(shared_room(c, 2) / each, LS_CUDA_THREADS / 32);
	c->args.row_fit = (uint32_t)fit;
	c->shared[LS_K_ROWS] = (unsigned)(fit * each);
}

/* fwfm: the number of factors whose rows the kernel has in shared memory, or 0. */
static int size_fwfm_rows(struct ls_fm_cuda *c)
{
	uint64_t fields = c->m->n_fields, padded = c->m->padded,
		 rows = LS_CUDA_THREADS / (padded == 16 ? 16u : 8u);
	uint64_t floats = fields * ((fields + 39) / 40 * 40) +
			  rows * fields * (padded + 4); /* cuda_fwfm.cu */
	if ((padded != 4 && padded != 8 && padded != 16) || 4 * floats > shared_room(c, 3))
		return 0;
	c->shared[LS_K_ROWS] = (unsigned)(4 * floats);
	return (int)padded;
}

static int size_fwfm_pairs(struct ls_fm_cuda *c)
{
	uint64_t fields = c->m->n_fields, padded = c->m->padded, sets = (fields + 3) / 4, rows = 16;
	uint64_t bytes = 8 * (c->m->n_pairs + 1 + rows) +
			 4 * rows * fields * (padded + 4); /* cuda_fwfm.cu: pair_shared */
	if ((padded != 4 && padded != 8) || sets * (sets + 1) / 2 > LS_CUDA_THREADS ||
	    bytes > shared_room(c, 2))
		return 0;
	c->shared[LS_K_PAIRS] = (unsigned)bytes;
	return (int)padded;
}

/* One output, whose factors a group has all at once (cuda_columns.h: ONE), and there is a
 * kernel for it. */
static bool is_one(const struct ls_fm_cuda *c, unsigned lanes)
{
	unsigned most = c->m->opts.kind == LS_FFM   ? 8 * 5
			: lanes == 1 || lanes == 32 ? 0
						    : lanes; /* chunks */
	return c->m->outputs == 1 && c->m->blocks * c->m->padded / 4 <= most;
}

static void name_training(struct ls_fm_cuda *c, int lanes)
{
	enum ls_fm_kind kind = c->m->opts.kind;
	int rows = kind == LS_FM ? lanes : -1;
	/* a batch that does not fill the GPU leaves registers free: more loads can be
	 * under way */
	bool few = kind == LS_FM &&
		   c->m->opts.batch * (unsigned)lanes / LS_CUDA_THREADS <= multiprocessors(c);
	if (few)
		c->threads[LS_K_ROWS] = LS_CUDA_FEW_THREADS;
	if (kind == LS_FFM)
		size_ffm_rows(c);
	if (kind == LS_FWFM)
		rows = size_fwfm_rows(c);
	name_kernel(c, LS_K_ROWS, few ? "few_rows" : "rows", rows);
	name_kernel(c, LS_K_COLUMNS, is_one(c, (unsigned)lanes) ? "one_columns" : "columns",
		    kind == LS_FFM ? -1 : lanes);
	if (kind == LS_FWFM)
		name_kernel(c, LS_K_PAIRS, "pairs", size_fwfm_pairs(c));
}

const char *ls_cuda_module(enum ls_fm_kind kind)
{
	static const char *const modules[] = {
		[LS_FM] = "cuda_fm", [LS_FFM] = "cuda_ffm", [LS_FWFM] = "cuda_fwfm"};
	return modules[kind];
}

/* Only those that are named: compiling all of a module takes many times as long. */
static int find_model(struct ls_fm_cuda *c, struct ls_err *err)
{
	enum ls_fm_kind kind = c->m->opts.kind;
	int lanes = (int)lanes_of(c->m->padded), n = 0;
	const char *wanted[LS_K_KERNELS + 1] = {NULL};
	if (c->rows)
		name_training(c, lanes);
	name_kernel(c, LS_K_PREDICT, "predict", kind == LS_FM ? lanes : -1);
	for (int k = 0; k < LS_K_KERNELS; k++)
		if (*c->name[k])
			wanted[n++] = c->name[k];
	int rc = ls_kernels_load(c->gpu, &c->conf.kernels, ls_cuda_module(kind), wanted,
				 &c->modules[1], NULL, err);
	for (int k = 0; k < LS_K_KERNELS && rc == 0; k++)
		if (*c->name[k])
			rc = ls_gpu_kernel(c->gpu, c->modules[1], c->name[k], &c->kernel[k], err);
	return rc;
}

int ls_cuda_find_kernels(struct ls_fm_cuda *c, struct ls_err *err)
{
	for (int k = 0; k < LS_K_KERNELS; k++)
		c->threads[k] = LS_CUDA_THREADS;
	c->grid[LS_K_ADVANCE] = 1;
	int rc = c->rows ? find_sort(c, err) : 0;
	if (rc == 0)
		rc = find_model(c, err);
	return rc ? rc : grid_for(c, LS_K_PREDICT, UINT32_MAX, err);
}

/* --- grids and launches --- */

/* Threads of rows' kernels that a batch keeps busy. */
static uint64_t row_threads(const struct ls_fm_cuda *c)
{
	uint64_t batch = c->m->opts.batch, padded = c->m->padded;
	if (c->m->opts.kind == LS_FM)
		return batch * lanes_of(c->m->padded);
	if (c->m->opts.kind == LS_FFM)
		return batch * LS_CUDA_THREADS /
		       (c->args.row_fit ? c->args.row_fit : LS_CUDA_THREADS / 32);
	return batch * (!c->shared[LS_K_ROWS] ? 32 : padded == 16 ? 16 : 8);
}

int ls_cuda_size_grids(struct ls_fm_cuda *c, struct ls_err *err)
{
	const struct ls_fm_model *m = c->m;
	uint64_t features = least(c->entries, m->n_features) * m->outputs;
	uint64_t backs =
		(m->opts.kind == LS_FFM ? c->entries : m->opts.batch) * (c->args.back_each / 4);
	uint64_t lanes = m->opts.kind == LS_FFM ? 8 : lanes_of(m->padded);
	int rc = 0;
	if (features >= UINT32_MAX ||
	    backs >= UINT32_MAX) /* cuda_columns.h counts them in 32 bits */
		rc = ls_err_set(
			err, LS_EINPUT,
			"a batch of %u rows may have too many parameters; take a smaller --batch",
			m->opts.batch);
	for (int k = 0; k < LS_K_KERNELS && rc == 0; k++)
		if (c->shared[k])
			rc = ls_gpu_kernel_shared(c->gpu, &c->kernel[k], c->shared[k], err);
	if (rc == 0)
		rc = grid_for(c, LS_K_ROWS, row_threads(c), err);
	if (rc == 0)
		rc = grid_for(c, LS_K_COLUMNS, features * lanes, err);
	if (rc == 0 && m->opts.kind == LS_FWFM)
		rc = grid_for(c, LS_K_PAIRS, (uint64_t)m->opts.batch * 16, err);
	return rc;
}

int ls_cuda_launch(struct ls_fm_cuda *c, ls_cu_stream s, enum ls_cuda_kernel k, unsigned grid,
		   const struct ls_cuda_args *args, struct ls_err *err)
{
	struct ls_gpu_shape shape = {
		.grid = {grid}, .block = {c->threads[k]}, .shared = c->shared[k]};
	struct ls_cuda_args copy = *args;
	void *list[] = {&copy};
	return ls_gpu_launch(c->gpu, s, &c->kernel[k], &shape, list, err);
}

int ls_cuda_put(struct ls_fm_cuda *c, ls_cu_stream s, enum ls_cuda_kernel k,
		const struct ls_cuda_args *a, struct ls_err *err)
{
	return ls_cuda_launch(c, s, k, c->grid[k], a, err);
}
