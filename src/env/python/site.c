#include "env/python/site.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/root.h"
#include "env/python/pyfiles.h"

/* The same folder under another name too: a venv's lib64 is a link to its lib. */
static bool have(const char *root, const struct ls_interp *py, const char *dir)
{
	char *real = ls_root_resolve(root, dir);
	bool found = false;
	for (size_t i = 0; i < py->n_sites && real && !found; i++) {
		char *other = ls_root_resolve(root, py->sites[i].dir);
		found = other && strcmp(real, other) == 0;
		free(other);
	}
	free(real);
	return found;
}

static bool add(const char *root, struct ls_interp *py, const char *dir)
{
	if (have(root, py, dir) || !ls_root_is_dir(root, dir))
		return false;
	py->sites = ls_grow(py->sites, py->n_sites, &py->cap_sites, sizeof *py->sites);
	py->sites[py->n_sites++] = (struct ls_site){ls_xstrdup(dir), ls_root_list(root, dir)};
	return true;
}

/* Lines of a .pth file that are folders; those that start with "import" are programs and are not
 * run here. */
static void add_pth(const char *root, struct ls_interp *py, const char *dir, const char *name)
{
	char *file = ls_xasprintf("%s/%s", dir, name),
	     *text = ls_root_read(root, file, 1 << 16, NULL);
	free(file);
	for (char *line = text, *next; line && *line; line = next) {
		next = line + strcspn(line, "\n");
		next += *next ? 1 : 0;
		if (next > line && next[-1] == '\n')
			next[-1] = 0;
		char *entry = ls_str_trim(line);
		if (!*entry || *entry == '#' || ls_str_starts(entry, "import ") ||
		    ls_str_starts(entry, "import\t"))
			continue;
		char *path = *entry == '/' ? ls_xstrdup(entry) : ls_xasprintf("%s/%s", dir, entry);
		add(root, py, path);
		free(path);
	}
	free(text);
}

/* A folder and what its .pth files add behind it. */
static void add_site(const char *root, struct ls_interp *py, const char *dir)
{
	if (!add(root, py, dir))
		return;
	size_t at = py->n_sites - 1;
	for (size_t i = 0; py->sites[at].names && py->sites[at].names[i]; i++)
		if (ls_str_ends(py->sites[at].names[i], ".pth"))
			add_pth(root, py, dir, py->sites[at].names[i]);
}

