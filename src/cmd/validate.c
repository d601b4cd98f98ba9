/* lockstep validate: the proof, on the machine it runs on, in one command. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "cmd/cmd.h"
#include "cmd/gpu.h"
#include "cmd/progress.h"
#include "cmd/validate.h"
#include "cmd/validate_scratch.h"
#include "cmd/version.h"
#include "env/gather/gather.h"
#include "lockstep.h"

static const struct ls_opt opts[] = {
	{"device", 0, "cpu|cuda[:N]",
	 "cuda: the CPU and every CUDA device (default); cuda:N: the CPU and that one; cpu: the "
	 "CPU alone"},
	{"quick", 0, NULL, "a small grid, under two minutes (default)"},
	{"full", 0, NULL, "the full grid: every optimizer, 39 features a row, a million features"},
	{"output", 'o', "REPORT.md",
	 "write the Markdown report to a file (default: standard output)"},
	{0},
};

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
	stop_signal = number;
}

/* All that one call of the command has open. */
struct session {
	bool full, json;
	const char *output;
	struct ls_validate_cells cells;
	struct ls_validate_ways ways;
	struct ls_facts *facts;
	struct ls_writer *writer;
	struct ls_progress progress;
	struct ls_validate_scratch scratch;
	struct ls_val *val;
	char created[32];
};

static void tell(void *context, size_t done, size_t total, const char *what)
{
	struct session *s = context;
	ls_progress_show(&s->progress, done, total, what, what);
}

/* --- facts --- */

/* What only this program knows about itself; src/env knows the machine. */
static void own_facts(struct session *s)
{
	char numerics[16];
	snprintf(numerics, sizeof numerics, "%d", ls_numerics_version());
	ls_facts_set(s->facts, "lockstep", LS_VERSION, "this program");
	ls_facts_set(s->facts, "compiler", ls_cmd_compiler(), "this program");
	ls_facts_set(s->facts, "numerics_version", numerics, "this program");
	ls_cmd_gpu_fact(s->facts);
	if (*ls_build_commit)
		ls_facts_set(s->facts, "commit", ls_build_commit,
			     "git, when this program was built");
	else
		ls_facts_unknown(s->facts, "commit", "this program",
				 "it was not built from a git checkout");
}

static void cuda_fact(struct session *s)
{
	const char *driver = ls_facts_value(s->facts, "driver"),
		   *name = ls_facts_gpu_value(s->facts, 0, "name");
	struct ls_str text = {0};
	if (s->ways.devices > 0)
		ls_str_addf(&text, "yes: %d device%s, %s, driver %s", s->ways.devices,
			    s->ways.devices == 1 ? "" : "s", name ? name : "name unknown",
			    driver ? driver : "unknown");
	else
		ls_str_addf(&text, "no: %s", s->ways.no_cuda ? s->ways.no_cuda : "not asked for");
	ls_facts_set(s->facts, "has_cuda", text.s, "libcuda.so.1");
	ls_str_done(&text);
}

static int gather(struct session *s, struct ls_err *err)
{
	struct ls_gather how = {.env = (const char *const *)environ,
				.root = getenv("LOCKSTEP_ROOT")};
	int rc = ls_gather(&how, &s->facts, err);
	if (rc)
		return rc;
	own_facts(s);
	cuda_fact(s);
	return 0;
}

/* The time, or what SOURCE_DATE_EPOCH says, as in other reports. */
static void timestamp(char *ret, size_t size)
{
	const char *fixed = getenv("SOURCE_DATE_EPOCH");
	time_t now = fixed && *fixed ? (time_t)strtoll(fixed, NULL, 10) : time(NULL);
	struct tm tm;
	if (!gmtime_r(&now, &tm) || !strftime(ret, size, "%Y-%m-%dT%H:%M:%SZ", &tm))
		ret[0] = 0;
}

/* --- beginning and end --- */

/* The report's file is opened first: a name that cannot be written must not cost minutes
 * of work. */
