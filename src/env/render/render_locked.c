/* requirements.txt with hashes: what the spec asks for, each as the one version that the
 * lock has, and then what these need in turn; pip installs nothing without a hash once
 * one line has one. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/proc.h"
#include "env/python/requires.h"
#include "env/render/lock.h"
#include "env/render/render.h"

/* A requirement of one package by its name: no address, no option of pip. */
static bool parse(const char *text, struct ls_require *ret)
{
	return isalnum((unsigned char)*text) && ls_require_parse(text, ret);
}

/* --- the file --- */

struct locking {
	const struct ls_spec *spec;
	const struct ls_lock *lock;
	bool *written; /* of the lock's items */
	struct ls_str *out;
	struct ls_err *err;
	int rc;
};

static void write_item(struct locking *l, const struct ls_locked *item, const char *extras,
		       const char *marker)
{
	ls_str_addf(l->out, "%s%s%s%s==%s", item->name, *extras ? "[" : "", extras,
		    *extras ? "]" : "", item->version);
	if (*marker)
		ls_str_addf(l->out, " ; %s", marker);
	for (size_t i = 0; i < item->n_hashes; i++)
		ls_str_addf(l->out, " \\\n    --hash=%s", item->hashes[i]);
	ls_str_add(l->out, "\n");
	l->written[item - l->lock->items] = true;
}

/* Does the lock's version satisfy what is asked for? */
static int check_version(const struct locking *l, const struct ls_require *r, const char *version)
{
	struct ls_matcher *m = NULL;
	if (!*r->specifier)
		return 0;
	int rc = ls_matcher_parse(r->specifier, LS_AS_VERSION, &m, l->err);
	if (!rc && ls_matcher_test(m, version) != LS_MATCH_YES)
		rc = ls_err_set(l->err, LS_EINPUT, "%s: has %s %s, and %s asks for %s",
				l->lock->path, r->name, version, l->spec->path, r->specifier);
	ls_matcher_free(m);
	return rc;
}

static void one(void *arg, const char *text)
{
	struct locking *l = arg;
	struct ls_require r;
	if (l->rc)
		return;
	if (strstr(text, " --hash")) { /* the spec has its own */
		ls_str_addf(l->out, "%s\n", text);
		return;
	}
	if (!parse(text, &r)) {
		l->rc = ls_err_set(l->err, LS_EINPUT,
				   "%s: requirements: \"%.200s\" is not a package by its name, so "
				   "that a lock has no hash of it: give it one with --hash",
				   l->spec->path, text);
		return;
	}
	const struct ls_locked *item = ls_lock_find(l->lock, r.name);
	if (item)
		l->rc = check_version(l, &r, item->version);
	else if (!*r.marker)
		l->rc = ls_err_set(l->err, LS_EINPUT, "%s: has no %s, which %s asks for",
				   l->lock->path, r.name, l->spec->path);
	if (!l->rc && item)
		write_item(l, item, r.extras, r.marker);
	else if (!l->rc)
		ls_str_addf(l->out, "# not where the lock was made: %s\n", text);
	ls_require_done(&r);
}

/* Hashes are of wheels for one Python and one machine. */
static int check_place(const struct ls_spec *spec, const struct ls_lock *lock, struct ls_err *err)
{
	const struct {
		const char *key, *value;
	} facts[] = {{"python", lock->python}, {"arch", lock->machine}};
	for (size_t i = 0; i < 2; i++) {
		const struct ls_check *c = ls_spec_find(spec, facts[i].key);
		if (c && facts[i].value &&
		    ls_matcher_test(c->matcher, facts[i].value) != LS_MATCH_YES)
			return ls_err_set(err, LS_EINPUT,
					  "%s: was made for %s %s, and %s asks for %s: make it "
					  "with such a one (--python PATH)",
					  lock->path, facts[i].key, facts[i].value, spec->path,
					  ls_check_text(c));
	}
	return 0;
}

static void further(struct locking *l)
{
	bool first = true;
	for (size_t i = 0; i < l->lock->n; i++) {
		if (l->written[i])
			continue;
		ls_str_add(l->out, first ? "# what these need\n" : "");
		first = false;
		write_item(l, &l->lock->items[i], "", l->lock->items[i].marker);
	}
}

static void index_line(void *arg, const char *option, const char *address)
{
	ls_str_addf(arg, "%s %s\n", option, address);
}

