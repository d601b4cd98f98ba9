#include "watch/checklist.h"

#include <string.h>

#include "env/facts/advice.h"

const char *ls_checklist_step(const struct ls_look *l, const char *symptom, const char *step)
{
	const json_t *row = l->h->advice ? ls_advice_symptom(l->h->advice, symptom) : NULL,
		     *steps = json_object_get(row, "steps");
	size_t len = strlen(step);
	for (size_t i = 0; i < json_array_size(steps); i++) {
		const char *text = json_string_value(json_array_get(steps, i));
		if (strncmp(text, step, len) == 0 && text[len] == ':')
			return text;
	}
	return NULL;
}

bool ls_checklist_disk(const struct ls_look *l)
{
	return l->s->host.has_io_wait && l->s->host.io_wait > 0.2;
}

bool ls_checklist_processor(const struct ls_look *l)
{
	const struct ls_host *h = &l->s->host;
	return h->has_cpu && h->busiest > 0.95 && h->cpu < 0.5;
}

static bool is_hot(const struct ls_watch_gpu *g)
{
	enum { SW_THERMAL = 0x20, HW_THERMAL = 0x40 };
	return g->r.valid[LS_METER_THROTTLE] &&
	       ((uint64_t)g->r.value[LS_METER_THROTTLE] & (SW_THERMAL | HW_THERMAL));
}

static bool has_room(const struct ls_watch_gpu *g)
{
	double used, total;
	return ls_meter_value(&g->r, LS_METER_MEMORY_USED, &used) &&
	       ls_meter_value(&g->r, LS_METER_MEMORY_TOTAL, &total) && used < total / 2;
}

const char *ls_checklist_slow(const struct ls_look *l)
{
	const char *step = is_hot(l->gpu)              ? "heat and power"
			   : ls_checklist_processor(l) ? "processor"
			   : ls_checklist_disk(l)      ? "disk"
			   : has_room(l->gpu)          ? "batch"
						       : NULL;
	return step ? ls_checklist_step(l, "slow-training", step) : NULL;
}

const char *ls_checklist_memory(const struct ls_look *l, double full_in)
{
	enum { HOURS = 6 * 3600 };
	const char *step = l->gpu->n_processes > 1 ? "other programs"
			   : full_in < HOURS       ? "leaks"
						   : "batch";
	return ls_checklist_step(l, "out-of-memory", step);
}

const char *ls_checklist_no_gpu(const struct ls_look *l)
{
	if (l->s->no_nvml_code == LS_NVML_VERSION_MISMATCH)
		return ls_checklist_step(l, "version-mismatch", "library");
	if (!l->s->in_container)
		return ls_checklist_step(l, "no-gpu", "driver");
	return ls_checklist_step(l, "no-gpu", l->s->has_nvml ? "compose" : "container");
}
