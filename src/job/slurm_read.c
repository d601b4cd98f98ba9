#include "job/slurm_read.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "job/row.h"
#include "job/slurm_tool.h"

#define SEP LS_SLURM_SEPARATOR

/* The comment is the last field, because that of other jobs may hold anything. */
static const char format[] = "%F" SEP "%K" SEP "%T" SEP "%r" SEP "%S" SEP "%P" SEP "%N" SEP "%k";

enum { JOB, TASK, STATE, REASON, START, PARTITION, NODES, COMMENT, FIELDS };

static const char *const waiting[] = {
	"PENDING",       "REQUEUED",     "REQUEUE_FED", "REQUEUE_HOLD",
	"RESV_DEL_HOLD", "SPECIAL_EXIT", NULL};
static const char *const over[] = {"BOOT_FAIL", "CANCELLED",     "COMPLETED",     "DEADLINE",
				   "FAILED",    "LAUNCH_FAILED", "NODE_FAIL",     "OUT_OF_MEMORY",
				   "PREEMPTED", "REVOKED",       "RECONFIG_FAIL", "TIMEOUT",
				   NULL};

static bool among(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(word, *list) == 0)
			return true;
	return false;
}

enum ls_slurm_class ls_slurm_class(const char *state)
{
	return among(state, over)      ? LS_SLURM_OVER
	       : among(state, waiting) ? LS_SLURM_WAITS
				       : LS_SLURM_RUNS;
}

/* A whole number from 0, or -1. */
static int64_t number(const char *text)
{
	uint64_t n;
	return ls_str_to_u64(text, 0, INT64_MAX, "", &n, NULL) ? -1 : (int64_t)n;
}

static void copy(char *to, size_t size, const char *from)
{
	struct ls_str text = {0};
	ls_str_add_printable(&text, from);
	snprintf(to, size, "%s", text.s ? text.s : "");
	ls_str_done(&text);
}

/* False: the line is not about one of our jobs. */
static bool parse_line(char *line, struct ls_slurm_job *ret)
{
	static const size_t prefix = sizeof LS_SLURM_COMMENT - 1;
	char *f[FIELDS];
	for (int i = 0; i < COMMENT; i++)
		if (!(f[i] = ls_slurm_field(&line)) || !line)
			return false;
	f[COMMENT] = line;
	if (!ls_str_starts(f[COMMENT], LS_SLURM_COMMENT) ||
	    strlen(f[COMMENT] + prefix) != LS_UUID_TEXT - 1)
		return false;
	bool array = strcmp(f[TASK], "N/A") != 0;
	*ret = (struct ls_slurm_job){.job = number(f[JOB]), .task = array ? number(f[TASK]) : -1};
	if (ret->job < 1 || (array && ret->task < 0) || !*f[STATE])
		return false;
	int64_t start = number(f[START]);
	ret->expected = start > 0 ? start : 0;
	copy(ret->uuid, sizeof ret->uuid, f[COMMENT] + prefix);
	copy(ret->state, sizeof ret->state, f[STATE]);
	copy(ret->reason, sizeof ret->reason, strcmp(f[REASON], "None") ? f[REASON] : "");
	copy(ret->partition, sizeof ret->partition, f[PARTITION]);
	copy(ret->nodes, sizeof ret->nodes, f[NODES]);
	return true;
}

static void append(struct ls_slurm_jobs *to, const struct ls_slurm_job *job)
{
	to->items = ls_grow(to->items, to->n, &to->cap, sizeof *to->items);
	to->items[to->n++] = *job;
}

void ls_slurm_jobs_parse(char *text, struct ls_slurm_jobs *ret)
{
	char *save = NULL;
	struct ls_slurm_job job;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (parse_line(line, &job))
			append(ret, &job);
}

