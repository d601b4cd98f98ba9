#include "fm/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/huge_pages.h"
#include "base/limits.h"
#include "base/mem.h"
#include "fm/model/cell.h"
#include "num/num.h"
#include "num/philox.h"

enum { PURPOSE_INIT = 1 };

static int set_sizes(struct ls_fm_model *m, struct ls_err *err)
{
	const struct ls_fm_opts *o = &m->opts;
	m->outputs = ls_fm_outputs(o);
	m->blocks = o->kind == LS_FFM ? m->n_fields : 1;
	m->padded = o->factors ? (o->factors + 3) / 4 * 4 : 4;
	m->n_pairs = o->kind == LS_FWFM ? m->n_fields * (m->n_fields + 1) / 2 : 0;
	uint64_t width = (uint64_t)m->outputs * m->blocks * m->padded,
		 most = 1u << 31; /* kernels count in 32 bits */
	if (width > 1 << 24 || m->n_fields > 1 << 14)
		return ls_err_set(err, LS_EINPUT,
				  "%u outputs × %u fields × %u factors a feature is more than "
				  "lockstep takes: 16384 fields "
				  "at most, and 16777216 factors a feature; fewer --factors or "
				  "fields numbered without gaps "
				  "may do",
				  m->outputs, m->n_fields, o->factors);
	if ((uint64_t)m->outputs * m->n_pairs >= most ||
	    (uint64_t)m->outputs * m->n_fields * m->padded >= most)
		return ls_err_set(err, LS_EINPUT,
				  "%u outputs with %u fields, a weight for each pair of these and "
				  "%u factors for each, are "
				  "more than lockstep takes: 2147483647 of either; fewer classes "
				  "or fields would do",
				  m->outputs, m->n_fields, o->factors);
	m->width = (uint32_t)width;
	m->bytes = sizeof(float) * m->n_features * ls_fm_stride(m);
	return 0;
}

static uint64_t all_bytes(const struct ls_fm_model *m)
{
	return m->bytes + sizeof(float) * (uint64_t)m->outputs * m->n_pairs * (1 + m->states);
}

uint64_t ls_fm_model_bytes(const struct ls_fm_opts *opts, uint64_t n_features, uint32_t n_fields)
{
	struct ls_fm_model m = {.opts = *opts,
				.n_features = n_features,
				.n_fields = n_fields,
				.states = ls_fm_states_of(opts->optimizer)};
	return set_sizes(&m, NULL) ? UINT64_MAX : all_bytes(&m);
}

static int new_model(const struct ls_fm_opts *opts, uint64_t n_features, uint32_t n_fields,
		     uint32_t states, struct ls_fm_model **ret, struct ls_err *err)
{
	if (opts->kind != LS_FM && !n_fields)
		return ls_err_set(err, LS_EINPUT,
				  "%s needs fields: give libffm data (label field:feature:value …)",
				  ls_fm_kind_name(opts->kind));
	struct ls_fm_model *m = ls_xalloc(sizeof *m);
	m->opts = *opts;
	m->n_features = n_features;
	m->n_fields = opts->kind == LS_FM ? 0 : n_fields;
	m->states = states;
	int rc = set_sizes(m, err);
	if (rc) {
		free(m);
		return rc;
	}
	uint64_t need = all_bytes(m);
	m->linear = need <= ls_memory_most("") ? ls_huge_alloc(m->bytes) : NULL;
	m->record = m->linear ? m->linear + ls_fm_linear_room(m) : NULL;
	m->bias = ls_xalloc(sizeof(float) * ls_fm_linear_size(m));
	m->pair = m->n_pairs ? ls_alloc_array((size_t)m->outputs * m->n_pairs * (1 + m->states),
					      sizeof(float))
			     : NULL;
	if (!m->linear || (m->n_pairs && !m->pair)) {
		ls_fm_model_free(m);
		return ls_err_set(
			err, LS_ENOMEM,
			"no memory for %llu MiB of parameters, for features up to number %llu",
			(unsigned long long)(need >> 20), (unsigned long long)(n_features - 1));
	}
	*ret = m;
	return 0;
}

