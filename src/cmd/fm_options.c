/* The options of `fm train` that decide the bytes of a model: what the command line says, and what
 * the data add. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/fm_common.h"
#include "fm/model/cell.h"

/* fallback: what it is where the option is not given. */
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

/* An option that this optimizer or task would not look at is refused: whoever gives it believes
 * that it does something.
 */
static int refuse_unused(const struct ls_args *a, const struct ls_fm_opts *o, struct ls_err *err)
{
	static const struct {
		const char *option;
		enum ls_fm_optimizer of;
	} own[] = {{"initial-sum", LS_ADAGRAD},
		   {"beta1", LS_ADAM},
		   {"beta2", LS_ADAM},
		   {"eps", LS_ADAM},
		   {"ftrl-beta", LS_FTRL}};
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (ls_args_has(a, own[i].option) && o->optimizer != own[i].of)
			return ls_err_set(err, LS_EINPUT,
					  "--%s is for --optimizer %s; with %s it would do nothing",
					  own[i].option, ls_fm_optimizer_name(own[i].of),
					  ls_fm_optimizer_name(o->optimizer));
	if (o->optimizer == LS_FTRL && (ls_args_has(a, "warmup-steps") || ls_args_has(a, "decay") ||
					ls_args_has(a, "decay-steps")))
		return ls_err_set(err, LS_EINPUT,
				  "--warmup-steps, --decay and --decay-steps do nothing with "
				  "--optimizer ftrl, which "
				  "has a rate of its own for each parameter");
	if (o->decay == LS_DECAY_NONE && ls_args_has(a, "decay-steps"))
		return ls_err_set(err, LS_EINPUT, "--decay-steps needs --decay linear or invsqrt");
	if (o->task == LS_REGRESSION && ls_args_has(a, "label-smoothing"))
		return ls_err_set(err, LS_EINPUT,
				  "--label-smoothing is for classification; with --task regression "
				  "it would do "
				  "nothing");
	return 0;
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
	if (o->decay != LS_DECAY_NONE && !o->decay_steps)
		return ls_err_set(err, LS_EINPUT, "--decay needs --decay-steps");
	return refuse_unused(a, o, err);
}

static int find_classes(const struct ls_args *a, const struct ls_rows *rows, struct ls_fm_opts *o,
			struct ls_err *err)
{
	uint64_t classes = 0;
	int rc = ls_args_u64(a, "classes", 2, LS_FM_MAX_CLASSES, &classes, err);
	if (rc || o->task != LS_MULTICLASS) {
		o->classes = 1;
		return rc        ? rc
		       : classes ? ls_err_set(err, LS_EINPUT, "--classes needs --task multiclass")
				 : 0;
	}
	float top = 1.0f;
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		top = rows->label[i] > top ? rows->label[i] : top;
		if (!classes && top >= (float)LS_FM_MAX_CLASSES)
			return ls_rows_fault(rows, LS_OF_LABEL, i, LS_EINPUT, err,
					     "label %g is beyond the most classes, %d", (double)top,
					     LS_FM_MAX_CLASSES);
	}
	o->classes = classes ? (uint32_t)classes : (uint32_t)top + 1;
	return 0;
}

/* n / (classes × rows of the class), as scikit-learn's "balanced". */
static void balance(struct ls_fm_opts *o, const struct ls_rows *rows)
{
	uint64_t count[LS_FM_MAX_CLASSES] = {0};
	for (uint64_t i = 0; i < rows->n_rows; i++) {
		float y = rows->label[i]; /* which may be no class: refused when training starts */
		if (o->task == LS_BINARY || (y >= 0.0f && y < (float)o->n_class_weights))
			count[ls_cell_class((int)o->task, y)]++;
	}
	for (uint32_t c = 0; c < o->n_class_weights; c++)
		o->class_weight[c] =
			count[c] ? (float)((double)rows->n_rows /
					   ((double)o->n_class_weights * (double)count[c]))
				 : 1.0f;
}

/* W0,W1,… */
static int read_weights(const char *list, uint32_t classes, float *ret, struct ls_err *err)
{
	uint32_t n = 0;
	for (const char *p = list;; p++) {
		size_t len = strcspn(p, ",");
		double v;
		if (n == classes)
			return ls_err_set(err, LS_EINPUT, "--class-weight: more than %u weights",
					  classes);
		char *word = ls_xstrndup(p, len);
		int rc = ls_str_to_double(word, 0, 1e6, "option --class-weight", &v, err);
		free(word);
		if (rc)
			return rc;
		ret[n++] = (float)v;
		p += len;
		if (!*p)
			break;
	}
	return n == classes ? 0
			    : ls_err_set(err, LS_EINPUT,
					 "--class-weight: %u weights for %u classes", n, classes);
}

static int class_weights(const struct ls_args *a, const struct ls_rows *rows, struct ls_fm_opts *o,
			 struct ls_err *err)
{
	const char *list = ls_args_get(a, "class-weight");
	if (!list)
		return 0;
	if (o->task == LS_REGRESSION)
		return ls_err_set(
			err, LS_EINPUT,
			"--class-weight is for classification, not for --task regression");
	o->n_class_weights = ls_fm_classes(o);
	if (strcmp(list, "balanced") != 0)
		return read_weights(list, o->n_class_weights, o->class_weight, err);
	balance(o, rows);
	return 0;
}

int ls_fm_data_options(const struct ls_args *a, const struct ls_rows *rows, struct ls_fm_opts *o,
		       struct ls_err *err)
{
	int rc = find_classes(a, rows, o, err);
	return rc ? rc : class_weights(a, rows, o, err);
}
