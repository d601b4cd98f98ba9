/* The interpreter, torch as its files describe it, and the distributions that a spec or a
 * person asks for. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/root.h"
#include "env/gather/look.h"
#include "env/python/pyfiles.h"
#include "env/python/requires.h"

static const char *const always[] = {"torchvision", "torchaudio", "numpy", "pandas", "scipy", NULL};

/* "Not installed" holds only where every site folder could be read and no .pth file runs
 * Python that may add others; otherwise nobody knows. */
static void not_found(struct ls_look *look, const char *key, const char *reason)
{
	const struct ls_interp *py = look->python;
	for (size_t i = 0; i < py->sites.n; i++)
		if (!py->sites.items[i].names) {
			ls_facts_unknown(look->facts, key, py->sites.items[i].dir,
					 "this site folder cannot be read");
			return;
		}
	if (py->sites.program) {
		ls_facts_unknown(look->facts, key, py->sites.program,
				 "no site folder has it, but a .pth file runs code at start that "
				 "may add folders; --deep asks Python");
		return;
	}
	if (py->minor)
		ls_facts_absent(look->facts, key, "site folders of this Python", reason);
	else
		ls_facts_unknown(look->facts, key, py->path,
				 "its version is unknown, and with it its site folders");
}

static void interpreter(struct ls_look *look)
{
	const struct ls_interp *py = look->python;
	struct ls_facts *f = look->facts;
	if (py->version)
		ls_facts_set(f, "python", py->version, py->source);
	else
		ls_facts_unknown(f, "python", py->path,
				 "neither its file nor its installation tells the version");
	ls_facts_set(f, "python.path", py->path, look->how->python ? "--python" : "PATH");
	if (py->shim) {
		char *note = ls_xasprintf("by the pyenv shim %s", py->shim);
		ls_facts_note(f, "python.path", note);
		free(note);
	}
	ls_facts_set(f, "python.kind", py->kind, py->prefix);
	if (py->cfg_version)
		ls_facts_set(f, "python.pyvenv_cfg", py->cfg_version, "pyvenv.cfg");
	struct ls_str sites = {0};
	for (size_t i = 0; i < py->sites.n; i++)
		ls_str_addf(&sites, "%s%s", i ? ":" : "", py->sites.items[i].dir);
	if (sites.len)
		ls_facts_set(f, "python.site", sites.s, py->path);
	else if (py->minor)
		ls_facts_absent(f, "python.site", py->path, "it has no site folder");
	else
		not_found(look, "python.site", NULL);
	ls_str_done(&sites);
}

/* torchvision and torchaudio have a version.py like torch's; it keeps the +cuXXX that
 * METADATA may have lost. */
static bool from_version_file(struct ls_look *look, const char *name, const char *key)
{
	if (strcmp(name, "torchvision") != 0 && strcmp(name, "torchaudio") != 0)
		return false;
	char *relative = ls_xasprintf("%s/version.py", name);
	char *path = ls_sites_file(look->root, &look->python->sites, relative);
	size_t len = 0;
	char *text = path ? ls_root_read(look->root, path, 1 << 16, &len) : NULL;
	struct ls_torch_file t = {0};
	if (text)
		ls_torch_file_parse(text, len, &t);
	bool found = t.version != NULL;
	if (found)
		ls_facts_set(look->facts, key, t.version, path);
	ls_torch_file_done(&t);
	free(text);
	free(path);
	free(relative);
	return found;
}

void ls_look_rival(struct ls_look *look, const char *key, const struct ls_dist *dist)
{
	char *reason = ls_xasprintf("installed twice in one folder: %s and %s; which one Python "
				    "takes is left to chance",
				    dist->version, dist->rival);
	ls_facts_unknown(look->facts, key, dist->rival_source, reason);
	free(reason);
}

static void installed(struct ls_look *look, const struct ls_dist *dist)
{
	char *key = ls_xasprintf("package.%s", dist->name);
	if (from_version_file(look, dist->name, key))
		; /* said by the package itself */
	else if (dist->rival)
		ls_look_rival(look, key, dist);
	else
		ls_facts_set(look->facts, key, dist->version, dist->source);
	free(key);
}

