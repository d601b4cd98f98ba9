/* lockstep: machine-learning runs repeatable to the last bit. The only public header.
 *
 * Objects are opaque: `…_new` and its like make one, `…_free` frees it and accepts NULL.
 * Strings returned as const char * are borrowed and live as long as what they were asked
 * of. A char * or void * that a call gives away is freed by ls_free.
 *
 * A call that can fail returns 0 or a negative LS_E… and fills the caller's struct ls_err,
 * unless that is NULL. On failure what it would have returned by pointer is left alone.
 *
 * Any thread may call anything; one object is used by one call at a time, unless all of
 * them only read it. The library prints nothing, and leaves signal handlers, the locale
 * and the floating-point mode of its host as they are. */
#ifndef LOCKSTEP_H
#define LOCKSTEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#define LS_API __attribute__((visibility("default")))
#else
#define LS_API
#endif

enum ls_code {
	LS_OK = 0,
	LS_EINPUT = -1,    /* bad usage or bad input */
	LS_EUNKNOWN = -2,  /* cannot tell here: no GPU, no driver, a tool is missing */
	LS_EIO = -3,       /* the machine refused: disk full, permission */
	LS_ENOMEM = -4,    /* no memory */
	LS_EINTERNAL = -5, /* a defect in lockstep */
	LS_ENOENT = -6,    /* a named file is not there */
	LS_EINTR = -7,     /* stopped on request, state saved */
	LS_EDIFFER = -8    /* a real negative answer; numbers that left the finite range */
};

struct ls_err {
	int code;       /* an enum ls_code */
	char msg[1024]; /* what was wrong, where, what to do; no newline at the end */
};

/* "MAJOR.MINOR.PATCH" of the library that is linked, not of this header. */
LS_API const char *ls_version(void);
/* Version of the arithmetic: two libraries with the same number compute the same bits
 * from the same input. */
LS_API int ls_numerics_version(void);
/* Frees a string or a block that a call gave away; accepts NULL. */
LS_API void ls_free(void *p);

/* --- options --- */

/* The options of a command, by name and value exactly as on the command line. The commands
 * are "fm train", "fm predict", "fm eval", "doctor", "spec check", "compare" and "plan".
 * What concerns a terminal or the command's own files does nothing here: quiet, log, all,
 * html, verbose.
 *
 * A program does not read its host's environment here, so a host that has GPUs says where
 * things are, by options that the command line does not have: "kernel-cache", a folder in
 * which compiled GPU kernels are kept (without it every start compiles them again), and
 * "prefix", a folder below which lib/python*'s packages may have NVRTC; it may be given
 * several times. */
struct ls_options;
LS_API int ls_options_new(const char *command, struct ls_options **ret, struct ls_err *err);
LS_API void ls_options_free(struct ls_options *o);
/* value NULL: an option without one. Of an option that is set twice the later value
 * counts. LS_EINPUT: there is no such option, or it has no such value. */
LS_API int ls_options_set(struct ls_options *o, const char *name, const char *value,
			  struct ls_err *err);
/* Refuses values that are out of range, and options that contradict each other or would do
 * nothing, before any data are there; so does the call that uses them. */
LS_API int ls_options_check(const struct ls_options *o, struct ls_err *err);
/* All options of a command as JSON: [{"name", "value", "help"}, ...]; "value" describes it
 * as --help does and is null for an option without one. */
LS_API int ls_options_describe(const struct ls_options *o, char **ret_json, struct ls_err *err);

/* --- rows --- */

/* Rows of data. Read-only once made: several calls may read them at once. */
struct ls_dataset;

struct ls_dataset_info {
	uint64_t rows, entries;
	uint64_t features; /* the largest index + 1 */
	uint32_t fields;   /* the largest field + 1; 0: there are no fields */
	bool has_labels, has_weights;
};

/* An array of a host program. type is numpy's word: "int32", "float64"; NULL data and a
 * length of 0 stand for an array that is not there. */
struct ls_array {
	const void *data;
	uint64_t length;
	const char *type;
};

/* Compressed sparse rows, as scipy's csr_matrix has them: the entries of row r are those
 * from indptr[r] on, up to indptr[r + 1]. indptr, indices and fields hold integers, the
 * others bool, integers, float32 or float64. Every element is checked, so the arrays may
 * come from anywhere. Those that are as rows have them (indptr 64 bits, indices 32 bits,
 * the others float32) are borrowed: they must not change while the rows are in use. */
struct ls_csr_arrays {
	const char *name; /* for messages; NULL: "rows" */
	uint64_t columns; /* every index is below it */
	struct ls_array indptr, indices;
	struct ls_array values;  /* absent: every value is 1 */
	struct ls_array fields;  /* one an entry; ffm and fwfm need them */
	struct ls_array labels;  /* one a row; training and metrics need them */
	struct ls_array weights; /* one a row; absent: every weight is 1 */
};

