#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "env/python/pyfiles.h"
#include "env/python/requires.h"

static void torch_version_of(const char *text, struct ls_torch_file *ret)
{
	ls_torch_file_parse(text, strlen(text), ret);
}

static void version_py(void **state)
{
	(void)state;
	struct ls_torch_file t;
	torch_version_of("from typing import Optional\n"
			 "__all__ = ['__version__', 'cuda']\n"
			 "__version__ = '2.4.0+cu121'\n"
			 "debug = False\n"
			 "cuda: Optional[str] = '12.1'\n"
			 "git_version = 'abc'\n"
			 "hip: Optional[str] = None\n",
			 &t);
	assert_string_equal(t.version, "2.4.0+cu121");
	assert_string_equal(t.cuda, "12.1");
	assert_string_equal(t.git, "abc");
	assert_null(t.hip);
	assert_false(t.cuda_is_none);
	ls_torch_file_done(&t);
	torch_version_of("__version__ = \"1.13.1\"\ncuda = None", &t);
	assert_string_equal(t.version, "1.13.1");
	assert_null(t.cuda);
	assert_true(t.cuda_is_none);
	ls_torch_file_done(&t);
}

static void version_py_that_says_nothing(void **state)
{
	(void)state;
	const char *const texts[] = {"",
				     "__version__",
				     "__version__ = 2",
				     "__version__ = 'open",
				     "    __version__ = 'inner'",
				     "__version__ = ''",
				     "# __version__ = '1'",
				     "__version__ = 'a\x1b[31mb'"};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct ls_torch_file t;
		torch_version_of(texts[i], &t);
		assert_null(t.version);
		assert_false(t.cuda_is_none);
		ls_torch_file_done(&t);
	}
}

static void metadata(void **state)
{
	(void)state;
	struct ls_metadata m;
	const char *text = "Metadata-Version: 2.1\r\nname: numpy\r\nSummary: x\r\n Version: "
			   "folded\r\nVersion: 1.26.4\r\n\r\nbody";
	ls_metadata_parse(text, strlen(text), &m);
	assert_string_equal(m.name, "numpy");
	assert_string_equal(m.version, "1.26.4");
	ls_metadata_done(&m);
	text = "Name: x\n\nVersion: 9\n"; /* the description begins at the blank line */
	ls_metadata_parse(text, strlen(text), &m);
	assert_null(m.version);
	ls_metadata_done(&m);
}

static void pyvenv(void **state)
{
	(void)state;
	struct ls_pyvenv v;
	const char *text = "home = /usr/bin\nInclude-System-Site-Packages = TRUE\nversion_info = "
			   "3.12.4.final.0\n";
	ls_pyvenv_parse(text, strlen(text), &v);
	assert_string_equal(v.home, "/usr/bin");
	assert_string_equal(v.version, "3.12.4");
	assert_true(v.system_site);
	ls_pyvenv_done(&v);
	text = "version = 3.13.0rc2\ninclude-system-site-packages = yes";
	ls_pyvenv_parse(text, strlen(text), &v);
	assert_string_equal(v.version, "3.13.0rc2");
	assert_false(v.system_site);
	ls_pyvenv_done(&v);
}

static void requirement_lines(void **state)
{
	(void)state;
	static const struct {
		const char *line, *name, *extras, *specifier, *marker;
	} rows[] = {
		{"filelock", "filelock", "", "", ""},
		{"Typing_Extensions >= 4.13.0", "typing-extensions", "", ">=4.13.0", ""},
		{"cuda-bindings<14,>=13.0.3; a", "cuda-bindings", "", "<14,>=13.0.3", "a"},
		{"cuda-toolkit[cublas, cudart]==13.2.2;b", "cuda-toolkit", "cublas,cudart",
		 "==13.2.2", "b"},
		{"old (>=1.0,<2)", "old", "", ">=1.0,<2", ""},
		{"", NULL, NULL, NULL, NULL},
		{"[x]", NULL, NULL, NULL, NULL},
		{"a[b", NULL, NULL, NULL, NULL},
		{"pip @ https://example.org/pip.whl", NULL, NULL, NULL, NULL},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ls_require r = {0};
		assert_int_equal(ls_require_parse(rows[i].line, &r), rows[i].name != NULL);
		if (rows[i].name) {
			assert_string_equal(r.name, rows[i].name);
			assert_string_equal(r.extras, rows[i].extras);
			assert_string_equal(r.specifier, rows[i].specifier);
			assert_string_equal(r.marker, rows[i].marker);
		}
		ls_require_done(&r);
	}
}

