/* A row of little-endian numbers and byte strings, read in order. A read beyond the end
 * gives 0 or NULL and sets bad, which stays: readers look at it where they would use what
 * they read. Borrows the bytes. One thread. */
#ifndef LS_TENSOR_BYTES_H
#define LS_TENSOR_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ls_bytes {
	const uint8_t *data;
	size_t len, at;
	bool bad;
};

static inline size_t ls_bytes_left(const struct ls_bytes *b)
{
	return b->bad ? 0 : b->len - b->at;
}

/* The next n bytes, or NULL. */
static inline const uint8_t *ls_bytes_take(struct ls_bytes *b, uint64_t n)
{
	if (n > ls_bytes_left(b)) {
		b->bad = true;
		return NULL;
	}
	const uint8_t *at = b->data + b->at;
	b->at += (size_t)n;
	return at;
}

static inline uint64_t ls_bytes_number(struct ls_bytes *b, unsigned size)
{
	const uint8_t *at = ls_bytes_take(b, size);
	uint64_t n = 0;
	for (unsigned i = size; at && i-- > 0;)
		n = n << 8 | at[i];
	return n;
}

static inline uint8_t ls_bytes_u8(struct ls_bytes *b)
{
	return (uint8_t)ls_bytes_number(b, 1);
}

static inline uint32_t ls_bytes_u32(struct ls_bytes *b)
{
	return (uint32_t)ls_bytes_number(b, 4);
}

static inline uint64_t ls_bytes_u64(struct ls_bytes *b)
{
	return ls_bytes_number(b, 8);
}

#endif
