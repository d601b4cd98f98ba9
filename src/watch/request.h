/* One request of HTTP, read from whatever somebody sends. Nothing is owned; texts are
 * copies. Any thread. */
#ifndef LS_WATCH_REQUEST_H
#define LS_WATCH_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

enum { LS_REQUEST_SIZE = 8192 }; /* bytes of a request that are looked at */

struct ls_request {
	bool head;               /* only the head of the answer is wanted */
	char path[128];          /* "/metrics": as sent, not decoded */
	char query[512];         /* behind "?", as sent */
	char host[256];          /* of the header Host, "" without one */
	char authorization[512]; /* of that header */
};

/* 0: *ret is a whole request. 1: more has to come. Otherwise the status of HTTP that
 * refuses it, and *ret is left alone. */
int ls_request_parse(const char *bytes, size_t len, struct ls_request *ret);

/* The value of a parameter of the query, decoded; false when it is not there, is not
 * valid or does not fit. */
bool ls_request_param(const struct ls_request *r, const char *name, char *ret, size_t size);

/* Whether the header Host is one that no other web page can bring a browser to send: an
 * address, localhost, or none. A name may be anybody's, and may point here (DNS
 * rebinding). */
bool ls_request_host_is_address(const struct ls_request *r);

#endif
