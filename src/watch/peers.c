#include "watch/peers.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "watch/sample.h"
#include "watch/token.h"

enum { EVERY_S = 3, PATIENCE_S = 4, MOST_BYTES = 4 << 20, NAME = 256 };

struct peer {
	struct ls_peers *all;
	char address[NAME]; /* as it was given */
	struct sockaddr_storage a;
	socklen_t len;
	pthread_t thread;
	bool started;
	json_t *last; /* what the page shows; NULL before the first answer */
};

struct ls_peers {
	unsigned n;
	struct peer peers[LS_PEERS];
	char token[LS_TOKEN_MOST + 1]; /* "" for none */
	pthread_mutex_t lock;          /* for `last` and `stop` */
	pthread_cond_t wake;
	bool stop;
};

/* --- an answer --- */

static void copy_member(json_t *to, const json_t *from, const char *key)
{
	json_t *v = json_object_get(from, key);
	json_object_set(to, key, v ? v : json_null());
}

static json_t *gpu_of(const json_t *g)
{
	static const char *const metrics[] = {"utilization", "memory_used", "memory_total",
					      "temperature", "power",       NULL};
	json_t *o = json_object();
	copy_member(o, g, "index");
	copy_member(o, g, "name");
	copy_member(o, g, "lost");
	for (int i = 0; metrics[i]; i++)
		copy_member(o, json_object_get(g, "metrics"), metrics[i]);
	return o;
}

/* What is not well, the worst first; a page of many machines has room for a few. */
static json_t *reasons_of(const json_t *verdicts)
{
	static const char *const order[] = {"critical", "warn", "unknown"};
	enum { MOST = 4 };
	json_t *list = json_array();
	for (int level = 0; level < 3; level++)
		for (size_t i = 0; i < json_array_size(verdicts); i++) {
			const json_t *v = json_array_get(verdicts, i);
			const char *health = json_string_value(json_object_get(v, "health"));
			if (!health || strcmp(health, order[level]) != 0 ||
			    json_array_size(list) == MOST)
				continue;
			json_t *o = json_object();
			copy_member(o, v, "health");
			copy_member(o, v, "of");
			copy_member(o, v, "cause");
			copy_member(o, v, "evidence");
			copy_member(o, v, "advice");
			json_array_append_new(list, o);
		}
	return list;
}

static json_t *summary(const json_t *now)
{
	const json_t *gpus = json_object_get(now, "gpus");
	json_t *o = json_object(), *list = json_array();
	copy_member(o, now, "machine");
	copy_member(o, now, "health");
	copy_member(o, now, "time");
	copy_member(o, now, "driver");
	for (size_t i = 0; i < json_array_size(gpus) && i < LS_SAMPLE_GPUS; i++)
		json_array_append_new(list, gpu_of(json_array_get(gpus, i)));
	json_object_set_new(o, "gpus", list);
	json_object_set_new(o, "reasons", reasons_of(json_object_get(now, "verdicts")));
	return o;
}

static int status_of(const char *answer, size_t len)
{
	if (len < 12 || memcmp(answer, "HTTP/1.", 7) != 0 || answer[8] != ' ')
		return 0;
	int status = 0;
	for (int i = 9; i < 12; i++) {
		if (answer[i] < '0' || answer[i] > '9')
			return 0;
		status = status * 10 + answer[i] - '0';
	}
	return status;
}

static int refused(int status, struct ls_err *err)
{
	const char *why = status == 0     ? "what answers is no monitor"
			  : status == 401 ? "it refuses the token; give --token-file"
			  : status == 403 ? "it wants a token, or to be asked by its address"
			  : status == 503 ? "it has no sample yet"
					  : "it has no such page";
	return ls_err_set(err, LS_EINPUT, "%s", why);
}

