/* A process that reads what strangers wrote, with a library that may have faults: after
 * this it can read files and write into those that it has open, and nothing else. For a
 * child process of its own. */
#ifndef LS_BASE_SANDBOX_H
#define LS_BASE_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

/* memory: bytes of address space beyond today's. file_size: the longest file that may be
 * written. seconds: of processor time. From here on the process cannot create, run,
 * connect or start anything. False where the kernel has no such filter; the limits hold
 * all the same. */
bool ls_sandbox_enter(uint64_t memory, uint64_t file_size, unsigned seconds);

#endif
