#include "watch/archive.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "base/str.h"
#include "watch/ring.h"

enum { DAY = 86400, MINUTES = LS_ARCHIVE_DAYS * 1440, HOUR = 3600, NAME = 96 };

static const char gpu_names[] =
	"utilization memory_used temperature power clock_sm memory_utilization throttled";
static const char host_names[] = "cpu_busy cpu_busiest memory_used load disk_used health "
				 "io_wait disk_read disk_write net_received net_sent";
enum { GPU_COLUMNS = 7, HOST_COLUMNS = 11 };
/* Of temperature and health a span shows the highest, of all others the mean. */
enum { GPU_HIGHEST = 1 << 2, HOST_HIGHEST = 1 << 5 };

struct mean {
	double sum;
	unsigned n;
};

static void mean_add(struct mean *m, double v, bool highest)
{
	if (highest)
		*m = (struct mean){m->n && m->sum > v ? m->sum : v, 1};
	else
		*m = (struct mean){m->sum + v, m->n + 1};
}

/* The host, or one GPU by its UUID. */
struct subject {
	char name[NAME];
	const char *names;
	unsigned columns, highest; /* a mask of columns */
	struct ls_ring *seconds, *minutes;
	double last;   /* time of the newest point */
	double minute; /* the minute that is being added up */
	struct mean means[LS_RING_COLUMNS];
};

struct ls_archive {
	char *folder; /* NULL: in memory */
	int lock;
	pthread_mutex_t mutex; /* for what follows; rings are never closed before the end */
	/* By index, of the last sample; NULL: its rings cannot be opened. */
	struct subject *host, *gpus[LS_SAMPLE_GPUS];
	unsigned n_gpus;
	struct subject *all[LS_SAMPLE_GPUS * 2]; /* GPUs that were ever seen; they are owned here */
	unsigned n_all;
};

static int lock_folder(struct ls_archive *a, struct ls_err *err)
{
	char *path = ls_xasprintf("%s/lock", a->folder);
	int rc = 0;
	a->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (a->lock < 0)
		rc = ls_err_errno(err, path, "open");
	else if (flock(a->lock, LOCK_EX | LOCK_NB) != 0)
		rc = ls_err_set(err, LS_EINPUT,
				"%s: another monitor keeps its history there; stop it, or give "
				"another folder with --history",
				a->folder);
	free(path);
	return rc;
}

