/* Tables of data/, as they travel inside the program or as --tables has them. A new
 * reference each time. Any thread. */
#ifndef LS_ENV_FACTS_DATA_TABLE_H
#define LS_ENV_FACTS_DATA_TABLE_H

#include "base/err.h"
#include "base/json.h"

/* file: "data/torch.json". LS_EINTERNAL when it is not there or has no list "rows". */
int ls_data_table(const char *file, json_t **ret, struct ls_err *err);

#endif
