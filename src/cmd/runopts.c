#include "cmd/runopts.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/str.h"
#include "cmd/cache.h"
#include "env/gather/gather.h"
#include "env/rules/findings.h"
#include "run/cmdline.h"

static int read_policy(struct ls_policy *p, const struct ls_args *args, struct ls_err *err)
{
	uint64_t level = 2, seed = 1337;
	int rc = ls_args_u64(args, "level", 0, 3, &level, err);
	if (rc == 0)
		rc = ls_args_u64(args, "seed", 0, INT64_MAX, &seed, err);
	if (rc)
		return rc;
	const char *precision = ls_args_get(args, "precision");
	const char *exact = ls_args_get(args, "exact");
	*p = (struct ls_policy){
		.level = (int)level,
		.seed = seed,
		.precision = precision ? precision : "fp32",
		.warn_only = ls_args_has(args, "warn-only"),
		.fill = !ls_args_has(args, "no-fill"),
		.hold = ls_args_has(args, "hold"),
		.exact = exact && !*exact ? "on" : exact,
		.same_streams = ls_args_has(args, "same-streams"),
	};
	return 0;
}

const char *const *ls_runopts_list(struct ls_runopts *o, const struct ls_args *args,
				   const char *name)
{
	size_t n = 0;
	while (ls_args_nth(args, name, n))
		n++;
	if (n == 0 || o->n_lists == sizeof o->lists / sizeof *o->lists)
		return NULL;
	const char **list = ls_xalloc((n + 1) * sizeof *list);
	for (size_t i = 0; i < n; i++)
		list[i] = ls_args_nth(args, name, i);
	o->lists[o->n_lists++] = list;
	return list;
}

int ls_runopts_init(struct ls_runopts *o, const struct ls_args *args, struct ls_err *err)
{
	*o = (struct ls_runopts){0};
	int rc = read_policy(&o->request.policy, args, err);
	if (rc)
		return rc;
	const char **argv = ls_xalloc((args->n_pos + 1) * sizeof *argv);
	for (size_t i = 0; i < args->n_pos; i++)
		argv[i] = args->pos[i];
	o->lists[o->n_lists++] = argv;
	o->request.argv = argv;
	o->request.envp = environ;
	o->request.output = -1;
	o->request.cache = o->cache = ls_cmd_cache("hook");
	o->request.vars = ls_runopts_list(o, args, "env");
	return 0;
}

/* The file of this name, or else the one that it names as a pattern: of several none is
 * known to be of this program's version. NULL: there is none. The caller frees. */
static char *find_one(const char *pattern)
{
	glob_t found;
	char *path = NULL;
	if (ls_file_exists(pattern))
		return ls_xstrdup(pattern);
	if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0 && found.gl_pathc == 1)
		path = ls_xstrdup(found.gl_pathv[0]);
	globfree(&found);
	return path;
}

/* The first of these patterns, seen from the program's folder, that names a file; or NULL.
 * The caller frees. */
static char *find_beside(const char *const *places)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	exe[n > 0 ? n : 0] = 0;
	char *slash = strrchr(exe, '/');
	for (; slash && *places; places++) {
		char *pattern = ls_xasprintf("%.*s/%s", (int)(slash - exe), exe, *places);
		char *path = find_one(pattern);
		free(pattern);
		if (path)
			return path;
	}
	return NULL;
}

/* The libraries lie beside the program when built, below ../lib when installed; a wheel
 * has the one in its package. */
static void find_libraries(struct ls_runopts *o)
{
	static const char *const inject[] = {"liblockstep_inject.so",
					     "../lib/lockstep/liblockstep_inject.so", NULL};
	static const char *const library[] = {"liblockstep.so.0",
					      "liblockstep.so",
					      "../lib/liblockstep.so.0",
					      "../lib64/liblockstep.so.0",
					      "../lib/python3*/*-packages/lockstep/"
					      "liblockstep.so.0",
					      NULL};
	o->request.policy.inject = o->inject = find_beside(inject);
	if (o->request.policy.exact)
		o->request.policy.library = o->library = find_beside(library);
}

