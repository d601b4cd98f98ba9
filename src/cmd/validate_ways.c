/* Every device, thread count and build of the kernels that a training can use on this
 * machine. */
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/mem.h"
#include "cmd/validate.h"
#include "fm/cpu/dispatch.h"
#include "gpu/driver.h"

static const int counts[] = {1, 2, 3, 7};

enum { COUNTS = sizeof counts / sizeof *counts };

static int make_engine(void *context, struct ls_fm_model *m, const struct ls_rows *rows,
		       struct ls_pool *pool, struct ls_engine *ret, struct ls_err *err)
{
	const struct ls_fm_device *choice = context;
	return ls_fm_engine_make(choice, m, rows, pool, ret, err);
}

static int pool_of(struct ls_validate_ways *w, int threads, struct ls_pool **ret,
		   struct ls_err *err)
{
	for (size_t i = 0; i < w->n_pools; i++)
		if (ls_pool_threads(w->pools[i]) == threads) {
			*ret = w->pools[i];
			return 0;
		}
	int rc = ls_pool_new(threads, &w->pools[w->n_pools], err);
	if (rc == 0)
		*ret = w->pools[w->n_pools++];
	return rc;
}

static int add(struct ls_validate_ways *w, const struct ls_fm_device *choice, char *name_take,
	       bool main, struct ls_err *err)
{
	struct ls_pool *pool = NULL;
	int rc = w->n == LS_VALIDATE_MAX_WAYS
			 ? ls_err_set(err, LS_EINTERNAL, "more ways to train than there is room")
			 : pool_of(w, choice->threads, &pool, err);
	if (rc) {
		free(name_take);
		return rc;
	}
	w->choice[w->n] = *choice;
	w->ways[w->n] = (struct ls_val_way){.name = name_take,
					    .gpu = choice->want_cuda,
					    .main = main,
					    .pool = pool,
					    .make_engine = make_engine,
					    .context = &w->choice[w->n]};
	w->n++;
	return 0;
}

static int add_cpu(struct ls_validate_ways *w, int threads, const char *kernels, bool main,
		   struct ls_err *err)
{
	struct ls_fm_device choice = {.threads = threads, .kernels = kernels};
	return add(w, &choice,
		   ls_xasprintf("cpu, %d thread%s, %s", threads, threads == 1 ? "" : "s", kernels),
		   main, err);
}

static bool has(const struct ls_validate_ways *w, int threads, const char *kernels)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->choice[i].threads == threads && strcmp(w->choice[i].kernels, kernels) == 0)
			return true;
	return false;
}

/* All threads first, then one thread: these two ways take part in every check. */
static int cpu_ways(struct ls_validate_ways *w, bool full, struct ls_err *err)
{
	static const char *const builds[] = {"baseline", "avx2", "avx512"};
	const char *best = ls_kern_dispatch(NULL)->name;
	int all = ls_cpus() > 1 ? ls_cpus() : 2;
	int rc = add_cpu(w, all, best, true, err);
	if (rc == 0)
		rc = add_cpu(w, 1, best, true, err);
	for (size_t b = 0; b < sizeof builds / sizeof *builds; b++) {
		if (!ls_kern_dispatch(builds[b]))
			continue;
		bool every = full || strcmp(builds[b], best) == 0;
		for (int i = 0; i <= COUNTS && rc == 0; i++) {
			int threads = i < COUNTS ? counts[i] : all;
			if ((every || threads == 2) && !has(w, threads, builds[b]))
				rc = add_cpu(w, threads, builds[b], false, err);
		}
	}
	return rc;
}

static int add_cuda(struct ls_validate_ways *w, int device, bool stream, struct ls_err *err)
{
	struct ls_fm_device choice = {.threads = w->choice[0].threads,
				      .want_cuda = true,
				      .cuda_device = device,
				      .stream = stream};
	char *name = device < 0
			     ? ls_xstrdup("cuda")
			     : ls_xasprintf("cuda:%d%s", device, stream ? ", data streamed" : "");
	int rc = add(w, &choice, name, !stream, err);
	if (rc == 0)
		w->ways[w->n - 1].absent = w->no_cuda;
	return rc;
}

/* Where no device is seen there is still a way called cuda, which could not run: the
 * report must show the gap. */
static int cuda_ways(struct ls_validate_ways *w, int only, struct ls_err *err)
{
	struct ls_err why = {0};
	int driver_cuda, rc = ls_gpu_count(NULL, &w->devices, &driver_cuda, &why);
	if (rc) {
		w->devices = 0;
		w->no_cuda = ls_xstrdup(why.msg);
	} else if (w->devices == 0) {
		w->no_cuda = ls_xstrdup("the NVIDIA driver is there but shows no device");
	}
	if (w->no_cuda)
		return add_cuda(w, -1, false, err);
	if (only >= w->devices)
		return ls_err_set(
			err, LS_EINPUT,
			"option --device: there is no cuda:%d here; the devices are 0 to %d", only,
			w->devices - 1);
	rc = 0;
	for (int i = 0; i < w->devices && rc == 0; i++)
		if (only < 0 || only == i) {
			rc = add_cuda(w, i, false, err);
			if (rc == 0)
				rc = add_cuda(w, i, true, err);
		}
	return rc;
}

static int parse_device(const char *device, bool *ret_cuda, int *ret_only, struct ls_err *err)
{
	uint64_t n;
	*ret_cuda = !device || strcmp(device, "cpu") != 0;
	*ret_only = -1;
	if (!*ret_cuda || !device || strcmp(device, "cuda") == 0)
		return 0;
	if (strncmp(device, "cuda:", 5) != 0)
		return ls_err_set(err, LS_EINPUT,
				  "option --device: \"%.40s\" is not cpu, cuda or cuda:N", device);
	int rc = ls_str_to_u64(device + 5, 0, 1023, "option --device", &n, err);
	if (rc == 0)
		*ret_only = (int)n;
	return rc;
}

int ls_validate_ways_open(const char *device, bool full, struct ls_validate_ways *ret,
			  struct ls_err *err)
{
	int only;
	*ret = (struct ls_validate_ways){0};
	int rc = parse_device(device, &ret->want_cuda, &only, err);
	if (rc == 0)
		rc = cpu_ways(ret, full, err);
	return rc || !ret->want_cuda ? rc : cuda_ways(ret, only, err);
}

void ls_validate_ways_close(struct ls_validate_ways *w)
{
	for (size_t i = 0; i < w->n; i++)
		free((char *)w->ways[i].name);
	for (size_t i = 0; i < w->n_pools; i++)
		ls_pool_free(w->pools[i]);
	free(w->no_cuda);
}
