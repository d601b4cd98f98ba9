/* What include/lockstep.h promises of judging: doctor, specs, comparisons, digests, plans
 * and manifests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/json.h"
#include "lockstep.h"
#include "tensor/safetensors.h"

static char folder[64];

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/ls_judge.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof command, "rm -rf %s", folder);
	return system(command);
}

static struct ls_options *options(const char *command, ...)
{
	struct ls_options *o;
	struct ls_err err;
	va_list ap;
	assert_int_equal(ls_options_new(command, &o, &err), 0);
	va_start(ap, command);
	for (const char *name; (name = va_arg(ap, const char *));)
		if (ls_options_set(o, name, va_arg(ap, const char *), &err))
			fail_msg("%s", err.msg);
	va_end(ap);
	return o;
}

static json_t *parse_take(char *text)
{
	json_t *doc = json_loads(text, 0, NULL);
	assert_non_null(doc);
	ls_free(text);
	return doc;
}

static const char *text_of(const json_t *doc, const char *key)
{
	const char *s = json_string_value(json_object_get(doc, key));
	return s ? s : "";
}

/* --- doctor, spec, plan --- */

static void test_doctor(void **state)
{
	(void)state;
	static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};
	struct ls_options *o = options("doctor", "machine-root", folder, NULL),
			  *tables = options("doctor", "tables", "/", NULL),
			  *cuda = options("doctor", "machine-root", folder, "cuda", NULL, NULL);
	enum ls_answer verdict;
	struct ls_err err;
	char *json = NULL;
	if (ls_doctor(o, environment, &json, &verdict, &err))
		fail_msg("%s", err.msg);
	json_t *doc = parse_take(json);
	assert_true(json_array_size(json_object_get(doc, "facts")) > 10);
	json_decref(doc);
	assert_int_equal(ls_doctor(cuda, NULL, &json, &verdict, &err), 0);
	assert_int_not_equal(verdict, LS_ANSWER_YES);
	ls_free(json);
	assert_int_equal(ls_doctor(tables, environment, &json, &verdict, &err), LS_EINPUT);
	ls_options_free(o);
	ls_options_free(tables);
	ls_options_free(cuda);
}

static void test_spec(void **state)
{
	(void)state;
	struct ls_options *o = options("spec check", "today", "2026-11-19", NULL),
			  *bad = options("spec check", "today", "soon", NULL);
	enum ls_answer verdict;
	struct ls_err err;
	char *json;
	if (ls_spec_judge("kaggle-2025-09", o, &json, &verdict, &err))
		fail_msg("%s", err.msg);
	json_t *doc = parse_take(json);
	assert_string_equal(text_of(doc, "today"), "2026-11-19");
	assert_int_equal(json_is_true(json_object_get(doc, "sound")), verdict == LS_ANSWER_YES);
	json_decref(doc);
	assert_int_equal(ls_spec_judge("no-such-spec", o, &json, &verdict, &err), LS_ENOENT);
	assert_int_equal(ls_spec_judge("kaggle-2025-09", bad, &json, &verdict, &err), LS_EINPUT);
	ls_options_free(o);
	ls_options_free(bad);
}

static void test_plan(void **state)
{
	(void)state;
	struct ls_options *o =
		options("plan", "from", "L40S:4", "to", "H200:2", "batch", "48", NULL);
	enum ls_answer verdict;
	struct ls_err err;
	char *json;
	if (ls_plan_judge(o, &json, &verdict, &err))
		fail_msg("%s", err.msg);
	json_t *doc = parse_take(json);
	assert_int_equal(verdict, LS_ANSWER_YES);
	assert_non_null(json_object_get(doc, "launch"));
	json_decref(doc);
	assert_int_equal(ls_options_set(o, "epochs", "3", &err), 0);
	assert_int_equal(ls_options_check(o, &err), LS_EINPUT);
	assert_int_equal(ls_plan_judge(o, &json, &verdict, &err), LS_EINPUT);
	assert_int_equal(ls_plan_judge(NULL, &json, &verdict, &err), LS_EINPUT);
	ls_options_free(o);
}

/* --- comparisons and digests --- */

static void write_tensors(const char *path, const float *a, const int32_t *b)
{
	struct ls_tensor t[2] = {{.name = "a", .dtype = LS_DT_F32, .elem_size = 4},
				 {.name = "b", .dtype = LS_DT_I32, .elem_size = 4}};
	const uint64_t shape[] = {2, 3}, three[] = {3};
	struct ls_err err;
	t[0].data = (const void *)a;
	t[1].data = (const void *)b;
	assert_int_equal(ls_tensor_set_contiguous(&t[0], shape, 2, &err), 0);
	assert_int_equal(ls_tensor_set_contiguous(&t[1], three, 1, &err), 0);
	assert_int_equal(ls_safetensors_write(path, t, 2, NULL, 0, NULL, &err), 0);
}

