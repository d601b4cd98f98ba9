/* The training data on a GPU: all of it or, where it does not fit, two windows (double
 * buffering).
 *
 * A window has the rows of some steps of one epoch, in the order in which the steps take
 * them. The pool's threads gather them into page-locked memory, and they are copied in a
 * stream of their own while the steps of the other window compute. To the kernels a
 * window is a data set of its own that is not shuffled and starts at step 0; `number`
 * holds the rows' places in the whole data. So the bytes do not depend on the windows. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fm/cuda/host/cuda_internal.h"
#include "fm/model/batch.h"
#include "fm/model/order.h"

static const uint64_t WINDOW = (uint64_t)64
			       /* bytes that a window has, if steps are not larger */
			       << 20;

/* As many of the longest rows as a batch has. Rows of LONG entries and more are counted
 * as the longest. */
uint64_t ls_cuda_most_entries(const struct ls_rows *rows, uint64_t batch)
{
	enum { LONG = 4096 };
	uint64_t *count = ls_xalloc((LONG + 1) * sizeof *count), longest = 1, left = batch, sum = 0;
	for (uint64_t r = 0; r < rows->n_rows; r++) {
		uint64_t n = rows->start[r + 1] - rows->start[r];
		longest = n > longest ? n : longest;
		count[n < LONG ? n : LONG]++;
	}
	for (uint64_t n = LONG; n > 0 && left; n--) {
		uint64_t take = least(left, count[n]);
		sum += take * (n == LONG ? longest : n);
		left -= take;
	}
	free(count);
	return least(rows->n_entries ? rows->n_entries : 1, sum ? sum : 1);
}

/* Bytes of an array for so many rows and entries; 0: there is none. */
static uint64_t bytes_of(const struct ls_fm_cuda *c, enum ls_cuda_array which, uint64_t rows,
			 uint64_t entries)
{
	const struct ls_rows *r = c->rows;
	switch (which) {
	case LS_A_START:
		return (rows + 1) * sizeof *r->start;
	case LS_A_NUMBER:
		return rows * sizeof(uint64_t);
	case LS_A_LABEL:
		return rows * sizeof *r->label;
	case LS_A_WEIGHT:
		return r->weight ? rows * sizeof *r->weight : 0;
	case LS_A_FEATURE:
		return entries * sizeof *r->feature;
	case LS_A_FIELD:
		return c->m->opts.kind != LS_FM ? entries * sizeof *r->field : 0;
	case LS_A_VALUE:
		return r->value ? entries * sizeof *r->value : 0;
	case LS_A_ARRAYS:
		break;
	}
	return 0;
}

/* Of all arrays together, each with the rounding of its allocation. */
static uint64_t bytes_all(const struct ls_fm_cuda *c, uint64_t rows, uint64_t entries)
{
	uint64_t sum = 0;
	for (int i = 0; i < LS_A_ARRAYS; i++) {
		uint64_t bytes = bytes_of(c, (enum ls_cuda_array)i, rows, entries);
		sum += bytes ? ls_cuda_rounded(bytes) : 0;
	}
	return sum;
}

/* Windows of that size, and their sort. */
static uint64_t windows_bytes(struct ls_fm_cuda *c, uint64_t rows, uint64_t entries)
{
	return LS_CUDA_WINDOWS * bytes_all(c, rows, entries) + ls_cuda_sort_bytes(c, rows, entries);
}

bool ls_cuda_rows_fit(struct ls_fm_cuda *c, uint64_t room)
{
	uint64_t rows = c->rows->n_rows, entries = c->rows->n_entries;
	uint64_t batches = ls_fm_steps_per_epoch(&c->m->opts, rows);
	if (entries > LS_CUDA_MAX_ENTRIES || batches > (uint64_t)1 << (32 - ls_cuda_slot_bits(c)))
		return false;
	return bytes_all(c, rows, entries) + ls_cuda_sort_bytes(c, rows, entries) <= room;
}

uint64_t ls_cuda_least_windows(struct ls_fm_cuda *c)
{
	return windows_bytes(c, c->m->opts.batch, c->entries);
}

/* Lets the kernels see these arrays. */
static void show(struct ls_fm_cuda *c, void *const device[LS_A_ARRAYS])
{
	struct ls_cuda_args *a = &c->args;
	a->start = device[LS_A_START];
	a->number = device[LS_A_NUMBER];
	a->label = device[LS_A_LABEL];
	a->weight = device[LS_A_WEIGHT];
	a->in_feature = device[LS_A_FEATURE];
	a->in_field = device[LS_A_FIELD];
	a->in_value = device[LS_A_VALUE];
	a->x = c->m->opts.normalize ? c->x : device[LS_A_VALUE];
}

