/* The kernels of this program, loaded into a device in whichever form this machine can
 * use. Sources are embedded in the program; so is PTX where nvcc or NVRTC was there at
 * build time. The caller frees the module (ls_gpu_module_free). One thread at a time a
 * device.
 * The embedded PTX, compiled by the driver, is tried first. Where there is none, or the
 * driver or the GPU refuses it, NVRTC compiles the embedded source for this GPU. Either
 * way the machine code is kept in cache_dir (gpu/cache.h) under the SHA-256 of the source
 * or PTX of the wanted kernels (gpu/ptx.h), compiler options and version, driver and GPU.
 * The driver has a cache of its own for PTX, but it is off in many containers, its keys
 * are unknown to us, and it knows nothing of NVRTC. */
#ifndef LS_GPU_KERNELS_H
#define LS_GPU_KERNELS_H

#include <stdbool.h>

#include "base/embed.h"
#include "base/err.h"
#include "base/str.h"
#include "gpu/driver.h"

struct ls_kernels_conf {
	const char *cache_dir;    /* "…/lockstep/kernels"; NULL: nothing is kept */
	const char *const *nvrtc; /* libraries to try, as ls_nvrtc_places lists them; NULL: none */
	bool from_source;         /* leave the embedded PTX alone */
};

struct ls_kernels_how {
	char text[256]; /* "embedded PTX for compute_75", "NVRTC 12.4 for sm_80, cached" */
	bool cached;    /* no compiler ran */
};

/* module: the name of a .cu file without folder and suffix. names: the kernels that are
 * wanted, NULL-terminated; NULL: all. The driver compiles only these, and every set has
 * its own entry in the cache. A module made by NVRTC as machine code has all kernels.
 * ret_how may be NULL. */
int ls_kernels_load(struct ls_gpu *gpu, const struct ls_kernels_conf *conf, const char *module,
		    const char *const *names, ls_cu_module *ret, struct ls_kernels_how *ret_how,
		    struct ls_err *err);

/* Where GPU code comes from, for --version, doctor and validate: what is embedded in this
 * build, and without embedded PTX what this machine has. Adds one line to out. false:
 * there is no GPU code, and the line says why. ret_source: the NVRTC library or this
 * program. NVRTC is opened only when that is needed. */
bool ls_kernels_describe(const struct ls_kernels_conf *conf, struct ls_str *out,
			 struct ls_str *ret_source);
int ls_kernels_embedded(void); /* 75 for compute_75; 0: no PTX is embedded */

/* Made by the build (cmake/gpu.cmake): all sources and headers by the name that #include
 * gives them, and PTX by module; each ends with a NULL name. */
extern const struct ls_blob ls_gpu_sources[], ls_gpu_ptx[];

#endif
