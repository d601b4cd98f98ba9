/* Code images of the stand-in driver: PTX text, its own "machine code" (a line that names
 * the architecture, then the PTX), and ELF cubins of which it reads the kernel names.
 * Images and argument lists are freed by their functions. One thread. */
#ifndef LS_TESTS_FAKE_IMAGE_H
#define LS_TESTS_FAKE_IMAGE_H

#include <stddef.h>

struct fake_image;
struct fake_args; /* a copy of a kernel's parameters, shared by counting */

/* Returns a driver code: 200 for no image at all, 209 for machine code of another GPU,
 * 218 for PTX of a newer GPU, 222 for PTX newer than the driver. */
unsigned fake_image_read(const void *data, int cc, int cuda, struct fake_image **ret);
void fake_image_free(struct fake_image *image);
int fake_image_has(const struct fake_image *image, const char *kernel);
char *fake_image_assemble(const char *ptx, int cc, size_t *ret_len);

/* NULL when the image does not tell the sizes of the parameters. */
struct fake_args *fake_args_copy(const struct fake_image *image, const char *kernel, void **args);
void fake_args_share(struct fake_args *args);
void fake_args_drop(struct fake_args *args);
void **fake_args_list(struct fake_args *args);

#endif
