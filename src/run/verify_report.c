/* A verify told as JSON. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/verify.h"

static const char *const verdicts[] = {
	[LS_VERIFY_IDENTICAL] = "identical",
	[LS_VERIFY_DIFFERS] = "differs",
	[LS_VERIFY_FAILED] = "failed",
	[LS_VERIFY_UNHELD] = "policy not held",
	[LS_VERIFY_NOTHING] = "nothing to compare",
	[LS_VERIFY_INSENSIBLE] = "insensible to the seed",
	[LS_VERIFY_UNDECIDED] = "undecided",
	[LS_VERIFY_STOPPED] = "stopped",
};

static json_t *run_json(const struct ls_verify_run *r)
{
	char *manifest = ls_xasprintf("%s/run_manifest.json", r->out);
	json_t *o = json_pack("{s:s,s:I,s:o,s:o,s:i,s:b,s:f,s:o}", "label", r->label, "seed",
			      (json_int_t)r->seed, "vary", ls_json_lossy(r->vars), "out",
			      ls_json_lossy(r->out), "status", r->result.child.status, "held",
			      r->result.held, "wall_s", r->result.child.wall_s, "manifest",
			      ls_json_lossy(manifest));
	free(manifest);
	json_object_set_new(o, "last_lines", r->tail ? ls_json_lossy(r->tail) : json_null());
	return o;
}

json_t *ls_verify_json(const struct ls_verify *v)
{
	json_t *runs = json_array(), *comparisons = json_array();
	struct ls_str second = {0};
	for (size_t i = 0; i < v->n_runs; i++)
		json_array_append_new(runs, run_json(&v->runs[i]));
	for (size_t i = 0; i < v->n_comparisons; i++)
		json_array_append_new(comparisons, ls_comparison_json(v->comparisons[i]));
	ls_verify_second_verdict(v, &second);
	json_t *tolerance = second.len ? ls_json_lossy(second.s) : json_null();
	ls_str_done(&second);
	return json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "verdict", verdicts[v->verdict],
			 "sentence", ls_json_lossy(v->sentence), "tolerance", tolerance, "dir",
			 ls_json_lossy(v->dir), "runs", runs, "comparisons", comparisons, "control",
			 v->control ? ls_comparison_json(v->control) : json_null(), "parting",
			 ls_parting_json(&v->parting), "bisect_note",
			 v->bisect_note ? ls_json_lossy(v->bisect_note) : json_null());
}
