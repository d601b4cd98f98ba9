/* conda's environment.yml. Python is conda's; all else comes by pip, from the addresses
 * of requirements.txt: conda's own builds of torch bring another CUDA and cuDNN than the
 * wheels that the spec pins. */
#include <string.h>

#include "env/render/render.h"

static void item(const char *before, const char *text, struct ls_str *out)
{
	ls_str_add(out, before);
	ls_render_json_string(text, out);
	ls_str_add(out, "\n");
}

static void requirement_item(void *arg, const char *requirement)
{
	item("      - ", requirement, arg);
}

static void index_item(void *arg, const char *option, const char *address)
{
	struct ls_str s = {0};
	ls_str_addf(&s, "%s %s", option, address);
	item("      - ", s.s, arg);
	ls_str_done(&s);
}

static void variable_item(void *arg, const char *name, const char *value)
{
	struct ls_str s = {0};
	ls_str_addf(&s, "  %s: ", name);
	item(s.s, value, arg);
	ls_str_done(&s);
}

/* Conda reads versions as pip writes them. */
static int python_item(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err)
{
	const struct ls_check *c = ls_spec_find(spec, "python");
	struct ls_str s = {0};
	int rc = 0;
	ls_str_add(&s, "python");
	if (c && !ls_matcher_requirement(c->matcher, &s))
		rc = ls_err_set(err, LS_EINPUT, "%s: python: conda has no way to ask for \"%s\"",
				spec->path, ls_check_text(c));
	else
		item("  - ", s.s, out);
	ls_str_done(&s);
	return rc;
}

int ls_render_conda(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err)
{
	struct ls_str python = {0}, pip = {0}, variables = {0};
	int rc = python_item(spec, &python, err);
	if (!rc)
		ls_render_each_index(spec, index_item, &pip);
	size_t indexes = pip.len;
	if (!rc)
		rc = ls_render_each_requirement(spec, requirement_item, &pip, err);
	if (!rc && pip.len == indexes && !ls_spec_find(spec, "python"))
		rc = ls_err_set(err, LS_EINPUT,
				"%s: names no Python, torch or packages: there is nothing to "
				"require",
				spec->path);
	if (!rc) {
		ls_render_head(spec, "conda", "#", out);
		ls_str_addf(out, "name: %s\nchannels:\n  - conda-forge\ndependencies:\n%s",
			    spec->name, python.s);
		if (pip.len > indexes)
			ls_str_addf(out, "  - pip\n  - pip:\n%s", pip.s);
		ls_render_nowhere(spec, "      ", out);
		ls_render_each_variable(spec, variable_item, &variables);
		if (variables.len)
			ls_str_addf(out, "variables:\n%s", variables.s);
	}
	ls_str_done(&python);
	ls_str_done(&pip);
	ls_str_done(&variables);
	return rc;
}
