#include "env/spec/spec_diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/table.h"

const char *ls_drift_name(enum ls_drift what)
{
	static const char *const names[] = {"same",  "within", "changed",
					    "added", "gone",   "unknown"};
	return names[what];
}

/* --- comparing --- */

static struct ls_drift_item *add(struct ls_spec_diff *d, const char *key, const char *old_text,
				 const char *new_text)
{
	d->items = ls_grow(d->items, d->n, &d->cap, sizeof *d->items);
	struct ls_drift_item *it = &d->items[d->n++];
	*it = (struct ls_drift_item){.key = key, .old_text = old_text, .new_text = new_text};
	return it;
}

/* Index of the check of the same key and level, or of the same key alone; n_checks:
 * none. */
static size_t counterpart(const struct ls_spec *spec, const struct ls_check *c)
{
	const struct ls_check *first = ls_spec_find(spec, c->key);
	size_t any = first ? (size_t)(first - spec->checks) : spec->n_checks;
	/* packages and variables occur once; of the others there are a few dozen */
	bool once = ls_str_starts(c->key, "package.") || ls_str_starts(c->key, "env.");
	for (size_t i = any; i < spec->n_checks && !once; i++)
		if (strcmp(spec->checks[i].key, c->key) == 0 && spec->checks[i].level == c->level)
			return i;
	return any;
}

/* Does the old check accept every machine that the new one describes? Certain only for
 * one exact value. */
static bool admits(const struct ls_check *old_check, const struct ls_check *new_check)
{
	const char *value = new_check->matcher ? ls_matcher_exact(new_check->matcher) : NULL;
	if (old_check->matcher && value)
		return ls_matcher_test(old_check->matcher, value) == LS_MATCH_YES;
	return false;
}

