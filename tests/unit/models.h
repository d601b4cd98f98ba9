/* Whether two models of the same options are the same to the last bit. For tests; include
 * cmocka.h before it. */
#ifndef LS_TESTS_MODELS_H
#define LS_TESTS_MODELS_H

#include "fm/model/model.h"

static inline void assert_same_model(const struct ls_fm_model *a, const struct ls_fm_model *b)
{
	assert_int_equal(a->bytes, b->bytes);
	assert_memory_equal(a->linear, b->linear, a->n_features * ls_fm_stride(a) * sizeof(float));
	assert_memory_equal(a->bias, b->bias, ls_fm_linear_size(a) * sizeof(float));
	if (a->pair)
		assert_memory_equal(a->pair, b->pair,
				    a->outputs * a->n_pairs * (1 + a->states) * sizeof(float));
}

#endif
