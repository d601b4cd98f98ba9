/* The number of a feature of a table, from the name of its column and its value: a
 * documented hash, so that other programs give the same numbers (docs/FORMATS.md, "Features
 * of a table"). Pure functions; any thread. */
#ifndef LS_FM_DATA_HASH_H
#define LS_FM_DATA_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { LS_HASH_BITS = 18, LS_HASH_MOST_BITS = 28 };
#define LS_HASH_SEED 1337

/* XXH3-64 under the seed of the key: COLUMN for a column of numbers; COLUMN, a zero byte
 * and VALUE for a category. */
uint64_t ls_feature_hash(uint64_t seed, const void *key, size_t len);

/* The feature of a hash: its lowest bits. */
static inline uint32_t ls_feature_of_hash(uint64_t hash, unsigned bits)
{
	return (uint32_t)(hash & ((UINT64_C(1) << bits) - 1));
}

/* Of a value; NULL: of the column itself, which has numbers. Neither text may hold a zero
 * byte. */
uint32_t ls_feature_index(uint64_t seed, unsigned bits, const char *column, const char *value);

#endif
