#include "exact/cpu/conv_cpu.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "exact/cpu/chunk.h"
#include "exact/cpu/conv_kern.h"
#include "exact/cpu/kern.h"
#include "exact/cpu/threads.h"
#include "num/num.h"

/* The work has three steps, each of which begins when all threads have ended the one
 * before: the top of each channel of each sample, and of each pair of channels of the
 * weights; whole numbers; blocks of the result. */
enum {
	MOST_ROWS = 192, /* of a block: what a second-level cache has room for */
	MOST_COLUMNS = 384,
	ALIGN = 64,
	READ = 4096, /* elements that are read at a time */
	MOST_PANEL = 32,
};
static const double SERIAL = 1 << 18; /* fewer products do not pay for waking threads */

/* Samples × channels of all groups × places, as whole numbers. */
struct whole {
	const struct ls_conv_tensor *from;
	int64_t size[LS_CONV_DIMS], places, channels;
	uint32_t *plane_top; /* of each sample's channels */
	uint32_t *top;       /* of each line: a sample's group, or a channel */
	float *at;
	atomic_llong next_top, next_cut;
};

struct job {
	const struct ls_conv_plan *plan;
	const struct ls_exact_kern *kern;
	const struct ls_conv_kern *loops;
	struct ls_conv c; /* the first phase; what all of them have alike */
	struct whole source, other;
	/* the weights instead of `other`: whole[line][tap][channel] */
	float *w;
	uint32_t *w_pair, *w_top; /* of each line and channel; of each line */
	int64_t phases, rows, columns, row_blocks;
	bool wide;
	atomic_llong next_w_top, next_w_cut, next_block;
	atomic_bool no_memory;
};

/* What a thread works with. */
struct room {
	double *a, *b;
	int64_t *sum, *high, *low;
	float *line, *read;
	double *value;
	struct span *span;
};

/* Columns (or depths) that read elements of the source one after the other. */
struct span {
	int64_t first, n, from, step;
};

static int64_t divide_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* --- reading --- */

/* n elements of a plane from place `from` on. */
static void read_plane(const struct whole *w, int64_t sample, int64_t channel, int64_t from,
		       int64_t n, float *ret)
{
	const struct ls_conv_tensor *x = w->from;
	bool even = (w->size[1] == 1 || x->place[1] == w->size[2] * x->place[2]) &&
		    (w->size[0] == 1 || x->place[0] == w->size[1] * w->size[2] * x->place[2]);
	int64_t at = sample * x->sample + channel * x->channel,
		bytes = x->type == LS_REDUCE_F32 ? 4 : 2;
	if (even) {
		chunk_fetch((const char *)x->at + bytes * (at + from * x->place[2]), x->type,
			    x->place[2], n, ret);
		return;
	}
	for (int64_t i = 0; i < n; i++) {
		struct ls_conv_at place = ls_conv_split(from + i, w->size[1], w->size[2]);
		ret[i] = ls_reduce_get(x->at, x->type, ls_conv_offset(x, sample, channel, &place));
	}
}

static int64_t line_of(const struct job *j, const struct whole *w, int64_t plane)
{
	int64_t channel = plane % w->channels;
	if (j->c.kind == LS_CONV_BACK_WEIGHT)
		return channel;
	return plane / w->channels * j->c.groups + channel / (w->channels / j->c.groups);
}

static void all_tops(struct job *j, struct whole *w, struct room *r)
{
	int64_t planes = w->at ? j->c.samples * w->channels : 0;
	for (int64_t i; (i = atomic_fetch_add(&w->next_top, 1)) < planes;) {
		w->plane_top[i] = 0;
		for (int64_t at = 0, n; at < w->places; at += n) {
			n = least(w->places - at, READ);
			read_plane(w, i / w->channels, i % w->channels, at, n, r->read);
			w->plane_top[i] = j->loops->top(r->read, n, w->plane_top[i]);
		}
	}
}

static void join_tops(const struct job *j, struct whole *w)
{
	int64_t planes = w->at ? j->c.samples * w->channels : 0;
	for (int64_t i = 0; i < planes; i++) {
		uint32_t *top = &w->top[line_of(j, w, i)];
		*top = ls_conv_larger(*top, w->plane_top[i]);
	}
}

