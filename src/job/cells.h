/* Columns of experiments by name: what list, export and variance show, filter, sort and
 * group by. A row is an experiment with its metrics (metrics.h). Any thread. */
#ifndef LS_JOB_CELLS_H
#define LS_JOB_CELLS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"

/* The value of a column, borrowed; NULL where the row has none. A column is a member of
 * the row (name or exp_id, partition, seed …), else a metric (loss, loss:min, loss:max),
 * else a setting of --set. metric.NAME and set.NAME say which is meant. */
const json_t *ls_cell(const json_t *row, const char *column);
/* Texts to be freed, "" where there is no value. exact: all digits of a number. */
char *ls_cell_text(const json_t *v, bool exact);

/* Sorts rows by a column, "-COLUMN": the largest first. Those without a value come last,
 * equal ones stay in their order. */
void ls_cells_sort(json_t *rows, const char *by);

/* Keeps the rows for which "COLUMN=VALUE" holds; also != < <= > >=. Numbers are compared
 * as numbers. A row without a value passes only != and "COLUMN=", which asks for just
 * that. */
int ls_cells_filter(json_t *rows, const char *condition, struct ls_err *err);

/* Tests whether any row has the column; an unknown one is LS_EINPUT with a "did you
 * mean". */
int ls_cells_known(const json_t *rows, const char *column, struct ls_err *err);

#endif
