/* Requests, and the server among clients that are slow, many or hostile.
 * labels: threads */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "watch/address.h"
#include "watch/pages.h"
#include "watch/server.h"

static int parse(const char *text, struct ls_request *r)
{
	memset(r, 0, sizeof *r);
	return ls_request_parse(text, strlen(text), r);
}

static void requests(void **state)
{
	struct ls_request r;
	char value[16];
	(void)state;
	assert_int_equal(
		parse("GET /a?x=1&name=b%20c+d HTTP/1.1\r\nHost: h:1\r\nX: \xff\r\n\r\n", &r), 0);
	assert_string_equal(r.path, "/a");
	assert_string_equal(r.host, "h:1");
	assert_true(ls_request_param(&r, "name", value, sizeof value));
	assert_string_equal(value, "b c d");
	assert_false(ls_request_param(&r, "nam", value, sizeof value));
	assert_false(ls_request_param(&r, "name", value, 5));
	assert_int_equal(parse("GET /?n=%4 HTTP/1.1\r\n\r\n", &r), 0);
	assert_false(ls_request_param(&r, "n", value, sizeof value));
	assert_int_equal(parse("GET /?n=%00 HTTP/1.1\r\n\r\n", &r), 0);
	assert_false(ls_request_param(&r, "n", value, sizeof value));
	assert_int_equal(parse("HEAD / HTTP/1.0\n\n", &r), 0);
	assert_true(r.head);
	assert_int_equal(parse("GET / HTTP/1.1\r\nHost: h\r\n", &r), 1);
	assert_int_equal(parse("", &r), 1);
	assert_int_equal(parse("DELETE / HTTP/1.1\r\n\r\n", &r), 405);
	assert_int_equal(parse("\r\n\r\n", &r), 400);
	assert_int_equal(parse("GET http://h/ HTTP/1.1\r\n\r\n", &r), 400);
	assert_int_equal(parse("GET /\t HTTP/1.1\r\n\r\n", &r), 400);
	assert_int_equal(parse("GET /\xc3\x28 HTTP/1.1\r\n\r\n", &r), 400);
	assert_int_equal(parse("GET / HTTP/3.0\r\n\r\n", &r), 505);
	assert_int_equal(parse("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", &r), 400);
	assert_int_equal(parse("GET / HTTP/1.1\r\n folded\r\n\r\n", &r), 400);
	assert_int_equal(parse("GET / HTTP/1.1\r\nno colon\r\n\r\n", &r), 400);
}

static bool address_host(const char *host)
{
	struct ls_request r = {.head = false};
	snprintf(r.host, sizeof r.host, "%s", host);
	return ls_request_host_is_address(&r);
}

static void hosts(void **state)
{
	(void)state;
	assert_true(address_host(""));
	assert_true(address_host("127.0.0.1:9495"));
	assert_true(address_host("LOCALHOST:1"));
	assert_true(address_host("[::1]:9495"));
	assert_false(address_host("evil.example:9495"));
	assert_false(address_host("[evil]"));
	assert_false(address_host("[::1"));
}

static void addresses(void **state)
{
	static const char *const wrong[] = {
		"", ":1", "a:1", "127.0.0.1:", "::1:80", "1.2.3.4:x", "65536", "127.0.0.1:+1"};
	struct ls_address a;
	char text[LS_ADDRESS_TEXT];
	(void)state;
	assert_int_equal(ls_address_parse("9495", &a, NULL), 0);
	ls_address_text(&a, text);
	assert_string_equal(text, "127.0.0.1:9495");
	assert_true(a.loopback);
	assert_int_equal(ls_address_parse("[::1]:80", &a, NULL), 0);
	ls_address_text(&a, text);
	assert_string_equal(text, "[::1]:80");
	assert_true(a.loopback);
	assert_int_equal(ls_address_parse("0.0.0.0:1", &a, NULL), 0);
	assert_false(a.loopback);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(ls_address_parse(wrong[i], &a, NULL), LS_EINPUT);
}

static bool opens(const struct ls_token *t, const char *header)
{
	return ls_token_opens(t, header);
}

