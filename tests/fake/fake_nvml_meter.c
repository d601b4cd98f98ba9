/* The stand-in NVML's metrics, processes and events. Fields of a GPU:
 *   util memutil            percent            used reserved      MiB
 *   temp slowdown shutdown  degrees            margin             T.Limit degrees
 *   draw energy             mW, mJ             sm smmax mem memmax  MHz
 *   fan eccc eccu eccctotal eccutotal          counts
 *   remap=1,0,1,0           corrected, uncorrected, pending, failed
 *   retired retiredpending  pages, 0 or 1      replays width widthmax gen genmax
 *   pciesent pciereceived   KB/s
 *   nvlinks nvlinkerr       links that are up, errors of each
 *   recovery serial pci     action, text, bus number in hexadecimal
 *   proc=4711:2048,99:10    processes with MiB; 4711:2048@1 in GPU instance 1 (MIG)
 *   migs=1:1g.18gb:16384:9,2:…  GPU instances: number, profile, MiB, MiB in use
 *   xid=79                  one event at this step
 *   lost=15                 what the question for the handle answers */
#include "fake_nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT = 10, INSUFFICIENT_SIZE = 7 };

static int u64(const struct gpu *g, const char *name, unsigned long long *ret)
{
	char text[64];
	int code = fake_nvml_field(g, name, text, sizeof text);
	if (code == OK)
		*ret = strtoull(text, NULL, 0);
	return code;
}

#define NUMBER(function, name)                                                                     \
	API int function(struct gpu *g, unsigned *ret);                                            \
	int function(struct gpu *g, unsigned *ret)                                                 \
	{                                                                                          \
		return fake_nvml_number(g, name, ret);                                             \
	}

NUMBER(nvmlDeviceGetPowerUsage, "draw")
NUMBER(nvmlDeviceGetFanSpeed, "fan")
NUMBER(nvmlDeviceGetRetiredPagesPendingStatus, "retiredpending")
NUMBER(nvmlDeviceGetPcieReplayCounter, "replays")
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, "width")
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, "widthmax")
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, "gen")
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, "genmax")

API int nvmlDeviceGetUtilizationRates(struct gpu *g, unsigned rates[2]);
API int nvmlDeviceGetTemperature(struct gpu *g, int sensor, unsigned *ret);
API int nvmlDeviceGetTemperatureThreshold(struct gpu *g, int which, unsigned *ret);
API int nvmlDeviceGetTotalEnergyConsumption(struct gpu *g, unsigned long long *ret);
API int nvmlDeviceGetClockInfo(struct gpu *g, int which, unsigned *ret);
API int nvmlDeviceGetMaxClockInfo(struct gpu *g, int which, unsigned *ret);
API int nvmlDeviceGetTotalEccErrors(struct gpu *g, int type, int counter, unsigned long long *ret);
API int nvmlDeviceGetRetiredPages(struct gpu *g, int cause, unsigned *n, unsigned long long *list);
API int nvmlDeviceGetPcieThroughput(struct gpu *g, int direction, unsigned *ret);
API int nvmlDeviceGetSerial(struct gpu *g, char *text, unsigned size);
API int nvmlDeviceGetPciInfo_v3(struct gpu *g, void *ret);

int nvmlDeviceGetUtilizationRates(struct gpu *g, unsigned rates[2])
{
	rates[1] = 0;
	fake_nvml_number(g, "memutil", &rates[1]);
	return fake_nvml_number(g, "util", &rates[0]);
}

int nvmlDeviceGetTemperature(struct gpu *g, int sensor, unsigned *ret)
{
	return sensor == 0 ? fake_nvml_number(g, "temp", ret) : INVALID;
}

int nvmlDeviceGetTemperatureThreshold(struct gpu *g, int which, unsigned *ret)
{
	return fake_nvml_number(g, which == 0 ? "shutdown" : "slowdown", ret);
}

int nvmlDeviceGetTotalEnergyConsumption(struct gpu *g, unsigned long long *ret)
{
	return u64(g, "energy", ret);
}

int nvmlDeviceGetClockInfo(struct gpu *g, int which, unsigned *ret)
{
	return fake_nvml_number(g, which == 2 ? "mem" : "sm", ret);
}

int nvmlDeviceGetMaxClockInfo(struct gpu *g, int which, unsigned *ret)
{
	return fake_nvml_number(g, which == 2 ? "memmax" : "smmax", ret);
}

int nvmlDeviceGetTotalEccErrors(struct gpu *g, int type, int counter, unsigned long long *ret)
{
	static const char *const names[2][2] = {{"eccc", "eccctotal"}, {"eccu", "eccutotal"}};
	return u64(g, names[type][counter], ret);
}

int nvmlDeviceGetRetiredPages(struct gpu *g, int cause, unsigned *n, unsigned long long *list)
{
	unsigned pages = 0;
	int code = fake_nvml_number(g, "retired", &pages);
	unsigned all = *n;
	(void)list;
	if (code != OK)
		return code;
	*n = cause == 0 ? pages : 0;
	return *n > all ? INSUFFICIENT_SIZE : OK;
}

