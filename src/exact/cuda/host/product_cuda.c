#include "exact/cuda/host/product_cuda.h"

#include <stdlib.h>

#include "base/mem.h"
#include "exact/cuda/device/exact_args.h"

enum { DIGITS, TOPS_ALONG, TOPS_ACROSS, CUT, FINE, COARSE, KERNELS };
enum { ALIGN = 256, MOST_BATCHES = 65535 /* of a grid's third dimension */ };

struct ls_exact_cuda {
	struct ls_gpu *gpu; /* borrowed */
	ls_cu_module digits, gemm;
	struct ls_gpu_kernel kernel[KERNELS];
	int stages[KERNELS]; /* of FINE and COARSE */
};

/* What lies where in the scratch memory. */
struct room {
	ls_cu_ptr top_a, top_b, a, b, high, low, end;
};

/* --- kernels --- */

static unsigned stage_bytes(int kernel)
{
	return (kernel == FINE ? 3 : 2) * (LS_EXACT_TILE_M + LS_EXACT_TILE_N) * LS_EXACT_TILE_K;
}

/* As many stages as a block may have shared memory for. */
static int size_gemm(struct ls_exact_cuda *c, int kernel, struct ls_err *err)
{
	uint64_t most = ls_gpu_info(c->gpu)->shared_per_block, own = 1 << 10;
	c->stages[kernel] = 4;
	while (c->stages[kernel] > 1 &&
	       stage_bytes(kernel) * (unsigned)c->stages[kernel] + own > most)
		c->stages[kernel] /= 2;
	return ls_gpu_kernel_shared(c->gpu, &c->kernel[kernel],
				    stage_bytes(kernel) * (unsigned)c->stages[kernel], err);
}

static int find_kernels(struct ls_exact_cuda *c, const struct ls_kernels_conf *conf,
			struct ls_err *err)
{
	static const char *const names[KERNELS] = {
		[TOPS_ALONG] = "exact_tops_along",
		[TOPS_ACROSS] = "exact_tops_across",
		[CUT] = "exact_cut",
		[FINE] = "exact_gemm_fine",
		[COARSE] = "exact_gemm_coarse",
	};
	/* tensor cores of compute capability 8.0 take larger products at a time */
	const char *gemm = ls_gpu_info(c->gpu)->cc >= 80 ? "exact_gemm_80" : "exact_gemm";
	int rc = ls_kernels_load(c->gpu, conf, "exact_digits", NULL, &c->digits, NULL, err);
	if (!rc)
		rc = ls_kernels_load(c->gpu, conf, gemm, NULL, &c->gemm, NULL, err);
	for (int k = TOPS_ALONG; k < KERNELS && !rc; k++)
		rc = ls_gpu_kernel(c->gpu, k < FINE ? c->digits : c->gemm, names[k], &c->kernel[k],
				   err);
	for (int k = FINE; k <= COARSE && !rc; k++)
		rc = size_gemm(c, k, err);
	return rc;
}

int ls_exact_cuda_new(struct ls_gpu *gpu, const struct ls_kernels_conf *conf,
		      struct ls_exact_cuda **ret, struct ls_err *err)
{
	struct ls_exact_cuda *c = ls_xalloc(sizeof *c);
	c->gpu = gpu;
	int rc = find_kernels(c, conf, err);
	if (rc)
		ls_exact_cuda_free(c);
	else
		*ret = c;
	return rc;
}

void ls_exact_cuda_free(struct ls_exact_cuda *c)
{
	if (!c)
		return;
	ls_gpu_module_free(c->gpu, c->digits);
	ls_gpu_module_free(c->gpu, c->gemm);
	free(c);
}

/* --- scratch memory --- */

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static int64_t pad(int64_t a, int64_t to)
{
	return divide_up(a, to) * to;
}

/* A side that is the same for all batches is cut once. */
static int64_t batches_of(const struct ls_exact_product *p, const struct ls_exact_matrix *x)
{
	return x->batch == 0 ? 1 : p->batch;
}

