#include "watch/trainings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "job/row.h"
#include "job/running.h"
#include "watch/owner.h"
#include "watch/throughput.h"

enum { LOGS = 16 };

struct training {
	char name[LS_TRAINING_NAME], token[LS_TRAINING_NAME], job[LS_OWNER_TEXT];
	unsigned supervisor;
	struct ls_throughput *files[LS_RUNNING_FILES];
	size_t n_files;
	bool runs;
};

struct ls_trainings {
	struct training *items[LS_RUNNING_MOST];
	size_t n;
	struct ls_throughput *logs[LOGS];
	size_t n_logs;
};

struct ls_trainings *ls_trainings_new(void)
{
	return ls_xalloc(sizeof(struct ls_trainings));
}

static void training_free(struct training *t)
{
	for (size_t i = 0; i < t->n_files; i++)
		ls_throughput_free(t->files[i]);
	free(t);
}

void ls_trainings_free(struct ls_trainings *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		training_free(t->items[i]);
	for (size_t i = 0; i < t->n_logs; i++)
		ls_throughput_free(t->logs[i]);
	free(t);
}

int ls_trainings_add_log(struct ls_trainings *t, const char *file, struct ls_err *err)
{
	if (t->n_logs == LOGS)
		return ls_err_set(err, LS_EINPUT, "more than %d logs", LOGS);
	int rc = ls_throughput_new(file, &t->logs[t->n_logs], err);
	t->n_logs += rc == 0;
	return rc;
}

/* --- experiments --- */

static void copy_text(char *ret, size_t size, const char *text)
{
	struct ls_str s = {0};
	ls_str_add_printable(&s, text ? text : "");
	snprintf(ret, size, "%s", s.s ? s.s : "");
	ls_str_done(&s);
}

static struct training *find(struct ls_trainings *t, const char *token)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->items[i]->token, token) == 0)
			return t->items[i];
	return NULL;
}

static bool is_followed(const struct training *t, const char *file)
{
	for (size_t i = 0; i < t->n_files; i++)
		if (strcmp(ls_throughput_file(t->files[i]), file) == 0)
			return true;
	return false;
}

/* A file that appears later is followed later. */
static void follow(struct training *t, const json_t *files)
{
	const json_t *file;
	struct ls_err unused;
	size_t i;
	json_array_foreach(files, i, file)
	{
		const char *path = json_string_value(file);
		if (t->n_files == LS_RUNNING_FILES || !path || is_followed(t, path))
			continue;
		t->n_files += ls_throughput_new(path, &t->files[t->n_files], &unused) == 0;
	}
}

static void set_one(struct ls_trainings *t, const json_t *row)
{
	char token[LS_TRAINING_NAME];
	copy_text(token, sizeof token, ls_col_text(row, "token"));
	struct training *one = find(t, token);
	if (!one && t->n == LS_RUNNING_MOST)
		return;
	if (!one) {
		one = t->items[t->n++] = ls_xalloc(sizeof *one);
		memcpy(one->token, token, sizeof token);
	}
	copy_text(one->name, sizeof one->name, ls_col_text(row, "name"));
	copy_text(one->job, sizeof one->job, ls_col_text(row, "job"));
	one->supervisor = (unsigned)ls_col_int(row, "supervisor", 0);
	one->runs = true;
	follow(one, json_object_get(row, "files"));
}

void ls_trainings_set(struct ls_trainings *t, const json_t *rows)
{
	const json_t *row;
	size_t i, kept = 0;
	for (i = 0; i < t->n; i++)
		t->items[i]->runs = false;
	json_array_foreach(rows, i, row) set_one(t, row);
	for (i = 0; i < t->n; i++)
		if (t->items[i]->runs)
			t->items[kept++] = t->items[i];
		else
			training_free(t->items[i]);
	t->n = kept;
}

const char *ls_trainings_of(const struct ls_trainings *t, const char *root, unsigned pid,
			    const char *job)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct training *one = t->items[i];
		if (*job && strcmp(one->job, job) == 0)
			return one->name;
		if (one->supervisor && ls_owner_descends(root, pid, one->supervisor))
			return one->name;
	}
	return NULL;
}

/* --- rates --- */

static bool rate_of(struct ls_throughput *f, double now, struct ls_training_rate *ret)
{
	const char *why = "";
	ls_throughput_look(f, now);
	ret->known = ls_throughput_rates(f, now, &ret->rate, &ret->best, &why);
	snprintf(ret->why, sizeof ret->why, "%.90s", ret->known ? "" : why);
	return ret->known;
}

/* Of several files the one that has slowed down most. */
static void rate_of_training(struct training *t, double now, struct ls_training_rate *ret)
{
	struct ls_training_rate r = *ret;
	snprintf(ret->why, sizeof ret->why, "it has written no metrics yet");
	for (size_t i = 0; i < t->n_files; i++)
		if (rate_of(t->files[i], now, &r)
			    ? !ret->known || r.rate / r.best < ret->rate / ret->best
			    : !ret->known)
			*ret = r;
}

size_t ls_trainings_look(struct ls_trainings *t, double now, struct ls_training_rate *ret)
{
	size_t n = 0;
	for (size_t i = 0; i < t->n_logs && n < LS_TRAININGS; i++) {
		struct ls_training_rate *r = &ret[n++];
		memset(r, 0, sizeof *r);
		copy_text(r->name, sizeof r->name, ls_throughput_file(t->logs[i]));
		rate_of(t->logs[i], now, r);
	}
	for (size_t i = 0; i < t->n && n < LS_TRAININGS; i++) {
		struct ls_training_rate *r = &ret[n++];
		memset(r, 0, sizeof *r);
		r->experiment = true;
		memcpy(r->name, t->items[i]->name, sizeof r->name);
		rate_of_training(t->items[i], now, r);
	}
	return n;
}