int ls_peer_read(const char *answer, size_t len, json_t **ret, struct ls_err *err)
{
	json_t *now;
	int status = status_of(answer, len);
	const char *body = len ? memmem(answer, len, "\r\n\r\n", 4) : NULL;
	if (status != 200 || !body)
		return refused(status == 200 ? 0 : status, err);
	body += 4;
	if (ls_json_parse(body, len - (size_t)(body - answer), "its answer", &now, err))
		return err->code;
	if (!json_is_array(json_object_get(now, "gpus")) ||
	    !json_is_string(json_object_get(now, "health"))) {
		json_decref(now);
		return refused(0, err);
	}
	*ret = summary(now);
	json_decref(now);
	return 0;
}

/* --- asking --- */

/* The next read or write waits no longer than what is left. */
static bool set_patience(int fd, double until)
{
	double left = until - ls_clock();
	struct timeval t = {(time_t)left, (suseconds_t)((left - (double)(time_t)left) * 1e6)};
	return left > 0.01 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t) == 0 &&
	       setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t) == 0;
}

static int no_answer(struct ls_err *err)
{
	bool slow = errno == EAGAIN || errno == EINPROGRESS || errno == 0;
	return ls_err_set(err, LS_EIO, "%s", slow ? "it does not answer in time" : strerror(errno));
}

static int send_request(const struct peer *p, int fd, struct ls_err *err)
{
	struct ls_str s = {0};
	ls_str_addf(&s, "GET /api/v1/now HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n",
		    p->address);
	if (*p->all->token)
		ls_str_addf(&s, "Authorization: Bearer %s\r\n", p->all->token);
	ls_str_add(&s, "\r\n");
	ssize_t n = send(fd, s.s, s.len, MSG_NOSIGNAL);
	int rc = n == (ssize_t)s.len ? 0 : no_answer(err);
	ls_str_done(&s);
	return rc;
}

static int receive(int fd, double until, struct ls_str *ret, struct ls_err *err)
{
	char part[1 << 14];
	for (;;) {
		errno = 0;
		ssize_t n = set_patience(fd, until) ? recv(fd, part, sizeof part, 0) : -1;
		if (n == 0)
			return 0;
		if (n < 0)
			return no_answer(err);
		if (ret->len + (size_t)n > MOST_BYTES)
			return ls_err_set(err, LS_EINPUT, "its answer is too large");
		ls_str_add_bytes(ret, part, (size_t)n);
	}
}

static int ask(const struct peer *p, json_t **ret, struct ls_err *err)
{
	double until = ls_clock() + PATIENCE_S;
	struct ls_str answer = {0};
	int fd = socket(p->a.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0), rc = 0;
	if (fd < 0)
		return ls_err_errno(err, p->address, "open a socket for");
	set_patience(fd, until);
	if (connect(fd, (const struct sockaddr *)&p->a, p->len) != 0)
		rc = no_answer(err);
	if (!rc)
		rc = send_request(p, fd, err);
	if (!rc)
		rc = receive(fd, until, &answer, err);
	if (!rc)
		rc = ls_peer_read(answer.s ? answer.s : "", answer.len, ret, err);
	close(fd);
	ls_str_done(&answer);
	return rc;
}

static void publish_take(struct peer *p, json_t *fresh, const struct ls_err *err)
{
	json_t *o = fresh ? fresh : json_pack("{s:s}", "health", "unknown");
	json_object_set_new(o, "address", ls_json_lossy(p->address));
	json_object_set_new(o, "why", fresh ? json_null() : ls_json_lossy(err->msg));
	pthread_mutex_lock(&p->all->lock);
	json_t *old = p->last;
	p->last = o;
	pthread_mutex_unlock(&p->all->lock);
	json_decref(old);
}

static bool wait_for_next(struct ls_peers *all)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += EVERY_S;
	pthread_mutex_lock(&all->lock);
	if (!all->stop)
		pthread_cond_timedwait(&all->wake, &all->lock, &t);
	bool go_on = !all->stop;
	pthread_mutex_unlock(&all->lock);
	return go_on;
}

