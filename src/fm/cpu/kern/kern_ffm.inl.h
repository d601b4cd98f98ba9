/* Rows of an ffm. Each unordered pair of entries is taken once, in stored order. back
 * (entries × entry_stride floats) gets P; NULL: only the score is wanted. Included by
 * kern.c alone. Owns nothing; workers have disjoint rows. */
#ifndef LS_FM_CPU_KERN_KERN_FFM_INL_H
#define LS_FM_CPU_KERN_KERN_FFM_INL_H

#include <string.h>

#include "fm/cpu/kern/kern_row.inl.h"
#include "num/halve.h"

/* floats; the hardware prefetches the rest of a longer record in time */
enum { LONG_RECORD = 24 * LINE };

/* Prefetches one line of each of the next row's records, all at once: a TLB miss holds up
 * what comes after it, but several page walks overlap. */
INLINE void prefetch_pages(const struct ls_fm_model *m, const struct row *r, size_t offset)
{
	const float *at = offset ? m->record + offset : m->linear;
	size_t stride = ls_fm_stride(m);
	for (uint32_t i = 0; i < r->n_next; i++)
		__builtin_prefetch(at + r->next[i] * stride);
}

/* Prefetches the record of entry i of the next row into the second-level cache. The first
 * level has no room for the records of two rows. */
INLINE void prefetch_next_record(const struct ls_fm_model *m, const struct row *r, uint32_t i,
				 size_t offset, uint32_t K)
{
	size_t size = (size_t)m->n_fields * K;
	if (i >= r->n_next || size > LONG_RECORD)
		return;
	const float *at = m->record + offset + r->next[i] * ls_fm_stride(m), *end = at + size;
	UNROLL
	for (; at < end; at += LINE)
		__builtin_prefetch(at, 0, 2);
	__builtin_prefetch(end - 1, 0, 2);
}

/* Where the records of a row are, this output's part of them. */
INLINE void find_records(const struct ls_fm_model *m, const struct row *r, size_t offset,
			 const float **ret_v)
{
	const float *first = m->record + offset;
	size_t stride = ls_fm_stride(m);
	for (uint32_t i = 0; i < r->n; i++)
		ret_v[i] = first + r->feature[i] * stride;
}

/* Prefetches entry i of the next row, and the lines that the entries after i need
 * soon. */
INLINE void prefetch_ahead(const struct ls_fm_model *m, const struct row *r, const float *const *v,
			   uint32_t i, size_t offset, uint32_t K)
{
	const uint32_t line =
		/* entries whose vectors share a cache line of a record */
		K < LINE ? LINE / K : 1;
	prefetch_next_record(m, r, i, offset, K);
	for (uint32_t j = i + 1; j < r->n && i % line == 0; j++)
		__builtin_prefetch(v[j] + (size_t)(i + 2 * line) * K);
}

/* Prefetches, for writing, the part of back that entry i of the next row fills: the rows'
 * parts follow each other. On x86-64 only: compilers make it a prefetch for reading
 * unless told the processor, and old processors ignore the instruction. */
INLINE void prefetch_next_back(const struct row *r, uint32_t i, uint32_t K, const float *back,
			       size_t entry_stride)
{
#if defined(__x86_64__)
	if (i >= r->n_next)
		return;
	const float *at = back + (r->n + i) * entry_stride;
	for (size_t c = 0; c < (size_t)r->n * K; c += LINE)
		__asm__ volatile("prefetchw %0" : : "m"(at[c]));
#else
	(void)r, (void)i, (void)K, (void)back, (void)entry_stride;
#endif
}

/* Adds the product of two entries' vectors to `total`. to_i and to_j get what the
 * backward pass needs, unless they are NULL. */
INLINE void ffm_pair(const float *vi, const float *vj, float xi, float xj, bool has_x, uint32_t K,
		     float *to_i, float *to_j, ls_simd_f32 *total, ls_simd_u32 *top)
{
	const ls_simd_f32 *a = (const ls_simd_f32 *)vi, *b = (const ls_simd_f32 *)vj;
	for (uint32_t c = 0; c < K / 4; c++) {
		ls_simd_f32 ax = has_x ? a[c] * xi : a[c], bx = has_x ? b[c] * xj : b[c];
		total[c] += ax * bx;
		if (to_i) {
			*top = ls_simd_max(*top, ls_simd_max(ls_simd_abs2(ax), ls_simd_abs2(bx)));
			((ls_simd_f32 *)to_i)[c] = bx;
			((ls_simd_f32 *)to_j)[c] = ax;
		}
	}
}

/* The score of a row with one entry of each field. All pairs of the first entry come
 * first, then those of the second, so that a record is read a cache line at a time. */
INLINE void ffm_once(const struct ls_fm_model *m, const struct row *r, size_t offset, uint32_t K,
		     ls_simd_f32 *total)
{
	const float *v[MOST_POINTERS], *x = r->x;
	const uint32_t n = r->n;
	find_records(m, r, offset, v);
	prefetch_pages(m, r, offset);
	for (uint32_t i = 0; i < n; i++) {
		prefetch_ahead(m, r, v, i, offset, K);
		UNROLL
		for (uint32_t j = i + 1; j < n; j++)
			ffm_pair(v[i] + (size_t)j * K, v[j] + (size_t)i * K, x ? x[i] : 1.0f,
				 x ? x[j] : 1.0f, x, K, NULL, NULL, total, NULL);
	}
}

