/* Faults that a machine shows by itself: the classics first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/vars.h"
#include "env/facts/version.h"
#include "env/rules/findings.h"

static bool is(const char *value, const char *text)
{
	return value && strcmp(value, text) == 0;
}

/* Driver, toolkit, container flags: in that order, leaving out what is known to be in
 * order. */
static char *no_gpu_advice(const struct ls_facts *f)
{
	bool inside = ls_facts_value(f, "container") != NULL,
	     loaded = ls_facts_value(f, "driver_kernel") != NULL;
	struct ls_str s = {0};
	if (is(ls_facts_value(f, "pci_gpu_count"), "0"))
		ls_str_add(&s, "hardware: the PCI bus shows no NVIDIA device; on a virtual "
			       "machine, ask for one with a GPU\n");
	if (loaded)
		ls_str_add(&s, "driver: the kernel module is loaded; on the host, `nvidia-smi` "
			       "must list the GPU\n");
	else
		ls_str_add(&s, "driver: install the NVIDIA driver on the host and see that "
			       "`nvidia-smi` lists the GPU\n");
	if (inside || !loaded)
		ls_str_add(
			&s,
			"container toolkit: install nvidia-container-toolkit on the host and try "
			"`docker run --rm --gpus all IMAGE nvidia-smi`\n");
	if (inside)
		ls_str_add(&s, "container flags: start with `--gpus all` (compose: "
			       "deploy.resources.reservations.devices), "
			       "NVIDIA_VISIBLE_DEVICES=all and "
			       "NVIDIA_DRIVER_CAPABILITIES=compute,utility\n");
	return ls_str_take(&s);
}

static void no_gpu(struct ls_findings *list, const struct ls_facts *f, enum ls_gpu_need need)
{
	const struct ls_fact *count = ls_facts_find(f, "gpu_count");
	if (!count || (count->state == LS_FACT_KNOWN && !is(count->value, "0")))
		return;
	if (ls_findings_find(list, "driver-mismatch") || ls_findings_find(list, "driver-fails"))
		return; /* the cause is told, and what to do about it */
	char *advice = no_gpu_advice(f);
	ls_findings_blind(list,
			  need == LS_GPU_REQUIRED ? LS_LEVEL_REQUIRED : LS_LEVEL_INFORMATIONAL,
			  "no-gpu", "a GPU that is seen", count->value ? "no GPU" : count->reason,
			  count->source, advice);
	free(advice);
}

/* Programs see fewer GPUs than there are. None at all is as good as a machine without
 * one. */
static void hidden_gpus(struct ls_findings *list, const struct ls_facts *f, enum ls_gpu_need need)
{
	const struct ls_fact *seen = ls_facts_find(f, "gpu_visible");
	const char *variable = ls_facts_value(f, "env.CUDA_VISIBLE_DEVICES");
	size_t n = ls_facts_gpu_count(f);
	if (!seen || !seen->value || !n || strtoul(seen->value, NULL, 10) >= n)
		return;
	char *found = ls_xasprintf("CUDA_VISIBLE_DEVICES=%s: programs see %s of %zu", variable,
				   seen->value, n);
	static const char advice[] = "unset CUDA_VISIBLE_DEVICES, or list the GPUs in it";
	if (!is(seen->value, "0"))
		ls_findings_fault(list, LS_LEVEL_INFORMATIONAL, "gpus-hidden", "every GPU visible",
				  found, seen->source, advice);
	else
		ls_findings_blind(
			list, need == LS_GPU_REQUIRED ? LS_LEVEL_REQUIRED : LS_LEVEL_RECOMMENDED,
			"gpus-hidden", "a GPU that programs see", found, seen->source, advice);
	free(found);
}

/* After an upgrade without a reboot the library is new and the module in the kernel still
 * the old one. */
