#include "run/gpuwatch.h"

void ls_gpuwatch_begin(struct ls_gpuwatch *w)
{
	int code;
	*w = (struct ls_gpuwatch){0};
	if (ls_nvml_open(NULL, &w->nvml, &code, NULL, NULL))
		w->nvml = NULL;
	if (!w->nvml || ls_nvml_count(w->nvml, &w->n))
		return;
	w->n = w->n < LS_GPUWATCH_MOST ? w->n : LS_GPUWATCH_MOST;
	for (unsigned i = 0; i < w->n; i++)
		if (ls_nvml_memory(w->nvml, i, &w->gpu[i].total, &w->gpu[i].before) == 0)
			w->gpu[i].peak = w->gpu[i].before;
}

void ls_gpuwatch_look(struct ls_gpuwatch *w)
{
	for (unsigned i = 0; i < w->n; i++) {
		uint64_t total, used;
		if (ls_nvml_memory(w->nvml, i, &total, &used) == 0 && used > w->gpu[i].peak)
			w->gpu[i].peak = used;
	}
}

json_t *ls_gpuwatch_end(struct ls_gpuwatch *w)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < w->n; i++) {
		char name[LS_NVML_TEXT] = "", uuid[LS_NVML_TEXT] = "";
		if (!w->gpu[i].total)
			continue;
		ls_nvml_name(w->nvml, i, name);
		ls_nvml_uuid(w->nvml, i, uuid);
		json_array_append_new(
			list, json_pack("{s:i,s:o,s:o,s:I,s:I,s:I}", "index", (int)i, "name",
					ls_json_lossy(name), "uuid", ls_json_lossy(uuid),
					"total_bytes", (json_int_t)w->gpu[i].total,
					"used_before_bytes", (json_int_t)w->gpu[i].before,
					"used_peak_bytes", (json_int_t)w->gpu[i].peak));
	}
	ls_nvml_close(w->nvml);
	if (json_array_size(list))
		return list;
	json_decref(list);
	return NULL;
}
