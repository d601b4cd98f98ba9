#include "exact/cuda/host/scatter_cuda.h"

#include "exact/cuda/device/scatter_args.h"

enum { THREADS = 256, MANY_BLOCKS = 1024 };

/* Where the lists lie in scratch memory; *ret_cleared: bytes that have to be 0. */
static struct ls_scatter_lists lay_out(const struct ls_scatter *s, char *scratch,
				       uint64_t *ret_cleared, uint64_t *ret_bytes)
{
	uint64_t keys = (uint64_t)ls_scatter_keys(s), items = (uint64_t)ls_scatter_items(s);
	uint64_t at = sizeof(struct ls_scatter_head), word = sizeof(uint32_t);
	struct ls_scatter_lists l = {.head = (void *)scratch};
	l.count = (void *)(scratch + at);
	l.filled = l.count + keys;
	*ret_cleared = at += 2 * keys * word;
	l.start = (void *)(scratch + at);
	l.many = l.start + keys;
	l.list = l.many + items / LS_SCATTER_MANY + 1;
	*ret_bytes = at + (keys + items / LS_SCATTER_MANY + 1 + items) * word;
	return l;
}

size_t ls_scatter_cuda_scratch(const struct ls_scatter *s)
{
	uint64_t cleared, bytes;
	lay_out(s, NULL, &cleared, &bytes);
	return bytes;
}

int ls_scatter_cuda(struct ls_exact_context *c, const struct ls_scatter *s, void *scratch,
		    void *stream, struct ls_err *err)
{
	uint64_t cleared, bytes;
	struct ls_scatter own = *s;
	struct ls_scatter_lists l = lay_out(s, scratch, &cleared, &bytes);
	int64_t keys = ls_scatter_keys(s), items = ls_scatter_items(s);
	int64_t columns = ls_scatter_columns(s), a_warp = 32 * LS_SCATTER_EACH;
	int64_t tiles = (columns + a_warp - 1) / a_warp;
	const struct {
		const char *name;
		int64_t threads;
	} kernels[] = {
		{"exact_scatter_count", items},
		{"exact_scatter_place", keys},
		{"exact_scatter_fill", items},
		{s->each ? "exact_scatter_elements" : "exact_scatter_columns",
		 s->each ? keys : keys * tiles * 32},
		{"exact_scatter_many", (int64_t)MANY_BLOCKS * THREADS},
	};
	if (items >= UINT32_MAX || keys >= UINT32_MAX)
		return ls_err_set(err, LS_EINPUT, "a scatter of 2^32 elements or more");
	if (keys == 0 || columns == 0)
		return 0;
	int rc = ls_gpu_fill(ls_exact_context_gpu(c), stream, (ls_cu_ptr)(uintptr_t)scratch, 0,
			     cleared, err);
	for (size_t i = 0; !rc && i < sizeof kernels / sizeof *kernels; i++) {
		unsigned blocks = ls_exact_context_blocks(c, kernels[i].threads, THREADS, 1);
		struct ls_gpu_shape shape = {.grid = {blocks}, .block = {THREADS}};
		rc = ls_exact_context_launch(c, stream, "exact_scatter", kernels[i].name, &shape,
					     (void *[]){&own, &l}, err);
	}
	return rc;
}
