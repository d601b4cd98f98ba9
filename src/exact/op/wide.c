/* Random numbers, dropout, casts and the search for what is not finite, by name:
 * exact/wide.h has the formulas. */
#include <string.h>

#include "exact/cpu/threads.h"
#include "exact/cpu/wide.h"
#include "exact/op/family.h"
#include "exact/op/tensor.h"

enum { PART = 1 << 14 /* elements of a task */, THREADS = 256, GROUP = 4 };
enum { NOT_FINITE = LS_WIDE_RANDPERM + 1 };

/* The last four numbers of what is random. seed: its two halves of 32 bits. */
#define KEY "seed_low seed_high call first"

static const struct ls_exact_op_row rows[] = {
	{"cast", "a >out", "", LS_WIDE_CAST},
	{"rand", ">out", "from to " KEY, LS_WIDE_RAND},
	{"randn", ">out", "mean deviation " KEY, LS_WIDE_RANDN},
	{"randint", ">out", "from many " KEY, LS_WIDE_RANDINT},
	{"bernoulli", ">out", "probability " KEY, LS_WIDE_BERNOULLI},
	{"bernoulli_tensor", "probability >out", KEY, LS_WIDE_BERNOULLI_TENSOR},
	{"dropout", "~a >out >kept", "probability " KEY, LS_WIDE_DROPOUT},
	{"randperm", ">out", "many " KEY, LS_WIDE_RANDPERM},
	{"not_finite", "a >found", "", NOT_FINITE},
	{NULL, NULL, NULL, 0},
};

static int inputs_of(const struct ls_exact_call *c)
{
	return !ls_exact_is_written(c->row, 0);
}

/* --- checks --- */

static int refuse_number(const struct ls_exact_call *c, size_t i, struct ls_err *err)
{
	char word[64];
	return ls_err_set(err, LS_EINPUT, "%s: %g is no value for %s", c->row->name, c->number[i],
			  ls_exact_word(c->row->numbers, i, word, sizeof word));
}

static bool is_whole(double x, double below)
{
	return x >= 0 && x < below && (double)(uint64_t)x == x;
}

static int check_key(const struct ls_exact_call *c, struct ls_err *err)
{
	const double below[] = {0x1p32, 0x1p32, 0x1p53, 0x1p53};
	for (size_t i = 0; i < 4; i++)
		if (!is_whole(c->number[c->numbers - 4 + i], below[i]))
			return refuse_number(c, c->numbers - 4 + i, err);
	return 0;
}

static int check_numbers(const struct ls_exact_call *c, struct ls_err *err)
{
	const double *n = c->number;
	switch (c->row->kind) {
	case LS_WIDE_BERNOULLI:
	case LS_WIDE_DROPOUT:
		return n[0] >= 0 && n[0] <= 1 ? 0 : refuse_number(c, 0, err);
	case LS_WIDE_RANDINT:
		if (!is_whole(n[0] < 0 ? -n[0] : n[0], 0x1p53))
			return refuse_number(c, 0, err);
		return n[1] >= 1 && is_whole(n[1], 0x1p53) ? 0 : refuse_number(c, 1, err);
	case LS_WIDE_RANDPERM:
		/* its elements are `first` to first + count of the whole permutation */
		if (!is_whole(n[0], 0x1p40 + 1) ||
		    n[4] + (double)ls_exact_count(&c->tensor[0]) > n[0])
			return refuse_number(c, 0, err);
		return 0;
	default:
		return 0;
	}
}

static int check_types(const struct ls_exact_call *c, struct ls_err *err)
{
	const int kind = c->row->kind, in = inputs_of(c), out = c->tensor[in].type;
	const bool whole = out == LS_EXACT_I64 || out == LS_EXACT_I32;
	if (in && kind != LS_WIDE_CAST && !ls_exact_is_float(c->tensor[0].type))
		return ls_exact_refuse(c, 0, err, "is %s, not float32 or a half precision",
				       ls_exact_type_name(c->tensor[0].type));
	if (kind == NOT_FINITE && (out != LS_EXACT_F32 || ls_exact_count(&c->tensor[1]) != 1))
		return ls_exact_refuse(c, 1, err, "is not one float32");
	if (kind == LS_WIDE_DROPOUT &&
	    (c->tensor[2].type != LS_EXACT_BOOL || !ls_exact_is_float(out)))
		return ls_exact_refuse(
			c, ls_exact_is_float(out) ? 2 : 1, err, "is %s",
			ls_exact_type_name(ls_exact_is_float(out) ? c->tensor[2].type : out));
	bool random_float = kind == LS_WIDE_RAND || kind == LS_WIDE_RANDN;
	if (random_float && !ls_exact_is_float(out) && out != LS_EXACT_F64)
		return ls_exact_refuse(c, 0, err, "is %s", ls_exact_type_name(out));
	if (kind == LS_WIDE_RANDPERM && !whole)
		return ls_exact_refuse(c, 0, err, "is %s, not int64 or int32",
				       ls_exact_type_name(out));
	/* whole numbers beyond 2^53 do not survive binary64 */
	if (kind == LS_WIDE_CAST && (whole || out == LS_EXACT_F64) &&
	    c->tensor[0].type == LS_EXACT_I64)
		return ls_exact_refuse(c, 1, err, "is %s, to which int64 is not cast here",
				       ls_exact_type_name(out));
	return kind == LS_WIDE_CAST && out == LS_EXACT_U8
		       ? ls_exact_refuse(c, 1, err, "is uint8, to which nothing is cast here")
		       : 0;
}

