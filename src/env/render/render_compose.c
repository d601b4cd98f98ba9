/* What starts the image of a spec's Dockerfile: docker-compose.yml, and devcontainer.json
 * for editors. */
#include <stdlib.h>
#include <string.h>

#include "env/render/render.h"
#include "env/spec/spec_wheels.h"

static int check_image(const struct ls_spec *spec, const char *what, struct ls_err *err)
{
	if (spec->image.base)
		return 0;
	return ls_err_set(err, LS_EINPUT,
			  "%s: %s starts the image of a Dockerfile: \"image\" is missing",
			  spec->path, what);
}

/* Calls each for what the container toolkit reads, unless the spec itself pins it, and
 * for what the spec pins. compute is CUDA, utility is nvidia-smi and NVML. */
static void each_variable(const struct ls_spec *spec, ls_variable_fn *each, void *arg)
{
	static const char *const nvidia[][2] = {{"NVIDIA_VISIBLE_DEVICES", "all"},
						{"NVIDIA_DRIVER_CAPABILITIES", "compute,utility"}};
	char key[64];
	for (size_t i = 0; i < 2 && ls_spec_wants_cuda(spec); i++) {
		snprintf(key, sizeof key, "env.%s", nvidia[i][0]);
		if (!ls_spec_exact(spec, key))
			each(arg, nvidia[i][0], nvidia[i][1]);
	}
	ls_render_each_variable(spec, each, arg);
}

static void doctor(const struct ls_spec *spec, struct ls_str *out)
{
	ls_str_addf(out, "lockstep doctor %s--spec %s", ls_render_cuda(spec),
		    ls_render_spec_in_image(spec));
}

/* --- docker-compose.yml --- */

/* A dollar begins a variable of compose's own. */
static void compose_variable(void *arg, const char *name, const char *value)
{
	struct ls_str twice = {0};
	for (const char *c = value; *c; c++)
		ls_str_addf(&twice, "%s%c", *c == '$' ? "$" : "", *c);
	ls_str_addf(arg, "      %s: ", name);
	ls_render_json_string(twice.s ? twice.s : "", arg);
	ls_str_add(arg, "\n");
	ls_str_done(&twice);
}

static void compose_gpus(const struct ls_spec *spec, struct ls_str *out)
{
	const struct ls_check *gpus = ls_spec_find(spec, "gpus");
	size_t count = gpus ? ls_gpuset_count(gpus->gpus) : 0;
	ls_str_add(out, "    deploy:\n"
			"      resources:\n"
			"        reservations:\n"
			"          devices:\n"
			"            - driver: nvidia\n");
	if (count)
		ls_str_addf(out, "              count: %zu\n", count);
	else
		ls_str_add(out, "              count: all\n");
	ls_str_add(out, "              capabilities: [gpu]\n");
}

/* Docker knows 0 and 1: what cannot be judged is not healthy either. */
static void compose_health(const struct ls_spec *spec, struct ls_str *out)
{
	ls_str_add(out, "    healthcheck:\n      test: [\"CMD-SHELL\", \"");
	doctor(spec, out);
	ls_str_add(out, " --fail-on-mismatch || exit 1\"]\n"
			"      interval: 5m\n"
			"      timeout: 60s\n"
			"      retries: 2\n"
			"      start_period: 60s\n");
}

int ls_render_compose(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err)
{
	struct ls_str variables = {0};
	const char *ref;
	int rc = check_image(spec, "docker-compose.yml", err);
	if (!rc)
		rc = ls_render_spec_ref(spec, &ref, err);
	if (rc)
		return rc;
	ls_render_head(spec, "compose", "#", out);
	ls_str_addf(out, "services:\n  %s:\n    image: ", spec->name);
	ls_render_json_string(ls_render_tag(spec), out);
	ls_str_add(out, "\n    build:\n"
			"      context: .\n"
			"      dockerfile: Dockerfile.ci.cuda\n");
	each_variable(spec, compose_variable, &variables);
	if (variables.len)
		ls_str_addf(out, "    environment:\n%s", variables.s);
	ls_str_done(&variables);
	if (ls_spec_wants_cuda(spec))
		compose_gpus(spec, out);
	compose_health(spec, out);
	ls_str_add(out, "    # workers of a DataLoader hand over batches in shared memory\n"
			"    ipc: host\n"
			"    init: true\n"
			"    volumes:\n"
			"      - .:/workspace\n"
			"    # put the service's own command here\n"
			"    command: [\"sleep\", \"infinity\"]\n");
	return 0;
}

/* --- devcontainer.json --- */

static void container_variable(void *arg, const char *name, const char *value)
{
	json_object_set_new(arg, name, json_string(value));
}

static json_t *run_args(const struct ls_spec *spec)
{
	return ls_spec_wants_cuda(spec) ? json_pack("[s,s,s]", "--gpus", "all", "--ipc=host")
					: json_pack("[s]", "--ipc=host");
}

int ls_render_devcontainer(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err)
{
	struct ls_str look = {0};
	const char *ref;
	int rc = check_image(spec, "a development container", err);
	if (!rc)
		rc = ls_render_spec_ref(spec, &ref, err);
	if (rc)
		return rc;
	json_t *variables = json_object();
	each_variable(spec, container_variable, variables);
	doctor(spec, &look);
	json_t *doc = json_pack("{s:s,s:{s:s,s:s},s:o,s:o,s:s,s:s}", "name", spec->name, "build",
				"dockerfile", "../Dockerfile.ci.cuda", "context", "..", "runArgs",
				run_args(spec), "containerEnv", variables, "remoteUser", "runner",
				"postStartCommand", look.s);
	if (ls_spec_wants_cuda(spec))
		json_object_set_new(doc, "hostRequirements", json_pack("{s:b}", "gpu", 1));
	char *text = ls_json_text(doc);
	ls_render_head(spec, "devcontainer", "//", out);
	ls_str_add(out, text);
	free(text);
	json_decref(doc);
	ls_str_done(&look);
	return 0;
}
