/* The sort of the data on a GPU: by feature when they come there, by batch every epoch. cuda_args.h has the plan. */
#include "fm/batch.h"
#include "fm/cuda_internal.h"

/* Bits of the numbers below n. */
static uint32_t bits_below(uint64_t n)
{
	uint32_t bits = 0;
	while (n > 1 && (n - 1) >> bits)
		bits++;
	return bits;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint32_t tiles_of(uint64_t n)
{
	return n ? (uint32_t)((n + LS_SORT_TILE - 1) / LS_SORT_TILE) : 1;
}

/* One digit after another, the lowest first. */
struct digits {
	uint32_t from, bits, passes;
};

static struct digits digits_of(uint32_t from, uint32_t bits)
{
	return (struct digits){from, bits, bits ? (bits + LS_SORT_BITS - 1) / LS_SORT_BITS : 1};
}

static struct digits feature_digits(const struct ls_fm_cuda *c)
{
	return digits_of(0, bits_below(c->rows->n_features));
}

static struct digits batch_digits(const struct ls_fm_cuda *c, uint64_t rows)
{
	return digits_of(ls_cuda_slot_bits(c), bits_below(ls_fm_steps_per_epoch(&c->m->opts, rows)));
}

static uint32_t widest(struct digits d)
{
	return (d.bits + d.passes - 1) / d.passes;
}

uint32_t ls_cuda_slot_bits(const struct ls_fm_cuda *c)
{
	return bits_below(least(c->m->opts.batch, c->rows->n_rows));
}

/* --- memory --- */

/* Something has to be known of an entry beside its row. */
static bool wants_entries(const struct ls_fm_cuda *c)
{
	return c->m->opts.kind != LS_FM || c->rows->value || c->m->opts.normalize;
}

static int make_list(struct ls_fm_cuda *c, struct ls_cuda_list *l, uint64_t entries, struct ls_err *err)
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
	if (rc == 0 && batch_digits(c, rows).passes > 1)
		return make_list(c, &s->spare, entries, err);
	return rc ? rc : ls_cuda_alloc(c, entries * sizeof *s->spare.key, "the data, sorted", &s->spare.key, err);
}

