#include "watch/signals.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a signal is made from. */
struct look {
	const struct ls_sample *s;
	const struct ls_history *h;
	const struct ls_watch_gpu *gpu; /* NULL for the host */
	unsigned index;
	double *ret;
	char *why;
	const char **advice;
};

typedef enum ls_signal_state signal_fn(const struct look *l);

enum { WINDOW = 300, LEAST = 30 }; /* seconds that a slope looks at */

static enum ls_signal_state known(const struct look *l, double v)
{
	*l->ret = v;
	return LS_SIGNAL_KNOWN;
}

static enum ls_signal_state without(const struct look *l, enum ls_signal_state state,
				    const char *why)
{
	snprintf(l->why, LS_SIGNAL_WHY, "%.200s", why);
	return state;
}

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
static enum ls_signal_state meter(const struct look *l, enum ls_meter_id id)
{
	if (!l->gpu) /* of the host */
		return LS_SIGNAL_ABSENT;
	int code = l->gpu->r.code[id];
	if (ls_meter_value(&l->gpu->r, id, l->ret)) {
		if (id == LS_METER_RECOVERY_ACTION)
			recovery_text(*l->ret, l->why);
		return LS_SIGNAL_KNOWN;
	}
	bool absent = l->gpu->lost || code == LS_NVML_NOT_SUPPORTED || code == LS_NVML_NO_FUNCTION;
	return without(l, absent ? LS_SIGNAL_ABSENT : LS_SIGNAL_UNKNOWN, ls_nvml_reason(code));
}

/* NVML's other refusals of a GPU, such as a lack of permission, do not say that it is
 * lost. */
static enum ls_signal_state lost(const struct look *l)
{
	enum { NEEDS_RESET = 16, TIMEOUT = 10, INTERRUPT = 11, POWER_CABLE = 8 };
	int code = l->gpu->lost;
	if (code == 0)
		return known(l, 0);
	snprintf(l->why, LS_SIGNAL_WHY, "%s", ls_nvml_reason(code));
	if (code == LS_NVML_GPU_LOST || code == NEEDS_RESET || code == TIMEOUT ||
	    code == INTERRUPT || code == POWER_CABLE)
		return known(l, 1);
	return LS_SIGNAL_UNKNOWN;
}

static enum ls_signal_state memory_share(const struct look *l)
{
	double used, total;
	struct look other = *l;
	other.ret = &total;
	enum ls_signal_state state = meter(&other, LS_METER_MEMORY_TOTAL);
	other.ret = &used;
	if (state == LS_SIGNAL_KNOWN)
		state = meter(&other, LS_METER_MEMORY_USED);
	if (state != LS_SIGNAL_KNOWN)
		return state;
	if (total <= 0)
		return without(l, LS_SIGNAL_ABSENT, "the GPU has no memory of its own");
	return known(l, 100 * used / total);
}

/* The fullest instance of a GPU that is split: a program there runs out of memory long
 * before the GPU does. */
static enum ls_signal_state mig_memory_share(const struct look *l)
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
		return without(l, LS_SIGNAL_ABSENT, "the GPU is not split (MIG)");
	snprintf(l->why, LS_SIGNAL_WHY, "instance %u (%.40s): %.1f %% of %.1f GiB",
		 fullest->gpu_instance, *fullest->profile ? fullest->profile : "MIG", most,
		 (double)fullest->total / (1 << 30));
	return known(l, most);
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

/* Seconds until memory is full if it goes on growing as in the window; memory that does
 * not grow takes for ever. */
static enum ls_signal_state memory_full_in(const struct look *l)
{
	double used, total;
	if (!ls_meter_value(&l->gpu->r, LS_METER_MEMORY_USED, &used) ||
	    !ls_meter_value(&l->gpu->r, LS_METER_MEMORY_TOTAL, &total))
		return meter(l, LS_METER_MEMORY_USED);
	const struct ls_point *from = oldest(&l->h->gpus[l->index], l->s->time);
	if (!from || l->s->time - from->time < LEAST)
		return without(l, LS_SIGNAL_ABSENT, "it takes 30 seconds of samples");
	double slope = (used - from->memory) / (l->s->time - from->time);
	return known(l, slope > 0 ? (total - used) / slope : HUGE_VAL);
}

static enum ls_signal_state throttled(const struct look *l, uint64_t mask)
{
	double v;
	enum ls_signal_state state = meter(l, LS_METER_THROTTLE);
	if (state != LS_SIGNAL_KNOWN)
		return state;
	v = ((uint64_t)l->gpu->r.value[LS_METER_THROTTLE] & mask) != 0;
	ls_nvml_throttle_text((uint64_t)l->gpu->r.value[LS_METER_THROTTLE], l->why);
	return known(l, v);
}

