#include "run/ktrace.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "run/optrace.h"

static int bad(const struct ls_ktrace *t, struct ls_err *err, const char *what)
{
	return ls_err_set(err, LS_EINPUT, "%s: byte %zu: %s", t->name, t->at, what);
}

static int number(struct ls_ktrace *t, uint64_t *ret, struct ls_err *err)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (t->at == t->len)
			return bad(t, err, "the log ends inside a number");
		uint8_t b = t->data[t->at++];
		v |= (uint64_t)(b & 127) << shift;
		if (b < 128) {
			*ret = v;
			return 0;
		}
	}
	return bad(t, err, "a number is longer than 64 bits");
}

static int text(struct ls_ktrace *t, char **ret, struct ls_err *err)
{
	uint64_t n = 0;
	int rc = number(t, &n, err);
	if (rc)
		return rc;
	if (n > t->len - t->at || n > 1 << 16)
		return bad(t, err, "a text is longer than the log");
	if (memchr(t->data + t->at, 0, (size_t)n))
		return bad(t, err, "a NUL inside a text");
	*ret = ls_xstrndup((const char *)t->data + t->at, (size_t)n);
	t->at += (size_t)n;
	return 0;
}

static int launch(struct ls_ktrace *t, struct ls_kernel *k, struct ls_err *err)
{
	uint64_t id = 0;
	int rc = number(t, &id, err);
	if (rc)
		return rc;
	if (id >= t->n_names)
		return bad(t, err, "a launch of a kernel without a name");
	k->name = (uint32_t)id;
	t->digest = ls_ktrace_roll(t->digest, ls_ktrace_hash(t->names[id]));
	for (int i = 0; i < LS_KT_FIELDS && rc == 0; i++) {
		uint64_t v = 0;
		rc = number(t, &v, err);
		k->numbers[i] = v;
		t->digest = ls_ktrace_roll(t->digest, v);
	}
	t->launches += rc == 0;
	return rc ? rc : 1;
}

static int check(struct ls_ktrace *t, struct ls_err *err)
{
	uint64_t count = 0, digest = 0;
	int rc = number(t, &count, err);
	if (rc)
		return rc;
	if (t->len - t->at < 8)
		return bad(t, err, "the log ends inside a digest");
	for (int i = 0; i < 8; i++)
		digest |= (uint64_t)t->data[t->at++] << (8 * i);
	if (count != t->launches || digest != t->digest)
		return bad(t, err,
			   "the rolling digest does not match the launches before it: the log is "
			   "damaged");
	t->complete = t->at == t->len;
	return 0;
}

static int add_name(struct ls_ktrace *t, struct ls_err *err)
{
	char *s = NULL;
	int rc = text(t, &s, err);
	if (rc)
		return rc;
	t->names = ls_grow(t->names, t->n_names, &t->cap_names, sizeof *t->names);
	t->names[t->n_names++] = s;
	return 0;
}

static int add_note(struct ls_ktrace *t, struct ls_err *err)
{
	char *s = NULL;
	int rc = text(t, &s, err);
	if (rc)
		return rc;
	free(t->note);
	t->note = s;
	return 0;
}

int ls_ktrace_next(struct ls_ktrace *t, struct ls_kernel *ret, struct ls_err *err)
{
	int rc = 0;
	while (rc == 0 && t->at < t->len) {
		switch (t->data[t->at++]) {
		case LS_KT_END:
			t->at = t->len;
			return 0;
		case LS_KT_NAME:
			rc = add_name(t, err);
			break;
		case LS_KT_LAUNCH:
			return launch(t, ret, err);
		case LS_KT_CHECK:
			rc = check(t, err);
			break;
		case LS_KT_NOTE:
			rc = add_note(t, err);
			break;
		default:
			t->at--;
			return bad(t, err, "not a record of a kernel log");
		}
	}
	return rc;
}

int ls_ktrace_begin(struct ls_ktrace *t, const uint8_t *data, size_t len, const char *name,
		    struct ls_err *err)
{
	if (len < 8 || memcmp(data, LS_KTRACE_MAGIC, 8) != 0)
		return ls_err_set(err, LS_EINPUT, "%s: not a kernel log", name);
	*t = (struct ls_ktrace){.data = data, .len = len, .at = 8, .name = name};
	return 0;
}

int ls_ktrace_open(struct ls_ktrace *t, const char *path, struct ls_err *err)
{
	struct ls_map map;
	int rc = ls_file_map(path, &map, err);
	if (rc)
		return rc;
	rc = ls_ktrace_begin(t, map.data, map.len, path, err);
	if (rc)
		ls_file_unmap(&map);
	else
		t->map = map;
	return rc;
}

