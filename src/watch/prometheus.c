#include "watch/prometheus.h"

#include <stdio.h>

void ls_prometheus_label(struct ls_str *out, const char *name, const char *value)
{
	struct ls_str clean = {0};
	ls_str_add_printable(&clean, value);
	ls_str_addf(out, "%s=\"", name);
	for (const char *p = clean.s ? clean.s : ""; *p; p++)
		if (*p == '"' || *p == '\\')
			ls_str_addf(out, "\\%c", *p);
		else
			ls_str_add_bytes(out, p, 1);
	ls_str_add(out, "\"");
	ls_str_done(&clean);
}

static void family(struct ls_str *out, const char *name, const char *type, const char *help)
{
	ls_str_addf(out, "# HELP lockstep_%s %s\n# TYPE lockstep_%s %s\n", name, help, name, type);
}

static void plain(struct ls_str *out, const char *name, const char *type, const char *help,
		  double value)
{
	family(out, name, type, help);
	ls_str_addf(out, "lockstep_%s %.15g\n", name, value);
}

/* The number that nvidia-smi and programs use, and the one that stays with the board. */
static void of_gpu(struct ls_str *out, const struct ls_sample *s, unsigned gpu)
{
	char index[16];
	snprintf(index, sizeof index, "%u", gpu);
	ls_prometheus_label(out, "gpu", index);
	ls_str_add(out, ",");
	ls_prometheus_label(out, "uuid", gpu < s->n_gpus ? s->gpus[gpu].uuid : "");
}

static void meter_family(struct ls_str *out, const struct ls_sample *s, enum ls_meter_id id)
{
	const struct ls_meter_info *info = &ls_meter_infos[id];
	char name[96];
	double v;
	bool any = false;
	snprintf(name, sizeof name, "gpu_%s", info->prom);
	for (unsigned i = 0; i < s->n_gpus; i++) {
		if (!ls_meter_value(&s->gpus[i].r, id, &v))
			continue;
		if (!any)
			family(out, name, info->counter ? "counter" : "gauge", info->help);
		any = true;
		ls_str_addf(out, "lockstep_%s{", name);
		of_gpu(out, s, i);
		ls_str_addf(out, "} %.15g\n", v * info->prom_factor);
	}
}

static void gpu_families(struct ls_str *out, const struct ls_sample *s)
{
	if (!s->n_gpus)
		return;
	family(out, "gpu_info", "gauge", "What names a GPU; always 1.");
	for (unsigned i = 0; i < s->n_gpus; i++) {
		const struct ls_watch_gpu *g = &s->gpus[i];
		ls_str_add(out, "lockstep_gpu_info{");
		of_gpu(out, s, i);
		ls_str_add(out, ",");
		ls_prometheus_label(out, "name", g->name);
		ls_str_add(out, ",");
		ls_prometheus_label(out, "serial", g->serial);
		ls_str_add(out, ",");
		ls_prometheus_label(out, "pci", g->pci);
		ls_str_add(out, "} 1\n");
	}
	family(out, "gpu_up", "gauge", "1 when the GPU answers.");
	for (unsigned i = 0; i < s->n_gpus; i++) {
		ls_str_add(out, "lockstep_gpu_up{");
		of_gpu(out, s, i);
		ls_str_addf(out, "} %d\n", !s->gpus[i].lost);
	}
	for (int id = 0; id < LS_METERS; id++)
		meter_family(out, s, (enum ls_meter_id)id);
}

static void mig_labels(struct ls_str *out, const struct ls_sample *s, const struct ls_watch_mig *m)
{
	char gpu_instance[16], compute_instance[16];
	snprintf(gpu_instance, sizeof gpu_instance, "%u", m->m.gpu_instance);
	snprintf(compute_instance, sizeof compute_instance, "%u", m->m.compute_instance);
	of_gpu(out, s, m->gpu);
	ls_str_add(out, ",");
	ls_prometheus_label(out, "gpu_instance", gpu_instance);
	ls_str_add(out, ",");
	ls_prometheus_label(out, "compute_instance", compute_instance);
}

static void mig_family(struct ls_str *out, const struct ls_sample *s, const char *name,
		       const char *help, bool used)
{
	family(out, name, "gauge", help);
	for (size_t i = 0; i < s->n_migs; i++) {
		const struct ls_nvml_mig *m = &s->migs[i].m;
		if (!m->has_memory)
			continue;
		ls_str_addf(out, "lockstep_%s{", name);
		mig_labels(out, s, &s->migs[i]);
		ls_str_addf(out, "} %llu\n", (unsigned long long)(used ? m->used : m->total));
	}
}

