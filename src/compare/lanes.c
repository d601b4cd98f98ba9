#include "compare/lanes.h"

#include <math.h>
#include <string.h>

#include "base/inline.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "elements are loaded as they lie in files");

/* Vectors as both compilers have them; comparisons give all ones or zeros. */
typedef uint32_t u32x4 __attribute__((vector_size(16)));
typedef int32_t i32x4 __attribute__((vector_size(16)));
typedef float f32x4 __attribute__((vector_size(16)));
typedef uint64_t u64x2 __attribute__((vector_size(16)));
typedef int64_t i64x2 __attribute__((vector_size(16)));
typedef double f64x2 __attribute__((vector_size(16)));

/* One side of a block in 32-bit lanes: the bits, the steps from zero with their sign, so
 * that ULP distances are differences, and the exact value, a NaN for every NaN. The last
 * vector is filled up with elements that are alike on both sides. */
struct side {
	u32x4 bits[LS_LANES / 4];
	i32x4 key[LS_LANES / 4];
	f32x4 value[LS_LANES / 4];
};

/* What a block has different. */
struct found {
	uint64_t differing, value, nan_one, nan_payload, max_ulp;
	uint32_t max_abs; /* bits of a binary32: rounded, so that it orders without deciding between
			     neighbours */
};

INLINE u32x4 blend32(u32x4 mask, u32x4 yes, u32x4 no)
{
	return (mask & yes) | (~mask & no);
}

INLINE u32x4 max32(u32x4 a, u32x4 b)
{
	return blend32((u32x4)(a > b), a, b);
}

/* A magnitude with its sign (all ones for minus). */
INLINE i32x4 signed_steps(u32x4 magnitude, u32x4 minus)
{
	return (i32x4)((magnitude ^ minus) - minus);
}

static void read_bf16(struct side *s, size_t vectors)
{
	for (size_t i = 0; i < vectors; i++) {
		u32x4 bits = s->bits[i];
		s->key[i] = signed_steps(bits & 0x7fff, (u32x4){0} - (bits >> 15));
		s->value[i] = (f32x4)(bits << 16);
	}
}

/* The exponent moves by 112, which is exact for subnormals too; infinities and NaNs go to
 * the top at once. */
static void read_f16(struct side *s, size_t vectors)
{
	for (size_t i = 0; i < vectors; i++) {
		u32x4 bits = s->bits[i], magnitude = bits & 0x7fff, high = magnitude << 13;
		u32x4 scaled = (u32x4)((f32x4)high * 0x1p112f);
		u32x4 value = blend32((u32x4)(magnitude >= 0x7c00), high + 0x70000000, scaled);
		s->key[i] = signed_steps(magnitude, (u32x4){0} - (bits >> 15));
		s->value[i] = (f32x4)(value | (bits >> 15) << 31);
	}
}

static void read_table(struct side *s, size_t vectors, const struct ls_lanes *table)
{
	for (size_t i = 0; i < vectors * 4; i++) {
		uint32_t bits = s->bits[i / 4][i % 4];
		s->key[i / 4][i % 4] = table->key[bits];
		s->value[i / 4][i % 4] = table->value[bits];
	}
}

static void widen(struct side *s, const uint8_t *p, size_t n, size_t size)
{
	uint32_t *out = (uint32_t *)s->bits;
	if (size == 2)
		for (size_t i = 0; i < n; i++) {
			uint16_t x;
			memcpy(&x, p + 2 * i, 2);
			out[i] = x;
		}
	else
		for (size_t i = 0; i < n; i++)
			out[i] = p[i];
	for (size_t i = n; i % 4; i++)
		out[i] = 0;
}

static void read_side(struct side *s, enum ls_dtype t, const struct ls_lanes *table,
		      const uint8_t *p, size_t n)
{
	size_t vectors = (n + 3) / 4;
	widen(s, p, n, ls_dtype_bits(t) / 8);
	if (t == LS_DT_BF16)
		read_bf16(s, vectors);
	else if (t == LS_DT_F16)
		read_f16(s, vectors);
	else
		read_table(s, vectors, table);
}

