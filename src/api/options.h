/* Options of a command, as the public functions see them. One thread sets; any number
 * read. */
#ifndef LS_API_OPTIONS_H
#define LS_API_OPTIONS_H

#include "base/opt.h"
#include "fm/model/engine.h"
#include "fm/train/device.h"

enum ls_command {
	LS_FM_TRAIN,
	LS_FM_PREDICT,
	LS_FM_EVAL,
	LS_DOCTOR,
	LS_SPEC_CHECK,
	LS_COMPARE,
	LS_PLAN,
	LS_COMMANDS
};

struct ls_options {
	enum ls_command command;
	const struct ls_opt *tables[3];
	struct ls_args *args;
	char **texts; /* what args borrow */
	size_t n_texts, cap_texts;
};

/* o, or where that is NULL new ones without a value in *own. LS_EINPUT: those of another
 * command than one of the set, which has a bit for each. ls_options_free(*own) follows. */
int ls_options_use(const struct ls_options *o, unsigned commands, struct ls_options **own,
		   const struct ls_args **ret, struct ls_err *err);

/* All values of an option that may be repeated, and a NULL. To be freed. */
const char **ls_options_all(const struct ls_args *args, const char *name);
/* Where the host says that GPU code comes from; *ret borrows from the options and from what
 * is returned, which ls_nvrtc_places_free frees. */
char **ls_options_kernels(const struct ls_args *args, struct ls_kernels_conf *ret);

/* An engine with the kernels and compilers that the options name. rows NULL: it only
 * predicts. */
int ls_options_engine(const struct ls_args *args, const struct ls_fm_device *device,
		      struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool,
		      struct ls_engine *ret, struct ls_err *err);

#endif
