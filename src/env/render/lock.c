#include "env/render/lock.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "env/python/requires.h"
#include "env/spec/spec_fields.h"

/* --- hashes --- */

static bool is_hash(const char *text)
{
	static const struct {
		const char *name;
		size_t digits;
	} known[] = {{"sha256:", 64}, {"sha384:", 96}, {"sha512:", 128}};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		const char *digits = text + strlen(known[i].name);
		if (ls_str_starts(text, known[i].name))
			return strlen(digits) == known[i].digits &&
			       strspn(digits, "0123456789abcdef") == known[i].digits;
	}
	return false;
}

static void add_hash(struct ls_locked *item, const char *text)
{
	item->hashes =
		ls_grow(item->hashes, item->n_hashes, &item->cap_hashes, sizeof *item->hashes);
	item->hashes[item->n_hashes++] = ls_xstrdup(text);
}

static void done(struct ls_locked *item)
{
	for (size_t i = 0; i < item->n_hashes; i++)
		free(item->hashes[i]);
	free(item->hashes);
	free(item->name);
	free(item->version);
	free(item->marker);
}

static void add_take(struct ls_lock *lock, struct ls_locked *item)
{
	lock->items = ls_grow(lock->items, lock->n, &lock->cap, sizeof *lock->items);
	lock->items[lock->n++] = *item;
}

/* The characters of versions and no others: they are written into a file. */
static bool is_version(const char *s)
{
	return isalnum((unsigned char)*s) && !s[strspn(s, "abcdefghijklmnopqrstuvwxyz"
							  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
							  "0123456789.+_-!")];
}

/* --- pip's report --- */

