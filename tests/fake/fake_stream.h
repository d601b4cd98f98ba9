/* Streams of the stand-in driver: queues of operations that run when somebody must see
 * their effects. submit copies the operation and takes its arguments. One thread at a
 * time. */
#ifndef LS_TESTS_FAKE_STREAM_H
#define LS_TESTS_FAKE_STREAM_H

#include "fake_image.h"
#include "fake_state.h"

enum op_kind { OP_COPY, OP_FILL, OP_LAUNCH, OP_RECORD, OP_WAIT };

struct op {
	struct op *next;
	enum op_kind kind;
	void *to;
	const void *from;
	size_t size;
	unsigned char byte;
	fake_kernel_fn *kernel;
	struct fake_launch launch;
	struct fake_args *args;
	ls_cu_event event;
};

unsigned submit(ls_cu_stream s, const struct op *o);
void drain_all(void);

#endif
