/* labels: threads isa */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "fm/data/data.h"

#define DATA LS_SOURCE_DIR "/tests/data/"

/* Behind it text of a few lines is cut, too; the end of a mapped text never is. */
#define LONG_END                                                                                   \
	"# the last slice takes along what is left when that is less than it may read beyond its " \
	"end\n"

static struct ls_data *load_bytes(const void *bytes, size_t len, const struct ls_data_opts *o)
{
	struct ls_data *d = NULL;
	struct ls_err err = {0};
	if (ls_data_load_memory("t", bytes, len, o, &d, &err))
		fail_msg("%s", err.msg);
	return d;
}

static struct ls_data *load(const char *text, const struct ls_data_opts *o)
{
	return load_bytes(text, strlen(text), o);
}

static void refuses_bytes(const void *bytes, size_t len, const struct ls_data_opts *o,
			  const char *message)
{
	struct ls_data *d = NULL;
	struct ls_err err = {0};
	int rc = ls_data_load_memory("t", bytes, len, o, &d, &err);
	if (rc != LS_EINPUT || d || strcmp(err.msg, message) != 0)
		fail_msg("status %d, message \"%s\", expected \"%s\"", rc, rc ? err.msg : "none",
			 message);
}

static void refuses(const char *text, const struct ls_data_opts *o, const char *message)
{
	refuses_bytes(text, strlen(text), o, message);
}

static void digest_of(const char *file, const struct ls_data_opts *o, char hex[65])
{
	struct ls_data *d = NULL;
	struct ls_err err = {0};
	if (ls_data_load(file, o, &d, &err))
		fail_msg("%s", err.msg);
	ls_data_digest(d, hex);
	ls_data_free(d);
}

static void same_floats(const float *a, const float *b, uint64_t n)
{
	assert_int_equal(a == NULL, b == NULL);
	if (a)
		assert_memory_equal(a, b, n * sizeof *a);
}

static void same_rows(const struct ls_rows *a, const struct ls_rows *b)
{
	assert_int_equal(a->n_rows, b->n_rows);
	assert_int_equal(a->n_entries, b->n_entries);
	assert_int_equal(a->n_features, b->n_features);
	assert_int_equal(a->n_fields, b->n_fields);
	assert_memory_equal(a->start, b->start, (a->n_rows + 1) * sizeof *a->start);
	assert_memory_equal(a->feature, b->feature, a->n_entries * sizeof *a->feature);
	assert_int_equal(a->field == NULL, b->field == NULL);
	if (a->field)
		assert_memory_equal(a->field, b->field, a->n_entries * sizeof *a->field);
	same_floats(a->value, b->value, a->n_entries);
	same_floats(a->label, b->label, a->n_rows);
	same_floats(a->weight, b->weight, a->n_rows);
}

/* --- what is accepted --- */

static void libsvm_rows(void **state)
{
	(void)state;
	struct ls_data *d = load("1 3:1 7:0.5\n-1 4294967295:-2e-3\n", NULL);
	const struct ls_rows *r = ls_data_rows(d);
	assert_int_equal(r->n_rows, 2);
	assert_int_equal(r->n_entries, 3);
	assert_true(r->n_features == 4294967296);
	assert_int_equal(r->n_fields, 0);
	assert_null(r->field);
	assert_null(r->weight);
	assert_int_equal(r->start[0], 0);
	assert_int_equal(r->start[1], 2);
	assert_int_equal(r->start[2], 3);
	assert_int_equal(r->feature[1], 7);
	assert_true(r->feature[2] == 4294967295);
	assert_true(r->value[0] == 1 && r->value[1] == 0.5F && r->value[2] == -2e-3F);
	assert_true(r->label[0] == 1 && r->label[1] == -1);
	ls_data_free(d);
}

static void libffm_rows(void **state)
{
	(void)state;
	struct ls_data *d = load("0 0:12345678:1 65535:123456789:1\n1 2:3:1.0\n", NULL);
	const struct ls_rows *r = ls_data_rows(d);
	assert_int_equal(r->n_fields, 65536);
	assert_int_equal(r->n_features, 123456790);
	assert_int_equal(r->feature[0], 12345678);
	assert_int_equal(r->field[1], 65535);
	assert_int_equal(r->field[2], 2);
	assert_null(r->value); /* all ones */
	ls_data_free(d);
}

