#include "env/python/interp.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "env/facts/environ.h"
#include "env/facts/root.h"
#include "env/python/pyfiles.h"

static char *parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash || slash == path)
		return ls_xstrdup("/");
	return ls_xstrndup(path, (size_t)(slash - path));
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static char *program_in(const char *root, const char *dir, const char *name)
{
	char *file = ls_xasprintf("%s/%s", dir, name);
	if (ls_root_is_program(root, file))
		return file;
	free(file);
	return NULL;
}

/* The first of names (NULL-terminated) in a PATH-like list, past the folder skip (NULL:
 * none). */
static char *on_path(const char *root, const char *path, const char *const *names, const char *skip)
{
	const char *list = path ? path : "/usr/local/bin:/usr/bin:/bin";
	char *found = NULL;
	for (char *dir; !found && (dir = ls_root_next(root, &list, ":")); free(dir))
		for (const char *const *n = names;
		     *n && !found && (!skip || strcmp(dir, skip) != 0); n++)
			found = program_in(root, dir, *n);
	return found;
}

static const char *const pythons[] = {"python3", "python", NULL};

/* --- pyenv --- */

/* A shim is a script that hands over to pyenv; its folder is PYENV_ROOT/shims. */
static bool is_shim(const char *root, const char *path)
{
	char *text = ls_root_read(root, path, 2048, NULL);
	bool yes = text && ls_str_starts(text, "#!") && strstr(text, "pyenv");
	free(text);
	return yes;
}

/* The first word of the nearest .python-version, of the folder where we are and those
 * above it. */
static char *local_version(const char *root)
{
	char here[4096];
	if ((root && *root) || !getcwd(here, sizeof here))
		snprintf(here, sizeof here, "/");
	char *dir = ls_xstrdup(here), *version = NULL;
	for (;;) {
		char *file = ls_xasprintf("%s/.python-version", strcmp(dir, "/") == 0 ? "" : dir);
		version = ls_root_line(root, file);
		free(file);
		if (version || strcmp(dir, "/") == 0)
			break;
		char *up = parent(dir);
		free(dir);
		dir = up;
	}
	free(dir);
	return version;
}

static char *pyenv_wanted(const char *root, const char *const *env, const char *home)
{
	const char *set = ls_env_get(env, "PYENV_VERSION");
	char *text = set && *set ? ls_xstrdup(set) : local_version(root);
	if (!text) {
		char *file = ls_xasprintf("%s/version", home);
		text = ls_root_line(root, file);
		free(file);
	}
	if (text)
		text[strcspn(text, ": \t\n")] = 0;
	return text;
}

/* pyenv reads 3.11 as the newest 3.11.x that is installed; names sort so that 3.11.10
 * needs a numeric look. */
static char *newest_version(const char *root, const char *home, const char *wanted)
{
	char *dir = ls_xasprintf("%s/versions", home), *best = NULL,
	     **names = ls_root_list(root, dir);
	size_t len = strlen(wanted);
	long patch = -1;
	for (char **n = names; n && *n; n++) {
		if (strcmp(*n, wanted) == 0) {
			free(best);
			best = ls_xstrdup(*n);
			break;
		}
		long p = strncmp(*n, wanted, len) == 0 && (*n)[len] == '.'
				 ? strtol(*n + len + 1, NULL, 10)
				 : -1;
		if (p > patch) {
			patch = p;
			free(best);
			best = ls_xstrdup(*n);
		}
	}
	ls_root_list_free(names);
	free(dir);
	return best;
}

/* What a shim would start; NULL when pyenv itself would not know. */
static char *behind_shim(const char *root, const char *const *env, const char *shim)
{
	char *dir = parent(shim), *above = parent(dir), *out = NULL;
	const char *set = ls_env_get(env, "PYENV_ROOT");
	const char *home = set && *set ? set : above;
	char *wanted = pyenv_wanted(root, env, home);
	if (!wanted || strcmp(wanted, "system") == 0) {
		out = on_path(root, ls_env_get(env, "PATH"), pythons, dir);
		if (out && is_shim(root, out)) {
			free(out);
			out = NULL;
		}
	} else {
		char *version = newest_version(root, home, wanted);
		if (version)
			out = ls_xasprintf("%s/versions/%s/bin/%s", home, version, base_name(shim));
		free(version);
	}
	if (out && !ls_root_is_program(root, out)) {
		free(out);
		out = NULL;
	}
	free(wanted);
	free(above);
	free(dir);
	return out;
}

