#include "gpu/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpu/cache.h"
#include "gpu/cuda_err.h"
#include "gpu/nvrtc.h"
#include "gpu/ptx.h"

#ifndef LS_PTX_COMPILER /* set by the build when it embeds PTX */
#define LS_PTX_COMPILER ""
#endif

int ls_kernels_embedded(void)
{
	/* what the PTX itself says; every module of a build has the same */
	const char *target =
		ls_gpu_ptx[0].name ? strstr((const char *)ls_gpu_ptx[0].data, ".target sm_") : NULL;
	return target ? (int)strtol(target + sizeof ".target sm_" - 1, NULL, 10) : 0;
}

static const struct ls_blob *find_ptx(const char *module)
{
	for (const struct ls_blob *b = ls_gpu_ptx; b->name; b++)
		if (strcmp(b->name, module) == 0)
			return b;
	return NULL;
}

static const struct ls_blob *find_source(const char *module)
{
	size_t len = strlen(module);
	for (const struct ls_blob *b = ls_gpu_sources; b->name; b++) {
		const char *slash = strrchr(b->name, '/'), *base = slash ? slash + 1 : b->name;
		if (strncmp(base, module, len) == 0 && strcmp(base + len, ".cu") == 0)
			return b;
	}
	return NULL;
}

/* --- the key of a cache entry --- */

/* The driver's own version ("580.65.06"). Its CUDA version does not tell the driver's
 * compilers apart. */
static void driver_build(char *ret, size_t size)
{
	char *text = NULL;
	size_t len;
	snprintf(ret, size, "unknown");
	if (ls_file_read("/sys/module/nvidia/version", 256, &text, &len, NULL) == 0)
		snprintf(ret, size, "%.60s", text);
	free(text);
}

static struct ls_sha256 *key_start(const struct ls_gpu *gpu, const char *kind, int compiler)
{
	const struct ls_gpu_info *info = ls_gpu_info(gpu);
	char driver[64];
	driver_build(driver, sizeof driver);
	char *text = ls_xasprintf("1|%s|%d|%s|%d|%s|%d|", kind, compiler, driver, info->driver_cuda,
				  info->name, info->cc);
	struct ls_sha256 *h = ls_sha256_new();
	ls_sha256_add(h, text, strlen(text) + 1);
	for (const char *const *o = ls_gpu_options; *o; o++)
		ls_sha256_add(h, *o, strlen(*o) + 1);
	free(text);
	return h;
}

static void key_add(struct ls_sha256 *h, const struct ls_blob *b)
{
	ls_sha256_add(h, b->name, strlen(b->name) + 1);
	ls_sha256_add(h, &b->len, sizeof b->len);
	ls_sha256_add(h, b->data, b->len);
}

static void key_of_ptx(const struct ls_gpu *gpu, const struct ls_blob *ptx, char ret[LS_SHA256_HEX])
{
	struct ls_sha256 *h = key_start(gpu, "ptx", 0);
	key_add(h, ptx);
	ls_sha256_final(h, ret);
}

/* The key covers all embedded sources, because only the compiler knows which of them the
 * module includes. names: the kernels that the code will have; NULL: all. */
static void key_of_source(const struct ls_gpu *gpu, const struct ls_nvrtc *rtc, const char *module,
			  const char *const *names, char ret[LS_SHA256_HEX])
{
	struct ls_sha256 *h = key_start(gpu, "source", ls_nvrtc_version(rtc));
	ls_sha256_add(h, module, strlen(module) + 1);
	for (const struct ls_blob *b = ls_gpu_sources; b->name; b++)
		key_add(h, b);
	for (const char *const *n = names; n && *n; n++)
		ls_sha256_add(h, *n, strlen(*n) + 1);
	ls_sha256_final(h, ret);
}

/* --- loading --- */

struct job {
	struct ls_gpu *gpu;
	const struct ls_kernels_conf *conf;
	const char *module;
	const char *const *names; /* of the kernels wanted; NULL: all */
	char key[LS_SHA256_HEX];
	ls_cu_module loaded;
	struct ls_kernels_how how;
};

