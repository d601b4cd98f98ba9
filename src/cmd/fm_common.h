/* What the fm subcommands share: engines made with the cache of this user. One thread. */
#ifndef LS_CMD_FM_COMMON_H
#define LS_CMD_FM_COMMON_H

#include "cmd/cmd.h"
#include "fm/data/data.h"
#include "fm/train/device.h"
#include "fm/train/options.h"

/* rows NULL: an engine that only predicts. Says on standard error if compiled GPU kernels
 * cannot be kept. */
int ls_fm_engine_make(const struct ls_fm_device *device, struct ls_fm_model *m,
		      const struct ls_rows *rows, struct ls_pool *pool, struct ls_engine *ret,
		      struct ls_err *err);

/* The options of a command that public functions have, too ("fm predict"), with what they
 * need of the environment. The caller frees. */
int ls_fm_public_options(const char *command, const struct ls_args *args, struct ls_options **ret,
			 struct ls_err *err);
/* Says so if compiled GPU kernels cannot be kept. */
void ls_fm_note_cache(void);

/* Loads DATA of a command (path NULL: it has none) and what --columns names, for which o is
 * changed. *ret_columns is NULL without it, and the caller's either way. */
int ls_fm_load_data(const struct ls_args *args, const char *path, struct ls_data_opts *o,
		    struct ls_columns **ret_columns, struct ls_data **ret, struct ls_err *err);

extern const struct ls_cmd ls_cmd_fm_train, ls_cmd_fm_predict, ls_cmd_fm_eval, ls_cmd_fm_digest,
	ls_cmd_fm_inspect, ls_cmd_fm_export, ls_cmd_fm_tune;

#endif
