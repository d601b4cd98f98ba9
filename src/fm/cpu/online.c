/* Threads that train a row at a time; online.h says what each does of a row: what a member does, of
 * which there are as many as the pool has threads. Where fewer are at work (base/active_threads.h)
 * each does the parts of several members in turn. Rows are prepared in windows:
 *
 *   each thread: its rows of the window: where they lie, and whether all threads can do them
 * together barrier all threads: the rows in turn barrier
 *
 * Within a window threads wait for each other's parts of a score, and for nothing else: one may be
 * at the next row already. That is safe as long as each feature's lines have one thread, which they
 * have while a feature stays in its field; where it does not, all wait before the row. */
#include "fm/cpu/online.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/inline.h"
#include "base/mem.h"
#include "fm/cpu/step.h"
#include "fm/model/batch.h"
#include "num/num.h"

enum { WINDOW = 64, SEEN_BITS = 12 };

enum way {
	TOGETHER,
	AFTER, /* together, once all have ended the row before */
	ALONE  /* by thread 0 */
};

/* What a thread says of a row: its number, and the parts of the score of the thread's classes. */
struct said {
	_Alignas(128) _Atomic uint64_t row;
	float part[LS_ONLINE_CLASSES];
};

/* By a hash of the feature, whether a row may have it. */
struct seen {
	uint64_t bits[(1 << SEEN_BITS) / 64];
};

struct member {
	_Alignas(128) struct said said[2];
	struct ls_online_share share;                  /* others read it: what changes lies apart */
	_Alignas(128) struct ls_online_found lines[2]; /* of a row and the next, by number */
	uint64_t found;                                /* the last whose lines are there */
	float *bias;         /* outputs × (1 + states), this member's copy */
	struct seen seen[2]; /* in a row and the one before, for its thread */
	double loss;         /* member 0's is complete */
};

struct ls_online {
	struct ls_online_table table;
	struct ls_fm_model *m;
	const struct ls_rows *rows;
	struct ls_pool *pool;
	const struct ls_kern *kern;
	bool has_x;
	struct ls_online_row row[WINDOW];
	enum way way[WINDOW];
	float *x;                    /* WINDOW × longest, as */
	uint32_t *place;             /* of the entries' records */
	struct ls_online_away *away; /* WINDOW × fields */
	uint64_t longest;
	struct member *members; /* by thread, */
	int n_members; /* of which so many have classes (1: the model is not shared out), and */
	int at_work;   /* so many threads do what they do */
	struct ls_online_room room;
	uint64_t said;        /* rows before the call, done or not: no number comes twice, on which
				 members' found relies */
	uint64_t first, n;    /* steps of the call */
	double loss;          /* before the call */
	_Atomic uint64_t bad; /* the row that was not finite, or UINT64_MAX */
};

/* --- making it --- */

static enum ls_online_blocks blocks_of(const struct ls_online_table *t, uint32_t a, uint32_t b)
{
	if (ls_online_first(b + 1, ls_online_line(t->m->padded)) > t->m->n_fields)
		return LS_ONLINE_ANY;
	if (a == b)
		return a ? LS_ONLINE_SAME : LS_ONLINE_SAME_ZERO;
	return a ? LS_ONLINE_FULL : LS_ONLINE_ZERO;
}

static struct ls_online_meeting meeting_of(const struct ls_online_table *t, uint32_t a, uint32_t b,
					   uint32_t class)
{
	bool spread = t->home != NULL;
	return (struct ls_online_meeting){(uint8_t)a,
					  (uint8_t)b,
					  (uint8_t) class,
					  (uint8_t)(spread ? class : b),
					  (uint8_t)(spread ? class : a),
					  (uint8_t)blocks_of(t, a, b)};
}

/* Zeros, on lines that nobody else has. */
static float *floats(size_t n)
{
	return ls_xalloc_aligned(128, (sizeof(float) * n + 127) / 128 * 128);
}