/* --- all of it --- */

static int put_all(struct ls_fm_cuda *c, struct ls_err *err)
{
	const struct ls_rows *r = c->rows;
	const void *const from[LS_A_ARRAYS] = {
		[LS_A_START] = r->start,     [LS_A_LABEL] = r->label, [LS_A_WEIGHT] = r->weight,
		[LS_A_FEATURE] = r->feature, [LS_A_FIELD] = r->field, [LS_A_VALUE] = r->value};
	void *device[LS_A_ARRAYS] = {0};
	int rc = ls_cuda_make_sort(c, r->n_rows, r->n_entries, err);
	for (int i = 0; i < LS_A_ARRAYS && rc == 0; i++) {
		uint64_t bytes = bytes_of(c, (enum ls_cuda_array)i, r->n_rows, r->n_entries);
		if (!bytes || !from[i])
			continue;
		struct ls_cuda_runs whole = ls_cuda_whole(from[i], bytes);
		rc = ls_cuda_alloc(c, bytes, "the data", &device[i], err);
		if (rc == 0)
			rc = ls_cuda_copy_in(c, &whole, device[i], err);
	}
	show(c, device);
	return rc;
}

/* --- windows --- */

/* Entries that a window of so many steps has room for: rows of mean length, and the
 * longest step at least. */
static uint64_t entries_of(const struct ls_fm_cuda *c, uint64_t steps)
{
	uint64_t mean = c->rows->n_entries / c->rows->n_rows + 1,
		 entries = steps * c->m->opts.batch * mean;
	return entries < c->entries ? c->entries : entries;
}

/* The most steps that windows have room for. */
static void size_windows(struct ls_fm_cuda *c, uint64_t room)
{
	uint64_t batch = c->m->opts.batch, low = 1,
		 most = (uint64_t)1 << (32 - ls_cuda_slot_bits(c));
	uint64_t high = least(ls_fm_steps_per_epoch(&c->m->opts, c->rows->n_rows),
			      least(UINT32_MAX / batch, most));
	while (low < high) {
		uint64_t steps = low + (high - low + 1) / 2, rows = steps * batch,
			 entries = entries_of(c, steps);
		if (bytes_all(c, rows, entries) <= WINDOW &&
		    windows_bytes(c, rows, entries) <= room)
			low = steps;
		else
			high = steps - 1;
	}
	c->window_rows = (uint32_t)(low * batch);
	c->window_entries = entries_of(c, low);
}

static int make_window(struct ls_fm_cuda *c, struct ls_cuda_window *w, struct ls_err *err)
{
	uint64_t at = 0;
	w->from = ls_alloc_array(c->window_rows, sizeof *w->from);
	if (!w->from)
		return ls_err_set(err, LS_ENOMEM, "no memory to gather rows in");
	int rc = ls_gpu_host_alloc(c->gpu, bytes_all(c, c->window_rows, c->window_entries),
				   "a window of the data", &w->locked, err);
	for (int i = 0; i < LS_A_ARRAYS && rc == 0; i++) {
		uint64_t bytes =
			bytes_of(c, (enum ls_cuda_array)i, c->window_rows, c->window_entries);
		if (!bytes)
			continue;
		w->host[i] = (char *)w->locked + at;
		at += ls_cuda_rounded(bytes);
		rc = ls_cuda_alloc(c, bytes, "a window of the data", &w->device[i], err);
	}
	if (rc == 0)
		rc = ls_gpu_event_new(c->gpu, false, &w->copied, err);
	return rc ? rc : ls_gpu_event_new(c->gpu, false, &w->used, err);
}

int ls_cuda_put_rows(struct ls_fm_cuda *c, uint64_t room, struct ls_err *err)
{
	if (!c->streams)
		return put_all(c, err);
	c->args.shuffle = LS_SHUFFLE_NONE;
	size_windows(c, room);
	int rc = ls_gpu_stream_new(c->gpu, &c->copies, err);
	if (rc == 0)
		rc = ls_cuda_make_sort(c, c->window_rows, c->window_entries, err);
	for (int i = 0; i < LS_CUDA_WINDOWS && rc == 0; i++)
		rc = make_window(c, &c->window[i], err);
	return rc;
}

