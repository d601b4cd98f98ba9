/* lockstep spec import: another tool's file as a spec. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cmd/spec.h"
#include "env/import/import.h"

static const struct ls_opt import_opts[] = {
	{"from", 0, "conda|pip|dockerfile",
	 "what the file is (default: by its name, then its text)"},
	{"name", 0, "NAME", "what the new spec is called (default: the file's own, or imported)"},
	{"output", 'o', "FILE", "write there instead of stdout"},
	{0},
};

static enum ls_import_kind kind_of(const char *from)
{
	for (int k = LS_IMPORT_CONDA; from && k <= LS_IMPORT_DOCKERFILE; k++)
		if (strcmp(from, ls_import_kind_name((enum ls_import_kind)k)) == 0)
			return (enum ls_import_kind)k;
	return LS_IMPORT_ANY;
}

static void tell_left(const char *path, const struct ls_import *im)
{
	for (size_t i = 0; i < im->n_left; i++) {
		struct ls_str s = {0};
		ls_str_add_printable(&s, path);
		fprintf(stderr, "lockstep: %s:%u: \"%s\": %s\n", s.s, im->left[i].line,
			im->left[i].text, im->left[i].why);
		ls_str_done(&s);
	}
}

static json_t *left_json(const struct ls_import *im)
{
	json_t *list = json_array();
	for (size_t i = 0; i < im->n_left; i++)
		json_array_append_new(list,
				      json_pack("{s:i,s:o,s:o}", "line", (int)im->left[i].line,
						"text", ls_json_lossy(im->left[i].text), "why",
						ls_json_lossy(im->left[i].why)));
	return list;
}

static int deliver(const struct ls_args *args, const char *file, const struct ls_import *im,
		   struct ls_err *err)
{
	if (!file) {
		char *text = ls_json_text(im->spec);
		fputs(text, stdout);
		free(text);
		return 0;
	}
	int rc = ls_json_write(file, im->spec, err);
	if (!rc && ls_args_has(args, "json"))
		ls_cmd_print_json_take(
			json_pack("{s:O,s:o,s:s,s:o}", "spec", json_object_get(im->spec, "name"),
				  "file", ls_json_lossy(file), "read_as",
				  ls_import_kind_name(im->kind), "left_out", left_json(im)));
	return rc;
}

static int import(const struct ls_args *args, const char *file, struct ls_err *err)
{
	char today[11], *text = NULL;
	size_t len;
	struct ls_import *im = NULL;
	struct ls_import_how how = {.name = ls_args_get(args, "name"),
				    .date = today,
				    .kind = kind_of(ls_args_get(args, "from"))};
	int rc = ls_spec_today(today, err);
	if (!rc)
		rc = ls_file_read(args->pos[0], LS_IMPORT_LIMIT, &text, &len, err);
	if (!rc)
		rc = ls_import(text, len, args->pos[0], &how, &im, err);
	if (!rc)
		tell_left(args->pos[0], im);
	if (!rc)
		rc = deliver(args, file, im, err);
	ls_import_free(im);
	free(text);
	return rc;
}

static int run_import(const struct ls_cmd *cmd, const struct ls_args *args)
{
	const char *file, *name = ls_args_get(args, "name");
	struct ls_err err = {0};
	if (name && !ls_spec_is_name(name))
		return ls_cmd_usage(
			"import: --name: \"%s\" is not made of letters, digits, . _ and "
			"-",
			name);
	if (!ls_spec_output_file(cmd, args, &file))
		return LS_EXIT_INPUT;
	return import(args, file, &err) ? ls_cmd_fail(&err) : LS_EXIT_YES;
}

const struct ls_cmd ls_cmd_spec_import = {
	.name = "import",
	.summary = "another tool's file as a spec",
	.synopsis = "[--from conda|pip|dockerfile] [--name NAME] [-o FILE] FILE",
	.details =
		"Reads conda's environment.yml, requirements.txt or the output of pip freeze, or "
		"a Dockerfile. What\n"
		"has no place in a spec or is not understood is told with its line. The output "
		"is JSON.",
	.opts = import_opts,
	.min_pos = 1,
	.max_pos = 1,
	.run = run_import,
};
