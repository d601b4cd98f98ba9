#include "exact/cuda/host/reduce_cuda.h"

#include "exact/reduce_plan.h"

enum {
	THREADS = 256,
	ACROSS = 32,       /* outputs of a block, where they lie side by side */
	MANY = 512,        /* outputs that fill a device, a warp or a block each */
	SHORT = 1024,      /* elements that a warp reduces alone */
	FEW = 8192,        /* elements that one block reduces in a single launch */
	EACH = 16,         /* elements of a thread, so that a block pays */
	MOST_PARTS = 65535 /* of a grid's second dimension */
};

/* Blocks share the elements of an output, and meet in its state. */
static bool is_shared(const struct ls_reduce *r)
{
	return !ls_term_is_map(r->kind) &&
	       (ls_reduce_is_across(r) || (r->kept < MANY && r->reduced > FEW));
}

size_t ls_reduce_cuda_scratch(const struct ls_reduce *r)
{
	return is_shared(r) ? sizeof(struct ls_sum_state) * (size_t)r->kept : 0;
}

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static const char *half_kernel(int kind)
{
	switch (kind) {
	case LS_TERM_SUM:
		return "exact_reduce_half_sum";
	case LS_TERM_MOMENTS:
		return "exact_reduce_half_moments";
	case LS_TERM_GRADS:
		return "exact_reduce_half_grads";
	default:
		return "exact_reduce_half";
	}
}

static int launch(struct ls_exact_context *c, void *stream, const char *kernel, int64_t blocks,
		  int64_t parts, void **args, struct ls_err *err)
{
	struct ls_gpu_shape shape = {.grid = {(unsigned)blocks, (unsigned)parts},
				     .block = {THREADS}};
	return ls_exact_context_launch(c, stream, "exact_reduce", kernel, &shape, args, err);
}

static int in_halves(struct ls_exact_context *c, struct ls_reduce *r, void *scratch, void *stream,
		     struct ls_err *err)
{
	int across = ls_reduce_is_across(r);
	int64_t tiles = across ? divide_up(r->kept, ACROSS) : r->kept;
	int64_t parts = ls_exact_context_blocks(c, r->kept * r->reduced, THREADS, EACH) / tiles;
	parts = parts < 1 ? 1 : parts > MOST_PARTS ? MOST_PARTS : parts;
	int64_t part = divide_up(r->reduced, parts);
	parts = part ? divide_up(r->reduced, part) : 1;
	int rc = ls_gpu_fill(ls_exact_context_gpu(c), stream, (ls_cu_ptr)(uintptr_t)scratch, 0,
			     ls_reduce_cuda_scratch(r), err);
	int halves = ls_term_is_key(r->kind) ? 1 : 2;
	for (int half = 0; !rc && half < halves; half++)
		rc = launch(c, stream, half_kernel(r->kind), tiles, parts,
			    (void *[]){r, &scratch, &part, &half, &across}, err);
	return rc ? rc
		  : launch(c, stream, "exact_reduce_finish", divide_up(r->kept, THREADS), 1,
			   (void *[]){r, &scratch}, err);
}

int ls_reduce_cuda(struct ls_exact_context *c, const struct ls_reduce *r, void *scratch,
		   void *stream, struct ls_err *err)
{
	struct ls_reduce own = *r;
	bool warp = r->reduced <= SHORT, sum = r->kind == LS_TERM_SUM;
	if (r->kept == 0)
		return 0;
	if (is_shared(r))
		return in_halves(c, &own, scratch, stream, err);
	if (ls_term_is_map(r->kind))
		return launch(c, stream, "exact_reduce_map",
			      ls_exact_context_blocks(c, r->kept, THREADS, 4), 1, (void *[]){&own},
			      err);
	if (warp)
		return launch(c, stream, sum ? "exact_reduce_warp_sum" : "exact_reduce_warp",
			      ls_exact_context_blocks(c, r->kept * 32, THREADS, 1), 1,
			      (void *[]){&own}, err);
	return launch(c, stream, sum ? "exact_reduce_block_sum" : "exact_reduce_block",
		      ls_exact_context_blocks(c, r->kept * THREADS, THREADS, 1), 1,
		      (void *[]){&own}, err);
}
