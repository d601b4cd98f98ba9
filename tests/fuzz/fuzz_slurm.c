/* What Slurm's programs print: any text gives sums that make sense. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "job/row.h"
#include "job/slurm_partitions.h"
#include "job/slurm_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_gpus(const json_t *gpus)
{
	const json_t *g;
	size_t i;
	json_array_foreach(gpus, i, g)
	{
		int64_t total = ls_col_int(g, "total", -1), left = ls_col_int(g, "free", -1);
		if (left < 0 || left > total || ls_col_int(g, "free_on_one_node", -1) > left)
			abort();
	}
}

static void check_jobs(char *text)
{
	struct ls_slurm_jobs jobs = {0};
	ls_slurm_jobs_parse(text, &jobs);
	for (size_t i = 0; i < jobs.n; i++)
		if (jobs.items[i].job < 1 || jobs.items[i].task < -1 ||
		    strlen(jobs.items[i].uuid) != LS_UUID_TEXT - 1)
			abort();
	ls_slurm_jobs_done(&jobs);
}

static void check_accounts(char *text)
{
	struct ls_slurm_jobs jobs = {0};
	json_t *rows = json_pack("[{s:s,s:i,s:s,s:i}]", "submission",
				 "12345678-1234-1234-1234-123456789abc", "job", 7, "job_name",
				 "one", "sent_s", 1000);
	ls_slurm_accounts_parse(text, rows, &jobs);
	for (size_t i = 0; i < jobs.n; i++)
		if (ls_slurm_class(jobs.items[i].state) != LS_SLURM_OVER)
			abort();
	ls_slurm_jobs_done(&jobs);
	json_decref(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = ls_xstrndup((const char *)data, size);
	check_jobs(copy);
	free(copy);
	copy = ls_xstrndup((const char *)data, size);
	check_accounts(copy);
	free(copy);
	char *text = ls_xstrndup((const char *)data, size);
	json_t *list = ls_slurm_partitions_parse(text), *p;
	size_t i;
	json_array_foreach(list, i, p)
	{
		int64_t usable = ls_col_int(p, "usable_nodes", -1);
		if (ls_col_int(p, "idle_nodes", -1) > usable ||
		    usable > ls_col_int(p, "nodes", -1) || !ls_col_text(p, "partition"))
			abort();
		check_gpus(json_object_get(p, "gpus"));
	}
	json_decref(list);
	free(text);
	return 0;
}
