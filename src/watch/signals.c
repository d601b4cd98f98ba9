#include "watch/signals.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "watch/checklist.h"
#include "watch/signal_look.h"

enum { WINDOW = 300, LEAST = 30 }; /* seconds that a slope looks at */

static void recovery_text(double action, char why[LS_SIGNAL_WHY])
{
	static const char *const names[] = {"nothing",
					    "a reset of the GPU",
					    "a reboot",
					    "draining peer-to-peer traffic",
					    "draining, then a reset",
					    "a reset of the bus"};
	enum { NAMES = sizeof names / sizeof *names };
	bool known_one = action >= 0 && action < NAMES;
	snprintf(why, LS_SIGNAL_WHY, "action %.0f: %s", action,
		 known_one ? names[(int)action] : "newer than this program");
}

/* A metric, in its unit. That a GPU does not have something is an answer; that NVML could
 * not tell is none. Of a GPU that is lost, "lost" says all. */
static enum ls_signal_state meter(const struct ls_look *l, enum ls_meter_id id)
{
	if (!l->gpu) /* of the host */
		return LS_SIGNAL_ABSENT;
	int code = l->gpu->r.code[id];
	if (ls_meter_value(&l->gpu->r, id, l->ret)) {
		if (id == LS_METER_RECOVERY_ACTION)
			recovery_text(*l->ret, l->why);
		return LS_SIGNAL_KNOWN;
	}
	bool absent = l->gpu->lost || code == LS_NVML_NOT_SUPPORTED ||
		      code == LS_NVML_NO_FUNCTION || code == LS_NVML_NOT_ASKED;
	return ls_look_without(l, absent ? LS_SIGNAL_ABSENT : LS_SIGNAL_UNKNOWN,
			       ls_nvml_reason(code));
}

/* NVML's other refusals of a GPU, such as a lack of permission, do not say that it is
 * lost. */
static enum ls_signal_state lost(const struct ls_look *l)
{
	enum { NEEDS_RESET = 16, TIMEOUT = 10, INTERRUPT = 11, POWER_CABLE = 8 };
	int code = l->gpu->lost;
	if (code == 0)
		return ls_look_known(l, 0);
	snprintf(l->why, LS_SIGNAL_WHY, "%s", ls_nvml_reason(code));
	if (code == LS_NVML_GPU_LOST || code == NEEDS_RESET || code == TIMEOUT ||
	    code == INTERRUPT || code == POWER_CABLE)
		return ls_look_known(l, 1);
	return LS_SIGNAL_UNKNOWN;
}

/* The oldest point of the ring that is not older than the window. */
static const struct ls_point *oldest(const struct ls_gpu_history *g, double now)
{
	for (unsigned i = 0; i < g->n; i++) {
		unsigned at = (g->next + LS_HISTORY_POINTS - g->n + i) % LS_HISTORY_POINTS;
		if (now - g->points[at].time <= WINDOW)
			return &g->points[at];
	}
	return NULL;
}

/* If it goes on growing as in the window; memory that does not grow lasts for ever. */
static double memory_lasts(const struct ls_look *l, const struct ls_point *from, double used,
			   double total)
{
	double slope = (used - from->memory) / (l->s->steady - from->time);
	return slope > 0 ? (total - used) / slope : HUGE_VAL;
}

/* Programs by what they hold, the first ones. */
static void users_text(const struct ls_look *l, double share)
{
	size_t len = (size_t)snprintf(l->why, LS_SIGNAL_WHY, "%.1f %% in use", share);
	for (size_t i = 0; i < l->s->n_processes && len < 150; i++) {
		const struct ls_watch_process *p = &l->s->processes[i];
		if (p->gpu != l->index || !p->p.has_memory)
			continue;
		len += (size_t)snprintf(l->why + len, LS_SIGNAL_WHY - len, ", %.30s (%u) %.1f GiB",
					*p->owner.name ? p->owner.name : "process", p->p.pid,
					(double)p->p.memory / (1 << 30));
	}
}

