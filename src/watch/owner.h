/* Whom a process belongs to: by its control groups a container or a Slurm job, by its
 * environment an experiment. Nothing is owned. Any thread. */
#ifndef LS_WATCH_OWNER_H
#define LS_WATCH_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LS_OWNER_TEXT = 64 };

struct ls_process_owner {
	char name[LS_OWNER_TEXT];      /* of the program; "" when it is not known */
	char job[LS_OWNER_TEXT];       /* Slurm's job number, or its SLUID ("sEKN…") */
	char container[LS_OWNER_TEXT]; /* the first 12 digits of its id */
	char experiment[LS_OWNER_TEXT];
	char user[LS_OWNER_TEXT]; /* by name where /etc/passwd has it, otherwise the number */
	double started;           /* seconds after the start of the machine; 0: not known */
	uint64_t host_memory;     /* bytes that it keeps in memory; 0: not known */
};

/* From the text of /proc/PID/cgroup. job and container are "" where there is none. */
void ls_owner_of_cgroup(const char *text, struct ls_process_owner *ret);
/* From the text of /proc/PID/environ, which holds a NUL between variables: the experiment
 * that LOCKSTEP_EXPERIMENT names, or "". */
void ls_owner_of_environ(const char *text, size_t len, struct ls_process_owner *ret);
/* From the text of /proc/PID/status: the user's number, -1 where there is none, and
 * memory. */
long ls_owner_of_status(const char *text, struct ls_process_owner *ret);
/* When a process began, by the text of /proc/PID/stat, in ticks after the start of the
 * machine; 0 where it does not say. */
unsigned long long ls_owner_begin_of(const char *stat);
/* The user's name, by the text of /etc/passwd; "" where it has none. */
void ls_owner_user_of(const char *passwd, unsigned long uid, char ret[LS_OWNER_TEXT]);
/* The parent of a process by the text of /proc/PID/stat; 0 where it has none. */
unsigned ls_owner_parent_of(const char *stat);
/* Whether the process is `ancestor`, or was started by it or by one of its children. */
bool ls_owner_descends(const char *root, unsigned pid, unsigned ancestor);
/* root: where /proc is, "" for the system's. */
void ls_owner_look(const char *root, unsigned pid, struct ls_process_owner *ret);

#endif
