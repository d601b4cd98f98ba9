#include "run/start.h"

#include <limits.h>
#include <time.h>
#include <unistd.h>

#include "run/git.h"
#include "run/manifest.h"

json_t *ls_manifest_time(void)
{
	struct timespec ts;
	struct tm tm;
	char text[64];
	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	size_t n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, sizeof text - n, ".%03ldZ", ts.tv_nsec / 1000000);
	return json_string(text);
}

static json_t *host_json(void)
{
	char name[256] = "";
	gethostname(name, sizeof name - 1);
	return ls_json_lossy(name);
}

static json_t *words_json(const char *const *words)
{
	json_t *list = json_array();
	for (; *words; words++)
		json_array_append_new(list, ls_json_lossy(*words));
	return list;
}

int ls_manifest_start_take(const char *const *command, const char *out, json_t *policy,
			   json_t *inputs, json_t **ret, struct ls_err *err)
{
	char cwd[PATH_MAX] = "";
	if (!getcwd(cwd, sizeof cwd)) {
		json_decref(policy);
		json_decref(inputs);
		return ls_err_errno(err, ".", "find the working folder");
	}
	*ret = json_pack("{s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "schema",
			 LS_MANIFEST_SCHEMA, "lockstep", LS_VERSION, "state", "running", "command",
			 words_json(command), "cwd", ls_json_lossy(cwd), "host", host_json(), "out",
			 ls_json_lossy(out), "started", ls_manifest_time(), "git", ls_git_state(),
			 "policy", policy, "inputs", inputs);
	return 0;
}
