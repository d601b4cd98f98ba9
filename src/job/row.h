/* Members of the store's rows, which are JSON objects. Texts are borrowed from the row.
 * Any thread. */
#ifndef LS_JOB_ROW_H
#define LS_JOB_ROW_H

#include <stdint.h>

#include "base/json.h"

/* NULL where it is null or no text. */
const char *ls_col_text(const json_t *row, const char *key);
int64_t ls_col_int(const json_t *row, const char *key, int64_t missing);
double ls_col_real(const json_t *row, const char *key, double missing);

#endif