int ls_fm_model_new(const struct ls_fm_opts *opts, uint64_t n_features, uint32_t n_fields,
		    struct ls_fm_model **ret, struct ls_err *err)
{
	int rc = ls_fm_model_new_stored(opts, n_features, n_fields, ret, err);
	if (rc == LS_ENOMEM)
		ls_err_advise(
			err, "fewer factors or fields would do, or features numbered without gaps");
	return rc;
}

int ls_fm_model_new_stored(const struct ls_fm_opts *opts, uint64_t n_features, uint32_t n_fields,
			   struct ls_fm_model **ret, struct ls_err *err)
{
	return new_model(opts, n_features, n_fields, ls_fm_states_of(opts->optimizer), ret, err);
}

int ls_fm_model_new_bare(const struct ls_fm_opts *opts, uint64_t n_features, uint32_t n_fields,
			 struct ls_fm_model **ret, struct ls_err *err)
{
	return new_model(opts, n_features, n_fields, 0, ret, err);
}

void ls_fm_model_copy(struct ls_fm_model *m, const struct ls_fm_model *old)
{
	for (uint64_t j = 0; j < old->n_features; j++) {
		memcpy(m->record + j * ls_fm_stride(m), old->record + j * ls_fm_stride(old),
		       sizeof(float) * ls_fm_lanes(m));
		memcpy(m->linear + j * ls_fm_stride(m), old->linear + j * ls_fm_stride(old),
		       sizeof(float) * m->outputs);
	}
	memcpy(m->bias, old->bias, sizeof(float) * m->outputs);
	if (m->n_pairs)
		memcpy(m->pair, old->pair, sizeof(float) * m->outputs * m->n_pairs);
}

void ls_fm_model_free(struct ls_fm_model *m)
{
	if (!m)
		return;
	ls_huge_free(m->linear, m->bytes);
	free(m->bias);
	free(m->pair);
	free(m->exps);
	free(m);
}

/* Sets the state that an optimizer starts from, for n parameters at v, `state` floats
 * before the state. */
static void init_states(const struct ls_fm_model *m, const struct ls_update *u, float *v, size_t n,
			size_t state)
{
	if (!m->states)
		return;
	for (size_t i = 0; i < n && m->opts.optimizer == LS_ADAGRAD; i++)
		v[state + i] = m->opts.initial_sum;
	for (size_t i = 0; i < n && m->opts.optimizer == LS_FTRL; i++)
		v[state + i] = ls_cell_ftrl_start(v[i], u);
}

static void init_feature_states(const struct ls_fm_model *m, const struct ls_update *u,
				uint64_t feature)
{
	init_states(m, u, m->record + feature * ls_fm_stride(m), ls_fm_lanes(m), m->width);
	init_states(m, u, m->linear + feature * ls_fm_stride(m), m->outputs, m->outputs);
}

static void init_other_states(const struct ls_fm_model *m, const struct ls_update *u)
{
	size_t pairs = (size_t)m->outputs * m->n_pairs;
	init_states(m, u, m->bias, m->outputs, m->outputs);
	if (pairs)
		init_states(m, u, m->pair, pairs, pairs);
}

struct init {
	struct ls_fm_model *m;
	struct ls_update update;
};

/* all pairs of fields weigh the same at first, as in an fm */
static const float first_pair = 1.0f;

/* Four factors, from lane d on, come from one Philox block, counted by (feature,
 * quarter): uniform with the wanted deviation. */
static void first_four(const struct ls_fm_model *m, uint64_t key, uint64_t feature, size_t d,
		       float *ret)
{
	float scale = m->opts.init_scale * 1.7320508f;
	struct ls_u32x4 r = ls_philox(key, feature, d / 4);
	for (uint32_t i = 0; i < 4; i++)
		ret[i] = (d + i) % m->padded < m->opts.factors ? scale * ls_symf(r.v[i]) : 0.0f;
}

static void init_features(void *context, int thread, int threads)
{
	const struct init *in = context;
	struct ls_fm_model *m = in->m;
	uint64_t lo, hi, key = ls_seed_key(m->opts.seed, PURPOSE_INIT), saved = ls_fp_enter();
	ls_pool_share(m->n_features, thread, threads, &lo, &hi);
	for (uint64_t j = lo; j < hi; j++) {
		for (size_t d = 0; d < ls_fm_lanes(m); d += 4)
			first_four(m, key, j, d, m->record + j * ls_fm_stride(m) + d);
		init_feature_states(m, &in->update, j);
	}
	ls_fp_leave(saved);
}

