/* The log of a run that failed: its last lines, and what becomes of them in Markdown. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/str.h"
#include "run/verify_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_LINES = 12 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	int fd = memfd_create("log", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	char *lines = ls_verify_last_lines(path);
	close(fd);
	size_t n = 0;
	for (const char *p = lines; *p; p++) {
		n += *p == '\n';
		if ((*p != '\n' && (unsigned char)*p < 0x20) || *p == 0x7f)
			abort(); /* it would reach the terminal */
	}
	if (n > MOST_LINES)
		abort();
	struct ls_str out = {0};
	ls_str_add_markdown(&out, lines);
	if (out.s && strpbrk(out.s, "|<>\n@`"))
		abort();
	ls_str_done(&out);
	free(lines);
	return 0;
}