static void every_length_of_index(void **state)
{
	(void)state;
	static const uint32_t index[] = {0,      9,       10,       123,       4567,      89012,
					 345678, 9012345, 67890123, 456789012, 4294967295};
	struct ls_str s = {0};
	ls_str_add(&s, "1");
	for (size_t i = 0; i < 11; i++)
		ls_str_addf(&s, " %u:1", index[i]);
	ls_str_add(&s, " 00000000000000000012:1\n");
	struct ls_data *d = load(s.s, NULL);
	const struct ls_rows *r = ls_data_rows(d);
	assert_memory_equal(r->feature, index, sizeof index);
	assert_int_equal(r->feature[11], 12);
	ls_data_free(d);
	ls_str_done(&s);
}

/* As many entries as a text of this length can have. */
static void shortest_entries(void **state)
{
	(void)state;
	enum { N = 200000 };
	struct ls_str s = {0};
	ls_str_add(&s, "0");
	for (int i = 0; i < N; i++)
		ls_str_addf(&s, " %d:%d", i % 10, i % 7);
	struct ls_data *d = load(s.s, NULL);
	const struct ls_rows *r = ls_data_rows(d);
	assert_int_equal(r->n_rows, 1);
	assert_int_equal(r->n_entries, N);
	for (uint32_t i = 0; i < N; i++)
		assert_true(r->feature[i] == i % 10 && r->value[i] == (float)(i % 7));
	ls_data_free(d);
	ls_str_done(&s);
}

/* Texts that must read as the plain one does. */
static void spellings(void **state)
{
	(void)state;
	static const char plain[] = "1 3:1 7:2\n0 4:1\n";
	static const char *const same[] = {
		"1 3:1 7:2\r\n0 4:1\r\n",            /* CR LF */
		"1 3:1 7:2\n0 4:1",                  /* no line end at the end */
		"1 3:1 7:2\r\n0 4:1\r",              /* nor there, after a carriage return */
		"\n\n1 3:1 7:2\n   \t\n0 4:1\n\r\n", /* blank lines */
		" 1\t3:1   7:2\t \n\t0  4:1 \n",     /* blanks */
		"# head\n1 3:1 7:2 ## tail 9:9\n  # mid\n0 4:1 #\n#\n", /* comments */
		"\357\273\2771 3:1 7:2\n0 4:1\n",                       /* byte-order mark */
		"+1.0 03:1.000 7:2e0\n-0e5 4:+1\n",                     /* numbers */
		"1 1 3:1 7:2\n0 1.0 4:1\n",                             /* weights of 1 */
	};
	struct ls_data *a = load(plain, NULL);
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		struct ls_data *b = load(same[i], NULL);
		if (i == 7) /* a label of -0 is kept as it is written */
			assert_true(ls_data_rows(b)->label[1] == 0);
		else
			same_rows(ls_data_rows(a), ls_data_rows(b));
		ls_data_free(b);
	}
	ls_data_free(a);
}

static void odd_rows_are_kept(void **state)
{
	(void)state;
	struct ls_data *d = load("1 5:1 5:2 3:0 5:1\n0\n2.5 0.25\n3 2 1:1\n4 0\n", NULL);
	const struct ls_rows *r = ls_data_rows(d);
	static const uint64_t start[] = {0, 4, 4, 4, 5, 5};
	static const uint32_t feature[] = {5, 5, 3, 5, 1};
	static const float value[] = {1, 2, 0, 1, 1}, label[] = {1, 0, 2.5, 3, 4},
			   weight[] = {1, 1, 0.25, 2, 0};
	assert_int_equal(r->n_rows, 5);
	assert_memory_equal(r->start, start, sizeof start);
	assert_memory_equal(r->feature, feature, sizeof feature);
	assert_memory_equal(r->value, value, sizeof value);
	assert_memory_equal(r->label, label, sizeof label);
	assert_memory_equal(r->weight, weight, sizeof weight);
	ls_data_free(d);
}

