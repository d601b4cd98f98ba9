#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "gpu/nvml.h"

static char script[] = "/tmp/ls-nvml-XXXXXX";

static struct ls_nvml *start(const char *age, const char *text, int *code,
			     char library[LS_NVML_TEXT])
{
	char path[512];
	struct ls_err err;
	struct ls_nvml *nvml = NULL;
	snprintf(path, sizeof path, "%s/fake/nvml-%s/libnvidia-ml.so.1", LS_BINARY_DIR, age);
	assert_int_equal(ls_file_write_atomic(script, text, strlen(text), &err), 0);
	int rc = ls_nvml_open(path, &nvml, code, library, &err);
	assert_int_equal(rc, *code == 0 ? 0 : LS_EUNKNOWN);
	return nvml;
}

static const char h200[] =
	"driver 580.65.06\nlibrary 13.580.65.06\ncuda 13000\n"
	"gpu name=NVIDIA "
	"H200|uuid=GPU-1|cc=9.0|memory=143771|ecc=1|mig=0|persistence=0|power=700000|"
	"default=650500|throttle=0x24\n";

static void a_present_driver(void **state)
{
	(void)state;
	int code, cuda = 0, major = 0, minor = 0;
	unsigned n = 0, mw = 0;
	uint64_t total = 0, used = 0, mask = 0;
	bool ecc = false, mig = true, persistence = true;
	char text[LS_NVML_TEXT];
	struct ls_nvml *v = start("new", h200, &code, text);
	assert_string_equal(text, "580.65.06");
	assert_int_equal(ls_nvml_driver(v, text), 0);
	assert_string_equal(text, "580.65.06");
	assert_int_equal(ls_nvml_cuda(v, &cuda), 0);
	assert_int_equal(cuda, 13000);
	assert_int_equal(ls_nvml_count(v, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(ls_nvml_name(v, 0, text), 0);
	assert_string_equal(text, "NVIDIA H200");
	assert_int_equal(ls_nvml_capability(v, 0, &major, &minor), 0);
	assert_true(major == 9 && minor == 0);
	assert_int_equal(ls_nvml_memory(v, 0, &total, &used), 0);
	assert_true(total == (uint64_t)143771 << 20 && used <= total);
	assert_int_equal(ls_nvml_ecc(v, 0, &ecc), 0);
	assert_int_equal(ls_nvml_mig(v, 0, &mig), 0);
	assert_int_equal(ls_nvml_persistence(v, 0, &persistence), 0);
	assert_true(ecc && !mig && !persistence);
	assert_int_equal(ls_nvml_power_limit(v, 0, &mw), 0);
	assert_int_equal(mw, 700000);
	assert_int_equal(ls_nvml_power_default(v, 0, &mw), 0);
	assert_int_equal(mw, 650500);
	assert_int_equal(ls_nvml_throttle(v, 0, &mask), 0);
	ls_nvml_throttle_text(mask, text);
	assert_string_equal(text, "sw-power-cap sw-thermal");
	assert_int_equal(ls_nvml_uuid(v, 7, text), 6); /* no such GPU; the text stays */
	assert_string_equal(text, "sw-power-cap sw-thermal");
	ls_nvml_close(v);
}

static void an_older_driver(void **state)
{
	(void)state;
	int code, cuda = -1;
	bool mig = true;
	unsigned mw = 0;
	uint64_t mask = 0;
	struct ls_nvml *v = start("old", h200, &code, NULL);
	assert_int_equal(ls_nvml_cuda(v, &cuda), LS_NVML_NO_FUNCTION);
	assert_int_equal(ls_nvml_mig(v, 0, &mig), LS_NVML_NO_FUNCTION);
	assert_true(cuda == -1 && mig);                      /* untouched */
	assert_int_equal(ls_nvml_power_limit(v, 0, &mw), 0); /* by its older name */
	assert_int_equal(ls_nvml_throttle(v, 0, &mask), 0);
	assert_true(mw == 700000 && mask == 0x24);
	ls_nvml_close(v);
}

static void init_fails(void **state)
{
	(void)state;
	int code;
	char library[LS_NVML_TEXT];
	assert_null(start("new", "init 18\nlibrary 12.535.161.08\n", &code, library));
	assert_int_equal(code, LS_NVML_VERSION_MISMATCH);
	assert_string_equal(library, "535.161.08");
	assert_null(start("new", "init 9\n", &code, library));
	assert_int_equal(code, LS_NVML_DRIVER_NOT_LOADED);
	assert_string_equal(library, "");
	struct ls_nvml *v = NULL;
	struct ls_err err;
	assert_int_equal(ls_nvml_open("/no/such/libnvidia-ml.so.1", &v, &code, library, &err),
			 LS_EUNKNOWN);
	assert_int_equal(code, LS_NVML_NO_LIBRARY);
	assert_non_null(strstr(err.msg, "/no/such/"));
}

static void every_code_has_words(void **state)
{
	(void)state;
	for (int code = -1; code < 40; code++)
		assert_true(strlen(ls_nvml_reason(code)) > 3);
}

int main(void)
{
	int fd = mkstemp(script);
	if (fd < 0)
		return 1;
	close(fd);
	setenv("LS_FAKE_NVML", script, 1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_present_driver),
		cmocka_unit_test(an_older_driver),
		cmocka_unit_test(init_fails),
		cmocka_unit_test(every_code_has_words),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(script);
	return rc;
}
