/* lockstep verify: run it again, and see whether the same bits come out. */
#include <stdlib.h>
#include <string.h>

#include "api/tables.h"
#include "base/file.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/runopts.h"
#include "cmd/verify_seeds.h"
#include "run/verify.h"

static const struct ls_opt opts[] = {
	{"runs", 'n', "N", "how often to run (default 2)"},
	LS_POLICY_OPTS,
	{"vary", 0, "NAME=A,B", "alternate a variable between the runs; may be repeated"},
	{"control", 0, "seed", "one more run with another seed, which must give other bits"},
	{"bisect", 0, NULL,
	 "when runs differ, trace two and name the operation at which they part"},
	{"collect", 0, "PATH", "what COMMAND writes elsewhere than under {out}; may be repeated"},
	{"strict", 0, NULL, "fail also when the program undid a setting"},
	LS_TOLERANCE_OPT,
	{"html", 0, "FILE", "write the page here too (it is always in the folder of the runs)"},
	{"markdown", 0, "FILE", "also write the result for a pull request"},
	{"out", 'o', "DIR",
	 "folder for the runs, which get a new number in it (default artifacts/verify)"},
	{"ignore", 0, "GLOB", "names of files, tensors and values not to compare; may be repeated"},
	{"input", 0, "PATH",
	 "a file or folder whose digest goes into the manifests; may be repeated"},
	LS_SEEDS_OPTS,
	{"show-output", 0, NULL, "show what the runs print instead of keeping it in a log"},
	{0},
};

static void print_line(void *ctx, const char *line)
{
	(void)ctx;
	fprintf(stderr, "%s\n", line);
}

static void print_notices(const struct ls_verify *v)
{
	for (size_t i = 0; i < v->n_runs; i++) {
		char *save = NULL, *text = v->runs[i].result.notices.s;
		for (char *l = text ? strtok_r(text, "\n", &save) : NULL; l;
		     l = strtok_r(NULL, "\n", &save))
			fprintf(stderr, "%s: %s\n", v->runs[i].label, l);
	}
}

static void print_parting(const struct ls_verify *v)
{
	const struct ls_parting *p = &v->parting;
	printf("they part at %s\n  operation %llu, %s: %s\n  trace1 has %s\n  %s has %s\n",
	       p->where, (unsigned long long)p->at, p->name, p->explanation, p->a,
	       v->runs[v->n_runs - 1].label, p->b);
	char *stack = ls_xstrdup(p->stack), *save = NULL;
	for (char *f = strtok_r(stack, "\n", &save); f; f = strtok_r(NULL, "\n", &save))
		printf("    %s\n", f);
	free(stack);
}

static void print_second_verdict(const struct ls_verify *v)
{
	struct ls_str s = {0};
	ls_verify_second_verdict(v, &s);
	if (s.len)
		printf("%s\n", s.s);
	ls_str_done(&s);
}

static void print_text(const struct ls_verify *v)
{
	bool yes = v->verdict == LS_VERIFY_IDENTICAL;
	if (v->verdict == LS_VERIFY_FAILED)
		ls_verify_print_tail(v->runs[v->n_runs - 1].tail);
	for (size_t i = 0; i < v->n_comparisons; i++) {
		struct ls_str s = {0};
		if (v->comparisons[i]->differs) {
			ls_comparison_text(v->comparisons[i], 20, &s);
			fputs(s.s, stdout);
		}
		ls_str_done(&s);
	}
	if (v->parting.kind != LS_PART_NONE)
		print_parting(v);
	if (v->bisect_note)
		printf("bisect: %s\n", v->bisect_note);
	printf("%s%s%s\n", ls_cmd_colour(stdout, yes ? "green" : "red"), v->sentence,
	       ls_cmd_colour(stdout, "off"));
	print_second_verdict(v);
	printf("%s/verify.html\n", v->dir);
}

/* The pages in the folder of the runs, and those that options name. */
static int write_reports(const struct ls_verify *v, const struct ls_args *args, struct ls_err *err)
{
	const char *html = ls_args_get(args, "html"), *markdown = ls_args_get(args, "markdown");
	struct ls_str page = {0}, copy = {0}, text = {0};
	char *path = ls_xasprintf("%s/verify.html", v->dir),
	     *json_path = ls_xasprintf("%s/verify.json", v->dir);
	json_t *doc = ls_verify_json(v);
	ls_verify_html(v, true, &page);
	ls_verify_html(v, false, &copy);
	ls_verify_markdown(v, &text);
	int rc = ls_file_write_atomic(path, page.s, page.len, err);
	if (rc == 0)
		rc = ls_json_write(json_path, doc, err);
	if (rc == 0 && html)
		rc = ls_file_write_atomic(html, copy.s, copy.len, err);
	if (rc == 0 && markdown)
		rc = ls_file_write_atomic(markdown, text.s, text.len, err);
	json_decref(doc);
	free(path);
	free(json_path);
	ls_str_done(&page);
	ls_str_done(&copy);
	ls_str_done(&text);
	return rc;
}

