/* The CUDA engine's memory: parameters and data once, and room for the batches in
 * flight. */
#include <string.h>

#include "base/str.h"

#include "fm/cuda/host/cuda_internal.h"

/* Room for an array of the host, and the array in it. */
static int put_runs(struct ls_fm_cuda *c, const struct ls_cuda_runs *from, const char *what,
		    void *ret, struct ls_err *err)
{
	void *to = NULL;
	int rc = ls_cuda_alloc(c, from->n * from->size, what, &to, err);
	if (rc == 0 && !c->counting)
		rc = ls_cuda_copy_in(c, from, to, err);
	if (rc == 0)
		memcpy(ret, &to, sizeof to);
	return rc;
}

static int put(struct ls_fm_cuda *c, const void *from, uint64_t bytes, const char *what, void *ret,
	       struct ls_err *err)
{
	struct ls_cuda_runs whole = ls_cuda_whole(from, bytes);
	return put_runs(c, &whole, what, ret, err);
}

static uint64_t bias_bytes(const struct ls_fm_model *m)
{
	return sizeof(float) * ls_fm_linear_size(m);
}

static uint64_t pair_bytes(const struct ls_fm_model *m)
{
	return sizeof(float) * m->outputs * m->n_pairs * (1 + m->states);
}

/* The features' factors and linear weights, which lie side by side in the host's memory
 * and apart in the device's. */
static struct ls_cuda_runs factors_of(const struct ls_fm_model *m)
{
	return (struct ls_cuda_runs){(char *)m->record, m->n_features,
				     sizeof(float) * ls_fm_record_size(m),
				     sizeof(float) * ls_fm_stride(m)};
}

static struct ls_cuda_runs weights_of(const struct ls_fm_model *m)
{
	return (struct ls_cuda_runs){(char *)m->linear, m->n_features,
				     sizeof(float) * ls_fm_linear_size(m),
				     sizeof(float) * ls_fm_stride(m)};
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
	struct ls_cuda_runs factors = factors_of(m), weights = weights_of(m);
	int rc = put_runs(c, &factors, "the factors", &a->record, err);
	if (rc == 0)
		rc = put_runs(c, &weights, "the weights", &a->linear, err);
	if (rc == 0)
		rc = put(c, m->bias, bias_bytes(m), "the bias", &a->bias, err);
	if (rc == 0 && m->n_pairs)
		rc = put(c, m->pair, pair_bytes(m), "the weights of field pairs", &a->pair, err);
	if (rc == 0 && m->opts.n_class_weights)
		rc = put(c, m->opts.class_weight, sizeof m->opts.class_weight, "class weights",
			 &a->class_weight, err);
	return rc;
}

int ls_cuda_get_model(struct ls_fm_cuda *c, struct ls_err *err)
{
	const struct ls_fm_model *m = c->m;
	const struct ls_cuda_args *a = &c->args;
	struct ls_cuda_runs factors = factors_of(m), weights = weights_of(m),
			    bias = ls_cuda_whole(m->bias, bias_bytes(m)),
			    pair = ls_cuda_whole(m->pair, pair_bytes(m));
	int rc = ls_cuda_copy_out(c, &factors, a->record, err);
	if (rc == 0)
		rc = ls_cuda_copy_out(c, &weights, a->linear, err);
	if (rc == 0)
		rc = ls_cuda_copy_out(c, &bias, a->bias, err);
	if (rc == 0 && m->n_pairs)
		rc = ls_cuda_copy_out(c, &pair, a->pair, err);
	return rc ? rc : ls_gpu_sync(c->gpu, c->main, err);
}

/* The features of a graph's batches: lists_of has their places. */
static int make_lists(struct ls_fm_cuda *c, struct ls_err *err)
{
	struct ls_cuda_sort *s = &c->args.sort;
	uint64_t n = c->graph_entries, steps = c->graph_steps, task = sizeof *s->task;
	const struct {
		void *at;
		uint64_t bytes;
	} all[] = {
		{&s->counts, steps * LS_SORT_COUNTS * sizeof *s->counts},
		{&s->light[0], n * task},
		{&s->light[1], (n / 2 + 1) * task},
		{&s->light[2], (n / (LS_CUDA_FEW + 1) + 1) * task},
		{&s->task, (n / (LS_CUDA_SOME + 1) + n / c->args.chunk + steps) * task},
		{&s->heavy_parts, (n / c->args.chunk + steps) * sizeof *s->heavy_parts},
	};
	int rc = 0;
	for (size_t i = 0; i < sizeof all / sizeof *all && rc == 0; i++)
		rc = ls_cuda_alloc(c, all[i].bytes, "the features of a batch", all[i].at, err);
	return rc;
}