/* A thread's classes, and which blocks meet in them. */
static void make_share(struct ls_online_share *s, const struct ls_online_table *t, int thread,
		       int threads)
{
	uint32_t classes = t->classes;
	uint64_t lo, hi;
	ls_pool_share(classes, thread, threads, &lo, &hi);
	s->part = t->of_class[lo];
	if (t->home)
		s->copies = floats((size_t)t->m->n_fields * LS_FM_LINE * s->part.n);
	s->slots = (classes * ls_online_line(t->m->padded) + 3) / 4 * 4;
	s->squares = floats((size_t)s->slots * s->part.room);
	s->steps = floats((size_t)s->slots * s->part.room);
	s->meeting = ls_xalloc(sizeof *s->meeting * (hi - lo) * classes);
	for (uint32_t a = 0; a < classes; a++)
		for (uint32_t b = a; b < classes; b++) {
			uint32_t class = ls_online_meet(a, b, classes);
			if (lo <= class && class < hi)
				s->meeting[s->n++] = meeting_of(t, a, b, class - (uint32_t)lo);
		}
}

static void make_members(struct ls_online *o)
{
	int threads = ls_pool_threads(o->pool), classes = (int)o->table.classes;
	o->n_members = !o->table.shared ? 1 : threads < classes ? threads : classes;
	o->members = ls_xalloc_aligned(128, sizeof *o->members * (size_t)threads);
	for (int t = 0; t < threads; t++) {
		struct member *w = &o->members[t];
		if (o->table.shared && t < o->n_members)
			make_share(&w->share, &o->table, t, threads);
		w->bias = ls_xalloc(sizeof(float) * ls_fm_linear_size(o->m));
	}
}

static int make_room(struct ls_online *o, struct ls_err *err)
{
	const struct ls_fm_model *m = o->m;
	struct ls_online_room *r = &o->room;
	r->back = ls_alloc_array(o->longest * ls_fm_lanes(m), sizeof(float));
	r->total = ls_alloc_array((size_t)o->table.classes * ls_online_lanes(m->padded),
				  sizeof(float));
	r->sums = ls_alloc_array(ls_fm_lanes(m), sizeof(float));
	r->score = ls_alloc_array(m->outputs, sizeof(float));
	r->slope = ls_alloc_array(m->outputs, sizeof(float));
	r->linear = ls_alloc_array(m->outputs, sizeof(float));
	r->unit = ls_alloc_array(m->outputs, sizeof(float));
	r->entries = ls_alloc_array(m->n_fields, sizeof *r->entries);
	o->place = ls_alloc_array(o->longest * WINDOW, sizeof *o->place);
	o->x = o->has_x ? ls_alloc_array(o->longest * WINDOW, sizeof(float)) : NULL;
	if (!r->back || !r->total || !r->sums || !r->score || !r->slope || !r->linear || !r->unit ||
	    !r->entries || !o->place || (o->has_x && !o->x))
		return ls_err_set(err, LS_ENOMEM, "no memory for rows of up to %llu entries",
				  (unsigned long long)o->longest);
	return 0;
}

int ls_online_new(struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool,
		  uint64_t longest, struct ls_online **ret, struct ls_err *err)
{
	struct ls_online *o = ls_xalloc(sizeof *o);
	o->m = m;
	o->rows = rows;
	o->pool = pool;
	o->longest = longest;
	o->has_x = rows->value || m->opts.normalize;
	o->bad = UINT64_MAX;
	int rc = ls_online_table_init(&o->table, m, rows, pool, err);
	rc = rc ? rc : make_room(o, err);
	if (rc) {
		ls_online_free(o);
		return rc;
	}
	o->away = o->table.home ? ls_xalloc(sizeof *o->away * WINDOW * m->n_fields) : NULL;
	make_members(o);
	o->room.bias = o->members[0].bias;
	*ret = o;
	return 0;
}

