#include "run/git.h"

#include <string.h>

#include "base/digest.h"
#include "base/proc.h"
#include "base/str.h"

enum { SECONDS = 10 };

static json_t *unknown(const char *why)
{
	return json_pack("{s:o}", "unknown", ls_json_lossy(why));
}

static const char *after(const char *line, const char *prefix)
{
	return ls_str_starts(line, prefix) ? line + strlen(prefix) : NULL;
}

/* Lines of `git status --porcelain=v2 --branch`. */
static void read_status(json_t *state, char *text, bool *ret_dirty)
{
	json_int_t untracked = 0;
	char *save = NULL;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *v;
		if ((v = after(line, "# branch.oid ")))
			json_object_set_new(state, "commit", ls_json_lossy(v));
		else if ((v = after(line, "# branch.head ")))
			json_object_set_new(state, "branch", ls_json_lossy(v));
		else if (line[0] == '?')
			untracked++;
		else if (line[0] != '#')
			*ret_dirty = true;
	}
	json_object_set_new(state, "dirty", json_boolean(*ret_dirty));
	json_object_set_new(state, "untracked", json_integer(untracked));
}

/* false: git could not say. */
static bool read_diff(struct ls_proc_result *ret)
{
	const char *const argv[] = {"git",  "diff", "--no-ext-diff", "--no-color", "--binary",
				    "HEAD", NULL};
	if (ls_proc_run(argv, SECONDS, ret, NULL))
		return false;
	if (ret->status == 0 && !ret->timed_out)
		return true;
	ls_proc_result_done(ret);
	return false;
}

char *ls_git_diff(void)
{
	enum { MOST = 15 << 20 }; /* more would have been cut off */
	struct ls_proc_result r;
	if (!read_diff(&r))
		return NULL;
	char *text = r.out.len <= MOST ? ls_str_take(&r.out) : NULL;
	ls_proc_result_done(&r);
	return text;
}

static void add_diff(json_t *state)
{
	struct ls_proc_result r;
	char hex[LS_SHA256_HEX];
	if (!read_diff(&r))
		return;
	ls_sha256(r.out.s ? r.out.s : "", r.out.len, hex);
	json_object_set_new(state, "diff_sha256", json_string(hex));
	ls_proc_result_done(&r);
}

json_t *ls_git_state(void)
{
	const char *const argv[] = {
		"git", "--no-optional-locks", "status", "--porcelain=v2", "--branch", NULL};
	struct ls_proc_result r;
	struct ls_err err;
	if (ls_proc_run(argv, SECONDS, &r, &err))
		return unknown(err.msg);
	json_t *state;
	if (r.timed_out) {
		state = unknown("git status took more than 10 s");
	} else if (r.status != 0 || !r.out.s) {
		state = unknown(r.err.s ? ls_str_trim(r.err.s) : "git status failed");
	} else {
		bool dirty = false;
		state = json_object();
		read_status(state, r.out.s, &dirty);
		if (dirty)
			add_diff(state);
	}
	ls_proc_result_done(&r);
	return state;
}
