#include "fm/model/engine.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cpus.h"
#include "base/mem.h"
#include "fm/cpu/cpu.h"

struct on_cpu {
	struct ls_fm_model *m;
	struct ls_pool *pool;
	struct ls_cpu *cpu;
};

static int cpu_steps(void *state, uint64_t first, uint64_t n, double *loss, struct ls_err *err)
{
	const struct on_cpu *s = state;
	return ls_cpu_steps(s->cpu, first, n, loss, err);
}

static int cpu_predict(void *state, const struct ls_rows *rows, float *ret_score,
		       struct ls_err *err)
{
	const struct on_cpu *s = state;
	return ls_cpu_predict(s->m, rows, s->pool, ret_score, err);
}

static int cpu_fetch(void *state, struct ls_err *err)
{
	(void)state;
	(void)err;
	return 0;
}

static int cpu_at_work(const void *state)
{
	const struct on_cpu *s = state;
	return ls_cpu_at_work(s->cpu);
}

static void cpu_free(void *state)
{
	struct on_cpu *s = state;
	ls_cpu_free(s->cpu);
	free(s);
}

int ls_engine_cpu(struct ls_fm_model *m, const struct ls_rows *rows, struct ls_pool *pool,
		  const char *isa, struct ls_engine *ret, struct ls_err *err)
{
	struct ls_cpu *cpu = NULL;
	int rc = !rows ? 0 : ls_cpu_new(m, rows, pool, isa, &cpu, err);
	if (rc)
		return rc;
	struct on_cpu *s = ls_xalloc(sizeof *s);
	*s = (struct on_cpu){m, pool, cpu};
	int threads = ls_pool_threads(pool), busy = threads < ls_cpus() ? threads : ls_cpus();
	*ret = (struct ls_engine){.state = s,
				  .steps = cpu_steps,
				  .predict = cpu_predict,
				  .fetch = cpu_fetch,
				  .at_work = cpu ? cpu_at_work : NULL,
				  .free = cpu_free,
				  .stretch_rows = (uint64_t)busy << 15};
	snprintf(ret->name, sizeof ret->name, "cpu, %d thread%s, %s", threads,
		 threads == 1 ? "" : "s", cpu ? ls_cpu_isa(cpu) : "predicting");
	return 0;
}
