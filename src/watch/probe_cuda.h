/* Exact arithmetic and a pattern in memory on a GPU, for some time, against what is known
 * beforehand. The caller owns the device. One thread at a time a device. */
#ifndef LS_WATCH_PROBE_CUDA_H
#define LS_WATCH_PROBE_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "gpu/driver.h"
#include "gpu/kernels.h"
#include "watch/probe.h"

struct ls_probe_result {
	unsigned long products, wrong; /* how many were made, and how many had another digest */
	uint64_t memory;               /* bytes that the pattern went through */
	bool memory_wrong;
	double seconds;
};

/* At least one product, then until `seconds` are over; memory: at most so many bytes are
 * allocated for the pattern, and never more than half of what is free. An error means
 * that nothing could be said, and not that the GPU is wrong. */
int ls_probe_cuda(struct ls_gpu *gpu, const struct ls_kernels_conf *conf, enum ls_probe_size size,
		  double seconds, uint64_t memory, struct ls_probe_result *ret, struct ls_err *err);

#endif