void ls_online_free(struct ls_online *o)
{
	if (!o)
		return;
	ls_online_fetch(o);
	ls_online_table_free(&o->table);
	for (int t = 0; o->members && t < ls_pool_threads(o->pool); t++) {
		struct ls_online_share *s = &o->members[t].share;
		free(s->copies);
		free(s->squares);
		free(s->steps);
		free(s->meeting);
		free(o->members[t].bias);
	}
	free(o->members);
	free(o->away);
	free(o->place);
	free(o->x);
	free(o->room.back);
	free(o->room.total);
	free(o->room.sums);
	free(o->room.score);
	free(o->room.slope);
	free(o->room.linear);
	free(o->room.unit);
	free(o->room.entries);
	free(o);
}

/* --- a window --- */

static uint32_t seen_bit(uint32_t feature)
{
	return feature * 0x9e3779b1u >> (32 - SEEN_BITS);
}

static bool has_seen(const struct seen *s, uint32_t feature)
{
	uint32_t bit = seen_bit(feature);
	return s->bits[bit / 64] >> bit % 64 & 1;
}

/* Fills s; false when a feature is there twice. */
static bool note_features(struct seen *s, const struct ls_online_row *r)
{
	bool twice = false;
	memset(s, 0, sizeof *s);
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t bit = seen_bit(r->feature[i]);
		twice |= has_seen(s, r->feature[i]) &&
			 ls_online_find(r->feature, i, r->feature[i]) < i;
		s->bits[bit / 64] |= (uint64_t)1 << bit % 64;
	}
	return !twice;
}

static uint32_t block_of(const struct ls_online *o, uint32_t field)
{
	return ls_online_block(field, ls_online_line(o->m->padded));
}

/* Whether a feature of r is in another block of the row before it, whose features s has seen. Most
 * that they share are at the same place. */
static bool has_moved(const struct ls_online *o, const struct ls_online_row *r,
		      const struct seen *s, const struct ls_online_row *before)
{
	bool moved = false;
	for (uint32_t i = 0; i < r->n; i++) {
		if (!has_seen(s, r->feature[i]))
			continue;
		bool same = i < before->n && before->feature[i] == r->feature[i];
		uint32_t at = same ? i : ls_online_find(before->feature, before->n, r->feature[i]);
		moved |= at < before->n && before->field[at] != r->field[i] &&
			 block_of(o, before->field[at]) != block_of(o, r->field[i]);
	}
	return moved;
}

/* How to do row b. What the row before has is in w->seen, what this one has takes turns with it;
 * after a row that was done alone nobody has to wait. */
static enum way way_of(const struct ls_online *o, struct member *w, uint32_t b, bool after_alone)
{
	const struct ls_online_row *r = &o->row[b];
	bool rise = o->table.shared;
	for (uint32_t i = 1; i < r->n; i++)
		rise &= r->field[i - 1] < r->field[i];
	if (!rise || !note_features(&w->seen[b % 2], r))
		return ALONE;
	return !after_alone && has_moved(o, r, &w->seen[(b + 1) % 2], r - 1) ? AFTER : TOGETHER;
}

/* Entries of a row that threads share whose features are in another block than at home. */
static void find_away(const struct ls_online *o, struct ls_online_row *r)
{
	r->n_away = 0;
	if (!o->table.home)
		return;
	r->away = o->away + (size_t)(r - o->row) * o->m->n_fields;
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t home = ls_online_home(&o->table, r->feature[i]),
			 classes = o->table.classes;
		if (home == r->field[i])
			continue;
		uint32_t turn = ls_online_meet(block_of(o, home),
					       classes - block_of(o, r->field[i]), classes);
		if (turn)
			r->away[r->n_away++] = (struct ls_online_away){(uint8_t)i, (uint8_t)turn};
	}
}

INLINE void ask(const void *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 64)
		__builtin_prefetch((const char *)p + i);
}