/* A distribution that somebody asks for and that is not among the installed ones. */
static void wanted(struct ls_look *look, const char *name)
{
	char *plain = ls_dist_name(name), *key = ls_xasprintf("package.%s", plain);
	if (!ls_facts_find(look->facts, key) && !from_version_file(look, plain, key))
		not_found(look, key, "not installed");
	free(key);
	free(plain);
}

/* "torch 2.3.1 and 2.4.0" for each that is there twice in one folder. */
static void installed_twice(struct ls_look *look)
{
	struct ls_str s = {0};
	const char *source = NULL;
	for (size_t i = 0; i < look->dists->n; i++) {
		const struct ls_dist *d = &look->dists->items[i];
		if (!d->rival)
			continue;
		ls_str_addf(&s, "%s%s %s and %s", s.len ? ", " : "", d->name, d->version, d->rival);
		source = source ? source : d->rival_source;
	}
	if (s.len)
		ls_facts_set(look->facts, "python.twice", s.s, source);
	ls_str_done(&s);
}

static void torch_from_file(struct ls_look *look, const char *path, const char *text, size_t len)
{
	struct ls_facts *f = look->facts;
	struct ls_torch_file t;
	ls_torch_file_parse(text, len, &t);
	if (t.version)
		ls_facts_set(f, "torch", t.version, path);
	else
		ls_facts_unknown(f, "torch", path, "the file has no __version__");
	if (t.cuda)
		ls_facts_set(f, "torch_cuda", t.cuda, path);
	else if (t.cuda_is_none)
		ls_facts_absent(f, "torch_cuda", path,
				t.hip ? "a ROCm build" : "a build without CUDA");
	else
		ls_facts_unknown(f, "torch_cuda", path, "the file does not say");
	if (t.git)
		ls_facts_set(f, "torch_git", t.git, path);
	ls_torch_file_done(&t);
}

static void torch(struct ls_look *look)
{
	struct ls_facts *f = look->facts;
	char *path = ls_sites_file(look->root, &look->python->sites, "torch/version.py");
	size_t len = 0;
	char *text = path ? ls_root_read(look->root, path, 1 << 16, &len) : NULL;
	if (text) {
		look->torch_dir = ls_xstrndup(path, strlen(path) - strlen("/version.py"));
		torch_from_file(look, path, text, len);
	} else if (path) {
		ls_facts_unknown(f, "torch", path, "the file cannot be read");
		ls_facts_unknown(f, "torch_cuda", path, "the file cannot be read");
	} else {
		not_found(look, "torch", "not installed");
		not_found(look, "torch_cuda", "torch is not installed");
	}
	free(text);
	free(path);
}

static void without_python(struct ls_look *look, enum ls_fact_state state, const char *reason)
{
	void (*say)(struct ls_facts *, const char *, const char *, const char *) =
		state == LS_FACT_ABSENT ? ls_facts_absent : ls_facts_unknown;
	static const char *const keys[] = {"python", "torch", "torch_cuda", NULL};
	for (const char *const *k = keys; *k; k++)
		say(look->facts, *k, "PATH", reason);
	const char *const *lists[] = {always, look->how->packages};
	for (size_t i = 0; i < 2; i++)
		for (const char *const *p = lists[i]; p && *p; p++) {
			char *plain = ls_dist_name(*p), *key = ls_xasprintf("package.%s", plain);
			say(look->facts, key, "PATH", reason);
			free(key);
			free(plain);
		}
}

void ls_look_python(struct ls_look *look)
{
	if (!look->python) {
		bool none = look->no_python.code == LS_ENOENT;
		without_python(look, none ? LS_FACT_ABSENT : LS_FACT_UNKNOWN, look->no_python.msg);
		return;
	}
	interpreter(look);
	torch(look);
	installed_twice(look);
	for (size_t i = 0; i < look->dists->n; i++)
		installed(look, &look->dists->items[i]);
	wanted(look, "torch");
	for (const char *const *p = always; *p; p++)
		wanted(look, *p);
	for (const char *const *p = look->how->packages; p && *p; p++)
		wanted(look, *p);
}
