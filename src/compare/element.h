/* What two rows of elements differ in: how many, where first, by how much, in which
 * class. Exact, never a tolerance. Statistics of parts are merged; the result does not
 * depend on how the work was split. Any thread. */
#ifndef LS_COMPARE_ELEMENT_H
#define LS_COMPARE_ELEMENT_H

#include "tensor/tensor.h"

enum { LS_ULP_BUCKETS = 65 }; /* bucket k counts distances in (2^(k-1), 2^k]: 1, 2, 3–4, 5–8, … */

struct ls_stats {
	uint64_t elements;
	uint64_t differing;   /* elements with other bits: the sum of the four classes below */
	uint64_t value;       /* other numbers */
	uint64_t nan_one;     /* NaN on one side only */
	uint64_t nan_payload; /* NaN on both sides, other bits */
	uint64_t zero_sign;   /* +0 against -0 */
	uint64_t first; /* flat row-major index of the first; meaningless when differing is 0 */
	double max_abs; /* over class value; elements without arithmetic meaning do not count */
	uint64_t max_ulp;
	uint64_t beyond; /* differing elements beyond a tolerance, where one was given */
	uint64_t ulp[LS_ULP_BUCKETS]; /* floating-point types only; a complex element counts by its
					 larger part */
};

/* Two numbers are within when |a - b| <= abs, or |a - b| <= rel * max(|a|, |b|), or their
 * distance is at most ulp (floating-point types only). Two NaNs are; an infinity and
 * another number are not. */
struct ls_limits {
	double abs, rel;
	uint64_t ulp;
};

bool ls_dtype_is_float(enum ls_dtype t); /* has ULPs; complex types too */
bool ls_dtype_is_number(enum ls_dtype t);

/* Adds what n bytes at a and b (whole elements, packed, little-endian) differ in; base is
 * the index of the first. */
void ls_stats_add(struct ls_stats *s, enum ls_dtype t, uint32_t elem_size, const uint8_t *a,
		  const uint8_t *b, size_t n, uint64_t base);
/* How many of the elements in n bytes are beyond the limits. Elements without arithmetic
 * meaning are beyond when their bits differ. */
uint64_t ls_count_beyond(const struct ls_limits *limits, enum ls_dtype t, uint32_t elem_size,
			 const uint8_t *a, const uint8_t *b, size_t n);
void ls_stats_merge(struct ls_stats *into, const struct ls_stats *from);
/* "1", "2", "3–4", … for a bucket. */
void ls_ulp_bucket_text(int bucket, char *buf, size_t size);

#endif
