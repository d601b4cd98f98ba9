/* A model file, and the same bytes as a checkpoint: refused or loaded, never more memory
 * than the file justifies. */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fm/model/save.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("model", 0);
	char path[64];
	struct ls_fm_model *m;
	struct ls_fm_position at;
	struct ls_err err;
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		return 0;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (ls_fm_load_model(path, 1, &m, &err) == 0)
		ls_fm_model_free(m);
	if (ls_fm_load_checkpoint(path, 1, &m, &at, &err) == 0)
		ls_fm_model_free(m);
	close(fd);
	return 0;
}
