/* How a table becomes rows: which columns it takes, how values are hashed, which number a
 * class of the label has, and what the features are called. `fm convert` writes it beside
 * the rows (docs/FORMATS.md, "Rows: tables"), so that another table becomes rows likewise.
 * Owns its strings; ls_columns_free accepts NULL. One thread; any, once it is not changed
 * any more. */
#ifndef LS_FM_DATA_COLUMNS_H
#define LS_FM_DATA_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { LS_COLUMNS_MOST = 1 << 14, LS_COLUMNS_CLASSES = 4096, LS_COLUMNS_NAMES = 1000000 };

struct ls_column {
	char *name;
	bool numeric; /* or of categories */
};

struct ls_feature_name {
	uint32_t feature;
	char *name; /* "city=Rome", "price" */
};

struct ls_columns {
	char *label, *weight;     /* names of columns; weight NULL: none */
	struct ls_column *column; /* in the order of fields and of a row's entries */
	size_t n, cap;
	uint64_t seed;
	unsigned bits;
	char delimiter; /* 0: found out from the first line */
	bool no_header; /* then columns are called 1, 2, 3, … */
	char **class;   /* ascending by bytes; none: labels are numbers */
	size_t n_classes;
	struct ls_feature_name *name; /* ascending by feature; at most LS_COLUMNS_NAMES */
	size_t n_names, cap_names;
	/* set while the first table is read, which decides classes and names */
	bool learn;
	uint64_t shared; /* features of that table that have several names */
	bool cut;        /* there were more names */
};

struct ls_columns *ls_columns_new(void);
void ls_columns_free(struct ls_columns *c);

/* list: names separated by commas, quoted as in CSV where they have commas of their own. */
int ls_columns_add(struct ls_columns *c, const char *list, bool numeric, struct ls_err *err);

/* Whether the text of a cell stands for a value that is not there. */
bool ls_columns_missing(const char *text, size_t len);
/* The number of a class, or SIZE_MAX. */
size_t ls_columns_class(const struct ls_columns *c, const char *text, size_t len);
/* The name of a feature, or NULL. */
const char *ls_columns_feature(const struct ls_columns *c, uint32_t feature);

int ls_columns_save(const struct ls_columns *c, const char *path, struct ls_err *err);
int ls_columns_load(const char *path, struct ls_columns **ret, struct ls_err *err);
/* From text in memory; name stands for it in messages. */
int ls_columns_parse(const char *text, size_t len, const char *name, struct ls_columns **ret,
		     struct ls_err *err);

#endif