static void add_sitef(const char *root, struct ls_interp *py, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void add_sitef(const char *root, struct ls_interp *py, const char *fmt, ...)
{
	char *dir = NULL;
	va_list ap;
	va_start(ap, fmt);
	int n = vasprintf(&dir, fmt, ap);
	va_end(ap);
	if (n >= 0)
		add_site(root, py, dir);
	free(dir);
}

static void add_pythonpath(const char *root, struct ls_interp *py, const char *list)
{
	if (list && !*list)
		return; /* as if not set */
	for (char *dir; (dir = ls_root_next(root, &list, ":")); free(dir))
		add(root, py, dir);
}

static void add_user(const char *root, const char *const *env, struct ls_interp *py)
{
	const char *no = ls_env_get(env, "PYTHONNOUSERSITE"),
		   *base = ls_env_get(env, "PYTHONUSERBASE");
	const char *home = ls_env_get(env, "HOME");
	if (no && *no)
		return;
	if (base && *base)
		add_sitef(root, py, "%s/lib/python%s/site-packages", base, py->minor);
	else if (home && *home == '/')
		add_sitef(root, py, "%s/.local/lib/python%s/site-packages", home, py->minor);
}

static void add_installation(const char *root, struct ls_interp *py, const char *prefix)
{
	const char *m = py->minor;
	if (strcmp(prefix, "/usr") == 0) { /* Debian: what pip installs, what apt installs */
		add_sitef(root, py, "/usr/local/lib/python%s/dist-packages", m);
		add_site(root, py, "/usr/lib/python3/dist-packages");
		add_sitef(root, py, "/usr/lib/python%s/dist-packages", m);
	}
	add_sitef(root, py, "%s/lib/python%s/site-packages", prefix, m);
	add_sitef(root, py, "%s/lib64/python%s/site-packages", prefix, m);
}

void ls_site_collect(const char *root, const char *const *env, struct ls_interp *py, bool venv,
		     bool system_site)
{
	add_pythonpath(root, py, ls_env_get(env, "PYTHONPATH"));
	if (!py->minor)
		return;
	if (venv)
		add_installation(root, py, py->prefix);
	if (venv && !system_site)
		return;
	add_user(root, env, py);
	add_installation(root, py, py->base);
}

/* Does "Typing_Extensions-4.1.dist-info" belong to the normalised name? What follows the name is at
 * *ret_rest. */
static bool belongs(const char *entry, const char *name, const char **ret_rest)
{
	const char *e = entry;
	for (; *name; name++) {
		if (*name == '-') {
			if (*e != '-' && *e != '_' && *e != '.')
				return false;
			e += strspn(e, "-_.");
		} else if (tolower((unsigned char)*e++) != *name) {
			return false;
		}
	}
	*ret_rest = e;
	return (*e == '-' && isdigit((unsigned char)e[1])) || strcmp(e, ".egg-info") == 0 ||
	       strcmp(e, ".dist-info") == 0;
}

/* "-1.26.4.dist-info", "-1.26.4-py3.11.egg-info" -> "1.26.4"; NULL when the name has no version. */
static char *version_in_name(const char *rest)
{
	if (*rest != '-' || !isdigit((unsigned char)rest[1]))
		return NULL;
	const char *ending = strrchr(rest, '.');
	char *version = ls_xstrndup(rest + 1, (size_t)(ending - rest - 1));
	version[strcspn(version, "-")] = 0;
	return version;
}

/* The folder or file that describes a distribution says its version; failing that its own name
 * does. */
static bool read_entry(const char *root, const char *dir, const char *entry, const char *rest,
		       char **ret_version, char **ret_source)
{
	static const char *const files[] = {"/METADATA", "/PKG-INFO", ""};
	for (size_t i = 0; i < 3; i++) {
		char *path = ls_xasprintf("%s/%s%s", dir, entry, files[i]);
		size_t len = 0;
		char *text = ls_root_read(root, path, 1 << 16, &len);
		struct ls_metadata m = {0};
		if (text)
			ls_metadata_parse(text, len, &m);
		free(text);
		if (m.version) {
			*ret_version = m.version;
			*ret_source = path;
			free(m.name);
			return true;
		}
		ls_metadata_done(&m);
		free(path);
	}
	char *version = version_in_name(rest);
	if (!version)
		return false;
	*ret_version = version;
	*ret_source = ls_xasprintf("%s/%s", dir, entry);
	return true;
}

bool ls_interp_package(const char *root, const struct ls_interp *py, const char *name,
		       char **ret_version, char **ret_source, size_t *ret_site)
{
	for (size_t s = 0; s < py->n_sites; s++) {
		const struct ls_site *site = &py->sites[s];
		for (char **n = site->names; n && *n; n++) {
			const char *rest;
			if (!ls_str_ends(*n, ".dist-info") && !ls_str_ends(*n, ".egg-info"))
				continue;
			if (!belongs(*n, name, &rest) ||
			    !read_entry(root, site->dir, *n, rest, ret_version, ret_source))
				continue;
			if (ret_site)
				*ret_site = s;
			return true;
		}
	}
	return false;
}

char *ls_interp_file(const char *root, const struct ls_interp *py, const char *relative)
{
	for (size_t s = 0; s < py->n_sites; s++) {
		char *path = ls_xasprintf("%s/%s", py->sites[s].dir, relative);
		if (ls_root_exists(root, path))
			return path;
		free(path);
	}
	return NULL;
}
