#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/embed.h"
#include "env/facts/gpu_catalog.h"
#include "env/facts/version.h"
#include "env/spec/calendar.h"
#include "env/spec/spec.h"

static int order(const char *a, const char *b)
{
	int o = 99;
	assert_true(ls_version_compare(a, b, &o));
	return o;
}

static void versions_in_order(void **state)
{
	(void)state;
	static const char *const ascending[] = {"1.9",       "1.10.0.dev3", "1.10a1",     "1.10b2",
						"1.10rc1",   "1.10",        "1.10.post1", "1.10.1",
						"535.54.03", "535.86.10",   "535.161.08"};
	for (size_t i = 0; i < sizeof ascending / sizeof *ascending; i++)
		for (size_t j = 0; j < sizeof ascending / sizeof *ascending; j++)
			assert_int_equal(order(ascending[i], ascending[j]), (i > j) - (i < j));
	assert_int_equal(order("12.1", "12.1.0"), 0);
	assert_int_equal(order("2.3.1+cu121", "2.3.1+cu118"), 0);
	assert_int_equal(order("1.0.post1.dev2", "1.0"), 1);
}

static void not_versions(void **state)
{
	(void)state;
	static const char *const bad[] = {"",
					  "abc",
					  "1..2",
					  "1.2+",
					  "1.2 ",
					  " 1.2",
					  "1.2.x",
					  "1.2,3",
					  "1.2+a b",
					  ".1",
					  "1.",
					  "99999999999999999999999",
					  "1.2.3.4.5.6.7.8.9"};
	struct ls_version v;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (ls_version_parse(bad[i], &v))
			fail_msg("\"%s\" was read as a version", bad[i]);
}

static void both_cudnn_encodings(void **state)
{
	(void)state;
	static const struct {
		const char *in, *out;
		uint64_t code;
	} cases[] = {{"8905", "8.9.5", 8905},           {"8902", "8.9.2", 8902},
		     {"91900", "9.19.0", 91900},        {"90100", "9.1.0", 90100},
		     {"7605", "7.6.5", 7605},           {"8.9.2.26", "8.9.2.26", 8902},
		     {"9.19.0.56", "9.19.0.56", 91900}, {"100000", "10.0.0", 100000}};
	char text[LS_VERSION_TEXT];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_true(ls_version_cudnn(cases[i].in, text));
		assert_string_equal(text, cases[i].out);
		assert_int_equal(ls_version_cudnn_code(text), cases[i].code);
	}
	assert_false(ls_version_cudnn("eight", text));
	assert_int_equal(ls_version_cudnn_code("8.9"), 0);
}

