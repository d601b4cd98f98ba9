#include "job/move.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "job/row.h"

/* --- the kind of GPU --- */

static const struct ls_gpu_model *find_in(const struct ls_gpu_catalog *c, const char *text)
{
	const struct ls_gpu_model *m = NULL;
	if (!ls_gpu_catalog_find(c, text, &m, NULL))
		return m;
	char *copy = ls_xstrdup(text), *save = NULL;
	for (char *t = strtok_r(copy, "_-.", &save); t && !m; t = strtok_r(NULL, "_-.", &save))
		if (strlen(t) > 1 && ls_gpu_catalog_find(c, t, &m, NULL))
			m = NULL;
	free(copy);
	return m;
}

char *ls_move_gpu(const char *text)
{
	struct ls_gpu_catalog *c = NULL;
	if (!text || ls_gpu_catalog_load(&c, NULL))
		return NULL;
	const struct ls_gpu_model *m = find_in(c, text);
	char *name = m ? ls_xstrdup(m->name) : NULL;
	ls_gpu_catalog_free(c);
	return name;
}

/* --- the plan --- */

bool ls_move_can(const json_t *base)
{
	return ls_col_int(base, "num_gpus", 0) > 0 && ls_col_int(base, "batch_size", 0) > 0;
}

static uint64_t count_of(const json_t *base, const char *key)
{
	int64_t v = ls_col_int(base, key, 0);
	return v > 0 ? (uint64_t)v : 0;
}

int ls_move_plan(const json_t *base, const char *gpu, uint64_t count, struct ls_plan **ret,
		 struct ls_err *err)
{
	const char *precision = ls_col_text(base, "precision");
	char *from = ls_move_gpu(ls_col_text(base, "partition"));
	struct ls_plan_ask ask = {
		.from = {from, count_of(base, "num_gpus")},
		.to = {gpu, count},
		.batch = count_of(base, "batch_size"),
		.accum = count_of(base, "accumulation"),
		.samples = count_of(base, "samples"),
		.warmup_epochs = -1,
		.warmup_steps = count_of(base, "warmup_steps"),
		.total_steps = count_of(base, "total_steps"),
		.precision = precision ? ls_precision_of(precision) : 0,
		.tf32 = -1,
	};
	int rc = ls_plan_make(&ask, ret, err);
	free(from);
	return rc;
}

int ls_move_apply(const struct ls_plan *p, json_t *design, struct ls_err *err)
{
	const struct ls_plan_layout *best = &p->options[0].layout;
	char text[LS_PLAN_LAYOUT_TEXT];
	if (!p->exact) {
		ls_plan_layout_text(best, text);
		return ls_err_set(
			err, LS_EINPUT,
			"%llu GPUs cannot share a global batch of %llu; the nearest is "
			"%s, which is another training: say so with --batch-size, or take "
			"another number of GPUs (`lockstep plan`)",
			(unsigned long long)best->ranks,
			(unsigned long long)p->baseline.layout.global, text);
	}
	json_object_set_new(design, "batch_size", json_integer((json_int_t)best->batch));
	json_object_set_new(design, "accumulation", json_integer((json_int_t)best->accum));
	return 0;
}

/* --- warnings --- */

static void warn(json_t *to, const char *risk, const char *text)
{
	char *line = ls_xasprintf("%s: %s", risk, text);
	json_array_append_new(to, ls_json_lossy(line));
	free(line);
}

static void warn_changed(const json_t *base, const json_t *design, const char *key,
			 const char *what, const char *why, json_t *to)
{
	int64_t was = ls_col_int(base, key, 0), now = ls_col_int(design, key, 0);
	if (was == now || was == 0)
		return;
	char *text = now ? ls_xasprintf("%s %lld and not %lld: %s", what, (long long)now,
					(long long)was, why)
			 : ls_xasprintf("%s not known and was %lld: %s", what, (long long)was, why);
	warn(to, "high risk", text);
	free(text);
}

/* What is about batches that were left as they were does not hold for this design. */
static bool applies(const struct ls_plan_finding *f)
{
	static const char *const not_here[] = {"unchanged", "global_batch", "learning_rate",
					       "fewer_gpus"};
	for (size_t i = 0; i < sizeof not_here / sizeof *not_here; i++)
		if (strncmp(f->what, not_here[i], strlen(not_here[i])) == 0)
			return false;
	return f->risk <= LS_RISK_MEDIUM || strcmp(f->what, "gpu") == 0;
}

void ls_move_warn(const struct ls_plan *p, const json_t *base, const json_t *design, json_t *to)
{
	warn_changed(base, design, "global_batch", "the global batch is",
		     "other gradients, another training; its learning rate may not fit", to);
	warn_changed(base, design, "total_steps",
		     "the training has steps:", "another length and schedule", to);
	warn_changed(base, design, "warmup_steps", "the warm-up has steps:", "another schedule",
		     to);
	for (size_t i = 0; i < p->n_findings; i++) {
		const struct ls_plan_finding *f = &p->findings[i];
		if (!applies(f))
			continue;
		char *risk = ls_xasprintf("%s risk", ls_risk_name(f->risk));
		warn(to, risk, f->text);
		free(risk);
	}
}
