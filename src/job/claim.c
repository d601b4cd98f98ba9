/* What a worker does with the queue: claim, adopt, renew, finish. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "job/event.h"
#include "job/experiment.h"
#include "job/queue.h"
#include "job/sql.h"
#include "job/store_internal.h"

int ls_queue_register(struct ls_store *s, const struct ls_owner *w, struct ls_err *err)
{
	char at[LS_MOMENT_TEXT], *gpus = json_dumps(w->gpus, JSON_COMPACT);
	ls_moment(at);
	int rc = ls_sql_run(s, err,
			    "INSERT INTO worker(uuid, pid, boot, started, gpus, slots) VALUES(?, "
			    "?, ?, ?, ?, ?)",
			    "sisssi", w->uuid, (int64_t)getpid(), s->boot, at, gpus, w->slots);
	free(gpus);
	return rc < 0 ? rc : 0;
}

int ls_queue_bury(struct ls_store *s, struct ls_err *err)
{
	json_t *rows = NULL, *row;
	size_t i;
	int rc = ls_sql_all(s, &rows, err, "SELECT uuid FROM worker WHERE ended IS NULL", "");
	json_array_foreach(rows, i, row)
	{
		struct ls_owner dead = {0};
		snprintf(dead.uuid, sizeof dead.uuid, "%s", ls_col_text(row, "uuid"));
		char *lock = ls_queue_lock(s, dead.uuid);
		if (!rc && !ls_attempt_alive(lock)) {
			unlink(lock);
			rc = ls_queue_leave(s, &dead, err);
		}
		free(lock);
	}
	json_decref(rows);
	return rc;
}

int ls_queue_leave(struct ls_store *s, const struct ls_owner *w, struct ls_err *err)
{
	char at[LS_MOMENT_TEXT];
	ls_moment(at);
	int rc =
		ls_sql_run(s, err, "UPDATE worker SET ended = ? WHERE uuid = ?", "ss", at, w->uuid);
	return rc < 0 ? rc : 0;
}

/* --- claim --- */

struct room {
	json_t *gpus; /* of w, that nobody uses */
	int64_t slots;
	bool gpus_wait; /* an earlier one waits for more GPUs: later ones do not overtake it */
	bool slots_wait;
};

static void remove_gpu(json_t *from, const char *gpu)
{
	for (size_t i = json_array_size(from); i-- > 0;)
		if (strcmp(json_string_value(json_array_get(from, i)), gpu) == 0)
			json_array_remove(from, i);
}

/* What is left beside all that runs: GPUs whoever uses them, processors by this
 * worker. */
static int look_at_room(struct ls_store *s, const struct ls_owner *w, struct room *ret,
			struct ls_err *err)
{
	json_t *rows = NULL, *row, *gpu;
	size_t i, j;
	int rc = ls_sql_all(s, &rows, err,
			    "SELECT gpus AS json_gpus, slots, num_gpus, owner = ? AS mine FROM "
			    "experiment WHERE state = 'running' AND engine = 'local'",
			    "s", w->uuid);
	if (rc)
		return rc;
	*ret = (struct room){.gpus = json_copy(w->gpus), .slots = w->slots};
	json_array_foreach(rows, i, row)
	{
		json_array_foreach(json_object_get(row, "gpus"), j, gpu)
			remove_gpu(ret->gpus, json_string_value(gpu));
		if (ls_col_int(row, "mine", 0) && ls_col_int(row, "num_gpus", 0) == 0)
			ret->slots -= ls_col_int(row, "slots", 1);
	}
	json_decref(rows);
	return 0;
}

/* Takes what the experiment needs out of the room: its GPUs as an array, or NULL where it
 * does not fit now. One that can never fit here does not hold up others. */
static json_t *take_room(struct room *r, const struct ls_owner *w, const json_t *row)
{
	int64_t gpus = ls_col_int(row, "num_gpus", 0), slots = ls_col_int(row, "slots", 1);
	if (gpus > (int64_t)json_array_size(w->gpus) || (!gpus && slots > w->slots))
		return NULL;
	bool *wait = gpus ? &r->gpus_wait : &r->slots_wait;
	if (*wait || (gpus ? gpus > (int64_t)json_array_size(r->gpus) : slots > r->slots)) {
		*wait = true;
		return NULL;
	}
	json_t *taken = json_array();
	for (int64_t i = 0; i < gpus; i++) {
		json_array_append(taken, json_array_get(r->gpus, 0));
		json_array_remove(r->gpus, 0);
	}
	if (!gpus)
		r->slots -= slots;
	return taken;
}

