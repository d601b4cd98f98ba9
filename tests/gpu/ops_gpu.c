/* ops_gpu [--trials N] [--only NAME] [--bench]: every exact operation on the GPU against
 * the CPU, bit by bit, over the trials of tests/exact/op_trials.c, and the GPU's golden
 * digests; with --bench the bytes a second of some element-wise ones. The tests run it on
 * the host emulation of the kernels, and people on a real GPU. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../exact/op_trials.h"
#include "base/mem.h"
#include "gpu/driver.h"

static struct ls_gpu *gpu;
static ls_cu_stream stream;

static void must(int rc, const struct ls_err *err)
{
	if (rc) {
		fprintf(stderr, "ops_gpu: %s\n", err->msg);
		exit(rc == LS_EUNKNOWN ? 3 : 4);
	}
}

static ls_cu_ptr new_memory(uint64_t bytes, const char *what)
{
	struct ls_err err;
	ls_cu_ptr p;
	must(ls_gpu_alloc(gpu, bytes ? bytes : 1, what, &p, &err), &err);
	return p;
}

/* The scratch memory that an operation wants. */
static ls_cu_ptr give_scratch(const struct op_trial *t, struct ls_exact_where *w)
{
	struct ls_err err;
	must(ls_exact_op_scratch(t->name, t->t, t->tensors, t->number, t->numbers, w,
				 &w->scratch_bytes, &err),
	     &err);
	if (!w->scratch_bytes)
		return 0;
	ls_cu_ptr p = new_memory(w->scratch_bytes, "scratch");
	w->scratch = (void *)(uintptr_t)p;
	return p;
}

/* t on the device; what was written comes back into t's own memory. */
static int on_gpu(struct op_trial *t, struct ls_err *err)
{
	struct op_trial d = *t;
	struct ls_exact_where w = {.device = LS_EXACT_CUDA, .stream = stream};
	ls_cu_ptr at[OP_TRIAL_TENSORS];
	for (size_t i = 0; i < t->tensors; i++) {
		at[i] = new_memory(t->bytes[i], "a tensor");
		must(ls_gpu_upload(gpu, stream, at[i], t->block[i], t->bytes[i], err), err);
		d.t[i].at = (void *)(uintptr_t)at[i];
	}
	ls_cu_ptr scratch = give_scratch(&d, &w);
	int rc = ls_exact_op(d.name, d.t, d.tensors, d.number, d.numbers, &w, err);
	for (size_t i = 0; i < t->tensors && !rc; i++)
		if (t->written[i])
			must(ls_gpu_download(gpu, stream, t->block[i], at[i], t->bytes[i], err),
			     err);
	if (!rc)
		rc = ls_gpu_sync(gpu, stream, err);
	for (size_t i = 0; i < t->tensors; i++)
		ls_gpu_free(gpu, at[i]);
	ls_gpu_free(gpu, scratch);
	return rc;
}

static int on_cpu(struct op_trial *t, struct ls_err *err)
{
	static const struct ls_exact_where w = {.device = LS_EXACT_CPU, .threads = 4};
	return ls_exact_op(t->name, t->t, t->tensors, t->number, t->numbers, &w, err);
}

static bool same(const struct op_row *row, uint64_t seed)
{
	struct op_trial cpu, cuda;
	struct ls_err err;
	bool equal = true;
	op_trial_make(row, seed, &cpu);
	op_trial_make(row, seed, &cuda);
	must(on_cpu(&cpu, &err), &err);
	must(on_gpu(&cuda, &err), &err);
	for (size_t i = 0; i < cpu.tensors; i++)
		equal = equal && memcmp(cpu.block[i], cuda.block[i], cpu.bytes[i]) == 0;
	if (!equal)
		printf("%s, %g, %g, seed %llu: GPU and CPU differ\n", row->name, row->number[0],
		       row->number[1], (unsigned long long)seed);
	op_trial_free(&cpu);
	op_trial_free(&cuda);
	return equal;
}

/* --- speed: contiguous tensors of float32 or bfloat16 --- */

