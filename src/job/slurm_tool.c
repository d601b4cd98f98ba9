#include "job/slurm_tool.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/proc.h"

/* A controller that restarts answers within this time; the programs try again until then.
 */
#define ANSWER_S 60.0

enum { KEPT = 16 << 20 }; /* by ls_proc_run: more may have been cut off */

/* What would hide or rearrange jobs and nodes, and what would override the directives
 * that a script has (SBATCH_… comes before #SBATCH). */
static const char *const taken_away[] = {
	"SQUEUE_ACCOUNT",   "SQUEUE_ALL",      "SQUEUE_ARRAY",    "SQUEUE_FORMAT",
	"SQUEUE_FORMAT2",   "SQUEUE_LICENSES", "SQUEUE_LOCAL",    "SQUEUE_NAMES",
	"SQUEUE_PARTITION", "SQUEUE_PRIORITY", "SQUEUE_QOS",      "SQUEUE_SORT",
	"SQUEUE_STATES",    "SQUEUE_USERS",    "SINFO_ALL",       "SINFO_FORMAT",
	"SINFO_PARTITION",  "SINFO_SORT",      "SACCT_FORMAT",    "SCONTROL_ALL",
	"SBATCH_ARRAY_INX", "SBATCH_COMMENT",  "SBATCH_JOB_NAME", "SBATCH_NO_REQUEUE",
	"SBATCH_OPEN_MODE", "SBATCH_OUTPUT",   "SBATCH_REQUEUE",  "SBATCH_WAIT",
};

bool ls_slurm_installed(void)
{
	char *path = ls_proc_find("squeue");
	free(path);
	return path != NULL;
}

/* `env -u …` in front of the words; the caller frees the list, not the words. */
static const char **with_env(const char *const *argv)
{
	enum { N = sizeof taken_away / sizeof *taken_away };
	size_t words = 0, n = 0;
	while (argv[words])
		words++;
	const char **all = ls_xalloc((2 * N + words + 3) * sizeof *all);
	all[n++] = "env";
	for (size_t i = 0; i < N; i++) {
		all[n++] = "-u";
		all[n++] = taken_away[i];
	}
	all[n++] = "SLURM_TIME_FORMAT=%s";
	memcpy(all + n, argv, words * sizeof *all);
	return all;
}

/* What the program complained of, on one line: the first line that says anything. */
static int complain(const char *program, const struct ls_proc_result *r, struct ls_err *err)
{
	const char *said = r->err.s ? r->err.s : r->out.s ? r->out.s : "";
	struct ls_str line = {0};
	size_t own = strlen(program); /* it says its name itself */
	said += strspn(said, " \n");
	if (strncmp(said, program, own) == 0 && said[own] == ':')
		said += own + 1 + strspn(said + own + 1, " ");
	char *first = ls_xstrndup(said, strcspn(said, "\n"));
	ls_str_add_printable(&line, first);
	if (r->timed_out)
		ls_err_set(err, LS_EUNKNOWN, "%s: no answer from Slurm within %.0f s", program,
			   ANSWER_S);
	else
		ls_err_set(err, LS_EUNKNOWN, "%s: %.500s", program,
			   line.len ? line.s : "failed without a word");
	ls_str_done(&line);
	free(first);
	return LS_EUNKNOWN;
}

int ls_slurm_ask(const char *const *argv, char **ret, struct ls_err *err)
{
	char *path = ls_proc_find(argv[0]);
	if (!path)
		return ls_err_set(err, LS_EUNKNOWN,
				  "%s is not on PATH: there is no Slurm on this machine", argv[0]);
	const char **all = with_env(argv);
	struct ls_proc_result r = {0};
	int rc = ls_proc_run(all, ANSWER_S, &r, err);
	if (!rc && (r.status != 0 || r.timed_out))
		rc = complain(argv[0], &r, err);
	else if (!rc && r.out.len >= KEPT)
		rc = ls_err_set(err, LS_EUNKNOWN, "%s: the answer has more than %d MiB", argv[0],
				KEPT >> 20);
	if (!rc)
		*ret = ls_str_take(&r.out);
	ls_proc_result_done(&r);
	free(all);
	free(path);
	return rc;
}

char *ls_slurm_field(char **line)
{
	char *field = *line;
	if (!field)
		return NULL;
	char *end = strchr(field, LS_SLURM_SEPARATOR[0]);
	if (end)
		*end++ = 0;
	*line = end;
	return field;
}
