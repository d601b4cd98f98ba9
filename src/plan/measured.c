/* What a run's manifest measured of GPU memory. */
#include "plan/plan.h"

/* Beyond this a number is no memory of a GPU. */
static const json_int_t too_large = (json_int_t)1 << 50;

static json_int_t bytes(const json_t *object, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(object, key));
	return v > 0 && v <= too_large ? v : 0;
}

static json_int_t larger(json_int_t a, json_int_t b)
{
	return a > b ? a : b;
}

/* Of the allocator: what it reserved, or else what was allocated. */
static json_int_t of_allocator(const json_t *manifest)
{
	json_int_t most = 0;
	size_t i;
	const json_t *g, *list = json_object_get(manifest, "gpus");
	for (i = 0; i < json_array_size(list); i++) {
		g = json_array_get(list, i);
		json_int_t reserved = bytes(g, "peak_reserved_bytes");
		most = larger(most, reserved ? reserved : bytes(g, "peak_allocated_bytes"));
	}
	return most;
}

/* Of the driver: what came on top of what others held before. */
static json_int_t of_driver(const json_t *manifest)
{
	json_int_t most = 0;
	const json_t *list = json_object_get(json_object_get(manifest, "resources"), "gpu_memory");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *g = json_array_get(list, i);
		json_int_t peak = bytes(g, "used_peak_bytes"),
			   before = bytes(g, "used_before_bytes");
		most = larger(most, peak > before ? peak - before : 0);
	}
	return most;
}

int ls_plan_measured(const json_t *manifest, uint64_t *ret, struct ls_err *err)
{
	json_int_t most = larger(of_allocator(manifest), of_driver(manifest));
	if (!most)
		return ls_err_set(err, LS_EINPUT,
				  "the manifest has no peak of GPU memory: the run used no GPU, or "
				  "nothing could measure it");
	*ret = (uint64_t)most;
	return 0;
}
