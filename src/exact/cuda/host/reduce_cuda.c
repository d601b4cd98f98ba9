#include "exact/cuda/host/reduce_cuda.h"

#include "exact/cuda/device/sums_args.h"
#include "exact/reduce_plan.h"

enum {
	THREADS = 256,
	ACROSS = 32,       /* outputs of a block, where they lie side by side */
	SHORT = 1024,      /* elements that a warp reduces alone */
	FEW = 8192,        /* elements that one block reduces in a single launch */
	EACH = 16,         /* elements of a thread, so that a block pays */
	BATCH = 8,         /* elements that a thread loads at a time */
	WAVES = 4,         /* so much fewer blocks as do more each: they take long to begin */
	ROUND = 32,        /* elements of a column that a block loads at a time */
	MOST_PARTS = 65535 /* of a grid's second dimension */
};

/* Blocks share the elements of an output, and meet in its state. */
static bool is_shared(const struct ls_reduce *r)
{
	return !ls_term_is_map(r->kind) && (ls_reduce_is_across(r) || r->reduced > FEW);
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
	case LS_TERM_SQUARE:
		return "exact_reduce_half_square";
	case LS_TERM_MOMENTS:
		return "exact_reduce_half_moments";
	case LS_TERM_GRADS:
		return "exact_reduce_half_grads";
	default:
		return "exact_reduce_half";
	}
}

/* Of a warp or a block that has an output of its own. */
static const char *whole_kernel(int kind, bool warp, bool keeps)
{
	switch (keeps ? kind : -1) {
	case LS_TERM_SUM:
		return warp ? "exact_reduce_warp_sum" : "exact_reduce_block_sum";
	case LS_TERM_SQUARE:
		return warp ? "exact_reduce_warp_square" : "exact_reduce_block_square";
	case LS_TERM_MOMENTS:
		return warp ? "exact_reduce_warp_moments" : "exact_reduce_block_moments";
	default:
		return warp ? "exact_reduce_warp" : "exact_reduce_block";
	}
}

static int launch(struct ls_exact_context *c, void *stream, const char *kernel, int64_t blocks,
		  int64_t parts, void **args, struct ls_err *err)
{
	struct ls_gpu_shape shape = {.grid = {(unsigned)blocks, (unsigned)parts},
				     .block = {THREADS}};
	return ls_exact_context_launch(c, stream, "exact_reduce", kernel, &shape, args, err);
}

/* --- the sums that trainings take most --- */

/* Of float32 in one dimension, with elements or outputs side by side, in aligned fours. */
static bool is_frequent(const struct ls_reduce *r, bool across)
{
	const struct ls_reduce_in *x = &r->in[0];
	if (r->kind != LS_TERM_SUM && r->kind != LS_TERM_SQUARE)
		return false;
	if (x->type != LS_REDUCE_F32 || (uintptr_t)x->at % 16 || r->kept_dims > 1 ||
	    r->reduced_dims != 1)
		return false;
	if (r->kept > 1 && r->kept_dims != 1)
		return false;
	if (across)
		return r->kept % 4 == 0 && x->kept[0] == 1 && x->reduced[0] % 4 == 0;
	return r->reduced % 4 == 0 && x->reduced[0] == 1 && r->kept <= MOST_PARTS &&
	       (r->kept == 1 || x->kept[0] % 4 == 0);
}

static int frequent(struct ls_exact_context *c, const struct ls_reduce *r, bool across,
		    void *scratch, int half, void *stream, struct ls_err *err)
{
	static const char *const names[2][2] = {
		{"exact_sums_along_bounds", "exact_sums_along_sums"},
		{"exact_sums_across_bounds", "exact_sums_across_sums"}};
	struct ls_sums s = {.x = r->in[0].at,
			    .state = scratch,
			    .kept = r->kept,
			    .reduced = r->reduced,
			    .step = across        ? r->in[0].reduced[0]
				    : r->kept > 1 ? r->in[0].kept[0]
						  : 0,
			    .square = r->kind == LS_TERM_SQUARE};
	int64_t tiles = across ? divide_up(r->kept, LS_SUMS_ACROSS) : r->kept;
	int64_t blocks = ls_exact_context_blocks(c, r->kept * r->reduced, LS_SUMS_THREADS, EACH);
	int64_t parts = blocks / WAVES / tiles;
	struct ls_gpu_shape shape = {.block = {LS_SUMS_THREADS}};
	parts = parts < 1 ? 1 : parts;
	/* a block that has a column takes rounds of loads, and not too few of them */
	s.part = divide_up(divide_up(r->reduced, parts), ROUND) * ROUND;
	if (across)
		parts = divide_up(r->reduced, s.part);
	shape.grid[0] = (unsigned)(across ? tiles : parts);
	shape.grid[1] = (unsigned)(across ? parts : tiles);
	return ls_exact_context_launch(c, stream, "exact_sums", names[across][half], &shape,
				       (void *[]){&s}, err);
}

static int in_halves(struct ls_exact_context *c, struct ls_reduce *r, void *scratch, void *stream,
		     struct ls_err *err)
{
	int across = ls_reduce_is_across(r);
	int64_t tiles = across ? divide_up(r->kept, ACROSS) : r->kept;
	int64_t parts = ls_exact_context_blocks(c, r->kept * r->reduced, THREADS, EACH) / tiles;
	parts /= WAVES;
	parts = parts < 1 ? 1 : parts > MOST_PARTS ? MOST_PARTS : parts;
	/* whole batches of each thread */
	int64_t batch = across ? THREADS / ACROSS * BATCH : THREADS * BATCH;
	int64_t part = divide_up(divide_up(r->reduced, parts), batch) * batch;
	parts = part ? divide_up(r->reduced, part) : 1;
	int rc = ls_gpu_fill(ls_exact_context_gpu(c), stream, (ls_cu_ptr)(uintptr_t)scratch, 0,
			     ls_reduce_cuda_scratch(r), err);
	int halves = ls_term_is_key(r->kind) ? 1 : 2;
	bool often = is_frequent(r, across);
	for (int half = 0; !rc && half < halves && often; half++)
		rc = frequent(c, r, across, scratch, half, stream, err);
	for (int half = 0; !rc && half < halves && !often; half++)
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
	bool warp = r->reduced <= SHORT;
	if (r->kept == 0)
		return 0;
	if (is_shared(r))
		return in_halves(c, &own, scratch, stream, err);
	if (ls_term_is_map(r->kind))
		return launch(c, stream, "exact_reduce_map",
			      ls_exact_context_blocks(c, r->kept, THREADS, 4), 1, (void *[]){&own},
			      err);
	return launch(c, stream, whole_kernel(r->kind, warp, r->reduced <= FEW),
		      ls_exact_context_blocks(c, r->kept * (warp ? 32 : THREADS), THREADS, 1), 1,
		      (void *[]){&own}, err);
}
