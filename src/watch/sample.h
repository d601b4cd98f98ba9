/* One look at the GPUs and their host. A sampler owns its session of NVML and what it has
 * to remember between looks; ls_sampler_free accepts NULL. A sample belongs to the caller
 * (ls_sample_done). Time comes from the caller. One thread at a time an object. */
#ifndef LS_WATCH_SAMPLE_H
#define LS_WATCH_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "gpu/nvml.h"
#include "gpu/nvml_meter.h"
#include "gpu/nvml_mig.h"
#include "watch/host.h"
#include "watch/host_io.h"
#include "watch/jobs.h"
#include "watch/owner.h"

enum { LS_SAMPLE_GPUS = 64 };

struct ls_watch_gpu {
	/* "" where not known. They are kept when a GPU stops answering. */
	char name[LS_NVML_TEXT], uuid[LS_NVML_TEXT], serial[LS_NVML_TEXT], pci[LS_NVML_TEXT];
	int lost; /* the code with which NVML refuses the GPU; 0: it answers */
	bool processes_known;
	unsigned n_processes;
	struct ls_meter_reading r;
};

struct ls_watch_process {
	unsigned gpu;
	struct ls_nvml_process p;
	struct ls_process_owner owner;
	double started; /* seconds since 1970; 0: not known */
};

/* A part of a GPU that is split (MIG). */
struct ls_watch_mig {
	unsigned gpu;
	struct ls_nvml_mig m;
};

struct ls_watch_xid {
	unsigned gpu; /* UINT_MAX: a PCI address that none of the GPUs has */
	char pci[LS_NVML_TEXT];
	unsigned xid;
	double time; /* seconds since 1970 */
};

struct ls_sample {
	double time;   /* seconds since 1970 */
	double steady; /* seconds of a clock that nobody sets: for how long something lasts */
	bool has_nvml;
	char no_nvml[512]; /* why not */
	int no_nvml_code;  /* NVML's code for that */
	bool in_container;
	char cuda[16];        /* "13.0": the newest that the driver runs; "" where not known */
	bool has_xids;        /* Xids can be seen, in the kernel's log or by NVML's events */
	bool xids_since_boot; /* and also those from before the sampler began */
	char driver[LS_NVML_TEXT];
	unsigned n_gpus;
	struct ls_watch_gpu *gpus;
	size_t n_processes;
	struct ls_watch_process *processes;
	size_t n_migs;
	struct ls_watch_mig *migs;
	size_t n_xids, cap_xids; /* since the last look */
	struct ls_watch_xid *xids;
	struct ls_host host;
	struct ls_host_io io;
	struct ls_jobs jobs; /* the sampler leaves them alone: ls_job_watch_look */
};

struct ls_sampler;

/* root: a folder that stands for "/", or NULL; copied. */
struct ls_sampler *ls_sampler_new(const char *root);
void ls_sampler_free(struct ls_sampler *s);
/* From now on also what costs time: PCIe traffic. */
void ls_sampler_ask_traffic(struct ls_sampler *s);
/* Notes the host's counters, so that the first sample has shares of the time since
 * then. */
void ls_sampler_prime(struct ls_sampler *s, double steady);
/* now: seconds since 1970; steady: see struct ls_sample. Without GPUs or NVML the sample
 * has only the host, and why. */
void ls_sampler_take(struct ls_sampler *s, double now, double steady, struct ls_sample *ret);
void ls_sample_done(struct ls_sample *s);

/* "GPU 2 (serial 1650421000123)", with the UUID where there is no serial number. */
void ls_watch_gpu_label(const struct ls_sample *s, unsigned gpu, char *ret, size_t size);

#endif
