/* What to try when a training fails or is slow, and what was tried on which GPU:
 * data/advice.json and data/tested.json. ls_advice_free frees all (NULL is fine); rows
 * are borrowed until then. Read-only after loading; any thread. */
#ifndef LS_ENV_FACTS_ADVICE_H
#define LS_ENV_FACTS_ADVICE_H

#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

struct ls_advice;

/* Every row is checked: symptom, shows, steps (texts), source and date; gpu, rating,
 * what, source and date. */
int ls_advice_load(struct ls_advice **ret, struct ls_err *err);
/* The same of tables that are there already; takes both references. */
int ls_advice_take(json_t *symptoms, json_t *tested, struct ls_advice **ret, struct ls_err *err);
void ls_advice_free(struct ls_advice *a);

/* The row of a symptom ("out-of-memory", "slow-training"): "shows" (what one sees),
 * "steps" (a list of texts, in the order to try them), "source", "date". NULL: no such
 * row. */
const json_t *ls_advice_symptom(const struct ls_advice *a, const char *symptom);

/* The next row from *i on that was tried for this spec, or, with spec NULL, on this GPU;
 * NULL past the last. Moves *i behind it. Members: "gpu", "rating", "what", "source",
 * "date"; where known "vram_gb", "driver", "spec". */
const json_t *ls_advice_tested(const struct ls_advice *a, const char *spec, const char *gpu,
			       size_t *i);

/* "RTX 3080 (10 GB), 2024-11-04, driver not recorded: good: image-model training
 * [SOURCE]"; the caller frees. */
char *ls_tested_text(const json_t *row);

#endif