INLINE uint64_t sum32(u32x4 v)
{
	return (uint64_t)v[0] + v[1] + v[2] + v[3];
}

INLINE uint32_t top32(u32x4 v)
{
	uint32_t a = v[0] > v[1] ? v[0] : v[1], b = v[2] > v[3] ? v[2] : v[3];
	return a > b ? a : b;
}

struct lane {
	u32x4 bits;
	i32x4 key;
	f32x4 value;
};

INLINE struct lane lane_of_side(const void *side, size_t i)
{
	const struct side *s = side;
	return (struct lane){s->bits[i], s->key[i], s->value[i]};
}

/* binary32 needs no reading beforehand. */
INLINE struct lane lane_of_f32(const void *row, size_t i)
{
	u32x4 bits;
	memcpy(&bits, (const uint8_t *)row + 16 * i, 16);
	return (struct lane){bits, signed_steps(bits & 0x7fffffff, (u32x4)((i32x4)bits >> 31)),
			     (f32x4)bits};
}

INLINE u32x4 rounded_gap(const struct lane *p, const struct lane *q)
{
	return (u32x4)(p->value - q->value) & 0x7fffffff;
}

/* The usual block: no NaN and no sign that changed, so that distances are differences of
 * the bits. False where it is not one: then nothing counts. */
INLINE bool classify_plain(const void *a, const void *b, struct lane get(const void *, size_t),
			   size_t vectors, struct found *found, u32x4 *ret_ulp)
{
	u32x4 same = {0}, max_ulp = {0}, max_abs = {0}, changed = {0};
	for (size_t i = 0; i < vectors; i++) {
		struct lane p = get(a, i), q = get(b, i);
		u32x4 below = (u32x4)(p.bits < q.bits), step = p.bits - q.bits,
		      ulp = (step ^ below) - below;
		same -= (u32x4)(ulp == 0);
		changed |= (u32x4)p.value ^ (u32x4)q.value;
		max_ulp = max32(ulp, max_ulp);
		max_abs = max32(rounded_gap(&p, &q), max_abs);
		ret_ulp[i] = ulp;
	}
	uint64_t differing = vectors * 4 - sum32(same);
	*found = (struct found){differing, differing, 0, 0, top32(max_ulp), top32(max_abs)};
	return !((changed[0] | changed[1] | changed[2] | changed[3]) >> 31) &&
	       found->max_abs <= 0x7f800000;
}

/* All ones where both are numbers. */
INLINE u32x4 numbers(const struct lane *p, const struct lane *q)
{
	return (u32x4)(p->value == p->value) & (u32x4)(q->value == q->value);
}

/* Tells each element's distance, 0 where there is none to speak of. A mask is -1:
 * subtracting it counts. */
INLINE bool classify(const void *a, const void *b, struct lane get(const void *, size_t),
		     size_t vectors, struct found *found, u32x4 *ret_ulp)
{
	u32x4 same = {0}, values = {0}, max_ulp = {0}, max_abs = {0}, ordered = ~(u32x4){0};
	for (size_t i = 0; i < vectors; i++) {
		struct lane p = get(a, i), q = get(b, i);
		u32x4 both = numbers(&p, &q), value = both & ~(u32x4)(p.key == q.key);
		u32x4 below = (u32x4)(p.key < q.key), step = (u32x4)p.key - (u32x4)q.key;
		u32x4 ulp = ((step ^ below) - below) & value;
		same -= (u32x4)(p.bits == q.bits);
		values -= value;
		ordered &= both;
		max_ulp = max32(ulp, max_ulp);
		max_abs = max32(rounded_gap(&p, &q) & value, max_abs);
		ret_ulp[i] = ulp;
	}
	*found = (struct found){.differing = vectors * 4 - sum32(same),
				.value = sum32(values),
				.max_ulp = top32(max_ulp),
				.max_abs = top32(max_abs)};
	return (ordered[0] & ordered[1] & ordered[2] & ordered[3]) != 0;
}