/* A captured set of GPUs is one machine: test the old set against it. */
static bool admits_gpus(const struct ls_spec *new_spec, const struct ls_check *old_check,
			const struct ls_check *new_check)
{
	enum { MAX = 64 };
	struct ls_gpu_seen seen[MAX];
	if (!old_check->gpus || !new_check->gpus || !new_spec->captured)
		return false;
	size_t n = ls_gpuset_count(new_check->gpus);
	if (n == 0 || n > MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		seen[i] = (struct ls_gpu_seen){
			.name = ls_gpuset_name(new_check->gpus, 0),
			.capability = ls_gpuset_min_capability(new_check->gpus),
			.memory_mib = ls_gpuset_memory_mib(new_check->gpus),
			.ecc = ls_gpuset_ecc(new_check->gpus),
			.mig = ls_gpuset_mig(new_check->gpus),
		};
	return ls_gpuset_test(old_check->gpus, seen, n, NULL, 0) == LS_MATCH_YES;
}

/* The new spec has no such check. That is drift when a capture found the fact to be
 * absent. A variable that a hand-written spec names is an exception: the files rendered
 * from the spec set it, so the image may lack it. */
static enum ls_drift without(const struct ls_spec_diff *d, const struct ls_check *c)
{
	bool pinned = ls_str_starts(c->key, "env.") && !d->old_spec->captured;
	if (!d->new_spec->captured)
		return LS_DRIFT_GONE;
	return ls_spec_is_absent(d->new_spec, c->key) && !pinned ? LS_DRIFT_GONE : LS_DRIFT_UNKNOWN;
}

/* What a look from inside an image, on a runner without a GPU, cannot see. */
static bool needs_gpu(const char *key)
{
	static const char *const keys[] = {
		"driver",     "driver_cuda",       "gpus", "gpu_count", "vram",
		"capability", "container_toolkit", NULL};
	for (const char *const *k = keys; *k; k++)
		if (strcmp(key, *k) == 0)
			return true;
	return false;
}

/* 3.10.x and 3.10.* are one expectation. */
static bool same_terms(const struct ls_check *a, const struct ls_check *b)
{
	if (!a->matcher || !b->matcher)
		return false;
	json_t *x = ls_matcher_terms(a->matcher), *y = ls_matcher_terms(b->matcher);
	bool same = json_equal(x, y);
	json_decref(x);
	json_decref(y);
	return same;
}

/* compared: which checks of the new spec have been looked at. */
static void compare_one(struct ls_spec_diff *d, const struct ls_check *c, bool *compared)
{
	size_t at = counterpart(d->new_spec, c);
	const struct ls_check *other = at < d->new_spec->n_checks ? &d->new_spec->checks[at] : NULL;
	compared[at] = true;
	struct ls_drift_item *it =
		add(d, c->key, ls_check_text(c), other ? ls_check_text(other) : NULL);
	it->level = c->level;
	/* A capture has no opinion on levels: take the old spec's. */
	it->new_level = other && !d->new_spec->captured ? other->level : c->level;
	if (!other)
		it->what = without(d, c);
	else if (strcmp(it->old_text, it->new_text) == 0 || same_terms(c, other))
		it->what = it->level == it->new_level ? LS_DRIFT_SAME : LS_DRIFT_CHANGED;
	else if (admits(c, other) || admits_gpus(d->new_spec, c, other))
		it->what = LS_DRIFT_WITHIN;
	else
		it->what = LS_DRIFT_CHANGED;
	/* Informational components (kernel, CPU) may differ without being drift. */
	bool matters =
		it->level != LS_LEVEL_INFORMATIONAL || it->new_level != LS_LEVEL_INFORMATIONAL;
	it->drifted = (it->what == LS_DRIFT_CHANGED || it->what == LS_DRIFT_GONE) && matters;
	it->open = it->what == LS_DRIFT_UNKNOWN && it->level == LS_LEVEL_REQUIRED &&
		   !needs_gpu(it->key);
}

/* Members that files are rendered from, and that doctor does not check. */
static void compare_text(struct ls_spec_diff *d, const char *key, const char *a, const char *b)
{
	if (!a && !b)
		return;
	struct ls_drift_item *it = add(d, key, a, b);
	if (a && b)
		it->what = strcmp(a, b) == 0 ? LS_DRIFT_SAME : LS_DRIFT_CHANGED;
	else if (a)
		it->what = d->new_spec->captured ? LS_DRIFT_UNKNOWN : LS_DRIFT_GONE;
	else
		it->what = LS_DRIFT_ADDED;
	it->drifted = it->what != LS_DRIFT_SAME && !d->new_spec->captured;
}

static bool among(char *const *list, const char *text)
{
	for (; list && *list; list++)
		if (strcmp(*list, text) == 0)
			return true;
	return false;
}

/* Lists without order: what only one of them has. */
static void compare_lists(struct ls_spec_diff *d, const char *key, char *const *a, char *const *b)
{
	for (char *const *p = a; p && *p; p++)
		compare_text(d, key, *p, among(b, *p) ? *p : NULL);
	for (char *const *p = b; p && *p; p++)
		if (!among(a, *p))
			compare_text(d, key, NULL, *p);
}

static void compare_sources(struct ls_spec_diff *d)
{
	const struct ls_spec *o = d->old_spec, *n = d->new_spec;
	compare_text(d, "image", o->image.base, n->image.base);
	if (n->captured)
		return; /* a machine knows none of the rest */
	compare_text(d, "image.digest", o->image.digest, n->image.digest);
	compare_lists(d, "image.apt", o->image.apt, n->image.apt);
	compare_text(d, "requirements.index", o->index, n->index);
	compare_text(d, "requirements.extra_index", o->extra_index, n->extra_index);
	compare_lists(d, "requirements.lines", o->lines, n->lines);
}

/* What only the new spec expects. A capture lists more than a hand-written spec does, so
 * that alone is no drift. It is drift when the old spec says that the fact is absent. */
static void compare_new(struct ls_spec_diff *d, const struct ls_check *c)
{
	bool came = ls_spec_is_absent(d->old_spec, c->key);
	struct ls_drift_item *it = add(d, c->key, came ? "absent" : NULL, ls_check_text(c));
	it->what = LS_DRIFT_ADDED;
	it->level = it->new_level = c->level;
	it->drifted = (came || !d->new_spec->captured) && c->level != LS_LEVEL_INFORMATIONAL;
}

void ls_spec_diff(const struct ls_spec *old_spec, const struct ls_spec *new_spec,
		  struct ls_spec_diff *ret)
{
	*ret = (struct ls_spec_diff){.old_spec = old_spec, .new_spec = new_spec};
	bool *compared = ls_xalloc((new_spec->n_checks + 1) * sizeof *compared);
	compare_sources(ret);
	for (size_t i = 0; i < old_spec->n_checks; i++)
		compare_one(ret, &old_spec->checks[i], compared);
	for (size_t i = 0; i < new_spec->n_checks; i++)
		if (!compared[i])
			compare_new(ret, &new_spec->checks[i]);
	free(compared);
	for (size_t i = 0; i < ret->n; i++) {
		ret->drifted += ret->items[i].drifted;
		ret->open += ret->items[i].open;
		ret->judged += ret->items[i].what != LS_DRIFT_UNKNOWN;
	}
}

enum ls_drift_answer ls_spec_diff_answer(const struct ls_spec_diff *d)
{
	if (d->drifted)
		return LS_DRIFTED;
	return d->open || !d->judged ? LS_DRIFT_OPEN : LS_NO_DRIFT;
}

void ls_spec_diff_done(struct ls_spec_diff *d)
{
	free(d->items);
	*d = (struct ls_spec_diff){0};
}

/* --- showing --- */

static const char *or_dash(const char *text)
{
	return text ? text : "-";
}

static void add_rows(const struct ls_spec_diff *d, bool drifted, struct ls_table *t)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct ls_drift_item *it = &d->items[i];
		if (it->drifted != drifted || it->what == LS_DRIFT_SAME)
			continue;
		char level[64];
		snprintf(level, sizeof level, "%s%s%s", ls_level_name(it->level),
			 it->level == it->new_level ? "" : " -> ",
			 it->level == it->new_level ? "" : ls_level_name(it->new_level));
		const char *const cells[] = {it->key, or_dash(it->old_text), or_dash(it->new_text),
					     ls_drift_name(it->what), level};
		ls_table_row(t, cells);
	}
}

