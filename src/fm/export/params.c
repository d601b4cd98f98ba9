#include "fm/export/params.h"

#include <string.h>

/* The factors of feature `row`, which has m->blocks rows of outputs × factors: an entry
 * gathers those for one field. */
static void factors_row(const struct ls_params *p, uint64_t row, void *to)
{
	const struct ls_fm_model *m = p->m;
	const size_t k = m->opts.factors;
	const float *record = m->record + row / m->blocks * ls_fm_stride(m);
	float *out = to;
	for (uint32_t o = 0; o < m->outputs; o++)
		memcpy(out + o * k, record + ((size_t)o * m->blocks + row % m->blocks) * m->padded,
		       k * sizeof *out);
}

static void linear_row(const struct ls_params *p, uint64_t row, void *to)
{
	memcpy(to, p->m->linear + row * ls_fm_stride(p->m), p->m->outputs * sizeof(float));
}

static void bias_row(const struct ls_params *p, uint64_t row, void *to)
{
	(void)row;
	memcpy(to, p->m->bias, p->m->outputs * sizeof(float));
}

static void zero_row(const struct ls_params *p, uint64_t row, void *to)
{
	(void)row;
	memset(to, 0, p->m->outputs * p->m->opts.factors * sizeof(float));
}

static void add(struct ls_params *p, struct ls_weights w)
{
	p->list[p->n++] = w;
}

void ls_params_init(struct ls_params *p, const struct ls_fm_model *m, enum ls_export_form form)
{
	const uint64_t outputs = m->outputs, k = m->opts.factors, rows = ls_params_rows(m);
	bool none = m->n_features == 0;
	*p = (struct ls_params){.m = m, .form = form};
	add(p, (struct ls_weights){"bias", LS_ONNX_FLOAT, {outputs}, 1, 1, outputs * 4, bias_row});
	add(p, (struct ls_weights){"linear",
				   LS_ONNX_FLOAT,
				   {rows, outputs},
				   2,
				   rows,
				   outputs * 4,
				   none ? zero_row : linear_row});
	add(p, (struct ls_weights){"factors",
				   LS_ONNX_FLOAT,
				   {rows * m->blocks, outputs, k},
				   3,
				   rows * m->blocks,
				   outputs * k * 4,
				   none ? zero_row : factors_row});
}