static const char *text_at(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static int report_entry(struct ls_lock *lock, const json_t *entry, size_t at, struct ls_err *err)
{
	const json_t *metadata = json_object_get(entry, "metadata");
	const json_t *hashes = json_object_get(
		json_object_get(json_object_get(entry, "download_info"), "archive_info"), "hashes");
	const char *name = text_at(metadata, "name"), *version = text_at(metadata, "version");
	const char *hash = text_at(hashes, "sha256");
	if (!name || !version || !ls_spec_is_package(name) || !is_version(version))
		return ls_err_set(err, LS_EINPUT, "%s: install: entry %zu has no name and version",
				  lock->path, at + 1);
	char *text = ls_xasprintf("sha256:%s", hash ? hash : "");
	bool good = is_hash(text);
	if (good) {
		struct ls_locked item = {.name = ls_dist_name(name),
					 .version = ls_xstrdup(version),
					 .marker = ls_xstrdup("")};
		add_hash(&item, text);
		add_take(lock, &item);
	}
	free(text);
	return good ? 0
		    : ls_err_set(err, LS_EINPUT, "%s: install: %s has no sha256 of its file",
				 lock->path, name);
}

static int report(struct ls_lock *lock, const char *text, size_t len, struct ls_err *err)
{
	json_t *doc, *entry;
	int rc = ls_json_parse(text, len, lock->path, &doc, err);
	if (rc)
		return rc;
	const json_t *install = json_object_get(doc, "install"),
		     *about = json_object_get(doc, "environment");
	const char *python = text_at(about, "python_full_version"),
		   *machine = text_at(about, "platform_machine");
	if (!json_is_array(install) || !python || !machine)
		rc = ls_err_set(err, LS_EINPUT,
				"%s: not a report of pip install --dry-run --report: \"install\" "
				"or \"environment\" is missing",
				lock->path);
	size_t i;
	json_array_foreach((json_t *)(uintptr_t)install, i, entry) if (!rc) rc =
		report_entry(lock, entry, i, err);
	if (!rc) {
		lock->python = ls_xstrdup(python);
		lock->machine = ls_xstrdup(machine);
	}
	json_decref(doc);
	return rc;
}

/* --- requirements.txt with hashes --- */

/* The hashes behind a requirement: " --hash=sha256:… --hash sha256:…". */
static int take_hashes(const struct ls_lock *lock, unsigned line, char *rest,
		       struct ls_locked *item, struct ls_err *err)
{
	for (char *word; (word = strsep(&rest, " \t="));) {
		if (!*word || strcmp(word, "--hash") == 0)
			continue;
		if (!is_hash(word))
			return ls_err_set(err, LS_EINPUT,
					  "%s:%u: \"%.80s\" is not a hash such as sha256: and 64 "
					  "digits",
					  lock->path, line, word);
		add_hash(item, word);
	}
	if (!item->n_hashes)
		return ls_err_set(err, LS_EINPUT, "%s:%u: %s has no --hash", lock->path, line,
				  item->name);
	return 0;
}

static int requirement(struct ls_lock *lock, unsigned line, char *text, struct ls_err *err)
{
	struct ls_require r;
	char *rest = strstr(text, " --");
	if (rest)
		*rest++ = 0;
	if (!ls_require_parse(text, &r))
		return ls_err_set(err, LS_EINPUT, "%s:%u: not a requirement with a version",
				  lock->path, line);
	for (char *c = r.marker; *c; c++)
		*c = *c >= ' ' && *c <= '~' ? *c : '?'; /* it is written into a file */
	const char *version = ls_str_starts(r.specifier, "==") ? r.specifier + 2 : "";
	struct ls_locked item = {.name = ls_xstrdup(r.name),
				 .version = ls_xstrdup(version),
				 .marker = ls_xstrdup(r.marker)};
	int rc = is_version(version)
			 ? take_hashes(lock, line, rest ? rest : (char[]){""}, &item, err)
			 : ls_err_set(err, LS_EINPUT,
				      "%s:%u: a lock pins each package to one version with ==",
				      lock->path, line);
	ls_require_done(&r);
	if (rc)
		done(&item);
	else
		add_take(lock, &item);
	return rc;
}

/* A comment begins the line or follows a blank. */
static void cut_comment(char *s)
{
	for (char *c = s; (c = strchr(c, '#')); c++)
		if (c == s || isspace((unsigned char)c[-1])) {
			*c = 0;
			return;
		}
}

static int requirements(struct ls_lock *lock, const char *text, struct ls_err *err)
{
	char *copy = ls_xstrdup(text), *rest = copy, *s;
	struct ls_str joined = {0};
	unsigned first = 1;
	int rc = 0;
	for (unsigned line = 1; !rc && (s = strsep(&rest, "\n")); line++) {
		cut_comment(s);
		s = ls_str_trim(s);
		size_t n = strlen(s);
		bool goes_on = n && s[n - 1] == '\\' && rest;
		first = joined.len ? first : line;
		ls_str_add_bytes(&joined, s, n - goes_on);
		ls_str_add(&joined, goes_on ? " " : "");
		if (goes_on)
			continue;
		char *whole = ls_str_trim(joined.s);
		if (*whole && *whole != '-') /* an option of pip, such as an address */
			rc = requirement(lock, first, whole, err);
		ls_str_done(&joined);
	}
	ls_str_done(&joined);
	free(copy);
	return rc;
}

/* --- both --- */

static int by_name(const void *a, const void *b)
{
	const struct ls_locked *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static int check_once(struct ls_lock *lock, struct ls_err *err)
{
	if (!lock->n)
		return ls_err_set(err, LS_EINPUT, "%s: locks nothing", lock->path);
	qsort(lock->items, lock->n, sizeof *lock->items, by_name);
	for (size_t i = 1; i < lock->n; i++)
		if (strcmp(lock->items[i - 1].name, lock->items[i].name) == 0)
			return ls_err_set(err, LS_EINPUT,
					  "%s: has %s %s and %s; a lock for one Python and one "
					  "platform is wanted",
					  lock->path, lock->items[i].name,
					  lock->items[i - 1].version, lock->items[i].version);
	return 0;
}

int ls_lock_parse(const char *text, size_t len, const char *path, struct ls_lock **ret,
		  struct ls_err *err)
{
	if (memchr(text, 0, len))
		return ls_err_set(err, LS_EINPUT, "%s: has NUL bytes; this is no text", path);
	struct ls_lock *lock = ls_xalloc(sizeof *lock);
	lock->path = ls_xstrdup(path);
	int rc = text[strspn(text, " \t\r\n")] == '{' ? report(lock, text, len, err)
						      : requirements(lock, text, err);
	if (!rc)
		rc = check_once(lock, err);
	if (rc)
		ls_lock_free(lock);
	else
		*ret = lock;
	return rc;
}

void ls_lock_free(struct ls_lock *lock)
{
	if (!lock)
		return;
	for (size_t i = 0; i < lock->n; i++)
		done(&lock->items[i]);
	free(lock->items);
	free(lock->path);
	free(lock->python);
	free(lock->machine);
	free(lock);
}

const struct ls_locked *ls_lock_find(const struct ls_lock *lock, const char *name)
{
	const struct ls_locked key = {.name = (char *)(uintptr_t)name};
	return lock->n ? bsearch(&key, lock->items, lock->n, sizeof key, by_name) : NULL;
}