/* --- layout --- */

/* Reads pyvenv.cfg beside the program or one folder up. The folder that has it is the
 * prefix. Links of the path are not followed, as Python does not follow them here. */
static bool read_venv(const char *root, struct ls_interp *py, struct ls_pyvenv *ret)
{
	char *bin = parent(py->path), *up = parent(bin);
	const char *const dirs[] = {bin, up};
	bool found = false;
	for (size_t i = 0; i < 2 && !found; i++) {
		char *file = ls_xasprintf("%s/pyvenv.cfg", dirs[i]);
		size_t len = 0;
		char *text = ls_root_read(root, file, 1 << 16, &len);
		free(file);
		if (text) {
			ls_pyvenv_parse(text, len, ret);
			py->prefix = ls_xstrdup(dirs[i]);
			found = true;
		}
		free(text);
	}
	free(bin);
	free(up);
	return found;
}

/* "python3.11" -> "3.11" */
static char *minor_in_name(const char *name)
{
	if (!ls_str_starts(name, "python") || !isdigit((unsigned char)name[6]))
		return NULL;
	const char *v = name + 6;
	size_t n = strspn(v, "0123456789.");
	return memchr(v, '.', n) ? ls_xstrndup(v, n) : NULL;
}

/* The only lib/pythonX.Y that holds a standard library or site folder; NULL when there is
 * none or a choice. */
static char *minor_in_lib(const char *root, const char *prefix)
{
	char *dir = ls_xasprintf("%s/lib", strcmp(prefix, "/") == 0 ? "" : prefix),
	     **names = ls_root_list(root, dir);
	char *found = NULL;
	for (char **n = names; n && *n; n++) {
		char *minor = minor_in_name(*n);
		if (minor && found) {
			free(minor);
			free(found);
			found = NULL;
			break;
		}
		found = minor ? minor : found;
	}
	ls_root_list_free(names);
	free(dir);
	return found;
}

static char *version_in_file(const char *root, const char *path, const char *minor)
{
	char *file = ls_root_open_path(root, path), *version = NULL;
	struct ls_map map;
	if (file && ls_file_map(file, &map, NULL) == 0) {
		version = ls_python_in_binary(map.data, map.len, minor);
		ls_file_unmap(&map);
	}
	free(file);
	return version;
}

/* #define PY_VERSION "3.11.7" */
static char *version_in_header(const char *root, const char *path)
{
	char *text = ls_root_read(root, path, 1 << 16, NULL), *version = NULL;
	const char *p = text ? strstr(text, "#define PY_VERSION ") : NULL;
	p = p ? strchr(p, '"') : NULL;
	if (p)
		version = ls_xstrndup(p + 1, strcspn(p + 1, "\"\n"));
	free(text);
	return version;
}

static void set_version(struct ls_interp *py, char *version, const char *source)
{
	if (!version)
		return;
	py->version = version;
	py->source = ls_xstrdup(source);
}

/* Tries the binary, libpython of the same installation, its header, and pyvenv.cfg, in
 * this order. */
static void find_version(const char *root, struct ls_interp *py, const char *binary)
{
	if (py->minor) {
		char *lib = ls_xasprintf("%s/lib/libpython%s.so.1.0", py->base, py->minor);
		char *header =
			ls_xasprintf("%s/include/python%s/patchlevel.h", py->base, py->minor);
		set_version(py, version_in_file(root, binary, py->minor), binary);
		if (!py->version)
			set_version(py, version_in_file(root, lib, py->minor), lib);
		if (!py->version)
			set_version(py, version_in_header(root, header), header);
		free(lib);
		free(header);
	}
	if (!py->version && py->cfg_version)
		set_version(py, ls_xstrdup(py->cfg_version), "pyvenv.cfg");
}

static const char *kind_of(const char *root, const struct ls_interp *py, bool venv)
{
	if (venv)
		return "venv";
	char *meta = ls_xasprintf("%s/conda-meta", py->prefix);
	bool conda = ls_root_is_dir(root, meta);
	free(meta);
	if (conda)
		return "conda";
	if (py->shim || strstr(py->prefix, "/.pyenv/versions/"))
		return "pyenv";
	return strcmp(py->prefix, "/usr") == 0 ? "system" : "plain";
}

