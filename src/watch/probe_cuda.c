#include "watch/probe_cuda.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "exact/cuda/host/product_cuda.h"
#include "num/philox.h"

struct run {
	struct ls_gpu *gpu;
	struct ls_exact_cuda *exact;
	struct ls_probe probe;
	ls_cu_stream stream;
	ls_cu_ptr a, b, out, scratch;
};

static int set_up(struct run *r, const struct ls_kernels_conf *conf, struct ls_err *err)
{
	const struct ls_probe *p = &r->probe;
	int rc = ls_exact_cuda_new(r->gpu, conf, &r->exact, err);
	if (!rc)
		rc = ls_gpu_stream_new(r->gpu, &r->stream, err);
	if (!rc)
		rc = ls_gpu_alloc(r->gpu, p->a_bytes, "the probe's left side", &r->a, err);
	if (!rc)
		rc = ls_gpu_alloc(r->gpu, p->b_bytes, "the probe's right side", &r->b, err);
	if (!rc)
		rc = ls_gpu_alloc(r->gpu, p->out_bytes, "the probe's product", &r->out, err);
	if (!rc)
		rc = ls_gpu_alloc(r->gpu, ls_exact_cuda_scratch(&p->p), "the probe's scratch",
				  &r->scratch, err);
	if (!rc)
		rc = ls_gpu_upload(r->gpu, r->stream, r->a, p->p.a.at, p->a_bytes, err);
	if (!rc)
		rc = ls_gpu_upload(r->gpu, r->stream, r->b, p->p.b.at, p->b_bytes, err);
	return rc;
}

static void tear_down(struct run *r)
{
	ls_gpu_free(r->gpu, r->a);
	ls_gpu_free(r->gpu, r->b);
	ls_gpu_free(r->gpu, r->out);
	ls_gpu_free(r->gpu, r->scratch);
	ls_gpu_stream_free(r->gpu, r->stream);
	ls_exact_cuda_free(r->exact);
}

/* The result of the time before is overwritten first, so that work that is not done is
 * seen. */
static int one_product(struct run *r, bool *ret_right, struct ls_err *err)
{
	char digest[LS_SHA256_HEX];
	struct ls_exact_product p = r->probe.p;
	p.a.at = (void *)(uintptr_t)r->a;
	p.b.at = (void *)(uintptr_t)r->b;
	p.out.at = (void *)(uintptr_t)r->out;
	int rc = ls_gpu_fill(r->gpu, r->stream, r->out, 0x5a, r->probe.out_bytes, err);
	if (!rc)
		rc = ls_exact_cuda_product(r->exact, &p, r->scratch, r->stream, err);
	if (!rc)
		rc = ls_gpu_download(r->gpu, r->stream, r->probe.p.out.at, r->out,
				     r->probe.out_bytes, err);
	if (!rc)
		rc = ls_gpu_sync(r->gpu, r->stream, err);
	if (rc)
		return rc;
	ls_probe_digest(&r->probe, digest);
	*ret_right = strcmp(digest, r->probe.golden) == 0;
	return 0;
}

/* Each part of the memory is copied from the one before, so that an error anywhere
 * reaches the last part, which is compared. */
static int through_memory(struct run *r, ls_cu_ptr at, uint64_t part, uint64_t parts,
			  uint32_t *pattern, uint32_t *back, struct ls_err *err)
{
	int rc = ls_gpu_upload(r->gpu, r->stream, at, pattern, part, err);
	for (uint64_t i = 1; i < parts && !rc; i++)
		rc = ls_gpu_copy(r->gpu, r->stream, at + i * part, at + (i - 1) * part, part, err);
	if (!rc)
		rc = ls_gpu_download(r->gpu, r->stream, back, at + (parts - 1) * part, part, err);
	return rc ? rc : ls_gpu_sync(r->gpu, r->stream, err);
}

static int pattern_in_memory(struct run *r, uint64_t most, struct ls_probe_result *ret,
			     struct ls_err *err)
{
	enum { PART = 1 << 20 };
	uint64_t available, total;
	ls_cu_ptr at = 0;
	int rc = ls_gpu_mem_info(r->gpu, &available, &total, err);
	if (rc)
		return rc;
	uint64_t parts = (most < available / 2 ? most : available / 2) / PART;
	if (!parts)
		return 0;
	uint32_t *pattern = ls_xalloc(PART), *back = ls_xalloc(PART);
	for (size_t i = 0; i < PART / sizeof *pattern; i++)
		pattern[i] = ls_philox(0xd, i, 0).v[0];
	rc = ls_gpu_alloc(r->gpu, parts * PART, "the probe's pattern", &at, err);
	if (!rc)
		rc = through_memory(r, at, PART, parts, pattern, back, err);
	if (!rc) {
		ret->memory = parts * PART;
		ret->memory_wrong = memcmp(pattern, back, PART) != 0;
	}
	ls_gpu_free(r->gpu, at);
	free(pattern);
	free(back);
	return rc;
}

int ls_probe_cuda(struct ls_gpu *gpu, const struct ls_kernels_conf *conf, enum ls_probe_size size,
		  double seconds, uint64_t memory, struct ls_probe_result *ret, struct ls_err *err)
{
	struct run r = {.gpu = gpu};
	struct ls_probe_result result = {0};
	bool right = true;
	ls_probe_new(size, &r.probe);
	int rc = set_up(&r, conf, err);
	double began = ls_clock();
	if (!rc)
		rc = pattern_in_memory(&r, memory, &result, err);
	do {
		if (!rc)
			rc = one_product(&r, &right, err);
		result.products += !rc;
		result.wrong += !rc && !right;
	} while (!rc && ls_clock() - began < seconds);
	result.seconds = ls_clock() - began;
	tear_down(&r);
	ls_probe_done(&r.probe);
	if (!rc)
		*ret = result;
	return rc;
}