static void matchers(void **state)
{
	(void)state;
	enum {
		V = LS_AS_VERSION,
		C = LS_AS_CUDNN,
		T = LS_AS_TEXT,
		M = LS_AS_MEMORY,
		K = LS_AS_KERNEL
	};
	enum { NO = LS_MATCH_NO, YES = LS_MATCH_YES, UNKNOWN = LS_MATCH_UNKNOWN };
	static const struct {
		int flavour;
		const char *matcher, *value;
		int answer;
	} cases[] = {
		{V, "2.3.1+cu121", "2.3.1+cu121", YES},
		{V, "2.3.1+cu121", "2.3.1", NO},
		{V, "2.3.1+cu121", "2.3.1+cu118", NO},
		{V, "2.3.1", "2.3.1+cu121", YES},
		{V, "2.3.1", "2.3.10", NO},
		{V, "12.1*", "12.1", YES},
		{V, "12.1*", "12.1.105", YES},
		{V, "12.1*", "12.10", NO},
		{V, "12.1.*", "12.1.1", YES},
		{V, "2.3.1+cu*", "2.3.1+cu121", YES},
		{V, "2.3.1+cu*", "2.3.1+cpu", NO},
		{V, "8.x", "8.9.2", YES},
		{V, "8.x", "80.1", NO},
		{V, "3.10.x", "3.10.14", YES},
		{V, "3.10.x", "3.11.2", NO},
		{V, "*", "anything", YES},
		{V, ">=535.86.10", "535.161.08", YES},
		{V, ">=535.86.10", "535.86.10", YES},
		{V, ">=535.86.10", "535.54.03", NO},
		{V, ">=535.86.10", "not a version", UNKNOWN},
		{V, ">=535.86.10", NULL, UNKNOWN},
		{V, ">=3.10,<3.13", "3.12.9", YES},
		{V, ">=3.10,<3.13", "3.13.0", NO},
		{V, ">=3.10, <3.13, !=3.11.2", "3.11.2", NO},
		{V, "==1.0", "1.0.0", YES},
		{V, "!=1.0", "1.1", YES},
		{C, "8.x", "8905", YES},
		{C, "8.x", "91900", NO},
		{C, "9.x", "91900", YES},
		{C, "8.9.5", "8905", YES},
		{C, "8905", "8.9.5.29", YES},
		{C, "8.9.2.26", "8902", YES},
		{C, "8.9.2.26", "8.9.2.27", NO},
		{C, ">=9.1", "90100", YES},
		{C, ">=9.1", "8907", NO},
		{T, ":4096:8", ":4096:8", YES},
		{T, ":4096:8", ":16:8", NO},
		{T, "1.0", "1", NO},
		{T, "Ubuntu 22.04*", "Ubuntu 22.04.4 LTS", YES},
		{T, ">=1", ">=1", YES},
		{T, "", "", YES},
		{K, ">=5.15", "5.15.0-1053-aws", YES},
		{K, ">=5.15", "6.1.0-28-arm64", YES},
		{K, ">=5.15", "5.4.0-150-generic", NO},
		{K, ">=5.15", "5.15.133+", YES},
		{K, ">5.15", "5.15.0-1053-aws", NO},
		{K, ">5.15.0-1052", "5.15.0-1053-aws", YES},
		{K, ">=5.15.0-1054", "5.15.0-1053-aws", NO},
		{K, "<=5.15", "5.15.0-1053-aws", YES},
		{K, "<6", "6.0.0", NO},
		{K, "<6.9", "6.9-rc3", YES},
		{K, ">=6.9", "6.9-rc3", NO},
		{K, ">=4.18.0-513", "4.18.0-513.5.1.el8_9.x86_64", YES},
		{K, "<4.18.0-513.5", "4.18.0-513.5.1.el8_9.x86_64", NO},
		{K, "!=6.1.0-27", "6.1.0-28-arm64", YES},
		{K, "!=6.1.0", "6.1.0-28-arm64", NO},
		{K, ">=5.10,<6.2", "6.1.0-28-arm64", YES},
		{K, "6.1", "6.1.0-28-arm64", YES},
		{K, "6.1.0-28", "6.1.0-28-arm64", YES},
		{K, "6.1.0-28-arm64", "6.1.0-28-arm64", YES},
		{K, "6.1.0-28-amd64", "6.1.0-28-arm64", NO},
		{K, "==5.15.133+", "5.15.133+", YES},
		{K, "5.15.133+", "5.15.133", NO},
		{K, "6.1*", "6.1.0-28-arm64", YES},
		{K, "6.x", "6.1.0-28-arm64", YES},
		{K, "6.1*", "6.10.1", NO},
		{K, "odd kernel", "odd kernel", YES},
		{K, ">=5.15", "odd kernel", UNKNOWN},
		{K, "!=5.15", "odd kernel", YES},
		{M, "16 GB", "15360 MiB", YES},
		{M, "16 GB", "14000 MiB", NO},
		{M, "16 GB ±5%", "15360 MiB", NO},
		{M, "16 GB +-7%", "15360 MiB", YES},
		{M, ">=80 GB", "81559 MiB", YES},
		{M, ">=80 GB", "46068 MiB", NO},
		{M, "<=24 GiB", "24576 MiB", YES},
		{M, ">=4 GB", "lots", UNKNOWN},
		{M, "141 GB", "143771 MiB", YES},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ls_matcher *m;
		struct ls_err err = {0};
		if (ls_matcher_parse(cases[i].matcher, (enum ls_flavour)cases[i].flavour, &m, &err))
			fail_msg("%s: %s", cases[i].matcher, err.msg);
		int got = (int)ls_matcher_test(m, cases[i].value);
		if (got != cases[i].answer)
			fail_msg("%s against %s: %d", cases[i].matcher,
				 cases[i].value ? cases[i].value : "NULL", got);
		assert_string_equal(ls_matcher_text(m),
				    *cases[i].matcher ? cases[i].matcher : "\"\"");
		ls_matcher_free(m);
	}
}

