#include "job/slurm_explain.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "job/slurm_read.h"
#include "job/slurm_words.h"
#include "job/sql.h"

static void add(json_t *reasons, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(json_t *reasons, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	json_array_append_new(reasons, json_vsprintf(fmt, ap));
	va_end(ap);
}

/* Slurm's estimate, which changes with every job that comes or ends. */
static void add_start(const struct ls_slurm_job *job, json_t *reasons)
{
	time_t start = (time_t)job->expected;
	struct tm tm;
	char text[64];
	if (!job->expected || !gmtime_r(&start, &tm))
		return;
	strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &tm);
	add(reasons, "Slurm expects to start it at %s", text);
}

static void explain_job(const struct ls_slurm_job *job, json_t *reasons)
{
	const char *words = ls_slurm_reason(*job->reason ? job->reason : "None");
	char task[32] = "";
	if (job->task >= 0)
		snprintf(task, sizeof task, "_%lld", (long long)job->task);
	add(reasons, "Slurm job %lld%s in partition %s is %s%s%s", (long long)job->job, task,
	    job->partition, job->state, *job->reason ? ": " : "", job->reason);
	if (ls_slurm_class(job->state) != LS_SLURM_WAITS)
		return;
	if (words)
		add(reasons, "%s", words);
	else
		add(reasons, "`scontrol show job %lld` says more", (long long)job->job);
	add_start(job, reasons);
}

int ls_slurm_explain(struct ls_store *s, const json_t *row, json_t *reasons, struct ls_err *err)
{
	json_t *slurm = NULL;
	struct ls_slurm_jobs jobs = {0};
	struct ls_err why = {0};
	int rc = ls_sql_one(s, &slurm, err, "SELECT uuid, task FROM slurm WHERE experiment = ?",
			    "i", ls_col_int(row, "id", 0));
	if (rc)
		return rc;
	const char *uuid = ls_col_text(slurm, "uuid");
	if (!uuid)
		add(reasons, "it was not given to Slurm yet: another `lockstep exp` is about it");
	bool silent = uuid && ls_slurm_jobs(&jobs, &why);
	if (silent)
		add(reasons, "unknown: Slurm does not answer (%s)", why.msg);
	const struct ls_slurm_job *job =
		uuid ? ls_slurm_find(&jobs, uuid, ls_col_int(slurm, "task", -1)) : NULL;
	if (job)
		explain_job(job, reasons);
	else if (!silent && ls_col_text(row, "reason"))
		add(reasons, "%s", ls_col_text(row, "reason"));
	ls_slurm_jobs_done(&jobs);
	json_decref(slurm);
	return 0;
}
