#include "exact/cuda/host/context.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu/kernels.h"

enum { MOST_CONTEXTS = 64, MOST_MODULES = 16, MOST_KERNELS = 128, WAVES = 8 };
enum {
	USUAL_SHARED = 40 << 10 /* dynamic shared memory that needs no asking, beside a
				    kernel's own */
};

struct ls_exact_context {
	struct ls_gpu *gpu;
	char *cache;
	struct ls_exact_cuda *product; /* NULL: not yet */
	struct {
		const char *name;
		ls_cu_module module;
	} module[MOST_MODULES];
	struct ls_gpu_kernel kernel[MOST_KERNELS];
	int modules, kernels;
};

static struct {
	pthread_mutex_t lock;
	struct ls_exact_context *context[MOST_CONTEXTS];
	int contexts;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- contexts --- */

static struct ls_exact_context *find_current(void)
{
	const void *current = all.contexts ? ls_gpu_current(all.context[0]->gpu) : NULL;
	for (int i = 0; current && i < all.contexts; i++)
		if (ls_gpu_context(all.context[i]->gpu) == current)
			return all.context[i];
	return NULL;
}

static int add_current(const char *cache, struct ls_exact_context **ret, struct ls_err *err)
{
	if (all.contexts == MOST_CONTEXTS)
		return ls_err_set(err, LS_EINPUT, "more than %d CUDA contexts in one process",
				  MOST_CONTEXTS);
	struct ls_gpu *gpu;
	int rc = ls_gpu_adopt(&gpu, err);
	if (rc)
		return rc;
	struct ls_exact_context *c = ls_xalloc(sizeof *c);
	c->gpu = gpu;
	c->cache = cache ? ls_xstrdup(cache) : NULL;
	all.context[all.contexts++] = c;
	*ret = c;
	return 0;
}

int ls_exact_context_take(const char *cache, struct ls_exact_context **ret, struct ls_err *err)
{
	pthread_mutex_lock(&all.lock);
	struct ls_exact_context *c = find_current();
	int rc = c ? 0 : add_current(cache, &c, err);
	if (rc)
		pthread_mutex_unlock(&all.lock);
	else
		*ret = c;
	return rc;
}

void ls_exact_context_give(struct ls_exact_context *c)
{
	(void)c;
	pthread_mutex_unlock(&all.lock);
}

static void free_context(struct ls_exact_context *c)
{
	(void)ls_gpu_use(c->gpu, NULL);
	ls_exact_cuda_free(c->product);
	for (int i = 0; i < c->modules; i++)
		ls_gpu_module_free(c->gpu, c->module[i].module);
	ls_gpu_close(c->gpu);
	free(c->cache);
	free(c);
}

void ls_exact_contexts_free(void)
{
	pthread_mutex_lock(&all.lock);
	for (int i = 0; i < all.contexts; i++)
		free_context(all.context[i]);
	all.contexts = 0;
	pthread_mutex_unlock(&all.lock);
}

struct ls_gpu *ls_exact_context_gpu(const struct ls_exact_context *c)
{
	return c->gpu;
}

/* --- kernels --- */

static int find_module(struct ls_exact_context *c, const char *name, ls_cu_module *ret,
		       struct ls_err *err)
{
	struct ls_kernels_conf conf = {.cache_dir = c->cache};
	for (int i = 0; i < c->modules; i++)
		if (strcmp(c->module[i].name, name) == 0) {
			*ret = c->module[i].module;
			return 0;
		}
	if (c->modules == MOST_MODULES)
		return ls_err_set(err, LS_EINTERNAL, "no room for the kernels of %s", name);
	int rc = ls_kernels_load(c->gpu, &conf, name, NULL, ret, NULL, err);
	if (!rc) {
		c->module[c->modules].name = name;
		c->module[c->modules++].module = *ret;
	}
	return rc;
}

static int find_kernel(struct ls_exact_context *c, const char *module, const char *name,
		       const struct ls_gpu_kernel **ret, struct ls_err *err)
{
	ls_cu_module m = NULL;
	for (int i = 0; i < c->kernels; i++)
		if (strcmp(c->kernel[i].name, name) == 0) {
			*ret = &c->kernel[i];
			return 0;
		}
	if (c->kernels == MOST_KERNELS)
		return ls_err_set(err, LS_EINTERNAL, "no room for the kernel %s", name);
	int rc = find_module(c, module, &m, err);
	if (!rc)
		rc = ls_gpu_kernel(c->gpu, m, name, &c->kernel[c->kernels], err);
	if (!rc)
		*ret = &c->kernel[c->kernels++];
	return rc;
}

int ls_exact_context_launch(struct ls_exact_context *c, void *stream, const char *module,
			    const char *kernel, const struct ls_gpu_shape *shape, void **args,
			    struct ls_err *err)
{
	const struct ls_gpu_kernel *k = NULL;
	int rc = find_kernel(c, module, kernel, &k, err);
	if (!rc && shape->shared > USUAL_SHARED)
		rc = ls_gpu_kernel_shared(c->gpu, k, shape->shared, err);
	return rc ? rc : ls_gpu_launch(c->gpu, stream, k, shape, args, err);
}

unsigned ls_exact_context_blocks(const struct ls_exact_context *c, int64_t work, unsigned threads,
				 unsigned each)
{
	const struct ls_gpu_info *info = ls_gpu_info(c->gpu);
	int64_t most = (int64_t)info->multiprocessors * info->max_threads_per_multiprocessor *
		       WAVES / threads;
	int64_t a_block = (int64_t)threads * each, blocks = (work + a_block - 1) / a_block;
	return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

int ls_exact_context_product(struct ls_exact_context *c, struct ls_exact_cuda **ret,
			     struct ls_err *err)
{
	struct ls_kernels_conf conf = {.cache_dir = c->cache};
	int rc = c->product ? 0 : ls_exact_cuda_new(c->gpu, &conf, &c->product, err);
	if (!rc)
		*ret = c->product;
	return rc;
}
