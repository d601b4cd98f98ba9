/* Rules of harvest: where the metrics of an experiment are. FILE is a pattern of file
 * names below the output folder (*, ?, [a-z]; a * also matches /), "stdout:PATTERN" is
 * about what the program printed (metric_file.h). Any thread. */
#ifndef LS_JOB_RULE_H
#define LS_JOB_RULE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"

/* rules: an array of texts. */
int ls_rules_check(const json_t *rules, struct ls_err *err);
/* What is read where there is no rule: a new reference. */
json_t *ls_rules_usual(void);

/* The pattern of a rule about printed lines, or NULL. */
const char *ls_rule_printed(const char *rule);
/* Whether a rule is about the file; path is relative to the output folder. */
bool ls_rule_matches(const char *rule, const char *path);

#endif
