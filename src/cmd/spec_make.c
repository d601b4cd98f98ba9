/* lockstep spec capture and render: the two that make files. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cmd/spec.h"
#include "env/gather/gather.h"
#include "env/render/render.h"
#include "env/spec/spec_capture.h"

/* To the file, atomically, or to stdout. With --json stdout has a document also where the
 * text went elsewhere. */
static int deliver(const struct ls_args *args, const char *file, const char *spec, const char *text,
		   struct ls_err *err)
{
	int rc = file ? ls_file_write_atomic(file, text, strlen(text), err) : 0;
	if (!file)
		fputs(text, stdout);
	else if (!rc && ls_args_has(args, "json"))
		ls_cmd_print_json_take(
			json_pack("{s:s,s:o}", "spec", spec, "file", ls_json_lossy(file)));
	return rc;
}

/* --- capture --- */

static const struct ls_opt capture_opts[] = {
	{"output", 'o', "FILE", "write there instead of stdout"},
	{"name", 0, "NAME", "what the new spec is called (default: captured)"},
	{"like", 0, "NAME|FILE", "also look for the packages and variables that this spec names"},
	{"python", 0, "PATH", "the interpreter to look at (default: the first on PATH)"},
	{0},
};

static int look(const struct ls_args *args, struct ls_facts **ret, struct ls_err *err)
{
	const char *like = ls_args_get(args, "like");
	struct ls_spec *spec = NULL;
	int rc = like ? ls_spec_load(like, &spec, err) : 0;
	if (rc)
		return rc;
	const char **packages = ls_spec_named(spec, "package."),
		   **variables = ls_spec_named(spec, "env.");
	struct ls_gather how = {
		.env = (const char *const *)environ,
		.python = ls_args_get(args, "python"),
		.packages = packages,
		.variables = variables,
		.root = getenv("LOCKSTEP_ROOT")}; /* a scripted machine, for tests */
	rc = ls_gather(&how, ret, err);
	free(packages);
	free(variables);
	ls_spec_free(spec);
	return rc;
}

static void warn_skipped(const json_t *skipped)
{
	size_t i;
	json_t *key;
	json_array_foreach((json_t *)(uintptr_t)skipped, i, key)
		fprintf(stderr,
			"lockstep: capture: the value of %s cannot be written as an expectation; "
			"left out\n",
			json_string_value(key));
}

/* The document must load again: anything else is a defect, and nothing is written. */
static int capture(const struct ls_facts *facts, const char *name, char **ret, struct ls_err *err)
{
	char today[11];
	if (ls_spec_today(today, err))
		return err->code;
	char *description = ls_xasprintf("captured by lockstep %s on %s", LS_VERSION, today);
	struct ls_capture how = {.name = name, .date = today, .description = description};
	json_t *skipped, *doc = ls_spec_capture(facts, &how, &skipped);
	char *text = ls_json_text(doc);
	struct ls_spec *again = NULL;
	int rc = ls_spec_parse(text, strlen(text), name, &again, err);
	if (rc)
		rc = ls_err_prefix(err, "the capture does not load again");
	ls_spec_free(again);
	if (!rc)
		warn_skipped(skipped);
	json_decref(skipped);
	json_decref(doc);
	free(description);
	if (rc)
		free(text);
	else
		*ret = text;
	return rc;
}

static int run_capture(const struct ls_cmd *cmd, const struct ls_args *args)
{
	const char *name = ls_args_get(args, "name"), *file;
	struct ls_facts *facts = NULL;
	struct ls_err err = {0};
	char *text = NULL;
	name = name ? name : "captured";
	if (!ls_spec_is_name(name))
		return ls_cmd_usage(
			"capture: --name: \"%s\" is not made of letters, digits, . _ and -", name);
	if (!ls_spec_output_file(cmd, args, &file))
		return LS_EXIT_INPUT;
	int rc = look(args, &facts, &err);
	if (!rc)
		rc = capture(facts, name, &text, &err);
	if (!rc && text)
		rc = deliver(args, file, name, text, &err);
	free(text);
	ls_facts_free(facts);
	return rc ? ls_cmd_fail(&err) : LS_EXIT_YES;
}

const struct ls_cmd ls_cmd_spec_capture = {
	.name = "capture",
	.summary = "this machine as a spec",
	.synopsis = "[-o FILE] [--name NAME] [--like NAME|FILE] [--python PATH]",
	.details = "What is known becomes an exact expectation; what is known to be absent is "
		   "listed; what is unknown is\n"
		   "left out. The same machine matches the result. The output is JSON with or "
		   "without --json.",
	.opts = capture_opts,
	.run = run_capture,
};

/* --- render --- */