static int prepare(struct session *s, const struct ls_args *args, struct ls_err *err)
{
	int rc = ls_validate_ways_open(ls_args_get(args, "device"), s->full, &s->ways, err);
	if (rc == 0)
		rc = ls_validate_cells_open(s->ways.choice[0].threads, &s->cells, err);
	if (rc == 0 && s->output)
		rc = ls_writer_open(s->output, &s->writer, err);
	if (rc == 0)
		rc = gather(s, err);
	ls_cmd_on_stop(on_signal); /* before there is a folder to leave behind */
	if (rc == 0)
		rc = ls_validate_scratch_open(&s->scratch, err);
	timestamp(s->created, sizeof s->created);
	return rc;
}

static int validate(struct session *s, struct ls_err *err)
{
	struct ls_val_plan plan = {.ways = s->ways.ways,
				   .n_ways = s->ways.n,
				   .golden = s->cells.cells,
				   .n_golden = s->cells.n,
				   .small = s->cells.small,
				   .size = s->full ? ls_val_full() : ls_val_quick(),
				   .scratch = s->scratch.path,
				   .tell = tell,
				   .context = s,
				   .stop = &stop_signal};
	ls_progress_start(&s->progress, true, false);
	int rc = ls_val_run(&plan, &s->val, err);
	ls_progress_clear(&s->progress);
	return rc;
}

static void print_checklist(const struct ls_validate_report *r)
{
	struct ls_validate_item items[LS_VALIDATE_ITEMS];
	ls_validate_checklist(r, items);
	for (int i = 0; i < LS_VALIDATE_ITEMS; i++)
		printf("%-8s %s: %s\n", ls_val_state_name(items[i].state), items[i].title,
		       items[i].detail);
	printf("%s\n", ls_validate_verdict(r));
}

static int publish(struct session *s, const struct ls_validate_report *r, struct ls_err *err)
{
	struct ls_str text = {0};
	int rc = 0;
	ls_validate_markdown(r, &text);
	if (s->writer) {
		rc = ls_writer_write(s->writer, text.s, text.len, err);
		if (rc == 0) {
			rc = ls_writer_commit(s->writer, err);
			s->writer = NULL;
		}
	}
	if (rc == 0 && s->json)
		ls_cmd_print_json_take(ls_validate_json(r));
	else if (rc == 0 && s->output)
		print_checklist(r);
	else if (rc == 0)
		fputs(text.s, stdout);
	ls_str_done(&text);
	return rc;
}

static void session_done(struct session *s)
{
	ls_writer_abort(s->writer);
	ls_validate_scratch_close(&s->scratch);
	ls_val_free(s->val);
	ls_facts_free(s->facts);
	ls_validate_cells_close(&s->cells);
	ls_validate_ways_close(&s->ways);
}

static int run(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct session s = {.full = ls_args_has(args, "full"),
			    .json = ls_args_has(args, "json"),
			    .output = ls_args_get(args, "output")};
	struct ls_err err = {0};
	int status = LS_EXIT_INTERNAL;
	if (s.full && ls_args_has(args, "quick"))
		return ls_cmd_usage("validate: --quick or --full, not both");
	int rc = prepare(&s, args, &err);
	if (rc == 0)
		rc = validate(&s, &err);
	if (rc == 0) {
		struct ls_validate_report report = {s.val, &s.ways, s.facts, s.full, s.created};
		rc = publish(&s, &report, &err);
		status = ls_validate_status(&report);
	}
	if (rc)
		status = ls_cmd_fail(&err);
	session_done(&s);
	return rc == LS_EINTR ? 128 + (int)stop_signal : status;
}

const struct ls_cmd ls_cmd_validate = {
	.name = "validate",
	.summary = "prove that this machine computes the same bytes as every other",
	.synopsis = "[--device cpu|cuda[:N]] [--quick|--full] [-o REPORT.md]",
	.details = "Trains every cell of the golden table on each device and thread count that is "
		   "here, repeats a\n"
		   "training with the same and with another seed, moves trainings between devices, "
		   "and writes a\n"
		   "report for a pull request.\n"
		   "0: all passed and none skipped; 1: something differs; 3: the GPU part could "
		   "not run.",
	.opts = opts,
	.run = run,
};