static void tokens(void **state)
{
	struct ls_token t;
	(void)state;
	assert_int_equal(ls_token_set(&t, "short", NULL), LS_EINPUT);
	assert_int_equal(ls_token_set(&t, "with a blank in it", NULL), LS_EINPUT);
	assert_int_equal(ls_token_set(&t, "0123456789abcdef", NULL), 0);
	assert_true(opens(&t, "Bearer 0123456789abcdef"));
	assert_true(opens(&t, "bearer 0123456789abcdef"));
	assert_true(opens(&t, "Basic dXNlcjowMTIzNDU2Nzg5YWJjZGVm")); /* user:0123456789abcdef */
	assert_false(opens(&t, "Bearer 0123456789abcdeg"));
	assert_false(opens(&t, "Bearer 0123456789abcde"));
	assert_false(opens(&t, "Bearer "));
	assert_false(opens(&t, "Basic MDEyMzQ1Njc4OWFiY2RlZg==")); /* no user */
	assert_false(opens(&t, "Basic %%%%"));
	assert_false(opens(&t, "Basic "));
	assert_false(opens(&t, "0123456789abcdef"));
	assert_false(opens(&t, ""));
}

static void answer(void *ctx, const struct ls_request *r, struct ls_reply *ret)
{
	if (strcmp(r->path, "/big") != 0)
		return;
	ls_body_drop(ret->body);
	*ret = (struct ls_reply){200, "text/plain", ls_body_hold(ctx)};
}

static void *serve(void *s)
{
	ls_server_run(s);
	return NULL;
}

struct running {
	struct ls_server *s;
	struct ls_body *big;
	pthread_t thread;
	struct ls_address a;
};

enum { BIG = 4 << 20 };

static void begin(struct running *r, const struct ls_token *token)
{
	struct ls_str text = {0};
	for (int i = 0; i < BIG / 16; i++)
		ls_str_add(&text, "0123456789abcdef");
	r->big = ls_body_take(&text);
	struct ls_server_options o = {"127.0.0.1:0", token, answer, r->big};
	assert_int_equal(ls_server_open(&o, &r->s, NULL), 0);
	assert_int_equal(ls_address_parse(ls_server_address(r->s), &r->a, NULL), 0);
	assert_int_equal(pthread_create(&r->thread, NULL, serve, r->s), 0);
}

static void end(struct running *r)
{
	ls_server_stop(r->s);
	pthread_join(r->thread, NULL);
	ls_server_free(r->s);
	assert_int_equal(atomic_load(&r->big->holders), 1);
	ls_body_drop(r->big);
}

static int dial(const struct running *r)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&r->a.a, r->a.len), 0);
	return fd;
}

static int status_of(int fd, size_t *ret_bytes)
{
	char buffer[65536] = "", first[16] = "";
	size_t all = 0;
	for (ssize_t n; (n = recv(fd, buffer, sizeof buffer - 1, 0)) > 0; all += (size_t)n)
		if (all == 0)
			snprintf(first, sizeof first, "%.15s", buffer);
	close(fd);
	if (ret_bytes)
		*ret_bytes = all;
	return strncmp(first, "HTTP/1.1 ", 9) == 0 ? (int)strtol(first + 9, NULL, 10) : -1;
}

static int ask(const struct running *r, const char *request, size_t len)
{
	int fd = dial(r);
	for (size_t at = 0; at < len;) {
		ssize_t n = send(fd, request + at, len - at, MSG_NOSIGNAL);
		if (n < 0)
			break;
		at += (size_t)n;
	}
	return status_of(fd, NULL);
}

static int get(const struct running *r, const char *headers)
{
	char text[1024];
	int n = snprintf(text, sizeof text, "GET /big HTTP/1.1\r\n%s\r\n", headers);
	return ask(r, text, (size_t)n);
}

static void answers(void **state)
{
	struct running r;
	size_t bytes;
	static char huge[20000];
	(void)state;
	begin(&r, NULL);
	assert_int_equal(get(&r, ""), 200);
	assert_int_equal(get(&r, "Host: evil.example\r\n"), 403);
	assert_int_equal(ask(&r, "GET /no HTTP/1.1\r\n\r\n", 20), 404);
	assert_int_equal(ask(&r, "PUT / HTTP/1.1\r\n\r\n", 18), 405);
	memset(huge, 'a', sizeof huge);
	assert_int_equal(ask(&r, huge, sizeof huge), 414);
	memcpy(huge, "GET / HTTP/1.1\r\nX: ", 19);
	assert_int_equal(ask(&r, huge, sizeof huge), 431);
	memset(huge, 0xff, sizeof huge);
	huge[sizeof huge - 1] = huge[100] = '\n';
	assert_int_equal(ask(&r, huge, sizeof huge), 400);
	int fd = dial(&r);
	assert_int_equal(send(fd, "HEAD /big HTTP/1.1\r\n\r\n", 22, 0), 22);
	assert_int_equal(status_of(fd, &bytes), 200);
	assert_in_range(bytes, 100, 2000);
	fd = dial(&r);
	assert_int_equal(send(fd, "GET /big HTTP/1.1\r\n\r\n", 21, 0), 21);
	assert_int_equal(status_of(fd, &bytes), 200);
	assert_in_range(bytes, BIG + 100, BIG + 2000);
	end(&r);
}