static void rows_without_label(void **state)
{
	(void)state;
	struct ls_data *d = load("3:1 4:1\n1:1\n", NULL);
	assert_null(ls_data_rows(d)->label);
	assert_int_equal(ls_data_rows(d)->n_entries, 3);
	ls_data_free(d);
	struct ls_data_opts need = {.need_labels = true}, fields = {.want_fields = true};
	refuses("3:1 4:1\n1:1\n", &need,
		"t: rows have no label; --labels FILE would give them, for those of --valid "
		"--valid-labels");
	refuses("1 1:1\n", &fields,
		"t: entries have no field; libffm text (field:index:value) has");
}

static void first_entry_decides_the_format(void **state)
{
	(void)state;
	struct ls_data_opts o = {.threads = 2, .slice_bytes = 4};
	struct ls_data *d = load("# 1:2\n1\n0\n1\n0\n1 2:3:1\n" LONG_END, &o);
	assert_int_equal(ls_data_rows(d)->n_fields, 3);
	assert_int_equal(ls_data_rows(d)->n_rows, 5);
	ls_data_free(d);
	refuses("1 2:3:1\n0 3:1\n", NULL, "t:2:5: \"1\" is not field:index:value");
	refuses("1 3:1\n0 2:3:1\n", NULL, "t:2:5: value \"3:1\" is not a number");
	struct ls_data_opts wrong = {.format = "npz"}, unknown = {.format = "csv"};
	refuses("1 3:1\n", &wrong, "t: holds text, not npz");
	refuses("1 3:1\n", &unknown, "format \"csv\" is none of svm, ffm, npz, lsd");
}

/* --- what is refused --- */

static void faults(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "t: no rows"},
		{"\n\n# nothing\n", "t: no rows"},
		{"1 3:1\n0 -3:1\n", "t:2:3: index \"-3\" is negative; the least is 0"},
		{"1 4294967296:1\n", "t:1:3: index \"4294967296\" is beyond 4294967295"},
		{"1 99999999999999999999999:1\n",
		 "t:1:3: index \"99999999999999999999999\" is beyond 4294967295"},
		{"1 0:5:1 65536:3:1\n", "t:1:9: field \"65536\" is beyond 65535"},
		{"1 0:5:1 -1:3:1\n", "t:1:9: field \"-1\" is negative; the least is 0"},
		{"1 0:4294967296:1\n", "t:1:5: index \"4294967296\" is beyond 4294967295"},
		{"1 0:-4:1\n", "t:1:5: index \"-4\" is negative; the least is 0"},
		{"\n1 3:nan\n", "t:2:5: value \"nan\" is not a finite number"},
		{"1 3:-inf\n", "t:1:5: value \"-inf\" is not a finite number"},
		{"1 3:1e39\n", "t:1:5: value \"1e39\" is too large for a 32-bit float"},
		{"1 3:\n", "t:1:5: value \"\" is not a number"},
		{"1 3: 4:1\n", "t:1:5: value \"\" is not a number"},
		{"1 3:0.345678901234567890123456789012345678901234567890x\n",
		 "t:1:5: value \"0.34567890123456789012345678901234567890\" is not a number"},
		{"1 3:1x\n", "t:1:5: value \"1x\" is not a number"},
		{"1 3:0x10\n", "t:1:5: value \"0x10\" is not a number"},
		{"1 3:1#note\n", "t:1:5: value \"1#note\" is not a number"},
		{"1 3:1 4\n", "t:1:7: \"4\" is not index:value"},
		{"1 3:1 x:1\n", "t:1:7: \"x:1\" is not index:value"},
		{"1 3.5:1\n", "t:1:3: \"3.5:1\" is not index:value"},
		{"1 :1\n", "t:1:3: \":1\" is not index:value"},
		{"1 qid:3 1:1\n", "t:1:3: \"qid:3\" is not index:value"},
		{"x 1:1\n", "t:1:1: label \"x\" is not a number"},
		{"nan 1:1\n", "t:1:1: label \"nan\" is not a finite number"},
		{"1e99 1:1\n", "t:1:1: label \"1e99\" is too large for a 32-bit float"},
		{"1,2 1:1\n", "t:1:1: label \"1,2\" is not a number; if this is CSV, `lockstep fm "
			      "convert --label COLUMN` makes rows of it"},
		{"1 -0.5 1:1\n", "t:1:3: weight \"-0.5\" is negative"},
		{"1 inf 1:1\n", "t:1:3: weight \"inf\" is not a finite number"},
		{"1 1 1 1:1\n", "t:1:5: \"1\" is not index:value"},
		{"1 2:1\n1 3:1\r4:1\n", "t:2:5: value \"1?4:1\" is not a number"},
		{"1 2:\033[31m\n", "t:1:5: value \"?[31m\" is not a number"},
		{"1 3:1\n\n2:1\n", "t:3:1: some rows have a label and some have none"},
		{"3:1\n1 2:1\n", "t:2:1: some rows have a label and some have none"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int threads = 1; threads <= 3; threads += 2)
			for (size_t slice = 0; slice <= 5; slice += 5) {
				struct ls_data_opts o = {.threads = threads, .slice_bytes = slice};
				refuses(cases[i].text, &o, cases[i].message);
			}
	refuses_bytes("1 3:1\n0\0 3:1\n", 14, NULL, "t:2:1: label \"0?\" is not a number");
}

