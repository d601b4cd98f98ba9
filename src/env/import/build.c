#include "env/import/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/spec/spec.h"

enum { LEFT_MOST = 1000, SHOWN = 160 };

void ls_build_left(struct ls_build *b, unsigned line, const char *text, const char *why)
{
	struct ls_import *im = b->out;
	if (im->n_left > LEFT_MOST)
		return;
	if (im->n_left == LEFT_MOST) {
		text = "…";
		why = "and further lines, which are not listed";
	}
	struct ls_str shown = {0};
	char *cut = ls_xstrndup(text, SHOWN);
	ls_str_add_printable(&shown, cut);
	ls_str_add(&shown, strlen(text) > SHOWN ? "…" : "");
	free(cut);
	im->left = ls_grow(im->left, im->n_left, &im->cap_left, sizeof *im->left);
	im->left[im->n_left++] =
		(struct ls_import_left){line, ls_str_take(&shown), ls_xstrdup(why)};
}

/* Does a spec with this one member load? The reason why not is in err. member is
 * dropped. */
static bool loads_take(const char *key, json_t *member, struct ls_err *err)
{
	static const char path[] = "import";
	json_t *doc = json_pack("{s:i,s:s,s:o*}", "schema", 1, "name", "t", key, member);
	char *text = doc ? json_dumps(doc, JSON_COMPACT) : NULL;
	struct ls_spec *spec = NULL;
	bool yes = member && text && ls_spec_parse(text, strlen(text), path, &spec, err) == 0;
	if (!member || !text)
		ls_err_set(err, LS_EINPUT, "import: not UTF-8");
	else if (!yes && ls_str_starts(err->msg, "import: "))
		memmove(err->msg, err->msg + sizeof path + 1,
			strlen(err->msg + sizeof path + 1) + 1);
	ls_spec_free(spec);
	free(text);
	json_decref(doc);
	return yes;
}

/* "==1.26.4" and "===1.26.4" as the spec writes them; "*" for any version. */
static const char *expectation(const char *want)
{
	if (!want || !*want)
		return "*";
	if (ls_str_starts(want, "==") && !strchr(want, ','))
		return want + strspn(want, "=");
	return want;
}

static bool is_any(const json_t *have)
{
	return strcmp(json_string_value(have), "*") == 0;
}

/* True when the new expectation is to be written. */
static bool goes_before(struct ls_build *b, unsigned line, const json_t *have, const char *name,
			const char *want)
{
	if (!have || is_any(have))
		return true;
	if (strcmp(want, "*") != 0 && strcmp(want, json_string_value(have)) != 0) {
		char *text = ls_xasprintf("%s %s", name, want);
		ls_build_left(b, line, text, "asked for before, with another version");
		free(text);
	}
	return false;
}

void ls_build_member(struct ls_build *b, unsigned line, const char *key, const char *want)
{
	struct ls_err err = {0};
	want = expectation(want);
	b->understood++;
	if (!goes_before(b, line, json_object_get(b->out->spec, key), key, want))
		return;
	if (loads_take(key, json_string(want), &err)) {
		json_object_set_new(b->out->spec, key, json_string(want));
		return;
	}
	char *text = ls_xasprintf("%s %s", key, want);
	ls_build_left(b, line, text, err.msg);
	free(text);
}

void ls_build_package(struct ls_build *b, unsigned line, const char *name, const char *want)
{
	struct ls_err err = {0};
	char *plain = ls_spec_package_name(name);
	want = expectation(want);
	if (strcmp(plain, "torch") == 0) {
		ls_build_member(b, line, "torch", want);
	} else if (!loads_take("packages", json_pack("{s:s}", plain, want), &err)) {
		char *text = ls_xasprintf("%s %s", name, want);
		ls_build_left(b, line, text, err.msg);
		free(text);
	} else {
		b->understood++;
		if (goes_before(b, line, json_object_get(b->packages, plain), plain, want))
			json_object_set_new(b->packages, plain, json_string(want));
	}
	free(plain);
}

