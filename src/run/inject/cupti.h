/* The few declarations of CUPTI's callback interface that the injected library uses, so
 * that building needs no CUDA. They have been the same since CUDA 11; cuLaunchKernelEx
 * came with 11.8. Plain data; any thread. */
#ifndef LS_RUN_INJECT_CUPTI_H
#define LS_RUN_INJECT_CUPTI_H

#include <stdint.h>

enum { CUPTI_OK = 0, CUPTI_DRIVER_API = 1, CUPTI_ENTER = 0 };

enum cupti_driver_call {
	CALL_LAUNCH_KERNEL = 307,
	CALL_LAUNCH_KERNEL_PTSZ = 442,
	CALL_LAUNCH_COOPERATIVE = 477,
	CALL_LAUNCH_COOPERATIVE_PTSZ = 478,
	CALL_GRAPH_LAUNCH = 514,
	CALL_GRAPH_LAUNCH_PTSZ = 515,
	CALL_LAUNCH_KERNEL_EX = 652,
	CALL_LAUNCH_KERNEL_EX_PTSZ = 653,
};

struct cupti_call {
	int site;
	const char *function;
	const void *params;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *correlation_data;
	uint32_t correlation_id;
};

/* cuLaunchKernel and cuLaunchCooperativeKernel begin alike. */
struct cupti_launch {
	void *function;
	unsigned grid[3], block[3], shared;
	void *stream;
};

struct cupti_launch_config {
	unsigned grid[3], block[3], shared;
	void *stream;
};

struct cupti_launch_ex {
	const struct cupti_launch_config *config;
	void *function;
};

struct cupti_graph_launch {
	void *graph, *stream;
};

typedef void cupti_callback(void *user, int domain, uint32_t call, const void *data);

struct cupti {
	int (*subscribe)(void **subscriber, cupti_callback *callback, void *user);
	int (*enable)(uint32_t on, void *subscriber, int domain, uint32_t call);
	int (*version)(uint32_t *version);
};

#endif
