#include "exact/cuda/host/conv_cuda.h"

#include "exact/cuda/device/conv_args.h"
#include "gpu/driver.h"

enum {
	ALIGN = 256,
	MOST_PARTS = 65535,   /* of a grid's second and third dimension */
	LEAST_PART = 1 << 10, /* a block does not add up less of a depth */
	WAVES = 4,
};
static const int64_t MOST = INT32_MAX;

/* What lies where in the scratch memory: first what begins as zeros. */
struct room {
	ls_cu_ptr zeros, source_top, other_top, cleared_end, source, other, high, low, end;
};

/* Sizes that all phases have alike. */
struct sizes {
	struct ls_conv c; /* of the first phase, which has the most rows */
	int planes, high, wide;
	int64_t channels, source_lines, other_lines;
	int64_t pad_lines, other_line; /* bytes */
	int64_t source_plane, other_plane, rows;
};

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static int64_t pad(int64_t a, int64_t to)
{
	return divide_up(a, to) * to;
}

static int64_t taps_of(const struct ls_conv *c)
{
	return c->w_taps[0] * c->w_taps[1] * c->w_taps[2];
}

static int64_t rows_of(const struct sizes *s, const struct ls_conv *c)
{
	return c->kind == LS_CONV_BACK_WEIGHT ? taps_of(c) * s->channels
					      : c->samples * ls_conv_places(c);
}

static struct sizes sizes_of(const struct ls_conv_plan *p)
{
	struct sizes s = {.c = ls_conv_phase(p, 0)};
	const struct ls_conv *c = &s.c;
	bool weight = c->kind == LS_CONV_BACK_WEIGHT;
	int64_t terms = weight ? c->samples * ls_conv_places(c) : taps_of(c) * c->channels;
	s.planes = c->bits == LS_GRID_FINE ? 3 : 2;
	s.channels = pad(c->channels, LS_CONV_CHANNELS);
	s.source_lines = weight ? c->groups * c->channels : c->samples * c->groups;
	s.other_lines = c->groups * c->lines;
	s.pad_lines = pad(c->lines, LS_CONV_TILE_N);
	s.other_line = weight ? pad(terms, LS_CONV_TILE_K) : taps_of(c) * s.channels;
	s.source_plane = c->samples * ls_conv_source_places(c) * c->groups * s.channels;
	s.other_plane = c->groups * s.pad_lines * s.other_line;
	s.rows = rows_of(&s, c);
	s.high = weight || taps_of(c) * s.channels > LS_CONV_CHUNK;
	s.wide = terms > LS_GRID_MOST_TERMS;
	return s;
}

static ls_cu_ptr take(struct room *r, int64_t bytes)
{
	ls_cu_ptr at = r->end;
	r->end += (ls_cu_ptr)pad(bytes, ALIGN);
	return at;
}

static struct room lay_out(const struct sizes *s, ls_cu_ptr scratch)
{
	struct room r = {.end = scratch};
	int64_t sums = 8 * s->other_lines * s->rows;
	r.zeros = take(&r, ALIGN);
	r.source_top = take(&r, 8 * s->source_lines);
	r.other_top = take(&r, 8 * s->other_lines);
	r.cleared_end = r.end;
	/* 16 bytes more than there are: a whole chunk is read */
	r.source = take(&r, s->planes * s->source_plane + 16);
	r.other = take(&r, s->planes * s->other_plane + 16);
	r.high = s->high ? take(&r, sums) : 0;
	r.low = s->high && s->wide ? take(&r, sums) : 0;
	return r;
}

size_t ls_conv_cuda_scratch(const struct ls_conv_plan *p)
{
	struct sizes s = sizes_of(p);
	return lay_out(&s, 0).end;
}

/* --- lines --- */