static const struct ls_opt render_opts[] = {
	{"dockerfile", 0, NULL, "the container image"},
	{"requirements", 0, NULL, "requirements.txt for pip"},
	{"github", 0, NULL,
	 "a GitHub Actions workflow: parity gate, GPU rule, weekly look for drift"},
	{"makefile", 0, NULL, "Makefile targets that render, build and check"},
	{"kaggle-boot", 0, NULL, "bootstrap script of a Kaggle notebook"},
	{"compose", 0, NULL, "docker-compose.yml: the image with its GPUs and a health check"},
	{"conda", 0, NULL, "conda's environment.yml"},
	{"devcontainer", 0, NULL, ".devcontainer/devcontainer.json, for editors"},
	{"hashes", 0, NULL, "requirements with the hash of each file, asked of pip"},
	{"lock", 0, "FILE",
	 "hashes from this lock instead: pip's report, or requirements with --hash"},
	{"python", 0, "PATH", "whose pip is asked (default: the first python3 on PATH)"},
	{"output", 'o', "FILE", "write there instead of stdout"},
	{0},
};

static const struct {
	const char *option;
	int (*render)(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err);
} renderers[] = {
	{"dockerfile", ls_render_dockerfile},
	{"requirements", ls_render_requirements},
	{"github", ls_render_github},
	{"makefile", ls_render_makefile},
	{"kaggle-boot", ls_render_kaggle_boot},
	{"compose", ls_render_compose},
	{"conda", ls_render_conda},
	{"devcontainer", ls_render_devcontainer},
};

enum { RENDERERS = sizeof renderers / sizeof *renderers };

static int chosen(const struct ls_args *args, size_t *ret)
{
	size_t n = 0;
	for (size_t i = 0; i < RENDERERS; i++)
		if (ls_args_has(args, renderers[i].option)) {
			*ret = i;
			n++;
		}
	if (n != 1)
		return ls_cmd_usage("render: give one of --dockerfile, --requirements, --github, "
				    "--makefile, --kaggle-boot, --compose, --conda, "
				    "--devcontainer");
	return 0;
}

static int read_lock(const char *path, struct ls_lock **ret, struct ls_err *err)
{
	char *text;
	size_t len;
	int rc = ls_file_read(path, LS_LOCK_LIMIT, &text, &len, err);
	if (rc)
		return rc;
	rc = ls_lock_parse(text, len, path, ret, err);
	free(text);
	return rc;
}

static bool wants_hashes(const struct ls_args *args)
{
	return ls_args_has(args, "hashes") || ls_args_has(args, "lock");
}

static int render_locked(const struct ls_args *args, const struct ls_spec *spec, struct ls_str *out,
			 struct ls_err *err)
{
	const char *path = ls_args_get(args, "lock"), *python = ls_args_get(args, "python");
	struct ls_lock *lock = NULL;
	int rc = path ? read_lock(path, &lock, err)
		      : ls_lock_ask_pip(spec, python ? python : "python3", &lock, err);
	if (!rc)
		rc = ls_render_locked(spec, lock, out, err);
	ls_lock_free(lock);
	return rc;
}

static int run_render(const struct ls_cmd *cmd, const struct ls_args *args)
{
	size_t which = 0;
	const char *file;
	struct ls_spec *spec = NULL;
	struct ls_str out = {0};
	struct ls_err err = {0};
	if (chosen(args, &which) || !ls_spec_output_file(cmd, args, &file))
		return LS_EXIT_INPUT;
	bool hashes = wants_hashes(args);
	if ((hashes || ls_args_has(args, "python")) && !ls_args_has(args, "requirements"))
		return ls_cmd_usage("render: --hashes, --lock and --python go with --requirements");
	int rc = ls_spec_load(args->pos[0], &spec, &err);
	if (!rc && hashes)
		rc = render_locked(args, spec, &out, &err);
	else if (!rc)
		rc = renderers[which].render(spec, &out, &err);
	if (!rc && ls_args_has(args, "json") && !file)
		ls_cmd_print_json_take(json_pack("{s:s,s:s,s:s}", "spec", spec->name, "kind",
						 renderers[which].option, "text", out.s));
	else if (!rc)
		rc = deliver(args, file, spec->name, out.s, &err);
	ls_str_done(&out);
	ls_spec_free(spec);
	return rc ? ls_cmd_fail(&err) : LS_EXIT_YES;
}

const struct ls_cmd ls_cmd_spec_render = {
	.name = "render",
	.summary = "a file made from the spec",
	.synopsis =
		"NAME|FILE "
		"--dockerfile|--requirements|--github|--makefile|--kaggle-boot|--compose|--conda|"
		"--devcontainer [--hashes] [--lock FILE] [--python PATH] [-o FILE]",
	.details = "All files come from the one spec, so that a version bump is one edit. Of a "
		   "list of alternatives the\n"
		   "first is the one that is rendered.",
	.opts = render_opts,
	.min_pos = 1,
	.max_pos = 1,
	.run = run_render,
};
