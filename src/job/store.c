#include "job/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/mem.h"
#include "job/audit.h"
#include "job/sql.h"
#include "job/store_internal.h"

enum {
	APPLICATION = 0x4c534558, /* "LSEX", in the header of the database */
	PATIENCE_MS = 60000,      /* how long to wait for another writer */
};

/* --- small things --- */

void ls_moment(char ret[LS_MOMENT_TEXT])
{
	struct timespec now;
	struct tm tm;
	char day[LS_MOMENT_TEXT];
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(ret, LS_MOMENT_TEXT, "%.19s.%03dZ", day, (int)(now.tv_nsec / 1000000));
}

double ls_boot_clock(void)
{
	struct timespec now;
	clock_gettime(CLOCK_BOOTTIME, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void ls_uuid(char ret[LS_UUID_TEXT])
{
	unsigned char b[16];
	if (getrandom(b, sizeof b, 0) != (ssize_t)sizeof b)
		ls_give_up("the kernel gives no random numbers");
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	size_t at = 0;
	for (size_t i = 0; i < sizeof b; i++) {
		const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
		snprintf(ret + at, LS_UUID_TEXT - at, "%s%02x", dash, b[i]);
		at += 2 + strlen(dash);
	}
}

static void read_boot(char *ret, size_t size)
{
	char *text = NULL;
	size_t len;
	struct ls_err err;
	if (ls_file_read("/proc/sys/kernel/random/boot_id", 128, &text, &len, &err))
		text = ls_xstrdup("unknown");
	snprintf(ret, size, "%s", ls_str_trim(text));
	free(text);
}

const char *ls_store_root(const struct ls_store *s)
{
	return s->root;
}

const char *ls_store_path(const struct ls_store *s)
{
	return s->path;
}

char *ls_store_file(const struct ls_store *s, const char *name)
{
	return ls_xasprintf("%s/%s", s->folder, name);
}

void ls_store_wake(struct ls_store *s)
{
	char *path = ls_store_file(s, "wake");
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd >= 0)
		close(fd); /* the worker waits for IN_CLOSE_WRITE */
	free(path);
}

/* --- where it may lie --- */

const char *ls_store_unsafe(uint64_t type)
{
	static const struct {
		uint32_t type;
		const char *name;
	} kinds[] = {
		{0x6969, "NFS"},        {0xff534d42, "CIFS"},  {0xfe534d42, "SMB"},
		{0x517b, "SMB"},        {0x65735546, "FUSE"},  {0x01021997, "9P"},
		{0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},  {0x19830326, "BeeGFS"},
		{0x00c36400, "Ceph"},   {0x5346414f, "AFS"},   {0x6b414653, "AFS"},
		{0x73757245, "Coda"},   {0x7461636f, "OCFS2"}, {0x01161970, "GFS2"},
		{0x786f4256, "vboxsf"}, {0xaad7aaea, "PanFS"},
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].type == (uint32_t)type)
			return kinds[i].name;
	return NULL;
}

static int check_place(const char *folder, struct ls_err *err)
{
	struct statfs fs;
	if (statfs(folder, &fs))
		return ls_err_errno(err, folder, "look at its file system");
	const char *name = ls_store_unsafe((uint64_t)fs.f_type);
	if (!name)
		return 0;
	return ls_err_set(err, LS_EINPUT,
			  "%s: is on %s, where processes of several machines would ruin the "
			  "database; keep it on a disk of this machine: `lockstep exp init "
			  "--database /var/tmp/NAME.db` leaves the run folders here",
			  folder, name);
}

/* --- opening --- */

static int pragma(struct ls_store *s, const char *sql, struct ls_err *err)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? 0
		       : ls_sql_error(s, "open", err);
}

/* The first page tells a store from another database; what sqlite cannot read is refused
 * too. */
static int check_identity(struct ls_store *s, bool fresh, struct ls_err *err)
{
	int64_t application = 0, version = 0, known = 0;
	while (ls_store_migrations[known])
		known++;
	int rc = ls_sql_number(s, 0, &application, err, "PRAGMA application_id", "");
	if (!rc)
		rc = ls_sql_number(s, 0, &version, err, "PRAGMA user_version", "");
	if (rc)
		return rc;
	if (!fresh && application != APPLICATION)
		return ls_err_set(err, LS_EINPUT,
				  "%s: is no store of experiments; move it away and put a backup "
				  "in its place, or begin anew with `lockstep exp init`",
				  s->path);
	if (version > known)
		return ls_err_set(
			err, LS_EINPUT,
			"%s: was written by a newer lockstep (schema %lld, this one knows %lld); "
			"use that version or newer; nothing was changed",
			s->path, (long long)version, (long long)known);
	return 0;
}

