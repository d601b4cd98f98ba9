#include "env/facts/environ.h"

#include <string.h>

const char *ls_env_get(const char *const *env, const char *name)
{
	size_t len = strlen(name);
	for (; env && *env; env++)
		if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
			return *env + len + 1;
	return NULL;
}
