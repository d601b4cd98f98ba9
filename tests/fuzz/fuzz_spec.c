/* A spec: parse it, test every check against a few values, judge it, compare it with
 * itself, render every file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "env/render/render.h"
#include "env/spec/spec_check.h"
#include "env/spec/spec_diff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_values(const struct ls_check *c)
{
	static const char *const values[] = {
		"8905", "2.3.1+cu121", "535.161.08", "143771 MiB", ":4096:8", "", NULL};
	const struct ls_gpu_seen seen[] = {{"NVIDIA H200", "9.0", 143771, "on", NULL},
					   {NULL, NULL, 0, NULL, NULL}};
	for (size_t i = 0; i < sizeof values / sizeof *values && c->matcher; i++)
		ls_matcher_test(c->matcher, values[i]);
	char why[128];
	if (c->gpus)
		ls_gpuset_test(c->gpus, seen, 2, why, sizeof why);
	if (!ls_check_text(c))
		abort();
}

static void judge(const struct ls_spec *spec)
{
	static struct ls_compat *compat;
	struct ls_spec_findings f;
	if (!compat && ls_compat_load(&compat, NULL))
		abort();
	ls_spec_check(spec, compat, "2026-11-15", &f);
	ls_spec_findings_done(&f);
}

/* A spec does not drift from itself. */
static void compare(const struct ls_spec *spec)
{
	struct ls_spec_diff d;
	struct ls_str out = {0};
	ls_spec_diff(spec, spec, &d);
	ls_spec_diff_markdown(&d, &out);
	if (d.drifted && !spec->captured)
		abort();
	ls_spec_diff_done(&d);
	ls_str_done(&out);
}

/* What is rendered has no control characters but line ends and tabs, whatever the spec
 * holds. */
static void render(const struct ls_spec *spec)
{
	static int (*const renderers[])(const struct ls_spec *, struct ls_str *,
					struct ls_err *) = {
		ls_render_dockerfile, ls_render_requirements, ls_render_github, ls_render_makefile,
		ls_render_kaggle_boot};
	for (size_t i = 0; i < sizeof renderers / sizeof *renderers; i++) {
		struct ls_str out = {0};
		renderers[i](spec, &out, NULL);
		for (size_t k = 0; k < out.len; k++)
			if ((unsigned char)out.s[k] < 0x20 && out.s[k] != '\n' && out.s[k] != '\t')
				abort();
		ls_str_done(&out);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_spec *spec;
	struct ls_err err;
	if (ls_spec_parse((const char *)data, size, "fuzz", &spec, &err))
		return 0;
	for (size_t i = 0; i < spec->n_checks; i++)
		try_values(&spec->checks[i]);
	judge(spec);
	compare(spec);
	render(spec);
	ls_spec_free(spec);
	return 0;
}
