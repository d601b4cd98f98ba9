#include "fm/train/check_options.h"

/* An option that would do nothing is refused: the user believes that it does
 * something. */
int ls_fm_check_options(const struct ls_fm_opts *o, ls_fm_given *given, const void *context,
			struct ls_err *err)
{
	static const struct {
		const char *option;
		enum ls_fm_optimizer of;
	} own[] = {{"initial-sum", LS_ADAGRAD},
		   {"beta1", LS_ADAM},
		   {"beta2", LS_ADAM},
		   {"eps", LS_ADAM},
		   {"ftrl-beta", LS_FTRL}};
	static const char *const not_linear[] = {"factors", "init-scale", "l1-factors",
						 "l2-factors"};
	if (o->decay != LS_DECAY_NONE && !o->decay_steps)
		return ls_err_set(err, LS_EINPUT, "--decay needs --decay-steps");
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (given(context, own[i].option) && o->optimizer != own[i].of)
			return ls_err_set(err, LS_EINPUT,
					  "--%s is for --optimizer %s; with %s it would do nothing",
					  own[i].option, ls_fm_optimizer_name(own[i].of),
					  ls_fm_optimizer_name(o->optimizer));
	if (o->optimizer == LS_FTRL && (given(context, "warmup-steps") || given(context, "decay") ||
					given(context, "decay-steps")))
		return ls_err_set(err, LS_EINPUT,
				  "--warmup-steps, --decay and --decay-steps do nothing with "
				  "--optimizer ftrl, which "
				  "has a rate of its own for each parameter");
	for (size_t i = 0; i < sizeof not_linear / sizeof *not_linear && !o->factors; i++)
		if (given(context, not_linear[i]))
			return ls_err_set(err, LS_EINPUT,
					  "--%s is about factors, and --kind linear has none",
					  not_linear[i]);
	if (o->kind != LS_FWFM && (given(context, "l1-fields") || given(context, "l2-fields")))
		return ls_err_set(err, LS_EINPUT,
				  "--l1-fields and --l2-fields are for --kind fwfm; with %s they "
				  "would do nothing",
				  ls_fm_kind_of(o));
	if (o->decay == LS_DECAY_NONE && given(context, "decay-steps"))
		return ls_err_set(err, LS_EINPUT, "--decay-steps needs --decay linear or invsqrt");
	if (o->task == LS_REGRESSION && given(context, "label-smoothing"))
		return ls_err_set(err, LS_EINPUT,
				  "--label-smoothing is for classification; with --task regression "
				  "it would do "
				  "nothing");
	return 0;
}

int ls_fm_check_metric(enum ls_fm_task task, enum ls_metric metric, struct ls_err *err)
{
	if ((metric == LS_RMSE) == (task == LS_REGRESSION) &&
	    (metric != LS_AUC || task == LS_BINARY))
		return 0;
	return ls_err_set(err, LS_EINPUT, "--metric %s does not go with --task %s",
			  ls_metric_name(metric), ls_fm_task_name(task));
}
