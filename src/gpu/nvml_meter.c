#include "gpu/nvml_meter.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dl.h"
#include "base/mem.h"

typedef struct nvml_device *device;
typedef struct nvml_event_set *event_set;

enum { NVLINKS = 18, GPUS = 64, INSUFFICIENT_SIZE = 7 };
enum { SM = 1, MEMORY = 2 }; /* clocks */
enum { FIELD_MEMORY_TEMPERATURE = 82, FIELD_RECOVERY_ACTION = 230 };
static const unsigned long long event_xid = 8;

struct utilization {
	unsigned gpu, memory;
};

struct memory_v2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};

struct margin {
	unsigned version;
	int degrees;
};

struct field {
	unsigned id, scope;
	long long time, latency;
	unsigned type;
	int code;
	union {
		double d;
		unsigned u;
		unsigned long long ull;
	} value;
};

struct pci {
	char legacy[16];
	unsigned domain, bus, device, id, subsystem;
	char text[32];
};

struct process {
	unsigned pid;
	unsigned long long memory;
	unsigned gpu_instance, compute_instance;
};

struct process_v1 {
	unsigned pid;
	unsigned long long memory;
};

struct event {
	device gpu;
	unsigned long long type, data;
	unsigned gpu_instance, compute_instance;
};

/* Signatures as NVIDIA documents them; enumerations are ints. */
struct fns {
	int (*init)(void);
	int (*shutdown)(void);
	int (*handle)(unsigned, device *);
	int (*count)(unsigned *);
	int (*utilization)(device, struct utilization *);
	int (*memory_v2)(device, struct memory_v2 *);
	int (*memory)(device, unsigned long long[3]);
	int (*temperature)(device, int, unsigned *);
	int (*temperature_threshold)(device, int, unsigned *);
	int (*margin)(device, struct margin *);
	int (*power)(device, unsigned *);
	int (*power_limit)(device, unsigned *);
	int (*energy)(device, unsigned long long *);
	int (*clock)(device, int, unsigned *);
	int (*clock_max)(device, int, unsigned *);
	int (*throttle)(device, unsigned long long *);
	int (*fan)(device, unsigned *);
	int (*ecc_mode)(device, unsigned *, unsigned *);
	int (*mig_mode)(device, unsigned *, unsigned *);
	int (*ecc_errors)(device, int, int, unsigned long long *);
	int (*remapped)(device, unsigned *, unsigned *, unsigned *, unsigned *);
	int (*retired)(device, int, unsigned *, unsigned long long *);
	int (*retired_pending)(device, unsigned *);
	int (*pcie_replays)(device, unsigned *);
	int (*pcie_width)(device, unsigned *);
	int (*pcie_width_max)(device, unsigned *);
	int (*pcie_generation)(device, unsigned *);
	int (*pcie_generation_max)(device, unsigned *);
	int (*pcie_throughput)(device, int, unsigned *);
	int (*nvlink_state)(device, unsigned, unsigned *);
	int (*nvlink_errors)(device, unsigned, int, unsigned long long *);
	int (*fields)(device, int, struct field *);
	int (*serial)(device, char *, unsigned);
	int (*pci)(device, struct pci *);
	int (*processes)(device, unsigned *, struct process *);
	int (*processes_v1)(device, unsigned *, struct process_v1 *);
	int (*events_new)(event_set *);
	int (*events_free)(event_set);
	int (*events_ask)(device, unsigned long long, event_set);
	int (*events_wait)(event_set, struct event *, unsigned);
};