static void all_cuts(struct job *j, struct whole *w, struct room *r)
{
	int64_t planes = w->at ? j->c.samples * w->channels : 0;
	float first, second;
	for (int64_t i; (i = atomic_fetch_add(&w->next_cut, 1)) < planes;) {
		ls_grid_scale(j->c.bits, ls_conv_exp(w->top[line_of(j, w, i)]), &first, &second);
		for (int64_t at = 0, n; at < w->places; at += n) {
			n = least(w->places - at, READ);
			read_plane(w, i / w->channels, i % w->channels, at, n, r->read);
			j->loops->cut(r->read, n, first, second, j->c.bits,
				      w->at + i * w->places + at);
		}
	}
}

/* --- weights --- */

static int64_t w_taps(const struct job *j)
{
	return j->c.w_taps[0] * j->c.w_taps[1] * j->c.w_taps[2];
}

/* The taps of one pair of channels, a few at a time; returns how many. */
static int64_t read_taps(const struct job *j, int64_t line, int64_t channel, int64_t from,
			 float *ret)
{
	const struct ls_conv *c = &j->c;
	int64_t taps = w_taps(j), n = least(taps - from, READ), group = line / c->lines;
	const struct ls_conv_tensor *w = &c->other;
	int64_t at = group * c->w_group + line % c->lines * w->sample + channel * w->channel;
	bool even = (c->w_taps[1] == 1 || w->place[1] == c->w_taps[2] * w->place[2]) &&
		    (c->w_taps[0] == 1 || w->place[0] == c->w_taps[1] * c->w_taps[2] * w->place[2]);
	if (even && w->type == LS_REDUCE_F32)
		for (int64_t i = 0; i < n; i++)
			ret[i] = ((const float *)w->at)[at + (from + i) * w->place[2]];
	else
		for (int64_t i = 0; i < n; i++)
			ret[i] = ls_conv_weight(c, group, line % c->lines, channel, from + i);
	return n;
}

/* Lines that lie side by side in memory are read so. */
static void pair_of(const struct job *j, int64_t i, int64_t *line, int64_t *channel)
{
	const struct ls_conv *c = &j->c;
	if (c->kind == LS_CONV_FORWARD) {
		*line = i / c->channels;
		*channel = i % c->channels;
	} else {
		int64_t group = i / (c->lines * c->channels);
		*line = group * c->lines + i % c->lines;
		*channel = i / c->lines % c->channels;
	}
}

enum { PAIRS = 256 }; /* of a task */

static void all_w_tops(struct job *j, struct room *r)
{
	int64_t pairs = j->w ? j->c.groups * j->c.lines * j->c.channels : 0, line, channel;
	for (int64_t at; (at = PAIRS * atomic_fetch_add(&j->next_w_top, 1)) < pairs;)
		for (int64_t i = at; i < at + PAIRS && i < pairs; i++) {
			uint32_t top = 0;
			pair_of(j, i, &line, &channel);
			for (int64_t t = 0, n; t < w_taps(j); t += n) {
				n = read_taps(j, line, channel, t, r->read);
				top = j->loops->top(r->read, n, top);
			}
			j->w_pair[line * j->c.channels + channel] = top;
		}
}

static void join_w_tops(const struct job *j)
{
	int64_t lines = j->w ? j->c.groups * j->c.lines : 0;
	for (int64_t line = 0; line < lines; line++)
		for (int64_t d = 0; d < j->c.channels; d++)
			j->w_top[line] =
				ls_conv_larger(j->w_top[line], j->w_pair[line * j->c.channels + d]);
}

static void all_w_cuts(struct job *j, struct room *r)
{
	int64_t pairs = j->w ? j->c.groups * j->c.lines * j->c.channels : 0, line, channel;
	float first, second;
	for (int64_t at; (at = PAIRS * atomic_fetch_add(&j->next_w_cut, 1)) < pairs;)
		for (int64_t i = at; i < at + PAIRS && i < pairs; i++) {
			pair_of(j, i, &line, &channel);
			ls_grid_scale(j->c.bits, ls_conv_exp(j->w_top[line]), &first, &second);
			float *to = j->w + line * w_taps(j) * j->c.channels + channel;
			for (int64_t t = 0, n; t < w_taps(j); t += n) {
				n = read_taps(j, line, channel, t, r->read);
				for (int64_t k = 0; k < n; k++)
					to[(t + k) * j->c.channels] = (float)ls_conv_whole(
						r->read[k], first, second, j->c.bits);
			}
		}
}

/* --- spans --- */

