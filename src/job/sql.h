/* SQLite with this tree's errors: statements with bound values, rows as JSON objects,
 * transactions. A statement is finalized by ls_sql_done; ls_sql_run does it itself. Only
 * src/job includes this. One thread a store. */
#ifndef LS_JOB_SQL_H
#define LS_JOB_SQL_H

#include <sqlite3.h>

#include "base/err.h"
#include "base/json.h"
#include "job/row.h"

struct ls_store;

/* What sqlite3 last said about the store, with advice; verb as in "cannot VERB". */
int ls_sql_error(struct ls_store *s, const char *verb, struct ls_err *err);

/* types has one letter a value of `?`: s text or NULL, i int64_t, d double, n nothing
 * (NULL). */
int ls_sql_open(struct ls_store *s, sqlite3_stmt **ret, struct ls_err *err, const char *sql,
		const char *types, ...);
/* 1: a row, 0: no more, negative: an error. */
int ls_sql_next(struct ls_store *s, sqlite3_stmt *st, struct ls_err *err);
void ls_sql_done(sqlite3_stmt *st);
/* To its end, without a look at rows. Returns the number of rows changed, or an error. */
int ls_sql_run(struct ls_store *s, struct ls_err *err, const char *sql, const char *types, ...);

/* The current row as {column: value}; new reference. Columns named json_… are parsed and
 * lose that prefix. */
json_t *ls_sql_row(sqlite3_stmt *st);
/* The first row, or NULL in *ret where there is none. */
int ls_sql_one(struct ls_store *s, json_t **ret, struct ls_err *err, const char *sql,
	       const char *types, ...);
/* All rows as an array. */
int ls_sql_all(struct ls_store *s, json_t **ret, struct ls_err *err, const char *sql,
	       const char *types, ...);
/* The first column of the first row as a number; `missing` where there is no row. */
int ls_sql_number(struct ls_store *s, int64_t missing, int64_t *ret, struct ls_err *err,
		  const char *sql, const char *types, ...);

/* A transaction that may write. It takes the write lock at once, so that what it reads
 * stays true until its end. */
int ls_tx_begin(struct ls_store *s, struct ls_err *err);
/* Commits when rc is 0, else rolls back. Returns rc, or the error of the commit. */
int ls_tx_end(struct ls_store *s, int rc, struct ls_err *err);

#endif
