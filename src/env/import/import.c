#include "env/import/import.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/import/build.h"
#include "env/spec/spec.h"

const char *ls_import_kind_name(enum ls_import_kind kind)
{
	static const char *const names[] = {"any", "conda", "pip", "dockerfile"};
	return names[kind];
}

/* --- which kind of file --- */

static enum ls_import_kind kind_by_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	if (ls_str_ends(name, ".yml") || ls_str_ends(name, ".yaml"))
		return LS_IMPORT_CONDA;
	if (strncasecmp(name, "dockerfile", 10) == 0 ||
	    strncasecmp(name, "containerfile", 13) == 0 || ls_str_ends(name, ".dockerfile"))
		return LS_IMPORT_DOCKERFILE;
	return ls_str_ends(name, ".txt") || ls_str_ends(name, ".in") ? LS_IMPORT_PIP
								     : LS_IMPORT_ANY;
}

static bool line_begins(const char *line, const char *word)
{
	return strncasecmp(line, word, strlen(word)) == 0;
}

/* By the first line that decides. */
static enum ls_import_kind kind_by_text(const char *text)
{
	for (const char *l = text; *l; l += strcspn(l, "\n"), l += *l == '\n') {
		if (line_begins(l, "FROM ") || line_begins(l, "ARG "))
			return LS_IMPORT_DOCKERFILE;
		if (line_begins(l, "name:") || line_begins(l, "channels:") ||
		    line_begins(l, "dependencies:"))
			return LS_IMPORT_CONDA;
		if (strchr("{[<", *l))
			return LS_IMPORT_ANY;
		if (!strchr("#\r\n\t ", *l))
			return LS_IMPORT_PIP;
	}
	return LS_IMPORT_PIP;
}

/* --- the spec --- */

static void begin(struct ls_build *b, struct ls_import *im, const char *path)
{
	im->spec = json_object();
	*b = (struct ls_build){.out = im,
			       .path = path,
			       .packages = json_object(),
			       .env = json_object(),
			       .requirements = json_object(),
			       .lines = json_array(),
			       .image = json_object(),
			       .apt = json_array()};
	json_object_set_new(im->spec, "schema", json_integer(1));
	static const char *const first[] = {"name", "description", "date", "image"};
	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		json_object_set_new(im->spec, first[i], json_null()); /* keeps the order */
}

/* Sets key, or removes it where the value is empty; drops the reference. */
static void set_take(json_t *object, const char *key, json_t *value)
{
	if (json_object_size(value) || json_array_size(value))
		json_object_set(object, key, value);
	else
		json_object_del(object, key);
	json_decref(value);
}

static void end(struct ls_build *b, const struct ls_import_how *how)
{
	json_t *spec = b->out->spec;
	const char *slash = strrchr(b->path, '/');
	const char *name = how->name ? how->name : b->name;
	json_object_set_new(spec, "name", json_string(name ? name : "imported"));
	char *from = ls_xasprintf("imported from %s", strcmp(b->path, "-") == 0 ? "standard input"
						      : slash                   ? slash + 1
										: b->path);
	struct ls_str shown = {0};
	ls_str_add_printable(&shown, from);
	json_object_set_new(spec, "description", ls_json_lossy(shown.s));
	json_object_set_new(spec, "date", json_string(how->date));
	set_take(b->image, "apt", b->apt);
	set_take(b->requirements, "lines", b->lines);
	set_take(spec, "image", b->image);
	set_take(spec, "packages", b->packages);
	set_take(spec, "env", b->env);
	set_take(spec, "requirements", b->requirements);
	ls_str_done(&shown);
	free(from);
	free(b->name);
}

static int run_reader(struct ls_build *b, const char *text, size_t len, struct ls_err *err)
{
	switch (b->out->kind) {
	case LS_IMPORT_CONDA:
		return ls_import_conda(b, text, len, err);
	case LS_IMPORT_DOCKERFILE:
		return ls_import_dockerfile(b, text, err);
	case LS_IMPORT_PIP:
		return ls_import_pip(b, text, err);
	default:
		return ls_err_set(err, LS_EINPUT,
				  "%s: neither an environment.yml, nor requirements for pip, nor a "
				  "Dockerfile; say which with --from",
				  b->path);
	}
}

static int nothing_there(const struct ls_build *b, struct ls_err *err)
{
	const struct ls_import *im = b->out;
	if (im->n_left == 0)
		return ls_err_set(err, LS_EINPUT, "%s: asks for nothing that a spec could hold",
				  b->path);
	return ls_err_set(err, LS_EINPUT,
			  "%s:%u: not understood, nor is anything else there: %s (%s)", b->path,
			  im->left[0].line, im->left[0].text, im->left[0].why);
}

/* The document must load; anything else is a defect of the readers. */
static int prove(const struct ls_import *im, struct ls_err *err)
{
	struct ls_spec *spec = NULL;
	struct ls_err why = {0};
	char *text = ls_json_text(im->spec);
	int rc = ls_spec_parse(text, strlen(text), "import", &spec, &why);
	ls_spec_free(spec);
	free(text);
	return rc ? ls_err_set(err, LS_EINTERNAL, "the spec that was made does not load: %s",
			       why.msg)
		  : 0;
}

int ls_import(const char *text, size_t len, const char *path, const struct ls_import_how *how,
	      struct ls_import **ret, struct ls_err *err)
{
	if (memchr(text, 0, len))
		return ls_err_set(err, LS_EINPUT, "%s: has NUL bytes; this is no text", path);
	struct ls_import *im = ls_xalloc(sizeof *im);
	struct ls_build b;
	begin(&b, im, path);
	im->kind = how->kind ? how->kind : kind_by_name(path);
	if (!im->kind)
		im->kind = kind_by_text(text);
	int rc = run_reader(&b, text, len, err);
	if (!rc && !b.understood)
		rc = nothing_there(&b, err);
	end(&b, how);
	if (!rc)
		rc = prove(im, err);
	if (rc)
		ls_import_free(im);
	else
		*ret = im;
	return rc;
}

void ls_import_free(struct ls_import *im)
{
	if (!im)
		return;
	for (size_t i = 0; i < im->n_left; i++) {
		free(im->left[i].text);
		free(im->left[i].why);
	}
	free(im->left);
	json_decref(im->spec);
	free(im);
}
