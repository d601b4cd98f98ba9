/* A request of HTTP, whole and cut anywhere: a prefix of a good one never is a bad
 * one. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "watch/request.h"
#include "watch/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct ls_request *r)
{
	struct ls_token t;
	char value[32];
	if (r->path[0] != '/' || strlen(r->path) >= sizeof r->path)
		abort();
	if (ls_request_param(r, "name", value, sizeof value) && strlen(value) >= sizeof value)
		abort();
	ls_request_host_is_address(r);
	memset(&t, 0, sizeof t);
	if (ls_token_opens(&t, r->authorization))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ls_request r;
	size_t n = size < LS_REQUEST_SIZE ? size : LS_REQUEST_SIZE;
	int rc = ls_request_parse((const char *)data, n, &r);
	if (rc > 1)
		return rc < 400 || rc > 505 ? abort(), 0 : 0;
	if (rc == 0)
		look(&r);
	for (size_t i = 0; i < n && i < 64; i++)
		if (ls_request_parse((const char *)data, i, &r) > 1)
			abort();
	return 0;
}