static void kernel_and_library(struct ls_findings *list, const struct ls_facts *f)
{
	const char *kernel = ls_facts_value(f, "driver_kernel"),
		   *user = ls_facts_value(f, "driver_nvml");
	bool code18 = is(ls_facts_value(f, "nvml"), "18");
	if (!code18 && (!kernel || !user || strcmp(kernel, user) == 0))
		return;
	char *found =
		ls_xasprintf("kernel module %s, NVML library %s%s", kernel ? kernel : "unknown",
			     user ? user : "unknown", code18 ? " (nvmlInit answers 18)" : "");
	ls_findings_fault(
		list, LS_LEVEL_REQUIRED, "driver-mismatch",
		"one driver version in kernel and library", found,
		"/sys/module/nvidia/version, NVML",
		"reboot: the driver was upgraded and the old kernel module is still loaded\n"
		"without a reboot: stop every GPU program, `rmmod nvidia_uvm nvidia_drm "
		"nvidia_modeset nvidia`, "
		"`modprobe "
		"nvidia`\n"
		"in a container: restart it, so that it gets the host's present libraries\n"
		"keep unattended upgrades from changing the driver under running jobs (apt-mark "
		"hold)");
	free(found);
}

static void nvml_fails(struct ls_findings *list, const struct ls_facts *f)
{
	const struct ls_fact *nvml = ls_facts_find(f, "nvml");
	if (!nvml || !nvml->value || is(nvml->value, "0") || is(nvml->value, "18"))
		return;
	char *found =
		ls_xasprintf("nvmlInit answers %s: %s", nvml->value, nvml->note ? nvml->note : "");
	const char *advice =
		is(nvml->value, "9")
			? "load the module: `modprobe nvidia`, then look at `dmesg`\n"
			  "after a kernel upgrade the module must be rebuilt (DKMS); with Secure "
			  "Boot it must be "
			  "signed\n"
			  "in a container: the host's driver is not loaded, or /dev/nvidia* was "
			  "not passed in"
			: "look at `dmesg` for Xid errors; a lost GPU needs a reset or a reboot";
	/* a driver package on a machine without a GPU is no fault, only nothing to ask */
	if (is(ls_facts_value(f, "pci_gpu_count"), "0"))
		ls_findings_blind(list, LS_LEVEL_REQUIRED, "driver-fails", "NVML that starts",
				  found, nvml->source, advice);
	else
		ls_findings_fault(list, LS_LEVEL_REQUIRED, "driver-fails", "NVML that starts",
				  found, nvml->source, advice);
	free(found);
}

/* nvidia-smi and NVML come with the capability "utility"; programs run without it, but
 * nobody can look. */
static void nvml_missing(struct ls_findings *list, const struct ls_facts *f)
{
	const struct ls_fact *nvml = ls_facts_find(f, "nvml");
	if (!nvml || nvml->state != LS_FACT_UNKNOWN || !ls_facts_value(f, "driver_kernel"))
		return;
	ls_findings_blind(
		list, LS_LEVEL_RECOMMENDED, "nvml-missing", "the driver's libnvidia-ml.so.1",
		nvml->reason, nvml->source,
		"in a container: start it with NVIDIA_DRIVER_CAPABILITIES=compute,utility\n"
		"on a host: install the library package of the driver that is loaded");
}

static void cpu_torch(struct ls_findings *list, const struct ls_facts *f, bool need)
{
	const struct ls_fact *cuda = ls_facts_find(f, "torch_cuda");
	if (!cuda || cuda->state != LS_FACT_ABSENT || !ls_facts_value(f, "torch") ||
	    ls_facts_gpu_count(f) == 0)
		return;
	ls_findings_fault(list, need ? LS_LEVEL_REQUIRED : LS_LEVEL_RECOMMENDED,
			  "torch-without-cuda", "a torch built for CUDA, as there is a GPU",
			  cuda->reason, cuda->source,
			  "install torch from the wheel index of the CUDA version wanted; the "
			  "plain index may give a CPU build");
}

/* True when both begin with the same major.minor. */
static bool same_minor(const char *a, const char *b)
{
	struct ls_version x, y;
	if (!ls_version_parse(a, &x) || !ls_version_parse(b, &y))
		return false;
	return x.part[0] == y.part[0] && x.part[1] == y.part[1];
}

static const char *const unshadow =
	"take the folder of the other copy out of LD_LIBRARY_PATH (and the file out of "
	"LD_PRELOAD); torch brings its own\n"
	"where the image sets LD_LIBRARY_PATH: rebuild from one with torch's CUDA version "
	"(`docker compose build --no-cache`)\n"
	"--deep tells which copy torch really runs with";

/* A toolkit of another version is harmless until an extension is built with it or its
 * libraries are put first. */
