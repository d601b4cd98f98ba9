#include "fake_image.h"

#include <ctype.h>
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cuda_api.h"

static const char magic[] = "FAKECUBIN sm_";

struct fake_image {
	char *ptx;      /* or NULL */
	char **kernels; /* of a cubin; NULL-terminated */
	size_t n_kernels;
};

/* Newest PTX a driver for that CUDA version reads, as 10 * major + minor. From the table
 * in NVIDIA's PTX manual. */
static int newest_ptx(int cuda)
{
	static const int twelve[] = {80, 81, 82, 83, 84, 85, 85, 86, 87, 88};
	int major = cuda / 1000, minor = cuda % 1000 / 10;
	if (major == 12)
		return twelve[minor > 9 ? 9 : minor];
	return major == 11 ? 70 + minor : major >= 13 ? 90 + minor : 64;
}

static int number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

static unsigned read_ptx(const char *text, int cc, int cuda, struct fake_image *image)
{
	static const char version_is[] = "\n.version ", target_is[] = "\n.target sm_";
	const char *version = strstr(text, version_is), *arch = strstr(text, target_is);
	char *dot;
	if (!version || !arch)
		return LS_CU_INVALID_PTX;
	long major = strtol(version + sizeof version_is - 1, &dot, 10);
	int minor = *dot == '.' ? number(dot + 1) : 0, target = number(arch + sizeof target_is - 1);
	if (major * 10 + minor > newest_ptx(cuda))
		return LS_CU_UNSUPPORTED_PTX_VERSION;
	if (target > cc)
		return LS_CU_INVALID_PTX;
	image->ptx = strdup(text);
	return image->ptx ? 0 : LS_CU_OUT_OF_MEMORY;
}

static unsigned read_own(const char *text, int cc, struct fake_image *image)
{
	int arch = number(text + sizeof magic - 1);
	if (arch / 10 != cc / 10 || arch > cc)
		return LS_CU_NO_BINARY_FOR_GPU;
	image->ptx = strdup(strchr(text, '\n') + 1);
	return image->ptx ? 0 : LS_CU_OUT_OF_MEMORY;
}

static unsigned read_elf(const char *data, struct fake_image *image)
{
	Elf64_Ehdr head;
	memcpy(&head, data, sizeof head);
	Elf64_Shdr *sections = calloc(head.e_shnum, sizeof *sections);
	image->kernels = calloc(head.e_shnum + 1U, sizeof *image->kernels);
	if (!sections || !image->kernels || head.e_shstrndx >= head.e_shnum) {
		free(sections);
		return LS_CU_INVALID_IMAGE;
	}
	memcpy(sections, data + head.e_shoff, head.e_shnum * sizeof *sections);
	const char *names = data + sections[head.e_shstrndx].sh_offset;
	for (unsigned i = 0; i < head.e_shnum; i++) {
		const char *name = names + sections[i].sh_name;
		if (strncmp(name, ".text.", 6) == 0)
			image->kernels[image->n_kernels++] = strdup(name + 6);
	}
	free(sections);
	return 0;
}

unsigned fake_image_read(const void *data, int cc, int cuda, struct fake_image **ret)
{
	struct fake_image *image = calloc(1, sizeof *image);
	if (!image)
		return LS_CU_OUT_OF_MEMORY;
	unsigned code = LS_CU_INVALID_IMAGE;
	if (memcmp(data, ELFMAG, SELFMAG) == 0)
		code = read_elf(data, image);
	else if (strncmp(data, magic, sizeof magic - 1) == 0)
		code = read_own(data, cc, image);
	else if (*(const char *)data == '/' || *(const char *)data == '.' ||
		 isspace((unsigned char)*(const char *)data))
		code = read_ptx(data, cc, cuda, image);
	if (code) {
		fake_image_free(image);
		return code;
	}
	*ret = image;
	return 0;
}

void fake_image_free(struct fake_image *image)
{
	if (!image)
		return;
	for (size_t i = 0; i < image->n_kernels; i++)
		free(image->kernels[i]);
	free(image->kernels);
	free(image->ptx);
	free(image);
}

/* Just behind "(" of the kernel's parameter list in PTX, or NULL. */
static const char *entry(const char *ptx, const char *kernel)
{
	size_t len = strlen(kernel);
	for (const char *p = ptx; (p = strstr(p, ".entry ")); p++) {
		const char *name = p + 7;
		if (strncmp(name, kernel, len) == 0 && name[len] == '(')
			return name + len + 1;
	}
	return NULL;
}

int fake_image_has(const struct fake_image *image, const char *kernel)
{
	for (size_t i = 0; i < image->n_kernels; i++)
		if (strcmp(image->kernels[i], kernel) == 0)
			return 1;
	return image->ptx && entry(image->ptx, kernel);
}

char *fake_image_assemble(const char *ptx, int cc, size_t *ret_len)
{
	char *cubin = NULL;
	if (asprintf(&cubin, "%s%d\n%s", magic, cc, ptx ? ptx : "") < 0)
		abort();
	*ret_len = strlen(cubin) + 1;
	return cubin;
}

/* --- parameters --- */

struct fake_args {
	unsigned owners;
	size_t n;
	void *list[64];
	_Alignas(16) char bytes[4096];
};

/* ".param .u64 .ptr .align 1 k_param_0" or ".param .align 8 .b8 k_param_1[24]" */
static size_t param_size(const char *p, size_t len)
{
	size_t bits = 0, count = 1;
	for (size_t i = 0; i + 2 < len; i++) {
		if (p[i] == '.' && strchr("usbf", p[i + 1]) && isdigit((unsigned char)p[i + 2]) &&
		    !bits)
			bits = (size_t)number(p + i + 2);
		if (p[i] == '[')
			count = (size_t)number(p + i + 1);
	}
	return bits / 8 * count;
}

struct fake_args *fake_args_copy(const struct fake_image *image, const char *kernel, void **args)
{
	const char *p = image->ptx ? entry(image->ptx, kernel) : NULL;
	if (!p)
		return NULL;
	struct fake_args *a = calloc(1, sizeof *a);
	if (!a)
		abort();
	a->owners = 1;
	size_t used = 0;
	const char *end = strchr(p, ')');
	while (end && p < end && memchr(p, '.', (size_t)(end - p))) {
		const char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end;
		size_t size = param_size(p, (size_t)(stop - p));
		if (!size || a->n == 64 || used + size > sizeof a->bytes)
			abort();
		memcpy(a->bytes + used, args[a->n], size);
		a->list[a->n++] = a->bytes + used;
		used = (used + size + 15) / 16 * 16;
		p = comma ? comma + 1 : end;
	}
	return a;
}

void fake_args_share(struct fake_args *args)
{
	if (args)
		args->owners++;
}

void fake_args_drop(struct fake_args *args)
{
	if (args && --args->owners == 0)
		free(args);
}

void **fake_args_list(struct fake_args *args)
{
	return args->list;
}
