/* The GitHub Actions workflow of a spec: the image, the parity gate, its GPU rule, and
 * the weekly look for drift. The jobs are the files of github/, with <<words>> to fill
 * in; the commits of the actions are those of data/actions.json. */
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/json.h"
#include "base/mem.h"
#include "env/render/render.h"
#include "env/spec/spec_wheels.h"

struct workflow {
	const struct ls_spec *spec;
	const char *ref;
	json_t *actions;
};

static void add_part(const struct workflow *w, const char *file, struct ls_str *out);

static void add_runner(const struct workflow *w, struct ls_str *out)
{
	char **labels = w->spec->runner;
	if (!labels || !labels[0]) {
		ls_str_add(out, "ubuntu-24.04");
		return;
	}
	for (char **p = labels; *p; p++)
		ls_str_addf(out, "%s\"%s\"", p == labels ? "[" : ", ", *p);
	ls_str_add(out, "]");
}

/* The image without its tag: a colon behind the last slash begins one. */
static void add_repository(const struct workflow *w, struct ls_str *out)
{
	const char *tag = w->spec->image.tag, *slash = strrchr(tag, '/');
	const char *colon = strchr(slash ? slash : tag, ':');
	ls_str_addf(out, "%.*s", colon ? (int)(colon - tag) : (int)strlen(tag), tag);
}

/* ghcr.io of ghcr.io/org/image; Docker's own where the first part is no host. */
static void add_registry(const struct workflow *w, struct ls_str *out)
{
	const char *tag = w->spec->image.tag;
	size_t n = strcspn(tag, "/");
	bool host = tag[n] && (memchr(tag, '.', n) || memchr(tag, ':', n));
	ls_str_addf(out, "%.*s", host ? (int)n : (int)strlen("docker.io"),
		    host ? tag : "docker.io");
}

/* Without an image to watch there is nothing that could drift. */
static void add_schedule(const struct workflow *w, struct ls_str *out)
{
	const char *cron = w->spec->schedule ? w->spec->schedule : "17 4 * * 1";
	if (w->spec->image.watch)
		ls_str_addf(out, "  schedule:\n    - cron: \"%s\"\n", cron);
}

/* Where the moved pins go: the spec's file, or a new one for a shipped spec. */
static void add_pin(const struct workflow *w, struct ls_str *out)
{
	if (ls_render_spec_is_file(w->spec))
		ls_str_add(out, w->ref);
	else
		ls_str_addf(out, "%s.json", w->spec->name);
}

/* "actions/checkout" as the commit of a release, which nobody can move. */
static void add_uses(const struct workflow *w, const char *action, size_t n, struct ls_str *out)
{
	size_t i;
	json_t *row;
	json_array_foreach(json_object_get(w->actions, "rows"), i, row)
	{
		const char *name = json_string_value(json_object_get(row, "action"));
		if (name && strlen(name) == n && strncmp(name, action, n) == 0)
			ls_str_addf(out, "%s@%s # %s", name,
				    json_string_value(json_object_get(row, "commit")),
				    json_string_value(json_object_get(row, "version")));
	}
}

static void fill_in(const struct workflow *w, const char *word, size_t n, struct ls_str *out)
{
	static const char uses[] = "uses ";
	const struct {
		const char *word, *text;
	} texts[] = {{"name", w->spec->name},
		     {"spec", w->ref},
		     {"image", w->spec->image.tag},
		     {"watch", w->spec->image.watch},
		     {"cuda", ls_render_cuda(w->spec)},
		     {"unknown", ls_spec_wants_cuda(w->spec) ? "skip" : "fail"}};
	const struct {
		const char *word;
		void (*add)(const struct workflow *w, struct ls_str *out);
	} adders[] = {{"runner", add_runner},
		      {"repository", add_repository},
		      {"registry", add_registry},
		      {"schedule", add_schedule},
		      {"pin", add_pin}};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (strlen(texts[i].word) == n && strncmp(texts[i].word, word, n) == 0)
			ls_str_add(out, texts[i].text);
	for (size_t i = 0; i < sizeof adders / sizeof *adders; i++)
		if (strlen(adders[i].word) == n && strncmp(adders[i].word, word, n) == 0)
			adders[i].add(w, out);
	if (n == strlen("login") && strncmp(word, "login", n) == 0)
		add_part(w, "login", out);
	if (strncmp(word, uses, strlen(uses)) == 0)
		add_uses(w, word + strlen(uses), n - strlen(uses), out);
}

/* A file of github/ with its words filled in. */
static void add_part(const struct workflow *w, const char *file, struct ls_str *out)
{
	char *path = ls_xasprintf("src/env/render/github/%s.yml", file);
	const struct ls_blob *blob = ls_embed_find(path);
	free(path);
	const char *p = blob ? (const char *)blob->data : "";
	for (const char *word, *end; (word = strstr(p, "<<")) && (end = strstr(word, ">>"));
	     p = end + strlen(">>")) {
		ls_str_addf(out, "%.*s", (int)(word - p), p);
		word += strlen("<<");
		fill_in(w, word, (size_t)(end - word), out);
	}
	ls_str_add(out, p);
}

static int check_image(const struct ls_spec *spec, struct ls_err *err)
{
	if (!spec->image.base)
		return ls_err_set(err, LS_EINPUT,
				  "%s: the workflow runs in a container: \"image\" is missing",
				  spec->path);
	if (!spec->image.tag)
		return ls_err_set(err, LS_EINPUT,
				  "%s: the workflow pushes the image that it builds: \"image\" "
				  "needs a \"tag\", such as ghcr.io/your-org/ci-cuda:%s",
				  spec->path, spec->name);
	return 0;
}

static int load_actions(json_t **ret, struct ls_err *err)
{
	static const char file[] = "data/actions.json";
	const struct ls_blob *blob = ls_embed_find(file);
	if (!blob)
		return ls_err_set(err, LS_EINTERNAL, "%s is not part of this program", file);
	return ls_json_parse((const char *)blob->data, blob->len, file, ret, err);
}

int ls_render_github(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err)
{
	struct workflow w = {.spec = spec};
	int rc = ls_render_spec_ref(spec, &w.ref, err);
	if (!rc)
		rc = check_image(spec, err);
	if (!rc)
		rc = load_actions(&w.actions, err);
	if (rc)
		return rc;
	ls_render_head(spec, "github", "#", out);
	add_part(&w, "head", out);
	if (ls_spec_wants_cuda(spec))
		add_part(&w, "gate", out);
	if (spec->image.watch)
		add_part(&w, "drift", out);
	json_decref(w.actions);
	return 0;
}
