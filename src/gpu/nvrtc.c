#include "gpu/nvrtc.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

const char *const ls_gpu_options[] = {"--std=c++17",     "--fmad=false",     "--ftz=false",
				      "--prec-div=true", "--prec-sqrt=true", NULL};

#define MEMBER(member, symbol, args) int(*member) args; /* NOLINT(bugprone-macro-parentheses) */
struct functions {
	LS_NVRTC_FUNCTIONS(MEMBER)
	const char *(*error)(int);
};
#undef MEMBER

struct ls_nvrtc {
	struct functions f;
	struct ls_dl *lib, *builtins;
	int version;
	int *archs, n_archs;
};

#define SYMBOL(member, symbol, args) LS_DL_NEED(struct functions, member, #symbol),
static const struct ls_dl_sym symbols[] = {
	LS_NVRTC_FUNCTIONS(SYMBOL) LS_DL_NEED(struct functions, error, "nvrtcGetErrorString"),
	LS_DL_END};
#undef SYMBOL

static int failed(const struct ls_nvrtc *rtc, int code, const char *doing, struct ls_err *err)
{
	return ls_err_set(err, LS_EUNKNOWN, "%s: %s: %s (error %d)", ls_dl_path(rtc->lib), doing,
			  rtc->f.error(code), code);
}

static int ask(struct ls_nvrtc *rtc, struct ls_err *err)
{
	int major = 0, minor = 0, n = 0;
	int code = rtc->f.version(&major, &minor);
	if (!code)
		code = rtc->f.n_archs(&n);
	if (code)
		return failed(rtc, code, "asking for its version", err);
	if (n <= 0 || n > 1000)
		return ls_err_set(err, LS_EUNKNOWN, "%s: claims to know %d architectures",
				  ls_dl_path(rtc->lib), n);
	rtc->version = major * 1000 + minor * 10;
	rtc->n_archs = n;
	rtc->archs = ls_xalloc((size_t)n * sizeof *rtc->archs);
	code = rtc->f.archs(rtc->archs);
	return code ? failed(rtc, code, "asking for its architectures", err) : 0;
}

/* NVRTC opens its builtins library by its bare name when it compiles. In PyTorch's wheels
 * it lies beside NVRTC, where the loader does not look, so it is loaded from there first.
 * That may fail: where NVRTC comes from a toolkit, the loader finds the builtins. */
static void open_builtins(struct ls_nvrtc *rtc)
{
	static const struct ls_dl_sym none[] = {LS_DL_END};
	const char *path = ls_dl_path(rtc->lib), *slash = strrchr(path, '/');
	char *pattern =
		ls_xasprintf("%.*s/libnvrtc-builtins.so*", slash ? (int)(slash - path) : 0, path);
	glob_t found = {0};
	char nothing;
	if (slash && glob(pattern, 0, NULL, &found) == 0)
		ls_dl_open((const char *const *)found.gl_pathv, none, &nothing, &rtc->builtins,
			   NULL);
	globfree(&found);
	free(pattern);
}

static int open_one(const char *library, struct ls_nvrtc **ret, struct ls_err *err)
{
	struct ls_nvrtc *rtc = ls_xalloc(sizeof *rtc);
	int rc = ls_dl_open((const char *const[]){library, NULL}, symbols, &rtc->f, &rtc->lib, err);
	if (!rc) {
		open_builtins(rtc);
		rc = ask(rtc, err);
	}
	if (rc) {
		ls_nvrtc_close(rtc);
		return rc;
	}
	*ret = rtc;
	return 0;
}

int ls_nvrtc_open(const char *const *libraries, struct ls_nvrtc **ret, struct ls_err *err)
{
	struct ls_err why = {.msg = "no place to look was given"};
	for (; libraries && *libraries; libraries++)
		if (open_one(*libraries, ret, &why) == 0)
			return 0;
	return ls_err_set(err, LS_EUNKNOWN,
			  "no usable NVRTC here (%.500s): it comes with PyTorch (pip) and with the "
			  "CUDA toolkit",
			  why.msg);
}

void ls_nvrtc_close(struct ls_nvrtc *rtc)
{
	if (!rtc)
		return;
	ls_dl_close(rtc->lib);
	ls_dl_close(rtc->builtins);
	free(rtc->archs);
	free(rtc);
}

const char *ls_nvrtc_path(const struct ls_nvrtc *rtc)
{
	return ls_dl_path(rtc->lib);
}

int ls_nvrtc_version(const struct ls_nvrtc *rtc)
{
	return rtc->version;
}

int ls_nvrtc_arch(const struct ls_nvrtc *rtc, int cc, int *ret_arch, struct ls_err *err)
{
	int best = 0, oldest = rtc->archs[0];
	for (int i = 0; i < rtc->n_archs; i++) {
		int a = rtc->archs[i];
		oldest = a < oldest ? a : oldest;
		if (a <= cc && a > best)
			best = a;
	}
	if (cc && !best)
		return ls_err_set(err, LS_EUNKNOWN,
				  "%s: NVRTC %d.%d no longer serves compute capability %d.%d (its "
				  "oldest is %d.%d); an older "
				  "one does, for instance that of an older PyTorch",
				  ls_nvrtc_path(rtc), rtc->version / 1000, rtc->version % 1000 / 10,
				  cc / 10, cc % 10, oldest / 10, oldest % 10);
	*ret_arch = cc ? best : oldest;
	return 0;
}

