#include "job/resources.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu/nvml.h"
#include "job/move.h"
#include "job/slurm_partitions.h"
#include "job/slurm_tool.h"
#include "job/sql.h"

static void note(json_t *notes, const char *text)
{
	json_array_append_new(notes, ls_json_lossy(text));
}

static json_t *place(const char *where, const char *partition, const char *gpu)
{
	char *name = ls_move_gpu(gpu ? gpu : partition);
	json_t *p = json_pack("{s:s,s:o,s:o}", "where", where, "partition",
			      partition ? ls_json_lossy(partition) : json_null(), "gpu",
			      name  ? ls_json_lossy(name)
			      : gpu ? ls_json_lossy(gpu)
				    : json_null());
	free(name);
	return p;
}

static void set(json_t *p, const char *key, int64_t value)
{
	json_object_set_new(p, key, json_integer(value));
}

/* --- this machine --- */

/* Ids of the GPUs that running experiments hold. */
static int held_gpus(struct ls_store *s, json_t **ret, struct ls_err *err)
{
	return ls_sql_all(s, ret, err,
			  "SELECT json_each.value AS gpu FROM experiment, json_each(gpus) WHERE"
			  " state = 'running' AND gpus IS NOT NULL AND coalesce(engine, 'local') ="
			  " 'local'",
			  "");
}

static bool is_held(const json_t *held, unsigned i, const char *uuid)
{
	char number[16];
	const json_t *row;
	size_t k;
	snprintf(number, sizeof number, "%u", i);
	json_array_foreach(held, k, row)
	{
		const char *id = ls_col_text(row, "gpu");
		if (id && (strcmp(id, number) == 0 || strcmp(id, uuid) == 0))
			return true;
	}
	return false;
}

/* Another program's memory on it counts as use; a driver keeps some for itself. */
static bool is_free(struct ls_nvml *nvml, unsigned i, const json_t *held)
{
	char uuid[LS_NVML_TEXT] = "";
	uint64_t total = 0, used = 0;
	ls_nvml_uuid(nvml, i, uuid);
	if (is_held(held, i, uuid))
		return false;
	return ls_nvml_memory(nvml, i, &total, &used) || used < total / 20;
}

static json_t *of_model(json_t *places, const char *name)
{
	json_t *p = place("local", NULL, name), *other;
	size_t i;
	json_array_foreach(places, i, other)
	{
		if (json_equal(json_object_get(other, "gpu"), json_object_get(p, "gpu")) &&
		    strcmp(ls_col_text(other, "where"), "local") == 0) {
			json_decref(p);
			return other;
		}
	}
	set(p, "nodes", 1);
	json_array_append_new(places, p);
	return p;
}

static void add_gpus(struct ls_nvml *nvml, const json_t *held, json_t *places, json_t *notes)
{
	unsigned n = 0;
	if (ls_nvml_count(nvml, &n) || n == 0) {
		note(notes, "this machine has no GPU");
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		char name[LS_NVML_TEXT] = "unknown";
		ls_nvml_name(nvml, i, name);
		json_t *p = of_model(places, name);
		set(p, "total", ls_col_int(p, "total", 0) + 1);
		set(p, "free", ls_col_int(p, "free", 0) + is_free(nvml, i, held));
		set(p, "free_on_one_node", ls_col_int(p, "free", 0));
	}
}

static int find_local(struct ls_store *s, json_t *places, json_t *notes, struct ls_err *err)
{
	struct ls_nvml *nvml = NULL;
	json_t *held = NULL;
	int code, rc = held_gpus(s, &held, err);
	if (rc)
		return rc;
	if (ls_nvml_open(NULL, &nvml, &code, NULL, NULL))
		note(notes, "this machine has no NVIDIA driver, so no GPU is known here");
	else
		add_gpus(nvml, held, places, notes);
	ls_nvml_close(nvml);
	json_decref(held);
	return 0;
}

/* --- Slurm --- */