static void toolkit_differs(struct ls_findings *list, const struct ls_facts *f)
{
	const char *torch = ls_facts_value(f, "torch_cuda");
	const struct ls_fact *cuda = ls_facts_find(f, "cuda");
	if (!torch || !cuda || !cuda->value || same_minor(torch, cuda->value))
		return;
	char *found = ls_xasprintf("toolkit %s, torch built for %s", cuda->value, torch);
	bool major = strtol(torch, NULL, 10) != strtol(cuda->value, NULL, 10);
	ls_findings_fault(list, major ? LS_LEVEL_RECOMMENDED : LS_LEVEL_INFORMATIONAL,
			  "toolkit-differs", "toolkit and torch of one CUDA version", found,
			  cuda->source,
			  "extensions compiled here will not load beside torch: expect \"version "
			  "CUDA_X.Y not found\" or missing "
			  "symbols\n"
			  "rebuild the container from an image with torch's CUDA version (`docker "
			  "compose build --no-cache`)");
	free(found);
}

/* LD_LIBRARY_PATH is looked at before what torch brought where torch's libraries have a
 * RUNPATH, behind it where they have an RPATH. Where they cannot be read the first is
 * feared. */
static void shadowed(struct ls_findings *list, const struct ls_facts *f, const char *which)
{
	char key[32];
	snprintf(key, sizeof key, "torch_lib.%s", which);
	const struct ls_fact *lib = ls_facts_find(f, key);
	snprintf(key, sizeof key, "lib.%s", which);
	lib = lib ? lib : ls_facts_find(f, key);
	snprintf(key, sizeof key, "bundled.%s", which);
	const struct ls_fact *own = ls_facts_find(f, key);
	if (!lib || !own || !lib->value || !own->value || !lib->note ||
	    !(strstr(lib->note, "by LD_LIBRARY_PATH") || strstr(lib->note, "by LD_PRELOAD")))
		return;
	struct ls_version a, b;
	if (!ls_version_parse(lib->value, &a) || !ls_version_parse(own->value, &b))
		return;
	if (a.part[0] == b.part[0] && a.part[1] == b.part[1] &&
	    (a.n_parts < 3 || b.n_parts < 3 || a.part[2] == b.part[2]))
		return;
	char *id = ls_xasprintf("shadowed-%s", which);
	char *found = ls_xasprintf("%s (%s)", lib->value, lib->note);
	char *expected = ls_xasprintf("%s, which came with torch", own->value);
	ls_findings_fault(list, LS_LEVEL_RECOMMENDED, id, expected, found, lib->source, unshadow);
	free(id);
	free(found);
	free(expected);
}

/* The driver counts it and it does not answer: fallen off the bus, or in need of a
 * reset. */
static void gpu_silent(struct ls_findings *list, const struct ls_facts *f, size_t i)
{
	const struct ls_fact *name = ls_facts_gpu(f, i, "name");
	if (!name || name->state != LS_FACT_UNKNOWN || !is(ls_facts_value(f, "nvml"), "0"))
		return;
	char *found = ls_xasprintf("GPU %zu: %s", i, name->reason);
	ls_findings_fault(
		list, LS_LEVEL_REQUIRED, "gpu-silent", "GPUs that answer", found, name->source,
		"look at `dmesg` for Xid lines\n"
		"reset it (`nvidia-smi --gpu-reset -i N`) with no program using it, or reboot\n"
		"if it comes back: power, cooling, seating of the card");
	free(found);
}

static void gpu_state(struct ls_findings *list, const struct ls_facts *f, size_t i)
{
	static const struct {
		const char *what, *good, *id, *expected, *advice;
		enum ls_level level;
	} states[] = {
		{"throttle", "none", "gpu-throttled", "no throttling",
		 "look at cooling, power supply and power limit; times measured now do not count",
		 LS_LEVEL_RECOMMENDED},
		{"mig", "off", "gpu-mig", "whole GPUs",
		 "MIG is on: programs see slices, and each only one; `nvidia-smi -mig 0` gives "
		 "whole GPUs back",
		 LS_LEVEL_INFORMATIONAL},
		{"persistence", "on", "gpu-persistence", "persistence on",
		 "`nvidia-smi -pm 1`: without it the driver unloads between programs and each "
		 "start takes seconds",
		 LS_LEVEL_INFORMATIONAL},
	};
	for (size_t k = 0; k < sizeof states / sizeof *states; k++) {
		const struct ls_fact *fact = ls_facts_gpu(f, i, states[k].what);
		if (!fact || !fact->value || is(fact->value, states[k].good))
			continue;
		char *found = ls_xasprintf("GPU %zu: %s", i, fact->value);
		ls_findings_fault(list, states[k].level, states[k].id, states[k].expected, found,
				  fact->source, states[k].advice);
		free(found);
	}
	const char *limit = ls_facts_gpu_value(f, i, "power_limit"),
		   *usual = ls_facts_gpu_value(f, i, "power_default");
	if (limit && usual && strtod(limit, NULL) < strtod(usual, NULL)) {
		char *found = ls_xasprintf("GPU %zu: %s", i, limit);
		ls_findings_fault(list, LS_LEVEL_INFORMATIONAL, "gpu-power-limit", usual, found,
				  "NVML: nvmlDeviceGetEnforcedPowerLimit",
				  "slower than the model's figures; `nvidia-smi -pl` sets it");
		free(found);
	}
}