static void bad_matchers(void **state)
{
	(void)state;
	static const struct {
		enum ls_flavour flavour;
		const char *text;
	} bad[] = {{LS_AS_VERSION, ""},       {LS_AS_VERSION, ">="},   {LS_AS_VERSION, ">=abc"},
		   {LS_AS_VERSION, "1*2"},    {LS_AS_VERSION, "1.0,"}, {LS_AS_VERSION, "$(reboot)"},
		   {LS_AS_MEMORY, "16 pigs"}, {LS_AS_MEMORY, "GB"},    {LS_AS_MEMORY, "1 GB +-x%"},
		   {LS_AS_VERSION, "1;2"},    {LS_AS_VERSION, "1\n2"}, {LS_AS_KERNEL, ">=new"},
		   {LS_AS_KERNEL, ">="}};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct ls_matcher *m = NULL;
		struct ls_err err;
		assert_int_equal(ls_matcher_parse(bad[i].text, bad[i].flavour, &m, &err),
				 LS_EINPUT);
		assert_null(m);
	}
}

static void gpu_names(void **state)
{
	(void)state;
	assert_true(ls_gpu_name_is("T4", "Tesla T4"));
	assert_true(ls_gpu_name_is("Tesla T4", "NVIDIA T4"));
	assert_true(ls_gpu_name_is("a100", "NVIDIA A100-SXM4-40GB"));
	assert_true(ls_gpu_name_is("A100 SXM4 40GB", "NVIDIA A100-SXM4-40GB"));
	assert_true(ls_gpu_name_is("H200", "NVIDIA H200"));
	assert_false(ls_gpu_name_is("A10", "NVIDIA A100-SXM4-40GB"));
	assert_false(ls_gpu_name_is("L40", "NVIDIA L40S"));
	assert_false(ls_gpu_name_is("RTX 3060", "NVIDIA GeForce RTX 3060 Ti"));
	assert_true(ls_gpu_name_is("RTX 3060", "NVIDIA GeForce RTX 3060"));
	assert_false(ls_gpu_name_is("", "Tesla T4"));
	assert_false(ls_gpu_name_is("NVIDIA", "Tesla T4"));
}

static struct ls_spec *parsed(const char *text)
{
	struct ls_spec *spec = NULL;
	struct ls_err err = {0};
	if (ls_spec_parse(text, strlen(text), "t.json", &spec, &err))
		fail_msg("%s", err.msg);
	return spec;
}

