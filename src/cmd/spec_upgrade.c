/* lockstep spec upgrade: the newest set of parts that fit each other and have not
 * ended. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/spec.h"
#include "env/facts/gpu_catalog.h"
#include "env/facts/version.h"
#include "env/gather/gather.h"
#include "env/spec/spec_check.h"
#include "env/spec/spec_upgrade.h"
#include "env/spec/spec_wheels.h"

static const struct ls_opt upgrade_opts[] = {
	{"gpu", 0, "NAME|CAPABILITY",
	 "for this GPU instead of those that the spec asks for: L40S, or 8.9"},
	{"today", 0, "DATE", "judge ends of life by this day (YYYY-MM-DD) instead of today"},
	{"output", 'o', "FILE", "write the upgraded spec there"},
	{0},
};

struct upgrading {
	struct ls_spec *spec, *next; /* next: the upgraded one, read again */
	struct ls_compat *compat;
	struct ls_facts *facts;
	const char *capability; /* of --gpu or of this machine; NULL: the spec's */
	char today[11];
	struct ls_upgrade result;
	struct ls_spec_findings faults; /* what is still wrong with the upgraded one */
};

/* A name of the catalogue, or a compute capability. */
static int gpu_of(struct upgrading *u, const char *name, struct ls_err *err)
{
	struct ls_gpu_catalog *catalog;
	const struct ls_gpu_model *model;
	struct ls_version v;
	u->capability = ls_compat_capability(u->compat, name);
	if (!u->capability && strchr(name, '.') && ls_version_parse(name, &v) && v.n_parts == 2)
		u->capability = name;
	if (u->capability)
		return 0;
	int rc = ls_gpu_catalog_load(&catalog, err);
	if (!rc) {
		rc = ls_gpu_catalog_find(catalog, name, &model, err);
		ls_gpu_catalog_free(catalog);
	}
	return rc ? ls_err_prefix(err, "--gpu")
		  : ls_err_set(err, LS_EINPUT, "--gpu: %s: its compute capability is not known",
			       name);
}

/* The spec asks for no GPU: the one in this machine, then. */
static int gpu_here(struct upgrading *u, struct ls_err *err)
{
	static const char *const none[] = {NULL};
	struct ls_gather how = {.env = (const char *const *)environ,
				.packages = none,
				.variables = none,
				.root = getenv("LOCKSTEP_ROOT")};
	int rc = ls_gather(&how, &u->facts, err);
	if (rc)
		return rc;
	u->capability = ls_facts_value(u->facts, "capability");
	return u->capability ? 0
			     : ls_err_set(err, LS_EUNKNOWN,
					  "%s: names no GPU, and this machine shows none: say for "
					  "which with --gpu",
					  u->spec->path);
}

static int choose_gpu(struct upgrading *u, const char *name, struct ls_err *err)
{
	if (name)
		return gpu_of(u, name, err);
	if (!ls_spec_wants_cuda(u->spec) || ls_spec_upgrade_capability(u->spec, u->compat))
		return 0;
	return gpu_here(u, err);
}

/* The result is judged as any other spec is. */
static int judge(struct upgrading *u, struct ls_err *err)
{
	if (!u->result.doc)
		return 0;
	char *text = ls_json_text(u->result.doc);
	int rc = ls_spec_parse(text, strlen(text), u->spec->path, &u->next, err);
	free(text);
	if (rc)
		return ls_err_set(err, LS_EINTERNAL, "the upgraded spec does not load: %s",
				  err->msg);
	ls_spec_check(u->next, u->compat, u->today, &u->faults);
	return 0;
}

static int find(struct upgrading *u, const struct ls_args *args, struct ls_err *err)
{
	int rc = ls_compat_load(&u->compat, err);
	if (!rc)
		rc = ls_spec_load(args->pos[0], &u->spec, err);
	if (!rc)
		rc = choose_gpu(u, ls_args_get(args, "gpu"), err);
	if (rc)
		return rc;
	struct ls_upgrade_how how = {.today = u->today, .capability = u->capability};
	ls_spec_upgrade(u->spec, u->compat, &how, &u->result);
	return judge(u, err);
}

