/* sums_gpu [--trials N] [--most SIZE] [--bench]: sums, statistics, operations on rows and
 * scatters on the GPU against the CPU, bit by bit, over random shapes, strides, types and
 * values; with --bench the bytes a second of some large ones. The tests run it on the host
 * emulation of the kernels, and people on a real GPU. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../exact/sum_trials.h"
#include "base/mem.h"
#include "gpu/driver.h"

static struct ls_gpu *gpu;
static ls_cu_stream stream;

static void must(int rc, const struct ls_err *err)
{
	if (rc) {
		fprintf(stderr, "sums_gpu: %s\n", err->msg);
		exit(rc == LS_EUNKNOWN ? 3 : 4);
	}
}

/* --- a trial --- */

struct place {
	struct ls_exact_tensor t;
	size_t bytes;
	void *host, *back;
	ls_cu_ptr device;
};

static void run_on_gpu(const struct sum_trial *t, struct place *p, size_t n, int times,
		       double *ret_ms)
{
	struct ls_exact_tensor x[SUM_TENSORS];
	struct ls_exact_where w = {.device = LS_EXACT_CUDA, .stream = stream};
	struct ls_err err;
	ls_cu_ptr scratch = 0;
	ls_cu_event from, to;
	for (size_t k = 0; k < n; k++) {
		x[k] = p[k].t;
		x[k].at = (void *)(uintptr_t)p[k].device;
	}
	must(ls_exact_op_scratch(t->o->name, x, n, t->o->number, t->o->numbers, &w,
				 &w.scratch_bytes, &err),
	     &err);
	must(ls_gpu_alloc(gpu, w.scratch_bytes + 1, "scratch", &scratch, &err), &err);
	w.scratch = (void *)(uintptr_t)scratch;
	must(ls_gpu_event_new(gpu, true, &from, &err), &err);
	must(ls_gpu_event_new(gpu, true, &to, &err), &err);
	for (int i = 0; i < times; i++) {
		if (i == 1)
			must(ls_gpu_event_record(gpu, stream, from, &err), &err);
		must(ls_exact_op(t->o->name, x, n, t->o->number, t->o->numbers, &w, &err), &err);
	}
	must(ls_gpu_event_record(gpu, stream, to, &err), &err);
	must(ls_gpu_sync(gpu, stream, &err), &err);
	if (times > 1)
		must(ls_gpu_event_ms(gpu, from, to, ret_ms, &err), &err);
	ls_gpu_event_free(gpu, from);
	ls_gpu_event_free(gpu, to);
	ls_gpu_free(gpu, scratch);
}

static void new_place(const struct sum_trial *t, size_t k, bool values, struct place *p)
{
	struct ls_err err;
	p->t = sum_trial_shape(t, k);
	p->bytes = sum_trial_bytes(&p->t);
	p->host = ls_xalloc(p->bytes);
	p->back = ls_xalloc(p->bytes);
	memset(p->host, 0, p->bytes);
	if (values)
		sum_trial_fill(t, k, &p->t, p->host);
	p->t.at = p->host;
	must(ls_gpu_alloc(gpu, p->bytes, "a tensor", &p->device, &err), &err);
	must(ls_gpu_upload(gpu, stream, p->device, p->host, p->bytes, &err), &err);
}

static void free_place(struct place *p)
{
	free(p->host);
	free(p->back);
	ls_gpu_free(gpu, p->device);
}

static bool same(const struct sum_trial *t)
{
	struct place p[SUM_TENSORS];
	struct ls_exact_tensor x[SUM_TENSORS];
	struct ls_exact_where here = {.device = LS_EXACT_CPU, .threads = 4};
	struct ls_err err;
	size_t n = strlen(t->o->tensors);
	bool equal = true;
	for (size_t k = 0; k < n; k++) {
		new_place(t, k, true, &p[k]);
		x[k] = p[k].t;
	}
	run_on_gpu(t, p, n, 1, NULL);
	must(ls_exact_op(t->o->name, x, n, t->o->number, t->o->numbers, &here, &err), &err);
	for (size_t k = 0; k < n; k++) {
		must(ls_gpu_download(gpu, stream, p[k].back, p[k].device, p[k].bytes, &err), &err);
		must(ls_gpu_sync(gpu, stream, &err), &err);
		equal = equal && memcmp(p[k].back, p[k].host, p[k].bytes) == 0;
	}
	if (!equal)
		printf("%s %s, %lld x %lld%s, type %d, values %d: GPU and CPU differ\n", t->o->name,
		       t->o->tensors, (long long)t->rows, (long long)t->columns,
		       t->turned ? " turned" : "", t->type, t->values);
	for (size_t k = 0; k < n; k++)
		free_place(&p[k]);
	return equal;
}