int nvmlDeviceGetPcieThroughput(struct gpu *g, int direction, unsigned *ret)
{
	return fake_nvml_number(g, direction == 0 ? "pciesent" : "pciereceived", ret);
}

int nvmlDeviceGetSerial(struct gpu *g, char *text, unsigned size)
{
	return fake_nvml_field(g, "serial", text, size);
}

int nvmlDeviceGetPciInfo_v3(struct gpu *g, void *ret)
{
	struct {
		char legacy[16];
		unsigned domain, bus, device, id, subsystem;
		char text[32];
	} pci = {{0}, 0, 0, 0, 0, 0, {0}};
	char text[32];
	int code = fake_nvml_field(g, "pci", text, sizeof text);
	pci.bus = (unsigned)(code == OK ? strtoul(text, NULL, 16) : 0);
	if (code == OK)
		memcpy(ret, &pci, sizeof pci);
	return code;
}

#ifndef FAKE_OLD
API int nvmlDeviceGetMemoryInfo_v2(struct gpu *g, void *ret);
API int nvmlDeviceGetMarginTemperature(struct gpu *g, void *ret);
API int nvmlDeviceGetRemappedRows(struct gpu *g, unsigned *c, unsigned *u, unsigned *p,
				  unsigned *f);
API int nvmlDeviceGetNvLinkState(struct gpu *g, unsigned link, unsigned *ret);
API int nvmlDeviceGetNvLinkErrorCounter(struct gpu *g, unsigned link, int which,
					unsigned long long *ret);
API int nvmlDeviceGetFieldValues(struct gpu *g, int n, void *ret);
API int nvmlDeviceGetComputeRunningProcesses_v3(struct gpu *g, unsigned *n, void *ret);
API int nvmlEventSetCreate(void **ret);
API int nvmlEventSetFree(void *set);
API int nvmlDeviceRegisterEvents(struct gpu *g, unsigned long long types, void *set);
API int nvmlEventSetWait_v2(void *set, void *ret, unsigned timeout);

int nvmlDeviceGetMemoryInfo_v2(struct gpu *g, void *ret)
{
	struct {
		unsigned version;
		unsigned long long total, reserved, free, used;
	} m;
	unsigned total = 0, used = 0, reserved = 0;
	memcpy(&m, ret, sizeof m);
	if (m.version != (sizeof m | 2u << 24))
		return INVALID;
	int code = fake_nvml_number(g, "reserved", &reserved);
	if (code == OK)
		code = fake_nvml_number(g, "memory", &total);
	if (code == OK)
		code = fake_nvml_number(g, "used", &used);
	m.total = (unsigned long long)total << 20;
	m.used = (unsigned long long)used << 20;
	m.reserved = (unsigned long long)reserved << 20;
	m.free = m.total - m.used - m.reserved;
	if (code == OK)
		memcpy(ret, &m, sizeof m);
	return code;
}

int nvmlDeviceGetMarginTemperature(struct gpu *g, void *ret)
{
	char text[32];
	struct {
		unsigned version;
		int degrees;
	} m;
	memcpy(&m, ret, sizeof m);
	if (m.version != (sizeof m | 1u << 24))
		return INVALID;
	int code = fake_nvml_field(g, "margin", text, sizeof text);
	m.degrees = code == OK ? (int)strtol(text, NULL, 10) : 0;
	if (code == OK)
		memcpy(ret, &m, sizeof m);
	return code;
}

int nvmlDeviceGetRemappedRows(struct gpu *g, unsigned *c, unsigned *u, unsigned *p, unsigned *f)
{
	char text[64];
	int code = fake_nvml_field(g, "remap", text, sizeof text);
	if (code == OK && sscanf(text, "%u,%u,%u,%u", c, u, p, f) != 4)
		return INVALID;
	return code;
}

int nvmlDeviceGetNvLinkState(struct gpu *g, unsigned link, unsigned *ret)
{
	unsigned up = 0;
	int code = fake_nvml_number(g, "nvlinks", &up);
	*ret = link < up;
	return code;
}

int nvmlDeviceGetNvLinkErrorCounter(struct gpu *g, unsigned link, int which,
				    unsigned long long *ret)
{
	unsigned long long v = 0;
	(void)link;
	int code = u64(g, "nvlinkerr", &v);
	*ret = which == 0 ? v : 0;
	return code;
}

/* Memory temperature (82) and the recovery action (230). */
int nvmlDeviceGetFieldValues(struct gpu *g, int n, void *ret)
{
	struct {
		unsigned id, scope;
		long long time, latency;
		unsigned type;
		int code;
		unsigned long long value;
	} v;
	unsigned number = 0;
	if (n != 1)
		return INVALID;
	memcpy(&v, ret, sizeof v);
	v.code = v.id == 82    ? fake_nvml_number(g, "memtemp", &number)
		 : v.id == 230 ? fake_nvml_number(g, "recovery", &number)
			       : NOT_SUPPORTED;
	v.value = number;
	memcpy(ret, &v, sizeof v);
	return OK;
}