int ls_queue_begin(struct ls_store *s, const char *owner, double lease, json_t *row,
		   struct ls_err *err)
{
	char token[LS_UUID_TEXT], at[LS_MOMENT_TEXT];
	int64_t id = ls_col_int(row, "id", 0), number = ls_col_int(row, "attempt", 0) + 1;
	char *folder =
		ls_xasprintf("runs/%s/attempt-%lld", ls_col_text(row, "name"), (long long)number);
	char *gpus = json_dumps(json_object_get(row, "gpus"), JSON_COMPACT);
	ls_uuid(token);
	ls_moment(at);
	int rc = ls_sql_run(s, err,
			    "UPDATE experiment SET state = 'running', attempt = ?, tries = tries + "
			    "1, owner = ?, gpus = ?, lease_boot = ?, lease_until = ? WHERE id = ?",
			    "isssdi", number, owner, gpus, s->boot, ls_boot_clock() + lease, id);
	if (rc >= 0)
		rc = ls_sql_run(s, err,
				"INSERT INTO attempt(experiment, number, token, folder, started, "
				"gpus) VALUES(?, ?, ?, ?, ?, ?)",
				"iissss", id, number, token, folder, at, gpus);
	if (rc >= 0)
		rc = ls_event(s, ls_col_text(row, "uuid"), "claimed", number, owner, gpus, err);
	json_object_set_new(row, "attempt", json_integer(number));
	json_object_set_new(row, "token", json_string(token));
	json_object_set_new(row, "folder", json_string(folder));
	free(gpus);
	free(folder);
	return rc < 0 ? rc : 0;
}

static int claim_from(struct ls_store *s, const struct ls_owner *w, const json_t *ready, json_t *to,
		      struct ls_err *err)
{
	struct room room = {0};
	const json_t *r;
	size_t i;
	int rc = look_at_room(s, w, &room, err);
	json_array_foreach(ready, i, r)
	{
		json_t *taken = rc ? NULL : take_room(&room, w, r), *row = NULL;
		if (!taken)
			continue;
		rc = ls_experiment_get(s, ls_col_text(r, "name"), &row, err);
		if (!rc) {
			json_object_set(row, "gpus", taken);
			rc = ls_queue_begin(s, w->uuid, LS_LEASE_S, row, err);
			json_array_append_new(to, row);
		}
		json_decref(taken);
	}
	json_decref(room.gpus);
	return rc;
}

static int find_ready(struct ls_store *s, json_t **ret, struct ls_err *err)
{
	return ls_sql_all(s, ret, err,
			  "SELECT name, num_gpus, slots FROM experiment e WHERE state = 'queued' "
			  "AND engine = 'local' AND NOT EXISTS (SELECT 1 FROM dependency d JOIN "
			  "experiment a ON a.id = d.after WHERE d.experiment = e.id AND a.state <> "
			  "'done') ORDER BY priority DESC, queued LIMIT 10000",
			  "");
}

int ls_queue_claim(struct ls_store *s, const struct ls_owner *w, json_t **ret, struct ls_err *err)
{
	json_t *ready = NULL, *list = json_array();
	/* first without a transaction: an idle worker does not keep others from
	 * writing */
	int rc = find_ready(s, &ready, err);
	bool any = !rc && json_array_size(ready) > 0;
	json_decref(ready);
	ready = NULL;
	if (any && !(rc = ls_tx_begin(s, err))) {
		rc = find_ready(s, &ready, err);
		if (!rc)
			rc = claim_from(s, w, ready, list, err);
		rc = ls_tx_end(s, rc, err);
		json_decref(ready);
	}
	if (rc)
		json_decref(list);
	else
		*ret = list;
	return rc;
}

/* --- owners that are gone --- */

#define RUNNING                                                                                    \
	"SELECT e.id, uuid, name, owner, attempt, token, folder, e.gpus AS json_gpus, num_gpus, "  \
	"slots, cancel FROM experiment e JOIN attempt a ON a.experiment = e.id AND a.number = "    \
	"e.attempt WHERE state = 'running' AND engine = 'local'"

