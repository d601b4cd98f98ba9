/* ptx-nvrtc LIBRARY SOURCE.cu OUT.ptx ROOT HEADER…: PTX of one kernel file by NVRTC, for
 * the oldest architecture it knows. The build runs it where there is no nvcc. HEADERs are
 * paths under ROOT, by the names that #include gives them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "gpu/nvrtc.h"

enum { LIMIT = 1 << 24 };

static int read_headers(const char *root, char **names, int n, struct ls_blob *blobs,
			struct ls_err *err)
{
	for (int i = 0; i < n; i++) {
		char *path = ls_xasprintf("%s/%s", root, names[i]), *text;
		int rc = ls_file_read(path, LIMIT, &text, &blobs[i].len, err);
		free(path);
		if (rc)
			return rc;
		blobs[i].name = names[i];
		blobs[i].data = (unsigned char *)text;
	}
	return 0;
}

static int compile(char **argv, const struct ls_blob *headers, struct ls_err *err)
{
	struct ls_nvrtc *rtc = NULL;
	char *source = NULL, *ptx = NULL;
	size_t len;
	int arch = 0, rc = ls_file_read(argv[2], LIMIT, &source, &len, err);
	if (!rc)
		rc = ls_nvrtc_open((const char *const[]){argv[1], NULL}, &rtc, err);
	if (!rc)
		rc = ls_nvrtc_arch(rtc, 0, &arch, err);
	if (!rc)
		rc = ls_nvrtc_compile(rtc, argv[2], source, headers, arch, false, &ptx, &len, err);
	if (!rc)
		rc = ls_file_write_atomic(argv[3], ptx, len, err);
	ls_nvrtc_close(rtc);
	free(ptx);
	free(source);
	return rc;
}

int main(int argc, char **argv)
{
	if (argc < 5) {
		fprintf(stderr, "usage: ptx-nvrtc LIBRARY SOURCE.cu OUT.ptx ROOT HEADER...\n");
		return 2;
	}
	int n = argc - 5;
	struct ls_err err;
	struct ls_blob *headers = ls_xalloc((size_t)(n + 1) * sizeof *headers);
	int rc = read_headers(argv[4], argv + 5, n, headers, &err);
	if (!rc)
		rc = compile(argv, headers, &err);
	if (rc)
		fprintf(stderr, "ptx-nvrtc: %s\n", err.msg);
	for (int i = 0; i < n; i++)
		free((void *)headers[i].data);
	free(headers);
	return rc ? 1 : 0;
}
