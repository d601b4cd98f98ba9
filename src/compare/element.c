#include "compare/element.h"

#include <endian.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare/lanes.h"

/* Binary interchange formats, and the small ones without them: width, exponent and
 * fraction bits, and what is odd. */
struct format {
	uint8_t bits, exponent, fraction;
	bool no_inf; /* all-ones exponent is a number, except all-ones fraction: NaN (E4M3FN) */
	bool uz;     /* no -0; sign bit alone is NaN; exponent bias one larger (FNUZ) */
	bool unsigned_power; /* E8M0: an exponent and nothing else */
};

static const struct format *format_of(enum ls_dtype t)
{
	static const struct format f16 = {16, 5, 10, 0, 0, 0}, bf16 = {16, 8, 7, 0, 0, 0},
				   f32 = {32, 8, 23, 0, 0, 0}, f64 = {64, 11, 52, 0, 0, 0},
				   e4m3fn = {8, 4, 3, 1, 0, 0}, e5m2 = {8, 5, 2, 0, 0, 0},
				   e4m3fnuz = {8, 4, 3, 0, 1, 0}, e5m2fnuz = {8, 5, 2, 0, 1, 0},
				   e8m0 = {8, 8, 0, 0, 0, 1};
	switch (t) {
	case LS_DT_F16:
	case LS_DT_C32:
		return &f16;
	case LS_DT_BF16:
		return &bf16;
	case LS_DT_F32:
	case LS_DT_C64:
		return &f32;
	case LS_DT_F64:
	case LS_DT_C128:
		return &f64;
	case LS_DT_F8_E4M3FN:
		return &e4m3fn;
	case LS_DT_F8_E5M2:
		return &e5m2;
	case LS_DT_F8_E4M3FNUZ:
		return &e4m3fnuz;
	case LS_DT_F8_E5M2FNUZ:
		return &e5m2fnuz;
	case LS_DT_F8_E8M0FNU:
		return &e8m0;
	default:
		return NULL;
	}
}

bool ls_dtype_is_float(enum ls_dtype t)
{
	return format_of(t) != NULL;
}

bool ls_dtype_is_number(enum ls_dtype t)
{
	return ls_dtype_is_float(t) || (t >= LS_DT_BOOL && t <= LS_DT_I64);
}

static uint64_t load(const uint8_t *p, size_t size)
{
	uint64_t x8;
	uint32_t x4;
	uint16_t x2;
	switch (size) {
	case 1:
		return *p;
	case 2:
		memcpy(&x2, p, 2);
		return le16toh(x2);
	case 4:
		memcpy(&x4, p, 4);
		return le32toh(x4);
	default:
		memcpy(&x8, p, 8);
		return le64toh(x8);
	}
}

/* One number taken apart: the magnitude counts steps from zero, so that ULP distances are
 * differences. */
struct number {
	bool nan, negative;
	uint64_t magnitude;
	double value;
};

/* 2^e as a normal binary64; ldexp is a call too many in a loop over a billion
 * elements. */
static double power_of_two(int e)
{
	uint64_t bits = (uint64_t)(e + 1023) << 52;
	double x;
	memcpy(&x, &bits, 8);
	return x;
}

static struct number decode_power(uint64_t bits)
{
	return (struct number){bits == 0xff, false, bits, power_of_two((int)bits - 127)};
}

static struct number decode(const struct format *f, uint64_t bits)
{
	if (f->unsigned_power)
		return decode_power(bits);
	uint64_t sign = UINT64_C(1) << (f->bits - 1), magnitude = bits & (sign - 1);
	uint64_t fraction = magnitude & ((UINT64_C(1) << f->fraction) - 1);
	int exponent = (int)(magnitude >> f->fraction), top = (1 << f->exponent) - 1;
	int bias = (1 << (f->exponent - 1)) - 1 + f->uz;
	struct number n = {.negative = (bits & sign) != 0, .magnitude = magnitude};
	if (f->uz)
		n.nan = bits == sign;
	else if (f->no_inf)
		n.nan = exponent == top && fraction == (UINT64_C(1) << f->fraction) - 1;
	else
		n.nan = exponent == top && fraction;
	if (f->bits == 64)
		memcpy(&n.value, &magnitude, 8); /* its subnormals are beyond power_of_two */
	else if (!f->uz && !f->no_inf && exponent == top)
		n.value = INFINITY;
	else if (exponent == 0)
		n.value = (double)fraction * power_of_two(1 - bias - f->fraction);
	else
		n.value = (double)(fraction | UINT64_C(1) << f->fraction) *
			  power_of_two(exponent - bias - f->fraction);
	if (n.negative)
		n.value = -n.value;
	return n;
}

