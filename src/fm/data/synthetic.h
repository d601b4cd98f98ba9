/* Synthetic rows for validation: a function of their description, the same on every
 * machine. A struct ls_synthetic owns what its rows point to; ls_synthetic_free accepts
 * NULL. Made by the threads of a pool, then read-only. */
#ifndef LS_FM_DATA_SYNTHETIC_H
#define LS_FM_DATA_SYNTHETIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "fm/data/rows.h"

/* A row has one feature of each field, log-uniform within the field's own range of
 * features: a few are in nearly every row, most are rare, as in click-through data. */
struct ls_synthetic_spec {
	uint64_t n_rows, n_features; /* n_features: at least 2 a field */
	uint32_t n_fields;
	bool values;      /* values in (0, 1); otherwise every value is 1 */
	uint32_t classes; /* labels: class numbers below this; 0: targets in (-1, 1) */
	uint64_t seed;
};

struct ls_synthetic {
	struct ls_rows rows; /* points to the arrays below */
	uint64_t *start;
	uint32_t *feature;
	uint16_t *field;
	float *value, *label;
};

int ls_synthetic_new(const struct ls_synthetic_spec *spec, struct ls_pool *pool,
		     struct ls_synthetic **ret, struct ls_err *err);
void ls_synthetic_free(struct ls_synthetic *made);

#endif
