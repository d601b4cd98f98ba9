#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "env/facts/version.h"
#include "env/spec/compat.h"
#include "env/spec/spec_check.h"

static const char today[] = "2026-11-15";

static struct ls_compat *tables(void)
{
	struct ls_compat *c = NULL;
	struct ls_err err = {0};
	if (ls_compat_load(&c, &err))
		fail_msg("%s", err.msg);
	return c;
}

/* --- the data files --- */

static bool is_date(const char *s)
{
	return s && strlen(s) == 10 && strspn(s, "0123456789-") == 10 && s[4] == '-' && s[7] == '-';
}

static bool has(const char *const *names, const char *key)
{
	for (; *names; names++)
		if (strcmp(*names, key) == 0)
			return true;
	return false;
}

static void row_is_sound(const char *where, size_t i, json_t *row)
{
	static const char *const versions[] = {
		"torch",       "cuda",       "cudnn",      "python_min",     "python_max",
		"torchvision", "torchaudio", "driver_min", "driver_shipped", "branch",
		"python",      "capability", NULL};
	static const char *const others[] = {
		"build",          "arch_x86_64", "arch_aarch64", "default",
		"others_unknown", "kind",        "eol",          "eol_is_latest",
		"image",          "tags",        "gpu",          "memory",
		"link",           "smi",         "aliases",      "source",
		"date",           NULL};
	const char *key;
	json_t *value;
	struct ls_version v;
	if (!ls_row_text(row, "source") || strlen(ls_row_text(row, "source")) < 7 ||
	    !is_date(ls_row_text(row, "date")))
		fail_msg("%s: row %zu: source or date is missing", where, i);
	json_object_foreach(row, key, value)
	{
		if (!has(versions, key) && !has(others, key))
			fail_msg("%s: row %zu: unexpected key %s", where, i, key);
		if (has(versions, key) && !ls_version_parse(json_string_value(value), &v))
			fail_msg("%s: row %zu: %s is not a version", where, i, key);
	}
	if (ls_row_text(row, "eol") && !is_date(ls_row_text(row, "eol")))
		fail_msg("%s: row %zu: eol is not a date", where, i);
}

/* What makes a row of its kind unique. */
static void identity(const json_t *row, char *ret, size_t size)
{
	static const char *const keys[] = {"torch", "build", "cuda", "branch", "python", "gpu"};
	size_t n = 0;
	ret[0] = 0;
	for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
		if (ls_row_text(row, keys[k]))
			n += (size_t)snprintf(ret + n, size - n, "%s=%s ", keys[k],
					      ls_row_text(row, keys[k]));
}

static void file_is_sound(const char *path)
{
	json_t *root = NULL;
	struct ls_err err = {0};
	if (ls_json_load(path, &root, &err))
		fail_msg("%s", err.msg);
	json_t *rows = json_object_get(root, "rows");
	assert_true(json_array_size(rows) > 0);
	assert_non_null(ls_row_text(root, "about"));
	assert_true(is_date(ls_row_text(root, "date")));
	for (size_t i = 0; i < json_array_size(rows); i++) {
		char a[256], b[256];
		row_is_sound(path, i, json_array_get(rows, i));
		identity(json_array_get(rows, i), a, sizeof a);
		for (size_t j = 0; j < i; j++) {
			identity(json_array_get(rows, j), b, sizeof b);
			if (strcmp(a, b) == 0)
				fail_msg("%s: rows %zu and %zu are both %s", path, j, i, a);
		}
	}
	json_decref(root);
}

static void data_files_are_sound(void **state)
{
	(void)state;
	for (int t = 0; t < LS_COMPAT_TABLES; t++) {
		char path[4096];
		snprintf(path, sizeof path, "%s/%s", LS_SOURCE_DIR,
			 ls_compat_file((enum ls_compat_table)t));
		file_is_sound(path);
	}
}

static void tables_agree_with_each_other(void **state)
{
	(void)state;
	struct ls_compat *c = tables();
	for (size_t i = 0; i < ls_compat_rows(c, LS_COMPAT_TORCH); i++) {
		const json_t *row = ls_compat_row(c, LS_COMPAT_TORCH, i);
		char build[16];
		const char *cuda = ls_row_text(row, "cuda"), *list;
		snprintf(build, sizeof build, "cu%.2s%s", cuda, cuda + 3);
		assert_string_equal(build, ls_row_text(row, "build"));
		if (!ls_compat_min_driver(c, cuda))
			fail_msg("no driver for CUDA %s", cuda);
		assert_true(ls_compat_runs_on(row, "x86_64", "8.6", &list));
	}
	for (size_t i = 0; i < ls_compat_rows(c, LS_COMPAT_IMAGES); i++) {
		const char *branch = ls_row_text(ls_compat_row(c, LS_COMPAT_IMAGES, i), "branch");
		if (!ls_compat_find(c, LS_COMPAT_BRANCHES, "branch", branch))
			fail_msg("no branch R%s", branch);
	}
	for (size_t i = 0; i < ls_compat_rows(c, LS_COMPAT_PAIRS); i++)
		assert_non_null(ls_compat_torch(
			c, ls_row_text(ls_compat_row(c, LS_COMPAT_PAIRS, i), "torch")));
	ls_compat_free(c);
}

