#include "env/elf/loader.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "env/elf/elf.h"
#include "env/elf/ldcache.h"
#include "env/facts/root.h"

/* More than any process has; a made-up chain of files must come to an end. */
enum { MAX_LOADED = 4096 };

struct object {
	char *path, *real; /* real: with links resolved */
	char *asked;       /* the name it was needed under, or NULL */
	const char *how;
	size_t by; /* index of the object that needs it; its own index: none */
	struct ls_elf elf;
};

struct missing {
	char *name, *by;
};

struct ls_loader {
	struct ls_loader_env env;
	char *cache;
	size_t cache_len;
	struct object *objects;
	size_t n, cap;
	struct missing *missing;
	size_t n_missing, cap_missing;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? ls_xstrndup(path, (size_t)(slash - path)) : ls_xstrdup(".");
}

/* --- finding a file by name --- */

struct in_cache {
	const char *name;
	char *path;
};

static bool see(void *arg, const char *name, const char *path)
{
	struct in_cache *c = arg;
	if (strcmp(name, c->name) != 0)
		return true;
	c->path = ls_xstrdup(path);
	return false;
}

static char *in_cache(const struct ls_loader *l, const char *name)
{
	struct in_cache c = {.name = name};
	if (l->cache)
		ls_ldcache_each(l->cache, l->cache_len, ls_ldcache_native(), see, &c, NULL);
	if (c.path && ls_root_exists(l->env.root, c.path))
		return c.path;
	free(c.path);
	return NULL;
}

static char *in_list(const struct ls_loader *l, const char *list, const char *name)
{
	if (!list || !*list)
		return NULL;
	for (char *dir; (dir = ls_root_next(l->env.root, &list, ":;")); free(dir)) {
		char *path = ls_xasprintf("%s/%s", dir, name);
		if (ls_root_exists(l->env.root, path)) {
			free(dir);
			return path;
		}
		free(path);
	}
	return NULL;
}

/* /a/torch/lib/../../nvidia/lib/x -> /a/nvidia/lib/x; the last name stays as it is. */
static char *plain_take(const char *root, char *path)
{
	char *dir = folder_of(path), *real = ls_root_resolve(root, dir);
	char *out = real ? ls_xasprintf("%s/%s", real, base_name(path)) : ls_xstrdup(path);
	free(real);
	free(dir);
	free(path);
	return out;
}

/* In the folders that an object itself lists. $ORIGIN is the folder that a library was
 * found in, also through a link; of the program it is the folder of the file behind the
 * link. */
static char *in_own_list(const struct ls_loader *l, const struct object *o, const char *list,
			 const char *name)
{
	if (!list)
		return NULL;
	char *origin = folder_of(o == l->objects ? o->real : o->path),
	     *expanded = ls_elf_expand(list, origin);
	char *found = in_list(l, expanded, name);
	free(expanded);
	free(origin);
	return found ? plain_take(l->env.root, found) : NULL;
}

/* The RPATH of the file, of the one that needed that file, and so on up to the program;
 * none where the first has a RUNPATH. */
static char *by_rpath(const struct ls_loader *l, size_t by, const char *name)
{
	char *found = NULL;
	if (l->objects[by].elf.runpath)
		return NULL;
	for (size_t i = by;; i = l->objects[i].by) {
		const struct object *o = &l->objects[i];
		found = o->elf.runpath ? NULL : in_own_list(l, o, o->elf.rpath, name);
		if (found || o->by == i)
			break;
	}
	if (!found && !l->objects[0].elf.runpath)
		found = in_own_list(l, &l->objects[0], l->objects[0].elf.rpath, name);
	return found;
}

static char *search(const struct ls_loader *l, size_t by, const char *name, const char **ret_how)
{
	static const char defaults[] =
#if defined(__aarch64__)
		"/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:"
#else
		"/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:"
#endif
		"/lib64:/usr/lib64:/lib:/usr/lib";
	const struct object *o = &l->objects[by];
	char *path = by_rpath(l, by, name);
	*ret_how = "RPATH";
	if (!path && (path = in_list(l, l->env.library_path, name)))
		*ret_how = "LD_LIBRARY_PATH";
	if (!path && (path = in_own_list(l, o, o->elf.runpath, name)))
		*ret_how = "RUNPATH";
	if (!path && (path = in_cache(l, name)))
		*ret_how = "/etc/ld.so.cache";
	if (!path && (path = in_list(l, defaults, name)))
		*ret_how = "default folder";
	return path;
}

/* --- objects --- */

static bool read_elf(const char *root, const char *path, struct ls_elf *ret)
{
	char *file = ls_root_open_path(root, path);
	struct ls_map map;
	bool ok = file && ls_file_map(file, &map, NULL) == 0;
	if (ok) {
		ok = ls_elf_read(map.data, map.len, ret, NULL) == 0;
		ls_file_unmap(&map);
	}
	free(file);
	return ok;
}

static void object_done(struct object *o)
{
	free(o->path);
	free(o->real);
	free(o->asked);
	ls_elf_done(&o->elf);
}

static bool answers_to(const struct object *o, const char *name)
{
	return (o->asked && strcmp(o->asked, name) == 0) ||
	       (o->elf.soname && strcmp(o->elf.soname, name) == 0);
}

