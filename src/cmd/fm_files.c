#include "cmd/fm_files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/cmd.h"

/* --- places to write to --- */

/* error: errno of a failed call, or 0. What may not be written is an I/O error (status
 * 4), not a wrong command line. */
static int refuse(const struct ls_fm_file *f, int error, const char *why, struct ls_err *err)
{
	bool name = !error || error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG ||
		    error == ELOOP;
	return ls_err_set(err, name ? LS_EINPUT : LS_EIO, "%s %s: cannot be written: %s", f->what,
			  f->path, why ? why : strerror(error));
}

static int check_folder(const struct ls_fm_file *f, const char *path, struct ls_err *err)
{
	char *folder = ls_file_folder(path);
	struct stat st;
	int rc = 0;
	if (stat(folder, &st) < 0)
		rc = refuse(f, errno, errno == ENOENT ? "its folder does not exist" : NULL, err);
	else if (!S_ISDIR(st.st_mode))
		rc = refuse(f, 0, "what should be its folder is a file", err);
	else if (access(folder, W_OK | X_OK) < 0)
		rc = refuse(f, errno, errno == EACCES ? "its folder may not be written to" : NULL,
			    err);
	free(folder);
	return rc;
}

/* Why a file that is there cannot be replaced, or NULL. */
static const char *why_fixed(const char *path, const struct stat *file)
{
	struct statx x;
	struct stat st = {0};
	char *folder = ls_file_folder(path);
	bool sticky = stat(folder, &st) == 0 && st.st_mode & S_ISVTX;
	free(folder);
	uid_t me = geteuid();
	if (sticky && me != 0 && me != st.st_uid && me != file->st_uid)
		return "it is another user's, in a folder where users may replace only their own "
		       "(sticky bit)";
	if (statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &x) < 0)
		return NULL;
	if (x.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND))
		return "it may not be replaced (lsattr)";
	if (x.stx_attributes & STATX_ATTR_MOUNT_ROOT)
		return "it is mounted by itself, so that no other file can take its place; mount "
		       "its folder instead";
	return NULL;
}

/* Replacing a file needs a folder that can be written to. A file that is added to, a
 * device or a pipe must be writable itself. */
static int check_place(const struct ls_fm_file *f, struct ls_err *err)
{
	struct stat st;
	if (!*f->path)
		return ls_err_set(err, LS_EINPUT, "%s: the name of the file is empty", f->what);
	if (strcmp(f->path, "-") == 0)
		return ls_err_set(
			err, LS_EINPUT,
			"%s -: it goes to a file, not to standard output (./- is a file's name)",
			f->what);
	bool there = stat(f->path, &st) == 0;
	if (!there && errno != ENOENT && errno != ENOTDIR)
		return refuse(f, errno, NULL, err);
	if (there && S_ISDIR(st.st_mode))
		return refuse(f, 0, "it is a folder", err);
	if (there && (!S_ISREG(st.st_mode) || f->append))
		return access(f->path, W_OK) < 0 ? refuse(f, errno, NULL, err) : 0;
	/* the file's folder counts, not the link's */
	char *target = ls_file_follow(f->path);
	int rc = check_folder(f, target, err);
	const char *fixed = rc == 0 && there ? why_fixed(target, &st) : NULL;
	if (fixed)
		rc = refuse(f, EPERM, fixed, err);
	free(target);
	return rc;
}

/* --- the check --- */

static int check_apart(const struct ls_fm_file *output, const struct ls_fm_file *other,
		       const char *harm, struct ls_err *err)
{
	if (!other->path ||
	    !ls_file_same(output->path, strcmp(other->path, "-") == 0 ? "/dev/stdin" : other->path))
		return 0;
	return ls_err_set(err, LS_EINPUT,
			  "%s %s: is the same file as %s, which %s; another name is needed",
			  output->what, output->path, other->what, harm);
}

static int check_output(const struct ls_fm_files *files, size_t i, struct ls_err *err)
{
	static const char input_lost[] = "it would overwrite", output_lost[] = "is written too";
	const struct ls_fm_file *f = &files->outputs[i];
	int rc = f->path ? check_place(f, err) : 0;
	if (!f->path)
		return 0;
	for (const struct ls_fm_file *in = files->inputs; rc == 0 && in->what; in++)
		rc = check_apart(f, in, input_lost, err);
	if (rc == 0 && i > 0)
		rc = check_apart(f, &files->start, input_lost, err);
	for (size_t k = 0; rc == 0 && k < i; k++)
		if (files->outputs[k].path)
			rc = check_apart(f, &files->outputs[k], output_lost, err);
	return rc;
}

int ls_fm_files_check(const struct ls_fm_files *files, struct ls_err *err)
{
	const char *start = files->start.path;
	int rc = start && access(start, R_OK) < 0 ? ls_err_errno(err, start, "open") : 0;
	for (size_t i = 0; rc == 0 && i < LS_FM_FILES && files->outputs[i].what; i++)
		rc = check_output(files, i, err);
	return rc;
}

/* --- files that shrink, or are written to --- */

static void say(const char *line)
{
	ssize_t ignored = write(STDERR_FILENO, line, strlen(line));
	(void)ignored;
}

static void on_bus(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if (info->si_code != BUS_ADRERR)
		/* not ours: the next try ends the process in the usual way */
		return;
	say("lockstep: a file became shorter, or its disk failed, while it was read; files in use "
	    "must not be "
	    "changed\n");
	_exit(LS_EXIT_INPUT);
}

/* After another program has written to the file, numbers that were checked when it was
 * opened may lead anywhere. */
static void on_fault(int number)
{
	say("lockstep: ends here, for a data file was written to while it was in use, or by a "
	    "mistake of its own\n");
	raise(number); /* which ends the process in the usual way */
}

void ls_fm_guard_maps(void)
{
	struct sigaction bus = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | (int)SA_RESETHAND},
			 was;
	struct sigaction fault = {.sa_handler = on_fault, .sa_flags = (int)SA_RESETHAND};
	sigaction(SIGBUS, &bus, NULL);
	if (sigaction(SIGSEGV, NULL, &was) == 0 &&
	    was.sa_handler == SIG_DFL) /* sanitizers install their own */
		sigaction(SIGSEGV, &fault, NULL);
}