/* Rows lo .. hi of the window, a thing at a time for all of them: memory has time to bring the
 * next. A row that cannot be is empty, as ls_ahead_find has it. */
static void find_rows(struct ls_online *o, const struct ls_order *order, uint32_t lo, uint32_t hi)
{
	const struct ls_rows *rows = o->rows;
	for (uint32_t b = lo; b < hi; b++) {
		uint64_t number = ls_order_row(order, b);
		o->row[b].number = number;
		__builtin_prefetch(rows->start + number);
		__builtin_prefetch(rows->label + number);
	}
	for (uint32_t b = lo; b < hi; b++) {
		struct ls_online_row *r = &o->row[b];
		uint64_t first = rows->start[r->number];
		r->feature = rows->feature + first;
		r->field = rows->field + first;
		r->x = rows->value ? rows->value + first : NULL;
		uint64_t n = rows->start[r->number + 1] - first;
		r->n = n <= o->longest ? (uint32_t)n : 0;
		ask(r->feature, r->n * sizeof *r->feature);
		ask(r->field, r->n * sizeof *r->field);
	}
}

/* Asks where the records of a row's features are. */
INLINE void ask_places(const struct ls_online *o, const struct ls_online_row *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		__builtin_prefetch(&o->table.front.place[r->feature[i]]);
}

/* From here on a row's features are the places of their records, and where these are at home is
 * asked for. */
INLINE void find_places(struct ls_online *o, struct ls_online_row *r)
{
	uint32_t *place = o->place + (size_t)(r - o->row) * o->longest;
	for (uint32_t i = 0; i < r->n; i++) {
		place[i] = o->table.front.place[r->feature[i]];
		if (o->table.home)
			__builtin_prefetch(&o->table.home[place[i]]);
	}
	r->feature = place;
}

static void finish_row(struct ls_online *o, uint32_t b, uint64_t step)
{
	struct ls_online_row *r = &o->row[b];
	find_places(o, r);
	r->label = o->rows->label[r->number];
	r->weight = ls_row_weight(&o->m->opts, o->rows, r->number, r->label);
	r->update = ls_fm_update(&o->m->opts, step, 1);
	if (o->has_x) {
		float *x = o->x + b * o->longest;
		ls_row_x(&o->m->opts, r->x, r->n, x);
		r->x = x;
	}
}

/* Rows of the window that begins with step, those of this thread. */
static void prepare(struct ls_online *o, int thread, uint64_t step, uint32_t n)
{
	struct member *w = &o->members[thread];
	struct ls_order order = ls_fm_order(&o->m->opts, o->rows->n_rows, step);
	uint64_t lo, hi;
	ls_pool_share(n, thread, o->at_work, &lo, &hi);
	find_rows(o, &order, (uint32_t)lo, (uint32_t)hi);
	for (uint32_t b = (uint32_t)lo; b < hi; b++)
		ask_places(o, &o->row[b]);
	for (uint32_t b = (uint32_t)lo; b < hi; b++)
		finish_row(o, b, step + b);
	/* the row before the thread's first is another thread's: it is known when all have found
	 * theirs */
	ls_pool_barrier(o->pool);
	bool alone = true;
	for (uint32_t b = lo ? (uint32_t)lo - 1 : 0; b < hi; b++) {
		enum way way = way_of(o, w, b, alone);
		alone = way == ALONE;
		if (b < lo)
			continue;
		o->way[b] = way;
		if (!alone)
			find_away(o, &o->row[b]);
	}
}

/* --- a row --- */

static void update_bias(struct member *w, const struct ls_online_row *r, float slope)
{
	struct ls_param p = {w->bias[0], w->bias[1], 0.0f}; /* AdaGrad, one output */
	p = ls_cell_adagrad_online(p, slope, &r->update);
	w->bias[0] = p.v;
	w->bias[1] = p.s1;
}

/* Finds a row's lines, and asks for its sums, which are wanted first after its score: together, and
 * while the others' parts are on their way. */