static int migrate_step(struct ls_store *s, int64_t to, struct ls_err *err)
{
	char mark[96];
	snprintf(mark, sizeof mark, "PRAGMA application_id=%d; PRAGMA user_version=%lld",
		 APPLICATION, (long long)to);
	int rc = pragma(s, ls_store_migrations[to - 1], err);
	return rc ? rc : pragma(s, mark, err);
}

static int migrate(struct ls_store *s, struct ls_err *err)
{
	int64_t version = 0;
	int rc = ls_sql_number(s, 0, &version, err, "PRAGMA user_version", "");
	if (rc || !ls_store_migrations[version])
		return rc;
	rc = ls_tx_begin(s, err);
	if (rc)
		return rc;
	/* another process may have been quicker */
	rc = ls_sql_number(s, 0, &version, err, "PRAGMA user_version", "");
	while (!rc && ls_store_migrations[version])
		rc = migrate_step(s, ++version, err);
	return ls_tx_end(s, rc, err);
}

static int settle(struct ls_store *s, bool fresh, struct ls_err *err)
{
	sqlite3_busy_timeout(s->db, PATIENCE_MS);
	sqlite3_extended_result_codes(s->db, 1);
	int rc = check_identity(s, fresh, err);
	json_t *row = NULL;
	if (!rc)
		rc = ls_sql_one(s, &row, err, "PRAGMA journal_mode=WAL", "");
	const char *mode = ls_col_text(row, "journal_mode");
	if (!rc && (!mode || strcmp(mode, "wal") != 0))
		rc = ls_err_set(err, LS_EIO,
				"%s: this file system cannot hold a write-ahead log; keep the "
				"database elsewhere: `lockstep exp init --database FILE`",
				s->path);
	json_decref(row);
	if (!rc)
		rc = pragma(s, "PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON", err);
	return rc ? rc : migrate(s, err);
}

static int open_database(struct ls_store *s, bool fresh, struct ls_err *err)
{
	char *folder = ls_file_folder(s->path);
	int rc = check_place(folder, err);
	free(folder);
	if (rc)
		return rc;
	int flags = SQLITE_OPEN_READWRITE | (fresh ? SQLITE_OPEN_CREATE : 0);
	if (sqlite3_open_v2(s->path, &s->db, flags, NULL) != SQLITE_OK)
		return ls_sql_error(s, "open", err);
	return settle(s, fresh, err);
}

/* PROJECT/.lockstep/database holds the path of a database that lies elsewhere. */
static int database_path(struct ls_store *s, struct ls_err *err)
{
	char *pointer = ls_store_file(s, "database"), *text = NULL;
	size_t len;
	int rc = 0;
	if (!ls_file_exists(pointer)) {
		s->path = ls_store_file(s, "exp.db");
	} else {
		rc = ls_file_read(pointer, 4096, &text, &len, err);
		if (!rc)
			s->path = ls_xstrdup(ls_str_trim(text));
	}
	free(text);
	free(pointer);
	return rc;
}

static struct ls_store *store_new(const char *root)
{
	struct ls_store *s = ls_xalloc(sizeof *s);
	s->root = ls_xstrdup(root);
	s->folder = ls_xasprintf("%s/.lockstep", strcmp(root, "/") ? root : "");
	read_boot(s->boot, sizeof s->boot);
	return s;
}

void ls_store_close(struct ls_store *s)
{
	if (!s)
		return;
	sqlite3_close_v2(s->db);
	free(s->path);
	free(s->root);
	free(s->folder);
	free(s);
}

/* The nearest folder, from `from` upwards, that holds .lockstep; NULL: none. */
static char *find_root(const char *from)
{
	char *path = realpath(from, NULL);
	while (path) {
		char *inside = ls_xasprintf("%s/.lockstep", path);
		struct stat st;
		bool found = stat(inside, &st) == 0 && S_ISDIR(st.st_mode);
		free(inside);
		if (found)
			return path;
		char *slash = strrchr(path, '/');
		if (slash == path && path[1])
			slash[1] = 0;
		else if (slash == path)
			break;
		else
			*slash = 0;
	}
	free(path);
	return NULL;
}

int ls_store_open(const char *from, struct ls_store **ret, struct ls_err *err)
{
	char *root = find_root(from);
	if (!root)
		return ls_err_set(err, LS_EINPUT,
				  "no experiments here: neither this folder nor one above it has a "
				  "folder .lockstep; `lockstep exp init` makes one");
	struct ls_store *s = store_new(root);
	free(root);
	int rc = database_path(s, err);
	if (!rc)
		rc = open_database(s, false, err);
	if (rc)
		ls_store_close(s);
	else
		*ret = s;
	return rc;
}

/* --- making one --- */