/* A file of rows in any form that `fm train` reads. Options that count: format, labels,
 * weights, columns, threads. o may be NULL. */
LS_API int ls_dataset_load(const char *path, const struct ls_options *o, struct ls_dataset **ret,
			   struct ls_err *err);
LS_API int ls_dataset_from_csr(const struct ls_csr_arrays *a, struct ls_dataset **ret,
			       struct ls_err *err);
LS_API void ls_dataset_free(struct ls_dataset *d);
LS_API void ls_dataset_describe(const struct ls_dataset *d, struct ls_dataset_info *ret);
/* The digest of the rows: the same whatever form they came in. 64 digits and a NUL. */
LS_API int ls_dataset_digest(const struct ls_dataset *d, char ret_hex[65], struct ls_err *err);

/* --- features of tables --- */

#define LS_FEATURE_MISSING UINT32_MAX

/* The features that `fm convert` gives the values of a column (docs/FORMATS.md, "Features
 * of a table"). Value i of a column of categories is text from ends[i - 1], or from 0, up
 * to ends[i]; one that counts as missing, as "" and "NA" do, gets LS_FEATURE_MISSING. text
 * and ends NULL, n 1: the feature of a column of numbers. bits: 1 to 28. */
LS_API int ls_features_hash(const char *column, const char *text, const uint64_t *ends, size_t n,
			    uint64_t seed, unsigned bits, uint32_t *ret, struct ls_err *err);

/* --- metrics --- */

enum ls_metric { LS_LOGLOSS, LS_RMSE, LS_ACCURACY, LS_AUC, LS_MACRO_F1, LS_METRICS };

struct ls_metrics {
	/* a metric that the task or the data does not define is absent, never zero */
	bool has[LS_METRICS];
	double value[LS_METRICS];
};

LS_API const char *ls_metric_name(enum ls_metric metric);
/* LS_METRICS when there is none of that name. */
LS_API enum ls_metric ls_metric_find(const char *name);

/* --- factorization machines --- */

/* A model. Read-only once made: several calls may read it at once. */
struct ls_model;

/* Progress, reported after every stretch of steps (well within a second each) and at the
 * end of every epoch. */
enum ls_train_what { LS_TRAIN_STEPS, LS_TRAIN_EPOCH };

struct ls_train_event {
	enum ls_train_what what;
	uint64_t step, steps_per_epoch, total_steps;
	uint32_t epoch; /* counted from 1 */
	double loss;    /* mean over the rows of the epoch so far */
	bool has_valid, is_best;
	struct ls_metrics valid;
	double seconds; /* of training in this epoch */
	int at_work;    /* threads that take steps now; 0: none do */
};

/* Called by the thread that trains. Anything but 0 stops the training there. */
typedef int ls_train_tell(void *context, const struct ls_train_event *event);

struct ls_training {
	const struct ls_options *options; /* of "fm train"; NULL: the defaults */
	struct ls_dataset *rows;
	/* validation after each epoch; NULL: by the file that the option valid names, if any */
	struct ls_dataset *valid;
	/* to start from (as --warm-start does), or NULL. If it has the optimizer's state, and
	 * the optimizer is the same, the training goes on with that, as if there had been no
	 * end: so rows can come in parts, a call each. */
	const struct ls_model *start;
	ls_train_tell *tell;      /* or NULL */
	void *context;            /* its first argument */
	const volatile int *stop; /* stops when it becomes other than 0; or NULL */
};

enum { LS_TRAIN_NOTES = 3, LS_TRAIN_NOTE = 240 };

struct ls_train_result {
	uint64_t steps;
	/* best_epoch 0: there were no validation data, or no epoch was better than the start */
	uint32_t epochs, best_epoch;
	double best_value;
	bool resumed;
	char digest[65];      /* of the model's file; empty where none was written */
	char data_digest[65]; /* of the rows trained on */
	char engine[128];     /* what computed */
	double last_loss;     /* mean over the rows of the last epoch of this call; NaN: none */
	/* what the user should know of the course of this training, a sentence each */
	char notes[LS_TRAIN_NOTES][LS_TRAIN_NOTE];
	size_t n_notes;
	uint32_t folds; /* of cross-validation; their metric's mean, standard deviation */
	double fold_mean, fold_deviation;
};

/* Trains. With the option output the model is written there, as `fm train` does; *ret_model
 * is then read from it. Without, it stays in memory. ret_model and ret may be NULL.
 *
 * LS_EINTR: stopped by tell or stop. Then *ret and *ret_model are filled in, too: with the
 * model of the best epoch so far, or of the last step. With the option output *ret_model
 * is left alone, and the message names the checkpoint that was written. */
