/* The supervisor: a process of its own beside each running job. It starts the program,
 * keeps its output, ends it at its limits or when asked, and writes the exit record. It
 * knows nothing of the store, so it goes on when the worker dies. Everything is
 * borrowed. */
#ifndef LS_JOB_SUPERVISE_H
#define LS_JOB_SUPERVISE_H

struct ls_supervise {
	const char *folder;       /* of the attempt; output.log and exit.json are written there */
	const char *cwd;          /* where the program starts */
	char *const *argv;        /* argv[0] is looked up on PATH */
	char *const *envp;        /* with LS_ATTEMPT_VARIABLE */
	int lock;                 /* descriptor of the lock, held */
	double soft, hard, grace; /* seconds; 0: no limit */
};

/* To be called in a child that was just forked from a process with one thread. Never
 * returns. */
_Noreturn void ls_supervise(const struct ls_supervise *what);

#endif