int ls_cuda_make_sort(struct ls_fm_cuda *c, uint64_t rows, uint64_t entries, struct ls_err *err)
{
	struct ls_cuda_sort *s = &c->args.sort;
	uint32_t a = widest(feature_digits(c)), b = widest(batch_digits(c, rows)), bits = a > b ? a : b;
	uint64_t counts = (uint64_t)tiles_of(entries) << bits, row_tiles = tiles_of(rows);
	bool fwfm = c->m->opts.kind == LS_FWFM, has_x = c->rows->value || c->m->opts.normalize;
	const struct {
		void *at;
		uint64_t bytes;
	} all[] = {
		{&s->tile_count, (counts > row_tiles ? counts : row_tiles) * sizeof *s->tile_count},
		{&s->digit_count, sizeof *s->digit_count << LS_SORT_BITS},
		{&s->place_of, rows * sizeof *s->place_of},
		{&s->pick, rows * sizeof *s->pick},
		{&s->span, rows * sizeof *s->span},
		{&s->first, (rows + 1) * sizeof *s->first},
		{&s->by_x, has_x ? entries * sizeof *s->by_x : 0},
		{&s->by_field, fwfm ? entries * sizeof *s->by_field : 0},
		{&c->x, c->m->opts.normalize ? entries * sizeof *c->x : 0},
	};
	s->slot_bits = ls_cuda_slot_bits(c);
	s->renumber = c->m->opts.kind == LS_FFM;
	int rc = make_lists(c, rows, entries, err);
	for (size_t i = 0; i < sizeof all / sizeof *all && rc == 0; i++)
		if (all[i].bytes)
			rc = ls_cuda_alloc(c, all[i].bytes, "the order of the data", all[i].at, err);
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

static int put(struct ls_fm_cuda *c, enum ls_cuda_kernel k, uint32_t grid, const struct ls_cuda_args *a,
	       struct ls_err *err)
{
	return ls_cuda_launch(c, c->main, k, grid, a, err);
}

/* Entries by so many digits; each pass goes to the other of two lists, and the last to `to`. The first reads
 * a->sort.pass.from. */
static int put_passes(struct ls_fm_cuda *c, struct ls_cuda_args *a, struct digits d, const struct ls_cuda_list *to,
		      const struct ls_cuda_list *other, struct ls_err *err)
{
	struct ls_cuda_pass *p = &a->sort.pass;
	int rc = 0;
	p->tiles = tiles_of(a->sort.entries);
	for (uint32_t i = 0; i < d.passes && rc == 0; i++) {
		uint32_t low = d.bits * i / d.passes, high = d.bits * (i + 1) / d.passes;
		p->to = (d.passes - i) % 2 ? *to : *other;
		p->shift = d.from + low;
		p->bits = high - low;
		rc = put(c, LS_K_COUNT, p->tiles, a, err);
		if (rc == 0)
			rc = put(c, LS_K_SCAN, 1u << p->bits, a, err);
		if (rc == 0)
			rc = put(c, LS_K_SCATTER, p->tiles, a, err);
		p->from = p->to;
		p->row = NULL;
	}
	return rc;
}

/* The data by feature. The row of an entry is first where the first pass does not write. */
static int put_by_feature(struct ls_fm_cuda *c, struct ls_cuda_args a, struct ls_err *err)
{
	struct digits d = feature_digits(c);
	const struct ls_cuda_list *to = &a.sort.by_feature, *other = &a.sort.by_batch;
	a.sort.pass = (struct ls_cuda_pass){
		.from = {.key = (uint32_t *)(uintptr_t)a.in_feature, .with = d.passes % 2 ? other->with : to->with}};
	int rc = put(c, LS_K_SPREAD, tiles_of(a.sort.entries), &a, err);
	return rc ? rc : put_passes(c, &a, d, to, other, err);
}

/* Those by batch. */
static int put_by_batch(struct ls_fm_cuda *c, struct ls_cuda_args a, struct ls_err *err)
{
	struct digits d = batch_digits(c, a.sort.rows);
	const struct ls_cuda_list *to = &a.sort.by_batch, *other = &a.sort.spare;
	a.sort.pass = (struct ls_cuda_pass){
		.from = {d.passes % 2 ? other->key : to->key, a.sort.by_feature.key, a.sort.by_feature.entry},
		.row = a.sort.by_feature.with};
	int rc = put_passes(c, &a, d, to, other, err);
	return rc || !wants_entries(c) ? rc : put(c, LS_K_LOOK, tiles_of(a.sort.entries), &a, err);
}

/* Rows in the epoch's order. */
static int put_order(struct ls_fm_cuda *c, struct ls_cuda_args a, struct ls_err *err)
{
	a.sort.pass.tiles = tiles_of(a.sort.rows);
	int rc = put(c, LS_K_ORDER, a.sort.pass.tiles, &a, err);
	if (rc == 0)
		rc = put(c, LS_K_SCAN, 1, &a, err);
	return rc ? rc : put(c, LS_K_FIRSTS, a.sort.pass.tiles, &a, err);
}

int ls_cuda_put_sort(struct ls_fm_cuda *c, const struct ls_cuda_window *w, struct ls_err *err)
{
	struct ls_cuda_args a = c->args;
	a.sort.step = c->streams ? 0 : w->first;
	a.sort.rows = w->rows;
	a.sort.entries = w->entries;
	int rc = c->by_feature ? 0 : put_by_feature(c, a, err);
	c->by_feature = rc == 0 && !c->streams;
	if (rc == 0)
		rc = put_order(c, a, err);
	return rc ? rc : put_by_batch(c, a, err);
}
