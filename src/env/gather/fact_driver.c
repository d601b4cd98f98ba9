/* The driver, from the kernel's side and from NVML's, and every GPU it shows. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/root.h"
#include "env/gather/look.h"
#include "gpu/devices.h"
#include "gpu/libver.h"
#include "gpu/nvml.h"

static const char soname[] = "libnvidia-ml.so.1";

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Sat Feb…": the first word
 * that is digits and dots. */
static char *nvrm_version(const char *text)
{
	for (const char *p = text; *p && *p != '\n'; p += strspn(p, " ")) {
		size_t len = strcspn(p, " \n");
		if (isdigit((unsigned char)*p) && strspn(p, "0123456789.") == len &&
		    memchr(p, '.', len))
			return ls_xstrndup(p, len);
		p += len;
	}
	return NULL;
}

static void kernel_side(struct ls_look *look)
{
	static const char sys[] = "/sys/module/nvidia/version",
			  proc[] = "/proc/driver/nvidia/version";
	char *version = ls_root_line(look->root, sys);
	char *text = ls_root_read(look->root, proc, 1 << 14, NULL);
	const char *source = sys;
	if (!version && text) {
		version = nvrm_version(text);
		source = proc;
	}
	if (version)
		ls_facts_set(look->facts, "driver_kernel", version, source);
	else
		ls_facts_unknown(look->facts, "driver_kernel", sys,
				 "no NVIDIA kernel module is loaded");
	if (version && text)
		ls_facts_note(look->facts, "driver_kernel",
			      strstr(text, "Open Kernel Module") ? "open kernel module"
								 : "proprietary kernel module");
	free(version);
	free(text);
}

/* NVIDIA display controllers and accelerators on the PCI bus: tells "no GPU" from "no
 * driver". */
static void pci(struct ls_look *look)
{
	static const char dir[] = "/sys/bus/pci/devices";
	char **names = ls_root_list(look->root, dir);
	size_t n = 0;
	for (char **p = names; p && *p; p++) {
		char *file = ls_xasprintf("%s/%s/vendor", dir, *p),
		     *vendor = ls_root_line(look->root, file);
		free(file);
		if (vendor && strcmp(vendor, "0x10de") == 0) {
			file = ls_xasprintf("%s/%s/class", dir, *p);
			char *class = ls_root_line(look->root, file);
			n += class &&
			     (ls_str_starts(class, "0x03") || ls_str_starts(class, "0x12"));
			free(class);
			free(file);
		}
		free(vendor);
	}
	char count[24];
	snprintf(count, sizeof count, "%zu", n);
	if (names)
		ls_facts_set(look->facts, "pci_gpu_count", count, dir);
	else
		ls_facts_unknown(look->facts, "pci_gpu_count", dir, "the folder is not there");
	ls_root_list_free(names);
}

static const char *absent_reason(const struct ls_look *look)
{
	const char *n = ls_facts_value(look->facts, "pci_gpu_count");
	if (ls_facts_value(look->facts, "driver_kernel"))
		return "the kernel module is loaded, but its library libnvidia-ml.so.1 is not here";
	if (!n)
		return "no NVIDIA driver";
	return strcmp(n, "0") == 0 ? "no NVIDIA driver, and no NVIDIA device on the PCI bus"
				   : "no NVIDIA driver, although the PCI bus has an NVIDIA device";
}

static void driver_cuda_from_libcuda(struct ls_look *look, const char *nvml_reason)
{
	static const char key[] = "driver_cuda";
	char *file = *look->root ? ls_root_library(look->root, "libcuda.so.1")
				 : ls_xstrdup("libcuda.so.1");
	char version[LS_LIBVER_TEXT];
	const char *call;
	struct ls_err err;
	if (file && ls_libver_ask("cuda", file, version, &call, &err) == 0)
		ls_facts_set(look->facts, key, version, "libcuda.so.1: cuDriverGetVersion");
	else
		ls_facts_unknown(look->facts, key, "NVML, libcuda.so.1", nvml_reason);
	free(file);
}

static void driver_cuda(struct ls_look *look, struct ls_nvml *nvml)
{
	int v = 0, code = ls_nvml_cuda(nvml, &v);
	if (code || v <= 0) {
		driver_cuda_from_libcuda(look, ls_nvml_reason(code));
		return;
	}
	char text[32];
	snprintf(text, sizeof text, "%d.%d", v / 1000, v % 1000 / 10);
	ls_facts_set(look->facts, "driver_cuda", text, "NVML: nvmlSystemGetCudaDriverVersion");
}

/* One answer about GPU i: code 0 sets value, others say why it is unknown. */
static void gpu_fact(struct ls_look *look, unsigned i, const char *what, int code,
		     const char *value, const char *call)
{
	char key[64], source[96];
	snprintf(key, sizeof key, "gpu.%u.%s", i, what);
	snprintf(source, sizeof source, "NVML: %s", call);
	if (code == 0)
		ls_facts_set(look->facts, key, value, source);
	else if (code == LS_NVML_NOT_SUPPORTED)
		ls_facts_absent(look->facts, key, source,
				ls_nvml_reason(code)); /* an answer: it has no such thing */
	else
		ls_facts_unknown(look->facts, key, source, ls_nvml_reason(code));
}