static enum ls_signal_state memory_share(const struct ls_look *l)
{
	double used, total;
	struct ls_look other = *l;
	other.ret = &total;
	enum ls_signal_state state = meter(&other, LS_METER_MEMORY_TOTAL);
	other.ret = &used;
	if (state == LS_SIGNAL_KNOWN)
		state = meter(&other, LS_METER_MEMORY_USED);
	if (state != LS_SIGNAL_KNOWN)
		return state;
	if (total <= 0)
		return ls_look_without(l, LS_SIGNAL_ABSENT, "the GPU has no memory of its own");
	const struct ls_point *from = oldest(&l->h->gpus[l->index], l->s->steady);
	bool grows = from && l->s->steady - from->time >= LEAST;
	*l->advice = ls_checklist_memory(l, grows ? memory_lasts(l, from, used, total) : HUGE_VAL);
	users_text(l, 100 * used / total);
	return ls_look_known(l, 100 * used / total);
}

/* The fullest instance of a GPU that is split: a program there runs out of memory long
 * before the GPU does. */
static enum ls_signal_state mig_memory_share(const struct ls_look *l)
{
	const struct ls_nvml_mig *fullest = NULL;
	double most = -1;
	for (size_t i = 0; i < l->s->n_migs; i++) {
		const struct ls_nvml_mig *m = &l->s->migs[i].m;
		if (l->s->migs[i].gpu != l->index || !m->has_memory || !m->total)
			continue;
		double share = 100 * (double)m->used / (double)m->total;
		if (share > most) {
			most = share;
			fullest = m;
		}
	}
	if (!fullest)
		return ls_look_without(l, LS_SIGNAL_ABSENT, "the GPU is not split (MIG)");
	snprintf(l->why, LS_SIGNAL_WHY, "instance %u (%.40s): %.1f %% of %.1f GiB",
		 fullest->gpu_instance, *fullest->profile ? fullest->profile : "MIG", most,
		 (double)fullest->total / (1 << 30));
	return ls_look_known(l, most);
}

static enum ls_signal_state memory_full_in(const struct ls_look *l)
{
	double used, total;
	if (!ls_meter_value(&l->gpu->r, LS_METER_MEMORY_USED, &used) ||
	    !ls_meter_value(&l->gpu->r, LS_METER_MEMORY_TOTAL, &total))
		return meter(l, LS_METER_MEMORY_USED);
	const struct ls_point *from = oldest(&l->h->gpus[l->index], l->s->steady);
	if (!from || l->s->steady - from->time < LEAST)
		return ls_look_without(l, LS_SIGNAL_ABSENT, "it takes 30 seconds of samples");
	double in = memory_lasts(l, from, used, total);
	*l->advice = ls_checklist_memory(l, in);
	return ls_look_known(l, in);
}

static enum ls_signal_state throttled(const struct ls_look *l, uint64_t mask)
{
	double v;
	enum ls_signal_state state = meter(l, LS_METER_THROTTLE);
	if (state != LS_SIGNAL_KNOWN)
		return state;
	v = ((uint64_t)l->gpu->r.value[LS_METER_THROTTLE] & mask) != 0;
	ls_nvml_throttle_text((uint64_t)l->gpu->r.value[LS_METER_THROTTLE], l->why);
	return ls_look_known(l, v);
}

static enum ls_signal_state throttle_thermal(const struct ls_look *l)
{
	return throttled(l, 0x20 | 0x40);
}

/* The bit of the hardware's slowdown is also set with those of heat and power brake. */
static enum ls_signal_state throttle_hardware(const struct ls_look *l)
{
	return throttled(l, 0x08 | 0x80);
}

