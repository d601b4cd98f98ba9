/* lockstep monitor --listen: this thread samples, another one answers. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
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

/* What a monitor that listens has. */
struct face {
	struct ls_monitor *m;
	struct ls_archive *archive;
	struct ls_events *events;
	struct ls_project *project;
	struct ls_peers *peers; /* NULL: none */
	struct ls_pages *pages;
	struct ls_server *server;
	bool trouble; /* the history could not be written, and that was said */
};

/* --history, or the folder of the user's state; *ret is NULL for memory alone. To be
 * freed. */
static int history_folder(const struct ls_args *args, char **ret, struct ls_err *err)
{
	const char *given = ls_args_get(args, "history");
	*ret = NULL;
	if (given)
		*ret = strcmp(given, "none") ? ls_xstrdup(given) : NULL;
	else if (!(*ret = ls_cmd_state_path("monitor")))
		return ls_err_set(err, LS_EINPUT,
				  "there is no HOME to keep the history in; give --history DIR, "
				  "or --history none");
	return 0;
}

static int open_history(struct face *f, struct ls_err *err)
{
	char *folder;
	int rc = history_folder(f->m->args, &folder, err);
	if (!rc)
		rc = ls_archive_open(folder, &f->archive, err);
	if (rc && rc != LS_EINPUT && !ls_args_has(f->m->args, "history")) {
		char note[sizeof err->msg + 64];
		snprintf(note, sizeof note, "%s; the history of an hour is kept in memory",
			 err->msg);
		ls_cmd_note(note);
		free(folder);
		folder = NULL;
		rc = ls_archive_open(NULL, &f->archive, err);
	}
	if (!rc)
		rc = ls_events_open(folder, &f->events, err);
	free(folder);
	return rc;
}

static void *serve(void *server)
{
	ls_server_run(server);
	return NULL;
}

/* A disk that is full ends neither samples nor answers. */
static void remember(struct face *f, const struct ls_sample *s)
{
	struct ls_err err = {0};
	int rc = ls_archive_add(f->archive, s, ls_judge_worst(f->m->judge), &err);
	if (ls_events_look(f->events, s, f->m->judge, &err))
		rc = err.code;
	if (rc && !f->trouble)
		ls_cmd_note(err.msg);
	f->trouble = rc != 0;
}

static void sample(struct face *f)
{
	struct ls_sample s;
	while (!ls_monitor_stopped()) {
		double began = ls_clock();
		ls_monitor_look(f->m, &s);
		remember(f, &s);
		ls_pages_publish(f->pages, &s, f->m->judge);
		ls_sample_done(&s);
		ls_monitor_sleep(f->m->interval - (ls_clock() - began));
	}
}

/* Signals go to the thread that samples, so that they end its sleep. */
static int start(struct face *f, pthread_t *ret, struct ls_err *err)
{
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	int rc = f->peers ? ls_peers_start(f->peers, err) : 0;
	if (!rc && pthread_create(ret, NULL, serve, f->server))
		rc = ls_err_set(err, LS_EIO, "cannot start a thread");
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

/* They are sent the token that opens this monitor. */
static int open_peers(struct face *f, struct ls_err *err)
{
	const char *list = ls_args_get(f->m->args, "peers"),
		   *file = ls_args_get(f->m->args, "token-file"), *text = getenv(variable);
	char token[LS_TOKEN_MOST + 1] = "";
	if (!list)
		return 0;
	if (file && ls_token_text(file, token, err))
		return err->code;
	if (!file && text)
		snprintf(token, sizeof token, "%s", text);
	int rc = ls_peers_new(list, token, &f->peers, err);
	memset(token, 0, sizeof token);
	if (rc)
		return ls_err_prefix(err, "option --peers");
	ls_pages_peers(f->pages, f->peers);
	return 0;
}

static int listen_with(struct face *f, const struct ls_token *token, struct ls_err *err)
{
	pthread_t thread;
	struct ls_server_options o = {.listen = ls_args_get(f->m->args, "listen"),
				      .token = token,
				      .answer = ls_pages_answer};
	o.ctx = f->pages = ls_pages_new();
	if (open_peers(f, err) || ls_server_open(&o, &f->server, err) || open_history(f, err))
		return err->code;
	enum { LATE = 30, LOOKS = 3 };
	ls_pages_late_after(f->pages, fmax(LATE, LOOKS * f->m->interval));
	const char *folder = ls_args_get(f->m->args, "project");
	f->project = ls_project_new(folder ? folder : ".");
	ls_pages_history(f->pages, f->archive, f->events);
	ls_pages_project(f->pages, f->project);
	ls_sampler_prime(f->m->sampler, ls_monitor_steady());
	if (start(f, &thread, err))
		return err->code;
	fprintf(stderr, "lockstep: http://%s/\n", ls_server_address(f->server));
	sample(f);
	ls_server_stop(f->server);
	pthread_join(thread, NULL);
	return 0;
}

int ls_monitor_listen(struct ls_monitor *m)
{
	struct ls_token token;
	struct ls_err err = {0};
	struct face f = {.m = m};
	bool has;
	int rc = read_token(m->args, &token, &has, &err);
	if (!rc)
		rc = listen_with(&f, has ? &token : NULL, &err);
	ls_server_free(f.server);
	ls_peers_free(f.peers);
	ls_pages_free(f.pages);
	ls_project_free(f.project);
	ls_events_close(f.events);
	ls_archive_close(f.archive);
	return rc ? ls_cmd_fail(&err) : LS_EXIT_YES;
}
