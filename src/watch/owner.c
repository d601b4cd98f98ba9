#include "watch/owner.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void ls_owner_of_cgroup(const char *text, struct ls_process_owner *ret)
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

/* A text that somebody else chose, and that may hold anything. */
static void take_printable(char ret[LS_OWNER_TEXT], const char *text)
{
	struct ls_str s = {0};
	ls_str_add_printable(&s, text);
	take(ret, s.s ? s.s : "", s.len);
	ls_str_done(&s);
}

void ls_owner_of_environ(const char *text, size_t len, struct ls_process_owner *ret)
{
	static const char name[] = "LOCKSTEP_EXPERIMENT=";
	enum { NAME = sizeof name - 1 };
	ret->experiment[0] = 0;
	for (size_t at = 0; at < len;) {
		size_t n = strnlen(text + at, len - at);
		if (n > NAME && memcmp(text + at, name, NAME) == 0) {
			char *value = ls_xstrndup(text + at + NAME, n - NAME);
			take_printable(ret->experiment, value);
			free(value);
			return;
		}
		at += n + 1;
	}
}

/* The name in parentheses may hold parentheses and blanks. */
unsigned ls_owner_parent_of(const char *stat)
{
	const char *p = stat ? strrchr(stat, ')') : NULL;
	unsigned parent = 0;
	return p && sscanf(p + 1, " %*c %u", &parent) == 1 ? parent : 0;
}

unsigned long long ls_owner_begin_of(const char *stat)
{
	enum { FIELDS = 19 }; /* between the name and the begin */
	const char *p = stat ? strrchr(stat, ')') : NULL;
	p = p ? p + 1 : NULL;
	for (int i = 0; p && i < FIELDS; i++) {
		p += strspn(p, " ");
		p = strchr(p, ' ');
	}
	return p ? strtoull(p, NULL, 10) : 0;
}

static const char *line_of(const char *text, const char *key)
{
	const char *p = text;
	while (p && !ls_str_starts(p, key)) {
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
	return p ? p + strlen(key) : NULL;
}

long ls_owner_of_status(const char *text, struct ls_process_owner *ret)
{
	const char *uid = line_of(text, "Uid:"), *memory = line_of(text, "VmRSS:");
	char *end = NULL;
	unsigned long long kb = memory ? strtoull(memory, NULL, 10) : 0;
	long number = uid ? strtol(uid, &end, 10) : -1;
	ret->host_memory = kb < UINT64_MAX >> 10 ? kb << 10 : 0;
	return end == uid || number < 0 ? -1 : number;
}

void ls_owner_user_of(const char *passwd, unsigned long uid, char ret[LS_OWNER_TEXT])
{
	ret[0] = 0;
	for (const char *p = passwd; p && *p;) {
		size_t name = strcspn(p, ":\n");
		const char *number = p[name] == ':' ? strpbrk(p + name + 1, ":\n") : NULL;
		char *end;
		if (number && *number == ':' && strtoul(number + 1, &end, 10) == uid &&
		    end != number + 1 && *end == ':') {
			take(ret, p, name);
			return;
		}
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
}

static void look_user(const char *root, unsigned pid, struct ls_process_owner *ret)
{
	char path[64], name[LS_OWNER_TEXT] = "";
	snprintf(path, sizeof path, "/proc/%u/status", pid);
	char *status = ls_root_read(root, path, 1 << 16, NULL);
	long uid = status ? ls_owner_of_status(status, ret) : -1;
	free(status);
	if (uid < 0)
		return;
	char *users = ls_root_read(root, "/etc/passwd", 1 << 20, NULL);
	ls_owner_user_of(users, (unsigned long)uid, name);
	free(users);
	if (*name)
		take_printable(ret->user, name);
	else
		snprintf(ret->user, sizeof ret->user, "%ld", uid);
}

static void look_begin(const char *root, unsigned pid, struct ls_process_owner *ret)
{
	char path[64];
	long ticks = sysconf(_SC_CLK_TCK);
	snprintf(path, sizeof path, "/proc/%u/stat", pid);
	char *stat = ls_root_line(root, path);
	if (stat && ticks > 0)
		ret->started = (double)ls_owner_begin_of(stat) / (double)ticks;
	free(stat);
}

bool ls_owner_descends(const char *root, unsigned pid, unsigned ancestor)
{
	enum { GENERATIONS = 64 };
	for (int i = 0; pid > 1 && i < GENERATIONS; i++) {
		char path[64];
		if (pid == ancestor)
			return true;
		snprintf(path, sizeof path, "/proc/%u/stat", pid);
		char *stat = ls_root_line(root, path);
		pid = ls_owner_parent_of(stat);
		free(stat);
	}
	return false;
}

void ls_owner_look(const char *root, unsigned pid, struct ls_process_owner *ret)
{
	enum { ENVIRON = 1 << 20 };
	char path[64];
	size_t len = 0;
	memset(ret, 0, sizeof *ret);
	snprintf(path, sizeof path, "/proc/%u/comm", pid);
	char *name = ls_root_line(root, path);
	if (name)
		take_printable(ret->name, name);
	free(name);
	snprintf(path, sizeof path, "/proc/%u/cgroup", pid);
	char *groups = ls_root_read(root, path, 1 << 16, NULL);
	ls_owner_of_cgroup(groups, ret);
	free(groups);
	snprintf(path, sizeof path, "/proc/%u/environ", pid);
	char *variables = ls_root_read(root, path, ENVIRON, &len);
	if (variables)
		ls_owner_of_environ(variables, len, ret);
	free(variables);
	look_user(root, pid, ret);
	look_begin(root, pid, ret);
}
