#include "watch/report.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

void ls_report_number(const struct ls_watch_gpu *g, enum ls_meter_id id, double factor,
		      const char *unit, char ret[LS_REPORT_CELL])
{
	double v;
	if (ls_meter_value(&g->r, id, &v))
		snprintf(ret, LS_REPORT_CELL, "%.0f%s", v * factor, unit);
	else
		snprintf(ret, LS_REPORT_CELL, "-");
}

void ls_report_pair(const struct ls_watch_gpu *g, enum ls_meter_id now, enum ls_meter_id most,
		    double factor, const char *unit, char ret[LS_REPORT_CELL])
{
	char a[LS_REPORT_CELL / 4], b[LS_REPORT_CELL / 4];
	double v;
	snprintf(a, sizeof a, "%s", "-");
	snprintf(b, sizeof b, "%s", "-");
	if (ls_meter_value(&g->r, now, &v))
		snprintf(a, sizeof a, "%.0f", v * factor);
	if (ls_meter_value(&g->r, most, &v))
		snprintf(b, sizeof b, "%.0f", v * factor);
	if (*a == '-' && *b == '-')
		snprintf(ret, LS_REPORT_CELL, "-");
	else
		snprintf(ret, LS_REPORT_CELL, "%s/%s%s", a, b, unit);
}

void ls_report_memory(const struct ls_watch_gpu *g, char ret[LS_REPORT_CELL])
{
	double used, total;
	if (!ls_meter_value(&g->r, LS_METER_MEMORY_USED, &used) ||
	    !ls_meter_value(&g->r, LS_METER_MEMORY_TOTAL, &total) || total <= 0)
		snprintf(ret, LS_REPORT_CELL, "-");
	else
		snprintf(ret, LS_REPORT_CELL, "%.1f/%.1f GiB %3.0f %%", used / (1 << 30),
			 total / (1 << 30), 100 * used / total);
}

void ls_report_state(const struct ls_watch_gpu *g, char ret[LS_NVML_TEXT])
{
	if (g->lost)
		snprintf(ret, LS_NVML_TEXT, "%.90s", ls_nvml_reason(g->lost));
	else if (!g->r.valid[LS_METER_THROTTLE])
		snprintf(ret, LS_NVML_TEXT, "-");
	else
		ls_nvml_throttle_text((uint64_t)g->r.value[LS_METER_THROTTLE], ret);
}

static void gpus_text(const struct ls_sample *s, struct ls_str *out)
{
	static const char *const heading[] = {"GPU",  "NAME",  "UTIL",  "MEMORY",
					      "TEMP", "POWER", "CLOCK", "THROTTLE"};
	struct ls_table t;
	ls_table_init(&t, 8, heading);
	for (unsigned i = 0; i < s->n_gpus; i++) {
		const struct ls_watch_gpu *g = &s->gpus[i];
		char index[16], util[LS_REPORT_CELL], memory[LS_REPORT_CELL], temp[LS_REPORT_CELL],
			power[LS_REPORT_CELL], clock[LS_REPORT_CELL], state[LS_NVML_TEXT];
		snprintf(index, sizeof index, "%u", i);
		ls_report_number(g, LS_METER_UTILIZATION, 1, " %", util);
		ls_report_memory(g, memory);
		ls_report_number(g, LS_METER_TEMPERATURE, 1, " C", temp);
		ls_report_pair(g, LS_METER_POWER, LS_METER_POWER_LIMIT, 1, " W", power);
		ls_report_pair(g, LS_METER_CLOCK_SM, LS_METER_CLOCK_SM_MAX, 1e-6, " MHz", clock);
		ls_report_state(g, state);
		const char *const row[] = {
			index, *g->name ? g->name : "-", util, memory, temp, power, clock, state};
		ls_table_row(&t, row);
	}
	ls_table_text(&t, out);
	ls_table_done(&t);
}

