/* Operating system, kernel, C library, processor, memory. */
#include <ctype.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/facts/root.h"
#include "env/gather/look.h"

/* The value of NAME=value or NAME="value" in os-release; caller frees. */
static char *release_value(const char *text, const char *name)
{
	size_t len = strlen(name);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) != 0 || line[len] != '=')
			continue;
		const char *v = line + len + 1;
		char quote = *v == '"' || *v == '\'' ? *v++ : 0;
		size_t n = quote ? strcspn(v, (char[]){quote, '\n', 0}) : strcspn(v, "\n");
		return ls_xstrndup(v, n);
	}
	return NULL;
}

static void os(struct ls_look *look)
{
	const char *path = "/etc/os-release";
	char *text = ls_root_read(look->root, path, 1 << 16, NULL);
	if (!text)
		text = ls_root_read(look->root, path = "/usr/lib/os-release", 1 << 16, NULL);
	if (!text) {
		ls_facts_unknown(look->facts, "os", "/etc/os-release", "the file is not there");
		return;
	}
	char *id = release_value(text, "ID"), *version = release_value(text, "VERSION_ID");
	char *pretty = release_value(text, "PRETTY_NAME");
	struct ls_str s = {0};
	ls_str_addf(&s, "%s%s%s", id ? id : "linux", version ? " " : "", version ? version : "");
	ls_facts_set(look->facts, "os", s.s, path);
	if (pretty)
		ls_facts_note(look->facts, "os", pretty);
	ls_str_done(&s);
	free(id);
	free(version);
	free(pretty);
	free(text);
}

static void host(struct ls_look *look)
{
	static const char path[] = "/proc/sys/kernel/hostname";
	char *name = ls_root_line(look->root, path);
	if (name)
		ls_facts_set(look->facts, "host", name, path);
	else
		ls_facts_unknown(look->facts, "host", path, "the file is not there");
	free(name);
}

static void kernel(struct ls_look *look)
{
	char *release = ls_root_line(look->root, "/proc/sys/kernel/osrelease");
	if (release)
		ls_facts_set(look->facts, "kernel", release, "/proc/sys/kernel/osrelease");
	else
		ls_facts_unknown(look->facts, "kernel", "/proc/sys/kernel/osrelease",
				 "the file is not there");
	free(release);
}

/* "…stable release version 2.36." is in the text of every glibc. */
static char *glibc_in(const char *bytes, size_t len)
{
	static const char mark[] = "release version ";
	const char *p = memmem(bytes, len, mark, sizeof mark - 1);
	if (!p)
		return NULL;
	p += sizeof mark - 1;
	size_t n = 0;
	while (p + n < bytes + len && (isdigit((unsigned char)p[n]) || p[n] == '.'))
		n++;
	while (n && p[n - 1] == '.')
		n--;
	return n ? ls_xstrndup(p, n) : NULL;
}

static void glibc(struct ls_look *look)
{
	if (!*look->root) {
		ls_facts_set(look->facts, "glibc", gnu_get_libc_version(), "gnu_get_libc_version");
		return;
	}
	static const char *const places[] = {"/lib/x86_64-linux-gnu/libc.so.6",
					     "/lib/aarch64-linux-gnu/libc.so.6", "/lib64/libc.so.6",
					     NULL};
	for (const char *const *p = places; *p; p++) {
		size_t len = 0;
		char *bytes = ls_root_read(look->root, *p, 8 << 20, &len);
		char *version = bytes ? glibc_in(bytes, len) : NULL;
		free(bytes);
		if (version) {
			ls_facts_set(look->facts, "glibc", version, *p);
			free(version);
			return;
		}
	}
	ls_facts_unknown(look->facts, "glibc", "libc.so.6", "no C library was found");
}

/* The value of the first "name : value" line of /proc/cpuinfo; caller frees. */
static char *cpuinfo_value(const char *text, const char *name)
{
	size_t len = strlen(name);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) != 0)
			continue;
		const char *p = line + len + strspn(line + len, " \t");
		if (*p != ':')
			continue;
		p += 1 + strspn(p + 1, " \t");
		return ls_xstrndup(p, strcspn(p, "\n"));
	}
	return NULL;
}

/* ARM cores have numbers, not names. From ARM's and the vendors' manuals of the MIDR
 * register. */
