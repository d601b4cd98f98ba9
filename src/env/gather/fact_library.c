/* CUDA's libraries: those that the loader would take, and those that came with torch. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/elf/library.h"
#include "env/facts/root.h"
#include "env/gather/look.h"

/* Is that the copy that came with torch? Links do not count. */
static bool is_bundled(const struct ls_look *look, const char *bundled_key, const char *path)
{
	const struct ls_fact *own = ls_facts_find(look->facts, bundled_key);
	char *a = own && own->note ? ls_root_resolve(look->root, own->note) : NULL;
	char *b = ls_root_resolve(look->root, path);
	bool same = a && b && strcmp(a, b) == 0;
	free(a);
	free(b);
	return same;
}

static void read_version(struct ls_look *look, const char *key, const char *which, const char *path)
{
	char *source = NULL,
	     *version = ls_library_version(look->root, which, path, look->how->deep, &source);
	if (version)
		ls_facts_set(look->facts, key, version, source);
	else
		ls_facts_unknown(look->facts, key, path,
				 "neither its name nor a header beside it tells the version");
	free(version);
	free(source);
}

/* The version of the library that asker (a file, or NULL: any program) would be given, with where
 * it lies and why. */
static void put_found(struct ls_look *look, const char *key, const char *which,
		      const struct ls_found_library *lib, const char *asker)
{
	char *bundled_key = ls_xasprintf("bundled.%s", which);
	bool own_list = strcmp(lib->how, "RPATH") == 0 || strcmp(lib->how, "RUNPATH") == 0;
	char *note = ls_xasprintf("%s, by %s%s%s", lib->path, lib->how, own_list ? " of " : "",
				  own_list ? asker : "");
	if (is_bundled(look, bundled_key, lib->path))
		ls_facts_copy(look->facts, key,
			      bundled_key); /* the wheel's metadata know the fourth number */
	else
		read_version(look, key, which, lib->path);
	ls_facts_note(look->facts, key, note);
	free(note);
	free(bundled_key);
}

static void loaded(struct ls_look *look, const char *which)
{
	struct ls_found_library lib;
	char *key = ls_xasprintf("lib.%s", which);
	if (!ls_library_find(look->root, ls_look_env(look, "LD_LIBRARY_PATH"), which, &lib)) {
		ls_facts_absent(look->facts, key,
				"LD_LIBRARY_PATH, /etc/ld.so.cache, default folders",
				"the loader would find none");
		free(key);
		return;
	}
	put_found(look, key, which, &lib, NULL);
	free(key);
	ls_library_done(&lib);
}

void ls_look_libraries(struct ls_look *look)
{
	for (size_t i = 0; ls_library_name(i); i++)
		loaded(look, ls_library_name(i));
}

/* NVIDIA's wheel for each library, its folder under nvidia/, and the name of conda's package. */
static const struct bundle {
	const char *which, *wheel, *folder, *conda;
} bundles[] = {
	{"cudart", "nvidia-cuda-runtime", "cuda_runtime", "cuda-cudart"},
	{"cudnn", "nvidia-cudnn", "cudnn", "cudnn"},
	{"cublas", "nvidia-cublas", "cublas", "libcublas"},
	{"nccl", "nvidia-nccl", "nccl", "nccl"},
	{"nvrtc", "nvidia-cuda-nvrtc", "cuda_nvrtc", "cuda-nvrtc"},
	{"cupti", "nvidia-cuda-cupti", "cuda_cupti", "cuda-cupti"},
};

/* The wheel's own folder, or the one that CUDA 13's wheels share. */
static char *wheel_library(const struct ls_look *look, const struct bundle *b, long major)
{
	char *names[2] = {ls_xasprintf("nvidia/%s/lib", b->folder),
			  ls_xasprintf("nvidia/cu%ld/lib", major)};
	char *found = NULL;
	for (size_t i = 0; i < 2; i++) {
		char *dir = found ? NULL : ls_interp_file(look->root, look->python, names[i]);
		found = dir ? ls_library_in_folder(look->root, dir, b->which) : found;
		free(dir);
		free(names[i]);
	}
	return found;
}

/* nvidia-cublas-cu12, or nvidia-cublas where CUDA 13 dropped the suffix. */
static bool from_wheel(struct ls_look *look, const struct bundle *b, const char *key, long major)
{
	char *names[2] = {ls_xasprintf("%s-cu%ld", b->wheel, major), ls_xstrdup(b->wheel)};
	char *version = NULL, *source = NULL;
	bool found = false;
	for (size_t i = 0; i < 2; i++) {
		found = found || ls_interp_package(look->root, look->python, names[i], &version,
						   &source, NULL);
		free(names[i]);
	}
	if (!found)
		return false;
	ls_facts_set(look->facts, key, version, source);
	char *file = wheel_library(look, b, major);
	if (file)
		ls_facts_note(look->facts, key, file);
	free(file);
	free(version);
	free(source);
	return true;
}

