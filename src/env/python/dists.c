#include "env/python/dists.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/root.h"
#include "env/python/pyfiles.h"
#include "env/python/requires.h"

/* Name and Version stand in the first lines of METADATA; the description behind them may
 * be long. */
enum { HEAD = 4096, WHOLE = 1 << 16 };

/* "Typing_Extensions-4.1.dist-info" -> "typing-extensions" and "4.1"; "six.egg-info" has
 * no version. False for anything else. */
static bool split_entry(const char *entry, char **ret_name, char **ret_version)
{
	if (!ls_str_ends(entry, ".dist-info") && !ls_str_ends(entry, ".egg-info"))
		return false;
	size_t len = (size_t)(strrchr(entry, '.') - entry), n = 0;
	while (n < len && !(entry[n] == '-' && isdigit((unsigned char)entry[n + 1])))
		n++;
	if (!n)
		return false;
	char *name = ls_xstrndup(entry, n);
	*ret_name = ls_dist_name(name);
	*ret_version = n < len ? ls_xstrndup(entry + n + 1, len - n - 1) : NULL;
	if (*ret_version) /* 1.26.4-py3.11 */
		(*ret_version)[strcspn(*ret_version, "-")] = 0;
	free(name);
	return true;
}

static char *version_in(const char *root, const char *path, size_t limit)
{
	size_t len = 0;
	char *text = ls_root_read(root, path, limit, &len);
	struct ls_metadata m = {0};
	if (text)
		ls_metadata_parse(text, len, &m);
	free(text);
	free(m.name);
	return m.version;
}

/* What the folder or file that describes a distribution says of its version, and which
 * file. */
static char *read_version(const char *root, const char *dir, const char *entry, char **ret_source)
{
	static const char *const files[] = {"/METADATA", "/PKG-INFO", ""};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char *path = ls_xasprintf("%s/%s%s", dir, entry, files[i]);
		char *version = version_in(root, path, HEAD);
		version = version ? version : version_in(root, path, WHOLE);
		if (version) {
			*ret_source = path;
			return version;
		}
		free(path);
	}
	return NULL;
}

/* Reads one entry of a site folder, if it describes a distribution. */
static void add_entry(struct ls_dists *d, const char *root, const char *dir, size_t site,
		      const char *entry)
{
	char *name, *in_name, *source = NULL;
	if (!split_entry(entry, &name, &in_name))
		return;
	char *version = read_version(root, dir, entry, &source);
	if (!version && in_name) {
		version = in_name;
		in_name = NULL;
		source = ls_xasprintf("%s/%s", dir, entry);
	}
	free(in_name);
	if (!version) {
		free(name);
		return;
	}
	d->items = ls_grow(d->items, d->n, &d->cap, sizeof *d->items);
	d->items[d->n] = (struct ls_dist){
		.name = name, .version = version, .source = source, .site = site, .order = d->n};
	d->n++;
}

static int by_name(const void *a, const void *b)
{
	const struct ls_dist *x = a, *y = b;
	int order = strcmp(x->name, y->name);
	if (!order && x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return order ? order : x->order < y->order ? -1 : x->order > y->order;
}

static void clear(struct ls_dist *d)
{
	free(d->name);
	free(d->version);
	free(d->source);
	free(d->rival);
	free(d->rival_source);
}

/* Of two versions in one folder Python takes the one that the directory lists first, so
 * both are kept: the second as a rival. Those in later folders are shadowed. */
static void drop_repeats(struct ls_dists *d)
{
	size_t kept = 0;
	for (size_t i = 0; i < d->n; i++) {
		struct ls_dist *last = kept ? &d->items[kept - 1] : NULL, *it = &d->items[i];
		if (!last || strcmp(last->name, it->name) != 0) {
			d->items[kept++] = *it;
			continue;
		}
		if (!last->rival && last->site == it->site &&
		    strcmp(last->version, it->version) != 0) {
			last->rival = it->version;
			last->rival_source = it->source;
			it->version = it->source = NULL;
		}
		clear(it);
	}
	d->n = kept;
}

struct ls_dists *ls_dists_read(const char *root, const struct ls_sites *sites)
{
	struct ls_dists *d = ls_xalloc(sizeof *d);
	for (size_t s = 0; s < sites->n; s++)
		for (char **n = sites->items[s].names; n && *n; n++)
			add_entry(d, root, sites->items[s].dir, s, *n);
	if (d->n)
		qsort(d->items, d->n, sizeof *d->items, by_name);
	drop_repeats(d);
	return d;
}

void ls_dists_free(struct ls_dists *dists)
{
	if (!dists)
		return;
	for (size_t i = 0; i < dists->n; i++)
		clear(&dists->items[i]);
	free(dists->items);
	free(dists);
}

const struct ls_dist *ls_dists_find(const struct ls_dists *dists, const char *name)
{
	size_t low = 0, high = dists->n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = strcmp(dists->items[mid].name, name);
		if (order == 0)
			return &dists->items[mid];
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}