void ls_fm_model_init(struct ls_fm_model *m, struct ls_pool *pool)
{
	uint64_t saved = ls_fp_enter();
	struct init in = {m, ls_fm_update(&m->opts, 0, 1)};
	ls_pool_run(pool, init_features, &in);
	for (size_t i = 0; i < (size_t)m->outputs * m->n_pairs; i++)
		m->pair[i] = first_pair;
	init_other_states(m, &in.update);
	ls_fp_leave(saved);
}

void ls_fm_model_start_states(struct ls_fm_model *m)
{
	uint64_t saved = ls_fp_enter();
	struct ls_update u = ls_fm_update(&m->opts, 0, 1);
	for (uint64_t j = 0; j < m->n_features; j++)
		init_feature_states(m, &u, j);
	init_other_states(m, &u);
	ls_fp_leave(saved);
}

/* The first value as FTRL has it after a step without a gradient, which computes it anew
 * from its state: pulled by its penalties, and perhaps rounded differently. */
static float touched(const struct ls_fm_opts *o, enum ls_fm_part_of part, float first)
{
	struct ls_update u = ls_fm_update(o, 0, 1);
	return ls_cell_ftrl_weight(ls_cell_ftrl_start(first, &u), 0.0f, &u, &u.penalty[part]);
}

/* The power of two that makes `first` v, if one does. */
static double scale_of(float v, float first)
{
	return v == 0.0f || first == 0.0f ? 1.0 : ls_pow2(ls_exp_of(v) - ls_exp_of(first));
}

/* Whether n factors from v on are the first ones, or, with after, those ones touched. */
static bool are_first(const struct ls_fm_model *m, uint64_t feature, size_t lane, size_t n,
		      bool after)
{
	const float *v = m->record + feature * ls_fm_stride(m);
	uint64_t key = ls_seed_key(m->opts.seed, PURPOSE_INIT);
	double scale = 1.0;
	for (size_t d = lane; d < lane + n; d += 4) {
		float four[4];
		first_four(m, key, feature, d, four);
		for (size_t i = 0; i < 4; i++)
			four[i] = after ? touched(&m->opts, LS_ON_FACTORS, four[i]) : four[i];
		scale = d == lane && m->opts.scale ? scale_of(v[d], four[0]) : scale;
		for (size_t i = 0; i < 4; i++)
			if (ls_bits_f(v[d + i]) != ls_bits_f((float)((double)four[i] * scale)))
				return false;
	}
	return true;
}

bool ls_fm_first_factors(const struct ls_fm_model *m, uint64_t feature, size_t lane, size_t n)
{
	return are_first(m, feature, lane, n, false) ||
	       (m->opts.optimizer == LS_FTRL && are_first(m, feature, lane, n, true));
}

bool ls_fm_first_pair(const struct ls_fm_model *m, size_t i)
{
	return ls_bits_f(m->pair[i]) == ls_bits_f(first_pair) ||
	       (m->opts.optimizer == LS_FTRL &&
		ls_bits_f(m->pair[i]) == ls_bits_f(touched(&m->opts, LS_ON_FIELDS, first_pair)));
}

static double schedule(const struct ls_fm_opts *o, uint64_t step)
{
	if (step < o->warmup_steps)
		return (double)(step + 1) / (double)o->warmup_steps;
	double past =
		o->decay_steps ? (double)(step - o->warmup_steps) / (double)o->decay_steps : 0.0;
	if (o->decay == LS_DECAY_LINEAR)
		return past < 1.0 ? 1.0 - past : 0.0;
	if (o->decay == LS_DECAY_INVSQRT)
		return 1.0 / __builtin_sqrt(1.0 + past);
	return 1.0;
}

/* beta^n by squaring: a written order, from IEEE products alone. */
static double power(double beta, uint64_t n)
{
	double result = 1.0;
	for (; n; n >>= 1) {
		if (n & 1)
			result *= beta;
		beta *= beta;
	}
	return result;
}

