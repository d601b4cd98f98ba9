#include "job/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "job/metrics.h"

static const json_t *given(const json_t *v)
{
	return json_is_null(v) ? NULL : v;
}

const json_t *ls_cell(const json_t *row, const char *column)
{
	if (strcmp(column, "exp_id") == 0)
		column = "name";
	const json_t *v = json_object_get(row, column),
		     *settings = json_object_get(row, "settings");
	if (v)
		return given(v);
	if (ls_str_starts(column, "metric."))
		return ls_metric_value(row, column + strlen("metric."));
	if (ls_str_starts(column, "set."))
		return json_object_get(settings, column + strlen("set."));
	v = ls_metric_value(row, column);
	return v ? v : json_object_get(settings, column);
}

/* The shortest text that reads as the same number. */
static char *exact_text(double v)
{
	char text[40];
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	return ls_xstrdup(text);
}

char *ls_cell_text(const json_t *v, bool exact)
{
	if (json_is_string(v))
		return ls_xstrdup(json_string_value(v));
	if (json_is_integer(v))
		return ls_xasprintf("%lld", (long long)json_integer_value(v));
	if (json_is_real(v))
		return exact ? exact_text(json_real_value(v))
			     : ls_xasprintf("%.6g", json_real_value(v));
	if (!v || json_is_null(v))
		return ls_xstrdup("");
	return json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
}

/* --- order --- */

static bool is_nan(const json_t *cell)
{
	return json_is_string(cell) && strcmp(json_string_value(cell), "nan") == 0;
}

/* A cell as a number: also settings, which are texts. */
static bool number_of(const json_t *v, double *ret)
{
	bool is;
	char *end;
	*ret = ls_metric_of_json(v, &is);
	if (is || !json_is_string(v))
		return is && !isnan(*ret);
	const char *text = json_string_value(v);
	*ret = strtod(text, &end);
	return end != text && !*end && !isnan(*ret);
}

static int compare_cells(const json_t *a, const json_t *b)
{
	double x, y;
	if (number_of(a, &x) && number_of(b, &y))
		return (x > y) - (x < y);
	char *s = ls_cell_text(a, true), *t = ls_cell_text(b, true);
	int c = strcmp(s, t);
	free(s);
	free(t);
	return c;
}

struct item {
	json_t *row;
	const json_t *cell;
	size_t at;
	int sign;
};

static int by_cell(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int c = !x->cell - !y->cell;
	if (!c && x->cell)
		c = x->sign * compare_cells(x->cell, y->cell);
	return c ? c : (x->at > y->at) - (x->at < y->at);
}

void ls_cells_sort(json_t *rows, const char *by)
{
	size_t n = json_array_size(rows);
	struct item *items = ls_xalloc((n + 1) * sizeof *items);
	bool down = by[0] == '-';
	for (size_t i = 0; i < n; i++) {
		json_t *row = json_incref(json_array_get(rows, i));
		const json_t *cell = ls_cell(row, by + down);
		items[i] = (struct item){row, is_nan(cell) ? NULL : cell, i, down ? -1 : 1};
	}
	qsort(items, n, sizeof *items, by_cell);
	json_array_clear(rows);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(rows, items[i].row);
	free(items);
}

/* --- filters --- */

static const char *const operators[] = {"!=", "<=", ">=", "=", "<", ">", NULL};

static bool holds(const json_t *cell, const char *op, const json_t *wanted)
{
	if (is_nan(cell) || is_nan(wanted)) /* it is neither less nor more than anything */
		return op[0] == '=' || op[0] == '!'
			       ? (is_nan(cell) && is_nan(wanted)) == (op[0] == '=')
			       : false;
	if (json_string_length(wanted) == 0 && op[0] != '<' && op[0] != '>')
		return !cell == (op[0] == '=');
	int c = cell ? compare_cells(cell, wanted) : 0;
	switch (op[0]) {
	case '!':
		return !cell || c != 0;
	case '=':
		return cell && c == 0;
	case '<':
		return cell && (c < 0 || (op[1] && c == 0));
	default:
		return cell && (c > 0 || (op[1] && c == 0));
	}
}

/* The operator that comes first in the text; a column's name has none of its letters. */
static const char *find_operator(const char *text, size_t *ret_at)
{
	*ret_at = strcspn(text, "!<>=");
	for (size_t i = 0; operators[i]; i++)
		if (*ret_at && ls_str_starts(text + *ret_at, operators[i]))
			return operators[i];
	return NULL;
}

int ls_cells_filter(json_t *rows, const char *condition, struct ls_err *err)
{
	size_t at;
	const char *op = find_operator(condition, &at);
	if (!op)
		return ls_err_set(
			err, LS_EINPUT,
			"\"%s\" is no condition: COLUMN=VALUE, or with != < <= > >=", condition);
	char *copy = ls_xstrndup(condition, at), *column = ls_str_trim(copy);
	char *value = ls_xstrdup(condition + at + strlen(op));
	json_t *wanted = ls_json_lossy(ls_str_trim(value));
	int rc = ls_cells_known(rows, column, err);
	for (size_t i = json_array_size(rows); !rc && i-- > 0;)
		if (!holds(ls_cell(json_array_get(rows, i), column), op, wanted))
			json_array_remove(rows, i);
	json_decref(wanted);
	free(copy);
	free(value);
	return rc;
}

/* --- names --- */

static void add_keys(json_t *names, const json_t *object)
{
	const char *key;
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)object, key, v)
		json_object_set_new(names, key, json_true());
}

static const char *nearest(const json_t *all, const char *column)
{
	const char **names = ls_xalloc((json_object_size(all) + 1) * sizeof *names), *key;
	size_t n = 0;
	json_t *v;
	json_object_foreach((json_t *)(uintptr_t)all, key, v) names[n++] = key;
	const char *near = ls_str_nearest(column, names);
	free(names);
	return near;
}

int ls_cells_known(const json_t *rows, const char *column, struct ls_err *err)
{
	json_t *all = json_object(), *row;
	bool known = json_array_size(rows) == 0 || strcmp(column, "exp_id") == 0;
	size_t i;
	json_array_foreach(rows, i, row)
	{
		known = known || ls_cell(row, column) || json_object_get(row, column);
		add_keys(all, row);
		add_keys(all, json_object_get(row, "metrics"));
		add_keys(all, json_object_get(row, "settings"));
	}
	const char *near = known ? NULL : nearest(all, column);
	int rc = known ? 0
		       : ls_err_set(err, LS_EINPUT,
				    "no experiment has a column \"%s\"%s%s%s; columns are members "
				    "of `exp show --json`, metrics that were harvested, and keys "
				    "of --set",
				    column, near ? " (did you mean " : "", near ? near : "",
				    near ? "?)" : "");
	json_decref(all);
	return rc;
}