static void markers(void **state)
{
	(void)state;
	static const struct ls_marker_env env = {"3.11", "3.11.7", "x86_64", "cublas"};
	static const struct {
		const char *marker;
		enum ls_marker answer;
	} rows[] = {
		{"", LS_MARKER_TRUE},
		{"platform_system == \"Linux\"", LS_MARKER_TRUE},
		{"platform_system == \"Windows\"", LS_MARKER_FALSE},
		{"python_version<\"3.15\"", LS_MARKER_TRUE}, /* as versions, not as texts */
		{"python_version < '3.9'", LS_MARKER_FALSE},
		{"'3.9' <= python_version", LS_MARKER_TRUE},
		{"extra == 'cublas'", LS_MARKER_TRUE},
		{"extra == 'all'", LS_MARKER_FALSE},
		{"(sys_platform == 'linux' and platform_machine == 'aarch64' or sys_platform == "
		 "'linux' and platform_machine == 'x86_64') and extra == 'cublas'",
		 LS_MARKER_TRUE},
		{"(sys_platform == 'win32' or platform_machine == 'aarch64') and extra == 'cublas'",
		 LS_MARKER_FALSE},
		{"sys_platform not in 'win32 darwin'", LS_MARKER_TRUE},
		{"platform_machine in 'x86_64 amd64'", LS_MARKER_TRUE},
		{"platform_release == '6.1'", LS_MARKER_UNKNOWN},
		{"platform_release == '6.1' or extra == 'cublas'", LS_MARKER_TRUE},
		{"platform_release == '6.1' and extra == 'all'", LS_MARKER_FALSE},
		{"python_version", LS_MARKER_UNKNOWN},
		{"(python_version == '3.11'", LS_MARKER_UNKNOWN},
		{"python_version == '3.11' nonsense", LS_MARKER_UNKNOWN},
		{"python_version == '3.11", LS_MARKER_UNKNOWN},
		{"((((((((((((((((((((((((((((((((((((((((", LS_MARKER_UNKNOWN},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (ls_marker_test(rows[i].marker, &env) != rows[i].answer)
			fail_msg("%s", rows[i].marker);
}

static void expect_binary(const char *bytes, size_t len, const char *expected)
{
	char *v = ls_python_in_binary(bytes, len, "3.11");
	if (expected)
		assert_string_equal(v, expected);
	else
		assert_null(v);
	free(v);
}

static void python_in_a_binary(void **state)
{
	(void)state;
	static const char good[] = "x\0python3.11\0libpython3.11.so.1.0\0003.11.2\0";
	static const char tail[] = "Python 3.11.10+\0";
	static const char none[] = "3.11\0003.11.\0a3.11.2\0003.11.2-x\0";
	static const char cut[] = {0, '3', '.', '1', '1', '.', '2'};
	expect_binary(good, sizeof good, "3.11.2");
	expect_binary(tail, sizeof tail, "3.11.10+");
	expect_binary(none, sizeof none, NULL);
	expect_binary(cut, sizeof cut, NULL);
	expect_binary("", 0, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_py),
		cmocka_unit_test(version_py_that_says_nothing),
		cmocka_unit_test(metadata),
		cmocka_unit_test(pyvenv),
		cmocka_unit_test(requirement_lines),
		cmocka_unit_test(markers),
		cmocka_unit_test(python_in_a_binary),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