LS_API int ls_model_train(const struct ls_training *t, struct ls_model **ret_model,
			  struct ls_train_result *ret, struct ls_err *err);
LS_API int ls_model_load(const char *path, struct ls_model **ret, struct ls_err *err);
LS_API int ls_model_save(const struct ls_model *m, const char *path, struct ls_err *err);
/* The same with the optimizer's state, which ls_model_load_state reads. A model has it that
 * ls_model_train has left in memory, without validation data. The file is a checkpoint,
 * which the option warm-start takes, too. */
LS_API int ls_model_save_state(const struct ls_model *m, const char *path, struct ls_err *err);
LS_API int ls_model_load_state(const char *path, struct ls_model **ret, struct ls_err *err);
LS_API void ls_model_free(struct ls_model *m);
/* What must agree everywhere. 64 digits and a NUL. */
LS_API int ls_model_digest(const struct ls_model *m, char ret_hex[65], struct ls_err *err);
/* Kind, task, all options, sizes, steps, digests, as JSON. */
LS_API int ls_model_info(const struct ls_model *m, char **ret_json, struct ls_err *err);
/* Scores a row: 1, or the number of classes. */
LS_API uint32_t ls_model_outputs(const struct ls_model *m);

/* What `fm predict` prints: rows × outputs numbers, which the caller has room for;
 * probabilities, or with the option raw scores. o may be NULL. */
LS_API int ls_model_predict(const struct ls_model *m, const struct ls_dataset *rows,
			    const struct ls_options *o, float *ret, struct ls_err *err);
/* Every metric on labelled rows. o may be NULL. */
LS_API int ls_model_eval(const struct ls_model *m, const struct ls_dataset *rows,
			 const struct ls_options *o, struct ls_metrics *ret, struct ls_err *err);

/* A tensor of a model where it lies in memory; lives as long as the model. */
struct ls_model_tensor {
	const char *name; /* "bias", "linear", "factors", "field_weights" */
	const char *type; /* "float32" */
	int dimensions;
	uint64_t shape[4];
	int64_t stride[4]; /* bytes from one element to the next of a dimension */
	const void *data;
};

LS_API size_t ls_model_tensors(const struct ls_model *m); /* how many */
/* LS_ENOENT: there is no tensor of that number, or of that name. */
LS_API int ls_model_tensor_at(const struct ls_model *m, size_t i, struct ls_model_tensor *ret,
			      struct ls_err *err);
LS_API int ls_model_tensor_find(const struct ls_model *m, const char *name,
				struct ls_model_tensor *ret, struct ls_err *err);
/* --- judging --- */

/* An answer; the numbers are the exit statuses of the commands. */
enum ls_answer {
	LS_ANSWER_YES = 0,
	LS_ANSWER_NO = 1,
	LS_ANSWER_UNKNOWN = 3 /* cannot be judged here */
};

/* This machine and what does not fit, as `doctor --json` has it (docs/FORMATS.md). The
 * answer is over what the spec requires, or --cuda. environment: "NAME=value" strings, as
 * in environ, and a NULL at the end; it is judged, too. ret_answer may be NULL. */
LS_API int ls_doctor(const struct ls_options *o, const char *const *environment, char **ret_json,
		     enum ls_answer *ret_answer, struct ls_err *err);
/* Whether a spec, shipped or in a file, is sound: as `spec check --json`. */
LS_API int ls_spec_judge(const char *spec, const struct ls_options *o, char **ret_json,
			 enum ls_answer *ret_answer, struct ls_err *err);
/* The same training on other GPUs, as `plan --json`. NO: the global batch cannot stay. */
LS_API int ls_plan_judge(const struct ls_options *o, char **ret_json, enum ls_answer *ret_answer,
			 struct ls_err *err);

/* Two files or folders, compared to the last bit, as `compare` does. */
struct ls_comparison;
LS_API int ls_comparison_new(const char *a, const char *b, const struct ls_options *o,
			     struct ls_comparison **ret, struct ls_err *err);
LS_API void ls_comparison_free(struct ls_comparison *c);
LS_API enum ls_answer ls_comparison_answer(const struct ls_comparison *c);
/* form: "text", "json", "html" or "markdown". */
LS_API int ls_comparison_report(const struct ls_comparison *c, const char *form, char **ret,
				struct ls_err *err);

/* --- digests of tensors --- */

/* A tensor of a host program. type is PyTorch's word, as "bfloat16". */
struct ls_array_tensor {
	const char *name, *type;
	int dimensions;
	const uint64_t *shape;
	const int64_t *stride; /* bytes; NULL: contiguous, row-major */
	const void *data;
};

/* Over names, types, shapes and bits of tensors, in whatever order they are added: the same
 * as of a file that holds them, which is what `compare --digest` prints. */
