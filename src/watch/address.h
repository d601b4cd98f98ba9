/* Addresses as people write them: "127.0.0.1:9495", "[::1]:9495", "localhost:9495",
 * "9495". Nothing is owned. Any thread. */
#ifndef LS_WATCH_ADDRESS_H
#define LS_WATCH_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/err.h"

enum { LS_ADDRESS_TEXT = 64 };

struct ls_address {
	struct sockaddr_storage a;
	socklen_t len;
	bool loopback; /* only this machine can reach it */
};

/* Names other than localhost are refused: where to listen is not for a name server to
 * say. A port alone is one of 127.0.0.1. */
int ls_address_parse(const char *text, struct ls_address *ret, struct ls_err *err);
void ls_address_text(const struct ls_address *a, char ret[LS_ADDRESS_TEXT]);

#endif