static enum ls_signal_state throttle_thermal(const struct look *l)
{
	return throttled(l, 0x20 | 0x40);
}

/* The bit of the hardware's slowdown is also set with those of heat and power brake. */
static enum ls_signal_state throttle_hardware(const struct look *l)
{
	return throttled(l, 0x08 | 0x80);
}

static enum ls_signal_state pcie_lanes_missing(const struct look *l)
{
	double now, most;
	if (!ls_meter_value(&l->gpu->r, LS_METER_PCIE_WIDTH, &now))
		return meter(l, LS_METER_PCIE_WIDTH);
	if (!ls_meter_value(&l->gpu->r, LS_METER_PCIE_WIDTH_MAX, &most))
		return meter(l, LS_METER_PCIE_WIDTH_MAX);
	snprintf(l->why, LS_SIGNAL_WHY, "%.0f of %.0f lanes", now, most);
	return known(l, most - now);
}

static enum ls_signal_state processes(const struct look *l)
{
	if (l->gpu->lost)
		return without(l, LS_SIGNAL_ABSENT, ls_nvml_reason(l->gpu->lost));
	if (!l->gpu->processes_known)
		return without(l, LS_SIGNAL_UNKNOWN, "NVML does not list processes here");
	for (size_t i = 0, len = 0; i < l->s->n_processes; i++) {
		const struct ls_watch_process *p = &l->s->processes[i];
		if (p->gpu == l->index && len < 100)
			len += (size_t)snprintf(
				l->why + len, LS_SIGNAL_WHY - len, "%s%.30s (%u)", len ? ", " : "",
				*p->owner.name ? p->owner.name : "process", p->p.pid);
	}
	return known(l, l->gpu->n_processes);
}

static enum ls_signal_state memory_without_process(const struct look *l)
{
	struct look other = *l;
	char unused[LS_SIGNAL_WHY] = "";
	other.why = unused;
	double n;
	other.ret = &n;
	enum ls_signal_state state = processes(&other);
	if (state != LS_SIGNAL_KNOWN)
		return without(l, state, unused);
	if (!l->gpu->r.valid[LS_METER_MEMORY_RESERVED])
		return without(l, LS_SIGNAL_ABSENT,
			       "this driver counts what it reserves itself as used");
	return n > 0 ? known(l, 0) : meter(l, LS_METER_MEMORY_USED);
}

/* Little use of the GPU while one processor is full. */
static enum ls_signal_state starved(const struct look *l)
{
	double used;
	struct look other = *l;
	other.ret = &used;
	enum ls_signal_state state = meter(&other, LS_METER_UTILIZATION);
	if (state != LS_SIGNAL_KNOWN)
		return state;
	if (!l->s->host.has_cpu)
		return without(l, LS_SIGNAL_ABSENT, "the load of the processors is not known");
	snprintf(l->why, LS_SIGNAL_WHY, "GPU %.0f %%, the busiest processor %.0f %%, all %.0f %%",
		 used, 100 * l->s->host.busiest, 100 * l->s->host.cpu);
	return known(l, used < 80 && l->s->host.busiest > 0.95 && l->s->host.cpu < 0.5);
}

/* While the driver says that nothing has to be recovered, an Xid that asks for a reset
 * has been dealt with and is only worth a warning. A reboot empties the kernel's log. */
static enum ls_health xid_level(const struct look *l, const struct ls_xid_action *a)
{
	double recovery;
	bool cured = a->clears && l->gpu && !l->gpu->lost &&
		     ls_meter_value(&l->gpu->r, LS_METER_RECOVERY_ACTION, &recovery) &&
		     recovery == 0;
	return cured ? LS_HEALTH_WARN : a->level;
}

/* The worst of the Xids that still count. */
static enum ls_signal_state xids(const struct look *l, const struct ls_xid_counts *c)
{
	enum ls_health worst = LS_HEALTH_OK;
	if (!l->s->has_xids)
		return without(l, LS_SIGNAL_ABSENT,
			       "neither /dev/kmsg nor NVML's events can be read");
	if (l->h->once && !l->s->xids_since_boot)
		return without(l, LS_SIGNAL_ABSENT, "/dev/kmsg cannot be read");
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
	return known(l, worst);
}

static enum ls_signal_state xid(const struct look *l)
{
	return xids(l, &l->h->gpus[l->index].xids);
}

