#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "env/facts/vars.h"
#include "env/rules/findings.h"

static struct ls_spec *spec_of(const char *text)
{
	struct ls_spec *spec;
	struct ls_err err;
	if (ls_spec_parse(text, strlen(text), "test", &spec, &err))
		fail_msg("%s", err.msg);
	return spec;
}

static enum ls_outcome outcome(const struct ls_findings *l, const char *id)
{
	const struct ls_finding *f = ls_findings_find(l, id);
	assert_non_null(f);
	return f->outcome;
}

static void known_absent_unknown_and_never_asked(void **state)
{
	(void)state;
	struct ls_spec *spec =
		spec_of("{\"schema\": 1, \"name\": \"t\", \"torch\": \"2.3.1+cu121\", "
			"\"torch_cuda\": \"12.1*\","
			"\"cudnn\": \"8.x\", \"driver\": \">=525.60.13\", \"glibc\": \">=2.17\"}");
	struct ls_facts *f = ls_facts_new();
	struct ls_findings *l = ls_findings_new();
	ls_facts_set(f, "torch", "2.3.1+cu121", "s");
	ls_facts_absent(f, "torch_cuda", "s", "a CPU build");
	ls_facts_set(f, "cudnn", "8905", "s"); /* the integer of 8.9.5 */
	ls_facts_unknown(f, "driver", "s", "no driver");
	ls_findings_compare(l, f, spec);
	assert_int_equal(l->n, 5);
	assert_int_equal(outcome(l, "torch"), LS_OUTCOME_MATCH);
	assert_int_equal(outcome(l, "torch_cuda"), LS_OUTCOME_MISMATCH);
	assert_int_equal(outcome(l, "cudnn"), LS_OUTCOME_MATCH);
	assert_int_equal(outcome(l, "driver"), LS_OUTCOME_UNKNOWN);
	assert_int_equal(outcome(l, "glibc"), LS_OUTCOME_UNKNOWN);
	assert_int_equal(ls_findings_verdict(l), LS_OUTCOME_MISMATCH);
	assert_string_equal(ls_findings_find(l, "torch_cuda")->found, "absent: a CPU build");
	ls_findings_free(l);
	ls_facts_free(f);
	ls_spec_free(spec);
}

static struct ls_finding required(const char *id, enum ls_outcome o, enum ls_level level)
{
	return (struct ls_finding){.id = (char *)(uintptr_t)id, .outcome = o, .level = level};
}

static void only_required_findings_decide(void **state)
{
	(void)state;
	struct ls_findings *l = ls_findings_new();
	assert_int_equal(ls_findings_verdict(l), LS_OUTCOME_MATCH);
	struct ls_finding f = required("a", LS_OUTCOME_MISMATCH, LS_LEVEL_RECOMMENDED);
	ls_findings_add(l, &f);
	f = required("b", LS_OUTCOME_UNKNOWN, LS_LEVEL_INFORMATIONAL);
	ls_findings_add(l, &f);
	assert_int_equal(ls_findings_verdict(l), LS_OUTCOME_MATCH);
	f = required("c", LS_OUTCOME_UNKNOWN, LS_LEVEL_REQUIRED);
	ls_findings_add(l, &f);
	assert_int_equal(ls_findings_verdict(l), LS_OUTCOME_UNKNOWN);
	f = required("d", LS_OUTCOME_MISMATCH, LS_LEVEL_REQUIRED);
	ls_findings_add(l, &f);
	assert_int_equal(ls_findings_verdict(l), LS_OUTCOME_MISMATCH);
	ls_findings_free(l);
	ls_findings_free(NULL);
}

/* Facts of the files and of a running Python, and the one finding they should give (NULL:
 * none). */
static void expect_deep(const char *key, const char *file, const char *deep, const char *id)
{
	struct ls_facts *f = ls_facts_new();
	struct ls_findings *l = ls_findings_new();
	char deep_key[64];
	snprintf(deep_key, sizeof deep_key, "deep.%s", key);
	ls_facts_set(f, "deep.python", "3.11.2", "s");
	ls_facts_set(f, "deep.torch", "2.3.1+cu121", "s");
	if (file)
		ls_facts_set(f, key, file, "s");
	else
		ls_facts_absent(f, key, "s", "none");
	if (deep)
		ls_facts_set(f, deep_key, deep, "s");
	else
		ls_facts_absent(f, deep_key, "s", "None");
	ls_findings_deep(l, f);
	assert_int_equal(l->n, id ? 1 : 0);
	if (id)
		assert_string_equal(l->items[0].id, id);
	ls_findings_free(l);
	ls_facts_free(f);
}