static void migs_text(const struct ls_sample *s, struct ls_str *out)
{
	static const char *const heading[] = {"GPU", "INSTANCE", "PROFILE", "MEMORY"};
	struct ls_table t;
	ls_table_init(&t, 4, heading);
	for (size_t i = 0; i < s->n_migs; i++) {
		const struct ls_nvml_mig *m = &s->migs[i].m;
		char gpu[16], instance[32], memory[LS_REPORT_CELL] = "-";
		snprintf(gpu, sizeof gpu, "%u", s->migs[i].gpu);
		snprintf(instance, sizeof instance, "%u.%u", m->gpu_instance, m->compute_instance);
		if (m->has_memory)
			snprintf(memory, sizeof memory, "%.1f/%.1f GiB",
				 (double)m->used / (1 << 30), (double)m->total / (1 << 30));
		const char *const row[] = {gpu, instance, *m->profile ? m->profile : "-", memory};
		ls_table_row(&t, row);
	}
	ls_str_add(out, "\n");
	ls_table_text(&t, out);
	ls_table_done(&t);
}

/* "0", or "0:1.0" for compute instance 0 of GPU instance 1 of GPU 0. */
static void place_text(const struct ls_watch_process *p, char ret[LS_REPORT_CELL])
{
	if (p->p.in_instance)
		snprintf(ret, LS_REPORT_CELL, "%u:%u.%u", p->gpu, p->p.gpu_instance,
			 p->p.compute_instance);
	else
		snprintf(ret, LS_REPORT_CELL, "%u", p->gpu);
}

static void processes_text(const struct ls_sample *s, struct ls_str *out)
{
	static const char *const heading[] = {"PID",     "GPU", "MEMORY",    "USER",
					      "PROGRAM", "JOB", "CONTAINER", "EXPERIMENT"};
	struct ls_table t;
	ls_table_init(&t, 8, heading);
	for (size_t i = 0; i < s->n_processes; i++) {
		const struct ls_watch_process *p = &s->processes[i];
		char pid[16], gpu[LS_REPORT_CELL], memory[LS_SIZE_TEXT] = "-";
		snprintf(pid, sizeof pid, "%u", p->p.pid);
		place_text(p, gpu);
		if (p->p.has_memory)
			ls_str_of_size(p->p.memory, memory);
		const char *const row[] = {pid,
					   gpu,
					   memory,
					   *p->owner.user ? p->owner.user : "-",
					   *p->owner.name ? p->owner.name : "-",
					   *p->owner.job ? p->owner.job : "-",
					   *p->owner.container ? p->owner.container : "-",
					   *p->owner.experiment ? p->owner.experiment : "-"};
		ls_table_row(&t, row);
	}
	ls_str_add(out, "\n");
	ls_table_text(&t, out);
	ls_table_done(&t);
}

void ls_report_rate(const struct ls_training_rate *r, char ret[LS_REPORT_CELL * 2])
{
	if (r->known)
		snprintf(ret, LS_REPORT_CELL * 2, "%.4g/s, %.0f %% of its best", r->rate,
			 100 * r->rate / r->best);
	else
		snprintf(ret, LS_REPORT_CELL * 2, "%s", r->why);
}

static void jobs_line(const struct ls_jobs *j, struct ls_str *out)
{
	if (j->asked && !j->counted)
		ls_str_addf(out, "Experiments: %s\n", j->why);
	else if (j->asked)
		ls_str_addf(out,
			    "Experiments: %u running, %u queued; of a day's %u attempts %u "
			    "succeeded\n",
			    j->running, j->queued, j->ended, j->done);
}

static void exports_line(const struct ls_export_counts *e, struct ls_str *out)
{
	if (e->known && e->files)
		ls_str_addf(out, "Exports of a day: %u file%s, %u failed\n", e->files,
			    e->files == 1 ? "" : "s", e->failed);
}