/* The classes of NaNs, for the few blocks that have any. */
INLINE void count_nans(const void *a, const void *b, struct lane get(const void *, size_t),
		       size_t vectors, struct found *found)
{
	u32x4 one = {0}, payload = {0};
	for (size_t i = 0; i < vectors; i++) {
		struct lane p = get(a, i), q = get(b, i);
		u32x4 nan_p = (u32x4)(p.value != p.value), nan_q = (u32x4)(q.value != q.value);
		one -= nan_p ^ nan_q;
		payload -= nan_p & nan_q & (u32x4)(p.bits != q.bits);
	}
	found->nan_one = sum32(one);
	found->nan_payload = sum32(payload);
}

/* Rounding keeps order, so the largest exact difference is among those whose rounded ones
 * are the largest. */
INLINE void refine_max(struct ls_stats *s, const void *a, const void *b,
		       struct lane get(const void *, size_t), size_t vectors, uint32_t max_abs)
{
	float most;
	memcpy(&most, &max_abs, 4);
	if (max_abs == 0 || most < (float)s->max_abs)
		return;
	for (size_t i = 0; i < vectors; i++) {
		struct lane p = get(a, i), q = get(b, i);
		u64x2 hit = (u64x2)(rounded_gap(&p, &q) == max_abs);
		for (int k = 0; (hit[0] | hit[1]) && k < 4; k++) {
			double d = fabs((double)p.value[k] - (double)q.value[k]);
			s->max_abs = d > s->max_abs ? d : s->max_abs;
		}
	}
}

INLINE int bucket(uint32_t ulp)
{
	return 63 - __builtin_clzll((uint64_t)(ulp - 1) << 1 |
				    1); /* the length of ulp - 1 in bits; 32 for 0 */
}

/* Four tables, as one counter would wait for its own store. Distances of 0 land in bucket
 * 32 and are taken out again.
 */
static void histogram_wide(struct ls_stats *s, const u32x4 *ulp, size_t vectors, uint64_t values)
{
	uint32_t count[4][40] = {0};
	for (size_t i = 0; i < vectors; i++) {
		count[0][bucket(ulp[i][0])]++;
		count[1][bucket(ulp[i][1])]++;
		count[2][bucket(ulp[i][2])]++;
		count[3][bucket(ulp[i][3])]++;
	}
	for (int k = 0; k < 33; k++)
		s->ulp[k] += (uint64_t)count[0][k] + count[1][k] + count[2][k] + count[3][k];
	s->ulp[32] -= vectors * 4 - values;
}

/* Few buckets: how many are beyond each of their limits. */
static void histogram_narrow(struct ls_stats *s, const u32x4 *ulp, size_t vectors, uint64_t values,
			     int last)
{
	for (int k = 0; k < last; k++) {
		u32x4 above = {0},
		      too = {0}; /* two chains of additions, as each waits for its own */
		size_t i = 0;
		for (; i + 1 < vectors; i += 2) {
			above -= (u32x4)(ulp[i] > UINT32_C(1) << k);
			too -= (u32x4)(ulp[i + 1] > UINT32_C(1) << k);
		}
		if (i < vectors)
			above -= (u32x4)(ulp[i] > UINT32_C(1) << k);
		s->ulp[k] += values - sum32(above + too);
		values = sum32(above + too);
	}
	s->ulp[last] += values;
}

static void histogram32(struct ls_stats *s, const u32x4 *ulp, size_t vectors,
			const struct found *found)
{
	enum { NARROW = 6 };
	int last = found->max_ulp ? bucket((uint32_t)found->max_ulp) : 0;
	if (last <= NARROW)
		histogram_narrow(s, ulp, vectors, found->value, last);
	else
		histogram_wide(s, ulp, vectors, found->value);
}

