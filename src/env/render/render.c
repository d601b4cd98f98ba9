#include "env/render/render.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "env/spec/spec_wheels.h"

#define SAFE "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-"

/* --- shared --- */

void ls_render_head(const struct ls_spec *spec, const char *option, const char *prefix,
		    struct ls_str *out)
{
	const char *ref;
	if (ls_render_spec_ref(spec, &ref, NULL))
		ref = spec->name; /* a path that no command line should hold as it is */
	ls_str_addf(out,
		    "%s Rendered by `lockstep spec render %s --%s`. Edit the spec and render "
		    "again, not this file.\n",
		    prefix, ref, option);
	/* make takes a comment that ends in a backslash as going on in the next line */
	if (spec->description)
		ls_str_addf(out, "%s %s: %s%s\n", prefix, spec->name, spec->description,
			    ls_str_ends(spec->description, "\\") ? " ." : "");
}

bool ls_render_spec_is_file(const struct ls_spec *spec)
{
	return strcmp(spec->path, spec->name) != 0 && strcmp(spec->path, "-") != 0;
}

int ls_render_spec_ref(const struct ls_spec *spec, const char **ret, struct ls_err *err)
{
	const char *path = ls_render_spec_is_file(spec) ? spec->path : spec->name;
	*ret = path;
	if (path[strspn(path, SAFE)] || path[0] == '-')
		return ls_err_set(err, LS_EINPUT,
				  "%s: the rendered file refers to the spec by this path; rename "
				  "it to letters, digits, . _ - /",
				  path);
	return 0;
}

const char *ls_render_spec_in_image(const struct ls_spec *spec)
{
	return ls_render_spec_is_file(spec) ? "/opt/lockstep/spec.json" : spec->name;
}

const char *ls_render_tag(const struct ls_spec *spec)
{
	return spec->image.tag ? spec->image.tag : spec->name;
}

const char *ls_render_cuda(const struct ls_spec *spec)
{
	return ls_spec_wants_cuda(spec) ? "--cuda " : "";
}

void ls_render_json_string(const char *text, struct ls_str *out)
{
	json_t *v = json_string(text);
	char *word = json_dumps(v, JSON_ENCODE_ANY);
	ls_str_add(out, word ? word : "\"\"");
	free(word);
	json_decref(v);
}

void ls_render_quote(const char *text, struct ls_str *out)
{
	char *word = ls_str_shell(text);
	ls_str_add(out, word);
	free(word);
}

static int one_requirement(const struct ls_spec *spec, const char *name, const struct ls_check *c,
			   ls_requirement_fn *each, void *arg, struct ls_err *err)
{
	struct ls_str s = {0};
	ls_str_add(&s, name);
	if (!ls_matcher_requirement(c->matcher, &s)) {
		ls_str_done(&s);
		return ls_err_set(err, LS_EINPUT, "%s: %s: pip has no way to ask for \"%s\"",
				  spec->path, name, ls_check_text(c));
	}
	each(arg, s.s);
	ls_str_done(&s);
	return 0;
}

static const char package_prefix[] = "package.";

/* A capture may have met a package that no index has; pip could install nothing of a file
 * that names it. The gate still asks for it. */
static bool is_nowhere(const struct ls_spec *spec, const struct ls_check *c)
{
	const char *exact = ls_matcher_exact(c->matcher);
	return spec->captured && exact && !spec->index && !spec->extra_index &&
	       !ls_wheel_is_public(c->key + strlen(package_prefix), exact);
}

/* No address of the spec has a wheel that it pins: say so rather than render it. */
static int check_indexes(const struct ls_spec *spec, struct ls_err *err)
{
	struct ls_wheel_conflict x;
	if (!ls_wheel_conflict(spec, &x))
		return 0;
	return ls_err_set(err, LS_EINPUT,
			  "%s: requirements: %s has no %s==%s; its wheels are of "
			  "another build",
			  spec->path, x.address, x.package, x.version);
}

