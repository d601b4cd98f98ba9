/* gpu_selftest [--device N] [--source] [--exhaustive] [--cache DIR]: runs the kernels of
 * src/num/selftest.cu on the machine's GPU and compares every bit with the host's.
 * --source takes the embedded source through NVRTC instead of the embedded PTX;
 * --exhaustive also checks the golden digests of all 2^32 inputs of every elementary
 * function. Exit status 0: equal; 1: different; 3: no GPU, no driver, no code for it; 4:
 * something broke. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../num_golden.h"
#include "base/digest.h"
#include "base/err.h"
#include "base/mem.h"
#include "gpu/driver.h"
#include "gpu/kernels.h"
#include "gpu/nvrtc.h"
#include "num/num.h"
#include "num/selftest.h"

struct test {
	struct ls_gpu *gpu;
	ls_cu_module module;
	ls_cu_stream stream;
	struct ls_gpu_kernel rows, function;
	int differences;
};

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int open_all(struct test *t, int device, const struct ls_kernels_conf *conf,
		    struct ls_err *err)
{
	static const char *const names[] = {"selftest", "selftest_function", NULL};
	struct ls_kernels_how how;
	double start = seconds();
	int rc = ls_gpu_open(NULL, device, &t->gpu, err);
	if (rc)
		return rc;
	const struct ls_gpu_info *i = ls_gpu_info(t->gpu);
	printf("cuda:%d %s (%s), compute capability %d.%d, %.1f GiB, %d multiprocessors, driver "
	       "for CUDA %d.%d\n",
	       i->index, i->name, i->pci, i->cc / 10, i->cc % 10, (double)i->memory / (1 << 30),
	       i->multiprocessors, i->driver_cuda / 1000, i->driver_cuda % 1000 / 10);
	rc = ls_kernels_load(t->gpu, conf, "selftest", names, &t->module, &how, err);
	if (rc)
		return rc;
	printf("kernels: %s; opened and loaded in %.2f s\n", how.text, seconds() - start);
	rc = ls_gpu_kernel(t->gpu, t->module, "selftest", &t->rows, err);
	if (!rc)
		rc = ls_gpu_kernel(t->gpu, t->module, "selftest_function", &t->function, err);
	return rc ? rc : ls_gpu_stream_new(t->gpu, &t->stream, err);
}

static void close_all(struct test *t)
{
	if (!t->gpu)
		return;
	ls_gpu_stream_free(t->gpu, t->stream);
	ls_gpu_module_free(t->gpu, t->module);
	ls_gpu_close(t->gpu);
}

/* --- rows: every function and the sums, in several launch shapes --- */

struct rows {
	uint64_t n;
	uint32_t *numbers;
	struct ls_selftest_sums sums;
};

static size_t rows_bytes(const struct rows *r)
{
	return (size_t)r->n * LS_SELFTEST_COLUMNS * sizeof *r->numbers;
}

static void rows_digest(const struct rows *r, char hex[LS_SHA256_HEX])
{
	struct ls_sha256 *h = ls_sha256_new();
	ls_sha256_add(h, r->numbers, rows_bytes(r));
	ls_sha256_add(h, &r->sums, sizeof r->sums);
	ls_sha256_final(h, hex);
}

/* The host takes the indices backwards: another order than any grid's. */
static void rows_on_host(struct rows *r)
{
	r->sums = (struct ls_selftest_sums){0, 0, 0};
	for (uint64_t i = r->n; i-- > 0;)
		ls_selftest_row(i, r->n, r->numbers + i * LS_SELFTEST_COLUMNS, &r->sums);
}

static int rows_on_device(struct test *t, struct rows *r, const struct ls_gpu_shape *shape,
			  struct ls_err *err)
{
	ls_cu_ptr numbers = 0, sums = 0;
	void *args[] = {&numbers, &sums, &r->n};
	int rc = ls_gpu_alloc(t->gpu, rows_bytes(r), "the self-test", &numbers, err);
	if (!rc)
		rc = ls_gpu_alloc(t->gpu, sizeof r->sums, "sums", &sums, err);
	if (!rc)
		rc = ls_gpu_fill(t->gpu, t->stream, sums, 0, sizeof r->sums, err);
	if (!rc)
		rc = ls_gpu_launch(t->gpu, t->stream, &t->rows, shape, args, err);
	if (!rc)
		rc = ls_gpu_download(t->gpu, t->stream, r->numbers, numbers, rows_bytes(r), err);
	if (!rc)
		rc = ls_gpu_download(t->gpu, t->stream, &r->sums, sums, sizeof r->sums, err);
	if (!rc)
		rc = ls_gpu_sync(t->gpu, t->stream, err);
	ls_gpu_free(t->gpu, numbers);
	ls_gpu_free(t->gpu, sums);
	return rc;
}

static void first_difference(const struct rows *host, const struct rows *device)
{
	for (uint64_t i = 0; i < host->n * LS_SELFTEST_COLUMNS; i++)
		if (host->numbers[i] != device->numbers[i]) {
			printf("  first at index %llu, column %d, argument %a: host %08x, device "
			       "%08x\n",
			       (unsigned long long)(i / LS_SELFTEST_COLUMNS),
			       (int)(i % LS_SELFTEST_COLUMNS),
			       (double)ls_selftest_argument(i / LS_SELFTEST_COLUMNS),
			       host->numbers[i], device->numbers[i]);
			return;
		}
	printf("  in the sums\n");
}

