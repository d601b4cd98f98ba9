#include "tensor/hdf5.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "tensor/hdf5_dump.h"
#include "tensor/hdf5_reader.h"

bool ls_hdf5_is(const uint8_t *data, size_t len)
{
	static const char magic[8] = "\x89HDF\r\n\x1a\n";
	for (size_t at = 0; at <= len && len - at >= sizeof magic; at = at ? 2 * at : 512)
		if (memcmp(data + at, magic, sizeof magic) == 0)
			return true;
	return false;
}

/* A file without a name, for what the other process says. */
static int scratch_file(const char *name, struct ls_err *err)
{
	int fd = ls_file_unnamed("/tmp/lockstep");
	if (fd < 0)
		fd = memfd_create("lockstep", MFD_CLOEXEC);
	if (fd < 0)
		ls_err_errno(err, name, "open a scratch file for");
	return fd;
}

/* Runs the reader in a process of its own. copy: path is a copy that is removed as soon
 * as the reader has opened it. */
static int run_reader(const char *path, uint64_t len, int out, bool copy, const char *name,
		      struct ls_err *err)
{
	int status = 0, opened[2];
	char byte;
	if (pipe2(opened, O_CLOEXEC) < 0)
		return ls_err_errno(err, name, "make a pipe to read");
	pid_t child = fork();
	close(opened[child == 0 ? 0 : 1]);
	if (child < 0) {
		close(opened[0]);
		return ls_err_errno(err, name, "start a process to read");
	}
	if (child == 0) {
		ls_h5_read(path, len, out, opened[1]);
		(_exit)(0); /* the child alone, and without what the parent does at its end */
	}
	/* ends with the reader at the latest */
	while (read(opened[0], &byte, 1) < 0 && errno == EINTR)
		;
	close(opened[0]);
	if (copy)
		unlink(path);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return ls_err_errno(err, name, "wait for the process that reads");
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return ls_err_set(err, LS_EINPUT,
				  "libhdf5 stopped (signal %d) while it read the file, which is "
				  "damaged or made to do harm",
				  WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	return 0;
}

static int read_file(struct ls_bundle *b, const char *path, bool copy, const uint8_t *data,
		     size_t len, const char *name, struct ls_err *err)
{
	int out = scratch_file(name, err);
	if (out < 0)
		return LS_EIO;
	int rc = run_reader(path, len, out, copy, name, err);
	struct ls_map dump;
	if (rc == 0)
		rc = ls_bundle_map_fd(b, out, &dump, err);
	if (rc == 0)
		rc = ls_h5_dump_read(b, data, len, dump.data, dump.len, err);
	close(out);
	return rc ? ls_err_prefix(err, "%s", name) : 0;
}

/* The image as a file, which the library wants. */
static int write_image(int fd, const uint8_t *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len < 1 << 20 ? len : 1 << 20);
		if (n <= 0)
			return -1;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

int ls_hdf5_parse(struct ls_bundle *b, const uint8_t *data, size_t len, const char *name,
		  struct ls_err *err)
{
	/* libhdf5 wants a name: it follows links, and /proc/self/fd is one */
	char path[] = "/tmp/lockstep-h5-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return ls_err_errno(err, path, "create");
	int rc = write_image(fd, data, len) ? ls_err_errno(err, path, "write")
					    : read_file(b, path, true, data, len, name, err);
	if (rc)
		unlink(path);
	close(fd);
	return rc;
}

int ls_hdf5_open(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	struct ls_bundle *b = ls_bundle_new("HDF5");
	struct ls_map map;
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0)
		rc = read_file(b, path, false, map.data, map.len, path, err);
	if (rc == 0)
		rc = ls_bundle_seal(b, path, err);
	return ls_bundle_hand_take(b, rc, ret);
}
