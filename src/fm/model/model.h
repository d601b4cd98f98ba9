/* A factorization machine: its options, its parameters and their place in memory.
 * ls_fm_model_new allocates, ls_fm_model_init initialises; ls_fm_model_free accepts NULL.
 * One engine at a time writes parameters.
 *
 * Everything of a feature is one run of memory, so that a step touches one place a
 * feature. First the linear weights with the optimizer's states, [weights][state 1][state
 * 2], `outputs` floats each, padded to a multiple of 4. Then the factors, [factors][state
 * 1][state 2], each of outputs × blocks × padded floats (`width`). blocks is 1, or the
 * number of fields for ffm. Padding is zero and stays zero. */
#ifndef LS_FM_MODEL_MODEL_H
#define LS_FM_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "fm/model/kinds.h"

enum ls_fm_decay { LS_DECAY_NONE, LS_DECAY_LINEAR, LS_DECAY_INVSQRT };

enum { LS_FM_MOST_EXP = 60 }; /* of the powers that values are divided by */
enum { LS_FM_MAX_FACTORS = 256, LS_FM_MAX_CLASSES = 4096, LS_FM_MAX_BATCH = 1 << 24 };

/* All that decides the bytes of a model, besides the data. Goes into the model file
 * whole. */
struct ls_fm_opts {
	enum ls_fm_kind kind;
	enum ls_fm_task task;
	enum ls_fm_optimizer optimizer;
	uint32_t factors, classes; /* factors 0: linear; classes: 1 unless multiclass */
	uint32_t batch;            /* rows a step: micro-batch × accumulation */
	float lr;
	float l1[LS_FM_PARTS], l2[LS_FM_PARTS]; /* by enum ls_fm_part_of */
	float init_scale;                       /* standard deviation of the initial factors */
	float initial_sum;                      /* AdaGrad: where the sums of squares start */
	float beta1, beta2, eps;                /* Adam */
	float ftrl_beta;
	float label_smoothing;
	uint32_t n_class_weights; /* 0: every class weighs 1 */
	/* by class; binary: of label 0 (or -1) and of label 1 */
	float class_weight[LS_FM_MAX_CLASSES];
	bool normalize; /* each row scaled to length 1 */
	bool scale;     /* values and labels scaled by powers of two (fm/train/scale.h) */
	enum ls_fm_shuffle shuffle;
	enum ls_fm_decay decay;
	uint64_t warmup_steps, decay_steps;
	uint64_t seed;
	uint64_t steps_before; /* taken by the training whose state this one goes on from */
};

struct ls_fm_model {
	struct ls_fm_opts opts;
	uint64_t n_features;
	uint32_t n_fields;
	uint32_t outputs; /* 1, or the number of classes */
	uint32_t blocks;  /* 1, or n_fields for ffm */
	/* factors rounded up to a multiple of 4; at least 4, which are 0 in a linear model
	 * and stay so: their gradients are products with them */
	uint32_t padded;
	/* floats from factors to their state: outputs × blocks × padded */
	uint32_t width;
	/* optimizer floats a parameter: 0, 1 or 2; 0 of a model that is not trained */
	uint32_t states;
	/* fwfm: fields × (fields + 1) / 2 weights an output; otherwise 0 */
	uint32_t n_pairs;
	/* of feature 0; the next feature's are ls_fm_stride floats further */
	float *linear;
	float *record; /* factors of feature 0, likewise */
	float *bias;   /* outputs × (1 + states) */
	float *pair;   /* outputs × n_pairs × (1 + states), or NULL */
	size_t bytes;  /* of all features, from linear on */
	/* Of a model in training (fm/train/scale.h): by feature, the power of two that its
	 * values are divided by; NULL: 1. And the power of four of the labels. */
	float *exps;
	int label_exp;
};

/* Scores of a row, and classes that its label may be of. */
static inline uint32_t ls_fm_outputs(const struct ls_fm_opts *o)
{
	return o->task == LS_MULTICLASS ? o->classes : 1;
}

static inline uint32_t ls_fm_classes(const struct ls_fm_opts *o)
{
	return o->task == LS_MULTICLASS ? o->classes : 2;
}

/* The defaults that a plain `lockstep fm train` uses for this kind and task. */
struct ls_fm_opts ls_fm_defaults(enum ls_fm_kind kind, enum ls_fm_task task,
				 enum ls_fm_optimizer optimizer);

int ls_fm_model_new(const struct ls_fm_opts *opts, uint64_t n_features, uint32_t n_fields,
		    struct ls_fm_model **ret, struct ls_err *err);
