/* In a container or not, its image where something tells, and NVIDIA's container
 * toolkit. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/environ.h"
#include "env/facts/root.h"
#include "env/gather/look.h"

struct sign {
	const char *kind;
	const char *source;
};

static bool cgroup_says(const char *text, const char *word)
{
	return text && strstr(text, word) != NULL;
}

static struct sign find_container(const struct ls_look *look, const char *cgroup)
{
	if (ls_env_get(look->how->env, "KAGGLE_KERNEL_RUN_TYPE"))
		return (struct sign){"kaggle", "environment: KAGGLE_KERNEL_RUN_TYPE"};
	if (ls_env_get(look->how->env, "KUBERNETES_SERVICE_HOST"))
		return (struct sign){"kubernetes", "environment: KUBERNETES_SERVICE_HOST"};
	if (ls_env_get(look->how->env, "APPTAINER_CONTAINER"))
		return (struct sign){"apptainer", "environment: APPTAINER_CONTAINER"};
	if (ls_env_get(look->how->env, "SINGULARITY_CONTAINER"))
		return (struct sign){"apptainer", "environment: SINGULARITY_CONTAINER"};
	if (ls_root_exists(look->root, "/run/.containerenv"))
		return (struct sign){"podman", "/run/.containerenv"};
	if (ls_root_exists(look->root, "/.dockerenv"))
		return (struct sign){"docker", "/.dockerenv"};
	if (cgroup_says(cgroup, "kubepods"))
		return (struct sign){"kubernetes", "/proc/1/cgroup"};
	if (cgroup_says(cgroup, "docker") || cgroup_says(cgroup, "containerd"))
		return (struct sign){"docker", "/proc/1/cgroup"};
	if (cgroup_says(cgroup, "/lxc"))
		return (struct sign){"lxc", "/proc/1/cgroup"};
	if (ls_env_get(look->how->env, "container"))
		return (struct sign){ls_env_get(look->how->env, "container"),
				     "environment: container"};
	return (struct sign){0};
}

/* podman writes image="localhost/library/debian:12" */
static char *containerenv_image(const struct ls_look *look)
{
	char *text = ls_root_read(look->root, "/run/.containerenv", 1 << 14, NULL);
	const char *p = text ? strstr(text, "image=\"") : NULL;
	char *image = NULL;
	if (p && p[7] != '"')
		image = ls_xstrndup(p + 7, strcspn(p + 7, "\"\n"));
	free(text);
	return image;
}

static void image(struct ls_look *look, bool inside)
{
	char *named = containerenv_image(look);
	const char *apptainer = ls_env_get(look->how->env, "APPTAINER_CONTAINER");
	const char *cuda = ls_env_get(look->how->env, "CUDA_VERSION"),
		   *require = ls_env_get(look->how->env, "NVIDIA_REQUIRE_CUDA");
	if (!apptainer)
		apptainer = ls_env_get(look->how->env, "SINGULARITY_CONTAINER");
	if (named) {
		ls_facts_set(look->facts, "image", named, "/run/.containerenv");
	} else if (apptainer) {
		ls_facts_set(look->facts, "image", apptainer, "environment: APPTAINER_CONTAINER");
	} else if (inside && cuda && require) {
		char *text = ls_xasprintf("made from nvidia/cuda:%s", cuda);
		ls_facts_set(look->facts, "image", text,
			     "environment: CUDA_VERSION, NVIDIA_REQUIRE_CUDA");
		free(text);
	} else if (inside) {
		ls_facts_unknown(look->facts, "image", "/run/.containerenv, environment",
				 "a container is not told its image; podman and apptainer say it, "
				 "docker does not");
	} else {
		ls_facts_absent(look->facts, "image", "/run/.containerenv, environment",
				"not in a container");
	}
	free(named);
}

char *ls_look_dpkg(const struct ls_look *look, const char *package)
{
	size_t len = 0;
	char *text = ls_root_read(look->root, "/var/lib/dpkg/status", 64 << 20, &len);
	if (!text)
		return NULL;
	char *head = ls_xasprintf("\nPackage: %s\n", package), *version = NULL;
	const char *p = ls_str_starts(text, head + 1) ? text : strstr(text, head);
	const char *end = p ? strstr(p, "\n\n") : NULL;
	const char *v = p ? strstr(p + 1, "\nVersion: ") : NULL;
	if (v && (!end || v < end))
		version = ls_xstrndup(v + 10, strcspn(v + 10, "\n"));
	free(head);
	free(text);
	return version;
}

static const char *toolkit_program(const struct ls_look *look)
{
	static const char *const places[] = {"/usr/bin/nvidia-ctk", "/usr/bin/nvidia-container-cli",
					     "/usr/local/nvidia/toolkit/nvidia-ctk", NULL};
	for (const char *const *p = places; *p; p++)
		if (ls_root_exists(look->root, *p))
			return *p;
	return NULL;
}

/* Inside a container the toolkit shows by what it mounted. */
static bool driver_is_mounted(const struct ls_look *look)
{
	char *text = ls_root_read(look->root, "/proc/self/mountinfo", 1 << 20, NULL);
	bool yes = text && (strstr(text, "libnvidia-ml.so") || strstr(text, "/proc/driver/nvidia"));
	free(text);
	return yes;
}

static void container_toolkit(struct ls_look *look, bool inside)
{
	static const char key[] = "container_toolkit";
	char *version = ls_look_dpkg(look, "nvidia-container-toolkit");
	const char *program = toolkit_program(look);
	if (version) {
		/* upstream's number only: 1.17.8-1 */
		version[strcspn(version, "-+~")] = 0;
		ls_facts_set(look->facts, key, version,
			     "/var/lib/dpkg/status: nvidia-container-toolkit");
	} else if (inside && driver_is_mounted(look)) {
		ls_facts_unknown(
			look->facts, key, "/proc/self/mountinfo",
			"it mounted the driver into this container; its version is on the host");
	} else if (program) {
		ls_facts_unknown(look->facts, key, program,
				 "the program is there, no package database has its version");
	} else if (inside) {
		ls_facts_unknown(look->facts, key, "/proc/self/mountinfo",
				 "no driver is mounted into this container; the toolkit would be "
				 "on the host");
	} else {
		ls_facts_absent(look->facts, key, "/usr/bin/nvidia-ctk", "not installed");
	}
	free(version);
}

void ls_look_container(struct ls_look *look)
{
	char *cgroup = ls_root_read(look->root, "/proc/1/cgroup", 1 << 16, NULL);
	struct sign sign = find_container(look, cgroup);
	if (sign.kind)
		ls_facts_set(look->facts, "container", sign.kind, sign.source);
	else
		ls_facts_absent(look->facts, "container",
				"/.dockerenv, /run/.containerenv, /proc/1/cgroup, environment",
				"no sign of one");
	image(look, sign.kind != NULL);
	container_toolkit(look, sign.kind != NULL);
	free(cgroup);
}
