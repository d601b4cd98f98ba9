#include "base/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void ls_table_init(struct ls_table *t, size_t columns, const char *const *heading)
{
	*t = (struct ls_table){.columns = columns};
	ls_table_row(t, heading);
}

void ls_table_row(struct ls_table *t, const char *const *cells)
{
	t->cells = ls_grow(t->cells, t->rows, &t->cap, t->columns * sizeof *t->cells);
	for (size_t i = 0; i < t->columns; i++)
		t->cells[t->rows * t->columns + i] = ls_xstrdup(cells[i] ? cells[i] : "");
	t->rows++;
}

static size_t width(const char *s)
{
	size_t n = 0;
	for (; *s; s++)
		n += ((unsigned char)*s & 0xC0) != 0x80;
	return n;
}

static size_t widest(const struct ls_table *t, size_t column)
{
	size_t most = 0;
	for (size_t r = 0; r < t->rows; r++) {
		size_t w = width(t->cells[r * t->columns + column]);
		most = w > most ? w : most;
	}
	return most;
}

void ls_table_text(const struct ls_table *t, struct ls_str *out)
{
	size_t *wide = ls_xalloc(t->columns * sizeof *wide);
	for (size_t c = 0; c < t->columns; c++)
		wide[c] = widest(t, c);
	for (size_t r = 0; r < t->rows; r++) {
		for (size_t c = 0; c < t->columns; c++) {
			const char *cell = t->cells[r * t->columns + c];
			ls_str_add(out, cell);
			for (size_t pad = wide[c] + 2 - width(cell); pad && c + 1 < t->columns;
			     pad--)
				ls_str_add(out, " ");
		}
		while (out->len && out->s[out->len - 1] == ' ')
			out->s[--out->len] = 0;
		ls_str_add(out, "\n");
	}
	free(wide);
}

void ls_table_markdown(const struct ls_table *t, struct ls_str *out)
{
	for (size_t r = 0; r < t->rows; r++) {
		for (size_t c = 0; c < t->columns; c++) {
			ls_str_add(out, "| ");
			for (const char *p = t->cells[r * t->columns + c]; *p; p++) {
				if (*p == '|')
					ls_str_add(out, "\\|");
				else if (*p == '\n')
					ls_str_add(out, "<br>");
				else
					ls_str_add_bytes(out, p, 1);
			}
			ls_str_add(out, " ");
		}
		ls_str_add(out, "|\n");
		for (size_t c = 0; r == 0 && c < t->columns; c++)
			ls_str_add(out, c + 1 == t->columns ? "|---|\n" : "|---");
	}
}

void ls_table_done(struct ls_table *t)
{
	for (size_t i = 0; i < t->rows * t->columns; i++)
		free(t->cells[i]);
	free(t->cells);
	*t = (struct ls_table){0};
}
