/* Looks, now and then, at the processes below a child for Python interpreters that left no record
 * of the hook. ls_procscan_done frees; one thread. Only this machine's processes are seen. */
#ifndef LS_RUN_PROCSCAN_H
#define LS_RUN_PROCSCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ls_procscan {
	struct ls_procscan_seen {
		pid_t pid;
		unsigned times; /* looks that found it; one alone may be the moment between fork and
				   exec */
		bool brief;     /* only prints its version */
		char *command;
	} * seen;
	size_t n, cap;
};

void ls_procscan_look(struct ls_procscan *scan, pid_t root);
void ls_procscan_done(struct ls_procscan *scan);

#endif
