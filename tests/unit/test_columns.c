/* Tables to rows: the hash that other programs must give, cells of CSV, what becomes of
 * odd ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/str.h"
#include "fm/data/columns.h"
#include "fm/data/csv.h"
#include "fm/data/data.h"
#include "fm/data/hash.h"

/* --- the hash --- */

/* The table in docs/FORMATS.md, from Python, which put the keys together by itself. */
static void test_hash(void **state)
{
	(void)state;
	static const struct {
		uint64_t seed;
		unsigned bits;
		const char *column, *value;
		uint32_t feature;
	} want[] = {
		{1337, 18, "city", "Rome", 172999},
		{1337, 18, "price", NULL, 98620},
		{1337, 18, "city", "Paris, F", 4422},
		{0, 18, "city", "Rome", 98018},
		{1337, 28, "city", "Rome", 102671303},
		{1337, 18,
		 "Stra\xc3\x9f"
		 "e",
		 "K\xc3\xb6ln", 134428},
		{1337, 10, "a", "b=c", 17},
		{1337, 10, "a=b", "c", 783},
	};
	for (size_t i = 0; i < sizeof want / sizeof *want; i++)
		assert_int_equal(
			ls_feature_index(want[i].seed, want[i].bits, want[i].column, want[i].value),
			want[i].feature);
}

/* --- cells --- */

/* All records as "a|b\n", or the message. */
static char *cells(const char *text, size_t len, size_t slice)
{
	struct ls_source *s;
	struct ls_csv_record r;
	struct ls_err err = {0};
	struct ls_str out = {0};
	ls_source_open_memory("t", text, len, slice, &s);
	struct ls_csv *csv = ls_csv_new(s, 0);
	int rc;
	ls_str_add(&out, "");
	while ((rc = ls_csv_next(csv, &r, &err)) > 0)
		for (size_t i = 0; i < r.n; i++) {
			ls_str_add_bytes(&out, r.cell[i].text, r.cell[i].len);
			ls_str_add(&out, i + 1 < r.n ? "|" : "\n");
		}
	if (rc < 0)
		ls_str_add(&out, err.msg);
	ls_csv_free(csv);
	ls_source_free(s);
	return ls_str_take(&out);
}

static void expect(const char *text, const char *want)
{
	for (size_t slice = 1; slice < 64; slice = slice * 3 + 1) {
		char *got = cells(text, strlen(text), slice);
		assert_string_equal(got, want);
		free(got);
	}
}

static void test_cells(void **state)
{
	(void)state;
	expect("", "");
	expect("\n\n", "");
	expect("a,b\n1,2\n", "a|b\n1|2\n");
	expect("a,b\r\n1,2", "a|b\n1|2\n");
	expect("\xef\xbb\xbf"
	       "a,b\n",
	       "a|b\n");
	expect("a,\n,b\n,\n", "a|\n|b\n|\n");
	expect("a;b\n1,5;2\n", "a|b\n1,5|2\n");
	expect("a\tb\nx y\t2\n", "a|b\nx y|2\n");
	expect("\"a,b\",c\n", "a,b|c\n");
	expect("\"a;b\";c\n", "a;b|c\n");
	expect("\"say \"\"x\"\"\",\"\"\n", "say \"x\"|\n");
	expect("\"two\nlines\",b\nc,d\n", "two\nlines|b\nc|d\n");
	expect("5\" pipe,b\n", "5\" pipe|b\n");
	expect("\"\"\n", "\n");
}

static void test_bad_cells(void **state)
{
	(void)state;
	expect("a,b\n\"c", "a|b\nt:2: a quote is opened in this record and never closed");
	expect("a,b\n\nc,\"d\n\n", "a|b\nt:3: a quote is opened in this record and never closed");
	expect("\"a\"b,c\n", "t:1: text follows a closing quote; within quotes a quote is written "
			     "twice");
	expect("x,\"1\n2\"3\n", "t:2: text follows a closing quote; within quotes a quote is "
				"written twice");
	expect("a,b\rc\n", "t:1: a carriage return that ends no line");
	char *got = cells("a,b\nc\0,d\n", 9, 0);
	assert_string_equal(got, "a|b\nt:2: a zero byte: this is not text");
	free(got);
}

/* --- rows --- */

static struct ls_columns *columns(const char *label, const char *categorical, const char *numeric)
{
	struct ls_columns *c = ls_columns_new();
	struct ls_err err = {0};
	c->label = strdup(label);
	c->learn = true;
	if (categorical)
		assert_int_equal(ls_columns_add(c, categorical, false, &err), 0);
	if (numeric)
		assert_int_equal(ls_columns_add(c, numeric, true, &err), 0);
	return c;
}

static int load(const char *text, struct ls_columns *c, struct ls_data **ret, struct ls_err *err)
{
	struct ls_data_opts o = {.threads = 1, .columns = c, .need_labels = true};
	return ls_data_load_memory("t", text, strlen(text), &o, ret, err);
}

