#include "fm/model/tensors.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "base/str.h"
#include "num/num.h"

size_t ls_fm_groups(const struct ls_fm_model *m, uint32_t state, struct ls_fm_group *ret)
{
	static const char *const suffix[] = {"", ".state1", ".state2"};
	uint64_t outputs = m->outputs, pairs = outputs * m->n_pairs;
	size_t n = 0;
	const struct ls_fm_group all[LS_FM_GROUPS] = {
		{"bias", m->bias + state * outputs, false, 1, 0, {outputs, 1, 1}, 1},
		{"linear",
		 m->linear + state * outputs,
		 true,
		 m->n_features,
		 ls_fm_stride(m),
		 {outputs, 1, 1},
		 1},
		{"factors",
		 m->record + state * m->width,
		 true,
		 m->n_features,
		 ls_fm_stride(m),
		 {outputs, m->blocks, m->opts.factors},
		 m->padded},
		{"field_weights",
		 pairs ? m->pair + state * pairs : NULL,
		 false,
		 1,
		 0,
		 {outputs, m->n_pairs, 1},
		 1},
		{"exponents", state ? NULL : m->exps, true, m->n_features, 1, {1, 1, 1}, 1},
	};
	const bool has[LS_FM_GROUPS] = {true, true, m->opts.factors > 0, pairs > 0,
					m->exps && !state};
	for (size_t i = 0; i < LS_FM_GROUPS; i++) {
		if (!has[i])
			continue;
		ret[n] = all[i];
		memcpy(ret[n].name + strlen(all[i].name), suffix[state], strlen(suffix[state]) + 1);
		n++;
	}
	return n;
}

int ls_fm_group_describe(const struct ls_fm_group *g, struct ls_tensor *ret, struct ls_err *err)
{
	uint64_t shape[4], strides[3] = {g->dims[1] * g->inner, g->inner, 1};
	int64_t stride[4];
	size_t n = 0;
	bool factors = ls_str_starts(g->name, "factors");
	if (g->by_feature) {
		stride[n] = (int64_t)g->row_stride;
		shape[n++] = g->rows;
	}
	for (int i = 0; i < 3; i++)
		if (g->dims[i] != 1 || (factors && i == 2) || (!g->by_feature && i == 0)) {
			stride[n] = (int64_t)strides[i];
			shape[n++] = g->dims[i];
		}
	*ret = (struct ls_tensor){.name = g->name,
				  .dtype = LS_DT_F32,
				  .elem_size = 4,
				  .data = (const uint8_t *)g->data};
	int rc = ls_tensor_set_contiguous(ret, shape, n, err);
	memcpy(ret->stride, stride, n * sizeof *stride);
	return rc;
}

/* A row as the fewest runs of floats: one, unless there is padding between them. */
static void row_runs(const struct ls_fm_group *g, uint64_t *ret_runs, uint64_t *ret_each)
{
	uint64_t runs = g->dims[0] * g->dims[1];
	bool gaps = g->inner != g->dims[2];
	*ret_runs = gaps ? runs : 1;
	*ret_each = gaps ? g->dims[2] : runs * g->dims[2];
}

/* --- filling and checking, rows in blocks --- */

enum { BLOCK_FLOATS = 1 << 17 };

struct blocks {
	const struct ls_fm_group *g;
	const uint8_t *from;  /* NULL: nothing is copied */
	uint64_t rows;        /* of a block */
	_Atomic uint64_t bad; /* the first row that is not finite, or all there are */
};

static void copy_row(const struct ls_fm_group *g, const uint8_t *from, float *to)
{
	uint64_t runs, each;
	row_runs(g, &runs, &each);
	for (uint64_t i = 0; i < runs; i++)
		memcpy(to + i * g->inner, from + i * each * sizeof(float), each * sizeof(float));
}

/* By signed comparisons, which vectors of every processor have. */
static bool is_finite(const float *v, uint64_t n)
{
	int32_t bad = 0;
	for (uint64_t i = 0; i < n; i++) {
		int32_t u;
		memcpy(&u, &v[i], sizeof u);
		bad |= -((u & 0x7fffffff) >= 0x7f800000);
	}
	return !bad;
}

static void one_block(void *context, size_t block)
{
	struct blocks *b = context;
	const struct ls_fm_group *g = b->g;
	uint64_t lo = block * b->rows, hi = g->rows - lo < b->rows ? g->rows : lo + b->rows;
	uint64_t floats = g->dims[0] * g->dims[1] * g->dims[2],
		 span = g->dims[0] * g->dims[1] * g->inner;
	for (uint64_t r = lo; r < hi; r++) {
		float *row = g->data + r * g->row_stride;
		if (b->from)
			copy_row(g, b->from + r * floats * sizeof(float), row);
		if (is_finite(row, span))
			continue;
		uint64_t bad = atomic_load(&b->bad);
		while (r < bad && !atomic_compare_exchange_weak(&b->bad, &bad, r))
			continue;
		return;
	}
}

/* The tensor, and the feature where it has a row for each. */
static void place(const struct ls_fm_group *g, uint64_t row, char *ret, size_t size)
{
	if (g->by_feature)
		snprintf(ret, size, "%s of feature %llu", g->name, (unsigned long long)row);
	else
		snprintf(ret, size, "%s", g->name);
}

