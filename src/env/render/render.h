/* Files made from one spec, so that a version bump is one edit: Dockerfile,
 * requirements.txt, GitHub Actions workflow, Makefile, Kaggle bootstrap script,
 * docker-compose.yml, conda's environment.yml, devcontainer.json. Text is appended to the
 * caller's string; the spec is borrowed for the call. No state; any thread. */
#ifndef LS_ENV_RENDER_RENDER_H
#define LS_ENV_RENDER_RENDER_H

#include "base/err.h"
#include "base/str.h"
#include "env/render/lock.h"
#include "env/spec/spec.h"

/* Fail with LS_EINPUT when the spec lacks what the file needs (an image, a version that
 * pip can be told). */
int ls_render_dockerfile(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err);
int ls_render_requirements(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err);
/* With the hashes of the lock, and with what the packages need in turn. */
int ls_render_locked(const struct ls_spec *spec, const struct ls_lock *lock, struct ls_str *out,
		     struct ls_err *err);
int ls_render_github(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err);
int ls_render_makefile(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err);
int ls_render_kaggle_boot(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err);
int ls_render_compose(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err);
int ls_render_conda(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err);
int ls_render_devcontainer(const struct ls_spec *spec, struct ls_str *out, struct ls_err *err);

/* --- shared by the renderers --- */

/* "# Rendered by …" and the spec's name and description, each line behind prefix. */
void ls_render_head(const struct ls_spec *spec, const char *option, const char *prefix,
		    struct ls_str *out);
/* How files refer to the spec: the path it was read from, or its shipped name. */
int ls_render_spec_ref(const struct ls_spec *spec, const char **ret, struct ls_err *err);
bool ls_render_spec_is_file(const struct ls_spec *spec);
/* The same inside of the image that the Dockerfile makes. */
const char *ls_render_spec_in_image(const struct ls_spec *spec);
const char *ls_render_tag(const struct ls_spec *spec); /* what the built image is called */
/* "--cuda " for doctor, or "" when the spec is about a machine without a GPU, on which
 * that demand could never be met. */
const char *ls_render_cuda(const struct ls_spec *spec);
/* text as a JSON string, which YAML reads the same. */
void ls_render_json_string(const char *text, struct ls_str *out);
/* text as one shell word. */
void ls_render_quote(const char *text, struct ls_str *out);
/* Calls each for every requirement ("torch==2.3.1+cu121"), torch first, then the
 * packages, then the further lines. */
typedef void ls_requirement_fn(void *arg, const char *requirement);
int ls_render_each_requirement(const struct ls_spec *spec, ls_requirement_fn *each, void *arg,
			       struct ls_err *err);
/* LS_EINPUT when a line has a hash, which pip does not take on its command line. */
int ls_render_check_hashes(const struct ls_spec *spec, struct ls_err *err);
/* A comment for each package that was captured and that no index has. */
void ls_render_nowhere(const struct ls_spec *spec, const char *indent, struct ls_str *out);
/* Calls each for every address that pip needs: the spec's own, or PyTorch's for the
 * builds that it pins. */
typedef void ls_index_fn(void *arg, const char *option, const char *address);
void ls_render_each_index(const struct ls_spec *spec, ls_index_fn *each, void *arg);
/* Calls each for every environment variable that the spec pins to one value. */
typedef void ls_variable_fn(void *arg, const char *name, const char *value);
void ls_render_each_variable(const struct ls_spec *spec, ls_variable_fn *each, void *arg);

#endif
