/* SHA-256 (identity) and XXH3-128 (fast comparison), as binary or as lower-case
 * hexadecimal. ls_sha256_final frees the state. One thread at a time an object. */
#ifndef LS_BASE_DIGEST_H
#define LS_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { LS_SHA256_HEX = 65 }; /* 64 digits and a NUL */

struct ls_sha256;

struct ls_sha256 *ls_sha256_new(void);
void ls_sha256_add(struct ls_sha256 *h, const void *data, size_t len);
void ls_sha256_final(struct ls_sha256 *h, char ret_hex[LS_SHA256_HEX]);

void ls_sha256(const void *data, size_t len, char ret_hex[LS_SHA256_HEX]);
int ls_sha256_file(const char *path, char ret_hex[LS_SHA256_HEX], struct ls_err *err);
uint64_t ls_xxh64(const void *data, size_t len); /* XXH3-64 */
uint64_t ls_xxh64_seeded(const void *data, size_t len, uint64_t seed);

#endif
