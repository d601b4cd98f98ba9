/* labels: threads isa */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <signal.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/mem.h"
#include "fm/data/data.h"
#include "fm/data/lsd.h"
#include "fm/data/lsd_format.h"
#include "fm/data/source.h"
#include "fm/data/text.h"

#define DATA LS_SOURCE_DIR "/tests/data/"

static char folder[] = "/tmp/ls-lsd-XXXXXX", path[64];

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof path, "%s/x.lsd", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder); /* fails when a test left anything else behind */
}

static void convert(const char *from, const struct ls_data_opts *o)
{
	struct ls_err err;
	if (ls_data_convert(from, o, path, &err))
		fail_msg("%s", err.msg);
}

static void read_back(uint8_t **ret, size_t *ret_len)
{
	char *bytes = NULL;
	struct ls_err err;
	assert_int_equal(ls_file_read(path, 1 << 24, &bytes, ret_len, &err), 0);
	*ret = ls_xalloc(*ret_len +
			 8); /* calloc aligns as a page boundary would for our purposes */
	memcpy(*ret, bytes, *ret_len);
	free(bytes);
}

static void digest(const char *file, char hex[65])
{
	struct ls_data *d = NULL;
	struct ls_err err;
	if (ls_data_load(file, NULL, &d, &err))
		fail_msg("%s", err.msg);
	ls_data_digest(d, hex);
	ls_data_free(d);
}

static void round_trips(void **state)
{
	(void)state;
	static const char *const files[] = {DATA "small.ffm", DATA "small-valid.svm",
					    DATA "regression.svm", DATA "multiclass.svm",
					    DATA "unlabelled.svm"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char text[65], lsd[65];
		uint8_t *first = NULL, *again = NULL;
		size_t len = 0, len2 = 0;
		convert(files[i], NULL);
		read_back(&first, &len);
		digest(files[i], text);
		digest(path, lsd);
		assert_string_equal(text, lsd);
		for (int threads = 1; threads < 8; threads += 3) {
			struct ls_data_opts o = {.threads = threads, .slice_bytes = 333};
			convert(files[i], &o);
			read_back(&again, &len2);
			assert_int_equal(len, len2);
			assert_memory_equal(first, again, len);
			free(again);
		}
		convert(path, NULL); /* from .lsd to .lsd, over itself */
		read_back(&again, &len2);
		assert_int_equal(len, len2);
		assert_memory_equal(first, again, len);
		free(again);
		free(first);
	}
}

static int view_by(int threads, const uint8_t *bytes, size_t len, struct ls_err *err)
{
	struct ls_map map = {bytes, len};
	struct ls_rows rows;
	return ls_lsd_view("t", &map, threads, &rows, err);
}

static int view(const uint8_t *bytes, size_t len, struct ls_err *err)
{
	return view_by(2, bytes, len, err);
}

static void any_changed_byte_is_refused(void **state)
{
	(void)state;
	uint8_t *b = NULL;
	size_t len = 0;
	struct ls_err err;
	convert(DATA "regression.svm", NULL);
	read_back(&b, &len);
	assert_int_equal(view(b, len, &err), 0);
	for (size_t i = 0; i < len; i += i < 256 ? 1 : 37) {
		b[i] ^= 0x10;
		/* mostly by one thread: to start another takes longer than to look, most
		 * of all under emulation */
		assert_int_equal(view_by(i % 8 ? 1 : 2, b, len, &err), LS_EINPUT);
		b[i] ^= 0x10;
	}
	for (size_t cut = 0; cut < len; cut += cut < 64 ? 1 : 501)
		assert_int_equal(view(b, cut, &err), LS_EINPUT);
	assert_int_equal(view(b, len, &err), 0);
	free(b);
}

/* Makes the checksums of changed bytes right again, as a forger would. */
static void forge(uint8_t *b)
{
	struct ls_lsd_header *h = (void *)b;
	for (int i = 0; i < LS_LSD_SECTIONS; i++) {
		uint64_t sums[8], n = 0, bytes = h->section[i].bytes;
		for (uint64_t at = 0; at < bytes; at += LS_LSD_CHUNK) {
			uint64_t left = bytes - at;
			assert_true(n < 8);
			sums[n++] = ls_xxh64(b + h->section[i].offset + at,
					     left < LS_LSD_CHUNK ? left : LS_LSD_CHUNK);
		}
		h->section[i].checksum = n ? ls_xxh64(sums, n * sizeof *sums) : 0;
	}
	h->checksum = ls_lsd_header_sum(h);
}

