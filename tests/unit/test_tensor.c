/* The readers and the writer of tensor files, on images made here; what the real
 * libraries write is tested by tests/tensor/real.py. labels: isa */
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

#include "base/digest.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "tensor/cursor.h"
#include "tensor/npy.h"
#include "tensor/safetensors.h"
#include "tensor/zip.h"

static char folder[] = "/tmp/ls-tensor-XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[256];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command);
}

static const float four[4] = {1, 2.5f, -0.0f, 1e-40f};
static const uint8_t three[3] = {0, 1, 1};

static void sample(struct ls_tensor t[2])
{
	t[0] = (struct ls_tensor){
		.name = "w \"é", .dtype = LS_DT_F32, .elem_size = 4, .data = (const uint8_t *)four};
	t[1] = (struct ls_tensor){
		.name = "mask", .dtype = LS_DT_BOOL, .elem_size = 1, .data = three};
	assert_int_equal(ls_tensor_set_contiguous(&t[0], (uint64_t[]){2, 2}, 2, NULL), 0);
	assert_int_equal(ls_tensor_set_contiguous(&t[1], (uint64_t[]){3}, 1, NULL), 0);
}

static void safetensors_round_trip(void **state)
{
	(void)state;
	struct ls_tensor t[2];
	struct ls_err err;
	struct ls_bundle *b;
	const struct ls_kv meta[] = {{"format", "pt"}, {"a", "b\n"}};
	sample(t);
	assert_int_equal(
		ls_safetensors_write(in_folder("a.safetensors"), t, 2, meta, 2, NULL, &err), 0);
	assert_int_equal(ls_safetensors_open(in_folder("a.safetensors"), &b, &err), 0);
	assert_int_equal(b->n_tensors, 2);
	assert_string_equal(b->tensors[0].name, t[0].name);
	assert_memory_equal(b->tensors[0].data, four, sizeof four);
	assert_int_equal(((uintptr_t)b->tensors[0].data) % 8, 0);
	struct ls_tensor *mask = ls_bundle_find(b, "mask");
	assert_int_equal(mask->dtype, LS_DT_BOOL);
	assert_memory_equal(mask->data, three, sizeof three);
	assert_null(ls_bundle_find(b, "none"));
	assert_string_equal(ls_bundle_meta(b, "a"), "b\n");
	ls_bundle_free(b);
	char hex[LS_SHA256_HEX]; /* the writer's bytes are a promise */
	assert_int_equal(ls_sha256_file(in_folder("a.safetensors"), hex, &err), 0);
	assert_string_equal(hex,
			    "037562ad61a17870c3e19025f90567c222f5606bd35c6bcb6ad99c3d41c64150");
}

static void safetensors_writer_refuses(void **state)
{
	(void)state;
	struct ls_tensor t[2];
	struct ls_err err;
	sample(t);
	t[1].name = t[0].name;
	assert_int_equal(ls_safetensors_write(in_folder("x"), t, 2, NULL, 0, NULL, &err),
			 LS_EINTERNAL);
	t[1].name = "\xff";
	assert_int_equal(ls_safetensors_write(in_folder("x"), t, 2, NULL, 0, NULL, &err),
			 LS_EINTERNAL);
	sample(t);
	t[0].swapped = true;
	assert_int_equal(ls_safetensors_write(in_folder("x"), t, 2, NULL, 0, NULL, &err),
			 LS_EINTERNAL);
	assert_false(ls_file_exists(in_folder("x")));
}

