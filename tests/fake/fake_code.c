/* Modules, the PTX compiler and launches of the stand-in driver. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_stream.h"

struct CUmod_st {
	struct fake_image *image;
	struct CUfunc_st *functions;
};

struct CUfunc_st {
	struct CUfunc_st *next;
	struct CUmod_st *module;
	char name[128];
	int max_shared;
};

struct CUlinkState_st {
	char *ptx, *cubin;
	size_t len;
};

static void write_log(unsigned n, const unsigned *options, void **values, const char *text)
{
	char *log = NULL;
	size_t size = 0;
	for (unsigned i = 0; i < n; i++) {
		if (options[i] == LS_CU_JIT_ERROR_LOG)
			log = values[i];
		if (options[i] == LS_CU_JIT_ERROR_LOG_BYTES)
			size = (size_t)(uintptr_t)values[i];
	}
	if (log && size)
		snprintf(log, size, "%s\nsecond line\n", text);
}

unsigned cuModuleLoadDataEx(ls_cu_module *ret, const void *image, unsigned n, unsigned *options,
			    void **values)
{
	ENTER(cuModuleLoadDataEx);
	struct CUmod_st *m = calloc(1, sizeof *m);
	if (!m)
		return LS_CU_OUT_OF_MEMORY;
	unsigned code = fake_image_read(image, config.cc, config.cuda, &m->image);
	if (code) {
		write_log(n, options, values, "ptxas: line 7: scripted words");
		free(m);
		return code;
	}
	add_object("module", m, 0);
	*ret = m;
	return 0;
}

unsigned cuModuleUnload(ls_cu_module m)
{
	unsigned fault = scripted("cuModuleUnload", count_call("cuModuleUnload"));
	drain_all();
	if (!drop_object("module", m))
		return LS_CU_INVALID_HANDLE;
	for (struct CUfunc_st *f = m->functions, *next; f; f = next) {
		next = f->next;
		free(f);
	}
	fake_image_free(m->image);
	free(m);
	return fault ? fault : sticky;
}

unsigned cuModuleGetFunction(ls_cu_function *ret, ls_cu_module m, const char *name)
{
	ENTER(cuModuleGetFunction);
	if (!find_object("module", m))
		return LS_CU_INVALID_HANDLE;
	if (!fake_image_has(m->image, name))
		return LS_CU_NOT_FOUND;
	struct CUfunc_st *f = calloc(1, sizeof *f);
	if (!f)
		return LS_CU_OUT_OF_MEMORY;
	snprintf(f->name, sizeof f->name, "%s", name);
	f->module = m;
	f->max_shared = 48 << 10;
	f->next = m->functions;
	m->functions = f;
	*ret = f;
	return 0;
}

unsigned cuLinkCreate_v2(unsigned n, unsigned *options, void **values, ls_cu_link *ret)
{
	ENTER(cuLinkCreate_v2);
	struct CUlinkState_st *link = calloc(1, sizeof *link);
	if (!link)
		return LS_CU_OUT_OF_MEMORY;
	write_log(n, options, values, "ptxas: line 7: scripted words");
	add_object("link", link, 0);
	*ret = link;
	return 0;
}

unsigned cuLinkAddData_v2(ls_cu_link link, unsigned type, void *data, size_t size, const char *name,
			  unsigned n, unsigned *options,
			  void **values) /* NOLINT(readability-non-const-parameter): NVIDIA's */
{
	ENTER(cuLinkAddData_v2);
	if (type != LS_CU_JIT_INPUT_PTX || !name || n || options || values || !size ||
	    ((char *)data)[size - 1])
		return LS_CU_INVALID_VALUE;
	struct fake_image *image;
	unsigned code = fake_image_read(data, config.cc, config.cuda, &image);
	if (code)
		return code;
	fake_image_free(image);
	link->ptx = strdup(data);
	return link->ptx ? 0 : LS_CU_OUT_OF_MEMORY;
}

unsigned cuLinkComplete(ls_cu_link link, void **cubin, size_t *size)
{
	ENTER(cuLinkComplete);
	link->cubin = fake_image_assemble(link->ptx, config.cc, &link->len);
	*cubin = link->cubin;
	*size = link->len;
	return 0;
}

