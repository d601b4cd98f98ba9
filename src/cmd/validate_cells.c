/* The golden table inside the program. The same files are run through the command line by
 * tests/bitwise/table. */
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/mem.h"
#include "cmd/validate.h"
#include "fm/data/data.h"

enum { MAX_WORDS = 64 };
static const char cells_path[] = "tests/bitwise/cells.txt";

static int find(const char *name, const struct ls_blob **ret, struct ls_err *err)
{
	*ret = ls_embed_find(name);
	return *ret ? 0 : ls_err_set(err, LS_EINTERNAL, "%s is not part of this program", name);
}

static int set_rows(struct ls_validate_cells *c, const char *name, int threads,
		    const struct ls_rows **ret, struct ls_err *err)
{
	for (size_t i = 0; i < c->n_sets; i++)
		if (strcmp(c->sets[i].name, name) == 0) {
			*ret = ls_data_rows(c->sets[i].data);
			return 0;
		}
	const struct ls_blob *blob;
	struct ls_data_opts o = {.threads = threads, .need_labels = true};
	struct ls_data *data;
	char *path = ls_xasprintf("tests/data/%s", name);
	int rc = find(path, &blob, err);
	if (rc == 0)
		rc = ls_data_load_memory(path, blob->data, blob->len, &o, &data, err);
	free(path);
	if (rc)
		return rc;
	c->sets = ls_grow(c->sets, c->n_sets, &c->cap_sets, sizeof *c->sets);
	c->sets[c->n_sets++] = (struct ls_validate_set){ls_xstrdup(name), data};
	*ret = ls_data_rows(data);
	return 0;
}

/* The digest that the table has for a cell; caller frees. */
static int golden_of(const char *name, char **ret, struct ls_err *err)
{
	static const char path[] = "tests/bitwise/golden.txt";
	const struct ls_blob *blob;
	int rc = find(path, &blob, err);
	if (rc)
		return rc;
	size_t len = strlen(name);
	for (const char *line = (const char *)blob->data; line && *line;
	     line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) == 0 && line[len] == ' ') {
			*ret = ls_xstrndup(line + len + 1, strcspn(line + len + 1, "\n"));
			return 0;
		}
	}
	return ls_err_set(err, LS_EINTERNAL, "%s has no digest of the cell %s", path, name);
}

/* The options of `fm train`, by its own table. */
static int options_of(int n, const char *const *words, const struct ls_rows *rows,
		      struct ls_val_cell *cell, struct ls_err *err)
{
	const struct ls_opt *const tables[] = {ls_cmd_fm_train.opts, NULL};
	struct ls_args *args;
	int rc = ls_args_parse(tables, false, n, words, &args, err);
	if (rc)
		return rc;
	cell->epochs = 1;
	rc = ls_fm_model_options(args, &cell->opts, err);
	if (rc == 0)
		rc = ls_fm_data_options(args, rows, &cell->opts, err);
	if (rc == 0)
		rc = ls_fm_args_u32(args, "epochs", 1, 1000, &cell->epochs, err);
	ls_args_free(args);
	return rc;
}

/* NAME DATA OPTION… */
static int add_cell(struct ls_validate_cells *c, char *line, int threads, struct ls_err *err)
{
	const char *words[MAX_WORDS];
	char *rest = line, *word, *golden = NULL;
	int n = 0;
	while (n < MAX_WORDS && (word = strsep(&rest, " ")))
		words[n++] = word;
	if (n < 2 || n == MAX_WORDS)
		return ls_err_set(err, LS_EINTERNAL, "%s: \"%.40s\" is not NAME DATA OPTION…",
				  cells_path, line);
	struct ls_val_cell cell = {0};
	int rc = set_rows(c, words[1], threads, &cell.rows, err);
	if (rc == 0)
		rc = options_of(n - 2, words + 2, cell.rows, &cell, err);
	if (rc == 0)
		rc = golden_of(words[0], &golden, err);
	if (rc)
		return ls_err_prefix(err, "cell %.40s", words[0]);
	cell.name = ls_xstrdup(words[0]);
	cell.golden = golden;
	c->cells = ls_grow(c->cells, c->n, &c->cap, sizeof *c->cells);
	c->cells[c->n++] = cell;
	return 0;
}

static int add_cells(struct ls_validate_cells *c, int threads, struct ls_err *err)
{
	const struct ls_blob *blob;
	int rc = find(cells_path, &blob, err);
	if (rc)
		return rc;
	char *text = ls_xstrndup((const char *)blob->data, blob->len), *rest = text, *line;
	while (rc == 0 && (line = strsep(&rest, "\n")))
		if (*line && *line != '#')
			rc = add_cell(c, line, threads, err);
	free(text);
	return rc;
}

int ls_validate_cells_open(int threads, struct ls_validate_cells *ret, struct ls_err *err)
{
	*ret = (struct ls_validate_cells){0};
	int rc = add_cells(ret, threads, err);
	return rc ? rc : set_rows(ret, "small.ffm", threads, &ret->small, err);
}

void ls_validate_cells_close(struct ls_validate_cells *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free((char *)c->cells[i].name);
		free((char *)c->cells[i].golden);
	}
	for (size_t i = 0; i < c->n_sets; i++) {
		free(c->sets[i].name);
		ls_data_free(c->sets[i].data);
	}
	free(c->cells);
	free(c->sets);
}