static int compare_rows(struct test *t, uint64_t n, struct ls_err *err)
{
	static const struct ls_gpu_shape shapes[] = {
		{.grid = {1}, .block = {1}},       {.grid = {1}, .block = {32}},
		{.grid = {7}, .block = {33}},      {.grid = {64}, .block = {256}},
		{.grid = {1024}, .block = {1024}},
	};
	struct rows host = {.n = n}, device = {.n = n};
	char host_hex[LS_SHA256_HEX], hex[LS_SHA256_HEX];
	int rc = 0;
	host.numbers = ls_xalloc(rows_bytes(&host));
	device.numbers = ls_xalloc(rows_bytes(&device));
	rows_on_host(&host);
	rows_digest(&host, host_hex);
	printf("%llu rows on the host: %s\n", (unsigned long long)n, host_hex);
	for (size_t s = 0; !rc && s < sizeof shapes / sizeof *shapes; s++) {
		rc = rows_on_device(t, &device, &shapes[s], err);
		if (rc)
			break;
		rows_digest(&device, hex);
		bool same = strcmp(hex, host_hex) == 0;
		printf("%4u blocks of %4u:         %s %s\n", shapes[s].grid[0], shapes[s].block[0],
		       hex, same ? "equal" : "DIFFERENT");
		if (!same)
			first_difference(&host, &device);
		t->differences += !same;
	}
	free(host.numbers);
	free(device.numbers);
	return rc;
}

/* --- all 2^32 inputs --- */

enum { BLOCK_BITS = 20, BLOCKS = 1 << 12, PER_COPY = 64 };

static int digest_function(struct test *t, int which, ls_cu_ptr buffer, float *host,
			   char hex[LS_SHA256_HEX], struct ls_err *err)
{
	const uint32_t count = PER_COPY << BLOCK_BITS;
	uint64_t *blocks = ls_xalloc(BLOCKS * sizeof *blocks);
	int rc = 0;
	for (uint32_t b = 0; !rc && b < BLOCKS; b += PER_COPY) {
		uint32_t first = b << BLOCK_BITS, n = count;
		void *args[] = {&buffer, &first, &n, &which};
		rc = ls_gpu_launch(t->gpu, t->stream, &t->function,
				   &(struct ls_gpu_shape){.grid = {count / 256}, .block = {256}},
				   args, err);
		if (!rc)
			rc = ls_gpu_download(t->gpu, t->stream, host, buffer,
					     (uint64_t)count * sizeof *host, err);
		if (!rc)
			rc = ls_gpu_sync(t->gpu, t->stream, err);
		for (uint32_t i = 0; !rc && i < PER_COPY; i++)
			blocks[b + i] = ls_xxh64(host + ((size_t)i << BLOCK_BITS),
						 sizeof(float) << BLOCK_BITS);
	}
	ls_sha256(blocks, BLOCKS * sizeof *blocks, hex);
	free(blocks);
	return rc;
}

static int compare_all_inputs(struct test *t, struct ls_err *err)
{
	const uint64_t bytes = (uint64_t)sizeof(float) * PER_COPY << BLOCK_BITS;
	ls_cu_ptr buffer = 0;
	void *host = NULL;
	int rc = ls_gpu_alloc(t->gpu, bytes, "outputs", &buffer, err);
	if (!rc)
		rc = ls_gpu_host_alloc(t->gpu, bytes, "outputs", &host, err);
	for (int which = 0; !rc && which < NUM_FUNCTIONS; which++) {
		char hex[LS_SHA256_HEX];
		double start = seconds();
		rc = digest_function(t, which, buffer, host, hex, err);
		if (rc)
			break;
		bool known = *num_golden[which].all != 0,
		     same = strcmp(hex, num_golden[which].all) == 0;
		printf("%-8s all 2^32 inputs: %s %s, %.1f s\n", num_golden[which].name, hex,
		       !known ? "no golden digest"
		       : same ? "golden"
			      : "DIFFERENT",
		       seconds() - start);
		t->differences += known && !same;
	}
	ls_gpu_host_free(t->gpu, host);
	ls_gpu_free(t->gpu, buffer);
	return rc;
}

/* --- */

static int status(int rc, const struct test *t)
{
	if (rc == LS_EUNKNOWN || rc == LS_EINPUT)
		return 3;
	return rc ? 4 : t->differences ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct test t = {0};
	struct ls_err err = {0};
	struct ls_kernels_conf conf = {0};
	bool exhaustive = false;
	int device = 0;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--exhaustive") == 0)
			exhaustive = true;
		else if (strcmp(argv[i], "--source") == 0)
			conf.from_source = true;
		else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc)
			device = (int)strtol(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--cache") == 0 && i + 1 < argc)
			conf.cache_dir = argv[++i];
		else {
			fprintf(stderr, "usage: gpu_selftest [--device N] [--source] "
					"[--exhaustive] [--cache DIR]\n");
			return 2;
		}
	}
	char **places = ls_nvrtc_places(
		"",
		(const char *const[]){getenv("VIRTUAL_ENV") ? getenv("VIRTUAL_ENV") : "/usr/local",
				      "/usr", NULL});
	conf.nvrtc = (const char *const *)places;
	uint64_t saved = ls_fp_enter();
	int rc = open_all(&t, device, &conf, &err);
	if (!rc)
		rc = compare_rows(&t, 1, &err);
	if (!rc)
		rc = compare_rows(&t, 100003, &err);
	if (!rc && exhaustive)
		rc = compare_all_inputs(&t, &err);
	close_all(&t);
	ls_nvrtc_places_free(places);
	ls_fp_leave(saved);
	if (rc)
		fprintf(stderr, "gpu_selftest: %s\n", err.msg);
	else
		printf("%s\n", t.differences ? "DIFFERENT" : "equal");
	return status(rc, &t);
}