/* A view with gaps is written as the packed tensor it stands for. */
static void safetensors_packs_strided(void **state)
{
	(void)state;
	static const float padded[2][2][4] = {{{1, 2, 3}, {4, 5, 6}}, {{7, 8, 9}, {10, 11, 12}}};
	static const float packed[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
	struct ls_tensor t = {
		.name = "v", .dtype = LS_DT_F32, .elem_size = 4, .data = (const uint8_t *)padded};
	struct ls_err err = {0};
	struct ls_bundle *b;
	assert_int_equal(ls_tensor_set_contiguous(&t, (uint64_t[]){2, 2, 3}, 3, &err), 0);
	t.stride[0] = 8;
	t.stride[1] = 4;
	assert_int_equal(ls_safetensors_write(in_folder("strided"), &t, 1, NULL, 0, NULL, &err), 0);
	assert_int_equal(ls_safetensors_open(in_folder("strided"), &b, &err), 0);
	assert_int_equal(b->tensors[0].nbytes, sizeof packed);
	assert_memory_equal(b->tensors[0].data, packed, sizeof packed);
	ls_bundle_free(b);
}

/* Builds length + header + data and parses it; the message must hold the word. */
static void refuse_header(const char *header, size_t claim, size_t data, const char *word)
{
	size_t len = strlen(header), total = 8 + len + data;
	uint8_t *image = ls_xalloc(total);
	for (int i = 0; i < 8; i++)
		image[i] = (uint8_t)((uint64_t)(claim ? claim : len) >> (8 * i));
	memcpy(image + 8, header, len);
	struct ls_bundle *b = ls_bundle_new("safetensors");
	struct ls_err err = {0};
	int rc = ls_safetensors_parse(b, image, total, "f", &err);
	if (rc == 0)
		rc = ls_bundle_seal(b, "f", &err);
	if (rc != LS_EINPUT || !strstr(err.msg, word))
		fail_msg("%s\nexpected a refusal with \"%s\", got %d: %s", header, word, rc,
			 err.msg);
	ls_bundle_free(b);
	free(image);
}

static void safetensors_refuses(void **state)
{
	(void)state;
	refuse_header("{}", 1 << 20, 0, "cut short");
	refuse_header("{}", (size_t)10 << 30, 0, "the format allows");
	refuse_header("[]", 0, 0, "does not begin");
	refuse_header("{\"a\":", 0, 0, "not valid JSON");
	refuse_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\"a\":{}}",
		      0, 8, "duplicate");
	refuse_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", 0, 8,
		      "do not hold");
	refuse_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", 0, 8,
		      "do not hold");
	refuse_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 0, 4,
		      "has only 4");
	refuse_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 0, 9,
		      "after the last");
	refuse_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}", 0, 12,
		      "hole");
	refuse_header("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
		      "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}",
		      0, 3, "inside another");
	refuse_header("{\"a\":{\"dtype\":\"Q7\",\"shape\":[2],\"data_offsets\":[0,8]}}", 0, 8,
		      "unknown dtype");
	refuse_header("{\"a\":{\"dtype\":\"U8\",\"shape\":[-2],\"data_offsets\":[0,8]}}", 0, 8,
		      "whole number");
	refuse_header("{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]}}", 0, 2,
		      "whole byte");
	refuse_header("{\"a\":{\"dtype\":\"U8\",\"shape\":[4611686018427387904,4],\"data_offsets\":"
		      "[0,0]}}",
		      0, 0, "memory");
	refuse_header("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2],\"x\":1}}", 0,
		      2, "unknown key");
	refuse_header("{\"__metadata__\":{\"a\":1}}", 0, 0, "only strings");
}

static void safetensors_shards(void **state)
{
	(void)state;
	struct ls_tensor t[2];
	struct ls_err err;
	struct ls_bundle *b;
	sample(t);
	assert_int_equal(
		ls_safetensors_write(in_folder("1.safetensors"), &t[0], 1, NULL, 0, NULL, &err), 0);
	assert_int_equal(
		ls_safetensors_write(in_folder("2.safetensors"), &t[1], 1, NULL, 0, NULL, &err), 0);
	const char *index =
		"{\"weight_map\":{\"w \\\"é\":\"1.safetensors\",\"mask\":\"2.safetensors\"}}";
	char path[256];
	snprintf(path, sizeof path, "%s", in_folder("i.json"));
	assert_int_equal(ls_file_write_atomic(path, index, strlen(index), &err), 0);
	assert_int_equal(ls_safetensors_open_index(path, &b, &err), 0);
	assert_int_equal(b->n_tensors, 2);
	assert_memory_equal(ls_bundle_find(b, "mask")->data, three, 3);
	ls_bundle_free(b);
	const char *const wrong[][2] = {
		{"{\"weight_map\":{\"mask\":\"../2.safetensors\"}}", "plain file name"},
		{"{\"weight_map\":{\"mask\":\"1.safetensors\"}}", "the index says"},
		{"{\"weight_map\":{\"mask\":\"2.safetensors\",\"x\":\"2.safetensors\"}}",
		 "lists 2"},
		{"{}", "weight_map"}};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(ls_file_write_atomic(path, wrong[i][0], strlen(wrong[i][0]), &err),
				 0);
		assert_int_equal(ls_safetensors_open_index(path, &b, &err), LS_EINPUT);
		assert_non_null(strstr(err.msg, wrong[i][1]));
	}
}