/* "cannot tell: torch, numpy could not be seen" */
static void add_open(const struct ls_spec_diff *d, struct ls_str *out)
{
	if (!d->open) {
		ls_str_add(out,
			   "cannot tell: the two have nothing in common that could be compared\n");
		return;
	}
	ls_str_add(out, "cannot tell: not seen: ");
	for (size_t i = 0, n = 0; i < d->n; i++)
		if (d->items[i].open)
			ls_str_addf(out, "%s%s", n++ ? ", " : "", d->items[i].key);
	ls_str_add(out, "\n");
}

static const char *const heading[] = {"component", "old", "new", "what", "level"};

void ls_spec_diff_text(const struct ls_spec_diff *d, struct ls_str *out)
{
	struct ls_table t;
	ls_table_init(&t, 5, heading);
	add_rows(d, true, &t);
	add_rows(d, false, &t);
	if (t.rows > 1)
		ls_table_text(&t, out);
	ls_table_done(&t);
	ls_str_addf(out, "%s -> %s: ", d->old_spec->name, d->new_spec->name);
	if (d->drifted)
		ls_str_addf(out, "%zu component%s drifted\n", d->drifted,
			    d->drifted == 1 ? "" : "s");
	else if (ls_spec_diff_answer(d) == LS_DRIFT_OPEN)
		add_open(d, out);
	else
		ls_str_add(out, "no drift\n");
}

/* A folded table of the differences that are not drift. */
static void markdown_rest(const struct ls_spec_diff *d, struct ls_str *out)
{
	struct ls_table t;
	ls_table_init(&t, 5, heading);
	add_rows(d, false, &t);
	if (t.rows > 1) {
		ls_str_addf(out,
			    "\n<details>\n<summary>%zu further row%s: no drift, or unknown "
			    "here</summary>\n\n",
			    t.rows - 1, t.rows == 2 ? "" : "s");
		ls_table_markdown(&t, out);
		ls_str_add(out, "\n</details>\n");
	}
	ls_table_done(&t);
}

static void markdown_summary(const struct ls_spec_diff *d, struct ls_str *out)
{
	size_t shown = 0;
	ls_str_add(out, "**");
	for (size_t i = 0; i < d->n; i++) {
		const struct ls_drift_item *it = &d->items[i];
		if (!it->drifted)
			continue;
		if (shown == 3)
			break;
		ls_str_addf(out, "%s%s %s → %s", shown++ ? ", " : "", it->key,
			    or_dash(it->old_text), or_dash(it->new_text));
	}
	if (d->drifted > shown)
		ls_str_addf(out, " and %zu more", d->drifted - shown);
	ls_str_add(out, "**\n\n");
}

void ls_spec_diff_markdown(const struct ls_spec_diff *d, struct ls_str *out)
{
	const struct ls_spec *o = d->old_spec, *n = d->new_spec;
	const char *title = n->captured ? "Environment drift" : "Environment change";
	if (strcmp(o->name, n->name) == 0)
		ls_str_addf(out, "## %s in `%s`\n\n", title, o->name);
	else
		ls_str_addf(out, "## %s: `%s` → `%s`\n\n", title, o->name, n->name);
	if (ls_spec_diff_answer(d) == LS_DRIFT_OPEN) {
		add_open(d, out);
	} else if (!d->drifted) {
		ls_str_add(out, "No drift: everything that the old spec expects still holds.\n");
	} else {
		struct ls_table t;
		markdown_summary(d, out);
		ls_table_init(&t, 5, heading);
		add_rows(d, true, &t);
		ls_table_markdown(&t, out);
		ls_table_done(&t);
	}
	markdown_rest(d, out);
	if (!d->drifted)
		return;
	ls_str_add(out, "\n### What to do\n\n");
	if (n->captured)
		ls_str_addf(out,
			    "- [ ] Is the change wanted? Then put the new values into `%s`; "
			    "Dockerfile, requirements "
			    "and CI "
			    "are rendered from it (`lockstep spec render`).\n"
			    "- [ ] If not, pin the image by digest so that it cannot move.\n",
			    o->path);
	else
		ls_str_add(out, "- [ ] `lockstep spec check` on the new spec\n"
				"- [ ] Rendered files regenerated (`lockstep spec render`)\n");
	ls_str_add(
		out,
		"- [ ] Golden runs repeated: a changed torch, CUDA or cuDNN may change results.\n");
}

json_t *ls_spec_diff_json(const struct ls_spec_diff *d)
{
	json_t *list = json_array();
	for (size_t i = 0; i < d->n; i++) {
		const struct ls_drift_item *it = &d->items[i];
		json_array_append_new(list,
				      json_pack("{s:s,s:s,s:s?,s:s?,s:s,s:b}", "key", it->key,
						"what", ls_drift_name(it->what), "old",
						it->old_text, "new", it->new_text, "level",
						ls_level_name(it->level), "drifted", it->drifted));
	}
	return json_pack("{s:s,s:s,s:I,s:I,s:o}", "old", d->old_spec->name, "new",
			 d->new_spec->name, "drifted", (json_int_t)d->drifted, "open",
			 (json_int_t)d->open, "components", list);
}
