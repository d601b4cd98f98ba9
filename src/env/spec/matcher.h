/* What a spec expects of one fact: `2.3.1+cu121`, `12.1*`, `8.x`, `>=535.86.10`,
 * `>=3.10,<3.13`, `~=3.9.0`, a list of those, or a set of GPUs. Matchers own their text;
 * ls_matcher_free and ls_gpuset_free accept NULL. Read-only after parsing; any thread. */
#ifndef LS_ENV_SPEC_MATCHER_H
#define LS_ENV_SPEC_MATCHER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

enum ls_match { LS_MATCH_NO, LS_MATCH_YES, LS_MATCH_UNKNOWN };

/* How a value is read. A memory value has a unit, and matches within a tolerance (10 %
 * unless the text ends in "±5%" or "+-5%"); cuDNN values may be encoded integers; of
 * kernels the numbers behind the dash count when the expectation has some too (">=5.15"
 * and "5.15.0" take 5.15.0-1053-aws); text is compared as it stands. */
enum ls_flavour { LS_AS_VERSION, LS_AS_CUDNN, LS_AS_TEXT, LS_AS_MEMORY, LS_AS_KERNEL };

struct ls_matcher;

int ls_matcher_parse(const char *text, enum ls_flavour flavour, struct ls_matcher **ret,
		     struct ls_err *err);
/* A string, or a list of strings of which one must match. where names the place in
 * messages. */
int ls_matcher_from_json(const json_t *v, enum ls_flavour flavour, const char *where,
			 struct ls_matcher **ret, struct ls_err *err);
void ls_matcher_free(struct ls_matcher *m);

/* value NULL, or one that cannot be read as the flavour where an order is asked for:
 * unknown. */
enum ls_match ls_matcher_test(const struct ls_matcher *m, const char *value);
const char *ls_matcher_text(const struct ls_matcher *m);  /* for people: ">=3.10,<3.13", "a or b" */
const char *ls_matcher_exact(const struct ls_matcher *m); /* the one value it accepts, or NULL */
/* The smallest value it can accept (">=535.86.10,<600" and "535.86.10" and "535.86.10*"),
 * or NULL: none or a list. */
const char *ls_matcher_lowest(const struct ls_matcher *m);
/* Appends it as pip writes it ("==2.3.1+cu121", "==2.3.*", ">=3.10,<3.13", nothing for
 * "*"); of a list the first. False when pip has no way to say it. */
bool ls_matcher_requirement(const struct ls_matcher *m, struct ls_str *out);
double ls_matcher_mib(const struct ls_matcher *m); /* memory: the amount named, or 0 */
enum ls_flavour ls_matcher_flavour(const struct ls_matcher *m);
/* A new reference: {"as": "version", "any": [[[">=", "3.10"], ["<", "3.13"]], …]},
 * alternatives of terms, for programs that judge without this one. A prefix has the
 * operator "begins"; memory is in MiB and has its "tolerance". */
json_t *ls_matcher_terms(const struct ls_matcher *m);
json_t *ls_matcher_json(const struct ls_matcher *m); /* a new reference: string or list, as read */

struct ls_gpu_seen {
	const char *name;       /* NULL: unknown */
	const char *capability; /* "9.0", NULL: unknown */
	double memory_mib;      /* 0: unknown */
	const char *ecc, *mig;  /* "on", "off", NULL: unknown */
};

struct ls_gpuset;

/* A name, a list of names and {"name", "count"} of which one holds for all GPUs, or an
 * object with "one_of" (such a list) or "all_of" (a mixed machine: each kind with its
 * count, and no others), "count", "min_capability", "memory", "ecc", "mig" ("on" or "off"). */
int ls_gpuset_from_json(const json_t *v, const char *where, struct ls_gpuset **ret,
			struct ls_err *err);
void ls_gpuset_free(struct ls_gpuset *g);
/* No GPU seen: unknown. why (unless NULL, size bytes) gets a sentence when the answer is
 * not yes. */
enum ls_match ls_gpuset_test(const struct ls_gpuset *g, const struct ls_gpu_seen *gpus, size_t n,
			     char *why, size_t size);
const char *ls_gpuset_text(const struct ls_gpuset *g);
/* The i-th name it accepts, or NULL past the last. */
const char *ls_gpuset_name(const struct ls_gpuset *g, size_t i);
const char *ls_gpuset_min_capability(const struct ls_gpuset *g); /* or NULL */
const char *ls_gpuset_ecc(const struct ls_gpuset *g);            /* "on", "off" or NULL */
const char *ls_gpuset_mig(const struct ls_gpuset *g);
size_t ls_gpuset_count(const struct ls_gpuset *g); /* the exact number of its one kind, or 0 */
double
ls_gpuset_memory_mib(const struct ls_gpuset *g); /* the amount its memory matcher names, or 0 */

#endif
