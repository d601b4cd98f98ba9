/* What stands for stdin in the jansson that is linked into liblockstep.so statically
 * (cmake/shared.cmake). */
#include <stdio.h>

extern FILE *ls_jansson_stdin;
FILE *ls_jansson_stdin;