/* conda-meta/cudnn-8.9.2.26-cuda12_0.json */
static bool from_conda(struct ls_look *look, const struct bundle *b, const char *key)
{
	char *dir = ls_xasprintf("%s/conda-meta", look->python->prefix),
	     **names = ls_root_list(look->root, dir);
	size_t len = strlen(b->conda);
	bool found = false;
	for (char **n = names; n && *n && !found; n++) {
		if (strncmp(*n, b->conda, len) != 0 || (*n)[len] != '-' ||
		    !ls_str_ends(*n, ".json"))
			continue;
		const char *v = *n + len + 1;
		if (*v < '0' || *v > '9')
			continue;
		char *version = ls_xstrndup(v, strcspn(v, "-")),
		     *source = ls_xasprintf("%s/%s", dir, *n);
		ls_facts_set(look->facts, key, version, source);
		free(version);
		free(source);
		found = true;
	}
	ls_root_list_free(names);
	free(dir);
	return found;
}

/* Older wheels have everything in torch/lib. */
static bool from_torch_lib(struct ls_look *look, const struct bundle *b, const char *key)
{
	char *dir = ls_xasprintf("%s/lib", look->torch_dir), *source = NULL;
	char *file = ls_library_in_folder(look->root, dir, b->which);
	free(dir);
	if (!file)
		return false;
	char *version = ls_library_version(look->root, b->which, file, look->how->deep, &source);
	if (version)
		ls_facts_set(look->facts, key, version, source);
	else
		ls_facts_unknown(look->facts, key, file,
				 "its name has only the major number; --deep asks torch");
	ls_facts_note(look->facts, key, file);
	free(version);
	free(source);
	free(file);
	return true;
}

static void bundled(struct ls_look *look, const struct bundle *b, const char *absent)
{
	char *key = ls_xasprintf("bundled.%s", b->which);
	const char *cuda = ls_facts_value(look->facts, "torch_cuda");
	long major = cuda ? strtol(cuda, NULL, 10) : 0;
	const struct ls_fact *torch = ls_facts_find(look->facts, "torch");
	if (torch->state == LS_FACT_UNKNOWN)
		ls_facts_unknown(look->facts, key, torch->source, torch->reason);
	else if (absent)
		ls_facts_absent(look->facts, key, "torch/version.py", absent);
	else if (!from_wheel(look, b, key, major) && !from_torch_lib(look, b, key) &&
		 !from_conda(look, b, key))
		ls_facts_absent(look->facts, key, look->torch_dir,
				"none came with this torch; the loader's would be used");
	free(key);
}

static const char *why_nothing_is_bundled(const struct ls_look *look)
{
	if (!look->torch_dir)
		return "there is no torch";
	return ls_facts_value(look->facts, "torch_cuda") ? NULL
							 : "this torch is built without CUDA";
}

/* The copy that one of torch's own libraries would be given. False: it asks for none. */
static bool asked_by(struct ls_look *look, const char *which, const char *key, const char *asker)
{
	char *file = ls_xasprintf("%s/lib/%s", look->torch_dir, asker), *needed = NULL;
	struct ls_found_library lib;
	int found = ls_library_link(look->root, file, look->python->path,
				    ls_look_env(look, "LD_LIBRARY_PATH"), which, &lib, &needed);
	if (found == 0) {
		char *reason =
			ls_xasprintf("it asks for %s, and the loader would find none", needed);
		ls_facts_absent(look->facts, key, file, reason);
		free(reason);
		free(needed);
	} else if (found > 0) {
		put_found(look, key, which, &lib, asker);
		ls_library_done(&lib);
	}
	free(file);
	return found >= 0;
}

/* In the order in which torch loads them: who asks first decides for all. */
static void torch_lib(struct ls_look *look, const char *which)
{
	static const char *const askers[] = {"libtorch_global_deps.so", "libc10_cuda.so",
					     "libtorch_cuda.so", "libtorch_cpu.so", NULL};
	char *key = ls_xasprintf("torch_lib.%s", which);
	bool asked = false;
	for (const char *const *a = askers; *a && !asked; a++)
		asked = asked_by(look, which, key, *a);
	free(key);
}

/* What torch would run with: what its libraries would be given where they can be read, otherwise
 * its own copy, otherwise the loader's. */
static void effective(struct ls_look *look, const char *which)
{
	char *own_key = ls_xasprintf("bundled.%s", which), *lib_key = ls_xasprintf("lib.%s", which);
	char *given_key = ls_xasprintf("torch_lib.%s", which);
	const struct ls_fact *own = ls_facts_find(look->facts, own_key),
			     *given = ls_facts_find(look->facts, given_key);
	bool cpu_build = look->torch_dir && !ls_facts_value(look->facts, "torch_cuda");
	if (given && given->state != LS_FACT_ABSENT)
		ls_facts_copy(look->facts, which, given_key);
	else
		ls_facts_copy(look->facts, which,
			      own->state != LS_FACT_ABSENT || cpu_build ? own_key : lib_key);
	free(given_key);
	free(lib_key);
	free(own_key);
}

void ls_look_bundled(struct ls_look *look)
{
	const char *absent = why_nothing_is_bundled(look);
	for (size_t i = 0; i < sizeof bundles / sizeof *bundles; i++)
		bundled(look, &bundles[i], absent);
	for (size_t i = 0; ls_library_name(i) && !absent; i++)
		torch_lib(look, ls_library_name(i));
	effective(look, "cudnn");
	effective(look, "nccl");
}
