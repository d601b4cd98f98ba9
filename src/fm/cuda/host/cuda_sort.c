/* The sort of the data on a GPU: by feature when they come there, by batch every epoch.
 * cuda_args.h has the plan. */
#include "fm/cuda/host/cuda_internal.h"
#include "fm/model/batch.h"

/* Bits of the numbers below n. */
static uint32_t bits_below(uint64_t n)
{
	return (uint32_t)ls_log2_ceil(n);
}

static uint32_t tiles_of(uint64_t n)
{
	return n ? (uint32_t)((n + LS_SORT_TILE - 1) / LS_SORT_TILE) : 1;
}

static struct ls_cuda_digits digits_of(uint32_t from, uint32_t bits)
{
	return (struct ls_cuda_digits){from, bits,
				       bits ? (bits + LS_SORT_BITS - 1) / LS_SORT_BITS : 1};
}

static struct ls_cuda_digits feature_digits(const struct ls_fm_cuda *c)
{
	return digits_of(0, bits_below(c->rows->n_features));
}

static struct ls_cuda_digits batch_digits(const struct ls_fm_cuda *c, uint64_t rows)
{
	return digits_of(ls_cuda_slot_bits(c),
			 bits_below(ls_fm_steps_per_epoch(&c->m->opts, rows)));
}

static uint32_t widest(struct ls_cuda_digits d)
{
	return (d.bits + d.passes - 1) / d.passes;
}

uint32_t ls_cuda_slot_bits(const struct ls_fm_cuda *c)
{
	return bits_below(least(c->m->opts.batch, c->rows->n_rows));
}

/* --- memory --- */

/* digit_count and, behind it, ticket */
enum { COUNTS_BYTES = ((LS_SORT_PASSES << LS_SORT_BITS) + LS_SORT_PASSES) * sizeof(uint32_t) };

/* Something has to be known of an entry beside its row. */
static bool wants_entries(const struct ls_fm_cuda *c)
{
	return c->m->opts.kind != LS_FM || ls_cuda_has_x(c);
}

static int make_list(struct ls_fm_cuda *c, struct ls_cuda_list *l, uint64_t entries,
		     struct ls_err *err)
{
	const char *what = "the data, sorted";
	uint64_t bytes = entries * sizeof *l->key;
	int rc = ls_cuda_alloc(c, bytes, what, &l->key, err);
	if (rc == 0)
		rc = ls_cuda_alloc(c, bytes, what, &l->with, err);
	return rc || !wants_entries(c) ? rc : ls_cuda_alloc(c, bytes, what, &l->entry, err);
}

static int make_lists(struct ls_fm_cuda *c, uint64_t rows, uint64_t entries, struct ls_err *err)
{
	struct ls_cuda_sort *s = &c->args.sort;
	int rc = make_list(c, &s->by_feature, entries, err);
	if (rc == 0)
		rc = make_list(c, &s->by_batch, entries, err);
	return rc || batch_digits(c, rows).passes == 1 ? rc : make_list(c, &s->spare, entries, err);
}

int ls_cuda_make_sort(struct ls_fm_cuda *c, uint64_t rows, uint64_t entries, struct ls_err *err)
{
	struct ls_cuda_sort *s = &c->args.sort;
	uint32_t a = widest(feature_digits(c)), b = widest(batch_digits(c, rows)),
		 bits = a > b ? a : b;
	bool fwfm = c->m->opts.kind == LS_FWFM, has_x = ls_cuda_has_x(c);
	const struct {
		void *at;
		uint64_t bytes;
	} all[] = {
		{&s->digit_count, COUNTS_BYTES},
		{&s->tile_digits, ((uint64_t)tiles_of(entries) << bits) * sizeof *s->tile_digits},
		{&s->row_tile, tiles_of(rows) * sizeof *s->row_tile},
		{&s->place_of, rows * sizeof *s->place_of},
		{&s->pick, rows * sizeof *s->pick},
		{&s->span, rows * sizeof *s->span},
		{&s->first, (rows + 1) * sizeof *s->first},
		{&s->by_x, has_x ? entries * sizeof *s->by_x : 0},
		{&s->by_field, fwfm ? entries * sizeof *s->by_field : 0},
		{&c->x, c->m->opts.normalize ? entries * sizeof *c->x : 0},
	};
	int rc = make_lists(c, rows, entries, err);
	for (size_t i = 0; i < sizeof all / sizeof *all && rc == 0; i++)
		if (all[i].bytes)
			rc = ls_cuda_alloc(c, all[i].bytes, "the order of the data", all[i].at,
					   err);
	s->ticket = s->digit_count ? s->digit_count + (LS_SORT_PASSES << LS_SORT_BITS) : NULL;
	s->slot_bits = ls_cuda_slot_bits(c);
	s->renumber = c->m->opts.kind == LS_FFM;
	return rc;
}

