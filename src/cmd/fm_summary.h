/* What a training is about to do, in two lines: its rows and labels, and what the options
 * and their defaults come to. One thread. */
#ifndef LS_CMD_FM_SUMMARY_H
#define LS_CMD_FM_SUMMARY_H

#include "cmd/progress.h"
#include "fm/train/train.h"

void ls_fm_print_summary(const struct ls_train *t, const struct ls_progress *p);

#endif
