/* Signals of the machine and of its jobs. */
#include <stdio.h>
#include <string.h>

#include "watch/checklist.h"
#include "watch/signal_look.h"

enum ls_signal_state ls_signal_gpus(const struct ls_look *l)
{
	if (l->h->expected == 0)
		return ls_look_without(l, LS_SIGNAL_ABSENT, "no GPU is expected");
	*l->advice = ls_checklist_no_gpu(l);
	if (!l->s->has_nvml)
		snprintf(l->why, LS_SIGNAL_WHY, "%.180s%s", l->s->no_nvml,
			 l->s->no_nvml_code == LS_NVML_NO_LIBRARY
				 ? "; --gpus 0 where none is expected"
				 : "");
	return l->s->has_nvml ? ls_look_known(l, l->s->n_gpus) : LS_SIGNAL_UNKNOWN;
}

enum ls_signal_state ls_signal_gpus_missing(const struct ls_look *l)
{
	int answer = 0;
	if (l->h->expected < 0)
		return ls_look_without(l, LS_SIGNAL_ABSENT,
				       "nobody said how many there should be (--gpus)");
	for (unsigned i = 0; i < l->s->n_gpus; i++)
		answer += l->s->gpus[i].lost == 0;
	snprintf(l->why, LS_SIGNAL_WHY, "%d of %d GPUs answer", answer, l->h->expected);
	return ls_look_known(l, l->h->expected - answer);
}

enum ls_signal_state ls_signal_host_memory(const struct ls_look *l)
{
	const struct ls_host *h = &l->s->host;
	if (!h->has_memory || !h->memory_total)
		return ls_look_without(l, LS_SIGNAL_ABSENT, "/proc/meminfo cannot be read");
	return ls_look_known(l, 100 - 100 * (double)h->memory_available / (double)h->memory_total);
}

enum ls_signal_state ls_signal_host_disk(const struct ls_look *l)
{
	const struct ls_host *h = &l->s->host;
	if (!h->has_disk || !h->disk_total)
		return ls_look_without(l, LS_SIGNAL_ABSENT,
				       "the filesystem does not tell its size");
	return ls_look_known(l, 100 - 100 * (double)h->disk_available / (double)h->disk_total);
}

/* --- jobs --- */

/* Fewer attempts say too little about a rate of 95 %. */
enum { LEAST_ATTEMPTS = 5 };

enum ls_signal_state ls_signal_job_success(const struct ls_look *l)
{
	const struct ls_jobs *j = &l->s->jobs;
	if (!j->asked)
		return ls_look_without(l, LS_SIGNAL_ABSENT, "no project is watched (--project)");
	if (!j->counted)
		return ls_look_without(l, LS_SIGNAL_UNKNOWN, j->why);
	snprintf(l->why, LS_SIGNAL_WHY, "%u of %u attempts that ended in a day succeeded", j->done,
		 j->ended);
	if (j->ended < LEAST_ATTEMPTS)
		return LS_SIGNAL_ABSENT;
	return ls_look_known(l, 100.0 * j->done / j->ended);
}

enum ls_signal_state ls_signal_throughput(const struct ls_look *l)
{
	const struct ls_jobs *j = &l->s->jobs;
	const struct ls_training_rate *r = ls_jobs_slowest(j);
	if (!j->n_rates)
		return ls_look_without(l, LS_SIGNAL_ABSENT,
				       j->asked ? "no experiment runs"
						: "no training is followed (--project, --log)");
	if (!r) {
		snprintf(l->why, LS_SIGNAL_WHY, "%.90s: %s", j->rates[0].name, j->rates[0].why);
		return LS_SIGNAL_ABSENT;
	}
	snprintf(l->why, LS_SIGNAL_WHY, "%.90s: %.4g/s, it has been %.4g/s", r->name, r->rate,
		 r->best);
	return ls_look_known(l, 100 * r->rate / r->best);
}

