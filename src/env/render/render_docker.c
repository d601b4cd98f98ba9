/* The Dockerfile of a spec: a first stage builds lockstep on the same base, the second is
 * the environment itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "env/render/render.h"
#include "env/spec/compat.h"
#include "env/spec/spec_image.h"
#include "env/spec/spec_wheels.h"

/* How Python gets into the image. */
struct python_way {
	char minor[24]; /* "3.10", or "" when the spec leaves it open */
	enum { PRESENT, DISTRIBUTION, DEADSNAKES } way;
};

static int choose_python(const struct ls_spec *spec, struct python_way *ret, struct ls_err *err)
{
	struct ls_image_ref ref;
	const struct ls_check *c = ls_spec_find(spec, "python");
	const char *lowest = c ? ls_matcher_lowest(c->matcher) : NULL;
	*ret = (struct python_way){.way = DISTRIBUTION};
	if (!ls_image_ref_parse(spec->image.base, &ref))
		ref = (struct ls_image_ref){0};
	if (lowest && !ls_compat_minor(lowest, ret->minor, sizeof ret->minor))
		ret->minor[0] = 0;
	bool agrees = !*ret->minor || !*ref.python || strcmp(ret->minor, ref.python) == 0 ||
		      ls_matcher_test(c->matcher, ref.python) == LS_MATCH_YES;
	if (ref.has_python)
		ret->way = PRESENT;
	else if (!agrees && ref.ubuntu)
		ret->way = DEADSNAKES;
	if (!agrees && ret->way != DEADSNAKES)
		return ls_err_set(err, LS_EINPUT,
				  "%s: image %s comes with Python %s, the spec asks for %s: choose "
				  "python:%s-slim",
				  spec->path, spec->image.base, ref.python, ls_check_text(c),
				  ret->minor);
	return 0;
}

static void from_line(const struct ls_spec *spec, const char *as, struct ls_str *out)
{
	ls_str_addf(out, "FROM %s%s%s%s%s\n", spec->image.base, spec->image.digest ? "@" : "",
		    spec->image.digest ? spec->image.digest : "", *as ? " AS " : "", as);
}

static void install(const char *const *packages, struct ls_str *out)
{
	ls_str_add(out, "apt-get update \\\n && apt-get install -y --no-install-recommends");
	for (; *packages; packages++)
		ls_str_addf(out, " \\\n      %s", *packages);
	ls_str_add(out, " \\\n && rm -rf /var/lib/apt/lists/*\n");
}

static void build_stage(const struct ls_spec *spec, struct ls_str *out)
{
	static const char *const packages[] = {"ca-certificates", "gcc",        "libc6-dev",
					       "libjansson-dev",  "libssl-dev", "libxxhash-dev",
					       "ninja-build",     "pkg-config", "python3",
					       "python3-venv",    "zlib1g-dev", NULL};
	ls_str_add(out, "\n# lockstep itself, built where it will run; ./lockstep is its source (a "
			"submodule or a checkout)\n");
	from_line(spec, "lockstep", out);
	ls_str_add(out, "ARG DEBIAN_FRONTEND=noninteractive\nSHELL [\"/bin/bash\", \"-o\", "
			"\"pipefail\", \"-c\"]\nRUN ");
	install(packages, out);
	ls_str_add(out,
		   "RUN python3 -m venv /opt/cmake && /opt/cmake/bin/pip install --no-cache-dir "
		   "cmake==3.31.6\n"
		   "COPY lockstep/ /src/\n"
		   "# with its libraries beside it, so that the folder also runs in other images "
		   "of this age\n"
		   "RUN /opt/cmake/bin/cmake -S /src -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release "
		   "-DBUILD_TESTING=OFF \\\n"
		   "      -DCMAKE_INSTALL_PREFIX=/opt/lockstep -DCMAKE_INSTALL_LIBDIR=lib "
		   "'-DCMAKE_INSTALL_RPATH=$ORIGIN/../lib' \\\n"
		   " && /opt/cmake/bin/cmake --build /build \\\n"
		   " && /opt/cmake/bin/cmake --install /build \\\n"
		   " && ldd /opt/lockstep/bin/lockstep | awk '/jansson|xxhash|crypto|libz\\./ "
		   "{print $3}' \\\n"
		   "      | xargs -I{} cp -L {} /opt/lockstep/lib/\n");
}

static void variable(void *arg, const char *name, const char *value)
{
	struct ls_str *out = arg;
	ls_str_addf(out, " \\\n    %s=\"", name);
	for (; *value; value++)
		ls_str_addf(out, "%s%c", strchr("\"\\$", *value) ? "\\" : "", *value);
	ls_str_add(out, "\"");
}

