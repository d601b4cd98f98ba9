/* data/advice.json and data/tested.json, as --tables may have them: the input is both with a
 * NUL between them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "env/facts/advice.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct ls_advice *a)
{
	static const char *const gpus[] = {"NVIDIA H200", "NVIDIA GeForce RTX 3080", NULL};
	const json_t *row = ls_advice_symptom(a, "slow-training"),
		     *steps = json_object_get(row, "steps");
	if (row && !json_string_value(json_array_get(steps, json_array_size(steps) - 1)))
		abort();
	for (int g = 0; gpus[g]; g++) {
		size_t i = 0;
		while ((row = ls_advice_tested(a, NULL, gpus[g], &i)))
			free(ls_tested_text(row));
	}
	size_t i = 0;
	while ((row = ls_advice_tested(a, "gpu-training-2024-11", NULL, &i)))
		free(ls_tested_text(row));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *cut = size ? memchr(data, 0, size) : NULL;
	struct ls_advice *a = NULL;
	struct ls_err err = {0};
	json_t *symptoms = NULL, *tested = NULL;
	if (!cut)
		return 0;
	size_t first = (size_t)(cut - data);
	if (ls_json_parse((const char *)data, first, "a", &symptoms, &err) ||
	    ls_json_parse((const char *)cut + 1, size - first - 1, "b", &tested, &err))
		json_decref(symptoms);
	else if (ls_advice_take(symptoms, tested, &a, &err) == 0)
		look(a);
	ls_advice_free(a);
	return 0;
}
