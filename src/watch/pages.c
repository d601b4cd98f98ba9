#include "watch/pages.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "watch/health_report.h"
#include "watch/prometheus.h"
#include "watch/report.h"

enum page { HEALTH, METRICS, NOW, PAGES };

static const struct {
	const char *path, *type;
} pages[PAGES] = {
	[HEALTH] = {"/health", "application/json"},
	[METRICS] = {"/metrics", "text/plain; version=0.0.4; charset=utf-8"},
	[NOW] = {"/api/v1/now", "application/json"},
};

struct ls_pages {
	pthread_mutex_t lock;
	struct ls_body *bodies[PAGES]; /* NULL until the first sample */
	bool well;
};

struct ls_pages *ls_pages_new(void)
{
	struct ls_pages *p = ls_xalloc(sizeof *p);
	pthread_mutex_init(&p->lock, NULL);
	return p;
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

static struct ls_body *now(const struct ls_sample *s, const struct ls_judge *j)
{
	json_t *o = ls_watch_json(s), *h = ls_health_json(j);
	json_object_update(o, h);
	json_decref(h);
	return ls_body_json_take(o);
}

void ls_pages_publish(struct ls_pages *p, const struct ls_sample *s, const struct ls_judge *j)
{
	struct ls_body *made[PAGES] = {
		[HEALTH] = ls_body_json_take(health(j)),
		[METRICS] = metrics(s, j),
		[NOW] = now(s, j),
	};
	enum ls_health worst = ls_judge_worst(j);
	pthread_mutex_lock(&p->lock);
	for (int i = 0; i < PAGES; i++) {
		struct ls_body *old = p->bodies[i];
		p->bodies[i] = made[i];
		made[i] = old;
	}
	p->well = worst == LS_HEALTH_OK || worst == LS_HEALTH_WARN;
	pthread_mutex_unlock(&p->lock);
	for (int i = 0; i < PAGES; i++)
		ls_body_drop(made[i]);
}

static void reply(struct ls_reply *ret, int status, const char *type, struct ls_body *body)
{
	ls_body_drop(ret->body);
	*ret = (struct ls_reply){status, type, body};
}

static void published(struct ls_pages *p, enum page page, struct ls_reply *ret)
{
	pthread_mutex_lock(&p->lock);
	struct ls_body *b = p->bodies[page] ? ls_body_hold(p->bodies[page]) : NULL;
	bool well = page != HEALTH || p->well;
	pthread_mutex_unlock(&p->lock);
	if (b)
		reply(ret, well ? 200 : 503, pages[page].type, b);
	else
		reply(ret, 503, "application/json",
		      ls_body_borrow("{\"health\":\"unknown\",\"reasons\":[]}", 35));
}

void ls_pages_answer(void *ctx, const struct ls_request *r, struct ls_reply *ret)
{
	for (int i = 0; i < PAGES; i++)
		if (strcmp(r->path, pages[i].path) == 0)
			published(ctx, (enum page)i, ret);
}
