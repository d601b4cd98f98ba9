#include "env/gather/gather.h"

#include <stdlib.h>

#include "env/gather/look.h"

int ls_gather(const struct ls_gather *how, struct ls_facts **ret, struct ls_err *err)
{
	struct ls_look look = {.how = how, .root = how->root ? how->root : ""};
	/* A --python that is no interpreter is bad input. That PATH has none is a
	 * fact. */
	look.no_python.code =
		ls_interp_find(look.root, how->env, how->python, &look.python, &look.no_python);
	if (how->python && look.no_python.code) {
		if (err)
			*err = look.no_python;
		return look.no_python.code;
	}
	look.facts = ls_facts_new();
	if (look.python)
		look.dists = ls_dists_read(look.root, &look.python->sites);
	ls_look_system(&look);
	ls_look_container(&look);
	ls_look_driver(&look);
	ls_look_visible(&look);
	ls_look_toolkit(&look);
	ls_look_python(&look);
	ls_look_requirements(&look);
	ls_look_libraries(&look);
	ls_look_bundled(&look);
	ls_look_variables(&look);
	if (how->deep)
		ls_look_deep(&look);
	ls_dists_free(look.dists);
	ls_interp_free(look.python);
	free(look.torch_dir);
	*ret = look.facts;
	return 0;
}
