/* Prediction on a GPU: rows go there in pieces, scores come back; two pieces are under
 * way at a time, in what memory is left beside a training. */
#include <stdlib.h>

#include "fm/cuda/host/cuda_internal.h"

enum { PIECE_ENTRIES = 1 << 24, PIECE_ROWS = 1 << 20, PIECES = 2 };

/* One piece's memory on the GPU. */
struct piece {
	ls_cu_ptr start, feature, field, value, score;
	ls_cu_stream stream;
};

struct prediction {
	struct ls_fm_cuda *c;
	const struct ls_rows *rows;
	struct piece piece[PIECES];
	/* that a piece may have; a longer row is one alone */
	uint64_t room_rows, room_entries;
	uint64_t most_rows, most_entries; /* that a piece has */
	unsigned grid;                    /* blocks of a launch */
	ls_cu_ptr scratch[PIECES];
	float *score;
};

static uint64_t within(uint64_t v, uint64_t low, uint64_t high)
{
	return v < low ? low : v < high ? v : high;
}

static uint64_t block_scratch(const struct ls_fm_cuda *c)
{
	return c->m->opts.kind == LS_FWFM
		       ? LS_CUDA_THREADS / 32 * 3 * c->args.back_each * sizeof(float)
		       : 0;
}

/* Half of the memory that is left is for entries, a quarter each for rows and for
 * scratch. */
static int share_room(struct prediction *p, struct ls_err *err)
{
	struct ls_fm_cuda *c = p->c;
	uint64_t room, entry = sizeof(uint32_t) + (p->rows->field ? sizeof(uint16_t) : 0) +
			       (p->rows->value ? sizeof(float) : 0);
	int rc = ls_cuda_left(c, &room, err);
	if (rc)
		return rc;
	uint64_t quarter = room / PIECES / 4, scratch = block_scratch(c);
	p->room_entries = within(2 * quarter / entry, 1, PIECE_ENTRIES);
	p->room_rows =
		within(quarter / (sizeof(uint64_t) + c->m->outputs * sizeof(float)), 1, PIECE_ROWS);
	p->grid = c->grid[LS_K_PREDICT];
	if (scratch)
		p->grid = (unsigned)within(quarter / scratch, 1, p->grid);
	return 0;
}

/* The end of the piece that begins at row lo. */
static uint64_t piece_end(const struct prediction *p, uint64_t lo)
{
	const struct ls_rows *rows = p->rows;
	uint64_t hi = lo;
	while (hi < rows->n_rows && hi - lo < p->room_rows &&
	       (hi == lo || rows->start[hi + 1] - rows->start[lo] <= p->room_entries))
		hi++;
	return hi;
}

static void size_pieces(struct prediction *p)
{
	for (uint64_t lo = 0, hi; lo < p->rows->n_rows; lo = hi) {
		hi = piece_end(p, lo);
		uint64_t entries = p->rows->start[hi] - p->rows->start[lo];
		p->most_rows = hi - lo > p->most_rows ? hi - lo : p->most_rows;
		p->most_entries = entries > p->most_entries ? entries : p->most_entries;
	}
}

static int make_piece(struct prediction *p, int i, struct ls_err *err)
{
	struct ls_gpu *gpu = p->c->gpu;
	struct piece *q = &p->piece[i];
	const char *what = "rows to predict";
	uint64_t scratch = p->grid * block_scratch(p->c);
	int rc = ls_gpu_stream_new(gpu, &q->stream, err);
	if (rc == 0)
		rc = ls_gpu_alloc(gpu, (p->most_rows + 1) * sizeof(uint64_t), what, &q->start, err);
	if (rc == 0)
		rc = ls_gpu_alloc(gpu, p->most_entries * sizeof(uint32_t) + 16, what, &q->feature,
				  err);
	if (rc == 0 && p->rows->field)
		rc = ls_gpu_alloc(gpu, p->most_entries * sizeof(uint16_t) + 16, what, &q->field,
				  err);
	if (rc == 0 && p->rows->value)
		rc = ls_gpu_alloc(gpu, p->most_entries * sizeof(float) + 16, what, &q->value, err);
	if (rc == 0)
		rc = ls_gpu_alloc(gpu, p->most_rows * p->c->m->outputs * sizeof(float), what,
				  &q->score, err);
	return rc || !scratch ? rc : ls_gpu_alloc(gpu, scratch, what, &p->scratch[i], err);
}