/* The same with back. has_x is a compile-time constant. */
INLINE void ffm_once_back(const struct ls_fm_model *m, const struct row *r, bool has_x,
			  size_t offset, uint32_t K, float *back, size_t entry_stride,
			  ls_simd_f32 *total, ls_simd_u32 *top)
{
	const float *v[MOST_POINTERS], *x = r->x;
	const uint32_t n = r->n;
	find_records(m, r, offset, v);
	prefetch_pages(m, r, offset);
	for (uint32_t i = 0; i < n; i++) {
		const float *vi = v[i], xi = has_x ? x[i] : 1.0f;
		float *row = back + i * entry_stride;
		memset(row + (size_t)i * K, 0, sizeof(float) * K);
		prefetch_ahead(m, r, v, i, offset, K);
		prefetch_next_back(r, i, K, back, entry_stride);
		for (uint32_t j = i + 1; j < n; j++)
			ffm_pair(vi + (size_t)j * K, v[j] + (size_t)i * K, xi, has_x ? x[j] : 1.0f,
				 has_x, K, row + (size_t)j * K,
				 back + j * entry_stride + (size_t)i * K, total, top);
	}
}

/* The pairs of entry i with all entries after it, of any row. with_back is a compile-time
 * constant. */
INLINE void ffm_pairs(const struct ls_fm_model *m, const struct row *r, uint32_t i, size_t offset,
		      uint32_t K, float *back, size_t entry_stride, bool with_back,
		      ls_simd_f32 *total)
{
	size_t stride = ls_fm_stride(m), at_i = (size_t)r->field[i] * K;
	const uint32_t *feature = r->feature, n = r->n;
	const uint16_t *field = r->field;
	const float *x = r->x, *record = m->record + offset, *vi = record + feature[i] * stride;
	float xi = x ? x[i] : 1.0f;
	for (uint32_t j = i + 1; j < n; j++) {
		size_t at_j = (size_t)field[j] * K;
		const ls_simd_f32 *a = (const ls_simd_f32 *)(vi + at_j);
		const ls_simd_f32 *b = (const ls_simd_f32 *)(record + feature[j] * stride + at_i);
		ls_simd_f32 *to_i =
			with_back ? (ls_simd_f32 *)(back + i * entry_stride + at_j) : NULL;
		ls_simd_f32 *to_j =
			with_back ? (ls_simd_f32 *)(back + j * entry_stride + at_i) : NULL;
		float xj = x ? x[j] : 1.0f;
		for (uint32_t c = 0; c < K / 4; c++) {
			ls_simd_f32 ax = a[c] * xi, bx = b[c] * xj;
			total[c] += ax * bx;
			if (with_back) {
				to_i[c] += bx;
				to_j[c] += ax;
			}
		}
	}
}

/* A row with other than one entry of each field: terms are added to back, which starts
 * from zero. */
INLINE void ffm_any(const struct ls_fm_model *m, const struct row *r, size_t offset, uint32_t K,
		    float *back, size_t entry_stride, ls_simd_f32 *total)
{
	for (uint32_t i = 0; i < r->n && back; i++)
		memset(back + i * entry_stride, 0, sizeof(float) * m->n_fields * K);
	prefetch_pages(m, r, offset);
	for (uint32_t i = 0; i < r->n; i++) {
		prefetch_next_record(m, r, i, offset, K);
		if (back)
			ffm_pairs(m, r, i, offset, K, back, entry_stride, true, total);
		else
			ffm_pairs(m, r, i, offset, K, NULL, 0, false, total);
	}
}

INLINE float ffm_halve(const ls_simd_f32 *total, uint32_t K)
{
	float t[MAX_K];
	memcpy(t, total, sizeof(float) * K);
	return ls_halve_sum(t, (int)K);
}

INLINE void clear_packs(ls_simd_f32 *total, uint32_t n)
{
	for (uint32_t c = 0; c < n; c++)
		total[c] = (ls_simd_f32){0};
}

/* *top gets the largest |bits| of back. */
INLINE float ffm_output(const struct ls_fm_model *m, const struct row *r, uint32_t o, uint32_t K,
			float *back, size_t entry_stride, uint32_t *top)
{
	size_t block = (size_t)m->n_fields * K;
	ls_simd_f32 total[MAX_K / 4];
	ls_simd_u32 tops = {0};
	bool once = one_of_each_field(r, m->n_fields);
	clear_packs(total, K / 4);
	if (!once)
		ffm_any(m, r, o * block, K, back, entry_stride, total);
	else if (!back)
		ffm_once(m, r, o * block, K, total);
	else if (r->x)
		ffm_once_back(m, r, true, o * block, K, back, entry_stride, total, &tops);
	else
		ffm_once_back(m, r, false, o * block, K, back, entry_stride, total, &tops);
	for (uint32_t i = 0; i < r->n && back && !once; i++)
		*top = largest_bits(back + i * entry_stride, block, *top);
	for (int i = 0; i < 4; i++)
		*top = tops[i] / 2 > *top ? tops[i] / 2 : *top;
	return ffm_halve(total, K);
}

#endif