int ls_render_each_requirement(const struct ls_spec *spec, ls_requirement_fn *each, void *arg,
			       struct ls_err *err)
{
	const struct ls_check *torch = ls_spec_find(spec, "torch");
	int rc = check_indexes(spec, err);
	if (!rc && torch)
		rc = one_requirement(spec, "torch", torch, each, arg, err);
	for (size_t i = 0; i < spec->n_checks && !rc; i++) {
		const struct ls_check *c = &spec->checks[i];
		if (ls_str_starts(c->key, package_prefix) && !is_nowhere(spec, c) &&
		    (!torch || strcmp(c->key, "package.torch") != 0))
			rc = one_requirement(spec, c->key + strlen(package_prefix), c, each, arg,
					     err);
	}
	for (char **p = spec->lines; p && *p && !rc; p++)
		each(arg, *p);
	return rc;
}

int ls_render_check_hashes(const struct ls_spec *spec, struct ls_err *err)
{
	for (char **p = spec->lines; p && *p; p++)
		if (strstr(*p, " --hash="))
			return ls_err_set(err, LS_EINPUT,
					  "%s: requirements: \"%.80s\" has a hash, which pip takes "
					  "from a file alone: render --requirements",
					  spec->path, *p);
	return 0;
}

void ls_render_each_index(const struct ls_spec *spec, ls_index_fn *each, void *arg)
{
	char **derived = ls_wheel_indexes(spec);
	if (spec->index)
		each(arg, "--index-url", spec->index);
	if (spec->extra_index)
		each(arg, "--extra-index-url", spec->extra_index);
	for (char **p = derived; *p; p++)
		each(arg, "--extra-index-url", *p);
	ls_wheel_indexes_free(derived);
}

void ls_render_each_variable(const struct ls_spec *spec, ls_variable_fn *each, void *arg)
{
	for (size_t i = 0; i < spec->n_checks; i++) {
		const struct ls_check *c = &spec->checks[i];
		const char *value = c->matcher ? ls_matcher_exact(c->matcher) : NULL;
		if (ls_str_starts(c->key, "env.") && value)
			each(arg, c->key + strlen("env."), value);
	}
}

/* --- requirements.txt --- */

static void requirement_line(void *arg, const char *requirement)
{
	ls_str_addf(arg, "%s\n", requirement);
}

static void index_line(void *arg, const char *option, const char *address)
{
	ls_str_addf(arg, "%s %s\n", option, address);
}

void ls_render_nowhere(const struct ls_spec *spec, const char *indent, struct ls_str *out)
{
	for (size_t i = 0; i < spec->n_checks; i++) {
		const struct ls_check *c = &spec->checks[i];
		if (ls_str_starts(c->key, package_prefix) && is_nowhere(spec, c))
			ls_str_addf(out, "%s# on no public index: %s==%s\n", indent,
				    c->key + strlen(package_prefix), ls_matcher_exact(c->matcher));
	}
}

int ls_render_requirements(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err)
{
	struct ls_str body = {0};
	int rc = ls_render_each_requirement(spec, requirement_line, &body, err);
	if (!rc && !body.len)
		rc = ls_err_set(err, LS_EINPUT,
				"%s: names no torch and no packages: there is nothing to require",
				spec->path);
	if (!rc) {
		ls_render_head(spec, "requirements", "#", out);
		ls_render_each_index(spec, index_line, out);
		ls_str_add(out, body.s);
		ls_render_nowhere(spec, "", out);
	}
	ls_str_done(&body);
	return rc;
}

/* --- Makefile --- */

struct made {
	const char *file, *option;
	bool wanted;    /* the spec has what the file needs */
	bool on_demand; /* not everybody's: made anew where it is there */
};

