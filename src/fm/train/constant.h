/* The best constant: the score that a model without features would have, from the labels
 * alone. A training that is worse than that has learnt nothing. Sums are order-free.
 * Borrows its arguments; any thread that has called ls_fp_enter. */
#ifndef LS_FM_TRAIN_CONSTANT_H
#define LS_FM_TRAIN_CONSTANT_H

#include "fm/data/rows.h"
#include "fm/model/model.h"

/* Rows weigh their own weight times their class's. With W the sum of these weights and
 * W_c that of class c, in binary64, each rounded once by its sum:
 *
 *   regression   the sum of weight times label, divided by W
 *   otherwise    every class gets half a mean row more, V_c = W_c + W / (2 n), so that one
 *                without rows has a finite score
 *   binary       log(V_1 / V_0)
 *   multiclass   log(V_c / sum of all V), the sum from class 0 upwards
 *
 * Quotients are rounded to binary32 before ls_logf. ret: ls_fm_outputs scores. */
void ls_fm_constant(const struct ls_fm_opts *o, const struct ls_rows *rows, float *ret);

/* The mean loss that these scores have over the rows, as a training reports it. */
double ls_fm_constant_loss(const struct ls_fm_opts *o, const struct ls_rows *rows,
			   const float *score);

#endif