static void find_lines(const struct ls_online *o, struct member *w, const struct ls_online_row *r,
		       uint64_t number)
{
	struct ls_online_found *to = &w->lines[number % 2];
	const struct ls_online_part p = w->share.part;
	const uint32_t group = o->table.group, *feature = r->feature;
	float *base = o->m->linear;
	bool whole = r->n == o->m->n_fields;
	to->later = whole ? to->v : to->ask;
	for (uint32_t f = 0; f < o->m->n_fields && !whole; f++) {
		to->v[f] = NULL;
		to->ask[f] = base + p.start; /* this thread's own */
	}
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t f = whole ? i : r->field[i];
		to->v[f] = to->later[f] = ls_online_lines(base, group, p, feature[i]);
		to->sums[f] = p.sums + (size_t)feature[i] * p.room;
		__builtin_prefetch(to->sums[f], 1, 3);
	}
	for (uint32_t k = 0; k < r->n_away; k++)
		to->v[r->field[r->away[k].entry]] = w->share.copies + (size_t)k * p.each;
	w->found = number;
}

/* Says a member's parts of the score. While others' are on their way the next row's lines are
 * found, if there is one.
 */
static void say_parts(struct ls_online *o, struct member *w, const struct ls_online_row *r,
		      const struct ls_online_row *next, uint64_t number)
{
	struct said *mine = &w->said[number % 2];
	if (w->found != number)
		find_lines(o, w, r, number);
	o->kern->online_forward(&o->table, r, w->lines[number % 2].v, &w->share, mine->part);
	atomic_store_explicit(&mine->row, number, memory_order_release);
	if (next)
		find_lines(o, w, next, number + 1);
}

/* The score: all members' parts. */
static float score_of(const struct ls_online *o, const struct member *w, uint64_t number)
{
	float score = w->bias[0];
	for (int t = 0; t < o->n_members; t++) {
		const struct member *other = &o->members[t];
		const struct said *s = &other->said[number % 2];
		ls_pool_wait(o->pool, &s->row, number);
		for (uint32_t c = 0; c < other->share.part.n; c++)
			score += s->part[c];
	}
	return score;
}

/* The step of a row's parameters; its own lines are asked for where there is no next. */
static void update(const struct ls_online *o, const struct member *w, const struct ls_online_row *r,
		   const struct ls_online_row *next, uint64_t number, float slope)
{
	const struct ls_online_found *mine = &w->lines[number % 2],
				     *then = &w->lines[(number + (next != NULL)) % 2];
	o->kern->online_update(&o->table, r, mine, next ? next : r, then->later, &w->share, slope);
}

/* What comes after the score, for a member. False when it was not finite: all of them see that. */
static bool learn(struct ls_online *o, struct member *w, const struct ls_online_row *r,
		  const struct ls_online_row *next, uint64_t number)
{
	const struct ls_fm_opts *opts = &o->m->opts;
	float slope, score = score_of(o, w, number);
	float loss = ls_cell_row_loss((int)opts->task, opts->label_smoothing, &score, 1, r->label,
				      r->weight, &slope);
	if (ls_exp_of(score) == LS_EXP_INF || ls_exp_of(slope) == LS_EXP_INF ||
	    ls_exp_of(loss) == LS_EXP_INF) {
		if (w == o->members)
			o->bad = r->number;
		return false;
	}
	update(o, w, r, next, number, slope);
	update_bias(w, r, slope);
	w->loss += (double)loss;
	return true;
}

/* A thread's part of a row that all members with classes do: false when it was not finite. A next
 * row that is done alone is not looked at ahead: nobody has found out which of its features are
 * away from home. */