static ls_cu_ptr take(struct room *r, int64_t bytes)
{
	ls_cu_ptr at = r->end;
	r->end += (ls_cu_ptr)pad(bytes, ALIGN);
	return at;
}

static struct room lay_out(const struct ls_exact_product *p, ls_cu_ptr scratch)
{
	struct room r = {.end = scratch};
	int64_t planes = p->bits == LS_GRID_FINE ? 3 : 2, k = pad(p->k, LS_EXACT_TILE_K);
	int64_t a = batches_of(p, &p->a), b = batches_of(p, &p->b);
	r.top_a = take(&r, 4 * a * p->m);
	r.top_b = take(&r, 4 * b * p->n);
	r.a = take(&r, planes * a * pad(p->m, LS_EXACT_TILE_M) * k);
	r.b = take(&r, planes * b * pad(p->n, LS_EXACT_TILE_N) * k);
	if (p->k > LS_EXACT_CHUNK) {
		r.high = take(&r, 8 * p->batch * p->m * p->n);
		r.low = take(&r, 8 * p->batch * p->m * p->n);
	}
	return r;
}

uint64_t ls_exact_cuda_scratch(const struct ls_exact_product *p)
{
	return lay_out(p, 0).end;
}

/* --- launches --- */

static struct ls_exact_place place(const struct ls_exact_matrix *x)
{
	return (struct ls_exact_place){(uint64_t)(uintptr_t)x->at, x->row, x->column, x->batch,
				       (int)x->type};
}

static int launch(struct ls_exact_cuda *c, ls_cu_stream s, int kernel,
		  const struct ls_gpu_shape *shape, void **args, struct ls_err *err)
{
	return ls_gpu_launch(c->gpu, s, &c->kernel[kernel], shape, args, err);
}

/* The grid of each line, and its digits. */
static int cut(struct ls_exact_cuda *c, struct ls_exact_lines *l, ls_cu_stream s,
	       struct ls_err *err)
{
	bool across = l->x.row == 1;
	int64_t part = across ? 512 : 8192;
	struct ls_gpu_shape shape = {.grid = {(unsigned)divide_up(l->lines, across ? 32 : 8),
					      (unsigned)divide_up(l->depth, part),
					      (unsigned)l->batches},
				     .block = {LS_EXACT_THREADS}};
	int rc = ls_gpu_fill(c->gpu, s, (ls_cu_ptr)(uintptr_t)l->top, 0,
			     (uint64_t)(4 * l->batches * l->lines), err);
	if (rc || l->depth == 0)
		return rc;
	rc = launch(c, s, across ? TOPS_ACROSS : TOPS_ALONG, &shape, (void *[]){l, &part}, err);
	shape.grid[0] = (unsigned)divide_up(l->pad_lines, LS_EXACT_CUT_LINES);
	shape.grid[1] = (unsigned)divide_up(l->pad_depth, LS_EXACT_CUT_DEPTH);
	return rc ? rc : launch(c, s, CUT, &shape, (void *[]){l}, err);
}

static int cut_both(struct ls_exact_cuda *c, const struct ls_exact_product *p, const struct room *r,
		    ls_cu_stream s, struct ls_err *err)
{
	struct ls_exact_lines a = {.x = place(&p->a),
				   .lines = p->m,
				   .depth = p->k,
				   .batches = batches_of(p, &p->a),
				   .pad_lines = pad(p->m, LS_EXACT_TILE_M),
				   .pad_depth = pad(p->k, LS_EXACT_TILE_K),
				   .top = (uint32_t *)(uintptr_t)r->top_a,
				   .digits = (uint8_t *)(uintptr_t)r->a,
				   .bits = p->bits};
	struct ls_exact_lines b = a;
	b.x = place(&p->b);
	b.x.row = p->b.column; /* its lines are columns */
	b.x.column = p->b.row;
	b.lines = p->n;
	b.batches = batches_of(p, &p->b);
	b.pad_lines = pad(p->n, LS_EXACT_TILE_N);
	b.top = (uint32_t *)(uintptr_t)r->top_b;
	b.digits = (uint8_t *)(uintptr_t)r->b;
	int rc = cut(c, &a, s, err);
	return rc ? rc : cut(c, &b, s, err);
}

