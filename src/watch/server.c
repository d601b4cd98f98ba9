#include "watch/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/mem.h"
#include "watch/address.h"

enum { CONNECTIONS = 128, HEAD = 1024, BACKLOG = 512, AT_A_TIME = 32 };
static const double request_s = 5, reply_s = 20; /* from the first byte to the last */

struct connection {
	int fd;
	double until; /* when it is closed, whatever it does */
	size_t n;     /* bytes of the request */
	char *in;     /* LS_REQUEST_SIZE of them; NULL once it was answered */
	char head[HEAD];
	size_t head_len, sent; /* sent: of head and body together */
	struct ls_body *body;  /* NULL while the request is not whole */
	bool no_body;          /* the client asked for the head only */
	bool drain;            /* all was sent: it is read until the client closes */
};

struct ls_server {
	struct ls_server_options o;
	int fd, stop;
	char address[LS_ADDRESS_TEXT];
	unsigned n;
	struct connection connections[CONNECTIONS];
};

static const char *reason(int status)
{
	switch (status) {
	case 200:
		return "OK";
	case 400:
		return "Bad Request";
	case 401:
		return "Unauthorized";
	case 403:
		return "Forbidden";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	case 414:
		return "URI Too Long";
	case 431:
		return "Request Header Fields Too Large";
	case 503:
		return "Service Unavailable";
	case 505:
		return "HTTP Version Not Supported";
	default:
		return "Answer";
	}
}

static struct ls_body *text_body(const char *text)
{
	struct ls_str s = {0};
	ls_str_addf(&s, "%s\n", text);
	return ls_body_take(&s);
}

/* A page may load what this server sends and nothing else, and no page may show it in a
 * frame. */
static void begin_reply(struct connection *c, const struct ls_reply *r)
{
	int n = snprintf(
		c->head, sizeof c->head,
		"HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
		"Connection: close\r\nCache-Control: no-store\r\n"
		"X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
		"Cross-Origin-Resource-Policy: same-origin\r\n"
		"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
		"connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
		"frame-ancestors 'none'\r\n%s%s\r\n",
		r->status, reason(r->status), r->type, r->body->len,
		r->status == 405 ? "Allow: GET, HEAD\r\n" : "",
		r->status == 401 ? "WWW-Authenticate: Basic realm=\"lockstep monitor\", "
				   "charset=\"UTF-8\"\r\n"
				 : "");
	c->head_len = (size_t)n;
	c->body = r->body;
	c->until = ls_clock() + reply_s;
	free(c->in);
	c->in = NULL;
}

static void refuse(struct ls_reply *r, int status, const char *why)
{
	ls_body_drop(r->body);
	*r = (struct ls_reply){status, "text/plain; charset=utf-8", text_body(why)};
}

static void answer(struct ls_server *s, struct connection *c, int rc, const struct ls_request *q)
{
	struct ls_reply r = {0};
	refuse(&r, rc ? rc : 404, rc ? reason(rc) : "there is no such page");
	c->no_body = rc == 0 && q->head;
	if (rc == 0 && s->o.token && !ls_token_opens(s->o.token, q->authorization))
		refuse(&r, 401, "a token is needed");
	else if (rc == 0 && !s->o.token && !ls_request_host_is_address(q))
		refuse(&r, 403, "ask by address, or set a token: a name may be somebody else's");
	else if (rc == 0)
		s->o.answer(s->o.ctx, q, &r);
	begin_reply(c, &r);
}

static void close_connection(struct ls_server *s, unsigned i)
{
	struct connection *c = &s->connections[i];
	close(c->fd);
	free(c->in);
	ls_body_drop(c->body);
	if (i != s->n - 1)
		*c = s->connections[s->n - 1];
	s->n--;
}

/* The one that has had most of its time. */
static void close_oldest(struct ls_server *s)
{
	unsigned oldest = 0;
	for (unsigned i = 1; i < s->n; i++)
		if (s->connections[i].until < s->connections[oldest].until)
			oldest = i;
	close_connection(s, oldest);
}

/* False: the connection is at its end. */
static bool read_some(struct ls_server *s, struct connection *c)
{
	struct ls_request q = {.head = false};
	ssize_t n = recv(c->fd, c->in + c->n, LS_REQUEST_SIZE - c->n, 0);
	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	c->n += (size_t)n;
	int rc = ls_request_parse(c->in, c->n, &q);
	if (rc != 1)
		answer(s, c, rc, &q);
	return true;
}

static ssize_t send_part(struct connection *c)
{
	size_t at = c->sent < c->head_len ? 0 : c->sent - c->head_len;
	if (c->sent < c->head_len)
		return send(c->fd, c->head + c->sent, c->head_len - c->sent,
			    MSG_NOSIGNAL | MSG_MORE);
	return send(c->fd, c->body->data + at, c->body->len - at, MSG_NOSIGNAL);
}

/* After the last byte the connection stays until the client has closed it, because
 * closing with unread bytes of a request would take the answer away from it. */