static void mig_families(struct ls_str *out, const struct ls_sample *s)
{
	if (!s->n_migs)
		return;
	family(out, "gpu_instance_info", "gauge", "A part of a GPU (MIG); always 1.");
	for (size_t i = 0; i < s->n_migs; i++) {
		ls_str_add(out, "lockstep_gpu_instance_info{");
		mig_labels(out, s, &s->migs[i]);
		ls_str_add(out, ",");
		ls_prometheus_label(out, "profile", s->migs[i].m.profile);
		ls_str_add(out, ",");
		ls_prometheus_label(out, "instance_uuid", s->migs[i].m.uuid);
		ls_str_add(out, "} 1\n");
	}
	mig_family(out, s, "gpu_instance_memory_size_bytes", "Memory of a part of a GPU.", false);
	mig_family(out, s, "gpu_instance_memory_used_bytes",
		   "Memory that programs have allocated on a part of a GPU.", true);
}

static void process_labels(struct ls_str *out, const struct ls_sample *s,
			   const struct ls_watch_process *p)
{
	char pid[16];
	snprintf(pid, sizeof pid, "%u", p->p.pid);
	of_gpu(out, s, p->gpu);
	ls_str_add(out, ",");
	ls_prometheus_label(out, "pid", pid);
}

/* Whom a process belongs to stands in one series of its own, to be joined by gpu and pid;
 * as labels of every series it would multiply them. */
static void process_families(struct ls_str *out, const struct ls_sample *s)
{
	if (!s->n_processes)
		return;
	family(out, "job_info", "gauge", "Whom a program on a GPU belongs to; always 1.");
	for (size_t i = 0; i < s->n_processes; i++) {
		const struct ls_watch_process *p = &s->processes[i];
		ls_str_add(out, "lockstep_job_info{");
		process_labels(out, s, p);
		ls_str_add(out, ",");
		ls_prometheus_label(out, "program", p->owner.name);
		ls_str_add(out, ",");
		ls_prometheus_label(out, "job", p->owner.job);
		ls_str_add(out, ",");
		ls_prometheus_label(out, "container", p->owner.container);
		ls_str_add(out, ",");
		ls_prometheus_label(out, "experiment", p->owner.experiment);
		ls_str_add(out, ",");
		ls_prometheus_label(out, "user", p->owner.user);
		ls_str_add(out, "} 1\n");
	}
	family(out, "process_gpu_memory_bytes", "gauge", "Memory of a GPU that a program uses.");
	for (size_t i = 0; i < s->n_processes; i++) {
		const struct ls_watch_process *p = &s->processes[i];
		if (!p->p.has_memory)
			continue;
		ls_str_add(out, "lockstep_process_gpu_memory_bytes{");
		process_labels(out, s, p);
		ls_str_addf(out, "} %llu\n", (unsigned long long)p->p.memory);
	}
}

/* At most one series an experiment or file that is followed. */
static void rate_family(struct ls_str *out, const struct ls_jobs *j, const char *name,
			const char *help, bool best)
{
	bool any = false;
	for (size_t i = 0; i < j->n_rates; i++) {
		const struct ls_training_rate *r = &j->rates[i];
		if (!r->known)
			continue;
		if (!any)
			family(out, name, "gauge", help);
		any = true;
		ls_str_addf(out, "lockstep_%s{", name);
		ls_prometheus_label(out, r->experiment ? "experiment" : "file", r->name);
		ls_str_addf(out, "} %.15g\n", best ? r->best : r->rate);
	}
}

static void job_families(struct ls_str *out, const struct ls_jobs *j)
{
	if (j->asked && j->counted) {
		plain(out, "job_experiments_running", "gauge", "Experiments that run.", j->running);
		plain(out, "job_experiments_queued", "gauge", "Experiments that wait.", j->queued);
		plain(out, "job_attempts_ended_day", "gauge",
		      "Attempts that ended in the last day, without those that were cancelled.",
		      j->ended);
		plain(out, "job_attempts_succeeded_day", "gauge",
		      "Attempts of the last day that succeeded.", j->done);
	}
	if (j->exports.asked && j->exports.known) {
		plain(out, "job_exports_day", "gauge",
		      "Files to which a model was exported in the last day.", j->exports.files);
		plain(out, "job_exports_failed_day", "gauge",
		      "Those of them whose last export failed.", j->exports.failed);
	}
	rate_family(out, j, "job_throughput_per_second",
		    "Samples, rows or steps that a training does in a second.", false);
	rate_family(out, j, "job_throughput_best_per_second",
		    "The highest that this has been since the monitor follows it.", true);
}

