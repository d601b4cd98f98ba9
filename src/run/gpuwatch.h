/* How much of each GPU's memory is in use while a command runs, by NVML: of the whole
 * GPU, whoever holds it, so that it tells of programs in any language and inside
 * containers. Looked at ten times a second: a shorter peak may be missed. An object owns
 * its NVML session until ls_gpuwatch_end. One thread. */
#ifndef LS_RUN_GPUWATCH_H
#define LS_RUN_GPUWATCH_H

#include "base/json.h"
#include "gpu/nvml.h"

enum { LS_GPUWATCH_MOST = 64, LS_GPUWATCH_MS = 100 };

struct ls_gpuwatch {
	struct ls_nvml *nvml; /* NULL: there is none */
	unsigned n;
	struct {
		uint64_t total, before, peak; /* bytes; total 0: this GPU does not tell */
	} gpu[LS_GPUWATCH_MOST];
};

/* Opens NVML and looks for the first time. */
void ls_gpuwatch_begin(struct ls_gpuwatch *w);
void ls_gpuwatch_look(struct ls_gpuwatch *w);
/* What was seen, for the manifest's resources; NULL without a GPU that tells. */
json_t *ls_gpuwatch_end(struct ls_gpuwatch *w);

#endif
