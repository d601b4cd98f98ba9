/* Command-line options from a table. The same table parses, prints help, and feeds
 * completion and the test of the man pages. Parsed strings are borrowed from argv;
 * ls_args_free frees the rest and accepts NULL. One thread. */
#ifndef LS_BASE_OPT_H
#define LS_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ls_opt {
	const char *name; /* without dashes; the table ends with a NULL name */
	char letter;      /* 0: none */
	const char *arg; /* NULL: a flag; otherwise what help calls its value, "a|b|c" in lower case
			    for a closed choice; "[=a|b]": such a value after "=", or none */
	const char *help;
};

/* A closed choice: the parser checks it and completion offers it. NAME|FILE and cuda[:N]
 * are not closed. */
bool ls_opt_is_choice(const struct ls_opt *o);
/* A flag that may have a value. */
bool ls_opt_is_optional(const struct ls_opt *o);

struct ls_args {
	const struct ls_opt *const *tables; /* NULL-terminated list of option tables in force */
	struct ls_arg_given {
		const struct ls_opt *opt;
		const char *value;
	} * given;
	size_t n_given, cap_given;
	const char **pos; /* positional arguments, in order */
	size_t n_pos, cap_pos;
	bool dashes; /* a "--" was seen */
};

/* tables must outlive the result. With stop_at_positional everything from the first
 * positional on is positional. */
int ls_args_parse(const struct ls_opt *const *tables, bool stop_at_positional, int argc,
		  const char *const *argv, struct ls_args **ret, struct ls_err *err);
void ls_args_free(struct ls_args *args);

/* Whether the option was given. A name that no table declares is a defect and aborts. */
bool ls_args_has(const struct ls_args *args, const char *name);
const char *ls_args_get(const struct ls_args *args, const char *name); /* the last value, or NULL */
const char *ls_args_nth(const struct ls_args *args, const char *name,
			size_t n); /* the n-th value given, or NULL */
/* Leaves *ret alone when the option was not given. */
int ls_args_u64(const struct ls_args *args, const char *name, uint64_t min, uint64_t max,
		uint64_t *ret, struct ls_err *err);
int ls_args_double(const struct ls_args *args, const char *name, double min, double max,
		   double *ret, struct ls_err *err);

#endif
