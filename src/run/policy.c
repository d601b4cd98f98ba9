#include "run/policy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static size_t find(const struct ls_runenv *env, const char *name)
{
	size_t len = strlen(name);
	for (size_t i = 0; i < env->n; i++)
		if (strncmp(env->vars[i], name, len) == 0 && env->vars[i][len] == '=')
			return i;
	return env->n;
}

static void append_take(struct ls_runenv *env, char *text)
{
	env->vars = ls_grow(env->vars, env->n + 1, &env->cap, sizeof *env->vars);
	env->vars[env->n++] = text;
	env->vars[env->n] = NULL;
}

void ls_runenv_init(struct ls_runenv *env, char *const *environ_now)
{
	*env = (struct ls_runenv){.changes = json_object()};
	for (; *environ_now; environ_now++)
		append_take(env, ls_xstrdup(*environ_now));
}

void ls_runenv_done(struct ls_runenv *env)
{
	for (size_t i = 0; i < env->n; i++)
		free(env->vars[i]);
	free(env->vars);
	json_decref(env->changes);
	*env = (struct ls_runenv){0};
}

const char *ls_runenv_get(const struct ls_runenv *env, const char *name)
{
	size_t i = find(env, name);
	return i < env->n ? env->vars[i] + strlen(name) + 1 : NULL;
}

/* The first value that stood there stays recorded when a variable is changed twice. */
static void record(struct ls_runenv *env, const char *name, const char *value)
{
	json_t *change = json_object_get(env->changes, name);
	const char *before = ls_runenv_get(env, name);
	if (!change) {
		change = json_object();
		json_object_set_new(change, "before", before ? ls_json_lossy(before) : json_null());
		json_object_set_new(env->changes, name, change);
	}
	json_object_set_new(change, "value", value ? ls_json_lossy(value) : json_null());
}

void ls_runenv_set(struct ls_runenv *env, const char *name, const char *value)
{
	record(env, name, value);
	size_t i = find(env, name);
	if (i < env->n) {
		free(env->vars[i]);
		env->vars[i] = env->vars[env->n - 1];
		env->vars[--env->n] = NULL;
	}
	if (value)
		append_take(env, ls_xasprintf("%s=%s", name, value));
}

struct rule {
	int level;
	const char *name, *value; /* value NULL: unset */
};

/* Level 3 asks MKL for the code path that every x86-64 has, level 2 only for one that
 * does not change from run to run.
 */
static const struct rule rules[] = {
	{1, "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
	 NULL}, /* some containers force TF32 back on with it */
	{2, "TF_DETERMINISTIC_OPS", "1"},
	{2, "TF_CUDNN_DETERMINISTIC", "1"},
	{2, "NVTE_ALLOW_NONDETERMINISTIC_ALGO", "0"},
	{2, "MKL_CBWR", "AUTO"},
	{3, "MKL_CBWR", "COMPATIBLE"},
	{3, "OMP_NUM_THREADS", "1"},
	{3, "MKL_NUM_THREADS", "1"},
	{3, "OPENBLAS_NUM_THREADS", "1"},
	{3, "NUMEXPR_NUM_THREADS", "1"},
	{3, "CUDA_LAUNCH_BLOCKING", "1"},
	{3, "NCCL_ALGO", "Ring"},
	{3, "NCCL_PROTO", "Simple"},
};

static void add_xla_flag(struct ls_runenv *env, const char *flag)
{
	const char *now = ls_runenv_get(env, "XLA_FLAGS");
	if (now && strstr(now, flag))
		return;
	char *both = now && *now ? ls_xasprintf("%s %s", now, flag) : ls_xstrdup(flag);
	ls_runenv_set(env, "XLA_FLAGS", both);
	free(both);
}

static void apply_high(const struct ls_policy *policy, struct ls_runenv *env)
{
	char number[32];
	snprintf(number, sizeof number, "%" PRIu64,
		 policy->seed % 4294967296u); /* Python takes 32 bits here */
	ls_runenv_set(env, "PYTHONHASHSEED", number);
	/* both values are deterministic; the user's choice of the smaller one is kept */
	const char *workspace = ls_runenv_get(env, "CUBLAS_WORKSPACE_CONFIG");
	if (!workspace || strcmp(workspace, ":16:8") != 0)
		ls_runenv_set(env, "CUBLAS_WORKSPACE_CONFIG", ":4096:8");
	else
		ls_runenv_set(env, "CUBLAS_WORKSPACE_CONFIG", ":16:8");
	add_xla_flag(env, "--xla_gpu_deterministic_ops=true");
}

void ls_policy_apply(const struct ls_policy *policy, struct ls_runenv *env)
{
	if (policy->level >= 1)
		ls_runenv_set(env, "NVIDIA_TF32_OVERRIDE",
			      strcmp(policy->precision, "tf32") == 0 ? NULL : "0");
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (policy->level >= rules[i].level)
			ls_runenv_set(env, rules[i].name, rules[i].value);
	if (policy->level >= 2)
		apply_high(policy, env);
}

json_t *ls_policy_json(const struct ls_policy *p)
{
	static const char *const names[] = {"record only", "comparable", "high", "bitwise"};
	return json_pack("{s:i,s:s,s:I,s:s,s:b,s:b,s:b,s:b,s:s?,s:s?}", "level", p->level,
			 "level_name", names[p->level], "seed", (json_int_t)p->seed, "precision",
			 p->precision, "warn_only", p->warn_only, "fill", p->fill, "hold", p->hold,
			 "same_streams", p->same_streams, "trace", p->trace, "exact", p->exact);
}

json_t *ls_policy_told(const struct ls_policy *policy, const struct ls_runenv *env)
{
	json_t *p = ls_policy_json(policy), *vars = json_object(), *change;
	const char *name, *threads = ls_runenv_get(env, "OMP_NUM_THREADS");
	uint64_t n = 1;
	json_object_foreach(env->changes, name, change)
		json_object_set(vars, name, json_object_get(change, "value"));
	json_object_set_new(p, "env", vars);
	if (threads)
		ls_str_to_u64(threads, 1, 1 << 16, "OMP_NUM_THREADS", &n,
			      NULL); /* a list of levels counts as 1 */
	json_object_set_new(p, "threads", json_integer((json_int_t)n));
	return p;
}

/* A manifest is shown to others: what looks like a secret is not written into it. */
static bool looks_secret(const char *name, const char *value)
{
	static const char *const words[] = {"TOKEN", "SECRET", "PASSW", "KEY",     "CREDENTIAL",
					    "AUTH",  "COOKIE", "CERT",  "SESSION", "LICENSE"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasestr(name, words[i]))
			return true;
	const char *url = strstr(value, "://");
	return url && strchr(url, '@');
}

json_t *ls_policy_observed(const struct ls_runenv *env)
{
	enum { LONGEST = 4096 };
	json_t *all = json_object();
	for (size_t i = 0; i < env->n; i++) {
		const char *eq = strchr(env->vars[i], '=');
		if (!eq || eq == env->vars[i])
			continue;
		char *name = ls_xstrndup(env->vars[i], (size_t)(eq - env->vars[i]));
		json_t *key = ls_json_lossy(name);
		if (looks_secret(name, eq + 1))
			json_object_set_new(all, json_string_value(key), json_string("(withheld)"));
		else if (!json_object_get(env->changes, name) && strlen(eq + 1) <= LONGEST)
			json_object_set_new(all, json_string_value(key), ls_json_lossy(eq + 1));
		json_decref(key);
		free(name);
	}
	return all;
}