/* The folder above bin/. For a conda environment links are not resolved: its python is a
 * link within the environment. */
static char *prefix_of(const char *binary)
{
	char *bin = parent(binary), *prefix = parent(bin);
	free(bin);
	return prefix;
}

static int describe(const char *root, const char *const *env, struct ls_interp *py,
		    struct ls_err *err)
{
	struct ls_pyvenv cfg = {0};
	bool venv = read_venv(root, py, &cfg);
	char *binary = ls_root_resolve(root, py->path);
	if (!binary)
		return ls_err_set(err, LS_ENOENT, "%s: no such file", py->path);
	/* a merged-usr /bin/python3 is /usr/bin's */
	py->base = ls_str_starts(binary, "/bin/") ? ls_xstrdup("/usr") : prefix_of(binary);
	if (!venv)
		py->prefix = ls_xstrdup(py->base);
	py->cfg_version = cfg.version ? ls_xstrdup(cfg.version) : NULL;
	py->kind = kind_of(root, py, venv);
	py->minor = minor_in_name(base_name(binary));
	if (!py->minor)
		py->minor = minor_in_lib(root, py->prefix);
	find_version(root, py, binary);
	ls_sites_collect(root, env,
			 &(struct ls_site_layout){.prefix = py->prefix,
						  .base = py->base,
						  .minor = py->minor,
						  .venv = venv,
						  .system_site = cfg.system_site},
			 &py->sites);
	ls_pyvenv_done(&cfg);
	free(binary);
	return 0;
}

static bool is_script(const char *root, const char *path)
{
	char *text = ls_root_read(root, path, 2, NULL);
	bool yes = text && strcmp(text, "#!") == 0;
	free(text);
	return yes;
}

/* A bare name is looked up on PATH; a relative path is relative to the working directory.
 * NULL when there is no such program. */
static char *named(const char *root, const char *path, const char *python)
{
	char here[4096];
	if (*python == '/')
		return ls_xstrdup(python);
	if (strchr(python, '/'))
		return getcwd(here, sizeof here) ? ls_xasprintf("%s/%s", here, python) : NULL;
	return on_path(root, path, (const char *const[]){python, NULL}, NULL);
}

static int choose(const char *root, const char *const *env, const char *python,
		  struct ls_interp *py, struct ls_err *err)
{
	const char *path = ls_env_get(env, "PATH");
	py->path = python ? named(root, path, python) : on_path(root, path, pythons, NULL);
	if (!py->path && !python)
		return ls_err_set(err, LS_ENOENT,
				  "no python3 or python on PATH; name one with --python");
	if (!py->path || !ls_root_is_program(root, py->path))
		return ls_err_set(
			err, LS_ENOENT,
			"\"%s\" is not a program that can be run; --python wants an interpreter",
			python);
	if (is_shim(root, py->path)) {
		py->shim = py->path;
		py->path = behind_shim(root, env, py->shim);
		if (!py->path)
			return ls_err_set(err, LS_ENOENT,
					  "%s: pyenv has no version chosen behind this shim",
					  py->shim);
	}
	if (is_script(root, py->path))
		return ls_err_set(
			err, LS_EINPUT,
			"%s: a script, not an interpreter; name the one it starts with --python",
			py->path);
	return 0;
}

int ls_interp_find(const char *root, const char *const *env, const char *python,
		   struct ls_interp **ret, struct ls_err *err)
{
	struct ls_interp *py = ls_xalloc(sizeof *py);
	root = root ? root : "";
	int rc = choose(root, env, python, py, err);
	if (rc == 0)
		rc = describe(root, env, py, err);
	if (rc) {
		ls_interp_free(py);
		return rc;
	}
	*ret = py;
	return 0;
}

void ls_interp_free(struct ls_interp *py)
{
	if (!py)
		return;
	ls_sites_done(&py->sites);
	free(py->path);
	free(py->shim);
	free(py->prefix);
	free(py->base);
	free(py->minor);
	free(py->version);
	free(py->source);
	free(py->cfg_version);
	free(py);
}