void ls_cuda_free_windows(struct ls_fm_cuda *c)
{
	for (int i = 0; i < LS_CUDA_WINDOWS; i++) {
		ls_gpu_event_free(c->gpu, c->window[i].copied);
		ls_gpu_event_free(c->gpu, c->window[i].used);
		ls_gpu_host_free(c->gpu, c->window[i].locked);
		free(c->window[i].from);
	}
	ls_gpu_stream_free(c->gpu, c->copies);
}

/* --- gathering --- */

struct gather {
	const struct ls_fm_cuda *c;
	struct ls_cuda_window *w;
	uint32_t rows; /* to look at; w->rows of them fit */
};

/* Numbers the rows of the window. Shuffled rows are anywhere in memory, so what will be
 * read of them is prefetched. */
static void number_rows(const struct gather *g, uint64_t lo, uint64_t hi)
{
	const struct ls_fm_opts *o = &g->c->m->opts;
	uint64_t *number = g->w->host[LS_A_NUMBER];
	while (lo < hi) {
		struct ls_order order =
			ls_fm_order(o, g->c->rows->n_rows, g->w->first + lo / o->batch);
		uint32_t at = (uint32_t)(lo % o->batch);
		for (uint64_t end = least(hi, lo - at + o->batch); lo < end; lo++, at++) {
			number[lo] = ls_order_row(&order, at);
			__builtin_prefetch(&g->c->rows->start[number[lo]]);
		}
	}
}

/* Finds where the rows begin and stores their lengths where their ends will be. */
static void find_rows(const struct gather *g, uint64_t lo, uint64_t hi)
{
	enum { AHEAD = 64 };
	const uint64_t *number = g->w->host[LS_A_NUMBER], *from = g->c->rows->start;
	uint64_t *start = g->w->host[LS_A_START];
	for (uint64_t end; lo < hi; lo = end) {
		end = least(hi, lo + AHEAD);
		number_rows(g, lo, end);
		for (uint64_t i = lo; i < end; i++) {
			g->w->from[i] = from[number[i]];
			start[i + 1] = from[number[i] + 1] - from[number[i]];
		}
	}
}

/* Replaces lengths by places, as far as whole steps have room. */
static void place_rows(const struct gather *g)
{
	struct ls_cuda_window *w = g->w;
	uint64_t *start = w->host[LS_A_START], batch = g->c->m->opts.batch;
	start[0] = 0;
	for (uint64_t lo = 0, i; lo < g->rows; lo = i) {
		for (i = lo; i < g->rows && i < lo + batch; i++)
			start[i + 1] += start[i];
		if (start[i] > g->c->window_entries)
			return;
		w->rows = (uint32_t)i;
		w->steps++;
	}
}

/* Prefetches the entries and the label of a row. */
static void prefetch_row(const struct gather *g, uint64_t i)
{
	enum { LINE = 64 };
	const struct ls_rows *r = g->c->rows;
	const uint64_t *number = g->w->host[LS_A_NUMBER], *start = g->w->host[LS_A_START];
	uint64_t from = g->w->from[i], to = from + start[i + 1] - start[i];
	for (uint64_t e = from; e < to; e += LINE / sizeof *r->feature) {
		__builtin_prefetch(r->feature + e);
		if (g->w->host[LS_A_VALUE])
			__builtin_prefetch(r->value + e);
	}
	for (uint64_t e = from; e < to && g->w->host[LS_A_FIELD]; e += LINE / sizeof *r->field)
		__builtin_prefetch(r->field + e);
	__builtin_prefetch(r->label + number[i]);
}

static void copy_rows(const struct gather *g, uint64_t lo, uint64_t hi)
{
	enum { AHEAD = 8 };
	const struct ls_rows *r = g->c->rows;
	void *const *to = g->w->host;
	const uint64_t *number = to[LS_A_NUMBER], *start = to[LS_A_START];
	for (uint64_t i = lo; i < hi; i++) {
		if (i + AHEAD < hi)
			prefetch_row(g, i + AHEAD);
		uint64_t row = number[i], from = g->w->from[i], at = start[i],
			 n = start[i + 1] - at;
		memcpy((uint32_t *)to[LS_A_FEATURE] + at, r->feature + from,
		       n * sizeof *r->feature);
		if (to[LS_A_FIELD])
			memcpy((uint16_t *)to[LS_A_FIELD] + at, r->field + from,
			       n * sizeof *r->field);
		if (to[LS_A_VALUE])
			memcpy((float *)to[LS_A_VALUE] + at, r->value + from, n * sizeof *r->value);
		((float *)to[LS_A_LABEL])[i] = r->label[row];
		if (to[LS_A_WEIGHT])
			((float *)to[LS_A_WEIGHT])[i] = r->weight[row];
	}
}

