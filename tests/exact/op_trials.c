#include "op_trials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/mem.h"
#include "exact/op/tensor.h"
#include "exact/wide.h"

/* --- values --- */

uint32_t op_random(uint64_t seed, uint32_t purpose)
{
	return ls_philox(0x09, seed, purpose).v[0];
}

float op_value(unsigned kind, uint64_t seed, uint64_t i)
{
	struct ls_u32x4 r = ls_philox(seed, i, 0x0a);
	uint32_t sign = r.v[0] & 0x80000000, mantissa = r.v[1] & 0x7fffff;
	float usual = ls_f_bits(sign | (r.v[2] % 5 + 124) << 23 | mantissa);
	switch (kind) {
	case 1:
		return ls_f_bits(sign | (r.v[2] % 60 + 100) << 23 | mantissa);
	case 2:
		return ls_f_bits(sign | (r.v[3] & 1 ? 0x7f7fffff : 0x7f000000 | (mantissa & 0xf)));
	case 3:
		return ls_f_bits(sign | mantissa >> r.v[2] % 23);
	case 4:
		return r.v[3] & 7 ? ls_f_bits(sign) : usual;
	case 5:
		return r.v[3] % 13 ? usual : ls_f_bits(sign | 0x7f800000 | (r.v[2] % 3 == 0));
	case 6:
		return ls_f_bits(sign | (r.v[2] % 20 + 115) << 23 | mantissa);
	default:
		return usual;
	}
}

static void fill(void *at, int type, size_t count, unsigned kind, uint64_t seed)
{
	for (size_t i = 0; i < count; i++) {
		float v = op_value(kind, seed, i);
		if (type == LS_EXACT_BOOL)
			((uint8_t *)at)[i] = ls_bits_f(v) & 1;
		else if (type == LS_EXACT_I64)
			((int64_t *)at)[i] = (int64_t)ls_philox(seed, i, 1).v[0] << 31 ^ (int64_t)i;
		else
			ls_wide_store(at, type, (int64_t)i, (double)v);
	}
}

void op_trial_add(struct op_trial *t, int type, int ndim, const int64_t *size, int layout,
		  unsigned values, uint64_t seed, bool written)
{
	struct ls_exact_tensor *x = &t->t[t->tensors];
	*x = (struct ls_exact_tensor){.type = type, .ndim = ndim};
	int64_t step = 1;
	for (int k = 0; k < ndim; k++) {
		int d = layout == 1 ? k : ndim - 1 - k;
		x->size[d] = size[d];
		x->stride[d] = step;
		step *= size[d] + (layout == 2 && k == 0 ? 3 : 0);
	}
	t->bytes[t->tensors] = (size_t)step * ls_exact_type_size(type);
	x->at = t->block[t->tensors] = ls_xalloc(t->bytes[t->tensors] + 1);
	fill(x->at, type, (size_t)step, values, seed);
	t->written[t->tensors++] = written;
}

void op_trial_free(struct op_trial *t)
{
	for (size_t i = 0; i < t->tensors; i++)
		free(t->block[i]);
}

/* --- element by element --- */

static void take_numbers(const struct op_row *row, struct op_trial *t)
{
	t->name = row->name;
	t->numbers = row->numbers;
	memcpy(t->number, row->number, sizeof t->number);
}

/* Up to four dimensions; every fifth trial is one long line, whose groups of elements a
 * GPU moves at a time. */
static int shape_of(uint64_t seed, int64_t *size)
{
	if (seed % 5 == 0) {
		size[0] = 1 + op_random(seed, 1) % 3000;
		return 1;
	}
	int ndim = (int)(op_random(seed, 2) % 5);
	for (int d = 0; d < ndim; d++)
		size[d] = 1 + op_random(seed, 10 + (uint32_t)d) % (d == ndim - 1 ? 40 : 6);
	if (ndim && op_random(seed, 3) % 3 == 0)
		size[ndim - 1] = 16;
	return ndim;
}

