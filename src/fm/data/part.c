#include "fm/data/part.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "num/perm.h"

enum { LS_PART_PURPOSE = 3 }; /* of the key, see num/philox.h */

struct ls_part {
	struct ls_rows rows;
	struct ls_origin origin;
	char *name;
	uint64_t *start;
	uint32_t *feature;
	uint16_t *field;
	float *value, *label, *weight;
	struct ls_row_run *run;
};

struct choice {
	struct ls_perm perm;
	uint64_t lo, hi;
	bool inside;
};

static bool is_chosen(const struct choice *c, uint64_t row)
{
	uint64_t place = ls_perm_at(&c->perm, row);
	return (place >= c->lo && place < c->hi) == c->inside;
}

/* Rows, entries, and stretches of rows that follow each other in the file. */
struct counts {
	uint64_t rows, entries, stretches;
};

static struct counts count(const struct ls_rows *all, const struct choice *c)
{
	struct counts n = {0};
	bool before = false;
	for (uint64_t r = 0; r < all->n_rows; r++) {
		bool now = is_chosen(c, r);
		n.rows += now;
		n.entries += now ? all->start[r + 1] - all->start[r] : 0;
		n.stretches += now && !before;
		before = now;
	}
	/* a run of lines may end within a stretch */
	n.stretches += all->origin ? all->origin->n_runs : 0;
	return n;
}

/* Room for n of what `from` has; none where that has nothing. False: no memory. */
static bool room(const void *from, uint64_t n, size_t size, void *ret)
{
	void *p = from ? ls_alloc_array(n ? n : 1, size) : NULL;
	memcpy(ret, &p, sizeof p);
	return p || !from;
}

static bool allocate(struct ls_part *p, const struct ls_rows *all, const struct counts *n)
{
	const struct ls_row_run *run = all->origin && all->origin->n_runs ? all->origin->run : NULL;
	return room(all->start, n->rows + 1, sizeof *p->start, &p->start) &&
	       room(all->feature, n->entries, sizeof *p->feature, &p->feature) &&
	       room(all->field, n->entries, sizeof *p->field, &p->field) &&
	       room(all->value, n->entries, sizeof *p->value, &p->value) &&
	       room(all->label, n->rows, sizeof *p->label, &p->label) &&
	       room(all->weight, n->rows, sizeof *p->weight, &p->weight) &&
	       room(run, n->stretches, sizeof *p->run, &p->run);
}

static void copy_entries(struct ls_part *p, const struct ls_rows *all, uint64_t row, uint64_t at)
{
	uint64_t from = all->start[row], n = all->start[row + 1] - from;
	memcpy(p->feature + at, all->feature + from, n * sizeof *p->feature);
	if (p->field)
		memcpy(p->field + at, all->field + from, n * sizeof *p->field);
	if (p->value)
		memcpy(p->value + at, all->value + from, n * sizeof *p->value);
}

/* Says which line row `to` of the part is on, unless the run before it does. *run: the
 * run of the file that the row is in, or one before it. */
static void note_line(struct ls_part *p, const struct ls_origin *o, uint64_t row, uint64_t to,
		      size_t *run)
{
	while (*run + 1 < o->n_runs && o->run[*run + 1].row <= row)
		++*run;
	struct ls_row_run now = {to, o->run[*run].line + (row - o->run[*run].row),
				 o->run[*run].column},
			  *last = p->origin.n_runs ? &p->run[p->origin.n_runs - 1] : NULL;
	if (!last || last->line + (to - last->row) != now.line || last->column != now.column)
		p->run[p->origin.n_runs++] = now;
}

static void copy_rows(struct ls_part *p, const struct ls_rows *all, const struct choice *c)
{
	uint64_t to = 0, at = 0;
	size_t run = 0;
	for (uint64_t r = 0; r < all->n_rows; r++) {
		if (!is_chosen(c, r))
			continue;
		p->start[to] = at;
		copy_entries(p, all, r, at);
		at += all->start[r + 1] - all->start[r];
		if (p->label)
			p->label[to] = all->label[r];
		if (p->weight)
			p->weight[to] = all->weight[r];
		if (p->run)
			note_line(p, all->origin, r, to, &run);
		to++;
	}
	p->start[to] = at;
}

/* Where a file has no lines, a row's number is one of the part, and the name says so. */
static void set_origin(struct ls_part *p, const struct ls_rows *all)
{
	if (!all->origin)
		return;
	p->name = ls_xasprintf(p->run ? "%s" : "%s (a part of it)",
			       all->origin->name ? all->origin->name : "");
	p->origin.name = p->name;
	p->origin.run = p->run;
	p->rows.origin = &p->origin;
}

int ls_part_new(const struct ls_rows *rows, uint64_t seed, uint64_t lo, uint64_t hi, bool inside,
		struct ls_part **ret, struct ls_err *err)
{
	struct choice c = {.lo = lo, .hi = hi, .inside = inside};
	ls_perm_init(&c.perm, ls_seed_key(seed, LS_PART_PURPOSE), rows->n_rows);
	struct counts n = count(rows, &c);
	struct ls_part *p = ls_xalloc(sizeof *p);
	if (!allocate(p, rows, &n)) {
		ls_part_free(p);
		return ls_err_set(err, LS_ENOMEM, "no memory for a copy of %llu of the rows",
				  (unsigned long long)n.rows);
	}
	copy_rows(p, rows, &c);
	p->rows = (struct ls_rows){.n_rows = n.rows,
				   .n_entries = n.entries,
				   .n_features = rows->n_features,
				   .n_fields = rows->n_fields,
				   .start = p->start,
				   .feature = p->feature,
				   .field = p->field,
				   .value = p->value,
				   .label = p->label,
				   .weight = p->weight};
	set_origin(p, rows);
	*ret = p;
	return 0;
}

void ls_part_free(struct ls_part *p)
{
	if (!p)
		return;
	free(p->name);
	free(p->start);
	free(p->feature);
	free(p->field);
	free(p->value);
	free(p->label);
	free(p->weight);
	free(p->run);
	free(p);
}

const struct ls_rows *ls_part_rows(const struct ls_part *p)
{
	return &p->rows;
}
