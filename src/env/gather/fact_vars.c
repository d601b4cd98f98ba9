/* Environment variables that change numerics, with a verdict each. */
#include <stdlib.h>

#include "base/mem.h"
#include "env/facts/environ.h"
#include "env/facts/vars.h"
#include "env/gather/look.h"

static void one(struct ls_look *look, const struct ls_var *var)
{
	const char *value = ls_env_get(look->how->env, var->name);
	char *key = ls_xasprintf("env.%s", var->name);
	if (value)
		ls_facts_set(look->facts, key, value, "environment");
	else
		ls_facts_absent(look->facts, key, "environment", "not set");
	enum ls_verdict verdict = ls_var_judge(var->name, value);
	char *note = verdict == LS_VAR_FREE ? ls_xasprintf("%s; should be: %s",
							   ls_verdict_text(verdict), var->wanted)
					    : ls_xstrdup(ls_verdict_text(verdict));
	ls_facts_note(look->facts, key, note);
	free(note);
	free(key);
}

void ls_look_variables(struct ls_look *look)
{
	for (const struct ls_var *v = ls_vars; v->name; v++)
		one(look, v);
	for (const char *const *n = look->how->variables; n && *n; n++) {
		char *key = ls_xasprintf("env.%s", *n);
		if (!ls_facts_find(look->facts, key))
			one(look, &(struct ls_var){.name = *n});
		free(key);
	}
}