/* What a required check says that does not match, as one sentence. */
static int disagree(const struct ls_findings *list, const char *name, struct ls_err *err)
{
	enum ls_outcome verdict = ls_findings_verdict(list);
	struct ls_str s = {0};
	for (size_t i = 0; i < list->n; i++) {
		const struct ls_finding *f = &list->items[i];
		if (f->level == LS_LEVEL_REQUIRED && f->outcome == verdict)
			ls_str_addf(&s, "%s%s: expected %s, found %s", s.s ? "; " : "", f->id,
				    f->expected ? f->expected : "-", f->found ? f->found : "-");
	}
	int rc = 0;
	if (verdict != LS_OUTCOME_MATCH)
		rc = ls_err_set(err, verdict == LS_OUTCOME_MISMATCH ? LS_EDIFFER : LS_EUNKNOWN,
				"spec %s: this machine %s, nothing was started: %s", name,
				verdict == LS_OUTCOME_MISMATCH ? "does not agree"
							       : "cannot be judged",
				s.s ? s.s : "");
	ls_str_done(&s);
	return rc;
}

static int hold_against(struct ls_runopts *o, const struct ls_facts *facts, const char *name,
			struct ls_err *err)
{
	struct ls_spec *spec;
	int rc = ls_spec_load(name, &spec, err);
	if (rc)
		return rc;
	struct ls_findings *list = ls_findings_new();
	ls_findings_compare(list, facts, spec);
	o->spec = json_pack("{s:s,s:o}", "name", spec->name, "findings", ls_findings_json(list));
	o->request.spec = o->spec;
	rc = disagree(list, spec->name, err);
	ls_findings_free(list);
	ls_spec_free(spec);
	return rc;
}

/* The interpreter whose libraries the facts tell of is the command's own where it names
 * one. */
static int gather(struct ls_runopts *o, const char *spec, struct ls_err *err)
{
	struct ls_gather how = {.env = (const char *const *)o->request.envp};
	const char *program = o->request.argv[0];
	char *python = ls_cmdline_is_python(program) ? ls_proc_find(program) : NULL;
	struct ls_facts *facts;
	how.python = python;
	int rc = ls_gather(&how, &facts, err);
	free(python);
	if (rc)
		return rc;
	o->environment = ls_facts_json(facts);
	o->env_block = ls_facts_env_block(facts);
	if (spec)
		rc = hold_against(o, facts, spec, err);
	ls_facts_free(facts);
	return rc;
}

static void facts_of(void *ctx, json_t **ret_environment, json_t **ret_block)
{
	struct ls_runopts *o = ctx;
	struct ls_err err;
	if (!o->environment && gather(o, NULL, &err))
		o->environment = json_pack("[{s:s,s:s,s:o}]", "key", "facts", "state", "unknown",
					   "reason", ls_json_lossy(err.msg));
	*ret_environment = o->environment;
	*ret_block = o->env_block;
}

int ls_runopts_prepare(struct ls_runopts *o, const struct ls_args *args, struct ls_err *err)
{
	const char *trace = o->request.policy.trace;
	find_libraries(o);
	if (o->request.policy.exact && !o->library)
		return ls_err_set(err, LS_EUNKNOWN,
				  "--exact: liblockstep.so.0 is not beside the program nor in "
				  "../lib");
	if (trace && strcmp(trace, "kernels") == 0 && !o->inject)
		return ls_err_set(err, LS_EUNKNOWN,
				  "--trace kernels: liblockstep_inject.so is not beside the "
				  "program nor in ../lib/lockstep");
	o->request.facts = facts_of;
	o->request.facts_ctx = o;
	const char *spec = ls_args_get(args, "spec");
	return spec ? gather(o, spec, err) : 0;
}

void ls_runopts_done(struct ls_runopts *o)
{
	for (size_t i = 0; i < o->n_lists; i++)
		free(o->lists[i]);
	json_decref(o->environment);
	json_decref(o->env_block);
	json_decref(o->spec);
	free(o->inject);
	free(o->library);
	free(o->cache);
	*o = (struct ls_runopts){0};
}
