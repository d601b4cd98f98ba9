/* GPUs as libcuda lists them, without making a context: for machines that have CUDA's
 * driver library but not NVML, such as a container that was given "compute" and not
 * "utility". Plain values, nothing owned. Any thread. */
#ifndef LS_GPU_DEVICES_H
#define LS_GPU_DEVICES_H

#include <stdint.h>

#include "base/err.h"

enum { LS_DEVICE_TEXT = 96 };

struct ls_device {
	char name[LS_DEVICE_TEXT];
	char uuid[LS_DEVICE_TEXT]; /* "GPU-…"; "" when this driver does not tell */
	int major, minor;          /* compute capability */
	uint64_t memory;           /* bytes */
};

/* library: a path, or NULL for the system's libcuda.so.1. Fills at most max devices;
 * *ret_count is how many there are. LS_EUNKNOWN when there is no such library or it does
 * not start. */
int ls_devices_list(const char *library, struct ls_device *ret, int max, int *ret_count,
		    struct ls_err *err);

#endif