/* The places of a tensor. */
static struct ls_conv_lines lines_of(const struct ls_conv_tensor *x, const int64_t *size, int bits)
{
	struct ls_conv_lines l = {.at = x->at, .type = x->type, .bits = bits, .places = 1};
	for (int d = 0; d < LS_CONV_DIMS; d++) {
		l.places *= l.size[d] = size[d];
		l.step[d] = x->place[d];
	}
	l.even = (size[1] == 1 || x->place[1] == size[2] * x->place[2]) &&
		 (size[0] == 1 || x->place[0] == size[1] * size[2] * x->place[2]);
	return l;
}

/* A line is a sample's group, with its channels; or a channel, with all samples. */
static void by_sample(struct ls_conv_lines *l, const struct ls_conv_tensor *x,
		      const struct ls_conv *c)
{
	l->lines = c->samples * c->groups;
	l->per = c->groups;
	l->high = x->sample;
	l->low = c->channels * x->channel;
	l->outer = c->channels;
	l->outer_step = x->channel;
}

static void by_channel(struct ls_conv_lines *l, const struct ls_conv_tensor *x, int64_t samples,
		       int64_t channels)
{
	l->lines = l->per = channels;
	l->low = x->channel;
	l->outer = samples;
	l->outer_step = x->sample;
}

static void use_tops(struct ls_conv_lines *l, ls_cu_ptr top, int64_t lines)
{
	l->top = (uint32_t *)(uintptr_t)top;
	l->odd = l->top + lines;
}

/* --- launches --- */

struct work {
	struct ls_exact_context *context;
	const struct ls_conv_plan *plan;
	struct sizes s;
	struct room r;
	void *stream;
	const char *module;
};

static int launch(const struct work *w, const char *kernel, const struct ls_gpu_shape *shape,
		  void **args, struct ls_err *err)
{
	return ls_exact_context_launch(w->context, w->stream, w->module, kernel, shape, args, err);
}

static int too_large(struct ls_err *err)
{
	return ls_err_set(err, LS_EINPUT, "a convolution is too large for the kernels of a GPU");
}

static int blocks_for(const struct work *w, const char *kernel, struct ls_conv_lines *l,
		      int64_t blocks, int64_t *parts, struct ls_err *err)
{
	if (blocks > MOST || l->outer * l->places > MOST || l->places > MOST)
		return too_large(err);
	struct ls_gpu_shape shape = {.grid = {(unsigned)blocks}, .block = {LS_CONV_THREADS}};
	return blocks ? launch(w, kernel, &shape, (void *[]){l, parts}, err) : 0;
}

static int tops(const struct work *w, struct ls_conv_lines *l, struct ls_err *err)
{
	int64_t parts = divide_up(l->outer * l->places, LS_CONV_TOPS_PART);
	return blocks_for(w, "exact_conv_tops", l, l->lines * parts, &parts, err);
}

static int cut(const struct work *w, struct ls_conv_lines *l, struct ls_err *err)
{
	int64_t blocks = l->lines * divide_up(l->places, LS_CONV_CUT_PLACES) *
			 divide_up(l->pad_outer, LS_CONV_CUT_CHANNELS);
	return blocks_for(w, "exact_conv_cut", l, blocks, NULL, err);
}

/* The digits of the source, channel by channel at each place. */
static int cut_source(const struct work *w, struct ls_err *err)
{
	const struct sizes *s = &w->s;
	const struct ls_conv *c = &s->c;
	bool weight = c->kind == LS_CONV_BACK_WEIGHT;
	const int64_t size[] = {c->dim[0].size, c->dim[1].size, c->dim[2].size};
	struct ls_conv_lines l = lines_of(&c->source, size, c->bits), top = l;
	by_sample(&l, &c->source, c);
	use_tops(&l, w->r.source_top, s->source_lines);
	l.by_outer = weight;
	l.digits = (uint8_t *)(uintptr_t)w->r.source;
	l.plane = s->source_plane;
	l.to_high = l.places * c->groups * s->channels;
	l.to_low = s->channels;
	l.to_place = c->groups * s->channels;
	l.pad_outer = s->channels;
	if (weight)
		by_channel(&top, &c->source, c->samples, c->groups * c->channels);
	else
		by_sample(&top, &c->source, c);
	use_tops(&top, w->r.source_top, s->source_lines);
	int rc = tops(w, &top, err);
	return rc ? rc : cut(w, &l, err);
}