void ls_build_variable(struct ls_build *b, unsigned line, const char *name, const char *value)
{
	struct ls_err err = {0};
	b->understood++;
	if (strchr(value, '*')) { /* which would match more than this text */
		ls_build_left(b, line, name, "a value with a star, which a spec reads as any text");
		return;
	}
	json_t *v = json_pack("{s:s,s:s}", "match", value, "level", "recommended");
	if (v && loads_take("env", json_pack("{s:O}", name, v), &err))
		json_object_set(b->env, name, v);
	else
		ls_build_left(b, line, name, v ? err.msg : "the value is not UTF-8");
	json_decref(v);
}

void ls_build_line(struct ls_build *b, unsigned line, const char *requirement, const char *why)
{
	struct ls_err err = {0};
	if (!loads_take("requirements", json_pack("{s:[s]}", "lines", requirement), &err)) {
		ls_build_left(b, line, requirement, err.msg);
		return;
	}
	b->understood++;
	json_array_append_new(b->lines, json_string(requirement));
	if (why)
		ls_build_left(b, line, requirement, why);
}

/* --- what pip reads --- */

bool ls_pip_option_has_value(const char *option)
{
	static const char *const flags[] = {"--no-cache-dir",
					    "--pre",
					    "--upgrade",
					    "-U",
					    "--user",
					    "--no-deps",
					    "--no-index",
					    "--quiet",
					    "-q",
					    "--require-hashes",
					    "--prefer-binary",
					    "--system",
					    "--break-system-packages",
					    "--no-input",
					    "--no-build-isolation",
					    "--disable-pip-version-check",
					    "--force-reinstall",
					    "--ignore-installed",
					    "-I",
					    "--no-color",
					    "-v",
					    "--verbose",
					    "--compile",
					    "--no-compile",
					    "--no-warn-script-location",
					    "--root-user-action=ignore",
					    NULL};
	if (strchr(option, '='))
		return false;
	for (const char *const *f = flags; *f; f++)
		if (strcmp(*f, option) == 0)
			return false;
	return true;
}

static void address(struct ls_build *b, unsigned line, const char *key, const char *value)
{
	struct ls_err err = {0};
	const json_t *have = json_object_get(b->requirements, key);
	b->understood++;
	if (strchr(value, '@'))
		ls_build_left(b, line, key,
			      "an address with a user or a password in it: give it to pip by "
			      "PIP_EXTRA_INDEX_URL");
	else if (have && strcmp(json_string_value(have), value) != 0)
		ls_build_left(b, line, value, "a spec holds one such address, and has another");
	else if (loads_take("requirements", json_pack("{s:s}", key, value), &err))
		json_object_set_new(b->requirements, key, json_string(value));
	else
		ls_build_left(b, line, value, err.msg);
}

bool ls_build_pip_option(struct ls_build *b, unsigned line, const char *option, const char *value)
{
	static const struct {
		const char *option, *key, *why;
	} known[] = {
		{"-i", "index", NULL},
		{"--index-url", "index", NULL},
		{"--extra-index-url", "extra_index", NULL},
		{"-r", NULL, "another file, which is not opened: import it as well"},
		{"--requirement", NULL, "another file, which is not opened: import it as well"},
		{"-c", NULL, "another file, which is not opened: import it as well"},
		{"--constraint", NULL, "another file, which is not opened: import it as well"},
		{"-e", NULL, "an editable checkout has no version"},
		{"--editable", NULL, "an editable checkout has no version"},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (strcmp(known[i].option, option) != 0)
			continue;
		char *text = ls_xasprintf("%s %s", option, value);
		if (known[i].key)
			address(b, line, known[i].key, value);
		else
			ls_build_left(b, line, text, known[i].why);
		free(text);
		return true;
	}
	return false;
}