static bool do_together(struct ls_online *o, int thread, uint32_t b, uint32_t n, uint64_t number)
{
	const struct ls_online_row *r = &o->row[b],
				   *next = b + 1 < n && o->way[b + 1] != ALONE ? r + 1 : NULL;
	bool finite = true;
	for (int t = thread; t < o->n_members; t += o->at_work)
		say_parts(o, &o->members[t], r, next, number);
	for (int t = thread; t < o->n_members; t += o->at_work)
		finite &= learn(o, &o->members[t], r, next, number);
	return finite;
}

/* A row by thread 0. False when it was not finite. */
static bool alone(struct ls_online *o, struct member *w, const struct ls_online_row *r)
{
	bool finite = o->kern->online_alone(&o->table, r, &o->room);
	if (finite)
		w->loss += (double)o->room.loss;
	else
		o->bad = r->number;
	return finite;
}

/* Returns for all threads once the row is done. False when it was not finite. Whoever copies member
 * 0's bias has a member, for whose part of the next row thread 0 waits before it changes that
 * again. */
static bool do_alone(struct ls_online *o, int thread, const struct ls_online_row *r)
{
	ls_pool_barrier(o->pool);
	if (thread == 0 && o->bad == UINT64_MAX)
		alone(o, o->members, r);
	ls_pool_barrier(o->pool);
	for (int t = thread ? thread : o->at_work; t < o->n_members; t += o->at_work)
		memcpy(o->members[t].bias, o->members[0].bias,
		       sizeof(float) * ls_fm_linear_size(o->m));
	return o->bad == UINT64_MAX;
}

/* All rows of a window. After one that is not finite only the barriers are left. */
static void do_window(struct ls_online *o, int thread, uint32_t n, uint64_t number)
{
	bool on = true;
	if (!o->table.shared) {
		for (uint32_t b = 0; b < n && on && thread == 0; b++)
			on = alone(o, o->members, &o->row[b]);
		return;
	}
	for (uint32_t b = 0; b < n; b++) {
		if (o->way[b] == AFTER)
			ls_pool_barrier(o->pool);
		if (o->way[b] == ALONE)
			on = do_alone(o, thread, &o->row[b]) && on;
		else if (on)
			on = do_together(o, thread, b, n, number + b);
	}
}

static void start_members(struct ls_online *o, int thread)
{
	for (int t = thread; t < o->n_members; t += o->at_work) {
		memcpy(o->members[t].bias, o->m->bias, sizeof(float) * ls_fm_linear_size(o->m));
		o->members[t].loss = o->loss;
	}
}

static void steps_main(void *context, int thread, int threads)
{
	(void)threads;
	struct ls_online *o = context;
	uint64_t saved = ls_fp_enter(), end = o->first + o->n, per_epoch = o->rows->n_rows;
	start_members(o, thread);
	for (uint64_t step = o->first; step < end && o->bad == UINT64_MAX;) {
		uint64_t left = per_epoch - step % per_epoch,
			 n = end - step < left ? end - step : left;
		n = n < WINDOW ? n : WINDOW;
		prepare(o, thread, step, (uint32_t)n);
		ls_pool_barrier(o->pool);
		do_window(o, thread, (uint32_t)n, o->said + (step - o->first) + 1);
		ls_pool_barrier(o->pool);
		step += n;
	}
	if (thread == 0)
		memcpy(o->m->bias, o->members[0].bias, sizeof(float) * ls_fm_linear_size(o->m));
	ls_fp_leave(saved);
}

uint64_t ls_online_steps(struct ls_online *o, const struct ls_kern *kern, int threads,
			 uint64_t first, uint64_t n, double *loss)
{
	o->kern = kern;
	o->at_work = threads;
	o->first = first;
	o->n = n;
	o->loss = *loss;
	o->bad = UINT64_MAX;
	ls_online_spread(&o->table, o->pool);
	ls_pool_run_some(o->pool, threads, steps_main, o);
	o->said += n;
	if (o->bad == UINT64_MAX)
		*loss = o->members[0].loss;
	return o->bad;
}

void ls_online_fetch(struct ls_online *o)
{
	ls_online_gather(&o->table, o->pool);
}
