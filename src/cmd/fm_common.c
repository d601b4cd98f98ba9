#include "cmd/fm_common.h"

#include <stdio.h>
#include <string.h>

#include "base/cpus.h"
#include "cmd/gpu.h"
#include "fm/cuda/host/cuda.h"
#include "gpu/cache.h"

static int parse_device(const char *device, struct ls_fm_engine_choice *c, struct ls_err *err)
{
	uint64_t n = 0;
	c->is_auto = !c->kernels && (!device || strcmp(device, "auto") == 0);
	if (!device || strcmp(device, "auto") == 0 || strcmp(device, "cpu") == 0)
		return 0;
	if (strncmp(device, "cuda", 4) != 0 || (device[4] && device[4] != ':'))
		return ls_err_set(err, LS_EINPUT,
				  "option --device: \"%.40s\" is not auto, cpu, cuda or cuda:N",
				  device);
	if (c->kernels)
		return ls_err_set(err, LS_EINPUT,
				  "--kernels names the CPU's: it does not go with --device %.40s",
				  device);
	c->want_cuda = true;
	int rc = device[4] ? ls_str_to_u64(device + 5, 0, 1023, "option --device", &n, err) : 0;
	c->cuda_device = (int)n;
	return rc;
}

int ls_fm_engine_options(const struct ls_args *args, const char *kernels,
			 struct ls_fm_engine_choice *ret, struct ls_err *err)
{
	uint64_t threads = ls_cpus() < 1024 ? (uint64_t)ls_cpus() : 1024;
	int rc = ls_args_u64(args, "threads", 1, 1024, &threads, err);
	*ret = (struct ls_fm_engine_choice){.threads = (int)threads, .kernels = kernels};
	const char *memory = ls_args_get(args, "device-memory");
	if (rc == 0 && memory)
		rc = ls_str_to_size(memory, "option --device-memory", &ret->device_memory, err);
	if (rc == 0)
		rc = parse_device(ls_args_get(args, "device"), ret, err);
	if (rc == 0 && memory && !ret->is_auto && !ret->want_cuda)
		return ls_err_set(err, LS_EINPUT,
				  "--device-memory is the GPU's: it does not go with %s",
				  kernels ? "--kernels" : "--device cpu");
	return rc;
}

static int make_cuda(const struct ls_fm_engine_choice *choice, struct ls_fm_model *m,
		     const struct ls_rows *rows, struct ls_pool *pool, struct ls_engine *ret,
		     struct ls_err *err)
{
	struct ls_cmd_gpu gpu;
	ls_cmd_gpu_init(&gpu);
	struct ls_cuda_conf conf = {.device = choice->cuda_device,
				    .kernels = gpu.conf,
				    .memory_limit = choice->device_memory,
				    .stream = choice->stream};
	struct ls_err why = {0};
	int rc = ls_engine_cuda(m, rows, pool, &conf, ret, err);
	if (rc == 0 && gpu.cache && ls_cache_check(gpu.cache, &why))
		fprintf(stderr,
			"lockstep: compiled kernels cannot be kept, and every start compiles them "
			"again: %s; set "
			"XDG_CACHE_HOME to a folder that can be written\n",
			why.msg);
	ls_cmd_gpu_done(&gpu);
	return rc;
}

/* The GPU is asked for only where the fastest there is would pay. */
static bool cuda_is_faster(const struct ls_fm_engine_choice *choice, const struct ls_fm_model *m,
		      const struct ls_rows *rows)
{
	struct ls_cmd_gpu gpu;
	struct ls_cuda_workload c = {.epochs = choice->epochs, .threads = choice->threads};
	ls_cmd_gpu_init(&gpu);
	c.compiled = gpu.cache && ls_cache_has(gpu.cache, "cuda_sort") &&
		     ls_cache_has(gpu.cache,
				  ls_cuda_module(
					  m->opts.kind)); /* perhaps with kernels for other sizes */
	ls_cmd_gpu_done(&gpu);
	return ls_cuda_is_faster(m, rows, &c) && ls_gpu_bandwidth(NULL, 0, &c.bandwidth, NULL) == 0 &&
	       ls_cuda_is_faster(m, rows, &c);
}

int ls_fm_engine_make(const struct ls_fm_engine_choice *choice, struct ls_fm_model *m,
		      const struct ls_rows *rows, struct ls_pool *pool, struct ls_engine *ret,
		      struct ls_err *err)
{
	if (choice->want_cuda)
		return make_cuda(choice, m, rows, pool, ret, err);
	struct ls_err quiet = {0}; /* no driver, no GPU, no room: then it is the CPU */
	if (choice->is_auto && rows && cuda_is_faster(choice, m, rows) &&
	    make_cuda(choice, m, rows, pool, ret, &quiet) == 0)
		return 0;
	return ls_engine_cpu(m, rows, pool, choice->kernels, ret, err);
}

int ls_fm_engine_make_predictor(const struct ls_fm_engine_choice *choice, struct ls_fm_model *m,
				struct ls_pool *pool, struct ls_engine *ret, struct ls_err *err)
{
	return ls_fm_engine_make(choice, m, NULL, pool, ret, err);
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