static void test_rows(void **state)
{
	(void)state;
	static const char table[] = "y,city,price,note\nyes,Rome,2.5,x\nno,\"Paris, F\",,y\n"
				    "yes,NA, 1 ,z\n";
	struct ls_columns *c = columns("y", "city", "price");
	struct ls_data *d;
	struct ls_err err = {0};
	assert_int_equal(load(table, c, &d, &err), 0);
	const struct ls_rows *r = ls_data_rows(d);
	uint32_t price = ls_feature_index(1337, 18, "price", NULL);
	assert_int_equal(r->n_rows, 3);
	assert_int_equal(r->n_entries, 4);
	assert_int_equal(r->feature[0], ls_feature_index(1337, 18, "city", "Rome"));
	assert_int_equal(r->feature[1], price);
	assert_int_equal(r->feature[2], ls_feature_index(1337, 18, "city", "Paris, F"));
	assert_int_equal(r->feature[3], price);
	assert_true(r->value[0] == 1 && r->value[1] == 2.5f && r->value[3] == 1);
	assert_true(r->field[0] == 0 && r->field[1] == 1 && r->n_fields == 2);
	assert_true(r->label[0] == 1 && r->label[1] == 0 && r->label[2] == 1);
	assert_string_equal(c->class[0], "no");
	assert_string_equal(ls_columns_feature(c, price), "price");
	assert_string_equal(ls_columns_feature(c, r->feature[2]), "city=Paris, F");
	assert_null(ls_columns_feature(c, price + 1));
	ls_data_free(d);
	ls_columns_free(c);
}

static void refuse(const char *text, const char *want)
{
	struct ls_columns *c = columns("y", "city", "price");
	struct ls_data *d;
	struct ls_err err = {0};
	assert_int_equal(load(text, c, &d, &err), LS_EINPUT);
	assert_string_equal(err.msg, want);
	ls_columns_free(c);
}

static void test_bad_rows(void **state)
{
	(void)state;
	refuse("", "t: the table is empty");
	refuse("y,city,price\n", "t: no rows below the header");
	refuse("y,city,prize\n1,a,2\n",
	       "t: there is no column \"price\"; its header, line 1, has: y, city, prize");
	refuse("y,city,city,price\n1,a,b,2\n", "t: two columns are called \"city\"");
	refuse("y,city,price\n1,a,2\n1,a,2,3\n",
	       "t:3: 4 cells, where the header has 3; a cell with a \",\" in it is written in "
	       "quotes");
	refuse("y,city,price\n1,a,much\n",
	       "t:2: \"much\" is not a number, in the numeric column \"price\"; a missing value is "
	       "an empty cell");
	refuse("y,city,price\n1,a,1e99\n",
	       "t:2: \"1e99\" is too large for a 32-bit float, in the numeric column \"price\"; a "
	       "missing value is an empty cell");
	refuse("y,city,price\n,a,2\n", "t:2: \"\" is no label: every row must have one");
	refuse("y,city,price\n1,a,2\nno,a,2\n",
	       "t:3: \"no\" is a label in words, and line 2 has one in numbers: all in words are "
	       "classes, all in numbers what they are");
	refuse("y,city,price\nno,a,2\n\n1,a,2\n",
	       "t:4: \"1\" is a label in numbers, and line 2 has one in words: all in words are "
	       "classes, all in numbers what they are");
}

/* A second table by the description of the first, through its file. */
static void test_again(void **state)
{
	(void)state;
	struct ls_columns *c = columns("y", "city", "price"), *again;
	struct ls_data *d;
	struct ls_err err = {0};
	char path[] = "/tmp/ls-columns-XXXXXX";
	assert_int_equal(load("y,city,price\nb,Rome,1\na,Rome,1\n", c, &d, &err), 0);
	ls_data_free(d);
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(ls_columns_save(c, path, &err), 0);
	assert_int_equal(ls_columns_load(path, &again, &err), 0);
	unlink(path);
	assert_int_equal(again->n_classes, 2);
	assert_int_equal(again->n_names, 2);
	assert_int_equal(load("price,y,city\n1,b,Oslo\n", again, &d, &err), 0);
	assert_true(ls_data_rows(d)->label[0] == 1);
	ls_data_free(d);
	assert_int_equal(load("price,y,city\n1,c,Oslo\n", again, &d, &err), LS_EINPUT);
	assert_string_equal(err.msg, "t:2: \"c\" is a label that the first table did not have");
	ls_columns_free(again);
	ls_columns_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash),      cmocka_unit_test(test_cells),
		cmocka_unit_test(test_bad_cells), cmocka_unit_test(test_rows),
		cmocka_unit_test(test_bad_rows),  cmocka_unit_test(test_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
