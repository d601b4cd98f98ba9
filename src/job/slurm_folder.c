#include "job/slurm_folder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "job/row.h"

enum { MOST = 1 << 16 };

static json_t *load(const char *folder, const char *name)
{
	char *path = ls_xasprintf("%s/%s", folder, name), *text = NULL;
	size_t len;
	json_t *v = NULL;
	if (ls_file_read(path, MOST, &text, &len, NULL) || ls_json_parse(text, len, path, &v, NULL))
		v = NULL;
	free(text);
	free(path);
	return v;
}

json_t *ls_slurm_start(const char *folder, const char *submission)
{
	json_t *v = load(folder, "start.json");
	const char *uuid = ls_col_text(v, "submission");
	if (uuid && (!submission || strcmp(uuid, submission) == 0))
		return v;
	json_decref(v);
	return NULL;
}

void ls_slurm_end(const char *folder, struct ls_slurm_end *ret)
{
	char *path = ls_xasprintf("%s/exit.json", folder);
	json_t *v = load(folder, "exit.json");
	*ret = (struct ls_slurm_end){.again = json_is_true(json_object_get(v, "again")),
				     .ended = ls_col_int(v, "ended", 0)};
	ls_ending_read(path, &ret->end);
	json_decref(v);
	free(path);
}

static double age(const char *folder, const char *name)
{
	struct stat st;
	char *path = ls_xasprintf("%s/%s", folder, name);
	double since = stat(path, &st) == 0 ? difftime(time(NULL), st.st_mtime) : 1e9;
	free(path);
	return since > 0 ? since : 0;
}

double ls_slurm_lease(const char *folder)
{
	double alive = age(folder, "alive"), start = age(folder, "start.json");
	return alive < start ? alive : start;
}
