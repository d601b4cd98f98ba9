/* The list of the best: against sorting all, with repeated items, few or many, and hashes
 * that collide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/topk.h"
#include "num/philox.h"

enum { ITEMS = 3000 };

static int smallest_first(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static uint64_t by_number(const void *item)
{
	return *(const uint32_t *)item;
}

static uint64_t all_the_same(const void *item)
{
	(void)item;
	return 7;
}

/* The first `keep` of the different items, by sorting all. */
static size_t reference(const uint32_t *item, size_t keep, uint32_t *ret)
{
	uint32_t all[ITEMS];
	size_t n = 0;
	memcpy(all, item, sizeof all);
	qsort(all, ITEMS, sizeof *all, smallest_first);
	for (size_t i = 0; i < ITEMS && n < keep; i++)
		if (i == 0 || all[i] != all[i - 1])
			ret[n++] = all[i];
	return n;
}

static void as_if_all_were_sorted(void **state)
{
	(void)state;
	static const size_t keeps[] = {1, 2, 7, 100, ITEMS};
	static const uint32_t ranges[] = {1, 5, 300, UINT32_MAX};
	uint32_t item[ITEMS], want[ITEMS], got[ITEMS];
	for (size_t c = 0; c < 5 * 4 * 2; c++) {
		size_t keep = keeps[c % 5];
		struct ls_topk b;
		for (uint32_t i = 0; i < ITEMS; i++)
			item[i] = ls_philox(c, i, 0).v[0] % ranges[c / 5 % 4];
		ls_topk_init(&b, keep, sizeof *item, smallest_first,
			     c < 20 ? by_number : all_the_same);
		for (size_t i = 0; i < ITEMS; i++)
			ls_topk_add(&b, &item[i]);
		size_t n = reference(item, keep, want);
		assert_int_equal(ls_topk_end(&b, got), n);
		assert_memory_equal(got, want, n * sizeof *got);
	}
}

/* Nothing is turned away before there are enough, and then what does not precede the
 * last. */
static void what_is_wanted(void **state)
{
	(void)state;
	struct ls_topk b;
	uint32_t got[2];
	ls_topk_init(&b, 2, sizeof *got, smallest_first, by_number);
	for (uint32_t i = 9; i > 5; i--) { /* 9, 8, 7, 6: the fourth cuts */
		assert_null(ls_topk_last(&b));
		assert_true(ls_topk_wants(&b, &i));
		ls_topk_add(&b, &i);
	}
	assert_int_equal(*(const uint32_t *)ls_topk_last(&b), 7);
	assert_false(ls_topk_wants(&b, &(uint32_t){7}));
	assert_true(ls_topk_wants(&b, &(uint32_t){5}));
	assert_int_equal(ls_topk_end(&b, got), 2);
	assert_int_equal(got[0], 6);
	assert_int_equal(got[1], 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_if_all_were_sorted),
		cmocka_unit_test(what_is_wanted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