static void bench(const struct op_row *row, int type, int64_t count)
{
	struct op_trial t;
	struct ls_err err;
	struct ls_exact_where w = {.device = LS_EXACT_CUDA, .stream = stream};
	ls_cu_event from, to;
	uint64_t bytes = 0;
	double ms = 0;
	enum { TIMES = 20 };
	op_trial_make(row, 3, &t);
	for (size_t i = 0; i < t.tensors; i++) {
		struct ls_exact_tensor *x = &t.t[i];
		bool mask = x->type == LS_EXACT_BOOL;
		*x = (struct ls_exact_tensor){NULL, mask ? LS_EXACT_BOOL : type, 1, {count}, {1}};
		uint64_t size = (uint64_t)count * (mask ? 1 : type == LS_EXACT_F32 ? 4 : 2);
		ls_cu_ptr p = new_memory(size, "a tensor");
		must(ls_gpu_fill(gpu, stream, p, 0x3f, size, &err), &err);
		x->at = (void *)(uintptr_t)p;
		bytes += size;
	}
	ls_cu_ptr scratch = give_scratch(&t, &w);
	must(ls_gpu_event_new(gpu, true, &from, &err), &err);
	must(ls_gpu_event_new(gpu, true, &to, &err), &err);
	for (int i = 0; i <= TIMES; i++) {
		if (i == 1)
			must(ls_gpu_event_record(gpu, stream, from, &err), &err);
		must(ls_exact_op(t.name, t.t, t.tensors, t.number, t.numbers, &w, &err), &err);
	}
	must(ls_gpu_event_record(gpu, stream, to, &err), &err);
	must(ls_gpu_sync(gpu, stream, &err), &err);
	must(ls_gpu_event_ms(gpu, from, to, &ms, &err), &err);
	printf("%-20s %s %10lld elements: %7.1f us, %7.1f GB/s\n", row->name,
	       type == LS_EXACT_F32 ? "float32 " : "bfloat16", (long long)count, 1e3 * ms / TIMES,
	       1e-6 * (double)bytes * TIMES / ms);
	ls_gpu_event_free(gpu, from);
	ls_gpu_event_free(gpu, to);
	ls_gpu_free(gpu, scratch);
	for (size_t i = 0; i < t.tensors; i++)
		ls_gpu_free(gpu, (ls_cu_ptr)(uintptr_t)t.t[i].at);
	op_trial_free(&t);
}

static void bench_all(void)
{
	static const char *const names[] = {"copy", "add",  "mul",   "div",           "sqrt",
					    "exp",  "tanh", "gelu",  "gelu_backward", "silu",
					    "adam", "rand", "randn", "dropout"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		for (const struct op_row *row = op_rows; row->name; row++)
			if (strcmp(row->name, names[i]) == 0) {
				bench(row, LS_EXACT_F32, 1 << 26);
				bench(row, LS_EXACT_BF16, 1 << 26);
				bench(row, LS_EXACT_F32, 1 << 20);
				break;
			}
}

int main(int argc, char **argv)
{
	uint64_t trials = 200;
	const char *only = NULL;
	bool speed = false;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--bench") == 0)
			speed = true;
		else if (strcmp(argv[i], "--trials") == 0 && i + 1 < argc)
			trials = strtoull(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
			only = argv[++i];
		else
			return 2;
	struct ls_err err;
	must(ls_gpu_open(NULL, 0, &gpu, &err), &err);
	must(ls_gpu_stream_new(gpu, &stream, &err), &err);
	unsigned long rows = 0, wrong = 0, digests = 0;
	for (const struct op_row *row = op_rows; row->name; row++) {
		char digest[OP_DIGEST];
		if (only && strcmp(only, row->name) != 0)
			continue;
		rows++;
		for (uint64_t seed = 0; seed < trials; seed++)
			wrong += !same(row, seed);
		if (trials < OP_TRIALS)
			continue;
		must(op_row_digest(row, on_gpu, digest, &err), &err);
		bool golden = strcmp(digest, row->golden ? row->golden : "") == 0;
		if (!golden)
			printf("%s, %g, %g: %s is not the golden digest\n", row->name,
			       row->number[0], row->number[1], digest);
		digests += !golden;
	}
	printf("%lu rows of %llu trials on %s: %lu differ from the CPU's, %lu digests are not "
	       "golden\n",
	       rows, (unsigned long long)trials, ls_gpu_info(gpu)->name, wrong, digests);
	if (speed)
		bench_all();
	ls_exact_release();
	ls_gpu_stream_free(gpu, stream);
	ls_gpu_close(gpu);
	return !rows || !trials || wrong || digests ? 1 : 0;
}