static void makefile_head(const struct ls_spec *spec, const char *ref, bool image,
			  struct ls_str *out)
{
	ls_str_addf(out, "override SPEC := %s\nIMAGE ?= %s\nLOCKSTEP ?= lockstep\n\n", ref,
		    ls_render_tag(spec));
	ls_str_addf(out, ".PHONY: parity.files spec.check cuda.parity%s\n\n",
		    image ? " image.build image.push" : "");
}

/* A spec that is a file is what everything here depends on, this Makefile as well: GNU
 * make makes it anew and reads it again before anything else. SPEC is fixed, since the
 * rest of the file follows from that one spec. The file takes the spec's time: a spec
 * from a clock that is ahead would have make read it again for ever. */
static void makefile_itself(struct ls_str *out)
{
	ls_str_add(out, "# an edit of the spec makes this file anew too, and with it the image's "
			"tag\n"
			"$(PARITY_MAKEFILE): $(SPEC)\n"
			"\t$(LOCKSTEP) spec render $(SPEC) --makefile -o $@\n"
			"\t@touch -r $(SPEC) $@\n\n");
}

static void makefile_rules(const struct ls_spec *spec, const struct made *files, size_t n,
			   struct ls_str *out)
{
	const char *depend = ls_render_spec_is_file(spec) ? " $(SPEC)" : "";
	ls_str_add(out, "# every file that the spec stands for: a version bump is one edit and "
			"`make parity.files`\n"
			"parity.files:");
	for (size_t i = 0; i < n; i++)
		if (files[i].wanted)
			ls_str_addf(out, files[i].on_demand ? " $(wildcard %s)" : " %s",
				    files[i].file);
	ls_str_add(out, "\n\n");
	for (size_t i = 0; i < n; i++)
		if (files[i].wanted)
			ls_str_addf(out,
				    "%s:%s\n\t@mkdir -p $(@D)\n\t$(LOCKSTEP) spec render $(SPEC) "
				    "--%s -o $@\n\n",
				    files[i].file, depend, files[i].option);
	if (*depend)
		makefile_itself(out);
}

int ls_render_makefile(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err)
{
	const char *ref;
	struct ls_str requirements = {0};
	bool image = spec->image.base,
	     packages = ls_render_requirements(spec, &requirements, NULL) == 0;
	ls_str_done(&requirements);
	const struct made files[] = {
		{"requirements.txt", "requirements", packages, false},
		{"bin/kaggle-boot.sh", "kaggle-boot", packages, false},
		{".github/workflows/cuda-parity.yml", "github", image && spec->image.tag, false},
		{"Dockerfile.ci.cuda", "dockerfile", image, false},
		{"docker-compose.yml", "compose", image, true},
		{"environment.yml", "conda", packages, true},
		{".devcontainer/devcontainer.json", "devcontainer", image, true}};
	int rc = ls_render_spec_ref(spec, &ref, err);
	if (rc)
		return rc;
	ls_render_head(spec, "makefile", "#", out);
	if (ls_render_spec_is_file(spec))
		ls_str_add(out, "PARITY_MAKEFILE := $(lastword $(MAKEFILE_LIST))\n");
	makefile_head(spec, ref, image, out);
	makefile_rules(spec, files, sizeof files / sizeof *files, out);
	ls_str_addf(out,
		    "spec.check:\n\t$(LOCKSTEP) spec check $(SPEC)\n\n"
		    "cuda.parity:\n\t$(LOCKSTEP) doctor %s--spec $(SPEC) --fail-on-mismatch "
		    "--emit-json parity_report.json\n",
		    ls_render_cuda(spec));
	if (image)
		ls_str_add(out, "\nimage.build: Dockerfile.ci.cuda\n\tdocker buildx build -f "
				"Dockerfile.ci.cuda -t "
				"$(IMAGE) --load .\n"
				"\nimage.push: Dockerfile.ci.cuda\n\tdocker buildx build -f "
				"Dockerfile.ci.cuda -t "
				"$(IMAGE) --push .\n");
	return 0;
}
