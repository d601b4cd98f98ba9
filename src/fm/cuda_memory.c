/* The CUDA engine's memory: parameters and data once, and room for the batches in flight. */
#include <string.h>

#include "fm/cuda_internal.h"

ls_cu_ptr ls_cuda_ptr(const void *device)
{
	return (ls_cu_ptr)(uintptr_t)device;
}

int ls_cuda_alloc(struct ls_fm_cuda *c, uint64_t bytes, const char *what, void *ret, struct ls_err *err)
{
	ls_cu_ptr p;
	if (c->n_allocs == LS_CUDA_MAX_ALLOCS)
		return ls_err_set(err, LS_EINTERNAL, "too many allocations on the GPU");
	bytes = (bytes + 255) / 256 * 256 + 256;
	if (c->conf.memory_limit && c->allocated + bytes > c->conf.memory_limit)
		return ls_err_set(err, LS_ENOMEM,
				  "%s does not fit into the %llu MiB of GPU memory that may be used; take a smaller "
				  "--batch or --device cpu",
				  what, (unsigned long long)(c->conf.memory_limit >> 20));
	int rc = ls_gpu_alloc(c->gpu, bytes, what, &p, err);
	if (rc)
		return rc;
	c->allocs[c->n_allocs++] = p;
	c->allocated += bytes;
	rc = ls_gpu_fill(c->gpu, c->main, p, 0, bytes, err);
	void *device = (void *)(uintptr_t)p;
	memcpy(ret, &device, sizeof device);
	return rc;
}

int ls_cuda_upload(struct ls_fm_cuda *c, const void *from, uint64_t bytes, const void *to, struct ls_err *err)
{
	return ls_gpu_upload(c->gpu, c->main, ls_cuda_ptr(to), from, bytes, err);
}

/* Room for an array of the host, and the array in it. */
static int put(struct ls_fm_cuda *c, const void *from, uint64_t bytes, const char *what, void *ret, struct ls_err *err)
{
	void *to;
	int rc = ls_cuda_alloc(c, bytes, what, &to, err);
	if (rc == 0)
		rc = ls_cuda_upload(c, from, bytes, to, err);
	if (rc == 0)
		memcpy(ret, &to, sizeof to);
	return rc;
}

static uint64_t bias_bytes(const struct ls_fm_model *m)
{
	return sizeof(float) * ls_fm_linear_stride(m);
}

static uint64_t pair_bytes(const struct ls_fm_model *m)
{
	return sizeof(float) * m->outputs * m->n_pairs * (1 + m->states);
}

int ls_cuda_put_model(struct ls_fm_cuda *c, struct ls_err *err)
{
	const struct ls_fm_model *m = c->m;
	struct ls_cuda_args *a = &c->args;
	a->task = (int)m->opts.task;
	a->shuffle = (int)m->opts.shuffle;
	a->normalize = m->opts.normalize;
	a->optimizer = (int)m->opts.optimizer;
	a->soft = m->opts.label_smoothing;
	a->outputs = m->outputs;
	a->fields = m->n_fields;
	a->blocks = m->blocks;
	a->padded = m->padded;
	a->width = m->width;
	a->states = m->states;
	a->n_pairs = m->n_pairs;
	a->n_class_weights = m->opts.n_class_weights;
	a->n_features = m->n_features;
	a->seed = m->opts.seed;
	a->batch = m->opts.batch;
	a->back_each = m->outputs * (m->opts.kind == LS_FM ? 1 : m->n_fields) * m->padded;
	uint64_t record = sizeof(float) * ls_fm_stride(m) * m->n_features,
		 linear = sizeof(float) * ls_fm_linear_stride(m) * m->n_features;
	int rc = put(c, m->record, record, "the factors", &a->record, err);
	if (rc == 0)
		rc = put(c, m->linear, linear, "the weights", &a->linear, err);
	if (rc == 0)
		rc = put(c, m->bias, bias_bytes(m), "the bias", &a->bias, err);
	if (rc == 0 && m->n_pairs)
		rc = put(c, m->pair, pair_bytes(m), "the weights of field pairs", &a->pair, err);
	if (rc == 0 && m->opts.n_class_weights)
		rc = put(c, m->opts.class_weight, sizeof m->opts.class_weight, "class weights", &a->class_weight, err);
	return rc;
}