/* With every number of threads and every size of slice the first fault is the one that is
 * told. */
static void first_fault_wins(void **state)
{
	(void)state;
	struct ls_str s = {0};
	for (int i = 1; i <= 4000; i++) /* lines of all sorts count */
		ls_str_addf(&s,
			    i % 3   ? "1 %d:%s\n"
			    : i % 2 ? "# %d\n"
				    : "\r\n",
			    i, i % 1000 == 778 ? "bad" : "1");
	for (int threads = 1; threads <= 7; threads++)
		for (size_t slice = 100; slice < 20000; slice *= 3) {
			struct ls_data_opts o = {.threads = threads, .slice_bytes = slice};
			refuses(s.s, &o, "t:778:7: value \"bad\" is not a number");
		}
	ls_str_done(&s);
}

/* Slices of nothing but blank lines and comments have lines, too, and no labels that
 * others could differ from. */
static void lines_without_rows_count(void **state)
{
	(void)state;
	for (size_t slice = 1; slice < 40; slice++) {
		struct ls_data_opts o = {.threads = 1 + (int)slice % 3, .slice_bytes = slice};
		refuses("\n\n# a\n\n\n1 3:1\n\n\n\n# b\n\n\n\n0 4:x\n" LONG_END, &o,
			"t:14:5: value \"x\" is not a number");
		refuses("\n\n1 3:1\n\n\n\n2:1\n" LONG_END, &o,
			"t:7:1: some rows have a label and some have none");
		struct ls_data *d = load("3:1\n\n\n# c\n\n4:1\n\n\n\n" LONG_END, &o);
		assert_int_equal(ls_data_rows(d)->n_rows, 2);
		ls_data_free(d);
	}
}

/* A slice whose first row has no label, unlike those before, and whose second is bad: the
 * first is told. */
static void mixed_labels_before_a_fault(void **state)
{
	(void)state;
	for (size_t slice = 1; slice < 60; slice++) {
		struct ls_data_opts o = {.threads = 1 + (int)slice % 3, .slice_bytes = slice};
		refuses("1 3:1 4:1 5:1 6:1 7:1 8:1\n  2:1\n4:x\n" LONG_END, &o,
			"t:2:3: some rows have a label and some have none");
		refuses("3:1 4:1 5:1 6:1 7:1 8:1\n1 2:1\n0 4:x\n" LONG_END, &o,
			"t:2:1: some rows have a label and some have none");
	}
}

/* What is found out about a row after reading is told with its line and column, too:
 * lines that are no rows count, and what stands before a row. */
static void rows_have_lines(void **state)
{
	(void)state;
	enum { LINES = 4000 };
	struct ls_str s = {0};
	uint64_t row_line[LINES], row_column[LINES], n = 0;
	for (uint64_t i = 1; i <= LINES; i++) {
		bool odd = i % 3 == 0 && i > 1500;
		ls_str_addf(&s,
			    odd          ? i % 2 ? "# %d\n" : "\r\n"
			    : i % 7 == 6 ? "  \t1 %d:1\n"
					 : "1 %d:1\n",
			    (int)i);
		row_line[n] = i;
		row_column[n] = i % 7 == 6 ? 4 : 1;
		n += !odd;
	}
	for (int threads = 1; threads <= 7; threads += 2)
		for (size_t slice = 100; slice < 100000; slice *= 10) {
			struct ls_data_opts o = {.threads = threads, .slice_bytes = slice};
			struct ls_data *d = load(s.s, &o);
			assert_int_equal(ls_data_rows(d)->n_rows, n);
			for (uint64_t r = 0; r < n; r++) {
				struct ls_err err;
				char want[64];
				snprintf(want, sizeof want, "t:%d:%d: it is 5", (int)row_line[r],
					 (int)row_column[r]);
				assert_int_equal(ls_rows_fault(ls_data_rows(d), LS_OF_ROW, r,
							       LS_EDIFFER, &err, "it is %d", 5),
						 LS_EDIFFER);
				assert_string_equal(err.msg, want);
			}
			ls_data_free(d);
		}
	ls_str_done(&s);
}

