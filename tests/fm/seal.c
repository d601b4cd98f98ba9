/* fm_seal FILE…: gives model files and checkpoints that a test has changed the checksum of
 * their new contents, by the definition in docs/FORMATS.md and without the code that
 * writes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "tensor/safetensors.h"

static uint64_t sum_of_tensors(const struct ls_bundle *b)
{
	uint64_t sum = 0;
	for (size_t t = 0; t < b->n_tensors; t++) {
		const struct ls_tensor *is = &b->tensors[t];
		bool by_feature =
			strncmp(is->name, "linear", 6) == 0 || strncmp(is->name, "factors", 7) == 0;
		uint64_t rows = by_feature ? is->shape[0] : 1, bytes = is->nbytes / rows;
		for (uint64_t r = 0; r < rows; r++)
			sum += ls_xxh64(is->data + r * bytes, bytes) * (2 * (16 * r + t) + 1);
	}
	return sum;
}

static int seal(const char *path)
{
	struct ls_bundle *b;
	struct ls_err err = {0};
	char *bytes, digits[17];
	size_t len;
	uint64_t header;
	if (ls_safetensors_open(path, &b, &err) ||
	    ls_file_read(path, SIZE_MAX / 2, &bytes, &len, &err)) {
		fprintf(stderr, "fm_seal: %s\n", err.msg);
		return 1;
	}
	memcpy(&header, bytes, sizeof header);
	char *at = strstr(bytes + sizeof header, "\"checksum\":\"");
	if (!at)
		return 1;
	memset(at += strlen("\"checksum\":\""), '0', 16);
	snprintf(digits, sizeof digits, "%016llx",
		 (unsigned long long)(ls_xxh64(bytes + sizeof header, header) + sum_of_tensors(b)));
	memcpy(at, digits, 16);
	ls_bundle_free(b);
	int rc = ls_file_write_atomic(path, bytes, len, &err);
	free(bytes);
	return rc != 0;
}

int main(int argc, char **argv)
{
	int rc = 0;
	for (int i = 1; i < argc; i++)
		rc |= seal(argv[i]);
	return rc;
}
