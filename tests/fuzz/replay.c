/* Stands in for libFuzzer's main: runs the target over every file of the corpus folder,
 * and over each file cut short and with one byte changed, so that the release build sees
 * the committed inputs too. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void one(const char *path)
{
	char *text;
	size_t len;
	struct ls_err err;
	if (ls_file_read(path, 1 << 24, &text, &len, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	uint8_t *copy = malloc(len + 1);
	if (!copy)
		exit(1);
	LLVMFuzzerTestOneInput((const uint8_t *)text, len);
	size_t step = len / 64 + 1;
	for (size_t i = 0; i < len; i += step) {
		memcpy(copy, text, len);
		LLVMFuzzerTestOneInput(copy, i);
		copy[i] ^= 0x55;
		LLVMFuzzerTestOneInput(copy, len);
	}
	free(copy);
	free(text);
}

int main(int argc, char **argv)
{
	DIR *d = argc == 2 ? opendir(argv[1]) : NULL;
	if (!d) {
		fprintf(stderr, "usage: fuzz_PARSER CORPUS\n");
		return 2;
	}
	int n = 0;
	for (struct dirent *e; (e = readdir(d));) {
		char path[4096];
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
		one(path);
		n++;
	}
	closedir(d);
	printf("%d inputs\n", n);
	return n ? 0 : 1; /* an empty corpus tests nothing */
}
