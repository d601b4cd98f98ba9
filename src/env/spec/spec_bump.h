/* A spec whose drifted pins follow what a machine has now: the body of the pull request
 * that a weekly look for drift opens. The diff is borrowed for the call. No state; any
 * thread. */
#ifndef LS_ENV_SPEC_SPEC_BUMP_H
#define LS_ENV_SPEC_SPEC_BUMP_H

#include "env/spec/spec_diff.h"

/* The old spec with each pin that drifted moved to the new spec's value, as precise as it
 * was (12.1* becomes 12.4*, >=2.2 stays a lower bound), and with PyTorch's index
 * following its build. What is gone, or is no pin (GPUs, images), stays as it is. New
 * reference. */
json_t *ls_spec_bump(const struct ls_spec_diff *d);

/* Key's expectation in the document moved to a value, which becomes its text; nothing
 * where the document has no such key. */
void ls_spec_set_pin(json_t *doc, const char *key, const char *text);
/* PyTorch's address in the document from one build to another. */
void ls_spec_move_index(json_t *doc, const char *old_build, const char *new_build);

/* The old expectation moved to a new value; caller frees. */
char *ls_spec_bump_text(const char *old_text, const char *new_value);

#endif