void ls_report_jobs(const struct ls_jobs *j, struct ls_str *out)
{
	static const char *const heading[] = {"TRAINING", "SPEED"};
	struct ls_table t;
	if (!j->asked && !j->n_rates && !j->exports.files)
		return;
	ls_str_add(out, "\n");
	jobs_line(j, out);
	exports_line(&j->exports, out);
	if (!j->n_rates)
		return;
	ls_table_init(&t, 2, heading);
	for (size_t i = 0; i < j->n_rates; i++) {
		char speed[LS_REPORT_CELL * 2];
		ls_report_rate(&j->rates[i], speed);
		const char *const row[] = {j->rates[i].name, speed};
		ls_table_row(&t, row);
	}
	ls_table_text(&t, out);
	ls_table_done(&t);
}

void ls_report_host(const struct ls_host *h, struct ls_str *out)
{
	char used[LS_SIZE_TEXT], total[LS_SIZE_TEXT];
	if (!h->cpus && !h->has_memory)
		return;
	ls_str_addf(out, "Host: %u processor%s", h->cpus, h->cpus == 1 ? "" : "s");
	if (h->has_cpu)
		ls_str_addf(out, ", %.0f %% busy (the busiest %.0f %%)", 100 * h->cpu,
			    100 * h->busiest);
	if (h->has_io_wait && h->io_wait >= 0.05)
		ls_str_addf(out, ", waits for a disk %.0f %%", 100 * h->io_wait);
	if (h->has_load)
		ls_str_addf(out, ", load %.1f", h->load);
	if (h->has_memory) {
		ls_str_of_size(h->memory_total - h->memory_available, used);
		ls_str_of_size(h->memory_total, total);
		ls_str_addf(out, ", memory %s of %s", used, total);
	}
	if (h->has_disk && h->disk_total)
		ls_str_addf(out, ", disk %.0f %% full",
			    100 - 100 * (double)h->disk_available / (double)h->disk_total);
	ls_str_add(out, "\n");
}

void ls_watch_text(const struct ls_sample *s, struct ls_str *out)
{
	if (!s->has_nvml)
		ls_str_addf(out, "No GPU is watched: %s.\n", s->no_nvml);
	else if (!s->n_gpus)
		ls_str_addf(out, "Driver %s has no GPU.\n", s->driver);
	else
		ls_str_addf(out, "Driver %s, %u GPU%s\n", *s->driver ? s->driver : "unknown",
			    s->n_gpus, s->n_gpus == 1 ? "" : "s");
	ls_report_host(&s->host, out);
	if (s->n_gpus) {
		ls_str_add(out, "\n");
		gpus_text(s, out);
	}
	if (s->n_migs)
		migs_text(s, out);
	if (s->n_processes)
		processes_text(s, out);
	ls_report_jobs(&s->jobs, out);
}

static json_t *throttle_json(uint64_t mask)
{
	char text[LS_NVML_TEXT], *save = NULL;
	json_t *list = json_array();
	ls_nvml_throttle_text(mask, text);
	if (strcmp(text, "none") == 0)
		return list;
	for (char *p = strtok_r(text, " ", &save); p; p = strtok_r(NULL, " ", &save))
		json_array_append_new(list, json_string(p));
	return list;
}

/* Counts and bytes stay integers. */
static json_t *value_json(const struct ls_meter_reading *r, enum ls_meter_id id)
{
	double v = 0;
	if (ls_meter_infos[id].scale >= 1)
		return json_integer(r->value[id] * (int64_t)ls_meter_infos[id].scale);
	ls_meter_value(r, id, &v);
	return json_real(v);
}

static void text_member(json_t *object, const char *key, const char *text)
{
	json_object_set_new(object, key, *text ? ls_json_lossy(text) : json_null());
}

