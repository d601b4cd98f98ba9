/* What the parts of the stand-in driver share: configuration, scripted faults, and the
 * list of what is alive. Everything is global, as in a driver. One thread at a time. */
#ifndef LS_TESTS_FAKE_STATE_H
#define LS_TESTS_FAKE_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "fake_cuda.h"
#include "gpu/cuda_api.h"

/* the functions of the driver need no prototypes but their own list's */
#define PROTOTYPE(member, symbol, args) __attribute__((visibility("default"))) unsigned symbol args;
LS_CUDA_FUNCTIONS(PROTOTYPE)
#undef PROTOTYPE

__attribute__((visibility("default"))) fake_cuda_setup_fn fake_cuda_setup;
__attribute__((visibility("default"))) fake_cuda_calls_fn fake_cuda_calls;
__attribute__((visibility("default"))) fake_cuda_live_fn fake_cuda_live;

struct fake_config {
	int devices, cc, cuda, lazy;
	int sm, blocks; /* multiprocessors; blocks each of them holds, 0: as threads and memory
			   allow */
	uint64_t mem;
	enum fake_order order;
};

extern struct fake_config config;
extern unsigned sticky;     /* the code that every call repeats once the device is lost */
extern unsigned operations; /* run so far in all streams */
extern int initialised;
extern uint64_t device_bytes;
extern _Thread_local ls_cu_context current;

unsigned count_call(const char *function);
unsigned scripted(const char *function,
		  unsigned call); /* the code this call shall fail with, or 0 */

/* Functions that describe work on a lost device too; the others repeat the error. Those
 * that free do so whatever they return, and call scripted themselves. */
#define ENTER_ALWAYS(function)                                                                     \
	do {                                                                                       \
		unsigned code_ = scripted(#function, count_call(#function));                       \
		if (code_)                                                                         \
			return code_;                                                              \
	} while (0)
#define ENTER_NO_CONTEXT(function)                                                                 \
	do {                                                                                       \
		ENTER_ALWAYS(function);                                                            \
		if (!initialised)                                                                  \
			return LS_CU_NOT_INITIALIZED;                                              \
	} while (0)
#define ENTER(function)                                                                            \
	do {                                                                                       \
		ENTER_NO_CONTEXT(function);                                                        \
		if (!current)                                                                      \
			return LS_CU_INVALID_CONTEXT;                                              \
		if (sticky)                                                                        \
			return sticky;                                                             \
	} while (0)

struct object {
	struct object *next;
	const char *kind;
	void *key; /* address of the memory or of the thing */
	size_t size;
};

void add_object(const char *kind, void *key, size_t size);
struct object *find_object(const char *kind, const void *key);
int drop_object(const char *kind, void *key); /* 0, and a note of misuse, when it is not there */
int inside(ls_cu_ptr p, size_t size);         /* of one allocation of device memory */

#endif
