/* exact_gpu [--library FILE] [--trials N] [--most SIZE] [--bench]: exact products on the
 * GPU against the CPU, bit by bit, over random shapes, strides, types and values; with
 * --bench the speed of some large ones as well. The tests run it on the host emulation of
 * the kernels, and people on a real GPU. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "exact/cuda/device/exact_args.h"
#include "exact/cuda/host/product_cuda.h"
#include "exact/grid.h"
#include "gpu/nvrtc.h"
#include "lockstep.h"
#include "num/philox.h"
#include "watch/probe_cuda.h"

static struct ls_gpu *gpu;
static struct ls_exact_cuda *exact;
static ls_cu_stream stream;

static void must(int rc, const struct ls_err *err)
{
	if (rc) {
		fprintf(stderr, "exact_gpu: %s\n", err->msg);
		exit(rc == LS_EUNKNOWN ? 3 : 4);
	}
}

/* --- values: usual ones, wide ones, extremes, subnormals, zeros, infinities and NaN
 * --- */

static float value_of(unsigned kind, uint64_t seed, uint64_t i)
{
	struct ls_u32x4 r = ls_philox(seed, i, 0);
	uint32_t sign = r.v[0] & 0x80000000, mantissa = r.v[1] & 0x7fffff;
	float usual = ls_f_bits(sign | (r.v[2] % 4 + 124) << 23 | mantissa);
	switch (kind) {
	case 1:
		return ls_f_bits(sign | (r.v[2] % 60 + 100) << 23 | mantissa);
	case 2:
		return ls_f_bits(sign | (r.v[3] & 1 ? 0x7f7fffff : 0x7f000000 | (mantissa & 0xf)));
	case 3:
		return ls_f_bits(sign | mantissa >> r.v[2] % 23);
	case 4:
		return r.v[3] & 7 ? ls_f_bits(sign) : usual;
	case 5:
		return r.v[3] % 997 ? usual : ls_f_bits(sign | 0x7f800000 | (r.v[2] % 3 == 0));
	default:
		return usual;
	}
}

/* A matrix here and on the GPU. */
struct matrix {
	struct ls_exact_matrix host;
	size_t bytes;
	ls_cu_ptr device;
};

static struct matrix new_matrix(int64_t batch, int64_t rows, int64_t columns,
				enum ls_exact_type type, bool transposed, unsigned kind,
				uint64_t seed)
{
	struct ls_err err;
	/* what is timed is aligned, as usual; trials are not */
	int64_t line = (transposed ? rows : columns) + (columns < 512),
		lines = transposed ? columns : rows;
	size_t count = (size_t)(batch * lines * line), size = type == LS_EXACT_F32 ? 4 : 2;
	struct matrix x = {{ls_xalloc(count * size), transposed ? 1 : line, transposed ? line : 1,
			    lines * line, type},
			   count * size,
			   0};
	for (size_t i = 0; i < count; i++) {
		float v = value_of(kind, seed, i);
		if (type == LS_EXACT_F32)
			((float *)x.host.at)[i] = v;
		else
			((uint16_t *)x.host.at)[i] = type == LS_EXACT_BF16 ? ls_bf16_from((double)v)
									   : ls_f16_from((double)v);
	}
	must(ls_gpu_alloc(gpu, x.bytes, "a matrix", &x.device, &err), &err);
	must(ls_gpu_upload(gpu, stream, x.device, x.host.at, x.bytes, &err), &err);
	return x;
}

static void free_matrix(struct matrix *x)
{
	free(x->host.at);
	ls_gpu_free(gpu, x->device);
}

static struct ls_exact_matrix on_device(const struct matrix *x)
{
	struct ls_exact_matrix d = x->host;
	d.at = (void *)(uintptr_t)x->device;
	return d;
}

static void on_gpu(const struct ls_exact_product *p, int times, double *ret_ms)
{
	struct ls_err err;
	ls_cu_ptr scratch;
	ls_cu_event from, to;
	must(ls_gpu_alloc(gpu, ls_exact_cuda_scratch(p), "scratch", &scratch, &err), &err);
	must(ls_gpu_event_new(gpu, true, &from, &err), &err);
	must(ls_gpu_event_new(gpu, true, &to, &err), &err);
	must(ls_exact_cuda_product(exact, p, scratch, stream, &err), &err);
	must(ls_gpu_event_record(gpu, stream, from, &err), &err);
	for (int i = 0; i < times; i++)
		must(ls_exact_cuda_product(exact, p, scratch, stream, &err), &err);
	must(ls_gpu_event_record(gpu, stream, to, &err), &err);
	must(ls_gpu_sync(gpu, stream, &err), &err);
	if (times)
		must(ls_gpu_event_ms(gpu, from, to, ret_ms, &err), &err);
	ls_gpu_event_free(gpu, from);
	ls_gpu_event_free(gpu, to);
	ls_gpu_free(gpu, scratch);
}

