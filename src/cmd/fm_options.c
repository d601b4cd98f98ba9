/* The options of `fm train` that decide the bytes of a model: what the command line says,
 * and what the data add. */
#include "cmd/fm_common.h"
#include "fm/train/check_options.h"
#include "fm/train/classes.h"

/* fallback: the value if the option is not given. */
static int pick_word(const struct ls_args *args, const char *option, int fallback, int *ret,
		     struct ls_err *err)
{
	const char *value = ls_args_get(args, option);
	*ret = value ? ls_fm_word(option, value) : fallback;
	return *ret >= 0 ? 0
			 : ls_err_set(err, LS_EINPUT, "--%s %s: there is none such", option, value);
}

static int get_float(const struct ls_args *args, const char *name, double min, double max,
		     float *ret, struct ls_err *err)
{
	double v = (double)*ret;
	int rc = ls_args_double(args, name, min, max, &v, err);
	*ret = (float)v;
	return rc;
}

int ls_fm_args_u32(const struct ls_args *args, const char *name, uint64_t min, uint64_t max,
		   uint32_t *ret, struct ls_err *err)
{
	uint64_t v = *ret;
	int rc = ls_args_u64(args, name, min, max, &v, err);
	*ret = (uint32_t)v;
	return rc;
}

static bool is_given(const void *context, const char *option)
{
	return ls_args_has(context, option);
}

int ls_fm_model_options(const struct ls_args *a, struct ls_fm_opts *o, struct ls_err *err)
{
	int kind, task, optimizer, decay, shuffle;
	if (pick_word(a, "kind", LS_FM, &kind, err) ||
	    pick_word(a, "task", LS_BINARY, &task, err) ||
	    pick_word(a, "optimizer", LS_ADAGRAD, &optimizer, err) ||
	    pick_word(a, "decay", LS_DECAY_NONE, &decay, err) ||
	    pick_word(a, "shuffle", LS_SHUFFLE_ROWS, &shuffle, err))
		return LS_EINPUT;
	*o = ls_fm_defaults((enum ls_fm_kind)kind, (enum ls_fm_task)task,
			    (enum ls_fm_optimizer)optimizer);
	o->decay = (enum ls_fm_decay)decay;
	o->shuffle = (enum ls_fm_shuffle)shuffle;
	o->normalize = ls_args_has(a, "normalize");
	uint32_t accum = 1;
	if (ls_fm_args_u32(a, "factors", 1, LS_FM_MAX_FACTORS, &o->factors, err) ||
	    ls_fm_args_u32(a, "batch", 1, LS_FM_MAX_BATCH, &o->batch, err) ||
	    ls_fm_args_u32(a, "accum", 1, 1 << 16, &accum, err) ||
	    get_float(a, "lr", 1e-30, 1e6, &o->lr, err) ||
	    get_float(a, "l1", 0, 1e6, &o->l1, err) || get_float(a, "l2", 0, 1e6, &o->l2, err) ||
	    get_float(a, "init-scale", 0, 1e6, &o->init_scale, err) ||
	    get_float(a, "initial-sum", 1e-30, 1e30, &o->initial_sum, err) ||
	    get_float(a, "beta1", 0, 0.999999, &o->beta1, err) ||
	    get_float(a, "beta2", 0, 0.999999, &o->beta2, err) ||
	    get_float(a, "eps", 1e-30, 1, &o->eps, err) ||
	    get_float(a, "ftrl-beta", 1e-30, 1e6, &o->ftrl_beta, err) ||
	    get_float(a, "label-smoothing", 0, 0.999, &o->label_smoothing, err) ||
	    ls_args_u64(a, "warmup-steps", 0, INT64_MAX, &o->warmup_steps, err) ||
	    ls_args_u64(a, "decay-steps", 1, INT64_MAX, &o->decay_steps, err) ||
	    ls_args_u64(a, "seed", 0, INT64_MAX, &o->seed, err))
		return LS_EINPUT;
	if ((uint64_t)o->batch * accum > LS_FM_MAX_BATCH)
		return ls_err_set(err, LS_EINPUT, "--batch times --accum is more than %d rows",
				  LS_FM_MAX_BATCH);
	o->batch *= accum;
	return ls_fm_check_options(o, is_given, a, err);
}

int ls_fm_data_options(const struct ls_args *a, const struct ls_rows *rows, struct ls_fm_opts *o,
		       struct ls_err *err)
{
	uint64_t classes = 0;
	const char *weights = ls_args_get(a, "class-weight");
	int rc = ls_args_u64(a, "classes", 2, LS_FM_MAX_CLASSES, &classes, err);
	if (rc == 0)
		rc = ls_fm_set_classes(o, rows, (uint32_t)classes, err);
	return rc || !weights ? rc : ls_fm_set_class_weights(o, rows, weights, err);
}