/* The dynamic linker itself is in every process. */
static bool has(const struct ls_loader *l, const char *name)
{
	if (ls_str_starts(name, "ld-linux"))
		return true;
	for (size_t i = 0; i < l->n; i++)
		if (answers_to(&l->objects[i], name))
			return true;
	return false;
}

/* Takes the path and the file behind it as one more object, unless it is there or is no
 * ELF file: then false, and path is freed. */
static bool add_take(struct ls_loader *l, char *path, const char *asked, const char *how, size_t by)
{
	struct object o = {.path = path,
			   .real = ls_root_resolve(l->env.root, path),
			   .asked = asked ? ls_xstrdup(asked) : NULL,
			   .how = how,
			   .by = by == SIZE_MAX ? l->n : by};
	bool take = o.real && l->n < MAX_LOADED;
	for (size_t i = 0; i < l->n && take; i++)
		take = strcmp(l->objects[i].real, o.real) != 0;
	if (!take || !read_elf(l->env.root, path, &o.elf)) {
		object_done(&o);
		return false;
	}
	l->objects = ls_grow(l->objects, l->n, &l->cap, sizeof *l->objects);
	l->objects[l->n++] = o;
	return true;
}

static void note_missing(struct ls_loader *l, const char *name, const char *by)
{
	for (size_t i = 0; i < l->n_missing; i++)
		if (strcmp(l->missing[i].name, name) == 0)
			return;
	l->missing = ls_grow(l->missing, l->n_missing, &l->cap_missing, sizeof *l->missing);
	l->missing[l->n_missing++] = (struct missing){ls_xstrdup(name), ls_xstrdup(by)};
}

/* Everything that the objects from first on need, breadth first. */
static void load_needed(struct ls_loader *l, size_t first)
{
	for (size_t i = first; i < l->n; i++)
		for (size_t k = 0; l->objects[i].elf.needed && l->objects[i].elf.needed[k]; k++) {
			const char *name = l->objects[i].elf.needed[k], *how;
			char *path = has(l, name) ? NULL : search(l, i, name, &how);
			if (path)
				add_take(l, path, name, how, i);
			else if (!has(l, name))
				note_missing(l, name, l->objects[i].path);
		}
}

/* A name without a slash is searched for as a needed one is; what cannot be loaded ld.so
 * ignores. */
static void load_preloads(struct ls_loader *l)
{
	for (const char *p = l->env.preload ? l->env.preload : ""; *p;) {
		size_t n = strcspn(p, " :"), skip = n + (p[n] != 0);
		char *name = ls_xstrndup(p, n);
		const char *how;
		char *path = strchr(name, '/') ? ls_xstrdup(name)
			     : *name           ? search(l, 0, name, &how)
					       : NULL;
		if (path)
			add_take(l, path, base_name(name), "LD_PRELOAD", SIZE_MAX);
		free(name);
		p += skip;
	}
}

struct ls_loader *ls_loader_new(const struct ls_loader_env *env, const char *program)
{
	struct ls_loader *l = ls_xalloc(sizeof *l);
	l->env = *env;
	l->env.root = env->root ? env->root : "";
	l->cache = ls_root_read(l->env.root, "/etc/ld.so.cache", 64 << 20, &l->cache_len);
	/* object 0 is the program, also where it cannot be read */
	if (!add_take(l, ls_xstrdup(program), NULL, "program", SIZE_MAX)) {
		l->objects = ls_grow(l->objects, l->n, &l->cap, sizeof *l->objects);
		l->objects[l->n++] = (struct object){
			.path = ls_xstrdup(program), .real = ls_xstrdup(program), .how = "program"};
	}
	load_preloads(l);
	load_needed(l, 0);
	return l;
}

void ls_loader_free(struct ls_loader *l)
{
	if (!l)
		return;
	ls_loader_undo(l, (struct ls_loader_mark){0});
	free(l->objects);
	free(l->missing);
	free(l->cache);
	free(l);
}

bool ls_loader_open(struct ls_loader *l, const char *path)
{
	size_t first = l->n;
	bool added = add_take(l, ls_xstrdup(path), NULL, "dlopen", SIZE_MAX);
	if (added)
		load_needed(l, first);
	return added;
}

struct ls_loader_mark ls_loader_mark(const struct ls_loader *l)
{
	return (struct ls_loader_mark){l->n, l->n_missing};
}

void ls_loader_undo(struct ls_loader *l, struct ls_loader_mark mark)
{
	while (l->n > mark.loaded)
		object_done(&l->objects[--l->n]);
	while (l->n_missing > mark.missing) {
		struct missing *m = &l->missing[--l->n_missing];
		free(m->name);
		free(m->by);
	}
}

size_t ls_loader_count(const struct ls_loader *l)
{
	return l->n;
}

struct ls_loaded ls_loader_at(const struct ls_loader *l, size_t i)
{
	const struct object *o = &l->objects[i];
	return (struct ls_loaded){o->path, o->how, o->by == i ? NULL : l->objects[o->by].path};
}

size_t ls_loader_missing(const struct ls_loader *l)
{
	return l->n_missing;
}

const char *ls_loader_missing_at(const struct ls_loader *l, size_t i, const char **ret_by)
{
	*ret_by = l->missing[i].by;
	return l->missing[i].name;
}
