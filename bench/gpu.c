/* gpu [--rows N] [--features N] [--threads N] [--device N] [--only KIND] [--batch N]: the
 * GPU engine on click-through data made in memory (39 fields, one feature each,
 * log-uniform: bench/ctr-gen.c has the same law), beside the CPU on the same machine.
 *
 * A line a kind and batch: the rate of whole epochs; that of the first with everything
 * copied there and back; the CPU's; and whether the parameters are the same to the bit.
 * The floor counts the bytes a step must move (bench/gpu.md) at the copy bandwidth that
 * this run measures. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pool.h"
#include "fm/cuda/host/cuda.h"
#include "fm/model/batch.h"
#include "fm/model/engine.h"
#include "gpu/driver.h"

enum { FIELDS = 39 };
static const uint8_t log2_values[FIELDS] = {4,  5,  5,  6,  6,  6,  6,  6,  7, 5,  5,  5,  6,
					    10, 9,  23, 21, 8,  5,  13, 9,  2, 16, 12, 22, 11,
					    5,  13, 22, 3,  12, 11, 2,  22, 4, 4,  18, 7,  17};

struct options {
	uint64_t rows, features;
	int threads, device;
};

static double now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static uint64_t mix(uint64_t z)
{
	z += 0x9E3779B97F4A7C15u;
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

struct data {
	struct ls_rows rows;
	uint64_t *start;
	uint32_t *feature;
	uint16_t *field;
	float *label;
};

static void fill(void *context, int thread, int threads)
{
	struct data *d = context;
	uint64_t lo, hi;
	ls_pool_share(d->rows.n_rows, thread, threads, &lo, &hi);
	for (uint64_t r = lo; r < hi; r++) {
		d->start[r + 1] = (r + 1) * FIELDS;
		d->label[r] = (float)(mix(r ^ 0x5bd1e995) & 1);
		for (uint64_t f = 0; f < FIELDS; f++) {
			uint64_t h = mix(mix(42) ^ (r * 64 + f)),
				 bits = (h >> 32) % (log2_values[f] + 1u);
			uint64_t value = (UINT64_C(1) << bits) + (h & ((UINT64_C(1) << bits) - 1));
			d->feature[r * FIELDS + f] =
				(uint32_t)(mix((f + 1) << 40 ^ value) % d->rows.n_features);
			d->field[r * FIELDS + f] = (uint16_t)f;
		}
	}
}

static void make_data(struct data *d, const struct options *o, struct ls_pool *pool)
{
	uint64_t entries = o->rows * FIELDS;
	d->start = ls_xalloc((o->rows + 1) * sizeof *d->start);
	d->feature = ls_xalloc(entries * sizeof *d->feature);
	d->field = ls_xalloc(entries * sizeof *d->field);
	d->label = ls_xalloc(o->rows * sizeof *d->label);
	d->rows = (struct ls_rows){.n_rows = o->rows,
				   .n_entries = entries,
				   .n_features = o->features,
				   .n_fields = FIELDS,
				   .start = d->start,
				   .feature = d->feature,
				   .field = d->field,
				   .label = d->label};
	ls_pool_run(pool, fill, d);
}

static void fail(const struct ls_err *err)
{
	fprintf(stderr, "gpu: %s\n", err->msg);
	exit(1);
}

/* Bytes read plus bytes written a second, of a device-to-device copy of 2 GiB. */
static double copy_bandwidth(const struct options *o)
{
	struct ls_gpu *gpu;
	struct ls_err err = {0};
	ls_cu_ptr a, b;
	ls_cu_stream s;
	ls_cu_event from, to;
	double ms = 0, best = 0;
	uint64_t bytes = (uint64_t)2 << 30;
	if (ls_gpu_open(NULL, o->device, &gpu, &err) ||
	    ls_gpu_alloc(gpu, bytes, "a copy", &a, &err) ||
	    ls_gpu_alloc(gpu, bytes, "a copy", &b, &err) || ls_gpu_stream_new(gpu, &s, &err) ||
	    ls_gpu_event_new(gpu, true, &from, &err) || ls_gpu_event_new(gpu, true, &to, &err) ||
	    ls_gpu_fill(gpu, s, a, 1, bytes, &err) || ls_gpu_fill(gpu, s, b, 2, bytes, &err))
		fail(&err);
	for (int i = 0; i < 6; i++) {
		if (ls_gpu_event_record(gpu, s, from, &err) ||
		    ls_gpu_copy(gpu, s, b, a, bytes, &err) ||
		    ls_gpu_event_record(gpu, s, to, &err) || ls_gpu_sync(gpu, s, &err) ||
		    ls_gpu_event_ms(gpu, from, to, &ms, &err))
			fail(&err);
		double rate = 2.0 * (double)bytes / (ms * 1e-3);
		best = rate > best ? rate : best;
	}
	ls_gpu_event_free(gpu, from);
	ls_gpu_event_free(gpu, to);
	ls_gpu_stream_free(gpu, s);
	ls_gpu_free(gpu, a);
	ls_gpu_free(gpu, b);
	ls_gpu_close(gpu);
	return best;
}

