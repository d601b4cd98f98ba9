#include "env/elf/library.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/elf/ldcache.h"
#include "env/facts/root.h"
#include "gpu/libver.h"

const char *ls_library_name(size_t i)
{
	static const char *const names[] = {"cudart", "cudnn", "cublas", "nccl", "nvrtc", "cupti"};
	return i < sizeof names / sizeof *names ? names[i] : NULL;
}

/* The folder of a path, without the slash at its end: "" for a file in /. */
static char *before_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? ls_xstrndup(path, (size_t)(slash - path)) : ls_xstrdup(".");
}

/* What follows ".so." in lib<which>.so.12.1 or lib<which>-9335f6a2.so.12; NULL for other
 * libraries. */
static const char *number_of(const char *file, const char *which)
{
	if (!ls_str_starts(file, "lib") || !ls_str_starts(file + 3, which))
		return NULL;
	const char *p = file + 3 + strlen(which);
	if (*p == '-') {
		size_t n = strspn(p + 1, "0123456789abcdef");
		if (n < 8)
			return NULL; /* libnvrtc-builtins is another library */
		p += 1 + n;
	}
	if (!ls_str_starts(p, ".so.") || !isdigit((unsigned char)p[4]) ||
	    p[4 + strspn(p + 4, "0123456789.")])
		return NULL;
	return p + 4;
}

static bool higher(const char *a, const char *b)
{
	while (*a || *b) {
		unsigned long x = strtoul(a, NULL, 10), y = strtoul(b, NULL, 10);
		if (x != y)
			return x > y;
		a += strspn(a, "0123456789");
		b += strspn(b, "0123456789");
		a += *a == '.';
		b += *b == '.';
	}
	return false;
}

char *ls_library_in_folder(const char *root, const char *dir, const char *which)
{
	char **names = ls_root_list(root, dir), *best = NULL;
	for (char **n = names; n && *n; n++) {
		const char *number = number_of(*n, which);
		if (number && (!best || higher(number, number_of(best, which)))) {
			free(best);
			best = ls_xstrdup(*n);
		}
	}
	ls_root_list_free(names);
	char *path = best ? ls_xasprintf("%s/%s", dir, best) : NULL;
	free(best);
	return path;
}

bool ls_library_is(const char *path, const char *which)
{
	const char *slash = strrchr(path, '/');
	return number_of(slash ? slash + 1 : path, which) != NULL;
}

struct in_cache {
	const char *which;
	char *name, *path;
};

static bool see(void *arg, const char *name, const char *path)
{
	struct in_cache *c = arg;
	const char *number = number_of(name, c->which);
	if (number && (!c->name || higher(number, number_of(c->name, c->which)))) {
		free(c->name);
		free(c->path);
		c->name = ls_xstrdup(name);
		c->path = ls_xstrdup(path);
	}
	return true;
}

static char *in_cache(const char *root, const char *which)
{
	size_t len = 0;
	char *bytes = ls_root_read(root, "/etc/ld.so.cache", 64 << 20, &len);
	struct in_cache c = {.which = which};
	if (bytes)
		ls_ldcache_each(bytes, len, ls_ldcache_native(), see, &c, NULL);
	free(bytes);
	free(c.name);
	return c.path;
}

static char *in_list(const char *root, const char *list, const char *which)
{
	char *found = NULL;
	if (list && !*list)
		return NULL; /* as if not set */
	for (char *dir; !found && (dir = ls_root_next(root, &list, ":;"));
	     free(dir)) /* glibc takes both signs */
		found = ls_library_in_folder(root, dir, which);
	return found;
}

/* LD_PRELOAD: files, separated by blanks or colons. */
static char *in_preload(const char *root, const char *list, const char *which)
{
	for (const char *p = list ? list : ""; *p;) {
		size_t n = strcspn(p, " :");
		char *file = ls_xstrndup(p, n);
		p += n + (p[n] != 0);
		if (strchr(file, '/') && ls_library_is(file, which) && ls_root_exists(root, file))
			return file;
		free(file);
	}
	return NULL;
}

static const char defaults[] =
	"/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib/aarch64-linux-gnu:"
	"/usr/lib/aarch64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib";

bool ls_library_find(const struct ls_loader_env *env, const char *which,
		     struct ls_found_library *ret)
{
	const char *how = "LD_PRELOAD";
	char *path = in_preload(env->root, env->preload, which);
	if (!path && (path = in_list(env->root, env->library_path, which)))
		how = "LD_LIBRARY_PATH";
	if (!path && (path = in_cache(env->root, which)))
		how = "/etc/ld.so.cache";
	if (!path && (path = in_list(env->root, defaults, which)))
		how = "default folder";
	if (!path)
		return false;
	*ret = (struct ls_found_library){path, ls_xstrdup(how)};
	return true;
}

void ls_library_done(struct ls_found_library *lib)
{
	free(lib->path);
	free(lib->how);
	*lib = (struct ls_found_library){0};
}