static void take(struct ls_stats *s, const struct found *f)
{
	s->differing += f->differing;
	s->value += f->value;
	s->nan_one += f->nan_one;
	s->nan_payload += f->nan_payload;
	s->zero_sign += f->differing - f->value - f->nan_one - f->nan_payload;
	s->max_ulp = f->max_ulp > s->max_ulp ? f->max_ulp : s->max_ulp;
}

INLINE void add_lanes(struct ls_stats *s, const void *a, const void *b,
		      struct lane get(const void *, size_t), size_t vectors, int *careful)
{
	enum { EXPECT = 16 };
	u32x4 ulp[LS_LANES / 4];
	struct found found;
	if (*careful > 0 || !classify_plain(a, b, get, vectors, &found, ulp)) {
		*careful = *careful > 0 ? *careful - 1 : EXPECT;
		if (!classify(a, b, get, vectors, &found, ulp))
			count_nans(a, b, get, vectors, &found);
	}
	refine_max(s, a, b, get, vectors, found.max_abs);
	histogram32(s, ulp, vectors, &found);
	take(s, &found);
}

static void add_small(struct ls_stats *s, enum ls_dtype t, struct ls_lanes *lanes, const uint8_t *a,
		      const uint8_t *b, size_t n)
{
	struct side x, y;
	read_side(&x, t, lanes, a, n);
	read_side(&y, t, lanes, b, n);
	if (t != LS_DT_F16 && t != LS_DT_BF16)
		lanes->careful =
			1; /* among 8 bits are formats whose NaN has the bits of minus zero */
	add_lanes(s, &x, &y, lane_of_side, (n + 3) / 4, &lanes->careful);
}

static void add_f32(struct ls_stats *s, struct ls_lanes *lanes, const uint8_t *a, const uint8_t *b,
		    size_t n)
{
	u32x4 last[2] = {{0}, {0}};
	add_lanes(s, a, b, lane_of_f32, n / 4, &lanes->careful);
	memcpy(&last[0], a + n / 4 * 16, n % 4 * 4);
	memcpy(&last[1], b + n / 4 * 16, n % 4 * 4);
	if (n % 4)
		add_lanes(s, &last[0], &last[1], lane_of_f32, 1, &lanes->careful);
}

INLINE u64x2 max64(u64x2 a, u64x2 b)
{
	u64x2 mask = (u64x2)(a > b);
	return (mask & a) | (~mask & b);
}

INLINE i64x2 steps64(u64x2 bits)
{
	u64x2 magnitude = bits & INT64_MAX, minus = (u64x2){0} - (bits >> 63);
	u64x2 nan = (u64x2)(magnitude > UINT64_C(0x7ff) << 52);
	return (i64x2)((((magnitude ^ minus) - minus) & ~nan) | (nan & (uint64_t)INT64_MIN));
}

static void histogram64(struct ls_stats *s, const u64x2 *ulps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t ulp = ulps[i / 2][i % 2];
		if (ulp)
			s->ulp[ulp == 1 ? 0 : 64 - __builtin_clzll(ulp - 1)]++;
	}
}

