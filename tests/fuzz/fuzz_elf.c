/* An ELF file: every text handed out ends within the bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "env/elf/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_elf elf;
	struct ls_err err;
	if (ls_elf_read(data, size, &elf, &err))
		return 0;
	size_t sum = elf.rpath ? strlen(elf.rpath) : 0;
	for (char **n = elf.needed; *n; n++)
		sum += strlen(*n);
	char *expanded = ls_elf_expand(elf.runpath ? elf.runpath : "", "/o");
	sum += strlen(expanded);
	free(expanded);
	ls_elf_done(&elf);
	return sum == SIZE_MAX;
}