static struct ls_exact_gemm describe(const struct ls_exact_product *p, const struct room *r)
{
	int64_t depth = pad(p->k, LS_EXACT_TILE_K), a = batches_of(p, &p->a),
		b = batches_of(p, &p->b);
	int64_t size_a = pad(p->m, LS_EXACT_TILE_M) * depth,
		size_b = pad(p->n, LS_EXACT_TILE_N) * depth;
	return (struct ls_exact_gemm){
		.m = p->m,
		.n = p->n,
		.batches = p->batch,
		.pad_depth = depth,
		.a = (const uint8_t *)(uintptr_t)r->a,
		.b = (const uint8_t *)(uintptr_t)r->b,
		.a_plane = a * size_a,
		.b_plane = b * size_b,
		.a_batch = a > 1 ? size_a : 0,
		.b_batch = b > 1 ? size_b : 0,
		.top_a = (const uint32_t *)(uintptr_t)r->top_a,
		.top_b = (const uint32_t *)(uintptr_t)r->top_b,
		.top_a_batch = a > 1 ? p->m : 0,
		.top_b_batch = b > 1 ? p->n : 0,
		.x = place(&p->a),
		.y = place(&p->b),
		.out = place(&p->out),
		.c = place(&p->c),
		.bias = place(&p->bias),
		.k = p->k,
		.high = (int64_t *)(uintptr_t)r->high,
		.low = (int64_t *)(uintptr_t)r->low,
		.alpha = p->alpha,
		.beta = p->beta,
		.bits = p->bits,
	};
}

/* One launch, or one for every LS_EXACT_CHUNK of depth. */
static int gemm(struct ls_exact_cuda *c, const struct ls_exact_product *p, const struct room *r,
		ls_cu_stream s, struct ls_err *err)
{
	struct ls_exact_gemm g = describe(p, r);
	int kernel = p->bits == LS_GRID_FINE ? FINE : COARSE, rc = 0;
	g.stages = c->stages[kernel];
	struct ls_gpu_shape shape = {.grid = {(unsigned)(divide_up(p->m, LS_EXACT_TILE_M) *
							 divide_up(p->n, LS_EXACT_TILE_N)),
					      1, (unsigned)p->batch},
				     .block = {LS_EXACT_THREADS},
				     .shared = stage_bytes(kernel) * (unsigned)g.stages};
	do {
		int64_t rest = g.pad_depth - g.from;
		g.depth = rest < LS_EXACT_CHUNK ? rest : LS_EXACT_CHUNK;
		g.first = g.from == 0;
		g.last = g.from + g.depth == g.pad_depth;
		rc = launch(c, s, kernel, &shape, (void *[]){&g}, err);
		g.from += g.depth;
	} while (!rc && g.from < g.pad_depth);
	return rc;
}

static void skip_batches(struct ls_exact_matrix *x, int64_t batches)
{
	int64_t size = x->type == LS_EXACT_F32 ? 4 : 2;
	if (x->at)
		x->at = (char *)x->at + batches * x->batch * size;
}

int ls_exact_cuda_product(struct ls_exact_cuda *c, const struct ls_exact_product *p,
			  ls_cu_ptr scratch, ls_cu_stream s, struct ls_err *err)
{
	int rc = ls_exact_check(p, err);
	struct ls_exact_product q = *p;
	if (p->m == 0 || p->n == 0)
		return rc;
	for (int64_t done = 0; !rc && done < p->batch; done += q.batch) {
		int64_t left = p->batch - done;
		q.batch = left < MOST_BATCHES ? left : MOST_BATCHES;
		struct room r = lay_out(&q, scratch);
		rc = cut_both(c, &q, &r, s, err);
		if (!rc)
			rc = gemm(c, &q, &r, s, err);
		skip_batches(&q.a, q.batch);
		skip_batches(&q.b, q.batch);
		skip_batches(&q.out, q.batch);
		skip_batches(&q.c, q.batch);
		skip_batches(&q.bias, q.batch);
	}
	return rc;
}
