/* Helps to check the tensors of an exact operation: sizes, types, overlaps. Owns nothing;
 * any thread. */
#ifndef LS_EXACT_OP_TENSOR_H
#define LS_EXACT_OP_TENSOR_H

#include "exact/op/family.h"

/* The word of tensor i in the row, without its marks, for messages. */
const char *ls_exact_word(const char *words, size_t i, char *ret, size_t size);
/* How many words there are, and how many at least have to be given. */
size_t ls_exact_words(const char *words, size_t *ret_least);
bool ls_exact_is_written(const struct ls_exact_op_row *row, size_t i);

size_t ls_exact_type_size(int type);
const char *ls_exact_type_name(int type);
static inline bool ls_exact_is_float(int type) /* float32 or a half precision */
{
	return type == LS_EXACT_F32 || type == LS_EXACT_BF16 || type == LS_EXACT_F16;
}

int64_t ls_exact_count(const struct ls_exact_tensor *x); /* of elements */
bool ls_exact_same_shape(const struct ls_exact_tensor *x, const struct ls_exact_tensor *y);
/* The optional tensor i, or NULL where it was left out. */
const struct ls_exact_tensor *ls_exact_given(const struct ls_exact_call *c, size_t i);

/* LS_EINPUT with the operation's and the tensor's name, and the sentence. */
int ls_exact_refuse(const struct ls_exact_call *c, size_t i, struct ls_err *err, const char *fmt,
		    ...) __attribute__((format(printf, 4, 5)));

/* What holds for every operation: known types, sizes that can be, memory that is there,
 * written tensors that share memory with nothing but what may be the same. */
int ls_exact_check_tensors(const struct ls_exact_call *c, struct ls_err *err);

#endif
