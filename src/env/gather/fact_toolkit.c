/* The CUDA toolkit in /usr/local/cuda (or CUDA_HOME): version.json, version.txt, cuda.h,
 * nvcc. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/str.h"
#include "env/facts/environ.h"
#include "env/facts/root.h"
#include "env/gather/look.h"

/* {"cuda": {"name": "CUDA SDK", "version": "12.1.1"}, "cuda_nvcc": {…}, …}; caller
 * frees. */
static char *json_version(const char *text, const char *part)
{
	json_t *doc;
	if (ls_json_parse(text, strlen(text), "version.json", &doc, NULL))
		return NULL;
	const char *v = json_string_value(json_object_get(json_object_get(doc, part), "version"));
	char *out = v ? ls_xstrdup(v) : NULL;
	json_decref(doc);
	return out;
}

/* "CUDA Version 12.1.105" */
static char *txt_version(const char *text)
{
	static const char mark[] = "CUDA Version ";
	const char *p = strstr(text, mark);
	if (!p)
		return NULL;
	p += sizeof mark - 1;
	size_t n = strspn(p, "0123456789.");
	return n ? ls_xstrndup(p, n) : NULL;
}

/* #define CUDA_VERSION 12010 in cuda.h, well before its end. */
static char *header_version(const struct ls_look *look, const char *path)
{
	static const char mark[] = "#define CUDA_VERSION ";
	char *text = ls_root_read(look->root, path, 1 << 16, NULL);
	const char *p = text ? strstr(text, mark) : NULL;
	char *out = NULL;
	if (p) {
		long v = strtol(p + sizeof mark - 1, NULL, 10);
		if (v >= 1000)
			out = ls_xasprintf("%ld.%ld", v / 1000, v % 1000 / 10);
	}
	free(text);
	return out;
}

struct toolkit {
	const char *dir; /* /usr/local/cuda */
	char *json_path, *txt_path, *header_path;
	char *json, *txt; /* their texts, or NULL */
};

static void version_txt(struct ls_look *look, const struct toolkit *t)
{
	static const char key[] = "cuda_version_txt";
	char *version = t->json ? json_version(t->json, "cuda") : NULL;
	if (t->txt) {
		char *copy = ls_xstrdup(t->txt), *line = ls_str_trim(copy);
		line[strcspn(line, "\r\n")] = 0;
		ls_facts_set(look->facts, key, line, t->txt_path);
		free(copy);
	} else if (version) {
		char *line = ls_xasprintf("CUDA Version %s", version);
		ls_facts_set(look->facts, key, line, t->json_path);
		free(line);
	} else {
		ls_facts_unknown(look->facts, key, t->json_path,
				 t->json ? "the file has no CUDA version"
					 : "neither version.json nor version.txt is there; many "
					   "images leave them out");
	}
	free(version);
}

static void cuda(struct ls_look *look, const struct toolkit *t)
{
	const char *source = t->json_path;
	char *version = t->json ? json_version(t->json, "cuda") : NULL;
	if (!version && t->txt) {
		version = txt_version(t->txt);
		source = t->txt_path;
	}
	if (!version) {
		version = header_version(look, t->header_path);
		source = t->header_path;
	}
	if (version)
		ls_facts_set(look->facts, "cuda", version, source);
	else if (ls_root_is_dir(look->root, t->dir))
		ls_facts_unknown(look->facts, "cuda", t->dir,
				 "no version.json, version.txt or cuda.h says which version it is");
	else
		ls_facts_unknown(look->facts, "cuda", t->dir,
				 "no toolkit is there; torch brings its own CUDA libraries");
	free(version);
}

/* "Cuda compilation tools, release 12.1, V12.1.105" */
static char *nvcc_version(const char *text)
{
	const char *p = text ? strstr(text, ", V") : NULL;
	size_t n = p ? strspn(p + 3, "0123456789.") : 0;
	return n ? ls_xstrndup(p + 3, n) : NULL;
}

static char *find_nvcc(const struct ls_look *look, const char *dir)
{
	const char *path = ls_env_get(look->how->env, "PATH");
	for (const char *p = path ? path : ""; *p;) {
		size_t len = strcspn(p, ":");
		char *file = ls_xasprintf("%.*s/nvcc", (int)len, p);
		if (len && *p == '/' && ls_root_is_program(look->root, file))
			return file;
		free(file);
		p += len + (p[len] == ':');
	}
	char *file = ls_xasprintf("%s/bin/nvcc", dir);
	if (ls_root_is_program(look->root, file))
		return file;
	free(file);
	return NULL;
}

static char *ask_nvcc(const struct ls_look *look, const char *file)
{
	char *full = ls_root_open_path(look->root, file);
	const char *const argv[] = {full, "--version", NULL};
	struct ls_proc_result r;
	char *version = NULL;
	if (full && ls_proc_run(argv, 5, &r, NULL) == 0) {
		version = nvcc_version(r.out.s);
		ls_proc_result_done(&r);
	}
	free(full);
	return version;
}

static void nvcc(struct ls_look *look, const struct toolkit *t)
{
	char *file = find_nvcc(look, t->dir);
	if (!file) {
		ls_facts_absent(look->facts, "nvcc", "PATH, /usr/local/cuda/bin",
				"no nvcc; runtime images have none");
		return;
	}
	char *real = ls_root_resolve(look->root, file), *home = ls_root_resolve(look->root, t->dir);
	bool same = real && home && ls_str_starts(real, home) && real[strlen(home)] == '/';
	char *version = same && t->json ? json_version(t->json, "cuda_nvcc") : NULL;
	char *source = ls_xstrdup(version ? t->json_path : file);
	if (!version) {
		version = ask_nvcc(look, file);
		free(source);
		source = ls_xasprintf("%s --version", file);
	}
	if (version)
		ls_facts_set(look->facts, "nvcc", version, source);
	else
		ls_facts_unknown(look->facts, "nvcc", source, "it does not tell its version");
	free(version);
	free(source);
	free(real);
	free(home);
	free(file);
}

void ls_look_toolkit(struct ls_look *look)
{
	struct toolkit t = {.dir = "/usr/local/cuda"};
	const char *home = ls_env_get(look->how->env, "CUDA_HOME");
	if (!ls_root_is_dir(look->root, t.dir) && home && *home == '/')
		t.dir = home;
	t.json_path = ls_xasprintf("%s/version.json", t.dir);
	t.txt_path = ls_xasprintf("%s/version.txt", t.dir);
	t.header_path = ls_xasprintf("%s/include/cuda.h", t.dir);
	t.json = ls_root_read(look->root, t.json_path, 1 << 20, NULL);
	t.txt = ls_root_read(look->root, t.txt_path, 1 << 14, NULL);
	cuda(look, &t);
	version_txt(look, &t);
	nvcc(look, &t);
	free(t.json_path);
	free(t.txt_path);
	free(t.header_path);
	free(t.json);
	free(t.txt);
}