static int status_of(const struct ls_verify *v)
{
	if (v->signal)
		return 128 + v->signal;
	switch (v->verdict) {
	case LS_VERIFY_IDENTICAL:
		return LS_EXIT_YES;
	case LS_VERIFY_FAILED:
		return LS_EXIT_FAILED;
	case LS_VERIFY_UNDECIDED:
	case LS_VERIFY_NOTHING:
	case LS_VERIFY_INSENSIBLE:
		return LS_EXIT_UNKNOWN;
	default:
		return LS_EXIT_NO;
	}
}

enum { SCRIPT_LIMIT = 1 << 20 };

/* Whether a word names the output folder, or is a script that does. */
static bool knows_out(const char *word)
{
	static const char name[] = "LOCKSTEP_OUT";
	struct ls_map map;
	if (strstr(word, "{out}") || strstr(word, name))
		return true;
	if (ls_file_map(word, &map, NULL))
		return false;
	size_t n = map.len < SCRIPT_LIMIT ? map.len : SCRIPT_LIMIT;
	bool knows = memmem(map.data, n, name, strlen(name)) != NULL;
	ls_file_unmap(&map);
	return knows;
}

/* Said before hours of training, not after them; or NULL. */
static const char *output_warning(const struct ls_args *args)
{
	bool known = ls_args_has(args, "collect");
	for (size_t i = 0; i < args->n_pos && !known; i++)
		known = knows_out(args->pos[i]);
	return known ? NULL
		     : "lockstep: warning: the command has no {out}, and no --collect names what "
		       "it writes. Unless it writes under $LOCKSTEP_OUT, there will be nothing to "
		       "compare";
}

static int fill(struct ls_verify_request *ask, struct ls_runopts *o, const struct ls_args *args,
		struct ls_err *err)
{
	uint64_t runs = 2;
	const char *control = ls_args_get(args, "control"), *out = ls_args_get(args, "out");
	int rc = ls_args_u64(args, "runs", 2, 1000, &runs, err);
	if (rc)
		return rc;
	if (control && strcmp(control, "seed") != 0)
		return ls_err_set(err, LS_EINPUT, "option --control: \"%.80s\" is not \"seed\"",
				  control);
	o->request.inputs = ls_runopts_list(o, args, "input");
	o->request.out = out ? out : "artifacts/verify";
	rc = ls_runopts_prepare(o, args, err);
	if (rc)
		return rc;
	*ask = (struct ls_verify_request){
		.run = o->request,
		.out = o->request.out,
		.runs = (unsigned)runs,
		.vary = ls_runopts_list(o, args, "vary"),
		.ignore = ls_runopts_list(o, args, "ignore"),
		.collect = ls_runopts_list(o, args, "collect"),
		.strict = ls_args_has(args, "strict"),
		.control = control != NULL,
		.bisect = ls_args_has(args, "bisect"),
		.show_output = ls_args_has(args, "show-output"),
		.warning = output_warning(args),
		.progress = print_line,
	};
	return 0;
}

static int run(const struct ls_cmd *cmd, const struct ls_args *args)
{
	(void)cmd;
	if (ls_verify_seeds_wanted(args))
		return ls_verify_seeds(args);
	struct ls_runopts o;
	struct ls_tolerance_rules rules = {0};
	struct ls_verify_request ask;
	struct ls_verify v;
	struct ls_err err = {0};
	if (ls_runopts_init(&o, args, &err))
		return ls_cmd_fail(&err);
	int rc = ls_args_tolerance(args, &rules, &err);
	if (rc == 0)
		rc = fill(&ask, &o, args, &err);
	if (rc == 0) {
		ask.tolerance = &rules;
		rc = ls_verify(&ask, &v, &err);
	}
	ls_runopts_done(&o);
	ls_tolerance_rules_done(&rules);
	if (rc)
		return ls_cmd_fail(&err);
	rc = write_reports(&v, args, &err);
	print_notices(&v);
	if (ls_args_has(args, "json")) /* also where a page could not be written: hours went by */
		ls_cmd_print_json_take(ls_verify_json(&v));
	else
		print_text(&v);
	int status = rc ? ls_cmd_fail(&err) : status_of(&v);
	ls_verify_done(&v);
	return status;
}

const struct ls_cmd ls_cmd_verify = {
	.name = "verify",
	.summary = "run a program several times and compare everything it wrote",
	.synopsis = "[--runs N] [--level 0|1|2|3] [--seed N] [--precision fp32|tf32|bf16|fp16] "
		    "[--vary NAME=A,B] "
		    "[--control seed] [--collect PATH] [--strict] [--bisect] [--tolerance RULE] "
		    "[--html FILE] "
		    "[--markdown FILE] [--] COMMAND …\n"
		    "--seeds N --metric NAME [--vary NAME=A,B] [--against COMMAND] "
		    "[--margin SHARE%|VALUE] [--] COMMAND …",
	.details = "COMMAND writes under {out}, which is also $LOCKSTEP_OUT: a folder of its own "
		   "for each run,\n"
		   "or where --collect says. Exit status: 0 identical, 1 different or the policy "
		   "did not hold,\n"
		   "3 when nothing can be said: no output, something not read, or (with --control "
		   "seed)\n"
		   "another seed gives the same bits; 5 a run failed.",
	.opts = opts,
	.min_pos = 1,
	.max_pos = -1,
	.rest_is_command = true,
	.run = run,
};
