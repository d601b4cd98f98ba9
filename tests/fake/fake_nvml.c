/* A libnvidia-ml.so.1 without a GPU: plays the machine that the file named by LS_FAKE_NVML
 * describes. One line a fact: init 18                    what nvmlInit answers (0 when the line is
 * missing) driver 535.161.08          nvmlSystemGetDriverVersion library 12.535.161.08
 * nvmlSystemGetNVMLVersion, also after a failed init cuda 12020 nvmlSystemGetCudaDriverVersion gpu
 * name=Tesla
 * T4|uuid=GPU-1|cc=7.5|memory=15360|ecc=1|mig=-|persistence=1|power=70000|default=70000|throttle=0x1
 * Memory is MiB, power milliwatts; "-" answers "not supported" (3), "!15" answers 15, and so does a
 * missing field. With FAKE_OLD the library is that of an older driver: plain names only, and no
 * function for CUDA version, MIG, clocks event reasons or enforced power limit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_GPUS = 16, TEXT = 512 };
enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6 };

struct gpu {
	char line[TEXT];
};

static struct {
	int ready, init, cuda;
	char driver[64], library[64];
	unsigned n;
	struct gpu gpus[MAX_GPUS];
} machine;

#define API __attribute__((visibility("default")))
#ifdef FAKE_OLD
#define V2(name) name
#else
#define V2(name) name##_v2
#endif

static void read_line(const char *line)
{
	if (sscanf(line, "init %d", &machine.init) == 1 ||
	    sscanf(line, "driver %63s", machine.driver) == 1 ||
	    sscanf(line, "library %63s", machine.library) == 1 ||
	    sscanf(line, "cuda %d", &machine.cuda) == 1)
		return;
	if (strncmp(line, "gpu ", 4) == 0 && machine.n < MAX_GPUS)
		snprintf(machine.gpus[machine.n++].line, TEXT, "|%s", line + 4);
}

static void read_script(void)
{
	const char *path = getenv("LS_FAKE_NVML");
	FILE *f = path ? fopen(path, "r") : NULL;
	char line[TEXT - 8];
	memset(&machine, 0, sizeof machine);
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

/* The field's text, or a code. */
static int field(const struct gpu *g, const char *name, char *ret, size_t size)
{
	char mark[32];
	snprintf(mark, sizeof mark, "|%s=", name);
	const char *p = strstr(g->line, mark);
	if (!p || p[strlen(mark)] == '-')
		return NOT_SUPPORTED;
	p += strlen(mark);
	if (*p == '!')
		return (int)strtol(p + 1, NULL, 10);
	snprintf(ret, size, "%.*s", (int)strcspn(p, "|"), p);
	return OK;
}

static int number(const struct gpu *g, const char *name, unsigned *ret)
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
		read_script();
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
	*count = machine.n;
	return machine.ready ? OK : UNINITIALIZED;
}

int V2(nvmlDeviceGetHandleByIndex)(unsigned i, struct gpu **ret)
{
	if (!machine.ready)
		return UNINITIALIZED;
	if (i >= machine.n)
		return NOT_FOUND;
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
		memory[1] = memory[0] - memory[2];                                      /* free */
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
