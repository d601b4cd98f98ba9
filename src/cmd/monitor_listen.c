/* lockstep monitor --listen: this thread samples, another one answers. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "cmd/monitor.h"
#include "watch/pages.h"

static const char variable[] = "LOCKSTEP_MONITOR_TOKEN";

/* *ret_has is false when nobody asked for a token. */
static int read_token(const struct ls_args *args, struct ls_token *t, bool *ret_has,
		      struct ls_err *err)
{
	const char *file = ls_args_get(args, "token-file"), *text = getenv(variable);
	*ret_has = file || (text && *text);
	if (file)
		return ls_token_read(t, file, err);
	if (*ret_has && ls_token_set(t, text, err))
		return ls_err_prefix(err, "variable %s", variable);
	return 0;
}

static void *serve(void *server)
{
	ls_server_run(server);
	return NULL;
}

static void sample(struct ls_monitor *m, struct ls_pages *pages)
{
	struct ls_sample s;
	while (!ls_monitor_stopped()) {
		ls_monitor_look(m, &s);
		ls_pages_publish(pages, &s, m->judge);
		ls_sample_done(&s);
		if (!ls_monitor_stopped())
			ls_monitor_sleep(m->interval);
	}
}

/* Signals go to the thread that samples, so that they end its sleep. */
static int start(struct ls_server *server, pthread_t *ret, struct ls_err *err)
{
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	int rc = pthread_create(ret, NULL, serve, server);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc ? ls_err_set(err, LS_EIO, "cannot start a thread") : 0;
}

int ls_monitor_listen(struct ls_monitor *m)
{
	struct ls_token token;
	struct ls_server *server = NULL;
	struct ls_err err = {0};
	pthread_t thread;
	bool has;
	struct ls_pages *pages = ls_pages_new();
	struct ls_server_options o = {
		.listen = ls_args_get(m->args, "listen"), .answer = ls_pages_answer, .ctx = pages};
	int rc = read_token(m->args, &token, &has, &err);
	o.token = has ? &token : NULL;
	if (!rc)
		rc = ls_server_open(&o, &server, &err);
	ls_sampler_prime(m->sampler);
	if (!rc)
		rc = start(server, &thread, &err);
	if (!rc) {
		fprintf(stderr, "lockstep: http://%s/\n", ls_server_address(server));
		sample(m, pages);
		ls_server_stop(server);
		pthread_join(thread, NULL);
	}
	ls_server_free(server);
	ls_pages_free(pages);
	return rc ? ls_cmd_fail(&err) : LS_EXIT_YES;
}
