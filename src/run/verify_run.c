#include "run/verify_run.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/collect.h"
#include "run/folder.h"

enum { LINES_SHOWN = 12, TAIL_BYTES = 16384, LINE_BYTES = 400 };

/* The value of "NAME=a,b,c" for a run, as "NAME=b". */
static char *varied(const char *vary, size_t run)
{
	const char *eq = strchr(vary, '='), *p = eq + 1;
	size_t values = 1;
	for (const char *q = p; *q; q++)
		values += *q == ',';
	for (size_t skip = run % values; skip; skip--)
		p = strchr(p, ',') + 1;
	return ls_xasprintf("%.*s=%.*s", (int)(eq - vary), vary, (int)strcspn(p, ","), p);
}

static size_t count(const char *const *list)
{
	size_t n = 0;
	while (list && list[n])
		n++;
	return n;
}

/* "device=cpu" hides the GPUs; both values are told to the program. Returns how many
 * variables that takes. */
static size_t device_vars(const char *value, const char **ret)
{
	ret[0] = ls_xasprintf("LOCKSTEP_DEVICE=%s", value);
	if (strcmp(value, "cpu") != 0)
		return 1;
	ret[1] = ls_xstrdup("CUDA_VISIBLE_DEVICES=");
	return 2;
}

/* The request's variables and then the varied ones; the texts of the latter are owned by
 * the list's tail. */
static const char **make_vars(const struct ls_verify_request *ask, size_t number,
			      struct ls_str *text)
{
	size_t fixed = count(ask->run.vars), n = count(ask->vary), at = fixed;
	const char **vars = ls_xalloc((fixed + 2 * n + 1) * sizeof *vars);
	for (size_t i = 0; i < fixed; i++)
		vars[i] = ask->run.vars[i];
	for (size_t i = 0; i < n; i++) {
		char *v = varied(ask->vary[i], number);
		ls_str_addf(text, "%s%s", i ? " " : "", v);
		if (ls_str_starts(v, LS_VARY_DEVICE)) {
			at += device_vars(v + strlen(LS_VARY_DEVICE), vars + at);
			free(v);
		} else {
			vars[at++] = v;
		}
	}
	return vars;
}

static void free_vars(const struct ls_verify_request *ask, const char **vars)
{
	for (const char **v = vars + count(ask->run.vars); *v; v++)
		free((char *)(uintptr_t)*v);
	free(vars);
}

static int open_log(const char *path, int *ret, struct ls_err *err)
{
	*ret = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return *ret < 0 ? ls_err_errno(err, path, "create") : 0;
}

static void tell(const struct ls_verify_request *ask, const struct ls_verify_run *r)
{
	if (!ask->progress)
		return;
	char *line =
		ls_xasprintf("%-8s seed %llu %s%s%s, %.2f s", r->label, (unsigned long long)r->seed,
			     r->vars, *r->vars ? ", " : "",
			     r->result.child.status ? "failed" : "done", r->result.child.wall_s);
	ask->progress(ask->ctx, line);
	free(line);
}

/* A line as a terminal leaves it: what stands before a carriage return is overwritten. */
static void add_line(struct ls_str *out, char *line)
{
	size_t n = strlen(line);
	if (n && line[n - 1] == '\r')
		line[n - 1] = 0;
	char *back = strrchr(line, '\r');
	line = back ? back + 1 : line;
	if (strlen(line) > LINE_BYTES)
		line[LINE_BYTES] = 0;
	ls_str_add_printable(out, line);
	ls_str_add(out, "\n");
}

/* The end of a file as text, or NULL. Zero bytes end lines. */
static char *read_end(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	char *text = NULL;
	if (fstat(fd, &st) == 0) {
		off_t from = st.st_size > TAIL_BYTES ? st.st_size - TAIL_BYTES : 0;
		text = ls_xalloc(TAIL_BYTES + 1);
		ssize_t n = pread(fd, text, TAIL_BYTES, from);
		for (ssize_t i = 0; i < n; i++)
			text[i] = text[i] ? text[i] : '\n';
	}
	close(fd);
	return text;
}