/* The same for a model in a file: the error does not advise to make it smaller. */
int ls_fm_model_new_stored(const struct ls_fm_opts *opts, uint64_t n_features, uint32_t n_fields,
			   struct ls_fm_model **ret, struct ls_err *err);
/* And without room for the optimizer's state: for scores and digests, not for
 * training. */
int ls_fm_model_new_bare(const struct ls_fm_opts *opts, uint64_t n_features, uint32_t n_fields,
			 struct ls_fm_model **ret, struct ls_err *err);
/* Initial factors: a function of (seed, feature, output, block, factor), whatever the
 * thread. */
void ls_fm_model_init(struct ls_fm_model *m, struct ls_pool *pool);
/* Whether n of a feature's factors from `lane` on (both multiples of 4), or weight i of
 * all pairs of fields, still have their first values, so that nothing was learnt. For
 * callers between ls_fp_enter and ls_fp_leave.
 *
 * l1 and l2 also shrink factors that a row does not use: all factors of a feature that is
 * in a row, ffm's for other fields included, and the weights of all pairs. Then only
 * features in no row are known to have first values. Values that a power of two has
 * scaled (fm/train/scale.h) are first values, too. */
bool ls_fm_first_factors(const struct ls_fm_model *m, uint64_t feature, size_t lane, size_t n);
bool ls_fm_first_pair(const struct ls_fm_model *m, size_t i);
/* Puts the optimizer's state of every parameter at its start. */
void ls_fm_model_start_states(struct ls_fm_model *m);
/* Copies the parameters of another model of the same kind, which has no more features; the
 * optimizer's state stays. */
void ls_fm_model_copy(struct ls_fm_model *m, const struct ls_fm_model *old);
void ls_fm_model_free(struct ls_fm_model *m);

struct ls_update;
/* The optimizer's constants for a step (counted from 0) over n_rows rows: schedule, bias
 * correction, SGD's mean. */
struct ls_update ls_fm_update(const struct ls_fm_opts *opts, uint64_t step, uint32_t n_rows);

/* Where fwfm keeps the weight of fields f <= g. */
static inline uint32_t ls_fm_pair_index(uint32_t n_fields, uint32_t f, uint32_t g)
{
	return f * n_fields - f * (f + 1) / 2 + g;
}

/* Floats of state that an optimizer keeps a parameter. */
static inline uint32_t ls_fm_states_of(enum ls_fm_optimizer optimizer)
{
	return optimizer == LS_SGD ? 0 : optimizer == LS_ADAGRAD ? 1 : 2;
}

/* A feature's factors. */
static inline size_t ls_fm_lanes(const struct ls_fm_model *m)
{
	return (size_t)m->outputs * m->blocks * m->padded;
}

/* Whether entry i has parameters; one that has not counts as absent. Without fields,
 * field may be NULL. */
static inline bool ls_fm_knows(const struct ls_fm_model *m, const uint32_t *feature,
			       const uint16_t *field, uint64_t i)
{
	return feature[i] < m->n_features && (!m->n_fields || field[i] < m->n_fields);
}

/* Floats of a feature's factors with their states; and of its linear weights, or of the
 * bias, with theirs. */
static inline size_t ls_fm_record_size(const struct ls_fm_model *m)
{
	return (size_t)m->width * (1 + m->states);
}

static inline size_t ls_fm_linear_size(const struct ls_fm_model *m)
{
	return (size_t)m->outputs * (1 + m->states);
}

/* Floats from a feature's linear weights to its factors, and from a feature to the
 * next. */
static inline size_t ls_fm_linear_room(const struct ls_fm_model *m)
{
	return (ls_fm_linear_size(m) + 3) / 4 * 4;
}

static inline size_t ls_fm_stride(const struct ls_fm_model *m)
{
	return ls_fm_linear_room(m) + ls_fm_record_size(m);
}

/* Bytes that the parameters and the optimizer's state of such a model take. */
uint64_t ls_fm_model_bytes(const struct ls_fm_opts *opts, uint64_t n_features, uint32_t n_fields);

const char *ls_fm_kind_name(enum ls_fm_kind kind);
/* The same, but "linear" of an fm without factors. */
const char *ls_fm_kind_of(const struct ls_fm_opts *o);
const char *ls_fm_task_name(enum ls_fm_task task);
const char *ls_fm_optimizer_name(enum ls_fm_optimizer optimizer);
const char *ls_fm_shuffle_name(enum ls_fm_shuffle shuffle);
const char *ls_fm_decay_name(enum ls_fm_decay decay);
/* The number in its enum of what "kind", "task", "optimizer", "shuffle" or "decay" may
 * be; -1: it may not. */
int ls_fm_word(const char *option, const char *value);

#endif
