/* Element statistics, the pickle machine and the ONNX reader on small inputs, and the
 * comparison on threads. labels: threads isa */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "compare/compare.h"
#include "tensor/onnx.h"
#include "tensor/safetensors.h"
#include "tensor/torch/torch.h"

static struct ls_stats two_floats(uint32_t a, uint32_t b)
{
	struct ls_stats s = {0};
	ls_stats_add(&s, LS_DT_F32, 4, (const uint8_t *)&a, (const uint8_t *)&b, 4, 7);
	return s;
}

static void classes_of_floats(void **state)
{
	(void)state;
	assert_int_equal(two_floats(0x3f800000, 0x3f800000).differing, 0);
	struct ls_stats s = two_floats(0x3f800000, 0x3f800001);
	assert_int_equal(s.value, 1);
	assert_int_equal(s.max_ulp, 1);
	assert_int_equal(s.ulp[0], 1);
	assert_int_equal(s.first, 7);
	assert_true(s.max_abs == 0x1p-23);
	assert_int_equal(two_floats(0, 0x80000000).zero_sign, 1);
	assert_int_equal(two_floats(0x7fc00000, 0x7fc00001).nan_payload, 1);
	assert_int_equal(two_floats(0x7fc00000, 0x3f800000).nan_one, 1);
	assert_int_equal(two_floats(0x00000003, 0x80000002).max_ulp, 5); /* across zero */
	assert_int_equal(two_floats(0x7f7fffff, 0x7f800000).max_ulp,
			 1); /* the largest and infinity */
}

static void distances_go_to_their_bucket(void **state)
{
	(void)state;
	const uint32_t steps[] = {1, 2, 3, 4, 5, 8, 9, 1u << 20};
	const int buckets[] = {0, 1, 2, 2, 3, 3, 4, 20};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		assert_int_equal(two_floats(0x3f800000, 0x3f800000 + steps[i]).ulp[buckets[i]], 1);
	char text[64];
	ls_ulp_bucket_text(3, text, sizeof text);
	assert_string_equal(text, "5–8");
}

static void integers_and_complex(void **state)
{
	(void)state;
	struct ls_stats s = {0};
	const int64_t a[2] = {INT64_MIN, 5}, b[2] = {INT64_MAX, 5};
	ls_stats_add(&s, LS_DT_I64, 8, (const uint8_t *)a, (const uint8_t *)b, 16, 0);
	assert_int_equal(s.differing, 1);
	assert_true(s.max_abs == 18446744073709551615.0);
	s = (struct ls_stats){0};
	const float x[4] = {1, 2, 3, 0.0f}, y[4] = {1, 2.5f, 3, -0.0f};
	ls_stats_add(&s, LS_DT_C64, 8, (const uint8_t *)x, (const uint8_t *)y, 16, 0);
	assert_int_equal(s.value, 1);
	assert_int_equal(s.zero_sign, 1);
	assert_true(s.max_abs == 0.5);
}

/* Bit patterns of a type, the odd ones often: zeros, subnormals, infinities, NaNs of
 * either sign, neighbours. */
static uint64_t odd_bits(uint64_t *seed, unsigned bits)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	uint64_t r = *seed >> 11, mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1,
		 x = r * 0x9e3779b97f4a7c15u;
	switch (r % 8) {
	case 0:
		return (x >> 60 & 1) << (bits - 1);
	case 1:
		return (mask << (bits - 1 - r / 8 % (bits < 16 ? 6 : 14)) | x >> 63) & mask;
	case 2:
		return (mask >> 1 & mask << (bits / 4)) & mask;
	default:
		return x & mask;
	}
}

enum { MANY = 5000 };

static struct ls_stats many_equal_single(enum ls_dtype t, size_t size, const uint8_t *a,
					 const uint8_t *b)
{
	struct ls_stats many = {0}, single = {0};
	ls_stats_add(&many, t, (uint32_t)size, a, b, MANY * size, 100);
	for (size_t i = 0; i < MANY; i++)
		ls_stats_add(&single, t, (uint32_t)size, a + i * size, b + i * size, size, 100 + i);
	assert_memory_equal(&many, &single, sizeof many);
	return many;
}

/* Many at a time and one at a time are two ways in the code; they must agree in
 * everything. Once with all patterns, whose largest difference is often infinite, once
 * with exponents from the middle. */
