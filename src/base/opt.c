#include "base/opt.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static const struct ls_opt *find_long(const struct ls_opt *const *tables, const char *name,
				      size_t len)
{
	for (; *tables; tables++)
		for (const struct ls_opt *o = *tables; o->name; o++)
			if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
				return o;
	return NULL;
}

static const struct ls_opt *find_letter(const struct ls_opt *const *tables, char letter)
{
	for (; *tables; tables++)
		for (const struct ls_opt *o = *tables; o->name; o++)
			if (o->letter && o->letter == letter)
				return o;
	return NULL;
}

static int unknown_option(const struct ls_opt *const *tables, const char *given, struct ls_err *err)
{
	enum { MAX = 128 };
	const char *names[MAX + 1];
	size_t n = 0;
	for (; *tables; tables++)
		for (const struct ls_opt *o = *tables; o->name && n < MAX; o++)
			names[n++] = o->name;
	names[n] = NULL;
	char word[128];
	snprintf(word, sizeof word, "%.*s", (int)strcspn(given + 2, "="), given + 2);
	const char *near = given[1] == '-' ? ls_str_nearest(word, names) : NULL;
	if (near)
		return ls_err_set(err, LS_EINPUT, "unknown option %s (did you mean --%s?)", given,
				  near);
	return ls_err_set(err, LS_EINPUT, "unknown option %s", given);
}

bool ls_opt_is_choice(const struct ls_opt *o)
{
	return o->arg && strchr(o->arg, '|') &&
	       !o->arg[strspn(o->arg, "abcdefghijklmnopqrstuvwxyz0123456789-_.+|")];
}

bool ls_opt_is_optional(const struct ls_opt *o)
{
	return o->arg && ls_str_starts(o->arg, "[=");
}

/* The words of a closed choice, up to its end or to a bracket. */
static const char *choices_of(const struct ls_opt *o)
{
	return ls_opt_is_optional(o) ? o->arg + 2 : o->arg;
}

static int check_choice(const struct ls_opt *o, const char *value, struct ls_err *err)
{
	if (!ls_opt_is_choice(o) && !ls_opt_is_optional(o))
		return 0;
	size_t n = strlen(value);
	for (const char *p = choices_of(o); *p && *p != ']';) {
		size_t len = strcspn(p, "|]");
		if (len == n && memcmp(p, value, n) == 0)
			return 0;
		p += len + (p[len] == '|');
	}
	return ls_err_set(err, LS_EINPUT, "option --%s: \"%.80s\" is not one of %s", o->name, value,
			  o->arg);
}

static int add_given(struct ls_args *a, const struct ls_opt *o, const char *value,
		     struct ls_err *err)
{
	if (value && check_choice(o, value, err))
		return LS_EINPUT;
	a->given = ls_grow(a->given, a->n_given, &a->cap_given, sizeof *a->given);
	a->given[a->n_given++] = (struct ls_arg_given){o, value};
	return 0;
}

static void add_pos(struct ls_args *a, const char *value)
{
	a->pos = ls_grow(a->pos, a->n_pos, &a->cap_pos, sizeof *a->pos);
	a->pos[a->n_pos++] = value;
}

static int parse_long(struct ls_args *a, const char *const *argv, int argc, int *i,
		      struct ls_err *err)
{
	const char *name = argv[*i] + 2, *eq = strchr(name, '=');
	const struct ls_opt *o =
		find_long(a->tables, name, eq ? (size_t)(eq - name) : strlen(name));
	if (!o)
		return unknown_option(a->tables, argv[*i], err);
	if (!o->arg) {
		if (eq)
			return ls_err_set(err, LS_EINPUT, "option --%s takes no value", o->name);
		return add_given(a, o, NULL, err);
	}
	if (eq)
		return add_given(a, o, eq + 1, err);
	if (ls_opt_is_optional(o))
		return add_given(a, o, NULL, err);
	if (*i + 1 >= argc)
		return ls_err_set(err, LS_EINPUT, "option --%s needs a value (%s)", o->name,
				  o->arg);
	return add_given(a, o, argv[++*i], err);
}

static int parse_short(struct ls_args *a, const char *const *argv, int argc, int *i,
		       struct ls_err *err)
{
	for (const char *p = argv[*i] + 1; *p; p++) {
		const struct ls_opt *o = find_letter(a->tables, *p);
		if (!o)
			return unknown_option(a->tables, argv[*i], err);
		if (!o->arg) {
			if (add_given(a, o, NULL, err))
				return LS_EINPUT;
			continue;
		}
		if (p[1])
			return add_given(a, o, p + 1, err);
		if (*i + 1 >= argc)
			return ls_err_set(err, LS_EINPUT, "option -%c needs a value (%s)", *p,
					  o->arg);
		return add_given(a, o, argv[++*i], err);
	}
	return 0;
}

int ls_args_parse(const struct ls_opt *const *tables, bool stop_at_positional, int argc,
		  const char *const *argv, struct ls_args **ret, struct ls_err *err)
{
	struct ls_args *a = ls_xalloc(sizeof *a);
	a->tables = tables;
	int rc = 0;
	for (int i = 0; i < argc && rc == 0; i++) {
		const char *s = argv[i];
		bool rest = a->dashes || (stop_at_positional && a->n_pos);
		if (rest || s[0] != '-' || !s[1])
			add_pos(a, s);
		else if (strcmp(s, "--") == 0)
			a->dashes = true;
		else if (s[1] == '-')
			rc = parse_long(a, argv, argc, &i, err);
		else
			rc = parse_short(a, argv, argc, &i, err);
	}
	if (rc) {
		ls_args_free(a);
		return rc;
	}
	*ret = a;
	return 0;
}

void ls_args_free(struct ls_args *args)
{
	if (!args)
		return;
	free(args->given);
	free(args->pos);
	free(args);
}

const char *ls_args_nth(const struct ls_args *args, const char *name, size_t n)
{
	const struct ls_opt *o = find_long(args->tables, name, strlen(name));
	if (!o)
		ls_give_up("a command asks for an option that its table does not have");
	for (size_t i = 0; i < args->n_given; i++)
		if (args->given[i].opt == o && n-- == 0)
			return args->given[i].value ? args->given[i].value : "";
	return NULL;
}

const char *ls_args_get(const struct ls_args *args, const char *name)
{
	const char *last = NULL;
	for (size_t i = 0;; i++) {
		const char *v = ls_args_nth(args, name, i);
		if (!v)
			return last;
		last = v;
	}
}

bool ls_args_has(const struct ls_args *args, const char *name)
{
	return ls_args_nth(args, name, 0) != NULL;
}

int ls_args_u64(const struct ls_args *args, const char *name, uint64_t min, uint64_t max,
		uint64_t *ret, struct ls_err *err)
{
	char what[80];
	const char *v = ls_args_get(args, name);
	snprintf(what, sizeof what, "option --%s", name);
	return v ? ls_str_to_u64(v, min, max, what, ret, err) : 0;
}

int ls_args_double(const struct ls_args *args, const char *name, double min, double max,
		   double *ret, struct ls_err *err)
{
	char what[80];
	const char *v = ls_args_get(args, name);
	snprintf(what, sizeof what, "option --%s", name);
	return v ? ls_str_to_double(v, min, max, what, ret, err) : 0;
}
