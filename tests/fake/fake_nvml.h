/* What the files of the stand-in NVML share: the machine that its script describes, and
 * the fields of a GPU. Static; one thread at a time. */
#ifndef FAKE_NVML_H
#define FAKE_NVML_H

#include <stddef.h>

enum { MAX_GPUS = 16, TEXT = 8192 };
enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6 };

struct gpu {
	char line[TEXT];
	unsigned long changed; /* the step of its last change */
};

extern struct fake_nvml_machine {
	int ready, init, cuda;
	char driver[64], library[64];
	unsigned n;
	unsigned long step, reading;
	struct gpu gpus[MAX_GPUS];
} fake_nvml;

#define API __attribute__((visibility("default")))
#ifdef FAKE_OLD
#define V2(name) name
#else
#define V2(name) name##_v2
#endif

void fake_nvml_step(void); /* goes to the step that LS_FAKE_STEP names */
int fake_nvml_field(const struct gpu *g, const char *name, char *ret, size_t size);
int fake_nvml_number(const struct gpu *g, const char *name, unsigned *ret);

#endif