enum class { VALUE, NAN_ONE, NAN_PAYLOAD, ZERO_SIGN, EQUAL };

struct gap {
	enum class class;
	double abs;
	uint64_t ulp;
};

static struct gap float_gap(const struct format *f, uint64_t a, uint64_t b)
{
	if (a == b)
		return (struct gap){EQUAL, 0, 0};
	struct number x = decode(f, a), y = decode(f, b);
	if (x.nan || y.nan)
		return (struct gap){x.nan && y.nan ? NAN_PAYLOAD : NAN_ONE, 0, 0};
	if (!f->unsigned_power && x.magnitude == 0 && y.magnitude == 0)
		return (struct gap){ZERO_SIGN, 0, 0};
	uint64_t low = x.magnitude < y.magnitude ? x.magnitude : y.magnitude,
		 high = x.magnitude ^ y.magnitude ^ low;
	uint64_t ulp = x.negative == y.negative ? high - low : high + low;
	return (struct gap){VALUE, fabs(x.value - y.value), ulp};
}

static struct gap integer_gap(enum ls_dtype t, uint64_t a, uint64_t b, size_t size)
{
	if (t == LS_DT_I8 || t == LS_DT_I16 || t == LS_DT_I32 || t == LS_DT_I64) {
		uint64_t flip = UINT64_C(1) << (8 * size - 1); /* signed order as unsigned order */
		a ^= flip;
		b ^= flip;
	}
	return (struct gap){VALUE, (double)(a > b ? a - b : b - a), 0};
}

static struct gap gap_of(enum ls_dtype t, const struct format *f, uint32_t size, const uint8_t *a,
			 const uint8_t *b)
{
	if (f && f->bits / 8 < size) { /* complex: the worse of its parts */
		struct gap re = float_gap(f, load(a, size / 2), load(b, size / 2));
		struct gap im =
			float_gap(f, load(a + size / 2, size / 2), load(b + size / 2, size / 2));
		struct gap worse = re.class <= im.class ? re : im;
		worse.abs = re.abs > im.abs ? re.abs : im.abs;
		worse.ulp = re.ulp > im.ulp ? re.ulp : im.ulp;
		return worse;
	}
	if (f)
		return float_gap(f, load(a, size), load(b, size));
	if (ls_dtype_is_number(t))
		return integer_gap(t, load(a, size), load(b, size), size);
	return (struct gap){VALUE, 0, 0};
}

static int bucket_of(uint64_t ulp)
{
	return ulp <= 1 ? 0 : 64 - __builtin_clzll(ulp - 1);
}

static void count(struct ls_stats *s, const struct format *f, struct gap g, uint64_t index)
{
	if (s->differing++ == 0 || index < s->first)
		s->first = index;
	switch (g.class) {
	case NAN_ONE:
		s->nan_one++;
		return;
	case NAN_PAYLOAD:
		s->nan_payload++;
		return;
	case ZERO_SIGN:
		s->zero_sign++;
		return;
	default:
		break;
	}
	s->value++;
	if (g.abs > s->max_abs)
		s->max_abs = g.abs;
	if (f) {
		s->ulp[bucket_of(g.ulp)]++;
		if (g.ulp > s->max_ulp)
			s->max_ulp = g.ulp;
	}
}

/* The first differing byte from `at` on, or n. */
static size_t next_difference(const uint8_t *a, const uint8_t *b, size_t at, size_t n)
{
	uint64_t x, y;
	for (; n - at >= 8; at += 8) {
		memcpy(&x, a + at, 8);
		memcpy(&y, b + at, 8);
		if (x != y)
			break;
	}
	while (at < n && a[at] == b[at])
		at++;
	return at;
}

static void add_sparse(struct ls_stats *s, enum ls_dtype t, size_t size, const uint8_t *a,
		       const uint8_t *b, size_t n, uint64_t base)
{
	const struct format *f = format_of(t);
	s->elements += n / size;
	for (size_t at = next_difference(a, b, 0, n); at < n;) {
		size_t element = at / size;
		count(s, f, gap_of(t, f, (uint32_t)size, a + element * size, b + element * size),
		      base + element);
		at = next_difference(a, b, (element + 1) * size, n);
	}
}

static void fill_table(struct ls_lanes *table, const struct format *f)
{
	for (uint64_t bits = 0; bits < 256; bits++) {
		struct number x = decode(f, bits);
		int32_t steps = (int32_t)x.magnitude;
		table->key[bits] = x.negative ? -steps : steps;
		table->value[bits] = x.nan ? NAN : (float)x.value; /* exact: no format of 8 bits
								      goes beyond binary32 */
	}
}

