/* What is other in the options of a checkpoint than in those of a training. Borrows its
 * arguments; any thread. */
#ifndef LS_FM_TRAIN_DIFFERENCE_H
#define LS_FM_TRAIN_DIFFERENCE_H

#include "base/str.h"

/* Adds the first option that two option texts (ls_fm_opts_text) have different, as "lr was
 * 0.1, is 0.05"; the texts list the same keys. */
void ls_fm_first_difference(const char *was, const char *is, struct ls_str *ret);

#endif