unsigned cuLinkDestroy(ls_cu_link link)
{
	unsigned fault = scripted("cuLinkDestroy", count_call("cuLinkDestroy"));
	if (!drop_object("link", link))
		return LS_CU_INVALID_HANDLE;
	free(link->ptx);
	free(link->cubin);
	free(link);
	return fault;
}

unsigned cuFuncGetAttribute(int *value, unsigned attribute, ls_cu_function f)
{
	ENTER(cuFuncGetAttribute);
	*value = attribute == LS_CU_FUNC_MAX_THREADS ? 1024
		 : attribute == LS_CU_FUNC_REGISTERS ? 32
						     : 0;
	return f ? 0 : LS_CU_INVALID_HANDLE;
}

unsigned cuFuncSetAttribute(ls_cu_function f, unsigned attribute, int value)
{
	ENTER(cuFuncSetAttribute);
	if (attribute != LS_CU_FUNC_MAX_DYNAMIC_SHARED || value < 0 || value > 96 << 10)
		return LS_CU_INVALID_VALUE;
	f->max_shared = value;
	return 0;
}

static int resident_blocks(int threads, size_t shared)
{
	int by_threads = 2048 / threads,
	    by_shared = shared ? (int)((96 << 10) / shared) : by_threads;
	int most = by_threads < by_shared ? by_threads : by_shared;
	most = config.blocks && config.blocks < most ? config.blocks : most;
	return threads > 1024 ? 0 : most;
}

unsigned cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, ls_cu_function f, int threads,
						     size_t shared)
{
	ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor);
	if (!f || threads <= 0)
		return LS_CU_INVALID_VALUE;
	*blocks = resident_blocks(threads, shared);
	return 0;
}

static unsigned launch(ls_cu_function f, const struct fake_launch *shape, ls_cu_stream s,
		       void **args)
{
	char symbol[160];
	snprintf(symbol, sizeof symbol, "fake_kernel_%s", f->name);
	void *found = dlsym(RTLD_DEFAULT, symbol);
	if (!found) {
		fprintf(stderr, "fake_cuda: there is no function %s in this process\n", symbol);
		return LS_CU_NOT_SUPPORTED;
	}
	unsigned long threads = (unsigned long)shape->block[0] * shape->block[1] * shape->block[2];
	if (!threads || threads > 1024 || !shape->grid[0] || !shape->grid[1] || !shape->grid[2] ||
	    shape->grid[1] > 65535 || shape->grid[2] > 65535 || (int)shape->shared > f->max_shared)
		return LS_CU_INVALID_VALUE;
	struct op o = {.kind = OP_LAUNCH, .launch = *shape};
	memcpy(&o.kernel, &found, sizeof found);
	o.args = fake_args_copy(f->module->image, f->name, args);
	if (!o.args) {
		fprintf(stderr, "fake_cuda: the parameters of %s are not known\n", f->name);
		return LS_CU_NOT_SUPPORTED;
	}
	return submit(s, &o);
}

unsigned cuLaunchKernel(ls_cu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			unsigned by, unsigned bz, unsigned shared, ls_cu_stream s, void **args,
			void **extra)
{
	ENTER(cuLaunchKernel);
	struct fake_launch shape = {{gx, gy, gz}, {bx, by, bz}, shared, config.order, 0};
	return extra ? LS_CU_INVALID_VALUE : launch(f, &shape, s, args);
}

unsigned cuLaunchCooperativeKernel(ls_cu_function f, unsigned gx, unsigned gy, unsigned gz,
				   unsigned bx, unsigned by, unsigned bz, unsigned shared,
				   ls_cu_stream s, void **args)
{
	ENTER(cuLaunchCooperativeKernel);
	struct fake_launch shape = {{gx, gy, gz}, {bx, by, bz}, shared, config.order, 1};
	unsigned threads = bx * by * bz;
	if (threads == 0 ||
	    (unsigned long)gx * gy * gz >
		    (unsigned long)config.sm * (unsigned)resident_blocks((int)threads, shared))
		return LS_CU_COOPERATIVE_LAUNCH_TOO_LARGE;
	return launch(f, &shape, s, args);
}