/* Bytes that a row must move: factors read forward, back vectors written and read by
 * every entry, and, of the features of a batch (each once), factors with their states
 * read and written. Linear weights likewise. */
static double row_bytes(const struct ls_fm_model *m, const struct data *d, uint32_t batch)
{
	uint64_t seen = 0, rows = batch < d->rows.n_rows ? batch : d->rows.n_rows;
	uint8_t *mark = ls_xalloc(d->rows.n_features);
	for (uint64_t e = 0; e < rows * FIELDS; e++) {
		seen += !mark[d->feature[e]];
		mark[d->feature[e]] = 1;
	}
	free(mark);
	double vector = 4.0 * m->padded * (m->opts.kind == LS_FFM ? FIELDS : 1),
	       states = 1 + m->states;
	double per_entry = vector + 4 + 4 + vector +
			   4; /* factors, weight, feature number; back vector, slope */
	double back =
		/* written once a row */
		m->opts.kind == LS_FM ? vector : FIELDS * 4.0 * m->padded;
	double once = 2 * states * (vector + 4);
	if (m->opts.kind == LS_FWFM)
		back *= 3 + 2; /* U, Q, D written; U, Q read for the field weights */
	return FIELDS * per_entry + back + once * (double)seen / (double)rows;
}

static struct ls_fm_model *make_model(enum ls_fm_kind kind, uint32_t factors, uint32_t batch,
				      const struct options *o, struct ls_pool *pool)
{
	struct ls_fm_opts opts = ls_fm_defaults(kind, LS_BINARY, LS_ADAGRAD);
	struct ls_fm_model *m;
	struct ls_err err = {0};
	opts.factors = factors;
	opts.batch = batch;
	if (ls_fm_model_new(&opts, o->features, FIELDS, &m, &err))
		fail(&err);
	ls_fm_model_init(m, pool);
	return m;
}

struct result {
	double steps, whole; /* rows a second */
};

/* `before` steps with everything copied there and back, then `steps` more, which alone
 * are timed for the rate: a whole number of epochs, so that what is done once an epoch
 * counts; or fewer on a CPU, which has no such thing. */
static struct result run(struct ls_fm_model *m, const struct data *d, struct ls_pool *pool,
			 const struct options *o, bool gpu, uint64_t before, uint64_t steps)
{
	struct ls_engine e;
	struct ls_err err = {0};
	struct ls_cuda_conf conf = {.device = o->device,
				    .kernels = {.cache_dir = "/tmp/lockstep-bench-kernels"}};
	double loss = 0, from = now();
	if (gpu ? ls_engine_cuda(m, &d->rows, pool, &conf, &e, &err)
		: ls_engine_cpu(m, &d->rows, pool, NULL, &e, &err))
		fail(&err);
	if (e.steps(e.state, 0, before, &loss, &err) || e.fetch(e.state, &err))
		fail(&err);
	double middle = now();
	if (steps && e.steps(e.state, before, steps, &loss, &err))
		fail(&err);
	double end = now();
	if (e.fetch(e.state, &err))
		fail(&err);
	e.free(e.state);
	return (struct result){(double)steps * m->opts.batch / (end - middle),
			       (double)before * m->opts.batch / (middle - from)};
}