static void refused_with(uint8_t *b, size_t len, const char *message)
{
	struct ls_err err = {0};
	int rc = view(b, len, &err);
	if (rc != LS_EINPUT || strcmp(err.msg, message) != 0)
		fail_msg("status %d, message \"%s\", expected \"%s\"", rc, err.msg, message);
}

static void forged_headers_are_refused(void **state)
{
	(void)state;
	static const uint64_t wrong[] = {
		0, 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_C(1) << 61, UINT64_MAX};
	uint8_t *b = NULL;
	size_t len = 0;
	convert(DATA "regression.svm", NULL);
	read_back(&b, &len);
	struct ls_lsd_header *h = (void *)b, kept = *h;
	uint64_t *const fields[] = {&h->n_rows,
				    &h->n_entries,
				    &h->section[0].offset,
				    &h->section[1].bytes,
				    &h->section[1].offset,
				    &h->section[3].bytes,
				    &h->section[5].offset,
				    &h->section[4].bytes,
				    &h->section[2].zero,
				    &h->section[5].zero,
				    &h->zero};
	for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
		for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
			struct ls_err err;
			*fields[f] = wrong[w];
			h->checksum = ls_lsd_header_sum(h);
			if (memcmp(&kept, h, sizeof kept) != 0)
				assert_int_equal(view(b, len, &err), LS_EINPUT);
			*h = kept;
		}
	h->version = 2;
	forge(b);
	refused_with(b, len, "t: .lsd version 2; this program reads version 1");
	*h = kept;
	h->n_fields = 70000;
	forge(b);
	refused_with(b, len, "t: the header contradicts itself; convert the data again");
	*h = kept;
	h->header_bytes = 8192;
	forge(b);
	refused_with(b, len, "t: the header contradicts itself; convert the data again");
	*h = kept;
	h->n_sections = 5;
	forge(b);
	refused_with(b, len, "t: the header contradicts itself; convert the data again");
	*h = kept;
	h->padding[sizeof h->padding - 1] = 1;
	forge(b);
	refused_with(b, len, "t: the header contradicts itself; convert the data again");
	*h = kept;
	h->n_features = 61;
	forge(b);
	refused_with(b, len, "t: the feature section holds impossible numbers");
	*h = kept;
	h->file_bytes += 4096;
	forge(b);
	refused_with(b, len, "t: 61440 bytes where 65536 were written; convert the data again");
	free(b);
}

static void forged_contents_are_refused(void **state)
{
	(void)state;
	uint8_t *b = NULL;
	size_t len = 0;
	convert(DATA "regression.svm", NULL);
	read_back(&b, &len);
	const struct ls_lsd_header *h = (const void *)b;
	uint64_t *start = (void *)(b + h->section[LS_LSD_START].offset);
	uint32_t *feature = (void *)(b + h->section[LS_LSD_FEATURE].offset);
	float *value = (void *)(b + h->section[LS_LSD_VALUE].offset);
	float *label = (void *)(b + h->section[LS_LSD_LABEL].offset);
	float *weight = (void *)(b + h->section[LS_LSD_WEIGHT].offset);
	struct {
		void *place;
		uint64_t bits;
		size_t size;
		const char *section;
	} const forgeries[] = {
		{&start[0], 1, 8, "start"},
		{&start[5], UINT64_MAX, 8, "start"},
		{&start[5], 0, 8, "start"},
		{&start[600], 4517, 8, "start"},
		{&start[600], UINT64_MAX, 8, "start"},
		{&feature[17], 60, 4, "feature"},
		{&feature[4517], UINT32_MAX, 4, "feature"},
		{&value[3], 0x7fc00000, 4, "value"},
		{&value[4517], 0xff800000, 4, "value"},
		{&label[0], 0x7f800000, 4, "label"},
		{&weight[7], 0xbf800000, 4, "weight"},
		{&weight[599], 0x7fc00001, 4, "weight"},
	};
	for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++) {
		uint64_t kept = 0;
		char message[128];
		memcpy(&kept, forgeries[i].place, forgeries[i].size);
		memcpy(forgeries[i].place, &forgeries[i].bits, forgeries[i].size);
		forge(b);
		snprintf(message, sizeof message, "t: the %s section holds impossible numbers",
			 forgeries[i].section);
		refused_with(b, len, message);
		memcpy(forgeries[i].place, &kept, forgeries[i].size);
	}
	forge(b);
	struct ls_err err;
	assert_int_equal(view(b, len, &err), 0); /* forge itself makes nothing bad */
	free(b);
}

