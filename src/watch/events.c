#include "watch/events.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/mem.h"

enum { KEPT = 2000, FILE_MOST = 4 << 20, SUM = 17 }; /* 16 digits and a blank */

struct ls_events {
	char *path; /* NULL: in memory */
	int fd;
	off_t size;
	bool synced;
	pthread_mutex_t mutex;
	json_t *list; /* oldest first */
	char driver[LS_NVML_TEXT];
	double first; /* time of the first sample; 0: there was none */
};

json_t *ls_events_line(const char *line, size_t len)
{
	char sum[SUM + 1];
	json_t *v = NULL;
	if (len <= SUM || len > 4096)
		return NULL;
	snprintf(sum, sizeof sum, "%016llx ", (unsigned long long)ls_xxh64(line + SUM, len - SUM));
	if (memcmp(line, sum, SUM) != 0 || ls_json_parse(line + SUM, len - SUM, "", &v, NULL))
		return NULL;
	if (!json_is_object(v) || !json_is_number(json_object_get(v, "time"))) {
		json_decref(v);
		return NULL;
	}
	return v;
}

static void keep_take(struct ls_events *e, json_t *event)
{
	json_array_append_new(e->list, event);
	if (json_array_size(e->list) > KEPT)
		json_array_remove(e->list, 0);
}

/* Returns how many bytes end with a whole line. */
static size_t read_lines(struct ls_events *e, const char *text, size_t len)
{
	size_t at = 0;
	for (const char *end; at < len && (end = memchr(text + at, '\n', len - at));) {
		json_t *v = ls_events_line(text + at, (size_t)(end - text) - at);
		if (v)
			keep_take(e, v);
		at = (size_t)(end - text) + 1;
	}
	return at;
}

static size_t read_file(struct ls_events *e, const char *path)
{
	char *text;
	size_t len, whole;
	struct stat st;
	if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return 0;
	if (ls_file_read(path, 2 * FILE_MOST, &text, &len, NULL))
		return 0;
	whole = read_lines(e, text, len);
	free(text);
	return whole;
}

static int open_log(struct ls_events *e, size_t whole, struct ls_err *err)
{
	e->fd = open(e->path, O_RDWR | O_CREAT | O_CLOEXEC | O_APPEND | O_NOFOLLOW | O_NONBLOCK,
		     0644);
	if (e->fd < 0)
		return ls_err_errno(err, e->path, "open");
	e->size = (off_t)whole; /* a line that a crash cut short goes */
	return ftruncate(e->fd, e->size) ? ls_err_errno(err, e->path, "write") : 0;
}

int ls_events_open(const char *folder, struct ls_events **ret, struct ls_err *err)
{
	struct ls_events *e = ls_xalloc(sizeof *e);
	int rc = 0;
	e->fd = -1;
	e->list = json_array();
	pthread_mutex_init(&e->mutex, NULL);
	if (folder) {
		char *old = ls_xasprintf("%s/events.old", folder);
		e->path = ls_xasprintf("%s/events", folder);
		read_file(e, old);
		rc = open_log(e, read_file(e, e->path), err);
		free(old);
	}
	if (rc)
		ls_events_close(e);
	else
		*ret = e;
	return rc;
}

void ls_events_close(struct ls_events *e)
{
	if (!e)
		return;
	if (e->fd >= 0)
		close(e->fd);
	json_decref(e->list);
	pthread_mutex_destroy(&e->mutex);
	free(e->path);
	free(e);
}

/* The full file becomes the old one, in place of the one before it. */
static int turn(struct ls_events *e, struct ls_err *err)
{
	char *old = ls_xasprintf("%s.old", e->path);
	int rc = rename(e->path, old);
	free(old);
	if (rc)
		return ls_err_errno(err, e->path, "rename");
	close(e->fd);
	return open_log(e, 0, err);
}

/* Of a line that does not fit on the disk nothing stays: the next one would be damaged,
 * too. */
static int append(struct ls_events *e, const char *line, size_t len, struct ls_err *err)
{
	ssize_t n = write(e->fd, line, len);
	if (n == (ssize_t)len) {
		e->size += n;
		return 0;
	}
	if (n >= 0)
		errno = ENOSPC;
	ls_err_errno(err, e->path, "write");
	if (n > 0 && ftruncate(e->fd, e->size) != 0)
		e->size += n;
	return err ? err->code : LS_EIO;
}

static int write_line(struct ls_events *e, const json_t *event, struct ls_err *err)
{
	char *text = json_dumps(event, JSON_COMPACT);
	char *line = text ? ls_xasprintf("%016llx %s\n",
					 (unsigned long long)ls_xxh64(text, strlen(text)), text)
			  : ls_xstrdup("");
	size_t len = strlen(line);
	int rc = e->fd < 0                          ? open_log(e, 0, err) /* the last turn failed */
		 : e->size + (off_t)len > FILE_MOST ? turn(e, err)
						    : 0;
	if (!rc)
		rc = append(e, line, len, err);
	e->synced = false;
	free(line);
	free(text);
	return rc;
}

static void set_text(json_t *o, const char *key, const char *text)
{
	char part[400];
	if (!text)
		return;
	snprintf(part, sizeof part, "%s", text); /* a cut character becomes \xNN */
	json_object_set_new(o, key, ls_json_lossy(part));
}

