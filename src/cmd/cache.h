/* Where commands keep what they can make again: $XDG_CACHE_HOME/lockstep/NAME, or under
 * ~/.cache. The caller frees. One thread. */
#ifndef LS_CMD_CACHE_H
#define LS_CMD_CACHE_H

/* The value of a variable that names a folder, or NULL: an empty or relative path counts
 * as unset, as the XDG specification says. */
const char *ls_cmd_folder(const char *variable);
char *ls_cmd_cache(const char *name); /* NULL where the environment names no place */

#endif
