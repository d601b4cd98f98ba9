#include "watch/project.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/mem.h"
#include "job/overview.h"
#include "job/row.h"

enum { MOST = 200, POINTS = 400 };
static const double fresh_s = 1, share = 20; /* of the time that reading took */

struct ls_project {
	char *folder;
	double until;     /* ls_clock: as long as this the last answer will do */
	char version[20]; /* of that answer */
	struct ls_body *experiments, *jobs;
};

struct ls_project *ls_project_new(const char *folder)
{
	struct ls_project *p = ls_xalloc(sizeof *p);
	p->folder = ls_xstrdup(folder);
	return p;
}

void ls_project_free(struct ls_project *p)
{
	if (!p)
		return;
	ls_body_drop(p->experiments);
	ls_body_drop(p->jobs);
	free(p->folder);
	free(p);
}

static json_t *none(const char *why)
{
	return json_pack("{s:n,s:o,s:{},s:[],s:[]}", "project", "why", ls_json_lossy(why), "counts",
			 "workers", "experiments");
}

/* Opened anew, because a folder may be made, moved or removed meanwhile. */
static json_t *look(const char *folder)
{
	struct ls_store *s;
	struct ls_err err = {0};
	json_t *o = NULL;
	if (ls_store_open(folder, &s, &err))
		return none(err.msg);
	if (ls_overview(s, MOST, &o, &err)) {
		o = none(err.msg);
	} else {
		json_object_set_new(o, "project", ls_json_lossy(ls_store_root(s)));
		json_object_set_new(o, "why", json_null());
	}
	ls_store_close(s);
	return o;
}

/* The members of all, with those experiments that are not at an end as "jobs". */
static json_t *jobs_of(const json_t *all)
{
	json_t *o = json_copy((json_t *)all), *jobs = json_array(), *row;
	size_t i;
	json_array_foreach(json_object_get(all, "experiments"), i, row)
	{
		const char *state = ls_col_text(row, "state");
		if (state && (strcmp(state, "running") == 0 || strcmp(state, "queued") == 0))
			json_array_append(jobs, row);
	}
	json_object_del(o, "experiments");
	json_object_set_new(o, "jobs", jobs);
	return o;
}

static void set_version(struct ls_project *p, json_t *all)
{
	struct ls_body *text = ls_body_json_take(json_incref(all));
	snprintf(p->version, sizeof p->version, "%016llx",
		 (unsigned long long)ls_xxh64(text->data, text->len));
	ls_body_drop(text);
	json_object_set_new(all, "version", json_string(p->version));
}

static void refresh(struct ls_project *p)
{
	double began = ls_clock();
	if (p->experiments && began < p->until)
		return;
	json_t *all = look(p->folder);
	ls_body_drop(p->jobs);
	ls_body_drop(p->experiments);
	p->jobs = ls_body_json_take(jobs_of(all));
	set_version(p, all);
	p->experiments = ls_body_json_take(all);
	double now = ls_clock();
	p->until = now + fresh_s + share * (now - began);
}

struct ls_body *ls_project_experiments(struct ls_project *p, const char *seen)
{
	refresh(p);
	if (strcmp(p->version, seen) == 0)
		return ls_body_json_take(json_pack("{s:s,s:b}", "version", seen, "same", 1));
	return ls_body_hold(p->experiments);
}

struct ls_body *ls_project_jobs(struct ls_project *p)
{
	refresh(p);
	return ls_body_hold(p->jobs);
}

struct ls_body *ls_project_curve(struct ls_project *p, const char *experiment, const char *metric)
{
	struct ls_store *s;
	struct ls_err err = {0};
	json_t *o = NULL;
	if (ls_store_open(p->folder, &s, &err))
		return NULL;
	int rc = ls_overview_curve(s, experiment, metric, POINTS, &o, &err);
	ls_store_close(s);
	return rc ? NULL : ls_body_json_take(o);
}
