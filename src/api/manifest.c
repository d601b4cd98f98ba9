#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/manifest.h"
#include "base/folder.h"
#include "base/mem.h"
#include "base/str.h"
#include "env/facts/facts.h"
#include "env/gather/gather.h"
#include "run/folder.h"
#include "run/manifest.h"
#include "run/policy.h"
#include "run/start.h"

/* --- reading and explaining --- */

static int read_manifest(const char *path, char **ret_json, struct ls_err *err)
{
	json_t *m;
	int rc = ls_manifest_load(path, &m, err);
	if (rc)
		return rc;
	*ret_json = ls_json_text(m);
	json_decref(m);
	return 0;
}

int ls_manifest_read(const char *path, char **ret_json, struct ls_err *err)
{
	LS_CALL(err, read_manifest(path, ret_json, err));
}

int ls_manifest_explanation(const char *a, const char *b, struct ls_differences *ret,
			    struct ls_err *err)
{
	json_t *x, *y;
	int rc = ls_manifest_load(a, &x, err);
	if (rc)
		return rc;
	rc = ls_manifest_load(b, &y, err);
	if (rc == 0) {
		*ret = (struct ls_differences){0};
		ls_manifest_diff(x, y, ret);
		json_decref(y);
	}
	json_decref(x);
	return rc;
}

enum ls_answer ls_differences_answer(const struct ls_differences *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->items[i].weight != LS_HARMLESS)
			return LS_ANSWER_NO;
	return LS_ANSWER_YES;
}

static int explain(const char *a, const char *b, char **ret_json, enum ls_answer *ret_answer,
		   struct ls_err *err)
{
	struct ls_differences d;
	int rc = ls_manifest_explanation(a, b, &d, err);
	if (rc)
		return rc;
	json_t *doc = ls_differences_json(&d);
	*ret_json = ls_json_text(doc);
	json_decref(doc);
	if (ret_answer)
		*ret_answer = ls_differences_answer(&d);
	ls_differences_done(&d);
	return 0;
}

int ls_manifest_explain(const char *a, const char *b, char **ret_json, enum ls_answer *ret_answer,
			struct ls_err *err)
{
	LS_CALL(err, explain(a, b, ret_json, ret_answer, err));
}

/* --- a program that records itself --- */

static json_t *policy_json(const struct ls_recording *r)
{
	static char *const none[] = {NULL};
	struct ls_policy policy = {.level = r->level,
				   .seed = r->seed,
				   .precision = r->precision ? r->precision : "fp32"};
	struct ls_runenv env;
	json_t *o = ls_policy_json(&policy);
	ls_runenv_init(&env, r->environment ? (char *const *)(uintptr_t)r->environment : none);
	json_object_set(o, "env", env.changes);
	json_object_set_new(o, "observed_env", ls_policy_observed(&env));
	ls_runenv_done(&env);
	return o;
}

static int check_policy(int level, uint64_t seed, const char *precision, struct ls_err *err)
{
	static const char *const known[] = {"fp32", "tf32", "bf16", "fp16"};
	if (level < 0 || level > 3)
		return ls_err_set(err, LS_EINPUT, "level %d is none of 0, 1, 2, 3", level);
	if (seed > INT64_MAX)
		return ls_err_set(err, LS_EINPUT, "a seed is at most %lld", (long long)INT64_MAX);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!precision || strcmp(precision, known[i]) == 0)
			return 0;
	return ls_err_set(err, LS_EINPUT, "precision \"%.40s\" is none of fp32, tf32, bf16, fp16",
			  precision);
}

static int describe_policy(int level, uint64_t seed, const char *precision,
			   const char *const *environment, char **ret_json, struct ls_err *err)
{
	static char *const none[] = {NULL};
	struct ls_policy policy = {.level = level,
				   .seed = seed,
				   .precision = precision ? precision : "fp32",
				   .fill = true};
	struct ls_runenv env;
	int rc = check_policy(level, seed, precision, err);
	if (rc)
		return rc;
	ls_runenv_init(&env, environment ? (char *const *)(uintptr_t)environment : none);
	ls_policy_apply(&policy, &env);
	json_t *told = ls_policy_told(&policy, &env);
	*ret_json = ls_json_text(told);
	json_decref(told);
	ls_runenv_done(&env);
	return 0;
}

int ls_policy_describe(int level, uint64_t seed, const char *precision,
		       const char *const *environment, char **ret_json, struct ls_err *err)
{
	LS_CALL(err, describe_policy(level, seed, precision, environment, ret_json, err));
}

static int inputs_json(const struct ls_recording *r, const char *out, json_t *list,
		       struct ls_err *err)
{
	int rc = 0;
	for (const char *const *p = r->inputs; p && *p && rc == 0; p++) {
		json_t *one;
		rc = ls_folder_digest(*p, out, &one, err);
		if (rc == 0)
			json_array_append_new(list, one);
	}
	return rc;
}

static int add_facts(const struct ls_recording *r, json_t *m, struct ls_err *err)
{
	static const char *const none[] = {NULL};
	struct ls_gather how = {.env = r->environment ? r->environment : none, .python = r->python};
	struct ls_facts *facts;
	int rc = ls_gather(&how, &facts, err);
	if (rc)
		return rc;
	json_object_set_new(m, "environment", ls_facts_json(facts));
	json_object_set_new(m, "env", ls_facts_env_block(facts));
	ls_facts_free(facts);
	return 0;
}

static int write_take(char *path, const json_t *m, bool wanted, struct ls_err *err)
{
	int rc = wanted ? ls_json_write(path, m, err) : 0;
	free(path);
	return rc;
}

static int record_in(const struct ls_recording *r, const char *out, char **ret_json,
		     struct ls_err *err)
{
	json_t *m = NULL, *inputs = json_array();
	int rc = inputs_json(r, out, inputs, err);
	if (rc) {
		json_decref(inputs);
		return rc;
	}
	rc = ls_manifest_start_take(r->command, out, policy_json(r), inputs, &m, err);
	if (rc == 0)
		rc = add_facts(r, m, err);
	if (rc == 0)
		rc = ls_manifest_check(m, "manifest", err);
	if (rc == 0)
		rc = write_take(ls_xasprintf("%s/run_manifest.json", out), m, r->out != NULL, err);
	if (rc == 0)
		*ret_json = ls_json_text(m);
	json_decref(m);
	return rc;
}

static int record(const struct ls_recording *r, char **ret_json, struct ls_err *err)
{
	if (!r->command || !*r->command)
		return ls_err_set(err, LS_EINPUT, "a manifest needs the command that ran");
	int rc = check_policy(r->level, r->seed, r->precision, err);
	if (rc == 0 && r->out)
		rc = ls_folder_make(r->out, err);
	if (rc)
		return rc;
	char *out = realpath(r->out ? r->out : ".", NULL);
	if (!out)
		return ls_err_errno(err, r->out ? r->out : ".", "resolve");
	rc = record_in(r, out, ret_json, err);
	free(out);
	return rc;
}

int ls_manifest_record(const struct ls_recording *r, char **ret_json, struct ls_err *err)
{
	LS_CALL(err, record(r, ret_json, err));
}