static int cut_weights(const struct work *w, struct ls_err *err)
{
	const struct sizes *s = &w->s;
	const struct ls_conv *c = &s->c;
	struct ls_conv_lines l = lines_of(&c->other, c->w_taps, c->bits);
	l.lines = s->other_lines;
	l.per = c->lines;
	l.high = c->w_group;
	l.low = c->other.sample;
	l.outer = c->channels;
	l.outer_step = c->other.channel;
	use_tops(&l, w->r.other_top, s->other_lines);
	l.digits = (uint8_t *)(uintptr_t)w->r.other;
	l.plane = s->other_plane;
	l.to_high = s->pad_lines * s->other_line;
	l.to_low = s->other_line;
	l.to_place = s->channels;
	l.pad_outer = s->channels;
	int rc = tops(w, &l, err);
	return rc ? rc : cut(w, &l, err);
}

static int cut_g(const struct work *w, struct ls_err *err)
{
	const struct sizes *s = &w->s;
	const struct ls_conv *c = &s->c;
	const int64_t size[] = {c->dim[0].places, c->dim[1].places, c->dim[2].places};
	struct ls_conv_lines l = lines_of(&c->other, size, c->bits);
	by_channel(&l, &c->other, c->samples, s->other_lines);
	use_tops(&l, w->r.other_top, s->other_lines);
	int rc = tops(w, &l, err);
	l.per = c->lines;
	l.high = c->lines * l.low;
	l.digits = (uint8_t *)(uintptr_t)w->r.other;
	l.plane = s->other_plane;
	l.to_high = s->pad_lines * s->other_line;
	l.to_low = s->other_line;
	l.pad_outer = s->other_line;
	int64_t blocks = l.lines * divide_up(l.pad_outer, LS_CONV_CUT_ALONG);
	return rc ? rc : blocks_for(w, "exact_conv_cut_along", &l, blocks, NULL, err);
}

/* --- sums --- */

static unsigned stage_bytes(int planes)
{
	return (unsigned)planes * (LS_CONV_TILE_M + LS_CONV_TILE_N) * LS_CONV_TILE_K;
}

/* As many stages as a block may have shared memory for. */
static int stages_of(const struct work *w)
{
	uint64_t most = ls_gpu_info(ls_exact_context_gpu(w->context))->shared_per_block;
	uint64_t own = sizeof(struct ls_conv_gemm) + (1 << 10);
	int stages = 4;
	while (stages > 1 && stage_bytes(w->s.planes) * (unsigned)stages + own > most)
		stages /= 2;
	return stages;
}

/* The depth of a block. More blocks add to a sum where there would be too few. */
static int64_t part_of(const struct work *w, const struct ls_conv_gemm *g, int64_t tiles)
{
	int64_t most = g->depth < LS_CONV_CHUNK ? g->depth : LS_CONV_CHUNK;
	if (g->c.kind == LS_CONV_BACK_WEIGHT) {
		const struct ls_gpu_info *info = ls_gpu_info(ls_exact_context_gpu(w->context));
		int64_t part = g->depth / divide_up(info->multiprocessors * WAVES, tiles);
		part = part < LEAST_PART ? LEAST_PART : part;
		most = part < most ? part : most;
	}
	return most < LS_CONV_TILE_K ? LS_CONV_TILE_K : pad(most, LS_CONV_TILE_K);
}

