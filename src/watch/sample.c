#include "watch/sample.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/root.h"
#include "watch/kmsg.h"

enum { PROCESSES = 256, XIDS_A_LOOK = 4096 };

struct ls_sampler {
	char *root;
	struct ls_nvml *nvml;
	struct ls_nvml_meter *meter;
	struct ls_nvml_migs *migs; /* NULL: this driver knows none */
	struct ls_err why;         /* without nvml */
	int code;                  /* and NVML's code */
	struct ls_kmsg *kmsg;
	double booted; /* seconds since 1970 */
	struct ls_host_state host;
	struct ls_host_io_state io;
	bool traffic;
	unsigned n_known;
	struct ls_watch_gpu known[LS_SAMPLE_GPUS]; /* names only */
};

static double boot_time(const char *root)
{
	char *text = ls_root_read(root, "/proc/stat", 1 << 20, NULL);
	const char *p = text ? strstr(text, "\nbtime ") : NULL;
	double time = p ? (double)strtoull(p + 7, NULL, 10) : 0;
	free(text);
	return time;
}

struct ls_sampler *ls_sampler_new(const char *root)
{
	struct ls_sampler *s = ls_xalloc(sizeof *s);
	struct ls_err ignored;
	s->root = ls_xstrdup(root ? root : "");
	s->booted = boot_time(s->root);
	if (s->booted > 0)
		ls_kmsg_open(s->root, &s->kmsg, &ignored);
	return s;
}

void ls_sampler_free(struct ls_sampler *s)
{
	if (!s)
		return;
	ls_nvml_migs_close(s->migs);
	ls_nvml_meter_close(s->meter);
	ls_nvml_close(s->nvml);
	ls_kmsg_close(s->kmsg);
	free(s->root);
	free(s);
}

void ls_sampler_ask_traffic(struct ls_sampler *s)
{
	s->traffic = true;
}

void ls_sampler_prime(struct ls_sampler *s, double steady)
{
	struct ls_host unused;
	struct ls_host_io no_rates;
	ls_host_look(s->root, &s->host, &unused);
	ls_host_io_look(s->root, steady, &s->io, &no_rates);
}

/* A driver that is loaded later is found later. On a scripted machine the real library is
 * never asked. */
static bool have_nvml(struct ls_sampler *s)
{
	static const char soname[] = "libnvidia-ml.so.1";
	if (s->meter)
		return true;
	char *file = *s->root ? ls_root_library(s->root, soname) : NULL;
	if (*s->root && !file) {
		s->code = LS_NVML_NO_LIBRARY;
		ls_err_set(&s->why, LS_EUNKNOWN, "there is no NVIDIA driver (no %s)", soname);
		return false;
	}
	int rc = ls_nvml_open(file, &s->nvml, &s->code, NULL, &s->why);
	if (rc && s->code == LS_NVML_NO_LIBRARY)
		ls_err_set(&s->why, LS_EUNKNOWN, "there is no NVIDIA driver (no %s)", soname);
	if (rc == 0 && ls_nvml_meter_open(s->nvml, &s->meter, &s->why)) {
		ls_nvml_close(s->nvml);
		s->nvml = NULL;
	}
	struct ls_err unused;
	if (s->meter && s->traffic)
		ls_nvml_meter_ask_traffic(s->meter);
	if (s->meter && ls_nvml_migs_open(s->nvml, &s->migs, &unused))
		s->migs = NULL;
	free(file);
	return s->meter != NULL;
}

/* What names a GPU is asked for until it is known, because a GPU that is lost no longer
 * tells. */
static void identify(struct ls_sampler *s, unsigned i, struct ls_watch_gpu *gpu)
{
	struct ls_watch_gpu *k = &s->known[i];
	if (!*k->name)
		ls_nvml_name(s->nvml, i, k->name);
	if (!*k->uuid)
		ls_nvml_uuid(s->nvml, i, k->uuid);
	if (!*k->serial)
		ls_nvml_meter_serial(s->meter, i, k->serial);
	if (!*k->pci)
		ls_nvml_meter_pci(s->meter, i, k->pci);
	*gpu = *k;
}

static void take_processes(struct ls_sampler *s, unsigned i, struct ls_sample *ret)
{
	static const struct ls_watch_process none;
	struct ls_nvml_process list[PROCESSES];
	unsigned n = 0;
	struct ls_watch_gpu *gpu = &ret->gpus[i];
	gpu->processes_known = ls_nvml_meter_processes(s->meter, i, list, PROCESSES, &n) == 0;
	gpu->n_processes = gpu->processes_known ? n : 0;
	if (!gpu->n_processes)
		return;
	ret->processes =
		ls_xrealloc(ret->processes, (ret->n_processes + n) * sizeof *ret->processes);
	for (unsigned k = 0; k < n; k++) {
		struct ls_watch_process *p = &ret->processes[ret->n_processes++];
		*p = none;
		p->gpu = i;
		p->p = list[k];
		ls_owner_look(s->root, list[k].pid, &p->owner);
		if (p->owner.started > 0 && s->booted > 0)
			p->started = s->booted + p->owner.started;
	}
}

