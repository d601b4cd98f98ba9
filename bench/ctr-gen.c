/* Click-through data with planted interactions: the workload that every trainer is
 * measured on.
 *
 *   ctr-gen FOLDER [rows = 500000] [seed = 42] [features = 1000000]
 *
 * Writes tr.ffm and va.ffm (libffm) and tr.svm and va.svm (libsvm, ascending, without
 * twins) into FOLDER; every tenth row goes to va. A row has 39 fields with one feature
 * each, log-uniform within the field, hashed into one range of ids. The label is the sign
 * of a factorization machine of rank 4 plus noise. Only integers and + - * on doubles are
 * used, so the files are the same on every machine. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 39, RANK = 4, OUT_BYTES = 1 << 16, LINE_BYTES = 4 + FIELDS * 24 };

/* Values a field has, as a power of two: counters first, then categories. */
static const uint8_t log2_values[FIELDS] = {4,  5,  5,  6,  6,  6,  6,  6,  7, 5,  5,  5,  6,
					    10, 9,  23, 21, 8,  5,  13, 9,  2, 16, 12, 22, 11,
					    5,  13, 22, 3,  12, 11, 2,  22, 4, 4,  18, 7,  17};

struct spec {
	uint64_t rows, seed, features;
};

struct row {
	uint32_t id[FIELDS];
	bool label;
};

/* SplitMix64's output function. */
static uint64_t mix(uint64_t z)
{
	z += 0x9E3779B97F4A7C15u;
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

/* About normal with deviation 1: twelve uniforms of 16 bits added up. */
static double bell(uint64_t key)
{
	int64_t sum = -6 * 65535;
	for (uint64_t i = 0; i < 3; i++)
		for (uint64_t h = mix(key * 3 + i), n = 0; n < 4; n++, h >>= 16)
			sum += (int64_t)(h & 0xFFFF);
	return (double)sum * (1.0 / 65536);
}

static uint32_t feature_id(const struct spec *s, uint64_t row, uint64_t field)
{
	uint64_t h = mix(mix(s->seed) ^ (row * 64 + field));
	uint64_t bits = (h >> 32) % (log2_values[field] + 1u);
	uint64_t value = (UINT64_C(1) << bits) + (h & ((UINT64_C(1) << bits) - 1));
	return (uint32_t)(mix((field + 1) << 40 ^ value) % s->features);
}

/* The order of additions is part of the workload: features in field order, then the
 * factors, then the squares. */
static struct row make_row(const struct spec *s, uint64_t number)
{
	struct row r;
	double score = -0.9, sum[RANK] = {0}, squares = 0;
	for (uint64_t f = 0; f < FIELDS; f++) {
		r.id[f] = feature_id(s, number, f);
		uint64_t key = mix(s->seed * 1000003) ^ ((uint64_t)r.id[f] * 8);
		score += 0.30 * bell(key);
		for (uint64_t k = 0; k < RANK; k++) {
			double v = 0.22 * bell(key + 1 + k);
			sum[k] += v;
			squares += v * v;
		}
	}
	for (int k = 0; k < RANK; k++)
		score += 0.5 * sum[k] * sum[k];
	score -= 0.5 * squares;
	r.label = score + 1.2 * bell(mix(s->seed + 7) ^ number) > 0;
	return r;
}

static char *put_number(char *to, uint32_t v)
{
	char digits[10];
	int n = 0;
	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		*to++ = digits[--n];
	return to;
}

static char *put_ffm(char *to, const struct row *r)
{
	*to++ = r->label ? '1' : '0';
	for (uint32_t f = 0; f < FIELDS; f++) {
		*to++ = ' ';
		to = put_number(to, f);
		*to++ = ':';
		to = put_number(to, r->id[f]);
		*to++ = ':';
		*to++ = '1';
	}
	*to++ = '\n';
	return to;
}

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static char *put_svm(char *to, const struct row *r)
{
	uint32_t id[FIELDS];
	memcpy(id, r->id, sizeof id);
	qsort(id, FIELDS, sizeof *id, ascending);
	*to++ = r->label ? '1' : '0';
	for (int f = 0; f < FIELDS; f++) {
		if (f && id[f] == id[f - 1])
			continue;
		*to++ = ' ';
		to = put_number(to, id[f]);
		*to++ = ':';
		*to++ = '1';
	}
	*to++ = '\n';
	return to;
}

static FILE *open_in(const char *folder, const char *name)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "w");
	if (!f) {
		perror(path);
		exit(1);
	}
	setvbuf(f, NULL, _IOFBF, OUT_BYTES);
	return f;
}

static void close_out(FILE *f)
{
	int failed = ferror(f);
	if (fclose(f) != 0 || failed) {
		perror("ctr-gen: write");
		exit(1);
	}
}

static uint64_t number_or(const char *text, uint64_t otherwise)
{
	char *end = NULL;
	uint64_t v = text ? strtoull(text, &end, 10) : otherwise;
	if (text && (end == text || *end)) {
		fprintf(stderr, "ctr-gen: \"%s\" is not a number\n", text);
		exit(2);
	}
	return v;
}

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 5) {
		fprintf(stderr, "usage: ctr-gen FOLDER [rows] [seed] [features]\n");
		return 2;
	}
	struct spec s = {number_or(argc > 2 ? argv[2] : NULL, 500000),
			 number_or(argc > 3 ? argv[3] : NULL, 42),
			 number_or(argc > 4 ? argv[4] : NULL, 1000000)};
	FILE *ffm[2] = {open_in(argv[1], "tr.ffm"), open_in(argv[1], "va.ffm")};
	FILE *svm[2] = {open_in(argv[1], "tr.svm"), open_in(argv[1], "va.svm")};
	bool failed = s.features == 0;
	for (uint64_t i = 0; i < s.rows && !failed; i++) {
		char line[LINE_BYTES];
		struct row r = make_row(&s, i);
		int valid = i % 10 == 9;
		fwrite(line, 1, (size_t)(put_ffm(line, &r) - line), ffm[valid]);
		fwrite(line, 1, (size_t)(put_svm(line, &r) - line), svm[valid]);
	}
	for (int t = 0; t < 2; t++) {
		close_out(ffm[t]);
		close_out(svm[t]);
	}
	return failed ? 2 : 0;
}
