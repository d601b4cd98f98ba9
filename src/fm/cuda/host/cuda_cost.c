/* The cost model behind --device auto. The constants were measured (docs/validation) and
 * then rounded against the GPU, which must promise half of the CPU's time. */
#include "fm/cuda/host/cuda.h"

#include "fm/model/batch.h"

static const double CPU_LANES = 500e6; /* factor lanes a second and CPU thread */
static const double GPU_LANE = 100;    /* bytes of GPU memory moved for a lane */
static const double GPU_BEST = 8e12;   /* bytes a second of the fastest GPU memory */
static const double GPU_START = 0.5;   /* seconds until a device is open and has its kernels */
static const double GPU_COMPILE =
	/* further seconds to compile a model's kernels, once a machine */
	5;
/* bytes a second through page-locked memory */
static const double GPU_COPY = 20e9;
static const double GPU_STEP = 50e-6; /* seconds that a step takes at least */

/* Lanes that an entry multiplies: its own factors; ffm: those of every field; fwfm: about
 * a quarter of that. */
static double lanes(const struct ls_fm_model *m)
{
	double each = (double)m->outputs * m->padded;
	if (m->opts.kind == LS_FFM)
		return each * m->n_fields;
	return m->opts.kind == LS_FWFM ? each * (1 + m->n_fields / 4.0) : each;
}

bool ls_cuda_is_faster(const struct ls_fm_model *m, const struct ls_rows *rows,
		       const struct ls_cuda_workload *c)
{
	double times = c->epochs ? c->epochs : 1, work = times * (double)rows->n_entries * lanes(m);
	double steps = times * (double)ls_fm_steps_per_epoch(&m->opts, rows->n_rows);
	double entry = 4 + (m->opts.kind == LS_FM ? 0 : 2) + (rows->value ? 4 : 0);
	double bytes = (double)rows->n_entries * entry + (double)rows->n_rows * 16 +
		       2.0 * (double)ls_fm_model_bytes(&m->opts, m->n_features, m->n_fields);
	double cpu = work / (CPU_LANES * c->threads),
	       bandwidth = c->bandwidth > 0 ? c->bandwidth : GPU_BEST;
	double start = GPU_START + (c->compiled ? 0 : GPU_COMPILE);
	double gpu = start + bytes / GPU_COPY + work * GPU_LANE / bandwidth + steps * GPU_STEP;
	return 2 * gpu < cpu;
}
