#include "env/spec/compat.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/data_table.h"
#include "env/facts/gpu_catalog.h"
#include "env/facts/version.h"

struct ls_compat {
	json_t *tables[LS_COMPAT_TABLES];
};

const char *ls_compat_file(enum ls_compat_table t)
{
	static const char *const files[] = {"data/torch.json",       "data/torch-pairs.json",
					    "data/cuda-driver.json", "data/driver-branches.json",
					    "data/images.json",      "data/python.json",
					    "data/gpus.json"};
	return files[t];
}

int ls_compat_load(struct ls_compat **ret, struct ls_err *err)
{
	struct ls_compat *c = ls_xalloc(sizeof *c);
	for (int t = 0; t < LS_COMPAT_TABLES; t++) {
		int rc = ls_data_table(ls_compat_file((enum ls_compat_table)t), &c->tables[t], err);
		if (rc) {
			ls_compat_free(c);
			return rc;
		}
	}
	*ret = c;
	return 0;
}

void ls_compat_free(struct ls_compat *c)
{
	for (int t = 0; c && t < LS_COMPAT_TABLES; t++)
		json_decref(c->tables[t]);
	free(c);
}

size_t ls_compat_rows(const struct ls_compat *c, enum ls_compat_table t)
{
	return json_array_size(json_object_get(c->tables[t], "rows"));
}

const json_t *ls_compat_row(const struct ls_compat *c, enum ls_compat_table t, size_t i)
{
	return json_array_get(json_object_get(c->tables[t], "rows"), i);
}

const char *ls_compat_date(const struct ls_compat *c, enum ls_compat_table t)
{
	return ls_row_text(c->tables[t], "date");
}

const char *ls_row_text(const json_t *row, const char *key)
{
	return json_string_value(json_object_get(row, key));
}

const json_t *ls_compat_find(const struct ls_compat *c, enum ls_compat_table t, const char *key,
			     const char *value)
{
	for (size_t i = 0; i < ls_compat_rows(c, t); i++) {
		const char *text = ls_row_text(ls_compat_row(c, t, i), key);
		if (text && strcmp(text, value) == 0)
			return ls_compat_row(c, t, i);
	}
	return NULL;
}

/* --- torch --- */

const json_t *ls_compat_torch(const struct ls_compat *c, const char *version)
{
	struct ls_version want, have;
	if (!ls_version_parse(version, &want))
		return NULL;
	for (size_t i = 0; i < ls_compat_rows(c, LS_COMPAT_TORCH); i++) {
		const json_t *row = ls_compat_row(c, LS_COMPAT_TORCH, i);
		if (!ls_version_parse(ls_row_text(row, "torch"), &have) ||
		    ls_version_order(&want, &have) != 0)
			continue;
		bool is = *want.local ? strcmp(want.local, ls_row_text(row, "build")) == 0
				      : json_is_true(json_object_get(row, "default"));
		if (is)
			return row;
	}
	return NULL;
}

enum ls_torch_known ls_compat_torch_known(const struct ls_compat *c, const char *version)
{
	struct ls_version want, have;
	bool older = false, newer = false, release = false, open = false;
	if (!ls_version_parse(version, &want) || (*want.local && !ls_str_starts(want.local, "cu")))
		return LS_TORCH_UNKNOWN;
	if (ls_compat_torch(c, version))
		return LS_TORCH_EXISTS;
	for (size_t i = 0; i < ls_compat_rows(c, LS_COMPAT_TORCH); i++) {
		const json_t *row = ls_compat_row(c, LS_COMPAT_TORCH, i);
		if (!ls_version_parse(ls_row_text(row, "torch"), &have))
			continue;
		int order = ls_version_order(&have, &want);
		older |= order < 0;
		newer |= order > 0;
		release |= order == 0;
		open |= order == 0 && json_is_true(json_object_get(row, "others_unknown"));
	}
	if (release)
		return open ? LS_TORCH_UNKNOWN : LS_TORCH_NO_BUILD;
	/* pre-releases and nightlies are not in the table */
	return older && newer && !want.pre && !want.dev ? LS_TORCH_NO_RELEASE : LS_TORCH_UNKNOWN;
}

/* --- drivers, GPUs --- */

bool ls_compat_minor(const char *version, char *ret, size_t size)
{
	struct ls_version v;
	if (!ls_version_parse(version, &v))
		return false;
	snprintf(ret, size, "%llu.%llu", (unsigned long long)v.part[0],
		 (unsigned long long)v.part[1]);
	return true;
}

const char *ls_compat_min_driver(const struct ls_compat *c, const char *cuda)
{
	char minor[48];
	if (!ls_compat_minor(cuda, minor, sizeof minor))
		return NULL;
	return ls_row_text(ls_compat_find(c, LS_COMPAT_CUDA, "cuda", minor), "driver_min");
}

const json_t *ls_compat_branch(const struct ls_compat *c, const char *driver)
{
	struct ls_version v;
	char branch[24];
	if (!ls_version_parse(driver, &v))
		return NULL;
	snprintf(branch, sizeof branch, "%llu", (unsigned long long)v.part[0]);
	return ls_compat_find(c, LS_COMPAT_BRANCHES, "branch", branch);
}

const char *ls_compat_capability(const struct ls_compat *c, const char *gpu_name)
{
	for (size_t i = 0; i < ls_compat_rows(c, LS_COMPAT_GPUS); i++) {
		const json_t *row = ls_compat_row(c, LS_COMPAT_GPUS, i);
		if (ls_gpu_name_is(ls_row_text(row, "gpu"), gpu_name))
			return ls_row_text(row, "capability");
	}
	return NULL;
}

static bool entry_runs(const char *entry, const struct ls_version *gpu)
{
	char text[32];
	struct ls_version v;
	snprintf(text, sizeof text, "%.*s", (int)strcspn(entry, "+ "), entry);
	if (!ls_version_parse(text, &v))
		return false;
	if (v.part[0] == gpu->part[0])
		return v.part[1] <= gpu->part[1];
	bool ptx = strncmp(entry + strlen(text), "+PTX", 4) == 0;
	return ptx && ls_version_order(&v, gpu) < 0;
}

bool ls_compat_runs_on(const json_t *torch_row, const char *machine, const char *capability,
		       const char **ret_list)
{
	struct ls_version gpu;
	const char *list = ls_row_text(torch_row, strcmp(machine, "aarch64") == 0 ? "arch_aarch64"
										  : "arch_x86_64");
	*ret_list = list;
	if (!list || !ls_version_parse(capability, &gpu))
		return false;
	for (const char *p = list; *p; p += strcspn(p, " "), p += strspn(p, " "))
		if (entry_runs(p, &gpu))
			return true;
	return false;
}
