/* Reductions and what goes with them by name: exact/terms.h has the formulas. An operand
 * has the shape of the first one, strides of 0 where it is broadcast. A result has that
 * shape too, with size 1 in each dimension that is reduced. */
#include "exact/reduce_plan.h"

#include <string.h>

#include "exact/cuda/host/reduce_cuda.h"
#include "exact/op/family.h"
#include "exact/op/tensor.h"

_Static_assert((int)LS_REDUCE_I64 == (int)LS_EXACT_I64 && (int)LS_REDUCE_F16 == (int)LS_EXACT_F16,
	       "exact/reduce.h repeats the types of lockstep.h");

enum divide { BY_NOTHING, BY_COUNT, BY_COUNT_LESS, BY_NUMBER };

/* X(id, name, tensors, numbers, term, result, divisor) */
#define OPERATIONS(X)                                                                              \
	X(SUM, "sum", "x >out", "", LS_TERM_SUM, LS_AS_SUM, BY_NOTHING)                            \
	X(MEAN, "mean", "x >out", "", LS_TERM_SUM, LS_AS_MEAN, BY_COUNT)                           \
	X(NORM1, "norm1", "x >out", "", LS_TERM_ABS, LS_AS_SUM, BY_NOTHING)                        \
	X(NORM2, "norm2", "x >out", "", LS_TERM_SQUARE, LS_AS_ROOT, BY_NOTHING)                    \
	X(NORM_INF, "norm_inf", "x >out", "", LS_TERM_PEAK, LS_AS_SUM, BY_NOTHING)                 \
	X(SQUARES, "sum_squares", "x >out", "", LS_TERM_SQUARE, LS_AS_SUM, BY_NOTHING)             \
	X(AMAX, "amax", "x >out", "", LS_TERM_LARGEST, LS_AS_SUM, BY_NOTHING)                      \
	X(AMIN, "amin", "x >out", "", LS_TERM_LEAST, LS_AS_SUM, BY_NOTHING)                        \
	X(ARGMAX, "argmax", "x >index", "", LS_TERM_AT_LARGEST, LS_AS_SUM, BY_NOTHING)             \
	X(ARGMIN, "argmin", "x >index", "", LS_TERM_AT_LEAST, LS_AS_SUM, BY_NOTHING)               \
	X(VAR, "var", "x >out [>mean]", "correction", LS_TERM_MOMENTS, LS_AS_VAR, BY_COUNT_LESS)   \
	X(STD, "std", "x >out [>mean]", "correction", LS_TERM_MOMENTS, LS_AS_STD, BY_COUNT_LESS)   \
	X(STATISTICS, "batch_norm_stats", "x >mean >invstd [>running_mean] [>running_var]",        \
	  "eps momentum", LS_TERM_MOMENTS, LS_AS_NORM, BY_COUNT)                                   \
	X(GRADS, "norm_grads", "g x mean invstd >sum_g >sum_gx", "", LS_TERM_GRADS, LS_AS_SUM,     \
	  BY_NOTHING)                                                                              \
	X(GAINS, "rms_norm_grads", "g x invrms >sum_gx", "", LS_TERM_GAINS, LS_AS_SUM, BY_NOTHING) \
	X(RATIO, "ratio_of_sums", "x y >ratio >sum_y", "", LS_TERM_PAIR, LS_AS_RATIO, BY_NOTHING)  \
	X(MSE, "mse_loss", "x y >out", "divisor", LS_TERM_MSE, LS_AS_MEAN, BY_NUMBER)              \
	X(L1, "l1_loss", "x y >out", "divisor", LS_TERM_L1, LS_AS_MEAN, BY_NUMBER)                 \
	X(SMOOTH, "smooth_l1_loss", "x y >out", "divisor beta", LS_TERM_SMOOTH, LS_AS_MEAN,        \
	  BY_NUMBER)                                                                               \
	X(HUBER, "huber_loss", "x y >out", "divisor delta", LS_TERM_HUBER, LS_AS_MEAN, BY_NUMBER)  \
	X(BCE, "bce", "x y [weight] >out", "divisor", LS_TERM_BCE, LS_AS_MEAN, BY_NUMBER)          \
	X(LOGITS, "bce_with_logits", "x y [weight] [pos_weight] >out", "divisor", LS_TERM_LOGITS,  \
	  LS_AS_MEAN, BY_NUMBER)                                                                   \
	X(KL, "kl_div", "log_q p >out", "divisor", LS_TERM_KL, LS_AS_MEAN, BY_NUMBER)              \
	X(KL_LOG, "kl_div_log", "log_q log_p >out", "divisor", LS_TERM_KL_LOG, LS_AS_MEAN,         \
	  BY_NUMBER)                                                                               \
	X(NORMAL, "batch_norm", "~x mean invstd [weight] [bias] >out", "", LS_MAP_NORMAL,          \
	  LS_AS_SUM, BY_NOTHING)                                                                   \
	X(INVERSE, "inverse_std", "~var >out", "eps", LS_MAP_INVERSE, LS_AS_SUM, BY_NOTHING)       \
	X(BACK, "batch_norm_back", "~g x mean invstd [weight] [sum_g] [sum_gx] >out", "n",         \
	  LS_MAP_BACK, LS_AS_SUM, BY_NOTHING)                                                      \
	X(MSE_BACK, "mse_loss_back", "~x ~y g >out", "divisor", LS_MAP_MSE, LS_AS_SUM, BY_NOTHING) \
	X(L1_BACK, "l1_loss_back", "~x ~y g >out", "divisor", LS_MAP_L1, LS_AS_SUM, BY_NOTHING)    \
	X(SMOOTH_BACK, "smooth_l1_loss_back", "~x ~y g >out", "divisor beta", LS_MAP_SMOOTH,       \
	  LS_AS_SUM, BY_NOTHING)                                                                   \
	X(HUBER_BACK, "huber_loss_back", "~x ~y g >out", "divisor delta", LS_MAP_HUBER, LS_AS_SUM, \
	  BY_NOTHING)                                                                              \
	X(BCE_BACK, "bce_back", "~x ~y g [weight] >out", "divisor", LS_MAP_BCE, LS_AS_SUM,         \
	  BY_NOTHING)                                                                              \
	X(LOGITS_BACK, "bce_with_logits_back", "~x ~y g [weight] [pos_weight] >out", "divisor",    \
	  LS_MAP_LOGITS, LS_AS_SUM, BY_NOTHING)