int ls_queue_foreign(struct ls_store *s, const struct ls_owner *w, json_t **ret, struct ls_err *err)
{
	/* A lease of another boot is over; its numbers mean nothing now. */
	return ls_sql_all(s, ret, err,
			  "SELECT *, lease_boot IS NOT ?2 OR lease_until < ?3 AS lease_over FROM "
			  "(" RUNNING ") JOIN (SELECT id AS i, lease_boot, lease_until FROM "
			  "experiment) ON i = id WHERE owner IS NOT ?1",
			  "ssd", w->uuid, s->boot, ls_boot_clock());
}

int ls_queue_adopt(struct ls_store *s, const struct ls_owner *w, const json_t *foreign,
		   json_t **ret_row, struct ls_err *err)
{
	int64_t id = ls_col_int(foreign, "id", 0), attempt = ls_col_int(foreign, "attempt", 0);
	json_t *row = NULL;
	int rc = ls_tx_begin(s, err);
	if (rc)
		return rc;
	int n = ls_sql_run(s, err,
			   "UPDATE experiment SET owner = ?, lease_boot = ?, lease_until = ? WHERE "
			   "id = ? AND state = 'running' AND owner = ? AND attempt = ?",
			   "ssdisi", w->uuid, s->boot, ls_boot_clock() + LS_LEASE_S, id,
			   ls_col_text(foreign, "owner"), attempt);
	rc = n < 0 ? n : 0;
	if (n > 0)
		rc = ls_event(s, ls_col_text(foreign, "uuid"), "adopted", attempt, w->uuid, NULL,
			      err);
	if (n > 0 && !rc)
		rc = ls_sql_one(s, &row, err, RUNNING " AND e.id = ?", "i", id);
	rc = ls_tx_end(s, rc, err);
	if (rc)
		json_decref(row);
	else
		*ret_row = row;
	return rc;
}

int ls_queue_renew(struct ls_store *s, const struct ls_owner *w, struct ls_err *err)
{
	int rc = ls_sql_run(s, err,
			    "UPDATE experiment SET lease_boot = ?, lease_until = ? WHERE state = "
			    "'running' AND owner = ?",
			    "sds", s->boot, ls_boot_clock() + LS_LEASE_S, w->uuid);
	return rc < 0 ? rc : 0;
}

int ls_queue_cancelled(struct ls_store *s, const struct ls_owner *w, json_t **ret,
		       struct ls_err *err)
{
	return ls_sql_all(s, ret, err, RUNNING " AND cancel = 1 AND owner = ?", "s", w->uuid);
}

/* --- finish --- */

static void judge_stopped(const struct ls_ending *e, bool again, bool requeue, struct ls_verdict *v)
{
	v->outcome = "timeout";
	v->state = requeue ? again ? "queued" : "dead" : "failed";
	snprintf(v->why, sizeof v->why, "stopped at the %s time limit after %.0f s%s",
		 e->stopped == LS_STOPPED_SOFT ? "soft" : "hard", e->wall_s,
		 requeue && !again ? ", and no retries are left" : "");
}

static void judge_lost(const struct ls_ending *e, bool again, struct ls_verdict *v)
{
	v->outcome = "lost";
	v->state = again ? "queued" : "dead";
	if (e->known)
		snprintf(v->why, sizeof v->why, "killed by signal %d (%s)%s", e->signal,
			 strsignal(e->signal), again ? "" : ", and no retries are left");
	else
		snprintf(v->why, sizeof v->why,
			 "its supervisor was killed, or the machine stopped%s",
			 again ? "" : ", and no retries are left");
}

static void judge(const struct ls_ending *e, bool cancel, bool again, bool requeue,
		  struct ls_verdict *v)
{
	if (e->not_started && !cancel) {
		v->outcome = "lost";
		v->state = "queued";
		snprintf(v->why, sizeof v->why, "could not be started: %s", e->why);
	} else if (e->known && e->stopped == LS_STOPPED_NOT && e->signal == 0 && e->status == 0) {
		v->outcome = v->state = "done";
		v->why[0] = 0;
	} else if (cancel || e->stopped == LS_STOPPED_CANCEL) {
		v->outcome = v->state = "cancelled";
		snprintf(v->why, sizeof v->why, "cancelled while it ran");
	} else if (e->known && e->stopped != LS_STOPPED_NOT) {
		judge_stopped(e, again, requeue, v);
	} else if (!e->known || e->signal) {
		judge_lost(e, again, v);
	} else {
		v->outcome = v->state = "failed";
		snprintf(v->why, sizeof v->why, "exit status %d", e->status);
	}
}