#define MAY(member, ...) LS_DL_MAY(struct fns, member, __VA_ARGS__)
static const struct ls_dl_sym syms[] = {
	LS_DL_NEED(struct fns, init, "nvmlInit_v2", "nvmlInit"),
	LS_DL_NEED(struct fns, shutdown, "nvmlShutdown"),
	LS_DL_NEED(struct fns, handle, "nvmlDeviceGetHandleByIndex_v2",
		   "nvmlDeviceGetHandleByIndex"),
	MAY(count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"),
	MAY(utilization, "nvmlDeviceGetUtilizationRates"),
	MAY(memory_v2, "nvmlDeviceGetMemoryInfo_v2"),
	MAY(memory, "nvmlDeviceGetMemoryInfo"),
	MAY(temperature, "nvmlDeviceGetTemperature"),
	MAY(temperature_threshold, "nvmlDeviceGetTemperatureThreshold"),
	MAY(margin, "nvmlDeviceGetMarginTemperature"),
	MAY(power, "nvmlDeviceGetPowerUsage"),
	MAY(power_limit, "nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit"),
	MAY(energy, "nvmlDeviceGetTotalEnergyConsumption"),
	MAY(clock, "nvmlDeviceGetClockInfo"),
	MAY(clock_max, "nvmlDeviceGetMaxClockInfo"),
	MAY(throttle, "nvmlDeviceGetCurrentClocksEventReasons",
	    "nvmlDeviceGetCurrentClocksThrottleReasons"),
	MAY(fan, "nvmlDeviceGetFanSpeed"),
	MAY(ecc_mode, "nvmlDeviceGetEccMode"),
	MAY(mig_mode, "nvmlDeviceGetMigMode"),
	MAY(ecc_errors, "nvmlDeviceGetTotalEccErrors"),
	MAY(remapped, "nvmlDeviceGetRemappedRows"),
	MAY(retired, "nvmlDeviceGetRetiredPages"),
	MAY(retired_pending, "nvmlDeviceGetRetiredPagesPendingStatus"),
	MAY(pcie_replays, "nvmlDeviceGetPcieReplayCounter"),
	MAY(pcie_width, "nvmlDeviceGetCurrPcieLinkWidth"),
	MAY(pcie_width_max, "nvmlDeviceGetMaxPcieLinkWidth"),
	MAY(pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration"),
	MAY(pcie_generation_max, "nvmlDeviceGetMaxPcieLinkGeneration"),
	MAY(pcie_throughput, "nvmlDeviceGetPcieThroughput"),
	MAY(nvlink_state, "nvmlDeviceGetNvLinkState"),
	MAY(nvlink_errors, "nvmlDeviceGetNvLinkErrorCounter"),
	MAY(fields, "nvmlDeviceGetFieldValues"),
	MAY(serial, "nvmlDeviceGetSerial"),
	MAY(pci, "nvmlDeviceGetPciInfo_v3"),
	MAY(processes, "nvmlDeviceGetComputeRunningProcesses_v3",
	    "nvmlDeviceGetComputeRunningProcesses_v2"),
	MAY(processes_v1, "nvmlDeviceGetComputeRunningProcesses"),
	MAY(events_new, "nvmlEventSetCreate"),
	MAY(events_free, "nvmlEventSetFree"),
	MAY(events_ask, "nvmlDeviceRegisterEvents"),
	MAY(events_wait, "nvmlEventSetWait_v2"),
	LS_DL_END,
};

struct ls_nvml_meter {
	struct fns fns;
	struct ls_dl *lib;
	event_set events;     /* NULL: NVML has none here */
	device handles[GPUS]; /* of the GPUs whose events are asked for */
	unsigned n_handles;
	struct kept {
		bool any; /* there was a look */
		double slow, rare;
		struct ls_meter_reading r;
	} kept[GPUS];
	bool traffic;         /* PCIe traffic is asked for */
	bool no_nvlink[GPUS]; /* the first answer was "not supported": not asked again */
};

bool ls_meter_value(const struct ls_meter_reading *r, enum ls_meter_id id, double *ret)
{
	if (!r->valid[id])
		return false;
	*ret = (double)r->value[id] * ls_meter_infos[id].scale;
	return true;
}

/* Xids that come from now on are kept by NVML until they are taken. */
static void ask_for_events(struct ls_nvml_meter *m)
{
	const struct fns *f = &m->fns;
	unsigned n = 0;
	if (!f->events_new || !f->events_free || !f->events_ask || !f->events_wait || !f->count ||
	    f->events_new(&m->events) != 0) {
		m->events = NULL;
		return;
	}
	if (f->count(&n) != 0)
		n = 0;
	m->n_handles = n < GPUS ? n : GPUS;
	for (unsigned i = 0; i < m->n_handles; i++)
		if (f->handle(i, &m->handles[i]) == 0)
			f->events_ask(m->handles[i], event_xid, m->events);
		else
			m->handles[i] = NULL;
}

int ls_nvml_meter_open(const struct ls_nvml *nvml, struct ls_nvml_meter **ret, struct ls_err *err)
{
	const char *const names[] = {ls_nvml_path(nvml), NULL};
	struct ls_nvml_meter *m = ls_xalloc(sizeof *m);
	if (ls_dl_open(names, syms, &m->fns, &m->lib, err)) {
		free(m);
		return LS_EUNKNOWN;
	}
	int code = m->fns.init();
	if (code != 0) {
		ls_err_set(err, LS_EUNKNOWN, "%s: nvmlInit answers %d: %s", names[0], code,
			   ls_nvml_reason(code));
		ls_dl_close(m->lib);
		free(m);
		return LS_EUNKNOWN;
	}
	ask_for_events(m);
	*ret = m;
	return 0;
}

void ls_nvml_meter_close(struct ls_nvml_meter *m)
{
	if (!m)
		return;
	if (m->events)
		m->fns.events_free(m->events);
	m->fns.shutdown();
	ls_dl_close(m->lib);
	free(m);
}

static void put(struct ls_meter_reading *r, enum ls_meter_id id, int code, int64_t value)
{
	r->valid[id] = code == 0;
	r->code[id] = code;
	r->value[id] = code == 0 ? value : 0;
}

static void put_u64(struct ls_meter_reading *r, enum ls_meter_id id, int code, uint64_t value)
{
	put(r, id, code, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static void ask_number(struct ls_meter_reading *r, enum ls_meter_id id,
		       int (*ask)(device, unsigned *), device d)
{
	unsigned v = 0;
	int code = ask ? ask(d, &v) : LS_NVML_NO_FUNCTION;
	put(r, id, code, v);
}

static void ask_long(struct ls_meter_reading *r, enum ls_meter_id id,
		     int (*ask)(device, unsigned long long *), device d)
{
	unsigned long long v = 0;
	int code = ask ? ask(d, &v) : LS_NVML_NO_FUNCTION;
	put_u64(r, id, code, v);
}

static void ask_which(struct ls_meter_reading *r, enum ls_meter_id id,
		      int (*ask)(device, int, unsigned *), device d, int which)
{
	unsigned v = 0;
	int code = ask ? ask(d, which, &v) : LS_NVML_NO_FUNCTION;
	put(r, id, code, v);
}

static void ask_mode(struct ls_meter_reading *r, enum ls_meter_id id,
		     int (*ask)(device, unsigned *, unsigned *), device d)
{
	unsigned current = 0, pending = 0;
	int code = ask ? ask(d, &current, &pending) : LS_NVML_NO_FUNCTION;
	put(r, id, code, current);
}

static void read_load(const struct fns *f, device d, struct ls_meter_reading *r)
{
	struct utilization u = {0};
	int code = f->utilization ? f->utilization(d, &u) : LS_NVML_NO_FUNCTION;
	put(r, LS_METER_UTILIZATION, code, u.gpu);
	put(r, LS_METER_MEMORY_UTILIZATION, code, u.memory);
}

/* The first version of the structure counts what the driver reserves as used. */
static void read_memory(const struct fns *f, device d, struct ls_meter_reading *r)
{
	struct memory_v2 m = {.version = (unsigned)sizeof m | 2u << 24};
	unsigned long long old[3] = {0};
	int code = f->memory_v2 ? f->memory_v2(d, &m) : LS_NVML_NO_FUNCTION;
	put_u64(r, LS_METER_MEMORY_RESERVED, code, m.reserved);
	if (code != 0) {
		code = f->memory ? f->memory(d, old) : LS_NVML_NO_FUNCTION;
		m.total = old[0];
		m.used = old[2];
	}
	put_u64(r, LS_METER_MEMORY_TOTAL, code, m.total);
	put_u64(r, LS_METER_MEMORY_USED, code, m.used);
}

static void ask_field(const struct fns *f, device d, unsigned id, enum ls_meter_id meter,
		      struct ls_meter_reading *r)
{
	struct field v = {.id = id};
	int code = f->fields ? f->fields(d, 1, &v) : LS_NVML_NO_FUNCTION;
	put(r, meter, code ? code : v.code, v.value.u);
}

/* Newer GPUs report the margin itself, older ones the threshold only. */
static void read_heat(const struct fns *f, device d, struct ls_meter_reading *r)
{
	struct margin margin = {.version = (unsigned)sizeof margin | 1u << 24};
	ask_which(r, LS_METER_TEMPERATURE, f->temperature, d, 0);
	int code = f->margin ? f->margin(d, &margin) : LS_NVML_NO_FUNCTION;
	if (code != 0 && r->valid[LS_METER_TEMPERATURE] && r->valid[LS_METER_TEMPERATURE_SLOWDOWN])
		put(r, LS_METER_TEMPERATURE_MARGIN, 0,
		    r->value[LS_METER_TEMPERATURE_SLOWDOWN] - r->value[LS_METER_TEMPERATURE]);
	else
		put(r, LS_METER_TEMPERATURE_MARGIN, code, margin.degrees);
}

static void read_power_and_clocks(const struct fns *f, device d, struct ls_meter_reading *r)
{
	ask_number(r, LS_METER_POWER, f->power, d);
	ask_which(r, LS_METER_CLOCK_SM, f->clock, d, SM);
	ask_long(r, LS_METER_THROTTLE, f->throttle, d);
}

static void read_limits(const struct fns *f, device d, struct ls_meter_reading *r)
{
	ask_which(r, LS_METER_TEMPERATURE_SHUTDOWN, f->temperature_threshold, d, 0);
	ask_which(r, LS_METER_TEMPERATURE_SLOWDOWN, f->temperature_threshold, d, 1);
	ask_number(r, LS_METER_POWER_LIMIT, f->power_limit, d);
	ask_which(r, LS_METER_CLOCK_SM_MAX, f->clock_max, d, SM);
	ask_which(r, LS_METER_CLOCK_MEMORY_MAX, f->clock_max, d, MEMORY);
	ask_mode(r, LS_METER_ECC_MODE, f->ecc_mode, d);
	ask_mode(r, LS_METER_MIG_MODE, f->mig_mode, d);
	ask_number(r, LS_METER_PCIE_WIDTH_MAX, f->pcie_width_max, d);
	ask_number(r, LS_METER_PCIE_GENERATION_MAX, f->pcie_generation_max, d);
}

static void read_ecc(const struct fns *f, device d, struct ls_meter_reading *r)
{
	for (int lifetime = 0; lifetime < 2; lifetime++)
		for (int uncorrected = 0; uncorrected < 2; uncorrected++) {
			unsigned long long v = 0;
			int code = f->ecc_errors ? f->ecc_errors(d, uncorrected, lifetime, &v)
						 : LS_NVML_NO_FUNCTION;
			put_u64(r,
				(enum ls_meter_id)(LS_METER_ECC_CORRECTED + 2 * lifetime +
						   uncorrected),
				code, v);
		}
}

/* The count of pages is asked for without room for their addresses. */
static void read_retired(const struct fns *f, device d, struct ls_meter_reading *r)
{
	int64_t sum = 0;
	int code = 0;
	for (int cause = 0; cause < 2 && code == 0; cause++) {
		unsigned n = 0;
		code = f->retired ? f->retired(d, cause, &n, NULL) : LS_NVML_NO_FUNCTION;
		if (code == INSUFFICIENT_SIZE)
			code = 0;
		sum += n;
	}
	put(r, LS_METER_RETIRED_PAGES, code, sum);
	ask_number(r, LS_METER_RETIRED_PENDING, f->retired_pending, d);
}

static void read_memory_repair(const struct fns *f, device d, struct ls_meter_reading *r)
{
	unsigned v[4] = {0};
	int code = f->remapped ? f->remapped(d, &v[0], &v[1], &v[2], &v[3]) : LS_NVML_NO_FUNCTION;
	for (unsigned i = 0; i < 4; i++)
		put(r, (enum ls_meter_id)(LS_METER_REMAPPED_CORRECTED + i), code, v[i]);
	read_retired(f, d, r);
}

static void read_pcie(const struct fns *f, device d, struct ls_meter_reading *r)
{
	ask_number(r, LS_METER_PCIE_REPLAYS, f->pcie_replays, d);
	ask_number(r, LS_METER_PCIE_WIDTH, f->pcie_width, d);
	ask_number(r, LS_METER_PCIE_GENERATION, f->pcie_generation, d);
}

static void read_traffic(const struct ls_nvml_meter *m, device d, struct ls_meter_reading *r)
{
	if (m->traffic) {
		ask_which(r, LS_METER_PCIE_SENT, m->fns.pcie_throughput, d, 0);
		ask_which(r, LS_METER_PCIE_RECEIVED, m->fns.pcie_throughput, d, 1);
	} else {
		put(r, LS_METER_PCIE_SENT, LS_NVML_NOT_ASKED, 0);
		put(r, LS_METER_PCIE_RECEIVED, LS_NVML_NOT_ASKED, 0);
	}
}

/* Errors of one link, added to *sum; false when the driver does not count them. */
static bool link_errors(const struct fns *f, device d, unsigned link, int64_t *sum)
{
	enum { COUNTERS = 4 }; /* replay, recovery, CRC of a flit, CRC of data */
	for (int c = 0; c < COUNTERS; c++) {
		unsigned long long v = 0;
		if (!f->nvlink_errors || f->nvlink_errors(d, link, c, &v) != 0)
			return false;
		*sum += (int64_t)(v & INT64_MAX);
	}
	return true;
}

static void read_nvlink(struct ls_nvml_meter *m, unsigned i, device d, struct ls_meter_reading *r)
{
	const struct fns *f = &m->fns;
	int64_t up = 0, errors = 0;
	bool counted = true, asked = false;
	int code = LS_NVML_NOT_SUPPORTED;
	for (unsigned link = 0; link < NVLINKS && !(i < GPUS && m->no_nvlink[i]); link++) {
		unsigned active = 0;
		code = f->nvlink_state ? f->nvlink_state(d, link, &active) : LS_NVML_NO_FUNCTION;
		if (code != 0)
			break;
		asked = true;
		up += active != 0;
		if (active)
			counted = link_errors(f, d, link, &errors) && counted;
	}
	if (i < GPUS && !asked && (code == LS_NVML_NOT_SUPPORTED || code == LS_NVML_NO_FUNCTION))
		m->no_nvlink[i] = true;
	put(r, LS_METER_NVLINKS, asked ? 0 : code, up);
	put(r, LS_METER_NVLINK_ERRORS,
	    !asked              ? code
	    : counted && up > 0 ? 0
				: LS_NVML_NOT_SUPPORTED,
	    errors);
}

static void read_slow(struct ls_nvml_meter *m, unsigned i, device d, struct ls_meter_reading *r)
{
	const struct fns *f = &m->fns;
	ask_field(f, d, FIELD_MEMORY_TEMPERATURE, LS_METER_TEMPERATURE_MEMORY, r);
	ask_long(r, LS_METER_ENERGY, f->energy, d);
	ask_which(r, LS_METER_CLOCK_MEMORY, f->clock, d, MEMORY);
	ask_number(r, LS_METER_FAN, f->fan, d);
	read_ecc(f, d, r);
	read_memory_repair(f, d, r);
	read_pcie(f, d, r);
	read_nvlink(m, i, d, r);
	ask_field(f, d, FIELD_RECOVERY_ACTION, LS_METER_RECOVERY_ACTION, r);
}

/* A clock that was set back asks again. */
static bool due(double last, double now, double every)
{
	return now - last >= every || now < last;
}

static void read_kept(struct ls_nvml_meter *m, unsigned i, device d, double now, struct kept *k)
{
	static const double slow_s = 9.5, rare_s = 59.5; /* a look may come a little early */
	bool rare = !k->any || due(k->rare, now, rare_s),
	     slow = !k->any || due(k->slow, now, slow_s);
	if (rare) {
		read_limits(&m->fns, d, &k->r);
		k->rare = now;
	}
	if (slow) {
		read_slow(m, i, d, &k->r);
		k->slow = now;
	}
	k->any = true;
}

int ls_nvml_meter_read(struct ls_nvml_meter *m, unsigned i, double now,
		       struct ls_meter_reading *ret)
{
	device d;
	struct kept unkept = {.any = false}, *k = i < GPUS ? &m->kept[i] : &unkept;
	int code = m->fns.handle(i, &d);
	if (code != 0) {
		for (int id = 0; id < LS_METERS; id++)
			put(ret, (enum ls_meter_id)id, code, 0);
		k->any = false;
		return code;
	}
	read_kept(m, i, d, now, k);
	read_load(&m->fns, d, &k->r);
	read_memory(&m->fns, d, &k->r);
	read_heat(&m->fns, d, &k->r);
	read_power_and_clocks(&m->fns, d, &k->r);
	read_traffic(m, d, &k->r);
	*ret = k->r;
	return 0;
}

void ls_nvml_meter_forget(struct ls_nvml_meter *m)
{
	for (unsigned i = 0; i < GPUS; i++)
		m->kept[i].any = false;
}

void ls_nvml_meter_ask_traffic(struct ls_nvml_meter *m)
{
	m->traffic = true;
}

int ls_nvml_meter_serial(struct ls_nvml_meter *m, unsigned i, char ret[LS_NVML_TEXT])
{
	device d;
	char text[LS_NVML_TEXT] = "";
	int code = m->fns.serial ? m->fns.handle(i, &d) : LS_NVML_NO_FUNCTION;
	if (code == 0)
		code = m->fns.serial(d, text, sizeof text);
	if (code == 0)
		snprintf(ret, LS_NVML_TEXT, "%.*s", (int)sizeof text - 1, text);
	return code;
}

/* NVML writes eight digits for the domain, the kernel four. */
int ls_nvml_meter_pci(struct ls_nvml_meter *m, unsigned i, char ret[LS_NVML_TEXT])
{
	device d;
	struct pci pci = {{0}, 0, 0, 0, 0, 0, {0}};
	int code = m->fns.pci ? m->fns.handle(i, &d) : LS_NVML_NO_FUNCTION;
	if (code == 0)
		code = m->fns.pci(d, &pci);
	if (code == 0)
		snprintf(ret, LS_NVML_TEXT, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
	return code;
}

static int processes_v1(const struct fns *f, device d, struct ls_nvml_process *ret, unsigned limit,
			unsigned *n)
{
	struct process_v1 *list = ls_xalloc((limit + 1) * sizeof *list);
	int code = f->processes_v1 ? f->processes_v1(d, n, list) : LS_NVML_NO_FUNCTION;
	for (unsigned i = 0; code == 0 && i < *n; i++)
		ret[i] = (struct ls_nvml_process){.pid = list[i].pid,
						  .has_memory = list[i].memory != UINT64_MAX,
						  .memory = list[i].memory};
	free(list);
	return code;
}

int ls_nvml_meter_processes(struct ls_nvml_meter *m, unsigned i, struct ls_nvml_process *ret,
			    unsigned limit, unsigned *ret_n)
{
	device d;
	unsigned n = limit;
	int code = m->fns.handle(i, &d);
	if (code != 0)
		return code;
	if (m->fns.processes) {
		struct process *list = ls_xalloc((limit + 1) * sizeof *list);
		code = m->fns.processes(d, &n, list);
		for (unsigned k = 0; code == 0 && k < n && k < limit; k++)
			ret[k] = (struct ls_nvml_process){
				list[k].pid,          list[k].memory != UINT64_MAX,
				list[k].memory,       list[k].gpu_instance != UINT_MAX,
				list[k].gpu_instance, list[k].compute_instance,
			};
		free(list);
	} else {
		code = processes_v1(&m->fns, d, ret, limit, &n);
	}
	if (code == 0)
		*ret_n = n < limit ? n : limit;
	return code;
}

int ls_nvml_meter_xid(struct ls_nvml_meter *m, unsigned *ret_gpu, unsigned *ret_xid)
{
	struct event e = {0};
	if (!m->events)
		return LS_NVML_NO_FUNCTION;
	int code = m->fns.events_wait(m->events, &e, 0);
	if (code != 0)
		return code;
	for (unsigned i = 0; i < m->n_handles; i++)
		if (m->handles[i] == e.gpu && e.type == event_xid) {
			*ret_gpu = i;
			*ret_xid = (unsigned)e.data;
			return 0;
		}
	return LS_NVML_TIMEOUT;
}