static int gemm(const struct work *w, struct ls_conv_gemm *g, struct ls_err *err)
{
	static const char *const names[2][2] = {
		{"exact_conv_gemm_coarse", "exact_conv_gemm_fine"},
		{"exact_conv_weight_coarse", "exact_conv_weight_fine"}};
	bool weight = g->c.kind == LS_CONV_BACK_WEIGHT;
	int64_t tiles = divide_up(g->rows, LS_CONV_TILE_M) * divide_up(g->c.lines, LS_CONV_TILE_N);
	unsigned own = LS_CONV_THREADS / 32 * 16 * LS_CONV_OWN * (unsigned)sizeof(int64_t);
	g->stages = stages_of(w);
	unsigned shared = stage_bytes(w->s.planes) * (unsigned)g->stages;
	g->part = part_of(w, g, tiles * g->c.groups);
	int64_t parts = g->depth ? divide_up(g->depth, g->part) : 1;
	if (tiles > MOST || parts > MOST_PARTS || g->c.groups > MOST_PARTS || g->rows > MOST ||
	    ls_conv_source_places(&g->c) > MOST || g->depth > MOST)
		return too_large(err);
	struct ls_gpu_shape shape = {
		.grid = {(unsigned)tiles, (unsigned)parts, (unsigned)g->c.groups},
		.block = {LS_CONV_THREADS},
		.shared = shared < own ? own : shared};
	return launch(w, names[weight][w->s.planes == 3], &shape, (void *[]){g}, err);
}

static int sum_phase(const struct work *w, int64_t phase, struct ls_err *err)
{
	const struct sizes *s = &w->s;
	struct ls_conv_gemm g = {.c = ls_conv_phase(w->plan, phase),
				 .source = (const uint8_t *)(uintptr_t)w->r.source,
				 .other = (const uint8_t *)(uintptr_t)w->r.other,
				 .zeros = (const uint8_t *)(uintptr_t)w->r.zeros,
				 .source_plane = s->source_plane,
				 .other_plane = s->other_plane,
				 .channels = s->channels,
				 .pad_lines = s->pad_lines,
				 .other_line = s->other_line,
				 .source_top = (const uint32_t *)(uintptr_t)w->r.source_top,
				 .other_top = (const uint32_t *)(uintptr_t)w->r.other_top,
				 .high = (uint64_t *)(uintptr_t)w->r.high,
				 .low = (uint64_t *)(uintptr_t)w->r.low};
	g.source_odd = g.source_top + s->source_lines;
	g.other_odd = g.other_top + s->other_lines;
	g.rows = rows_of(s, &g.c);
	g.depth = g.c.kind == LS_CONV_BACK_WEIGHT
			  ? s->other_line
			  : pad(ls_conv_taps(&g.c) * s->channels, LS_CONV_TILE_K);
	int64_t sums = s->other_lines * g.rows;
	if (sums == 0)
		return 0;
	int rc = 0;
	if (g.high)
		rc = ls_gpu_fill(ls_exact_context_gpu(w->context), w->stream, w->r.high, 0,
				 w->r.end - w->r.high, err);
	rc = rc ? rc : gemm(w, &g, err);
	if (rc || !g.high)
		return rc;
	struct ls_gpu_shape shape = {
		.grid = {ls_exact_context_blocks(w->context, sums, LS_CONV_THREADS, 1)},
		.block = {LS_CONV_THREADS}};
	return launch(w, "exact_conv_finish", &shape, (void *[]){&g}, err);
}

int ls_conv_cuda(struct ls_exact_context *c, const struct ls_conv_plan *p, void *scratch,
		 void *stream, struct ls_err *err)
{
	struct work w = {.context = c, .plan = p, .s = sizes_of(p), .stream = stream};
	struct ls_gpu *gpu = ls_exact_context_gpu(c);
	const ls_cu_ptr at = (ls_cu_ptr)(uintptr_t)scratch;
	w.r = lay_out(&w.s, at);
	/* tensor cores of compute capability 8.0 take larger products at a time */
	w.module = ls_gpu_info(gpu)->cc >= 80 ? "exact_conv_80" : "exact_conv";
	if (w.s.other_lines == 0)
		return 0;
	int rc = ls_gpu_fill(gpu, stream, at, 0, w.r.cleared_end - at, err);
	rc = rc ? rc : cut_source(&w, err);
	if (!rc)
		rc = (p->conv.kind == LS_CONV_BACK_WEIGHT ? cut_g : cut_weights)(&w, err);
	for (int64_t phase = 0; !rc && phase < ls_conv_phases(p); phase++)
		rc = sum_phase(&w, phase, err);
	return rc;
}