static void forged_fields_are_refused(void **state)
{
	(void)state;
	uint8_t *b = NULL;
	size_t len = 0;
	struct ls_err err;
	convert(DATA "small-valid.ffm", NULL);
	read_back(&b, &len);
	struct ls_lsd_header *h = (void *)b;
	uint16_t *field = (void *)(b + h->section[LS_LSD_FIELD].offset), kept = field[0];
	field[0] = (uint16_t)h->n_fields;
	forge(b);
	refused_with(b, len, "t: the field section holds impossible numbers");
	field[0] = kept;
	h->n_fields++;
	forge(b);
	refused_with(b, len, "t: the field section holds impossible numbers");
	h->n_fields--;
	forge(b);
	assert_int_equal(view(b, len, &err), 0);
	uint8_t *behind = b + h->section[LS_LSD_FIELD].offset + h->section[LS_LSD_FIELD].bytes;
	assert_true((behind - b) % LS_LSD_PAGE);
	*behind = 1; /* no checksum knows of it */
	refused_with(b, len, "t: damaged: the field section does not match its checksum");
	free(b);
}

static void write_rows(const struct ls_rows *rows)
{
	struct ls_lsd_writer *w = NULL;
	struct ls_err err;
	assert_int_equal(ls_lsd_create(path, &w, &err), 0);
	assert_int_equal(ls_lsd_add(w, rows, &err), 0);
	if (ls_lsd_commit(w, &err))
		fail_msg("%s", err.msg);
}

/* Rows without entries have no features, whatever the header says. */
static void no_entries_no_features(void **state)
{
	(void)state;
	static const uint64_t start[3];
	static const uint32_t feature[1];
	static const float label[] = {1, 0};
	uint8_t *b = NULL;
	size_t len = 0;
	struct ls_err err;
	write_rows(&(struct ls_rows){
		.n_rows = 2, .n_features = 9, .start = start, .feature = feature, .label = label});
	read_back(&b, &len);
	struct ls_lsd_header *h = (void *)b;
	assert_int_equal(h->n_features, 0);
	assert_int_equal(view(b, len, &err), 0);
	h->n_features = 1;
	forge(b);
	refused_with(b, len, "t: the header contradicts itself; convert the data again");
	free(b);
}

/* Other forms of data without rows are refused, too. */
static void no_rows(void **state)
{
	(void)state;
	struct ls_lsd_writer *w = NULL;
	struct ls_data *d = NULL;
	struct ls_err err;
	char want[128];
	assert_int_equal(ls_lsd_create(path, &w, &err), 0);
	assert_int_equal(ls_lsd_commit(w, &err), 0);
	assert_int_equal(ls_data_load(path, NULL, &d, &err), LS_EINPUT);
	snprintf(want, sizeof want, "%s: no rows", path);
	assert_string_equal(err.msg, want);
}

/* What holds within a chunk holds from one to the next, too. */
static void chunks_are_one_section(void **state)
{
	(void)state;
	enum { ROWS = LS_LSD_CHUNK / 8 + 1000, ENTRIES = 2 * ROWS, EDGE = LS_LSD_CHUNK / 8 };
	uint64_t *start = ls_xalloc((ROWS + 1) * sizeof *start);
	uint32_t *feature = ls_xalloc(ENTRIES * sizeof *feature);
	uint8_t *b = NULL;
	size_t len = 0;
	struct ls_err err;
	for (uint64_t i = 0; i <= ROWS; i++)
		start[i] = 2 * i;
	feature[3] = 7; /* the largest is in the first chunk */
	write_rows(&(struct ls_rows){.n_rows = ROWS,
				     .n_entries = ENTRIES,
				     .n_features = 8,
				     .start = start,
				     .feature = feature});
	read_back(&b, &len);
	if (view(b, len, &err))
		fail_msg("%s", err.msg);
	const struct ls_lsd_header *h = (const void *)b;
	uint64_t *got = (void *)(b + h->section[LS_LSD_START].offset);
	got[EDGE] = got[EDGE - 1] - 1;
	forge(b);
	refused_with(b, len, "t: the start section holds impossible numbers");
	got[EDGE] = 2 * EDGE;
	got[5] = 100; /* in a chunk that is not the last */
	forge(b);
	refused_with(b, len, "t: the start section holds impossible numbers");
	got[5] = 10;
	got[ROWS] = ENTRIES - 1; /* ascending, but not to the end */
	forge(b);
	refused_with(b, len, "t: the start section holds impossible numbers");
	free(b);
	free(start);
	free(feature);
}