static void sets_of_gpus(void **state)
{
	(void)state;
	struct ls_spec *spec = parsed(
		"{\"schema\":1,\"name\":\"t\",\"gpus\":{\"one_of\":[{\"name\":\"T4\",\"count\":2},"
		"\"P100\"],\"min_capability\":\"6.0\",\"memory\":\">=16 GB\"}}");
	const struct ls_gpuset *g = ls_spec_find(spec, "gpus")->gpus;
	const struct ls_gpu_seen
		t4 = {.name = "Tesla T4", .capability = "7.5", .memory_mib = 15360},
		p100 = {.name = "Tesla P100-PCIE-16GB", .capability = "6.0", .memory_mib = 16276},
		l4 = {.name = "NVIDIA L4", .capability = "8.9", .memory_mib = 23034},
		dim = {.name = NULL, .capability = NULL, .memory_mib = 0};
	struct ls_gpu_seen two[] = {t4, t4}, mixed[] = {t4, p100};
	char why[200];
	assert_int_equal(ls_gpuset_test(g, two, 2, why, sizeof why), LS_MATCH_YES);
	assert_string_equal(why, "");
	assert_int_equal(ls_gpuset_test(g, two, 1, why, sizeof why), LS_MATCH_NO);
	assert_int_equal(ls_gpuset_test(g, &p100, 1, why, sizeof why), LS_MATCH_YES);
	assert_int_equal(ls_gpuset_test(g, mixed, 2, why, sizeof why), LS_MATCH_NO);
	assert_int_equal(ls_gpuset_test(g, &l4, 1, why, sizeof why), LS_MATCH_NO);
	assert_string_equal(why, "1 x NVIDIA L4 is not among the accepted GPUs");
	assert_int_equal(ls_gpuset_test(g, &dim, 1, why, sizeof why), LS_MATCH_UNKNOWN);
	assert_int_equal(ls_gpuset_test(g, NULL, 0, why, sizeof why), LS_MATCH_UNKNOWN);
	assert_string_equal(why, "no GPU is seen");
	assert_string_equal(ls_gpuset_text(g), "T4 x 2 or P100, capability >=6.0, memory >=16 GB");
	ls_spec_free(spec);
}