static void take_migs(struct ls_sampler *s, unsigned i, struct ls_sample *ret)
{
	struct ls_nvml_mig list[LS_NVML_MIGS];
	double split;
	if (!s->migs || !ls_meter_value(&ret->gpus[i].r, LS_METER_MIG_MODE, &split) || split != 1)
		return;
	unsigned n = ls_nvml_migs_read(s->migs, i, list);
	if (!n)
		return;
	ret->migs = ls_xrealloc(ret->migs, (ret->n_migs + n) * sizeof *ret->migs);
	for (unsigned k = 0; k < n; k++)
		ret->migs[ret->n_migs++] = (struct ls_watch_mig){i, list[k]};
}

static void take_gpus(struct ls_sampler *s, struct ls_sample *ret)
{
	unsigned n = 0;
	int code = ls_nvml_count(s->nvml, &n);
	if (code != 0)
		n = s->n_known; /* those that were there are asked one by one */
	if (n > LS_SAMPLE_GPUS)
		n = LS_SAMPLE_GPUS;
	if (n < s->n_known)
		n = s->n_known; /* a GPU that has gone is reported as lost */
	s->n_known = n;
	ret->n_gpus = n;
	ret->gpus = ls_xalloc((n + 1) * sizeof *ret->gpus);
	for (unsigned i = 0; i < n; i++) {
		identify(s, i, &ret->gpus[i]);
		ret->gpus[i].lost = ls_nvml_meter_read(s->meter, i, ret->steady, &ret->gpus[i].r);
		if (ret->gpus[i].lost)
			continue;
		take_processes(s, i, ret);
		take_migs(s, i, ret);
	}
}

static void add_xid(struct ls_sample *ret, const struct ls_watch_xid *x)
{
	if (ret->n_xids == XIDS_A_LOOK)
		return;
	ret->xids = ls_grow(ret->xids, ret->n_xids, &ret->cap_xids, sizeof *ret->xids);
	ret->xids[ret->n_xids++] = *x;
}

static unsigned gpu_at(const struct ls_sample *s, const char *pci)
{
	for (unsigned i = 0; i < s->n_gpus; i++)
		if (*s->gpus[i].pci && ls_str_starts(s->gpus[i].pci, pci))
			return i;
	return UINT_MAX;
}

/* Each Xid is in the kernel's log and in NVML's events. The log has all since boot and is
 * preferred; events are taken only where it cannot be read, so that each counts once. */
static void take_xids(struct ls_sampler *s, struct ls_sample *ret)
{
	struct ls_kmsg_xid k;
	struct ls_watch_xid x = {.time = ret->time};
	ret->xids_since_boot = s->kmsg != NULL;
	while (s->kmsg && ls_kmsg_next(s->kmsg, &k)) {
		snprintf(x.pci, sizeof x.pci, "%s", k.pci);
		x.gpu = gpu_at(ret, k.pci);
		x.xid = k.xid;
		x.time = s->booted + k.since_boot;
		add_xid(ret, &x);
	}
	int code = s->kmsg || !s->meter ? LS_NVML_NO_FUNCTION : 0;
	while (code == 0 && (code = ls_nvml_meter_xid(s->meter, &x.gpu, &x.xid)) == 0) {
		if (x.gpu < ret->n_gpus)
			snprintf(x.pci, sizeof x.pci, "%s", ret->gpus[x.gpu].pci);
		add_xid(ret, &x);
	}
	if (ret->n_xids && s->meter) /* what came of it is asked for in the next look */
		ls_nvml_meter_forget(s->meter);
	ret->has_xids = s->kmsg || (s->meter && code != LS_NVML_NO_FUNCTION);
}

static bool in_container(const char *root)
{
	return ls_root_exists(root, "/.dockerenv") || ls_root_exists(root, "/run/.containerenv");
}

static void take_driver(struct ls_sampler *s, struct ls_sample *ret)
{
	int cuda = 0;
	ls_nvml_driver(s->nvml, ret->driver);
	if (ls_nvml_cuda(s->nvml, &cuda) == 0 && cuda > 0)
		snprintf(ret->cuda, sizeof ret->cuda, "%d.%d", cuda / 1000, cuda % 1000 / 10);
}

void ls_sampler_take(struct ls_sampler *s, double now, double steady, struct ls_sample *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->time = now;
	ret->steady = steady;
	ret->has_nvml = have_nvml(s);
	ret->in_container = in_container(s->root);
	if (ret->has_nvml) {
		take_driver(s, ret);
		take_gpus(s, ret);
	} else {
		ret->no_nvml_code = s->code;
		snprintf(ret->no_nvml, sizeof ret->no_nvml, "%.500s", s->why.msg);
	}
	take_xids(s, ret);
	ls_host_look(s->root, &s->host, &ret->host);
	ls_host_io_look(s->root, steady, &s->io, &ret->io);
}

void ls_sample_done(struct ls_sample *s)
{
	free(s->gpus);
	free(s->processes);
	free(s->migs);
	free(s->xids);
	memset(s, 0, sizeof *s);
}

void ls_watch_gpu_label(const struct ls_sample *s, unsigned gpu, char *ret, size_t size)
{
	const struct ls_watch_gpu *g = gpu < s->n_gpus ? &s->gpus[gpu] : NULL;
	if (g && *g->serial && strcmp(g->serial, "0") != 0)
		snprintf(ret, size, "GPU %u (serial %s)", gpu, g->serial);
	else if (g && *g->uuid)
		snprintf(ret, size, "GPU %u (%s)", gpu, g->uuid);
	else
		snprintf(ret, size, "GPU %u", gpu);
}
