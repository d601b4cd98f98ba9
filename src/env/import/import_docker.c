/* A Dockerfile: the image of its last stage, its variables, and what its RUN lines give
 * to apt-get and pip. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"
#include "env/import/build.h"
#include "env/spec/spec_image.h"

#define BLANKS " \t\n\v\f\r"
#define DOLLAR "\1" /* stands in a word for a dollar that begins no variable */

enum { STAGES = 64, VARIABLES = 256, VALUE = 4096 };

struct stage {
	char *name, *image; /* name NULL when it has none */
	unsigned line;
	size_t parent; /* the stage that it continues, or STAGES */
	bool kept;     /* the last stage, or one that it continues */
};

struct docker {
	struct ls_build *b;
	struct stage stages[STAGES];
	size_t n_stages;
	bool second; /* the first pass only looks for stages */
	size_t now;  /* in the second pass: the stage, STAGES before the first */
	char *names[VARIABLES], *values[VARIABLES]; /* ARG and ENV so far */
	size_t n_vars;
};

/* --- words --- */

/* Takes a word off *s, quotes removed, as a shell would; NULL at the end. */
static char *word(const char **s)
{
	const char *p = *s + strspn(*s, BLANKS);
	struct ls_str out = {0};
	char quote = 0;
	if (!*p) {
		*s = p;
		return NULL;
	}
	for (; *p && (quote || !strchr(BLANKS, *p)); p++) {
		if (quote ? *p == quote : *p == '"' || *p == '\'')
			quote = quote ? 0 : *p;
		else if (*p == '\\' && p[1] && quote != '\'')
			ls_str_add_bytes(&out, *++p == '$' ? DOLLAR : p, 1);
		else
			ls_str_add_bytes(&out, *p == '$' && quote == '\'' ? DOLLAR : p, 1);
	}
	*s = p;
	return ls_str_take(&out);
}

static const char *lookup(const struct docker *d, const char *name, size_t n)
{
	for (size_t i = d->n_vars; i-- > 0;)
		if (strncmp(d->names[i], name, n) == 0 && !d->names[i][n])
			return d->values[i];
	return NULL;
}

/* "${CUDA:-12.1}": the name in *ret_n bytes from the returned start, the default or NULL,
 * and the end of the whole. */
static const char *reference(const char *p, size_t *ret_n, char **ret_default, const char **ret_end)
{
	bool brace = p[1] == '{';
	const char *name = p + 1 + brace;
	size_t n = 0;
	while (isalnum((unsigned char)name[n]) || name[n] == '_')
		n++;
	const char *end = name + n;
	*ret_default = NULL;
	if (brace && end[0] == ':' && end[1] == '-') {
		size_t len = strcspn(end + 2, "}");
		*ret_default = ls_xstrndup(end + 2, len);
		end += 2 + len;
	}
	*ret_n = n;
	*ret_end = end + (brace && *end == '}');
	return n && (!brace || *end == '}') ? name : NULL;
}

/* text with its variables filled in, or NULL when one is not known here. */
static char *filled(const struct docker *d, const char *text)
{
	struct ls_str out = {0};
	bool known = true;
	for (const char *p = text; *p && known;) {
		if (*p != '$') {
			ls_str_add_bytes(&out, *p == *DOLLAR ? "$" : p, 1);
			p++;
			continue;
		}
		size_t n;
		char *otherwise;
		const char *name = reference(p, &n, &otherwise, &p),
			   *value = name ? lookup(d, name, n) : NULL;
		value = value ? value : otherwise;
		known = name && value && out.len + strlen(value) < VALUE;
		if (known)
			ls_str_add(&out, value);
		free(otherwise);
	}
	if (known)
		return ls_str_take(&out);
	ls_str_done(&out);
	return NULL;
}

static void remember(struct docker *d, const char *name, const char *value)
{
	if (d->n_vars == VARIABLES)
		return;
	d->names[d->n_vars] = ls_xstrdup(name);
	d->values[d->n_vars++] = ls_xstrdup(value);
}

/* --- FROM, ARG, ENV --- */

static size_t stage_called(const struct docker *d, const char *name)
{
	for (size_t i = d->n_stages; i-- > 0;)
		if (d->stages[i].name && strcasecmp(d->stages[i].name, name) == 0)
			return i;
	return STAGES;
}

/* All three become the stage's. image NULL: its name is not in the file. */
static void add_stage_take(struct docker *d, unsigned line, char *name, char *image)
{
	size_t parent = image ? stage_called(d, image) : STAGES;
	if (parent < STAGES) {
		free(image);
		image = ls_xstrdup(d->stages[parent].image ? d->stages[parent].image : "");
	}
	d->stages[d->n_stages++] =
		(struct stage){.name = name, .image = image, .line = line, .parent = parent};
}

