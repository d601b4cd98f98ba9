/* The parameters of a model, and the state of its optimizer, as tensors where they lie:
 * named, filled, checked, digested. A tensor here borrows the model's memory. Any thread;
 * calls that only read a model may run together. `threads` is how many a call may use. */
#ifndef LS_FM_MODEL_TENSORS_H
#define LS_FM_MODEL_TENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/err.h"
#include "fm/model/model.h"
#include "tensor/tensor.h"

enum { LS_FM_GROUPS = 5 }; /* at most, for each state */

/* Features (or one row) × outputs × blocks × factors floats. */
struct ls_fm_group {
	char name[32];
	float *data;
	bool by_feature;
	uint64_t rows, row_stride;
	uint64_t dims[3];
	uint64_t inner; /* floats from one run of dims[2] to the next */
};

/* In file order; state 0 is the parameters and, of a model in training, its exponents;
 * states 1 and 2 are the optimizer's. Returns how many. */
size_t ls_fm_groups(const struct ls_fm_model *m, uint32_t state, struct ls_fm_group *ret);

/* As readers see it: a row a feature where there is one, then the dimensions that are not
 * 1; factors always. */
int ls_fm_group_describe(const struct ls_fm_group *g, struct ls_tensor *ret, struct ls_err *err);

/* LS_EDIFFER unless all of it are finite numbers; the message names path, which is not
 * written, and the first feature that has another. */
int ls_fm_group_check(const struct ls_fm_group *g, int threads, const char *path,
		      struct ls_err *err);
/* LS_EINPUT unless all that is copied into it from `from`, where it lies without gaps,
 * are finite numbers. */
int ls_fm_group_fill(const struct ls_fm_group *g, const uint8_t *from, int threads,
		     const char *path, struct ls_err *err);

/* Over all parameters and states, without padding: the sum, modulo 2^64, over tensors t
 * and rows r, both from 0, of the XXH3-64 of the row's bytes times 2 (16 r + t) + 1. Not
 * to tell models apart, but to find bytes that went bad. */
uint64_t ls_fm_model_checksum(const struct ls_fm_model *m, uint32_t states, int threads);

/* SHA-256 over kind, task, numerics version and every parameter: what must agree
 * everywhere. */
void ls_fm_model_digest(const struct ls_fm_model *m, char ret_hex[LS_SHA256_HEX]);

#endif
