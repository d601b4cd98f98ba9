#include "job/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { NAME_MOST = 200 };

static int name_of(struct ls_points *p, const char *name, size_t len, uint32_t *ret,
		   struct ls_err *err)
{
	char raw[NAME_MOST + 1];
	struct ls_str shown = {0};
	if (len == 0 || len > NAME_MOST)
		return ls_err_set(err, LS_EINPUT,
				  "a metric's name has %zu bytes, at most %d are kept", len,
				  NAME_MOST);
	memcpy(raw, name, len);
	raw[len] = 0;
	ls_str_add_printable(&shown, raw);
	const json_t *known = json_object_get(p->by_name, shown.s ? shown.s : "");
	int rc = 0;
	if (known) {
		*ret = (uint32_t)json_integer_value(known);
	} else if (p->n_names == LS_POINTS_NAMES) {
		rc = ls_err_set(err, LS_EINPUT, "more than %d names of metrics", LS_POINTS_NAMES);
	} else {
		p->names = ls_grow(p->names, p->n_names, &p->cap_names, sizeof *p->names);
		p->counts = ls_grow(p->counts, p->n_names, &p->cap_counts, sizeof *p->counts);
		if (!p->by_name)
			p->by_name = json_object();
		p->names[p->n_names] = ls_xstrdup(shown.s ? shown.s : "");
		p->counts[p->n_names] = 0;
		*ret = (uint32_t)p->n_names++;
		json_object_set_new(p->by_name, p->names[*ret], json_integer(*ret));
	}
	ls_str_done(&shown);
	return rc;
}

int ls_points_add(struct ls_points *p, const char *name, size_t len, int64_t step, double value,
		  struct ls_err *err)
{
	uint32_t at = 0;
	int rc = name_of(p, name, len, &at, err);
	if (rc)
		return rc;
	if (p->n == LS_POINTS_MOST)
		return ls_err_set(err, LS_EINPUT, "more than %d values", LS_POINTS_MOST);
	p->items = ls_grow(p->items, p->n, &p->cap, sizeof *p->items);
	p->counts[at]++;
	p->items[p->n++] =
		(struct ls_point){.name = at,
				  .step = step == LS_POINT_COUNTED ? p->counts[at] : step,
				  .value = value};
	return 0;
}

void ls_points_done(struct ls_points *p)
{
	for (size_t i = 0; i < p->n_names; i++)
		free(p->names[i]);
	free(p->names);
	free(p->counts);
	free(p->items);
	json_decref(p->by_name);
	*p = (struct ls_points){0};
}

int ls_step_rank(const char *name, size_t len)
{
	static const char *const names[] = {
		"step",      "global_step", "_step", "trainer/global_step",
		"iteration", "iter",        "epoch"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return (int)i;
	return -1;
}

bool ls_step_of(double value, int64_t *ret)
{
	if (!(fabs(value) < 0x1p53) || value != floor(value))
		return false;
	*ret = (int64_t)value;
	return true;
}
