#include "fm/train/device.h"

#include <string.h>

#include "base/str.h"
#include "fm/cuda/host/cuda.h"
#include "gpu/cache.h"

int ls_fm_device_parse(const char *name, struct ls_fm_device *d, struct ls_err *err)
{
	uint64_t n = 0;
	bool is_auto = !name || strcmp(name, "auto") == 0;
	d->is_auto = is_auto && !d->kernels;
	if (is_auto || strcmp(name, "cpu") == 0)
		return 0;
	if (strncmp(name, "cuda", 4) != 0 || (name[4] && name[4] != ':'))
		return ls_err_set(err, LS_EINPUT,
				  "option --device: \"%.40s\" is not auto, cpu, cuda or cuda:N",
				  name);
	if (d->kernels)
		return ls_err_set(err, LS_EINPUT,
				  "--kernels names the CPU's: it does not go with --device %.40s",
				  name);
	d->want_cuda = true;
	int rc = name[4] ? ls_str_to_u64(name + 5, 0, 1023, "option --device", &n, err) : 0;
	d->cuda_device = (int)n;
	return rc;
}

static int make_cuda(const struct ls_fm_device *d, const struct ls_kernels_conf *conf,
		     struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool,
		     struct ls_engine *ret, struct ls_err *err)
{
	const struct ls_cuda_conf cuda = {.device = d->cuda_device,
					  .kernels = *conf,
					  .memory_limit = d->device_memory,
					  .stream = d->stream};
	return ls_engine_cuda(m, rows, pool, &cuda, ret, err);
}

/* Looks at the GPU only if the fastest one that there is would be worth its start. */
static bool cuda_is_faster(const struct ls_fm_device *d, const struct ls_kernels_conf *conf,
			   const struct ls_fm_model *m, const struct ls_rows *rows)
{
	const char *cache = conf->cache_dir;
	struct ls_cuda_workload w = {.epochs = d->epochs, .threads = d->threads};
	/* The cache may hold these modules with kernels for other sizes: then this is too
	 * good. */
	w.compiled = cache && ls_cache_has(cache, "cuda_sort") &&
		     ls_cache_has(cache, ls_cuda_module(m->opts.kind));
	return ls_cuda_is_faster(m, rows, &w) &&
	       ls_gpu_bandwidth(NULL, 0, &w.bandwidth, NULL) == 0 && ls_cuda_is_faster(m, rows, &w);
}

int ls_fm_device_engine(const struct ls_fm_device *d, const struct ls_kernels_conf *conf,
			struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool,
			struct ls_engine *ret, struct ls_err *err)
{
	/* Without a driver, a GPU or room on it, auto is the CPU. */
	struct ls_err ignored = {0};
	if (d->want_cuda)
		return make_cuda(d, conf, m, rows, pool, ret, err);
	if (d->is_auto && rows && cuda_is_faster(d, conf, m, rows) &&
	    make_cuda(d, conf, m, rows, pool, ret, &ignored) == 0)
		return 0;
	return ls_engine_cpu(m, rows, pool, d->kernels, ret, err);
}