static int all_blocks(const struct ls_fm_group *g, const uint8_t *from, int threads,
		      const char *path, struct ls_err *err)
{
	uint64_t span = g->dims[0] * g->dims[1] * g->inner, rows = BLOCK_FLOATS / span;
	struct blocks b = {.g = g, .from = from, .rows = rows ? rows : 1, .bad = g->rows};
	ls_parallel(threads, (size_t)((g->rows + b.rows - 1) / b.rows), one_block, &b);
	uint64_t bad = atomic_load(&b.bad);
	if (bad == g->rows)
		return 0;
	char where[64];
	place(g, bad, where, sizeof where);
	if (from)
		return ls_err_set(err, LS_EINPUT,
				  "%s: %s is not a finite number: the file is damaged", path,
				  where);
	return ls_err_set(err, LS_EDIFFER,
			  "%s: not written, for %s is not a finite number; a lower --lr, "
			  "--normalize or smaller labels "
			  "and weights would help",
			  path, where);
}

int ls_fm_group_check(const struct ls_fm_group *g, int threads, const char *path,
		      struct ls_err *err)
{
	return all_blocks(g, NULL, threads, path, err);
}

int ls_fm_group_fill(const struct ls_fm_group *g, const uint8_t *from, int threads,
		     const char *path, struct ls_err *err)
{
	return all_blocks(g, from, threads, path, err);
}

/* --- checksum --- */

struct sums {
	const struct ls_fm_group *g;
	uint64_t number, rows; /* of the tensor; of a block */
	_Atomic uint64_t sum;
};

static void sum_block(void *context, size_t block)
{
	struct sums *s = context;
	const struct ls_fm_group *g = s->g;
	uint64_t lo = block * s->rows, hi = g->rows - lo < s->rows ? g->rows : lo + s->rows, runs,
		 each, sum = 0;
	row_runs(g, &runs, &each);
	float *packed = runs > 1 ? ls_xalloc(sizeof *packed * runs * each) : NULL;
	for (uint64_t r = lo; r < hi; r++) {
		const float *row = g->data + r * g->row_stride;
		for (uint64_t i = 0; i < runs && packed; i++)
			memcpy(packed + i * each, row + i * g->inner, each * sizeof *packed);
		sum += ls_xxh64(packed ? packed : row, sizeof *row * runs * each) *
		       (2 * (16 * r + s->number) + 1);
	}
	free(packed);
	atomic_fetch_add(&s->sum, sum);
}

uint64_t ls_fm_model_checksum(const struct ls_fm_model *m, uint32_t states, int threads)
{
	uint64_t sum = 0, number = 0;
	for (uint32_t state = 0; state <= states; state++) {
		struct ls_fm_group groups[LS_FM_GROUPS];
		size_t n = ls_fm_groups(m, state, groups);
		for (size_t i = 0; i < n; i++) {
			const struct ls_fm_group *g = &groups[i];
			uint64_t rows = BLOCK_FLOATS / (g->dims[0] * g->dims[1] * g->inner);
			struct sums s = {.g = g, .number = number++, .rows = rows ? rows : 1};
			ls_parallel(threads, (size_t)((g->rows + s.rows - 1) / s.rows), sum_block,
				    &s);
			sum += atomic_load(&s.sum);
		}
	}
	return sum;
}

/* --- digest --- */

enum {
	DIGEST_CHUNK = 1 << 14
}; /* floats gathered before they are hashed: padding is left out on the way */

/* A row in parts, because it may be longer than a chunk. */
static void digest_run(struct ls_sha256 *h, const float *run, uint64_t n, float *chunk,
		       uint64_t *used)
{
	while (n) {
		uint64_t some = n < DIGEST_CHUNK - *used ? n : DIGEST_CHUNK - *used;
		memcpy(chunk + *used, run, some * sizeof *chunk);
		run += some;
		n -= some;
		*used += some;
		if (*used == DIGEST_CHUNK) {
			ls_sha256_add(h, chunk, sizeof *chunk * DIGEST_CHUNK);
			*used = 0;
		}
	}
}

static void digest_group(struct ls_sha256 *h, const struct ls_fm_group *g, float *chunk)
{
	uint64_t runs, each, used = 0;
	row_runs(g, &runs, &each);
	for (uint64_t r = 0; r < g->rows; r++)
		for (uint64_t i = 0; i < runs; i++)
			digest_run(h, g->data + r * g->row_stride + i * g->inner, each, chunk,
				   &used);
	ls_sha256_add(h, chunk, used * sizeof *chunk);
}

void ls_fm_model_digest(const struct ls_fm_model *m, char ret_hex[LS_SHA256_HEX])
{
	struct ls_sha256 *h = ls_sha256_new();
	struct ls_fm_group groups[LS_FM_GROUPS];
	size_t n = ls_fm_groups(m, 0, groups);
	float *chunk = ls_xalloc(sizeof *chunk * DIGEST_CHUNK);
	char text[128];
	snprintf(text, sizeof text, "lockstep-fm %d %s %s\n", LS_NUMERICS_VERSION,
		 ls_fm_kind_of(&m->opts), ls_fm_task_name(m->opts.task));
	ls_sha256_add(h, text, strlen(text));
	for (size_t i = 0; i < n; i++) {
		const struct ls_fm_group *g = &groups[i];
		snprintf(text, sizeof text, "%.31s %llu %llu %llu %llu\n", g->name,
			 (unsigned long long)g->rows, (unsigned long long)g->dims[0],
			 (unsigned long long)g->dims[1], (unsigned long long)g->dims[2]);
		ls_sha256_add(h, text, strlen(text));
		digest_group(h, g, chunk);
	}
	free(chunk);
	ls_sha256_final(h, ret_hex);
}
