/* What torch's metadata ask for: its own Requires-Dist, and those of NVIDIA's packages
 * behind it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/root.h"
#include "env/gather/look.h"
#include "env/python/pyfiles.h"
#include "env/python/requires.h"

/* torch -> cuda-toolkit[cublas] -> nvidia-cublas -> nvidia-cuda-nvrtc; a circle must
 * end. */
enum { MAX_DEPTH = 6, METADATA_LIMIT = 1 << 20 };

struct walk {
	struct ls_look *look;
	struct ls_marker_env env;
	const struct ls_dist *dist; /* whose lines are read */
	int depth;
};

static void read_dist(const struct walk *from, const char *name, const char *extra);

/* One more condition on a name: both must hold. */
static void put(const struct walk *w, const struct ls_require *r)
{
	struct ls_facts *f = w->look->facts;
	char *key = ls_xasprintf("requires.%s", r->name);
	const char *before = ls_facts_value(f, key);
	const char *now = *r->specifier ? r->specifier : "*";
	if (!before || strcmp(before, "*") == 0) {
		ls_facts_set(f, key, now, w->dist->source);
	} else if (*r->specifier && strcmp(before, r->specifier) != 0) {
		char *both = ls_xasprintf("%s,%s", before, r->specifier);
		ls_facts_set(f, key, both, w->dist->source);
		free(both);
	}
	free(key);
}

/* NVIDIA's packages require further ones; of the others only torch's own lines matter
 * here. */
static bool is_nvidia(const char *name)
{
	return ls_str_starts(name, "nvidia-") || ls_str_starts(name, "cuda-toolkit");
}

static void follow(const struct walk *w, const struct ls_require *r)
{
	if (!is_nvidia(r->name) || w->depth >= MAX_DEPTH)
		return;
	read_dist(w, r->name, "");
	for (const char *p = r->extras; *p;) {
		size_t n = strcspn(p, ",");
		char *extra = ls_xstrndup(p, n);
		if (*extra)
			read_dist(w, r->name, extra);
		free(extra);
		p += n + (p[n] != 0);
	}
}

static void see(void *arg, const char *line)
{
	const struct walk *w = arg;
	struct ls_require r;
	if (!ls_require_parse(line, &r))
		return;
	enum ls_marker holds = ls_marker_test(r.marker, &w->env);
	/* lines without an extra were read before, those of the extra are wanted now */
	bool of_extra =
		*w->env.extra &&
		ls_marker_test(r.marker, &(struct ls_marker_env){
						 .python_version = w->env.python_version,
						 .python_full_version = w->env.python_full_version,
						 .machine = w->env.machine,
						 .extra = ""}) == LS_MARKER_TRUE;
	if (holds == LS_MARKER_TRUE && !of_extra) {
		put(w, &r);
		follow(w, &r);
	}
	ls_require_done(&r);
}

static void read_dist(const struct walk *from, const char *name, const char *extra)
{
	struct walk w = *from;
	size_t len = 0;
	w.dist = ls_dists_find(w.look->dists, name);
	w.env.extra = extra;
	w.depth++;
	char *text =
		w.dist ? ls_root_read(w.look->root, w.dist->source, METADATA_LIMIT, &len) : NULL;
	if (text)
		ls_metadata_requirements(text, len, see, &w);
	free(text);
}

void ls_look_requirements(struct ls_look *look)
{
	if (!look->python || !look->torch_dir)
		return;
	struct walk w = {.look = look,
			 .env = {.python_version = look->python->minor,
				 .python_full_version = look->python->version,
				 .machine = ls_facts_value(look->facts, "arch"),
				 .extra = ""}};
	read_dist(&w, "torch", "");
}
