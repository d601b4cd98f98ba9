/* Model and checkpoint files: safetensors with named tensors and metadata, the same bytes
 * for the same model. Loading makes a model that the caller frees; both files are
 * described in docs/FORMATS.md. Any thread; calls that only read a model may run
 * together. `threads` is how many a call may use. */
#ifndef LS_FM_MODEL_SAVE_H
#define LS_FM_MODEL_SAVE_H

#include <stdint.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/file.h"
#include "fm/model/model.h"

/* Where a training stands; part of a checkpoint. */
struct ls_fm_position {
	uint64_t step; /* steps done */
	/* of the whole training; it may be raised at a resume */
	uint64_t epochs;
	char data_digest[LS_SHA256_HEX];  /* of the training data */
	char valid_digest[LS_SHA256_HEX]; /* of the validation data, or empty */
	uint32_t best_epoch;              /* 0: none yet */
	uint32_t stale_epochs;            /* since the best one */
	double best_value, loss_so_far;   /* of the metric; of the epoch under way */
	char metric[16];                  /* that is best, or empty */
	char best_digest[LS_SHA256_HEX];  /* of the best epoch's model, or empty */
	/* of the model that it started from, or empty */
	char warm_digest[LS_SHA256_HEX];
};

/* Parameters, options, and what else decided them, from at: the data, the model they
 * started from, steps. ret_id may be NULL. */
int ls_fm_save_model(const char *path, const struct ls_fm_model *m, const struct ls_fm_position *at,
		     int threads, struct ls_file_id *ret_id, struct ls_err *err);
/* It has no states (ls_fm_model_new_bare). */
int ls_fm_load_model(const char *path, int threads, struct ls_fm_model **ret, struct ls_err *err);
/* The same with what the file says of its training: step and digests. */
int ls_fm_load_model_at(const char *path, int threads, struct ls_fm_model **ret,
			struct ls_fm_position *ret_at, struct ls_err *err);
/* LS_EDIFFER unless every parameter and state is finite; the message names path, which is
 * not written. */
int ls_fm_check_finite(const struct ls_fm_model *m, int threads, const char *path,
		       struct ls_err *err);

/* Whether a file says that it is a checkpoint. */
bool ls_fm_is_checkpoint(const char *path);
/* Whether a file is a model of these options, that data and that start (empty: none), by
 * its metadata; its parameters are not read. */
int ls_fm_check_model(const char *path, const struct ls_fm_opts *o, const char *data_digest,
		      const char *warm_digest, struct ls_err *err);

/* The same with the optimizer's state and the position. */
int ls_fm_save_checkpoint(const char *path, const struct ls_fm_model *m,
			  const struct ls_fm_position *at, int threads, struct ls_err *err);
int ls_fm_load_checkpoint(const char *path, int threads, struct ls_fm_model **ret,
			  struct ls_fm_position *ret_at, struct ls_err *err);

/* The options as JSON text, the one form in which they are stored and compared; caller
 * frees. */
char *ls_fm_opts_text(const struct ls_fm_opts *o);

#endif
