#include "gpu/nvml_mig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dl.h"
#include "base/mem.h"

typedef struct nvml_device *device;

struct memory_v2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};

/* Signatures as NVIDIA documents them. */
struct fns {
	int (*init)(void);
	int (*shutdown)(void);
	int (*handle)(unsigned, device *);
	int (*most)(device, unsigned *);
	int (*instance)(device, unsigned, device *);
	int (*gpu_instance)(device, unsigned *);
	int (*compute_instance)(device, unsigned *);
	int (*uuid)(device, char *, unsigned);
	int (*name)(device, char *, unsigned);
	int (*memory_v2)(device, struct memory_v2 *);
	int (*memory)(device, unsigned long long[3]);
};

static const struct ls_dl_sym syms[] = {
	LS_DL_NEED(struct fns, init, "nvmlInit_v2", "nvmlInit"),
	LS_DL_NEED(struct fns, shutdown, "nvmlShutdown"),
	LS_DL_NEED(struct fns, handle, "nvmlDeviceGetHandleByIndex_v2",
		   "nvmlDeviceGetHandleByIndex"),
	LS_DL_NEED(struct fns, most, "nvmlDeviceGetMaxMigDeviceCount"),
	LS_DL_NEED(struct fns, instance, "nvmlDeviceGetMigDeviceHandleByIndex"),
	LS_DL_NEED(struct fns, gpu_instance, "nvmlDeviceGetGpuInstanceId"),
	LS_DL_NEED(struct fns, compute_instance, "nvmlDeviceGetComputeInstanceId"),
	LS_DL_MAY(struct fns, uuid, "nvmlDeviceGetUUID"),
	LS_DL_MAY(struct fns, name, "nvmlDeviceGetName"),
	LS_DL_MAY(struct fns, memory_v2, "nvmlDeviceGetMemoryInfo_v2"),
	LS_DL_MAY(struct fns, memory, "nvmlDeviceGetMemoryInfo"),
	LS_DL_END,
};

struct ls_nvml_migs {
	struct ls_dl *lib;
	struct fns fns;
};

int ls_nvml_migs_open(const struct ls_nvml *nvml, struct ls_nvml_migs **ret, struct ls_err *err)
{
	const char *const names[] = {ls_nvml_path(nvml), NULL};
	struct ls_nvml_migs *m = ls_xalloc(sizeof *m);
	int rc = ls_dl_open(names, syms, &m->fns, &m->lib, err);
	int code = rc ? 0 : m->fns.init();
	if (code != 0) {
		rc = ls_err_set(err, LS_EUNKNOWN, "%s: nvmlInit answers %d: %s", names[0], code,
				ls_nvml_reason(code));
		ls_dl_close(m->lib);
	}
	if (rc)
		free(m);
	else
		*ret = m;
	return rc;
}

void ls_nvml_migs_close(struct ls_nvml_migs *m)
{
	if (!m)
		return;
	m->fns.shutdown();
	ls_dl_close(m->lib);
	free(m);
}

/* "NVIDIA H200 MIG 1g.18gb": what follows the last MIG. */
static void take_profile(const char *name, char ret[LS_NVML_TEXT])
{
	static const char mark[] = "MIG ";
	const char *last = NULL;
	for (const char *p = name; (p = strstr(p, mark)); p += sizeof mark - 1)
		last = p + sizeof mark - 1;
	snprintf(ret, LS_NVML_TEXT, "%s", last ? last : "");
}

static void read_memory(const struct fns *f, device d, struct ls_nvml_mig *ret)
{
	struct memory_v2 m = {.version = (unsigned)sizeof m | 2u << 24};
	unsigned long long old[3] = {0};
	int code = f->memory_v2 ? f->memory_v2(d, &m) : LS_NVML_NO_FUNCTION;
	if (code != 0 && f->memory) {
		code = f->memory(d, old);
		m.total = old[0];
		m.used = old[2];
	}
	ret->has_memory = code == 0;
	ret->total = m.total;
	ret->used = m.used;
}

static bool read_one(const struct fns *f, device d, struct ls_nvml_mig *ret)
{
	char name[LS_NVML_TEXT] = "";
	memset(ret, 0, sizeof *ret);
	if (f->gpu_instance(d, &ret->gpu_instance) != 0 ||
	    f->compute_instance(d, &ret->compute_instance) != 0)
		return false;
	if (!f->uuid || f->uuid(d, ret->uuid, sizeof ret->uuid) != 0)
		*ret->uuid = 0;
	if (f->name && f->name(d, name, sizeof name) == 0)
		take_profile(name, ret->profile);
	read_memory(f, d, ret);
	return true;
}

/* Numbers are not given out without gaps. */
unsigned ls_nvml_migs_read(struct ls_nvml_migs *m, unsigned i, struct ls_nvml_mig *ret)
{
	device gpu, mig;
	unsigned most = 0, n = 0;
	if (m->fns.handle(i, &gpu) != 0 || m->fns.most(gpu, &most) != 0)
		return 0;
	for (unsigned k = 0; k < most && n < LS_NVML_MIGS; k++)
		if (m->fns.instance(gpu, k, &mig) == 0 && read_one(&m->fns, mig, &ret[n]))
			n++;
	return n;
}