/* The first line of the compiler's log with "error" in it, or else its first line. */
static void first_error(const struct ls_nvrtc *rtc, struct _nvrtcProgram *program, char *ret,
			size_t size)
{
	size_t len = 0;
	snprintf(ret, size, "no log");
	if (rtc->f.log_size(program, &len) || len < 2 || len > 1 << 24)
		return;
	char *log = ls_xalloc(len + 1);
	if (rtc->f.log(program, log) == 0) {
		char *at = strstr(log, "error");
		at = at ? at : log;
		while (at > log && at[-1] != '\n')
			at--;
		at[strcspn(at, "\n")] = 0;
		snprintf(ret, size, "%s", at);
	}
	free(log);
}

static int take(const struct ls_nvrtc *rtc, struct _nvrtcProgram *program, bool machine_code,
		char **ret, size_t *ret_len, struct ls_err *err)
{
	size_t len = 0;
	int code = machine_code ? rtc->f.cubin_size(program, &len) : rtc->f.ptx_size(program, &len);
	if (code || len == 0)
		return failed(rtc, code, "no code came out", err);
	char *text = ls_alloc_array(len + 1, 1);
	if (!text)
		return ls_err_set(err, LS_ENOMEM, "no memory for %zu bytes of kernel code", len);
	code = machine_code ? rtc->f.cubin(program, text) : rtc->f.ptx(program, text);
	if (code) {
		free(text);
		return failed(rtc, code, "fetching the code", err);
	}
	*ret = text;
	*ret_len = machine_code ? len : len - 1; /* NVRTC counts the PTX's NUL */
	return 0;
}

static int compile(struct ls_nvrtc *rtc, struct _nvrtcProgram *program, const char *name, int arch,
		   bool machine_code, struct ls_err *err)
{
	enum { MAX_OPTIONS = 16 };
	const char *options[MAX_OPTIONS];
	char target[48], line[400];
	int n = 0;
	snprintf(target, sizeof target, "--gpu-architecture=%s_%d", machine_code ? "sm" : "compute",
		 arch);
	options[n++] = target;
	for (const char *const *o = ls_gpu_options; *o && n < MAX_OPTIONS; o++)
		options[n++] = *o;
	int code = rtc->f.compile(program, n, options);
	if (code == 0)
		return 0;
	first_error(rtc, program, line, sizeof line);
	return ls_err_set(err, LS_EUNKNOWN, "%s: does not compile with NVRTC %d.%d (%s): %s: %s",
			  name, rtc->version / 1000, rtc->version % 1000 / 10, ls_nvrtc_path(rtc),
			  rtc->f.error(code), line);
}

int ls_nvrtc_compile(struct ls_nvrtc *rtc, const char *name, const char *source,
		     const struct ls_blob *files, int arch, bool machine_code, char **ret,
		     size_t *ret_len, struct ls_err *err)
{
	int n = 0, i = 0;
	for (const struct ls_blob *b = files; b && b->name; b++)
		n++;
	const char **texts = ls_xalloc((size_t)(n + 1) * sizeof *texts),
		   **names = ls_xalloc((size_t)(n + 1) * sizeof *names);
	for (const struct ls_blob *b = files; b && b->name; b++, i++) {
		texts[i] = (const char *)b->data;
		names[i] = b->name;
	}
	struct _nvrtcProgram *program = NULL;
	int rc = 0, code = rtc->f.create(&program, source, name, n, texts, names);
	if (code)
		rc = failed(rtc, code, "starting a compilation", err);
	if (!rc)
		rc = compile(rtc, program, name, arch, machine_code, err);
	if (!rc)
		rc = take(rtc, program, machine_code, ret, ret_len, err);
	if (program)
		rtc->f.destroy(&program);
	free(texts);
	free(names);
	return rc;
}

/* --- where it is --- */

struct places {
	char **list;
	size_t n, cap;
};

static void add(struct places *p, char *path)
{
	p->list = ls_grow(p->list, p->n, &p->cap, sizeof *p->list);
	p->list[p->n++] = path;
}

/* Adds matches in descending order, so that the newest of libnvrtc.so.12 and .13 comes
 * first. */
static void add_glob(struct places *p, const char *prefix, const char *pattern)
{
	char *full = ls_xasprintf("%s/%s", prefix, pattern);
	glob_t g;
	if (glob(full, 0, NULL, &g) == 0) {
		for (size_t i = g.gl_pathc; i > 0; i--)
			add(p, ls_xstrdup(g.gl_pathv[i - 1]));
		globfree(&g);
	}
	free(full);
}

char **ls_nvrtc_places(const char *root, const char *const *prefixes)
{
	static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"};
	static const char *const wheels[] = {"nvidia/cu13/lib/libnvrtc.so.[0-9]*",
					     "nvidia/cuda_nvrtc/lib/libnvrtc.so.[0-9]*"};
	static const char *const libs[] = {"lib/python3*/site-packages",
					   "lib/python3*/dist-packages",
					   "lib/python3/dist-packages"};
	struct places p = {0};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		add(&p, ls_xstrdup(names[i]));
	add_glob(&p, root, "usr/local/cuda/lib64/libnvrtc.so.1[0-9]");
	add_glob(&p, root, "usr/local/cuda-[0-9]*/lib64/libnvrtc.so.1[0-9]");
	for (; prefixes && *prefixes; prefixes++)
		for (size_t w = 0; w < sizeof wheels / sizeof *wheels; w++)
			for (size_t l = 0; l < sizeof libs / sizeof *libs; l++) {
				char *pattern = ls_xasprintf("%s/%s", libs[l], wheels[w]);
				add_glob(&p, *prefixes, pattern);
				free(pattern);
			}
	add(&p, NULL);
	return p.list;
}

void ls_nvrtc_places_free(char **places)
{
	for (char **p = places; p && *p; p++)
		free(*p);
	free(places);
}