static int check(const struct ls_exact_call *c, struct ls_err *err)
{
	int rc = check_types(c, err);
	for (size_t i = 0; i < c->tensors && !rc && c->row->kind != NOT_FINITE; i++)
		if (!ls_exact_same_shape(&c->tensor[i], &c->tensor[0]))
			rc = ls_exact_refuse(c, i, err, "has another shape than the first");
	if (!rc)
		rc = check_numbers(c, err);
	return rc || c->numbers < 4 ? rc : check_key(c, err);
}

/* --- description --- */

static bool can_merge(const struct ls_wide *w, const struct ls_exact_tensor *x, int d)
{
	for (int k = 0; k < w->inputs + w->outputs; k++)
		if (w->t[k].stride[w->ndim - 1] != x[k].stride[d] * x[k].size[d])
			return false;
	return true;
}

/* Dimensions stay in their order, which numbers the elements. */
static void take_shape(struct ls_wide *w, const struct ls_exact_tensor *x)
{
	for (int d = 0; d < x->ndim; d++) {
		if (x->size[d] == 1)
			continue;
		bool merge = w->ndim > 0 && can_merge(w, x, d);
		int to = merge ? w->ndim - 1 : w->ndim++;
		w->size[to] = merge ? w->size[to] * x->size[d] : x->size[d];
		for (int k = 0; k < w->inputs + w->outputs; k++)
			w->t[k].stride[to] = x[k].stride[d];
	}
}

static void take_key(struct ls_wide *w, const double *key)
{
	uint64_t seed = (uint64_t)key[1] << 32 | (uint64_t)key[0];
	w->key = ls_epoch_key(seed, LS_EXACT_PURPOSE, (uint64_t)key[2]);
	w->first = (uint64_t)key[3];
}

/* Whether a GPU can move four elements of each tensor at a time, which share their random
 * words. */
static bool can_vector(const struct ls_wide *w)
{
	if (w->ndim > 1 || w->first % GROUP)
		return false;
	for (int k = 0; k < w->inputs + w->outputs; k++) {
		const struct ls_elem_tensor *x = &w->t[k];
		uintptr_t size = ls_exact_type_size(x->type), group = size * GROUP;
		bool known = ls_exact_is_float(x->type) || x->type == LS_EXACT_BOOL;
		if (!known || (w->ndim && x->stride[0] != 1) || (uintptr_t)x->at % group)
			return false;
	}
	return true;
}

static struct ls_wide describe(const struct ls_exact_call *c)
{
	const struct ls_exact_tensor *x = c->tensor;
	struct ls_wide w = {.kind = c->row->kind, .inputs = inputs_of(c)};
	bool found = w.kind == NOT_FINITE;
	w.outputs = found ? 0 : (int)c->tensors - w.inputs;
	for (size_t k = 0; k < c->tensors; k++) {
		w.t[k].at = x[k].at;
		w.t[k].type = x[k].type;
	}
	take_shape(&w, x);
	w.count = ls_exact_count(x);
	if (c->numbers >= 4)
		take_key(&w, c->number + c->numbers - 4);
	for (size_t i = 0; i + 4 < c->numbers; i++)
		w.number[i] = c->number[i];
	w.vectors = can_vector(&w);
	if (w.kind == LS_WIDE_DROPOUT) /* nothing is left of 1 / 0, and nothing is scaled */
		w.number[1] = w.number[0] < 1 ? 1 / (1 - w.number[0]) : 0;
	if (w.kind == LS_WIDE_RANDPERM)
		ls_perm_init(&w.perm, w.key, (uint64_t)(w.number[0] < 1 ? 1 : w.number[0]));
	return w;
}

/* --- where --- */

static void part(void *context, int64_t from, int64_t to)
{
	ls_wide_part(context, from, to);
}

static bool has_infinity(const struct ls_wide *w)
{
	for (int64_t i = 0; i < w->count; i++) {
		int64_t at = ls_elem_locate(w->ndim, w->size, w->t[0].stride, i);
		float x = ls_elem_load(w->t[0].at, w->t[0].type, at);
		if ((ls_bits_f(x) & 0x7f800000u) == 0x7f800000u)
			return true;
	}
	return false;
}

static int cpu(const struct ls_exact_call *c, struct ls_err *err)
{
	struct ls_wide w = describe(c);
	(void)err;
	if (w.kind != NOT_FINITE)
		ls_exact_threads_run(c->where->threads, w.count, PART, part, &w);
	else if (has_infinity(&w))
		*(float *)w.t[1].at = 1.0f;
	return 0;
}

static int cuda(const struct ls_exact_call *c, struct ls_exact_context *context, struct ls_err *err)
{
	struct ls_wide w = describe(c);
	if (w.count == 0)
		return 0;
	struct ls_gpu_shape shape = {
		.grid = {ls_exact_context_blocks(context, w.count, THREADS, GROUP)},
		.block = {THREADS}};
	const char *kernel = w.kind == NOT_FINITE ? "exact_not_finite" : "exact_wide";
	return ls_exact_context_launch(context, c->where->stream, "exact_wide", kernel, &shape,
				       (void *[]){&w}, err);
}

const struct ls_exact_family ls_exact_family_wide = {rows, check, NULL, cpu, cuda};