static enum ls_signal_state pcie_lanes_missing(const struct ls_look *l)
{
	double now, most;
	if (!ls_meter_value(&l->gpu->r, LS_METER_PCIE_WIDTH, &now))
		return meter(l, LS_METER_PCIE_WIDTH);
	if (!ls_meter_value(&l->gpu->r, LS_METER_PCIE_WIDTH_MAX, &most))
		return meter(l, LS_METER_PCIE_WIDTH_MAX);
	snprintf(l->why, LS_SIGNAL_WHY, "%.0f of %.0f lanes", now, most);
	return ls_look_known(l, most - now);
}

static enum ls_signal_state processes(const struct ls_look *l)
{
	if (l->gpu->lost)
		return ls_look_without(l, LS_SIGNAL_ABSENT, ls_nvml_reason(l->gpu->lost));
	if (!l->gpu->processes_known)
		return ls_look_without(l, LS_SIGNAL_UNKNOWN, "NVML does not list processes here");
	for (size_t i = 0, len = 0; i < l->s->n_processes; i++) {
		const struct ls_watch_process *p = &l->s->processes[i];
		if (p->gpu == l->index && len < 100)
			len += (size_t)snprintf(
				l->why + len, LS_SIGNAL_WHY - len, "%s%.30s (%u)", len ? ", " : "",
				*p->owner.name ? p->owner.name : "process", p->p.pid);
	}
	return ls_look_known(l, l->gpu->n_processes);
}

static enum ls_signal_state memory_without_process(const struct ls_look *l)
{
	struct ls_look other = *l;
	char unused[LS_SIGNAL_WHY] = "";
	other.why = unused;
	double n;
	other.ret = &n;
	enum ls_signal_state state = processes(&other);
	if (state != LS_SIGNAL_KNOWN)
		return ls_look_without(l, state, unused);
	if (!l->gpu->r.valid[LS_METER_MEMORY_RESERVED])
		return ls_look_without(l, LS_SIGNAL_ABSENT,
				       "this driver counts what it reserves itself as used");
	return n > 0 ? ls_look_known(l, 0) : meter(l, LS_METER_MEMORY_USED);
}

/* --- the checklist of slow training --- */

/* What the GPU may be waiting for. */
static void waits_text(const struct ls_look *l, double use)
{
	const struct ls_host *h = &l->s->host;
	double used, total;
	size_t len = (size_t)snprintf(l->why, LS_SIGNAL_WHY, "GPU %.0f %%", use);
	if (h->has_cpu)
		len += (size_t)snprintf(l->why + len, LS_SIGNAL_WHY - len,
					", the busiest processor %.0f %%, all %.0f %%",
					100 * h->busiest, 100 * h->cpu);
	if (h->has_io_wait)
		len += (size_t)snprintf(l->why + len, LS_SIGNAL_WHY - len,
					", waits for a disk %.0f %%", 100 * h->io_wait);
	if (ls_meter_value(&l->gpu->r, LS_METER_MEMORY_USED, &used) &&
	    ls_meter_value(&l->gpu->r, LS_METER_MEMORY_TOTAL, &total) && total > 0)
		snprintf(l->why + len, LS_SIGNAL_WHY - len, ", GPU memory %.0f %%",
			 100 * used / total);
}

static enum ls_signal_state job_utilization(const struct ls_look *l)
{
	double use;
	enum ls_signal_state state = meter(l, LS_METER_UTILIZATION);
	if (state != LS_SIGNAL_KNOWN)
		return state;
	use = *l->ret;
	waits_text(l, use);
	*l->advice = ls_checklist_slow(l);
	return ls_look_known(l, use);
}

/* Little use of the GPU, and the one thing that it may be waiting for. */
static enum ls_signal_state idles_while(const struct ls_look *l, bool known, bool waits,
					const char *unknown)
{
	double use;
	enum ls_signal_state state = meter(l, LS_METER_UTILIZATION);
	if (state != LS_SIGNAL_KNOWN)
		return state;
	use = *l->ret;
	if (!known)
		return ls_look_without(l, LS_SIGNAL_ABSENT, unknown);
	waits_text(l, use);
	return ls_look_known(l, use < 80 && waits);
}

