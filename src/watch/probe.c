#include "watch/probe.h"

#include <stdlib.h>

#include "base/mem.h"
#include "exact/grid.h"
#include "num/philox.h"

static const struct {
	int64_t m, n, k;
	const char *golden;
} sizes[LS_PROBE_SIZES] = {
	[LS_PROBE_SMALL] = {16, 24, 40,
			    "8db580cee84ec8489072d7c7acdf083edade0febea126d9ad28f1089ae4b4a85"},
	[LS_PROBE_FULL] = {2048, 2048, 512,
			   "d1a86512fc6be10abee2796ba7a2db55a129475ed3ead0a2a4e5bff8c9eda6d3"},
};

/* Rows by columns of numbers from -1 to 1, in the order of rows. */
static struct ls_exact_matrix new_matrix(int64_t rows, int64_t columns, uint64_t seed,
					 size_t *ret_bytes)
{
	enum { WORDS = 4 };
	size_t n = (size_t)(rows * columns);
	float *at = ls_xalloc((n + WORDS) * sizeof *at);
	for (size_t i = 0; i < n; i += WORDS) {
		struct ls_u32x4 r = ls_philox(seed, i, 0);
		for (size_t j = 0; j < WORDS; j++)
			at[i + j] = ls_symf(r.v[j]);
	}
	*ret_bytes = n * sizeof *at;
	return (struct ls_exact_matrix){.at = at, .row = columns, .column = 1};
}

void ls_probe_new(enum ls_probe_size size, struct ls_probe *ret)
{
	*ret = (struct ls_probe){.golden = sizes[size].golden,
				 .p = {.batch = 1,
				       .m = sizes[size].m,
				       .n = sizes[size].n,
				       .k = sizes[size].k,
				       .alpha = 1,
				       .bits = LS_GRID_FINE}};
	ret->p.a = new_matrix(ret->p.m, ret->p.k, 0xa, &ret->a_bytes);
	ret->p.b = new_matrix(ret->p.k, ret->p.n, 0xb, &ret->b_bytes);
	ret->p.out = new_matrix(ret->p.m, ret->p.n, 0xc, &ret->out_bytes);
}

void ls_probe_done(struct ls_probe *p)
{
	free(p->p.a.at);
	free(p->p.b.at);
	free(p->p.out.at);
}

void ls_probe_digest(const struct ls_probe *p, char ret[LS_SHA256_HEX])
{
	ls_sha256(p->p.out.at, p->out_bytes, ret);
}
