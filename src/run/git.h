/* The state of the source tree a run starts from, asked of git.
 * The result is a new reference. Any thread. */
#ifndef LS_RUN_GIT_H
#define LS_RUN_GIT_H

#include "base/json.h"

/* {"commit", "branch", "dirty", "diff_sha256", "untracked"} or {"unknown": why}: git is
 * not there, no repository. */
json_t *ls_git_state(void);
/* The difference of the work tree to the commit, as `git diff HEAD` writes it; NULL where
 * git cannot say, or says too much. To be freed. */
char *ls_git_diff(void);

#endif