static float floats[] = {1, 2, 3, 4, 5, 6}, columns[] = {1, 4, 2, 5, 3, 6};
static int32_t integers[] = {7, 8, 9};

static void test_compare(void **state)
{
	(void)state;
	char a[96], b[96], *text;
	snprintf(a, sizeof a, "%s/a.safetensors", folder);
	snprintf(b, sizeof b, "%s/b.safetensors", folder);
	write_tensors(a, floats, integers);
	floats[5] = 7;
	write_tensors(b, floats, integers);
	floats[5] = 6;
	struct ls_options *o = options("compare", "ignore", "a", NULL);
	struct ls_comparison *c;
	struct ls_err err;
	assert_int_equal(ls_comparison_new(a, b, NULL, &c, &err), 0);
	assert_int_equal(ls_comparison_answer(c), LS_ANSWER_NO);
	static const char *const forms[] = {"text", "json", "html", "markdown"};
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(ls_comparison_report(c, forms[i], &text, &err), 0);
		assert_true(strlen(text) > 20);
		ls_free(text);
	}
	assert_int_equal(ls_comparison_report(c, "pdf", &text, &err), LS_EINPUT);
	ls_comparison_free(c);
	assert_int_equal(ls_comparison_new(a, b, o, &c, &err), 0);
	assert_int_equal(ls_comparison_answer(c), LS_ANSWER_YES);
	ls_comparison_free(c);
	assert_int_equal(ls_comparison_new(a, "/no/such", o, &c, &err), LS_ENOENT);
	ls_options_free(o);
}

static void digest_of(const struct ls_array_tensor *t, size_t n, char ret[65])
{
	struct ls_digest *d;
	struct ls_err err;
	assert_int_equal(ls_digest_new(&d, &err), 0);
	for (size_t i = 0; i < n; i++)
		if (ls_digest_add(d, &t[i], &err))
			fail_msg("%s", err.msg);
	if (ls_digest_final(d, ret, &err))
		fail_msg("%s", err.msg);
	ls_digest_free(d);
}

/* Of a file, of buffers in another order, of a transposed view: one digest. Of other bits,
 * names, types or shapes: others. */
static void test_digest(void **state)
{
	(void)state;
	char path[96], want[65], is[65];
	const uint64_t shape[] = {2, 3}, flat[] = {6}, three[] = {3};
	const int64_t turned[] = {4, 8};
	struct ls_err err;
	snprintf(path, sizeof path, "%s/digest.safetensors", folder);
	write_tensors(path, floats, integers);
	assert_int_equal(ls_digest_file(path, want, &err), 0);
	struct ls_array_tensor t[] = {{"b", "int32", 1, three, NULL, integers},
				      {"a", "float32", 2, shape, NULL, floats}};
	digest_of(t, 2, is);
	assert_string_equal(is, want);
	t[1].stride = turned;
	t[1].data = columns;
	digest_of(t, 2, is);
	assert_string_equal(is, want);
	t[1].stride = NULL;
	digest_of(t, 2, is);
	assert_string_not_equal(is, want);
	t[1] = (struct ls_array_tensor){"a", "float32", 1, flat, NULL, floats};
	digest_of(t, 2, is);
	assert_string_not_equal(is, want);
	t[1] = (struct ls_array_tensor){"a", "int32", 2, shape, NULL, floats};
	digest_of(t, 2, is);
	assert_string_not_equal(is, want);
	t[1] = (struct ls_array_tensor){"c", "float32", 2, shape, NULL, floats};
	digest_of(t, 2, is);
	assert_string_not_equal(is, want);
}

static void test_digest_refused(void **state)
{
	(void)state;
	const uint64_t three[] = {3}, huge[] = {UINT64_MAX};
	const int64_t odd[] = {3};
	char is[65], path[96];
	struct ls_digest *d;
	struct ls_err err;
	assert_int_equal(ls_digest_new(&d, &err), 0);
	assert_int_equal(ls_digest_final(d, is, &err), LS_EINPUT);
	struct ls_array_tensor t = {"b", "int33", 1, three, NULL, integers};
	assert_int_equal(ls_digest_add(d, &t, &err), LS_EINPUT);
	t.type = "int32";
	t.dimensions = 99;
	assert_int_equal(ls_digest_add(d, &t, &err), LS_EINPUT);
	t.dimensions = 1;
	t.stride = odd;
	assert_int_equal(ls_digest_add(d, &t, &err), LS_EINPUT);
	t.stride = NULL;
	t.shape = huge;
	assert_int_equal(ls_digest_add(d, &t, &err), LS_EINPUT);
	t.shape = three;
	t.data = NULL;
	assert_int_equal(ls_digest_add(d, &t, &err), LS_EINPUT);
	t.data = integers;
	assert_int_equal(ls_digest_add(d, &t, &err), 0);
	assert_int_equal(ls_digest_add(d, &t, &err), 0);
	assert_int_equal(ls_digest_final(d, is, &err), LS_EINPUT);
	ls_digest_free(d);
	snprintf(path, sizeof path, "%s/text.json", folder);
	FILE *f = fopen(path, "w");
	fputs("{}", f);
	fclose(f);
	assert_int_equal(ls_digest_file(path, is, &err), LS_EINPUT);
}

