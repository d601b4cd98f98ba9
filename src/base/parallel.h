/* Running tasks on several threads: the caller's and up to threads - 1 more, which have
 * ended when the call returns. Tasks start in ascending order; what a task may touch is
 * up to the caller. Any thread may call; calls share nothing. */
#ifndef LS_BASE_PARALLEL_H
#define LS_BASE_PARALLEL_H

#include <stddef.h>

/* Calls run(ctx, 0) to run(ctx, tasks - 1), each once. Does all on the caller's thread
 * where no threads can be made. */
void ls_parallel(int threads, size_t tasks, void (*run)(void *ctx, size_t task), void *ctx);

#endif
