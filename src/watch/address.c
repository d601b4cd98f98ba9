#include "watch/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

static int wrong(const char *text, struct ls_err *err)
{
	return ls_err_set(err, LS_EINPUT,
			  "\"%s\" is not an address and a port, such as 127.0.0.1:9495 or "
			  "[::1]:9495",
			  text);
}

static bool set_host(const char *host, in_port_t port, struct ls_address *ret)
{
	struct sockaddr_in *four = (struct sockaddr_in *)&ret->a;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&ret->a;
	memset(ret, 0, sizeof *ret);
	if (strcmp(host, "localhost") == 0)
		host = "127.0.0.1";
	if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		ret->len = sizeof *four;
		ret->loopback = ntohl(four->sin_addr.s_addr) >> 24 == 127;
		return true;
	}
	memset(ret, 0, sizeof *ret);
	if (inet_pton(AF_INET6, host, &six->sin6_addr) != 1)
		return false;
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(port);
	ret->len = sizeof *six;
	ret->loopback = IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
	return true;
}

int ls_address_parse(const char *text, struct ls_address *ret, struct ls_err *err)
{
	char host[LS_ADDRESS_TEXT] = "127.0.0.1";
	const char *port = strrchr(text, ':');
	struct ls_address a;
	uint64_t number;
	if (port) {
		size_t n = (size_t)(port - text);
		bool bracket = n > 2 && text[0] == '[' && text[n - 1] == ']';
		if (n == 0 || n - 2 * bracket >= sizeof host)
			return wrong(text, err);
		snprintf(host, sizeof host, "%.*s", (int)(n - 2 * bracket), text + bracket);
		if (!bracket && strchr(host, ':'))
			return wrong(text, err);
	}
	port = port ? port + 1 : text;
	if (!isdigit((unsigned char)*port) || ls_str_to_u64(port, 0, 65535, "", &number, NULL) ||
	    !set_host(host, (in_port_t)number, &a))
		return wrong(text, err);
	*ret = a;
	return 0;
}

void ls_address_text(const struct ls_address *a, char ret[LS_ADDRESS_TEXT])
{
	char host[INET6_ADDRSTRLEN];
	if (a->a.ss_family == AF_INET6) {
		const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&a->a;
		inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof host);
		snprintf(ret, LS_ADDRESS_TEXT, "[%.46s]:%u", host, ntohs(six->sin6_port));
	} else {
		const struct sockaddr_in *four = (const struct sockaddr_in *)&a->a;
		inet_ntop(AF_INET, &four->sin_addr, host, sizeof host);
		snprintf(ret, LS_ADDRESS_TEXT, "%.46s:%u", host, ntohs(four->sin_port));
	}
}
