/* lockstep verify --seeds: the spread of a metric over seeds, and two configurations. */
#include "cmd/verify_seeds.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/runopts.h"
#include "run/seeds.h"
#include "run/words.h"

bool ls_verify_seeds_wanted(const struct ls_args *args)
{
	return ls_args_has(args, "seeds") || ls_args_has(args, "metric") ||
	       ls_args_has(args, "against") || ls_args_has(args, "margin");
}

/* What means nothing here is refused, and so is every option that is not known here. */
static int check_options(const struct ls_args *args, struct ls_err *err)
{
	static const char *const taken[] = {
		"seeds", "metric",  "against",      "margin", "vary",      "level",       "seed",
		"spec",  "env",     "precision",    "hold",   "input",     "show-output", "out",
		"json",  "no-fill", "same-streams", "help",   "warn-only", "strict",      "collect",
		"exact", NULL};
	for (size_t i = 0; i < args->n_given; i++) {
		const char *name = args->given[i].opt->name;
		size_t k = 0;
		while (taken[k] && strcmp(taken[k], name) != 0)
			k++;
		if (!taken[k])
			return ls_err_set(err, LS_EINPUT, "option --%s: not with --seeds", name);
	}
	if (!ls_args_has(args, "seeds") || !ls_args_has(args, "metric"))
		return ls_err_set(err, LS_EINPUT,
				  "option --seeds needs --metric, and --metric, "
				  "--against and --margin need --seeds");
	return 0;
}

static void print_line(void *ctx, const char *line)
{
	(void)ctx;
	fprintf(stderr, "%s\n", line);
}

static int fill(struct ls_seeds_request *ask, struct ls_runopts *o, const struct ls_args *args,
		struct ls_words *against, struct ls_err *err)
{
	uint64_t seeds = 0;
	const char *other = ls_args_get(args, "against"), *out = ls_args_get(args, "out");
	struct ls_stats_ask how;
	int rc = check_options(args, err);
	if (rc == 0)
		rc = ls_args_u64(args, "seeds", 2, 1000, &seeds, err);
	if (rc == 0)
		rc = ls_stats_margin(ls_args_get(args, "margin"), &how, err);
	if (rc == 0 && other)
		rc = ls_words_split(other, "option --against", against, err);
	o->request.inputs = ls_runopts_list(o, args, "input");
	if (rc == 0)
		rc = ls_runopts_prepare(o, args, err);
	if (rc)
		return rc;
	*ask = (struct ls_seeds_request){
		.run = o->request,
		.against = (const char *const *)against->w,
		.vary = ls_runopts_list(o, args, "vary"),
		.out = out ? out : "artifacts/verify",
		.seeds = (unsigned)seeds,
		.metric = ls_args_get(args, "metric"),
		.collect = ls_runopts_list(o, args, "collect"),
		.strict = ls_args_has(args, "strict"),
		.ask = how,
		.show_output = ls_args_has(args, "show-output"),
		.progress = print_line,
	};
	return 0;
}

static int status_of(const struct ls_seeds *s)
{
	static const int status[] = {LS_EXIT_YES, LS_EXIT_NO, LS_EXIT_UNKNOWN};
	if (s->signal)
		return 128 + s->signal;
	return s->run_failed ? LS_EXIT_FAILED : status[ls_seeds_answer(s)];
}

void ls_verify_print_tail(const char *lines)
{
	if (!lines || !*lines)
		return;
	printf("the last lines:\n");
	for (const char *p = lines; *p;) {
		int n = (int)strcspn(p, "\n");
		printf("    %.*s\n", n, p);
		p += n + (p[n] == '\n');
	}
}

static void print_text(const struct ls_seeds *s)
{
	static const char *const colours[] = {"green", "red", "yellow"};
	struct ls_str text = {0}, sentence = {0};
	ls_seeds_text(s, &text);
	ls_seeds_sentence(s, &sentence);
	fputs(text.s, stdout);
	ls_verify_print_tail(s->tail);
	printf("%s%s%s\n%s/seeds.json\n", ls_cmd_colour(stdout, colours[ls_seeds_answer(s)]),
	       sentence.s, ls_cmd_colour(stdout, "off"), s->dir);
	ls_str_done(&text);
	ls_str_done(&sentence);
}

static int report(const struct ls_seeds *s, bool as_json, struct ls_err *err)
{
	char *path = ls_xasprintf("%s/seeds.json", s->dir);
	json_t *doc = ls_seeds_json(s);
	int rc = ls_json_write(path, doc, err);
	free(path);
	if (rc == 0 && as_json)
		ls_cmd_print_json_take(json_incref(doc));
	else if (rc == 0)
		print_text(s);
	json_decref(doc);
	return rc ? ls_cmd_fail(err) : status_of(s);
}

int ls_verify_seeds(const struct ls_args *args)
{
	struct ls_runopts o;
	struct ls_seeds_request ask;
	struct ls_seeds s;
	struct ls_words against = {0};
	struct ls_err err = {0};
	if (ls_runopts_init(&o, args, &err))
		return ls_cmd_fail(&err);
	int rc = fill(&ask, &o, args, &against, &err);
	if (rc == 0)
		rc = ls_seeds(&ask, &s, &err);
	ls_runopts_done(&o);
	ls_words_done(&against);
	if (rc)
		return ls_cmd_fail(&err);
	int status = report(&s, ls_args_has(args, "json"), &err);
	ls_seeds_done(&s);
	return status;
}
