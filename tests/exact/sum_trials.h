/* Trials of sums, statistics, operations on rows and scatters: random shapes, strides,
 * types and values, for the unit test and for tests/gpu/sums_gpu.c. Owns nothing; any
 * thread. */
#ifndef LS_TESTS_SUM_TRIALS_H
#define LS_TESTS_SUM_TRIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lockstep.h"

enum { SUM_TENSORS = 8 };

/* Tensors by a letter: x is rows × columns, r one a row, c one a column, o a single one, s
 * a row's statistic and v a column's weight as vectors, A an index a row, w the places of
 * a scatter, y and j what goes there, i their index; upper case: written. */
struct sum_operation {
	const char *name, *tensors;
	double number[2];
	size_t numbers;
	const char *golden; /* the digest of its first trials begins with it */
};

extern const struct sum_operation sum_operations[]; /* the last has no name */

struct sum_trial {
	const struct sum_operation *o;
	int64_t rows, columns;
	bool turned; /* columns lie one after the other */
	int values, type;
	uint64_t seed;
};

/* Number i of an operation; most: about the largest size. It does not depend on the other
 * operations. */
struct sum_trial sum_trial_of(const struct sum_operation *o, uint64_t i, int64_t most);
/* Tensor k, without memory. */
struct ls_exact_tensor sum_trial_shape(const struct sum_trial *t, size_t k);
size_t sum_trial_bytes(const struct ls_exact_tensor *x);
void sum_trial_fill(const struct sum_trial *t, size_t k, const struct ls_exact_tensor *x, void *at);
size_t sum_operation_count(void);

#endif