int ls_events_add(struct ls_events *e, const struct ls_event_text *t, struct ls_err *err)
{
	json_t *o = json_object();
	json_object_set_new(o, "time", json_real(round(t->time * 1000) / 1000));
	set_text(o, "kind", t->kind);
	set_text(o, "health", t->health);
	set_text(o, "of", t->of);
	set_text(o, "rule", t->rule);
	set_text(o, "text", t->text);
	int rc = e->path ? write_line(e, o, err) : 0;
	pthread_mutex_lock(&e->mutex);
	keep_take(e, o);
	pthread_mutex_unlock(&e->mutex);
	return rc;
}

static int look_verdicts(struct ls_events *e, const struct ls_judge *j, double now,
			 struct ls_err *err)
{
	int rc = 0;
	for (size_t i = 0; i < ls_judge_count(j); i++) {
		const struct ls_verdict *v = ls_judge_verdict(j, i);
		char text[400];
		if (!v->changed)
			continue;
		bool well = v->health == LS_HEALTH_OK || v->health == LS_HEALTH_NOT_JUDGED;
		snprintf(text, sizeof text, "%s%.150s: %.200s", well ? "no longer: " : "",
			 v->rule->cause, v->evidence);
		struct ls_event_text t = {
			now,      "verdict",     ls_health_name(well ? LS_HEALTH_OK : v->health),
			v->label, v->rule->name, text};
		int one = ls_events_add(e, &t, err);
		rc = rc ? rc : one;
	}
	return rc;
}

/* How many of the same Xid of the same GPU a sample has, from i on; 0 when it was counted
 * with one before. */
static unsigned same_xids(const struct ls_sample *s, size_t i)
{
	unsigned n = 0;
	for (size_t k = 0; k < s->n_xids; k++) {
		bool same = s->xids[k].xid == s->xids[i].xid &&
			    strcmp(s->xids[k].pci, s->xids[i].pci) == 0;
		if (same && k < i)
			return 0;
		n += same;
	}
	return n;
}

/* The kernel's log tells of the same Xid again after every start. */
static bool is_old(struct ls_events *e, double time, const char *text)
{
	size_t i;
	json_t *o;
	if (time >= e->first)
		return false;
	json_array_foreach(e->list, i, o)
	{
		const char *is = json_string_value(json_object_get(o, "text"));
		if (is && strcmp(is, text) == 0 &&
		    fabs(json_number_value(json_object_get(o, "time")) - time) < 3)
			return true;
	}
	return false;
}

static int look_xids(struct ls_events *e, const struct ls_sample *s, struct ls_err *err)
{
	int rc = 0;
	for (size_t i = 0; i < s->n_xids; i++) {
		const struct ls_watch_xid *x = &s->xids[i];
		unsigned n = same_xids(s, i);
		char text[128], label[128];
		if (n == 0)
			continue;
		snprintf(text, sizeof text, "Xid %u at %.40s, %u time%s", x->xid, x->pci, n,
			 n == 1 ? "" : "s");
		if (is_old(e, x->time, text))
			continue;
		ls_watch_gpu_label(s, x->gpu, label, sizeof label);
		struct ls_event_text t = {x->time, "xid", NULL, x->gpu < s->n_gpus ? label : NULL,
					  NULL,    text};
		int one = ls_events_add(e, &t, err);
		rc = rc ? rc : one;
	}
	return rc;
}

static int look_driver(struct ls_events *e, const struct ls_sample *s, struct ls_err *err)
{
	char text[400];
	int rc = 0;
	if (*s->driver && *e->driver && strcmp(s->driver, e->driver) != 0) {
		snprintf(text, sizeof text, "the driver changed from %.90s to %.90s", e->driver,
			 s->driver);
		struct ls_event_text t = {s->time, "driver", NULL, "host", NULL, text};
		rc = ls_events_add(e, &t, err);
	}
	if (*s->driver)
		snprintf(e->driver, sizeof e->driver, "%s", s->driver);
	return rc;
}

/* Once a sample: a disk may take long for it. */
static int sync_log(struct ls_events *e, struct ls_err *err)
{
	if (e->fd < 0 || e->synced)
		return 0;
	e->synced = true;
	return fdatasync(e->fd) ? ls_err_errno(err, e->path, "write") : 0;
}

int ls_events_look(struct ls_events *e, const struct ls_sample *s, const struct ls_judge *j,
		   struct ls_err *err)
{
	int rc = 0;
	if (e->first <= 0) {
		struct ls_event_text t = {s->time, "start", NULL,
					  "host",  NULL,    "the monitor has started"};
		e->first = s->time;
		rc = ls_events_add(e, &t, err);
	}
	int verdicts = look_verdicts(e, j, s->time, err);
	int xids = look_xids(e, s, err);
	int driver = look_driver(e, s, err);
	int synced = sync_log(e, err);
	return rc ? rc : verdicts ? verdicts : xids ? xids : driver ? driver : synced;
}

json_t *ls_events_json(struct ls_events *e, double from, size_t most)
{
	json_t *out = json_array(), *o;
	pthread_mutex_lock(&e->mutex);
	size_t n = json_array_size(e->list);
	for (size_t i = n > most ? n - most : 0; i < n; i++) {
		o = json_array_get(e->list, i);
		if (json_number_value(json_object_get(o, "time")) >= from)
			json_array_append_new(out, json_deep_copy(o));
	}
	pthread_mutex_unlock(&e->mutex);
	return out;
}
