/* lockstep fm: factorization machines. One file a subcommand, fm_<sub>.c. */
#include "cmd/cmd.h"
#include "cmd/fm_common.h"

static const struct ls_cmd *const subs[] = {
	&ls_cmd_fm_train,   &ls_cmd_fm_tune,   &ls_cmd_fm_predict,
	&ls_cmd_fm_eval,    &ls_cmd_fm_digest, &ls_cmd_fm_inspect,
	&ls_cmd_fm_convert, &ls_cmd_fm_export, NULL,
};

const struct ls_cmd ls_cmd_fm = {
	.name = "fm",
	.summary = "factorization machines with the same bytes everywhere",
	.subs = subs,
};
