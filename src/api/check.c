/* ls_options_check, which looks into the commands that ls_options knows only by name. */
#include "api/call.h"
#include "api/options.h"
#include "api/plan.h"
#include "fm/train/options.h"

static int check(const struct ls_options *o, struct ls_err *err)
{
	struct ls_train t = {0};
	struct ls_fm_device device;
	struct ls_fm_split split;
	if (o->command == LS_PLAN)
		return ls_plan_check_args(o->args, err);
	if (o->command > LS_FM_EVAL)
		return 0;
	if (o->command != LS_FM_TRAIN)
		return ls_fm_engine_options(o->args, NULL, &device, err);
	int rc = ls_fm_model_options(o->args, &t.opts, err);
	if (rc == 0)
		rc = ls_fm_split_options(o->args, &split, err);
	if (rc)
		return rc;
	bool valid = ls_args_has(o->args, "valid") || split.fraction > 0 || split.folds;
	return ls_fm_run_options(o->args, valid, &t, &device, err);
}

int ls_options_check(const struct ls_options *o, struct ls_err *err)
{
	LS_CALL(err, check(o, err));
}