static void bad_specs(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} bad[] = {
		{"{\"schema\":1,\"name\":\"t\",", "t.json:1:"},
		{"[]", "t.json: a spec is an object, found a list"},
		{"{}", "\"schema\": 1 is missing"},
		{"{\"schema\":2,\"name\":\"t\"}", "reads schema 1"},
		{"{\"schema\":1}", "\"name\" is missing"},
		{"{\"schema\":1,\"name\":\"a b\"}", "name: \"a b\" is not a name"},
		{"{\"schema\":1,\"name\":\"t\",\"torhc\":\"1\"}",
		 "unknown key \"torhc\" (did you mean \"torch\"?)"},
		{"{\"schema\":1,\"name\":\"t\",\"torch\":1}",
		 "torch: expected a string, found a number"},
		{"{\"schema\":1,\"name\":\"t\",\"torch\":[]}", "torch: an empty list"},
		{"{\"schema\":1,\"name\":\"t\",\"torch\":{\"level\":\"required\"}}",
		 "torch: \"match\" is missing"},
		{"{\"schema\":1,\"name\":\"t\",\"torch\":{\"match\":\"1\",\"level\":\"must\"}}",
		 "torch: level:"},
		{"{\"schema\":1,\"name\":\"t\",\"torch\":{\"macth\":\"1\"}}",
		 "did you mean \"match\"?"},
		{"{\"schema\":1,\"name\":\"t\",\"packages\":[]}",
		 "packages: expected an object, found a list"},
		{"{\"schema\":1,\"name\":\"t\",\"packages\":{\"a b\":\"1\"}}",
		 "\"a b\" is not the name of a package"},
		{"{\"schema\":1,\"name\":\"t\",\"packages\":{\"a_b\":\"1\",\"A-B\":\"1\"}}",
		 "\"A-B\" is given twice"},
		{"{\"schema\":1,\"name\":\"t\",\"env\":{\"A-B\":\"1\"}}",
		 "not the name of an environment variable"},
		{"{\"schema\":1,\"name\":\"t\",\"gpus\":{}}", "gpus: expects nothing"},
		{"{\"schema\":1,\"name\":\"t\",\"gpus\":[]}", "gpus: an empty list"},
		{"{\"schema\":1,\"name\":\"t\",\"gpus\":{\"count\":0}}", "a count is from 1"},
		{"{\"schema\":1,\"name\":\"t\",\"image\":{\"base\":\"a b\"}}",
		 "image: base: \"a b\" is not an image"},
		{"{\"schema\":1,\"name\":\"t\",\"image\":{\"digest\":\"sha256:12\"}}",
		 "image: digest:"},
		{"{\"schema\":1,\"name\":\"t\",\"hardware\":{\"minimum\":{\"vram\":\"x\"}}}",
		 "minimum: vram:"},
		{"{\"schema\":1,\"name\":\"t\",\"hardware\":{\"minimum\":{\"vrm\":\"x\"}}}",
		 "did you mean \"vram\"?"},
		{"{\"schema\":1,\"name\":\"t\",\"ci\":{\"schedule\":\"1 2\"}}",
		 "not a cron expression"},
		{"{\"schema\":1,\"name\":\"t\",\"date\":\"yesterday\"}", "is not a day"},
		{"{\"schema\":1,\"name\":\"t\",\"date\":\"2026-02-30\"}", "is not a day"},
		{"{\"schema\":1,\"name\":\"t\",\"ci\":{\"schedule\":\"61 25 32 13 8\"}}",
		 "not a cron expression"},
		{"{\"schema\":1,\"name\":\"t\",\"ci\":{\"schedule\":\"0 5 * * 5-1\"}}",
		 "not a cron expression"},
		{"{\"schema\":1,\"name\":\"t\",\"torch\":\"latest\"}", "begins with a digit"},
		{"{\"schema\":1,\"name\":\"t\",\"torch\":\">2.5,<2.3\"}", "nothing meets both"},
		{"{\"schema\":1,\"name\":\"t\",\"torch\":\"2.5.1,<2.5\"}", "nothing meets both"},
		{"{\"schema\":1,\"name\":\"t\",\"torch\":\">=2.5,<2.5\"}", "nothing meets both"},
		{"{\"schema\":1,\"name\":\"t\",\"torch\":\"~=2\"}", "two numbers or more"},
		{"{\"schema\":1,\"name\":\"..\"}", "does not begin with"},
		{"{\"schema\":1,\"name\":\"t\",\"gpus\":{\"count\":\"many\"}}", "is not a count"},
		{"{\"schema\":1,\"name\":\"t\",\"gpus\":{\"count\":\"1.5\"}}", "is not a count"},
		{"{\"schema\":1,\"name\":\"t\",\"gpus\":{\"min_capability\":\"75\"}}",
		 "such as \"8.0\""},
		{"{\"schema\":1,\"name\":\"t\",\"gpus\":{\"one_of\":\"T4\",\"all_of\":\"T4\"}}",
		 "exclude each other"},
		{"{\"schema\":1,\"name\":\"t\",\"hardware\":{\"minimum\":{\"ram\":32}}}",
		 "needs its unit"},
		{"{\"schema\":1,\"name\":\"t\",\"hardware\":{\"minimum\":{\"ram\":\"32\"}}}",
		 "with its unit"},
		{"{\"schema\":1,\"name\":\"t\",\"gpus\":{\"memory\":\">=16\"}}", "with its unit"},
		{"{\"schema\":1,\"name\":\"t\",\"hardware\":{\"minimum\":{\"gpu_count\":0}}}",
		 "gpu_count: a count is from 1"},
		{"{\"schema\":1,\"name\":\"t\",\"description\":\"a\\nb\"}", "control characters"},
		{"{\"schema\":1,\"name\":\"t\",\"torch\":\"1\\u0000\"}", "t.json:1:"},
		{"{\"schema\":1,\"name\":\"t\",\"env\":{\"A\":\"1\\nRUN x\"}}",
		 "env.A: a value with control characters"},
		{"{\"schema\":1,\"name\":\"t\",\"gpus\":[\"a\\tb\"]}",
		 "gpus: a name with control characters"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct ls_spec *spec = NULL;
		struct ls_err err = {0};
		assert_int_equal(
			ls_spec_parse(bad[i].text, strlen(bad[i].text), "t.json", &spec, &err),
			LS_EINPUT);
		assert_null(spec);
		if (!strstr(err.msg, bad[i].message))
			fail_msg("%s\n said: %s", bad[i].text, err.msg);
	}
}

