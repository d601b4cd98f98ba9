/* The bootstrap of a Kaggle notebook: one file that bash runs as a program and that %run
 * runs inside the notebook. It is python/boot/boot.py behind the spec's expectations,
 * which are cut into operators and versions here, so that the script has nothing to
 * parse. */
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/mem.h"
#include "env/render/render.h"
#include "env/spec/spec_wheels.h"

static void add_variable(void *arg, const char *name, const char *value)
{
	json_array_append_new(arg, json_pack("[s,s]", name, value));
}

static bool is_torchs(const char *requirement)
{
	static const char *const family[] = {"torch", "torchvision", "torchaudio"};
	size_t n = strcspn(requirement, "=<>!~[ ;@");
	for (size_t i = 0; i < sizeof family / sizeof *family; i++)
		if (strlen(family[i]) == n && strncmp(requirement, family[i], n) == 0)
			return true;
	return false;
}

/* torch and its companions belong to the notebook's image; everything else may be
 * installed. */
static void add_extra(void *arg, const char *requirement)
{
	if (!is_torchs(requirement))
		json_array_append_new(arg, json_string(requirement));
}

static void add_index(void *arg, const char *option, const char *address)
{
	json_array_append_new(arg, json_string(option));
	json_array_append_new(arg, json_string(address));
}

/* A set of GPUs has no terms: only lockstep can judge it. */
static json_t *check_json(const struct ls_check *c)
{
	json_t *o = json_pack("{s:s,s:s,s:s}", "key", c->key, "level", ls_level_name(c->level),
			      "expected", ls_check_text(c));
	json_t *terms = c->matcher ? ls_matcher_terms(c->matcher)
				   : json_pack("{s:s,s:[[[s,s]]]}", "as", "set", "any", "==", "");
	json_object_update(o, terms);
	json_decref(terms);
	return o;
}

static json_t *absent(const struct ls_spec *spec)
{
	json_t *list = json_array();
	for (char **key = spec->absent; key && *key; key++)
		json_array_append_new(
			list, json_pack("[s,s]", *key, ls_level_name(ls_spec_absent_level(*key))));
	return list;
}

/* A line for each member and for each check. JSON without null, true and false reads the
 * same in Python. */
static void add_member(struct ls_str *out, const char *name, json_t *value, bool by_line)
{
	ls_str_addf(out, "    \"%s\": %s", name, by_line ? "[" : "");
	for (size_t i = 0; by_line && i < json_array_size(value); i++) {
		char *text = json_dumps(json_array_get(value, i), JSON_ENCODE_ANY);
		ls_str_addf(out, "%s\n        %s", i ? "," : "", text);
		free(text);
	}
	char *text = by_line ? ls_xstrdup("]") : json_dumps(value, JSON_ENCODE_ANY);
	ls_str_addf(out, "%s,\n", text);
	free(text);
	json_decref(value);
}

static void spec_part(const struct ls_spec *spec, const char *ref, json_t *extras,
		      struct ls_str *out)
{
	json_t *variables = json_array(), *checks = json_array(), *indexes = json_array();
	ls_render_each_variable(spec, add_variable, variables);
	ls_render_each_index(spec, add_index, indexes);
	for (size_t i = 0; i < spec->n_checks; i++)
		json_array_append_new(checks, check_json(&spec->checks[i]));
	ls_str_add(out, "SPEC = {\n");
	add_member(out, "name", json_string(spec->name), false);
	add_member(out, "ref", json_string(ref), false);
	add_member(out, "file", json_integer(ls_render_spec_is_file(spec)), false);
	add_member(out, "cuda", json_integer(ls_spec_wants_cuda(spec)), false);
	add_member(out, "variables", variables, true);
	add_member(out, "indexes", indexes, false);
	add_member(out, "extras", extras, true);
	add_member(out, "checks", checks, true);
	add_member(out, "absent", absent(spec), true);
	ls_str_add(out, "}\n\n");
}

/* For bash the second line is a command that never returns; for Python it is a text. */
static const char opening[] =
	"#!/usr/bin/env bash\n"
	"''''exec python3 \"$0\" \"$@\" # bash runs this line, to Python it is a text '''\n";

static const char usage[] =
	"#\n# In a notebook:  %run bin/kaggle-boot.sh\n"
	"#                 assert parity == 0     0 parity, 1 mismatch, 3 cannot tell here\n"
	"#                 %run bin/kaggle-boot.sh --install   first the packages that are not "
	"torch's\n"
	"# In a shell:     bash bin/kaggle-boot.sh\n"
	"#                 export $(bash bin/kaggle-boot.sh --print-env)\n\n";

int ls_render_kaggle_boot(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err)
{
	const char *ref;
	const struct ls_blob *boot = ls_embed_find("python/boot/boot.py");
	json_t *extras = json_array();
	int rc = ls_render_spec_ref(spec, &ref, err);
	if (!rc)
		rc = ls_render_check_hashes(spec, err);
	if (!rc)
		rc = ls_render_each_requirement(spec, add_extra, extras, err);
	if (!rc && !boot)
		rc = ls_err_set(err, LS_EINTERNAL, "boot.py is not part of this program");
	if (rc) {
		json_decref(extras);
		return rc;
	}
	ls_str_add(out, opening);
	ls_render_head(spec, "kaggle-boot", "#", out);
	ls_str_add(out, usage);
	spec_part(spec, ref, extras, out);
	ls_str_add(out, (const char *)boot->data);
	return 0;
}