/* --- threads and slices --- */

static void threads_do_not_matter(void **state)
{
	(void)state;
	static const char *const files[] = {DATA "small-valid.ffm", DATA "regression.svm",
					    DATA "unlabelled.svm"};
	static const int threads[] = {1, 2, 3, 7};
	for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
		struct ls_data *whole = NULL;
		struct ls_err err;
		struct ls_data_opts one = {.threads = 1};
		char want[65], got[65];
		assert_int_equal(ls_data_load(files[f], &one, &whole, &err), 0);
		ls_data_digest(whole, want);
		for (size_t t = 0; t < 4; t++)
			for (size_t slice = 1; slice < 20000; slice = slice * 5 + 3) {
				struct ls_data_opts o = {.threads = threads[t],
							 .slice_bytes = slice};
				struct ls_data *d = NULL;
				assert_int_equal(ls_data_load(files[f], &o, &d, &err), 0);
				same_rows(ls_data_rows(whole), ls_data_rows(d));
				ls_data_digest(d, got);
				assert_string_equal(got, want);
				ls_data_free(d);
			}
		ls_data_free(whole);
	}
}

/* What only one slice of many has: values other than 1, a weight, entries, and so fields;
 * at the start, or the end. */
static void slices_may_lack_what_others_have(void **state)
{
	(void)state;
	static const char *const rows[][2] = {{"1 3:2 5:4\n", "0 4:1\n"},
					      {"1 0.5 3:1\n", "0 4:1\n"},
					      {"1 7:3:1 8:4:2\n", "0\n"},
					      {"1 3:1\n", "0\n"}};
	for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
		struct ls_str text = {0};
		ls_str_add(&text, i % 2 ? "" : rows[i / 2][0]);
		for (int k = 0; k < 200; k++)
			ls_str_add(&text, rows[i / 2][1]);
		ls_str_add(&text, i % 2 ? rows[i / 2][0] : "");
		struct ls_data *whole = load(text.s, &(struct ls_data_opts){.threads = 1});
		for (int threads = 1; threads <= 3; threads++)
			for (size_t slice = 1; slice < 200; slice = slice * 5 + 3) {
				struct ls_data_opts o = {.threads = threads, .slice_bytes = slice};
				struct ls_data *d = load(text.s, &o);
				same_rows(ls_data_rows(whole), ls_data_rows(d));
				ls_data_free(d);
			}
		ls_data_free(whole);
		ls_str_done(&text);
	}
}

static void digests_tell_rows_apart(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"1 3:1\n",     "0 3:1\n",     "1 4:1\n",       "1 3:2\n",    "3:1\n",
		"1 2 3:1\n",   "1 0:3:1\n",   "1 1:3:1\n",     "1 3:1\n1\n", "1\n1 3:1\n",
		"1 3:1 4:1\n", "1 4:1 3:1\n", "1 3:1\n1 4:1\n"};
	enum { N = sizeof texts / sizeof *texts };
	char hex[N][65];
	for (size_t i = 0; i < N; i++) {
		struct ls_data *d = load(texts[i], NULL);
		ls_data_digest(d, hex[i]);
		ls_data_free(d);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(hex[i], hex[j]);
	}
	/* and what FORMATS.md describes stays what it is */
	assert_string_equal(hex[0],
			    "93fd4520914d8f84bbdc136c4aae98a15d96e85075a5fca27b918e3266c33fd6");
}

