/* The environment to judge, which need not be that of this process: a list of
 * "NAME=value" strings that ends with NULL. What is returned is borrowed from the list.
 * No state; any thread. */
#ifndef LS_ENV_FACTS_ENVIRON_H
#define LS_ENV_FACTS_ENVIRON_H

/* The value of NAME, or NULL when it is not set or there is no list. */
const char *ls_env_get(const char *const *env, const char *name);

#endif