#define ID(id, name, tensors, numbers, term, result, divisor) id,
enum { OPERATIONS(ID) COUNT };
#undef ID

#define ROW(id, name, tensors, numbers, term, result, divisor) {name, tensors, numbers, id},
static const struct ls_exact_op_row rows[] = {OPERATIONS(ROW){NULL, NULL, NULL, 0}};
#undef ROW

static const struct {
	int term, result;
	enum divide divisor;
} how[] = {
#define HOW(id, name, tensors, numbers, term, result, divisor) {term, result, divisor},
	OPERATIONS(HOW)
#undef HOW
};

static int term_of(const struct ls_exact_call *c)
{
	return how[c->row->kind].term;
}

static size_t inputs_of(const struct ls_exact_call *c)
{
	return (size_t)ls_term_operands(term_of(c));
}

/* --- checks --- */

static int check_input(const struct ls_exact_call *c, size_t i, struct ls_err *err)
{
	const struct ls_exact_tensor *x = &c->tensor[i];
	if (!ls_exact_same_shape(x, &c->tensor[0]))
		return ls_exact_refuse(
			c, i, err,
			"has another shape than the first; broadcast it by strides of 0");
	if (!ls_exact_is_float(x->type))
		return ls_exact_refuse(c, i, err, "is %s; float32, bfloat16 or float16 is needed",
				       ls_exact_type_name(x->type));
	return 0;
}

static int check_output(const struct ls_exact_call *c, size_t i, struct ls_err *err)
{
	const struct ls_exact_tensor *x = &c->tensor[i], *first = &c->tensor[0];
	const struct ls_exact_tensor *out = &c->tensor[inputs_of(c)];
	bool index = ls_term_is_index(term_of(c));
	if (index ? x->type != LS_EXACT_I64 : !ls_exact_is_float(x->type))
		return ls_exact_refuse(c, i, err, "is %s; %s is needed",
				       ls_exact_type_name(x->type),
				       index ? "int64" : "float32, bfloat16 or float16");
	bool fits = x->ndim == first->ndim && ls_exact_same_shape(x, out);
	for (int d = 0; fits && d < x->ndim; d++)
		fits = x->size[d] == first->size[d] || x->size[d] == 1;
	if (!fits)
		return ls_exact_refuse(c, i, err,
				       "does not have the first one's shape with size 1 where it "
				       "is reduced");
	return 0;
}