static void ones_are_as_good_as_none(void **state)
{
	(void)state;
	struct ls_data *d = load("1 3:1 4:1\n0 3:1\n", NULL);
	struct ls_rows r = *ls_data_rows(d);
	const float ones[] = {1, 1, 1}, other[] = {1, 1, 2};
	char absent[65], given[65];
	ls_rows_digest(&r, 1, absent);
	r.value = ones;
	r.weight = ones;
	ls_rows_digest(&r, 1, given);
	assert_string_equal(absent, given);
	r.value = other;
	ls_rows_digest(&r, 1, given);
	assert_string_not_equal(absent, given);
	ls_data_free(d);
}

/* Fields and features are counted over all slices. */
static void counts_grow_with_the_slices(void **state)
{
	(void)state;
	struct ls_data_opts o = {.threads = 2, .slice_bytes = 4};
	struct ls_data *d = load("1 0:0:1\n1 1:1:1\n0 2:2:1\n0 1:0:1\n" LONG_END, &o);
	assert_int_equal(ls_data_rows(d)->n_fields, 3);
	assert_int_equal(ls_data_rows(d)->n_features, 3);
	ls_data_free(d);
}

/* Only the very first bytes may be a byte-order mark. */
static void mark_within_the_text(void **state)
{
	(void)state;
	for (size_t slice = 0; slice <= 5; slice += 5) {
		struct ls_data_opts o = {.slice_bytes = slice};
		refuses("1 3:1\n\357\273\2770 4:1\n" LONG_END, &o,
			"t:2:1: label \"???0\" is not a number");
	}
	refuses("\357\273\277", NULL, "t: no rows");
	struct ls_data *d = load("\357\273\2771\n", NULL);
	assert_int_equal(ls_data_rows(d)->n_rows, 1);
	ls_data_free(d);
}

/* --- gzip --- */

static size_t squeeze_by(int level, const char *text, size_t len, uint8_t *to, size_t room)
{
	z_stream z = {0};
	assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (unsigned char *)(uintptr_t)text;
	z.avail_in = (unsigned)len;
	z.next_out = to;
	z.avail_out = (unsigned)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return room - z.avail_out;
}

static size_t squeeze(const char *text, size_t len, uint8_t *to, size_t room)
{
	return squeeze_by(6, text, len, to, room);
}

static void gzip_reads_like_text(void **state)
{
	(void)state;
	char *text = NULL;
	size_t len = 0;
	struct ls_err err;
	assert_int_equal(ls_file_read(DATA "regression.svm", 1 << 20, &text, &len, &err), 0);
	uint8_t *packed = ls_xalloc(2 * len + 100);
	/* two members cut in the middle of a line, and zero padding as tape drives leave
	 * it */
	size_t n = squeeze(text, 1001, packed, 2 * len);
	n += squeeze(text + 1001, len - 1001, packed + n, 2 * len - n);
	struct ls_data *plain = load_bytes(text, len, NULL);
	for (size_t slice = 7; slice < 100000; slice *= 9) {
		struct ls_data_opts o = {.threads = 3, .slice_bytes = slice};
		struct ls_data *d = load_bytes(packed, n + 50, &o);
		same_rows(ls_data_rows(plain), ls_data_rows(d));
		ls_data_free(d);
	}
	ls_data_free(plain);
	free(packed);
	free(text);
}

static void damaged_gzip_is_refused(void **state)
{
	(void)state;
	char text[2000] = "";
	for (int i = 0; i < 100; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "1 %d:1\n", i * i);
	uint8_t packed[2100];
	size_t n = squeeze(text, strlen(text), packed, 2000);
	for (size_t cut = 2; cut < n; cut++)
		refuses_bytes(packed, cut, NULL, "t: the gzip data end early");
	packed[n] = 'x';
	refuses_bytes(packed, n + 1, NULL, "t: bytes behind the gzip data that are not gzip");
	packed[n - 6] ^= 1; /* the checksum */
	refuses_bytes(packed, n, NULL, "t: damaged gzip data: incorrect data check");
}

/* More than is read at a time, in members of which some are empty, with padding between
 * them that is longer than that, too, and no line end at the end. */