static void line(enum ls_fm_kind kind, uint32_t factors, uint32_t batch, const struct data *d,
		 const struct options *o, struct ls_pool *pool, double bandwidth)
{
	uint64_t per_epoch = (o->rows + batch - 1) / batch,
		 few = (kind == LS_FM ? 2000000 : 200000) / batch + 4;
	uint64_t steps = few < per_epoch ? few : per_epoch, warm = steps / 4 ? steps / 4 : 1,
		 epochs = batch / 16384 + 1;
	struct ls_fm_model *a = make_model(kind, factors, batch, o, pool),
			   *b = make_model(kind, factors, batch, o, pool);
	double floor = bandwidth / row_bytes(a, d, batch);
	run(a, d, pool, o, true, 4, 0); /* kernels compiled and cached, clocks up */
	ls_fm_model_free(a);
	a = make_model(kind, factors, batch, o, pool);
	run(a, d, pool, o, true, warm, steps - warm);
	struct result cpu = run(b, d, pool, o, false, warm, steps - warm);
	bool same = memcmp(a->linear, b->linear, a->bytes) == 0 &&
		    memcmp(a->bias, b->bias, sizeof(float) * ls_fm_linear_size(a)) == 0;
	struct result gpu = run(a, d, pool, o, true, per_epoch, epochs * per_epoch);
	printf("%-5s k=%-3u batch %-6u gpu %8.2f M rows/s, first epoch with transfer %8.2f; floor "
	       "%7.1f M (%4.0f %%); "
	       "cpu %d threads %7.3f M; %s over %llu rows\n",
	       ls_fm_kind_name(kind), factors, batch, gpu.steps * 1e-6, gpu.whole * 1e-6,
	       floor * 1e-6, 100 * gpu.steps / floor, o->threads, cpu.steps * 1e-6,
	       same ? "same bits" : "BITS DIFFER", (unsigned long long)(steps * batch));
	fflush(stdout);
	ls_fm_model_free(a);
	ls_fm_model_free(b);
}

int main(int argc, char **argv)
{
	struct options o = {.rows = 1 << 22,
			    .features = 1000000,
			    .threads = (int)sysconf(_SC_NPROCESSORS_ONLN)};
	const char *only = "";
	uint64_t batch = 0;
	for (int i = 1; i < argc; i++) {
		bool more = i + 1 < argc;
		if (more && strcmp(argv[i], "--rows") == 0)
			o.rows = strtoull(argv[++i], NULL, 10);
		else if (more && strcmp(argv[i], "--features") == 0)
			o.features = strtoull(argv[++i], NULL, 10);
		else if (more && strcmp(argv[i], "--threads") == 0)
			o.threads = (int)strtol(argv[++i], NULL, 10);
		else if (more && strcmp(argv[i], "--device") == 0)
			o.device = (int)strtol(argv[++i], NULL, 10);
		else if (more && strcmp(argv[i], "--only") == 0)
			only = argv[++i];
		else if (more && strcmp(argv[i], "--batch") == 0)
			batch = strtoull(argv[++i], NULL, 10);
		else {
			fprintf(stderr, "usage: gpu [--rows N] [--features N] [--threads N] "
					"[--device N] [--only KIND] "
					"[--batch N]\n");
			return 2;
		}
	}
	struct ls_pool *pool;
	struct ls_err err = {0};
	struct data d;
	if (ls_pool_new(o.threads, &pool, &err))
		fail(&err);
	make_data(&d, &o, pool);
	double bandwidth = copy_bandwidth(&o);
	printf("copy bandwidth %.2f TB/s; %llu rows, %d features a row of %llu\n",
	       bandwidth * 1e-12, (unsigned long long)o.rows, FIELDS,
	       (unsigned long long)o.features);
	static const struct {
		enum ls_fm_kind kind;
		uint32_t factors, batch;
	} lines[] = {{LS_FM, 16, 65536},  {LS_FM, 16, 4096},  {LS_FM, 16, 256},
		     {LS_FFM, 4, 65536},  {LS_FFM, 4, 4096},  {LS_FFM, 4, 256},
		     {LS_FWFM, 8, 65536}, {LS_FWFM, 8, 4096}, {LS_FWFM, 8, 256}};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if ((!*only || strcmp(only, ls_fm_kind_name(lines[i].kind)) == 0) &&
		    (!batch || batch == lines[i].batch))
			line(lines[i].kind, lines[i].factors, lines[i].batch, &d, &o, pool,
			     bandwidth);
	ls_pool_free(pool);
	free(d.start);
	free(d.feature);
	free(d.field);
	free(d.label);
	return 0;
}
