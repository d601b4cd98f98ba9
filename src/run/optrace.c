#include "run/optrace.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { FIELDS = 9 };

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
	if (next_line(t, f) != 9 || !slice_is(f[0], "H") || !slice_is(f[1], "lockstep-ops") ||
	    !slice_is(f[2], "3"))
		return ls_err_set(err, LS_EINPUT, "%s: not an operation log", name);
	t->method = f[6];
	t->child = f[7];
	t->host = f[8];
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
	uint64_t seq, stack, time;
	if (!slice_number(f[1], &seq) || seq != t->ops)
		return bad(t, err, "operations are numbered from 0 in order");
	if (!slice_number(f[3], &stack) || stack >= t->n_stacks)
		return bad(t, err, "an operation names a stack that was not defined");
	if (!slice_number(f[6], &time))
		return bad(t, err, "an operation ends with its time");
	*ret = (struct ls_op){f[2], f[4], f[5], (uint32_t)stack, time};
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
		else if (n == 7 && slice_is(f[0], "O"))
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

/* The innermost frame outside of installed packages and the standard library, or the
 * innermost. */
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
		return "an input differs that no earlier operation made: it came from outside of "
		       "PyTorch (data, Python, numpy), from where cannot be told";
	case LS_PART_PATH:
		return "the runs do different operations here: the program took another way";
	case LS_PART_LENGTH:
		return "one run ends here, the other goes on";
	case LS_PART_SEED:
		return "the program seeds this generator with another number in each run: from the "
		       "clock, the operating system, or something else that changes";
	case LS_PART_MEMORY:
		return "it reads memory that nobody has written: what that holds is left to chance";
	case LS_PART_SHARED:
		return "an input differs that lies in memory shared between processes: another "
		       "process can have written it, and which line did cannot be told";
	case LS_PART_PROCESS:
		return "this process left operations in one run only: the program made other "
		       "processes";
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
	p->process = ls_xstrndup(t->child.s, t->child.n);
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

static bool has(struct ls_slice s, const char *text)
{
	return s.n && memmem(s.s, s.n, text, strlen(text));
}

static enum ls_parting_kind input_kind(const struct ls_op *op, const char *word)
{
	if (op->name.n > 5 && memcmp(op->name.s, "seed.", 5) == 0)
		return LS_PART_SEED;
	return strstr(word, "~shared:") ? LS_PART_SHARED : LS_PART_INPUT;
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
			char *word_a, *word_b;
			first_word(x.inputs, y.inputs, &word_a, &word_b);
			tell(ret, input_kind(&x, word_a), t, op);
			ret->a = word_a;
			ret->b = word_b;
		} else if (!same(x.outputs, y.outputs)) {
			tell(ret, has(x.inputs, ":unwritten") ? LS_PART_MEMORY : LS_PART_OPERATION,
			     t, op);
			first_word(x.outputs, y.outputs, &ret->a, &ret->b);
		} else {
			continue;
		}
		if (!ret->a) {
			ret->a = op_text(a, &x, more_a);
			ret->b = op_text(b, &y, more_b);
		}
		ret->time_a = more_a ? x.time : UINT64_MAX;
		ret->time_b = more_b ? y.time : UINT64_MAX;
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
	char *child, *host;
	char order[32]; /* the start time in the name */
	uint64_t first; /* time of its first operation */
};

/* "0.10" comes after "0.9". */
static int by_place(const char *a, const char *b)
{
	while (*a && *b) {
		char *end_a, *end_b;
		unsigned long x = strtoul(a, &end_a, 10), y = strtoul(b, &end_b, 10);
		if (x != y)
			return x < y ? -1 : 1;
		if (end_a == a || end_b == b)
			break;
		a = end_a + (*end_a == '.');
		b = end_b + (*end_b == '.');
	}
	return strcmp(a, b);
}

static int same_process(const struct log_file *x, const struct log_file *y)
{
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return by_place(x->child, y->child);
}

static int by_process(const void *a, const void *b)
{
	const struct log_file *x = a, *y = b;
	int order = same_process(x, y);
	return order ? order : strcmp(x->order, y->order);
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
		struct ls_op op;
		logs[n] = (struct log_file){.path = path,
					    .rank = t.rank,
					    .child = ls_xstrndup(t.child.s, t.child.n),
					    .host = ls_xstrndup(t.host.s, t.host.n)};
		logs[n].first = ls_optrace_next(&t, &op, NULL) > 0 ? op.time : UINT64_MAX;
		snprintf(logs[n++].order, sizeof logs->order, "%.31s", dash + 1);
		ls_optrace_done(&t);
	}
	closedir(d);
	if (n)
		qsort(logs, n, sizeof *logs, by_process);
	*ret = logs;
	*ret_n = n;
	return 0;
}

