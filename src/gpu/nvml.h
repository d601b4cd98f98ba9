/* NVML, opened at run time: what the driver says about itself and its GPUs. Declared here
 * because nvml.h is not packaged. ls_nvml_close ends the session and accepts NULL; texts
 * go to the caller's buffers. One thread at a time an object.
 * Every query returns 0 or NVML's own code, and leaves its output alone unless it returns
 * 0. A function that this driver does not have returns LS_NVML_NO_FUNCTION, as NVML
 * itself does for a driver older than the library. */
#ifndef LS_GPU_NVML_H
#define LS_GPU_NVML_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum ls_nvml_code {
	LS_NVML_NOT_ASKED = -2,  /* ours: it costs too much to be asked for without a wish */
	LS_NVML_NO_LIBRARY = -1, /* ours: libnvidia-ml.so.1 is not there, or is not NVML */
	LS_NVML_OK = 0,
	LS_NVML_NOT_SUPPORTED = 3,
	LS_NVML_NO_PERMISSION = 4,
	LS_NVML_DRIVER_NOT_LOADED = 9,
	LS_NVML_NO_FUNCTION = 13,
	LS_NVML_GPU_LOST = 15,
	LS_NVML_VERSION_MISMATCH =
		18, /* the kernel module and this library have different driver versions */
};

enum { LS_NVML_TEXT = 96 };

struct ls_nvml;

/* file: the library's path, or NULL for the one that the loader finds. On failure
 * (LS_EUNKNOWN) *ret_code says why, and ret_library (unless NULL) gets the library's own
 * version where it can be had without a driver, otherwise "". */
int ls_nvml_open(const char *file, struct ls_nvml **ret, int *ret_code,
		 char ret_library[LS_NVML_TEXT], struct ls_err *err);
void ls_nvml_close(struct ls_nvml *nvml);
const char *ls_nvml_path(const struct ls_nvml *nvml); /* the file that was loaded; borrowed */

const char *ls_nvml_reason(int code); /* "not supported by this GPU"; static */

int ls_nvml_driver(struct ls_nvml *nvml, char ret[LS_NVML_TEXT]); /* "535.161.08" */
int ls_nvml_cuda(struct ls_nvml *nvml, int *ret); /* 12020: the newest CUDA this driver runs */
int ls_nvml_count(struct ls_nvml *nvml, unsigned *ret);

/* About GPU number i. */
int ls_nvml_name(struct ls_nvml *nvml, unsigned i, char ret[LS_NVML_TEXT]);
int ls_nvml_uuid(struct ls_nvml *nvml, unsigned i, char ret[LS_NVML_TEXT]);
int ls_nvml_capability(struct ls_nvml *nvml, unsigned i, int *ret_major, int *ret_minor);
int ls_nvml_memory(struct ls_nvml *nvml, unsigned i, uint64_t *ret_total,
		   uint64_t *ret_used); /* bytes */
int ls_nvml_ecc(struct ls_nvml *nvml, unsigned i, bool *ret);
int ls_nvml_mig(struct ls_nvml *nvml, unsigned i, bool *ret);
int ls_nvml_persistence(struct ls_nvml *nvml, unsigned i, bool *ret);
int ls_nvml_power_limit(struct ls_nvml *nvml, unsigned i,
			unsigned *ret_mw); /* in force, milliwatts */
int ls_nvml_power_default(struct ls_nvml *nvml, unsigned i,
			  unsigned *ret_mw); /* as it left the factory */
int ls_nvml_throttle(struct ls_nvml *nvml, unsigned i, uint64_t *ret_mask);

/* The reasons in a throttle mask that slow the GPU down against its user's wish,
 * "hw-thermal sw-power-cap"; or "none". Idle clocks and clocks that somebody set are not
 * among them. */
void ls_nvml_throttle_text(uint64_t mask, char ret[LS_NVML_TEXT]);

#endif