static void add_doubles(struct ls_stats *s, const uint8_t *a, const uint8_t *b, size_t n)
{
	u64x2 ulps[LS_LANES / 2], differing = {0}, values = {0}, one = {0}, payload = {0},
				  max_ulp = {0}, max_abs = {0};
	for (size_t at = 0; at < n; at += 2) {
		u64x2 x = {0}, y = {0};
		memcpy(&x, a + 8 * at, n - at > 1 ? 16 : 8);
		memcpy(&y, b + 8 * at, n - at > 1 ? 16 : 8);
		i64x2 p = steps64(x), q = steps64(y);
		u64x2 nan_p = (u64x2)(p == INT64_MIN), nan_q = (u64x2)(q == INT64_MIN);
		u64x2 differs = (u64x2)(x != y), value = (u64x2)(p != q) & ~(nan_p | nan_q);
		u64x2 below = (u64x2)(p < q), step = (u64x2)p - (u64x2)q;
		u64x2 ulp = ((step ^ below) - below) & value;
		differing -= differs;
		values -= value;
		one -= nan_p ^ nan_q;
		payload -= nan_p & nan_q & differs;
		max_ulp = max64(ulp, max_ulp);
		max_abs = max64((u64x2)((f64x2)x - (f64x2)y) & INT64_MAX & value, max_abs);
		ulps[at / 2] = ulp;
	}
	uint64_t most = max_abs[0] > max_abs[1] ? max_abs[0] : max_abs[1];
	double d;
	memcpy(&d, &most, 8);
	s->max_abs = d > s->max_abs ? d : s->max_abs;
	histogram64(s, ulps, n);
	take(s, &(struct found){differing[0] + differing[1], values[0] + values[1], one[0] + one[1],
				payload[0] + payload[1],
				max_ulp[0] > max_ulp[1] ? max_ulp[0] : max_ulp[1], 0});
}

INLINE uint64_t load(const uint8_t *p, size_t i, size_t size)
{
	uint64_t x = 0;
	memcpy(&x, p + size * i, size);
	return x;
}

/* flip makes the order of signed numbers that of unsigned ones. */
INLINE void add_integers(struct ls_stats *s, const uint8_t *a, const uint8_t *b, size_t n,
			 size_t size, bool is_signed)
{
	uint64_t differing = 0, max = 0, flip = is_signed ? UINT64_C(1) << (8 * size - 1) : 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t x = load(a, i, size) ^ flip, y = load(b, i, size) ^ flip,
			 d = x > y ? x - y : y - x;
		differing += d != 0;
		max = d > max ? d : max;
	}
	s->max_abs = (double)max > s->max_abs ? (double)max : s->max_abs;
	take(s, &(struct found){.differing = differing, .value = differing});
}

bool ls_lanes_can(enum ls_dtype t)
{
	return t != LS_DT_C32 && t != LS_DT_C64 && t != LS_DT_C128;
}

static void add_by_type(struct ls_stats *s, enum ls_dtype t, struct ls_lanes *lanes,
			const uint8_t *a, const uint8_t *b, size_t n)
{
	switch (t) {
	case LS_DT_F32:
		add_f32(s, lanes, a, b, n);
		break;
	case LS_DT_F64:
		add_doubles(s, a, b, n);
		break;
	case LS_DT_BOOL:
	case LS_DT_U8:
		add_integers(s, a, b, n, 1, false);
		break;
	case LS_DT_I8:
		add_integers(s, a, b, n, 1, true);
		break;
	case LS_DT_U16:
		add_integers(s, a, b, n, 2, false);
		break;
	case LS_DT_I16:
		add_integers(s, a, b, n, 2, true);
		break;
	case LS_DT_U32:
		add_integers(s, a, b, n, 4, false);
		break;
	case LS_DT_I32:
		add_integers(s, a, b, n, 4, true);
		break;
	case LS_DT_U64:
		add_integers(s, a, b, n, 8, false);
		break;
	case LS_DT_I64:
		add_integers(s, a, b, n, 8, true);
		break;
	default:
		add_small(s, t, lanes, a, b, n);
	}
}

void ls_lanes_add(struct ls_stats *s, enum ls_dtype t, struct ls_lanes *lanes, const uint8_t *a,
		  const uint8_t *b, size_t n, uint64_t base)
{
	uint64_t before = s->differing, size = ls_dtype_bits(t) / 8, at = 0;
	add_by_type(s, t, lanes, a, b, n);
	s->elements += n;
	if (s->differing == before || (before && s->first <= base))
		return;
	while (memcmp(a + at * size, b + at * size, size) == 0)
		at++;
	if (before == 0 || base + at < s->first)
		s->first = base + at;
}
