#include "job/sql.h"

#include <stdarg.h>
#include <string.h>

#include "base/str.h"
#include "job/store_internal.h"

static int code_of(int sqlite)
{
	switch (sqlite & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return LS_EINPUT;
	case SQLITE_ERROR:
	case SQLITE_CONSTRAINT:
	case SQLITE_MISUSE:
	case SQLITE_RANGE:
		return LS_EINTERNAL;
	default:
		return LS_EIO;
	}
}

static const char *advice_of(int sqlite)
{
	switch (sqlite & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return "the file is damaged or is no store: put a backup in its place "
		       "(`lockstep exp backup` makes them)";
	case SQLITE_FULL:
		return "the disk is full: nothing was changed; make room and try again";
	case SQLITE_BUSY:
		return "another process has held the store for too long; try again";
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return "is it there, and may you write to it and to its folder?";
	default:
		return NULL;
	}
}

int ls_sql_error(struct ls_store *s, const char *verb, struct ls_err *err)
{
	int code = sqlite3_extended_errcode(s->db);
	int rc = ls_err_set(err, code_of(code), "%s: cannot %s: %s", s->path, verb,
			    sqlite3_errmsg(s->db));
	if (advice_of(code))
		ls_err_advise(err, advice_of(code));
	return rc;
}

static void bind(sqlite3_stmt *st, const char *types, va_list ap)
{
	for (int i = 0; types[i]; i++) {
		switch (types[i]) {
		case 's':
			sqlite3_bind_text(st, i + 1, va_arg(ap, const char *), -1,
					  SQLITE_TRANSIENT);
			break;
		case 'i':
			sqlite3_bind_int64(st, i + 1, va_arg(ap, int64_t));
			break;
		case 'd':
			sqlite3_bind_double(st, i + 1, va_arg(ap, double));
			break;
		default:
			sqlite3_bind_null(st, i + 1);
		}
	}
}

static int prepare(struct ls_store *s, sqlite3_stmt **ret, struct ls_err *err, const char *sql,
		   const char *types, va_list ap)
{
	if (sqlite3_prepare_v2(s->db, sql, -1, ret, NULL) != SQLITE_OK)
		return ls_sql_error(s, "read", err);
	bind(*ret, types, ap);
	return 0;
}

int ls_sql_open(struct ls_store *s, sqlite3_stmt **ret, struct ls_err *err, const char *sql,
		const char *types, ...)
{
	va_list ap;
	va_start(ap, types);
	int rc = prepare(s, ret, err, sql, types, ap);
	va_end(ap);
	return rc;
}

int ls_sql_next(struct ls_store *s, sqlite3_stmt *st, struct ls_err *err)
{
	int rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		return 1;
	return rc == SQLITE_DONE ? 0 : ls_sql_error(s, "use", err);
}

void ls_sql_done(sqlite3_stmt *st)
{
	sqlite3_finalize(st);
}

int ls_sql_run(struct ls_store *s, struct ls_err *err, const char *sql, const char *types, ...)
{
	sqlite3_stmt *st = NULL;
	va_list ap;
	va_start(ap, types);
	int rc = prepare(s, &st, err, sql, types, ap);
	va_end(ap);
	if (rc)
		return rc;
	do
		rc = ls_sql_next(s, st, err);
	while (rc > 0);
	ls_sql_done(st);
	return rc ? rc : sqlite3_changes(s->db);
}

static json_t *cell(sqlite3_stmt *st, int i, bool parse)
{
	switch (sqlite3_column_type(st, i)) {
	case SQLITE_INTEGER:
		return json_integer(sqlite3_column_int64(st, i));
	case SQLITE_FLOAT:
		return json_real(sqlite3_column_double(st, i));
	case SQLITE_NULL:
		return json_null();
	default:
		break;
	}
	const char *text = (const char *)sqlite3_column_text(st, i);
	json_t *v = parse && text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
	return v ? v : ls_json_lossy(text ? text : "");
}

json_t *ls_sql_row(sqlite3_stmt *st)
{
	json_t *row = json_object();
	for (int i = 0; i < sqlite3_column_count(st); i++) {
		const char *name = sqlite3_column_name(st, i);
		bool parse = ls_str_starts(name, "json_");
		json_object_set_new(row, name + (parse ? 5 : 0), cell(st, i, parse));
	}
	return row;
}

static int collect(struct ls_store *s, sqlite3_stmt *st, json_t *to, size_t most,
		   struct ls_err *err)
{
	int rc = 0;
	while (json_array_size(to) < most && (rc = ls_sql_next(s, st, err)) > 0)
		json_array_append_new(to, ls_sql_row(st));
	ls_sql_done(st);
	return rc < 0 ? rc : 0;
}

int ls_sql_one(struct ls_store *s, json_t **ret, struct ls_err *err, const char *sql,
	       const char *types, ...)
{
	sqlite3_stmt *st = NULL;
	va_list ap;
	va_start(ap, types);
	int rc = prepare(s, &st, err, sql, types, ap);
	va_end(ap);
	if (rc)
		return rc;
	json_t *rows = json_array();
	rc = collect(s, st, rows, 1, err);
	if (!rc)
		*ret = json_incref(json_array_get(rows, 0));
	json_decref(rows);
	return rc;
}

int ls_sql_all(struct ls_store *s, json_t **ret, struct ls_err *err, const char *sql,
	       const char *types, ...)
{
	sqlite3_stmt *st = NULL;
	va_list ap;
	va_start(ap, types);
	int rc = prepare(s, &st, err, sql, types, ap);
	va_end(ap);
	if (rc)
		return rc;
	json_t *rows = json_array();
	rc = collect(s, st, rows, SIZE_MAX, err);
	if (rc)
		json_decref(rows);
	else
		*ret = rows;
	return rc;
}

int ls_sql_number(struct ls_store *s, int64_t missing, int64_t *ret, struct ls_err *err,
		  const char *sql, const char *types, ...)
{
	sqlite3_stmt *st = NULL;
	va_list ap;
	va_start(ap, types);
	int rc = prepare(s, &st, err, sql, types, ap);
	va_end(ap);
	if (rc)
		return rc;
	rc = ls_sql_next(s, st, err);
	if (rc >= 0)
		*ret = rc > 0 ? sqlite3_column_int64(st, 0) : missing;
	ls_sql_done(st);
	return rc < 0 ? rc : 0;
}

int ls_tx_begin(struct ls_store *s, struct ls_err *err)
{
	return sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK
		       ? 0
		       : ls_sql_error(s, "write", err);
}

int ls_tx_end(struct ls_store *s, int rc, struct ls_err *err)
{
	if (rc >= 0 && sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	if (rc >= 0)
		rc = ls_sql_error(s, "write", err);
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}