static int from(struct docker *d, unsigned line, const char *rest, struct ls_err *err)
{
	if (d->second) {
		d->now = d->now == STAGES ? 0 : d->now + 1;
		return 0;
	}
	if (d->n_stages == STAGES)
		return ls_err_set(err, LS_EINPUT, "%s:%u: more than %d stages", d->b->path, line,
				  STAGES);
	char *image = word(&rest);
	while (image && ls_str_starts(image, "--")) {
		free(image);
		image = word(&rest);
	}
	char *as = word(&rest), *name = as && strcasecmp(as, "as") == 0 ? word(&rest) : NULL;
	add_stage_take(d, line, name, image ? filled(d, image) : NULL);
	free(as);
	free(image);
	return 0;
}

static void arg(struct docker *d, const char *rest)
{
	char *w = word(&rest), *equals = w ? strchr(w, '=') : NULL;
	if (equals) {
		*equals = 0;
		char *value = filled(d, equals + 1);
		if (value)
			remember(d, w, value);
		free(value);
	}
	free(w);
}

static void variable(struct docker *d, unsigned line, const char *name, const char *value)
{
	static const char *const of_the_build[] = {
		"PATH", "DEBIAN_FRONTEND", "LD_LIBRARY_PATH", "PYTHONPATH", "HOME", NULL};
	char *full = filled(d, value);
	if (!full) {
		ls_build_left(d->b, line, name, "its value refers to what is not in the file");
		return;
	}
	remember(d, name, full);
	bool path = false;
	for (const char *const *p = of_the_build; *p; p++)
		path |= strcmp(*p, name) == 0;
	if (path)
		ls_build_left(d->b, line, name, "belongs to the image, not to what runs in it");
	else
		ls_build_variable(d->b, line, name, full);
	free(full);
}

/* ENV A=1 B="2 3", or the old form: ENV A all that follows */
static void env(struct docker *d, unsigned line, const char *rest)
{
	const char *p = rest;
	char *first = word(&p);
	if (first && !strchr(first, '=')) {
		char *value = ls_xstrdup(p + strspn(p, " \t"));
		variable(d, line, first, ls_str_trim(value));
		free(value);
		free(first);
		return;
	}
	for (char *w = first; w; w = word(&p)) {
		char *equals = strchr(w, '=');
		if (equals) {
			*equals = 0;
			variable(d, line, w, equals + 1);
		}
		free(w);
	}
}

/* --- RUN --- */

struct command {
	char **words;
	size_t n, cap;
};

static bool is_install(const struct command *c, size_t at, const char *program)
{
	return at < c->n && strcmp(c->words[at], program) == 0;
}

static bool has_word(const struct command *c, const char *w, size_t *ret)
{
	for (*ret = 0; *ret < c->n; ++*ret)
		if (strcmp(c->words[*ret], w) == 0)
			return true;
	return false;
}

/* python3.11 of Debian or deadsnakes is the Python of the image. python3 and its venv are
 * in every image that is rendered. */
static bool python_of_apt(struct docker *d, unsigned line, const char *name)
{
	static const char lead[] = "python3.";
	size_t n = ls_str_starts(name, lead) ? strspn(name + strlen(lead), "0123456789") : 0;
	bool plain = strcmp(name, "python3") == 0 || strcmp(name, "python3-venv") == 0;
	d->b->understood += plain;
	if (plain || (n && strcmp(name + strlen(lead) + n, "-venv") == 0))
		return true;
	if (!n || name[strlen(lead) + n])
		return false;
	char *want = ls_xasprintf("3.%s.x", name + strlen(lead));
	ls_build_member(d->b, line, "python", want);
	free(want);
	return true;
}