static void gather(void *context, int thread, int threads)
{
	const struct gather *g = context;
	uint64_t lo, hi;
	ls_pool_share(g->rows, thread, threads, &lo, &hi);
	find_rows(g, lo, hi);
	ls_pool_barrier(g->c->pool);
	if (thread == 0)
		place_rows(g);
	ls_pool_barrier(g->c->pool);
	ls_pool_share(g->w->rows, thread, threads, &lo, &hi);
	copy_rows(g, lo, hi);
}

/* Fills a window with the steps from `first` on: as many as it has room for and the epoch
 * has left. */
static int fill(struct ls_fm_cuda *c, struct ls_cuda_window *w, uint64_t first, struct ls_err *err)
{
	const struct ls_fm_opts *o = &c->m->opts;
	uint64_t from = first % ls_fm_steps_per_epoch(o, c->rows->n_rows) * o->batch;
	struct gather g = {c, w, (uint32_t)least(c->window_rows, c->rows->n_rows - from)};
	int rc = w->steps ? ls_gpu_event_sync(c->gpu, w->copied, err) : 0;
	if (rc == 0 && w->steps)
		rc = ls_gpu_event_wait(c->gpu, c->copies, w->used, err);
	if (rc)
		return rc;
	w->first = first;
	w->steps = w->rows = 0;
	ls_pool_run(c->pool, gather, &g);
	uint64_t entries = ((const uint64_t *)w->host[LS_A_START])[w->rows];
	w->entries = (uint32_t)entries;
	c->sorted = c->sorted == w ? NULL : c->sorted;
	for (int i = 0; i < LS_A_ARRAYS && rc == 0; i++)
		if (w->host[i])
			rc = ls_gpu_upload(c->gpu, c->copies, ls_cuda_ptr(w->device[i]), w->host[i],
					   bytes_of(c, (enum ls_cuda_array)i, w->rows, entries),
					   err);
	return rc ? rc : ls_gpu_event_record(c->gpu, c->copies, w->copied, err);
}

static bool has_step(const struct ls_cuda_window *w, uint64_t step)
{
	return step >= w->first && step - w->first < w->steps;
}

/* The window that has the step. If none has, the other one is filled. */
static int window_with(struct ls_fm_cuda *c, uint64_t step, struct ls_err *err)
{
	if (has_step(&c->window[c->view], step))
		return 0;
	uint32_t other = (c->view + 1) % LS_CUDA_WINDOWS;
	int rc = has_step(&c->window[other], step) ? 0 : fill(c, &c->window[other], step, err);
	if (rc == 0)
		c->view = other;
	return rc;
}

/* All data are there: the whole epoch is the window. */
static void take_epoch(struct ls_fm_cuda *c, uint64_t step)
{
	struct ls_cuda_window *w = &c->window[0];
	uint64_t steps = ls_fm_steps_per_epoch(&c->m->opts, c->rows->n_rows);
	if (has_step(w, step))
		return;
	*w = (struct ls_cuda_window){.first = step - step % steps,
				     .steps = steps,
				     .rows = (uint32_t)c->rows->n_rows,
				     .entries = (uint32_t)c->rows->n_entries};
	c->sorted = NULL;
}

int ls_cuda_show_window(struct ls_fm_cuda *c, uint64_t step, struct ls_cuda_window **ret,
			struct ls_err *err)
{
	int rc = 0;
	if (c->streams)
		rc = window_with(c, step, err);
	else
		take_epoch(c, step);
	struct ls_cuda_window *w = *ret = &c->window[c->view];
	if (rc == 0 && c->streams) {
		rc = ls_gpu_event_wait(c->gpu, c->main, w->copied, err);
		show(c, w->device);
	}
	if (rc == 0 && c->sorted != w) {
		rc = ls_cuda_put_sort(c, w, err);
		c->sorted = rc ? NULL : w;
	}
	return rc;
}

int ls_cuda_leave_window(struct ls_fm_cuda *c, uint64_t next, struct ls_err *err)
{
	struct ls_cuda_window *w = &c->window[c->view],
			      *other = &c->window[(c->view + 1) % LS_CUDA_WINDOWS];
	if (!c->streams)
		return 0;
	int rc = ls_gpu_event_record(c->gpu, c->main, w->used, err);
	bool ends = next == w->first + w->steps &&
		    next % ls_fm_steps_per_epoch(&c->m->opts, c->rows->n_rows) != 0;
	return rc || !ends || has_step(other, next) ? rc : fill(c, other, next, err);
}