static void add_dense(struct ls_stats *s, enum ls_dtype t, size_t size, const uint8_t *a,
		      const uint8_t *b, size_t n, uint64_t base)
{
	struct ls_lanes lanes;
	const struct format *f = format_of(t);
	lanes.careful = 0;
	if (size == 1 && f)
		fill_table(&lanes, f);
	for (size_t at = 0, step = LS_LANES * size; at < n; at += step) {
		size_t part = n - at < step ? n - at : step;
		if (memcmp(a + at, b + at, part) == 0)
			s->elements += part / size;
		else
			ls_lanes_add(s, t, &lanes, a + at, b + at, part / size, base + at / size);
	}
}

void ls_stats_add(struct ls_stats *s, enum ls_dtype t, uint32_t elem_size, const uint8_t *a,
		  const uint8_t *b, size_t n, uint64_t base)
{
	enum { FEW = 16 }; /* elements: not worth the lanes */
	size_t size =
		elem_size ? elem_size : 1; /* elements below a byte are compared by the byte */
	if (n > FEW * size && ls_dtype_is_number(t) && ls_lanes_can(t) &&
	    size * 8 == ls_dtype_bits(t))
		add_dense(s, t, size, a, b, n, base);
	else
		add_sparse(s, t, size, a, b, n, base);
}

static double magnitude_of(const struct format *f, enum ls_dtype t, uint64_t bits, size_t size)
{
	if (f)
		return fabs(decode(f, bits).value);
	unsigned shift = (unsigned)(64 - 8 * size);
	bool is_signed = t == LS_DT_I8 || t == LS_DT_I16 || t == LS_DT_I32 || t == LS_DT_I64;
	return is_signed ? fabs((double)((int64_t)(bits << shift) >> shift)) : (double)bits;
}

/* Of one number, or of one part of a complex one. */
static bool is_within(const struct ls_limits *l, const struct format *f, enum ls_dtype t,
		      uint64_t a, uint64_t b, size_t size)
{
	struct gap g = a == b ? (struct gap){EQUAL, 0, 0}
		       : f    ? float_gap(f, a, b)
			      : integer_gap(t, a, b, size);
	if (g.class != VALUE)
		return g.class != NAN_ONE;
	double x = magnitude_of(f, t, a, size), y = magnitude_of(f, t, b, size);
	if (isinf(x) || isinf(y))
		return false;
	return g.abs <= l->abs || g.abs <= l->rel * (x > y ? x : y) || (f && g.ulp <= l->ulp);
}

uint64_t ls_count_beyond(const struct ls_limits *limits, enum ls_dtype t, uint32_t elem_size,
			 const uint8_t *a, const uint8_t *b, size_t n)
{
	const struct format *f = format_of(t);
	bool number = ls_dtype_is_number(t) && elem_size;
	size_t size = elem_size ? elem_size : 1, part = f ? f->bits / 8 : size;
	uint64_t beyond = 0;
	for (size_t at = next_difference(a, b, 0, n); at < n;) {
		size_t from = at / size * size;
		bool within = number;
		for (size_t i = from; i < from + size && within; i += part)
			within =
				is_within(limits, f, t, load(a + i, part), load(b + i, part), part);
		beyond += !within;
		at = next_difference(a, b, from + size, n);
	}
	return beyond;
}

void ls_stats_merge(struct ls_stats *into, const struct ls_stats *from)
{
	if (from->differing && (into->differing == 0 || from->first < into->first))
		into->first = from->first;
	into->elements += from->elements;
	into->beyond += from->beyond;
	into->differing += from->differing;
	into->value += from->value;
	into->nan_one += from->nan_one;
	into->nan_payload += from->nan_payload;
	into->zero_sign += from->zero_sign;
	if (from->max_abs > into->max_abs)
		into->max_abs = from->max_abs;
	if (from->max_ulp > into->max_ulp)
		into->max_ulp = from->max_ulp;
	for (int i = 0; i < LS_ULP_BUCKETS; i++)
		into->ulp[i] += from->ulp[i];
}

void ls_ulp_bucket_text(int bucket, char *buf, size_t size)
{
	if (bucket < 2)
		snprintf(buf, size, "%d", bucket + 1);
	else if (bucket < 21)
		snprintf(buf, size, "%" PRIu64 "–%" PRIu64, (UINT64_C(1) << (bucket - 1)) + 1,
			 UINT64_C(1) << bucket);
	else
		snprintf(buf, size, "2^%d–2^%d", bucket - 1, bucket);
}