static void lanes_agree_with_single_elements(void **state)
{
	(void)state;
	uint8_t *a = ls_xalloc(MANY * 16), *b = ls_xalloc(MANY * 16);
	uint64_t seed = 1;
	for (int round = 0; round < 2 * LS_DT_COUNT; round++) {
		enum ls_dtype t = (enum ls_dtype)(round / 2);
		unsigned bits = ls_dtype_bits(t);
		if (bits < 8 || bits % 8)
			continue;
		size_t size = bits / 8, part = bits == 128 ? 8 : size;
		for (size_t i = 0; i < MANY * size; i += part) {
			uint64_t x = odd_bits(&seed, (unsigned)part * 8),
				 y = odd_bits(&seed, (unsigned)part * 8);
			uint64_t near = seed >> 20 & 3, finite = ~(UINT64_C(3) << (part * 8 - 3));
			y = near == 0 ? x : near == 1 ? x ^ (seed >> 40 & 7) : y;
			x &= round % 2 ? finite : UINT64_MAX;
			y &= round % 2 ? finite : UINT64_MAX;
			memcpy(a + i, &x, part);
			memcpy(b + i, &y, part);
		}
		assert_true(many_equal_single(t, size, a, b).differing > MANY / 4);
	}
	free(a);
	free(b);
}

/* Differences that are one and the same when rounded to the tensor's own type. */
static void largest_difference_is_exact(void **state)
{
	(void)state;
	float *a = ls_xalloc(MANY * 4), *b = ls_xalloc(MANY * 4);
	for (int i = 0; i < MANY; i++) {
		a[i] = 1;
		b[i] = -(float)(i % 1999) * 0x1p-40f;
	}
	struct ls_stats s = many_equal_single(LS_DT_F32, 4, (const uint8_t *)a, (const uint8_t *)b);
	assert_true(s.max_abs == 1 + 1998 * 0x1p-40);
	free(a);
	free(b);
}

/* Returns the code; the bundle's first value or tensor is described in out. */
static int read_pickle(const char *bytes, size_t len, struct ls_str *out, struct ls_err *err)
{
	struct ls_pickle *p = NULL;
	struct ls_torch_data where = {.zip = NULL};
	struct ls_bundle *b = ls_bundle_new("test");
	int rc = ls_pickle_parse((const uint8_t *)bytes, len, ls_torch_globals(), &p, err);
	if (rc == 0)
		rc = ls_torch_flatten(b, p, &where, "", err);
	for (size_t i = 0; rc == 0 && i < b->n_values; i++)
		ls_str_addf(out, "%s%s=%d", i ? " " : "", b->values[i].name,
			    (int)b->values[i].kind);
	ls_pickle_free(p);
	ls_bundle_free(b);
	return rc;
}

static void pickle_reads_and_refuses(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t len;
		const char *want; /* names and kinds, or words of the message */
		bool good;
	} cases[] = {
#define P(s) s, sizeof s - 1
		{P("\x80\x02}(X\1\0\0\0aK\1X\1\0\0\0bG?\xf0\0\0\0\0\0\0u."), "a=2 b=3", true},
		{P("(dp0\nS'k'\np1\n(lp2\nI1\naI01\nas."), "k.0=2 k.1=1", true},
		{P("\x80\x04]\x94(h\0e."), "0=6", true}, /* a list that holds itself */
		{P("\x80\x02]q\0(h\0h\0e."), "0=6 1=6", true},
		{P("cos\nsystem\n(S'x'\ntR."), "args.0=4", true}, /* a call, as data */
		{P("cm\nC\n)\x81}(X\1\0\0\0aK\1ub."), "a=2", true},
		{P("cm\nC\n)\x81."), "(top)=6", true},
		{P("\x80\x02}(K\1u."), "key without a value", false},
		{P("\x80\x02K\1K\2."), "more or less than one object", false},
		{P("\x80\x02h\5."), "never made", false},
		{P("\x80\x02\x8b\xff\xff\xff\x7f"), "claims", false},
		{P("\x80\x02(K\1"), "without STOP", false},
		{P("\x80\x02u."), "a mark is missing", false},
		{P("\x80\x02K\1K\2s."), "stack is empty", false},
		{P("\x80\x02K\1K\1a."), "holds none", false},
		{P("\x80\x02\x85."), "stack is empty", false},
		{P("\x80\x02K\1K\1b."), "has none", false},
		{P("\x80\x09N."), "protocol beyond", false},
		{P("\x80\x02\xff."), "not an opcode", false},
		{P("\x80\x02\x82\1."), "EXT1", false},
		{P("\x80\x02"
		   "ctorch._utils\n_rebuild_tensor_v2\n)R."),
		 "without a storage", false},
		{P("\x80\x02"
		   "ctorch\nSize\nK\1R."),
		 "neither a name nor an object", false},
		{P("\x80\x02"
		   "ccollections\nOrderedDict\nK\1\x85R."),
		 "not pairs", false},
		{P(""), "without STOP", false},
#undef P
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ls_str out = {0};
		struct ls_err err = {0};
		int rc = read_pickle(cases[i].bytes, cases[i].len, &out, &err);
		bool right = cases[i].good ? rc == 0 && out.s && strcmp(out.s, cases[i].want) == 0
					   : rc == LS_EINPUT && strstr(err.msg, cases[i].want);
		if (!right)
			fail_msg("case %zu, \"%s\": %d %s %s", i, cases[i].want, rc,
				 out.s ? out.s : "", err.msg);
		ls_str_done(&out);
	}
}

