#include "base/dl.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct ls_dl {
	void *handle;
	char *path;
};

static void *open_first(const char *const *names, struct ls_err *err)
{
	const char *why = "no name given";
	for (const char *const *n = names; *n; n++) {
		void *handle = dlopen(*n, RTLD_NOW | RTLD_LOCAL);
		if (handle)
			return handle;
		const char *e = dlerror();
		why = e ? e : "unknown reason";
	}
	ls_err_set(err, LS_EUNKNOWN, "%s", why);
	return NULL;
}

static void *find(void *handle, const struct ls_dl_sym *sym)
{
	for (int i = 0; i < LS_DL_NAMES && sym->names[i]; i++) {
		void *p = dlsym(handle, sym->names[i]);
		if (p)
			return p;
	}
	return NULL;
}

static char *loaded_path(void *handle, const char *fallback)
{
	struct link_map *map = NULL;
	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && *map->l_name)
		return ls_xstrdup(map->l_name);
	return ls_xstrdup(fallback);
}

static const char *first_missing(void *handle, const struct ls_dl_sym *syms)
{
	for (; syms->names[0]; syms++)
		if (syms->needed && !find(handle, syms))
			return syms->names[0];
	return NULL;
}

int ls_dl_open(const char *const *names, const struct ls_dl_sym *syms, void *table,
	       struct ls_dl **ret_lib, struct ls_err *err)
{
	void *handle = open_first(names, err);
	if (!handle)
		return LS_EUNKNOWN;
	char *path = loaded_path(handle, names[0]);
	const char *missing = first_missing(handle, syms);
	if (missing) {
		ls_err_set(err, LS_EUNKNOWN,
			   "%s: has no function %s; the library is too old or is not the one it "
			   "claims to be",
			   path, missing);
		free(path);
		dlclose(handle);
		return LS_EUNKNOWN;
	}
	for (const struct ls_dl_sym *s = syms; s->names[0]; s++) {
		void *p = find(handle, s);
		/* POSIX promises that the pointers have one size, ISO C does not know the
		 * cast: copy the bytes */
		memcpy((char *)table + s->offset, &p, sizeof p);
	}
	struct ls_dl *lib = ls_xalloc(sizeof *lib);
	*lib = (struct ls_dl){handle, path};
	*ret_lib = lib;
	return 0;
}

void ls_dl_close(struct ls_dl *lib)
{
	if (!lib)
		return;
	dlclose(lib->handle);
	free(lib->path);
	free(lib);
}

void ls_dl_keep(struct ls_dl *lib)
{
	if (!lib)
		return;
	free(lib->path);
	free(lib);
}

const char *ls_dl_path(const struct ls_dl *lib)
{
	return lib->path;
}