static void gpu_modes(struct ls_look *look, struct ls_nvml *nvml, unsigned i)
{
	static const struct {
		const char *what, *call;
		int (*ask)(struct ls_nvml *, unsigned, bool *);
	} modes[] = {{"ecc", "nvmlDeviceGetEccMode", ls_nvml_ecc},
		     {"mig", "nvmlDeviceGetMigMode", ls_nvml_mig},
		     {"persistence", "nvmlDeviceGetPersistenceMode", ls_nvml_persistence}};
	for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
		bool on = false;
		int code = modes[m].ask(nvml, i, &on);
		gpu_fact(look, i, modes[m].what, code, on ? "on" : "off", modes[m].call);
	}
}

static void gpu_power(struct ls_look *look, struct ls_nvml *nvml, unsigned i)
{
	unsigned mw = 0;
	uint64_t mask = 0;
	char text[LS_NVML_TEXT];
	int code = ls_nvml_power_limit(nvml, i, &mw);
	snprintf(text, sizeof text, "%u.%02u W", mw / 1000, mw % 1000 / 10);
	gpu_fact(look, i, "power_limit", code, text, "nvmlDeviceGetEnforcedPowerLimit");
	code = ls_nvml_power_default(nvml, i, &mw);
	snprintf(text, sizeof text, "%u.%02u W", mw / 1000, mw % 1000 / 10);
	gpu_fact(look, i, "power_default", code, text, "nvmlDeviceGetPowerManagementDefaultLimit");
	code = ls_nvml_throttle(nvml, i, &mask);
	ls_nvml_throttle_text(mask, text);
	gpu_fact(look, i, "throttle", code, text, "nvmlDeviceGetCurrentClocksEventReasons");
}

static void gpu(struct ls_look *look, struct ls_nvml *nvml, unsigned i)
{
	char text[LS_NVML_TEXT] = "";
	int code = ls_nvml_name(nvml, i, text), major = 0, minor = 0;
	uint64_t total = 0, used = 0;
	gpu_fact(look, i, "name", code, text, "nvmlDeviceGetName");
	code = ls_nvml_uuid(nvml, i, text);
	gpu_fact(look, i, "uuid", code, text, "nvmlDeviceGetUUID");
	code = ls_nvml_capability(nvml, i, &major, &minor);
	snprintf(text, sizeof text, "%d.%d", major, minor);
	gpu_fact(look, i, "capability", code, text, "nvmlDeviceGetCudaComputeCapability");
	code = ls_nvml_memory(nvml, i, &total, &used);
	snprintf(text, sizeof text, "%llu MiB", (unsigned long long)(total >> 20));
	gpu_fact(look, i, "memory", code, text, "nvmlDeviceGetMemoryInfo");
	gpu_modes(look, nvml, i);
	gpu_power(look, nvml, i);
}

/* Without NVML the kernel module still lists its GPUs: name and UUID. */
static bool gpus_from_proc(struct ls_look *look, const char *reason)
{
	static const char dir[] = "/proc/driver/nvidia/gpus";
	static const char *const fields[][2] = {{"Model:", "name"}, {"GPU UUID:", "uuid"}};
	char **names = ls_root_list(look->root, dir);
	unsigned n = 0;
	for (char **p = names; p && *p; p++, n++) {
		char *file = ls_xasprintf("%s/%s/information", dir, *p);
		char *text = ls_root_read(look->root, file, 1 << 14, NULL);
		for (size_t f = 0; f < 2; f++) {
			const char *at = text ? strstr(text, fields[f][0]) : NULL;
			char key[48], *value = at ? ls_xstrndup(at, strcspn(at, "\n")) : NULL;
			snprintf(key, sizeof key, "gpu.%u.%s", n, fields[f][1]);
			if (value)
				ls_facts_set(look->facts, key,
					     ls_str_trim(value + strlen(fields[f][0])), file);
			else
				ls_facts_unknown(look->facts, key, file, reason);
			free(value);
		}
		free(text);
		free(file);
	}
	char count[24];
	snprintf(count, sizeof count, "%u", n);
	if (n)
		ls_facts_set(look->facts, "gpu_count", count, dir);
	ls_root_list_free(names);
	return n > 0;
}

static void device_fact(struct ls_look *look, int i, const char *what, const char *value,
			const char *call)
{
	char key[48], source[64];
	snprintf(key, sizeof key, "gpu.%d.%s", i, what);
	snprintf(source, sizeof source, "libcuda.so.1: %s", call);
	if (*value)
		ls_facts_set(look->facts, key, value, source);
	else
		ls_facts_unknown(look->facts, key, source, "this driver does not tell");
}

/* A container may have libcuda and not NVML; then CUDA's own list of devices is there to
 * be asked. */
