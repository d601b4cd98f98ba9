/* Parts of rows: every row is in exactly one, whole, in its order, and keeps its line.
 * labels: isa */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fm/data/data.h"
#include "fm/data/part.h"
#include "fm/train/constant.h"

enum { ROWS = 50, SEED = 7 };

/* Row i has label i, i % 3 entries, and weight 1 + i; a blank line is before row 20. */
static struct ls_data *made(void)
{
	static char text[4096];
	size_t n = 0;
	struct ls_data *d;
	struct ls_err err = {0};
	for (int i = 0; i < ROWS; i++) {
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%d %d", i == 20 ? "\n" : "", i,
				      1 + i);
		for (int e = 0; e < i % 3; e++)
			n += (size_t)snprintf(text + n, sizeof text - n, " %d:%d:%d.5", e, e, i);
		n += (size_t)snprintf(text + n, sizeof text - n, "%s\n", i % 3 ? "" : " 4:4:4");
	}
	assert_int_equal(ls_data_load_memory("rows", text, n, NULL, &d, &err), 0);
	return d;
}

static void a_row_is_whole(const struct ls_rows *all, const struct ls_rows *p, uint64_t at)
{
	uint64_t row = (uint64_t)p->label[at], n = all->start[row + 1] - all->start[row],
		 line = row + 1 + (row >= 20);
	char want[64];
	struct ls_err err = {0};
	assert_int_equal(p->start[at + 1] - p->start[at], n);
	assert_memory_equal(p->feature + p->start[at], all->feature + all->start[row], 4 * n);
	assert_memory_equal(p->field + p->start[at], all->field + all->start[row], 2 * n);
	assert_memory_equal(p->value + p->start[at], all->value + all->start[row], 4 * n);
	assert_true(p->weight[at] == all->weight[row]);
	ls_rows_fault(p, LS_OF_ROW, at, LS_EINPUT, &err, "x");
	snprintf(want, sizeof want, "rows:%d:1: x", (int)line);
	assert_string_equal(err.msg, want);
}

static void take(const struct ls_rows *all, uint64_t lo, uint64_t hi, bool inside, int *seen)
{
	struct ls_part *part;
	struct ls_err err;
	assert_int_equal(ls_part_new(all, SEED, lo, hi, inside, &part, &err), 0);
	const struct ls_rows *p = ls_part_rows(part);
	assert_int_equal(p->n_rows, inside ? hi - lo : ROWS - (hi - lo));
	assert_int_equal(p->n_entries, p->start[p->n_rows]);
	assert_int_equal(p->n_features, all->n_features);
	for (uint64_t i = 0; i < p->n_rows; i++) {
		assert_true(i == 0 || p->label[i] > p->label[i - 1]);
		seen[(int)p->label[i]]++;
		a_row_is_whole(all, p, i);
	}
	ls_part_free(part);
}

static void parts_are_a_partition(void **state)
{
	(void)state;
	struct ls_data *d = made();
	const struct ls_rows *all = ls_data_rows(d);
	int folds[ROWS] = {0}, halves[ROWS] = {0};
	for (uint64_t f = 0; f < 7; f++)
		take(all, ROWS * f / 7, ROWS * (f + 1) / 7, true, folds);
	take(all, 0, 10, true, halves);
	take(all, 0, 10, false, halves);
	for (int i = 0; i < ROWS; i++) {
		assert_int_equal(folds[i], 1);
		assert_int_equal(halves[i], 1);
	}
	ls_data_free(d);
}

/* Which rows they are is part of what a seed promises. */
static void the_seed_draws_these(void **state)
{
	(void)state;
	struct ls_data *d = made();
	struct ls_part *p;
	struct ls_err err;
	static const float want[] = {0, 12, 21, 24, 36};
	assert_int_equal(ls_part_new(ls_data_rows(d), SEED, 0, 5, true, &p, &err), 0);
	for (int i = 0; i < 5; i++)
		assert_true(ls_part_rows(p)->label[i] == want[i]);
	ls_part_free(p);
	ls_data_free(d);
}

static void constants(void **state)
{
	(void)state;
	static const float mean[] = {1, 2, 4}, signs[] = {1, -1, 1}, classes[] = {0, 2, 2},
			   weight[] = {1, 1, 2};
	struct ls_rows r = {.n_rows = 3, .label = mean};
	struct ls_fm_opts o = {.task = LS_REGRESSION, .classes = 1};
	float got[4];
	ls_fm_constant(&o, &r, got);
	assert_true(got[0] == (float)(7.0 / 3.0));
	r.weight = weight;
	ls_fm_constant(&o, &r, got);
	assert_true(got[0] == 11.0f / 4.0f);
	assert_true(ls_fm_constant_loss(&o, &r, got) ==
		    (1.75 * 1.75 + .75 * .75 + 2 * 1.25 * 1.25) / 8);
	o.task = LS_BINARY;
	r.label = signs;
	ls_fm_constant(&o, &r, got);
	/* 3 and 1, and 2/3 for each */
	assert_float_equal(got[0], 0.78845736, 1e-7);
	o.task = LS_MULTICLASS;
	o.classes = 4;
	r.label = classes;
	ls_fm_constant(&o, &r, got);
	assert_float_equal(got[0], -1.3862944, 1e-6); /* (1 + 2/3) / (4 + 8/3) */
	assert_float_equal(got[1], -2.3025851, 1e-6);
	assert_float_equal(got[2], -0.5978370, 1e-6);
	assert_true(got[3] == got[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_a_partition),
		cmocka_unit_test(the_seed_draws_these),
		cmocka_unit_test(constants),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
