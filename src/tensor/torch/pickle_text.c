/* Texts as protocol 0 writes them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/torch/pickle.h"

static int hex(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* "\u00e9" or "\U0001f600" at s; *ret_len: how long it is. Any other
 * backslash is itself. */
static void escape(const char *s, size_t len, uint32_t *ret, size_t *ret_len)
{
	size_t digits = len > 1 && s[1] == 'u' ? 4 : len > 1 && s[1] == 'U' ? 8 : 0;
	uint32_t c = 0;
	if (s[0] != '\\' || digits == 0 || len < 2 + digits)
		return;
	for (size_t i = 0; i < digits; i++) {
		int d = hex(s[2 + i]);
		if (d < 0)
			return;
		c = c << 4 | (uint32_t)d;
	}
	if (c > 0x10ffff)
		return;
	*ret = c;
	*ret_len = 2 + digits;
}

static size_t put_utf8(char *out, uint32_t c)
{
	static const uint8_t heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (size_t i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(heads[n] | c);
	return n;
}

/* Each byte is a character of latin1, but for escapes. */
char *ls_pickle_raw_unicode(const char *s, size_t len, size_t *ret_len)
{
	char *out = ls_alloc_array(len + 1, 2); /* an escape of six becomes four at most */
	size_t n = 0, step;
	if (!out)
		return NULL;
	for (size_t i = 0; i < len; i += step) {
		uint32_t c = (uint8_t)s[i];
		step = 1;
		escape(s + i, len - i, &c, &step);
		n += put_utf8(out + n, c);
	}
	out[n] = 0;
	*ret_len = n;
	return out;
}
