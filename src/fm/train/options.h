/* The options of `fm train` and its like, in the one table that the command line and the
 * public functions read, and what they say: about the model, the course of a training, the
 * data, the engine. What is filled borrows its strings from the arguments. One thread. */
#ifndef LS_FM_TRAIN_OPTIONS_H
#define LS_FM_TRAIN_OPTIONS_H

#include "base/opt.h"
#include "fm/data/data.h"
#include "fm/train/device.h"
#include "fm/train/split.h"
#include "fm/train/train.h"

#define LS_FM_COLUMNS_OPT                                                                          \
	{                                                                                          \
		"columns", 0, "FILE", "DATA in CSV is a table that becomes rows as FILE says"      \
	}

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

extern const struct ls_opt ls_fm_train_opts[], ls_fm_predict_opts[], ls_fm_eval_opts[];

/* The options that decide the bytes of a model. Then, once the data are there, what
 * depends on them: the number of classes, balanced weights. */
int ls_fm_model_options(const struct ls_args *args, struct ls_fm_opts *ret, struct ls_err *err);
int ls_fm_data_options(const struct ls_args *args, const struct ls_rows *rows, struct ls_fm_opts *o,
		       struct ls_err *err);
/* The same for a whole training, after ls_fm_run_options: also epochs and patience, and
 * whether the number of epochs is to be found by cross-validation. */
int ls_fm_course_options(const struct ls_args *args, bool valid, struct ls_train *t,
			 struct ls_fm_split *split, struct ls_fm_device *device,
			 struct ls_err *err);
/* After them, the course of a training, with validation data or without, and its engine;
 * t->opts must be set. */
int ls_fm_run_options(const struct ls_args *args, bool valid, struct ls_train *t,
		      struct ls_fm_device *device, struct ls_err *err);
/* --valid-fraction and --cv; what contradicts them is refused. */
int ls_fm_split_options(const struct ls_args *args, struct ls_fm_split *ret, struct ls_err *err);
int ls_fm_engine_options(const struct ls_args *args, const char *kernels, struct ls_fm_device *ret,
			 struct ls_err *err);

/* Which of a command's options are about the data: --labels, --weights and --format, or
 * --valid-labels and --valid-weights. Loaded data belong to the caller. */
enum ls_fm_part { LS_FM_DATA, LS_FM_VALID };
int ls_fm_load(const struct ls_args *args, const char *path, enum ls_fm_part part, bool fields,
	       bool need_labels, int threads, struct ls_data **ret, struct ls_err *err);

/* ls_args_u64 for a smaller number. */
int ls_fm_args_u32(const struct ls_args *args, const char *name, uint64_t min, uint64_t max,
		   uint32_t *ret, struct ls_err *err);

#endif
