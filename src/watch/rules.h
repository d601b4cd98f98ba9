/* Health rules: a signal, the limits beyond which it is a warning or critical, and how
 * long that must last. The shipped ones are data/health-rules.json; a file changes them.
 * The rules own their texts (ls_rules_free accepts NULL). Read-only after loading; any
 * thread. */
#ifndef LS_WATCH_RULES_H
#define LS_WATCH_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "watch/health.h"
#include "watch/signals.h"

struct ls_limit {
	bool given, below; /* beyond is below the value, not above it */
	double value;
};

struct ls_rule {
	char *name;
	int signal, when; /* when: a signal of the same GPU that must be above 0, or -1 */
	struct ls_signal info;
	struct ls_limit limits[2]; /* warn, critical */
	double clear;              /* how far beyond its limit the signal has to come back */
	double for_s, clear_for_s; /* how long it has to be beyond, and to be back */
	bool off, epilog;          /* epilog: only where a job must have left nothing */
	bool own_advice;           /* not the shipped one */
	char *cause, *advice, *source;
};

struct ls_rules {
	size_t n, cap;
	struct ls_rule *rules;
};

/* The shipped rules. */
int ls_rules_load(struct ls_rules **ret, struct ls_err *err);
void ls_rules_free(struct ls_rules *r);

/* Rules of a file by the name of shipped ones change what they say; others are new. On
 * failure the rules may have been changed in part. name stands for the text in
 * messages. */
int ls_rules_merge(struct ls_rules *r, const char *text, size_t len, const char *name,
		   struct ls_err *err);
/* LS_EINPUT with a "did you mean" when there is no such rule. */
int ls_rules_leave_out(struct ls_rules *r, const char *name, struct ls_err *err);

#endif
