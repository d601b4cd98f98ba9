/* Terminal, clock and output, shared by the commands. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"

bool ls_cmd_can_draw(FILE *to)
{
	const char *term = getenv("TERM");
	return isatty(fileno(to)) == 1 && !(term && strcmp(term, "dumb") == 0);
}

const char *ls_cmd_colour(FILE *to, const char *what)
{
	static const struct {
		const char *name, *sequence;
	} colours[] = {{"red", "\033[31m"}, {"green", "\033[32m"}, {"yellow", "\033[33m"},
		       {"bold", "\033[1m"}, {"dim", "\033[2m"},    {"off", "\033[0m"}};
	const char *no = getenv("NO_COLOR");
	if ((no && *no) || !ls_cmd_can_draw(to))
		return "";
	for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
		if (strcmp(colours[i].name, what) == 0)
			return colours[i].sequence;
	return "";
}

int ls_cmd_now(struct tm *ret, struct ls_err *err)
{
	const char *fixed = getenv("SOURCE_DATE_EPOCH");
	char *end;
	if (!fixed || !*fixed) {
		time_t now = time(NULL);
		gmtime_r(&now, ret);
		return 0;
	}
	errno = 0;
	long long seconds = strtoll(fixed, &end, 10);
	if (errno || *end || seconds < 0 || seconds > 253402300799) /* the end of the year 9999 */
		return ls_err_set(
			err, LS_EINPUT,
			"SOURCE_DATE_EPOCH: \"%.40s\" is not a number of seconds since 1970",
			fixed);
	gmtime_r(&(time_t){(time_t)seconds}, ret);
	return 0;
}

void ls_cmd_print_name(const char *name)
{
	struct ls_str s = {0};
	ls_str_add_printable(&s, name);
	fputs(s.s ? s.s : "", stdout);
	ls_str_done(&s);
}

static bool incomplete;

bool ls_cmd_output_incomplete(void)
{
	return incomplete;
}

void ls_cmd_print_json_take(json_t *v)
{
	if (!v) { /* json_pack refuses what is not UTF-8 */
		fputs("lockstep: the result holds bytes that are not UTF-8 and cannot be printed "
		      "as JSON\n",
		      stderr);
		incomplete = true;
		return;
	}
	char *text = ls_json_text(v);
	fputs(text, stdout);
	free(text);
	json_decref(v);
}