static void put(struct ls_str *s, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		ls_str_add_bytes(s, (uint8_t[]){i < 8 ? (uint8_t)(v >> (8 * i)) : 0}, 1);
}

/* One zip member as a test wants it; everything may lie. */
struct fake {
	const char *name, *local_name;
	const void *data;
	size_t len;
	uint64_t claim;
	uint16_t method, flags;
	uint32_t crc;
	bool zip64;
	uint64_t at; /* filled */
};

static void fake_local(struct ls_str *s, struct fake *f)
{
	const char *name = f->local_name ? f->local_name : f->name;
	f->at = s->len;
	put(s, 0x04034b50, 4);
	put(s, 20, 2);
	put(s, f->flags, 2);
	put(s, f->method, 2);
	put(s, 0, 4);
	put(s, f->crc, 4);
	put(s, f->len, 4);
	put(s, f->claim, 4);
	put(s, strlen(name), 2);
	put(s, 0, 2);
	ls_str_add(s, name);
	ls_str_add_bytes(s, f->data, f->len);
}

static void fake_entry(struct ls_str *s, const struct fake *f)
{
	put(s, 0x02014b50, 4);
	put(s, 20, 2);
	put(s, 20, 2);
	put(s, f->flags, 2);
	put(s, f->method, 2);
	put(s, 0, 4);
	put(s, f->crc, 4);
	put(s, f->zip64 ? UINT32_MAX : f->len, 4);
	put(s, f->zip64 ? UINT32_MAX : f->claim, 4);
	put(s, strlen(f->name), 2);
	put(s, f->zip64 ? 28 : 0, 2);
	put(s, 0, 10);
	put(s, f->zip64 ? UINT32_MAX : f->at, 4);
	ls_str_add(s, f->name);
	if (f->zip64) {
		put(s, 1, 2);
		put(s, 24, 2);
		put(s, f->claim, 8);
		put(s, f->len, 8);
		put(s, f->at, 8);
	}
}

static void fake_zip(struct ls_str *s, struct fake *f, size_t n, bool zip64)
{
	for (size_t i = 0; i < n; i++)
		fake_local(s, &f[i]);
	uint64_t start = s->len;
	for (size_t i = 0; i < n; i++)
		fake_entry(s, &f[i]);
	uint64_t size = s->len - start, end = s->len;
	if (zip64) {
		put(s, 0x06064b50, 4);
		put(s, 44, 8);
		put(s, 0, 12);
		put(s, n, 8);
		put(s, n, 8);
		put(s, size, 8);
		put(s, start, 8);
		put(s, 0x07064b50, 4);
		put(s, 0, 4);
		put(s, end, 8);
		put(s, 1, 4);
	}
	put(s, 0x06054b50, 4);
	put(s, 0, 4);
	put(s, zip64 ? 0xffff : n, 2);
	put(s, zip64 ? 0xffff : n, 2);
	put(s, zip64 ? UINT32_MAX : size, 4);
	put(s, zip64 ? UINT32_MAX : start, 4);
	put(s, 0, 2);
}

static uint32_t crc_of(const void *data, size_t len)
{
	return (uint32_t)crc32(crc32(0, NULL, 0), data, (uInt)len);
}

