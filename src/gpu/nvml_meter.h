/* What NVML measures on each GPU, as a list of numbers of which each may be absent, and
 * the processes and fault events of GPUs. The meter counts as a session of NVML of its
 * own; ls_nvml_meter_close ends it and accepts NULL. Texts and arrays go to the caller.
 * One thread at a time an object.
 * A metric that a GPU or driver does not have is not valid and keeps NVML's code as its
 * reason. It is never 0 in its stead. */
#ifndef LS_GPU_NVML_METER_H
#define LS_GPU_NVML_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "gpu/nvml.h"

enum ls_meter_id {
	LS_METER_UTILIZATION,
	LS_METER_MEMORY_UTILIZATION,
	LS_METER_MEMORY_TOTAL,
	LS_METER_MEMORY_USED,     /* without what the driver reserves, where that is known */
	LS_METER_MEMORY_RESERVED, /* by the driver */
	LS_METER_TEMPERATURE,
	LS_METER_TEMPERATURE_MEMORY,
	LS_METER_TEMPERATURE_SLOWDOWN, /* the threshold of the hardware's slowdown */
	LS_METER_TEMPERATURE_SHUTDOWN,
	LS_METER_TEMPERATURE_MARGIN, /* degrees left until the slowdown */
	LS_METER_POWER,
	LS_METER_POWER_LIMIT,
	LS_METER_ENERGY, /* since the driver was loaded */
	LS_METER_CLOCK_SM,
	LS_METER_CLOCK_SM_MAX,
	LS_METER_CLOCK_MEMORY,
	LS_METER_CLOCK_MEMORY_MAX,
	LS_METER_THROTTLE, /* a mask: ls_nvml_throttle_text */
	LS_METER_FAN,
	LS_METER_ECC_MODE,
	LS_METER_MIG_MODE,
	LS_METER_ECC_CORRECTED, /* volatile: since the driver was loaded */
	LS_METER_ECC_UNCORRECTED,
	LS_METER_ECC_CORRECTED_TOTAL, /* aggregate: in the GPU's life */
	LS_METER_ECC_UNCORRECTED_TOTAL,
	LS_METER_REMAPPED_CORRECTED, /* rows of memory replaced after errors of each kind */
	LS_METER_REMAPPED_UNCORRECTED,
	LS_METER_REMAP_PENDING,
	LS_METER_REMAP_FAILED,
	LS_METER_RETIRED_PAGES,
	LS_METER_RETIRED_PENDING,
	LS_METER_PCIE_REPLAYS,
	LS_METER_PCIE_WIDTH,
	LS_METER_PCIE_WIDTH_MAX,
	LS_METER_PCIE_GENERATION,
	LS_METER_PCIE_GENERATION_MAX,
	LS_METER_PCIE_SENT, /* only after ls_nvml_meter_ask_traffic */
	LS_METER_PCIE_RECEIVED,
	LS_METER_NVLINKS,       /* links that are up */
	LS_METER_NVLINK_ERRORS, /* replays, recoveries and CRC errors of all links */
	LS_METER_RECOVERY_ACTION,
	LS_METERS
};

struct ls_meter_info {
	const char *name;   /* "temperature_margin" */
	const char *unit;   /* base unit as it is printed: "W", "%", "B", "C", "Hz", "J", "" */
	double scale;       /* from NVML's integer to that unit */
	bool counter;       /* it only grows, until the driver is loaded again */
	const char *prom;   /* what follows "lockstep_gpu_" in the name of the series */
	double prom_factor; /* from the unit above to the base unit of Prometheus */
	const char *help;   /* a sentence */
};

extern const struct ls_meter_info ls_meter_infos[LS_METERS];

struct ls_meter_reading {
	bool valid[LS_METERS];
	int code[LS_METERS];      /* NVML's reason where not valid */
	int64_t value[LS_METERS]; /* in NVML's unit; only where valid */
};

/* In the unit of ls_meter_infos; false when there is none. */
bool ls_meter_value(const struct ls_meter_reading *r, enum ls_meter_id id, double *ret);

struct ls_nvml_meter;

/* Opens the library that nvml was loaded from. */
int ls_nvml_meter_open(const struct ls_nvml *nvml, struct ls_nvml_meter **ret, struct ls_err *err);
void ls_nvml_meter_close(struct ls_nvml_meter *m);

/* All metrics of GPU i. Each question costs the driver time, so what hardly changes is
 * asked for less often and kept meanwhile, by `now` (seconds of any clock): counters of
 * faults, energy and links every 10 seconds, modes and limits every minute. Returns 0, or the code
 * with which NVML refuses the GPU as a whole, in which case nothing is valid and each code is that
 * one. */
int ls_nvml_meter_read(struct ls_nvml_meter *m, unsigned i, double now,
		       struct ls_meter_reading *ret);
/* The next look asks for everything, as after a fault. */
void ls_nvml_meter_forget(struct ls_nvml_meter *m);

/* From now on also PCIe traffic, which NVML measures by waiting. */
void ls_nvml_meter_ask_traffic(struct ls_nvml_meter *m);

int ls_nvml_meter_serial(struct ls_nvml_meter *m, unsigned i, char ret[LS_NVML_TEXT]);
int ls_nvml_meter_pci(struct ls_nvml_meter *m, unsigned i,
		      char ret[LS_NVML_TEXT]); /* "0000:3b:00.0", lower case */

struct ls_nvml_process {
	unsigned pid;
	bool has_memory;  /* inside some containers and under Windows NVML does not know it */
	uint64_t memory;  /* bytes */
	bool in_instance; /* of a GPU that is split (MIG) */
	unsigned gpu_instance, compute_instance;
};

/* Programs that compute on GPU i: at most limit; *ret_n tells how many were written. */
int ls_nvml_meter_processes(struct ls_nvml_meter *m, unsigned i, struct ls_nvml_process *ret,
			    unsigned limit, unsigned *ret_n);

/* Takes one Xid that NVML has noticed since ls_nvml_meter_open, without waiting: 0, or a
 * code when there is none (LS_NVML_TIMEOUT) or NVML has no events here. */
enum { LS_NVML_TIMEOUT = 10 };
int ls_nvml_meter_xid(struct ls_nvml_meter *m, unsigned *ret_gpu, unsigned *ret_xid);

#endif
