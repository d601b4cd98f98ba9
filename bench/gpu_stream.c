/* gpu_stream [--rows N] [--batch N] [--threads N] [--memory SIZE]: what the host side of
 * the GPU engine costs, on made-up rows of 39 features of a million: opening the device,
 * loading kernels, copying model and data there and the model back; and steps with all
 * data on the GPU beside the same steps with the data streamed, bit by bit the same.
 *
 * --memory: GPU memory of the streamed runs (default: what a model, a batch and a tenth
 * of the data take). */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/str.h"
#include "fm/cuda/host/cuda.h"
#include "fm/data/synthetic.h"
#include "fm/model/batch.h"
#include "fm/model/tensors.h"
#include "gpu/driver.h"

static const char cache[] = "/tmp/lockstep-bench-kernels";

struct options {
	uint64_t rows, batch, memory;
	int threads;
};

static void fail(const struct ls_err *err)
{
	fprintf(stderr, "gpu_stream: %s\n", err->msg);
	exit(1);
}

/* The device alone, then the modules of all kinds with the kernels of a model, as an
 * engine opens them: 16 factors for fm, 8 for fwfm, batches that fill the GPU. */
static void measure_start(const char *when)
{
	static const char *const modules[] = {"cuda_sort", "cuda_fm", "cuda_ffm", "cuda_fwfm"};
	static const char *const names[4][5] = {
		[1] = {"fm_rows_4", "fm_one_columns_4", "fm_predict_4"},
		[2] = {"ffm_rows", "ffm_one_columns", "ffm_predict"},
		[3] = {"fwfm_rows_8", "fwfm_one_columns_2", "fwfm_pairs_8", "fwfm_predict"},
	};
	struct ls_kernels_conf conf = {.cache_dir = cache};
	struct ls_gpu *gpu;
	struct ls_err err = {0};
	double from = ls_clock();
	if (ls_gpu_open(NULL, 0, &gpu, &err))
		fail(&err);
	double opened = ls_clock();
	ls_cu_module m[4];
	struct ls_kernels_how how;
	for (int i = 0; i < 4; i++)
		if (ls_kernels_load(gpu, &conf, modules[i], i ? names[i] : NULL, &m[i], &how, &err))
			fail(&err);
	double loaded = ls_clock();
	for (int i = 0; i < 4; i++)
		ls_gpu_module_free(gpu, m[i]);
	ls_gpu_close(gpu);
	printf("%s: device open %.3f s, four modules %.3f s (%s), closed %.3f s\n", when,
	       opened - from, loaded - opened, how.text, ls_clock() - loaded);
}

struct result {
	double make, steps, fetch;
	char digest[LS_SHA256_HEX], engine[128];
};

static void run(const struct ls_fm_opts *o, const struct ls_rows *rows, struct ls_pool *pool,
		uint64_t memory, uint64_t steps, struct result *ret)
{
	struct ls_cuda_conf conf = {.kernels = {.cache_dir = cache}, .memory_limit = memory};
	struct ls_fm_model *m;
	struct ls_engine e;
	struct ls_err err = {0};
	double loss = 0;
	if (ls_fm_model_new(o, rows->n_features, rows->n_fields, &m, &err))
		fail(&err);
	ls_fm_model_init(m, pool);
	double from = ls_clock();
	if (ls_engine_cuda(m, rows, pool, &conf, &e, &err))
		fail(&err);
	double made = ls_clock();
	if (e.steps(e.state, 0, steps, &loss, &err))
		fail(&err);
	double stepped = ls_clock();
	if (e.fetch(e.state, &err))
		fail(&err);
	*ret = (struct result){made - from, stepped - made, ls_clock() - stepped, "", ""};
	snprintf(ret->engine, sizeof ret->engine, "%s", e.name);
	ls_fm_model_digest(m, ret->digest);
	e.free(e.state);
	ls_fm_model_free(m);
}

static void line(enum ls_fm_kind kind, const struct options *o, const struct ls_rows *rows,
		 struct ls_pool *pool)
{
	struct ls_fm_opts opts = ls_fm_defaults(kind, LS_BINARY, LS_ADAGRAD);
	opts.batch = (uint32_t)o->batch;
	uint64_t steps = ls_fm_steps_per_epoch(&opts, rows->n_rows);
	uint64_t model = ls_fm_model_bytes(&opts, rows->n_features, rows->n_fields);
	uint64_t data = rows->n_entries * (kind == LS_FM ? 4 : 6) + rows->n_rows * 12;
	uint64_t back = kind == LS_FFM ? o->batch * 39 * 39 * 4 * 4 : o->batch * 39 * 8 * 12;
	struct result all, part;
	run(&opts, rows, pool, 0, steps, &all);
	run(&opts, rows, pool, 0, steps, &all); /* kernels compiled, clocks up */
	run(&opts, rows, pool,
	    o->memory ? o->memory : (model + data / 5 + back + ((uint64_t)1 << 30)) * 16 / 15,
	    steps, &part);
	printf("%-4s batch %-5llu model %.2f GB, data %.2f GB: made in %.3f s, model back in %.3f "
	       "s (%.1f GB/s); %s: "
	       "%.2f M rows/s; %s: %.2f M rows/s (%.1f GB/s); %s\n",
	       ls_fm_kind_name(kind), (unsigned long long)o->batch, (double)model * 1e-9,
	       (double)data * 1e-9, all.make, all.fetch, (double)model * 1e-9 / all.fetch,
	       all.engine, (double)rows->n_rows / all.steps * 1e-6, part.engine,
	       (double)rows->n_rows / part.steps * 1e-6, (double)data / part.steps * 1e-9,
	       strcmp(all.digest, part.digest) == 0 ? "same bits" : "BITS DIFFER");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct options o = {
		.rows = 1 << 23, .batch = 65536, .threads = (int)sysconf(_SC_NPROCESSORS_ONLN)};
	struct ls_err err = {0};
	for (int i = 1; i + 1 < argc; i += 2) {
		uint64_t v = 0;
		if (ls_str_to_size(argv[i + 1], argv[i], &v, &err))
			fail(&err);
		if (strcmp(argv[i], "--rows") == 0)
			o.rows = v;
		else if (strcmp(argv[i], "--batch") == 0)
			o.batch = v;
		else if (strcmp(argv[i], "--threads") == 0)
			o.threads = (int)v;
		else if (strcmp(argv[i], "--memory") == 0)
			o.memory = v;
		else
			return 2;
	}
	struct ls_pool *pool;
	struct ls_synthetic *made;
	struct ls_synthetic_spec spec = {
		.n_rows = o.rows, .n_features = 1000000, .n_fields = 39, .classes = 2, .seed = 7};
	if (ls_pool_new(o.threads, &pool, &err) || ls_synthetic_new(&spec, pool, &made, &err))
		fail(&err);
	measure_start("first start");
	measure_start("second start");
	for (int kind = LS_FM; kind <= LS_FWFM; kind++)
		line((enum ls_fm_kind)kind, &o, &made->rows, pool);
	ls_synthetic_free(made);
	ls_pool_free(pool);
	return 0;
}
