/* One Requires-Dist line of a distribution: which distribution it names, which versions
 * it accepts and whether its marker holds here. Texts are the caller's (ls_require_done,
 * which accepts one of zeros). No state; any thread. */
#ifndef LS_ENV_PYTHON_REQUIRES_H
#define LS_ENV_PYTHON_REQUIRES_H

#include <stdbool.h>

struct ls_require {
	char *name;      /* normalised: lower case, dashes */
	char *extras;    /* "cublas,cudart" as written, without blanks; "" for none */
	char *specifier; /* "==9.26.0.51", "<14,>=13.0.3"; "" for any version */
	char *marker;    /* what follows the semicolon, or "" */
};

/* False for a direct reference (name @ address) and for what is no requirement. */
bool ls_require_parse(const char *line, struct ls_require *ret);
void ls_require_done(struct ls_require *r);

/* What a marker is judged by. Anything not listed (implementation_name, os_name, ...) is
 * CPython on Linux. */
struct ls_marker_env {
	const char *python_version;      /* "3.11" */
	const char *python_full_version; /* "3.11.7" */
	const char *machine;             /* "x86_64" */
	const char *extra;               /* the extra that was asked for, or "" */
};

enum ls_marker { LS_MARKER_FALSE, LS_MARKER_TRUE, LS_MARKER_UNKNOWN };

/* Unknown where the marker cannot be read or compares with a value that is not known. */
enum ls_marker ls_marker_test(const char *marker, const struct ls_marker_env *env);

/* PEP 503: lower case, one dash for each run of - _ and dots. The caller frees. */
char *ls_dist_name(const char *name);

#endif
