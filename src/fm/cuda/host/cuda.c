/* The engine: kernels in their order, many steps as one graph, and what the host has to
 * do between stretches. */
#include "fm/cuda/host/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fm/cuda/host/cuda_internal.h"
#include "fm/model/batch.h"
#include "num/num.h"

enum { GRAPH_ROWS = 1 << 17, MOST_GRAPH_STEPS = 64, GRAPH_ENTRIES = 1 << 24 };

/* --- steps --- */

static int put_step(struct ls_fm_cuda *c, uint32_t index, struct ls_err *err)
{
	struct ls_cuda_args a = c->args;
	a.index = index;
	int rc = ls_cuda_put(c, c->main, LS_K_ROWS, &a, err);
	if (rc == 0)
		rc = ls_cuda_put(c, c->main, LS_K_COLUMNS, &a, err);
	if (rc == 0 && c->m->opts.kind == LS_FWFM)
		rc = ls_cuda_put(c, c->main, LS_K_PAIRS, &a, err);
	return rc;
}

/* Takes n steps from state->base on and advances state->base. */
static int put_steps(struct ls_fm_cuda *c, uint32_t n, struct ls_err *err)
{
	struct ls_cuda_args a = c->args;
	a.index = n;
	int rc = ls_cuda_launch(c, c->main, LS_K_TASKS, n * a.step_tiles, &a, err);
	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = put_step(c, i, err);
	return rc ? rc : ls_cuda_put(c, c->main, LS_K_ADVANCE, &a, err);
}

static int make_graph(struct ls_fm_cuda *c, struct ls_err *err)
{
	int rc = ls_gpu_capture_begin(c->gpu, c->main, err);
	if (rc)
		return rc;
	rc = put_steps(c, c->graph_steps, err);
	if (rc == 0)
		return ls_gpu_capture_end(c->gpu, c->main, &c->graph[c->view], err);
	ls_gpu_capture_drop(c->gpu, c->main);
	return rc;
}

/* Steps of a window, as many as possible as graphs. */
static int put_many(struct ls_fm_cuda *c, uint32_t n, struct ls_err *err)
{
	int rc = n >= c->graph_steps && !c->graph[c->view] ? make_graph(c, err) : 0;
	for (; n >= c->graph_steps && rc == 0; n -= c->graph_steps)
		rc = ls_gpu_graph_launch(c->gpu, c->main, c->graph[c->view], err);
	return rc || !n ? rc : put_steps(c, n, err);
}

/* n steps from `first` on, a window after another. The step that a window counts as its
 * i-th has updates and losses at base + i - first of the stretch's. */
static int put_stretch(struct ls_fm_cuda *c, uint64_t first, uint32_t n, struct ls_err *err)
{
	int rc = 0;
	for (uint32_t done = 0, part; done < n && rc == 0; done += part) {
		struct ls_cuda_window *w;
		rc = ls_cuda_show_window(c, first + done, &w, err);
		if (rc)
			return rc;
		uint64_t at = first + done - w->first;
		part = (uint32_t)least(n - done, w->steps - at);
		c->places[done] =
			(struct ls_cuda_place){.first = at - done, .base = at, .rows = w->rows};
		rc = ls_cuda_upload(c, &c->places[done], sizeof *c->places, c->args.state, err);
		if (rc == 0)
			rc = put_many(c, part, err);
		if (rc == 0)
			rc = ls_cuda_leave_window(c, first + done + part, err);
	}
	return rc;
}

/* Constants and state of a stretch to the GPU, its steps, losses and state back. */
static int run_stretch(struct ls_fm_cuda *c, uint64_t first, uint32_t n, struct ls_err *err)
{
	uint64_t n_rows = c->rows->n_rows, saved = ls_fp_enter();
	for (uint32_t i = 0; i < n; i++) {
		uint32_t rows = ls_fm_order(&c->m->opts, n_rows, first + i).n;
		c->updates[i] = ls_fm_update(&c->m->opts, first + i, rows);
	}
	ls_fp_leave(saved);
	*c->state = (struct ls_cuda_state){.bad_row = UINT64_MAX};
	int rc = ls_cuda_upload(c, c->updates, n * sizeof *c->updates, c->args.updates, err);
	if (rc == 0)
		rc = ls_cuda_upload(c, c->state, sizeof *c->state, c->args.state, err);
	if (rc == 0)
		rc = put_stretch(c, first, n, err);
	if (rc == 0)
		rc = ls_gpu_download(c->gpu, c->main, c->losses, ls_cuda_ptr(c->args.losses),
				     n * sizeof *c->losses, err);
	if (rc == 0)
		rc = ls_gpu_download(c->gpu, c->main, c->state, ls_cuda_ptr(c->args.state),
				     sizeof *c->state, err);
	return rc ? rc : ls_gpu_sync(c->gpu, c->main, err);
}

static int cuda_steps(void *state, uint64_t first, uint64_t n, double *loss, struct ls_err *err)
{
	struct ls_fm_cuda *c = state;
	double sum = *loss;
	for (uint64_t done = 0; done < n;) {
		uint32_t part = (uint32_t)least(n - done, LS_CUDA_MAX_STRETCH);
		int rc = run_stretch(c, first + done, part, err);
		if (rc)
			return rc;
		if (c->state->bad_row != UINT64_MAX)
			return ls_fm_not_finite(&c->m->opts, c->rows, c->state->bad_row,
						first + done, err);
		for (uint32_t i = 0; i < part; i++)
			sum += c->losses[i];
		done += part;
	}
	*loss = sum;
	return 0;
}

