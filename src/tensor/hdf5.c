#include "tensor/hdf5.h"

#include <errno.h>
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

/* Runs the reader in a process of its own. */
static int run_reader(const char *path, uint64_t len, int out, const char *name, struct ls_err *err)
{
	int status = 0;
	pid_t child = fork();
	if (child < 0)
		return ls_err_errno(err, name, "start a process to read");
	if (child == 0) {
		ls_h5_read(path, len, out);
		(_exit)(0); /* the child alone, and without what the parent does at its end */
	}
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

static int read_file(struct ls_bundle *b, const char *path, const uint8_t *data, size_t len,
		     const char *name, struct ls_err *err)
{
	int out = scratch_file(name, err);
	if (out < 0)
		return LS_EIO;
	int rc = run_reader(path, len, out, name, err);
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
	int fd = scratch_file(name, err);
	if (fd < 0)
		return LS_EIO;
	char *path = ls_xasprintf("/proc/self/fd/%d", fd);
	int rc = write_image(fd, data, len) ? ls_err_errno(err, name, "write a copy of")
					    : read_file(b, path, data, len, name, err);
	free(path);
	close(fd);
	return rc;
}

int ls_hdf5_open(const char *path, struct ls_bundle **ret, struct ls_err *err)
{
	struct ls_bundle *b = ls_bundle_new("HDF5");
	struct ls_map map;
	int rc = ls_bundle_map(b, path, &map, err);
	if (rc == 0)
		rc = read_file(b, path, map.data, map.len, path, err);
	if (rc == 0)
		rc = ls_bundle_seal(b, path, err);
	return ls_bundle_hand_take(b, rc, ret);
}