static size_t deflate_raw(const void *data, size_t len, uint8_t *out, size_t room)
{
	z_stream z = {0};
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (Bytef *)(uintptr_t)data;
	z.avail_in = (uInt)len;
	z.next_out = out;
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	size_t n = room - z.avail_out;
	deflateEnd(&z);
	return n;
}

static void zip_reads(void **state)
{
	(void)state;
	uint8_t packed[256];
	char text[1000];
	memset(text, 'x', sizeof text);
	size_t n = deflate_raw(text, sizeof text, packed, sizeof packed);
	for (int zip64 = 0; zip64 < 2; zip64++) {
		struct fake f[] = {{"a/b", NULL, "hello", 5, 5, 0, 0, crc_of("hello", 5), zip64, 0},
				   {"c", NULL, packed, n, sizeof text, 8, 0,
				    crc_of(text, sizeof text), zip64, 0}};
		struct ls_str s = {0};
		struct ls_zip zip;
		struct ls_err err;
		fake_zip(&s, f, 2, zip64);
		assert_int_equal(ls_zip_parse((uint8_t *)s.s, s.len, "z", &zip, &err), 0);
		uint8_t *out;
		assert_int_equal(ls_zip_extract(ls_zip_find(&zip, "c"), 1000, &out, &err), 0);
		assert_memory_equal(out, text, sizeof text);
		free(out);
		assert_int_equal(ls_zip_extract(ls_zip_find(&zip, "c"), 999, &out, &err),
				 LS_EINPUT);
		assert_int_equal(ls_zip_extract(ls_zip_find(&zip, "a/b"), 1000, &out, &err), 0);
		assert_memory_equal(out, "hello", 5);
		free(out);
		assert_null(ls_zip_find(&zip, "hello"));
		ls_zip_done(&zip);
		ls_str_done(&s);
	}
}

static void refuse_zip(struct fake *f, size_t n, const char *word)
{
	struct ls_str s = {0};
	struct ls_zip zip;
	struct ls_err err = {0};
	fake_zip(&s, f, n, false);
	int rc = ls_zip_parse((uint8_t *)s.s, s.len, "z", &zip, &err);
	for (size_t i = 0; rc == 0 && i < zip.n; i++) {
		uint8_t *out;
		if ((rc = ls_zip_extract(&zip.members[i], 1 << 20, &out, &err)) == 0)
			free(out);
		else
			ls_zip_done(&zip);
	}
	if (rc != LS_EINPUT || !strstr(err.msg, word))
		fail_msg("expected a refusal with \"%s\", got %d: %s", word, rc, err.msg);
	ls_str_done(&s);
}

static void zip_refuses(void **state)
{
	(void)state;
	uint32_t crc = crc_of("hello", 5);
	refuse_zip(&(struct fake){"../evil", NULL, "hello", 5, 5, 0, 0, crc, 0, 0}, 1, "leads out");
	refuse_zip(&(struct fake){"a/../../evil", NULL, "hello", 5, 5, 0, 0, crc, 0, 0}, 1,
		   "leads out");
	refuse_zip(&(struct fake){"/etc/passwd", NULL, "hello", 5, 5, 0, 0, crc, 0, 0}, 1,
		   "leads out");
	refuse_zip(&(struct fake){"a\\b", NULL, "hello", 5, 5, 0, 0, crc, 0, 0}, 1, "leads out");
	refuse_zip(&(struct fake){"a", "b", "hello", 5, 5, 0, 0, crc, 0, 0}, 1, "named otherwise");
	refuse_zip(&(struct fake){"a", NULL, "hello", 5, 6, 0, 0, crc, 0, 0}, 1, "two sizes");
	refuse_zip(&(struct fake){"a", NULL, "hello", 5, 5, 0, 0, 1, 0, 0}, 1, "checksum");
	refuse_zip(&(struct fake){"a", NULL, "hello", 5, 5, 0, 1, crc, 0, 0}, 1, "encrypted");
	refuse_zip(&(struct fake){"a", NULL, "hello", 5, 5, 99, 0, crc, 0, 0}, 1, "method 99");
	refuse_zip(&(struct fake){"a", NULL, "\xff\xff\xff\xff\xff", 5, 5, 8, 0, crc, 0, 0}, 1,
		   "damaged");
	refuse_zip(&(struct fake){"a", NULL, "hello", 5, (uint64_t)10 << 30, 8, 0, crc, true, 0}, 1,
		   "unfold");
	uint8_t *zeros = ls_xalloc(1 << 20), packed[8192];
	size_t n = deflate_raw(zeros, 1 << 20, packed, sizeof packed);
	refuse_zip(&(struct fake){"a", NULL, packed, n, (1 << 20) - 1, 8, 0, 0, 0, 0}, 1,
		   "does not end");
	refuse_zip(&(struct fake){"a", NULL, packed, n - 8, 1 << 20, 8, 0, 0, 0, 0}, 1,
		   "cut short");
	refuse_zip(&(struct fake){"a", NULL, packed, n, (1 << 20) + 1, 8, 0, 0, 0, 0}, 1,
		   "at most");
	refuse_zip((struct fake[]){{"a", NULL, "hello", 5, 5, 0, 0, crc, 0, 0},
				   {"a", NULL, "hello", 5, 5, 0, 0, crc, 0, 0}},
		   2, "there twice");
	free(zeros);
}

