#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "exact/cpu/reduce_kern.h"
#include "exact/cpu/threads.h"
#include "exact/reduce_plan.h"
#include "num/num.h"

enum {
	WIDTH = LS_REDUCE_WIDTH,
	SERIAL = 1 << 14, /* fewer elements do not pay for waking threads */
	MOST_SPLITS = 64, /* of the elements of an output */
};

enum { BOUNDS, SUMS };

struct job {
	const struct ls_reduce *r;
	const struct ls_reduce_kern *kern;
	bool across;           /* outputs lie side by side in memory, rather than their elements */
	int64_t splits, width; /* of the elements of an output; outputs of a task */
	struct ls_sum_state *state; /* splits × kept, if there is more than one */
	struct ls_grids *grids;     /* of each output, likewise */
	int half;
};

/* --- reading --- */

static size_t size_of(int type)
{
	return type == LS_REDUCE_F32 ? sizeof(float) : sizeof(uint16_t);
}

static void read_operand(const struct job *j, int k, int64_t at, int64_t stride, int n, float *ret)
{
	const struct ls_reduce_in *in = &j->r->in[k];
	if (in->at) {
		const char *from = (const char *)in->at + at * (int64_t)size_of(in->type);
		j->kern->fetch(from, in->type, stride, n, ret);
		return;
	}
	for (int i = 0; i < n; i++)
		ret[i] = in->fill;
}

/* n elements: along the last kept dimension from output i, or along the last reduced one
 * from element l. */
static void read_elements(const struct job *j, int64_t i, int64_t l, int n, bool along_kept,
			  struct ls_reduce_elements *e)
{
	const struct ls_reduce *r = j->r;
	e->n = n;
	e->index = l;
	for (int k = 0; k < ls_term_operands(r->kind); k++) {
		const struct ls_reduce_in *in = &r->in[k];
		int64_t at = ls_reduce_offset(i, r->kept_dims, r->kept_size, in->kept) +
			     ls_reduce_offset(l, r->reduced_dims, r->reduced_size, in->reduced);
		int dims = along_kept ? r->kept_dims : r->reduced_dims;
		const int64_t *stride = along_kept ? in->kept : in->reduced;
		read_operand(j, k, at, dims ? stride[dims - 1] : 0, n, e->v[k]);
	}
}

/* How many of [at, end) follow each other along the last dimension. */
static int run_of(int64_t at, int64_t end, int dims, const int64_t *size)
{
	int64_t n = end - at < WIDTH ? end - at : WIDTH;
	int64_t rest = dims ? size[dims - 1] - at % size[dims - 1] : 1;
	return (int)(n < rest ? n : rest);
}

/* --- an output after the other --- */

static void half_along(const struct job *j, int64_t i, int64_t from, int64_t to, int half,
		       const struct ls_grids *g, struct ls_sum_state *s)
{
	const struct ls_reduce *r = j->r;
	struct ls_reduce_elements e;
	for (int64_t l = from; l < to; l += e.n) {
		read_elements(j, i, l, run_of(l, to, r->reduced_dims, r->reduced_size), false, &e);
		if (half == BOUNDS)
			j->kern->bounds(r, &e, s);
		else
			j->kern->sums(r, &e, g, s);
	}
}

static void whole_along(const struct job *j, int64_t i)
{
	const struct ls_reduce *r = j->r;
	struct ls_sum_state s = {0};
	half_along(j, i, 0, r->reduced, BOUNDS, NULL, &s);
	if (!ls_term_is_key(r->kind)) {
		struct ls_grids g = ls_grids_of(r->kind, &s, r->reduced);
		half_along(j, i, 0, r->reduced, SUMS, &g, &s);
	}
	ls_reduce_finish(r, i, &s);
}

/* --- outputs side by side --- */

static void half_across(const struct job *j, int64_t i, int n, int64_t from, int64_t to, int half,
			struct ls_reduce_block *b)
{
	struct ls_reduce_elements e;
	for (int64_t l = from; l < to; l++) {
		read_elements(j, i, l, n, true, &e);
		if (half == BOUNDS)
			j->kern->bounds_across(j->r, &e, b);
		else
			j->kern->sums_across(j->r, &e, b);
	}
}

