#include "fm/data/tabular.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/keymap.h"
#include "base/mem.h"
#include "base/str.h"
#include "fm/data/csv.h"
#include "fm/data/hash.h"
#include "num/decimal.h"

struct reading {
	struct ls_columns *c;
	const char *name; /* of the table */
	struct ls_csv *csv;
	bool labels;
	/* cells of the columns of c, of label and of weight; SIZE_MAX: there is none */
	size_t *at, label_at, weight_at, n_cells;
	struct ls_tabular t;
	size_t cap_rows, cap_entries;
	struct ls_str key;
	/* what is learnt: by feature, whether it has a name, and bits of its hash; labels in
	 * words, of which label has the number until all are known */
	uint32_t *tag;
	char **word;
	size_t n_words, cap_words;
	struct ls_keymap words;
	uint64_t first_word; /* line of the first label in words; 0: none so far */
	uint64_t first_number;
};

/* The line, and the text of a cell as far as a message shows it. */
__attribute__((format(printf, 5, 6))) static int fault(const struct reading *r, uint64_t line,
						       const struct ls_csv_cell *cell,
						       struct ls_err *err, const char *fmt, ...)
{
	enum { SHOWN = 60 };
	struct ls_str text = {0};
	char what[256], *word;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	word = ls_xstrndup(cell ? cell->text : "", !cell               ? 0
						   : cell->len < SHOWN ? cell->len
								       : SHOWN);
	ls_str_add_printable(&text, word);
	ls_err_set(err, LS_EINPUT, "%s:%llu: %s%s%s%s", r->name, (unsigned long long)line,
		   cell ? "\"" : "", text.s ? text.s : "", cell ? "\" " : "", what);
	ls_str_done(&text);
	free(word);
	return LS_EINPUT;
}

/* --- columns --- */

static bool is_text(const struct ls_csv_cell *cell, const char *text)
{
	return strlen(text) == cell->len && memcmp(text, cell->text, cell->len) == 0;
}

/* The names that the header has, as far as a message holds them. */
static void list_header(const struct ls_csv_record *head, struct ls_str *ret)
{
	enum { SHOWN = 300 };
	for (size_t i = 0; i < head->n && ret->len < SHOWN; i++) {
		char *name = ls_xstrndup(head->cell[i].text, head->cell[i].len);
		ls_str_add(ret, i ? ", " : "");
		ls_str_add_printable(ret, name);
		free(name);
	}
	if (ret->len >= SHOWN)
		ls_str_add(ret, " …");
}

static int no_column(const struct reading *r, const struct ls_csv_record *head, const char *name,
		     struct ls_err *err)
{
	struct ls_str has = {0};
	if (r->c->no_header) {
		ls_err_set(err, LS_EINPUT,
			   "%s: there is no column \"%.100s\": without header they are called 1 to "
			   "%zu",
			   r->name, name, head->n);
	} else {
		list_header(head, &has);
		ls_err_set(err, LS_EINPUT,
			   "%s: there is no column \"%.100s\"; its header, line %llu, has: %s",
			   r->name, name, (unsigned long long)head->line, has.s ? has.s : "");
	}
	ls_str_done(&has);
	return LS_EINPUT;
}

/* The cell of a column; without a header its name is its number. */
static int find_column(const struct reading *r, const struct ls_csv_record *head, const char *name,
		       size_t *ret, struct ls_err *err)
{
	uint64_t number;
	size_t found = SIZE_MAX;
	if (r->c->no_header) {
		if (ls_str_to_u64(name, 1, head->n, "column", &number, NULL))
			return no_column(r, head, name, err);
		*ret = number - 1;
		return 0;
	}
	for (size_t i = 0; i < head->n; i++)
		if (is_text(&head->cell[i], name)) {
			if (found != SIZE_MAX)
				return ls_err_set(err, LS_EINPUT,
						  "%s: two columns are called \"%.100s\"", r->name,
						  name);
			found = i;
		}
	if (found == SIZE_MAX)
		return no_column(r, head, name, err);
	*ret = found;
	return 0;
}

static int check_roles(const struct reading *r, struct ls_err *err)
{
	const struct ls_columns *c = r->c;
	for (size_t i = 0; i < c->n; i++)
		if ((c->label && strcmp(c->column[i].name, c->label) == 0) ||
		    (c->weight && strcmp(c->column[i].name, c->weight) == 0))
			return ls_err_set(
				err, LS_EINPUT,
				"%s: column \"%.100s\" is both a feature and the label or "
				"the weight",
				r->name, c->column[i].name);
	if (c->weight && strcmp(c->weight, c->label) == 0)
		return ls_err_set(err, LS_EINPUT, "%s: column \"%.100s\" is both label and weight",
				  r->name, c->label);
	return 0;
}