static void wheels(void **state)
{
	(void)state;
	struct ls_compat *c = tables();
	assert_string_equal(ls_row_text(ls_compat_torch(c, "2.3.1+cu121"), "cudnn"), "8.9.2.26");
	assert_string_equal(ls_row_text(ls_compat_torch(c, "2.8.0"), "build"), "cu128");
	assert_int_equal(ls_compat_torch_known(c, "2.5.0+cu126"), LS_TORCH_NO_BUILD);
	assert_int_equal(ls_compat_torch_known(c, "2.6.0+cu126"), LS_TORCH_EXISTS);
	assert_int_equal(ls_compat_torch_known(c, "2.5.2"), LS_TORCH_NO_RELEASE);
	assert_int_equal(ls_compat_torch_known(c, "2.16.0+cu130"), LS_TORCH_UNKNOWN);
	assert_int_equal(ls_compat_torch_known(c, "2.15.0+cu126"), LS_TORCH_UNKNOWN);
	assert_int_equal(ls_compat_torch_known(c, "1.13.1+cu117"), LS_TORCH_UNKNOWN);
	assert_int_equal(ls_compat_torch_known(c, "2.3.1+cpu"), LS_TORCH_UNKNOWN);
	assert_int_equal(ls_compat_torch_known(c, "2.6.0.dev20241112+cu121"), LS_TORCH_UNKNOWN);
	ls_compat_free(c);
}

static void architectures(void **state)
{
	(void)state;
	struct ls_compat *c = tables();
	const json_t *cu121 = ls_compat_torch(c, "2.3.1+cu121"),
		     *cu130 = ls_compat_torch(c, "2.9.1+cu130");
	const char *list;
	assert_true(ls_compat_runs_on(cu121, "x86_64", "6.1", &list)); /* 6.0 code on a 6.1 GPU */
	assert_true(ls_compat_runs_on(cu121, "x86_64", "8.9", &list));
	assert_false(ls_compat_runs_on(cu121, "x86_64", "10.0", &list)); /* no PTX */
	assert_false(ls_compat_runs_on(cu130, "x86_64", "7.0", &list));
	assert_true(ls_compat_runs_on(cu130, "x86_64", "13.0", &list)); /* PTX */
	assert_false(ls_compat_runs_on(cu130, "aarch64", "7.5", &list));
	assert_true(ls_compat_runs_on(cu130, "aarch64", "9.0", &list));
	assert_false(ls_compat_runs_on(cu121, "aarch64", "9.0", &list));
	assert_null(list);
	assert_string_equal(ls_compat_capability(c, "NVIDIA GeForce GTX 1080 Ti"), "6.1");
	assert_string_equal(ls_compat_capability(c, "NVIDIA H200"), "9.0");
	assert_null(ls_compat_capability(c, "Voodoo 2"));
	assert_string_equal(ls_compat_min_driver(c, "12.1.105"), "525.60.13");
	assert_string_equal(ls_row_text(ls_compat_branch(c, "535.161.08"), "eol"), "2026-06-30");
	ls_compat_free(c);
}

/* --- spec check --- */

/* Every finding as "kind key: text", and the number of faults. */
static size_t findings(const char *json, const char *when, struct ls_str *out)
{
	struct ls_spec *spec = NULL;
	struct ls_err err = {0};
	struct ls_compat *c = tables();
	struct ls_spec_findings f;
	if (json[0] == '{' ? ls_spec_parse(json, strlen(json), "t.json", &spec, &err)
			   : ls_spec_load(json, &spec, &err))
		fail_msg("%s", err.msg);
	ls_spec_check(spec, c, when, &f);
	for (size_t i = 0; i < f.n; i++)
		ls_str_addf(out, "%s %s: %s\n", ls_finding_kind_name(f.items[i].kind),
			    f.items[i].key, f.items[i].text);
	ls_str_add(out, "");
	size_t faults = f.faults;
	ls_spec_findings_done(&f);
	ls_spec_free(spec);
	ls_compat_free(c);
	return faults;
}

static void expect(const char *json, const char *when, size_t faults, const char *fragment)
{
	struct ls_str s = {0};
	size_t n = findings(json, when, &s);
	if (n != faults || (fragment && !strstr(s.s, fragment)))
		fail_msg("%s: %zu faults, looked for \"%s\" in:\n%s", json, n,
			 fragment ? fragment : "", s.s);
	ls_str_done(&s);
}

#define SPEC(rest) "{\"schema\":1,\"name\":\"t\"," rest "}"

