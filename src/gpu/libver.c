#include "gpu/libver.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/dl.h"

/* The signatures that version functions come in. */
struct fns {
	int (*int_out)(int *);       /* cudaRuntimeGetVersion, ncclGetVersion, cuDriverGetVersion */
	int (*u32_out)(uint32_t *);  /* cuptiGetVersion */
	size_t (*plain)(void);       /* cudnnGetVersion */
	int (*pair)(int *, int *);   /* nvrtcVersion */
	int (*property)(int, int *); /* cublasGetProperty: 0 major, 1 minor, 2 patch */
};

/* 12020 -> 12.2; the last digit is the patch level, which CUDA leaves 0 */
static void cuda_style(long v, char *ret)
{
	snprintf(ret, LS_LIBVER_TEXT, "%ld.%ld", v / 1000, v % 1000 / 10);
}

/* major * 1000 before version 9, major * 10000 from there on; 90000 is the first of the
 * new form. NCCL changed in the same way at 2.9, whose first code of the new form is
 * 20900. */
static void packed(long v, long first_wide, char *ret)
{
	long unit = v >= first_wide ? 10000 : 1000;
	snprintf(ret, LS_LIBVER_TEXT, "%ld.%ld.%ld", v / unit, v % unit / 100, v % 100);
}

/* CUPTI counts API versions of its own: up to CUDA 11 a running number, from 12.0 on 13,
 * from 12.x MMmmpp. */
static int cupti_style(long v, char *ret)
{
	if (v < 100000)
		return -1;
	snprintf(ret, LS_LIBVER_TEXT, "%ld.%ld.%ld", v / 10000, v % 10000 / 100, v % 100);
	return 0;
}

static const struct {
	const char *which, *call;
	size_t offset;
} calls[] = {
	{"cudart", "cudaRuntimeGetVersion", offsetof(struct fns, int_out)},
	{"cuda", "cuDriverGetVersion", offsetof(struct fns, int_out)},
	{"nccl", "ncclGetVersion", offsetof(struct fns, int_out)},
	{"cupti", "cuptiGetVersion", offsetof(struct fns, u32_out)},
	{"cudnn", "cudnnGetVersion", offsetof(struct fns, plain)},
	{"nvrtc", "nvrtcVersion", offsetof(struct fns, pair)},
	{"cublas", "cublasGetProperty", offsetof(struct fns, property)},
};

static int ask_property(const struct fns *f, char *ret)
{
	int part[3] = {0};
	for (int i = 0; i < 3; i++)
		if (f->property(i, &part[i]) != 0)
			return -1;
	snprintf(ret, LS_LIBVER_TEXT, "%d.%d.%d", part[0], part[1], part[2]);
	return 0;
}

static int ask_pair(const struct fns *f, char *ret)
{
	int major = 0, minor = 0;
	if (f->pair(&major, &minor) != 0)
		return -1;
	snprintf(ret, LS_LIBVER_TEXT, "%d.%d", major, minor);
	return 0;
}

static int ask_number(const char *which, const struct fns *f, char *ret)
{
	int v = 0;
	if (f->int_out(&v) != 0 || v <= 0)
		return -1;
	if (strcmp(which, "nccl") == 0)
		packed(v, 20900, ret);
	else
		cuda_style(v, ret);
	return 0;
}

static int ask(const char *which, const struct fns *f, char *ret)
{
	if (f->plain) {
		size_t v = f->plain();
		if (v < 1000 || v > 10000000)
			return -1;
		packed((long)v, 90000, ret);
		return 0;
	}
	if (f->u32_out) {
		uint32_t v = 0;
		return f->u32_out(&v) == 0 ? cupti_style((long)v, ret) : -1;
	}
	if (f->pair)
		return ask_pair(f, ret);
	return f->property ? ask_property(f, ret) : ask_number(which, f, ret);
}

int ls_libver_ask(const char *which, const char *file, char ret[LS_LIBVER_TEXT],
		  const char **ret_call, struct ls_err *err)
{
	size_t i = 0, n = sizeof calls / sizeof *calls;
	while (i < n && strcmp(calls[i].which, which) != 0)
		i++;
	if (i == n)
		return ls_err_set(err, LS_EINTERNAL, "no version function is known for lib%s",
				  which);
	const struct ls_dl_sym syms[] = {{{calls[i].call}, calls[i].offset, true}, LS_DL_END};
	struct fns f = {0};
	struct ls_dl *lib;
	int rc = ls_dl_open((const char *const[]){file, NULL}, syms, &f, &lib, err);
	if (rc)
		return rc;
	char text[LS_LIBVER_TEXT];
	if (ask(which, &f, text) == 0) {
		memcpy(ret, text, sizeof text);
		*ret_call = calls[i].call;
	} else {
		rc = ls_err_set(err, LS_EUNKNOWN, "%s: %s does not tell", file, calls[i].call);
	}
	ls_dl_keep(lib); /* else what it allocated when it was loaded would be a leak */
	return rc;
}