int nvmlDeviceGetComputeRunningProcesses_v3(struct gpu *g, unsigned *n, void *ret)
{
	struct process {
		unsigned pid;
		unsigned long long memory;
		unsigned gpu_instance, compute_instance;
	} *list = ret;
	char text[512];
	unsigned room = *n;
	int code = fake_nvml_field(g, "proc", text, sizeof text);
	*n = 0;
	if (code == NOT_SUPPORTED)
		return OK;
	char *save = NULL;
	for (char *p = strtok_r(text, ",", &save); code == OK && p;
	     p = strtok_r(NULL, ",", &save)) {
		char *colon = strchr(p, ':');
		if (*n == room)
			return INSUFFICIENT_SIZE;
		char *at = strchr(p, '@');
		list[*n].pid = (unsigned)strtoul(p, NULL, 10);
		list[*n].gpu_instance = at ? (unsigned)strtoul(at + 1, NULL, 10) : ~0u;
		list[*n].compute_instance = at ? 0 : ~0u;
		list[(*n)++].memory = colon ? strtoull(colon + 1, NULL, 10) << 20 : ~0ull;
	}
	return code;
}

/* Only for nvitop, beside which bench/monitor measures. */
API int nvmlInit_v2(void);
API int nvmlInitWithFlags(unsigned flags);

int nvmlInitWithFlags(unsigned flags)
{
	(void)flags;
	return nvmlInit_v2();
}

/* A part of a GPU is a GPU of its own, with other fields. */
enum { MIGS = 7 };
static struct gpu migs[MAX_GPUS][MIGS];

API int nvmlDeviceGetMaxMigDeviceCount(struct gpu *g, unsigned *ret);
API int nvmlDeviceGetMigDeviceHandleByIndex(struct gpu *g, unsigned i, struct gpu **ret);
API int nvmlDeviceGetGpuInstanceId(struct gpu *g, unsigned *ret);
API int nvmlDeviceGetComputeInstanceId(struct gpu *g, unsigned *ret);

int nvmlDeviceGetMaxMigDeviceCount(struct gpu *g, unsigned *ret)
{
	char text[16];
	*ret = MIGS;
	return fake_nvml_field(g, "mig", text, sizeof text);
}

int nvmlDeviceGetMigDeviceHandleByIndex(struct gpu *g, unsigned i, struct gpu **ret)
{
	char text[512], *save = NULL, *p;
	unsigned id, total, used, n = 0;
	char profile[32];
	if (fake_nvml_field(g, "migs", text, sizeof text) != OK || i >= MIGS)
		return NOT_FOUND;
	for (p = strtok_r(text, ",", &save); p && n < i; n++)
		p = strtok_r(NULL, ",", &save);
	if (!p || sscanf(p, "%u:%31[^:]:%u:%u", &id, profile, &total, &used) != 4)
		return NOT_FOUND;
	*ret = &migs[g - fake_nvml.gpus][i];
	snprintf((*ret)->line, sizeof(*ret)->line,
		 "|name=Stand-in MIG %s|uuid=MIG-%u|memory=%u|used=%u|reserved=0|gi=%u", profile,
		 id, total, used, id);
	return OK;
}

int nvmlDeviceGetGpuInstanceId(struct gpu *g, unsigned *ret)
{
	return fake_nvml_number(g, "gi", ret);
}

int nvmlDeviceGetComputeInstanceId(struct gpu *g, unsigned *ret)
{
	int code = fake_nvml_number(g, "gi", ret);
	*ret = 0;
	return code;
}

static unsigned long given[MAX_GPUS]; /* the step whose Xid was given */

int nvmlEventSetCreate(void **ret)
{
	memset(given, 0, sizeof given);
	*ret = &fake_nvml;
	return OK;
}

int nvmlEventSetFree(void *set)
{
	return set == &fake_nvml ? OK : INVALID;
}

int nvmlDeviceRegisterEvents(struct gpu *g, unsigned long long types, void *set)
{
	return g && types && set == &fake_nvml ? OK : INVALID;
}

/* Each step's Xid of a GPU is given once; that of step 0 came before anyone asked. */
int nvmlEventSetWait_v2(void *set, void *ret, unsigned timeout)
{
	struct {
		struct gpu *gpu;
		unsigned long long type, data;
		unsigned gpu_instance, compute_instance;
	} e = {.type = 8};
	(void)set;
	(void)timeout;
	fake_nvml_step();
	for (unsigned i = 0; i < fake_nvml.n; i++) {
		unsigned xid = 0;
		struct gpu *g = &fake_nvml.gpus[i];
		if (g->changed != fake_nvml.step || given[i] == fake_nvml.step ||
		    fake_nvml_number(g, "xid", &xid) != OK || !xid)
			continue;
		given[i] = fake_nvml.step;
		e.gpu = g;
		e.data = xid;
		memcpy(ret, &e, sizeof e);
		return OK;
	}
	return TIMEOUT;
}
#endif