static void print_text(const struct upgrading *u)
{
	struct ls_str out = {0};
	const char *of_spec = ls_spec_upgrade_capability(u->spec, u->compat);
	printf("%s on %s", u->spec->name, u->today);
	if (u->capability || of_spec)
		printf(", compute capability %s", u->capability ? u->capability : of_spec);
	printf("\n");
	ls_spec_upgrade_text(&u->result, &out);
	fputs(out.s ? out.s : "", stdout);
	ls_str_done(&out);
	for (size_t i = 0; i < u->faults.n; i++)
		if (u->faults.items[i].kind != LS_FINDING_NOTE)
			ls_spec_print_finding(&u->faults.items[i]);
	size_t moved = 0;
	for (size_t i = 0; i < u->result.n_parts; i++) {
		const struct ls_upgrade_part *p = &u->result.parts[i];
		moved += !p->now || strcmp(p->now, p->next) != 0;
	}
	if (u->result.doc)
		printf("%zu part%s move%s\n", moved, moved == 1 ? "" : "s", moved == 1 ? "s" : "");
	else
		puts("no set is known of which all parts fit and none has ended");
}

static void print_json(const struct upgrading *u, const char *file)
{
	json_t *doc = ls_spec_upgrade_json(&u->result);
	const char *capability =
		u->capability ? u->capability : ls_spec_upgrade_capability(u->spec, u->compat);
	json_object_set_new(doc, "from", json_string(u->spec->name));
	json_object_set_new(doc, "today", json_string(u->today));
	json_object_set_new(doc, "capability", capability ? json_string(capability) : json_null());
	json_object_set_new(doc, "findings", ls_spec_findings_json(&u->faults));
	json_object_set(doc, "spec", u->result.doc ? u->result.doc : json_null());
	json_object_set_new(doc, "file", file ? ls_json_lossy(file) : json_null());
	ls_cmd_print_json_take(doc);
}

static int deliver(const struct upgrading *u, const struct ls_args *args, const char *file)
{
	struct ls_err err = {0};
	bool good = u->result.doc && u->faults.faults == 0;
	if (file && good && ls_json_write(file, u->result.doc, &err))
		return ls_cmd_fail(&err);
	if (ls_args_has(args, "json"))
		print_json(u, good ? file : NULL);
	else
		print_text(u);
	return good ? LS_EXIT_YES : LS_EXIT_NO;
}

static int run_upgrade(const struct ls_cmd *cmd, const struct ls_args *args)
{
	struct upgrading u = {0};
	struct ls_err err = {0};
	const char *file;
	if (!ls_spec_output_file(cmd, args, &file) || !ls_spec_day(cmd, args, u.today))
		return LS_EXIT_INPUT;
	int status = find(&u, args, &err) ? ls_cmd_fail(&err) : deliver(&u, args, file);
	ls_spec_findings_done(&u.faults);
	ls_spec_upgrade_done(&u.result);
	ls_spec_free(u.next);
	ls_facts_free(u.facts);
	ls_compat_free(u.compat);
	ls_spec_free(u.spec);
	return status;
}

const struct ls_cmd ls_cmd_spec_upgrade = {
	.name = "upgrade",
	.summary = "the newest driver, CUDA, torch and image that fit each other and are alive",
	.synopsis = "[--gpu NAME|CAPABILITY] [--today DATE] [-o FILE] NAME|FILE",
	.details = "Says for each part what the spec has, what it would move to, and when each "
		   "ends. What the tables do not\n"
		   "know is not taken. Exit status 0: there is such a set, 1: there is none, 3: "
		   "for which GPU is not known.",
	.opts = upgrade_opts,
	.min_pos = 1,
	.max_pos = 1,
	.run = run_upgrade,
};