static void faults_are_found(void **state)
{
	(void)state;
	expect(SPEC("\"torch\":\"2.5.0+cu126\""), today, 1,
	       "missing torch: torch 2.5.0+cu126 was never released");
	expect(SPEC("\"torch\":\"2.3.1+cu121\""), today, 0, NULL);
	expect(SPEC("\"torch\":\"2.99.0+cu121\""), today, 0,
	       "note torch: torch 2.99.0+cu121 is unknown to the table");
	expect(SPEC("\"torch\":\"2.3.1+cu121\",\"cudnn\":\"9.x\""), today, 1,
	       "inconsistent cudnn: torch 2.3.1+cu121 brings");
	expect(SPEC("\"torch\":\"2.3.1+cu121\",\"cudnn\":\"8902\""), today, 0, NULL);
}

static void more_faults_are_found(void **state)
{
	(void)state;
	expect(SPEC("\"torch\":\"2.3.1+cu121\",\"torch_cuda\":\"11.8\""), today, 1,
	       "inconsistent torch_cuda");
	expect(SPEC("\"torch\":\"2.3.1+cu121\",\"python\":\"3.13\""), today, 1,
	       "inconsistent python: torch 2.3.1+cu121 has no");
	expect(SPEC("\"torch\":\"2.3.1+cu121\",\"python\":\">=3.11\""), today, 0, NULL);
	expect(SPEC("\"python\":\"3.9.x\""), today, 1, "ended python: Python 3.9");
	expect(SPEC("\"python\":\"3.9.x\""), "2025-01-01", 0, NULL);
	expect(SPEC("\"torch\":\"2.3.1+cu121\",\"packages\":{\"torchvision\":\"0.19.0+cu121\"}"),
	       today, 1,
	       "inconsistent package.torchvision: torchvision 0.19.0+cu121 does not belong to "
	       "torch 2.3.1");
	expect(SPEC("\"torch\":\"2.3.1+cu121\",\"packages\":{\"torchvision\":\"0.18.1+cu118\"}"),
	       today, 1, "are of different builds");
	expect(SPEC("\"torch\":\"2.3.1+cu121\",\"driver\":\">=470.57.02\""), "2020-01-01", 1,
	       "inconsistent driver: driver >=470.57.02 admits drivers too old for CUDA 12.1, "
	       "which needs 525.60.13");
	expect(SPEC("\"driver\":\">=535.86.10\""), today, 1,
	       "ended driver: driver >=535.86.10 admits branch R535");
	expect(SPEC("\"driver\":\">=535.86.10\""), "2026-06-30", 0, NULL);
	expect(SPEC("\"driver\":\">=580.65.06\""), today, 0, NULL);
	expect(SPEC("\"torch\":\"2.9.1+cu130\",\"gpus\":[\"Tesla P100\"]"), today, 1,
	       "inconsistent gpus: Tesla P100 has compute capability 6.0");
	expect(SPEC("\"torch\":\"2.9.1+cu130\",\"arch\":\"aarch64\",\"gpus\":{\"min_capability\":"
		    "\"7.5\"}"),
	       today, 1, "(aarch64) has code for 8.0 9.0");
	expect(SPEC("\"image\":\"nvidia/cuda:12.1.105-cudnn8-runtime-ubuntu22.04\",\"os\":\"*\""),
	       today, 2,
	       "missing image: nvidia/cuda:12.1.105-cudnn8-runtime-ubuntu22.04: there was never an "
	       "image of CUDA "
	       "12.1.105");
	expect(SPEC("\"image\":\"nvidia/cuda:12.1.1-cudnn8-runtime-ubuntu22.04\",\"os\":\"*\""),
	       today, 1,
	       "ended image: nvidia/cuda:12.1.1-cudnn8-runtime-ubuntu22.04: CUDA 12.1 images");
	expect(SPEC("\"image\":\"nvidia/cuda:13.0.9-runtime-ubuntu24.04\",\"os\":\"*\""), today, 0,
	       "note image: image of CUDA 13.0.9 is unknown");
	expect(SPEC("\"image\":\"nvidia/"
		    "cuda:13.0.1-cudnn-runtime-ubuntu24.04\",\"cuda\":\"12.1*\",\"cudnn\":\"8.x\""),
	       today, 2, "inconsistent cuda: the image has CUDA 13.0.1");
	expect(SPEC("\"description\":\"nothing\""), today, 1,
	       "inconsistent spec: requires nothing");
	expect(SPEC("\"env\":{\"CUBLAS_WORKSPACE_CONFIG\":\":4096:2\"}"), today, 1,
	       "inconsistent env.CUBLAS");
}

static void documents_of_the_teams(void **state)
{
	(void)state;
	expect("kaggle-2025-09", today, 3, "CUDA 12.1 images reached their end of life");
	expect(LS_SOURCE_DIR "/tests/spec/training-as-documented.json", today, 3,
	       "missing torch: torch 2.5.0+cu126 was never released");
	expect(LS_SOURCE_DIR "/tests/spec/training-as-documented.json", today, 3,
	       "admits branch R535");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_files_are_sound),
		cmocka_unit_test(tables_agree_with_each_other),
		cmocka_unit_test(wheels),
		cmocka_unit_test(architectures),
		cmocka_unit_test(faults_are_found),
		cmocka_unit_test(more_faults_are_found),
		cmocka_unit_test(documents_of_the_teams),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