static json_t *gpu_json(const struct ls_watch_gpu *g, unsigned index)
{
	json_t *metrics = json_object(), *absent = json_object(), *o = json_object();
	json_object_set_new(o, "index", json_integer(index));
	text_member(o, "name", g->name);
	text_member(o, "uuid", g->uuid);
	text_member(o, "serial", g->serial);
	text_member(o, "pci", g->pci);
	text_member(o, "lost", g->lost ? ls_nvml_reason(g->lost) : "");
	for (int id = 0; id < LS_METERS; id++)
		if (g->r.valid[id])
			json_object_set_new(metrics, ls_meter_infos[id].name,
					    value_json(&g->r, (enum ls_meter_id)id));
		else
			json_object_set_new(absent, ls_meter_infos[id].name,
					    json_string(ls_nvml_reason(g->r.code[id])));
	if (g->r.valid[LS_METER_THROTTLE])
		json_object_set_new(o, "throttle_reasons",
				    throttle_json((uint64_t)g->r.value[LS_METER_THROTTLE]));
	json_object_set_new(o, "metrics", metrics);
	json_object_set_new(o, "absent", absent);
	return o;
}

static json_t *mig_json(const struct ls_nvml_mig *m)
{
	json_t *o = json_pack("{s:i,s:i}", "gpu_instance", (int)m->gpu_instance, "compute_instance",
			      (int)m->compute_instance);
	text_member(o, "uuid", m->uuid);
	text_member(o, "profile", m->profile);
	if (m->has_memory) {
		json_object_set_new(o, "memory_total", json_integer((json_int_t)m->total));
		json_object_set_new(o, "memory_used", json_integer((json_int_t)m->used));
	}
	return o;
}

static json_t *migs_json(const struct ls_sample *s, unsigned gpu)
{
	json_t *list = json_array();
	for (size_t i = 0; i < s->n_migs; i++)
		if (s->migs[i].gpu == gpu)
			json_array_append_new(list, mig_json(&s->migs[i].m));
	return list;
}

static json_t *process_json(const struct ls_watch_process *p)
{
	json_t *o = json_pack("{s:i,s:i}", "pid", (int)p->p.pid, "gpu", (int)p->gpu);
	if (p->p.has_memory)
		json_object_set_new(o, "memory", json_integer((json_int_t)p->p.memory));
	if (p->p.in_instance) {
		json_object_set_new(o, "gpu_instance", json_integer(p->p.gpu_instance));
		json_object_set_new(o, "compute_instance", json_integer(p->p.compute_instance));
	}
	text_member(o, "program", p->owner.name);
	text_member(o, "job", p->owner.job);
	text_member(o, "container", p->owner.container);
	text_member(o, "experiment", p->owner.experiment);
	text_member(o, "user", p->owner.user);
	if (p->started > 0)
		json_object_set_new(o, "started", json_real(p->started));
	if (p->owner.host_memory)
		json_object_set_new(o, "host_memory",
				    json_integer((json_int_t)p->owner.host_memory));
	return o;
}

static json_t *rate_json(const struct ls_training_rate *r)
{
	json_t *o = json_object();
	text_member(o, "experiment", r->experiment ? r->name : "");
	text_member(o, "file", r->experiment ? "" : r->name);
	json_object_set_new(o, "per_second", r->known ? json_real(r->rate) : json_null());
	json_object_set_new(o, "best", r->known ? json_real(r->best) : json_null());
	text_member(o, "why", r->known ? "" : r->why);
	return o;
}

static json_t *exports_json(const struct ls_export_counts *e)
{
	json_t *o = json_object();
	if (e->known) {
		json_object_set_new(o, "files_in_a_day", json_integer(e->files));
		json_object_set_new(o, "failed", json_integer(e->failed));
	}
	text_member(o, "last_failed", e->file);
	text_member(o, "error", e->error);
	text_member(o, "why", e->why);
	return o;
}

