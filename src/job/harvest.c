#include "job/harvest.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "job/sql.h"
#include "run/manifest.h"

static int keep_artifacts(struct ls_store *s, const json_t *row, const json_t *manifest,
			  struct ls_err *err)
{
	const json_t *f;
	size_t i;
	int rc = 0;
	json_array_foreach(json_object_get(manifest, "outputs"), i, f)
	{
		if (!ls_col_text(f, "sha256"))
			continue;
		rc = ls_sql_run(s, err,
				"INSERT OR REPLACE INTO artifact(experiment, attempt, path, bytes, "
				"sha256) VALUES(?, ?, ?, ?, ?)",
				"iisis", ls_col_int(row, "id", 0), ls_col_int(row, "attempt", 0),
				ls_col_text(f, "path"), ls_col_int(f, "bytes", 0),
				ls_col_text(f, "sha256"));
		if (rc < 0)
			return rc;
	}
	return 0;
}

int ls_harvest_manifest(struct ls_store *s, const json_t *row, struct ls_err *err)
{
	char *path = ls_xasprintf("%s/%s/out/run_manifest.json", ls_store_root(s),
				  ls_col_text(row, "folder"));
	json_t *m = NULL;
	int rc = 0;
	if (ls_file_exists(path) && !(rc = ls_manifest_load(path, &m, err)) &&
	    !(rc = ls_tx_begin(s, err))) {
		char *text = json_dumps(m, JSON_COMPACT);
		rc = ls_sql_run(
			s, err,
			"UPDATE attempt SET manifest = ? WHERE experiment = ? AND number = ?",
			"sii", text, ls_col_int(row, "id", 0), ls_col_int(row, "attempt", 0));
		free(text);
		if (rc >= 0)
			rc = keep_artifacts(s, row, m, err);
		rc = ls_tx_end(s, rc, err);
	}
	json_decref(m);
	free(path);
	return rc;
}
