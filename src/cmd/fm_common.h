/* What the fm subcommands share: options about data and engine, and loading by them.
 * Loaded data belong to the caller. One thread. */
#ifndef LS_CMD_FM_COMMON_H
#define LS_CMD_FM_COMMON_H

#include "cmd/cmd.h"
#include "fm/data/data.h"
#include "fm/train/device.h"

#define LS_FM_DATA_OPTS                                                                            \
	{"format", 0, "svm|ffm|npz|lsd",                                                           \
	 "what DATA is, where its first bytes and tokens could mislead"},                          \
		{"labels", 0, "FILE.npy", "a label a row, for data that have none"},               \
	{                                                                                          \
		"weights", 0, "FILE.npy", "a weight a row, for data that have none"                \
	}

#define LS_FM_ENGINE_OPTS                                                                          \
	{"threads", 0, "N", "threads (default: all CPUs it may use); the result is the same"},     \
		{"device", 0, "auto|cpu|cuda[:N]",                                                 \
		 "where to compute (default auto); the result is the same"},                       \
	{                                                                                          \
		"device-memory", 0, "SIZE",                                                        \
			"GPU memory to use at most: 512M, 40G (default: what is free)"             \
	}

int ls_fm_engine_options(const struct ls_args *args, const char *kernels, struct ls_fm_device *ret,
			 struct ls_err *err);
/* rows NULL: an engine that only predicts. Says on standard error if compiled GPU kernels
 * cannot be kept. */
int ls_fm_engine_make(const struct ls_fm_device *device, struct ls_fm_model *m,
		      const struct ls_rows *rows, struct ls_pool *pool, struct ls_engine *ret,
		      struct ls_err *err);

/* Which of a command's options are about the data: --labels, --weights and --format, or
 * --valid-labels and --valid-weights. */
enum ls_fm_part { LS_FM_DATA, LS_FM_VALID };
int ls_fm_load(const struct ls_args *args, const char *path, enum ls_fm_part part, bool fields,
	       bool need_labels, int threads, struct ls_data **ret, struct ls_err *err);

/* The options that decide the bytes of a model, from the table of `fm train`. Then, once
 * the data are there, what depends on them: the number of classes, balanced weights. */
int ls_fm_model_options(const struct ls_args *args, struct ls_fm_opts *ret, struct ls_err *err);
int ls_fm_data_options(const struct ls_args *args, const struct ls_rows *rows, struct ls_fm_opts *o,
		       struct ls_err *err);
/* ls_args_u64 for a smaller number. */
int ls_fm_args_u32(const struct ls_args *args, const char *name, uint64_t min, uint64_t max,
		   uint32_t *ret, struct ls_err *err);

extern const struct ls_cmd ls_cmd_fm_train, ls_cmd_fm_predict, ls_cmd_fm_eval, ls_cmd_fm_digest,
	ls_cmd_fm_inspect;

#endif