static void set_operands(const struct ls_exact_call *c, struct ls_reduce *r)
{
	static const float fill[LS_TERMS][LS_TERM_OPERANDS] = {
		[LS_TERM_BCE] = {[2] = 1.0f},   [LS_TERM_LOGITS] = {[2] = 1.0f, [3] = 1.0f},
		[LS_MAP_NORMAL] = {[3] = 1.0f}, [LS_MAP_BACK] = {[4] = 1.0f},
		[LS_MAP_BCE] = {[3] = 1.0f},    [LS_MAP_LOGITS] = {[3] = 1.0f, [4] = 1.0f},
	};
	size_t inputs = inputs_of(c);
	for (size_t k = 0; k < inputs; k++)
		r->in[k] = (struct ls_reduce_in){
			.at = c->tensor[k].at, .type = c->tensor[k].type, .fill = fill[r->kind][k]};
	for (size_t k = 0; inputs + k < c->tensors; k++)
		r->out[k] = (struct ls_reduce_out){.at = c->tensor[inputs + k].at,
						   .type = c->tensor[inputs + k].type};
}

static void set_numbers(const struct ls_exact_call *c, struct ls_reduce *r)
{
	double given[2] = {0, 0}, n = (double)r->reduced;
	for (size_t i = 0; i < c->numbers; i++)
		given[i] = c->number[i];
	enum divide by = how[c->row->kind].divisor;
	r->finish = (struct ls_finish_conf){.how = how[c->row->kind].result,
					    .divisor = n,
					    .eps = given[0],
					    .momentum = given[1],
					    .unbiased = n - 1.0};
	if (by == BY_COUNT_LESS)
		r->finish.divisor = n > given[0] ? n - given[0] : 0.0;
	if (by == BY_NUMBER)
		r->finish.divisor = given[0];
	/* number[0] is what a formula needs, number[1] what a slope is divided by */
	bool divided = strncmp(c->row->numbers, "divisor", 7) == 0;
	r->number[0] = divided ? given[1] : given[0];
	r->number[1] = divided ? given[0] : 1.0;
}

static int describe(const struct ls_exact_call *c, struct ls_reduce *ret, struct ls_err *err)
{
	struct ls_reduce_axis axes[LS_REDUCE_AXES] = {0};
	const struct ls_exact_tensor *x = &c->tensor[0], *out = &c->tensor[inputs_of(c)];
	struct ls_reduce r = {.kind = term_of(c)};
	set_operands(c, &r);
	for (int d = 0; d < x->ndim; d++) {
		axes[d].size = x->size[d];
		axes[d].reduced = out->size[d] != x->size[d];
		for (size_t k = 0; k < inputs_of(c); k++)
			axes[d].in[k] = c->tensor[k].at ? c->tensor[k].stride[d] : 0;
		/* a result's stride along what is reduced, where its size is 1, says nothing */
		for (size_t k = 0; inputs_of(c) + k < c->tensors; k++)
			axes[d].out[k] = r.out[k].at && !axes[d].reduced
						 ? c->tensor[inputs_of(c) + k].stride[d]
						 : 0;
	}
	int rc = ls_reduce_plan(&r, axes, x->ndim, err);
	if (rc)
		return rc;
	set_numbers(c, &r);
	*ret = r;
	return 0;
}

static int check(const struct ls_exact_call *c, struct ls_err *err)
{
	size_t inputs = inputs_of(c);
	struct ls_reduce r;
	for (size_t i = 0; i < c->tensors; i++) {
		bool optional = i > 0 && i != inputs;
		if (!c->tensor[i].at && optional)
			continue;
		int rc = i < inputs ? check_input(c, i, err) : check_output(c, i, err);
		if (rc)
			return rc;
	}
	return describe(c, &r, err);
}

static int cpu(const struct ls_exact_call *c, struct ls_err *err)
{
	struct ls_reduce r;
	int rc = describe(c, &r, err);
	return rc ? rc : ls_reduce_cpu(&r, c->where->threads, c->where->isa, err);
}

static int scratch(const struct ls_exact_call *c, size_t *ret, struct ls_err *err)
{
	struct ls_reduce r;
	int rc = describe(c, &r, err);
	if (!rc && c->where->device == LS_EXACT_CUDA)
		*ret = ls_reduce_cuda_scratch(&r);
	return rc;
}

static int cuda(const struct ls_exact_call *c, struct ls_exact_context *context, struct ls_err *err)
{
	struct ls_reduce r;
	int rc = describe(c, &r, err);
	return rc ? rc : ls_reduce_cuda(context, &r, c->where->scratch, c->where->stream, err);
}

const struct ls_exact_family ls_exact_family_reduce = {rows, check, scratch, cpu, cuda};
