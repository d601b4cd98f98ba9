#include "api/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/options.h"
#include "base/mem.h"
#include "env/gather/gather.h"
#include "env/spec/calendar.h"
#include "env/spec/compat.h"
#include "env/spec/spec_check.h"
#include "gpu/nvrtc.h"

/* --- doctor --- */

static int gather(const struct ls_args *args, const struct ls_examine_how *how,
		  const struct ls_spec *spec, struct ls_facts **ret, struct ls_err *err)
{
	const char **packages = ls_spec_named(spec, "package."),
		   **variables = ls_spec_named(spec, "env.");
	struct ls_gather g = {.env = how->environment,
			      .python = ls_args_get(args, "python"),
			      .packages = packages,
			      .variables = variables,
			      .root = how->root,
			      .deep = ls_args_has(args, "deep")};
	int rc = ls_gather(&g, ret, err);
	free(packages);
	free(variables);
	return rc;
}

static struct ls_findings *find(const struct ls_facts *facts, const struct ls_spec *spec, bool cuda,
				const char *today)
{
	struct ls_findings *list = ls_findings_new();
	enum ls_gpu_need need = ls_findings_gpu_need(spec, cuda);
	if (spec)
		ls_findings_compare(list, facts, spec);
	if (cuda)
		ls_findings_demand_cuda(list, facts, spec);
	ls_findings_faults(list, facts, need);
	ls_findings_wheels(list, facts);
	ls_findings_compat(list, facts, today);
	ls_findings_deep(list, facts);
	return list;
}

/* A gate that has nothing to judge by would pass on every machine. */
static int check_gate(const struct ls_args *args, const struct ls_spec *spec, struct ls_err *err)
{
	if (!ls_args_has(args, "fail-on-mismatch"))
		return 0;
	if (!spec && !ls_args_has(args, "cuda"))
		return ls_err_set(err, LS_EINPUT,
				  "--fail-on-mismatch has nothing to judge by: give --spec "
				  "NAME|FILE (`lockstep spec list` has the shipped ones, `lockstep "
				  "spec capture` makes one), or --cuda");
	if (spec && !ls_spec_requires(spec))
		return ls_err_set(err, LS_EINPUT,
				  "%s: requires nothing, so --fail-on-mismatch would pass on every "
				  "machine: give it a check of level required, such as \"torch\"",
				  spec->path);
	return 0;
}

void ls_gpu_code_fact(struct ls_facts *facts, const struct ls_kernels_conf *conf)
{
	struct ls_str text = {0}, source = {0};
	if (ls_kernels_describe(conf, &text, &source))
		ls_facts_set(facts, "gpu_code", text.s, source.s);
	else
		ls_facts_absent(facts, "gpu_code", source.s, text.s);
	ls_str_done(&text);
	ls_str_done(&source);
}

static int load(const struct ls_args *args, struct ls_examination *e, struct ls_err *err)
{
	const char *name = ls_args_get(args, "spec");
	int rc = name ? ls_spec_load(name, &e->spec, err) : 0;
	if (rc == 0)
		rc = check_gate(args, e->spec, err);
	if (rc == 0)
		rc = ls_gpu_catalog_load(&e->catalog, err);
	return rc ? rc : ls_advice_load(&e->advice, err);
}

int ls_examine(const struct ls_args *args, const struct ls_examine_how *how,
	       struct ls_examination *ret, struct ls_err *err)
{
	struct ls_examination *e = ret;
	*e = (struct ls_examination){0};
	bool cuda = ls_args_has(args, "cuda");
	int rc = load(args, e, err);
	if (rc == 0)
		rc = gather(args, how, e->spec, &e->facts, err);
	if (rc) {
		ls_examination_done(e);
		return rc;
	}
	ls_gpu_code_fact(e->facts, how->kernels);
	strftime(e->created, sizeof e->created, "%Y-%m-%dT%H:%M:%SZ", &how->now);
	e->findings = find(e->facts, e->spec, cuda, e->created);
	e->report = (struct ls_report){.facts = e->facts,
				       .findings = e->findings,
				       .spec = e->spec,
				       .cuda = cuda,
				       .deep = ls_args_has(args, "deep"),
				       .created = e->created,
				       .catalog = e->catalog,
				       .advice = e->advice,
				       .symptom = ls_args_get(args, "symptom")};
	return 0;
}

void ls_examination_done(struct ls_examination *e)
{
	ls_gpu_catalog_free(e->catalog);
	ls_advice_free(e->advice);
	ls_findings_free(e->findings);
	ls_facts_free(e->facts);
	ls_spec_free(e->spec);
	*e = (struct ls_examination){0};
}

static enum ls_answer verdict_of(const struct ls_findings *findings)
{
	enum ls_outcome outcome = ls_findings_verdict(findings);
	return outcome == LS_OUTCOME_MATCH      ? LS_ANSWER_YES
	       : outcome == LS_OUTCOME_MISMATCH ? LS_ANSWER_NO
						: LS_ANSWER_UNKNOWN;
}

/* What only the command can do: it writes files, and tables of the user's own hold for
 * the whole program. */
