/* The instances that a GPU is split into (MIG), as NVML names and measures them. The
 * reader counts as a session of NVML of its own; ls_nvml_migs_close ends it and accepts
 * NULL. Texts and arrays go to the caller. One thread at a time an object. */
#ifndef LS_GPU_NVML_MIG_H
#define LS_GPU_NVML_MIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "gpu/nvml.h"

enum { LS_NVML_MIGS = 16 }; /* on one GPU; the driver makes at most 7 */

/* A compute instance. Those of one GPU instance share its memory. */
struct ls_nvml_mig {
	unsigned gpu_instance, compute_instance;
	char uuid[LS_NVML_TEXT], profile[LS_NVML_TEXT]; /* "1g.10gb"; "" where not known */
	bool has_memory;
	uint64_t total, used; /* bytes; without what the driver reserves */
};

struct ls_nvml_migs;

/* Opens the library that nvml was loaded from. LS_EUNKNOWN: it knows no instances. */
int ls_nvml_migs_open(const struct ls_nvml *nvml, struct ls_nvml_migs **ret, struct ls_err *err);
void ls_nvml_migs_close(struct ls_nvml_migs *m);

/* Those of GPU i, at most LS_NVML_MIGS; returns how many. */
unsigned ls_nvml_migs_read(struct ls_nvml_migs *m, unsigned i, struct ls_nvml_mig *ret);

#endif
