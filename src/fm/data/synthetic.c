#include "fm/data/synthetic.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "num/philox.h"

struct job {
	const struct ls_synthetic_spec *spec;
	struct ls_synthetic *made;
	uint64_t key;
};

/* Log-uniform in [0, range): a number of bits first, then that many bits; too large ones
 * wrap around. */
static uint32_t draw(uint32_t a, uint32_t b, uint32_t range)
{
	uint32_t bits = 0;
	while (bits < 31 && range >> bits > 1)
		bits++;
	uint32_t width = a % (bits + 1);
	uint32_t v = ((uint32_t)1 << width) - 1 + (b & (((uint32_t)1 << width) - 1));
	return v % range;
}

static float label_of(const struct ls_synthetic_spec *spec, struct ls_u32x4 r)
{
	return spec->classes ? (float)(r.v[0] % spec->classes) : ls_symf(r.v[1]);
}

static void make_row(const struct job *j, uint64_t row)
{
	const struct ls_synthetic_spec *spec = j->spec;
	struct ls_synthetic *d = j->made;
	uint32_t range = (uint32_t)(spec->n_features / spec->n_fields);
	uint64_t at = row * spec->n_fields;
	d->start[row + 1] = at + spec->n_fields;
	d->label[row] = label_of(spec, ls_philox(j->key, row, UINT64_MAX));
	for (uint32_t f = 0; f < spec->n_fields; f++) {
		struct ls_u32x4 r = ls_philox(j->key, row, f);
		d->feature[at + f] = f * range + draw(r.v[0], r.v[1], range);
		d->field[at + f] = (uint16_t)f;
		if (d->value)
			d->value[at + f] = ls_u01f(r.v[2]);
	}
}

static void make_rows(void *context, int thread, int threads)
{
	const struct job *j = context;
	uint64_t lo, hi;
	ls_pool_share(j->spec->n_rows, thread, threads, &lo, &hi);
	for (uint64_t row = lo; row < hi; row++)
		make_row(j, row);
}

int ls_synthetic_new(const struct ls_synthetic_spec *spec, struct ls_pool *pool,
		     struct ls_synthetic **ret, struct ls_err *err)
{
	assert(spec->n_fields && spec->n_features / spec->n_fields >= 2 &&
	       spec->n_features <= UINT32_MAX);
	struct ls_synthetic *d = ls_xalloc(sizeof *d);
	uint64_t entries = spec->n_rows * spec->n_fields;
	d->start = ls_alloc_array(spec->n_rows + 1, sizeof *d->start);
	d->feature = ls_alloc_array(entries, sizeof *d->feature);
	d->field = ls_alloc_array(entries, sizeof *d->field);
	d->label = ls_alloc_array(spec->n_rows, sizeof *d->label);
	d->value = spec->values ? ls_alloc_array(entries, sizeof *d->value) : NULL;
	if (!d->start || !d->feature || !d->field || !d->label || (spec->values && !d->value)) {
		ls_synthetic_free(d);
		return ls_err_set(err, LS_ENOMEM, "no memory for %llu rows of %u features",
				  (unsigned long long)spec->n_rows, spec->n_fields);
	}
	struct job j = {spec, d, ls_seed_key(spec->seed, 0x6d616465)};
	ls_pool_run(pool, make_rows, &j);
	d->rows = (struct ls_rows){.n_rows = spec->n_rows,
				   .n_entries = entries,
				   .n_features = spec->n_features,
				   .n_fields = spec->n_fields,
				   .start = d->start,
				   .feature = d->feature,
				   .field = d->field,
				   .value = d->value,
				   .label = d->label};
	*ret = d;
	return 0;
}

void ls_synthetic_free(struct ls_synthetic *d)
{
	if (!d)
		return;
	free(d->start);
	free(d->feature);
	free(d->field);
	free(d->value);
	free(d->label);
	free(d);
}