static void onnx_reads_and_refuses(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t len;
		const char *word; /* NULL: good */
	} cases[] = {
#define O(s) s, sizeof s - 1
		/* graph { initializer { dims: 2, data_type: INT32, int32_data: [1, -1], name: "w" }
		   } */
		{O("\x3a\x16\x2a\x14\x08\x02\x10\x06\x2a\x0b\x01\xff\xff\xff\xff\xff\xff\xff\xff"
		   "\xff\x01\x42\x01w"),
		 NULL},
		{O("\x3a\x0b\x2a\x09\x08\x02\x10\x06\x4a\x00\x42\x01w"), "0 bytes of data"},
		{O("\x3a\x09\x2a\x07\x08\x02\x10\x08\x42\x01w"), "is not read"},
		{O("\x3a\x05\x2a\x7f\x08\x02\x10"), "claims 127 bytes"},
		{O("\x08\x01"), "no graph"},
		{O("\x0b"), "group"},
		{O("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "ten bytes"},
		{O("\x3a\x14\x2a\x12\x08\x01\x10\x01\x42\x01w\x6a\x07\x0a\x01x\x12\x02yz\x70\x01"),
		 "no folder"},
#undef O
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ls_bundle *b = ls_bundle_new("ONNX");
		struct ls_err err = {0};
		int rc = ls_onnx_parse(b, (const uint8_t *)cases[i].bytes, cases[i].len, "m", NULL,
				       &err);
		if (cases[i].word ? rc != LS_EINPUT || !strstr(err.msg, cases[i].word) : rc != 0)
			fail_msg("case %zu: %d %s", i, rc, err.msg);
		if (!cases[i].word)
			assert_memory_equal(ls_bundle_find(b, "w")->data,
					    "\1\0\0\0\xff\xff\xff\xff", 8);
		ls_bundle_free(b);
	}
}

/* 16 MiB with differences on both sides of block and chunk borders: the same answer for
 * any number of threads. */
static void threads_do_not_change_the_answer(void **state)
{
	(void)state;
	char dir[] = "/tmp/ls-compare-XXXXXX", a[64], b[64], command[80];
	assert_non_null(mkdtemp(dir));
	snprintf(a, sizeof a, "%s/a.safetensors", dir);
	snprintf(b, sizeof b, "%s/b.safetensors", dir);
	uint64_t n = 4 << 20;
	float *data = ls_xalloc(n * sizeof *data);
	struct ls_tensor t = {
		.name = "w", .dtype = LS_DT_F32, .elem_size = 4, .data = (const uint8_t *)data};
	struct ls_err err;
	assert_int_equal(ls_tensor_set_contiguous(&t, &n, 1, &err), 0);
	assert_int_equal(ls_safetensors_write(a, &t, 1, NULL, 0, NULL, &err), 0);
	for (uint64_t i = 16383; i < n; i += 16384) /* the last element of each chunk */
		data[i] = (float)i;
	data[1 << 20] = -0.0f; /* the first of a block */
	assert_int_equal(ls_safetensors_write(b, &t, 1, NULL, 0, NULL, &err), 0);
	char *first = NULL;
	for (unsigned threads = 1; threads <= 7; threads += 2) {
		struct ls_cmp_options opt = {.threads = threads};
		struct ls_comparison *c = NULL;
		assert_int_equal(ls_compare(a, b, &opt, &c, &err), 0);
		json_t *v = ls_comparison_json(c);
		char *text = ls_json_text(v);
		assert_int_equal(c->files[0].items[0].stats->differing, 257);
		assert_int_equal(c->files[0].items[0].stats->zero_sign, 1);
		assert_int_equal(c->files[0].items[0].stats->first, 16383);
		if (first)
			assert_string_equal(text, first);
		else
			first = ls_xstrdup(text);
		free(text);
		json_decref(v);
		ls_comparison_free(c);
	}
	free(first);
	free(data);
	snprintf(command, sizeof command, "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_of_floats),
		cmocka_unit_test(distances_go_to_their_bucket),
		cmocka_unit_test(integers_and_complex),
		cmocka_unit_test(lanes_agree_with_single_elements),
		cmocka_unit_test(largest_difference_is_exact),
		cmocka_unit_test(pickle_reads_and_refuses),
		cmocka_unit_test(onnx_reads_and_refuses),
		cmocka_unit_test(threads_do_not_change_the_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