char *ls_verify_last_lines(const char *log)
{
	struct ls_str out = {0};
	char *text = read_end(log), *lines[LINES_SHOWN], *save = NULL;
	size_t n = 0;
	for (char *l = text ? strtok_r(text, "\n", &save) : NULL; l;
	     l = strtok_r(NULL, "\n", &save))
		lines[n++ % LINES_SHOWN] = l;
	for (size_t i = n > LINES_SHOWN ? n - LINES_SHOWN : 0; i < n; i++)
		add_line(&out, lines[i % LINES_SHOWN]);
	free(text);
	return ls_str_take(&out);
}

char *ls_verify_how_it_ended(const struct ls_verify_run *r)
{
	const struct ls_launched *c = &r->result.child;
	const char *name = c->signal ? sigabbrev_np(c->signal) : NULL;
	if (name)
		return ls_xasprintf("%s was ended by SIG%s%s", r->label, name,
				    c->signal == SIGKILL ? " (as when memory runs out)" : "");
	return ls_xasprintf("%s ended with status %d", r->label, c->status);
}

void ls_verify_run_done(struct ls_verify_run *r)
{
	free(r->label);
	free(r->out);
	free(r->vars);
	free(r->tail);
	free(r->missing);
	ls_run_result_done(&r->result);
}

static double now(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* Runs the command in DIR/out, so that every run finds the same path in its settings and
 * writes the same one into its checkpoints, and then moves the folder to where it is
 * kept. */
static int run_and_move(const struct ls_verify_request *ask, const struct ls_run_request *run,
			struct ls_verify_run *r, struct ls_err *err)
{
	const char *missing = NULL;
	r->begin = now();
	int rc = ls_run(run, &r->result, err);
	if (rc)
		return rc;
	rc = ls_collect_take(ask->collect, run->out, &missing, err);
	if (rc == 0 && rename(run->out, r->out) < 0)
		rc = ls_err_errno(err, r->out, "move the run's folder here");
	if (rc)
		return rc;
	r->end = now();
	r->missing = missing ? ls_xstrdup(missing) : NULL;
	free(r->result.path);
	r->result.path = ls_xasprintf("%s/run_manifest.json", r->out);
	return 0;
}

static int run_logged(const struct ls_verify_request *ask, struct ls_run_request *run,
		      struct ls_verify_run *r, struct ls_err *err)
{
	char *log = ls_xasprintf("%s.log", r->out);
	run->output = -1;
	int rc = ask->show_output ? 0 : open_log(log, &run->output, err);
	if (rc == 0)
		rc = run_and_move(ask, run, r, err);
	if (run->output >= 0)
		close(run->output);
	if (rc == 0 && !ask->show_output && r->result.child.status)
		r->tail = ls_verify_last_lines(log);
	free(log);
	return rc;
}

int ls_verify_one(const struct ls_verify_request *ask, struct ls_verify *v,
		  const struct ls_verify_plan *plan, struct ls_err *err)
{
	struct ls_str text = {0};
	const char **vars = make_vars(ask, plan->number, &text);
	char *out = ls_xasprintf("%s/out", v->dir);
	struct ls_run_request run = ask->run;
	run.vars = vars;
	run.out = out;
	run.policy.seed = plan->seed;
	run.policy.trace = plan->trace;
	struct ls_verify_run r = {
		.label = ls_xstrdup(plan->label),
		.out = ls_xasprintf("%s/%s", v->dir, plan->label),
		.vars = ls_str_take(&text),
		.seed = plan->seed,
	};
	int rc = run_logged(ask, &run, &r, err);
	if (rc == 0) {
		v->runs = ls_grow(v->runs, v->n_runs, &v->cap_runs, sizeof *v->runs);
		v->runs[v->n_runs++] = r;
		tell(ask, &r);
	} else {
		ls_verify_run_done(&r);
	}
	free(out);
	free_vars(ask, vars);
	return rc;
}
