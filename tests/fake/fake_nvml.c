/* A libnvidia-ml.so.1 without a GPU: plays the machine that the file named by
 * LS_FAKE_NVML describes. One line a fact:
 *   init 18                what nvmlInit answers (0 when the line is missing)
 *   init hang              nvmlInit never returns
 *   driver 535.161.08      nvmlSystemGetDriverVersion
 *   library 12.535.161.08  nvmlSystemGetNVMLVersion, also after a failed init
 *   cuda 12020             nvmlSystemGetCudaDriverVersion
 *   gpu name=Tesla T4|uuid=GPU-1|cc=7.5|memory=15360|ecc=1|mig=-|throttle=0x1
 * Memory is MiB, power milliwatts; "-" answers "not supported" (3), "!15" answers 15, and
 * so does a missing field.
 * What happens to the machine are further steps. "then" begins one, and
 *   change 0 temp=93|xid=79
 * replaces fields of a GPU. The variable LS_FAKE_STEP has the number of the step that the
 * machine is at, or "@FILE" with the file that has it; without it only step 0 is played.
 * Fields of fake_nvml_meter.c are named there.
 * With FAKE_OLD the library is that of an older driver: plain names only, and no function
 * for CUDA version, MIG, clocks event reasons or enforced power limit. */
#include "fake_nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HANGS = -1 };

struct fake_nvml_machine fake_nvml;
#define machine fake_nvml
#define field   fake_nvml_field
#define number  fake_nvml_number

/* A changed field goes to the front, where it is found first. */
static void change(struct gpu *g, const char *fields)
{
	static char text[TEXT];
	snprintf(text, sizeof text, "|%.500s%.7600s", fields, g->line);
	memcpy(g->line, text, sizeof text);
}

static void read_line(const char *line)
{
	unsigned i = 0;
	int at = 0;
	if (strcmp(line, "then") == 0)
		machine.reading++;
	if (machine.reading > machine.step)
		return;
	if (sscanf(line, "change %u %n", &i, &at) == 1 && at > 0 && i < machine.n) {
		machine.gpus[i].changed = machine.reading;
		change(&machine.gpus[i], line + at);
		return;
	}
	if (strcmp(line, "init hang") == 0)
		machine.init = HANGS;
	if (sscanf(line, "init %d", &machine.init) == 1 ||
	    sscanf(line, "driver %63s", machine.driver) == 1 ||
	    sscanf(line, "library %63s", machine.library) == 1 ||
	    sscanf(line, "cuda %d", &machine.cuda) == 1)
		return;
	if (strncmp(line, "gpu ", 4) != 0 || machine.n == MAX_GPUS)
		return;
	machine.gpus[machine.n].changed = machine.reading;
	snprintf(machine.gpus[machine.n++].line, TEXT, "|%s", line + 4);
}

static void read_script(void)
{
	const char *path = getenv("LS_FAKE_NVML");
	FILE *f = path ? fopen(path, "r") : NULL;
	char line[TEXT / 8];
	machine.n = 0;
	machine.reading = 0;
	machine.init = machine.cuda = 0;
	machine.driver[0] = machine.library[0] = 0;
	if (!f) {
		fprintf(stderr, "fake_nvml: LS_FAKE_NVML names no file that can be read\n");
		abort();
	}
	while (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		read_line(line);
	}
	fclose(f);
}

static unsigned long step_now(void)
{
	const char *text = getenv("LS_FAKE_STEP");
	char line[32] = "0";
	FILE *f = text && text[0] == '@' ? fopen(text + 1, "r") : NULL;
	if (f && !fgets(line, sizeof line, f))
		line[0] = 0;
	if (f)
		fclose(f);
	return strtoul(f ? line : text && text[0] != '@' ? text : "0", NULL, 10);
}

void fake_nvml_step(void)
{
	unsigned long now = step_now();
	if (machine.ready && now == machine.step)
		return;
	machine.step = now;
	read_script();
}

/* The field's text, or a code. */
int field(const struct gpu *g, const char *name, char *ret, size_t size)
{
	char mark[32];
	snprintf(mark, sizeof mark, "|%s=", name);
	const char *p = strstr(g->line, mark);
	if (!p)
		return NOT_SUPPORTED;
	p += strlen(mark);
	if (*p == '-' && (p[1] == '|' || !p[1])) /* a number may be negative */
		return NOT_SUPPORTED;
	if (*p == '!')
		return (int)strtol(p + 1, NULL, 10);
	snprintf(ret, size, "%.*s", (int)strcspn(p, "|"), p);
	return OK;
}

int number(const struct gpu *g, const char *name, unsigned *ret)
{
	char text[TEXT];
	int code = field(g, name, text, sizeof text);
	if (code == OK)
		*ret = (unsigned)strtoul(text, NULL, 0);
	return code;
}

