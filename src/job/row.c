#include "job/row.h"

const char *ls_col_text(const json_t *row, const char *key)
{
	return json_string_value(json_object_get(row, key));
}

int64_t ls_col_int(const json_t *row, const char *key, int64_t missing)
{
	const json_t *v = json_object_get(row, key);
	return json_is_integer(v) ? (int64_t)json_integer_value(v) : missing;
}

double ls_col_real(const json_t *row, const char *key, double missing)
{
	const json_t *v = json_object_get(row, key);
	return json_is_number(v) ? json_number_value(v) : missing;
}