/* Rows whose arrays begin before them. */
static void parts_from_the_middle(void **state)
{
	(void)state;
	static const uint64_t start[] = {2, 3, 5};
	static const uint32_t feature[] = {9, 9, 4, 5, 6};
	static const uint16_t field[] = {9, 9, 1, 2, 3};
	static const float value[] = {9, 9, 2, 1, 0.5F}, label[] = {1, 0}, weight[] = {1, 2};
	struct ls_rows part = {.n_rows = 2,
			       .n_entries = 3,
			       .n_features = 7,
			       .n_fields = 4,
			       .start = start,
			       .feature = feature,
			       .field = field,
			       .value = value,
			       .label = label,
			       .weight = weight};
	struct ls_data *d = NULL;
	struct ls_err err;
	write_rows(&part);
	if (ls_data_load(path, NULL, &d, &err))
		fail_msg("%s", err.msg);
	const struct ls_rows *r = ls_data_rows(d);
	assert_int_equal(r->start[1], 1);
	assert_int_equal(r->start[2], 3);
	assert_memory_equal(r->feature, feature + 2, 3 * sizeof *feature);
	assert_memory_equal(r->field, field + 2, 3 * sizeof *field);
	assert_memory_equal(r->value, value + 2, 3 * sizeof *value);
	assert_memory_equal(r->weight, weight, sizeof weight);
	ls_data_free(d);
}

static void largest_numbers(void **state)
{
	(void)state;
	static const uint64_t start[] = {0, 2};
	static const uint32_t feature[] = {UINT32_MAX, 0};
	static const uint16_t field[] = {0, UINT16_MAX};
	struct ls_data *d = NULL;
	struct ls_err err;
	write_rows(&(struct ls_rows){.n_rows = 1,
				     .n_entries = 2,
				     .n_features = UINT64_C(1) << 32,
				     .n_fields = 1 << 16,
				     .start = start,
				     .feature = feature,
				     .field = field});
	if (ls_data_load(path, NULL, &d, &err))
		fail_msg("%s", err.msg);
	assert_true(ls_data_rows(d)->n_features == UINT64_C(1) << 32);
	assert_int_equal(ls_data_rows(d)->n_fields, 1 << 16);
	assert_memory_equal(ls_data_rows(d)->feature, feature, sizeof feature);
	ls_data_free(d);
}

