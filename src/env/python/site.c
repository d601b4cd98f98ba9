#include "env/python/site.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/environ.h"
#include "env/facts/root.h"

/* The same folder under another name too: a venv's lib64 is a link to its lib. */
static bool have(const char *root, const struct ls_sites *sites, const char *dir)
{
	char *real = ls_root_resolve(root, dir);
	bool found = false;
	for (size_t i = 0; i < sites->n && real && !found; i++) {
		char *other = ls_root_resolve(root, sites->items[i].dir);
		found = other && strcmp(real, other) == 0;
		free(other);
	}
	free(real);
	return found;
}

static bool add(const char *root, struct ls_sites *sites, const char *dir)
{
	if (have(root, sites, dir) || !ls_root_is_dir(root, dir))
		return false;
	sites->items = ls_grow(sites->items, sites->n, &sites->cap, sizeof *sites->items);
	sites->items[sites->n++] = (struct ls_site){ls_xstrdup(dir), ls_root_list(root, dir)};
	return true;
}

/* Lines of Python in .pth files that add no folder: what installers are known to
 * write. */
static bool is_harmless(const char *line)
{
	static const char *const starts[] = {
		"import os; var = 'SETUPTOOLS_USE_DISTUTILS'", /* setuptools */
		"import _virtualenv",                          /* virtualenv */
		"import sys, types, os;",                      /* namespace packages */
		"import sys,types,os;",
		"import __editable___", /* an editable install: a finder for its own package */
	};
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (ls_str_starts(line, starts[i]))
			return true;
	return false;
}

/* A line of a .pth file: a folder, a remark, or Python, which is not run here. */
static void add_pth_line(const char *root, struct ls_sites *sites, const char *dir,
			 const char *file, const char *entry)
{
	if (!*entry || *entry == '#')
		return;
	if (ls_str_starts(entry, "import ") || ls_str_starts(entry, "import\t")) {
		if (!sites->program && !is_harmless(entry))
			sites->program = ls_xstrdup(file);
		return;
	}
	char *path = *entry == '/' ? ls_xstrdup(entry) : ls_xasprintf("%s/%s", dir, entry);
	add(root, sites, path);
	free(path);
}

static void add_pth(const char *root, struct ls_sites *sites, const char *dir, const char *name)
{
	char *file = ls_xasprintf("%s/%s", dir, name),
	     *text = ls_root_read(root, file, 1 << 16, NULL);
	for (char *line = text, *next; line && *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		add_pth_line(root, sites, dir, file, ls_str_trim(line));
	}
	free(text);
	free(file);
}

/* A folder and what its .pth files add behind it. */
static void add_site(const char *root, struct ls_sites *sites, const char *dir)
{
	if (!add(root, sites, dir))
		return;
	size_t at = sites->n - 1;
	for (size_t i = 0; sites->items[at].names && sites->items[at].names[i]; i++)
		if (ls_str_ends(sites->items[at].names[i], ".pth"))
			add_pth(root, sites, dir, sites->items[at].names[i]);
}

static void add_sitef(const char *root, struct ls_sites *sites, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void add_sitef(const char *root, struct ls_sites *sites, const char *fmt, ...)
{
	char *dir = NULL;
	va_list ap;
	va_start(ap, fmt);
	int n = vasprintf(&dir, fmt, ap);
	va_end(ap);
	if (n >= 0)
		add_site(root, sites, dir);
	free(dir);
}

static void add_pythonpath(const char *root, struct ls_sites *sites, const char *list)
{
	if (list && !*list)
		return; /* as if not set */
	for (char *dir; (dir = ls_root_next(root, &list, ":")); free(dir))
		add(root, sites, dir);
}

static void add_user(const char *root, const char *const *env, struct ls_sites *sites,
		     const char *minor)
{
	const char *no = ls_env_get(env, "PYTHONNOUSERSITE"),
		   *base = ls_env_get(env, "PYTHONUSERBASE"), *home = ls_env_get(env, "HOME");
	if (no && *no)
		return;
	if (base && *base)
		add_sitef(root, sites, "%s/lib/python%s/site-packages", base, minor);
	else if (home && *home == '/')
		add_sitef(root, sites, "%s/.local/lib/python%s/site-packages", home, minor);
}

static void add_installation(const char *root, struct ls_sites *sites, const char *prefix,
			     const char *minor)
{
	if (strcmp(prefix, "/usr") == 0) { /* Debian: what pip installs, what apt installs */
		add_sitef(root, sites, "/usr/local/lib/python%s/dist-packages", minor);
		add_site(root, sites, "/usr/lib/python3/dist-packages");
		add_sitef(root, sites, "/usr/lib/python%s/dist-packages", minor);
	}
	add_sitef(root, sites, "%s/lib/python%s/site-packages", prefix, minor);
	add_sitef(root, sites, "%s/lib64/python%s/site-packages", prefix, minor);
}

void ls_sites_collect(const char *root, const char *const *env, const struct ls_site_layout *layout,
		      struct ls_sites *ret)
{
	*ret = (struct ls_sites){0};
	add_pythonpath(root, ret, ls_env_get(env, "PYTHONPATH"));
	if (!layout->minor)
		return;
	if (layout->venv)
		add_installation(root, ret, layout->prefix, layout->minor);
	if (layout->venv && !layout->system_site)
		return;
	add_user(root, env, ret, layout->minor);
	add_installation(root, ret, layout->base, layout->minor);
}

void ls_sites_done(struct ls_sites *sites)
{
	for (size_t i = 0; i < sites->n; i++) {
		free(sites->items[i].dir);
		ls_root_list_free(sites->items[i].names);
	}
	free(sites->items);
	free(sites->program);
	*sites = (struct ls_sites){0};
}

char *ls_sites_file(const char *root, const struct ls_sites *sites, const char *relative)
{
	for (size_t s = 0; s < sites->n; s++) {
		char *path = ls_xasprintf("%s/%s", sites->items[s].dir, relative);
		if (ls_root_exists(root, path))
			return path;
		free(path);
	}
	return NULL;
}