static int read_header(struct reading *r, const struct ls_csv_record *head, struct ls_err *err)
{
	int rc = check_roles(r, err);
	r->n_cells = head->n;
	r->at = ls_xalloc((r->c->n + 1) * sizeof *r->at);
	for (size_t i = 0; i < r->c->n && rc == 0; i++)
		rc = find_column(r, head, r->c->column[i].name, &r->at[i], err);
	if (rc == 0 && r->labels)
		rc = find_column(r, head, r->c->label, &r->label_at, err);
	if (rc == 0 && r->labels && r->c->weight)
		rc = find_column(r, head, r->c->weight, &r->weight_at, err);
	r->c->delimiter = ls_csv_delimiter(r->csv);
	return rc;
}

/* --- cells --- */

/* The whole cell, but for blanks around it, as a number. */
static bool read_number(const struct ls_csv_cell *cell, float *ret, enum ls_decimal_fault *ret_why)
{
	const char *p = cell->text, *end = p + cell->len;
	while (*p == ' ' || *p == '\t')
		p++;
	*ret_why = LS_DECIMAL_GARBAGE;
	p = ls_decimal_float(p, ret, ret_why);
	while (p && (*p == ' ' || *p == '\t'))
		p++;
	if (p && p != end)
		*ret_why = LS_DECIMAL_GARBAGE;
	return p == end;
}

static bool grow(void **array, size_t cap, size_t size)
{
	void *grown = cap > SIZE_MAX / size ? NULL : realloc(*array, cap * size);
	*array = grown ? grown : *array;
	return grown != NULL;
}

static bool room_for_row(struct reading *r)
{
	struct ls_tabular *t = &r->t;
	size_t cap = r->cap_rows ? 2 * r->cap_rows : 1024;
	if (t->n_rows + 1 < r->cap_rows)
		return true;
	r->cap_rows = cap;
	return grow((void **)&t->start, cap, sizeof *t->start) &&
	       grow((void **)&t->label, cap, sizeof *t->label) &&
	       grow((void **)&t->weight, cap, sizeof *t->weight);
}

static bool room_for_entries(struct reading *r)
{
	struct ls_tabular *t = &r->t;
	size_t cap = r->cap_entries ? 2 * r->cap_entries : 4096;
	while (cap < t->n_entries + r->c->n)
		cap *= 2;
	if (t->n_entries + r->c->n <= r->cap_entries)
		return true;
	r->cap_entries = cap;
	return grow((void **)&t->feature, cap, sizeof *t->feature) &&
	       grow((void **)&t->field, cap, sizeof *t->field) &&
	       grow((void **)&t->value, cap, sizeof *t->value);
}

/* --- what is learnt --- */

/* Of a feature that a row has: its first name, and whether it has another. */
static void learn_feature(struct reading *r, uint32_t feature, uint64_t hash, bool category)
{
	struct ls_columns *c = r->c;
	uint32_t tag = (uint32_t)(hash >> 32) | 1;
	if (r->tag[feature] == tag || r->tag[feature] == 2)
		return;
	if (r->tag[feature]) { /* 2: several */
		r->tag[feature] = 2;
		c->shared++;
		return;
	}
	r->tag[feature] = tag;
	if (c->n_names == LS_COLUMNS_NAMES) {
		c->cut = true;
		return;
	}
	char *name = ls_xalloc(r->key.len + 1);
	memcpy(name, r->key.s, r->key.len);
	if (category)
		name[strlen(name)] = '=';
	c->name = ls_grow(c->name, c->n_names, &c->cap_names, sizeof *c->name);
	c->name[c->n_names++] = (struct ls_feature_name){feature, name};
}

static const char *word_at(const void *items, size_t i)
{
	return ((char *const *)items)[i];
}

