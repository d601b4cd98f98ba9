/* NVML's metrics: what is there, what is absent and why, processes, Xids. */
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
#include "gpu/nvml_meter.h"

static char script[] = "/tmp/ls-meter-XXXXXX";
static struct ls_nvml *nvml;

static struct ls_nvml_meter *start(const char *age, const char *text)
{
	char path[512];
	int code;
	struct ls_err err;
	struct ls_nvml_meter *m = NULL;
	snprintf(path, sizeof path, "%s/fake/nvml-%s/libnvidia-ml.so.1", LS_BINARY_DIR, age);
	assert_int_equal(ls_file_write_atomic(script, text, strlen(text), &err), 0);
	unsetenv("LS_FAKE_STEP");
	assert_int_equal(ls_nvml_open(path, &nvml, &code, NULL, &err), 0);
	assert_int_equal(ls_nvml_meter_open(nvml, &m, &err), 0);
	return m;
}

static void stop(struct ls_nvml_meter *m)
{
	ls_nvml_meter_close(m);
	ls_nvml_close(nvml);
}

static const char full[] =
	"driver 580.65.06\nlibrary 13.580.65.06\ncuda 13000\n"
	"gpu name=NVIDIA H200|uuid=GPU-1|memory=143771|used=1000|reserved=600|ecc=1|mig=0|util=93|"
	"memutil=40|temp=61|slowdown=92|shutdown=95|memtemp=70|margin=-2|draw=512500|power=700000|"
	"energy=5000000000000|sm=1980|smmax=1980|mem=3201|memmax=3201|throttle=0x24|eccc=7|eccu=0|"
	"eccctotal=9|eccutotal=1|remap=3,1,1,0|replays=12|width=8|widthmax=16|gen=4|genmax=5|"
	"nvlinks=2|nvlinkerr=5|recovery=1|serial=1650|pci=3b|proc=4711:2048,99\n"
	"then\nchange 0 xid=79\nthen\nchange 0 lost=15\n";

static void same(const struct ls_meter_reading *r, enum ls_meter_id id, double want)
{
	double v = -1e9;
	if (!ls_meter_value(r, id, &v) || v != want)
		fail_msg("%s is %g, not %g", ls_meter_infos[id].name, v, want);
}

static void every_metric(void **state)
{
	(void)state;
	struct ls_meter_reading r;
	struct ls_nvml_meter *m = start("new", full);
	assert_int_equal(ls_nvml_meter_read(m, 0, 0, &r), 0);
	same(&r, LS_METER_UTILIZATION, 93);
	same(&r, LS_METER_MEMORY_TOTAL, 143771.0 * (1 << 20));
	same(&r, LS_METER_MEMORY_USED, 1000.0 * (1 << 20));
	same(&r, LS_METER_MEMORY_RESERVED, 600.0 * (1 << 20));
	same(&r, LS_METER_TEMPERATURE_MEMORY, 70);
	same(&r, LS_METER_TEMPERATURE_MARGIN, -2);
	same(&r, LS_METER_POWER, 512.5);
	same(&r, LS_METER_ENERGY, 5e9);
	same(&r, LS_METER_CLOCK_SM, 1980e6);
	same(&r, LS_METER_ECC_CORRECTED, 7);
	same(&r, LS_METER_ECC_UNCORRECTED_TOTAL, 1);
	same(&r, LS_METER_REMAPPED_CORRECTED, 3);
	same(&r, LS_METER_REMAP_PENDING, 1);
	same(&r, LS_METER_REMAP_FAILED, 0);
	same(&r, LS_METER_PCIE_WIDTH, 8);
	same(&r, LS_METER_NVLINKS, 2);
	same(&r, LS_METER_NVLINK_ERRORS, 10);
	same(&r, LS_METER_RECOVERY_ACTION, 1);
	assert_false(r.valid[LS_METER_FAN]);
	assert_int_equal(r.code[LS_METER_FAN], LS_NVML_NOT_SUPPORTED);
	assert_false(r.valid[LS_METER_RETIRED_PAGES]);
	for (int id = 0; id < LS_METERS; id++)
		assert_true(ls_meter_infos[id].name && ls_meter_infos[id].prom);
	stop(m);
}