static int refuse(const struct ls_args *args, struct ls_err *err)
{
	static const char *const names[] = {"emit-json", "tables"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (ls_args_has(args, names[i]))
			return ls_err_set(err, LS_EINPUT, "--%s is for the command alone",
					  names[i]);
	return 0;
}

static int examine_now(const struct ls_args *args, const char *const *environment,
		       struct ls_examination *ret, struct ls_err *err)
{
	static const char *const none[] = {NULL};
	time_t now = time(NULL);
	struct ls_kernels_conf conf;
	char **nvrtc = ls_options_kernels(args, &conf);
	struct ls_examine_how how = {.environment = environment ? environment : none,
				     .root = ls_args_get(args, "machine-root"),
				     .kernels = &conf};
	gmtime_r(&now, &how.now);
	int rc = ls_examine(args, &how, ret, err);
	ls_nvrtc_places_free(nvrtc);
	return rc;
}

static int doctor(const struct ls_options *o, const char *const *environment, char **ret_json,
		  enum ls_answer *ret_answer, struct ls_err *err)
{
	struct ls_options *own;
	const struct ls_args *args;
	struct ls_examination e = {0};
	int rc = ls_options_use(o, 1u << LS_DOCTOR, &own, &args, err);
	if (rc == 0)
		rc = refuse(args, err);
	if (rc == 0)
		rc = examine_now(args, environment, &e, err);
	if (rc == 0) {
		json_t *doc = ls_report_json(&e.report);
		*ret_json = ls_json_text(doc);
		json_decref(doc);
		if (ret_answer)
			*ret_answer = verdict_of(e.findings);
	}
	ls_examination_done(&e);
	ls_options_free(own);
	return rc;
}

int ls_doctor(const struct ls_options *o, const char *const *environment, char **ret_json,
	      enum ls_answer *ret_answer, struct ls_err *err)
{
	LS_CALL(err, doctor(o, environment, ret_json, ret_answer, err));
}

/* --- spec check --- */

json_t *ls_spec_tested(const struct ls_advice *advice, const char *spec)
{
	json_t *list = json_array();
	const json_t *row;
	for (size_t i = 0; (row = ls_advice_tested(advice, spec, NULL, &i));)
		json_array_append_new(list, json_deep_copy(row));
	return list;
}

void ls_spec_answer_done(struct ls_spec_answer *a)
{
	if (a->findings)
		ls_spec_findings_done(a->findings);
	free(a->findings);
	json_decref(a->tested);
	json_decref(a->json);
	ls_advice_free(a->advice);
	ls_compat_free(a->compat);
	ls_spec_free(a->spec);
	*a = (struct ls_spec_answer){0};
}

int ls_spec_answer(const char *spec, const char *today, struct ls_spec_answer *ret,
		   struct ls_err *err)
{
	struct ls_spec_answer *a = ret;
	*a = (struct ls_spec_answer){0};
	int rc = ls_spec_load(spec, &a->spec, err);
	if (rc == 0)
		rc = ls_compat_load(&a->compat, err);
	if (rc == 0)
		rc = ls_advice_load(&a->advice, err);
	if (rc) {
		ls_spec_answer_done(a);
		return rc;
	}
	a->findings = ls_xalloc(sizeof *a->findings);
	a->tested = ls_spec_tested(a->advice, a->spec->path);
	ls_spec_check(a->spec, a->compat, today, a->findings);
	a->json = json_pack("{s:s,s:s,s:b,s:o,s:O}", "spec", a->spec->name, "today", today, "sound",
			    a->findings->faults == 0, "findings",
			    ls_spec_findings_json(a->findings), "tested", a->tested);
	return 0;
}

static int day(const struct ls_args *args, char ret[11], struct ls_err *err)
{
	const char *today = ls_args_get(args, "today");
	time_t now = time(NULL);
	struct tm tm;
	if (today && !ls_calendar_is_date(today))
		return ls_err_set(err, LS_EINPUT, "--today: \"%.40s\" is not YYYY-MM-DD", today);
	if (today)
		memcpy(ret, today, 11);
	else
		strftime(ret, 11, "%Y-%m-%d", gmtime_r(&now, &tm));
	return 0;
}

static int judge(const char *spec, const struct ls_options *o, char **ret_json,
		 enum ls_answer *ret_answer, struct ls_err *err)
{
	struct ls_options *own;
	const struct ls_args *args;
	struct ls_spec_answer a = {0};
	char today[11];
	int rc = ls_options_use(o, 1u << LS_SPEC_CHECK, &own, &args, err);
	if (rc == 0)
		rc = day(args, today, err);
	if (rc == 0)
		rc = ls_spec_answer(spec, today, &a, err);
	if (rc == 0) {
		*ret_json = ls_json_text(a.json);
		if (ret_answer)
			*ret_answer = a.findings->faults ? LS_ANSWER_NO : LS_ANSWER_YES;
	}
	ls_spec_answer_done(&a);
	ls_options_free(own);
	return rc;
}

int ls_spec_judge(const char *spec, const struct ls_options *o, char **ret_json,
		  enum ls_answer *ret_answer, struct ls_err *err)
{
	LS_CALL(err, judge(spec, o, ret_json, ret_answer, err));
}
