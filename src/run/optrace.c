#include "run/optrace.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { FIELDS = 8 };

static int bad(const struct ls_optrace *t, struct ls_err *err, const char *what)
{
	return ls_err_set(err, LS_EINPUT, "%s:%zu: %s", t->name, t->line, what);
}

/* The next line's fields; 0 at the end or at a line without its newline. */
static int next_line(struct ls_optrace *t, struct ls_slice fields[FIELDS])
{
	const char *p = t->data + t->at, *end = memchr(p, '\n', t->len - t->at);
	int n = 0;
	if (!end)
		return 0;
	t->at = (size_t)(end - t->data) + 1;
	t->line++;
	while (n < FIELDS) {
		const char *tab = memchr(p, '\t', (size_t)(end - p));
		const char *stop = tab ? tab : end;
		fields[n++] = (struct ls_slice){p, (size_t)(stop - p)};
		if (!tab)
			return n;
		p = tab + 1;
	}
	return FIELDS + 1;
}

static bool slice_is(struct ls_slice s, const char *text)
{
	return s.n == strlen(text) && memcmp(s.s, text, s.n) == 0;
}

static bool same(struct ls_slice a, struct ls_slice b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.s, b.s, a.n) == 0);
}

static bool slice_number(struct ls_slice s, uint64_t *ret)
{
	uint64_t v = 0;
	if (s.n == 0 || s.n > 18)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (s.s[i] < '0' || s.s[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(s.s[i] - '0');
	}
	*ret = v;
	return true;
}

int ls_optrace_begin(struct ls_optrace *t, const char *data, size_t len, const char *name,
		     struct ls_err *err)
{
	struct ls_slice f[FIELDS];
	uint64_t rank = 0;
	*t = (struct ls_optrace){.data = data, .len = len, .name = name};
	if (next_line(t, f) != 7 || !slice_is(f[0], "H") || !slice_is(f[1], "lockstep-ops") ||
	    !slice_is(f[2], "2"))
		return ls_err_set(err, LS_EINPUT, "%s: not an operation log", name);
	t->method = f[6];
	t->rank = slice_number(f[3], &rank) && rank < 1 << 24 ? (long)rank : 0;
	return 0;
}

int ls_optrace_open(struct ls_optrace *t, const char *path, struct ls_err *err)
{
	struct ls_map map;
	int rc = ls_file_map(path, &map, err);
	if (rc)
		return rc;
	rc = ls_optrace_begin(t, (const char *)map.data, map.len, path, err);
	if (rc)
		ls_file_unmap(&map);
	else
		t->map = map;
	return rc;
}

void ls_optrace_done(struct ls_optrace *t)
{
	free(t->stacks);
	ls_file_unmap(&t->map);
	*t = (struct ls_optrace){0};
}

static int add_stack(struct ls_optrace *t, const struct ls_slice *f, struct ls_err *err)
{
	uint64_t id;
	if (!slice_number(f[1], &id) || id != t->n_stacks)
		return bad(t, err, "stacks are numbered from 0 in order");
	t->stacks = ls_grow(t->stacks, t->n_stacks, &t->cap_stacks, sizeof *t->stacks);
	t->stacks[t->n_stacks++] = f[2];
	return 0;
}

static int take_op(struct ls_optrace *t, const struct ls_slice *f, struct ls_op *ret,
		   struct ls_err *err)
{
	uint64_t seq, stack;
	if (!slice_number(f[1], &seq) || seq != t->ops)
		return bad(t, err, "operations are numbered from 0 in order");
	if (!slice_number(f[3], &stack) || stack >= t->n_stacks)
		return bad(t, err, "an operation names a stack that was not defined");
	*ret = (struct ls_op){f[2], f[4], f[5], (uint32_t)stack};
	t->ops++;
	return 1;
}

static int take_end(struct ls_optrace *t, const struct ls_slice *f, struct ls_err *err)
{
	uint64_t count;
	if (!slice_number(f[1], &count) || count != t->ops || f[2].n >= sizeof t->digest)
		return bad(t, err, "the end does not match the operations before it");
	memcpy(t->digest, f[2].s, f[2].n);
	t->complete = true;
	t->at = t->len;
	return 0;
}

int ls_optrace_next(struct ls_optrace *t, struct ls_op *ret, struct ls_err *err)
{
	for (;;) {
		struct ls_slice f[FIELDS];
		int n = next_line(t, f);
		if (n == 0)
			return 0;
		int rc;
		if (n == 3 && slice_is(f[0], "S"))
			rc = add_stack(t, f, err);
		else if (n == 6 && slice_is(f[0], "O"))
			return take_op(t, f, ret, err);
		else if (n == 3 && slice_is(f[0], "E"))
			return take_end(t, f, err);
		else
			rc = bad(t, err, "not a line of an operation log");
		if (rc)
			return rc;
	}
}

json_t *ls_optrace_summary(const char *dir, const char *name)
{
	char *path = ls_xasprintf("%s/%s", dir, name);
	struct ls_optrace t;
	struct ls_op op;
	struct ls_err err;
	json_t *o = json_pack("{s:o}", "file", ls_json_lossy(name));
	int rc = ls_optrace_open(&t, path, &err);
	if (rc == 0) {
		while ((rc = ls_optrace_next(&t, &op, &err)) > 0)
			;
		json_object_set_new(o, "rank", json_integer(t.rank));
		json_object_set_new(o, "ops", json_integer((json_int_t)t.ops));
		json_object_set_new(o, "digest", t.complete ? json_string(t.digest) : json_null());
		json_object_set_new(o, "complete", json_boolean(t.complete));
		ls_optrace_done(&t);
	}
	if (rc < 0)
		json_object_set_new(o, "unknown", ls_json_lossy(err.msg));
	free(path);
	return o;
}

/* --- where two runs part --- */

static char *frame_lines(struct ls_slice stack)
{
	char *s = ls_xstrndup(stack.s, stack.n);
	for (char *p = s; *p; p++)
		if (*p == '|')
			*p = '\n';
	return s;
}

/* The innermost frame outside of installed packages and the standard library, or the innermost. */
static char *own_frame(struct ls_slice stack)
{
	char *lines = frame_lines(stack), *save = NULL, *found = NULL, *first = NULL;
	for (char *f = strtok_r(lines, "\n", &save); f && !found; f = strtok_r(NULL, "\n", &save)) {
		if (!first)
			first = f;
		if (!strstr(f, "-packages/") && !strstr(f, "/lib/python3"))
			found = f;
	}
	char *copy = ls_xstrdup(found ? found : first ? first : "(no Python frame)");
	free(lines);
	return copy;
}

static const char *explain(enum ls_parting_kind kind)
{
	switch (kind) {
	case LS_PART_OPERATION:
		return "its inputs agree and its outputs differ: this operation is where the runs "
		       "part";
	case LS_PART_INPUT:
		return "an input differs that no earlier operation made: it came in from outside "
		       "(data, Python, numpy, "
		       "memory that was never written)";
	case LS_PART_PATH:
		return "the runs do different operations here: the program took another way";
	case LS_PART_LENGTH:
		return "one run ends here, the other goes on";
	default:
		return "no operation differs";
	}
}

static void tell(struct ls_parting *p, enum ls_parting_kind kind, const struct ls_optrace *t,
		 const struct ls_op *op)
{
	*p = (struct ls_parting){.kind = kind, .at = t->ops ? t->ops - 1 : 0, .rank = t->rank};
	p->name = ls_xstrndup(op->name.s, op->name.n);
	p->where = own_frame(t->stacks[op->stack]);
	p->stack = frame_lines(t->stacks[op->stack]);
	p->explanation = ls_xstrdup(explain(kind));
}

static char *op_text(const struct ls_optrace *t, const struct ls_op *op, bool there)
{
	if (!there)
		return ls_xstrdup("the end");
	char *frame = own_frame(t->stacks[op->stack]), *text;
	text = ls_xasprintf("%.*s at %s", (int)op->name.n, op->name.s, frame);
	free(frame);
	return text;
}

/* The n-th word that differs, of each: "float32[4x4]@cpu:81a806ee92798207". */
static void first_word(struct ls_slice a, struct ls_slice b, char **ret_a, char **ret_b)
{
	size_t i = 0, start = 0;
	for (; i < a.n && i < b.n && a.s[i] == b.s[i]; i++)
		if (a.s[i] == ' ')
			start = i + 1;
	size_t end_a = start, end_b = start;
	while (end_a < a.n && a.s[end_a] != ' ')
		end_a++;
	while (end_b < b.n && b.s[end_b] != ' ')
		end_b++;
	*ret_a = ls_xstrndup(a.s + start, end_a - start);
	*ret_b = ls_xstrndup(b.s + start, end_b - start);
}

static int part(struct ls_optrace *a, struct ls_optrace *b, struct ls_parting *ret,
		struct ls_err *err)
{
	for (;;) {
		struct ls_op x = {0}, y = {0};
		int more_a = ls_optrace_next(a, &x, err),
		    more_b = more_a < 0 ? 0 : ls_optrace_next(b, &y, err);
		if (more_a < 0 || more_b < 0)
			return more_a < 0 ? more_a : more_b;
		if (!more_a && !more_b)
			return 0;
		const struct ls_optrace *t = more_a ? a : b;
		const struct ls_op *op = more_a ? &x : &y;
		if (!more_a || !more_b) {
			tell(ret, LS_PART_LENGTH, t, op);
		} else if (!same(x.name, y.name) || !same(a->stacks[x.stack], b->stacks[y.stack])) {
			tell(ret, LS_PART_PATH, t, op);
		} else if (!same(x.inputs, y.inputs)) {
			tell(ret, LS_PART_INPUT, t, op);
			first_word(x.inputs, y.inputs, &ret->a, &ret->b);
		} else if (!same(x.outputs, y.outputs)) {
			tell(ret, LS_PART_OPERATION, t, op);
			first_word(x.outputs, y.outputs, &ret->a, &ret->b);
		} else {
			continue;
		}
		if (!ret->a) {
			ret->a = op_text(a, &x, more_a);
			ret->b = op_text(b, &y, more_b);
		}
		return 0;
	}
}

int ls_optrace_part(const char *a, const char *b, struct ls_parting *ret, struct ls_err *err)
{
	struct ls_optrace ta, tb;
	int rc = ls_optrace_open(&ta, a, err);
	if (rc)
		return rc;
	rc = ls_optrace_open(&tb, b, err);
	if (rc == 0) {
		struct ls_parting p = {0};
		if (same(ta.method, tb.method))
			rc = part(&ta, &tb, &p, err);
		else
			rc = ls_err_set(err, LS_EUNKNOWN,
					"%s: its digests are %.*s, those of the other run %.*s: "
					"they say nothing about "
					"each other",
					a, (int)ta.method.n, ta.method.s, (int)tb.method.n,
					tb.method.s);
		if (rc == 0)
			*ret = p;
		ls_optrace_done(&tb);
	}
	ls_optrace_done(&ta);
	return rc;
}

struct log_file {
	char *path;
	long rank;
	uint64_t ops;
	char order[32]; /* the start time in the name */
};

static int by_rank(const void *a, const void *b)
{
	const struct log_file *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->order, y->order);
}