int ls_cuda_get_model(struct ls_fm_cuda *c, struct ls_err *err)
{
	const struct ls_fm_model *m = c->m;
	const struct ls_cuda_args *a = &c->args;
	uint64_t record = sizeof(float) * ls_fm_stride(m) * m->n_features,
		 linear = sizeof(float) * ls_fm_linear_stride(m) * m->n_features;
	int rc = ls_gpu_download(c->gpu, c->main, m->record, ls_cuda_ptr(a->record), record, err);
	if (rc == 0)
		rc = ls_gpu_download(c->gpu, c->main, m->linear, ls_cuda_ptr(a->linear), linear, err);
	if (rc == 0)
		rc = ls_gpu_download(c->gpu, c->main, m->bias, ls_cuda_ptr(a->bias), bias_bytes(m), err);
	if (rc == 0 && m->n_pairs)
		rc = ls_gpu_download(c->gpu, c->main, m->pair, ls_cuda_ptr(a->pair), pair_bytes(m), err);
	return rc ? rc : ls_gpu_sync(c->gpu, c->main, err);
}

int ls_cuda_put_rows(struct ls_fm_cuda *c, struct ls_err *err)
{
	const struct ls_rows *r = c->rows;
	struct ls_cuda_args *a = &c->args;
	bool fields = c->m->opts.kind != LS_FM;
	a->n_rows = r->n_rows;
	int rc = put(c, r->start, (r->n_rows + 1) * sizeof *r->start, "the data", &a->start, err);
	if (rc == 0)
		rc = put(c, r->feature, r->n_entries * sizeof *r->feature, "the data", &a->in_feature, err);
	if (rc == 0 && fields)
		rc = put(c, r->field, r->n_entries * sizeof *r->field, "the data", &a->in_field, err);
	if (rc == 0 && r->value)
		rc = put(c, r->value, r->n_entries * sizeof *r->value, "the data", &a->in_value, err);
	if (rc == 0)
		rc = put(c, r->label, r->n_rows * sizeof *r->label, "the labels", &a->label, err);
	if (rc == 0 && r->weight)
		rc = put(c, r->weight, r->n_rows * sizeof *r->weight, "the weights of rows", &a->weight, err);
	return rc;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int make_slot(struct ls_fm_cuda *c, struct ls_cuda_sort *s, uint64_t heavy, struct ls_err *err)
{
	enum ls_fm_kind kind = c->m->opts.kind;
	uint64_t batch = c->m->opts.batch, n = c->entries;
	bool has_x = c->rows->value || c->m->opts.normalize;
	const struct {
		void *at;
		uint64_t bytes;
	} all[] = {
		{&s->counts, LS_SORT_COUNTS * sizeof *s->counts},
		{&s->pick, batch * sizeof *s->pick},
		{&s->first, batch * sizeof *s->first},
		{&s->length, batch * sizeof *s->length},
		{&s->feature, n * sizeof *s->feature},
		{&s->row, n * sizeof *s->row},
		{&s->rank, n * sizeof *s->rank},
		{&s->x, has_x ? n * sizeof *s->x : 0},
		{&s->field, kind == LS_FM ? 0 : n * sizeof *s->field},
		{&s->in_count, c->m->n_features * sizeof *s->in_count},
		{&s->offset, c->m->n_features * sizeof *s->offset},
		{&s->by_row, n * sizeof *s->by_row},
		{&s->by_entry, kind == LS_FFM ? n * sizeof *s->by_entry : 0},
		{&s->by_x, has_x ? n * sizeof *s->by_x : 0},
		{&s->by_field, kind == LS_FWFM ? n * sizeof *s->by_field : 0},
		{&s->light, least(n, c->m->n_features) * sizeof *s->light},
		{&s->task, (n / (LS_CUDA_LIGHT + 1) + n / c->args.chunk + 1) * sizeof *s->task},
		{&s->heavy_parts, heavy * sizeof *s->heavy_parts},
	};
	int rc = 0;
	for (size_t i = 0; i < sizeof all / sizeof *all && rc == 0; i++)
		if (all[i].bytes)
			rc = ls_cuda_alloc(c, all[i].bytes, "a batch of this size", all[i].at, err);
	return rc;
}

/* What is taken a batch row (or, by ffm, an entry), and what sums meet in. */
static int make_step(struct ls_fm_cuda *c, uint64_t heavy, struct ls_err *err)
{
	struct ls_cuda_args *a = &c->args;
	uint64_t batch = c->m->opts.batch, outputs = c->m->outputs;
	bool fwfm = c->m->opts.kind == LS_FWFM, ffm = c->m->opts.kind == LS_FFM;
	const struct {
		void *at;
		uint64_t bytes;
		const char *what;
	} all[] = {
		{&a->back, (ffm ? c->entries : batch) * a->back_each * sizeof(float), "the back vectors of a batch"},
		{&a->sums, fwfm ? 2 * batch * a->back_each * sizeof(float) : 0, "the sums of a batch"},
		{&a->score, batch * outputs * sizeof(float), "the scores of a batch"},
		{&a->slope, batch * outputs * sizeof(float), "the slopes of a batch"},
		{&a->loss, batch * sizeof(float), "the losses of a batch"},
		{&a->bias_sum, outputs * sizeof(int64_t), "sums"},
		{&a->pair_sum, outputs * c->m->n_pairs * sizeof(int64_t), "sums"},
		{&a->heavy, heavy * a->heavy_each * sizeof(int64_t), "sums"},
		{&a->heavy_done, heavy * outputs * sizeof(uint32_t), "sums"},
		{&a->state, sizeof *a->state, "sums"},
		{&a->updates, LS_CUDA_MAX_STRETCH * sizeof *a->updates, "the optimizer's constants"},
		{&a->losses, LS_CUDA_MAX_STRETCH * sizeof *a->losses, "losses"},
	};
	int rc = 0;
	for (size_t i = 0; i < sizeof all / sizeof *all && rc == 0; i++)
		if (all[i].bytes)
			rc = ls_cuda_alloc(c, all[i].bytes, all[i].what, all[i].at, err);
	if (rc == 0)
		rc = ls_gpu_host_alloc(c->gpu, LS_CUDA_MAX_STRETCH * sizeof *c->updates, "constants",
				       (void **)&c->updates, err);
	if (rc == 0)
		rc = ls_gpu_host_alloc(c->gpu, LS_CUDA_MAX_STRETCH * sizeof *c->losses, "losses", (void **)&c->losses,
				       err);
	return rc ? rc : ls_gpu_host_alloc(c->gpu, sizeof *c->state, "the state", (void **)&c->state, err);
}

int ls_cuda_make_batch(struct ls_fm_cuda *c, struct ls_err *err)
{
	const struct ls_fm_model *m = c->m;
	struct ls_cuda_args *a = &c->args;
	uint64_t lanes = (uint64_t)m->blocks * m->padded, budget = (uint64_t)64 << 20; /* bytes of sums that meet */
	a->heavy_each = (uint32_t)(m->outputs * (lanes + 2));
	a->chunk = c->conf.chunk ? c->conf.chunk : 256;
	while (!c->conf.chunk && c->entries / a->chunk * a->heavy_each * sizeof(int64_t) > budget)
		a->chunk *= 2;
	uint64_t heavy = c->entries / a->chunk + 1;
	int rc = make_step(c, heavy, err);
	for (uint32_t s = 0; s < c->slots && rc == 0; s++)
		rc = make_slot(c, &c->slot[s], heavy, err);
	return rc;
}
