/* bench_core [MIB]: what one core of this machine can do, for the floors in README.md:
 * the time of a vector operation of four lanes, many under way, and of a cache line of a
 * record somewhere in MIB of memory (default 1200, as the records of an ffm with a
 * million features), read, and read and written, with so many records asked for ahead.
 * Prints nanoseconds; asserts nothing. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/huge_pages.h"
#include "fm/cpu/kern/simd.h"
#include "fm/model/model.h"
#include "num/philox.h"

enum { CHAINS = 16, ROUNDS = 1000000, LINE = 16, RECORD = 316, VISITS = 300000 };

#if defined(__x86_64__)
#define IN_REGISTER(v) __asm__ volatile("" : "+x"(v))
#elif defined(__aarch64__)
#define IN_REGISTER(v) __asm__ volatile("" : "+w"(v))
#else
#define IN_REGISTER(v) __asm__ volatile("" : "+m"(v))
#endif

/* The best of five: CHAINS results, each fed back, so that none waits for another. */
#define OPERATION(what, type, start, op)                                                           \
	do {                                                                                       \
		double best = 1e9;                                                                 \
		for (int turn = 0; turn < 5; turn++) {                                             \
			type v[CHAINS];                                                            \
			for (int i = 0; i < CHAINS; i++)                                           \
				v[i] = (type){0} + (start);                                        \
			double begin = ls_clock();                                                 \
			for (int r = 0; r < ROUNDS; r++)                                           \
				for (int i = 0; i < CHAINS; i++) {                                 \
					v[i] = (op);                                               \
					IN_REGISTER(v[i]);                                         \
				}                                                                  \
			double took = ls_clock() - begin;                                          \
			best = took < best ? took : best;                                          \
		}                                                                                  \
		printf("%-34s %6.3f ns\n", what, best / ROUNDS / CHAINS * 1e9);                    \
	} while (0)

static void operations(void)
{
	float one = 1.0f;
	double slope = 0.5;
	__asm__ volatile("" : "+m"(one), "+m"(slope)); /* not known to the compiler */
	OPERATION("add, 4 floats", ls_simd_f32, one, v[i] + one);
	OPERATION("multiply, 4 floats", ls_simd_f32, one, v[i] * one);
	OPERATION("add, integers of 64 bits", ls_simd_u64, 1, v[i] + (uint64_t)one);
	OPERATION("term of a sum (pack.h)", ls_simd_f64, slope,
		  (ls_simd_f64)ls_simd_term(slope, v[i]));
	OPERATION("sum to double (pack.h)", ls_simd_f64, slope,
		  ls_simd_from_i64((ls_simd_u64)v[i]));
	OPERATION("square root, 4 floats", ls_simd_f32, one, ls_simd_sqrt(v[i]));
	OPERATION("divide, 4 floats", ls_simd_f32, one, one / v[i]);
}

static void ask(const float *record, uint32_t floats)
{
	for (uint32_t at = 0; at < floats; at += LINE)
		__builtin_prefetch(record + at);
}

static float visit(float *table, const uint32_t *order, uint32_t floats, bool write, uint32_t ahead)
{
	ls_simd_f32 sum = {0};
	for (uint32_t i = 0; i < VISITS; i++) {
		float *record = table + (size_t)order[i] * RECORD;
		if (ahead)
			ask(table + (size_t)order[i + ahead < VISITS ? i + ahead : i] * RECORD,
			    floats);
		for (uint32_t at = 0; at < floats; at += 4) {
			ls_simd_f32 *four = (ls_simd_f32 *)(record + at);
			sum += *four;
			if (write)
				*four = *four + 1.0f;
		}
	}
	return sum[0];
}

static void visits(float *table, const uint32_t *order, uint32_t floats, bool write)
{
	static const uint32_t aheads[] = {0, 1, 2, 4, 8};
	float sum = 0.0f;
	printf("%u floats of a record, %s:", floats, write ? "read and written" : "read");
	for (size_t a = 0; a < sizeof aheads / sizeof *aheads; a++) {
		double best = 1e9;
		for (int turn = 0; turn < 3; turn++) {
			double begin = ls_clock();
			sum += visit(table, order, floats, write, aheads[a]);
			double took = ls_clock() - begin;
			best = took < best ? took : best;
		}
		printf("  %u ahead %.1f ns a line", aheads[a],
		       best / VISITS / (floats / (double)LINE) * 1e9);
	}
	printf("%s\n", sum > 0.0f ? "" : "?"); /* the sums are made use of */
}

int main(int argc, char **argv)
{
	size_t mib = argc > 1 ? strtoull(argv[1], NULL, 10) : 1200,
	       records = (mib << 20) / (RECORD * sizeof(float));
	float *table = records && records < UINT32_MAX
			       ? ls_huge_alloc(records * RECORD * sizeof *table)
			       : NULL;
	uint32_t *order = malloc(VISITS * sizeof *order);
	if (!table || !order) {
		fprintf(stderr, "bench_core: cannot have %zu MiB\n", mib);
		return 1;
	}
	for (size_t i = 0; i < records * RECORD; i++)
		table[i] = 1.0f;
	for (uint32_t i = 0; i < VISITS; i++)
		order[i] = (uint32_t)(ls_philox(1, i, 0).v[0] % records);
	operations();
	for (uint32_t floats = RECORD / 2 - 2; floats < RECORD; floats *= 2) {
		visits(table, order, floats, false);
		visits(table, order, floats, true);
	}
	ls_huge_free(table, records * RECORD * sizeof *table);
	free(order);
	return 0;
}
