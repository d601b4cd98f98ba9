#include "env/elf/elf.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* Limits above what real files have, so that a forged file cannot exhaust memory. */
enum { MAX_NEEDED = 1024, MAX_TEXT = 1 << 16 };

struct image {
	const uint8_t *p;
	size_t len;
	Elf64_Ehdr head;
	const char *strings; /* the dynamic string table */
	size_t strings_len;
};

static bool inside(const struct image *f, uint64_t at, uint64_t n)
{
	return at <= f->len && n <= f->len - at;
}

static bool read_head(struct image *f)
{
	if (f->len < sizeof f->head)
		return false;
	memcpy(&f->head, f->p, sizeof f->head);
	const unsigned char *id = f->head.e_ident;
	return memcmp(id, ELFMAG, SELFMAG) == 0 && id[EI_CLASS] == ELFCLASS64 &&
	       id[EI_DATA] == ELFDATA2LSB && f->head.e_phentsize == sizeof(Elf64_Phdr) &&
	       inside(f, f->head.e_phoff, (uint64_t)f->head.e_phnum * sizeof(Elf64_Phdr));
}

static Elf64_Phdr segment(const struct image *f, unsigned i)
{
	Elf64_Phdr h;
	memcpy(&h, f->p + f->head.e_phoff + (uint64_t)i * sizeof h, sizeof h);
	return h;
}

/* The file offset of a virtual address, by the PT_LOAD segments. */
static bool file_offset(const struct image *f, uint64_t address, uint64_t *ret)
{
	for (unsigned i = 0; i < f->head.e_phnum; i++) {
		Elf64_Phdr h = segment(f, i);
		if (h.p_type != PT_LOAD || address < h.p_vaddr || address - h.p_vaddr >= h.p_filesz)
			continue;
		*ret = h.p_offset + (address - h.p_vaddr);
		return *ret >= h.p_offset;
	}
	return false;
}

/* The n entries of the dynamic section, up to its end mark; false when the file has none
 * that lies within it. */
static bool find_dynamic(const struct image *f, const uint8_t **ret, size_t *ret_n)
{
	for (unsigned i = 0; i < f->head.e_phnum; i++) {
		Elf64_Phdr h = segment(f, i);
		if (h.p_type != PT_DYNAMIC)
			continue;
		if (!inside(f, h.p_offset, h.p_filesz))
			return false;
		*ret = f->p + h.p_offset;
		*ret_n = h.p_filesz / sizeof(Elf64_Dyn);
		return true;
	}
	return false;
}

static bool entry(const uint8_t *dynamic, size_t n, size_t i, Elf64_Dyn *ret)
{
	if (i >= n)
		return false;
	memcpy(ret, dynamic + i * sizeof *ret, sizeof *ret);
	return ret->d_tag != DT_NULL;
}

static bool find_strings(struct image *f, const uint8_t *dynamic, size_t n)
{
	uint64_t address = 0, size = 0, at;
	Elf64_Dyn d;
	for (size_t i = 0; entry(dynamic, n, i, &d); i++) {
		if (d.d_tag == DT_STRTAB)
			address = d.d_un.d_ptr;
		if (d.d_tag == DT_STRSZ)
			size = d.d_un.d_val;
	}
	if (!file_offset(f, address, &at) || !inside(f, at, size))
		return false;
	f->strings = (const char *)f->p + at;
	f->strings_len = size;
	return true;
}

static char *string_at(const struct image *f, uint64_t at)
{
	if (at >= f->strings_len)
		return NULL;
	size_t room = f->strings_len - at;
	if (!memchr(f->strings + at, 0, room < MAX_TEXT ? room : MAX_TEXT))
		return NULL;
	return ls_xstrdup(f->strings + at);
}

/* Takes the string of one entry into ret; false when it lies outside the table. */
static bool take(const struct image *f, const Elf64_Dyn *d, struct ls_elf *ret, size_t *n,
		 size_t *cap)
{
	char **slot = d->d_tag == DT_RPATH     ? &ret->rpath
		      : d->d_tag == DT_RUNPATH ? &ret->runpath
		      : d->d_tag == DT_SONAME  ? &ret->soname
					       : NULL;
	if (!slot && d->d_tag != DT_NEEDED)
		return true;
	char *text = *n < MAX_NEEDED ? string_at(f, d->d_un.d_val) : NULL;
	if (!text)
		return false;
	if (slot) {
		free(*slot);
		*slot = text;
		return true;
	}
	ret->needed[(*n)++] = text;
	ret->needed = ls_grow(ret->needed, *n, cap, sizeof *ret->needed);
	ret->needed[*n] = NULL;
	return true;
}

int ls_elf_read(const void *bytes, size_t len, struct ls_elf *ret, struct ls_err *err)
{
	struct image f = {.p = bytes, .len = len};
	const uint8_t *dynamic;
	size_t n_dynamic, n = 0, cap = 0;
	Elf64_Dyn d;
	if (!read_head(&f))
		return ls_err_set(err, LS_EINPUT,
				  "not a 64-bit little-endian ELF file, or one cut short");
	if (!find_dynamic(&f, &dynamic, &n_dynamic) || !find_strings(&f, dynamic, n_dynamic))
		return ls_err_set(err, LS_EINPUT,
				  "an ELF file without a dynamic section that lies within it");
	struct ls_elf elf = {.needed = ls_grow(NULL, 0, &cap, sizeof *elf.needed)};
	elf.needed[0] = NULL;
	for (size_t i = 0; entry(dynamic, n_dynamic, i, &d); i++)
		if (!take(&f, &d, &elf, &n, &cap)) {
			ls_elf_done(&elf);
			return ls_err_set(
				err, LS_EINPUT,
				"entry %zu of the dynamic section points outside the strings", i);
		}
	*ret = elf;
	return 0;
}

void ls_elf_done(struct ls_elf *elf)
{
	for (char **n = elf->needed; n && *n; n++)
		free(*n);
	free(elf->needed);
	free(elf->rpath);
	free(elf->runpath);
	free(elf->soname);
	*elf = (struct ls_elf){0};
}

char *ls_elf_expand(const char *list, const char *origin)
{
	static const char *const names[] = {"$ORIGIN", "${ORIGIN}"};
	struct ls_str out = {0};
	while (*list) {
		size_t cut = 0;
		for (size_t i = 0; i < 2 && !cut; i++)
			cut = ls_str_starts(list, names[i]) ? strlen(names[i]) : 0;
		if (cut)
			ls_str_add(&out, origin);
		else
			ls_str_add_bytes(&out, list, cut = 1);
		list += cut;
	}
	return ls_str_take(&out);
}