static const char *words_of(const char *name)
{
	struct ls_exact_op_info info;
	for (size_t i = 0; ls_exact_op_list(i, &info) == 0; i++)
		if (strcmp(info.name, name) == 0)
			return info.tensors;
	abort(); /* the table of trials has an operation that the library has not */
}

static int type_of(const char *word, uint64_t seed, uint32_t i)
{
	static const int types[] = {LS_EXACT_F32, LS_EXACT_F32, LS_EXACT_BF16, LS_EXACT_F16};
	bool mask = strcmp(word, "mask") == 0 || strcmp(word, "kept") == 0;
	return mask ? LS_EXACT_BOOL : types[op_random(seed, 20 + i) % 4];
}

/* Some dimensions of an input are repeated. */
static void broadcast(struct ls_exact_tensor *x, uint64_t seed, uint32_t i)
{
	for (int d = 0; d < x->ndim; d++)
		if (op_random(seed, 40 + 8 * i + (uint32_t)d) % 5 == 0)
			x->stride[d] = 0;
}

static void make_elem(const struct op_row *row, uint64_t seed, struct op_trial *t)
{
	int64_t size[8];
	int ndim = shape_of(seed, size);
	const char *words = words_of(row->name);
	size_t least;
	ls_exact_words(words, &least);
	take_numbers(row, t);
	for (uint32_t i = 0; i < least; i++) {
		char word[32];
		struct ls_exact_op_row r = {.tensors = words};
		int type = type_of(ls_exact_word(words, i, word, sizeof word), seed, i);
		bool written = ls_exact_is_written(&r, i);
		unsigned values = op_random(seed, 30 + i) % 7;
		op_trial_add(t, type, ndim, size, (int)(op_random(seed, 60 + i) % 3), values,
			     seed * 16 + i, written);
		if (!written)
			broadcast(&t->t[i], seed, i);
	}
}

/* --- others --- */

static void make_mm(const struct op_row *row, uint64_t seed, struct op_trial *t)
{
	int64_t m = 1 + op_random(seed, 1) % 20, n = 1 + op_random(seed, 2) % 20,
		k = 1 + op_random(seed, 3) % 40;
	take_numbers(row, t);
	op_trial_add(t, LS_EXACT_F32, 2, (int64_t[]){m, k}, (int)(seed % 3), (unsigned)(seed % 7),
		     seed, false);
	op_trial_add(t, LS_EXACT_F32, 2, (int64_t[]){k, n}, (int)(seed / 3 % 3),
		     (unsigned)(seed / 7 % 7), seed + 1, false);
	op_trial_add(t, LS_EXACT_F32, 2, (int64_t[]){m, n}, (int)(seed / 9 % 3), 0, seed, true);
	op_trial_add(t, LS_EXACT_F32, 2, (int64_t[]){m, n}, 0, 0, seed + 2, false);
	op_trial_add(t, LS_EXACT_F32, 2, (int64_t[]){m, n}, 0, 0, seed + 3, false);
	t->t[4].stride[0] = 0;
}

static void make_cast(const struct op_row *row, uint64_t seed, struct op_trial *t)
{
	static const int pairs[][2] = {
		{LS_EXACT_F32, LS_EXACT_BF16}, {LS_EXACT_F64, LS_EXACT_F16},
		{LS_EXACT_I64, LS_EXACT_F32},  {LS_EXACT_F32, LS_EXACT_I64},
		{LS_EXACT_F32, LS_EXACT_I32},  {LS_EXACT_F16, LS_EXACT_BOOL},
		{LS_EXACT_I32, LS_EXACT_F64},  {LS_EXACT_BF16, LS_EXACT_F32},
		{LS_EXACT_I64, LS_EXACT_BF16}, {LS_EXACT_BOOL, LS_EXACT_F32},
	};
	int64_t size[8];
	int ndim = shape_of(seed, size);
	const int *pair = pairs[seed % (sizeof pairs / sizeof *pairs)];
	take_numbers(row, t);
	op_trial_add(t, pair[0], ndim, size, (int)(seed % 3), (unsigned)(seed / 10 % 6), seed,
		     false);
	op_trial_add(t, pair[1], ndim, size, (int)(seed / 3 % 3), 0, seed, true);
}

