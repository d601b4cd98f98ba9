/* What a command line is about to start: a Python interpreter or not, and whether its
 * options would shut the hook out. Results point into the caller's argv or are static;
 * texts in the result are owned (ls_cmdline_done). Any thread. */
#ifndef LS_RUN_CMDLINE_H
#define LS_RUN_CMDLINE_H

#include <stdbool.h>

#include "base/err.h"

struct ls_cmdline {
	bool python; /* an interpreter starts, directly, through env, nice, … or through a #! line
		      */
	bool brief;  /* it only prints its version or help and never reaches site */
	char *shut;  /* why the hook would not run ("python3 -I ignores PYTHONPATH"), or NULL */
};

/* argv ends with NULL. Reads the #! line of a script, nothing else; a shell script's
 * content is not looked into. */
void ls_cmdline_read(const char *const *argv, struct ls_cmdline *ret);
/* The same for the text behind a shell's -c, of which the words alone are looked at:
 * quotes and variables are not followed. */
void ls_cmdline_read_shell(const char *text, struct ls_cmdline *ret);
void ls_cmdline_done(struct ls_cmdline *c);

bool ls_cmdline_is_python(const char *path); /* by its name: python, python3.11, pypy3 */

#endif
