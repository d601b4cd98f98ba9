/* conda's environment.yml. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/import/build.h"
#include "env/import/yaml.h"

/* A package as conda writes it: channel::name version build. */
struct package {
	char *copy;
	const char *name, *version, *build; /* "" where there is none */
	char op[4];                         /* "=" of "numpy=1.26"; "" when version has its own */
};

/* --- one dependency --- */

/* name, then "=version=build", "==version", " version build" or ">=version". */
static bool split(const char *text, struct package *p)
{
	const char *colons = strstr(text, "::");
	*p = (struct package){.copy = ls_xstrdup(colons ? colons + 2 : text)};
	char *s = ls_str_trim(p->copy);
	size_t n = strcspn(s, " =<>!~[");
	char *rest = s + n;
	p->name = s;
	p->version = p->build = "";
	if (!n || strchr(rest, '['))
		return false;
	if (!*rest)
		return true;
	bool blank = *rest == ' ';
	char first = *rest;
	if (blank || first == '=')
		*rest++ = 0;
	rest += strspn(rest, " ");
	if (first == '=' && *rest == '=')
		rest++;
	else if (first == '=')
		p->op[0] = '=';
	if (first != '=' && !blank) { /* ">=1.20,<2": the name has to be cut off it */
		p->version = rest;
		return true;
	}
	p->version = rest;
	char *end = rest + strcspn(rest, p->op[0] ? "= " : " ");
	if (*end && !strpbrk(rest, "<>!~")) {
		*end++ = 0;
		p->build = end;
		p->op[0] = 0; /* with a build the version is meant exactly */
	}
	return true;
}

/* "=1.26" takes 1.26.4, too; what has three numbers is what an export writes for exactly
 * this version. */
static char *wanted(const struct package *p)
{
	struct ls_str out = {0};
	size_t dots = 0;
	for (const char *c = p->version; *c; c++) {
		dots += *c == '.';
		if (*c != ' ')
			ls_str_add_bytes(&out, c, 1);
	}
	bool plain = p->op[0] && out.len && !strpbrk(out.s, "<>!~*|,=") && dots < 2;
	if (plain)
		ls_str_add(&out, ".x");
	return ls_str_take(&out);
}

/* "py3.10_cuda12.1_cudnn8.9.2_0" says what the package was built with. */
static void by_build(struct ls_build *b, unsigned line, const char *build, const char *mark,
		     const char *member)
{
	const char *at = strstr(build, mark);
	size_t n = at ? strspn(at + strlen(mark), "0123456789.") : 0;
	char *version = n ? ls_xasprintf("%.*s.x", (int)n, at + strlen(mark)) : NULL;
	if (version && strchr(version, '.') != strrchr(version, '.'))
		ls_build_member(b, line, member, version);
	free(version);
}

/* Conda's names of what a spec calls otherwise. */
static const struct {
	const char *conda, *member, *package;
} renamed[] = {
	{"python", "python", NULL},
	{"pytorch", "torch", NULL},
	{"pytorch-gpu", "torch", NULL},
	{"pytorch-cuda", "torch_cuda", NULL},
	{"cuda-version", "torch_cuda", NULL},
	{"cudatoolkit", "torch_cuda", NULL},
	{"cudnn", "cudnn", NULL},
	{"nccl", "nccl", NULL},
	{"cuda-nvcc", "nvcc", NULL},
	{"matplotlib-base", NULL, "matplotlib"},
	{"pytables", NULL, "tables"},
	{"py-xgboost", NULL, "xgboost"},
	{"py-opencv", NULL, "opencv-python"},
	{"msgpack-python", NULL, "msgpack"},
	{"python-graphviz", NULL, "graphviz"},
};

/* Conda also packs what is no distribution of Python, which doctor could not find. */
static bool is_no_distribution(const char *name)
{
	static const char *const begins[] = {"_",     "lib", "ld_impl",  "gcc",     "gxx",
					     "cuda-", "r-",  "binutils", "sysroot", NULL},
				 *const is[] = {"openssl",     "zlib",     "bzip2",
						"xz",          "readline", "sqlite",
						"tk",          "ncurses",  "ca-certificates",
						"mkl",         "blas",     "intel-openmp",
						"llvm-openmp", "ffmpeg",   "git",
						"make",        "nodejs",   "pytorch-mutex",
						"zstd",        "lz4-c",    "freetype",
						"jpeg",        "icu",      "gmp",
						"mpfr",        "openmpi",  "mpich",
						"cuda",        "graphviz", "openjpeg",
						"giflib",      "lame",     "nettle",
						"gnutls",      "x264",     "compilers",
						"git-lfs",     NULL};
	for (const char *const *p = begins; *p; p++)
		if (ls_str_starts(name, *p))
			return true;
	for (const char *const *p = is; *p; p++)
		if (strcmp(name, *p) == 0)
			return true;
	return false;
}

static void place(struct ls_build *b, unsigned line, const char *name, const char *want,
		  const char *text)
{
	for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
		if (strcmp(renamed[i].conda, name) == 0) {
			if (renamed[i].member)
				ls_build_member(b, line, renamed[i].member, want);
			else
				ls_build_package(b, line, renamed[i].package, want);
			return;
		}
	if (!is_no_distribution(name)) {
		ls_build_package(b, line, name, want);
		return;
	}
	b->understood++;
	ls_build_left(b, line, text, "no distribution of Python: doctor could not find it");
}