static char *arm_name(const char *text)
{
	static const struct {
		unsigned implementer, part;
		const char *name;
	} cores[] = {{0x41, 0xd07, "Cortex-A57"},  {0x41, 0xd08, "Cortex-A72"},
		     {0x41, 0xd0b, "Cortex-A76"},  {0x41, 0xd0c, "Neoverse-N1"},
		     {0x41, 0xd40, "Neoverse-V1"}, {0x41, 0xd49, "Neoverse-N2"},
		     {0x41, 0xd4f, "Neoverse-V2"}, {0x41, 0xd84, "Neoverse-V3"},
		     {0x41, 0xd8e, "Neoverse-N3"}, {0x4e, 0x004, "Carmel"},
		     {0xc0, 0xac3, "Ampere-1"},    {0xc0, 0xac4, "Ampere-1a"}};
	char *implementer = cpuinfo_value(text, "CPU implementer"),
	     *part = cpuinfo_value(text, "CPU part");
	char *name = NULL;
	if (implementer && part) {
		unsigned long i = strtoul(implementer, NULL, 16), p = strtoul(part, NULL, 16);
		for (size_t k = 0; k < sizeof cores / sizeof *cores && !name; k++)
			if (cores[k].implementer == i && cores[k].part == p)
				name = ls_xstrdup(cores[k].name);
		if (!name)
			name = ls_xasprintf("ARM implementer 0x%lx part 0x%lx", i, p);
	}
	free(implementer);
	free(part);
	return name;
}

/* Those of the flags that decide which code path a numeric library takes. */
static char *isa_of(const char *flags)
{
	static const char *const wanted[] = {
		"sse4_2",   "avx",      "f16c",        "fma",         "avx2",        "avx512f",
		"avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile",
		"amx_bf16", "asimd",    "asimdhp",     "asimddp",     "sve",         "sve2",
		"bf16",     "i8mm",     NULL};
	struct ls_str out = {0};
	for (const char *const *w = wanted; *w; w++) {
		size_t len = strlen(*w);
		for (const char *p = flags; (p = strstr(p, *w)); p += len)
			if ((p == flags || p[-1] == ' ') && (p[len] == ' ' || !p[len])) {
				ls_str_addf(&out, "%s%s", out.len ? " " : "", *w);
				break;
			}
	}
	return ls_str_take(&out);
}

static size_t count_lines(const char *text, const char *start)
{
	size_t n = 0;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		n += ls_str_starts(line, start);
	}
	return n;
}

static void cpu(struct ls_look *look)
{
	static const char path[] = "/proc/cpuinfo";
	char *text = ls_root_read(look->root, path, 1 << 20, NULL);
	if (!text) {
		ls_facts_unknown(look->facts, "cpu", path, "the file is not there");
		ls_facts_unknown(look->facts, "cpu.isa", path, "the file is not there");
		return;
	}
	char *name = cpuinfo_value(text, "model name"), *flags = cpuinfo_value(text, "flags");
	name = name ? name : arm_name(text);
	flags = flags ? flags : cpuinfo_value(text, "Features");
	if (name)
		ls_facts_set(look->facts, "cpu", name, path);
	else
		ls_facts_unknown(look->facts, "cpu", path, "the file names no model");
	char *isa = flags ? isa_of(flags) : NULL;
	if (isa)
		ls_facts_set(look->facts, "cpu.isa", isa, path);
	else
		ls_facts_unknown(look->facts, "cpu.isa", path, "the file lists no features");
	char count[24];
	snprintf(count, sizeof count, "%zu", count_lines(text, "processor"));
	ls_facts_set(look->facts, "cpu.count", count, path);
	free(isa);
	free(name);
	free(flags);
	free(text);
}

static void arch(struct ls_look *look)
{
	char *scripted = ls_root_line(
		look->root,
		"/proc/sys/kernel/arch"); /* Linux 6.1 and later, and scripted machines */
	struct utsname u;
	if (scripted)
		ls_facts_set(look->facts, "arch", scripted, "/proc/sys/kernel/arch");
	else if (uname(&u) == 0)
		ls_facts_set(look->facts, "arch", u.machine, "uname");
	free(scripted);
}

static void ram(struct ls_look *look)
{
	char *text = ls_root_read(look->root, "/proc/meminfo", 1 << 14, NULL);
	char *total = text ? cpuinfo_value(text, "MemTotal") : NULL;
	if (total) {
		char mib[32];
		snprintf(mib, sizeof mib, "%llu MiB", strtoull(total, NULL, 10) / 1024);
		ls_facts_set(look->facts, "ram", mib, "/proc/meminfo");
	} else {
		ls_facts_unknown(look->facts, "ram", "/proc/meminfo", "the file is not there");
	}
	free(total);
	free(text);
}

void ls_look_system(struct ls_look *look)
{
	host(look);
	os(look);
	kernel(look);
	glibc(look);
	arch(look);
	cpu(look);
	ram(look);
}