static enum ls_signal_state starved(const struct ls_look *l)
{
	return idles_while(l, l->s->host.has_cpu, ls_checklist_processor(l),
			   "the load of the processors is not known");
}

static enum ls_signal_state disk_starved(const struct ls_look *l)
{
	return idles_while(l, l->s->host.has_io_wait, ls_checklist_disk(l),
			   "how long tasks wait for disks is not known");
}

/* While the driver says that nothing has to be recovered, an Xid that asks for a reset
 * has been dealt with and is only worth a warning. A reboot empties the kernel's log. */
static enum ls_health xid_level(const struct ls_look *l, const struct ls_xid_action *a)
{
	double recovery;
	bool cured = a->clears && l->gpu && !l->gpu->lost &&
		     ls_meter_value(&l->gpu->r, LS_METER_RECOVERY_ACTION, &recovery) &&
		     recovery == 0;
	return cured ? LS_HEALTH_WARN : a->level;
}

/* The worst of the Xids that still count. */
static enum ls_signal_state xids(const struct ls_look *l, const struct ls_xid_counts *c)
{
	enum ls_health worst = LS_HEALTH_OK;
	if (!l->s->has_xids)
		return ls_look_without(l, LS_SIGNAL_ABSENT,
				       "neither /dev/kmsg nor NVML's events can be read");
	if (l->h->once && !l->s->xids_since_boot)
		return ls_look_without(l, LS_SIGNAL_ABSENT, "/dev/kmsg cannot be read");
	for (unsigned i = 0; i < c->n; i++) {
		const struct ls_xid_count *k = &c->kinds[i];
		const struct ls_xid_action *a = ls_xid_action(l->h->table, k->xid);
		const char *about = ls_xid_about(l->h->table, k->xid);
		enum ls_health level = xid_level(l, a);
		if (l->s->time - k->last > a->holds || level <= worst)
			continue;
		worst = level;
		*l->advice = a->advice;
		snprintf(l->why, LS_SIGNAL_WHY, "Xid %u%s%.60s%s, %lu time%s, asks for: %.40s",
			 k->xid, about ? " (" : "", about ? about : "", about ? ")" : "", k->count,
			 k->count == 1 ? "" : "s", a->action);
	}
	return ls_look_known(l, worst);
}

static enum ls_signal_state xid(const struct ls_look *l)
{
	return xids(l, &l->h->gpus[l->index].xids);
}

static enum ls_signal_state xid_elsewhere(const struct ls_look *l)
{
	return xids(l, &l->h->elsewhere);
}

static const struct {
	struct ls_signal s;
	ls_signal_fn *value;
} made[] = {
	{{"lost", "", false, "1 when NVML refuses the GPU"}, lost},
	{{"memory_share", "%", false, "share of the GPU's memory in use"}, memory_share},
	{{"mig_memory_share", "%", false, "share of memory in use of the fullest MIG instance"},
	 mig_memory_share},
	{{"memory_full_in", "s", false, "seconds until memory is full, if it goes on growing"},
	 memory_full_in},
	{{"throttle_thermal", "", false, "1 while heat slows the GPU down"}, throttle_thermal},
	{{"throttle_hardware", "", false, "1 while hardware or a power brake slows it down"},
	 throttle_hardware},
	{{"pcie_lanes_missing", "", false, "lanes that the PCIe link has and does not use"},
	 pcie_lanes_missing},
	{{"processes", "", false, "programs that compute on the GPU"}, processes},
	{{"memory_without_process", "B", false, "memory in use while no program is"},
	 memory_without_process},
	{{"job_utilization", "%", false, "the same as utilization, with what the GPU may wait for"},
	 job_utilization},
	{{"starved", "", false, "1 when the GPU idles while one processor is full"}, starved},
	{{"disk_starved", "", false, "1 when the GPU idles while tasks wait for a disk"},
	 disk_starved},
	{{"xid", "", false, "by data/xid.json: 0 nothing, 1 a warning, 2 critical"}, xid},
	{{"xid_elsewhere", "", true, "the same of PCI addresses where no GPU is seen"},
	 xid_elsewhere},
	{{"gpus", "", true, "GPUs that the driver has"}, ls_signal_gpus},
	{{"gpus_missing", "", true, "GPUs that should answer and do not"}, ls_signal_gpus_missing},
	{{"job_success", "%", true, "share of the project's attempts of a day that succeeded"},
	 ls_signal_job_success},
	{{"throughput", "%", true, "speed of a training, as a share of the best it has had"},
	 ls_signal_throughput},
	{{"exports_failed", "", true, "files of a day whose last export failed"},
	 ls_signal_exports_failed},
	{{"driver_changed", "", true, "1 when the driver is another one than at the begin"},
	 ls_signal_driver_changed},
	{{"spec_differs", "", true, "things of GPUs and driver that are not the spec's"},
	 ls_signal_spec_differs},
	{{"host_memory_share", "%", true, "share of the machine's memory in use"},
	 ls_signal_host_memory},
	{{"host_disk_share", "%", true, "share of the disk of / in use"}, ls_signal_host_disk},
};