/* Somebody set it, and to a value that makes results vary: worth a line. Unset ones are
 * in the table of facts. */
static void variables(struct ls_findings *list, const struct ls_facts *f)
{
	for (const struct ls_var *v = ls_vars; v->name; v++) {
		char key[96];
		snprintf(key, sizeof key, "env.%s", v->name);
		const char *value = ls_facts_value(f, key);
		if (ls_findings_find(list, key))
			continue; /* the spec says what it must be */
		if (value && ls_var_judge(v->name, value) == LS_VAR_FREE)
			ls_findings_fault(list, LS_LEVEL_RECOMMENDED, key, v->wanted,
					  *value ? value : "(empty)", "environment", v->why);
	}
}

static const char *const uninstall =
	"`pip uninstall` the name until none is left, then install it once";

/* version.py and METADATA come from one wheel; when they differ two installs overlap. */
static void torch_twice(struct ls_findings *list, const struct ls_facts *f)
{
	const char *file = ls_facts_value(f, "torch");
	const struct ls_fact *meta = ls_facts_find(f, "package.torch"),
			     *twice = ls_facts_find(f, "python.twice");
	int order;
	if (file && meta && meta->value && ls_version_compare(file, meta->value, &order) && order)
		ls_findings_fault(list, LS_LEVEL_RECOMMENDED, "torch-installed-twice", file,
				  meta->value, meta->source, uninstall);
	if (twice && twice->value)
		ls_findings_fault(list, LS_LEVEL_RECOMMENDED, "installed-twice",
				  "one version of each distribution", twice->value, twice->source,
				  uninstall);
}

static void stale_venv(struct ls_findings *list, const struct ls_facts *f)
{
	const char *cfg = ls_facts_value(f, "python.pyvenv_cfg"),
		   *python = ls_facts_value(f, "python");
	if (!cfg || !python || strcmp(cfg, python) == 0)
		return;
	ls_findings_fault(list,
			  same_minor(cfg, python) ? LS_LEVEL_INFORMATIONAL : LS_LEVEL_RECOMMENDED,
			  "venv-stale", cfg, python, ls_facts_find(f, "python")->source,
			  "Python was upgraded under the venv; make the venv anew");
}

/* Of the driver and the GPUs: nothing that a service on the CPU minds. */
static void gpu_faults(struct ls_findings *list, const struct ls_facts *facts,
		       enum ls_gpu_need need)
{
	kernel_and_library(list, facts);
	nvml_fails(list, facts);
	nvml_missing(list, facts);
	no_gpu(list, facts, need);
	hidden_gpus(list, facts, need);
	cpu_torch(list, facts, need == LS_GPU_REQUIRED);
	for (size_t i = 0; i < ls_facts_gpu_count(facts); i++) {
		gpu_silent(list, facts, i);
		gpu_state(list, facts, i);
	}
}

void ls_findings_faults(struct ls_findings *list, const struct ls_facts *facts,
			enum ls_gpu_need need)
{
	static const char *const libraries[] = {"cudnn", "cudart", "cublas", "nccl", "nvrtc", NULL};
	if (need != LS_GPU_UNWANTED)
		gpu_faults(list, facts, need);
	toolkit_differs(list, facts);
	for (const char *const *l = libraries; *l; l++)
		shadowed(list, facts, *l);
	torch_twice(list, facts);
	stale_venv(list, facts);
	variables(list, facts);
}