/* PTX with the wanted kernels only. Text that is not understood is compiled whole, which
 * only takes longer. */
static int cut(const struct job *j, const char *ptx, size_t len, char **ret, size_t *ret_len,
	       struct ls_err *err)
{
	int rc = j->names ? ls_ptx_cut(ptx, len, j->names, ret, ret_len, err) : LS_EINPUT;
	if (rc != LS_EINPUT)
		return rc ? ls_err_prefix(err, "%s", j->module) : 0;
	char *whole = ls_xalloc(len + 1);
	memcpy(whole, ptx, len);
	*ret = whole;
	*ret_len = len;
	return 0;
}

static bool load_cached(struct job *j)
{
	size_t len;
	char *code = j->conf->cache_dir ? ls_cache_get(j->conf->cache_dir, j->module, j->key, &len)
					: NULL;
	if (!code)
		return false;
	int rc = ls_gpu_module_load(j->gpu, j->module, code, &j->loaded, NULL, NULL);
	free(code);
	if (rc && !ls_gpu_is_lost(j->gpu))
		ls_cache_drop(j->conf->cache_dir, j->module,
			      j->key); /* intact, but the driver refuses it */
	j->how.cached = rc == 0;
	return rc == 0;
}

/* Loads fresh machine code and keeps it. A cache that cannot be written (read-only home,
 * disk full) costs time and not correctness, so it is no error. */
static int load_fresh(struct job *j, const void *code, size_t len, unsigned *ret_cu,
		      struct ls_err *err)
{
	int rc = ls_gpu_module_load(j->gpu, j->module, code, &j->loaded, ret_cu, err);
	if (!rc && j->conf->cache_dir)
		(void)ls_cache_put(j->conf->cache_dir, j->module, j->key, code, len, NULL);
	return rc;
}

static int load_ptx(struct job *j, const char *ptx, size_t len, unsigned *ret_cu,
		    struct ls_err *err)
{
	void *code = NULL;
	size_t code_len = 0;
	int rc = ls_gpu_assemble(j->gpu, j->module, ptx, len, &code, &code_len, ret_cu, err);
	if (!rc)
		rc = load_fresh(j, code, code_len, ret_cu, err);
	free(code);
	return rc;
}

/* Machine code, of files that are for one architecture alone. */
static bool is_code(const struct ls_blob *b)
{
	return b->len > 4 && memcmp(b->data, "\177ELF", 4) == 0;
}

static int load_embedded(struct job *j, const struct ls_blob *ptx, unsigned *ret_cu,
			 struct ls_err *err)
{
	char *text;
	size_t len;
	if (is_code(ptx)) {
		snprintf(j->how.text, sizeof j->how.text, "embedded machine code");
		return ls_gpu_module_load(j->gpu, j->module, ptx->data, &j->loaded, ret_cu, err);
	}
	int rc = cut(j, (const char *)ptx->data, ptx->len, &text, &len, err);
	if (rc)
		return rc;
	key_of_ptx(j->gpu, &(struct ls_blob){ptx->name, (const unsigned char *)text, len}, j->key);
	snprintf(j->how.text, sizeof j->how.text, "embedded PTX for compute_%d",
		 ls_kernels_embedded());
	if (!load_cached(j))
		rc = load_ptx(j, text, len, ret_cu, err);
	free(text);
	return rc;
}

/* Whether NVRTC makes machine code for this GPU. It does where it knows the GPU's
 * generation, so that the driver's compiler is not needed. Otherwise it makes PTX for the
 * newest architecture that it knows, and the driver compiles that further. Machine code
 * has all kernels of a module: NVRTC cannot leave some out. */
static bool makes_machine_code(const struct job *j, int arch)
{
	return arch / 10 == ls_gpu_info(j->gpu)->cc / 10;
}

static int load_cut(struct job *j, const char *ptx, size_t len, struct ls_err *err)
{
	char *text;
	int rc = cut(j, ptx, len, &text, &len, err);
	if (rc)
		return rc;
	rc = load_ptx(j, text, len, NULL, err);
	free(text);
	return rc;
}

