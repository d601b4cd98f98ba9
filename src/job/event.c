#include "job/event.h"

#include "job/sql.h"

int ls_event(struct ls_store *s, const char *uuid, const char *kind, int64_t attempt,
	     const char *actor, const char *detail, struct ls_err *err)
{
	char at[LS_MOMENT_TEXT];
	ls_moment(at);
	int rc = ls_sql_run(s, err,
			    "INSERT INTO event(at, uuid, kind, attempt, actor, detail)"
			    " VALUES(?, ?, ?, nullif(?, 0), ?, ?)",
			    "sssiss", at, uuid, kind, attempt, actor, detail);
	return rc < 0 ? rc : 0;
}

int ls_event_list(struct ls_store *s, const char *uuid, json_t **ret, struct ls_err *err)
{
	return ls_sql_all(s, ret, err,
			  "SELECT id, at, kind, attempt, actor, detail FROM event WHERE uuid = ?"
			  " ORDER BY id",
			  "s", uuid);
}
