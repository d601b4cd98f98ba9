/* lockstep exp resources: where an experiment could run now, and how. */
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/mem.h"
#include "cmd/exp.h"
#include "job/experiment.h"
#include "job/move.h"
#include "job/resources.h"

static const struct ls_opt resources_opts[] = {
	{"gpus", 0, "LIST", "as if these were free, such as H200:2,L40S:4, instead of looking"},
	LS_EXP_ID_OPT,
	{0},
};

static int given_places(const char *list, json_t *places, struct ls_err *err)
{
	char *text = ls_xstrdup(list), *save = NULL;
	int rc = 0;
	for (char *t = strtok_r(text, ",", &save); t && !rc; t = strtok_r(NULL, ",", &save)) {
		char *name = NULL;
		uint64_t n = 0;
		rc = ls_plan_parse_gpus(t, &name, &n, err);
		char *known = rc ? NULL : ls_move_gpu(name);
		if (!rc && !known)
			rc = ls_err_set(err, LS_EINPUT,
					"option --gpus: no GPU %s; `lockstep plan --list-gpus` has "
					"them all",
					name);
		if (!rc)
			json_array_append_new(
				places, json_pack("{s:s,s:n,s:s,s:I,s:I,s:I,s:i}", "where", "given",
						  "partition", "gpu", known, "free", (json_int_t)n,
						  "total", (json_int_t)n, "free_on_one_node",
						  (json_int_t)n, "nodes", 1));
		free(name);
		free(known);
	}
	free(text);
	return rc;
}

static void print_place(size_t number, const char *name, const json_t *p)
{
	const char *partition = ls_col_text(p, "partition"), *gpu = ls_col_text(p, "gpu");
	int64_t n = ls_col_int(p, "num_gpus", 0), nodes = ls_col_int(p, "nodes_needed", 1);
	bool same = json_is_true(json_object_get(p, "same_global_batch"));
	const json_t *w;
	size_t i;
	printf("%zu. %s - %lld GPU%s (%lld node%s)%s%s\n", number, gpu ? gpu : "unknown GPU",
	       (long long)n, n == 1 ? "" : "s", (long long)nodes, nodes == 1 ? "" : "s",
	       partition ? ", partition " : ", ",
	       partition                                       ? partition
	       : strcmp(ls_col_text(p, "where"), "local") == 0 ? "this machine"
							       : "as given");
	printf("   Batch Config: %s  %s\n", ls_col_text(p, "config"),
	       same ? "✓ Matches original" : "✗ Does not match the original");
	json_array_foreach(json_object_get(p, "warnings"), i, w)
		printf("   ⚠ %s\n", json_string_value(w));
	printf("   lockstep exp new NAME --like %s%s%s --num-gpus %lld%s", name,
	       partition ? " --partition " : "", partition ? partition : "", (long long)n,
	       same ? "\n" : "");
	if (!same)
		printf(" --batch-size %lld --accum %lld\n",
		       (long long)ls_col_int(p, "batch_size", 0),
		       (long long)ls_col_int(p, "accumulation", 1));
}

static void print_places(const json_t *row, const json_t *places, const json_t *notes)
{
	const json_t *p, *note;
	size_t i, n = 0;
	json_array_foreach(places, i, p)
	{
		if (ls_col_int(p, "num_gpus", 0)) {
			print_place(++n, ls_col_text(row, "name"), p);
			continue;
		}
		const char *partition = ls_col_text(p, "partition"), *gpu = ls_col_text(p, "gpu");
		printf("not now: %s%s%s: 0 of %lld GPUs are free\n",
		       partition ? partition : "this machine", gpu ? ", " : "", gpu ? gpu : "",
		       (long long)ls_col_int(p, "total", 0));
	}
	json_array_foreach(notes, i, note)
	{
		fputs("not known: ", stdout);
		ls_cmd_print_name(json_string_value(note));
		puts("");
	}
}

/* One without GPUs runs on processors. */
static int tell_processors(const json_t *row, const struct ls_args *args)
{
	if (ls_args_has(args, "json"))
		ls_cmd_print_json_take(json_pack("{s:O,s:[],s:i}", "name",
						 json_object_get(row, "name"), "places", "cpus",
						 ls_cpus()));
	else
		printf("%s needs no GPU: this machine has %d processors, and `lockstep worker` "
		       "runs it here\n",
		       ls_col_text(row, "name"), ls_cpus());
	return 0;
}

static int tell(const json_t *row, json_t *places, json_t *notes, const struct ls_args *args)
{
	bool any = ls_col_int(json_array_get(places, 0), "num_gpus", 0) > 0;
	if (ls_args_has(args, "json"))
		ls_cmd_print_json_take(json_pack("{s:O,s:O,s:O}", "name",
						 json_object_get(row, "name"), "places", places,
						 "unknown", notes));
	else
		print_places(row, places, notes);
	return any ? LS_EXIT_YES : json_array_size(places) ? LS_EXIT_NO : LS_EXIT_UNKNOWN;
}

static int resources(struct ls_store *s, const char *name, const struct ls_args *args)
{
	struct ls_err err = {0};
	json_t *row = NULL, *places = json_array(), *notes = json_array();
	int rc = ls_experiment_get(s, name, &row, &err), status = 0;
	bool gpus = !rc && ls_col_int(row, "num_gpus", 0) > 0;
	if (gpus && !ls_move_can(row))
		rc = ls_err_set(&err, LS_EINPUT,
				"%s has no batch size: it was made without --batch-size, so that "
				"nothing can be kept on other GPUs",
				name);
	if (!rc && gpus && ls_args_has(args, "gpus"))
		rc = given_places(ls_args_get(args, "gpus"), places, &err);
	else if (!rc && gpus)
		rc = ls_resources_find(s, places, notes, &err);
	if (!rc && gpus)
		rc = ls_resources_plan(row, places, &err);
	if (rc)
		status = ls_cmd_fail(&err);
	else
		status = gpus ? tell(row, places, notes, args) : tell_processors(row, args);
	json_decref(row);
	json_decref(places);
	json_decref(notes);
	return status;
}

static int run_resources(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	struct ls_store *s;
	const char *name = ls_exp_name("resources", args);
	int status = name ? ls_exp_open(&s) : LS_EXIT_INPUT;
	if (status)
		return status;
	status = resources(s, name, args);
	ls_store_close(s);
	return status;
}

const struct ls_cmd ls_cmd_exp_resources = {
	.name = "resources",
	.summary = "where an experiment could run now, with which batch, and what that changes",
	.synopsis = "[--gpus LIST] [--exp-id NAME] [NAME]",
	.details =
		"Looks at the GPUs of this machine and at Slurm's partitions, and plans the same "
		"training on those\n"
		"that are free: `lockstep plan` has the details. Exit status 1: nothing is free, "
		"3: "
		"no GPU is known.",
	.opts = resources_opts,
	.max_pos = 1,
	.run = run_resources,
};
