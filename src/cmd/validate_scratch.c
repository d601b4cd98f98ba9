#include "cmd/validate_scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

static const char prefix[] = "lockstep-validate-";

/* Those that validate_handover.c writes. */
static void remove_folder(int at, const char *name, int fd)
{
	unlinkat(fd, "model", 0);
	unlinkat(fd, "checkpoint", 0);
	unlinkat(at, name, AT_REMOVEDIR);
}

/* A folder that nobody has locked, unless it may be about to be. */
static void remove_left(int at, const char *name)
{
	enum { SETTLED = 60 }; /* seconds from mkdtemp to flock, at most */
	struct stat st;
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && st.st_mtime + SETTLED < time(NULL) &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		remove_folder(at, name, fd);
	close(fd);
}

static void remove_all_left(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;
	if (!dir)
		return;
	while ((e = readdir(dir)) != NULL)
		if (ls_str_starts(e->d_name, prefix))
			remove_left(dirfd(dir), e->d_name);
	closedir(dir);
}

int ls_validate_scratch_open(struct ls_validate_scratch *ret, struct ls_err *err)
{
	const char *tmp = getenv("TMPDIR");
	tmp = tmp && *tmp ? tmp : "/tmp";
	remove_all_left(tmp);
	char *path = ls_xasprintf("%s/%sXXXXXX", tmp, prefix);
	if (!mkdtemp(path)) {
		int rc = ls_err_errno(err, path, "make the folder");
		free(path);
		return rc;
	}
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		flock(fd, LOCK_SH);
	*ret = (struct ls_validate_scratch){path, fd};
	return 0;
}

void ls_validate_scratch_close(struct ls_validate_scratch *s)
{
	if (!s->path)
		return;
	rmdir(s->path);
	if (s->fd >= 0)
		close(s->fd);
	free(s->path);
	s->path = NULL;
}
