/* sums_gpu [--trials N] [--most SIZE] [--bench]: sums, statistics, operations on rows and
 * scatters on the GPU against the CPU, bit by bit, over random shapes, strides, types and
 * values; with --bench the bytes a second of some large ones. The tests run it on the host
 * emulation of the kernels, and people on a real GPU. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "exact/grid.h"
#include "gpu/driver.h"
#include "lockstep.h"
#include "num/philox.h"

enum { TENSORS = 8 };

static struct ls_gpu *gpu;
static ls_cu_stream stream;

static void must(int rc, const struct ls_err *err)
{
	if (rc) {
		fprintf(stderr, "sums_gpu: %s\n", err->msg);
		exit(rc == LS_EUNKNOWN ? 3 : 4);
	}
}

/* Tensors by a letter: x is rows × columns, r one a row, c one a column, o a single one, w
 * the places of a scatter, i their index; upper case: written. R1: a row's statistic as a
 * vector. */
struct operation {
	const char *name, *tensors;
	double number[2];
	size_t numbers;
};

static const struct operation operations[] = {
	{"sum", "xR", {0}, 0},
	{"sum", "xC", {0}, 0},
	{"sum", "xO", {0}, 0},
	{"mean", "xC", {0}, 0},
	{"norm1", "xR", {0}, 0},
	{"norm2", "xO", {0}, 0},
	{"norm_inf", "xC", {0}, 0},
	{"amax", "xR", {0}, 0},
	{"amin", "xC", {0}, 0},
	{"argmax", "xA", {0}, 0},
	{"var", "xRR", {1}, 1},
	{"std", "xCC", {1}, 1},
	{"var", "xO", {0}, 1},
	{"batch_norm_stats", "xCCCC", {1e-5, 0.1}, 2},
	{"norm_grads", "xxrrCC", {0}, 0},
	{"norm_grads", "xxccRR", {0}, 0},
	{"rms_norm_grads", "xxrC", {0}, 0},
	{"ratio_of_sums", "xxOO", {0}, 0},
	{"mse_loss", "xxO", {7}, 1},
	{"smooth_l1_loss", "xxX", {1, 0.5}, 2},
	{"huber_loss", "xxR", {3, 0.5}, 2},
	{"bce_with_logits", "xxccO", {7}, 1},
	{"batch_norm", "xccccX", {0}, 0},
	{"inverse_std", "xX", {1e-5}, 1},
	{"batch_norm_back", "xxcccccX", {12}, 1},
	{"mse_loss_back", "xxcX", {7}, 1},
	{"bce_with_logits_back", "xxrccX", {7}, 1},
	{"softmax", "xX", {0}, 0},
	{"log_softmax", "xX", {0}, 0},
	{"logsumexp", "xR", {0}, 0},
	{"softmax_back", "xxX", {0}, 0},
	{"log_softmax_back", "xxX", {0}, 0},
	{"layer_norm", "xccXRR", {1e-5}, 1},
	{"rms_norm", "xcXR", {1e-5}, 1},
	{"layer_norm_back", "xxssvX", {0}, 0},
	{"rms_norm_back", "xxsvX", {0}, 0},
	{"embedding_back", "xiW", {3, 1}, 2},
	{"embedding_back", "xiW", {-1, 0}, 2},
	{"index_add", "wiyW", {-0.5}, 1},
	{"scatter_add", "wjyW", {0}, 0},
};
enum { OPERATIONS = sizeof operations / sizeof *operations, PLACES = 17 };

struct trial {
	const struct operation *o;
	int64_t rows, columns;
	bool turned; /* columns lie one after the other */
	int values, type;
	uint64_t seed;
};

/* --- tensors --- */

static float value_of(int kind, uint64_t seed, uint64_t i)
{
	struct ls_u32x4 r = ls_philox(seed, i, 0);
	uint32_t sign = r.v[0] & 0x80000000, mantissa = r.v[1] & 0x7fffff;
	float usual = ls_f_bits(sign | (r.v[2] % 4 + 124) << 23 | mantissa);
	switch (kind) {
	case 1:
		return ls_f_bits(sign | (r.v[2] % 60 + 100) << 23 | mantissa);
	case 2:
		return ls_f_bits(sign | (r.v[3] & 1 ? 0x7f7fffff : 0x7f000000 | (mantissa & 15)));
	case 3:
		return ls_f_bits(sign | mantissa >> r.v[2] % 23);
	case 4:
		return r.v[3] & 7 ? ls_f_bits(sign) : usual;
	case 5:
		return r.v[3] % 97 ? usual : ls_f_bits(sign | 0x7f800000 | (r.v[2] % 3 == 0));
	default:
		return usual;
	}
}

static bool is_scatter(const struct trial *t)
{
	return strchr(t->o->tensors, 'W') != NULL;
}

