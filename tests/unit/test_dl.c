#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/dl.h"

struct fns {
	double (*cosine)(double);
	double (*none)(double);
};

static void first_name_that_is_there_wins(void **state)
{
	(void)state;
	const struct ls_dl_sym syms[] = {LS_DL_NEED(struct fns, cosine, "cos_v9", "cos"),
					 LS_DL_MAY(struct fns, none, "no_such_function"),
					 LS_DL_END};
	struct fns fns = {0};
	struct ls_dl *lib = NULL;
	struct ls_err err;
	assert_int_equal(ls_dl_open((const char *const[]){"libnone.so.9", "libm.so.6", NULL}, syms,
				    &fns, &lib, &err),
			 0);
	assert_true(fns.cosine(0) == 1);
	assert_null(fns.none);
	assert_non_null(strstr(ls_dl_path(lib), "libm.so.6"));
	ls_dl_close(lib);
}

static void missing_library_and_symbol_are_named(void **state)
{
	(void)state;
	const struct ls_dl_sym syms[] = {LS_DL_NEED(struct fns, none, "no_such_function"),
					 LS_DL_END};
	struct fns fns = {0};
	struct ls_dl *lib = NULL;
	struct ls_err err;
	assert_int_equal(
		ls_dl_open((const char *const[]){"libnone.so.9", NULL}, syms, &fns, &lib, &err),
		LS_EUNKNOWN);
	assert_non_null(strstr(err.msg, "libnone.so.9"));
	assert_int_equal(
		ls_dl_open((const char *const[]){"libm.so.6", NULL}, syms, &fns, &lib, &err),
		LS_EUNKNOWN);
	assert_non_null(strstr(err.msg, "no_such_function"));
	assert_null(lib);
	ls_dl_close(lib);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_name_that_is_there_wins),
		cmocka_unit_test(missing_library_and_symbol_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
