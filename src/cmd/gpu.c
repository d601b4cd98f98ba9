#include "cmd/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "api/doctor.h"
#include "base/mem.h"
#include "base/str.h"
#include "cmd/cache.h"
#include "gpu/nvrtc.h"

enum { PREFIXES = 5 };

/* Where Python's packages may be, by the environment. */
struct prefixes {
	const char *root; /* of a scripted machine, for tests; or "" */
	char *local, *usr_local, *usr;
	const char *list[PREFIXES + 1]; /* ends with a NULL */
};

static void prefixes_init(struct prefixes *p)
{
	const char *home = ls_cmd_folder("HOME"), *root = getenv("LOCKSTEP_ROOT");
	*p = (struct prefixes){.root = root ? root : ""};
	p->local = home ? ls_xasprintf("%s/.local", home) : NULL;
	p->usr_local = ls_xasprintf("%s/usr/local", p->root);
	p->usr = ls_xasprintf("%s/usr", p->root);
	const char *const candidates[PREFIXES] = {ls_cmd_folder("VIRTUAL_ENV"),
						  ls_cmd_folder("CONDA_PREFIX"), p->local,
						  p->usr_local, p->usr};
	size_t n = 0;
	for (size_t i = 0; i < PREFIXES; i++)
		if (candidates[i])
			p->list[n++] = candidates[i];
}

static void prefixes_done(struct prefixes *p)
{
	free(p->local);
	free(p->usr_local);
	free(p->usr);
}

void ls_cmd_gpu_init(struct ls_cmd_gpu *gpu)
{
	struct prefixes p;
	prefixes_init(&p);
	*gpu = (struct ls_cmd_gpu){.cache = ls_cmd_cache("kernels")};
	gpu->nvrtc = ls_nvrtc_places(p.root, p.list);
	gpu->conf.cache_dir = gpu->cache;
	gpu->conf.nvrtc = (const char *const *)gpu->nvrtc;
	prefixes_done(&p);
}

int ls_cmd_gpu_options(struct ls_options *o, struct ls_err *err)
{
	struct prefixes p;
	char *cache = ls_cmd_cache("kernels");
	prefixes_init(&p);
	int rc = cache ? ls_options_set(o, "kernel-cache", cache, err) : 0;
	if (rc == 0 && *p.root)
		rc = ls_options_set(o, "machine-root", p.root, err);
	for (size_t i = 0; p.list[i] && rc == 0; i++)
		rc = ls_options_set(o, "prefix", p.list[i], err);
	prefixes_done(&p);
	free(cache);
	return rc;
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
