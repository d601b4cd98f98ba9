#include "cmd/gpu.h"

#include <stdlib.h>

#include "base/mem.h"
#include "gpu/nvrtc.h"

/* An empty variable is as good as none, as the XDG specification says; so is a relative path. */
static const char *folder(const char *variable)
{
	const char *value = getenv(variable);
	return value && *value == '/' ? value : NULL;
}

void ls_cmd_gpu_init(struct ls_cmd_gpu *gpu)
{
	const char *home = folder("HOME"), *xdg = folder("XDG_CACHE_HOME");
	char *local = home ? ls_xasprintf("%s/.local", home) : NULL;
	const char *const candidates[] = {folder("VIRTUAL_ENV"), folder("CONDA_PREFIX"), local, "/usr/local", "/usr"};
	const char *prefixes[sizeof candidates / sizeof *candidates + 1] = {0};
	size_t n = 0;
	for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
		if (candidates[i])
			prefixes[n++] = candidates[i];
	*gpu = (struct ls_cmd_gpu){0};
	if (xdg || home)
		gpu->cache = ls_xasprintf("%s%s/lockstep/kernels", xdg ? xdg : home, xdg ? "" : "/.cache");
	gpu->nvrtc = ls_nvrtc_places(prefixes);
	gpu->conf.cache_dir = gpu->cache;
	gpu->conf.nvrtc = (const char *const *)gpu->nvrtc;
	free(local);
}

void ls_cmd_gpu_done(struct ls_cmd_gpu *gpu)
{
	free(gpu->cache);
	ls_nvrtc_places_free(gpu->nvrtc);
}