static void files_against_a_running_python(void **state)
{
	(void)state;
	expect_deep("torch", "2.3.1+cu121", "2.3.1+cu121", NULL);
	expect_deep("torch", "2.3.1+cu121", "2.3.1+cpu", "deep-torch");
	expect_deep("torch_cuda", NULL, NULL, NULL);
	expect_deep("torch_cuda", NULL, "12.1", "deep-torch_cuda");
	expect_deep("cudnn", "8.9.2.26", "8902", NULL);
	expect_deep("cudnn", "9.1.0.70", "90100", NULL);
	expect_deep("cudnn", "8.9.2.26", "8907", "deep-cudnn");
	expect_deep("cudnn", "9.1.0.70", "90102", "deep-cudnn");
	expect_deep("package.numpy", "1.26.4", "1.26.4", NULL);
	expect_deep("package.torchvision", "0.18.1+cu121", "0.18.1", NULL);
	expect_deep("package.numpy", "1.26.4", "2.0.0", "deep-package.numpy");
}

static void variables(void **state)
{
	(void)state;
	static const struct {
		const char *name, *value;
		enum ls_verdict verdict;
	} rows[] = {
		{"CUBLAS_WORKSPACE_CONFIG", ":4096:8", LS_VAR_DETERMINISTIC},
		{"CUBLAS_WORKSPACE_CONFIG", ":16:8", LS_VAR_DETERMINISTIC},
		{"CUBLAS_WORKSPACE_CONFIG", ":4096:2", LS_VAR_FREE},
		{"CUBLAS_WORKSPACE_CONFIG", NULL, LS_VAR_FREE},
		{"PYTHONHASHSEED", "0", LS_VAR_DETERMINISTIC},
		{"PYTHONHASHSEED", "4294967295", LS_VAR_DETERMINISTIC},
		{"PYTHONHASHSEED", "4294967296", LS_VAR_FREE}, /* Python does not start with it */
		{"PYTHONHASHSEED", "18446744073709551616", LS_VAR_FREE},
		{"PYTHONHASHSEED", "random", LS_VAR_FREE},
		{"NVIDIA_TF32_OVERRIDE", "0", LS_VAR_DETERMINISTIC},
		{"NVIDIA_TF32_OVERRIDE", NULL, LS_VAR_FREE},
		{"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", NULL, LS_VAR_DETERMINISTIC},
		{"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "1", LS_VAR_FREE},
		{"CUBLASLT_HEURISTICS_LUT_FILE", "x", LS_VAR_FREE},
		{"MKL_CBWR", "AVX2,STRICT", LS_VAR_DETERMINISTIC},
		{"MKL_CBWR", "AUTO", LS_VAR_FREE},
		{"OMP_NUM_THREADS", "4,2", LS_VAR_DETERMINISTIC},
		{"OMP_NUM_THREADS", "", LS_VAR_FREE},
		{"OMP_NUM_THREADS", "0", LS_VAR_FREE}, /* no count: the runtime takes its own */
		{"XLA_FLAGS", "--a --xla_gpu_deterministic_ops", LS_VAR_DETERMINISTIC},
		{"XLA_FLAGS", "--xla_gpu_deterministic_ops=false", LS_VAR_FREE},
		{"TF_DETERMINISTIC_OPS", "true", LS_VAR_DETERMINISTIC},
		{"CUDA_LAUNCH_BLOCKING", "1", LS_VAR_RECORDED},
		{"NCCL_ALGO", NULL, LS_VAR_RECORDED},
		{"ANYTHING_ELSE", "1", LS_VAR_RECORDED},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(ls_var_judge(rows[i].name, rows[i].value), rows[i].verdict);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_absent_unknown_and_never_asked),
		cmocka_unit_test(only_required_findings_decide),
		cmocka_unit_test(files_against_a_running_python),
		cmocka_unit_test(variables),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