struct ls_update ls_fm_update(const struct ls_fm_opts *o, uint64_t step, uint32_t n_rows)
{
	step += o->steps_before;
	double lr = (double)o->lr * schedule(o, step);
	struct ls_update u = {.optimizer = (int)o->optimizer,
			      .beta1 = o->beta1,
			      .beta2 = o->beta2,
			      .eps = o->eps,
			      .ftrl_alpha_inv = 1.0f / o->lr,
			      .ftrl_beta = o->ftrl_beta};
	for (int i = 0; i < LS_FM_PARTS; i++)
		u.penalty[i] = (struct ls_penalty){
			.l1 = o->l1[i], .l2 = o->l2[i], .on = o->l1[i] > 0.0f || o->l2[i] > 0.0f};
	if (o->optimizer == LS_SGD)
		lr = lr / (double)n_rows;
	if (o->optimizer == LS_ADAM)
		lr = lr * __builtin_sqrt(1.0 - power((double)o->beta2, step + 1)) /
		     (1.0 - power((double)o->beta1, step + 1));
	u.lr = (float)lr;
	return u;
}

struct ls_fm_opts ls_fm_defaults(enum ls_fm_kind kind, enum ls_fm_task task,
				 enum ls_fm_optimizer optimizer)
{
	static const float rate[] = {
		[LS_SGD] = 0.5f, [LS_ADAGRAD] = 0.05f, [LS_ADAM] = 0.001f, [LS_FTRL] = 0.1f};
	struct ls_fm_opts o = {.kind = kind,
			       .task = task,
			       .optimizer = optimizer,
			       .factors = kind == LS_FFM    ? 4
					  : kind == LS_FWFM ? 8
							    : 16,
			       .classes = 1,
			       .batch = kind == LS_FM ? 1024 : 512,
			       .lr = kind == LS_FM && optimizer == LS_ADAGRAD ? 0.04f
									      : rate[optimizer],
			       .init_scale = 0.01f,
			       .scale = true,
			       .initial_sum = 1.0f,
			       .beta1 = 0.9f,
			       .beta2 = 0.999f,
			       .eps = 1e-8f,
			       .ftrl_beta = 1.0f,
			       .seed = 1337};
	return o;
}

/* What the options that are words may be, in the order of their enums. */
enum { KINDS, TASKS, OPTIMIZERS, SHUFFLES, DECAYS, WORDS, MOST_WORDS = 4 };
static const struct {
	const char *option, *names[MOST_WORDS];
} words[WORDS] = {
	[KINDS] = {"kind", {"fm", "ffm", "fwfm"}},
	[TASKS] = {"task", {"binary", "regression", "multiclass"}},
	[OPTIMIZERS] = {"optimizer", {"sgd", "adagrad", "adam", "ftrl"}},
	[SHUFFLES] = {"shuffle", {"rows", "blocks", "none"}},
	[DECAYS] = {"decay", {"none", "linear", "invsqrt"}},
};

int ls_fm_word(const char *option, const char *value)
{
	for (int i = 0; i < WORDS; i++)
		for (int k = 0;
		     strcmp(words[i].option, option) == 0 && k < MOST_WORDS && words[i].names[k];
		     k++)
			if (strcmp(words[i].names[k], value) == 0)
				return k;
	return -1;
}

const char *ls_fm_kind_name(enum ls_fm_kind kind)
{
	return words[KINDS].names[kind];
}

const char *ls_fm_kind_of(const struct ls_fm_opts *o)
{
	return o->factors ? ls_fm_kind_name(o->kind) : "linear";
}

const char *ls_fm_task_name(enum ls_fm_task task)
{
	return words[TASKS].names[task];
}

const char *ls_fm_optimizer_name(enum ls_fm_optimizer optimizer)
{
	return words[OPTIMIZERS].names[optimizer];
}

const char *ls_fm_shuffle_name(enum ls_fm_shuffle shuffle)
{
	return words[SHUFFLES].names[shuffle];
}

const char *ls_fm_decay_name(enum ls_fm_decay decay)
{
	return words[DECAYS].names[decay];
}