/* Numbers of whole type where they are whole by nature. */
static void make_random(const struct op_row *row, uint64_t seed, struct op_trial *t)
{
	static const int floats[] = {LS_EXACT_F32, LS_EXACT_BF16, LS_EXACT_F16, LS_EXACT_F64};
	int64_t size[8];
	int ndim = shape_of(seed, size);
	bool whole = strcmp(row->name, "randint") == 0 || strcmp(row->name, "randperm") == 0;
	take_numbers(row, t);
	t->number[t->numbers - 4] = op_random(seed, 1);
	t->number[t->numbers - 2] = (double)(seed % 3);
	t->number[t->numbers - 1] = (double)(op_random(seed, 2) % 9);
	op_trial_add(t, whole ? LS_EXACT_I64 : floats[seed % 4], ndim, size, (int)(seed / 4 % 3), 0,
		     seed, true);
}

static void make_dropout(const struct op_row *row, uint64_t seed, struct op_trial *t)
{
	make_elem(row, seed, t);
	t->number[1] = op_random(seed, 1);
	t->number[4] = (double)(op_random(seed, 2) % 9);
}

static void make_bernoulli_tensor(const struct op_row *row, uint64_t seed, struct op_trial *t)
{
	make_elem(row, seed, t);
	t->number[0] = op_random(seed, 1);
}

static void make_not_finite(const struct op_row *row, uint64_t seed, struct op_trial *t)
{
	int64_t size[8], one = 1;
	int ndim = shape_of(seed, size);
	take_numbers(row, t);
	op_trial_add(t, LS_EXACT_F32, ndim, size, 0, seed & 1 ? 5 : 1, seed, false);
	op_trial_add(t, LS_EXACT_F32, 1, &one, 0, 4, seed, true);
}

/* Windows of all kinds; grid and kind of values by the seed. The second number is 1 for a
 * depth-wise convolution, 2 for many channels in one dimension, 3 for one dimension and so
 * many terms that several blocks of a GPU add to a sum. */
static int64_t pick(uint64_t seed, uint32_t *purpose, uint32_t most)
{
	return op_random(seed, ++*purpose) % most;
}

static void make_window(uint64_t seed, uint32_t *p, int variant, struct op_trial *t, int64_t *x,
			int64_t *w, int64_t *y)
{
	int dims = (int)pick(seed, p, 3) + 1;
	for (int d = 0; d < 3; d++) {
		bool used = d >= 3 - dims && (variant != 2 || d == 2);
		int64_t kernel = used ? 1 + pick(seed, p, 4) : 1;
		int64_t stride = used ? 1 + pick(seed, p, dims == 3 ? 2 : 3) : 1;
		int64_t dilation = used ? 1 + pick(seed, p, 2) : 1;
		int64_t pad = used ? pick(seed, p, 3) : 0;
		int64_t window = dilation * (kernel - 1) + 1;
		x[d] = used ? pick(seed, p, dims == 1 ? 40 : dims == 2 ? 8 : 4) : 1;
		x[d] = x[d] + 2 * pad < window ? window : x[d];
		w[d] = kernel;
		y[d] = (x[d] + 2 * pad - window) / stride + 1;
		t->number[2 + d] = (double)stride;
		t->number[5 + d] = (double)pad;
		t->number[8 + d] = (double)dilation;
	}
}

static void make_long(uint64_t seed, uint32_t *p, bool weight, struct op_trial *t, int64_t *x,
		      int64_t *w, int64_t *y)
{
	for (int d = 0; d < 3; d++) {
		x[d] = w[d] = y[d] = 1;
		t->number[2 + d] = t->number[8 + d] = 1;
		t->number[5 + d] = 0;
	}
	/* the first trials are what the tests' emulation of a GPU has time for */
	const bool few = seed < 6;
	w[2] = weight ? 1 + pick(seed, p, 3) : few ? 50 : 1050;
	y[2] = weight ? 1100 + pick(seed, p, few ? 90 : 4000) : 1 + pick(seed, p, 9);
	x[2] = y[2] + w[2] - 1;
}