/* Rings of GPUs that are no longer here, once all that they hold is too old. */
static void forget_old(const char *folder)
{
	DIR *d = opendir(folder);
	for (struct dirent *e; d && (e = readdir(d));) {
		struct stat st;
		if (ls_str_starts(e->d_name, "gpu-") &&
		    (ls_str_ends(e->d_name, ".ring") || ls_str_ends(e->d_name, ".old")) &&
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && time(NULL) - st.st_mtime > LS_ARCHIVE_DAYS * DAY)
			unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		closedir(d);
}

static void subject_free(struct subject *s)
{
	if (!s)
		return;
	ls_ring_close(s->seconds);
	ls_ring_close(s->minutes);
	free(s);
}

static int open_ring(const struct ls_archive *a, const struct subject *s, const char *kind,
		     unsigned capacity, struct ls_ring **ret, struct ls_err *err)
{
	struct ls_ring_form form = {s->names, s->columns, capacity};
	char *path = a->folder ? ls_xasprintf("%s/%s.%s.ring", a->folder, s->name, kind) : NULL;
	int rc = ls_ring_open(path, &form, ret, err);
	free(path);
	return rc;
}

/* In memory an hour and 90 days a minute apart have to do. */
static int subject_new(const struct ls_archive *a, const char *name, const char *names,
		       unsigned columns, unsigned highest, struct subject **ret, struct ls_err *err)
{
	struct subject *s = ls_xalloc(sizeof *s);
	snprintf(s->name, sizeof s->name, "%s", name);
	s->names = names;
	s->columns = columns;
	s->highest = highest;
	int rc = open_ring(a, s, "seconds", a->folder ? DAY : HOUR, &s->seconds, err);
	if (!rc)
		rc = open_ring(a, s, "minutes", a->folder ? MINUTES : DAY / 60, &s->minutes, err);
	if (rc)
		subject_free(s);
	else
		*ret = s;
	return rc;
}

int ls_archive_open(const char *folder, struct ls_archive **ret, struct ls_err *err)
{
	struct ls_archive *a = ls_xalloc(sizeof *a);
	int rc = 0;
	a->lock = -1;
	a->folder = folder ? ls_xstrdup(folder) : NULL;
	pthread_mutex_init(&a->mutex, NULL);
	if (folder) {
		rc = ls_folder_make(folder, err);
		if (!rc)
			rc = lock_folder(a, err);
		if (!rc)
			forget_old(folder);
	}
	if (!rc)
		rc = subject_new(a, "host", host_names, HOST_COLUMNS, HOST_HIGHEST, &a->host, err);
	if (rc)
		ls_archive_close(a);
	else
		*ret = a;
	return rc;
}

void ls_archive_close(struct ls_archive *a)
{
	if (!a)
		return;
	subject_free(a->host);
	for (unsigned i = 0; i < a->n_all; i++)
		subject_free(a->all[i]);
	if (a->lock >= 0)
		close(a->lock);
	pthread_mutex_destroy(&a->mutex);
	free(a->folder);
	free(a);
}

/* A name for files: of NVML's UUID only what cannot lead elsewhere. */
static void gpu_name(const struct ls_watch_gpu *g, unsigned index, char ret[NAME])
{
	size_t n = (size_t)snprintf(ret, NAME, "gpu-");
	for (const char *p = g->uuid; *p && n + 1 < NAME; p++)
		if (isalnum((unsigned char)*p) || *p == '-')
			ret[n++] = *p;
	ret[n] = 0;
	if (n == 4)
		snprintf(ret, NAME, "gpu-%u", index);
}

static int gpu_subject(struct ls_archive *a, const struct ls_watch_gpu *g, unsigned index,
		       struct subject **ret, struct ls_err *err)
{
	char name[NAME];
	gpu_name(g, index, name);
	for (unsigned i = 0; i < a->n_all; i++)
		if (strcmp(a->all[i]->name, name) == 0) {
			*ret = a->all[i];
			return 0;
		}
	if (a->n_all == sizeof a->all / sizeof *a->all)
		return ls_err_set(err, LS_EIO, "history: too many GPUs");
	int rc = subject_new(a, name, gpu_names, GPU_COLUMNS, GPU_HIGHEST, ret, err);
	if (!rc)
		a->all[a->n_all++] = *ret;
	return rc;
}

static void into_minute(void *ctx, const struct ls_ring_point *p)
{
	struct subject *s = ctx;
	if (floor(p->time / 60) != s->minute)
		return;
	for (unsigned i = 0; i < s->columns; i++)
		if (!isnan(p->v[i]))
			mean_add(&s->means[i], (double)p->v[i], s->highest >> i & 1);
}

/* A minute that an earlier process began goes on. */
static void begin_minute(struct subject *s, double minute)
{
	bool first = s->minute <= 0;
	memset(s->means, 0, sizeof s->means);
	s->minute = minute;
	if (first)
		ls_ring_each(s->seconds, minute * 60, into_minute, s);
}

static int end_minute(struct subject *s, struct ls_err *err)
{
	struct ls_ring_point p = {.time = s->minute * 60 + 30};
	for (unsigned i = 0; i < s->columns; i++)
		p.v[i] = s->means[i].n ? (float)(s->means[i].sum / s->means[i].n) : NAN;
	return ls_ring_add(s->minutes, &p, err);
}

static int subject_add(struct subject *s, const struct ls_ring_point *p, struct ls_err *err)
{
	double minute = floor(p->time / 60);
	int rc = 0;
	if (p->time - s->last < 0.95 && p->time >= s->last)
		return 0;
	s->last = p->time;
	if (s->minute > 0 && minute != s->minute)
		rc = end_minute(s, err);
	if (minute != s->minute)
		begin_minute(s, minute);
	into_minute(s, p);
	int also = ls_ring_add(s->seconds, p, err);
	return rc ? rc : also;
}

static float meter(const struct ls_watch_gpu *g, enum ls_meter_id id)
{
	double v;
	return ls_meter_value(&g->r, id, &v) ? (float)v : NAN;
}

/* Idle clocks and limits that somebody has set are not throttling. */
static float throttled(const struct ls_watch_gpu *g)
{
	char text[LS_NVML_TEXT];
	if (!g->r.valid[LS_METER_THROTTLE])
		return NAN;
	ls_nvml_throttle_text((uint64_t)g->r.value[LS_METER_THROTTLE], text);
	return strcmp(text, "none") != 0;
}

static void gpu_point(const struct ls_watch_gpu *g, struct ls_ring_point *p)
{
	const float v[GPU_COLUMNS] = {meter(g, LS_METER_UTILIZATION),
				      meter(g, LS_METER_MEMORY_USED),
				      meter(g, LS_METER_TEMPERATURE),
				      meter(g, LS_METER_POWER),
				      meter(g, LS_METER_CLOCK_SM),
				      meter(g, LS_METER_MEMORY_UTILIZATION),
				      throttled(g)};
	memcpy(p->v, v, sizeof v);
}

/* In an order of which the highest is the worst: ok, unknown, warn, critical. */
static const float severity[] = {[LS_HEALTH_OK] = 0,
				 [LS_HEALTH_UNKNOWN] = 1,
				 [LS_HEALTH_WARN] = 2,
				 [LS_HEALTH_CRITICAL] = 3,
				 [LS_HEALTH_NOT_JUDGED] = 0};

static void host_point(const struct ls_sample *s, enum ls_health worst, struct ls_ring_point *p)
{
	const struct ls_host *h = &s->host;
	const struct ls_host_io *io = &s->io;
	const float v[HOST_COLUMNS] = {
		h->has_cpu ? (float)h->cpu * 100 : NAN,
		h->has_cpu ? (float)h->busiest * 100 : NAN,
		h->has_memory ? (float)(h->memory_total - h->memory_available) : NAN,
		h->has_load ? (float)h->load : NAN,
		h->has_disk ? (float)(h->disk_total - h->disk_available) : NAN,
		severity[worst],
		h->has_io_wait ? (float)h->io_wait * 100 : NAN,
		io->has_disk ? (float)io->disk_read : NAN,
		io->has_disk ? (float)io->disk_write : NAN,
		io->has_net ? (float)io->net_received : NAN,
		io->has_net ? (float)io->net_sent : NAN};
	memcpy(p->v, v, sizeof v);
}

/* A ring that cannot be opened or written keeps no other one from going on. */
int ls_archive_add(struct ls_archive *a, const struct ls_sample *s, enum ls_health worst,
		   struct ls_err *err)
{
	struct ls_ring_point p = {.time = s->time};
	struct subject *gpus[LS_SAMPLE_GPUS] = {NULL};
	host_point(s, worst, &p);
	int first = subject_add(a->host, &p, err);
	for (unsigned i = 0; i < s->n_gpus; i++) {
		int rc = gpu_subject(a, &s->gpus[i], i, &gpus[i], err);
		gpu_point(&s->gpus[i], &p);
		if (!rc)
			rc = subject_add(gpus[i], &p, err);
		first = first ? first : rc;
	}
	pthread_mutex_lock(&a->mutex);
	memcpy(a->gpus, gpus, s->n_gpus * sizeof *gpus);
	a->n_gpus = s->n_gpus;
	pthread_mutex_unlock(&a->mutex);
	return first;
}

/* Means of spans of time, a column after another. */
struct spans {
	double from, step;
	unsigned columns, highest;
	struct mean means[LS_RING_COLUMNS][LS_ARCHIVE_POINTS];
};

static void into_span(void *ctx, const struct ls_ring_point *p)
{
	struct spans *s = ctx;
	double at = floor((p->time - s->from) / s->step);
	if (!(at >= 0 && at < LS_ARCHIVE_POINTS))
		return;
	for (unsigned i = 0; i < s->columns; i++)
		if (!isnan(p->v[i]))
			mean_add(&s->means[i][(unsigned)at], (double)p->v[i], s->highest >> i & 1);
}

/* Digits that a screen cannot show are not sent. */
static json_t *rounded(double v)
{
	double scale = pow(10, 4 - ceil(log10(fabs(v) > 1e-9 ? fabs(v) : 1)));
	return json_real(round(v * scale) / scale);
}

static json_t *column_json(const struct mean *m, unsigned n)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, m[i].n ? rounded(m[i].sum / m[i].n) : json_null());
	return list;
}