enum { MADE = sizeof made / sizeof *made };

int ls_signal_find(const char *name)
{
	for (int i = 0; i < MADE; i++)
		if (strcmp(made[i].s.name, name) == 0)
			return i;
	for (int id = 0; id < LS_METERS; id++)
		if (strcmp(ls_meter_infos[id].name, name) == 0)
			return MADE + id;
	return -1;
}

bool ls_signal_info(int signal, struct ls_signal *ret)
{
	if (signal < 0 || signal >= MADE + LS_METERS)
		return false;
	if (signal < MADE) {
		*ret = made[signal].s;
		return true;
	}
	const struct ls_meter_info *info = &ls_meter_infos[signal - MADE];
	*ret = (struct ls_signal){info->name, info->unit, false, info->help};
	return true;
}

enum ls_signal_state ls_signal_value(int signal, const struct ls_sample *s,
				     const struct ls_history *h, unsigned gpu,
				     struct ls_signal_answer *ret)
{
	struct ls_look l = {s,           h,           gpu < s->n_gpus ? &s->gpus[gpu] : NULL,
			    gpu,         &ret->value, ret->why,
			    &ret->advice};
	memset(ret, 0, sizeof *ret);
	if (signal < MADE)
		return made[signal].value(&l);
	return meter(&l, (enum ls_meter_id)(signal - MADE));
}

static void add_point(struct ls_gpu_history *g, const struct ls_watch_gpu *gpu, double now)
{
	double used;
	unsigned last = (g->next + LS_HISTORY_POINTS - 1) % LS_HISTORY_POINTS;
	double step = (double)WINDOW / LS_HISTORY_POINTS;
	if (g->n && now - g->points[last].time < step)
		return;
	if (!ls_meter_value(&gpu->r, LS_METER_MEMORY_USED, &used))
		return;
	g->points[g->next] = (struct ls_point){now, used};
	g->next = (g->next + 1) % LS_HISTORY_POINTS;
	g->n += g->n < LS_HISTORY_POINTS;
}

void ls_history_add(struct ls_history *h, const struct ls_sample *s)
{
	h->now = s->time;
	if (!*h->driver)
		memcpy(h->driver, s->driver, sizeof h->driver);
	for (unsigned i = 0; i < s->n_gpus; i++)
		add_point(&h->gpus[i], &s->gpus[i], s->steady);
	for (size_t i = 0; i < s->n_xids; i++) {
		const struct ls_watch_xid *x = &s->xids[i];
		ls_xid_counts_add(x->gpu < s->n_gpus ? &h->gpus[x->gpu].xids : &h->elsewhere,
				  x->xid, x->time);
	}
}
