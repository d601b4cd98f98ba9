#include "exact/cuda/host/rows_cuda.h"

enum {
	WARP = 32,
	THREADS = 256,
	MOST_THREADS = 1024,
	SHORT = 1024,            /* elements of a row that is a warp's */
	LONG = 16384,            /* elements of a row that takes the largest block */
	USUAL_SHARED = 48 << 10, /* bytes of a block */
	OWN_SHARED = 4 << 10,    /* what the kernel has without asking */
	KEPT_SHORT = 1024,       /* elements of a row that a warp keeps in registers */
	KEPT_LONG = 8192,        /* and a block */
};

static const char *kernel_of(int kind, bool warp)
{
	static const char *const names[][2] = {
		{"exact_rows_block_softmax", "exact_rows_warp_softmax"},
		{"exact_rows_block_softmax_back", "exact_rows_warp_softmax_back"},
		{"exact_rows_block_norm", "exact_rows_warp_norm"},
		{"exact_rows_block_norm_back", "exact_rows_warp_norm_back"},
	};
	int family = ls_row_is_softmax(kind)           ? 0
		     : kind <= LS_ROW_LOG_SOFTMAX_BACK ? 1
		     : kind <= LS_ROW_RMS              ? 2
						       : 3;
	return names[family][warp];
}

static int cumsum(struct ls_exact_context *c, struct ls_rows *r, void *stream, struct ls_err *err)
{
	struct ls_gpu_shape shape = {
		.grid = {ls_exact_context_blocks(c, r->rows * WARP, THREADS, 1)},
		.block = {THREADS}};
	return ls_exact_context_launch(c, stream, "exact_rows", "exact_rows_cumsum", &shape,
				       (void *[]){r}, err);
}

/* --- rows in registers --- */

/* Whether four elements are one aligned load. */
static bool is_aligned(const void *at, int type)
{
	return (uintptr_t)at % (type == LS_REDUCE_F32 ? 16 : 8) == 0;
}

static bool has_groups(const struct ls_rows_tensor *x)
{
	return x->step == 1 && x->outer % 4 == 0 && x->within % 4 == 0 &&
	       is_aligned(x->at, x->type);
}

static bool can_keep(const struct ls_rows *r)
{
	bool norm = r->kind >= LS_ROW_NORM && r->kind <= LS_ROW_RMS_BACK;
	if (r->n % 4 || r->n > KEPT_LONG || !has_groups(&r->in[0]) || !has_groups(&r->out))
		return false;
	if (ls_row_operands(r->kind) == 2 && !has_groups(&r->in[1]))
		return false;
	return !norm ||
	       (r->groups == 1 && r->width == 1 && is_aligned(r->weight.at, r->weight.type) &&
		is_aligned(r->bias.at, r->bias.type));
}

static int keep_rows(struct ls_exact_context *c, struct ls_rows *r, void *stream,
		     struct ls_err *err)
{
	static const char *const names[LS_ROW_KINDS][2] = {
		[LS_ROW_SOFTMAX] = {"exact_kept_block_softmax", "exact_kept_warp_softmax"},
		[LS_ROW_LOG_SOFTMAX] = {"exact_kept_block_log_softmax",
					"exact_kept_warp_log_softmax"},
		[LS_ROW_SOFTMAX_BACK] = {"exact_kept_block_softmax_back",
					 "exact_kept_warp_softmax_back"},
		[LS_ROW_LOG_SOFTMAX_BACK] = {"exact_kept_block_log_softmax_back",
					     "exact_kept_warp_log_softmax_back"},
		[LS_ROW_NORM] = {"exact_kept_block_norm", "exact_kept_warp_norm"},
		[LS_ROW_RMS] = {"exact_kept_block_rms", "exact_kept_warp_rms"},
		[LS_ROW_NORM_BACK] = {"exact_kept_block_norm_back", "exact_kept_warp_norm_back"},
		[LS_ROW_RMS_BACK] = {"exact_kept_block_rms_back", "exact_kept_warp_rms_back"},
	};
	bool warp = r->n <= KEPT_SHORT;
	struct ls_gpu_shape shape = {
		.grid = {ls_exact_context_blocks(c, r->rows * (warp ? WARP : THREADS), THREADS, 1)},
		.block = {THREADS}};
	return ls_exact_context_launch(c, stream, "exact_rows_kept", names[r->kind][warp], &shape,
				       (void *[]){r}, err);
}

int ls_rows_cuda(struct ls_exact_context *c, const struct ls_rows *r, void *stream,
		 struct ls_err *err)
{
	struct ls_rows own = *r;
	int64_t row = ls_row_operands(r->kind) * r->n * (int64_t)sizeof(float);
	bool warp = r->n <= SHORT && row * (THREADS / WARP) + OWN_SHARED <= USUAL_SHARED;
	unsigned threads = r->n > LONG ? MOST_THREADS : THREADS, team = warp ? WARP : threads;
	uint64_t room = (uint64_t)row * (threads / team);
	int keep = room + OWN_SHARED <= ls_gpu_info(ls_exact_context_gpu(c))->shared_per_block;
	if (r->rows == 0)
		return 0;
	if (r->kind == LS_ROW_CUMSUM)
		return cumsum(c, &own, stream, err);
	if (r->kind != LS_ROW_LOGSUMEXP && can_keep(&own))
		return keep_rows(c, &own, stream, err);
	struct ls_gpu_shape shape = {
		.grid = {ls_exact_context_blocks(c, r->rows * team, threads, 1)},
		.block = {threads},
		.shared = keep ? (unsigned)room : 0};
	return ls_exact_context_launch(c, stream, "exact_rows", kernel_of(r->kind, warp), &shape,
				       (void *[]){&own, &keep}, err);
}