static void make_conv(const struct op_row *row, uint64_t seed, struct op_trial *t)
{
	static const int types[] = {LS_EXACT_F32, LS_EXACT_F32, LS_EXACT_BF16, LS_EXACT_F16};
	static const uint32_t most[4][3] = {{3, 7, 9}, {6, 1, 2}, {2, 90, 80}, {1, 2, 3}};
	const int variant = (int)row->number[1];
	int64_t x[5], w[5], y[5];
	uint32_t p = 0;
	int64_t groups = 1 + pick(seed, &p, most[variant][0]);
	*t = (struct op_trial){.name = row->name, .numbers = 11};
	w[1] = 1 + pick(seed, &p, most[variant][1]);
	x[1] = groups * w[1];
	w[0] = y[1] = groups * (1 + pick(seed, &p, most[variant][2]));
	x[0] = y[0] = 1 + pick(seed, &p, 3);
	t->number[0] = row->number[0];
	t->number[1] = (double)groups;
	bool input = strcmp(row->name, "conv_back_input") == 0,
	     weight = strcmp(row->name, "conv_back_weight") == 0;
	if (variant == 3)
		make_long(seed, &p, weight, t, x + 2, w + 2, y + 2);
	else
		make_window(seed, &p, variant, t, x + 2, w + 2, y + 2);
	const int64_t *size[4] = {input || weight ? y : x, weight ? x : w,
				  input    ? x
				  : weight ? w
					   : y};
	size[3] = size[2] + 1;
	int tensors = !weight && pick(seed, &p, 2) ? 4 : 3;
	for (int i = 0; i < tensors; i++) {
		int type = types[pick(seed, &p, 4)], layout = (int)pick(seed, &p, 3);
		unsigned values = (unsigned)pick(seed, &p, 7);
		op_trial_add(t, type, i == 3 ? 1 : 5, size[i], layout, values,
			     seed * 4 + (uint64_t)i, i == 2);
	}
}

/* --- the table --- */