int ls_slurm_jobs(struct ls_slurm_jobs *ret, struct ls_err *err)
{
	char user[32], *text = NULL;
	snprintf(user, sizeof user, "%u", (unsigned)getuid());
	/* -r: a line for each task of an array, also for those that its throttle holds
	 * back */
	int rc = ls_slurm_ask(
		(const char *[]){"squeue", "-h", "-r", "-t", "all", "-u", user, "-o", format, NULL},
		&text, err);
	if (!rc)
		ls_slurm_jobs_parse(text, ret);
	free(text);
	return rc;
}

/* --- accounting --- */

enum { ID, SUBMITTED, ENDED_AS, NAME, ACCOUNT_FIELDS };
enum { CLOCKS_DIFFER_S = 300 }; /* between this machine and the controller */

static void job_text(const json_t *row, char ret[64])
{
	int64_t job = ls_col_int(row, "job", 0), task = ls_col_int(row, "task", -1);
	if (task < 0)
		snprintf(ret, 64, "%lld", (long long)job);
	else
		snprintf(ret, 64, "%lld_%lld", (long long)job, (long long)task);
}

static bool is_row(const json_t *row, char *f[ACCOUNT_FIELDS])
{
	char id[64];
	const char *name = ls_col_text(row, "job_name");
	job_text(row, id);
	return strcmp(f[ID], id) == 0 && name && strcmp(f[NAME], name) == 0 &&
	       number(f[SUBMITTED]) + CLOCKS_DIFFER_S >= ls_col_int(row, "sent_s", INT64_MAX / 2);
}

static void take_account(char *line, const json_t *rows, struct ls_slurm_jobs *ret)
{
	char *f[ACCOUNT_FIELDS];
	const json_t *row;
	size_t i;
	for (int k = 0; k < ACCOUNT_FIELDS; k++)
		if (!(f[k] = ls_slurm_field(&line)))
			return;
	f[ENDED_AS][strcspn(f[ENDED_AS], " +")] = 0; /* "CANCELLED by 1000" */
	if (!among(f[ENDED_AS], over))
		return; /* a job that the accounting has lost sight of */
	json_array_foreach(rows, i, row)
	{
		const char *uuid = ls_col_text(row, "submission");
		if (!uuid || !is_row(row, f))
			continue;
		struct ls_slurm_job job = {.job = ls_col_int(row, "job", 0),
					   .task = ls_col_int(row, "task", -1)};
		copy(job.uuid, sizeof job.uuid, uuid);
		copy(job.state, sizeof job.state, f[ENDED_AS]);
		append(ret, &job);
	}
}

void ls_slurm_accounts_parse(char *text, const json_t *rows, struct ls_slurm_jobs *ret)
{
	char *save = NULL;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		take_account(line, rows, ret);
}

void ls_slurm_accounts(const json_t *rows, struct ls_slurm_jobs *ret)
{
	struct ls_str ids = {0};
	const json_t *row;
	char *text = NULL, id[64];
	size_t i;
	json_array_foreach(rows, i, row)
	{
		job_text(row, id);
		ls_str_addf(&ids, "%s%s", i ? "," : "", id);
	}
	static const char delimiter[] = "--delimiter=" SEP;
	if (ids.s && ls_slurm_ask((const char *[]){"sacct", "-n", "-X", "-P", delimiter, "-o",
						   "JobID,Submit,State,JobName", "-j", ids.s, NULL},
				  &text, NULL) == 0)
		ls_slurm_accounts_parse(text, rows, ret);
	free(text);
	ls_str_done(&ids);
}

void ls_slurm_jobs_done(struct ls_slurm_jobs *jobs)
{
	free(jobs->items);
	*jobs = (struct ls_slurm_jobs){0};
}

const struct ls_slurm_job *ls_slurm_find(const struct ls_slurm_jobs *jobs, const char *uuid,
					 int64_t task)
{
	for (size_t i = 0; i < jobs->n; i++)
		if (strcmp(jobs->items[i].uuid, uuid) == 0 && jobs->items[i].task == task)
			return &jobs->items[i];
	return NULL;
}
