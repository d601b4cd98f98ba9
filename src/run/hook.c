#include "run/hook.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/embed.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/bytecode.h"
#include "run/folder.h"

static int write_plain(const char *dir, const char *name, const void *data, size_t len,
		       struct ls_err *err)
{
	char *path = ls_xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "wbe"); /* no fsync: the folder does not outlive the run */
	int rc = 0;
	if (!f)
		rc = ls_err_errno(err, path, "create");
	else {
		size_t n = fwrite(data, 1, len, f);
		const struct timespec then[] = {{LS_BYTECODE_TIME, 0}, {LS_BYTECODE_TIME, 0}};
		fflush(f);
		futimens(fileno(f), then);
		if (fclose(f) != 0 || n != len)
			rc = ls_err_errno(err, path, "write");
	}
	free(path);
	return rc ? LS_EIO : 0;
}

/* The policy as a Python module. JSON is a Python literal once true, false and null have
 * values; importing json would take longer than the whole hook. */
static int write_policy(const struct ls_hook *hook, const json_t *policy, struct ls_err *err)
{
	char *json = json_dumps(policy, JSON_COMPACT);
	char *text = ls_xasprintf("true, false, null = True, False, None\nPOLICY = %s\n",
				  json ? json : "{}");
	int rc = write_plain(hook->dir, "lockstep_policy.py", text, strlen(text), err);
	free(json);
	free(text);
	return rc;
}

static json_t *hook_policy(const struct ls_hook *hook, const struct ls_policy *policy,
			   const struct ls_runenv *env)
{
	json_t *p = ls_policy_told(policy, env);
	json_object_set_new(p, "seen", json_string(hook->seen));
	json_object_set_new(p, "inject",
			    policy->inject ? json_string(policy->inject) : json_null());
	json_object_set_new(p, "library",
			    policy->library ? json_string(policy->library) : json_null());
	json_object_set_new(p, "trace_dir",
			    hook->trace_dir ? json_string(hook->trace_dir) : json_null());
	return p;
}

static void add_to_path(const struct ls_hook *hook, struct ls_runenv *env)
{
	const char *now = ls_runenv_get(env, "PYTHONPATH");
	char *path = now && *now ? ls_xasprintf("%s:%s", hook->dir, now) : ls_xstrdup(hook->dir);
	ls_runenv_set(env, "PYTHONPATH", path);
	free(path);
}

/* Writes the embedded files whose names begin with `from` into the private folder, under
 * their names without the first `cut` characters. */
static int write_embedded(const struct ls_hook *hook, const char *from, size_t cut,
			  struct ls_err *err)
{
	int rc = 0;
	for (const struct ls_blob *b = ls_embedded; b->name && rc == 0; b++)
		if (ls_str_starts(b->name, from))
			rc = write_plain(hook->dir, b->name + cut, b->data, b->len, err);
	return rc;
}

/* The Python package, for an exact run. */
static int write_package(const struct ls_hook *hook, struct ls_err *err)
{
	static const char *const folders[] = {"lockstep", "lockstep/torch"};
	int rc = 0;
	for (size_t i = 0; i < sizeof folders / sizeof *folders && rc == 0; i++) {
		char *path = ls_xasprintf("%s/%s", hook->dir, folders[i]);
		rc = mkdir(path, 0700) < 0 ? ls_err_errno(err, path, "make the folder") : 0;
		free(path);
	}
	return rc ? rc : write_embedded(hook, "python/lockstep/", strlen("python/"), err);
}

static int write_files(struct ls_hook *hook, const struct ls_policy *policy, struct ls_runenv *env,
		       struct ls_err *err)
{
	const struct ls_blob *shared = ls_embed_find(LS_HOOK_SHARED_SOURCE);
	int rc = write_embedded(hook, "python/hook/", strlen("python/hook/"), err);
	if (rc == 0)
		rc = write_plain(hook->dir, LS_HOOK_SHARED ".py", shared->data, shared->len, err);
	if (rc == 0 && policy->exact)
		rc = write_package(hook, err);
	if (rc)
		return rc;
	if (mkdir(hook->seen, 0700) < 0)
		return ls_err_errno(err, hook->seen, "make the folder");
	if (hook->trace_dir && (rc = ls_folder_make(hook->trace_dir, err)))
		return rc;
	json_t *p = hook_policy(hook, policy, env);
	rc = write_policy(hook, p, err);
	json_decref(p);
	return rc;
}

/* Removes private folders that killed runs have left. A run holds a lock on its folder,
 * so a locked one means that the run goes on, which is an error. On a file system without
 * locks nothing is removed. */
static int settle(const char *out, int dir, struct ls_err *err)
{
	DIR *d = fdopendir(dup(dir));
	int rc = 0;
	for (struct dirent *e; d && rc == 0 && (e = readdir(d));) {
		if (!ls_str_starts(e->d_name, ".lockstep."))
			continue;
		int fd = openat(dir, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
			char *path = ls_xasprintf("%s/%s", out, e->d_name);
			ls_folder_remove(path);
			free(path);
		} else if (errno == EWOULDBLOCK) {
			rc = ls_err_set(err, LS_EINPUT,
					"%s: another run is using this folder; give this one "
					"another with --out",
					out);
		}
		close(fd);
	}
	if (d)
		closedir(d);
	return rc;
}

/* Makes and locks the private folder. The output folder is locked meanwhile: otherwise a
 * second run that starts could take this new folder for one that was left. */
static int make_dir(struct ls_hook *h, const char *out, struct ls_err *err)
{
	int dir = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return ls_err_errno(err, out, "open");
	flock(dir, LOCK_EX);
	int rc = settle(out, dir, err);
	h->dir = ls_xasprintf("%s/.lockstep.XXXXXX", out);
	if (rc == 0 && !mkdtemp(h->dir))
		rc = ls_err_set(err, LS_EIO, "%s: cannot make the folder: %s", h->dir,
				strerror(errno));
	if (rc == 0) {
		h->lock = open(h->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (h->lock >= 0)
			flock(h->lock, LOCK_EX | LOCK_NB);
	} else {
		free(h->dir);
		h->dir = NULL;
	}
	close(dir);
	return rc;
}

int ls_hook_init(struct ls_hook *hook, const char *out, const struct ls_policy *policy,
		 struct ls_runenv *env, struct ls_err *err)
{
	struct ls_hook h = {.lock = -1};
	int rc =
		strchr(out, ':')
			? ls_err_set(err, LS_EINPUT,
				     "%s: an output folder with a colon cannot stand on PYTHONPATH",
				     out)
			: make_dir(&h, out, err);
	if (rc)
		return rc;
	char *trace = ls_xasprintf("%s/run_trace", out);
	ls_folder_remove(trace); /* an earlier run's */
	h.seen = ls_xasprintf("%s/seen", h.dir);
	h.trace_dir = policy->trace ? trace : NULL;
	if (!policy->trace)
		free(trace);
	rc = write_files(&h, policy, env, err);
	if (rc) {
		ls_hook_done(&h);
		return rc;
	}
	add_to_path(&h, env);
	*hook = h;
	return 0;
}

void ls_hook_done(struct ls_hook *hook)
{
	if (hook->dir) {
		ls_folder_remove(hook->dir);
		if (hook->lock >= 0)
			close(hook->lock);
	}
	free(hook->dir);
	free(hook->seen);
	free(hook->trace_dir);
	*hook = (struct ls_hook){0};
}
