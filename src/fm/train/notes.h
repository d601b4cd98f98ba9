/* What the course of a training should tell its user: that it has learnt nothing, or could
 * learn more. Borrows its arguments; one thread. */
#ifndef LS_FM_TRAIN_NOTES_H
#define LS_FM_TRAIN_NOTES_H

#include "fm/train/train.h"

/* Fills the notes of a result that has all else. */
void ls_train_notes(const struct ls_train *t, const struct ls_fm_model *m,
		    struct ls_train_result *r);

/* Adds to the error of an SGD that left the finite numbers a rate that would stay. rows: as
 * the training has them. */
void ls_train_advise_rate(const struct ls_train *t, const struct ls_rows *rows, struct ls_err *err);

#endif
