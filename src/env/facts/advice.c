#include "env/facts/advice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "env/facts/data_table.h"
#include "env/facts/gpu_catalog.h"

struct ls_advice {
	json_t *symptoms, *tested; /* the files */
};

static const char *text(const json_t *row, const char *key)
{
	return json_string_value(json_object_get(row, key));
}

static bool has_texts(const json_t *row, const char *const *keys)
{
	for (; *keys; keys++)
		if (!text(row, *keys))
			return false;
	return true;
}

static bool has_steps(const json_t *row)
{
	const json_t *steps = json_object_get(row, "steps");
	for (size_t i = 0; i < json_array_size(steps); i++)
		if (!json_is_string(json_array_get(steps, i)))
			return false;
	return json_array_size(steps) > 0;
}

static int check(const struct ls_advice *a, struct ls_err *err)
{
	static const char *const symptom[] = {"symptom", "shows", "source", "date", NULL};
	static const char *const tested[] = {"gpu", "rating", "what", "source", "date", NULL};
	size_t i;
	const json_t *row;
	json_array_foreach(json_object_get(a->symptoms, "rows"), i, row)
	{
		if (!has_texts(row, symptom) || !has_steps(row))
			return ls_err_set(err, LS_EINTERNAL,
					  "data/advice.json: row %zu is incomplete", i);
	}
	json_array_foreach(json_object_get(a->tested, "rows"), i, row)
	{
		if (!has_texts(row, tested))
			return ls_err_set(err, LS_EINTERNAL,
					  "data/tested.json: row %zu is incomplete", i);
	}
	return 0;
}

int ls_advice_take(json_t *symptoms, json_t *tested, struct ls_advice **ret, struct ls_err *err)
{
	struct ls_advice *a = ls_xalloc(sizeof *a);
	*a = (struct ls_advice){symptoms, tested};
	int rc = check(a, err);
	if (rc)
		ls_advice_free(a);
	else
		*ret = a;
	return rc;
}

int ls_advice_load(struct ls_advice **ret, struct ls_err *err)
{
	json_t *symptoms, *tested;
	int rc = ls_data_table("data/advice.json", &symptoms, err);
	if (rc)
		return rc;
	rc = ls_data_table("data/tested.json", &tested, err);
	if (rc) {
		json_decref(symptoms);
		return rc;
	}
	return ls_advice_take(symptoms, tested, ret, err);
}

void ls_advice_free(struct ls_advice *a)
{
	if (!a)
		return;
	json_decref(a->symptoms);
	json_decref(a->tested);
	free(a);
}

const json_t *ls_advice_symptom(const struct ls_advice *a, const char *symptom)
{
	size_t i;
	const json_t *row;
	json_array_foreach(json_object_get(a->symptoms, "rows"), i, row)
	{
		if (strcmp(text(row, "symptom"), symptom) == 0)
			return row;
	}
	return NULL;
}

const json_t *ls_advice_tested(const struct ls_advice *a, const char *spec, const char *gpu,
			       size_t *i)
{
	const json_t *rows = json_object_get(a->tested, "rows");
	while (*i < json_array_size(rows)) {
		const json_t *row = json_array_get(rows, (*i)++);
		const char *of = text(row, "spec");
		if (spec ? of && strcmp(of, spec) == 0
			 : gpu && ls_gpu_name_is(text(row, "gpu"), gpu))
			return row;
	}
	return NULL;
}

char *ls_tested_text(const json_t *row)
{
	const char *driver = text(row, "driver");
	json_int_t gb = json_integer_value(json_object_get(row, "vram_gb"));
	char memory[32] = "";
	if (gb > 0)
		snprintf(memory, sizeof memory, " (%lld GB)", (long long)gb);
	return ls_xasprintf("%s%s, %s, driver %s: %s: %s [%s]", text(row, "gpu"), memory,
			    text(row, "date"), driver ? driver : "not recorded",
			    text(row, "rating"), text(row, "what"), text(row, "source"));
}