static void *follow(void *peer)
{
	struct peer *p = peer;
	do {
		struct ls_err err = {0};
		json_t *fresh = NULL;
		ask(p, &fresh, &err);
		publish_take(p, fresh, &err);
	} while (wait_for_next(p->all));
	return NULL;
}

/* --- the list --- */

static int wrong(const char *text, struct ls_err *err)
{
	return ls_err_set(err, LS_EINPUT, "\"%.100s\" is not a host and a port, such as gpu1:9495",
			  text);
}

/* "gpu1:9495", "[::1]:9495" */
static int resolve(struct peer *p, struct ls_err *err)
{
	char host[NAME];
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *found;
	snprintf(host, sizeof host, "%s", p->address);
	char *colon = strrchr(host, ':'), *name = host;
	uint64_t port;
	if (!colon || colon == host || host[strcspn(host, "/@?# \t\"<>")] ||
	    ls_str_to_u64(colon + 1, 1, 65535, "", &port, NULL))
		return wrong(p->address, err);
	*colon = 0;
	size_t n = strlen(name);
	if (*name == '[' && n > 2 && name[n - 1] == ']') {
		name[n - 1] = 0;
		name++;
	}
	int code = getaddrinfo(name, colon + 1, &hints, &found);
	if (code)
		return ls_err_set(err, LS_EINPUT, "%s: %s", p->address, gai_strerror(code));
	memcpy(&p->a, found->ai_addr, found->ai_addrlen);
	p->len = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

static int add(struct ls_peers *p, const char *text, struct ls_err *err)
{
	if (p->n == LS_PEERS)
		return ls_err_set(err, LS_EINPUT, "more than %d peers; use Prometheus for a fleet",
				  LS_PEERS);
	if (strlen(text) >= NAME)
		return wrong(text, err);
	struct peer *one = &p->peers[p->n];
	one->all = p;
	snprintf(one->address, sizeof one->address, "%s", text);
	int rc = resolve(one, err);
	p->n += rc == 0;
	return rc;
}

int ls_peers_new(const char *list, const char *token, struct ls_peers **ret, struct ls_err *err)
{
	struct ls_peers *p = ls_xalloc(sizeof *p);
	char *copy = ls_xstrdup(list), *save = NULL;
	pthread_condattr_t steady;
	int rc = 0;
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(&p->wake, &steady);
	pthread_condattr_destroy(&steady);
	snprintf(p->token, sizeof p->token, "%s", token ? token : "");
	for (char *one = strtok_r(copy, ",", &save); one && !rc; one = strtok_r(NULL, ",", &save))
		rc = add(p, ls_str_trim(one), err);
	if (!rc && !p->n)
		rc = wrong(list, err);
	free(copy);
	if (rc)
		ls_peers_free(p);
	else
		*ret = p;
	return rc;
}

int ls_peers_start(struct ls_peers *p, struct ls_err *err)
{
	for (unsigned i = 0; i < p->n; i++) {
		if (pthread_create(&p->peers[i].thread, NULL, follow, &p->peers[i]))
			return ls_err_set(err, LS_EIO, "cannot start a thread");
		p->peers[i].started = true;
	}
	return 0;
}

void ls_peers_free(struct ls_peers *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->n; i++) {
		if (p->peers[i].started)
			pthread_join(p->peers[i].thread, NULL);
		json_decref(p->peers[i].last);
	}
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	memset(p->token, 0, sizeof p->token);
	free(p);
}

json_t *ls_peers_json(struct ls_peers *p)
{
	json_t *list = json_array();
	for (unsigned i = 0; p && i < p->n; i++) {
		pthread_mutex_lock(&p->lock);
		json_t *one = p->peers[i].last ? json_deep_copy(p->peers[i].last) : NULL;
		pthread_mutex_unlock(&p->lock);
		if (!one)
			one = json_pack("{s:s,s:s,s:s}", "health", "unknown", "address",
					p->peers[i].address, "why", "it has not been asked yet");
		json_array_append_new(list, one);
	}
	return json_pack("{s:o}", "peers", list);
}
