#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "env/python/pyfiles.h"

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
		cmocka_unit_test(python_in_a_binary),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