static void secret(void **state)
{
	struct running r;
	struct ls_token t;
	(void)state;
	assert_int_equal(ls_token_set(&t, "0123456789abcdef", NULL), 0);
	begin(&r, &t);
	assert_int_equal(get(&r, ""), 401);
	assert_int_equal(get(&r, "Authorization: Bearer 0123456789abcdeX\r\n"), 401);
	assert_int_equal(get(&r, "Authorization: Bearer 0123456789abcdef\r\n"), 200);
	assert_int_equal(
		get(&r, "Host: named.example\r\nAuthorization: Bearer 0123456789abcdef\r\n"), 200);
	end(&r);
	struct ls_server_options o = {"0.0.0.0:0", NULL, answer, NULL};
	assert_int_equal(ls_server_open(&o, &r.s, NULL), LS_EINPUT);
	o.token = &t;
	assert_int_equal(ls_server_open(&o, &r.s, NULL), 0);
	ls_server_free(r.s);
}

/* Clients that send half a request, or ask for much and read nothing, are three times as
 * many as the server has room for. Others are answered all the while. */
static void crowd(void **state)
{
	enum { MANY = 400 };
	int slow[MANY];
	struct running r;
	(void)state;
	begin(&r, NULL);
	for (int i = 0; i < MANY; i++) {
		const char *part = i % 2 ? "GET /big HTTP/1.1\r\nX: " : "GET /big HTTP/1.1\r\n\r\n";
		slow[i] = dial(&r);
		send(slow[i], part, strlen(part), MSG_NOSIGNAL);
		if (i % 50 == 49)
			assert_int_equal(get(&r, ""), 200);
	}
	for (int i = 0; i < MANY; i++)
		close(slow[i]);
	assert_int_equal(get(&r, ""), 200);
	end(&r);
}

static int health_of(struct ls_pages *p, const char *path, const char *holds)
{
	struct ls_request q = {.head = false};
	struct ls_reply r = {.status = 404};
	snprintf(q.path, sizeof q.path, "%s", path);
	ls_pages_answer(p, &q, &r);
	assert_non_null(r.body);
	if (!memmem(r.body->data, r.body->len, holds, strlen(holds)))
		fail_msg("%s is not in %.*s", holds, (int)r.body->len, r.body->data);
	ls_body_drop(r.body);
	return r.status;
}

/* A driver that hangs stops the samples. The last one was well, and is no answer. */
static void samples_that_stop(void **state)
{
	(void)state;
	struct ls_rules *rules;
	struct ls_xid_table *xids;
	struct ls_err err = {0};
	struct ls_judge_options o = {.expected = 0};
	struct ls_sample s = {.time = 1e9, .no_nvml = "there is no driver"};
	assert_int_equal(ls_rules_load(&rules, &err), 0);
	assert_int_equal(ls_xid_table_load(&xids, &err), 0);
	struct ls_judge *j = ls_judge_new(rules, xids, &o);
	struct ls_pages *p = ls_pages_new();
	ls_pages_late_after(p, 30);
	s.steady = ls_clock();
	ls_judge_feed(j, &s);
	ls_pages_publish(p, &s, j);
	assert_int_equal(health_of(p, "/health", "\"health\":\"ok\""), 200);
	assert_int_equal(health_of(p, "/api/v1/now", "\"late_after\":30"), 200);
	s.steady = ls_clock() - 31;
	ls_judge_feed(j, &s);
	ls_pages_publish(p, &s, j);
	assert_int_equal(health_of(p, "/health", "the monitor no longer gets samples"), 503);
	ls_pages_free(p);
	ls_judge_free(j);
	ls_rules_free(rules);
	ls_xid_table_free(xids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests),  cmocka_unit_test(hosts),
		cmocka_unit_test(addresses), cmocka_unit_test(tokens),
		cmocka_unit_test(answers),   cmocka_unit_test(secret),
		cmocka_unit_test(crowd),     cmocka_unit_test(samples_that_stop),
	};
	return cmocka_run_group_tests_name("watch_server", tests, NULL, NULL);
}