/* The largest feature and field may be in any part. */
static void counts_are_of_all_parts(void **state)
{
	(void)state;
	static const uint64_t start[] = {0, 1};
	static const uint32_t feature[] = {6, 2};
	static const uint16_t field[] = {3, 1};
	struct ls_rows part = {
		.n_rows = 1, .n_entries = 1, .n_features = 7, .n_fields = 4, .start = start};
	struct ls_lsd_writer *w = NULL;
	struct ls_data *d = NULL;
	struct ls_err err;
	assert_int_equal(ls_lsd_create(path, &w, &err), 0);
	for (int i = 0; i < 2; i++) {
		part.feature = feature + i;
		part.field = field + i;
		assert_int_equal(ls_lsd_add(w, &part, &err), 0);
		part.n_features = 3;
		part.n_fields = 2;
	}
	assert_int_equal(ls_lsd_commit(w, &err), 0);
	if (ls_data_load(path, NULL, &d, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(ls_data_rows(d)->n_features, 7);
	assert_int_equal(ls_data_rows(d)->n_fields, 4);
	ls_data_free(d);
}

/* Values and weights that differ from 1 only late: the ones before them are written
 * then. */
static void parts_add_up(void **state)
{
	(void)state;
	static const uint64_t start[] = {0, 2, 3};
	static const uint32_t feature[] = {4, 5, 6};
	static const float value[] = {1, 1, 2.5F}, label[] = {1, 0}, weight[] = {1, 0.5F};
	struct ls_rows plain = {2, 3, 7, 0, start, feature, NULL, NULL, label, NULL, NULL},
		       odd = plain;
	struct ls_lsd_writer *w = NULL;
	struct ls_err err;
	odd.value = value;
	odd.weight = weight;
	assert_int_equal(ls_lsd_create(path, &w, &err), 0);
	for (int i = 0; i < 3000; i++)
		assert_int_equal(ls_lsd_add(w, i == 2000 ? &odd : &plain, &err), 0);
	assert_int_equal(ls_lsd_commit(w, &err), 0);
	struct ls_data *d = NULL;
	assert_int_equal(ls_data_load(path, NULL, &d, &err), 0);
	const struct ls_rows *r = ls_data_rows(d);
	assert_int_equal(r->n_rows, 6000);
	assert_int_equal(r->n_entries, 9000);
	assert_int_equal(r->start[4001], 6002);
	for (uint64_t i = 0; i < 9000; i++)
		assert_true(r->value[i] == (i == 6002 ? 2.5F : 1) &&
			    r->feature[i] == feature[i % 3]);
	for (uint64_t i = 0; i < 6000; i++)
		assert_true(r->weight[i] == (i == 4001 ? 0.5F : 1) && r->label[i] == label[i % 2]);
	ls_data_free(d);
}

/* Larger than a chunk: sections that went through the disk. */
static void sections_of_several_chunks(void **state)
{
	(void)state;
	enum { N = 3 << 20 };
	uint32_t *feature = ls_xalloc(N * sizeof *feature);
	uint64_t start[] = {0, N};
	float label[] = {1};
	for (uint32_t i = 0; i < N; i++)
		feature[i] = i * 2654435761U;
	struct ls_rows rows = {1,    N,   UINT64_C(1) << 32, 0, start, feature, NULL, NULL, label,
			       NULL, NULL};
	uint32_t max = 0;
	for (uint32_t i = 0; i < N; i++)
		max = feature[i] > max ? feature[i] : max;
	rows.n_features = (uint64_t)max + 1;
	struct ls_lsd_writer *w = NULL;
	struct ls_err err;
	assert_int_equal(ls_lsd_create(path, &w, &err), 0);
	assert_int_equal(ls_lsd_add(w, &rows, &err), 0);
	assert_int_equal(ls_lsd_commit(w, &err), 0);
	struct ls_data *d = NULL;
	if (ls_data_load(path, NULL, &d, &err))
		fail_msg("%s", err.msg);
	assert_memory_equal(ls_data_rows(d)->feature, feature, N * sizeof *feature);
	ls_data_free(d);
	free(feature);
}

/* A disk that fills up: an error, and nothing left in the folder (tear_down sees to
 * that). */
static void no_space(void **state)
{
	(void)state;
	struct ls_err err;
	struct rlimit old, low;
	unlink(path);
	getrlimit(RLIMIT_FSIZE, &old);
	low = old;
	low.rlim_cur = 20000;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &low);
	int rc = ls_data_convert(DATA "small.ffm", NULL, path, &err);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(rc, LS_EIO);
	assert_false(ls_file_exists(path));
}

static void failed_input_leaves_the_old_file(void **state)
{
	(void)state;
	struct ls_err err;
	char before[65], after[65];
	convert(DATA "regression.svm", NULL);
	digest(path, before);
	assert_int_equal(ls_data_convert(LS_SOURCE_DIR "/check", NULL, path, &err), LS_EINPUT);
	assert_int_equal(ls_data_convert("/dev/null", NULL, path, &err), LS_EINPUT);
	digest(path, after);
	assert_string_equal(before, after);
}

/* Fields are looked for in all slices, not only in the last, whose rows have no
 * entries. */
static void fields_anywhere(void **state)
{
	(void)state;
	char text[80];
	struct ls_data_opts o = {.want_fields = true, .slice_bytes = 4};
	snprintf(text, sizeof text, "%s/x.ffm", folder);
	FILE *f = fopen(text, "w");
	assert_non_null(f);
	for (int i = 0; i < 100; i++) /* more than the last slice takes along */
		assert_true(fputs(i ? "0\n" : "1 0:3:1\n", f) >= 0);
	assert_int_equal(fclose(f), 0);
	convert(text, &o);
	unlink(text);
}

/* --- files that are written to --- */

/* Clocks of files are coarse: what is written next is not of this time. */
static void make_old(const char *file)
{
	struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	assert_int_equal(utimensat(AT_FDCWD, file, long_ago, 0), 0);
}

static void put(const char *file, long at, const void *bytes, size_t len)
{
	FILE *f = fopen(file, "r+");
	assert_non_null(f);
	assert_int_equal(fseek(f, at, SEEK_SET), 0);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static struct ls_data *load_old(void)
{
	struct ls_data *d = NULL;
	make_old(path);
	assert_int_equal(ls_data_load(path, NULL, &d, NULL), 0);
	assert_int_equal(ls_data_unchanged(d, NULL), 0);
	return d;
}

static void expect_changed(struct ls_data *d)
{
	struct ls_err err;
	assert_int_equal(ls_data_unchanged(d, &err), LS_EINPUT);
	assert_non_null(strstr(err.msg, "x.lsd: was written to while it was in use"));
	ls_data_free(d);
}

static void rows_in_use_are_watched(void **state)
{
	(void)state;
	uint8_t *b;
	size_t len;
	convert(DATA "small.svm", NULL);
	read_back(&b, &len);
	struct ls_data *d = load_old();
	put(path, 0, b, len); /* the same bytes */
	assert_int_equal(ls_data_unchanged(d, NULL), 0);
	make_old(path); /* another time */
	assert_int_equal(ls_data_unchanged(d, NULL), 0);
	put(path, 5000, &(uint8_t){(uint8_t)(b[5000] ^ 1)}, 1);
	assert_int_equal(ls_data_unchanged(d, NULL), LS_EINPUT);
	assert_int_equal(ls_data_unchanged(d, NULL),
			 LS_EINPUT); /* who asks again is not told otherwise */
	put(path, 0, b, len);
	expect_changed(d); /* nor once it is mended: the others may have been used */
	d = load_old();
	float *label =
		(void *)(b + ((struct ls_lsd_header *)(void *)b)->section[LS_LSD_LABEL].offset);
	label[0] = 1 - label[0];
	forge(b);
	put(path, 0, b, len); /* another file, whole and as long */
	expect_changed(d);
	free(b);
}

/* What is mapped stays what it was. */
static void a_file_in_use_may_be_replaced(void **state)
{
	(void)state;
	convert(DATA "small.svm", NULL);
	struct ls_data *d = load_old();
	convert(DATA "regression.svm", NULL);
	assert_int_equal(ls_data_unchanged(d, NULL), 0);
	ls_data_free(d);
}

/* Writes to the file of its name once a block is read. */
static int write_more(void *context, struct ls_block *b, struct ls_err *err)
{
	(void)b;
	(void)err;
	put(context, 0, "0", 1);
	return 0;
}

static void text_is_watched_while_it_is_read(void **state)
{
	(void)state;
	char text[80];
	struct ls_err err;
	struct ls_source *s;
	snprintf(text, sizeof text, "%s/x.svm", folder);
	for (int bad = 0; bad < 2; bad++) { /* a mistake in it may be what was written */
		assert_int_equal(ls_file_write_atomic(text, bad ? "1 1:1\n1 x\n" : "1 1:1\n1 2:1\n",
						      bad ? 10 : 12, &err),
				 0);
		make_old(text);
		assert_int_equal(ls_source_open(text, 0, &s, &err), 0);
		if (bad)
			put(text, 0, "0", 1);
		assert_int_equal(ls_text_read(s, LS_TEXT_UNKNOWN, 1, write_more, text, &err),
				 LS_EINPUT);
		assert_non_null(strstr(err.msg, "x.svm: was written to while it was read"));
		ls_source_free(s);
	}
	unlink(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trips),
		cmocka_unit_test(any_changed_byte_is_refused),
		cmocka_unit_test(forged_headers_are_refused),
		cmocka_unit_test(forged_contents_are_refused),
		cmocka_unit_test(forged_fields_are_refused),
		cmocka_unit_test(no_entries_no_features),
		cmocka_unit_test(no_rows),
		cmocka_unit_test(chunks_are_one_section),
		cmocka_unit_test(parts_from_the_middle),
		cmocka_unit_test(largest_numbers),
		cmocka_unit_test(counts_are_of_all_parts),
		cmocka_unit_test(parts_add_up),
		cmocka_unit_test(sections_of_several_chunks),
		cmocka_unit_test(fields_anywhere),
		cmocka_unit_test(no_space),
		cmocka_unit_test(failed_input_leaves_the_old_file),
		cmocka_unit_test(rows_in_use_are_watched),
		cmocka_unit_test(a_file_in_use_may_be_replaced),
		cmocka_unit_test(text_is_watched_while_it_is_read),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
