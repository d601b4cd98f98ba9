#include "exact/cuda/host/product_cuda.h"

#include <stdlib.h>

#include "base/mem.h"
#include "exact/cuda/device/exact_args.h"

enum { TOPS, CUT, FINE, COARSE, WIDE_FINE, WIDE_COARSE, KERNELS };
enum { ALIGN = 256, MOST_BATCHES = 65535 /* of a grid's third dimension */ };

struct ls_exact_cuda {
	struct ls_gpu *gpu;              /* borrowed */
	ls_cu_module digits, gemm, wide; /* wide: NULL where the GPU has no such kernels */
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

/* Shared memory of a block of exact_gemm_90a: its stages, from a multiple of 1024 on. */
static unsigned wide_bytes(int kernel)
{
	unsigned fine = 3 * (LS_EXACT_TILE_M + LS_EXACT_WIDE_FINE),
		 coarse = 2 * (LS_EXACT_TILE_M + LS_EXACT_WIDE_COARSE);
	return (kernel == WIDE_FINE ? fine : coarse) * LS_EXACT_BLOCK_DEPTH * LS_EXACT_WIDE_STAGES +
	       1024;
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

/* GPUs of compute capability 9.0 have kernels of their own, where the program has their
 * PTX, which NVRTC does not make. */
static void find_wide(struct ls_exact_cuda *c, const struct ls_kernels_conf *conf)
{
	struct ls_err ignored;
	int rc = ls_gpu_info(c->gpu)->cc == 90 ? 0 : LS_ENOENT;
	if (!rc)
		rc = ls_kernels_load(c->gpu, conf, "exact_gemm_90a", NULL, &c->wide, NULL,
				     &ignored);
	for (int k = WIDE_FINE; k <= WIDE_COARSE && !rc; k++)
		rc = ls_gpu_kernel(c->gpu, c->wide,
				   k == WIDE_FINE ? "exact_wide_fine" : "exact_wide_coarse",
				   &c->kernel[k], &ignored);
	for (int k = WIDE_FINE; k <= WIDE_COARSE && !rc; k++)
		rc = ls_gpu_kernel_shared(c->gpu, &c->kernel[k], wide_bytes(k), &ignored);
	if (rc && c->wide) {
		ls_gpu_module_free(c->gpu, c->wide);
		c->wide = NULL;
	}
}

static int find_kernels(struct ls_exact_cuda *c, const struct ls_kernels_conf *conf,
			struct ls_err *err)
{
	static const char *const names[] = {
		[TOPS] = "exact_tops",
		[CUT] = "exact_cut",
		[FINE] = "exact_gemm_fine",
		[COARSE] = "exact_gemm_coarse",
	};
	/* tensor cores of compute capability 8.0 take larger products at a time */
	const char *gemm = ls_gpu_info(c->gpu)->cc >= 80 ? "exact_gemm_80" : "exact_gemm";
	int rc = ls_kernels_load(c->gpu, conf, "exact_digits", NULL, &c->digits, NULL, err);
	find_wide(c, conf);
	if (!rc && !c->wide)
		rc = ls_kernels_load(c->gpu, conf, gemm, NULL, &c->gemm, NULL, err);
	for (int k = TOPS; k <= (c->wide ? CUT : COARSE) && !rc; k++)
		rc = ls_gpu_kernel(c->gpu, k < FINE ? c->digits : c->gemm, names[k], &c->kernel[k],
				   err);
	for (int k = FINE; k <= COARSE && !rc && !c->wide; k++)
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
	ls_gpu_module_free(c->gpu, c->wide);
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
	int64_t planes = p->bits == LS_GRID_FINE ? 3 : 2, k = pad(p->k, LS_EXACT_BLOCK_DEPTH);
	int64_t a = batches_of(p, &p->a), b = batches_of(p, &p->b);
	r.top_a = take(&r, 4 * a * p->m);
	r.top_b = take(&r, 4 * b * p->n);
	r.a = take(&r, planes * a * pad(p->m, LS_EXACT_TILE_M) * k);
	r.b = take(&r, planes * b * pad(p->n, LS_EXACT_WIDE_COARSE) * k);
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

/* Whether four neighbouring elements are one aligned load: those along the depth, or those
 * of lines that lie side by side. */
static bool has_vectors(const struct ls_exact_place *x, bool across)
{
	uint64_t bytes = x->type == LS_EXACT_IS_F32 ? 16 : 8;
	int64_t other = across ? x->column : x->row;
	return x->at % bytes == 0 && other % 4 == 0 && x->batch % 4 == 0 &&
	       (across ? x->row : x->column) == 1;
}

/* x: row is the stride from line to line, column that along the depth. */
static struct ls_exact_lines side_of(const struct ls_exact_product *p, struct ls_exact_place x,
				     int64_t lines, int64_t batches, ls_cu_ptr top,
				     ls_cu_ptr digits)
{
	bool across = x.row == 1 && x.column != 1;
	return (struct ls_exact_lines){
		.x = x,
		.lines = lines,
		.depth = p->k,
		.batches = batches,
		.line_blocks = pad(lines, LS_EXACT_TILE_M) / LS_EXACT_BLOCK_LINES,
		.depth_blocks = divide_up(p->k, LS_EXACT_BLOCK_DEPTH),
		.top = (uint32_t *)(uintptr_t)top,
		.digits = (uint8_t *)(uintptr_t)digits,
		.bits = p->bits,
		.across = across,
		.vectors = has_vectors(&x, across),
	};
}

/* Blocks of threads that a side takes. */
static int64_t tops_blocks(const struct ls_exact_lines *s)
{
	return s->across ? s->batches * divide_up(s->lines, LS_EXACT_BLOCK_LINES) *
				   divide_up(s->depth, LS_EXACT_TOPS_DEPTH)
			 : 0;
}

static int64_t cut_blocks(const struct ls_exact_lines *s)
{
	const int64_t warps = LS_EXACT_THREADS / 32;
	if (s->across)
		return s->batches * divide_up(s->lines, LS_EXACT_BLOCK_LINES) * s->depth_blocks;
	return divide_up(s->batches * s->lines, s->depth <= 128 * LS_EXACT_KEPT ? warps : 1);
}

/* The grid of each line of both sides, and its digits. */
static int cut_both(struct ls_exact_cuda *c, const struct ls_exact_product *p, const struct room *r,
		    ls_cu_stream s, struct ls_err *err)
{
	struct ls_exact_place x = place(&p->a), y = place(&p->b);
	y.row = p->b.column; /* its lines are columns */
	y.column = p->b.row;
	struct ls_exact_lines a = side_of(p, x, p->m, batches_of(p, &p->a), r->top_a, r->a);
	struct ls_exact_lines b = side_of(p, y, p->n, batches_of(p, &p->b), r->top_b, r->b);
	int64_t own = tops_blocks(&a), all = own + tops_blocks(&b);
	struct ls_gpu_shape shape = {.grid = {(unsigned)all, 1, 1}, .block = {LS_EXACT_THREADS}};
	int rc = 0;
	if (a.across || b.across)
		rc = ls_gpu_fill(c->gpu, s, r->top_a, 0, r->a - r->top_a, err);
	if (!rc && all)
		rc = launch(c, s, TOPS, &shape, (void *[]){&a, &b, &own}, err);
	own = cut_blocks(&a);
	all = own + cut_blocks(&b);
	shape.grid[0] = (unsigned)all;
	return rc || !all ? rc : launch(c, s, CUT, &shape, (void *[]){&a, &b, &own}, err);
}

static bool has_pairs(const struct ls_exact_place *x)
{
	return x->type == LS_EXACT_IS_F32 && x->at % 8 == 0 && x->column == 1 && x->row % 2 == 0 &&
	       x->batch % 2 == 0;
}

static struct ls_exact_gemm describe(const struct ls_exact_product *p, const struct room *r)
{
	int64_t planes = p->bits == LS_GRID_FINE ? 3 : 2, depth = pad(p->k, LS_EXACT_BLOCK_DEPTH);
	bool many_a = batches_of(p, &p->a) > 1, many_b = batches_of(p, &p->b) > 1;
	struct ls_exact_gemm g = {
		.m = p->m,
		.n = p->n,
		.batches = p->batch,
		.depth_blocks = depth / LS_EXACT_BLOCK_DEPTH,
		.a = (const uint8_t *)(uintptr_t)r->a,
		.b = (const uint8_t *)(uintptr_t)r->b,
		.a_batch = many_a ? planes * pad(p->m, LS_EXACT_TILE_M) * depth : 0,
		.b_batch = many_b ? planes * pad(p->n, LS_EXACT_TILE_M) * depth : 0,
		.top_a = (const uint32_t *)(uintptr_t)r->top_a,
		.top_b = (const uint32_t *)(uintptr_t)r->top_b,
		.top_a_batch = many_a ? p->m : 0,
		.top_b_batch = many_b ? p->n : 0,
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
	g.pairs = has_pairs(&g.out);
	return g;
}

/* How many blocks of threads, and how large. */
static struct ls_gpu_shape shape_of(const struct ls_exact_cuda *c, int kernel,
				    const struct ls_exact_gemm *g)
{
	int64_t tile_n = kernel == WIDE_FINE     ? LS_EXACT_WIDE_FINE
			 : kernel == WIDE_COARSE ? LS_EXACT_WIDE_COARSE
						 : LS_EXACT_TILE_N;
	int64_t tiles = divide_up(g->m, LS_EXACT_TILE_M) * divide_up(g->n, tile_n);
	int64_t most = ls_gpu_info(c->gpu)->multiprocessors;
	if (kernel < WIDE_FINE)
		return (struct ls_gpu_shape){.grid = {(unsigned)tiles, 1, (unsigned)g->batches},
					     .block = {LS_EXACT_THREADS},
					     .shared = stage_bytes(kernel) * (unsigned)g->stages};
	tiles *= g->batches;
	return (struct ls_gpu_shape){.grid = {(unsigned)(tiles < most ? tiles : most), 1, 1},
				     .block = {LS_EXACT_WIDE_THREADS},
				     .shared = wide_bytes(kernel)};
}

/* One launch, or one for every LS_EXACT_CHUNK of depth. */
static int gemm(struct ls_exact_cuda *c, const struct ls_exact_product *p, const struct room *r,
		ls_cu_stream s, struct ls_err *err)
{
	struct ls_exact_gemm g = describe(p, r);
	bool fine = p->bits == LS_GRID_FINE;
	int kernel = c->wide ? (fine ? WIDE_FINE : WIDE_COARSE) : fine ? FINE : COARSE, rc = 0;
	int64_t end = pad(p->k, LS_EXACT_PAD);
	g.stages = c->stages[kernel];
	struct ls_gpu_shape shape = shape_of(c, kernel, &g);
	do {
		int64_t rest = end - g.from;
		g.depth = rest < LS_EXACT_CHUNK ? rest : LS_EXACT_CHUNK;
		g.first = g.from == 0;
		g.last = g.from + g.depth == end;
		rc = launch(c, s, kernel, &shape, (void *[]){&g}, err);
		g.from += g.depth;
	} while (!rc && g.from < end);
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
