#include "exact/cpu/wide.h"

#include <stdbool.h>

/* The words of the group that element `number` belongs to. */
static void take_words(const struct ls_wide *w, uint64_t number, struct ls_u32x4 *words)
{
	if (ls_wide_is_random(w->kind))
		*words = ls_wide_words(w->key, number, 0);
}

/* Elements [from, from + n), which follow each other along the innermost dimension. */
static void row(const struct ls_wide *w, int64_t from, int64_t n)
{
	int64_t at[LS_WIDE_TENSORS] = {0}, step[LS_WIDE_TENSORS] = {0};
	struct ls_u32x4 words = {{0}};
	for (int k = 0; k < w->inputs + w->outputs; k++) {
		at[k] = ls_elem_locate(w->ndim, w->size, w->t[k].stride, from);
		step[k] = w->ndim ? w->t[k].stride[w->ndim - 1] : 0;
	}
	for (int64_t i = 0; i < n; i++) {
		uint64_t number = w->first + (uint64_t)(from + i);
		const struct ls_elem_tensor *out = &w->t[w->inputs];
		double x = 0, y[2] = {0};
		if (i == 0 || number % 4 == 0)
			take_words(w, number, &words);
		if (w->inputs)
			x = ls_wide_load(w->t[0].at, w->t[0].type, at[0] + i * step[0]);
		ls_wide_formula(w->kind, w->key, &w->perm, w->number, number, words.v, x, out->type,
				y);
		for (int k = 0; k < w->outputs; k++)
			ls_wide_store(out[k].at, out[k].type,
				      at[w->inputs + k] + i * step[w->inputs + k], y[k]);
	}
}

void ls_wide_part(const struct ls_wide *w, int64_t from, int64_t to)
{
	int64_t inner = w->ndim ? w->size[w->ndim - 1] : 1;
	for (int64_t n; from < to; from += n) {
		n = inner - from % inner;
		n = n < to - from ? n : to - from;
		row(w, from, n);
	}
}