static void subject_json(const struct subject *s, struct spans *spans, unsigned n, json_t *into)
{
	char names[LS_RING_NAMES], *save = NULL;
	unsigned column = 0;
	memset(spans->means, 0, sizeof spans->means);
	spans->columns = s->columns;
	spans->highest = s->highest;
	ls_ring_each(spans->step >= 60 ? s->minutes : s->seconds, spans->from, into_span, spans);
	snprintf(names, sizeof names, "%s", s->names);
	for (char *p = strtok_r(names, " ", &save); p; p = strtok_r(NULL, " ", &save))
		json_object_set_new(into, p, column_json(spans->means[column++], n));
}

json_t *ls_archive_json(struct ls_archive *a, double now, double range, double step)
{
	struct spans *spans = ls_xalloc(sizeof *spans);
	struct subject *gpus[LS_SAMPLE_GPUS];
	json_t *host = json_object(), *list = json_array();
	spans->step = fmax(ceil(step), fmax(1, ceil(range / LS_ARCHIVE_POINTS)));
	if (spans->step > 30)
		spans->step = ceil(spans->step / 60) * 60;
	unsigned n = (unsigned)ceil(range / spans->step);
	spans->from = (floor(now / spans->step) + 1 - n) * spans->step;
	pthread_mutex_lock(&a->mutex);
	unsigned n_gpus = a->n_gpus;
	memcpy(gpus, a->gpus, sizeof gpus);
	pthread_mutex_unlock(&a->mutex);
	subject_json(a->host, spans, n, host);
	for (unsigned i = 0; i < n_gpus; i++) {
		if (!gpus[i])
			continue;
		json_t *o = json_pack("{s:i,s:s}", "index", (int)i, "uuid", gpus[i]->name + 4);
		subject_json(gpus[i], spans, n, o);
		json_array_append_new(list, o);
	}
	json_t *all = json_pack("{s:f,s:f,s:o,s:o}", "from", spans->from, "step", spans->step,
				"host", host, "gpus", list);
	free(spans);
	return all;
}