API int V2(nvmlInit)(void);
API int nvmlShutdown(void);
API int nvmlSystemGetNVMLVersion(char *text, unsigned size);
API int nvmlSystemGetDriverVersion(char *text, unsigned size);
API int V2(nvmlDeviceGetCount)(unsigned *count);
API int V2(nvmlDeviceGetHandleByIndex)(unsigned i, struct gpu **ret);
API int nvmlDeviceGetName(struct gpu *g, char *text, unsigned size);
API int nvmlDeviceGetUUID(struct gpu *g, char *text, unsigned size);
API int nvmlDeviceGetCudaComputeCapability(struct gpu *g, int *major, int *minor);
API int nvmlDeviceGetMemoryInfo(struct gpu *g, unsigned long long memory[3]);
API int nvmlDeviceGetEccMode(struct gpu *g, unsigned *current, unsigned *pending);
API int nvmlDeviceGetPersistenceMode(struct gpu *g, unsigned *mode);
API int nvmlDeviceGetPowerManagementDefaultLimit(struct gpu *g, unsigned *mw);

int V2(nvmlInit)(void)
{
	if (!machine.ready) /* sessions are counted, as NVML counts them */
		fake_nvml_step();
	while (machine.init == HANGS)
		pause();
	machine.ready += machine.init == 0;
	return machine.init;
}

int nvmlShutdown(void)
{
	if (!machine.ready)
		return UNINITIALIZED;
	machine.ready--;
	return OK;
}

int nvmlSystemGetNVMLVersion(char *text, unsigned size)
{
	if (!machine.library[0])
		return UNINITIALIZED;
	snprintf(text, size, "%s", machine.library);
	return OK;
}

int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
	if (!machine.ready)
		return UNINITIALIZED;
	snprintf(text, size, "%s", machine.driver);
	return OK;
}

int V2(nvmlDeviceGetCount)(unsigned *count)
{
	fake_nvml_step();
	*count = machine.n;
	return machine.ready ? OK : UNINITIALIZED;
}

int V2(nvmlDeviceGetHandleByIndex)(unsigned i, struct gpu **ret)
{
	if (!machine.ready)
		return UNINITIALIZED;
	fake_nvml_step();
	if (i >= machine.n)
		return NOT_FOUND;
	unsigned lost = 0;
	if (number(&machine.gpus[i], "lost", &lost) == OK && lost)
		return (int)lost;
	*ret = &machine.gpus[i];
	return OK;
}

int nvmlDeviceGetName(struct gpu *g, char *text, unsigned size)
{
	return field(g, "name", text, size);
}

int nvmlDeviceGetUUID(struct gpu *g, char *text, unsigned size)
{
	return field(g, "uuid", text, size);
}

int nvmlDeviceGetCudaComputeCapability(struct gpu *g, int *major, int *minor)
{
	char text[TEXT];
	int code = field(g, "cc", text, sizeof text);
	if (code == OK && sscanf(text, "%d.%d", major, minor) != 2)
		return INVALID;
	return code;
}

int nvmlDeviceGetMemoryInfo(struct gpu *g, unsigned long long memory[3])
{
	static unsigned looks; /* grow=N: N MiB more are in use each time somebody looks */
	unsigned mib = 0, grow = 0;
	int code = number(g, "memory", &mib);
	number(g, "grow", &grow);
	if (code == OK) {
		memory[0] = (unsigned long long)mib << 20;
		memory[2] = memory[0] / 2 + ((unsigned long long)grow * looks++ << 20); /* used */
		if (number(g, "used", &mib) == OK)
			memory[2] = (unsigned long long)mib << 20;
		memory[1] = memory[0] - memory[2]; /* free */
	}
	return code;
}

int nvmlDeviceGetEccMode(struct gpu *g, unsigned *current, unsigned *pending)
{
	*pending = 0;
	return number(g, "ecc", current);
}

int nvmlDeviceGetPersistenceMode(struct gpu *g, unsigned *mode)
{
	return number(g, "persistence", mode);
}

int nvmlDeviceGetPowerManagementDefaultLimit(struct gpu *g, unsigned *mw)
{
	return number(g, "default", mw);
}

static int throttle(const struct gpu *g, unsigned long long *mask)
{
	unsigned v = 0;
	int code = number(g, "throttle", &v);
	if (code == OK)
		*mask = v;
	return code;
}

#ifdef FAKE_OLD
API int nvmlDeviceGetCurrentClocksThrottleReasons(struct gpu *g, unsigned long long *mask);
API int nvmlDeviceGetPowerManagementLimit(struct gpu *g, unsigned *mw);

int nvmlDeviceGetCurrentClocksThrottleReasons(struct gpu *g, unsigned long long *mask)
{
	return throttle(g, mask);
}

int nvmlDeviceGetPowerManagementLimit(struct gpu *g, unsigned *mw)
{
	return number(g, "power", mw);
}
#else
API int nvmlSystemGetCudaDriverVersion_v2(int *version);
API int nvmlDeviceGetMigMode(struct gpu *g, unsigned *current, unsigned *pending);
API int nvmlDeviceGetCurrentClocksEventReasons(struct gpu *g, unsigned long long *mask);
API int nvmlDeviceGetEnforcedPowerLimit(struct gpu *g, unsigned *mw);

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	*version = machine.cuda;
	return machine.ready ? OK : UNINITIALIZED;
}

int nvmlDeviceGetMigMode(struct gpu *g, unsigned *current, unsigned *pending)
{
	*pending = 0;
	return number(g, "mig", current);
}

int nvmlDeviceGetCurrentClocksEventReasons(struct gpu *g, unsigned long long *mask)
{
	return throttle(g, mask);
}

int nvmlDeviceGetEnforcedPowerLimit(struct gpu *g, unsigned *mw)
{
	return number(g, "power", mw);
}
#endif
