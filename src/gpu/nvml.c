#include "gpu/nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dl.h"
#include "base/mem.h"

typedef struct nvml_device *device;

struct memory {
	unsigned long long total, free, used;
};

/* Signatures as NVIDIA documents them; nvmlReturn_t and nvmlEnableState_t are ints. */
struct fns {
	int (*init)(void);
	int (*shutdown)(void);
	int (*library_version)(char *, unsigned);
	int (*driver_version)(char *, unsigned);
	int (*cuda_version)(int *);
	int (*count)(unsigned *);
	int (*handle)(unsigned, device *);
	int (*name)(device, char *, unsigned);
	int (*uuid)(device, char *, unsigned);
	int (*capability)(device, int *, int *);
	int (*memory)(device, struct memory *);
	int (*ecc)(device, unsigned *, unsigned *);
	int (*mig)(device, unsigned *, unsigned *);
	int (*persistence)(device, unsigned *);
	int (*power_limit)(device, unsigned *);
	int (*power_default)(device, unsigned *);
	int (*throttle)(device, unsigned long long *);
};

static const struct ls_dl_sym syms[] = {
	LS_DL_NEED(struct fns, init, "nvmlInit_v2", "nvmlInit"),
	LS_DL_NEED(struct fns, shutdown, "nvmlShutdown"),
	LS_DL_MAY(struct fns, library_version, "nvmlSystemGetNVMLVersion"),
	LS_DL_MAY(struct fns, driver_version, "nvmlSystemGetDriverVersion"),
	LS_DL_MAY(struct fns, cuda_version, "nvmlSystemGetCudaDriverVersion_v2",
		  "nvmlSystemGetCudaDriverVersion"),
	LS_DL_MAY(struct fns, count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"),
	LS_DL_MAY(struct fns, handle, "nvmlDeviceGetHandleByIndex_v2",
		  "nvmlDeviceGetHandleByIndex"),
	LS_DL_MAY(struct fns, name, "nvmlDeviceGetName"),
	LS_DL_MAY(struct fns, uuid, "nvmlDeviceGetUUID"),
	LS_DL_MAY(struct fns, capability, "nvmlDeviceGetCudaComputeCapability"),
	LS_DL_MAY(struct fns, memory, "nvmlDeviceGetMemoryInfo"),
	LS_DL_MAY(struct fns, ecc, "nvmlDeviceGetEccMode"),
	LS_DL_MAY(struct fns, mig, "nvmlDeviceGetMigMode"),
	LS_DL_MAY(struct fns, persistence, "nvmlDeviceGetPersistenceMode"),
	LS_DL_MAY(struct fns, power_limit, "nvmlDeviceGetEnforcedPowerLimit",
		  "nvmlDeviceGetPowerManagementLimit"),
	LS_DL_MAY(struct fns, power_default, "nvmlDeviceGetPowerManagementDefaultLimit"),
	LS_DL_MAY(struct fns, throttle, "nvmlDeviceGetCurrentClocksEventReasons",
		  "nvmlDeviceGetCurrentClocksThrottleReasons"),
	LS_DL_END,
};

struct ls_nvml {
	struct fns fns;
	struct ls_dl *lib;
};

const char *ls_nvml_reason(int code)
{
	switch (code) {
	case LS_NVML_NOT_ASKED:
		return "not asked for (--pcie)";
	case LS_NVML_NO_LIBRARY:
		return "there is no NVML library";
	case LS_NVML_OK:
		return "success";
	case 1:
		return "NVML is not initialised";
	case 2:
		return "NVML refused an argument";
	case LS_NVML_NOT_SUPPORTED:
		return "not supported by this GPU";
	case LS_NVML_NO_PERMISSION:
		return "no permission";
	case 6:
		return "no such GPU";
	case 8:
		return "a power cable of the GPU is not attached";
	case LS_NVML_DRIVER_NOT_LOADED:
		return "the NVIDIA driver is not loaded";
	case 10:
		return "the driver timed out";
	case 11:
		return "the GPU has an interrupt problem";
	case 12:
		return "NVML's shared library was not found";
	case LS_NVML_NO_FUNCTION:
		return "this driver's NVML has no such function";
	case LS_NVML_GPU_LOST:
		return "the GPU is lost: it fell off the bus or is otherwise inaccessible";
	case 16:
		return "the GPU needs a reset";
	case 17:
		return "the operating system blocks access to the GPU";
	case LS_NVML_VERSION_MISMATCH:
		return "driver and library version differ";
	case 19:
		return "the GPU is in use";
	default:
		return "an NVML error";
	}
}

/* NVML's own version is CUDA's major number, a dot, the driver's: 12.535.161.08. */
static void library_version(const struct fns *fns, char ret[LS_NVML_TEXT])
{
	char text[LS_NVML_TEXT] = "";
	if (!fns->library_version || fns->library_version(text, sizeof text) != 0)
		return;
	text[sizeof text - 1] = 0;
	const char *dot = strchr(text, '.');
	if (dot)
		snprintf(ret, LS_NVML_TEXT, "%s", dot + 1);
}

int ls_nvml_open(const char *file, struct ls_nvml **ret, int *ret_code,
		 char ret_library[LS_NVML_TEXT], struct ls_err *err)
{
	const char *const names[] = {file ? file : "libnvidia-ml.so.1", NULL};
	struct ls_nvml *nvml = ls_xalloc(sizeof *nvml);
	if (ret_library)
		ret_library[0] = 0;
	*ret_code = LS_NVML_NO_LIBRARY;
	if (ls_dl_open(names, syms, &nvml->fns, &nvml->lib, err)) {
		free(nvml);
		return LS_EUNKNOWN;
	}
	*ret_code = nvml->fns.init();
	if (ret_library)
		library_version(&nvml->fns, ret_library);
	if (*ret_code == 0) {
		*ret = nvml;
		return 0;
	}
	ls_err_set(err, LS_EUNKNOWN, "%s: nvmlInit answers %d: %s", ls_nvml_path(nvml), *ret_code,
		   ls_nvml_reason(*ret_code));
	ls_dl_close(nvml->lib);
	free(nvml);
	return LS_EUNKNOWN;
}

void ls_nvml_close(struct ls_nvml *nvml)
{
	if (!nvml)
		return;
	nvml->fns.shutdown();
	ls_dl_close(nvml->lib);
	free(nvml);
}

const char *ls_nvml_path(const struct ls_nvml *nvml)
{
	return ls_dl_path(nvml->lib);
}

int ls_nvml_driver(struct ls_nvml *nvml, char ret[LS_NVML_TEXT])
{
	char text[LS_NVML_TEXT] = "";
	int code = nvml->fns.driver_version ? nvml->fns.driver_version(text, sizeof text)
					    : LS_NVML_NO_FUNCTION;
	if (code == 0)
		snprintf(ret, LS_NVML_TEXT, "%.*s", (int)sizeof text - 1, text);
	return code;
}

int ls_nvml_cuda(struct ls_nvml *nvml, int *ret)
{
	int v = 0;
	int code = nvml->fns.cuda_version ? nvml->fns.cuda_version(&v) : LS_NVML_NO_FUNCTION;
	if (code == 0)
		*ret = v;
	return code;
}

int ls_nvml_count(struct ls_nvml *nvml, unsigned *ret)
{
	unsigned v = 0;
	int code = nvml->fns.count ? nvml->fns.count(&v) : LS_NVML_NO_FUNCTION;
	if (code == 0)
		*ret = v;
	return code;
}

static int handle_of(struct ls_nvml *nvml, unsigned i, bool have, device *ret)
{
	if (!have || !nvml->fns.handle)
		return LS_NVML_NO_FUNCTION;
	return nvml->fns.handle(i, ret);
}

static int text_of(struct ls_nvml *nvml, unsigned i, int (*ask)(device, char *, unsigned),
		   char ret[LS_NVML_TEXT])
{
	device d;
	char text[LS_NVML_TEXT] = "";
	int code = handle_of(nvml, i, ask != NULL, &d);
	if (code == 0)
		code = ask(d, text, sizeof text);
	if (code == 0)
		snprintf(ret, LS_NVML_TEXT, "%.*s", (int)sizeof text - 1, text);
	return code;
}

static int number_of(struct ls_nvml *nvml, unsigned i, int (*ask)(device, unsigned *),
		     unsigned *ret)
{
	device d;
	unsigned v = 0;
	int code = handle_of(nvml, i, ask != NULL, &d);
	if (code == 0)
		code = ask(d, &v);
	if (code == 0)
		*ret = v;
	return code;
}

/* ECC and MIG have a current mode and a pending one, which comes with the next reset. The
 * current one counts. */
static int mode_of(struct ls_nvml *nvml, unsigned i, int (*ask)(device, unsigned *, unsigned *),
		   bool *ret)
{
	device d;
	unsigned current = 0, pending = 0;
	int code = handle_of(nvml, i, ask != NULL, &d);
	if (code == 0)
		code = ask(d, &current, &pending);
	if (code == 0)
		*ret = current != 0;
	return code;
}

int ls_nvml_name(struct ls_nvml *nvml, unsigned i, char ret[LS_NVML_TEXT])
{
	return text_of(nvml, i, nvml->fns.name, ret);
}

int ls_nvml_uuid(struct ls_nvml *nvml, unsigned i, char ret[LS_NVML_TEXT])
{
	return text_of(nvml, i, nvml->fns.uuid, ret);
}

int ls_nvml_capability(struct ls_nvml *nvml, unsigned i, int *ret_major, int *ret_minor)
{
	device d;
	int major = 0, minor = 0;
	int code = handle_of(nvml, i, nvml->fns.capability != NULL, &d);
	if (code == 0)
		code = nvml->fns.capability(d, &major, &minor);
	if (code == 0) {
		*ret_major = major;
		*ret_minor = minor;
	}
	return code;
}

int ls_nvml_memory(struct ls_nvml *nvml, unsigned i, uint64_t *ret_total, uint64_t *ret_used)
{
	device d;
	struct memory m = {0};
	int code = handle_of(nvml, i, nvml->fns.memory != NULL, &d);
	if (code == 0)
		code = nvml->fns.memory(d, &m);
	if (code == 0) {
		*ret_total = m.total;
		*ret_used = m.used;
	}
	return code;
}

int ls_nvml_ecc(struct ls_nvml *nvml, unsigned i, bool *ret)
{
	return mode_of(nvml, i, nvml->fns.ecc, ret);
}

int ls_nvml_mig(struct ls_nvml *nvml, unsigned i, bool *ret)
{
	return mode_of(nvml, i, nvml->fns.mig, ret);
}

int ls_nvml_persistence(struct ls_nvml *nvml, unsigned i, bool *ret)
{
	unsigned v;
	int code = number_of(nvml, i, nvml->fns.persistence, &v);
	if (code == 0)
		*ret = v != 0;
	return code;
}

int ls_nvml_power_limit(struct ls_nvml *nvml, unsigned i, unsigned *ret_mw)
{
	return number_of(nvml, i, nvml->fns.power_limit, ret_mw);
}

int ls_nvml_power_default(struct ls_nvml *nvml, unsigned i, unsigned *ret_mw)
{
	return number_of(nvml, i, nvml->fns.power_default, ret_mw);
}

int ls_nvml_throttle(struct ls_nvml *nvml, unsigned i, uint64_t *ret_mask)
{
	device d;
	unsigned long long v = 0;
	int code = handle_of(nvml, i, nvml->fns.throttle != NULL, &d);
	if (code == 0)
		code = nvml->fns.throttle(d, &v);
	if (code == 0)
		*ret_mask = v;
	return code;
}

void ls_nvml_throttle_text(uint64_t mask, char ret[LS_NVML_TEXT])
{
	static const struct {
		uint64_t bit;
		const char *name;
	} reasons[] = {{0x04, "sw-power-cap"}, {0x08, "hw-slowdown"}, {0x10, "sync-boost"},
		       {0x20, "sw-thermal"},   {0x40, "hw-thermal"},  {0x80, "hw-power-brake"}};
	size_t len = 0;
	ret[0] = 0;
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (mask & reasons[i].bit)
			len += (size_t)snprintf(ret + len, LS_NVML_TEXT - len, "%s%s",
						len ? " " : "", reasons[i].name);
	if (!len)
		snprintf(ret, LS_NVML_TEXT, "none");
}
