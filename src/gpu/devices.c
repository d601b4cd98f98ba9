#include "gpu/devices.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/dl.h"

/* CUresult is an unsigned, CUdevice an int; from NVIDIA's documentation of the driver
 * API. */
struct fns {
	unsigned (*init)(unsigned);
	unsigned (*count)(int *);
	unsigned (*get)(int *, int);
	unsigned (*name)(char *, int, int);
	unsigned (*uuid)(unsigned char[16], int);
	unsigned (*memory)(size_t *, int);
	unsigned (*attribute)(int *, unsigned, int);
};

enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };

static const struct ls_dl_sym syms[] = {
	LS_DL_NEED(struct fns, init, "cuInit"),
	LS_DL_NEED(struct fns, count, "cuDeviceGetCount"),
	LS_DL_NEED(struct fns, get, "cuDeviceGet"),
	LS_DL_NEED(struct fns, name, "cuDeviceGetName"),
	LS_DL_MAY(struct fns, uuid, "cuDeviceGetUuid_v2", "cuDeviceGetUuid"),
	LS_DL_NEED(struct fns, memory, "cuDeviceTotalMem_v2"),
	LS_DL_NEED(struct fns, attribute, "cuDeviceGetAttribute"),
	LS_DL_END,
};

static void uuid_text(const unsigned char b[16], char ret[LS_DEVICE_TEXT])
{
	size_t n = (size_t)snprintf(ret, LS_DEVICE_TEXT, "GPU-");
	for (int i = 0; i < 16; i++)
		n += (size_t)snprintf(ret + n, LS_DEVICE_TEXT - n, "%s%02x",
				      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
}

static unsigned describe(const struct fns *f, int i, struct ls_device *ret)
{
	struct ls_device d = {.name = ""};
	int device = 0;
	size_t memory = 0;
	unsigned char id[16];
	unsigned code = f->get(&device, i);
	if (!code)
		code = f->name(d.name, sizeof d.name - 1, device);
	if (!code)
		code = f->memory(&memory, device);
	if (!code)
		code = f->attribute(&d.major, CAPABILITY_MAJOR, device);
	if (!code)
		code = f->attribute(&d.minor, CAPABILITY_MINOR, device);
	if (code)
		return code;
	if (f->uuid && f->uuid(id, device) == 0)
		uuid_text(id, d.uuid);
	d.memory = memory;
	*ret = d;
	return 0;
}

int ls_devices_list(const char *library, struct ls_device *ret, int max, int *ret_count,
		    struct ls_err *err)
{
	struct fns f;
	struct ls_dl *lib;
	int n = 0;
	int rc = ls_dl_open((const char *const[]){library ? library : "libcuda.so.1", NULL}, syms,
			    &f, &lib, err);
	if (rc)
		return rc;
	unsigned code = f.init(0);
	if (!code)
		code = f.count(&n);
	for (int i = 0; !code && i < n && i < max; i++)
		code = describe(&f, i, &ret[i]);
	if (code)
		rc = ls_err_set(err, LS_EUNKNOWN, "%s: the CUDA driver answers error %u",
				ls_dl_path(lib), code);
	else
		*ret_count = n;
	ls_dl_keep(lib); /* once started, the driver's threads and exit handlers need their code */
	return rc;
}