static void zip_bomb_by_size(void **state)
{
	(void)state;
	/* 2 MiB that honestly unfold to 1 GiB: refused from the directory alone, nothing
	 * is inflated */
	size_t n = 2 << 20;
	uint8_t *data = ls_xalloc(n);
	refuse_zip(&(struct fake){"a", NULL, data, n, 1 << 30, 8, 0, 0, 0, 0}, 1, "bomb");
	free(data);
}

static void zip_members_do_not_overlap(void **state)
{
	(void)state;
	struct fake f[] = {{"a", NULL, "hello", 5, 5, 0, 0, 0, 0, 0},
			   {"b", NULL, "hello", 5, 5, 0, 0, 0, 0, 0}};
	struct ls_str s = {0};
	struct ls_zip zip;
	struct ls_err err;
	fake_zip(&s, f, 2, false);
	/* both entries now lead to the same local header, whose name is made to fit by
	 * naming both alike but for case
	 */
	char *second = s.s + s.len - 22 - 47;
	memcpy(second + 42, s.s + s.len - 22 - 94 + 42, 4);
	second[46] = 'a';
	assert_int_equal(ls_zip_parse((uint8_t *)s.s, s.len, "z", &zip, &err), LS_EINPUT);
	assert_non_null(strstr(err.msg, "shares"));
	ls_str_done(&s);
}

static size_t fake_npy(uint8_t *out, const char *dict, const void *data, size_t len)
{
	size_t n = strlen(dict);
	memcpy(out, "\x93NUMPY\1\0", 8);
	out[8] = (uint8_t)n;
	out[9] = (uint8_t)(n >> 8);
	memcpy(out + 10, dict, n);
	if (len)
		memcpy(out + 10 + n, data, len);
	return 10 + n + len;
}

static void npy_fortran_and_big_endian(void **state)
{
	(void)state;
	uint8_t image[256], out[12];
	const uint8_t stored[12] = {0, 1, 0, 4, 0, 2, 0,
				    5, 0, 3, 0, 6}; /* columns of [[1,2,3],[4,5,6]], big-endian */
	const uint8_t wanted[12] = {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0};
	size_t n = fake_npy(image, "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }  \n",
			    stored, 12),
	       start;
	struct ls_tensor t = {0};
	struct ls_err err;
	assert_int_equal(ls_npy_header(image, n, n, &t, &start, &err), 0);
	t.data = image + start;
	assert_int_equal(t.dtype, LS_DT_I16);
	struct ls_cursor *c = ls_cursor_new(&t);
	assert_int_equal(ls_cursor_read(c, out, 4, &err), 0); /* in pieces that do not fit rows */
	assert_int_equal(ls_cursor_read(c, out + 4, 8, &err), 0);
	ls_cursor_free(c);
	assert_memory_equal(out, wanted, 12);
	struct ls_bundle *b = ls_bundle_new("npy");
	assert_int_equal(ls_bundle_fetch(b, &t, 11, &err), LS_EINPUT);
	assert_int_equal(ls_bundle_fetch(b, &t, 12, &err), 0);
	assert_memory_equal(t.data, wanted, 12);
	ls_bundle_free(b);
}

