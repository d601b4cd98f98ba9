/* Features of a table's values, for programs that have the table in memory. */
#include <string.h>

#include "api/call.h"
#include "base/mem.h"
#include "base/str.h"
#include "fm/data/columns.h"
#include "fm/data/hash.h"

struct column {
	const char *name;
	uint64_t seed;
	unsigned bits;
	struct ls_str key; /* the name, a zero byte, and the value */
};

static uint32_t feature_of(struct column *c, const char *value, size_t len)
{
	c->key.len = 0;
	ls_str_add_bytes(&c->key, c->name, strlen(c->name) + 1);
	ls_str_add_bytes(&c->key, value, len);
	return ls_feature_of_hash(ls_feature_hash(c->seed, c->key.s, c->key.len), c->bits);
}

static int hash_values(struct column *c, const char *text, const uint64_t *ends, size_t n,
		       uint32_t *ret, struct ls_err *err)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t start = i ? ends[i - 1] : 0;
		if (ends[i] < start)
			return ls_err_set(err, LS_EINPUT,
					  "column \"%.100s\": value %zu ends "
					  "before it begins",
					  c->name, i);
		const char *value = text + start;
		size_t len = (size_t)(ends[i] - start);
		if (len && memchr(value, 0, len))
			return ls_err_set(err, LS_EINPUT,
					  "column \"%.100s\": value %zu holds a zero byte", c->name,
					  i);
		ret[i] = ls_columns_missing(value, len) ? LS_FEATURE_MISSING
							: feature_of(c, value, len);
	}
	return 0;
}

static int hash(const char *column, const char *text, const uint64_t *ends, size_t n, uint64_t seed,
		unsigned bits, uint32_t *ret, struct ls_err *err)
{
	if (!column || !*column)
		return ls_err_set(err, LS_EINPUT, "a column's name is empty");
	if (bits < 1 || bits > LS_HASH_MOST_BITS)
		return ls_err_set(err, LS_EINPUT, "%u bits; there are 1 to %d", bits,
				  LS_HASH_MOST_BITS);
	if (!text != !ends || (!text && n != 1))
		return ls_err_set(err, LS_EINPUT,
				  "column \"%.100s\": a column of numbers has neither text nor "
				  "ends, and one feature",
				  column);
	if (!text) {
		*ret = ls_feature_index(seed, bits, column, NULL);
		return 0;
	}
	struct column c = {.name = column, .seed = seed, .bits = bits};
	int rc = hash_values(&c, text, ends, n, ret, err);
	ls_str_done(&c.key);
	return rc;
}

int ls_features_hash(const char *column, const char *text, const uint64_t *ends, size_t n,
		     uint64_t seed, unsigned bits, uint32_t *ret, struct ls_err *err)
{
	LS_CALL(err, hash(column, text, ends, n, seed, bits, ret, err));
}
