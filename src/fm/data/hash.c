#include "fm/data/hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/str.h"

uint64_t ls_feature_hash(uint64_t seed, const void *key, size_t len)
{
	return ls_xxh64_seeded(key, len, seed);
}

uint32_t ls_feature_index(uint64_t seed, unsigned bits, const char *column, const char *value)
{
	struct ls_str key = {0};
	ls_str_add_bytes(&key, column, strlen(column) + (value ? 1 : 0));
	ls_str_add(&key, value ? value : "");
	uint32_t feature = ls_feature_of_hash(ls_feature_hash(seed, key.s, key.len), bits);
	ls_str_done(&key);
	return feature;
}