uint64_t ls_cuda_sort_bytes(struct ls_fm_cuda *c, uint64_t rows, uint64_t entries)
{
	uint64_t before = c->allocated, bytes;
	struct ls_err err;
	c->counting = true;
	ls_cuda_make_sort(c, rows, entries, &err);
	c->counting = false;
	bytes = c->allocated - before;
	c->allocated = before;
	return bytes;
}

/* --- launches --- */

static int put(struct ls_fm_cuda *c, enum ls_cuda_kernel k, uint32_t grid,
	       const struct ls_cuda_args *a, struct ls_err *err)
{
	return ls_cuda_launch(c, c->main, k, grid, a, err);
}

/* Nothing is counted yet. */
static int put_zero(struct ls_fm_cuda *c, const struct ls_cuda_args *a, struct ls_err *err)
{
	return ls_gpu_fill(c->gpu, c->main, ls_cuda_ptr(a->sort.digit_count), 0, COUNTS_BYTES, err);
}

/* Entries by digits that are counted. Each pass goes to the other of two lists, and the
 * last to `to`; the first reads a->sort.pass.from. */
static int put_passes(struct ls_fm_cuda *c, struct ls_cuda_args *a, const struct ls_cuda_list *to,
		      const struct ls_cuda_list *other, struct ls_err *err)
{
	struct ls_cuda_pass *p = &a->sort.pass;
	const struct ls_cuda_digits *d = &a->sort.digits;
	int rc = 0;
	p->tiles = tiles_of(a->sort.entries);
	for (p->number = 0; p->number < d->passes && rc == 0; p->number++) {
		p->to = (d->passes - p->number) % 2 ? *to : *other;
		p->shift = ls_cuda_digit_from(d, p->number);
		p->bits = ls_cuda_digit_bits(d, p->number);
		rc = ls_gpu_fill(c->gpu, c->main, ls_cuda_ptr(a->sort.tile_digits), 0,
				 ((uint64_t)p->tiles << p->bits) * sizeof *a->sort.tile_digits,
				 err);
		if (rc == 0)
			rc = put(c, LS_K_PASS, p->tiles, a, err);
		p->from = p->to;
		p->row = NULL;
	}
	return rc;
}

/* The data by feature. The row of an entry is first where the first pass does not
 * write. */
static int put_by_feature(struct ls_fm_cuda *c, struct ls_cuda_args a, struct ls_err *err)
{
	const struct ls_cuda_list *to = &a.sort.by_feature, *other = &a.sort.by_batch;
	a.sort.digits = feature_digits(c);
	a.sort.pass.from =
		(struct ls_cuda_list){.key = (uint32_t *)(uintptr_t)a.in_feature,
				      .with = a.sort.digits.passes % 2 ? other->with : to->with};
	int rc = put_zero(c, &a, err);
	if (rc == 0)
		rc = put(c, LS_K_SPREAD, tiles_of(a.sort.entries), &a, err);
	if (rc == 0)
		rc = put(c, LS_K_DIGITS, (tiles_of(a.sort.entries) + 15) / 16, &a, err);
	return rc ? rc : put_passes(c, &a, to, other, err);
}

/* Rows in the epoch's order, and the entries that are by feature by batch. */
static int put_by_batch(struct ls_fm_cuda *c, struct ls_cuda_args a, struct ls_err *err)
{
	uint32_t tiles = tiles_of(a.sort.rows);
	a.sort.digits = batch_digits(c, a.sort.rows);
	a.sort.pass.from =
		(struct ls_cuda_list){NULL, a.sort.by_feature.key, a.sort.by_feature.entry};
	a.sort.pass.row = a.sort.by_feature.with;
	int rc = put_zero(c, &a, err);
	if (rc == 0)
		rc = put(c, LS_K_ORDER, tiles, &a, err);
	if (rc == 0)
		rc = put(c, LS_K_SCAN, 1, &a, err);
	if (rc == 0)
		rc = put(c, LS_K_FIRSTS, tiles, &a, err);
	if (rc == 0)
		rc = put_passes(c, &a, &a.sort.by_batch, &a.sort.spare, err);
	return rc || !wants_entries(c) ? rc : put(c, LS_K_LOOK, tiles_of(a.sort.entries), &a, err);
}

int ls_cuda_put_sort(struct ls_fm_cuda *c, const struct ls_cuda_window *w, struct ls_err *err)
{
	struct ls_cuda_args a = c->args;
	a.sort.step = c->streams ? 0 : w->first;
	a.sort.rows = w->rows;
	a.sort.entries = w->entries;
	int rc = c->by_feature ? 0 : put_by_feature(c, a, err);
	c->by_feature = rc == 0 && !c->streams;
	return rc ? rc : put_by_batch(c, a, err);
}