const struct op_row op_rows[] = {
	{"mm", make_mm, {-0.7, 1.3, 22}, 3, "9500fe2190dd805b"},
	{"mm", make_mm, {1, 0, 15}, 3, "00809ef62eacb34c"},
	{"conv", make_conv, {22, 0}, 2, "33b1b478a7619ae4"},
	{"conv", make_conv, {22, 1}, 2, "c885ba79a86b7671"},
	{"conv", make_conv, {15, 2}, 2, "86c8e6313d420af2"},
	{"conv", make_conv, {22, 3}, 2, "b731a9d24cc9c174"},
	{"conv_back_input", make_conv, {22, 0}, 2, "8edad3dc89bc536d"},
	{"conv_back_input", make_conv, {22, 1}, 2, "8f56552eda0e5cc4"},
	{"conv_back_input", make_conv, {15, 2}, 2, "fe571d9a19b2892e"},
	{"conv_back_weight", make_conv, {22, 0}, 2, "2fc18c49fd39b1fc"},
	{"conv_back_weight", make_conv, {22, 1}, 2, "063ca7b314b86353"},
	{"conv_back_weight", make_conv, {15, 2}, 2, "2787e8230c8216a0"},
	{"conv_back_weight", make_conv, {22, 3}, 2, "942e3604ba4c508d"},
	{"copy", make_elem, {0}, 0, "7a3e4d0d79a28f33"},
	{"neg", make_elem, {0}, 0, "394d2d6098190657"},
	{"abs", make_elem, {0}, 0, "176f47ec811c508f"},
	{"reciprocal", make_elem, {0}, 0, "0fe5e54571edbb0b"},
	{"sqrt", make_elem, {0}, 0, "4533d44be536197d"},
	{"relu", make_elem, {0}, 0, "29723f10f55cc190"},
	{"add_number", make_elem, {0.1}, 1, "c05855f442d71a3d"},
	{"rsub_number", make_elem, {0.1}, 1, "850a33276d5ec9a1"},
	{"mul_number", make_elem, {0.1}, 1, "dbb8c9a09ae8e2ac"},
	{"div_number", make_elem, {0.1}, 1, "c00632102e223905"},
	{"leaky_relu", make_elem, {0.01}, 1, "ad788128918aa2ec"},
	{"threshold", make_elem, {0.5, -2}, 2, "3402937079759e3f"},
	{"clamp", make_elem, {-0.3, 0.7}, 2, "d2ef880e9b91678d"},
	{"add", make_elem, {-0.3}, 1, "af140e324d2b7043"},
	{"sub", make_elem, {1}, 1, "68fe6f044ba54e47"},
	{"mul", make_elem, {0}, 0, "c2227632a7fd06df"},
	{"div", make_elem, {0}, 0, "ce52695ccfffb508"},
	{"maximum", make_elem, {0}, 0, "5b4e41ce3fd2ad25"},
	{"minimum", make_elem, {0}, 0, "53fb2c1f859995c3"},
	{"lerp", make_elem, {0.1}, 1, "7884a2583e7f0b1d"},
	{"lerp", make_elem, {0.9}, 1, "10b7090262bbb168"},
	{"lerp_tensor", make_elem, {0}, 0, "fa0463cf30d2502a"},
	{"addcmul", make_elem, {0.001}, 1, "44953dd7a331b865"},
	{"addcdiv", make_elem, {-0.1}, 1, "4d6a1361c0ee791a"},
	{"where", make_elem, {0}, 0, "255d75240b64736a"},
	{"masked_fill", make_elem, {-3e38}, 1, "31fd8e0ee863def7"},
	{"clamp_tensor", make_elem, {0}, 0, "c5ec2df5dbc31c59"},
	{"threshold_backward", make_elem, {0}, 1, "c7823278fb667fdf"},
	{"leaky_relu_backward", make_elem, {0.01}, 1, "6bec1cf413f77f63"},
	{"mask_scale", make_elem, {1.25}, 1, "e891f4345b33ae44"},
	{"sgd", make_elem, {0.1, 0, 0}, 3, "fa320496b3ec31ab"},
	{"sgd", make_elem, {0.1, 0.01, 1}, 3, "1fc545fcf02093eb"},
	{"sgd_momentum", make_elem, {0.1, 0.01, 0, 0.9, 0.1}, 5, "907f560293ce6eb7"},
	{"sgd_momentum", make_elem, {0.1, 0, 2, 0.9, 0}, 5, "6351c957f051f314"},
	{"sgd_momentum", make_elem, {0.1, 0.01, 5, 0.9, 0.1}, 5, "62d617bc87defd99"},
	{"adam", make_elem, {1e-3, 0.9, 0.999, 1e-8, 0.01, 1, 8}, 7, "28e5f6c7f51821c0"},
	{"adam", make_elem, {1e-3, 0.9, 0.999, 1e-8, 0.01, 1000, 1}, 7, "90eaede4a5a85eb7"},
	{"adam", make_elem, {1e-3, 0.9, 0.95, 1e-8, 0, 12345678, 0}, 7, "7dd053e24a607af3"},
	{"adam_max", make_elem, {1e-3, 0.9, 0.999, 1e-8, 0.01, 7, 9}, 7, "5fa3f7460abad3c4"},
	{"rsqrt", make_elem, {0}, 0, "3c3d247eba199507"},
	{"exp", make_elem, {0}, 0, "3167158eaa747f5f"},
	{"expm1", make_elem, {0}, 0, "7f9029ac5d64034b"},
	{"log", make_elem, {0}, 0, "25fa24c22cb75f8c"},
	{"log1p", make_elem, {0}, 0, "d9c18c5a4d3749ea"},
	{"sin", make_elem, {0}, 0, "c1791260c9783813"},
	{"cos", make_elem, {0}, 0, "cc2a683099f3845a"},
	{"tanh", make_elem, {0}, 0, "ce400036fda2e8f2"},
	{"erf", make_elem, {0}, 0, "eb891b21babcf6c4"},
	{"sigmoid", make_elem, {0}, 0, "d9a7b5f0ed6a15d2"},
	{"silu", make_elem, {0}, 0, "0a8a32b335cbe851"},
	{"gelu", make_elem, {0}, 0, "20c2e9c22fc81221"},
	{"gelu_tanh", make_elem, {0}, 0, "01337854eda38456"},
	{"softplus", make_elem, {1, 20}, 2, "a3f7de25250800e8"},
	{"elu", make_elem, {1.1, 1.05, 1}, 3, "c0839df917d9fd5b"},
	{"pow_number", make_elem, {2}, 1, "6b93cfa88c8b3f37"},
	{"pow_number", make_elem, {3}, 1, "76459ab421477f8c"},
	{"pow_number", make_elem, {-0.5}, 1, "3c3d247eba199507"},
	{"pow_number", make_elem, {1.7}, 1, "1b477d4ab9652fd6"},
	{"pow_number", make_elem, {-5}, 1, "86e7723c9b21a9ad"},
	{"number_pow", make_elem, {10000}, 1, "1c089f74976c6c3c"},
	{"pow", make_elem, {0}, 0, "439b657cc85d38f7"},
	{"tanh_backward", make_elem, {0}, 0, "63451d5679d2f750"},
	{"sigmoid_backward", make_elem, {0}, 0, "9b1d16bdb080335a"},
	{"silu_backward", make_elem, {0}, 0, "595a0a2b68ecbba5"},
	{"gelu_backward", make_elem, {0}, 0, "b50d4be9356d3568"},
	{"gelu_tanh_backward", make_elem, {0}, 0, "8281d77d080cc46d"},
	{"softplus_backward", make_elem, {1, 20}, 2, "3d3bcbf78ac1d534"},
	{"elu_backward", make_elem, {1.1, 1.05, 1}, 3, "fb04b64beb36b1c2"},
	{"cast", make_cast, {0}, 0, "b306590a1f944924"},
	{"rand", make_random, {0, 1}, 6, "45c46773eceba499"},
	{"rand", make_random, {-0.1, 0.3}, 6, "d2b373d7aea7e457"},
	{"randn", make_random, {0, 1}, 6, "7e085235a6fe7de2"},
	{"randn", make_random, {0.5, 0.02}, 6, "319b008e7b84143c"},
	{"randint", make_random, {-5, 50257}, 6, "8af5c3ebf08af4ff"},
	{"randint", make_random, {0, 0x1p53 - 1}, 6, "c9fe5df52dcd5b8e"},
	{"bernoulli", make_random, {0.3}, 5, "0692ecd0d4e918fb"},
	{"bernoulli_tensor", make_bernoulli_tensor, {0}, 4, "1d33bcf8d1414018"},
	{"dropout", make_dropout, {0.1}, 5, "f94a4e21b8dc2c87"},
	{"dropout", make_dropout, {1}, 5, "918361878c3d8602"},
	{"randperm", make_random, {100000}, 5, "ff0ee8e133bcdae9"},
	{"not_finite", make_not_finite, {0}, 0, "5b116c2d788515bd"},
	{NULL, NULL, {0}, 0, NULL},
};

void op_trial_make(const struct op_row *row, uint64_t seed, struct op_trial *ret)
{
	memset(ret, 0, sizeof *ret);
	row->make(row, seed, ret);
}

int op_row_digest(const struct op_row *row, int (*run)(struct op_trial *t, struct ls_err *err),
		  char ret[OP_DIGEST], struct ls_err *err)
{
	struct ls_sha256 *h = ls_sha256_new();
	char hex[LS_SHA256_HEX];
	int rc = 0;
	for (uint64_t seed = 0; seed < OP_TRIALS && !rc; seed++) {
		struct op_trial t;
		op_trial_make(row, seed, &t);
		rc = run(&t, err);
		for (size_t i = 0; i < t.tensors; i++)
			if (t.written[i])
				ls_sha256_add(h, t.block[i], t.bytes[i]);
		op_trial_free(&t);
	}
	ls_sha256_final(h, hex);
	snprintf(ret, OP_DIGEST, "%.16s", hex);
	return rc;
}