static bool write_some(struct connection *c)
{
	size_t all = c->head_len + (c->no_body ? 0 : c->body->len);
	while (c->sent < all) {
		ssize_t n = send_part(c);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		c->sent += (size_t)n;
	}
	c->drain = true;
	c->until = ls_clock() + 1;
	return shutdown(c->fd, SHUT_WR) == 0;
}

static bool drain(struct connection *c)
{
	char unused[4096];
	ssize_t n = recv(c->fd, unused, sizeof unused, 0);
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool serve(struct ls_server *s, struct connection *c)
{
	if (c->drain)
		return drain(c);
	if (!c->body && !read_some(s, c))
		return false;
	return !c->body || write_some(c);
}

/* Of connections one too many the oldest goes, and what a new one has sent is read before
 * the next one comes: a crowd of slow clients cannot keep a quick one out. */
static bool take_connection(struct ls_server *s)
{
	int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	bool full = fd < 0 && (errno == EMFILE || errno == ENFILE);
	if (s->n && (full || s->n == CONNECTIONS))
		close_oldest(s);
	if (fd < 0)
		return false;
	struct connection *c = &s->connections[s->n++];
	memset(c, 0, sizeof *c);
	c->fd = fd;
	c->in = ls_xalloc(LS_REQUEST_SIZE);
	c->until = ls_clock() + request_s;
	if (!serve(s, c))
		close_connection(s, s->n - 1);
	return true;
}

static int wait_ms(const struct ls_server *s)
{
	double now = ls_clock(), first = now + 3600;
	for (unsigned i = 0; i < s->n; i++)
		if (s->connections[i].until < first)
			first = s->connections[i].until;
	return first <= now ? 0 : (int)((first - now) * 1000) + 1;
}

static short wanted(const struct connection *c)
{
	return c->body && !c->drain ? POLLOUT : POLLIN;
}

void ls_server_run(struct ls_server *s)
{
	struct pollfd p[CONNECTIONS + 2];
	for (;;) {
		unsigned n = s->n;
		for (unsigned i = 0; i < n; i++)
			p[i] = (struct pollfd){s->connections[i].fd, wanted(&s->connections[i]), 0};
		p[n] = (struct pollfd){s->fd, POLLIN, 0};
		p[n + 1] = (struct pollfd){s->stop, POLLIN, 0};
		if (poll(p, n + 2, wait_ms(s)) < 0 && errno != EINTR && errno != EAGAIN)
			return;
		if (p[n + 1].revents)
			return;
		for (unsigned i = n; i-- > 0;) { /* the last one moves into a gap */
			struct connection *c = &s->connections[i];
			if ((p[i].revents && !serve(s, c)) || c->until <= ls_clock())
				close_connection(s, i);
		}
		for (int i = 0; p[n].revents && i < AT_A_TIME && take_connection(s);)
			i++;
	}
}

static int bind_to(const char *text, const struct ls_address *a, int fd, struct ls_err *err)
{
	int one = 1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(fd, (const struct sockaddr *)&a->a, a->len) == 0 && listen(fd, BACKLOG) == 0)
		return 0;
	if (errno == EADDRINUSE)
		return ls_err_set(err, LS_EINPUT,
				  "%s: something else listens there; choose another port", text);
	if (errno == EADDRNOTAVAIL)
		return ls_err_set(err, LS_EINPUT, "%s: this machine does not have that address",
				  text);
	return ls_err_errno(err, text, "listen");
}

int ls_server_open(const struct ls_server_options *o, struct ls_server **ret, struct ls_err *err)
{
	struct ls_address a;
	if (ls_address_parse(o->listen, &a, err))
		return err->code;
	if (!a.loopback && !o->token)
		return ls_err_set(err, LS_EINPUT,
				  "%s can be reached from other machines, and there is no token; "
				  "give one with --token-file, or listen on 127.0.0.1",
				  o->listen);
	int fd = socket(a.a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return ls_err_errno(err, o->listen, "open a socket");
	int rc = bind_to(o->listen, &a, fd, err), stop = rc ? -1 : eventfd(0, EFD_CLOEXEC);
	if (!rc && stop < 0)
		rc = ls_err_errno(err, o->listen, "listen");
	if (rc) {
		close(fd);
		return rc;
	}
	struct ls_server *s = ls_xalloc(sizeof *s);
	s->o = *o;
	s->fd = fd;
	s->stop = stop;
	getsockname(fd, (struct sockaddr *)&a.a, &a.len);
	ls_address_text(&a, s->address);
	*ret = s;
	return 0;
}

void ls_server_free(struct ls_server *s)
{
	if (!s)
		return;
	while (s->n)
		close_connection(s, s->n - 1);
	close(s->fd);
	close(s->stop);
	free(s);
}

const char *ls_server_address(const struct ls_server *s)
{
	return s->address;
}

void ls_server_stop(struct ls_server *s)
{
	uint64_t one = 1;
	ssize_t n = write(s->stop, &one, sizeof one);
	(void)n;
}
