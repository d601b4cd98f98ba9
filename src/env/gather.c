#include "env/gather.h"

#include <stdlib.h>

#include "env/look.h"
#include "env/root.h"

const char *ls_look_env(const struct ls_look *look, const char *name)
{
	return ls_env_get(look->how->env, name);
}

int ls_gather(const struct ls_gather *how, struct ls_facts **ret, struct ls_err *err)
{
	struct ls_look look = {.how = how, .root = how->root ? how->root : ""};
	if (how->python && !ls_root_is_program(look.root, how->python))
		return ls_err_set(err, LS_ENOENT, "%s: no such program; --python wants the path of an interpreter",
				  how->python);
	look.facts = ls_facts_new();
	ls_look_system(&look);
	ls_look_container(&look);
	ls_look_driver(&look);
	ls_look_toolkit(&look);
	ls_look_python(&look);
	ls_look_libraries(&look);
	ls_look_bundled(&look);
	ls_look_variables(&look);
	if (how->deep)
		ls_look_deep(&look);
	ls_interp_free(look.python);
	free(look.torch_dir);
	*ret = look.facts;
	return 0;
}
