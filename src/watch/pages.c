#include "watch/pages.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "watch/health_report.h"
#include "watch/prometheus.h"
#include "watch/report.h"
#include "watch/web.h"

enum page { HEALTH, METRICS, NOW, PAGES };

static const struct {
	const char *path, *type;
} pages[PAGES] = {
	[HEALTH] = {"/health", "application/json"},
	[METRICS] = {"/metrics", "text/plain; version=0.0.4; charset=utf-8"},
	[NOW] = {"/api/v1/now", "application/json"},
};

struct ls_pages {
	struct ls_archive *archive; /* NULL: there is none */
	struct ls_events *events;
	struct ls_project *project;
	struct ls_peers *peers; /* NULL: none were named */
	pthread_mutex_t lock;
	double time;                   /* of the last sample */
	double at, late_after;         /* ls_clock of the last sample; 0: never late */
	struct ls_body *bodies[PAGES]; /* NULL until the first sample */
	bool well;
};

struct ls_pages *ls_pages_new(void)
{
	struct ls_pages *p = ls_xalloc(sizeof *p);
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

void ls_pages_history(struct ls_pages *p, struct ls_archive *archive, struct ls_events *events)
{
	p->archive = archive;
	p->events = events;
}

void ls_pages_project(struct ls_pages *p, struct ls_project *project)
{
	p->project = project;
}

void ls_pages_peers(struct ls_pages *p, struct ls_peers *peers)
{
	p->peers = peers;
}

void ls_pages_late_after(struct ls_pages *p, double seconds)
{
	p->late_after = seconds;
}

void ls_pages_free(struct ls_pages *p)
{
	if (!p)
		return;
	for (int i = 0; i < PAGES; i++)
		ls_body_drop(p->bodies[i]);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* What is not well; a warning does not take a machine out of service. */
static json_t *health(const struct ls_judge *j)
{
	json_t *reasons = json_array();
	for (size_t i = 0; i < ls_judge_count(j); i++) {
		const struct ls_verdict *v = ls_judge_verdict(j, i);
		if (v->health != LS_HEALTH_OK && v->health != LS_HEALTH_NOT_JUDGED)
			json_array_append_new(reasons, ls_verdict_json(v));
	}
	return json_pack("{s:s,s:o}", "health", ls_health_name(ls_judge_worst(j)), "reasons",
			 reasons);
}

static struct ls_body *metrics(const struct ls_sample *s, const struct ls_judge *j)
{
	struct ls_str out = {0};
	ls_prometheus_text(s, j, &out);
	return ls_body_take(&out);
}

static struct ls_body *now(const struct ls_sample *s, const struct ls_judge *j, double late_after)
{
	json_t *o = ls_watch_json(s), *h = ls_health_json(j);
	char name[256] = "";
	gethostname(name, sizeof name - 1);
	json_object_update(o, h);
	json_decref(h);
	json_object_set_new(o, "machine", ls_json_lossy(name));
	if (late_after > 0)
		json_object_set_new(o, "late_after", json_real(late_after));
	return ls_body_json_take(o);
}

void ls_pages_publish(struct ls_pages *p, const struct ls_sample *s, const struct ls_judge *j)
{
	struct ls_body *fresh[PAGES] = {
		[HEALTH] = ls_body_json_take(health(j)),
		[METRICS] = metrics(s, j),
		[NOW] = now(s, j, p->late_after),
	};
	enum ls_health worst = ls_judge_worst(j);
	pthread_mutex_lock(&p->lock);
	for (int i = 0; i < PAGES; i++) {
		struct ls_body *old = p->bodies[i];
		p->bodies[i] = fresh[i];
		fresh[i] = old;
	}
	p->time = s->time;
	p->at = s->steady;
	p->well = worst == LS_HEALTH_OK || worst == LS_HEALTH_WARN;
	pthread_mutex_unlock(&p->lock);
	for (int i = 0; i < PAGES; i++)
		ls_body_drop(fresh[i]);
}

static void reply(struct ls_reply *ret, int status, const char *type, struct ls_body *body)
{
	ls_body_drop(ret->body);
	*ret = (struct ls_reply){status, type, body};
}

/* The last sample no longer says how the machine is. */
static struct ls_body *late(double seconds)
{
	char evidence[64];
	snprintf(evidence, sizeof evidence, "the last sample is %.0f s old", seconds);
	return ls_body_json_take(json_pack(
		"{s:s,s:[{s:s,s:s,s:n,s:s,s:s,s:s,s:s}]}", "health", "unknown", "reasons", "rule",
		"samples-missing", "health", "unknown", "gpu", "of", "host", "cause",
		"the monitor no longer gets samples", "evidence", evidence, "advice",
		"A driver that does not answer stops it: see whether nvidia-smi answers, look "
		"into the kernel's log, and reboot."));
}

static void published(struct ls_pages *p, enum page page, struct ls_reply *ret)
{
	pthread_mutex_lock(&p->lock);
	struct ls_body *b = p->bodies[page] ? ls_body_hold(p->bodies[page]) : NULL;
	bool well = page != HEALTH || p->well;
	double old = ls_clock() - p->at;
	pthread_mutex_unlock(&p->lock);
	if (b && page == HEALTH && p->late_after > 0 && old > p->late_after) {
		ls_body_drop(b);
		reply(ret, 503, pages[page].type, late(old));
	} else if (b)
		reply(ret, well ? 200 : 503, pages[page].type, b);
	else
		reply(ret, 503, "application/json",
		      ls_body_borrow("{\"health\":\"unknown\",\"reasons\":[]}", 35));
}

/* A part of what is now, made only when somebody asks. */
static void verdicts(struct ls_pages *p, const struct ls_request *r, struct ls_reply *ret)
{
	(void)r;
	published(p, NOW, ret);
	json_t *now = json_loadb(ret->body->data, ret->body->len, 0, NULL);
	json_t *o = json_pack("{s:O?,s:O?,s:O?}", "time", json_object_get(now, "time"), "health",
			      json_object_get(now, "health"), "verdicts",
			      json_object_get(now, "verdicts"));
	json_decref(now);
	reply(ret, ret->status, "application/json", ls_body_json_take(o));
}

static double last_time(struct ls_pages *p)
{
	pthread_mutex_lock(&p->lock);
	double time = p->time;
	pthread_mutex_unlock(&p->lock);
	return time;
}

/* The last seconds that are asked for: "?range=3600". False: it is wrong, and *ret says
 * so. */
static bool read_range(const struct ls_request *r, double standard, double *range,
		       struct ls_reply *ret)
{
	char text[32];
	*range = standard;
	if (!*r->query)
		return true;
	if (ls_request_param(r, "range", text, sizeof text) &&
	    ls_str_to_double(text, 60, LS_ARCHIVE_DAYS * 86400.0, "range", range, NULL) == 0)
		return true;
	reply(ret, 400, "text/plain; charset=utf-8",
	      ls_body_borrow("range is a number of seconds, 60 to 7776000\n", 43));
	return false;
}

/* How long a span is at least: "&step=60". */
static bool read_step(const struct ls_request *r, double range, double *step, struct ls_reply *ret)
{
	char text[32];
	*step = 0;
	if (!ls_request_param(r, "step", text, sizeof text) ||
	    ls_str_to_double(text, 1, range, "step", step, NULL) == 0)
		return true;
	reply(ret, 400, "text/plain; charset=utf-8",
	      ls_body_borrow("step is a number of seconds, 1 to the range\n", 44));
	return false;
}

static void history(struct ls_pages *p, const struct ls_request *r, struct ls_reply *ret)
{
	double range, step;
	if (p->archive && read_range(r, 600, &range, ret) && read_step(r, range, &step, ret))
		reply(ret, 200, "application/json",
		      ls_body_json_take(ls_archive_json(p->archive, last_time(p), range, step)));
}

static void events(struct ls_pages *p, const struct ls_request *r, struct ls_reply *ret)
{
	enum { MOST = 500 };
	double range;
	if (p->events && read_range(r, 86400, &range, ret))
		reply(ret, 200, "application/json",
		      ls_body_json_take(ls_events_json(p->events, last_time(p) - range, MOST)));
}

static void experiments(struct ls_pages *p, const struct ls_request *r, struct ls_reply *ret)
{
	char seen[32];
	if (!ls_request_param(r, "seen", seen, sizeof seen))
		*seen = 0;
	if (p->project)
		reply(ret, 200, "application/json", ls_project_experiments(p->project, seen));
}

static void jobs(struct ls_pages *p, const struct ls_request *r, struct ls_reply *ret)
{
	(void)r;
	if (p->project)
		reply(ret, 200, "application/json", ls_project_jobs(p->project));
}

static void peers(struct ls_pages *p, const struct ls_request *r, struct ls_reply *ret)
{
	(void)r;
	reply(ret, 200, "application/json", ls_body_json_take(ls_peers_json(p->peers)));
}

static void curve(struct ls_pages *p, const struct ls_request *r, struct ls_reply *ret)
{
	char name[256], metric[256];
	struct ls_body *b = p->project && ls_request_param(r, "experiment", name, sizeof name) &&
					    ls_request_param(r, "metric", metric, sizeof metric)
				    ? ls_project_curve(p->project, name, metric)
				    : NULL;
	if (b)
		reply(ret, 200, "application/json", b);
}

static const struct {
	const char *path;
	void (*answer)(struct ls_pages *p, const struct ls_request *r, struct ls_reply *ret);
} made[] = {
	{"/api/v1/verdicts", verdicts},
	{"/api/v1/history", history},
	{"/api/v1/events", events},
	{"/api/v1/jobs", jobs},
	{"/api/v1/experiments", experiments},
	{"/api/v1/curve", curve},
	{"/api/v1/peers", peers},
};

void ls_pages_answer(void *ctx, const struct ls_request *r, struct ls_reply *ret)
{
	for (int i = 0; i < PAGES; i++)
		if (strcmp(r->path, pages[i].path) == 0)
			published(ctx, (enum page)i, ret);
	for (size_t i = 0; i < sizeof made / sizeof *made; i++)
		if (strcmp(r->path, made[i].path) == 0)
			made[i].answer(ctx, r, ret);
	ls_web_answer(r->path, ret);
}
