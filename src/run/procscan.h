/* Looks, now and then, at the processes below a child for Python interpreters, so that
 * those that left no record of the hook can be named. ls_procscan_done frees; one thread.
 * Only this machine's processes are seen. */
#ifndef LS_RUN_PROCSCAN_H
#define LS_RUN_PROCSCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { LS_IMAGE_TEXT = 64 };

/* One entry a process image: exec gives a process a new image and keeps its number. */
struct ls_procscan {
	struct ls_procscan_seen {
		pid_t pid;
		char image[LS_IMAGE_TEXT]; /* see ls_procscan_image */
		unsigned times;            /* looks that found it */
		bool brief;                /* only prints its version or its help */
		bool shut;                 /* its options keep it from the hook */
		char *command;
	} * seen;
	size_t n, cap;
};

void ls_procscan_look(struct ls_procscan *scan, pid_t root);
void ls_procscan_done(struct ls_procscan *scan);

/* A text that names a process image: the addresses of AT_ENTRY, AT_RANDOM and
 * AT_SYSINFO_EHDR in its auxiliary vector. The kernel chooses them at exec, and a fork
 * keeps them. The hook writes the same text into its record. Empty where /proc does not
 * tell. */
void ls_procscan_image(pid_t pid, char ret[LS_IMAGE_TEXT]);

#endif