void ls_ktrace_done(struct ls_ktrace *t)
{
	for (size_t i = 0; i < t->n_names; i++)
		free(t->names[i]);
	free(t->names);
	free(t->note);
	ls_file_unmap(&t->map);
	*t = (struct ls_ktrace){0};
}

static char *describe(const struct ls_ktrace *t, const struct ls_kernel *k, bool there)
{
	const uint64_t *v = k->numbers;
	if (!there)
		return ls_xstrdup("the end");
	return ls_xasprintf("%s grid %" PRIu64 "x%" PRIu64 "x%" PRIu64 " block %" PRIu64 "x%" PRIu64
			    "x%" PRIu64 " shared %" PRIu64 " stream %" PRIu64,
			    t->names[k->name], v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
}

static int part(struct ls_ktrace *a, struct ls_ktrace *b, struct ls_kernel_parting *ret,
		struct ls_err *err)
{
	for (uint64_t at = 0;; at++) {
		struct ls_kernel ka = {0}, kb = {0};
		int more_a = ls_ktrace_next(a, &ka, err),
		    more_b = more_a < 0 ? 0 : ls_ktrace_next(b, &kb, err);
		if (more_a < 0 || more_b < 0)
			return more_a < 0 ? more_a : more_b;
		if (!more_a && !more_b)
			return 0;
		if (more_a && more_b && strcmp(a->names[ka.name], b->names[kb.name]) == 0 &&
		    memcmp(ka.numbers, kb.numbers, sizeof ka.numbers) == 0)
			continue;
		*ret = (struct ls_kernel_parting){true, at, describe(a, &ka, more_a),
						  describe(b, &kb, more_b)};
		return 0;
	}
}

int ls_ktrace_part(const char *a, const char *b, struct ls_kernel_parting *ret, struct ls_err *err)
{
	struct ls_ktrace ta, tb;
	int rc = ls_ktrace_open(&ta, a, err);
	if (rc)
		return rc;
	rc = ls_ktrace_open(&tb, b, err);
	if (rc == 0) {
		*ret = (struct ls_kernel_parting){0};
		rc = part(&ta, &tb, ret, err);
		ls_ktrace_done(&tb);
	}
	ls_ktrace_done(&ta);
	return rc;
}

void ls_kernel_parting_done(struct ls_kernel_parting *p)
{
	free(p->a);
	free(p->b);
	*p = (struct ls_kernel_parting){0};
}

static json_t *kernel_summary(const char *dir, const char *name)
{
	char *path = ls_xasprintf("%s/%s", dir, name), digest[32];
	struct ls_ktrace t;
	struct ls_kernel k;
	struct ls_err err;
	json_t *o = json_pack("{s:o}", "file", ls_json_lossy(name));
	int rc = ls_ktrace_open(&t, path, &err);
	if (rc == 0) {
		while ((rc = ls_ktrace_next(&t, &k, &err)) > 0)
			;
		snprintf(digest, sizeof digest, "%016" PRIx64, t.digest);
		if (t.note)
			json_object_set_new(o, "unknown", ls_json_lossy(t.note));
		json_object_set_new(o, "launches", json_integer((json_int_t)t.launches));
		json_object_set_new(o, "kernels", json_integer((json_int_t)t.n_names));
		json_object_set_new(o, "digest", json_string(digest));
		json_object_set_new(o, "complete", json_boolean(t.complete));
		ls_ktrace_done(&t);
	}
	if (rc < 0)
		json_object_set_new(o, "unknown", ls_json_lossy(err.msg));
	free(path);
	return o;
}

/* Names are HOST-PID-NANOSECONDS.kind: the last number orders them by start. */
static int by_time(const void *a, const void *b)
{
	const char *x = strrchr(*(char *const *)a, '-'), *y = strrchr(*(char *const *)b, '-');
	return x && y ? strcmp(x, y) : strcmp(*(char *const *)a, *(char *const *)b);
}

json_t *ls_trace_summary(const char *dir)
{
	json_t *kernels = json_array(), *ops = json_array();
	char **names = NULL;
	size_t n = 0, cap = 0;
	DIR *d = opendir(dir);
	for (struct dirent *e; d && (e = readdir(d));) {
		names = ls_grow(names, n, &cap, sizeof *names);
		names[n++] = ls_xstrdup(e->d_name);
	}
	if (d)
		closedir(d);
	if (n)
		qsort(names, n, sizeof *names, by_time);
	for (size_t i = 0; i < n; i++) {
		if (ls_str_ends(names[i], ".kernels"))
			json_array_append_new(kernels, kernel_summary(dir, names[i]));
		if (ls_str_ends(names[i], ".ops"))
			json_array_append_new(ops, ls_optrace_summary(dir, names[i]));
		free(names[i]);
	}
	free(names);
	return json_pack("{s:o,s:o}", "kernels", kernels, "ops", ops);
}
