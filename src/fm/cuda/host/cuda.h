/* Training and prediction on an NVIDIA GPU: an engine (engine.h) that gives the CPU's
 * bytes. The engine borrows model, rows and pool and owns the device it opens. One call
 * at a time.
 *
 * Data and parameters are copied to the GPU once. Only losses come back until the model
 * is fetched. Data that do not fit beside the parameters stream through two windows
 * (cuda_rows.c): the rows of the next steps are gathered and copied while the current
 * ones compute. LS_ENOMEM: model, batch and the smallest windows do not fit. */
#ifndef LS_FM_CUDA_HOST_CUDA_H
#define LS_FM_CUDA_HOST_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "fm/data/rows.h"
#include "fm/model/engine.h"
#include "fm/model/model.h"
#include "gpu/kernels.h"

struct ls_cuda_conf {
	int device;
	struct ls_kernels_conf kernels;
	uint64_t memory_limit; /* bytes of GPU memory to use at most; 0: what is free */
	bool stream;           /* the data in windows, even where they would fit */
};

/* rows NULL: an engine that only predicts. LS_EUNKNOWN: no GPU that this program could
 * use; LS_ENOMEM: too small. */
int ls_engine_cuda(struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool,
		   const struct ls_cuda_conf *conf, struct ls_engine *ret, struct ls_err *err);

/* Whether a GPU would be faster than the CPU at a training, transfers included: the rule
 * of --device auto, from sizes and measured constants alone (lockstep-fm(1) has it in
 * words). */
struct ls_cuda_workload {
	uint32_t epochs;
	int threads; /* of the CPU */
	/* of the GPU's memory, bytes a second (ls_gpu_bandwidth); 0: of the fastest there
	 * is */
	double bandwidth;
	bool compiled; /* the kernels are in the cache */
};
bool ls_cuda_is_faster(const struct ls_fm_model *m, const struct ls_rows *rows,
		       const struct ls_cuda_workload *c);

/* The kernels of a kind, as gpu/kernels.h and the cache name them; "cuda_sort" serves all
 * kinds. */
const char *ls_cuda_module(enum ls_fm_kind kind);

#endif