enum ls_signal_state ls_signal_exports_failed(const struct ls_look *l)
{
	const struct ls_export_counts *e = &l->s->jobs.exports;
	if (!e->asked)
		return ls_look_without(l, LS_SIGNAL_ABSENT, "no exports are followed (--exports)");
	if (!e->known)
		return ls_look_without(l, LS_SIGNAL_UNKNOWN, e->why);
	if (!e->files)
		return ls_look_without(l, LS_SIGNAL_ABSENT, "nothing was exported in a day");
	if (e->failed)
		snprintf(l->why, LS_SIGNAL_WHY, "%u of %u files of a day; %.80s: %.120s", e->failed,
			 e->files, e->file, e->error);
	else
		snprintf(l->why, LS_SIGNAL_WHY, "%u file%s in a day", e->files,
			 e->files == 1 ? "" : "s");
	return ls_look_known(l, e->failed);
}

enum ls_signal_state ls_signal_driver_changed(const struct ls_look *l)
{
	if (!*l->h->driver)
		return ls_look_without(l, LS_SIGNAL_ABSENT, "no driver was there at the begin");
	if (!*l->s->driver)
		return ls_look_without(l, LS_SIGNAL_UNKNOWN,
				       "the driver does not tell its version");
	snprintf(l->why, LS_SIGNAL_WHY, "%s: %.60s, now: %.60s",
		 l->h->driver_of_run ? "the run began with" : "at the monitor's start",
		 l->h->driver, l->s->driver);
	return ls_look_known(l, strcmp(l->h->driver, l->s->driver) != 0);
}

/* --- the spec --- */

/* What the driver says of one of the spec's checks; NULL: it is about something else. */
static const char *value_of(const struct ls_look *l, const char *key, const char *count)
{
	if (strcmp(key, "gpu_count") == 0)
		return count;
	if (strcmp(key, "driver_cuda") == 0 && *l->s->cuda)
		return l->s->cuda;
	return strcmp(key, "driver") == 0 && *l->s->driver ? l->s->driver : NULL;
}

static const char *mode(const struct ls_watch_gpu *g, enum ls_meter_id id)
{
	return !g->r.valid[id] ? NULL : g->r.value[id] ? "on" : "off";
}

static enum ls_match gpus_match(const struct ls_look *l, const struct ls_check *c, char *why,
				size_t size)
{
	struct ls_gpu_seen seen[LS_SAMPLE_GPUS] = {{0}};
	size_t n = 0;
	for (unsigned i = 0; i < l->s->n_gpus && n < LS_SAMPLE_GPUS; i++) {
		double memory = 0;
		ls_meter_value(&l->s->gpus[i].r, LS_METER_MEMORY_TOTAL, &memory);
		seen[n].name = *l->s->gpus[i].name ? l->s->gpus[i].name : NULL;
		seen[n].ecc = mode(&l->s->gpus[i], LS_METER_ECC_MODE);
		seen[n].mig = mode(&l->s->gpus[i], LS_METER_MIG_MODE);
		seen[n++].memory_mib = memory / (1 << 20);
	}
	return ls_gpuset_test(c->gpus, seen, n, why, size);
}

static bool differs(const struct ls_look *l, const struct ls_check *c, const char *count)
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
	if (strcmp(c->key, "driver_cuda") == 0)
		*l->advice = ls_checklist_step(l, "version-mismatch", "image");
	snprintf(l->why + len, LS_SIGNAL_WHY - len, "%s%.150s", len ? "; " : "", why);
	return true;
}

enum ls_signal_state ls_signal_spec_differs(const struct ls_look *l)
{
	char count[16];
	unsigned answer = 0, n = 0;
	if (!l->h->spec)
		return ls_look_without(l, LS_SIGNAL_ABSENT, "no spec was named (--spec)");
	if (!l->s->has_nvml)
		return ls_look_without(l, LS_SIGNAL_UNKNOWN, l->s->no_nvml);
	for (unsigned i = 0; i < l->s->n_gpus; i++)
		answer += l->s->gpus[i].lost == 0;
	snprintf(count, sizeof count, "%u", answer);
	for (size_t i = 0; i < l->h->spec->n_checks; i++)
		n += differs(l, &l->h->spec->checks[i], count);
	if (!n)
		snprintf(l->why, LS_SIGNAL_WHY, "%u GPUs and driver %.60s are the spec's", answer,
			 l->s->driver);
	return ls_look_known(l, n);
}
