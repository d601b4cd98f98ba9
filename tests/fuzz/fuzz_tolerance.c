/* Rules of --tolerance, one a line. A rule that was read is found again for a name that
 * its pattern matches, and equal numbers are within it. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compare/tolerance.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct ls_tolerance_rules *r)
{
	const struct ls_limits *l = ls_tolerance_find(r->items, r->n, "model.weight");
	for (size_t i = 0; i < r->n; i++) {
		const struct ls_limits *x = &r->items[i].limits;
		if (!(isfinite(x->abs) && x->abs >= 0 && isfinite(x->rel) && x->rel >= 0))
			abort();
	}
	if (ls_within_reals(l, 1, INFINITY) || (!l && ls_within_integers(l, 1, 2)))
		abort();
	if (l && !ls_within_integers(l, INT64_MIN, INT64_MIN))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = ls_xstrndup((const char *)data, size), *save = NULL;
	struct ls_tolerance_rules rules = {0};
	struct ls_err err;
	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		if (ls_tolerance_rules_add(&rules, l, &err) == 0)
			check(&rules);
	ls_tolerance_rules_done(&rules);
	free(text);
	return 0;
}