static struct ls_exact_tensor shape_of(const struct trial *t, char letter)
{
	int64_t rows = t->rows, columns = t->columns;
	bool turned = t->turned && !is_scatter(t);
	bool wide = strchr("xXcC", letter) != NULL, high = strchr("xXrR", letter) != NULL;
	struct ls_exact_tensor x = {
		NULL, t->type, 2, {high ? rows : 1, wide ? columns : 1}, {0, 0}};
	switch (letter) {
	case 's': /* a row's statistic, of a row operation */
		return (struct ls_exact_tensor){NULL, t->type, 1, {rows}, {1}};
	case 'v':
		return (struct ls_exact_tensor){NULL, t->type, 1, {columns}, {1}};
	case 'A':
		return (struct ls_exact_tensor){NULL, LS_EXACT_I64, 2, {rows, 1}, {1, 1}};
	case 'i':
		return (struct ls_exact_tensor){NULL, LS_EXACT_I64, 1, {rows}, {1}};
	case 'w':
	case 'W':
		if (t->o->tensors[0] == 'x')
			return (struct ls_exact_tensor){
				NULL, t->type, 2, {PLACES, columns}, {columns, 1}};
		return (struct ls_exact_tensor){
			NULL, t->type, 3, {2, PLACES, columns}, {PLACES * columns, columns, 1}};
	case 'y':
	case 'j':
		return (struct ls_exact_tensor){NULL,
						letter == 'j' ? LS_EXACT_I64 : t->type,
						3,
						{2, rows, columns},
						{rows * columns, columns, 1}};
	default:
		break;
	}
	if (wide)
		x.stride[1] = turned && high ? rows : 1;
	if (high)
		x.stride[0] = turned || !wide ? 1 : columns;
	/* what is read beside elements is repeated */
	bool repeated = strchr("rc", letter) && strncmp(t->o->name, "layer", 5) != 0 &&
			strncmp(t->o->name, "rms_norm", 9) != 0;
	x.size[0] = repeated ? rows : x.size[0];
	x.size[1] = repeated ? columns : x.size[1];
	return x;
}

static int64_t count_of(const struct ls_exact_tensor *x)
{
	int64_t last = 1;
	for (int d = 0; d < x->ndim; d++)
		last += (x->size[d] - 1) * x->stride[d];
	return last;
}

static size_t size_of(int type)
{
	return type == LS_EXACT_I64 ? 8 : type == LS_EXACT_F32 ? 4 : 2;
}

static void fill(const struct trial *t, size_t k, const struct ls_exact_tensor *x, void *at)
{
	for (int64_t i = 0; i < count_of(x); i++) {
		double v = (double)value_of(t->values, t->seed * TENSORS + k, (uint64_t)i);
		struct ls_u32x4 r = ls_philox(t->seed, k, (uint64_t)i);
		if (x->type == LS_EXACT_I64) /* half of them go to one place */
			((int64_t *)at)[i] = r.v[1] & 1 ? 5 : r.v[0] % PLACES;
		else if (x->type == LS_EXACT_F32)
			((float *)at)[i] = (float)v;
		else
			((uint16_t *)at)[i] =
				x->type == LS_EXACT_BF16 ? ls_bf16_from(v) : ls_f16_from(v);
	}
}

/* --- a trial --- */

struct place {
	struct ls_exact_tensor t;
	size_t bytes;
	void *host, *back;
	ls_cu_ptr device;
};

static void run_on_gpu(const struct trial *t, struct place *p, size_t n, int times, double *ret_ms)
{
	struct ls_exact_tensor x[TENSORS];
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

static void new_place(const struct trial *t, size_t k, bool values, struct place *p)
{
	struct ls_err err;
	p->t = shape_of(t, t->o->tensors[k]);
	p->bytes = (size_t)count_of(&p->t) * size_of(p->t.type);
	p->host = ls_xalloc(p->bytes);
	p->back = ls_xalloc(p->bytes);
	memset(p->host, 0, p->bytes);
	if (values)
		fill(t, k, &p->t, p->host);
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

static bool same(const struct trial *t)
{
	struct place p[TENSORS];
	struct ls_exact_tensor x[TENSORS];
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

static struct trial trial_of(uint64_t i, int64_t most)
{
	struct ls_u32x4 r = ls_philox(0x5a5, i, 0), q = ls_philox(0x5a5, i, 1);
	struct trial t = {.o = &operations[i % OPERATIONS],
			  .rows = 1 + r.v[0] % most,
			  .columns = 1 + r.v[1] % most,
			  .turned = r.v[2] & 1,
			  .values = (int)(q.v[0] % 6),
			  .type = (int)(q.v[1] % 3),
			  .seed = i};
	if (q.v[2] % 4 == 0) { /* a long row */
		t.columns = 1 + r.v[1] % (40 * most);
		t.rows = 1 + t.rows % 5;
	} else if (q.v[2] % 4 == 1) { /* many rows */
		t.rows = 1 + r.v[0] % (40 * most);
		t.columns = 1 + t.columns % 5;
	}
	return t;
}

static void bench(const char *name, const char *tensors, int64_t rows, int64_t columns, int type)
{
	enum { TIMES = 20 };
	for (int i = 0; i < OPERATIONS; i++) {
		const struct operation *o = &operations[i];
		struct trial t = {o, rows, columns, false, 0, type, 1};
		struct place p[TENSORS];
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
	uint64_t trials = 40 * OPERATIONS, wrong = 0;
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
		struct trial t = trial_of(i, most);
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