static bool trial(uint64_t seed, int64_t most)
{
	struct ls_u32x4 r = ls_philox(0x6b0, seed, 0), q = ls_philox(0x6b0, seed, 1);
	struct ls_err err;
	int64_t batch = 1 + q.v[3] % 3, m = 1 + r.v[0] % most, n = 1 + r.v[1] % most,
		k = seed % 17 ? 1 + r.v[2] % (2 * most) : r.v[2] % 2 * (LS_EXACT_CHUNK + 100);
	enum ls_exact_type in = q.v[0] % 3, out = q.v[0] / 3 % 3;
	if (k > 2 * most)
		m = n = 3;
	struct matrix a = new_matrix(batch, m, k, in, q.v[2] & 1, q.v[1] % 6, seed * 4);
	struct matrix b = new_matrix(batch, k, n, in, q.v[2] & 2, q.v[1] / 6 % 6, seed * 4 + 1);
	struct matrix c = new_matrix(batch, m, n, out, q.v[2] & 4, 0, seed * 4 + 2);
	struct matrix bias = new_matrix(1, 1, n, in, false, 0, seed * 4 + 3);
	struct matrix d = new_matrix(batch, m, n, out, q.v[2] & 8, 0, seed);
	struct ls_exact_product p = {.batch = batch,
				     .m = m,
				     .n = n,
				     .k = k,
				     .a = a.host,
				     .b = b.host,
				     .out = d.host,
				     .alpha = -0.7f,
				     .beta = 1.3f,
				     .bits = q.v[2] & 64 ? LS_GRID_FINE : LS_GRID_COARSE};
	struct ls_exact_product g;
	if (q.v[2] & 128)
		p.b.batch = 0;
	if (q.v[2] & 16)
		p.c = c.host;
	if (q.v[2] & 32)
		p.bias = (struct ls_exact_matrix){bias.host.at, 0, 1, 0, in};
	g = p;
	g.a = on_device(&a);
	g.b = on_device(&b);
	g.b.batch = p.b.batch;
	g.out = on_device(&d);
	if (p.c.at)
		g.c = on_device(&c);
	if (p.bias.at)
		g.bias.at = (void *)(uintptr_t)bias.device;
	on_gpu(&g, 0, NULL);
	uint8_t *got = ls_xalloc(d.bytes);
	must(ls_gpu_download(gpu, stream, got, d.device, d.bytes, &err), &err);
	must(ls_gpu_sync(gpu, stream, &err), &err);
	must(ls_exact_product(&p, 8, NULL, &err), &err);
	bool same = memcmp(got, d.host.at, d.bytes) == 0;
	if (!same)
		printf("trial %llu: %lld x %lld x %lld x %lld, grid %d: GPU and CPU differ\n",
		       (unsigned long long)seed, (long long)batch, (long long)m, (long long)n,
		       (long long)k, p.bits);
	free(got);
	struct matrix *all[] = {&a, &b, &c, &bias, &d};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free_matrix(all[i]);
	return same;
}

static void bench(int64_t m, int64_t n, int64_t k, bool tb, int bits)
{
	struct matrix a = new_matrix(1, m, k, LS_EXACT_F32, false, 0, 1);
	struct matrix b = new_matrix(1, k, n, LS_EXACT_F32, tb, 0, 2);
	struct matrix d = new_matrix(1, m, n, LS_EXACT_F32, false, 0, 3);
	struct ls_exact_product p = {.batch = 1,
				     .m = m,
				     .n = n,
				     .k = k,
				     .a = on_device(&a),
				     .b = on_device(&b),
				     .out = on_device(&d),
				     .alpha = 1,
				     .bits = bits};
	double ms = 0;
	enum { TIMES = 10 };
	on_gpu(&p, TIMES, &ms);
	printf("%lld x %lld x %lld, %s, grid %d: %.3f ms, %.1f TFLOP/s\n", (long long)m,
	       (long long)n, (long long)k, tb ? "NT" : "NN", bits, ms / TIMES,
	       2e-9 * (double)m * (double)n * (double)k * TIMES / ms);
	free_matrix(&a);
	free_matrix(&b);
	free_matrix(&d);
}

int main(int argc, char **argv)
{
	const char *library = NULL;
	long trials = 200, most = 300;
	bool speed = false;
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";
		if (strcmp(argv[i], "--bench") == 0)
			speed = true;
		else if (strcmp(argv[i], "--library") == 0)
			library = argv[++i];
		else if (strcmp(argv[i], "--trials") == 0)
			trials = strtol(value, NULL, 10), i++;
		else if (strcmp(argv[i], "--most") == 0)
			most = strtol(value, NULL, 10), i++;
		else
			return 2;
	}
	struct ls_err err;
	struct ls_kernels_conf conf = {0};
	must(ls_gpu_open(library, 0, &gpu, &err), &err);
	must(ls_gpu_stream_new(gpu, &stream, &err), &err);
	must(ls_exact_cuda_new(gpu, &conf, &exact, &err), &err);
	long wrong = 0;
	for (long i = 0; i < trials; i++)
		wrong += !trial((uint64_t)i, most);
	printf("%ld products on %s, %ld differ from the CPU's\n", trials, ls_gpu_info(gpu)->name,
	       wrong);
	static const int64_t shapes[][3] = {{1024, 1024, 1024}, {2048, 2048, 2048},
					    {4096, 4096, 4096}, {8192, 8192, 8192},
					    {12608, 3072, 768}, {768, 3072, 12608}};
	for (size_t i = 0; speed && i < sizeof shapes / sizeof *shapes; i++)
		for (int form = 0; form < 4; form++)
			bench(shapes[i][0], shapes[i][1], shapes[i][2], form & 1,
			      form & 2 ? LS_GRID_COARSE : LS_GRID_FINE);
	ls_exact_cuda_free(exact);
	ls_gpu_stream_free(gpu, stream);
	struct ls_probe_result r;
	enum ls_probe_size size = most < 300 ? LS_PROBE_SMALL : LS_PROBE_FULL;
	must(ls_probe_cuda(gpu, &conf, size, 0, 3 << 20, &r, &err), &err);
	wrong += r.wrong || r.memory_wrong || !r.products || !r.memory;
	printf("probe: %lu of %lu products wrong, %llu bytes of memory %s\n", r.wrong, r.products,
	       (unsigned long long)r.memory, r.memory_wrong ? "wrong" : "right");
	ls_gpu_close(gpu);
	ls_exact_release();
	return trials < 1 || wrong ? 1 : 0;
}
