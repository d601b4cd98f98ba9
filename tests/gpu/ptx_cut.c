/* ptx_cut FILE [NAME…]: the PTX module with only these kernels, as the program gives it
 * to the driver. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "gpu/ptx.h"

int main(int argc, char **argv)
{
	char *text = NULL, *cut = NULL;
	size_t len;
	struct ls_err err = {0};
	if (argc < 2) {
		fprintf(stderr, "usage: ptx_cut FILE [NAME...]\n");
		return 2;
	}
	int rc = ls_file_read(argv[1], 1 << 26, &text, &len, &err);
	if (!rc)
		rc = ls_ptx_cut(text, len, (const char *const *)argv + 2, &cut, &len, &err);
	if (rc)
		fprintf(stderr, "ptx_cut: %s\n", err.msg);
	else if (fwrite(cut, 1, len, stdout) != len || fflush(stdout))
		rc = 1;
	free(cut);
	free(text);
	return rc ? 1 : 0;
}
