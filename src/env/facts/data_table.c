#include "env/facts/data_table.h"

#include "base/embed.h"

int ls_data_table(const char *file, json_t **ret, struct ls_err *err)
{
	const struct ls_blob *blob = ls_embed_find(file);
	json_t *table;
	if (!blob)
		return ls_err_set(err, LS_EINTERNAL, "%s is not part of this program", file);
	int rc = ls_json_parse((const char *)blob->data, blob->len, file, &table, err);
	if (rc)
		return rc;
	/* an empty table would judge nothing, without a word */
	if (!json_array_size(json_object_get(table, "rows"))) {
		json_decref(table);
		return ls_err_set(err, LS_EINTERNAL, "%s: has no rows", file);
	}
	*ret = table;
	return 0;
}