static void host_families(struct ls_str *out, const struct ls_host *h)
{
	if (h->cpus)
		plain(out, "host_cpus", "gauge", "Processors that are on.", h->cpus);
	if (h->has_cpu) {
		plain(out, "host_cpu_busy_ratio", "gauge", "Share of time that processors work.",
		      h->cpu);
		plain(out, "host_cpu_busiest_ratio", "gauge", "The same of the busiest one.",
		      h->busiest);
	}
	if (h->has_io_wait)
		plain(out, "host_io_wait_ratio", "gauge",
		      "Share of time that a task waited for a disk.", h->io_wait);
	if (h->has_load)
		plain(out, "host_load1", "gauge", "Tasks that run or wait, over a minute.",
		      h->load);
	if (h->has_memory) {
		plain(out, "host_memory_size_bytes", "gauge", "Memory of the machine.",
		      (double)h->memory_total);
		plain(out, "host_memory_available_bytes", "gauge", "Memory that programs can get.",
		      (double)h->memory_available);
	}
	if (h->has_disk) {
		plain(out, "host_disk_size_bytes", "gauge", "Size of the file system of /.",
		      (double)h->disk_total);
		plain(out, "host_disk_available_bytes", "gauge", "Room on the file system of /.",
		      (double)h->disk_available);
	}
}

static void io_families(struct ls_str *out, const struct ls_host_io *io)
{
	if (io->has_disk) {
		plain(out, "host_disk_read_bytes_per_second", "gauge", "Read from disks.",
		      io->disk_read);
		plain(out, "host_disk_written_bytes_per_second", "gauge", "Written to disks.",
		      io->disk_write);
	}
	if (io->has_net) {
		plain(out, "host_network_received_bytes_per_second", "gauge",
		      "Received over networks.", io->net_received);
		plain(out, "host_network_sent_bytes_per_second", "gauge", "Sent over networks.",
		      io->net_sent);
	}
}

static void verdict_labels(struct ls_str *out, const struct ls_verdict *v)
{
	char index[16] = "";
	if (v->gpu >= 0)
		snprintf(index, sizeof index, "%d", v->gpu);
	ls_prometheus_label(out, "gpu", index);
	ls_str_add(out, ",");
	ls_prometheus_label(out, "rule", v->rule->name);
}

static void health_families(struct ls_str *out, const struct ls_judge *j)
{
	plain(out, "health", "gauge", "The worst verdict: 0 ok, 1 warn, 2 critical, 3 unknown.",
	      ls_judge_worst(j));
	if (!ls_judge_count(j))
		return;
	family(out, "health_verdict", "gauge",
	       "A rule's verdict: 0 ok, 1 warn, 2 critical, 3 unknown; gpu is empty for the host.");
	for (size_t i = 0; i < ls_judge_count(j); i++) {
		const struct ls_verdict *v = ls_judge_verdict(j, i);
		if (v->health == LS_HEALTH_NOT_JUDGED)
			continue;
		ls_str_add(out, "lockstep_health_verdict{");
		verdict_labels(out, v);
		ls_str_addf(out, "} %d\n", (int)v->health);
	}
}

static void xid_families(struct ls_str *out, const struct ls_sample *s, const struct ls_judge *j)
{
	bool any = false;
	for (unsigned g = 0; s->has_xids && g < s->n_gpus; g++) {
		const struct ls_xid_counts *c = ls_judge_xids(j, g);
		for (unsigned i = 0; i < c->n; i++) {
			if (!any)
				family(out, "gpu_xid_errors_total", "counter",
				       "Faults that the driver reported, by its number (Xid).");
			any = true;
			ls_str_add(out, "lockstep_gpu_xid_errors_total{");
			of_gpu(out, s, g);
			ls_str_addf(out, ",xid=\"%u\"} %lu\n", c->kinds[i].xid, c->kinds[i].count);
		}
	}
}

void ls_prometheus_text(const struct ls_sample *s, const struct ls_judge *j, struct ls_str *out)
{
	family(out, "build_info", "gauge", "The version that runs; always 1.");
	ls_str_add(out, "lockstep_build_info{version=\"" LS_VERSION "\",");
	ls_prometheus_label(out, "driver", s->driver);
	ls_str_add(out, "} 1\n");
	plain(out, "sample_timestamp_seconds", "gauge", "When these values were read.", s->time);
	plain(out, "gpus", "gauge", "GPUs that are watched, also those that no longer answer.",
	      s->n_gpus);
	gpu_families(out, s);
	mig_families(out, s);
	process_families(out, s);
	job_families(out, &s->jobs);
	host_families(out, &s->host);
	io_families(out, &s->io);
	health_families(out, j);
	xid_families(out, s, j);
}
