/* What the files of src/job share of an open store. Owned by the ls_store; one thread. */
#ifndef LS_JOB_STORE_INTERNAL_H
#define LS_JOB_STORE_INTERNAL_H

#include <sqlite3.h>

struct ls_store {
	sqlite3 *db;
	char *path;    /* of the database */
	char *root;    /* of the project: the folder that holds .lockstep */
	char *folder;  /* root/.lockstep */
	char boot[40]; /* identity of this boot of the machine */
};

/* The texts that take a database from schema i to i + 1; NULL ends the list. */
extern const char *const ls_store_migrations[];

#endif
