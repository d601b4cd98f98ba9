#include "base/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/mem.h"

struct ls_sha256 {
	EVP_MD_CTX *ctx;
};

struct ls_sha256 *ls_sha256_new(void)
{
	struct ls_sha256 *h = ls_xalloc(sizeof *h);
	h->ctx = EVP_MD_CTX_new();
	if (!h->ctx)
		ls_no_memory();
	errno = 0;
	if (EVP_DigestInit_ex(h->ctx, EVP_sha256(), NULL) == 1)
		return h;
	if (errno == ENOMEM)
		ls_no_memory();
	ls_give_up("OpenSSL gives no SHA-256: look at its configuration (OPENSSL_CONF) and "
		   "providers");
}

void ls_sha256_add(struct ls_sha256 *h, const void *data, size_t len)
{
	if (EVP_DigestUpdate(h->ctx, data, len) != 1)
		ls_give_up("OpenSSL's SHA-256 failed");
}

void ls_sha256_final(struct ls_sha256 *h, char ret_hex[LS_SHA256_HEX])
{
	static const char digit[] = "0123456789abcdef";
	unsigned char raw[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	if (EVP_DigestFinal_ex(h->ctx, raw, &len) != 1 || len != 32)
		ls_give_up("OpenSSL's SHA-256 failed");
	for (unsigned i = 0; i < len; i++) {
		ret_hex[2 * i] = digit[raw[i] >> 4];
		ret_hex[2 * i + 1] = digit[raw[i] & 15];
	}
	ret_hex[64] = 0;
	EVP_MD_CTX_free(h->ctx);
	free(h);
}

void ls_sha256(const void *data, size_t len, char ret_hex[LS_SHA256_HEX])
{
	struct ls_sha256 *h = ls_sha256_new();
	ls_sha256_add(h, data, len);
	ls_sha256_final(h, ret_hex);
}

int ls_sha256_file(const char *path, char ret_hex[LS_SHA256_HEX], struct ls_err *err)
{
	enum { CHUNK = 1 << 18 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ls_err_errno(err, path, "open");
	struct ls_sha256 *h = ls_sha256_new();
	char *buf = ls_xalloc(CHUNK);
	ssize_t n;
	while ((n = read(fd, buf, CHUNK)) > 0)
		ls_sha256_add(h, buf, (size_t)n);
	int rc = n < 0 ? ls_err_errno(err, path, "read") : 0;
	char hex[LS_SHA256_HEX];
	ls_sha256_final(h, rc ? hex : ret_hex);
	free(buf);
	close(fd);
	return rc;
}

uint64_t ls_xxh64(const void *data, size_t len)
{
	return XXH3_64bits(data, len);
}

uint64_t ls_xxh64_seeded(const void *data, size_t len, uint64_t seed)
{
	return XXH3_64bits_withSeed(data, len, seed);
}
