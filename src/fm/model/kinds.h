/* The names of what a model is, for C and CUDA alike. Owns nothing; constants; any
 * thread. */
#ifndef LS_FM_MODEL_KINDS_H
#define LS_FM_MODEL_KINDS_H

enum ls_fm_kind { LS_FM, LS_FFM, LS_FWFM };
/* The parts that have penalties of their own. */
enum ls_fm_part_of {
	LS_ON_BIAS,
	LS_ON_LINEAR,
	LS_ON_FACTORS,
	LS_ON_FIELDS, /* weights of pairs of fields */
	LS_FM_PARTS
};
enum ls_fm_task { LS_BINARY, LS_REGRESSION, LS_MULTICLASS };
enum ls_fm_optimizer { LS_SGD, LS_ADAGRAD, LS_ADAM, LS_FTRL };
enum ls_fm_shuffle { LS_SHUFFLE_ROWS, LS_SHUFFLE_BLOCKS, LS_SHUFFLE_NONE };

#endif