static int compile(struct job *j, struct ls_nvrtc *rtc, const struct ls_blob *source, int arch,
		   struct ls_err *err)
{
	bool machine_code = makes_machine_code(j, arch);
	char *code = NULL;
	size_t len;
	int rc = ls_nvrtc_compile(rtc, source->name, (const char *)source->data, ls_gpu_sources,
				  arch, machine_code, &code, &len, err);
	if (!rc)
		rc = machine_code ? load_fresh(j, code, len, NULL, err)
				  : load_cut(j, code, len, err);
	free(code);
	return rc;
}

static int load_source(struct job *j, const struct ls_blob *source, struct ls_err *err)
{
	struct ls_nvrtc *rtc;
	int arch = 0, rc = ls_nvrtc_open(j->conf->nvrtc, &rtc, err);
	if (rc)
		return rc;
	rc = ls_nvrtc_arch(rtc, ls_gpu_info(j->gpu)->cc, &arch, err);
	if (!rc) {
		int v = ls_nvrtc_version(rtc);
		snprintf(j->how.text, sizeof j->how.text, "NVRTC %d.%d for sm_%d", v / 1000,
			 v % 1000 / 10, arch);
		key_of_source(j->gpu, rtc, j->module, makes_machine_code(j, arch) ? NULL : j->names,
			      j->key);
		if (!load_cached(j))
			rc = compile(j, rtc, source, arch, err);
	}
	ls_nvrtc_close(rtc);
	return rc;
}

static int load(struct job *j, struct ls_err *err)
{
	const struct ls_blob *ptx = j->conf->from_source ? NULL : find_ptx(j->module),
			     *source = find_source(j->module);
	struct ls_err first = {0}, second = {0};
	unsigned cu = 0;
	if (ptx) {
		int rc = load_embedded(j, ptx, &cu, &first);
		if (!rc)
			return 0;
		if (!ls_cuda_err_is_image(cu) || !source)
			return ls_err_set(err, rc, "%s", first.msg);
	}
	if (!source)
		return ls_err_set(err, LS_EINTERNAL,
				  "there are no kernels called %s in this program", j->module);
	int rc = load_source(j, source, &second);
	if (!rc)
		return 0;
	return ptx ? ls_err_set(err, rc, "%.600s; and %.400s", first.msg, second.msg)
		   : ls_err_set(err, rc, "this program has no embedded PTX, and %s", second.msg);
}

int ls_kernels_load(struct ls_gpu *gpu, const struct ls_kernels_conf *conf, const char *module,
		    const char *const *names, ls_cu_module *ret, struct ls_kernels_how *ret_how,
		    struct ls_err *err)
{
	struct job j = {.gpu = gpu, .conf = conf, .module = module, .names = names};
	int rc = load(&j, err);
	if (rc)
		return rc;
	size_t used = strlen(j.how.text);
	snprintf(j.how.text + used, sizeof j.how.text - used, "%s", j.how.cached ? ", cached" : "");
	*ret = j.loaded;
	if (ret_how)
		*ret_how = j.how;
	return 0;
}

bool ls_kernels_describe(const struct ls_kernels_conf *conf, struct ls_str *out,
			 struct ls_str *ret_source)
{
	struct ls_nvrtc *rtc;
	struct ls_err why = {0};
	bool embedded = ls_kernels_embedded() && !conf->from_source;
	if (embedded) {
		ls_str_addf(out, "embedded PTX for compute_%d (made by %s)", ls_kernels_embedded(),
			    LS_PTX_COMPILER);
	} else if (ls_nvrtc_open(conf->nvrtc, &rtc, &why) == 0) {
		int v = ls_nvrtc_version(rtc);
		ls_str_addf(out, "NVRTC %d.%d at run time", v / 1000, v % 1000 / 10);
		ls_str_add(ret_source, ls_nvrtc_path(rtc));
		ls_nvrtc_close(rtc);
		return true;
	} else {
		ls_str_addf(out, "no PTX is embedded, and %s", why.msg);
	}
	ls_str_add(ret_source, "this program");
	return embedded;
}
