/* lockstep monitor probe: exact arithmetic on each GPU, against digests that are
 * known. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/gpu.h"
#include "cmd/monitor.h"
#include "watch/probe_cuda.h"

enum { MEMORY = 1 << 30 /* bytes that the pattern goes through */ };
static const double seconds = 1; /* a GPU */

struct answer {
	int gpu;
	char name[96];
	enum ls_health health;
	struct ls_probe_result r;
	char text[400];
};

/* How many programs use the GPU, or any GPU where the numbers of CUDA and of the driver
 * may differ; -1: the driver does not tell. */
static int programs_on(const struct ls_sample *s, int gpu)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	int n = 0;
	for (unsigned i = 0; i < s->n_gpus; i++) {
		if (!visible && (int)i != gpu)
			continue;
		if (!s->gpus[i].processes_known)
			return -1;
		n += (int)s->gpus[i].n_processes;
	}
	return s->has_nvml && (visible || gpu < (int)s->n_gpus) ? n : -1;
}

static bool may_run(const struct ls_monitor *m, const struct ls_sample *s, struct answer *a)
{
	int n = programs_on(s, a->gpu);
	if (n == 0 || ls_args_has(m->args, "beside-jobs"))
		return true;
	if (n < 0)
		snprintf(a->text, sizeof a->text,
			 "the driver does not say whether a program uses it; --beside-jobs probes "
			 "it all the same");
	else
		snprintf(a->text, sizeof a->text,
			 "%d program%s; --beside-jobs probes it all the same", n,
			 n == 1 ? " uses it" : "s use it");
	return false;
}

static void tell(struct answer *a)
{
	const struct ls_probe_result *r = &a->r;
	bool wrong = r->wrong || r->memory_wrong;
	a->health = wrong ? LS_HEALTH_CRITICAL : LS_HEALTH_OK;
	if (!wrong)
		snprintf(a->text, sizeof a->text, "%lu products and %llu MiB of memory are right",
			 r->products, (unsigned long long)(r->memory >> 20));
	else
		snprintf(a->text, sizeof a->text,
			 "%lu of %lu products are wrong, the pattern in memory is %s; do not use "
			 "it: results are silently wrong. Reset it and probe it again; then have "
			 "it replaced",
			 r->wrong, r->products, r->memory_wrong ? "wrong" : "right");
}

static void probe_one(const struct ls_monitor *m, const struct ls_sample *s,
		      const struct ls_kernels_conf *conf, struct answer *a)
{
	struct ls_gpu *gpu;
	struct ls_err err = {0};
	a->health = LS_HEALTH_UNKNOWN;
	if (!may_run(m, s, a))
		return;
	int rc = ls_gpu_open(NULL, a->gpu, &gpu, &err);
	if (!rc) {
		snprintf(a->name, sizeof a->name, "%s", ls_gpu_info(gpu)->name);
		rc = ls_probe_cuda(gpu, conf, LS_PROBE_FULL, seconds, MEMORY, &a->r, &err);
		ls_gpu_close(gpu);
	}
	if (rc)
		snprintf(a->text, sizeof a->text, "%.390s", err.msg);
	else
		tell(a);
}

static json_t *answer_json(const struct answer *a)
{
	json_t *o =
		json_pack("{s:i,s:s,s:o,s:I,s:I,s:I,s:b}", "gpu", a->gpu, "health",
			  ls_health_name(a->health), "evidence", ls_json_lossy(a->text), "products",
			  (json_int_t)a->r.products, "wrong", (json_int_t)a->r.wrong, "memory",
			  (json_int_t)a->r.memory, "memory_wrong", a->r.memory_wrong);
	json_object_set_new(o, "name", *a->name ? ls_json_lossy(a->name) : json_null());
	return o;
}

static enum ls_health worse(enum ls_health a, enum ls_health b)
{
	if (a == LS_HEALTH_CRITICAL || b == LS_HEALTH_CRITICAL)
		return LS_HEALTH_CRITICAL;
	return a == LS_HEALTH_UNKNOWN || b == LS_HEALTH_UNKNOWN ? LS_HEALTH_UNKNOWN : LS_HEALTH_OK;
}

static enum ls_health probe_all(const struct ls_monitor *m, const struct ls_sample *s, int n,
				json_t *list)
{
	enum ls_health worst = LS_HEALTH_OK;
	struct ls_cmd_gpu places = {0};
	ls_cmd_gpu_init(&places);
	for (int i = 0; i < n; i++) {
		struct answer a = {.gpu = i};
		probe_one(m, s, &places.conf, &a);
		worst = worse(worst, a.health);
		if (list)
			json_array_append_new(list, answer_json(&a));
		else
			printf("%-8s GPU %d%s%s%s: %s\n", ls_health_name(a.health), i,
			       *a.name ? " (" : "", a.name, *a.name ? ")" : "", a.text);
	}
	ls_cmd_gpu_done(&places);
	return worst;
}

enum ls_health ls_monitor_probe(struct ls_monitor *m)
{
	int n = 0, driver;
	struct ls_sample s;
	struct ls_err err = {0};
	enum ls_health worst = LS_HEALTH_UNKNOWN;
	bool json = ls_args_has(m->args, "json");
	json_t *list = json ? json_array() : NULL;
	/* CUDA counts as the driver's tools do. */
	setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
	ls_sampler_take(m->sampler, ls_monitor_now(), ls_monitor_steady(), &s);
	int rc = ls_gpu_count(NULL, &n, &driver, &err);
	if (!rc && n > 0)
		worst = probe_all(m, &s, n, list);
	ls_sample_done(&s);
	const char *why = rc ? err.msg : n ? NULL : "there is no GPU";
	if (json)
		ls_cmd_print_json_take(json_pack("{s:s,s:o,s:o}", "health", ls_health_name(worst),
						 "gpus", list, "no_gpu_because",
						 why ? ls_json_lossy(why) : json_null()));
	else if (why)
		printf("unknown  %s\n", why);
	return worst;
}
