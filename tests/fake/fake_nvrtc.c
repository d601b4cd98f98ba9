/* A libnvrtc.so.13 that needs no NVIDIA code: see fake_nvrtc.h. */
#include "fake_nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/nvrtc.h"

#define EXPORT                          __attribute__((visibility("default")))
#define PROTOTYPE(member, symbol, args) EXPORT int symbol args;
#define FAULT(function)                                                                            \
	do {                                                                                       \
		if (strcmp(fault, #function) == 0)                                                 \
			return fault_code;                                                         \
	} while (0)
LS_NVRTC_FUNCTIONS(PROTOTYPE)
EXPORT const char *nvrtcGetErrorString(int code);
EXPORT fake_nvrtc_setup_fn fake_nvrtc_setup;
EXPORT fake_nvrtc_options_fn fake_nvrtc_options;
EXPORT fake_nvrtc_live_fn fake_nvrtc_live;

struct _nvrtcProgram {
	char *source, *ptx, *cubin, *log;
};

static char fault[64], options_seen[512];
static int fault_code, version = 12040, archs[16] = {60, 75, 80, 90}, n_archs = 4, live;

void fake_nvrtc_setup(const char *script, int new_version, const char *list)
{
	*fault = 0;
	if (script) {
		const char *colon = strchr(script, ':');
		if (!colon)
			abort();
		snprintf(fault, sizeof fault, "%.*s", (int)(colon - script), script);
		fault_code = (int)strtol(colon + 1, NULL, 10);
	}
	version = new_version;
	n_archs = 0;
	char *end;
	for (const char *p = list; n_archs < 16; p = end) {
		long a = strtol(p, &end, 10);
		if (end == p)
			break;
		archs[n_archs++] = (int)a;
	}
}

const char *fake_nvrtc_options(void)
{
	return options_seen;
}

int fake_nvrtc_live(void)
{
	return live;
}

const char *nvrtcGetErrorString(int code)
{
	return code == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_SCRIPTED";
}

int nvrtcVersion(int *major, int *minor)
{
	FAULT(nvrtcVersion);
	*major = version / 1000;
	*minor = version % 1000 / 10;
	return 0;
}

int nvrtcGetNumSupportedArchs(int *n)
{
	FAULT(nvrtcGetNumSupportedArchs);
	*n = n_archs;
	return 0;
}

int nvrtcGetSupportedArchs(int *list)
{
	FAULT(nvrtcGetSupportedArchs);
	memcpy(list, archs, (size_t)n_archs * sizeof *list);
	return 0;
}

int nvrtcCreateProgram(struct _nvrtcProgram **ret, const char *source, const char *name, int n,
		       const char *const *texts, const char *const *names)
{
	FAULT(nvrtcCreateProgram);
	for (int i = 0; i < n; i++)
		if (!texts[i] || !names[i] || strlen(texts[i]) == 0)
			return 3;
	struct _nvrtcProgram *p = calloc(1, sizeof *p);
	if (!p || !name)
		abort();
	p->source = strdup(source);
	live++;
	*ret = p;
	return 0;
}

int nvrtcDestroyProgram(struct _nvrtcProgram **p)
{
	free((*p)->source);
	free((*p)->ptx);
	free((*p)->cubin);
	free((*p)->log);
	free(*p);
	*p = NULL;
	live--;
	FAULT(nvrtcDestroyProgram);
	return 0;
}

/* PTX with an empty entry for each "__global__ void NAME(", with or without launch
 * bounds */
static char *entries(const char *source, int arch)
{
	char *text = NULL, name[64];
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	if (!f)
		abort();
	fprintf(f, "// by the stand-in\n.version 7.4\n.target sm_%d\n.address_size 64\n", arch);
	for (const char *p = source; (p = strstr(p, "__global__ void ")); p++)
		if (sscanf(p, "__global__ void __launch_bounds__(%*[^)]) %63[a-z0-9_](", name) ==
			    1 ||
		    sscanf(p, "__global__ void %63[a-z0-9_](", name) == 1)
			fprintf(f, ".visible .entry %s() {ret;}\n", name);
	if (strcmp(fault, "debug") == 0)
		fprintf(f, ".section .debug_info\n{\n.b8 1\n}\n");
	fclose(f);
	return text;
}

int nvrtcCompileProgram(struct _nvrtcProgram *p, int n, const char *const *options)
{
	int arch = 0, machine_code = 0;
	*options_seen = 0;
	for (int i = 0; i < n; i++) {
		size_t used = strlen(options_seen);
		snprintf(options_seen + used, sizeof options_seen - used, "%s ", options[i]);
		if (strncmp(options[i], "--gpu-architecture=", 19) == 0) {
			machine_code = strncmp(options[i] + 19, "sm_", 3) == 0;
			arch = (int)strtol(strchr(options[i], '_') + 1, NULL, 10);
		}
	}
	if (strcmp(fault, "nvrtcCompileProgram") == 0) {
		p->log = strdup("k.cu(3): warning: something\nk.cu(7): error: a scripted "
				"mistake\n1 error detected\n");
		return fault_code;
	}
	p->ptx = entries(p->source, arch);
	if (machine_code && asprintf(&p->cubin, "FAKECUBIN sm_%d\n%s", arch, p->ptx) < 0)
		abort();
	return 0;
}

int nvrtcGetPTXSize(struct _nvrtcProgram *p, size_t *size)
{
	FAULT(nvrtcGetPTXSize);
	*size = strlen(p->ptx) + 1;
	return 0;
}

int nvrtcGetPTX(struct _nvrtcProgram *p, char *text)
{
	FAULT(nvrtcGetPTX);
	memcpy(text, p->ptx, strlen(p->ptx) + 1);
	return 0;
}

int nvrtcGetCUBINSize(struct _nvrtcProgram *p, size_t *size)
{
	FAULT(nvrtcGetCUBINSize);
	*size = p->cubin ? strlen(p->cubin) : 0;
	return 0;
}

int nvrtcGetCUBIN(struct _nvrtcProgram *p, char *text)
{
	FAULT(nvrtcGetCUBIN);
	memcpy(text, p->cubin, strlen(p->cubin));
	return 0;
}

int nvrtcGetProgramLogSize(struct _nvrtcProgram *p, size_t *size)
{
	FAULT(nvrtcGetProgramLogSize);
	*size = p->log ? strlen(p->log) + 1 : 1;
	return 0;
}

int nvrtcGetProgramLog(struct _nvrtcProgram *p, char *log)
{
	FAULT(nvrtcGetProgramLog);
	memcpy(log, p->log, strlen(p->log) + 1);
	return 0;
}
