#include "cmd/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "api/doctor.h"
#include "base/mem.h"
#include "base/str.h"
#include "cmd/cache.h"
#include "gpu/nvrtc.h"

void ls_cmd_gpu_init(struct ls_cmd_gpu *gpu)
{
	const char *home = ls_cmd_folder("HOME"), *root = getenv("LOCKSTEP_ROOT");
	root = root ? root : ""; /* the root of a scripted machine, for tests */
	char *local = home ? ls_xasprintf("%s/.local", home) : NULL;
	char *usr_local = ls_xasprintf("%s/usr/local", root), *usr = ls_xasprintf("%s/usr", root);
	const char *const candidates[] = {ls_cmd_folder("VIRTUAL_ENV"),
					  ls_cmd_folder("CONDA_PREFIX"), local, usr_local, usr};
	const char *prefixes[sizeof candidates / sizeof *candidates + 1] = {0};
	size_t n = 0;
	for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
		if (candidates[i])
			prefixes[n++] = candidates[i];
	*gpu = (struct ls_cmd_gpu){.cache = ls_cmd_cache("kernels")};
	gpu->nvrtc = ls_nvrtc_places(root, prefixes);
	gpu->conf.cache_dir = gpu->cache;
	gpu->conf.nvrtc = (const char *const *)gpu->nvrtc;
	free(local);
	free(usr_local);
	free(usr);
}

void ls_cmd_gpu_done(struct ls_cmd_gpu *gpu)
{
	free(gpu->cache);
	ls_nvrtc_places_free(gpu->nvrtc);
}

static bool describe(struct ls_str *text, struct ls_str *source)
{
	struct ls_cmd_gpu gpu;
	ls_cmd_gpu_init(&gpu);
	bool there = ls_kernels_describe(&gpu.conf, text, source);
	ls_cmd_gpu_done(&gpu);
	return there;
}

void ls_cmd_gpu_fact(struct ls_facts *facts)
{
	struct ls_cmd_gpu gpu;
	ls_cmd_gpu_init(&gpu);
	ls_gpu_code_fact(facts, &gpu.conf);
	ls_cmd_gpu_done(&gpu);
}

char *ls_cmd_gpu_line(void)
{
	struct ls_str text = {0}, source = {0}, line = {0};
	bool there = describe(&text, &source);
	bool named = there && strcmp(source.s, "this program") != 0;
	ls_str_addf(&line, "%s%s%s%s%s", there ? "" : "none: ", text.s, named ? " (" : "",
		    named ? source.s : "", named ? ")" : "");
	ls_str_done(&text);
	ls_str_done(&source);
	return ls_str_take(&line);
}