static void bench(const char *name, const char *tensors, int64_t rows, int64_t columns, int type)
{
	enum { TIMES = 20 };
	for (const struct sum_operation *o = sum_operations; o->name; o++) {
		struct sum_trial t = {o, rows, columns, false, 0, type, 1};
		struct place p[SUM_TENSORS];
		double ms = 0, bytes = 0;
		if (strcmp(o->name, name) != 0 || strcmp(o->tensors, tensors) != 0)
			continue;
		size_t n = strlen(tensors);
		for (size_t k = 0; k < n; k++) {
			new_place(&t, k, strchr("ij", tensors[k]), &p[k]);
			bytes += (double)p[k].bytes;
		}
		run_on_gpu(&t, p, n, TIMES + 1, &ms);
		printf("%-18s %-7s %s %6lld x %6lld: %8.1f us, %7.1f GB/s\n", name, tensors,
		       type == LS_EXACT_F32 ? "float32 " : "bfloat16", (long long)rows,
		       (long long)columns, 1e3 * ms / TIMES, 1e-6 * bytes * TIMES / ms);
		for (size_t k = 0; k < n; k++)
			free_place(&p[k]);
		break;
	}
}

static void bench_all(void)
{
	static const struct {
		const char *name, *tensors;
		int64_t rows, columns;
	} all[] = {
		{"sum", "xR", 16384, 4096},
		{"sum", "xC", 16384, 4096},
		{"sum", "xO", 16384, 4096},
		{"sum", "xR", 262144, 768},
		{"sum", "xC", 4096, 768},
		{"norm2", "xO", 16384, 4096},
		{"var", "xRR", 16384, 4096},
		{"softmax", "xX", 49152, 1024},
		{"softmax_back", "xxX", 49152, 1024},
		{"log_softmax", "xX", 4096, 50304},
		{"log_softmax_back", "xxX", 4096, 50304},
		{"layer_norm", "xccXRR", 12608, 768},
		{"layer_norm", "xccXRR", 16384, 4096},
		{"layer_norm_back", "xxssvX", 12608, 768},
		{"layer_norm_back", "xxssvX", 16384, 4096},
		{"norm_grads", "xxrrCC", 12608, 768},
		{"norm_grads", "xxrrCC", 16384, 4096},
		{"rms_norm", "xcXR", 16384, 4096},
		{"batch_norm_stats", "xCCCC", 262144, 256},
		{"batch_norm", "xccccX", 262144, 256},
		{"embedding_back", "xiW", 16384, 768},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		for (int type = LS_EXACT_F32; type <= LS_EXACT_BF16; type++)
			bench(all[i].name, all[i].tensors, all[i].rows, all[i].columns, type);
}

int main(int argc, char **argv)
{
	uint64_t operations = sum_operation_count(), trials = 40 * operations, wrong = 0;
	int64_t most = 200;
	bool speed = false;
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";
		if (strcmp(argv[i], "--bench") == 0)
			speed = true;
		else if (strcmp(argv[i], "--trials") == 0)
			trials = strtoull(value, NULL, 10), i++;
		else if (strcmp(argv[i], "--most") == 0)
			most = strtol(value, NULL, 10), i++;
		else
			return 2;
	}
	struct ls_err err;
	must(ls_gpu_open(NULL, 0, &gpu, &err), &err);
	must(ls_gpu_stream_new(gpu, &stream, &err), &err);
	for (uint64_t i = 0; i < trials; i++) {
		struct sum_trial t =
			sum_trial_of(&sum_operations[i % operations], i / operations, most);
		wrong += !same(&t);
	}
	printf("%llu sums and statistics on %s, %llu differ from the CPU's\n",
	       (unsigned long long)trials, ls_gpu_info(gpu)->name, (unsigned long long)wrong);
	if (speed)
		bench_all();
	ls_exact_release();
	ls_gpu_stream_free(gpu, stream);
	ls_gpu_close(gpu);
	return !trials || wrong ? 1 : 0;
}
