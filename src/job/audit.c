/* A small machine reads the events of one experiment in order. It knows nothing of the
 * code that wrote them, so a wrong transaction shows up here. */
#include "job/audit.h"

#include <string.h>

#include "job/sql.h"

enum state { ABSENT, NEW, QUEUED, RUNNING, ENDED, CANCELLED, REMOVED };

static const struct rule {
	const char *kind;
	unsigned from; /* states it may come in, as bits */
	int to;        /* -1: the state stays */
} rules[] = {
	{"created", 1u << ABSENT, NEW},
	{"submitted", 1u << NEW | 1u << ENDED | 1u << CANCELLED, QUEUED},
	{"claimed", 1u << QUEUED, RUNNING},
	{"adopted", 1u << RUNNING, -1},
	{"cancelling", 1u << QUEUED | 1u << RUNNING, -1}, /* queued: in Slurm */
	{"ended", 1u << RUNNING, ENDED},
	{"requeued", 1u << ENDED, QUEUED},
	{"cancelled", 1u << QUEUED, CANCELLED},
	{"harvested", ~(1u << ABSENT), -1},
	{"noted", ~(1u << ABSENT), -1},
	{"tagged", ~(1u << ABSENT), -1},
	{"untagged", ~(1u << ABSENT), -1},
	{"changed", 1u << NEW | 1u << QUEUED | 1u << ENDED | 1u << CANCELLED, -1},
	{"removed", 1u << NEW | 1u << ENDED | 1u << CANCELLED, REMOVED},
};

static const char *const state_names[] = {"absent", "new",       "queued", "running",
					  "ended",  "cancelled", "removed"};

struct track {
	char uuid[LS_UUID_TEXT];
	enum state state;
	int64_t attempt;
	char outcome[24]; /* of the last attempt */
};

static const struct rule *find(const char *kind)
{
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (strcmp(rules[i].kind, kind) == 0)
			return &rules[i];
	return NULL;
}

/* A new attempt has the next number, and only the running one ends. */
static bool attempt_fits(struct track *t, const char *kind, int64_t attempt)
{
	if (strcmp(kind, "claimed") == 0)
		return attempt == ++t->attempt;
	if (strcmp(kind, "ended") == 0 || strcmp(kind, "adopted") == 0)
		return attempt == t->attempt;
	return true;
}

static void step(struct track *t, const json_t *e, struct ls_str *faults)
{
	const char *kind = ls_col_text(e, "kind");
	const struct rule *r = kind ? find(kind) : NULL;
	long long id = (long long)ls_col_int(e, "id", 0);
	if (!r) {
		ls_str_addf(faults, "event %lld: there is no event \"%s\"\n", id, kind);
		return;
	}
	if (!(r->from & 1u << t->state))
		ls_str_addf(faults, "event %lld: %s is %s and cannot be %s\n", id, t->uuid,
			    state_names[t->state], kind);
	if (!attempt_fits(t, kind, ls_col_int(e, "attempt", 0)))
		ls_str_addf(faults, "event %lld: %s: attempt %lld is %s, the last was %lld\n", id,
			    t->uuid, (long long)ls_col_int(e, "attempt", 0), kind,
			    (long long)t->attempt);
	if (strcmp(kind, "ended") == 0) {
		const char *detail = ls_col_text(e, "detail");
		snprintf(t->outcome, sizeof t->outcome, "%.*s",
			 detail ? (int)strcspn(detail, ":") : 0, detail ? detail : "");
	}
	if (r->to >= 0)
		t->state = (enum state)r->to;
}

/* The state that the experiment's row must show. */
static bool state_fits(const struct track *t, const char *shown)
{
	switch (t->state) {
	case NEW:
	case QUEUED:
	case RUNNING:
	case CANCELLED:
		return strcmp(shown, state_names[t->state]) == 0;
	case ENDED:
		return strcmp(shown, t->outcome) == 0;
	default:
		return false;
	}
}

