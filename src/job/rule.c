#include "job/rule.h"

#include <fnmatch.h>
#include <string.h>

#include "base/str.h"
#include "job/metric_file.h"

#define PRINTED "stdout:"

json_t *ls_rules_usual(void)
{
	return json_pack("[s,s,s,s,s]", "metrics.jsonl", "log.jsonl", "metrics.csv", "metrics.json",
			 "events.out.tfevents.*");
}

const char *ls_rule_printed(const char *rule)
{
	return ls_str_starts(rule, PRINTED) ? rule + strlen(PRINTED) : NULL;
}

/* A pattern without a slash is about names in any folder. */
bool ls_rule_matches(const char *rule, const char *path)
{
	const char *slash = strrchr(path, '/');
	return rule && !ls_rule_printed(rule) &&
	       fnmatch(rule, strchr(rule, '/') || !slash ? path : slash + 1, 0) == 0;
}

static int check_one(const char *rule, struct ls_err *err)
{
	const char *printed = ls_rule_printed(rule);
	if (printed)
		return ls_metric_pattern_check(printed, err);
	if (rule[0] == '/' || strstr(rule, ".."))
		return ls_err_set(err, LS_EINPUT,
				  "\"%s\": files are named relative to the output folder {out}",
				  rule);
	if (ls_metric_kind_of(rule) == LS_METRIC_NONE)
		return ls_err_set(err, LS_EINPUT,
				  "\"%s\" names neither a .jsonl, .json, .csv or .tsv file nor "
				  "TensorBoard's events.out.tfevents.*; what a program prints is "
				  "\"stdout:loss\" or \"stdout:step {step} loss {loss}\"",
				  rule);
	return 0;
}

int ls_rules_check(const json_t *rules, struct ls_err *err)
{
	const json_t *v;
	size_t i;
	if (rules && !json_is_array(rules))
		return ls_err_set(err, LS_EINPUT, "harvest must be a list of rules, is %s",
				  ls_json_kind(rules));
	json_array_foreach(rules, i, v)
	{
		const char *rule = json_string_value(v);
		int rc = rule && *rule ? check_one(rule, err)
				       : ls_err_set(err, LS_EINPUT, "a rule must be text");
		if (rc) {
			ls_err_prefix(err, "harvest");
			return rc;
		}
	}
	return 0;
}
