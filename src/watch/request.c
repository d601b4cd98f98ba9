#include "watch/request.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { BAD = 400, NO_METHOD = 405, LONG_TARGET = 414, LARGE = 431, NO_VERSION = 505 };

static bool visible(char c)
{
	return c > ' ' && c < 0x7f;
}

/* The end of the line at p, of which *ret_len bytes are its text. NULL: it is not there
 * yet. */
static const char *line_end(const char *p, const char *end, size_t *ret_len)
{
	const char *n = memchr(p, '\n', (size_t)(end - p));
	if (!n)
		return NULL;
	*ret_len = (size_t)(n - p) - (n > p && n[-1] == '\r');
	return n + 1;
}

static int copy(char *ret, size_t size, const char *p, size_t n, int too_long)
{
	if (n >= size)
		return too_long;
	for (size_t i = 0; i < n; i++)
		if (!visible(p[i]) && p[i] != ' ')
			return BAD;
	memcpy(ret, p, n);
	ret[n] = 0;
	return 0;
}

/* "GET /path?query HTTP/1.1" */
static int read_target(const char *p, size_t n, struct ls_request *r)
{
	const char *space = memchr(p, ' ', n);
	size_t len = space ? (size_t)(space - p) : n;
	if (!space || *p != '/' || memchr(p, '\t', n))
		return BAD;
	const char *version = space + 1;
	size_t left = n - len - 1;
	if (left != 8 || memcmp(version, "HTTP/", 5) != 0)
		return BAD;
	if (memcmp(version, "HTTP/1.1", 8) != 0 && memcmp(version, "HTTP/1.0", 8) != 0)
		return NO_VERSION;
	const char *question = memchr(p, '?', len);
	size_t path = question ? (size_t)(question - p) : len;
	int rc = copy(r->path, sizeof r->path, p, path, LONG_TARGET);
	if (rc == 0 && question)
		rc = copy(r->query, sizeof r->query, question + 1, len - path - 1, LONG_TARGET);
	return rc;
}

static int read_first(const char *p, size_t n, struct ls_request *r)
{
	if (n > 4 && memcmp(p, "GET ", 4) == 0)
		return read_target(p + 4, n - 4, r);
	r->head = true;
	if (n > 5 && memcmp(p, "HEAD ", 5) == 0)
		return read_target(p + 5, n - 5, r);
	size_t word = 0;
	while (word < n && isupper((unsigned char)p[word]))
		word++;
	return word && word < n && p[word] == ' ' ? NO_METHOD : BAD;
}

static bool is_token(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!visible(p[i]) || strchr("()<>@,;:\\\"/[]?={}", p[i]))
			return false;
	return n > 0;
}

static int read_header(const char *p, size_t n, struct ls_request *r)
{
	const char *colon = memchr(p, ':', n);
	size_t name = colon ? (size_t)(colon - p) : 0;
	if (!colon || !is_token(p, name) || memchr(p, 0, n))
		return BAD;
	const char *value = colon + 1;
	size_t len = n - name - 1;
	while (len && (*value == ' ' || *value == '\t'))
		value++, len--;
	while (len && (value[len - 1] == ' ' || value[len - 1] == '\t'))
		len--;
	if (name == 4 && strncasecmp(p, "Host", 4) == 0) /* two of them could disagree */
		return *r->host ? BAD : copy(r->host, sizeof r->host, value, len, BAD);
	if (name == 13 && strncasecmp(p, "Authorization", 13) == 0)
		return *r->authorization
			       ? BAD
			       : copy(r->authorization, sizeof r->authorization, value, len, LARGE);
	return 0;
}

int ls_request_parse(const char *bytes, size_t len, struct ls_request *ret)
{
	struct ls_request r;
	const char *p = bytes, *end = bytes + len, *next;
	size_t n;
	bool first = true;
	memset(&r, 0, sizeof r);
	while ((next = line_end(p, end, &n))) {
		if (n == 0 && !first) {
			*ret = r;
			return 0;
		}
		int rc = first ? read_first(p, n, &r) : read_header(p, n, &r);
		if (rc)
			return rc;
		first = false;
		p = next;
	}
	if (len >= LS_REQUEST_SIZE)
		return first ? LONG_TARGET : LARGE;
	return 1;
}

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;
	return at ? (int)(at - digits) : -1;
}

static bool decode(const char *p, size_t n, char *ret, size_t size)
{
	size_t at = 0;
	for (size_t i = 0; i < n; i++) {
		int c = p[i] == '+' ? ' ' : (unsigned char)p[i];
		if (p[i] == '%') {
			bool whole = n - i > 2;
			int high = whole ? digit(p[i + 1]) : -1, low = whole ? digit(p[i + 2]) : -1;
			if (high < 0 || low < 0)
				return false;
			c = high * 16 + low;
			i += 2;
		}
		if (c == 0 || at + 1 >= size)
			return false;
		ret[at++] = (char)c;
	}
	ret[at] = 0;
	return true;
}

bool ls_request_param(const struct ls_request *r, const char *name, char *ret, size_t size)
{
	size_t len = strlen(name);
	for (const char *p = r->query; *p;) {
		size_t n = strcspn(p, "&");
		if (n > len && memcmp(p, name, len) == 0 && p[len] == '=')
			return decode(p + len + 1, n - len - 1, ret, size);
		p += n + (p[n] == '&');
	}
	return false;
}

bool ls_request_host_is_address(const struct ls_request *r)
{
	char name[sizeof r->host];
	struct in6_addr unused;
	snprintf(name, sizeof name, "%s", r->host);
	if (*name == '[') {
		char *close = strchr(name, ']');
		if (!close)
			return false;
		*close = 0;
		return inet_pton(AF_INET6, name + 1, &unused) == 1;
	}
	name[strcspn(name, ":")] = 0;
	return !*name || strcasecmp(name, "localhost") == 0 ||
	       inet_pton(AF_INET, name, &unused) == 1;
}