/* --- manifests --- */

static void test_manifest(void **state)
{
	(void)state;
	char one[96], two[96], *json;
	snprintf(one, sizeof one, "%s/one", folder);
	snprintf(two, sizeof two, "%s/two", folder);
	static const char *const command[] = {"python", "train.py", NULL};
	static const char *const environment[] = {"PATH=/nowhere", "OMP_NUM_THREADS=1", NULL};
	struct ls_recording r = {
		.command = command, .environment = environment, .out = one, .level = 2, .seed = 7};
	enum ls_answer verdict;
	struct ls_err err;
	if (ls_manifest_record(&r, &json, &err))
		fail_msg("%s", err.msg);
	json_t *doc = parse_take(json);
	assert_string_equal(text_of(doc, "schema"), "lockstep.run/1");
	assert_string_equal(text_of(doc, "state"), "running");
	json_decref(doc);
	assert_int_equal(ls_manifest_read(one, &json, &err), 0);
	ls_free(json);
	r.out = two;
	r.seed = 8;
	assert_int_equal(ls_manifest_record(&r, &json, &err), 0);
	ls_free(json);
	assert_int_equal(ls_manifest_explain(one, two, &json, &verdict, &err), 0);
	assert_int_equal(verdict, LS_ANSWER_NO);
	assert_non_null(strstr(json, "policy.seed"));
	ls_free(json);
	r.level = 4;
	assert_int_equal(ls_manifest_record(&r, &json, &err), LS_EINPUT);
	r.command = NULL;
	assert_int_equal(ls_manifest_record(&r, &json, &err), LS_EINPUT);
	assert_int_equal(ls_manifest_read("/no/such", &json, &err), LS_ENOENT);
}

static void test_policy(void **state)
{
	(void)state;
	const char *const environment[] = {"OMP_NUM_THREADS=4", "NVIDIA_TF32_OVERRIDE=1",
					   "CUBLAS_WORKSPACE_CONFIG=:16:8", NULL};
	char *json;
	struct ls_err err;
	assert_int_equal(ls_policy_describe(2, 7, NULL, environment, &json, &err), 0);
	json_t *told = parse_take(json), *env = json_object_get(told, "env");
	assert_int_equal(json_integer_value(json_object_get(told, "seed")), 7);
	assert_int_equal(json_integer_value(json_object_get(told, "threads")), 4);
	assert_string_equal(text_of(told, "precision"), "fp32");
	assert_string_equal(text_of(env, "PYTHONHASHSEED"), "7");
	assert_string_equal(text_of(env, "CUBLAS_WORKSPACE_CONFIG"), ":16:8");
	assert_string_equal(text_of(env, "NVIDIA_TF32_OVERRIDE"), "0");
	assert_true(json_is_null(json_object_get(env, "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE")));
	assert_null(json_object_get(env, "OMP_NUM_THREADS"));
	json_decref(told);
	assert_int_equal(ls_policy_describe(3, 7, "tf32", environment, &json, &err), 0);
	told = parse_take(json);
	env = json_object_get(told, "env");
	assert_int_equal(json_integer_value(json_object_get(told, "threads")), 1);
	assert_true(json_is_null(json_object_get(env, "NVIDIA_TF32_OVERRIDE")));
	json_decref(told);
	assert_int_equal(ls_policy_describe(4, 7, NULL, NULL, &json, &err), LS_EINPUT);
	assert_int_equal(ls_policy_describe(1, UINT64_MAX, NULL, NULL, &json, &err), LS_EINPUT);
	assert_int_equal(ls_policy_describe(1, 7, "fp64", NULL, &json, &err), LS_EINPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_doctor),   cmocka_unit_test(test_spec),
		cmocka_unit_test(test_plan),     cmocka_unit_test(test_compare),
		cmocka_unit_test(test_digest),   cmocka_unit_test(test_digest_refused),
		cmocka_unit_test(test_manifest), cmocka_unit_test(test_policy),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