static enum ls_match gpus_match(const char *text, const struct ls_gpu_seen *seen, size_t n,
				char why[256])
{
	json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);
	struct ls_gpuset *g = NULL;
	struct ls_err err = {0};
	if (ls_gpuset_from_json(v, "t", &g, &err))
		fail_msg("%s", err.msg);
	enum ls_match m = ls_gpuset_test(g, seen, n, why, 256);
	ls_gpuset_free(g);
	json_decref(v);
	return m;
}

static void mixed_gpus(void **state)
{
	(void)state;
	static const struct ls_gpu_seen three[] = {
		{.name = "Tesla T4", .capability = "7.5", .memory_mib = 15360},
		{.name = "Tesla T4", .capability = "7.5", .memory_mib = 15360},
		{.name = "NVIDIA L4", .capability = "8.9", .memory_mib = 23034}};
	static const char both[] = "{\"all_of\": [{\"name\": \"T4\", \"count\": 2}, {\"name\": "
				   "\"L4\", \"count\": 1}]}";
	char why[256];
	assert_int_equal(gpus_match(both, three, 3, why), LS_MATCH_YES);
	assert_int_equal(gpus_match(both, three, 2, why), LS_MATCH_NO);
	assert_int_equal(gpus_match("[\"T4\", \"L4\"]", three, 3, why), LS_MATCH_NO);
	assert_string_equal(why, "2 x Tesla T4 and 1 x NVIDIA L4 are not among the accepted GPUs");
}

/* A mode that is not known is never the wanted one. */
static void modes_of_gpus(void **state)
{
	(void)state;
	static const char wanted[] = "{\"ecc\": \"on\", \"mig\": \"off\"}";
	struct ls_gpu_seen gpu = {.name = "NVIDIA H200", .ecc = "on", .mig = "off"};
	char why[256];
	assert_int_equal(gpus_match(wanted, &gpu, 1, why), LS_MATCH_YES);
	gpu.mig = NULL;
	assert_int_equal(gpus_match(wanted, &gpu, 1, why), LS_MATCH_UNKNOWN);
	gpu.ecc = "off";
	assert_int_equal(gpus_match(wanted, &gpu, 1, why), LS_MATCH_NO);
	assert_string_equal(why,
			    "GPU 0 (NVIDIA H200) has ECC off; GPU 0 (NVIDIA H200) has MIG unknown");
	struct ls_gpuset *g = NULL;
	struct ls_err err = {0};
	json_t *v = json_pack("{s:b}", "ecc", 1);
	assert_int_equal(ls_gpuset_from_json(v, "gpus", &g, &err), LS_EINPUT);
	assert_string_equal(err.msg, "gpus: ecc: expected \"on\" or \"off\"");
	json_decref(v);
}

static void compatible_versions(void **state)
{
	(void)state;
	struct ls_matcher *m = NULL;
	assert_int_equal(ls_matcher_parse("~=3.9.0", LS_AS_VERSION, &m, NULL), 0);
	assert_int_equal(ls_matcher_test(m, "3.9.4"), LS_MATCH_YES);
	assert_int_equal(ls_matcher_test(m, "3.10.0"), LS_MATCH_NO);
	assert_int_equal(ls_matcher_test(m, "3.8.9"), LS_MATCH_NO);
	ls_matcher_free(m);
}

