#include "run/cmdline.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/proc.h"
#include "base/str.h"

/* Programs that run another one named among their arguments. */
static const char *const launchers[] = {
	"env",     "nohup",  "nice",   "ionice",   "time",       "timeout", "stdbuf",  "taskset",
	"numactl", "chrt",   "setsid", "srun",     "mpirun",     "mpiexec", "orterun", "uv",
	"poetry",  "pipenv", "conda",  "mamba",    "micromamba", "sudo",    "doas",    "strace",
	"perf",    "nsys",   "ncu",    "xvfb-run", "lockstep",   NULL};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool ls_cmdline_is_python(const char *path)
{
	const char *name = base_name(path);
	size_t n = ls_str_starts(name, "python") ? 6 : ls_str_starts(name, "pypy") ? 4 : 0;
	return n && name[n + strspn(name + n, "0123456789.")] == 0;
}

static bool is_launcher(const char *path)
{
	for (const char *const *l = launchers; *l; l++)
		if (strcmp(*l, base_name(path)) == 0)
			return true;
	return false;
}

static void shut(struct ls_cmdline *c, const char *fmt, const char *a, const char *b)
{
	if (c->shut)
		return;
	struct ls_str s = {0};
	ls_str_addf(&s, "%s %s", a, b);
	c->shut = ls_xasprintf("%s: %s", s.s, fmt);
	ls_str_done(&s);
}

/* One cluster of single-letter options ("-IB"); returns whether the next word is a value
 * of its last letter. */
static bool python_cluster(struct ls_cmdline *c, const char *program, const char *word,
			   bool *ret_last)
{
	for (const char *p = word + 1; *p; p++) {
		if (*p == 'c' || *p == 'm') {
			*ret_last = true;
			return false;
		}
		if (*p == 'W' || *p == 'X')
			return p[1] == 0;
		if (*p == 'V' || *p == 'h' || *p == '?')
			c->brief = true;
		if (*p == 'E' || *p == 'I')
			shut(c, "the interpreter would ignore PYTHONPATH and PYTHONHASHSEED",
			     base_name(program), word);
		if (*p == 'S')
			shut(c, "the interpreter would not load sitecustomize", base_name(program),
			     word);
	}
	return false;
}

/* The options between an interpreter and its script, as Python reads them. */
static void python_options(struct ls_cmdline *c, const char *const *argv)
{
	const char *program = *argv++;
	c->python = true;
	for (bool last = false; *argv && !last; argv++) {
		if ((*argv)[0] != '-' || (*argv)[1] == 0)
			return;
		if (strcmp(*argv, "--version") == 0 || ls_str_starts(*argv, "--help"))
			c->brief = true;
		if ((*argv)[1] == '-') {
			if (strcmp(*argv, "--check-hash-based-pycs") == 0 && argv[1])
				argv++;
			continue;
		}
		if (python_cluster(c, program, *argv, &last) && argv[1])
			argv++;
	}
}

/* env's own arguments that would take the policy away again. */
static void env_options(struct ls_cmdline *c, const char *word, const char *next)
{
	if (strcmp(word, "-i") == 0 || strcmp(word, "-") == 0 ||
	    strcmp(word, "--ignore-environment") == 0)
		shut(c, "the environment policy would be wiped out", "env", word);
	if (ls_str_starts(word, "PYTHONPATH="))
		shut(c, "the hook would not be found; set PYTHONPATH outside of lockstep", "env",
		     "PYTHONPATH=…");
	if (next && strcmp(word, "-u") == 0 && strcmp(next, "PYTHONPATH") == 0)
		shut(c, "the hook would not be found", "env", "-u PYTHONPATH");
}

static void launcher_words(struct ls_cmdline *c, const char *const *argv)
{
	bool is_env = strcmp(base_name(argv[0]), "env") == 0;
	for (argv++; *argv; argv++) {
		if (is_env)
			env_options(c, argv[0], argv[1]);
		if (strcmp(base_name(*argv), "env") == 0)
			is_env = true;
		if (ls_cmdline_is_python(*argv)) {
			python_options(c, argv);
			return;
		}
	}
}

/* "#!/usr/bin/env -S python3 -I" as words: the kernel passes one argument, env -S splits
 * it. */
static void shebang(struct ls_cmdline *c, char *line)
{
	enum { MAX = 16 };
	const char *words[MAX + 1] = {0};
	size_t n = 0;
	char *save = NULL;
	for (char *w = strtok_r(line, " \t", &save); w && n < MAX; w = strtok_r(NULL, " \t", &save))
		words[n++] = w;
	if (n && ls_cmdline_is_python(words[0]))
		python_options(c, words);
	else if (n && strcmp(base_name(words[0]), "env") == 0)
		launcher_words(c, words);
}

static void script_head(struct ls_cmdline *c, const char *program)
{
	char *path = ls_proc_find(program), head[256];
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	ssize_t n = fd >= 0 ? read(fd, head, sizeof head - 1) : -1;
	if (n > 2 && memcmp(head, "#!", 2) == 0) {
		head[n] = 0;
		head[strcspn(head, "\r\n")] = 0;
		shebang(c, head + 2);
	}
	if (fd >= 0)
		close(fd);
	free(path);
}

void ls_cmdline_read(const char *const *argv, struct ls_cmdline *ret)
{
	*ret = (struct ls_cmdline){0};
	if (!argv[0])
		return;
	if (ls_cmdline_is_python(argv[0]))
		python_options(ret, argv);
	else if (is_launcher(argv[0]))
		launcher_words(ret, argv);
	else
		script_head(ret, argv[0]);
}

void ls_cmdline_read_shell(const char *text, struct ls_cmdline *ret)
{
	enum { MAX = 64 };
	const char *words[MAX + 1] = {0};
	char *copy = ls_xstrdup(text), *save = NULL;
	size_t n = 0;
	*ret = (struct ls_cmdline){0};
	for (char *w = strtok_r(copy, " \t\n;&|()`'\"", &save); w && n < MAX;
	     w = strtok_r(NULL, " \t\n;&|()`'\"", &save))
		words[n++] = w;
	for (size_t i = 0; i < n && !ret->shut; i++) {
		if (ls_cmdline_is_python(words[i]))
			python_options(ret, words + i);
		else if (strcmp(base_name(words[i]), "env") == 0)
			launcher_words(ret, words + i);
	}
	free(copy);
}

void ls_cmdline_done(struct ls_cmdline *c)
{
	free(c->shut);
	*c = (struct ls_cmdline){0};
}