static void names_processes_and_xids(void **state)
{
	(void)state;
	char text[LS_NVML_TEXT];
	struct ls_nvml_process p[4];
	unsigned n = 9, gpu = 9, xid = 0;
	struct ls_meter_reading r;
	struct ls_nvml_meter *m = start("new", full);
	assert_int_equal(ls_nvml_meter_serial(m, 0, text), 0);
	assert_string_equal(text, "1650");
	assert_int_equal(ls_nvml_meter_pci(m, 0, text), 0);
	assert_string_equal(text, "0000:3b:00.0");
	assert_int_equal(ls_nvml_meter_processes(m, 0, p, 4, &n), 0);
	assert_true(n == 2 && p[0].pid == 4711 && p[0].memory == (uint64_t)2048 << 20);
	assert_true(p[0].has_memory && !p[1].has_memory);
	assert_int_not_equal(ls_nvml_meter_processes(m, 0, p, 1, &n), 0);
	assert_int_equal(ls_nvml_meter_xid(m, &gpu, &xid), LS_NVML_TIMEOUT);
	setenv("LS_FAKE_STEP", "1", 1);
	assert_int_equal(ls_nvml_meter_xid(m, &gpu, &xid), 0);
	assert_true(gpu == 0 && xid == 79);
	assert_int_equal(ls_nvml_meter_xid(m, &gpu, &xid), LS_NVML_TIMEOUT);
	setenv("LS_FAKE_STEP", "2", 1);
	assert_int_equal(ls_nvml_meter_read(m, 0, 0, &r), LS_NVML_GPU_LOST);
	for (int id = 0; id < LS_METERS; id++)
		assert_true(!r.valid[id] && r.code[id] == LS_NVML_GPU_LOST);
	stop(m);
}

/* What hardly changes is kept for some seconds; what changes all the time is not. */
static void what_is_kept(void **state)
{
	(void)state;
	static const char text[] =
		"driver 580.65.06\nlibrary 13.580.65.06\ncuda 13000\n"
		"gpu name=NVIDIA H200|uuid=GPU-1|memory=1000|util=93|eccu=0|ecc=1\n"
		"then\nchange 0 util=20|eccu=4|ecc=0\n";
	struct ls_meter_reading r;
	struct ls_nvml_meter *m = start("new", text);
	assert_int_equal(ls_nvml_meter_read(m, 0, 100, &r), 0);
	setenv("LS_FAKE_STEP", "1", 1);
	assert_int_equal(ls_nvml_meter_read(m, 0, 109, &r), 0);
	same(&r, LS_METER_UTILIZATION, 20);
	same(&r, LS_METER_ECC_UNCORRECTED, 0);
	assert_int_equal(ls_nvml_meter_read(m, 0, 110, &r), 0);
	same(&r, LS_METER_ECC_UNCORRECTED, 4);
	same(&r, LS_METER_ECC_MODE, 1);
	ls_nvml_meter_forget(m);
	assert_int_equal(ls_nvml_meter_read(m, 0, 111, &r), 0);
	same(&r, LS_METER_ECC_MODE, 0);
	stop(m);
}

/* Nothing that an old driver cannot tell reads as 0, and the fall-backs are used. */
static void an_old_driver(void **state)
{
	(void)state;
	struct ls_meter_reading r;
	unsigned gpu, xid, n;
	struct ls_nvml_process p[4];
	struct ls_nvml_meter *m = start("old", full);
	assert_int_equal(ls_nvml_meter_read(m, 0, 0, &r), 0);
	same(&r, LS_METER_MEMORY_USED, 1000.0 * (1 << 20));
	assert_false(r.valid[LS_METER_MEMORY_RESERVED]);
	same(&r, LS_METER_TEMPERATURE_MARGIN, 31);
	same(&r, LS_METER_POWER_LIMIT, 700);
	same(&r, LS_METER_THROTTLE, 0x24);
	static const enum ls_meter_id gone[] = {LS_METER_REMAP_PENDING, LS_METER_NVLINKS,
						LS_METER_RECOVERY_ACTION, LS_METER_MIG_MODE};
	for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
		assert_false(r.valid[gone[i]]);
		assert_int_equal(r.code[gone[i]], LS_NVML_NO_FUNCTION);
	}
	assert_int_equal(ls_nvml_meter_processes(m, 0, p, 4, &n), LS_NVML_NO_FUNCTION);
	assert_int_equal(ls_nvml_meter_xid(m, &gpu, &xid), LS_NVML_NO_FUNCTION);
	stop(m);
}

int main(void)
{
	int fd = mkstemp(script);
	if (fd < 0)
		return 1;
	close(fd);
	setenv("LS_FAKE_NVML", script, 1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept),
		cmocka_unit_test(every_metric),
		cmocka_unit_test(names_processes_and_xids),
		cmocka_unit_test(an_old_driver),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(script);
	return failed;
}