static bool gpus_from_libcuda(struct ls_look *look)
{
	enum { MAX = 64 };
	struct ls_device *d = ls_xalloc(MAX * sizeof *d);
	char *file = *look->root ? ls_root_library(look->root, "libcuda.so.1")
				 : ls_xstrdup("libcuda.so.1");
	int n = 0;
	bool ok = file && ls_devices_list(file, d, MAX, &n, NULL) == 0 && n > 0;
	for (int i = 0; ok && i < n && i < MAX; i++) {
		char text[48];
		device_fact(look, i, "name", d[i].name, "cuDeviceGetName");
		device_fact(look, i, "uuid", d[i].uuid, "cuDeviceGetUuid");
		snprintf(text, sizeof text, "%d.%d", d[i].major, d[i].minor);
		device_fact(look, i, "capability", text, "cuDeviceGetAttribute");
		snprintf(text, sizeof text, "%llu MiB", (unsigned long long)(d[i].memory >> 20));
		device_fact(look, i, "memory", text, "cuDeviceTotalMem");
	}
	char count[24];
	snprintf(count, sizeof count, "%d", n);
	if (ok)
		ls_facts_set(look->facts, "gpu_count", count, "libcuda.so.1: cuDeviceGetCount");
	free(file);
	free(d);
	return ok;
}

/* The smallest memory and the lowest capability decide what a job may count on. */
static void least(struct ls_look *look, const char *key, const char *what)
{
	size_t n = ls_facts_gpu_count(look->facts), best = n;
	double lowest = 0;
	for (size_t i = 0; i < n; i++) {
		const char *v = ls_facts_gpu_value(look->facts, i, what);
		if (!v) {
			best = n;
			break;
		}
		double x = strtod(v, NULL); /* capabilities have one digit after the point, so this
					       orders them */
		if (best == n || x < lowest) {
			best = i;
			lowest = x;
		}
	}
	char from[48];
	snprintf(from, sizeof from, "gpu.%zu.%s", best, what);
	if (best < n)
		ls_facts_copy(look->facts, key, from);
	else
		ls_facts_unknown(look->facts, key, "NVML",
				 n ? "a GPU does not tell" : "no GPU is seen");
}

static void without_nvml(struct ls_look *look, int code, const char *library,
			 const struct ls_err *err)
{
	struct ls_facts *f = look->facts;
	const char *reason =
		code == LS_NVML_NO_LIBRARY ? absent_reason(look) : ls_nvml_reason(code);
	if (code == LS_NVML_NO_LIBRARY) {
		ls_facts_unknown(f, "nvml", soname, err->msg);
	} else {
		char text[16];
		snprintf(text, sizeof text, "%d", code);
		ls_facts_set(f, "nvml", text, "NVML: nvmlInit");
		ls_facts_note(f, "nvml", reason);
	}
	if (*library)
		ls_facts_set(f, "driver_nvml", library, "NVML: nvmlSystemGetNVMLVersion");
	else
		ls_facts_unknown(f, "driver_nvml", soname, reason);
	driver_cuda_from_libcuda(look, reason);
	if (!(code == LS_NVML_NO_LIBRARY && gpus_from_libcuda(look)) &&
	    !gpus_from_proc(look, reason))
		ls_facts_unknown(f, "gpu_count", "NVML, /proc/driver/nvidia/gpus", reason);
}

static void with_nvml(struct ls_look *look, struct ls_nvml *nvml)
{
	struct ls_facts *f = look->facts;
	char text[LS_NVML_TEXT] = "";
	unsigned n = 0;
	ls_facts_set(f, "nvml", "0", "NVML: nvmlInit");
	int code = ls_nvml_driver(nvml, text);
	if (code == 0)
		ls_facts_set(f, "driver_nvml", text, "NVML: nvmlSystemGetDriverVersion");
	else
		ls_facts_unknown(f, "driver_nvml", "NVML: nvmlSystemGetDriverVersion",
				 ls_nvml_reason(code));
	driver_cuda(look, nvml);
	code = ls_nvml_count(nvml, &n);
	snprintf(text, sizeof text, "%u", n);
	if (code == 0)
		ls_facts_set(f, "gpu_count", text, "NVML: nvmlDeviceGetCount");
	else
		ls_facts_unknown(f, "gpu_count", "NVML: nvmlDeviceGetCount", ls_nvml_reason(code));
	for (unsigned i = 0; i < n; i++)
		gpu(look, nvml, i);
}

void ls_look_driver(struct ls_look *look)
{
	struct ls_nvml *nvml;
	struct ls_err err = {0};
	int code = LS_NVML_NO_LIBRARY;
	char library[LS_NVML_TEXT] = "";
	pci(look);
	kernel_side(look);
	char *file = *look->root ? ls_root_library(look->root, soname) : NULL;
	if (*look->root && !file) {
		ls_err_set(&err, LS_EUNKNOWN, "%s: not found", soname);
		without_nvml(look, code, library, &err);
	} else if (ls_nvml_open(file, &nvml, &code, library, &err) == 0) {
		with_nvml(look, nvml);
		ls_nvml_close(nvml);
	} else {
		without_nvml(look, code, library, &err);
	}
	free(file);
	ls_facts_copy(look->facts, "driver",
		      ls_facts_value(look->facts, "driver_nvml") ? "driver_nvml" : "driver_kernel");
	least(look, "vram", "memory");
	least(look, "capability", "capability");
}
