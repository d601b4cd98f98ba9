#include "cmd/fm_common.h"

#include <stdio.h>

#include "base/cpus.h"
#include "cmd/gpu.h"
#include "gpu/cache.h"

int ls_fm_engine_options(const struct ls_args *args, const char *kernels, struct ls_fm_device *ret,
			 struct ls_err *err)
{
	uint64_t threads = ls_cpus() < 1024 ? (uint64_t)ls_cpus() : 1024;
	int rc = ls_args_u64(args, "threads", 1, 1024, &threads, err);
	*ret = (struct ls_fm_device){.threads = (int)threads, .kernels = kernels};
	const char *memory = ls_args_get(args, "device-memory");
	if (rc == 0 && memory)
		rc = ls_str_to_size(memory, "option --device-memory", &ret->device_memory, err);
	if (rc == 0)
		rc = ls_fm_device_parse(ls_args_get(args, "device"), ret, err);
	if (rc == 0 && memory && !ret->is_auto && !ret->want_cuda)
		return ls_err_set(err, LS_EINPUT,
				  "--device-memory is the GPU's: it does not go with %s",
				  kernels ? "--kernels" : "--device cpu");
	return rc;
}

int ls_fm_engine_make(const struct ls_fm_device *device, struct ls_fm_model *m,
		      const struct ls_rows *rows, struct ls_pool *pool, struct ls_engine *ret,
		      struct ls_err *err)
{
	struct ls_cmd_gpu gpu;
	struct ls_err why = {0};
	ls_cmd_gpu_init(&gpu);
	int rc = ls_fm_device_engine(device, &gpu.conf, m, rows, pool, ret, err);
	if (rc == 0 && ret->on_gpu && gpu.cache && ls_cache_check(gpu.cache, &why))
		fprintf(stderr,
			"lockstep: compiled kernels cannot be kept, and every start compiles them "
			"again: %s; set "
			"XDG_CACHE_HOME to a folder that can be written\n",
			why.msg);
	ls_cmd_gpu_done(&gpu);
	return rc;
}

int ls_fm_load(const struct ls_args *args, const char *path, enum ls_fm_part part, bool fields,
	       bool need_labels, int threads, struct ls_data **ret, struct ls_err *err)
{
	bool valid = part == LS_FM_VALID;
	struct ls_data_opts o = {
		.threads = threads,
		.format = valid ? NULL : ls_args_get(args, "format"),
		.labels_path = ls_args_get(args, valid ? "valid-labels" : "labels"),
		.weights_path = ls_args_get(args, valid ? "valid-weights" : "weights"),
		.need_labels = need_labels,
		.want_fields = fields};
	return ls_data_load(path, &o, ret, err);
}