static enum ls_signal_state xid_elsewhere(const struct look *l)
{
	return xids(l, &l->h->elsewhere);
}

static enum ls_signal_state gpus(const struct look *l)
{
	if (l->h->expected == 0)
		return without(l, LS_SIGNAL_ABSENT, "no GPU is expected");
	if (!l->s->has_nvml)
		return without(l, LS_SIGNAL_UNKNOWN, l->s->no_nvml);
	return known(l, l->s->n_gpus);
}

static enum ls_signal_state gpus_missing(const struct look *l)
{
	int answer = 0;
	if (l->h->expected < 0)
		return without(l, LS_SIGNAL_ABSENT,
			       "nobody said how many there should be (--gpus)");
	for (unsigned i = 0; i < l->s->n_gpus; i++)
		answer += l->s->gpus[i].lost == 0;
	snprintf(l->why, LS_SIGNAL_WHY, "%d of %d GPUs answer", answer, l->h->expected);
	return known(l, l->h->expected - answer);
}

static enum ls_signal_state host_memory_share(const struct look *l)
{
	const struct ls_host *h = &l->s->host;
	if (!h->has_memory || !h->memory_total)
		return without(l, LS_SIGNAL_ABSENT, "/proc/meminfo cannot be read");
	return known(l, 100 - 100 * (double)h->memory_available / (double)h->memory_total);
}

static enum ls_signal_state host_disk_share(const struct look *l)
{
	const struct ls_host *h = &l->s->host;
	if (!h->has_disk || !h->disk_total)
		return without(l, LS_SIGNAL_ABSENT, "the filesystem does not tell its size");
	return known(l, 100 - 100 * (double)h->disk_available / (double)h->disk_total);
}

/* --- jobs --- */

/* Fewer attempts say too little about a rate of 95 %. */
enum { LEAST_ATTEMPTS = 5 };

static enum ls_signal_state job_success(const struct look *l)
{
	const struct ls_jobs *j = &l->s->jobs;
	if (!j->asked)
		return without(l, LS_SIGNAL_ABSENT, "no project is watched (--project)");
	if (!j->counted)
		return without(l, LS_SIGNAL_UNKNOWN, j->why);
	snprintf(l->why, LS_SIGNAL_WHY, "%u of %u attempts that ended in a day succeeded", j->done,
		 j->ended);
	if (j->ended < LEAST_ATTEMPTS)
		return LS_SIGNAL_ABSENT;
	return known(l, 100.0 * j->done / j->ended);
}

static enum ls_signal_state throughput(const struct look *l)
{
	const struct ls_jobs *j = &l->s->jobs;
	const struct ls_training_rate *r = ls_jobs_slowest(j);
	if (!j->n_rates)
		return without(l, LS_SIGNAL_ABSENT,
			       j->asked ? "no experiment runs"
					: "no training is followed (--project, --log)");
	if (!r) {
		snprintf(l->why, LS_SIGNAL_WHY, "%.90s: %s", j->rates[0].name, j->rates[0].why);
		return LS_SIGNAL_ABSENT;
	}
	snprintf(l->why, LS_SIGNAL_WHY, "%.90s: %.4g/s, it has been %.4g/s", r->name, r->rate,
		 r->best);
	return known(l, 100 * r->rate / r->best);
}

static enum ls_signal_state exports_failed(const struct look *l)
{
	const struct ls_export_counts *e = &l->s->jobs.exports;
	if (!e->asked)
		return without(l, LS_SIGNAL_ABSENT, "no exports are followed (--exports)");
	if (!e->known)
		return without(l, LS_SIGNAL_UNKNOWN, e->why);
	if (!e->files)
		return without(l, LS_SIGNAL_ABSENT, "nothing was exported in a day");
	if (e->failed)
		snprintf(l->why, LS_SIGNAL_WHY, "%u of %u files of a day; %.80s: %.120s", e->failed,
			 e->files, e->file, e->error);
	else
		snprintf(l->why, LS_SIGNAL_WHY, "%u file%s in a day", e->files,
			 e->files == 1 ? "" : "s");
	return known(l, e->failed);
}

static enum ls_signal_state driver_changed(const struct look *l)
{
	if (!*l->h->driver)
		return without(l, LS_SIGNAL_ABSENT, "no driver was there at the begin");
	if (!*l->s->driver)
		return without(l, LS_SIGNAL_UNKNOWN, "the driver does not tell its version");
	snprintf(l->why, LS_SIGNAL_WHY, "%s: %.60s, now: %.60s",
		 l->h->driver_of_run ? "the run began with" : "at the monitor's start",
		 l->h->driver, l->s->driver);
	return known(l, strcmp(l->h->driver, l->s->driver) != 0);
}