/* Null when nobody asked for jobs. */
static json_t *jobs_json(const struct ls_jobs *j)
{
	if (!j->asked && !j->n_rates && !j->exports.asked)
		return json_null();
	json_t *o = json_object(), *trainings = json_array();
	for (size_t i = 0; i < j->n_rates; i++)
		json_array_append_new(trainings, rate_json(&j->rates[i]));
	if (j->counted) {
		json_object_set_new(o, "running", json_integer(j->running));
		json_object_set_new(o, "queued", json_integer(j->queued));
		json_object_set_new(o, "ended_in_a_day", json_integer(j->ended));
		json_object_set_new(o, "succeeded_in_a_day", json_integer(j->done));
	}
	text_member(o, "why", j->why);
	json_object_set_new(o, "trainings", trainings);
	if (j->exports.asked)
		json_object_set_new(o, "exports", exports_json(&j->exports));
	return o;
}

static void io_json(const struct ls_host_io *io, json_t *o)
{
	if (io->has_disk) {
		json_object_set_new(o, "disk_read", json_real(io->disk_read));
		json_object_set_new(o, "disk_write", json_real(io->disk_write));
	}
	if (io->has_net) {
		json_object_set_new(o, "net_received", json_real(io->net_received));
		json_object_set_new(o, "net_sent", json_real(io->net_sent));
	}
}

static json_t *host_json(const struct ls_host *h)
{
	json_t *o = json_object();
	if (h->cpus)
		json_object_set_new(o, "cpus", json_integer(h->cpus));
	if (h->has_cpu) {
		json_object_set_new(o, "cpu_busy", json_real(h->cpu));
		json_object_set_new(o, "cpu_busiest", json_real(h->busiest));
	}
	if (h->has_io_wait)
		json_object_set_new(o, "io_wait", json_real(h->io_wait));
	if (h->has_load)
		json_object_set_new(o, "load", json_real(h->load));
	if (h->has_memory) {
		json_object_set_new(o, "memory_total", json_integer((json_int_t)h->memory_total));
		json_object_set_new(o, "memory_available",
				    json_integer((json_int_t)h->memory_available));
	}
	if (h->has_disk) {
		json_object_set_new(o, "disk_total", json_integer((json_int_t)h->disk_total));
		json_object_set_new(o, "disk_available",
				    json_integer((json_int_t)h->disk_available));
	}
	return o;
}

static json_t *xid_json(const struct ls_watch_xid *x)
{
	json_t *o = json_pack("{s:i,s:f}", "xid", (int)x->xid, "time", x->time);
	text_member(o, "pci", x->pci);
	json_object_set_new(o, "gpu", x->gpu == UINT_MAX ? json_null() : json_integer(x->gpu));
	return o;
}

json_t *ls_watch_json(const struct ls_sample *s)
{
	json_t *o = json_object(), *gpus = json_array(), *processes = json_array(),
	       *xids = json_array();
	for (unsigned i = 0; i < s->n_gpus; i++) {
		json_t *gpu = gpu_json(&s->gpus[i], i);
		json_object_set_new(gpu, "instances", migs_json(s, i));
		json_array_append_new(gpus, gpu);
	}
	for (size_t i = 0; i < s->n_processes; i++)
		json_array_append_new(processes, process_json(&s->processes[i]));
	for (size_t i = 0; i < s->n_xids; i++)
		json_array_append_new(xids, xid_json(&s->xids[i]));
	json_object_set_new(o, "time", json_real(s->time));
	text_member(o, "driver", s->driver);
	text_member(o, "no_gpu_because", s->no_nvml);
	json_object_set_new(o, "gpus", gpus);
	json_object_set_new(o, "processes", processes);
	if (s->has_xids)
		json_object_set_new(o, "xids", xids);
	else
		json_decref(xids);
	json_t *host = host_json(&s->host);
	io_json(&s->io, host);
	json_object_set_new(o, "host", host);
	json_object_set_new(o, "jobs", jobs_json(&s->jobs));
	return o;
}