static int finish(struct ls_store *s, const struct track *t, struct ls_str *faults,
		  struct ls_err *err)
{
	json_t *row = NULL;
	int rc = ls_sql_one(s, &row, err,
			    "SELECT name, state, attempt, (SELECT count(*) FROM attempt WHERE "
			    "experiment = e.id) AS attempts FROM experiment e WHERE uuid = ?",
			    "s", t->uuid);
	if (rc)
		return rc;
	const char *shown = ls_col_text(row, "state");
	if (!row != (t->state == REMOVED || t->state == ABSENT))
		ls_str_addf(faults, "%s: its history says %s, and the experiment is %s\n", t->uuid,
			    state_names[t->state], row ? shown : "absent");
	else if (row && !state_fits(t, shown))
		ls_str_addf(faults, "%s: its history says %s %s, the experiment says %s\n",
			    ls_col_text(row, "name"), state_names[t->state], t->outcome, shown);
	if (row && (ls_col_int(row, "attempt", -1) != t->attempt ||
		    ls_col_int(row, "attempts", -1) != t->attempt))
		ls_str_addf(faults,
			    "%s: its history has %lld attempts, it says %lld and %lld are kept\n",
			    ls_col_text(row, "name"), (long long)t->attempt,
			    (long long)ls_col_int(row, "attempt", -1),
			    (long long)ls_col_int(row, "attempts", -1));
	json_decref(row);
	return 0;
}

/* Resources that two running experiments hold at once, and rows without any history. */
static int audit_rows(struct ls_store *s, struct ls_str *faults, struct ls_err *err)
{
	json_t *rows = NULL, *row;
	size_t i;
	int rc =
		ls_sql_all(s, &rows, err,
			   "SELECT name || ' has no history' AS fault FROM experiment e WHERE NOT "
			   "EXISTS (SELECT 1 FROM event WHERE uuid = e.uuid)"
			   " UNION ALL SELECT name || ' runs and nobody owns it' FROM experiment"
			   " WHERE state = 'running' AND owner IS NULL"
			   " UNION ALL SELECT name || ' is ' || state || ' and has an owner' FROM "
			   "experiment WHERE state <> 'running' AND owner IS NOT NULL"
			   " UNION ALL SELECT e.name || ' is ' || e.state || ' and its attempt ' ||"
			   " a.number || ' has not ended' FROM experiment e JOIN attempt a ON"
			   " a.experiment = e.id WHERE a.ended IS NULL AND"
			   " (e.state <> 'running' OR a.number <> e.attempt)",
			   "");
	if (rc)
		return rc;
	json_array_foreach(rows, i, row) ls_str_addf(faults, "%s\n", ls_col_text(row, "fault"));
	json_decref(rows);
	return 0;
}

static int walk(struct ls_store *s, sqlite3_stmt *st, struct ls_str *faults, struct ls_err *err)
{
	struct track t = {0};
	int rc;
	while ((rc = ls_sql_next(s, st, err)) > 0) {
		json_t *e = ls_sql_row(st);
		const char *uuid = ls_col_text(e, "uuid");
		if (uuid && strcmp(uuid, t.uuid) != 0) {
			rc = t.uuid[0] ? finish(s, &t, faults, err) : 0;
			t = (struct track){0};
			snprintf(t.uuid, sizeof t.uuid, "%s", uuid);
		}
		if (rc >= 0)
			step(&t, e, faults);
		json_decref(e);
		if (rc < 0)
			return rc;
	}
	return rc == 0 && t.uuid[0] ? finish(s, &t, faults, err) : rc;
}

int ls_audit(struct ls_store *s, struct ls_str *faults, struct ls_err *err)
{
	/* one snapshot for all that is read: others may be at work */
	sqlite3_stmt *st = NULL;
	int rc = ls_sql_run(s, err, "BEGIN", "");
	if (rc < 0)
		return rc;
	rc = ls_sql_open(s, &st, err, "SELECT * FROM event ORDER BY uuid, id", "");
	if (!rc)
		rc = walk(s, st, faults, err);
	ls_sql_done(st);
	if (!rc)
		rc = audit_rows(s, faults, err);
	ls_sql_run(s, NULL, "COMMIT", "");
	return rc;
}