static void free_piece(struct prediction *p, int i)
{
	struct ls_gpu *gpu = p->c->gpu;
	struct piece *q = &p->piece[i];
	ls_gpu_free(gpu, q->start);
	ls_gpu_free(gpu, q->feature);
	ls_gpu_free(gpu, q->field);
	ls_gpu_free(gpu, q->value);
	ls_gpu_free(gpu, q->score);
	ls_gpu_free(gpu, p->scratch[i]);
	ls_gpu_stream_free(gpu, q->stream);
}

static int upload_piece(struct prediction *p, const struct piece *q, uint64_t lo, uint64_t hi,
			struct ls_err *err)
{
	struct ls_gpu *gpu = p->c->gpu;
	const struct ls_rows *r = p->rows;
	uint64_t first = r->start[lo], n = r->start[hi] - first;
	int rc = ls_gpu_upload(gpu, q->stream, q->start, r->start + lo,
			       (hi - lo + 1) * sizeof *r->start, err);
	if (rc == 0)
		rc = ls_gpu_upload(gpu, q->stream, q->feature, r->feature + first,
				   n * sizeof *r->feature, err);
	if (rc == 0 && q->field)
		rc = ls_gpu_upload(gpu, q->stream, q->field, r->field + first, n * sizeof *r->field,
				   err);
	if (rc == 0 && q->value)
		rc = ls_gpu_upload(gpu, q->stream, q->value, r->value + first, n * sizeof *r->value,
				   err);
	return rc;
}

static int run_piece(struct prediction *p, int i, uint64_t lo, uint64_t hi, struct ls_err *err)
{
	struct ls_fm_cuda *c = p->c;
	const struct piece *q = &p->piece[i];
	struct ls_cuda_args a = c->args;
	a.start = (const uint64_t *)(uintptr_t)q->start;
	a.in_feature = (const uint32_t *)(uintptr_t)q->feature;
	a.in_field = (const uint16_t *)(uintptr_t)q->field;
	a.in_value = (const float *)(uintptr_t)q->value;
	a.predict_rows = hi - lo;
	a.predict_score = (float *)(uintptr_t)q->score;
	a.scratch = (float *)(uintptr_t)p->scratch[i];
	int rc = upload_piece(p, q, lo, hi, err);
	if (rc == 0)
		rc = ls_cuda_launch(c, q->stream, LS_K_PREDICT, p->grid, &a, err);
	return rc ? rc
		  : ls_gpu_download(c->gpu, q->stream, p->score + lo * c->m->outputs, q->score,
				    (hi - lo) * c->m->outputs * sizeof(float), err);
}

int ls_cuda_predict(struct ls_fm_cuda *c, const struct ls_rows *rows, float *ret_score,
		    struct ls_err *err)
{
	if (c->m->n_fields && !rows->field)
		return ls_err_set(err, LS_EINPUT, "this %s model needs data with fields (libffm)",
				  ls_fm_kind_name(c->m->opts.kind));
	struct prediction p = {.c = c, .rows = rows, .score = ret_score};
	int rc = ls_gpu_sync(c->gpu, c->main, err), i = 0;
	if (rc == 0)
		rc = share_room(&p, err);
	if (rc)
		return rc;
	size_pieces(&p);
	for (int k = 0; k < PIECES && rc == 0 && rows->n_rows; k++)
		rc = make_piece(&p, k, err);
	for (uint64_t lo = 0, hi; lo < rows->n_rows && rc == 0; lo = hi, i = (i + 1) % PIECES) {
		hi = piece_end(&p, lo);
		rc = ls_gpu_sync(c->gpu, p.piece[i].stream, err);
		if (rc == 0)
			rc = run_piece(&p, i, lo, hi, err);
	}
	for (int k = 0; k < PIECES; k++) {
		if (p.piece[k].stream && rc == 0)
			rc = ls_gpu_sync(c->gpu, p.piece[k].stream, err);
		free_piece(&p, k);
	}
	return rc;
}