static int close_attempt(struct ls_store *s, const json_t *row, const struct ls_ending *e,
			 const struct ls_verdict *v, struct ls_err *err)
{
	char at[LS_MOMENT_TEXT];
	ls_moment(at);
	int64_t id = ls_col_int(row, "id", 0), number = ls_col_int(row, "attempt", 0);
	int rc = ls_sql_run(s, err,
			    "UPDATE attempt SET ended = ?, outcome = ? WHERE experiment = ? AND "
			    "number = ?",
			    "ssii", at, v->outcome, id, number);
	if (rc >= 0 && e->known)
		rc = ls_sql_run(
			s, err,
			"UPDATE attempt SET status = ?, signal = nullif(?, 0), wall = ?, "
			"user = ?, system = ?, peak_rss = ? WHERE experiment = ? AND number "
			"= ?",
			"iidddiii", (int64_t)e->status, (int64_t)e->signal, e->wall_s, e->user_s,
			e->system_s, e->peak_rss, id, number);
	return rc < 0 ? rc : 0;
}

static int tell(struct ls_store *s, const char *owner, const json_t *row,
		const struct ls_verdict *v, struct ls_err *err)
{
	const char *uuid = ls_col_text(row, "uuid");
	int64_t attempt = ls_col_int(row, "attempt", 0);
	bool requeued = strcmp(v->state, "queued") == 0;
	char *detail = ls_xasprintf("%s%s%s", requeued ? v->outcome : v->state,
				    v->why[0] ? ": " : "", v->why);
	int rc = ls_event(s, uuid, "ended", attempt, owner, detail, err);
	free(detail);
	if (!rc && requeued)
		rc = ls_event(s, uuid, "requeued", 0, owner, NULL, err);
	return rc;
}

int ls_queue_end(struct ls_store *s, const char *owner, const json_t *row,
		 const struct ls_ending *e, const struct ls_verdict *v, struct ls_err *err)
{
	int rc = close_attempt(s, row, e, v, err);
	if (!rc)
		rc = ls_sql_run(
			s, err,
			"UPDATE experiment SET state = ?, reason = nullif(?, ''), owner = "
			"NULL, gpus = NULL, lease_boot = NULL, lease_until = NULL, cancel = "
			"0 WHERE id = ?",
			"ssi", v->state, v->why, ls_col_int(row, "id", 0));
	return rc < 0 ? rc : tell(s, owner, row, v, err);
}

static int finish_owned(struct ls_store *s, const struct ls_owner *w, const json_t *row,
			const struct ls_ending *e, const json_t *now, struct ls_verdict *v,
			struct ls_err *err)
{
	bool again = ls_col_int(now, "tries", 0) <= ls_col_int(now, "retries", 0);
	judge(e, ls_col_int(now, "cancel", 0) != 0, again, ls_col_int(now, "requeue", 0) != 0, v);
	return ls_queue_end(s, w->uuid, row, e, v, err);
}

int ls_queue_finish(struct ls_store *s, const struct ls_owner *w, const json_t *row,
		    const struct ls_ending *e, const char **ret_state, struct ls_err *err)
{
	json_t *now = NULL;
	struct ls_verdict v = {0};
	int rc = ls_tx_begin(s, err);
	if (rc)
		return rc;
	rc = ls_sql_one(s, &now, err,
			"SELECT tries, retries, cancel, requeue FROM experiment WHERE id = ? AND "
			"state = 'running' AND owner = ? AND attempt = ?",
			"isi", ls_col_int(row, "id", 0), w->uuid, ls_col_int(row, "attempt", 0));
	if (!rc && now)
		rc = finish_owned(s, w, row, e, now, &v, err);
	json_decref(now);
	rc = ls_tx_end(s, rc, err);
	if (!rc)
		*ret_state = v.state;
	return rc;
}