/* Along the innermost dimension: the places of [from, to) whose tap is inside. */
static void inside(const struct ls_conv_dim *d, int64_t tap, int64_t *from, int64_t *to)
{
	int64_t off = d->off + tap * d->off_step;
	int64_t low = off < 0 ? divide_up(-off, d->step) : 0;
	int64_t high = off >= d->size ? 0 : divide_up(d->size - off, d->step);
	*from = *from > low ? *from : low;
	*to = *to < high ? *to : high;
}

/* Whether b only goes on where a ends; then a is both. */
static bool join(struct span *a, const struct span *b)
{
	if (b->step != 1 || a->first + a->n != b->first || a->from + a->n != b->from)
		return false;
	a->n += b->n;
	return true;
}

/* What window places [from, from + n), counted over all samples, read by a tap. Returns
 * the number of spans; the channel is left out of where they read. */
static int64_t spans_of(const struct job *j, const struct ls_conv *c, int64_t tap, int64_t from,
			int64_t n, struct span *ret)
{
	const struct ls_conv_dim *d = c->dim;
	const int64_t places = ls_conv_places(c);
	struct ls_conv_at t = ls_conv_tap(c, tap), p = ls_conv_place(c, from % places);
	int64_t sample = from / places, spans = 0;
	for (int64_t first = 0, row; first < n; first += row) {
		row = least(d[2].places - p.at[2], n - first);
		int64_t z = p.at[0] * d[0].step + d[0].off + t.at[0] * d[0].off_step;
		int64_t y = p.at[1] * d[1].step + d[1].off + t.at[1] * d[1].off_step;
		int64_t begin = p.at[2], end = p.at[2] + row;
		inside(&d[2], t.at[2], &begin, &end);
		if (z >= 0 && z < d[0].size && y >= 0 && y < d[1].size && begin < end) {
			int64_t x = begin * d[2].step + d[2].off + t.at[2] * d[2].off_step;
			struct span s = {first + begin - p.at[2], end - begin,
					 sample * j->source.channels * j->source.places +
						 (z * d[1].size + y) * d[2].size + x,
					 d[2].step};
			if (!spans || !join(&ret[spans - 1], &s))
				ret[spans++] = s;
		}
		p.at[2] = 0;
		if (++p.at[1] == d[1].places) {
			p.at[1] = 0;
			if (++p.at[0] == d[0].places) {
				p.at[0] = 0;
				sample++;
			}
		}
	}
	return spans;
}

static void fill(const struct span *s, int64_t spans, const float *from, float *line)
{
	for (int64_t i = 0; i < spans; i++) {
		const float *x = from + s[i].from;
		float *to = line + s[i].first;
		if (s[i].step == 1)
			for (int64_t k = 0; k < s[i].n; k++)
				to[k] = x[k];
		else
			for (int64_t k = 0; k < s[i].n; k++)
				to[k] = x[k * s[i].step];
	}
}

/* --- the sides of a block --- */

struct block {
	const struct ls_conv *c;
	int64_t group, row, rows, column, columns;
};

static void clear_rest(double *panels, int64_t lines, int panel, int64_t depth)
{
	if (lines % panel)
		memset(panels + lines / panel * panel * depth, 0,
		       sizeof *panels * (size_t)(panel * depth));
}

/* Lines of the weights, depths tap * channels + channel. */
static void pack_w(const struct job *j, const struct block *b, int64_t at, int64_t depth,
		   double *out)
{
	const int panel = j->kern->tile->rows;
	const int64_t channels = b->c->channels;
	clear_rest(out, b->rows, panel, depth);
	for (int64_t l = 0; l < b->rows; l++) {
		const float *line =
			j->w + (b->group * b->c->lines + b->row + l) * w_taps(j) * channels;
		double *to = out + l / panel * panel * depth + l % panel;
		for (int64_t k = 0, n; k < depth; k += n) {
			int64_t tap = (at + k) / channels, channel = (at + k) % channels;
			struct ls_conv_at t = ls_conv_tap(b->c, tap);
			n = least(channels - channel, depth - k);
			j->loops->along(line + ls_conv_w_tap(b->c, &t) * channels + channel, n,
					panel, to + k * panel);
		}
	}
}

