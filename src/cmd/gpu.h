/* Where commands look for GPU code, by the environment: the cache of compiled kernels,
 * and NVRTC. ls_cmd_gpu_done frees. One thread. */
#ifndef LS_CMD_GPU_H
#define LS_CMD_GPU_H

#include "env/facts/facts.h"
#include "gpu/kernels.h"

struct ls_cmd_gpu {
	struct ls_kernels_conf conf; /* borrows from the rest */
	char *cache, **nvrtc;
};

/* The cache: $XDG_CACHE_HOME/lockstep/kernels, or under ~/.cache; without either nothing
 * is kept. NVRTC: the loader's path, the toolkit, and PyTorch's copy in $VIRTUAL_ENV,
 * $CONDA_PREFIX, ~/.local, /usr/local, /usr. */
void ls_cmd_gpu_init(struct ls_cmd_gpu *gpu);
void ls_cmd_gpu_done(struct ls_cmd_gpu *gpu);
/* The same for the public functions: as options that a host gives. */
int ls_cmd_gpu_options(struct ls_options *o, struct ls_err *err);

/* Where GPU code comes from (ls_kernels_describe): as the fact "gpu_code", and as a line
 * for --version. */
void ls_cmd_gpu_fact(struct ls_facts *facts);
char *ls_cmd_gpu_line(void); /* the caller frees */

#endif