static void large_gzip(void **state)
{
	(void)state;
	enum { LINES = 50000, PAD = 600000 };
	struct ls_str s = {0};
	for (int i = 0; i < LINES; i++)
		ls_str_addf(&s, "%d %d:%d\n", i % 2, i, i % 7);
	size_t half = s.len / 2, room = s.len + PAD + 4096, n = 0;
	uint8_t *packed = ls_xalloc(room);
	n += squeeze_by(0, "", 0, packed + n, room - n);
	n += squeeze_by(0, s.s, half, packed + n, room - n);
	n += PAD;
	n += squeeze_by(0, "", 0, packed + n, room - n);
	n += squeeze_by(0, s.s + half, s.len - half - 1, packed + n, room - n);
	struct ls_data *plain = load(s.s, NULL), *d = load_bytes(packed, n, NULL);
	assert_int_equal(ls_data_rows(d)->n_rows, LINES);
	same_rows(ls_data_rows(plain), ls_data_rows(d));
	ls_data_free(d);
	ls_data_free(plain);
	free(packed);
	ls_str_done(&s);
}

/* What is wrong with a line comes before damage behind it, and damage before the end of
 * the rows.
 */
static void damage_waits_for_the_lines(void **state)
{
	(void)state;
	static const char text[] = "1 3:1\n0 4:x\n1 5:1\n", good[] = "1 3:1\n0 4:1\n1 5:1\n";
	uint8_t packed[200];
	for (size_t slice = 1; slice < 50; slice += 3) {
		struct ls_data_opts o = {.threads = 2, .slice_bytes = slice};
		size_t n = squeeze(text, sizeof text - 1, packed, sizeof packed);
		refuses_bytes(packed, n - 1, &o, "t:2:5: value \"x\" is not a number");
		n = squeeze(good, sizeof good - 1, packed, sizeof packed);
		refuses_bytes(packed, n - 1, &o, "t: the gzip data end early");
	}
}

/* --- scipy --- */

static void npz_reads_like_text(void **state)
{
	(void)state;
	char text[65], npz[65];
	struct ls_data_opts o = {.labels_path = DATA "small-valid-labels.npy"};
	digest_of(DATA "small-valid.svm", NULL, text);
	digest_of(DATA "small-valid.npz", &o, npz);
	assert_string_equal(text, npz);
	struct ls_data_opts w = {.labels_path = DATA "wide-labels.npy",
				 .weights_path = DATA "wide-weights.npy"};
	digest_of(DATA "regression.svm", NULL, text);
	digest_of(DATA "wide.npz", &w, npz);
	assert_string_equal(text, npz);
	digest_of(DATA "unlabelled.svm", NULL, text);
	digest_of(DATA "small-valid.npz", NULL, npz);
	assert_string_equal(text, npz);
}

static void missing_file(void **state)
{
	(void)state;
	struct ls_data *d = NULL;
	struct ls_err err;
	assert_int_equal(ls_data_load("/no/such/file", NULL, &d, &err), LS_ENOENT);
	assert_int_equal(ls_data_load(LS_SOURCE_DIR, NULL, &d, &err), LS_EINPUT);
	assert_null(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libsvm_rows),
		cmocka_unit_test(libffm_rows),
		cmocka_unit_test(every_length_of_index),
		cmocka_unit_test(shortest_entries),
		cmocka_unit_test(spellings),
		cmocka_unit_test(odd_rows_are_kept),
		cmocka_unit_test(rows_without_label),
		cmocka_unit_test(first_entry_decides_the_format),
		cmocka_unit_test(faults),
		cmocka_unit_test(first_fault_wins),
		cmocka_unit_test(lines_without_rows_count),
		cmocka_unit_test(mixed_labels_before_a_fault),
		cmocka_unit_test(rows_have_lines),
		cmocka_unit_test(threads_do_not_matter),
		cmocka_unit_test(slices_may_lack_what_others_have),
		cmocka_unit_test(digests_tell_rows_apart),
		cmocka_unit_test(ones_are_as_good_as_none),
		cmocka_unit_test(gzip_reads_like_text),
		cmocka_unit_test(damaged_gzip_is_refused),
		cmocka_unit_test(counts_grow_with_the_slices),
		cmocka_unit_test(mark_within_the_text),
		cmocka_unit_test(large_gzip),
		cmocka_unit_test(damage_waits_for_the_lines),
		cmocka_unit_test(npz_reads_like_text),
		cmocka_unit_test(missing_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
