/* Stands in for libcupti on machines without CUDA: keeps the subscriber, and calls it for
 * launches that a test makes up. fake_fire takes the numbers of a launch; call says which
 * driver function it came through. One thread. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "run/inject/cupti.h"

#define EXPORT __attribute__((visibility("default")))

static cupti_callback *callback;
static void *user;
static unsigned char on[1024];

EXPORT int cuptiSubscribe(void **subscriber, cupti_callback *cb, void *data);
EXPORT int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t call);
EXPORT void fake_fire(uint32_t call, const char *name, unsigned grid, unsigned block, void *stream);

int cuptiSubscribe(void **subscriber, cupti_callback *cb, void *data)
{
	if (getenv("FAKE_CUPTI_TAKEN"))
		return 39; /* CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */
	callback = cb;
	user = data;
	*subscriber = &callback;
	return CUPTI_OK;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t call)
{
	if (subscriber != &callback || domain != CUPTI_DRIVER_API || call >= sizeof on)
		return 1;
	on[call] = enable != 0;
	return CUPTI_OK;
}

void fake_fire(uint32_t call, const char *name, unsigned grid, unsigned block, void *stream)
{
	struct cupti_launch plain = {NULL, {grid, 1, 1}, {block, 1, 1}, 0, stream};
	struct cupti_launch_config config = {{grid, 1, 1}, {block, 1, 1}, 0, stream};
	struct cupti_launch_ex ex = {&config, NULL};
	struct cupti_graph_launch graph = {NULL, stream};
	uint64_t correlation = 0;
	struct cupti_call c = {.site = CUPTI_ENTER,
			       .symbol = name,
			       .params = &plain,
			       .correlation_data = &correlation};
	if (call == CALL_LAUNCH_KERNEL_EX)
		c.params = &ex;
	if (call == CALL_GRAPH_LAUNCH)
		c.params = &graph;
	if (!callback || !on[call])
		return;
	callback(user, CUPTI_DRIVER_API, call, &c);
	c.site = 1; /* the exit of the same call, which is not another launch */
	callback(user, CUPTI_DRIVER_API, call, &c);
}
