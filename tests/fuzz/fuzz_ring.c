/* A ring whose records are anything: what is read has a good checksum, and adding goes
 * on. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "watch/ring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void seen(void *ctx, const struct ls_ring_point *p)
{
	(void)p;
	++*(unsigned *)ctx;
}

/* The first byte says where the rest is written. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ls_ring_form form = {"a b", 2, 8};
	struct ls_ring_point p = {.time = 1};
	struct ls_ring *r;
	unsigned n = 0;
	char path[64];
	snprintf(path, sizeof path, "/tmp/ls-fuzz-ring-%d", (int)getpid());
	if (ls_ring_open(path, &form, &r, NULL))
		abort();
	ls_ring_close(r);
	int fd = open(path, O_RDWR);
	if (fd < 0 || (size > 1 && pwrite(fd, data + 1, size - 1, data[0] * 4) < 0))
		abort();
	close(fd);
	if (ls_ring_open(path, &form, &r, NULL))
		abort();
	ls_ring_each(r, 0, seen, &n);
	if (n > form.capacity || ls_ring_add(r, &p, NULL))
		abort();
	ls_ring_close(r);
	unlink(path);
	snprintf(path, sizeof path, "/tmp/ls-fuzz-ring-%d.old", (int)getpid());
	unlink(path);
	return 0;
}
