/* A part of loaded rows, chosen by the keyed permutation, so that anybody with the seed
 * finds the same rows. A part owns copies of its rows; ls_part_free accepts NULL. The
 * rows it was made of may go. Once made it is read-only; any thread. */
#ifndef LS_FM_DATA_PART_H
#define LS_FM_DATA_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "fm/data/rows.h"

struct ls_part;

/* Row i has the place ls_perm(key, n_rows, i), with the key of the seed and
 * LS_PART_PURPOSE. The part has the rows whose places are from lo on and below hi, or,
 * unless `inside`, all others. They keep their order. */
int ls_part_new(const struct ls_rows *rows, uint64_t seed, uint64_t lo, uint64_t hi, bool inside,
		struct ls_part **ret, struct ls_err *err);
void ls_part_free(struct ls_part *p);

const struct ls_rows *ls_part_rows(const struct ls_part *p);

#endif