static void apt(struct docker *d, unsigned line, const struct command *c, size_t from_word)
{
	static const char set[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-";
	for (size_t i = from_word; i < c->n; i++) {
		const char *name = c->words[i];
		if (*name == '-' || python_of_apt(d, line, name))
			continue;
		d->b->understood++;
		if (*name && !name[strspn(name, set)])
			json_array_append_new(d->b->apt, json_string(name));
		else
			ls_build_left(d->b, line, name,
				      "not the plain name of a Debian package, without a version");
	}
}

static void pip(struct docker *d, unsigned line, const struct command *c, size_t from_word)
{
	for (size_t i = from_word; i < c->n; i++) {
		char *full = filled(d, c->words[i]), *equals = full ? strchr(full, '=') : NULL;
		if (!full) {
			ls_build_left(d->b, line, c->words[i],
				      "refers to a variable that is not in the file");
		} else if (*full != '-') {
			ls_build_requirement(d->b, line, full);
		} else if (equals) {
			*equals = 0;
			ls_build_pip_option(d->b, line, full, equals + 1);
		} else if (ls_pip_option_has_value(full) && i + 1 < c->n) {
			char *value = filled(d, c->words[++i]);
			if (!ls_build_pip_option(d->b, line, full, value ? value : c->words[i]))
				ls_build_left(d->b, line, full,
					      "an option of pip that a spec has no place for");
			free(value);
		}
		free(full);
	}
}

/* Leaves nothing of its own in the environment. */
static bool is_housekeeping(const struct command *c)
{
	static const char *const names[] = {
		"rm",         "mkdir",  "useradd", "groupadd", "chmod", "chown",
		"set",        "echo",   "true",    "cd",       "ln",    "update-alternatives",
		"locale-gen", "export", "adduser", "addgroup", ":",     "[",
		"lockstep",   NULL};
	for (const char *const *n = names; *n; n++)
		if (strcmp(c->words[0], *n) == 0)
			return true;
	if (c->n > 2 && strcmp(c->words[1], "-m") == 0 && strcmp(c->words[2], "venv") == 0)
		return true;
	size_t at;
	bool is_apt = strcmp(c->words[0], "apt-get") == 0 || strcmp(c->words[0], "apt") == 0;
	return is_apt && (has_word(c, "update", &at) || has_word(c, "clean", &at) ||
			  has_word(c, "autoremove", &at) || has_word(c, "purge", &at));
}

static void command(struct docker *d, unsigned line, const struct command *c, const char *text)
{
	size_t at, apt_at;
	if (is_housekeeping(c) && !has_word(c, "install", &at))
		return;
	bool install = has_word(c, "install", &at);
	if (install && (is_install(c, 0, "apt-get") || is_install(c, 0, "apt")))
		apt(d, line, c, at + 1);
	else if (install && at > 0 &&
		 (has_word(c, "pip", &apt_at) || has_word(c, "pip3", &apt_at)) && apt_at == at - 1)
		pip(d, line, c, at + 1);
	else if (install && at > 0 && ls_str_ends(c->words[at - 1], "/pip"))
		pip(d, line, c, at + 1);
	else
		ls_build_left(d->b, line, text, "what this command installs is not known");
}

static void one_command(struct docker *d, unsigned line, const char *text)
{
	struct command c = {0};
	const char *p = text;
	for (char *w; (w = word(&p));) {
		c.words = ls_grow(c.words, c.n, &c.cap, sizeof *c.words);
		c.words[c.n++] = w;
	}
	if (c.n)
		command(d, line, &c, text);
	for (size_t i = 0; i < c.n; i++)
		free(c.words[i]);
	free(c.words);
}

/* The end of the command at s: at && || ; | outside of quotes. */
static size_t command_length(const char *s)
{
	char quote = 0;
	size_t n = 0;
	for (; s[n]; n++) {
		if (quote ? s[n] == quote : s[n] == '"' || s[n] == '\'')
			quote = quote ? 0 : s[n];
		else if (s[n] == '\\' && s[n + 1])
			n++;
		else if (!quote && (strchr(";|", s[n]) || (s[n] == '&' && s[n + 1] == '&')))
			break;
	}
	return n;
}

static void run(struct docker *d, unsigned line, const char *rest)
{
	while (ls_str_starts(rest += strspn(rest, " \t"), "--")) /* --mount=… */
		rest += strcspn(rest, " \t");
	while (*rest) {
		size_t n = command_length(rest);
		char *one = ls_xstrndup(rest, n);
		one_command(d, line, ls_str_trim(one));
		free(one);
		rest += n + strspn(rest + n, "&|; ");
	}
}

/* --- the file --- */

static bool counts(const struct docker *d)
{
	return d->second && d->now < d->n_stages && d->stages[d->now].kept;
}

static int instruction(struct docker *d, unsigned line, char *s, struct ls_err *err)
{
	static const char *const others[] = {
		"COPY",        "ADD",        "WORKDIR", "CMD",        "ENTRYPOINT",
		"EXPOSE",      "USER",       "LABEL",   "SHELL",      "VOLUME",
		"HEALTHCHECK", "STOPSIGNAL", "ONBUILD", "MAINTAINER", NULL};
	size_t n = strcspn(s, " \t");
	char *rest = s + n + (s[n] != 0);
	s[n] = 0;
	if (strcasecmp(s, "FROM") == 0)
		return from(d, line, rest, err);
	if (strcasecmp(s, "ARG") == 0)
		arg(d, rest);
	else if (!counts(d))
		return 0;
	else if (strcasecmp(s, "ENV") == 0)
		env(d, line, rest);
	else if (strcasecmp(s, "RUN") == 0)
		run(d, line, rest);
	else
		for (const char *const *o = others;; o++) {
			if (!*o)
				ls_build_left(d->b, line, s, "not an instruction of a Dockerfile");
			if (!*o || strcasecmp(*o, s) == 0)
				break;
		}
	return 0;
}

/* The word behind "<<" ("EOF" of RUN <<EOF), or NULL; to be freed. */
static char *here_document(const char *s)
{
	const char *at = strstr(s, "<<");
	if (!at)
		return NULL;
	at += 2 + (at[2] == '-');
	at += strspn(at, "\"'");
	size_t n = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
	return n ? ls_xstrndup(at, n) : NULL;
}

/* A whole instruction, its lines joined. *ret_until: the end of its here-document. */
static int joined_line(struct docker *d, unsigned line, char *s, char **ret_until,
		       struct ls_err *err)
{
	*ret_until = here_document(s);
	if (!*ret_until)
		return instruction(d, line, s, err);
	if (counts(d))
		ls_build_left(d->b, line, s, "a here-document is not read");
	return 0;
}

static int lines(struct docker *d, char *rest, struct ls_err *err)
{
	struct ls_str joined = {0};
	char *s, *until = NULL;
	unsigned first = 1;
	int rc = 0;
	for (unsigned line = 1; !rc && (s = strsep(&rest, "\n")); line++) {
		s = ls_str_trim(s);
		if (until) {
			if (strcmp(s, until) == 0) {
				free(until);
				until = NULL;
			}
			continue;
		}
		if (!*s || *s == '#') /* comments may stand between continued lines */
			continue;
		if (!joined.len)
			first = line;
		size_t n = strlen(s);
		bool goes_on = s[n - 1] == '\\' && rest;
		if (goes_on)
			s[n - 1] = ' ';
		ls_str_add(&joined, s);
		if (goes_on)
			continue;
		rc = joined_line(d, first, joined.s, &until, err);
		ls_str_done(&joined);
	}
	if (joined.s && !rc)
		rc = instruction(d, first, joined.s, err);
	ls_str_done(&joined);
	free(until);
	return rc;
}

static int pass(struct docker *d, const char *text, struct ls_err *err)
{
	char *copy = ls_xstrdup(text);
	int rc = lines(d, copy, err);
	free(copy);
	return rc;
}

/* The last stage's image, with its digest, and the Python and CUDA that its name says. */
static void take_image(struct docker *d)
{
	struct ls_image_ref ref;
	const struct stage *s = &d->stages[d->n_stages - 1];
	if (!s->image || !*s->image) {
		ls_build_left(d->b, s->line, "FROM", "an image whose name is not in the file");
		return;
	}
	char *base = ls_xstrdup(s->image), *digest = strchr(base, '@');
	if (digest)
		*digest++ = 0;
	if (base[strspn(base,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./:_-")] ||
	    !*base ||
	    (digest && (strlen(digest) != 71 || !ls_str_starts(digest, "sha256:") ||
			digest[7 + strspn(digest + 7, "0123456789abcdef")]))) {
		ls_build_left(d->b, s->line, s->image, "not the name of an image");
		free(base);
		return;
	}
	d->b->understood++;
	json_object_set_new(d->b->image, "base", json_string(base));
	if (digest)
		json_object_set_new(d->b->image, "digest", json_string(digest));
	if (ls_image_ref_parse(base, &ref) && ref.has_python) {
		char *want = ls_xasprintf("%s.x", ref.python);
		ls_build_member(d->b, s->line, "python", want);
		free(want);
	}
	free(base);
}

int ls_import_dockerfile(struct ls_build *b, const char *text, struct ls_err *err)
{
	struct docker d = {.b = b, .now = STAGES};
	int rc = pass(&d, text, err);
	if (!rc && !d.n_stages)
		rc = ls_err_set(err, LS_EINPUT, "%s: no FROM: this is no Dockerfile", b->path);
	for (size_t i = d.n_stages - 1; !rc && i < STAGES; i = d.stages[i].parent)
		d.stages[i].kept = true;
	if (!rc) {
		take_image(&d);
		d.second = true;
		rc = pass(&d, text, err);
	}
	for (size_t i = 0; i < d.n_stages; i++) {
		free(d.stages[i].name);
		free(d.stages[i].image);
	}
	for (size_t i = 0; i < d.n_vars; i++) {
		free(d.names[i]);
		free(d.values[i]);
	}
	return rc;
}