static void npy_refuses(void **state)
{
	(void)state;
	const char *const wrong[][2] = {
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "need 12 bytes"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}",
		 "unknown or repeated"},
		{"{'descr': '<f4', 'fortran_order': False, 'fortran_order': False, 'shape': (2,)}",
		 "unknown or repeated"},
		{"{'descr': '<f4', 'shape': (2,)}", "missing"},
		{"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", "Python objects"},
		{"{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (2,)}",
		 "Python objects"},
		{"{'descr': '<q9', 'fortran_order': False, 'shape': (2,)}", "unknown element type"},
		{"{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}", "True or False"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,)}",
		 "beyond 64"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': "
		 "(9999999999999999,99999999999)}",
		 "memory"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", "text after"},
		{"__import__('os')", "expected"},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		uint8_t image[256] = {0};
		size_t n = fake_npy(image, wrong[i][0], four, 8), start;
		struct ls_tensor t = {0};
		struct ls_err err = {0};
		if (ls_npy_header(image, n, n, &t, &start, &err) != LS_EINPUT ||
		    !strstr(err.msg, wrong[i][1]))
			fail_msg("%s: %s", wrong[i][0], err.msg);
		assert_int_equal(t.dtype, LS_DT_NONE); /* untouched */
	}
	uint8_t claim[12] = "\x93NUMPY\2\0\xff\xff\xff\xff";
	struct ls_tensor t = {0};
	struct ls_err err;
	size_t start;
	assert_int_equal(ls_npy_header(claim, 12, 12, &t, &start, &err), LS_EINPUT);
	assert_non_null(strstr(err.msg, "claims a header"));
}

static void npz_deflated_members(void **state)
{
	(void)state;
	uint8_t npy[256], packed[256];
	size_t n = fake_npy(npy, "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", four,
			    sizeof four);
	size_t p = deflate_raw(npy, n, packed, sizeof packed);
	struct fake f[] = {{"data.npy", NULL, packed, p, n, 8, 0, crc_of(npy, n), 0, 0},
			   {"plain.npy", NULL, npy, n, n, 0, 0, crc_of(npy, n), 0, 0},
			   {"note", NULL, "hi", 2, 2, 0, 0, crc_of("hi", 2), 0, 0}};
	struct ls_str s = {0};
	struct ls_err err;
	fake_zip(&s, f, 3, false);
	struct ls_bundle *b = ls_bundle_new("npz");
	assert_int_equal(ls_npz_parse(b, (uint8_t *)s.s, s.len, "z", &err), 0);
	struct ls_tensor *data = ls_bundle_find(b, "data");
	assert_null(data->data);
	assert_int_equal(ls_bundle_fetch(b, data, 1 << 20, &err), 0);
	assert_memory_equal(data->data, four, sizeof four);
	assert_memory_equal(ls_bundle_find(b, "plain")->data, four, sizeof four);
	assert_int_equal(ls_bundle_find(b, "note")->nbytes, 2);
	ls_bundle_free(b);
	ls_str_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(safetensors_round_trip),
		cmocka_unit_test(safetensors_writer_refuses),
		cmocka_unit_test(safetensors_packs_strided),
		cmocka_unit_test(safetensors_refuses),
		cmocka_unit_test(safetensors_shards),
		cmocka_unit_test(zip_reads),
		cmocka_unit_test(zip_refuses),
		cmocka_unit_test(zip_bomb_by_size),
		cmocka_unit_test(zip_members_do_not_overlap),
		cmocka_unit_test(npy_fortran_and_big_endian),
		cmocka_unit_test(npy_refuses),
		cmocka_unit_test(npz_deflated_members),
	};
	return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