static void clear_block(struct ls_reduce_block *b)
{
	memset(b->sum, 0, sizeof b->sum);
	memset(b->top, 0, sizeof b->top);
	memset(b->flags, 0, sizeof b->flags);
	memset(b->pivot, 0, sizeof b->pivot);
}

static struct ls_sum_state state_of(const struct ls_reduce_block *b, int i)
{
	return (struct ls_sum_state){
		{b->sum[0][i], b->sum[1][i]}, {b->top[0][i], b->top[1][i]}, b->flags[i], 0};
}

static void set_grid(struct ls_reduce_block *b, int i, const struct ls_grids *g)
{
	b->pivot[i] = g->pivot;
	b->scale[0][i] = g->scale[0];
	b->scale[1][i] = g->scale[1];
}

/* From the bounds, of n results. */
static void set_grids(const struct ls_reduce *r, int n, struct ls_reduce_block *b)
{
	for (int k = 0; k < n; k++) {
		struct ls_sum_state s = state_of(b, k);
		struct ls_grids g = ls_grids_of(r->kind, &s, r->reduced);
		set_grid(b, k, &g);
	}
}

static void whole_across(const struct job *j, int64_t i, int n)
{
	const struct ls_reduce *r = j->r;
	struct ls_reduce_block b;
	clear_block(&b);
	half_across(j, i, n, 0, r->reduced, BOUNDS, &b);
	if (!ls_term_is_key(r->kind)) {
		set_grids(r, n, &b);
		half_across(j, i, n, 0, r->reduced, SUMS, &b);
	}
	for (int k = 0; k < n; k++) {
		struct ls_sum_state s = state_of(&b, k);
		ls_reduce_finish(r, i + k, &s);
	}
}

/* --- maps --- */

static void map(const struct job *j, int64_t i, int n)
{
	const struct ls_reduce_out *out = &j->r->out[0];
	struct ls_reduce_elements e;
	double t[WIDTH];
	read_elements(j, i, 0, n, true, &e);
	j->kern->map(j->r, &e, t);
	int64_t at = ls_reduce_offset(i, j->r->kept_dims, j->r->kept_size, out->kept);
	int64_t stride = j->r->kept_dims ? out->kept[j->r->kept_dims - 1] : 0;
	for (int k = 0; k < n; k++)
		ls_reduce_put(out->at, out->type, at + k * stride, t[k]);
}

/* --- tasks: WIDTH outputs, and all their elements --- */

static void whole_task(void *context, int64_t task, int64_t end_task)
{
	const struct job *j = context;
	(void)end_task; /* one at a time */
	const struct ls_reduce *r = j->r;
	int64_t i = task * j->width, end = i + j->width < r->kept ? i + j->width : r->kept;
	for (int n; i < end; i += n) {
		n = run_of(i, end, r->kept_dims, r->kept_size);
		if (ls_term_is_map(r->kind))
			map(j, i, n);
		else if (j->across)
			whole_across(j, i, n);
		else
			for (int k = 0; k < n; k++)
				whole_along(j, i + k);
	}
}

/* --- tasks: WIDTH outputs, and a part of their elements --- */

static void part_across(const struct job *j, int64_t i, int n, int64_t from, int64_t to,
			struct ls_sum_state *state)
{
	struct ls_reduce_block b;
	clear_block(&b);
	for (int k = 0; j->half == SUMS && k < n; k++)
		set_grid(&b, k, &j->grids[i + k]);
	half_across(j, i, n, from, to, j->half, &b);
	for (int k = 0; k < n; k++)
		state[i + k] = state_of(&b, k);
}

static void part_task(void *context, int64_t task, int64_t end_task)
{
	const struct job *j = context;
	(void)end_task;
	const struct ls_reduce *r = j->r;
	int64_t split = task % j->splits, i = task / j->splits * j->width;
	int64_t end = i + j->width < r->kept ? i + j->width : r->kept;
	int64_t size = (r->reduced + j->splits - 1) / j->splits, from = split * size;
	int64_t to = from + size < r->reduced ? from + size : r->reduced;
	struct ls_sum_state *state = j->state + split * r->kept;
	for (int n; i < end; i += n) {
		n = run_of(i, end, r->kept_dims, r->kept_size);
		if (j->across)
			part_across(j, i, n, from, to, state);
		else
			for (int k = 0; k < n; k++)
				half_along(j, i + k, from, to, j->half,
					   j->grids ? &j->grids[i + k] : NULL, &state[i + k]);
	}
}

