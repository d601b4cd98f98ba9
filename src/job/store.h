/* The store of experiments: one SQLite database in PROJECT/.lockstep, found from the
 * current folder upwards as git finds .git. A store is freed by ls_store_close. One
 * thread a store; any number of processes. Every change is one transaction that is on the
 * disk when the call returns. */
#ifndef LS_JOB_STORE_H
#define LS_JOB_STORE_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

struct ls_store;

/* Makes PROJECT/.lockstep in folder. database: where the database shall be, or NULL for
 * there; the project may then lie on a shared disk while the database does not. *ret_path
 * is freed by the caller. */
int ls_store_init(const char *folder, const char *database, char **ret_path, struct ls_err *err);
/* Finds and opens the store of the folder `from` or of one above it. */
int ls_store_open(const char *from, struct ls_store **ret, struct ls_err *err);
void ls_store_close(struct ls_store *s); /* NULL is fine */

const char *ls_store_root(const struct ls_store *s); /* the project's folder, absolute */
const char *ls_store_path(const struct ls_store *s); /* of the database */

/* Copies the database, also while others write it. The copy appears whole or not at
 * all. */
int ls_store_backup(struct ls_store *s, const char *to, struct ls_err *err);
/* Reads all of the database and appends a line for each fault: pages, references, states
 * that no history explains. */
int ls_store_check(struct ls_store *s, struct ls_str *faults, struct ls_err *err);

/* Why a database with a write-ahead log is not safe on a file system, by the number that
 * statfs gives: its name ("NFS"); NULL: it is safe. */
const char *ls_store_unsafe(uint64_t type);

/* Tells a waiting worker that something has changed. */
void ls_store_wake(struct ls_store *s);
/* PROJECT/.lockstep/NAME, to be freed. */
char *ls_store_file(const struct ls_store *s, const char *name);

/* The moment in UTC with milliseconds, for people. */
enum { LS_MOMENT_TEXT = 32 };
void ls_moment(char ret[LS_MOMENT_TEXT]);
/* Seconds since this machine started: does not jump when the clock is set. */
double ls_boot_clock(void);
/* A random identity: 36 characters and a NUL. */
enum { LS_UUID_TEXT = 37 };
void ls_uuid(char ret[LS_UUID_TEXT]);

#endif
