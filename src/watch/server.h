/* Pages over HTTP for whoever asks: one thread, at most 128 connections, one request
 * each. A connection that is slow, or one too many, is closed and costs nobody else.
 * Nothing that a client sends reaches a file or a program. The server owns its socket;
 * ls_server_free accepts NULL. ls_server_run belongs to one thread; ls_server_stop may be
 * called from any. */
#ifndef LS_WATCH_SERVER_H
#define LS_WATCH_SERVER_H

#include "base/err.h"
#include "watch/body.h"
#include "watch/request.h"
#include "watch/token.h"

struct ls_reply {
	int status;       /* of HTTP */
	const char *type; /* "application/json"; static */
	struct ls_body *body;
};

/* Answers a request at once, in the server's thread; *ret is one of 404 before. */
typedef void ls_server_fn(void *ctx, const struct ls_request *r, struct ls_reply *ret);

struct ls_server_options {
	const char *listen; /* "127.0.0.1:9495", "[::1]:9495", "9495"; port 0: a free one */
	const struct ls_token *token; /* NULL: none; then only this machine may ask */
	ls_server_fn *answer;
	void *ctx;
};

struct ls_server;

/* LS_EINPUT when the address is wrong or in use, or one for other machines without a
 * token. */
int ls_server_open(const struct ls_server_options *o, struct ls_server **ret, struct ls_err *err);
void ls_server_free(struct ls_server *s);
const char *ls_server_address(const struct ls_server *s); /* "127.0.0.1:9495", borrowed */
void ls_server_run(struct ls_server *s);                  /* until it is stopped */
void ls_server_stop(struct ls_server *s);

#endif
