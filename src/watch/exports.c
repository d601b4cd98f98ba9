#include "watch/exports.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

enum { DAY = 86400, FILE_MOST = 1 << 20, LINE_MOST = 8192, FILES = 256 };

/* --- writing --- */

static char *line_of(const struct ls_export *e)
{
	json_t *o = json_object();
	json_object_set_new(o, "time", json_real(e->time));
	json_object_set_new(o, "format", ls_json_lossy(e->format));
	if (e->model)
		json_object_set_new(o, "model", ls_json_lossy(e->model));
	json_object_set_new(o, "file", ls_json_lossy(e->file));
	json_object_set_new(o, "success", json_boolean(!e->error));
	if (e->error)
		json_object_set_new(o, "error", ls_json_lossy(e->error));
	char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(o);
	char *line = ls_xasprintf("%s\n", text ? text : "");
	free(text);
	return line;
}

static void turn(const char *record)
{
	struct stat st;
	if (stat(record, &st) != 0 || st.st_size < FILE_MOST)
		return;
	char *old = ls_xasprintf("%s.old", record);
	rename(record, old); /* where that fails the file only grows on */
	free(old);
}

int ls_export_append(const char *record, const struct ls_export *e, struct ls_err *err)
{
	char *folder = ls_file_folder(record), *line = NULL;
	int rc = ls_folder_make(folder, err), fd = -1;
	if (!rc) {
		turn(record);
		fd = open(record, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
		rc = fd < 0 ? ls_err_errno(err, record, "open") : 0;
	}
	if (!rc) { /* one write, so that lines of several programs do not mix */
		line = line_of(e);
		size_t len = strlen(line);
		if (write(fd, line, len) != (ssize_t)len)
			rc = ls_err_errno(err, record, "write");
	}
	if (fd >= 0)
		close(fd);
	free(line);
	free(folder);
	return rc;
}

/* --- reading --- */

/* The last export of each file; the one that was seen longest ago makes place. */
struct seen {
	unsigned n;
	struct one {
		uint64_t name; /* XXH64 of it */
		double time;
		bool success;
		char file[LS_EXPORT_TEXT], error[LS_EXPORT_TEXT];
	} files[FILES];
};

static struct one *find(struct seen *s, const char *file)
{
	uint64_t name = ls_xxh64(file, strlen(file));
	unsigned oldest = 0;
	for (unsigned i = 0; i < s->n; i++) {
		if (s->files[i].name == name)
			return &s->files[i];
		if (s->files[i].time < s->files[oldest].time)
			oldest = i;
	}
	struct one *o = &s->files[s->n < FILES ? s->n++ : oldest];
	*o = (struct one){.name = name};
	return o;
}

static void copy(char ret[LS_EXPORT_TEXT], const char *text)
{
	struct ls_str clean = {0};
	ls_str_add_printable(&clean, text);
	snprintf(ret, LS_EXPORT_TEXT, "%s", clean.s ? clean.s : "");
	ls_str_done(&clean);
}

static void take(struct seen *s, const json_t *line, double now)
{
	const json_t *time = json_object_get(line, "time"),
		     *success = json_object_get(line, "success");
	const char *file = json_string_value(json_object_get(line, "file")),
		   *error = json_string_value(json_object_get(line, "error"));
	double at = json_is_number(time) ? json_number_value(time) : -1;
	if (!file || !*file || !json_is_boolean(success) || !(at >= now - DAY && at <= now + DAY))
		return;
	struct one *o = find(s, file);
	o->time = at;
	o->success = json_is_true(success);
	copy(o->file, file);
	copy(o->error, error && *error ? error : "no reason was given");
}

static void take_lines(struct seen *s, const char *text, size_t len, double now)
{
	for (size_t at = 0; at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;
		json_t *v = NULL;
		struct ls_err unused;
		if (n && n <= LINE_MOST && ls_json_parse(text + at, n, "", &v, &unused) == 0)
			take(s, v, now);
		json_decref(v);
		at += n + 1;
	}
}

static void sum_up(const struct seen *s, struct ls_export_counts *ret)
{
	const struct one *last = NULL;
	ret->files = s->n;
	for (unsigned i = 0; i < s->n; i++) {
		const struct one *o = &s->files[i];
		ret->failed += !o->success;
		if (!o->success && (!last || o->time >= last->time))
			last = o;
	}
	if (last) {
		memcpy(ret->file, last->file, sizeof ret->file);
		memcpy(ret->error, last->error, sizeof ret->error);
	}
	ret->known = true;
}

void ls_exports_count(const char *text, size_t len, double now, struct ls_export_counts *ret)
{
	struct seen *s = ls_xalloc(sizeof *s);
	memset(ret, 0, sizeof *ret);
	take_lines(s, text, len, now);
	sum_up(s, ret);
	free(s);
}

static bool is_absent(const char *path)
{
	struct stat st;
	return stat(path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

void ls_exports_read(const char *record, double now, struct ls_export_counts *ret)
{
	struct seen *s = ls_xalloc(sizeof *s);
	char *old = ls_xasprintf("%s.old", record);
	const char *const paths[] = {old, record};
	struct ls_err err = {0};
	int rc = 0;
	memset(ret, 0, sizeof *ret);
	for (int i = 0; i < 2 && !rc; i++) {
		char *text = NULL;
		size_t len = 0;
		if (is_absent(paths[i]))
			continue;
		rc = ls_file_read(paths[i], 4 * FILE_MOST, &text, &len, &err);
		if (!rc)
			take_lines(s, text, len, now);
		free(text);
	}
	sum_up(s, ret);
	ret->asked = true;
	ret->known = rc == 0;
	if (rc)
		snprintf(ret->why, sizeof ret->why, "%.150s", err.msg);
	free(old);
	free(s);
}