static void dependency(struct ls_build *b, const struct ls_yaml *item, bool has_pip)
{
	struct package p;
	bool read = split(item->text, &p);
	char *name = ls_xstrndup(p.name, strcspn(p.name, "<>!~")), *want = wanted(&p);
	if (!read || !*name)
		ls_build_left(b, item->line, item->text, "not a dependency as conda writes it");
	else if (!(has_pip && strcmp(name, "pip") == 0 && !*want)) /* there for the pip: list */
		place(b, item->line, name, want, item->text);
	if (read && ls_str_starts(name, "pytorch")) {
		by_build(b, item->line, p.build, "cuda", "torch_cuda");
		by_build(b, item->line, p.build, "cudnn", "cudnn");
	}
	free(want);
	free(name);
	free(p.copy);
}

/* --- the file --- */

static void pip_list(struct ls_build *b, const struct ls_yaml *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct ls_yaml *item = &list->items[i];
		if (!item->text) {
			ls_build_left(b, item->line, "pip", "not a requirement");
			continue;
		}
		const char *text = item->text;
		size_t n = strcspn(text, " =");
		char *option = ls_xstrndup(text, n);
		const char *value = text + n + strspn(text + n, " =");
		if (*text != '-')
			ls_build_requirement(b, item->line, text);
		else if (!ls_build_pip_option(b, item->line, option, value))
			ls_build_left(b, item->line, text,
				      "an option of pip that a spec has no place for");
		free(option);
	}
}

static bool is_pip_list(const struct ls_yaml *item)
{
	const struct ls_yaml *pip = item->kind == LS_YAML_MAP ? ls_yaml_get(item, "pip") : NULL;
	return pip && pip->kind == LS_YAML_LIST && item->n == 1;
}

static void dependencies(struct ls_build *b, const struct ls_yaml *list)
{
	bool has_pip = false;
	for (size_t i = 0; i < list->n; i++)
		has_pip |= is_pip_list(&list->items[i]);
	for (size_t i = 0; i < list->n; i++) {
		const struct ls_yaml *item = &list->items[i];
		if (is_pip_list(item))
			pip_list(b, &item->items[0]);
		else if (item->kind == LS_YAML_SCALAR && item->text && *item->text)
			dependency(b, item, has_pip);
		else
			ls_build_left(b, item->line, "dependencies",
				      "neither a package nor a list under pip:");
	}
}

static void channels(struct ls_build *b, const struct ls_yaml *list)
{
	static const char *const usual[] = {"conda-forge", "defaults", "nodefaults", NULL};
	for (size_t i = 0; i < list->n; i++) {
		const char *text = list->items[i].text ? list->items[i].text : "", *known = NULL;
		for (const char *const *u = usual; *u && !known; u++)
			known = strcmp(*u, text) == 0 ? *u : NULL;
		if (!known)
			ls_build_left(b, list->items[i].line, text,
				      "a channel of conda, for which a spec has no place");
	}
}

static void variables(struct ls_build *b, const struct ls_yaml *map)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct ls_yaml *v = &map->items[i];
		if (v->key && v->kind == LS_YAML_SCALAR)
			ls_build_variable(b, v->line, v->key, v->text);
		else
			ls_build_left(b, v->line, v->key ? v->key : "variables", "not one value");
	}
}

static void take_name(struct ls_build *b, const struct ls_yaml *v)
{
	const char *s = v->text ? v->text : "";
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
	if (*s && !s[n] && n < 200 && isalnum((unsigned char)*s))
		b->name = ls_xstrdup(s);
	else
		ls_build_left(b, v->line, s, "not a name that a spec may have");
}

static void member(struct ls_build *b, const struct ls_yaml *v)
{
	if (strcmp(v->key, "name") == 0)
		take_name(b, v);
	else if (strcmp(v->key, "dependencies") == 0 && v->kind == LS_YAML_LIST)
		dependencies(b, v);
	else if (strcmp(v->key, "channels") == 0 && v->kind == LS_YAML_LIST)
		channels(b, v);
	else if (strcmp(v->key, "variables") == 0 && v->kind == LS_YAML_MAP)
		variables(b, v);
	else if (strcmp(v->key, "prefix") != 0) /* where it lay on one machine */
		ls_build_left(b, v->line, v->key, "not a member of an environment.yml");
}

int ls_import_conda(struct ls_build *b, const char *text, size_t len, struct ls_err *err)
{
	struct ls_yaml *root;
	int rc = ls_yaml_parse(text, len, b->path, &root, err);
	if (rc)
		return rc;
	if (!ls_yaml_get(root, "dependencies"))
		rc = ls_err_set(err, LS_EINPUT,
				"%s: is YAML without \"dependencies:\", which an environment.yml "
				"has; lockstep reads no other YAML",
				b->path);
	for (size_t i = 0; i < root->n && !rc; i++)
		member(b, &root->items[i]);
	ls_yaml_free(root);
	return rc;
}
