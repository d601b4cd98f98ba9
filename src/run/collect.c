#include "run/collect.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/mem.h"

static bool is_there(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 || errno != ENOENT;
}

/* "out/run/" without slashes at its end; the caller frees. */
static char *trimmed(const char *path)
{
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	return ls_xstrndup(path, n);
}

static const char *last_name(const char *trimmed_path)
{
	const char *slash = strrchr(trimmed_path, '/');
	return slash ? slash + 1 : trimmed_path;
}

/* The file system on which a path that is not there yet would be. */
static int device_of(const char *path, dev_t *ret, struct ls_err *err)
{
	char *at = ls_file_folder(path);
	struct stat st = {0};
	while (stat(at, &st) < 0) {
		if (errno != ENOENT || strcmp(at, ".") == 0 || strcmp(at, "/") == 0) {
			int rc = ls_err_errno(err, at, "look at the folder");
			free(at);
			return rc;
		}
		char *up = ls_file_folder(at);
		free(at);
		at = up;
	}
	free(at);
	*ret = st.st_dev;
	return 0;
}

static int check_one(const char *path, dev_t to, struct ls_err *err)
{
	const char *name = last_name(path);
	dev_t device = 0;
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return ls_err_set(err, LS_EINPUT,
				  "collect \"%.80s\": not the name of a file or "
				  "folder that the command makes",
				  path);
	if (is_there(path))
		return ls_err_set(err, LS_EINPUT,
				  "collect \"%.200s\": it is there already, and each run must "
				  "begin without it; move it away",
				  path);
	int rc = device_of(path, &device, err);
	if (rc == 0 && device != to)
		rc = ls_err_set(err, LS_EINPUT,
				"collect \"%.200s\": it would lie on another file system than the "
				"runs and could not be moved there; choose a folder beside it "
				"with -o",
				path);
	return rc;
}

static bool same_name(const char *a, const char *b)
{
	char *x = trimmed(a), *y = trimmed(b);
	bool same = strcmp(last_name(x), last_name(y)) == 0;
	free(x);
	free(y);
	return same;
}

int ls_collect_check(const char *const *paths, const char *to, struct ls_err *err)
{
	struct stat st = {0};
	int rc = stat(to, &st) < 0 ? ls_err_errno(err, to, "look at the folder") : 0;
	for (size_t i = 0; paths && paths[i] && rc == 0; i++) {
		char *path = trimmed(paths[i]);
		rc = check_one(path, st.st_dev, err);
		free(path);
		for (size_t k = 0; k < i && rc == 0; k++)
			if (same_name(paths[i], paths[k]))
				rc = ls_err_set(err, LS_EINPUT,
						"collect \"%.80s\" and \"%.80s\": both have the "
						"same last name",
						paths[k], paths[i]);
	}
	return rc;
}

static int move(const char *path, const char *folder, struct ls_err *err)
{
	char *to = ls_xasprintf("%s/%s", folder, last_name(path));
	int rc = ls_folder_make(folder, err);
	if (rc == 0 && is_there(to))
		rc = ls_err_set(err, LS_EINPUT, "%s: the run itself has written something there",
				to);
	if (rc == 0 && rename(path, to) < 0)
		rc = ls_err_errno(err, path, "move it to the run's folder");
	free(to);
	return rc;
}

int ls_collect_take(const char *const *paths, const char *folder, const char **ret_missing,
		    struct ls_err *err)
{
	char *into = ls_xasprintf("%s/collected", folder);
	const char *missing = NULL;
	int rc = 0;
	for (size_t i = 0; paths && paths[i] && rc == 0; i++) {
		char *path = trimmed(paths[i]);
		if (is_there(path))
			rc = move(path, into, err);
		else if (!missing)
			missing = paths[i];
		free(path);
	}
	free(into);
	if (rc == 0)
		*ret_missing = missing;
	return rc;
}
