/* The schema, as the steps that lead to it. A step is never edited once it was released:
 * what changes is a step of its own. Times are UTC text for people; order is the event's
 * number. */
#include "job/store_internal.h"

static const char first[] =
	"CREATE TABLE experiment("
	" id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE,"
	" grp TEXT, description TEXT, template TEXT, command TEXT NOT NULL,"
	" partition TEXT, num_gpus INTEGER NOT NULL, batch_size INTEGER, accumulation INTEGER,"
	" global_batch INTEGER, samples INTEGER, warmup_steps INTEGER, total_steps INTEGER,"
	" precision TEXT, seed INTEGER, level INTEGER, settings TEXT NOT NULL, harvest TEXT,"
	" git TEXT, diff TEXT, environment TEXT, created TEXT NOT NULL,"
	/* the queue's part */
	" state TEXT NOT NULL CHECK(state IN "
	"  ('new','queued','running','done','failed','cancelled','dead')),"
	" reason TEXT, engine TEXT, priority INTEGER NOT NULL DEFAULT 0, queued INTEGER,"
	" retries INTEGER NOT NULL DEFAULT 0, attempt INTEGER NOT NULL DEFAULT 0,"
	" tries INTEGER NOT NULL DEFAULT 0, soft_limit REAL, hard_limit REAL, grace REAL,"
	" requeue INTEGER NOT NULL DEFAULT 0, cancel INTEGER NOT NULL DEFAULT 0,"
	" owner TEXT, lease_boot TEXT, lease_until REAL, gpus TEXT, slots INTEGER);"
	"CREATE INDEX experiment_queue ON experiment(state, priority DESC, queued);"
	"CREATE INDEX experiment_grp ON experiment(grp);"
	"CREATE TABLE diff(sha256 TEXT PRIMARY KEY, text TEXT NOT NULL);"
	"CREATE TABLE dependency(experiment INTEGER NOT NULL REFERENCES experiment ON DELETE "
	"CASCADE,"
	" after INTEGER NOT NULL REFERENCES experiment ON DELETE RESTRICT,"
	" PRIMARY KEY(experiment, after)) WITHOUT ROWID;"
	"CREATE TABLE tag(experiment INTEGER NOT NULL REFERENCES experiment ON DELETE CASCADE,"
	" tag TEXT NOT NULL, PRIMARY KEY(experiment, tag)) WITHOUT ROWID;"
	"CREATE TABLE note(id INTEGER PRIMARY KEY,"
	" experiment INTEGER NOT NULL REFERENCES experiment ON DELETE CASCADE,"
	" at TEXT NOT NULL, text TEXT NOT NULL);"
	"CREATE TABLE attempt(experiment INTEGER NOT NULL REFERENCES experiment ON DELETE CASCADE,"
	" number INTEGER NOT NULL, token TEXT NOT NULL UNIQUE, folder TEXT NOT NULL,"
	" started TEXT NOT NULL, ended TEXT, outcome TEXT, status INTEGER, signal INTEGER,"
	" wall REAL, user REAL, system REAL, peak_rss INTEGER, gpus TEXT, manifest TEXT,"
	" PRIMARY KEY(experiment, number)) WITHOUT ROWID;"
	"CREATE TABLE metric(experiment INTEGER NOT NULL REFERENCES experiment ON DELETE CASCADE,"
	" attempt INTEGER NOT NULL, name TEXT NOT NULL, step INTEGER NOT NULL,"
	" value REAL NOT NULL, source TEXT NOT NULL,"
	" PRIMARY KEY(experiment, attempt, name, step)) WITHOUT ROWID;"
	"CREATE TABLE artifact(experiment INTEGER NOT NULL REFERENCES experiment ON DELETE CASCADE,"
	" attempt INTEGER NOT NULL, path TEXT NOT NULL, bytes INTEGER NOT NULL,"
	" sha256 TEXT NOT NULL, PRIMARY KEY(experiment, attempt, path)) WITHOUT ROWID;"
	"CREATE TABLE worker(uuid TEXT PRIMARY KEY, pid INTEGER NOT NULL, boot TEXT NOT NULL,"
	" started TEXT NOT NULL, ended TEXT, gpus TEXT NOT NULL, slots INTEGER NOT NULL)"
	" WITHOUT ROWID;"
	/* What happened. Nothing here is ever changed or removed, not even by rm. */
	"CREATE TABLE event(id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL,"
	" uuid TEXT NOT NULL, kind TEXT NOT NULL, attempt INTEGER, actor TEXT, detail TEXT);"
	"CREATE INDEX event_uuid ON event(uuid, id);"
	"CREATE TRIGGER event_kept BEFORE DELETE ON event"
	" BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;"
	"CREATE TRIGGER event_fixed BEFORE UPDATE ON event"
	" BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;";

/* A value may be NULL: not a number. */
static const char second[] =
	"DROP TABLE metric;"
	"CREATE TABLE metric(experiment INTEGER NOT NULL REFERENCES experiment ON DELETE CASCADE,"
	" attempt INTEGER NOT NULL, name TEXT NOT NULL, step INTEGER NOT NULL,"
	" value REAL, source TEXT NOT NULL,"
	" PRIMARY KEY(experiment, attempt, name, step)) WITHOUT ROWID;";

/* What Slurm was asked for, beside experiments whose engine it is. uuid is the
 * submission's, NULL: not given to Slurm yet; job is the whole array's id, NULL: Slurm's
 * answer is not known; batch is shared by what one command submitted; missing is the
 * moment, in seconds since 1970, from which Slurm has owed an answer. */
static const char third[] =
	"CREATE TABLE slurm(experiment INTEGER PRIMARY KEY REFERENCES experiment ON DELETE CASCADE,"
	" options TEXT NOT NULL, batch TEXT NOT NULL, uuid TEXT, task INTEGER NOT NULL DEFAULT -1,"
	" job INTEGER, script TEXT, sent TEXT, missing REAL);";

const char *const ls_store_migrations[] = {first, second, third, NULL};
