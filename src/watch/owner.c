#include "watch/owner.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/root.h"

static size_t word(const char *p, int (*is)(int))
{
	size_t n = 0;
	while (p[n] && is((unsigned char)p[n]))
		n++;
	return n;
}

static void take(char ret[LS_OWNER_TEXT], const char *p, size_t n)
{
	snprintf(ret, LS_OWNER_TEXT, "%.*s", (int)(n < LS_OWNER_TEXT ? n : LS_OWNER_TEXT - 1), p);
}

/* A path component of Slurm: "job_4711", or an SLUID directly below slurmstepd's scope,
 * in front of a "step_". */
static void find_job(const char *path, char ret[LS_OWNER_TEXT])
{
	const char *p = strstr(path, "/job_");
	size_t n = p ? word(p + 5, isdigit) : 0;
	if (n && strstr(path, "slurm")) {
		take(ret, p + 5, n);
		return;
	}
	p = strstr(path, "slurmstepd.scope/");
	if (!p)
		return;
	p += strlen("slurmstepd.scope/");
	n = word(p, isalnum);
	if (n > 4 && *p == 's' && strncmp(p + n, "/step_", 6) == 0)
		take(ret, p, n);
}

/* Docker, containerd, CRI-O and Podman name the group by 64 hexadecimal digits. */
static void find_container(const char *path, char ret[LS_OWNER_TEXT])
{
	enum { ID = 64, SHOWN = 12 };
	for (const char *p = path; *p;) {
		size_t n = word(p, isxdigit);
		if (n == ID) {
			take(ret, p, SHOWN);
			return;
		}
		p += n ? n : 1;
	}
}

void ls_owner_of_cgroup(const char *text, struct ls_owner *ret)
{
	ret->job[0] = ret->container[0] = 0;
	while (text && *text) {
		size_t len = strcspn(text, "\n");
		char *line = ls_xstrndup(text, len < 4096 ? len : 4096);
		if (!*ret->job)
			find_job(line, ret->job);
		if (!*ret->container)
			find_container(line, ret->container);
		free(line);
		text += len + (text[len] == '\n');
	}
}

void ls_owner_look(const char *root, unsigned pid, struct ls_owner *ret)
{
	char path[64];
	memset(ret, 0, sizeof *ret);
	snprintf(path, sizeof path, "/proc/%u/comm", pid);
	char *name = ls_root_line(root, path);
	if (name) { /* a program chooses its name, which may hold anything */
		struct ls_str s = {0};
		ls_str_add_printable(&s, name);
		take(ret->name, s.s ? s.s : "", s.len);
		ls_str_done(&s);
	}
	free(name);
	snprintf(path, sizeof path, "/proc/%u/cgroup", pid);
	char *groups = ls_root_read(root, path, 1 << 16, NULL);
	ls_owner_of_cgroup(groups, ret);
	free(groups);
}