static void add_state(int kind, struct ls_sum_state *to, const struct ls_sum_state *from)
{
	if (ls_term_is_key(kind)) {
		if (from->top[0] > to->top[0] ||
		    (from->top[0] == to->top[0] && from->sum[0] > to->sum[0]))
			*to = *from;
		return;
	}
	for (int k = 0; k < 2; k++) {
		to->top[k] = from->top[k] > to->top[k] ? from->top[k] : to->top[k];
		to->sum[k] += from->sum[k];
	}
	to->flags |= from->flags;
}

/* The states of all splits into those of the first; the others become empty. */
static void merge_states(const struct job *j)
{
	for (int64_t s = 1; s < j->splits; s++)
		for (int64_t i = 0; i < j->r->kept; i++)
			add_state(j->r->kind, &j->state[i], &j->state[s * j->r->kept + i]);
	memset(j->state + j->r->kept, 0, sizeof *j->state * (size_t)((j->splits - 1) * j->r->kept));
}

static int in_parts(struct job *j, int threads, int64_t tasks, struct ls_err *err)
{
	const struct ls_reduce *r = j->r;
	size_t n = (size_t)r->kept;
	struct ls_sum_state *bound = ls_alloc_array(n, sizeof *bound);
	struct ls_grids *grids = ls_alloc_array(n, sizeof *grids);
	j->state = ls_alloc_array(n * (size_t)j->splits, sizeof *j->state);
	int rc = bound && grids && j->state
			 ? 0
			 : ls_err_set(err, LS_ENOMEM, "no memory is left for a reduction");
	if (!rc) {
		memset(j->state, 0, sizeof *j->state * n * (size_t)j->splits);
		ls_exact_threads_run(threads, tasks, 1, part_task, j);
		merge_states(j);
		memcpy(bound, j->state, sizeof *bound * n);
	}
	if (!rc && !ls_term_is_key(r->kind)) {
		for (size_t i = 0; i < n; i++)
			grids[i] = ls_grids_of(r->kind, &bound[i], r->reduced);
		memset(j->state, 0, sizeof *j->state * n);
		j->half = SUMS;
		j->grids = grids;
		ls_exact_threads_run(threads, tasks, 1, part_task, j);
		merge_states(j);
		for (size_t i = 0; i < n; i++) {
			bound[i].sum[0] = j->state[i].sum[0];
			bound[i].sum[1] = j->state[i].sum[1];
		}
	}
	for (size_t i = 0; !rc && i < n; i++)
		ls_reduce_finish(r, (int64_t)i, &bound[i]);
	free(bound);
	free(grids);
	free(j->state);
	return rc;
}

/* --- the way through memory --- */

/* Outputs of a task: many where each has few elements. */
static int64_t width_of(const struct job *j)
{
	int64_t n = j->across || j->r->reduced < 1 ? WIDTH : SERIAL / j->r->reduced;
	return n < 1 ? 1 : n > WIDTH ? WIDTH : n;
}

static int run(struct job *j, int threads, struct ls_err *err)
{
	const struct ls_reduce *r = j->r;
	j->width = width_of(j);
	int64_t tasks = (r->kept + j->width - 1) / j->width, most = MOST_SPLITS;
	if (threads < 1 || r->kept * r->reduced < SERIAL)
		threads = 1;
	j->splits = tasks ? threads * 2 / tasks : 1;
	j->splits = j->splits < most ? j->splits : most;
	if (j->splits > 1 && !ls_term_is_map(r->kind))
		return in_parts(j, threads, tasks * j->splits, err);
	ls_exact_threads_run(threads, tasks, 1, whole_task, j);
	return 0;
}

int ls_reduce_cpu(const struct ls_reduce *r, int threads, const char *isa, struct ls_err *err)
{
	const struct ls_exact_kern *kern = ls_exact_kern_find(isa);
	if (!kern)
		return ls_err_set(err, LS_EINPUT, "this processor has no instruction set %s", isa);
	struct job j = {.r = r, .kern = kern->reduce, .across = ls_reduce_is_across(r)};
	uint64_t saved = ls_fp_enter();
	int rc = run(&j, threads, err);
	ls_fp_leave(saved);
	return rc;
}