static void add_partition(const json_t *partition, json_t *places)
{
	const json_t *g;
	size_t i;
	json_array_foreach(json_object_get(partition, "gpus"), i, g)
	{
		const char *name = ls_col_text(partition, "partition");
		json_t *p = place("slurm", name, ls_col_text(g, "type"));
		bool up = json_is_true(json_object_get(partition, "up"));
		set(p, "total", ls_col_int(g, "total", 0));
		set(p, "free", up ? ls_col_int(g, "free", 0) : 0);
		set(p, "free_on_one_node", up ? ls_col_int(g, "free_on_one_node", 0) : 0);
		set(p, "nodes", ls_col_int(partition, "usable_nodes", 0));
		set(p, "idle_nodes", ls_col_int(partition, "idle_nodes", 0));
		json_array_append_new(places, p);
	}
}

static void find_slurm(json_t *places, json_t *notes)
{
	struct ls_err err = {0};
	json_t *list = NULL, *partition;
	size_t i;
	if (!ls_slurm_installed()) {
		note(notes, "there is no Slurm here (sinfo)");
		return;
	}
	if (ls_slurm_partitions(&list, &err)) {
		note(notes, err.msg);
		return;
	}
	json_array_foreach(list, i, partition) add_partition(partition, places);
	json_decref(list);
}

int ls_resources_find(struct ls_store *s, json_t *places, json_t *notes, struct ls_err *err)
{
	int rc = find_local(s, places, notes, err);
	if (!rc)
		find_slurm(places, notes);
	return rc;
}

/* --- batches --- */

static void take_layout(json_t *p, const struct ls_plan_layout *l, const struct ls_plan *plan)
{
	char text[LS_PLAN_LAYOUT_TEXT];
	int64_t one = ls_col_int(p, "free_on_one_node", 1);
	ls_plan_layout_text(l, text);
	set(p, "num_gpus", (int64_t)l->ranks);
	set(p, "nodes_needed", ((int64_t)l->ranks + one - 1) / one);
	set(p, "batch_size", (int64_t)l->batch);
	set(p, "accumulation", (int64_t)l->accum);
	set(p, "global_batch", (int64_t)l->global);
	json_object_set_new(p, "same_global_batch",
			    json_boolean(l->global == plan->baseline.layout.global));
	json_object_set_new(p, "config", ls_json_lossy(text));
}

/* On all GPUs that are free on one node, or fewer where only these keep the global
 * batch. */
static int plan_place(const json_t *row, json_t *p, struct ls_err *err)
{
	int64_t n = ls_col_int(p, "free_on_one_node", 0), wanted = ls_col_int(row, "num_gpus", 0);
	struct ls_plan *plan = NULL;
	if (n <= 0)
		return 0;
	if (n > wanted) /* no more than it had: others wait, too */
		n = wanted;
	int rc = ls_move_plan(row, ls_col_text(p, "gpu"), (uint64_t)n, &plan, err);
	if (rc && ls_col_text(p, "gpu")) /* not in the catalogue */
		rc = ls_move_plan(row, NULL, (uint64_t)n, &plan, err);
	if (rc)
		return rc;
	take_layout(p, &(plan->exact || !plan->fewer ? &plan->options[0] : plan->fewer)->layout,
		    plan);
	json_t *warnings = json_array();
	json_t *design = json_copy((json_t *)(uintptr_t)row);
	json_object_set(design, "global_batch", json_object_get(p, "global_batch"));
	ls_move_warn(plan, row, design, warnings);
	json_object_set_new(p, "warnings", warnings);
	json_decref(design);
	ls_plan_free(plan);
	return 0;
}

/* Larger is better: free GPUs, then the same global batch, then the number. */
static int64_t rank(const json_t *p)
{
	int64_t n = ls_col_int(p, "num_gpus", 0);
	bool same = json_is_true(json_object_get(p, "same_global_batch"));
	return n ? ((int64_t)same << 40) + n : -1;
}

static int by_rank(const void *a, const void *b)
{
	int64_t x = rank(*(json_t *const *)a), y = rank(*(json_t *const *)b);
	return (x < y) - (x > y);
}

int ls_resources_plan(const json_t *row, json_t *places, struct ls_err *err)
{
	size_t n = json_array_size(places);
	json_t **items = ls_xalloc((n + 1) * sizeof *items);
	int rc = 0;
	for (size_t i = 0; i < n; i++) {
		items[i] = json_incref(json_array_get(places, i));
		rc = rc ? rc : plan_place(row, items[i], err);
	}
	if (n > 1)
		qsort(items, n, sizeof *items, by_rank);
	json_array_clear(places);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(places, items[i]);
	free(items);
	return rc;
}