int ls_render_locked(const struct ls_spec *spec, const struct ls_lock *lock, struct ls_str *out,
		     struct ls_err *err)
{
	struct ls_str body = {0};
	bool *written = ls_xalloc(lock->n * sizeof *written);
	struct locking l = {spec, lock, written, &body, err, 0};
	int rc = check_place(spec, lock, err);
	if (!rc)
		rc = ls_render_each_requirement(spec, one, &l, err);
	rc = rc ? rc : l.rc;
	if (!rc && !body.len)
		rc = ls_err_set(err, LS_EINPUT,
				"%s: names no torch and no packages: there is nothing to require",
				spec->path);
	if (!rc) {
		further(&l);
		ls_render_head(spec, "requirements --hashes", "#", out);
		if (lock->python)
			ls_str_addf(out, "# Hashes for CPython %s on %s.\n", lock->python,
				    lock->machine);
		ls_render_each_index(spec, index_line, out);
		ls_str_add(out, body.s);
	}
	ls_str_done(&body);
	free(written);
	return rc;
}

/* --- pip --- */

struct words {
	const char **list;
	size_t n, cap;
	char *direct; /* what is no package by its name, or NULL */
};

static void word(struct words *w, const char *text)
{
	w->list = ls_grow(w->list, w->n, &w->cap, sizeof *w->list);
	w->list[w->n++] = text;
}

/* Texts are kept until the words are done. */
static void requirement_word(void *arg, const char *text)
{
	struct words *w = arg;
	struct ls_require r;
	size_t n = strcspn(text, " ");
	const char *hash = strstr(text + n, " --hash");
	char *plain = ls_xstrndup(text, hash ? (size_t)(hash - text) : strlen(text));
	if (parse(plain, &r))
		ls_require_done(&r);
	else if (!w->direct)
		w->direct = ls_xstrdup(text);
	word(w, plain);
}

static void index_words(void *arg, const char *option, const char *address)
{
	word(arg, ls_xstrdup(option));
	word(arg, ls_xstrdup(address));
}

/* The last line that says what was wrong. */
static const char *last_error(char *text)
{
	const char *last = "it says nothing";
	for (char *line; (line = strsep(&text, "\n"));)
		if (ls_str_starts(line, "ERROR:"))
			last = line + strlen("ERROR: ");
	return last;
}

static int no_answer(const struct ls_spec *spec, const char *python, struct ls_proc_result *r,
		     struct ls_err *err)
{
	return ls_err_set(
		err, LS_EUNKNOWN,
		"%s: pip of %s does not resolve it: %.300s; --hashes asks the package index, which "
		"needs a network. Without one give a lock, --lock lock.json, made where there is "
		"one: lockstep spec render %s --requirements >r.txt; python3 -m pip install "
		"--dry-run --ignore-installed --only-binary :all: --report lock.json -r r.txt",
		spec->path, python,
		r->timed_out ? "no answer in half an hour"
			     : last_error(r->err.s ? r->err.s : (char[]){""}),
		spec->path);
}

static int run_pip(const struct ls_spec *spec, const struct words *w, struct ls_lock **ret,
		   struct ls_err *err)
{
	enum { PATIENCE = 1800 }; /* seconds; an index without metadata gives whole wheels */
	struct ls_proc_result r;
	int rc = ls_proc_run(w->list, PATIENCE, &r, err);
	if (rc)
		return rc;
	if (r.status || r.timed_out)
		rc = no_answer(spec, w->list[0], &r, err);
	else
		rc = ls_lock_parse(r.out.s ? r.out.s : "", r.out.len, "pip's report", ret, err);
	ls_proc_result_done(&r);
	return rc;
}

/* No source is taken: pip would run what it has downloaded to learn what it needs. */
int ls_lock_ask_pip(const struct ls_spec *spec, const char *python, struct ls_lock **ret,
		    struct ls_err *err)
{
	const char *const before[] = {python,      "-m",         "pip",
				      "install",   "--dry-run",  "--ignore-installed",
				      "--quiet",   "--no-input", "--disable-pip-version-check",
				      "--retries", "1",          "--only-binary",
				      ":all:",     "--report",   "-"};
	enum { BEFORE = sizeof before / sizeof *before };
	struct words w = {0};
	for (size_t i = 0; i < BEFORE; i++)
		word(&w, before[i]);
	ls_render_each_index(spec, index_words, &w);
	size_t options = w.n;
	int rc = ls_render_each_requirement(spec, requirement_word, &w, err);
	if (!rc && w.direct)
		rc = ls_err_set(err, LS_EINPUT,
				"%s: requirements: \"%.200s\" is not a package by its name: pip "
				"might have to run it to see what it needs; give a lock with "
				"--lock",
				spec->path, w.direct);
	if (!rc && w.n == options)
		rc = ls_err_set(err, LS_EINPUT,
				"%s: names no torch and no packages: there is nothing to require",
				spec->path);
	word(&w, NULL);
	if (!rc)
		rc = run_pip(spec, &w, ret, err);
	for (size_t i = BEFORE; i + 1 < w.n; i++)
		free((char *)(uintptr_t)w.list[i]);
	free(w.list);
	free(w.direct);
	return rc;
}