struct ls_digest;
LS_API int ls_digest_new(struct ls_digest **ret, struct ls_err *err);
LS_API void ls_digest_free(struct ls_digest *d);
LS_API int ls_digest_add(struct ls_digest *d, const struct ls_array_tensor *t, struct ls_err *err);
/* 64 digits and a NUL. */
LS_API int ls_digest_final(struct ls_digest *d, char ret_hex[65], struct ls_err *err);
LS_API int ls_digest_file(const char *path, char ret_hex[65], struct ls_err *err);

/* --- manifests of runs --- */

/* A manifest, or a folder with one, checked and as JSON. */
LS_API int ls_manifest_read(const char *path, char **ret_json, struct ls_err *err);
/* What two runs had different, as `manifest diff --json`. NO: something that can change
 * bits. */
LS_API int ls_manifest_explain(const char *a, const char *b, char **ret_json,
			       enum ls_answer *ret_answer, struct ls_err *err);

/* What `lockstep run` tells a program at a level of determinism, as JSON: level, seed,
 * precision, threads and "env", the variables that it changes, null where one is removed.
 * environment: as it is before, "NAME=value" and a NULL at the end. */
LS_API int ls_policy_describe(int level, uint64_t seed, const char *precision,
			      const char *const *environment, char **ret_json, struct ls_err *err);

/* What a program says that records itself. Lists end with a NULL. */
struct ls_recording {
	const char *const *command;     /* as it was started */
	const char *const *environment; /* "NAME=value" */
	const char *const *inputs;      /* files and folders to digest; or NULL */
	const char *python;             /* its interpreter; NULL: the first on PATH */
	const char *out;                /* folder that gets run_manifest.json; NULL: no file */
	int level;                      /* of determinism that was enforced: 0 to 3 */
	uint64_t seed;
	const char *precision; /* "fp32", "tf32", "bf16", "fp16"; NULL: "fp32" */
};

/* The manifest of a run that begins, in the state "running". */
LS_API int ls_manifest_record(const struct ls_recording *r, char **ret_json, struct ls_err *err);

/* --- exact operations: the same bits on a CPU and on a CUDA device ---
 *
 * The tensors of an operation are the caller's, and so is their memory, which is the
 * device's where `device` says so. What each operation computes: docs/NUMERICS.md. */

enum ls_exact_type {
	LS_EXACT_F32,
	LS_EXACT_BF16,
	LS_EXACT_F16,
	LS_EXACT_F64,
	LS_EXACT_I64,
	LS_EXACT_I32,
	LS_EXACT_U8,
	LS_EXACT_BOOL /* a byte: 0 or 1 */
};

enum ls_exact_device { LS_EXACT_CPU, LS_EXACT_CUDA };

/* Strides count elements, may be negative, and are 0 for what is broadcast. A tensor that
 * an operation may leave out has at NULL. */
struct ls_exact_tensor {
	void *at;
	int type; /* an enum ls_exact_type */
	int ndim;
	int64_t size[8], stride[8];
};

struct ls_exact_where {
	int device; /* an enum ls_exact_device; CUDA: the context that is current in this thread */
	void *stream;  /* CUDA: a CUstream; nothing waits for it */
	void *scratch; /* memory of the device, aligned to 256 bytes, until the stream has passed */
	size_t scratch_bytes;
	int threads;       /* CPU: at most so many; no number of them changes a bit */
	const char *cache; /* CUDA: a folder for compiled kernels, or NULL */
	const char *isa;   /* CPU: an instruction set by name; NULL: the fastest */
};

/* The tensors of an operation in their order, as words: one with '>' is written, one
 * with '~' may be the same as a written one, one in brackets may be left out. The numbers
 * likewise. */
struct ls_exact_op_info {
	const char *name, *tensors, *numbers;
};

/* One operation. LS_EINPUT: there is none of this name, or counts, types, shapes or
 * overlaps are wrong; nothing has been written then. */
LS_API int ls_exact_op(const char *name, const struct ls_exact_tensor *tensors, size_t n,
		       const double *numbers, size_t m, const struct ls_exact_where *where,
		       struct ls_err *err);
/* Bytes of scratch memory that it needs, often 0. */
LS_API int ls_exact_op_scratch(const char *name, const struct ls_exact_tensor *tensors, size_t n,
			       const double *numbers, size_t m, const struct ls_exact_where *where,
			       size_t *ret_bytes, struct ls_err *err);
/* The index-th operation; LS_ENOENT behind the last. */
LS_API int ls_exact_op_list(size_t index, struct ls_exact_op_info *ret);
/* Ends the threads and frees the kernels that operations have kept for the next one.
 * No operation may be under way. */
LS_API void ls_exact_release(void);

#ifdef __cplusplus
}
#endif

#endif