static void days(void **state)
{
	(void)state;
	assert_true(ls_calendar_is_date("2024-02-29"));
	assert_false(ls_calendar_is_date("2026-02-29"));
	assert_false(ls_calendar_is_date("2026-1-01"));
	assert_int_equal(ls_calendar_days("2024-02-28", "2024-03-01"), 2);
	assert_int_equal(ls_calendar_days("2026-11-19", "2025-11-19"), -365);
	assert_true(ls_calendar_is_cron("43 5 * * 1"));
	assert_true(ls_calendar_is_cron("*/15 0-6,12 1,15 * 0-7/2"));
	assert_false(ls_calendar_is_cron("60 5 * * 1"));
	assert_false(ls_calendar_is_cron("1 5 * * 1 2026"));
	assert_false(ls_calendar_is_cron("1 5 0 * 1"));
}

static void shipped_kaggle(void **state)
{
	(void)state;
	struct ls_spec *spec = NULL;
	struct ls_err err = {0};
	assert_int_equal(ls_spec_load("kaggle-2025-09", &spec, &err), 0);
	assert_string_equal(ls_spec_exact(spec, "torch"), "2.3.1+cu121");
	assert_string_equal(ls_spec_exact(spec, "package.torchvision"), "0.18.1+cu121");
	assert_string_equal(ls_check_text(ls_spec_find(spec, "cudnn")), "8.x");
	assert_null(ls_spec_exact(spec, "cudnn"));
	assert_int_equal(ls_spec_find(spec, "env.PYTHONHASHSEED")->level, LS_LEVEL_RECOMMENDED);
	ls_spec_free(spec);
	assert_int_equal(ls_spec_load("kagle-2025-09", &spec, &err), LS_ENOENT);
	assert_non_null(strstr(err.msg, "did you mean \"kaggle-2025-09\"?"));
	assert_int_equal(ls_spec_load("/nonexistent/x.json", &spec, &err), LS_ENOENT);
}

static void every_shipped_spec_loads(void **state)
{
	(void)state;
	size_t n = 0;
	for (char *name; (name = ls_spec_shipped(n)); n++) {
		struct ls_spec *spec = NULL;
		struct ls_err err = {0};
		if (ls_spec_load(name, &spec, &err))
			fail_msg("%s", err.msg);
		assert_string_equal(spec->name, name);
		assert_non_null(spec->description);
		ls_spec_free(spec);
		free(name);
	}
	assert_true(n >= 1);
}

static void hardware_becomes_checks(void **state)
{
	(void)state;
	struct ls_spec *spec = parsed("{\"schema\":1,\"name\":\"t\",\"hardware\":{\"minimum\":{"
				      "\"vram\":\"4 GB\",\"driver\":\"535.86.10\","
				      "\"capability\":\"6.0\"},\"recommended\":{\"ram\":\"16 "
				      "GB\",\"driver\":\"550\",\"gpu_count\":1}}}");
	assert_int_equal(spec->n_checks, 6);
	assert_string_equal(ls_check_text(ls_spec_find(spec, "vram")), ">=4 GB");
	assert_string_equal(ls_check_text(ls_spec_find(spec, "gpu_count")), ">=1");
	assert_int_equal(ls_spec_find(spec, "driver")->level, LS_LEVEL_REQUIRED);
	assert_int_equal(ls_matcher_test(ls_spec_find(spec, "capability")->matcher, "7.5"),
			 LS_MATCH_YES);
	ls_spec_free(spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_in_order),
		cmocka_unit_test(not_versions),
		cmocka_unit_test(both_cudnn_encodings),
		cmocka_unit_test(matchers),
		cmocka_unit_test(bad_matchers),
		cmocka_unit_test(gpu_names),
		cmocka_unit_test(sets_of_gpus),
		cmocka_unit_test(bad_specs),
		cmocka_unit_test(modes_of_gpus),
		cmocka_unit_test(mixed_gpus),
		cmocka_unit_test(compatible_versions),
		cmocka_unit_test(days),
		cmocka_unit_test(shipped_kaggle),
		cmocka_unit_test(every_shipped_spec_loads),
		cmocka_unit_test(hardware_becomes_checks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
