/* What the parts of `lockstep spec` share: names, days, output files, findings. */
#include <ctype.h>
#include <string.h>
#include <time.h>

#include "cmd/spec.h"
#include "env/spec/calendar.h"

int ls_spec_today(char ret[11], struct ls_err *err)
{
	struct tm tm;
	int rc = ls_cmd_now(&tm, err);
	if (!rc)
		strftime(ret, 11, "%Y-%m-%d", &tm);
	return rc;
}

bool ls_spec_output_file(const struct ls_cmd *cmd, const struct ls_args *args, const char **ret)
{
	const char *file = ls_args_get(args, "output");
	if (file && !*file) {
		ls_cmd_usage("%s: -o wants the name of a file", cmd->name);
		return false;
	}
	*ret = file && strcmp(file, "-") == 0 ? NULL : file;
	return true;
}

bool ls_spec_is_name(const char *s)
{
	return isalnum((unsigned char)*s) && strlen(s) < 200 &&
	       !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")];
}

bool ls_spec_day(const struct ls_cmd *cmd, const struct ls_args *args, char ret[11])
{
	const char *today = ls_args_get(args, "today");
	struct ls_err err = {0};
	if (today && !ls_calendar_is_date(today)) {
		ls_cmd_usage("%s: --today: \"%s\" is not YYYY-MM-DD", cmd->name, today);
		return false;
	}
	if (today)
		memcpy(ret, today, 11);
	else if (ls_spec_today(ret, &err))
		return ls_cmd_fail(&err), false;
	return true;
}

void ls_spec_print_finding(const struct ls_spec_finding *f)
{
	const char *colour = f->kind == LS_FINDING_NOTE ? "dim" : "red";
	printf("%s%-12s%s %s: %s\n", ls_cmd_colour(stdout, colour), ls_finding_kind_name(f->kind),
	       ls_cmd_colour(stdout, "off"), f->key, f->text);
	if (f->advice)
		printf("%-12s -> %s\n", "", f->advice);
	if (f->source)
		printf("%-12s    source: %s\n", "", f->source);
}