static int cuda_predict(void *state, const struct ls_rows *rows, float *ret_score,
			struct ls_err *err)
{
	return ls_cuda_predict(state, rows, ret_score, err);
}

static int cuda_fetch(void *state, struct ls_err *err)
{
	return ls_cuda_get_model(state, err);
}

/* --- the engine's life --- */

static void cuda_free(void *state)
{
	struct ls_fm_cuda *c = state;
	if (c->gpu) {
		for (int i = 0; i < LS_CUDA_WINDOWS; i++)
			ls_gpu_graph_free(c->gpu, c->graph[i]);
		ls_cuda_free_windows(c);
		ls_cuda_free_pieces(c);
		ls_gpu_stream_free(c->gpu, c->main);
		for (uint32_t i = 0; i < c->n_allocs; i++)
			ls_gpu_free(c->gpu, c->allocs[i]);
		ls_gpu_host_free(c->gpu, c->updates);
		ls_gpu_host_free(c->gpu, c->losses);
		ls_gpu_host_free(c->gpu, c->state);
		ls_gpu_host_free(c->gpu, c->places);
		for (int i = 0; i < 2; i++)
			ls_gpu_module_free(c->gpu, c->modules[i]);
		ls_gpu_close(c->gpu);
	}
	free(c);
}

static int check_rows(const struct ls_fm_cuda *c, struct ls_err *err)
{
	const struct ls_fm_model *m = c->m;
	const struct ls_rows *rows = c->rows;
	if (c->entries > LS_CUDA_MAX_ENTRIES || ls_cuda_slot_bits(c) > 31)
		return ls_err_set(err, LS_EINPUT,
				  "a batch of %u rows may have %llu entries, which is too many; "
				  "take a smaller "
				  "--batch",
				  m->opts.batch, (unsigned long long)c->entries);
	if (!rows->label)
		return ls_err_set(err, LS_EINPUT, "the training data has no labels");
	if (rows->n_features > m->n_features ||
	    (m->n_fields && (!rows->field || rows->n_fields > m->n_fields)))
		return ls_err_set(err, LS_EINPUT,
				  "the data has features or fields that the model has not");
	return 0;
}

/* Sizes of what training needs beside the model. */
static int size_training(struct ls_fm_cuda *c, struct ls_err *err)
{
	uint64_t batch = c->m->opts.batch, steps = least(GRAPH_ROWS / batch, MOST_GRAPH_STEPS);
	c->entries = ls_cuda_most_entries(c->rows, batch);
	steps = steps ? steps : 1;
	c->graph_entries = ls_cuda_most_entries(c->rows, batch * steps);
	for (; steps > 1 && c->graph_entries > GRAPH_ENTRIES; steps = (steps + 1) / 2)
		c->graph_entries = ls_cuda_most_entries(c->rows, batch * ((steps + 1) / 2));
	c->graph_steps = (uint32_t)steps;
	return check_rows(c, err);
}

static int make_training(struct ls_fm_cuda *c, uint64_t room, struct ls_err *err)
{
	int rc = ls_cuda_make_batch(c, err);
	if (rc == 0)
		rc = ls_cuda_put_rows(c, room, err);
	return rc ? rc : ls_cuda_size_grids(c, err);
}

static int make_engine(struct ls_fm_cuda *c, struct ls_err *err)
{
	uint64_t room = 0;
	int rc = ls_gpu_open(NULL, c->conf.device, &c->gpu, err);
	if (rc == 0)
		rc = ls_cuda_find_kernels(c, err);
	if (rc == 0 && c->rows)
		rc = size_training(c, err);
	if (rc == 0)
		rc = ls_cuda_plan(c, &room, err);
	if (rc == 0)
		rc = ls_gpu_stream_new(c->gpu, &c->main, err);
	if (rc == 0)
		rc = ls_cuda_put_model(c, err);
	if (rc == 0 && c->rows)
		rc = make_training(c, room, err);
	return rc ? rc : ls_gpu_sync(c->gpu, c->main, err);
}

int ls_engine_cuda(struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool,
		   const struct ls_cuda_conf *conf, struct ls_engine *ret, struct ls_err *err)
{
	if (rows && ls_fm_check_states(m, err))
		return LS_EINTERNAL;
	struct ls_fm_cuda *c = ls_xalloc(sizeof *c);
	c->m = m;
	c->rows = rows;
	c->pool = pool;
	c->conf = *conf;
	int rc = make_engine(c, err);
	if (rc) {
		cuda_free(c);
		return rc;
	}
	*ret = (struct ls_engine){.state = c,
				  .steps = cuda_steps,
				  .predict = cuda_predict,
				  .fetch = cuda_fetch,
				  .free = cuda_free,
				  .on_gpu = true,
				  .stretch_rows = 1 << 22};
	snprintf(ret->name, sizeof ret->name, "cuda:%d (%s)%s", conf->device,
		 ls_gpu_info(c->gpu)->name, c->streams ? ", data streamed" : "");
	return 0;
}