/* The number of a word among those that were seen. */
static int learn_word(struct reading *r, const struct ls_csv_record *rec, float *ret,
		      struct ls_err *err)
{
	const struct ls_csv_cell *cell = &rec->cell[r->label_at];
	char *word = ls_xstrndup(cell->text, cell->len);
	size_t i = ls_keymap_find(&r->words, r->word, word_at, word);
	if (i == SIZE_MAX && r->n_words == LS_COLUMNS_CLASSES) {
		free(word);
		return fault(r, rec->line, cell, err,
			     "is label number %d in words; classes are %d at most, and what is "
			     "regressed must be a number",
			     LS_COLUMNS_CLASSES + 1, LS_COLUMNS_CLASSES);
	}
	if (i == SIZE_MAX) {
		i = r->n_words;
		r->word = ls_grow(r->word, i, &r->cap_words, sizeof *r->word);
		r->word[r->n_words++] = word;
		ls_keymap_add(&r->words, r->word, word_at, i);
	} else {
		free(word);
	}
	*ret = (float)i;
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Classes ascend by bytes, whatever the order of the rows. */
static void end_words(struct reading *r)
{
	struct ls_columns *c = r->c;
	if (!r->n_words)
		return;
	c->class = ls_xalloc(r->n_words * sizeof *c->class);
	for (size_t i = 0; i < r->n_words; i++)
		c->class[i] = ls_xstrdup(r->word[i]);
	c->n_classes = r->n_words;
	qsort(c->class, c->n_classes, sizeof *c->class, by_text);
	for (uint64_t i = 0; i < r->t.n_rows; i++) {
		const char *word = r->word[(size_t)r->t.label[i]];
		r->t.label[i] = (float)ls_columns_class(c, word, strlen(word));
	}
}

static int by_feature(const void *a, const void *b)
{
	const struct ls_feature_name *x = a, *y = b;
	return (x->feature > y->feature) - (x->feature < y->feature);
}

/* --- rows --- */

/* Words in one row and numbers in another are a mistake in one of them. */
static int check_mixed(struct reading *r, const struct ls_csv_record *rec, bool number,
		       struct ls_err *err)
{
	uint64_t *mine = number ? &r->first_number : &r->first_word,
		 other = number ? r->first_word : r->first_number;
	*mine = *mine ? *mine : rec->line;
	if (!other)
		return 0;
	return fault(r, rec->line, &rec->cell[r->label_at], err,
		     "is a label in %s, and line %llu has one in %s: all in words are classes, all "
		     "in numbers what they are",
		     number ? "numbers" : "words", (unsigned long long)other,
		     number ? "words" : "numbers");
}

static int read_label(struct reading *r, const struct ls_csv_record *rec, float *ret,
		      struct ls_err *err)
{
	const struct ls_csv_cell *cell = &rec->cell[r->label_at];
	enum ls_decimal_fault why;
	if (ls_columns_missing(cell->text, cell->len))
		return fault(r, rec->line, cell, err, "is no label: every row must have one");
	if (r->c->n_classes && !r->c->learn) {
		size_t i = ls_columns_class(r->c, cell->text, cell->len);
		*ret = (float)i;
		return i != SIZE_MAX ? 0
				     : fault(r, rec->line, cell, err,
					     "is a label that the first table did not have");
	}
	bool number = read_number(cell, ret, &why);
	if (!number && why != LS_DECIMAL_GARBAGE)
		return fault(r, rec->line, cell, err, "is %s", ls_decimal_fault_text(why));
	if (!number && !r->c->learn)
		return fault(r, rec->line, cell, err,
			     "is not a number, as the labels of the first table are");
	int rc = check_mixed(r, rec, number, err);
	return rc || number ? rc : learn_word(r, rec, ret, err);
}

static int read_weight(const struct reading *r, const struct ls_csv_record *rec, float *ret,
		       struct ls_err *err)
{
	const struct ls_csv_cell *cell = &rec->cell[r->weight_at];
	enum ls_decimal_fault why;
	if (!read_number(cell, ret, &why))
		return fault(r, rec->line, cell, err, "is no weight: %s",
			     ls_decimal_fault_text(why));
	return *ret >= 0 ? 0 : fault(r, rec->line, cell, err, "is a negative weight");
}

static int add_entry(struct reading *r, const struct ls_csv_record *rec, size_t i,
		     struct ls_err *err)
{
	const struct ls_column *column = &r->c->column[i];
	const struct ls_csv_cell *cell = &rec->cell[r->at[i]];
	struct ls_tabular *t = &r->t;
	enum ls_decimal_fault why;
	float value = 1;
	if (ls_columns_missing(cell->text, cell->len))
		return 0;
	if (column->numeric && !read_number(cell, &value, &why))
		return fault(r, rec->line, cell, err,
			     "is %s, in the numeric column \"%.100s\"; a missing value is an empty "
			     "cell",
			     ls_decimal_fault_text(why), column->name);
	r->key.len = 0;
	ls_str_add_bytes(&r->key, column->name, strlen(column->name) + !column->numeric);
	if (!column->numeric)
		ls_str_add_bytes(&r->key, cell->text, cell->len);
	uint64_t hash = ls_feature_hash(r->c->seed, r->key.s, r->key.len);
	uint32_t feature = ls_feature_of_hash(hash, r->c->bits);
	if (r->c->learn)
		learn_feature(r, feature, hash, !column->numeric);
	t->feature[t->n_entries] = feature;
	t->field[t->n_entries] = (uint16_t)i;
	t->value[t->n_entries++] = value;
	t->max_feature = feature > t->max_feature ? feature : t->max_feature;
	t->max_field = i > t->max_field ? (uint16_t)i : t->max_field;
	return 0;
}

static int add_row(struct reading *r, const struct ls_csv_record *rec, struct ls_err *err)
{
	struct ls_tabular *t = &r->t;
	if (rec->n != r->n_cells)
		return fault(r, rec->line, NULL, err,
			     "%zu cells, where the %s has %zu; a cell with a \"%s\" in it is "
			     "written in quotes",
			     rec->n, r->c->no_header ? "first line" : "header", r->n_cells,
			     r->c->delimiter == '\t' ? "tab" : (char[2]){r->c->delimiter, 0});
	if (!room_for_row(r) || !room_for_entries(r))
		return ls_err_set(err, LS_ENOMEM, "%s: no memory for its rows", r->name);
	t->label[t->n_rows] = 0;
	t->weight[t->n_rows] = 1;
	t->start[t->n_rows] = t->n_entries;
	int rc = r->labels ? read_label(r, rec, &t->label[t->n_rows], err) : 0;
	if (rc == 0 && r->weight_at != SIZE_MAX)
		rc = read_weight(r, rec, &t->weight[t->n_rows], err);
	for (size_t i = 0; i < r->c->n && rc == 0; i++)
		rc = add_entry(r, rec, i, err);
	t->start[++t->n_rows] = t->n_entries;
	return rc;
}

static int read_records(struct reading *r, struct ls_err *err)
{
	struct ls_csv_record rec;
	int rc = ls_csv_next(r->csv, &rec, err);
	if (rc == 0)
		return ls_err_set(err, LS_EINPUT, "%s: the table is empty", r->name);
	rc = rc < 0 ? rc : read_header(r, &rec, err);
	if (rc == 0 && r->c->no_header)
		rc = add_row(r, &rec, err);
	while (rc == 0) {
		int more = ls_csv_next(r->csv, &rec, err);
		if (more == 0)
			break;
		rc = more < 0 ? more : add_row(r, &rec, err);
	}
	if (rc == 0 && !r->t.n_rows)
		rc = ls_err_set(err, LS_EINPUT, "%s: no rows below the header", r->name);
	return rc;
}

static int begin(struct reading *r, const struct ls_source *s, struct ls_err *err)
{
	enum ls_content content = ls_source_content(s);
	if (content != LS_CONTENT_TEXT)
		return ls_err_set(err, LS_EINPUT, "%s: holds %s, not a table in CSV", r->name,
				  ls_content_name(content));
	if (!r->c->learn)
		return 0;
	r->tag = ls_alloc_array((size_t)1 << r->c->bits, sizeof *r->tag);
	return r->tag ? 0
		      : ls_err_set(err, LS_ENOMEM, "%s: no memory to name 2^%u features", r->name,
				   r->c->bits);
}

static void reading_done(struct reading *r)
{
	for (size_t i = 0; i < r->n_words; i++)
		free(r->word[i]);
	free(r->word);
	free(r->tag);
	free(r->at);
	ls_keymap_done(&r->words);
	ls_str_done(&r->key);
	ls_csv_free(r->csv);
}

/* An array of ones says nothing. */
static void drop_ones(float **array, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if ((*array)[i] != 1.0f)
			return;
	free(*array);
	*array = NULL;
}

static void finish(struct reading *r)
{
	struct ls_columns *c = r->c;
	if (c->learn)
		end_words(r);
	if (c->learn && c->n_names)
		qsort(c->name, c->n_names, sizeof *c->name, by_feature);
	drop_ones(&r->t.value, r->t.n_entries);
	drop_ones(&r->t.weight, r->t.n_rows);
	if (!r->labels) {
		free(r->t.label);
		r->t.label = NULL;
	}
}

int ls_tabular_read(struct ls_source *s, struct ls_columns *columns, bool need_labels,
		    struct ls_tabular *ret, struct ls_err *err)
{
	struct reading r = {.c = columns,
			    .name = ls_source_name(s),
			    .csv = ls_csv_new(s, columns->delimiter),
			    .labels = need_labels,
			    .weight_at = SIZE_MAX};
	int rc = begin(&r, s, err);
	if (rc == 0)
		rc = read_records(&r, err);
	if (rc == 0) {
		finish(&r);
		*ret = r.t;
	} else {
		ls_tabular_done(&r.t);
	}
	reading_done(&r);
	return rc;
}

void ls_tabular_done(struct ls_tabular *t)
{
	free(t->start);
	free(t->feature);
	free(t->field);
	free(t->value);
	free(t->label);
	free(t->weight);
}
