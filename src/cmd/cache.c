#include "cmd/cache.h"

#include <stdlib.h>

#include "base/mem.h"

const char *ls_cmd_folder(const char *variable)
{
	const char *value = getenv(variable);
	return value && *value == '/' ? value : NULL;
}

char *ls_cmd_cache(const char *name)
{
	const char *xdg = ls_cmd_folder("XDG_CACHE_HOME"), *home = ls_cmd_folder("HOME");
	if (!xdg && !home)
		return NULL;
	return ls_xasprintf("%s%s/lockstep/%s", xdg ? xdg : home, xdg ? "" : "/.cache", name);
}