/* --- the spec --- */

/* What the driver says of one of the spec's checks; NULL: it is about something else. */
static const char *value_of(const struct look *l, const char *key, const char *count)
{
	if (strcmp(key, "gpu_count") == 0)
		return count;
	return strcmp(key, "driver") == 0 && *l->s->driver ? l->s->driver : NULL;
}

static enum ls_match gpus_match(const struct look *l, const struct ls_check *c, char *why,
				size_t size)
{
	struct ls_gpu_seen seen[LS_SAMPLE_GPUS] = {{0}};
	size_t n = 0;
	for (unsigned i = 0; i < l->s->n_gpus && n < LS_SAMPLE_GPUS; i++) {
		double memory = 0;
		ls_meter_value(&l->s->gpus[i].r, LS_METER_MEMORY_TOTAL, &memory);
		seen[n].name = *l->s->gpus[i].name ? l->s->gpus[i].name : NULL;
		seen[n++].memory_mib = memory / (1 << 20);
	}
	return ls_gpuset_test(c->gpus, seen, n, why, size);
}

static bool differs(const struct look *l, const struct ls_check *c, const char *count)
{
	char why[160] = "";
	const char *value = value_of(l, c->key, count);
	size_t len = strlen(l->why);
	if (c->level != LS_LEVEL_REQUIRED)
		return false;
	if (c->gpus && gpus_match(l, c, why, sizeof why) != LS_MATCH_NO)
		return false;
	if (!c->gpus && (!value || ls_matcher_test(c->matcher, value) != LS_MATCH_NO))
		return false;
	if (!c->gpus)
		snprintf(why, sizeof why, "%.20s is %.30s, the spec has %.60s", c->key, value,
			 ls_check_text(c));
	snprintf(l->why + len, LS_SIGNAL_WHY - len, "%s%.150s", len ? "; " : "", why);
	return true;
}

static enum ls_signal_state spec_differs(const struct look *l)
{
	char count[16];
	unsigned answer = 0, n = 0;
	if (!l->h->spec)
		return without(l, LS_SIGNAL_ABSENT, "no spec was named (--spec)");
	if (!l->s->has_nvml)
		return without(l, LS_SIGNAL_UNKNOWN, l->s->no_nvml);
	for (unsigned i = 0; i < l->s->n_gpus; i++)
		answer += l->s->gpus[i].lost == 0;
	snprintf(count, sizeof count, "%u", answer);
	for (size_t i = 0; i < l->h->spec->n_checks; i++)
		n += differs(l, &l->h->spec->checks[i], count);
	if (!n)
		snprintf(l->why, LS_SIGNAL_WHY, "%u GPUs and driver %.60s are the spec's", answer,
			 l->s->driver);
	return known(l, n);
}

static const struct {
	struct ls_signal s;
	signal_fn *value;
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
	{{"starved", "", false, "1 when the GPU idles while one processor is full"}, starved},
	{{"xid", "", false, "by data/xid.json: 0 nothing, 1 a warning, 2 critical"}, xid},
	{{"xid_elsewhere", "", true, "the same of PCI addresses where no GPU is seen"},
	 xid_elsewhere},
	{{"gpus", "", true, "GPUs that the driver has"}, gpus},
	{{"gpus_missing", "", true, "GPUs that should answer and do not"}, gpus_missing},
	{{"job_success", "%", true, "share of the project's attempts of a day that succeeded"},
	 job_success},
	{{"throughput", "%", true, "speed of a training, as a share of the best it has had"},
	 throughput},
	{{"exports_failed", "", true, "files of a day whose last export failed"}, exports_failed},
	{{"driver_changed", "", true, "1 when the driver is another one than at the begin"},
	 driver_changed},
	{{"spec_differs", "", true, "things of GPUs and driver that are not the spec's"},
	 spec_differs},
	{{"host_memory_share", "%", true, "share of the machine's memory in use"},
	 host_memory_share},
	{{"host_disk_share", "%", true, "share of the disk of / in use"}, host_disk_share},
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
	struct look l = {s,           h,           gpu < s->n_gpus ? &s->gpus[gpu] : NULL,
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
		add_point(&h->gpus[i], &s->gpus[i], s->time);
	for (size_t i = 0; i < s->n_xids; i++) {
		const struct ls_watch_xid *x = &s->xids[i];
		ls_xid_counts_add(x->gpu < s->n_gpus ? &h->gpus[x->gpu].xids : &h->elsewhere,
				  x->xid, x->time);
	}
}
