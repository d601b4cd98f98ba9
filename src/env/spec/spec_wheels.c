#include "env/spec/spec_wheels.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define DIGITS "0123456789"

/* --- builds --- */

static bool is_build(const char *local)
{
	const char *rest = ls_str_starts(local, "cu")     ? local + strlen("cu")
			   : ls_str_starts(local, "rocm") ? local + strlen("rocm")
							  : NULL;
	bool numbered = rest && *rest && !rest[strspn(rest, DIGITS ".")];
	return numbered || strcmp(local, "cpu") == 0 || strcmp(local, "xpu") == 0;
}

char *ls_wheel_build(const char *version)
{
	const char *local = version ? strchr(version, '+') : NULL;
	return local && is_build(local + 1) ? ls_xstrdup(local + 1) : NULL;
}

/* --- whether the spec is about CUDA --- */

/* Is this torch built without CUDA? */
static bool is_cpu_build(const struct ls_spec *spec)
{
	char *build = ls_wheel_build(ls_spec_exact(spec, "torch"));
	bool cpu = ls_spec_is_absent(spec, "torch_cuda") || (build && !ls_str_starts(build, "cu"));
	free(build);
	return cpu;
}

bool ls_spec_wants_cuda(const struct ls_spec *spec)
{
	static const char *const keys[] = {
		"torch_cuda", "cudnn", "cuda",        "driver",
		"nccl",       "nvcc",  "driver_cuda", "container_toolkit",
		"gpus",       "vram",  "capability",  "gpu_count"};
	if (is_cpu_build(spec))
		return false;
	for (size_t i = 0; i < spec->n_checks; i++)
		for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
			if (strcmp(spec->checks[i].key, keys[k]) == 0)
				return true;
	char *build = ls_wheel_build(ls_spec_exact(spec, "torch"));
	bool wants = build || (spec->image.base && strstr(spec->image.base, "cuda"));
	free(build);
	return wants;
}

/* --- where pip finds what is pinned --- */

bool ls_wheel_is_public(const char *package, const char *version)
{
	char *address = ls_wheel_index(package, version);
	bool yes = address || !strchr(version, '+');
	free(address);
	return yes;
}

char *ls_wheel_index(const char *package, const char *version)
{
	static const char *const family[] = {"torch",     "torchvision", "torchaudio", "torchtext",
					     "torchdata", "torchao",     "xformers"};
	char *build = NULL, *address;
	for (size_t i = 0; i < sizeof family / sizeof *family && !build; i++)
		if (strcmp(package, family[i]) == 0)
			build = ls_wheel_build(version);
	address = build ? ls_xasprintf("https://download.pytorch.org/whl/%s", build) : NULL;
	free(build);
	return address;
}

/* The i-th version that the spec pins, with the package's name; NULL: the i-th check pins
 * no package to one version. */
static const char *pinned(const struct ls_spec *spec, size_t i, const char **ret_package)
{
	static const char prefix[] = "package.";
	const struct ls_check *c = &spec->checks[i];
	bool package = ls_str_starts(c->key, prefix);
	if (!c->matcher || (!package && strcmp(c->key, "torch") != 0))
		return NULL;
	*ret_package = package ? c->key + strlen(prefix) : c->key;
	return ls_matcher_exact(c->matcher);
}

static bool among(char *const *list, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], text) == 0)
			return true;
	return false;
}

char **ls_wheel_indexes(const struct ls_spec *spec)
{
	char **list = NULL;
	size_t n = 0, cap = 0;
	const char *package;
	for (size_t i = 0; i < spec->n_checks && !spec->index && !spec->extra_index; i++) {
		const char *version = pinned(spec, i, &package);
		char *address = version ? ls_wheel_index(package, version) : NULL;
		if (!address || among(list, n, address)) {
			free(address);
			continue;
		}
		list = ls_grow(list, n, &cap, sizeof *list);
		list[n++] = address;
	}
	list = ls_grow(list, n, &cap, sizeof *list);
	list[n] = NULL;
	return list;
}

void ls_wheel_indexes_free(char **list)
{
	for (char **p = list; p && *p; p++)
		free(*p);
	free(list);
}

/* Could wheels of that build lie at the address? True as well where it names no build. */
static bool may_have(const char *address, const char *build)
{
	char *copy = ls_xstrdup(address);
	for (size_t n = strlen(copy); n && copy[n - 1] == '/'; n--)
		copy[n - 1] = 0;
	const char *slash = strrchr(copy, '/'), *last = slash ? slash + 1 : copy;
	bool yes = !is_build(last) || strcmp(last, build) == 0;
	free(copy);
	return yes;
}

bool ls_wheel_conflict(const struct ls_spec *spec, struct ls_wheel_conflict *ret)
{
	const char *addresses[] = {spec->index, spec->extra_index}, *package;
	const char *first = spec->index ? spec->index : spec->extra_index;
	for (size_t i = 0; i < spec->n_checks && first; i++) {
		const char *version = pinned(spec, i, &package);
		char *own = version ? ls_wheel_index(package, version) : NULL;
		const char *build = own ? strrchr(own, '/') + 1 : NULL;
		bool found = !own;
		for (size_t k = 0; k < 2 && !found; k++)
			found = addresses[k] && may_have(addresses[k], build);
		free(own);
		if (!found) {
			*ret = (struct ls_wheel_conflict){package, version, first};
			return true;
		}
	}
	return false;
}
