#include "cmd/fm_common.h"

#include <stdio.h>
#include <stdlib.h>

#include "cmd/cache.h"
#include "cmd/gpu.h"
#include "gpu/cache.h"

void ls_fm_note_cache(void)
{
	struct ls_err why;
	char *cache = ls_cmd_cache("kernels");
	if (cache && ls_cache_check(cache, &why))
		fprintf(stderr,
			"lockstep: compiled kernels cannot be kept, and every start compiles them "
			"again: %s; set "
			"XDG_CACHE_HOME to a folder that can be written\n",
			why.msg);
	free(cache);
}

int ls_fm_engine_make(const struct ls_fm_device *device, struct ls_fm_model *m,
		      const struct ls_rows *rows, struct ls_pool *pool, struct ls_engine *ret,
		      struct ls_err *err)
{
	struct ls_cmd_gpu gpu;
	ls_cmd_gpu_init(&gpu);
	int rc = ls_fm_device_engine(device, &gpu.conf, m, rows, pool, ret, err);
	if (rc == 0 && ret->on_gpu)
		ls_fm_note_cache();
	ls_cmd_gpu_done(&gpu);
	return rc;
}

/* Whether an option is the command's own, not one that all commands have. */
static bool is_own(const struct ls_args *args, const struct ls_opt *opt)
{
	for (const struct ls_opt *o = args->tables[0]; o->name; o++)
		if (o == opt)
			return true;
	return false;
}

int ls_fm_public_options(const char *command, const struct ls_args *args, struct ls_options **ret,
			 struct ls_err *err)
{
	struct ls_options *o;
	int rc = ls_options_new(command, &o, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < args->n_given && rc == 0; i++)
		if (is_own(args, args->given[i].opt))
			rc = ls_options_set(o, args->given[i].opt->name, args->given[i].value, err);
	if (rc == 0)
		rc = ls_cmd_gpu_options(o, err);
	if (rc)
		ls_options_free(o);
	else
		*ret = o;
	return rc;
}

int ls_fm_load_data(const struct ls_args *args, const char *path, struct ls_data_opts *o,
		    struct ls_columns **ret_columns, struct ls_data **ret, struct ls_err *err)
{
	const char *columns = ls_args_get(args, "columns");
	int rc = columns ? ls_columns_load(columns, ret_columns, err) : 0;
	o->columns = *ret_columns;
	return rc || !path ? rc : ls_data_load(path, o, ret, err);
}