static int list_logs(const char *dir, struct log_file **ret, size_t *ret_n, struct ls_err *err)
{
	struct log_file *logs = NULL;
	size_t n = 0, cap = 0;
	DIR *d = opendir(dir);
	if (!d)
		return ls_err_errno(err, dir, "read the trace");
	for (struct dirent *e; (e = readdir(d));) {
		struct ls_optrace t;
		const char *dash = strrchr(e->d_name, '-');
		if (!dash || !ls_str_ends(e->d_name, ".ops"))
			continue;
		char *path = ls_xasprintf("%s/%s", dir, e->d_name);
		if (ls_optrace_open(&t, path, NULL)) {
			free(path);
			continue;
		}
		logs = ls_grow(logs, n, &cap, sizeof *logs);
		logs[n] = (struct log_file){.path = path, .rank = t.rank};
		snprintf(logs[n++].order, sizeof logs->order, "%.31s", dash + 1);
		ls_optrace_done(&t);
	}
	closedir(d);
	if (n)
		qsort(logs, n, sizeof *logs, by_rank);
	*ret = logs;
	*ret_n = n;
	return 0;
}

static void free_logs(struct log_file *logs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(logs[i].path);
	free(logs);
}

int ls_optrace_part_folders(const char *a, const char *b, struct ls_parting *ret,
			    struct ls_err *err)
{
	struct log_file *la = NULL, *lb = NULL;
	size_t na = 0, nb = 0;
	struct ls_parting p = {0};
	int rc = list_logs(a, &la, &na, err);
	if (rc == 0)
		rc = list_logs(b, &lb, &nb, err);
	if (rc == 0 && (na == 0 || nb == 0))
		rc = ls_err_set(err, LS_EUNKNOWN, "%s: no operation log", na ? b : a);
	for (size_t i = 0; rc == 0 && i < na && i < nb && p.kind == LS_PART_NONE; i++)
		rc = ls_optrace_part(la[i].path, lb[i].path, &p, err);
	free_logs(la, na);
	free_logs(lb, nb);
	if (rc == 0)
		*ret = p;
	return rc;
}

void ls_parting_done(struct ls_parting *p)
{
	free(p->name);
	free(p->where);
	free(p->stack);
	free(p->a);
	free(p->b);
	free(p->explanation);
	*p = (struct ls_parting){0};
}

json_t *ls_parting_json(const struct ls_parting *p)
{
	static const char *const kinds[] = {"none", "operation", "input", "path", "length"};
	if (p->kind == LS_PART_NONE)
		return json_null();
	return json_pack("{s:s,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o}", "kind", kinds[p->kind],
			 "operation_number", (json_int_t)p->at, "rank", (json_int_t)p->rank,
			 "operation", ls_json_lossy(p->name), "where", ls_json_lossy(p->where),
			 "stack", ls_json_lossy(p->stack), "a", ls_json_lossy(p->a), "b",
			 ls_json_lossy(p->b), "explanation", ls_json_lossy(p->explanation));
}
