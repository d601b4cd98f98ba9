/* Which device computes: the CPU, a GPU, or, with "auto", the GPU where it is there and
 * expected to be faster. The result is the same on all of them. Plain data; one
 * thread. */
#ifndef LS_FM_TRAIN_DEVICE_H
#define LS_FM_TRAIN_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "fm/model/engine.h"
#include "gpu/kernels.h"

struct ls_fm_device {
	int threads;
	const char *kernels;     /* build of the CPU kernels; NULL: the best */
	bool want_cuda, is_auto; /* neither: the CPU */
	int cuda_device;
	uint64_t device_memory; /* GPU memory to use at most; 0: what is free */
	bool stream;            /* stream the data, even if they would fit the GPU */
	uint32_t epochs;        /* of the training, for auto */
};

/* Reads "auto", "cpu", "cuda" or "cuda:N" into d; NULL is auto. d->kernels must be set:
 * naming CPU kernels means the CPU. */
int ls_fm_device_parse(const char *name, struct ls_fm_device *d, struct ls_err *err);

/* Makes the engine. rows NULL: an engine that only predicts. conf: where compiled GPU
 * kernels are kept. */
int ls_fm_device_engine(const struct ls_fm_device *d, const struct ls_kernels_conf *conf,
			struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool,
			struct ls_engine *ret, struct ls_err *err);

#endif
