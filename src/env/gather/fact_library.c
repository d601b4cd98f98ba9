/* CUDA's libraries: those that the loader would give any program, those that came with
 * torch, and those that torch would run with. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/elf/library.h"
#include "env/elf/loader.h"
#include "env/facts/environ.h"
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

/* The version of a library, with where it lies and why it would be taken. by: the file
 * whose list of folders leads there, or NULL. */
static void put_found(struct ls_look *look, const char *key, const char *which,
		      const struct ls_loaded *lib)
{
	char *bundled_key = ls_xasprintf("bundled.%s", which);
	bool own_list = strcmp(lib->how, "RPATH") == 0 || strcmp(lib->how, "RUNPATH") == 0;
	const char *slash = lib->by ? strrchr(lib->by, '/') : NULL;
	char *note = ls_xasprintf("%s, by %s%s%s", lib->path, lib->how, own_list ? " of " : "",
				  own_list && slash ? slash + 1 : "");
	if (is_bundled(look, bundled_key, lib->path))
		ls_facts_copy(look->facts, key,
			      bundled_key); /* the wheel's metadata know the fourth number */
	else
		read_version(look, key, which, lib->path);
	ls_facts_note(look->facts, key, note);
	free(note);
	free(bundled_key);
}

static struct ls_loader_env loader_env(const struct ls_look *look)
{
	return (struct ls_loader_env){.root = look->root,
				      .library_path = ls_env_get(look->how->env, "LD_LIBRARY_PATH"),
				      .preload = ls_env_get(look->how->env, "LD_PRELOAD")};
}

static void loaded(struct ls_look *look, const char *which)
{
	struct ls_found_library lib;
	char *key = ls_xasprintf("lib.%s", which);
	struct ls_loader_env env = loader_env(look);
	if (ls_library_find(&env, which, &lib)) {
		put_found(look, key, which, &(struct ls_loaded){.path = lib.path, .how = lib.how});
		ls_library_done(&lib);
	} else {
		ls_facts_absent(look->facts, key,
				"LD_LIBRARY_PATH, /etc/ld.so.cache, default folders",
				"the loader would find none");
	}
	free(key);
}

void ls_look_libraries(struct ls_look *look)
{
	for (size_t i = 0; ls_library_name(i); i++)
		loaded(look, ls_library_name(i));
}

/* NVIDIA's wheel for each library, its folder under nvidia/, and the name of conda's
 * package. */
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
		char *dir =
			found ? NULL : ls_sites_file(look->root, &look->python->sites, names[i]);
		found = dir ? ls_library_in_folder(look->root, dir, b->which) : found;
		free(dir);
		free(names[i]);
	}
	return found;
}

/* Where the library lies, with links resolved: the way /proc/self/maps shows it. */
static void note_file(struct ls_look *look, const char *key, const char *file)
{
	char *real = file ? ls_root_resolve(look->root, file) : NULL;
	if (file)
		ls_facts_note(look->facts, key, real ? real : file);
	free(real);
}

