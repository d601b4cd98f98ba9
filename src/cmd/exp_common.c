/* What all subcommands of lockstep exp begin with. */
#include <string.h>

#include "cmd/exp.h"
#include "job/cells.h"
#include "job/experiment.h"
#include "job/metrics.h"

int ls_exp_open(struct ls_store **ret)
{
	struct ls_err err = {0};
	return ls_store_open(".", ret, &err) ? ls_cmd_fail(&err) : 0;
}

const char *ls_exp_name(const char *command, const struct ls_args *args)
{
	const char *id = ls_args_get(args, "exp-id"), *pos = args->n_pos ? args->pos[0] : NULL;
	if (id && pos && strcmp(id, pos) != 0)
		ls_cmd_usage("%s: %s and --exp-id %s name different experiments", command, pos, id);
	else if (!id && !pos)
		ls_cmd_usage("%s: which experiment? `lockstep exp list` has all", command);
	else
		return pos ? pos : id;
	return NULL;
}

void ls_exp_json_names(const struct ls_args *args, const char *const *names, size_t n)
{
	json_t *list = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, ls_json_lossy(names[i]));
	if (ls_args_has(args, "json"))
		ls_cmd_print_json_take(json_pack("{s:O}", "experiments", list));
	json_decref(list);
}

int ls_exp_rows(struct ls_store *s, const struct ls_args *args, json_t **ret)
{
	struct ls_err err = {0};
	json_t *rows = NULL;
	const char *where;
	int rc = ls_experiment_list(s, ls_args_get(args, "state"), ls_args_get(args, "tag"),
				    ls_args_get(args, "group"), &rows, &err);
	if (!rc)
		rc = ls_metrics_attach(s, rows, &err);
	for (size_t i = 0; !rc && (where = ls_args_nth(args, "where", i)); i++)
		rc = ls_cells_filter(rows, where, &err);
	if (rc) {
		json_decref(rows);
		return ls_cmd_fail(&err);
	}
	*ret = rows;
	return 0;
}
