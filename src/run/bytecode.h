/* The hook's compiled Python, kept from run to run: without it the first interpreter of
 * each run compiles the hook again. Entries are those of gpu/cache.h, one a file of
 * __pycache__, keyed by its name and by its source. Everything is borrowed. One thread at
 * a time a folder. */
#ifndef LS_RUN_BYTECODE_H
#define LS_RUN_BYTECODE_H

/* Sources of the hook have this time of change, in seconds: Python compares it with the
 * time that a compiled file was made for. */
enum { LS_BYTECODE_TIME = 946684800 };

/* The module that the hook shares with the Python package, and where it comes from. */
#define LS_HOOK_SHARED        "lockstep_switches"
#define LS_HOOK_SHARED_SOURCE "python/lockstep/_switches.py"

/* Puts what the cache has of this hook into DIR/__pycache__. A cache that belongs to
 * another user, or that others may write to, is not read: what is in it runs. cache may
 * be NULL. */
void ls_bytecode_bring(const char *cache, const char *dir);
/* Puts what interpreters compiled into the cache. Failures only cost time at the next
 * run. */
void ls_bytecode_keep(const char *cache, const char *dir);

#endif
