#include "cmd/fm_common.h"

#include <stdio.h>

#include "cmd/gpu.h"
#include "gpu/cache.h"

int ls_fm_engine_make(const struct ls_fm_device *device, struct ls_fm_model *m,
		      const struct ls_rows *rows, struct ls_pool *pool, struct ls_engine *ret,
		      struct ls_err *err)
{
	struct ls_cmd_gpu gpu;
	struct ls_err why = {0};
	ls_cmd_gpu_init(&gpu);
	int rc = ls_fm_device_engine(device, &gpu.conf, m, rows, pool, ret, err);
	if (rc == 0 && ret->on_gpu && gpu.cache && ls_cache_check(gpu.cache, &why))
		fprintf(stderr,
			"lockstep: compiled kernels cannot be kept, and every start compiles them "
			"again: %s; set "
			"XDG_CACHE_HOME to a folder that can be written\n",
			why.msg);
	ls_cmd_gpu_done(&gpu);
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