static void free_logs(struct log_file *logs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(logs[i].path);
		free(logs[i].child);
		free(logs[i].host);
	}
	free(logs);
}

static void lone_process(struct ls_parting *p, const struct log_file *log, bool in_a)
{
	*p = (struct ls_parting){.kind = LS_PART_PROCESS, .rank = log->rank};
	p->name = ls_xstrdup("(process)");
	p->where = ls_xstrdup("(no line)");
	p->stack = ls_xstrdup("");
	p->a = ls_xstrdup(in_a ? "operations" : "none");
	p->b = ls_xstrdup(in_a ? "none" : "operations");
	p->process = ls_xstrdup(log->child);
	p->explanation = ls_xstrdup(explain(p->kind));
	p->time_a = in_a ? log->first : UINT64_MAX;
	p->time_b = in_a ? UINT64_MAX : log->first;
}

/* The time that both runs know, where they know one. */
static bool earlier(uint64_t x, uint64_t y, uint64_t other_x, uint64_t other_y)
{
	return x != y ? x < y : other_x < other_y;
}

static void doubt(struct ls_parting *p, const struct ls_parting *other)
{
	char *text = ls_xasprintf(
		"%s; whether process %s of rank %ld parted before it, at %s (%s), cannot be told",
		p->explanation, other->process, other->rank, other->name, other->where);
	free(p->explanation);
	p->explanation = text;
}

/* Keeps the earlier of two partings. Where the two runs do not agree on which it is, or
 * the clocks of several hosts would have to be trusted, that is said once. */
static void keep_first(struct ls_parting *best, struct ls_parting *new, bool *doubtful)
{
	if (new->kind == LS_PART_NONE)
		return;
	if (best->kind == LS_PART_NONE) {
		*best = *new;
		return;
	}
	bool a = earlier(new->time_a, best->time_a, new->time_b, best->time_b);
	bool b = earlier(new->time_b, best->time_b, new->time_a, best->time_a);
	if (a && b) {
		struct ls_parting keep = *best;
		*best = *new;
		*new = keep;
		*doubtful = false;
	}
	if ((a != b || new->hosts) && !*doubtful) {
		doubt(best, new);
		*doubtful = true;
	}
	ls_parting_done(new);
}

static bool several_hosts(const struct log_file *logs, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (strcmp(logs[i].host, logs[0].host) != 0)
			return true;
	return false;
}

static int part_lists(const struct log_file *a, size_t na, const struct log_file *b, size_t nb,
		      struct ls_parting *best, struct ls_err *err)
{
	bool hosts = several_hosts(a, na) || several_hosts(b, nb), doubtful = false;
	int rc = 0;
	for (size_t i = 0, j = 0; rc == 0 && (i < na || j < nb);) {
		int order = i == na ? 1 : j == nb ? -1 : same_process(&a[i], &b[j]);
		struct ls_parting p = {0};
		if (order == 0)
			rc = ls_optrace_part(a[i].path, b[j].path, &p, err);
		else
			lone_process(&p, order < 0 ? &a[i] : &b[j], order < 0);
		p.hosts = hosts;
		if (rc == 0)
			keep_first(best, &p, &doubtful);
		i += order <= 0;
		j += order >= 0;
	}
	return rc;
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
	if (rc == 0)
		rc = part_lists(la, na, lb, nb, &p, err);
	free_logs(la, na);
	free_logs(lb, nb);
	if (rc == 0)
		*ret = p;
	else
		ls_parting_done(&p);
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
	free(p->process);
	*p = (struct ls_parting){0};
}

json_t *ls_parting_json(const struct ls_parting *p)
{
	static const char *const kinds[] = {"none", "operation", "input",  "path",   "length",
					    "seed", "memory",    "shared", "process"};
	if (p->kind == LS_PART_NONE)
		return json_null();
	return json_pack("{s:s,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "kind", kinds[p->kind],
			 "operation_number", (json_int_t)p->at, "rank", (json_int_t)p->rank,
			 "process", ls_json_lossy(p->process), "operation", ls_json_lossy(p->name),
			 "where", ls_json_lossy(p->where), "stack", ls_json_lossy(p->stack), "a",
			 ls_json_lossy(p->a), "b", ls_json_lossy(p->b), "explanation",
			 ls_json_lossy(p->explanation));
}
