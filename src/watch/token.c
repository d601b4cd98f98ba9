#include "watch/token.h"

#include <ctype.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

static void digest(const char *text, size_t len, unsigned char ret[32])
{
	unsigned n = 32;
	if (!EVP_Digest(text, len, ret, &n, EVP_sha256(), NULL))
		ls_give_up("SHA-256 is not available");
}

int ls_token_set(struct ls_token *t, const char *text, struct ls_err *err)
{
	size_t len = strlen(text);
	for (size_t i = 0; i < len; i++)
		if (!isgraph((unsigned char)text[i]))
			return ls_err_set(
				err, LS_EINPUT,
				"the token holds a blank or a character that is not ASCII");
	if (len < LS_TOKEN_LEAST || len > LS_TOKEN_MOST)
		return ls_err_set(err, LS_EINPUT,
				  "the token has %zu characters, not %d to %d; make one with "
				  "`openssl rand -hex 32`",
				  len, LS_TOKEN_LEAST, LS_TOKEN_MOST);
	digest(text, len, t->digest);
	return 0;
}

static int check_file(const char *path, struct ls_err *err)
{
	struct stat st;
	if (stat(path, &st) != 0)
		return ls_err_errno(err, path, "read");
	if (!S_ISREG(st.st_mode))
		return ls_err_set(err, LS_EINPUT, "%s: not a regular file", path);
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return ls_err_set(err, LS_EINPUT, "%s: others may use it; run `chmod 600 %s`", path,
				  path);
	if (st.st_uid != geteuid())
		return ls_err_set(err, LS_EINPUT, "%s: it belongs to another user", path);
	return 0;
}

int ls_token_text(const char *path, char ret[LS_TOKEN_MOST + 1], struct ls_err *err)
{
	struct ls_token checked;
	char *text;
	size_t len;
	if (check_file(path, err) || ls_file_read(path, 4096, &text, &len, err))
		return err->code;
	text[strcspn(text, "\r\n")] = 0;
	int rc = ls_token_set(&checked, text, err);
	if (!rc)
		snprintf(ret, LS_TOKEN_MOST + 1, "%s", text);
	OPENSSL_cleanse(text, len);
	free(text);
	return rc ? ls_err_prefix(err, "%s", path) : 0;
}

int ls_token_read(struct ls_token *t, const char *path, struct ls_err *err)
{
	char text[LS_TOKEN_MOST + 1];
	int rc = ls_token_text(path, text, err);
	if (!rc)
		rc = ls_token_set(t, text, err);
	OPENSSL_cleanse(text, sizeof text);
	return rc;
}

/* The password of "dXNlcjp0b2tlbg==", in place of it. */
static const char *basic(const char *text, char ret[512])
{
	unsigned char out[512];
	size_t len = strlen(text), pad = 0;
	if (len % 4 || len >= sizeof out || len == 0)
		return NULL;
	while (pad < 2 && text[len - 1 - pad] == '=')
		pad++;
	int n = EVP_DecodeBlock(out, (const unsigned char *)text, (int)len);
	if (n < 0)
		return NULL;
	memcpy(ret, out, (size_t)n - pad);
	ret[(size_t)n - pad] = 0;
	char *colon = strchr(ret, ':');
	return colon ? colon + 1 : NULL;
}

bool ls_token_opens(const struct ls_token *t, const char *authorization)
{
	char buffer[512];
	unsigned char is[32];
	const char *p = NULL;
	if (strncasecmp(authorization, "Bearer ", 7) == 0)
		p = authorization + 7;
	else if (strncasecmp(authorization, "Basic ", 6) == 0)
		p = basic(authorization + 6, buffer);
	if (!p)
		return false;
	digest(p, strlen(p), is);
	return CRYPTO_memcmp(is, t->digest, sizeof is) == 0;
}