/* --- version of a file --- */

static size_t dots(const char *s)
{
	size_t n = 0;
	for (; *s; s++)
		n += *s == '.';
	return n;
}

/* libcudart.so.12.1.105 tells; libcudart.so.11.0 is a SONAME that every 11.x has, so two
 * numbers do not. */
static char *from_name(const char *real, const char *which)
{
	const char *slash = strrchr(real, '/'),
		   *number = number_of(slash ? slash + 1 : real, which);
	return number && dots(number) >= 2 ? ls_xstrdup(number) : NULL;
}

/* libnvrtc-builtins.so.12.1 lies beside libnvrtc.so.12 */
static char *from_neighbour(const char *root, const char *dir, const char *which, char **ret_source)
{
	static const char mark[] = "libnvrtc-builtins.so.";
	if (strcmp(which, "nvrtc") != 0)
		return NULL;
	char **names = ls_root_list(root, dir), *version = NULL;
	for (char **n = names; n && *n && !version; n++)
		if (ls_str_starts(*n, mark) && strchr(*n + sizeof mark - 1, '.')) {
			version = ls_xstrdup(*n + sizeof mark - 1);
			*ret_source = ls_xasprintf("%s/%s", dir, *n);
		}
	ls_root_list_free(names);
	return version;
}

static long defined(const char *text, const char *name)
{
	size_t len = strlen(name);
	for (const char *p = text; (p = strstr(p, "#define ")); p += 8) {
		const char *n = p + 8 + strspn(p + 8, " \t");
		if (strncmp(n, name, len) == 0 && (n[len] == ' ' || n[len] == '\t')) {
			n += len + strspn(n + len, " \t");
			return isdigit((unsigned char)*n) ? strtol(n, NULL, 10) : -1;
		}
	}
	return -1;
}

static const struct header {
	const char *which, *file;
	const char
		*parts[4]; /* macros of the parts; one alone is CUDA's thousand-and-ten encoding */
} headers[] = {
	{"cudart", "cuda_runtime_api.h", {"CUDART_VERSION"}},
	{"cudnn", "cudnn_version.h", {"CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL"}},
	{"cudnn", "cudnn.h", {"CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL"}},
	{"cublas",
	 "cublas_api.h",
	 {"CUBLAS_VER_MAJOR", "CUBLAS_VER_MINOR", "CUBLAS_VER_PATCH", "CUBLAS_VER_BUILD"}},
	{"nccl", "nccl.h", {"NCCL_MAJOR", "NCCL_MINOR", "NCCL_PATCH"}},
};

static char *header_text_version(const struct header *h, const char *text)
{
	struct ls_str out = {0};
	for (size_t i = 0; i < 4 && h->parts[i]; i++) {
		long v = defined(text, h->parts[i]);
		if (v < 0) {
			ls_str_done(&out);
			return NULL;
		}
		if (i == 0 && !h->parts[1])
			ls_str_addf(&out, "%ld.%ld", v / 1000, v % 1000 / 10);
		else
			ls_str_addf(&out, "%s%ld", i ? "." : "", v);
	}
	return ls_str_take(&out);
}

static char *from_header(const char *root, const char *dir, const char *which, char **ret_source)
{
	char *version = NULL, *up = before_name(dir);
	for (size_t i = 0; i < sizeof headers / sizeof *headers && !version; i++) {
		if (strcmp(headers[i].which, which) != 0)
			continue;
		char *path = ls_xasprintf("%s/include/%s", up, headers[i].file);
		char *text = ls_root_read(root, path, 1 << 16, NULL);
		version = text ? header_text_version(&headers[i], text) : NULL;
		free(text);
		if (version)
			*ret_source = path;
		else
			free(path);
	}
	free(up);
	return version;
}

/* Loading cuBLAS takes a tenth of a second, for its relocations; the others are quick. */
static char *from_call(const char *which, const char *path, char **ret_source)
{
	char text[LS_LIBVER_TEXT];
	const char *call;
	if (ls_libver_ask(which, path, text, &call, NULL))
		return NULL;
	*ret_source = ls_xasprintf("%s: %s", path, call);
	return ls_xstrdup(text);
}

char *ls_library_version(const char *root, const char *which, const char *path, bool ask,
			 char **ret_source)
{
	char *real = ls_root_resolve(root, path);
	if (!real)
		return NULL;
	char *dir = before_name(real);
	char *version = from_name(real, which);
	if (version)
		*ret_source = ls_xstrdup(real);
	if (!version)
		version = from_neighbour(root, dir, which, ret_source);
	if (!version)
		version = from_header(root, dir, which, ret_source);
	bool costly = strcmp(which, "cublas") == 0 || strcmp(which, "nvrtc") == 0;
	if (!version && !(root && *root) && (ask || !costly))
		version = from_call(which, path, ret_source);
	free(dir);
	free(real);
	return version;
}
