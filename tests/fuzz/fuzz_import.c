/* environment.yml, requirements.txt, Dockerfile: read the text as each of them. What is
 * made of it must load as a spec, which ls_import itself checks. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "env/import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = ls_xstrndup((const char *)data, size);
	for (int kind = LS_IMPORT_ANY; kind <= LS_IMPORT_DOCKERFILE; kind++) {
		struct ls_import_how how = {.date = "2026-11-19",
					    .kind = (enum ls_import_kind)kind};
		struct ls_import *im = NULL;
		struct ls_err err = {0};
		int rc = ls_import(text, strlen(text), "fuzz", &how, &im, &err);
		if (rc == LS_EINTERNAL)
			abort();
		if (!rc && (!im->spec || im->n_left > 1001))
			abort();
		ls_import_free(im);
	}
	free(text);
	return 0;
}