static void apt_stage(const struct ls_spec *spec, const struct python_way *python,
		      struct ls_str *out)
{
	enum { MAX = 64 };
	char *named[] = {
		ls_xasprintf("python%s", python->way == DEADSNAKES ? python->minor : "3"),
		ls_xasprintf("python%s-venv", python->way == DEADSNAKES ? python->minor : "3")};
	const char *list[MAX + 4] = {"ca-certificates"};
	size_t n = 1;
	for (size_t i = 0; i < 2 && python->way != PRESENT; i++)
		list[n++] = named[i];
	for (char **p = spec->image.apt; p && *p && n < MAX; p++)
		list[n++] = *p;
	list[n] = NULL;
	ls_str_add(out, "RUN ");
	if (python->way == DEADSNAKES)
		ls_str_add(out, "apt-get update \\\n && apt-get install -y --no-install-recommends "
				"software-properties-common \\\n"
				" && add-apt-repository -y ppa:deadsnakes/ppa \\\n && ");
	install(list, out);
	free(named[0]);
	free(named[1]);
}

static void pip_word(void *arg, const char *requirement)
{
	struct ls_str *out = arg;
	ls_str_add(out, " \\\n      ");
	ls_render_quote(requirement, out);
}

static void index_word(void *arg, const char *option, const char *address)
{
	ls_str_addf(arg, " %s %s", option, address);
}

static int pip_stage(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err)
{
	struct ls_str words = {0};
	int rc = ls_render_check_hashes(spec, err);
	if (!rc)
		rc = ls_render_each_requirement(spec, pip_word, &words, err);
	if (!rc && words.len) {
		ls_str_add(out, "RUN pip install --no-cache-dir");
		ls_render_each_index(spec, index_word, out);
		ls_str_addf(out, "%s\n", words.s);
	}
	ls_str_done(&words);
	return rc;
}

static void final_lines(const struct ls_spec *spec, const char *ref, struct ls_str *out)
{
	const char *spec_word = ls_render_spec_in_image(spec);
	ls_str_add(out, "COPY --from=lockstep /opt/lockstep /opt/lockstep\n");
	if (ls_render_spec_is_file(spec))
		ls_str_addf(out, "COPY %s %s\n", ref, spec_word);
	ls_str_addf(out,
		    "# what can be told without a GPU must already agree: 3 is \"cannot tell "
		    "here\", anything else "
		    "stops the build\n"
		    "RUN lockstep doctor --spec %s --fail-on-mismatch || [ $? -eq 3 ]\n"
		    "RUN useradd --create-home --shell /bin/bash runner\nUSER runner\nWORKDIR "
		    "/workspace\n"
		    "CMD [\"lockstep\", \"doctor\", %s\"--spec\", \"%s\"]\n",
		    spec_word, ls_spec_wants_cuda(spec) ? "\"--cuda\", " : "", spec_word);
}

int ls_render_dockerfile(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err)
{
	const char *ref;
	struct python_way python;
	if (!spec->image.base)
		return ls_err_set(err, LS_EINPUT,
				  "%s: a Dockerfile needs \"image\": the image to start from",
				  spec->path);
	int rc = ls_render_spec_ref(spec, &ref, err);
	if (!rc)
		rc = choose_python(spec, &python, err);
	if (rc)
		return rc;
	ls_str_add(out, "# syntax=docker/dockerfile:1\n");
	ls_render_head(spec, "dockerfile", "#", out);
	build_stage(spec, out);
	ls_str_add(out, "\n");
	from_line(spec, "", out);
	ls_str_add(out, "ARG DEBIAN_FRONTEND=noninteractive\nSHELL [\"/bin/bash\", \"-o\", "
			"\"pipefail\", \"-c\"]\n"
			"ENV LANG=\"C.UTF-8\" \\\n    LC_ALL=\"C.UTF-8\" \\\n    "
			"PYTHONDONTWRITEBYTECODE=\"1\"");
	ls_render_each_variable(spec, variable, out);
	ls_str_add(out, "\n");
	apt_stage(spec, &python, out);
	ls_str_addf(out,
		    "RUN python%s -m venv /opt/venv\nENV "
		    "PATH=\"/opt/venv/bin:/opt/lockstep/bin:$PATH\"\n",
		    python.way == DEADSNAKES ? python.minor : "3");
	rc = pip_stage(spec, out, err);
	if (!rc)
		final_lines(spec, ref, out);
	return rc;
}