/* What a batch row (ffm: an entry) takes, and what sums meet in. */
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
		{&a->back, (ffm ? c->entries : batch) * a->back_each * sizeof(float),
		 "the back vectors of a batch"},
		{&a->sums, fwfm ? 2 * batch * a->back_each * sizeof(float) : 0,
		 "the sums of a batch"},
		{&a->score, batch * outputs * sizeof(float), "the scores of a batch"},
		{&a->slope, batch * outputs * sizeof(float), "the slopes of a batch"},
		{&a->loss, batch * sizeof(float), "the losses of a batch"},
		{&a->bias_sum, outputs * sizeof(int64_t), "sums"},
		{&a->pair_sum, outputs * c->m->n_pairs * sizeof(int64_t), "sums"},
		{&a->heavy, heavy * a->heavy_each * sizeof(int64_t), "sums"},
		{&a->heavy_done, heavy * outputs * sizeof(uint32_t), "sums"},
		{&a->state, sizeof *a->state, "sums"},
		{&a->updates, LS_CUDA_MAX_STRETCH * sizeof *a->updates,
		 "the optimizer's constants"},
		{&a->losses, LS_CUDA_MAX_STRETCH * sizeof *a->losses, "losses"},
	};
	int rc = 0;
	for (size_t i = 0; i < sizeof all / sizeof *all && rc == 0; i++)
		if (all[i].bytes)
			rc = ls_cuda_alloc(c, all[i].bytes, all[i].what, all[i].at, err);
	if (rc || c->counting)
		return rc;
	rc = ls_gpu_host_alloc(c->gpu, LS_CUDA_MAX_STRETCH * sizeof *c->updates, "constants",
			       (void **)&c->updates, err);
	if (rc == 0)
		rc = ls_gpu_host_alloc(c->gpu, LS_CUDA_MAX_STRETCH * sizeof *c->losses, "losses",
				       (void **)&c->losses, err);
	if (rc == 0)
		rc = ls_gpu_host_alloc(c->gpu, LS_CUDA_MAX_STRETCH * sizeof *c->places, "places",
				       (void **)&c->places, err);
	return rc ? rc
		  : ls_gpu_host_alloc(c->gpu, sizeof *c->state, "the state", (void **)&c->state,
				      err);
}

int ls_cuda_make_batch(struct ls_fm_cuda *c, struct ls_err *err)
{
	const struct ls_fm_model *m = c->m;
	struct ls_cuda_args *a = &c->args;
	uint64_t lanes = (uint64_t)m->blocks * m->padded,
		 budget = (uint64_t)64 << 20; /* bytes of sums that meet */
	a->heavy_each = (uint32_t)(m->outputs * (lanes + 2));
	a->chunk = c->entries > 1 << 20 ? 512 : 256; /* some for every warp */
	while (c->entries / a->chunk * a->heavy_each * sizeof(int64_t) > budget)
		a->chunk *= 2;
	uint64_t heavy = c->entries / a->chunk + 1;
	a->step_tiles = (uint32_t)((c->entries + LS_SORT_TILE - 1) / LS_SORT_TILE);
	int rc = make_step(c, heavy, err);
	return rc ? rc : make_lists(c, err);
}

/* --- what fits --- */

static const uint64_t RESERVE = (uint64_t)512
				/* at most a sixteenth: what predictions in between
				 * want */
				<< 20;

int ls_cuda_left(struct ls_fm_cuda *c, uint64_t *ret, struct ls_err *err)
{
	uint64_t avail, total, limit = c->conf.memory_limit;
	int rc = ls_gpu_mem_info(c->gpu, &avail, &total, err);
	if (rc)
		return rc;
	*ret = !limit ? avail : limit > c->allocated ? least(limit - c->allocated, avail) : 0;
	return 0;
}

/* `need` bytes are missing. The message rounds up to whole KiB or MiB, so that the user
 * can pass the figure on. */
static int too_small(struct ls_fm_cuda *c, uint64_t need, uint64_t left, struct ls_err *err)
{
	uint64_t all = need + least(need / 15 + 1, RESERVE),
		 unit = all >> 20 > 9 ? (uint64_t)1 << 20 : 1024;
	char has[LS_SIZE_TEXT];
	ls_str_of_size(left, has);
	return ls_err_set(err, LS_ENOMEM,
			  "cuda:%d (%s): this needs at least %llu %s of GPU memory, and %s may be "
			  "used%s; take %sa "
			  "smaller --batch, fewer --factors or --device cpu",
			  c->conf.device, ls_gpu_info(c->gpu)->name,
			  (unsigned long long)((all + unit - 1) / unit),
			  unit == 1024 ? "KiB" : "MiB", has,
			  c->conf.memory_limit ? " (--device-memory)" : "",
			  c->conf.memory_limit ? "more, "
					       : "another GPU (see nvidia-smi for who holds it), ");
}

int ls_cuda_plan(struct ls_fm_cuda *c, uint64_t *ret_room, struct ls_err *err)
{
	uint64_t left = 0;
	int rc = ls_cuda_left(c, &left, err);
	uint64_t have = left - least(left / 16, RESERVE);
	c->counting = true;
	if (rc == 0)
		rc = ls_cuda_put_model(c, err);
	if (rc == 0 && c->rows)
		rc = ls_cuda_make_batch(c, err);
	uint64_t fixed = c->allocated;
	c->counting = false;
	c->allocated = 0;
	if (rc)
		return rc;
	c->streams =
		c->rows && (c->conf.stream || fixed > have || !ls_cuda_rows_fit(c, have - fixed));
	uint64_t need = fixed + (c->streams ? ls_cuda_least_windows(c) : 0);
	if (need > have)
		return too_small(c, need, left, err);
	*ret_room = have - fixed;
	return 0;
}