static int write_text(const char *folder, const char *name, const char *text, struct ls_err *err)
{
	char *path = ls_xasprintf("%s/%s", folder, name);
	int rc = ls_file_write_atomic(path, text, strlen(text), err);
	free(path);
	return rc;
}

/* Where the database is to be, which may be outside the project. */
static int place_database(struct ls_store *s, const char *database, struct ls_err *err)
{
	char *folder = ls_file_folder(database), *real = realpath(folder, NULL);
	free(folder);
	if (!real)
		return ls_err_errno(err, database, "find its folder");
	const char *slash = strrchr(database, '/');
	s->path = ls_xasprintf("%s/%s", real, slash ? slash + 1 : database);
	int rc = check_place(real, err);
	free(real);
	if (!rc && ls_file_exists(s->path))
		rc = ls_err_set(err, LS_EINPUT, "%s: is already there", s->path);
	return rc;
}

static int make_folders(struct ls_store *s, struct ls_err *err)
{
	char *templates = ls_store_file(s, "templates"), *locks = ls_store_file(s, "locks");
	int rc = ls_folder_make(templates, err);
	if (!rc)
		rc = ls_folder_make(locks, err);
	if (!rc)
		rc = write_text(s->folder, ".gitignore", "*\n!.gitignore\n!templates/**\n", err);
	free(templates);
	free(locks);
	return rc;
}

int ls_store_init(const char *folder, const char *database, char **ret_path, struct ls_err *err)
{
	char *root = realpath(folder, NULL);
	if (!root)
		return ls_err_errno(err, folder, "find");
	struct ls_store *s = store_new(root);
	free(root);
	int rc = 0;
	if (ls_file_exists(s->folder))
		rc = ls_err_set(err, LS_EINPUT, "%s: is already there", s->folder);
	/* nothing is made before everything was looked at */
	if (!rc)
		rc = database ? place_database(s, database, err) : check_place(s->root, err);
	if (!rc)
		rc = make_folders(s, err);
	if (!rc)
		rc = database ? write_text(s->folder, "database", s->path, err)
			      : database_path(s, err);
	if (!rc)
		rc = open_database(s, true, err);
	if (!rc)
		*ret_path = ls_xstrdup(s->path);
	ls_store_close(s);
	return rc;
}

/* --- backup and check --- */

static int copy_pages(struct ls_store *s, sqlite3 *to, const char *path, struct ls_err *err)
{
	sqlite3_backup *b = sqlite3_backup_init(to, "main", s->db, "main");
	int rc = b ? sqlite3_backup_step(b, -1) : SQLITE_ERROR;
	if (b)
		sqlite3_backup_finish(b);
	/* one file, readable without a log beside it */
	if (rc == SQLITE_DONE)
		rc = sqlite3_exec(to, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
	else
		rc = rc ? rc : SQLITE_ERROR;
	if (rc == SQLITE_OK)
		return 0;
	return ls_err_set(err, LS_EIO, "%s: cannot write the backup: %s", path, sqlite3_errmsg(to));
}

int ls_store_backup(struct ls_store *s, const char *to, struct ls_err *err)
{
	if (ls_file_exists(to))
		return ls_err_set(err, LS_EINPUT, "%s: is already there; name a new file", to);
	char *part = ls_xasprintf("%s.part", to);
	sqlite3 *db = NULL;
	unlink(part);
	int rc = 0;
	if (sqlite3_open(part, &db) != SQLITE_OK)
		rc = ls_err_set(err, LS_EIO, "%s: cannot make it: %s", part, sqlite3_errmsg(db));
	if (!rc)
		rc = copy_pages(s, db, part, err);
	sqlite3_close(db);
	if (!rc && rename(part, to))
		rc = ls_err_errno(err, to, "put it in place");
	if (rc)
		unlink(part);
	free(part);
	return rc;
}

static int check_pages(struct ls_store *s, const char *sql, struct ls_str *faults,
		       struct ls_err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = ls_sql_open(s, &st, err, sql, "");
	while (!rc && (rc = ls_sql_next(s, st, err)) > 0) {
		const char *text = (const char *)sqlite3_column_text(st, 0);
		if (text && strcmp(text, "ok") != 0)
			ls_str_addf(faults, "database: %s\n", text);
		rc = 0;
	}
	ls_sql_done(st);
	return rc;
}

int ls_store_check(struct ls_store *s, struct ls_str *faults, struct ls_err *err)
{
	int rc = check_pages(s, "PRAGMA integrity_check", faults, err);
	if (!rc)
		rc = check_pages(s,
				 "SELECT 'a row of ' || \"table\" || ' refers to nothing' FROM "
				 "pragma_foreign_key_check",
				 faults, err);
	return rc ? rc : ls_audit(s, faults, err);
}