/* Columns are places of all samples, depths as above. */
static void pack_patches(const struct job *j, const struct block *b, int64_t at, int64_t depth,
			 struct room *r)
{
	const int panel = j->kern->tile->columns;
	const int64_t channels = b->c->channels;
	int64_t now = -1, spans = 0;
	for (int64_t k = 0; k < depth; k++) {
		int64_t tap = (at + k) / channels, channel = (at + k) % channels;
		if (tap != now) {
			memset(r->line, 0, sizeof *r->line * (size_t)b->columns);
			spans = spans_of(j, b->c, tap, b->column, b->columns, r->span);
			now = tap;
		}
		fill(r->span, spans,
		     j->source.at + (b->group * channels + channel) * j->source.places, r->line);
		j->loops->across(r->line, b->columns, panel, depth, r->b + k * panel);
	}
}

/* Lines of g, depths places of all samples. */
static void pack_g(const struct job *j, const struct block *b, int64_t at, int64_t depth,
		   double *out)
{
	const int panel = j->kern->tile->rows;
	const int64_t places = j->other.places;
	clear_rest(out, b->rows, panel, depth);
	for (int64_t l = 0; l < b->rows; l++) {
		int64_t line = b->group * b->c->lines + b->row + l;
		double *to = out + l / panel * panel * depth + l % panel;
		for (int64_t k = 0, n; k < depth; k += n) {
			int64_t sample = (at + k) / places, place = (at + k) % places;
			n = least(places - place, depth - k);
			j->loops->along(j->other.at + (sample * j->other.channels + line) * places +
						place,
					n, panel, to + k * panel);
		}
	}
}

/* Columns tap * channels + channel of the source, depths as above. */
static void pack_windows(const struct job *j, const struct block *b, int64_t at, int64_t depth,
			 struct room *r)
{
	const int panel = j->kern->tile->columns;
	const int64_t channels = b->c->channels;
	int64_t now = -1, spans = 0;
	clear_rest(r->b, b->columns, panel, depth);
	for (int64_t l = 0; l < b->columns; l++) {
		int64_t tap = (b->column + l) / channels, channel = (b->column + l) % channels;
		if (tap != now) {
			memset(r->line, 0, sizeof *r->line * (size_t)depth);
			spans = spans_of(j, b->c, tap, at, depth, r->span);
			now = tap;
		}
		fill(r->span, spans,
		     j->source.at + (b->group * channels + channel) * j->source.places, r->line);
		j->loops->along(r->line, depth, panel,
				r->b + l / panel * panel * depth + l % panel);
	}
}

/* --- sums --- */

static void fold(const struct job *j, struct room *r)
{
	for (int64_t i = 0; i < j->rows * j->columns; i++) {
		r->high[i] += r->sum[i] >> LS_GRID_SPLIT;
		r->low[i] += r->sum[i] & ((1 << LS_GRID_SPLIT) - 1);
		r->sum[i] = 0;
	}
}

static void multiply(const struct job *j, const struct block *b, int64_t depth, struct room *r)
{
	const struct ls_exact_tile *t = j->kern->tile;
	for (int64_t i = 0; i < b->rows; i += t->rows)
		for (int64_t k = 0; k < b->columns; k += t->columns)
			t->add(r->a + i * depth, r->b + k * depth, depth,
			       r->sum + i * j->columns + k, j->columns);
}

static void sum_block(const struct job *j, const struct block *b, int64_t terms, struct room *r)
{
	size_t bytes = sizeof(int64_t) * (size_t)(j->rows * j->columns);
	bool windows = b->c->kind == LS_CONV_BACK_WEIGHT;
	memset(r->sum, 0, bytes);
	if (j->wide) {
		memset(r->high, 0, bytes);
		memset(r->low, 0, bytes);
	}
	for (int64_t at = 0, depth; at < terms; at += depth) {
		depth = least(terms - at, LS_EXACT_DEPTH);
		(windows ? pack_g : pack_w)(j, b, at, depth, r->a);
		(windows ? pack_windows : pack_patches)(j, b, at, depth, r);
		multiply(j, b, depth, r);
		if (j->wide && (at + depth) % (LS_GRID_MOST_TERMS / 2) == 0)
			fold(j, r);
	}
	if (j->wide)
		fold(j, r);
}

/* --- results --- */

