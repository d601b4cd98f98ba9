/* The record of exports, which `monitor` follows. */
#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "watch/exports.h"

char *ls_cmd_state_path(const char *name)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	if (state && *state == '/')
		return ls_xasprintf("%s/lockstep/%s", state, name);
	if (home && *home == '/')
		return ls_xasprintf("%s/.local/state/lockstep/%s", home, name);
	return NULL;
}

char *ls_cmd_export_record(void)
{
	const char *given = getenv("LOCKSTEP_EXPORTS");
	return given && *given ? ls_xstrdup(given) : ls_cmd_state_path("exports.jsonl");
}

/* A name that is right in whatever folder the reader is. */
static char *whole(const char *path)
{
	char here[PATH_MAX], *real = path ? ls_file_follow(path) : NULL;
	if (!real || *real == '/' || !getcwd(here, sizeof here))
		return real;
	char *full = ls_xasprintf("%s/%s", here, real);
	free(real);
	return full;
}

void ls_cmd_record_export(const char *format, const char *model, const char *file,
			  const struct ls_err *failure)
{
	struct tm tm;
	struct ls_err err = {0};
	char *record = ls_cmd_export_record(), *from = whole(model), *to = whole(file);
	struct ls_export e = {.format = format, .model = from, .file = to};
	e.error = failure ? failure->msg : NULL;
	if (record && ls_cmd_now(&tm, &err) == 0) {
		e.time = (double)timegm(&tm);
		ls_export_append(record, &e, &err);
	}
	if (err.code)
		ls_cmd_note(err.msg);
	free(record);
	free(from);
	free(to);
}