/* nvidia-cublas-cu12, or nvidia-cublas where CUDA 13 dropped the suffix. */
static bool from_wheel(struct ls_look *look, const struct bundle *b, const char *key, long major)
{
	char *suffixed = ls_xasprintf("%s-cu%ld", b->wheel, major);
	const struct ls_dist *dist = ls_dists_find(look->dists, suffixed);
	free(suffixed);
	dist = dist ? dist : ls_dists_find(look->dists, b->wheel);
	if (!dist)
		return false;
	if (dist->rival)
		ls_look_rival(look, key, dist);
	else
		ls_facts_set(look->facts, key, dist->version, dist->source);
	char *file = wheel_library(look, b, major);
	note_file(look, key, file);
	free(file);
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
	note_file(look, key, file);
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

/* --- what torch would run with --- */

/* The wheels whose libraries torch/__init__.py opens by itself, in its order: folder and
 * name. */
static const char *const preloads[][2] = {
	{"cublas", "cublasLt"},
	{"cublas", "cublas"},
	{"cudnn", "cudnn"},
	{"cuda_nvrtc", "nvrtc"},
	{"cuda_nvrtc", "nvrtc-builtins"},
	{"cuda_runtime", "cudart"},
	{"cuda_cupti", "cupti"},
	{"cufft", "cufft"},
	{"nvjitlink", "nvJitLink"},
	{"cusparse", "cusparse"},
	{"cusparselt", "cusparseLt"},
	{"cusolver", "cusolver"},
	{"nccl", "nccl"},
	{"nvshmem", "nvshmem_host"},
	{"cufile", "cufile"},
};

/* The first site folder with the wheel's library: its own folder, or that of CUDA 13's
 * wheels. */
static void preload_wheels(const struct ls_look *look, struct ls_loader *loader)
{
	const char *cuda = ls_facts_value(look->facts, "torch_cuda");
	const struct ls_sites *sites = &look->python->sites;
	for (size_t i = 0; i < sizeof preloads / sizeof *preloads; i++)
		for (size_t s = 0; s < sites->n; s++) {
			const char *site = sites->items[s].dir;
			char *dirs[3] = {
				ls_xasprintf("%s/nvidia/%s/lib", site, preloads[i][0]),
				ls_xasprintf("%s/nvidia/cu%ld/lib", site, strtol(cuda, NULL, 10)),
				ls_xasprintf("%s/%s/lib", site, preloads[i][0])};
			char *file = NULL;
			for (size_t d = 0; d < 3; d++) {
				if (!file)
					file = ls_library_in_folder(look->root, dirs[d],
								    preloads[i][1]);
				free(dirs[d]);
			}
			if (file) {
				ls_loader_open(loader, file);
				free(file);
				break;
			}
		}
}

/* libtorch_global_deps.so first. Behind it newer releases open every wheel that is there;
 * older ones only when a library was not found. torch/__init__.py says which of the two
 * this one does. */
static void open_global_deps(const struct ls_look *look, struct ls_loader *loader)
{
	char *init = ls_xasprintf("%s/__init__.py", look->torch_dir),
	     *deps = ls_xasprintf("%s/lib/libtorch_global_deps.so", look->torch_dir);
	char *text = ls_root_read(look->root, init, 1 << 20, NULL);
	bool always = text && strstr(text, "_preload_cuda_deps(required=False)"),
	     at_need = text && strstr(text, "_preload_cuda_deps(err)");
	struct ls_loader_mark mark = ls_loader_mark(loader);
	bool opened = ls_loader_open(loader, deps);
	if (opened && ls_loader_missing(loader) > mark.missing && at_need) {
		ls_loader_undo(loader, mark);
		preload_wheels(look, loader);
		ls_loader_open(loader, deps);
	} else if (opened && always) {
		preload_wheels(look, loader);
	}
	free(text);
	free(deps);
	free(init);
}

/* import torch, as far as the loader is concerned. NULL: none of its libraries can be
 * read. */
static struct ls_loader *import_torch(const struct ls_look *look)
{
	static const char *const libraries[] = {"libtorch_python.so", "libc10_cuda.so",
						"libtorch_cuda.so", "libtorch_cpu.so", NULL};
	struct ls_loader_env env = loader_env(look);
	struct ls_loader *loader = ls_loader_new(&env, look->python->path);
	size_t before = ls_loader_count(loader);
	open_global_deps(look, loader);
	char **names = ls_root_list(look->root, look->torch_dir);
	for (char **n = names; n && *n; n++)
		if (ls_str_starts(*n, "_C.") && ls_str_ends(*n, ".so")) {
			char *file = ls_xasprintf("%s/%s", look->torch_dir, *n);
			ls_loader_open(loader, file);
			free(file);
		}
	ls_root_list_free(names);
	for (const char *const *n = libraries; *n; n++) {
		char *file = ls_xasprintf("%s/lib/%s", look->torch_dir, *n);
		ls_loader_open(loader, file);
		free(file);
	}
	if (ls_loader_count(loader) > before)
		return loader;
	ls_loader_free(loader);
	return NULL;
}

/* "libcusparseLt.so.0 (libtorch_cuda.so needs it)": what an import would stumble over. */
static void torch_missing(struct ls_look *look, const struct ls_loader *loader)
{
	static const char key[] = "torch_missing";
	struct ls_str s = {0};
	for (size_t i = 0; i < ls_loader_missing(loader); i++) {
		const char *by, *name = ls_loader_missing_at(loader, i, &by);
		const char *slash = strrchr(by, '/');
		ls_str_addf(&s, "%s%s (%s needs it)", i ? ", " : "", name, slash ? slash + 1 : by);
	}
	if (s.len)
		ls_facts_set(look->facts, key, s.s, look->torch_dir);
	else
		ls_facts_absent(look->facts, key, look->torch_dir,
				"every library that torch needs is found");
	ls_str_done(&s);
}

/* The copy of one library that torch would run with, where it needs one. */
static void torch_lib(struct ls_look *look, const struct ls_loader *loader, const char *which)
{
	char *key = ls_xasprintf("torch_lib.%s", which);
	const char *by;
	for (size_t i = 0; i < ls_loader_count(loader); i++) {
		struct ls_loaded lib = ls_loader_at(loader, i);
		if (!ls_library_is(lib.path, which))
			continue;
		if (strcmp(lib.how, "dlopen") == 0)
			lib.how = "torch itself (_preload_cuda_deps)";
		put_found(look, key, which, &lib);
		free(key);
		return;
	}
	for (size_t i = 0; i < ls_loader_missing(loader); i++) {
		const char *name = ls_loader_missing_at(loader, i, &by);
		if (!ls_library_is(name, which))
			continue;
		char *reason = ls_xasprintf("it asks for %s, and the loader would find none", name);
		ls_facts_absent(look->facts, key, by, reason);
		free(reason);
	}
	free(key);
}

/* What torch would run with: what its libraries would be given where they can be read,
 * otherwise its own copy, otherwise the loader's. */
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
	struct ls_loader *loader = absent ? NULL : import_torch(look);
	for (size_t i = 0; ls_library_name(i) && loader; i++)
		torch_lib(look, loader, ls_library_name(i));
	if (loader)
		torch_missing(look, loader);
	ls_loader_free(loader);
	effective(look, "cudnn");
	effective(look, "nccl");
}
