#include "base/cgroup.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

char *ls_cgroup_file(const char *folder, const char *name)
{
	char *path = ls_xasprintf("%s/%s", folder, name), *text = NULL;
	size_t length;
	if (ls_file_read(path, 1 << 20, &text, &length, NULL))
		text = NULL;
	free(path);
	return text;
}

struct walk {
	const char *root, *controller;
	ls_cgroup_at *at;
	void *context;
};

/* Visits the group and every group above it. */
static void upwards(const struct walk *w, const char *below, const char *group, bool v2)
{
	char *path =
		ls_xasprintf("%s/sys/fs/cgroup%s%s%s", w->root, *below ? "/" : "", below, group);
	char *begin = path + strlen(path) - strlen(group), *slash;
	do {
		w->at(w->context, path, v2);
		slash = strrchr(begin, '/');
		if (slash)
			*slash = '\0';
	} while (slash);
	free(path);
}

/* A line of /proc/self/cgroup: "0::/a/b" for version 2, "4:cpu,cpuacct:/a/b" for version
 * 1. */
static void line(const struct walk *w, char *text)
{
	char *names = strchr(text, ':'), *group = names ? strchr(names + 1, ':') : NULL;
	if (!group)
		return;
	*names++ = *group++ = '\0';
	if (!*names)
		upwards(w, "", group, true);
	for (char *rest = names, *name; *names && (name = strsep(&rest, ","));)
		if (strcmp(name, w->controller) ==
		    0) { /* the folder may be a link, one of several names of a controller */
			upwards(w, name, group, false);
			return;
		}
}

void ls_cgroup_each(const char *root, const char *controller, ls_cgroup_at *at, void *context)
{
	struct walk w = {root, controller, at, context};
	char *proc = ls_xasprintf("%s/proc/self", root), *text = ls_cgroup_file(proc, "cgroup"),
	     *rest = text, *one;
	while ((one = strsep(&rest, "\n")))
		line(&w, one);
	free(text);
	free(proc);
}
