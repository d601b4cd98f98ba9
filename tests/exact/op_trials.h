/* Trials of exact operations, for the unit test, the golden table and the GPU: an
 * operation of the library's list, tensors of random shapes, types, layouts and values,
 * and numbers. Everything is a function of row and seed. The caller frees a trial. */
#ifndef LS_TESTS_OP_TRIALS_H
#define LS_TESTS_OP_TRIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "lockstep.h"

enum { OP_TRIAL_TENSORS = 12, OP_TRIAL_NUMBERS = 12 };

struct op_trial {
	const char *name;
	struct ls_exact_tensor t[OP_TRIAL_TENSORS];
	void *block[OP_TRIAL_TENSORS]; /* the memory of each tensor, all of its strides */
	size_t bytes[OP_TRIAL_TENSORS], tensors;
	double number[OP_TRIAL_NUMBERS];
	size_t numbers;
	bool written[OP_TRIAL_TENSORS];
};

/* A row of the table: an operation with one set of numbers. */
struct op_row {
	const char *name;
	void (*make)(const struct op_row *row, uint64_t seed, struct op_trial *t);
	double number[OP_TRIAL_NUMBERS];
	size_t numbers;
	const char *golden; /* op_trial_digest on every device, never another one under one
			       numerics version */
};

extern const struct op_row op_rows[]; /* the last has no name */

void op_trial_make(const struct op_row *row, uint64_t seed, struct op_trial *ret);
void op_trial_free(struct op_trial *t);

enum { OP_TRIALS = 20, OP_DIGEST = 17 };
/* Runs trials 0 to OP_TRIALS - 1 of a row by `run`, which returns what ls_exact_op does,
 * and gives 16 hexadecimal digits of the SHA-256 of all that was written. */
int op_row_digest(const struct op_row *row, int (*run)(struct op_trial *t, struct ls_err *err),
		  char ret[OP_DIGEST], struct ls_err *err);

/* --- for builders of rows --- */

/* Tensor `word` of the operation, added to t, in memory that its strides fill: `layout`
 * 0: contiguous; 1: dimensions in reverse; 2: gaps. values: a kind of op_value. */
void op_trial_add(struct op_trial *t, int type, int ndim, const int64_t *size, int layout,
		  unsigned values, uint64_t seed, bool written);
/* Usual numbers (0), wide ones (1), the largest (2), subnormals (3), mostly zeros (4), some
 * infinities and NaNs (5), the same in a half precision's range (6). */
float op_value(unsigned kind, uint64_t seed, uint64_t i);
uint32_t op_random(uint64_t seed, uint32_t purpose);

#endif