static void values(const struct job *j, const struct room *r, int64_t at, int64_t n, int e,
		   double *ret)
{
	if (!j->wide) {
		j->loops->values(r->sum + at, n, e, ret);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		ret[i] = ls_grid_value_wide(r->high[at + i], r->low[at + i], e);
}

/* Places that follow each other in the innermost dimension, of one line. */
static void put_row(const struct job *j, const struct block *b, int64_t line, int64_t sample,
		    int64_t place, int64_t n, const double *t)
{
	const struct ls_conv_tensor *out = &b->c->out;
	int64_t at = ls_conv_out(b->c, b->group, line, sample, place);
	int64_t step = out->place[2] * b->c->dim[2].place_step;
	if (step == 1 && out->type == LS_REDUCE_F32)
		j->loops->store(t, n, (float *)out->at + at);
	else
		for (int64_t i = 0; i < n; i++)
			ls_reduce_put(out->at, out->type, at + i * step, t[i]);
}

static void finish_places(const struct job *j, const struct block *b, struct room *r)
{
	const struct ls_conv *c = b->c;
	const int64_t places = ls_conv_places(c), width = c->dim[2].places;
	for (int64_t l = 0; l < b->rows; l++) {
		int64_t line = b->row + l;
		uint32_t w_top = j->w_top[b->group * c->lines + line];
		for (int64_t k = 0, n; k < b->columns; k += n) {
			int64_t sample = (b->column + k) / places, place = (b->column + k) % places;
			uint32_t top = j->source.top[sample * c->groups + b->group];
			n = least(width - place % width, b->columns - k);
			values(j, r, l * j->columns + k, n,
			       ls_conv_exp(w_top) + ls_conv_exp(top) - 2 * c->bits, r->value);
			for (int64_t i = 0; i < n; i++) {
				double odd;
				if (((w_top | top) & LS_CONV_NOT_FINITE) &&
				    ls_conv_not_finite(c, b->group, line, sample, place + i, &odd))
					r->value[i] = odd;
				if (c->bias)
					r->value[i] =
						ls_conv_biased(c, b->group, line, r->value[i]);
			}
			put_row(j, b, line, sample, place, n, r->value);
		}
	}
}

/* Channels that follow each other, of one line and tap. */
static void put_weights(const struct job *j, const struct block *b, int64_t line, int64_t at,
			int64_t tap, int64_t channel, int64_t n, const struct room *r)
{
	const struct ls_conv *c = b->c;
	const uint32_t g_top = j->other.top[b->group * c->lines + line];
	int64_t to = ls_conv_w_out(c, b->group, line, channel, tap);
	for (int64_t i = 0; i < n; i++, to += c->out.channel) {
		uint32_t top = j->source.top[b->group * c->channels + channel + i];
		int e = ls_conv_exp(g_top) + ls_conv_exp(top) - 2 * c->bits;
		double odd, t = j->wide ? ls_grid_value_wide(r->high[at + i], r->low[at + i], e)
					: ls_grid_value(r->sum[at + i], e);
		if (((g_top | top) & LS_CONV_NOT_FINITE) &&
		    ls_conv_w_not_finite(c, b->group, line, channel + i, tap, &odd))
			t = odd;
		ls_reduce_put(c->out.at, c->out.type, to, t);
	}
}

static void finish_weights(const struct job *j, const struct block *b, struct room *r)
{
	const int64_t channels = b->c->channels;
	for (int64_t l = 0; l < b->rows; l++)
		for (int64_t k = 0, n; k < b->columns; k += n) {
			int64_t tap = (b->column + k) / channels,
				channel = (b->column + k) % channels;
			n = least(channels - channel, b->columns - k);
			put_weights(j, b, b->row + l, l * j->columns + k, tap, channel, n, r);
		}
}

/* --- blocks --- */

/* Columns of the result of a group. */
static int64_t columns_of(const struct ls_conv *c)
{
	if (c->kind == LS_CONV_BACK_WEIGHT)
		return ls_conv_taps(c) * c->channels;
	return c->samples * ls_conv_places(c);
}

static int64_t terms_of(const struct ls_conv *c)
{
	if (c->kind == LS_CONV_BACK_WEIGHT)
		return c->samples * ls_conv_places(c);
	return ls_conv_taps(c) * c->channels;
}

static int64_t blocks_of(const struct job *j, const struct ls_conv *c)
{
	return c->groups * j->row_blocks * divide_up(columns_of(c), j->columns);
}

static void run_block(const struct job *j, const struct ls_conv *c, int64_t number, struct room *r)
{
	/* rows change fastest: what the columns gather stays in the cache */
	struct block b = {.c = c};
	b.row = number % j->row_blocks * j->rows;
	b.rows = least(c->lines - b.row, j->rows);
	number /= j->row_blocks;
	b.group = number % c->groups;
	b.column = number / c->groups * j->columns;
	b.columns = least(columns_of(c) - b.column, j->columns);
	sum_block(j, &b, terms_of(c), r);
	if (c->kind == LS_CONV_BACK_WEIGHT)
		finish_weights(j, &b, r);
	else
		finish_places(j, &b, r);
}

static void all_blocks(struct job *j, struct room *r)
{
	int64_t phase = 0, before = 0;
	struct ls_conv c = j->c;
	for (;;) {
		int64_t i = atomic_fetch_add(&j->next_block, 1);
		while (phase < j->phases && i - before >= blocks_of(j, &c)) {
			before += blocks_of(j, &c);
			if (++phase < j->phases)
				c = ls_conv_phase(j->plan, phase);
		}
		if (phase == j->phases)
			return;
		run_block(j, &c, i - before, r);
	}
}

/* --- threads --- */

static void *aligned(int64_t bytes)
{
	return aligned_alloc(ALIGN, (size_t)divide_up(bytes + 1, ALIGN) * ALIGN);
}

static bool new_room(const struct job *j, struct room *r)
{
	int64_t size = (int64_t)sizeof(int64_t) * j->rows * j->columns;
	int64_t most = j->columns > LS_EXACT_DEPTH ? j->columns : LS_EXACT_DEPTH;
	*r = (struct room){
		.a = aligned((int64_t)sizeof(double) * LS_EXACT_DEPTH * j->rows),
		.b = aligned((int64_t)sizeof(double) * LS_EXACT_DEPTH * j->columns),
		.sum = aligned(size),
		.high = j->wide ? aligned(size) : NULL,
		.low = j->wide ? aligned(size) : NULL,
		.line = aligned((int64_t)sizeof(float) * most),
		.read = aligned((int64_t)sizeof(float) * READ),
		.value = aligned((int64_t)sizeof(double) * most),
		.span = aligned((int64_t)sizeof(struct span) * most),
	};
	return r->a && r->b && r->sum && (!j->wide || (r->high && r->low)) && r->line && r->read &&
	       r->value && r->span;
}

static void free_room(struct room *r)
{
	free(r->a);
	free(r->b);
	free(r->sum);
	free(r->high);
	free(r->low);
	free(r->line);
	free(r->read);
	free(r->value);
	free(r->span);
}

struct context {
	struct job *job;
	struct ls_pool *pool; /* NULL: one thread */
};

static void wait(const struct context *c)
{
	if (c->pool)
		ls_pool_barrier(c->pool);
}

static void on_pool(void *context, int thread, int threads)
{
	const struct context *c = context;
	struct job *j = c->job;
	struct room r;
	uint64_t saved = ls_fp_enter();
	(void)threads;
	if (!new_room(j, &r))
		atomic_store(&j->no_memory, true);
	wait(c);
	bool go = !atomic_load(&j->no_memory);
	if (go) {
		all_tops(j, &j->source, &r);
		all_tops(j, &j->other, &r);
		all_w_tops(j, &r);
	}
	wait(c);
	if (go && thread == 0) {
		join_tops(j, &j->source);
		join_tops(j, &j->other);
		join_w_tops(j);
	}
	wait(c);
	if (go) {
		all_cuts(j, &j->source, &r);
		all_cuts(j, &j->other, &r);
		all_w_cuts(j, &r);
	}
	wait(c);
	if (go)
		all_blocks(j, &r);
	free_room(&r);
	ls_fp_leave(saved);
}

/* --- the job --- */

static bool new_whole(const struct job *j, const struct ls_conv_tensor *from, const int64_t *size,
		      int64_t channels, struct whole *w)
{
	const struct ls_conv *c = &j->c;
	int64_t lines = c->kind == LS_CONV_BACK_WEIGHT ? channels : c->samples * c->groups;
	w->from = from;
	w->channels = channels;
	w->places = 1;
	for (int d = 0; d < LS_CONV_DIMS; d++)
		w->places *= w->size[d] = size[d];
	w->plane_top = ls_alloc_array((size_t)(c->samples * channels) + 1, sizeof *w->plane_top);
	w->top = ls_alloc_array((size_t)lines + 1, sizeof *w->top);
	w->at = ls_alloc_array((size_t)(c->samples * channels * w->places) + 1, sizeof *w->at);
	if (w->top)
		memset(w->top, 0, sizeof *w->top * (size_t)(lines + 1));
	return w->plane_top && w->top && w->at;
}

static bool new_weights(struct job *j)
{
	size_t lines = (size_t)(j->c.groups * j->c.lines), pairs = lines * (size_t)j->c.channels;
	j->w = ls_alloc_array(pairs * (size_t)w_taps(j) + 1, sizeof *j->w);
	j->w_pair = ls_alloc_array(pairs + 1, sizeof *j->w_pair);
	j->w_top = ls_alloc_array(lines + 1, sizeof *j->w_top);
	if (j->w_top)
		memset(j->w_top, 0, sizeof *j->w_top * (lines + 1));
	return j->w && j->w_pair && j->w_top;
}

static void free_job(struct job *j)
{
	struct whole *both[] = {&j->source, &j->other};
	for (int i = 0; i < 2; i++) {
		free(both[i]->plane_top);
		free(both[i]->top);
		free(both[i]->at);
	}
	free(j->w);
	free(j->w_pair);
	free(j->w_top);
}

/* Blocks as large as caches hold, but enough of them for all threads. */
static void choose_blocks(struct job *j, int threads)
{
	const struct ls_exact_tile *t = j->kern->tile;
	int64_t m = divide_up(j->c.lines, t->rows) * t->rows;
	int64_t n = divide_up(columns_of(&j->c), t->columns) * t->columns;
	n = n < t->columns ? t->columns : n;
	j->rows = least(m, MOST_ROWS);
	j->columns = least(n, MOST_COLUMNS);
	for (;;) {
		j->row_blocks = divide_up(j->c.lines, j->rows);
		bool wide = j->columns >= j->rows && j->columns > 2 * t->columns;
		if (blocks_of(j, &j->c) * j->phases >= 3 * threads ||
		    (!wide && j->rows <= 2 * t->rows))
			return;
		if (wide)
			j->columns = divide_up(j->columns / 2, t->columns) * t->columns;
		else
			j->rows = divide_up(j->rows / 2, t->rows) * t->rows;
	}
}

static bool is_empty(const struct ls_conv *c)
{
	bool weights = c->kind == LS_CONV_BACK_WEIGHT;
	return c->groups == 0 || c->lines == 0 || (weights ? c->channels == 0 : c->samples == 0);
}

static int run(struct job *j, int threads, struct ls_err *err)
{
	struct context context = {j, threads > 1 ? ls_exact_threads_take(threads) : NULL};
	if (context.pool) {
		ls_pool_run_some(context.pool, threads, on_pool, &context);
		ls_exact_threads_give();
	} else {
		on_pool(&context, 0, 1);
	}
	if (atomic_load(&j->no_memory))
		return ls_err_set(err, LS_ENOMEM, "no memory is left for an exact convolution");
	return 0;
}

int ls_conv_cpu(const struct ls_conv_plan *p, int threads, const char *isa, struct ls_err *err)
{
	int rc = ls_conv_check(p, err);
	struct job j = {.plan = p, .kern = ls_exact_kern_find(isa)};
	if (rc || is_empty(&p->conv))
		return rc;
	if (!j.kern)
		return ls_err_set(err, LS_EINPUT, "this processor has no instruction set %s", isa);
	j.c = ls_conv_phase(p, 0);
	j.loops = j.kern->conv;
	j.phases = ls_conv_phases(p);
	const struct ls_conv *c = &j.c;
	bool weights = c->kind == LS_CONV_BACK_WEIGHT;
	j.wide = (weights ? terms_of(c) : w_taps(&j) * c->channels) > LS_GRID_MOST_TERMS;
	double products =
		(double)c->groups * (double)c->lines * (double)columns_of(c) * (double)terms_of(c);
	if (threads < 1 || products < SERIAL)
		threads = 1;
	choose_blocks(&j, threads);
	if (new_whole(&j, &c->source, c->kind == LS_CONV_BACK_INPUT ? p->out : p->in,
		      c->groups * c->channels, &j.source) &&
	    (weights ? new_whole(&j, &c->other, p->out, c->groups * c->lines, &j.other)
		     : new_weights(&j)))
		rc = run(&j, threads, err);
	else
		rc = ls_err_set(err, LS_ENOMEM, "no memory is left for an exact convolution");
	free_job(&j);
	return rc;
}
