#include "tensor/torch/pickle.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	NODE_LIMIT = 1 << 23, /* a checkpoint of 100 000 tensors needs some three millions */
};

struct vm {
	const uint8_t *data;
	size_t len, at, op; /* op: where the current opcode stands, for messages */
	struct ls_pickle *p;
	uint32_t *stack, *marks, *memo;
	size_t depth, cap_stack, n_marks, cap_marks, n_memo, cap_memo;
	struct ls_err *err;
};

static int bad(struct vm *v, const char *what)
{
	return ls_err_set(v->err, LS_EINPUT, "pickle, byte %zu: %s", v->op, what);
}

static struct ls_pk_node *node(struct vm *v, uint32_t id)
{
	return &v->p->nodes[id];
}

/* A new node of that kind on the stack, or NULL when there are too many. */
static struct ls_pk_node *push_new(struct vm *v, enum ls_pk kind)
{
	if (v->p->n >= NODE_LIMIT || v->depth >= NODE_LIMIT) {
		bad(v, "more objects than a checkpoint has");
		return NULL;
	}
	v->p->nodes = ls_grow(v->p->nodes, v->p->n, &v->p->cap, sizeof *v->p->nodes);
	v->stack = ls_grow(v->stack, v->depth, &v->cap_stack, sizeof *v->stack);
	v->stack[v->depth++] = (uint32_t)v->p->n;
	struct ls_pk_node *n = &v->p->nodes[v->p->n++];
	*n = (struct ls_pk_node){.kind = (uint8_t)kind};
	return n;
}

static int push_id(struct vm *v, uint32_t id)
{
	if (v->depth >= NODE_LIMIT)
		return bad(v, "more objects than a checkpoint has");
	v->stack = ls_grow(v->stack, v->depth, &v->cap_stack, sizeof *v->stack);
	v->stack[v->depth++] = id;
	return 0;
}

static size_t floor_of(const struct vm *v)
{
	return v->n_marks ? v->marks[v->n_marks - 1] : 0;
}

/* What is above the last mark may be popped; 0 when there is nothing. */
static uint32_t pop(struct vm *v)
{
	return v->depth > floor_of(v) ? v->stack[--v->depth] : 0;
}

static uint32_t top(const struct vm *v)
{
	return v->depth > floor_of(v) ? v->stack[v->depth - 1] : 0;
}

static int add_item(struct vm *v, uint32_t to, uint32_t item)
{
	struct ls_pk_node *n = node(v, to);
	if (n->n == 0 ||
	    (n->n >= 4 && (n->n & (n->n - 1)) == 0)) /* room for 4, then powers of two */
		n->items = ls_xrealloc(n->items, (n->n ? n->n * 2 : 4) * sizeof *n->items);
	n->items[n->n++] = item;
	return 0;
}

static const uint8_t *take(struct vm *v, uint64_t n)
{
	if (n > v->len - v->at) {
		ls_err_set(v->err, LS_EINPUT,
			   "pickle, byte %zu: claims %" PRIu64 " bytes but only %zu follow", v->op,
			   n, v->len - v->at);
		return NULL;
	}
	const uint8_t *p = v->data + v->at;
	v->at += n;
	return p;
}

static int take_uint(struct vm *v, int bytes, uint64_t *ret)
{
	const uint8_t *p = take(v, (uint64_t)bytes);
	if (!p)
		return LS_EINPUT;
	*ret = 0;
	for (int i = bytes - 1; i >= 0; i--)
		*ret = *ret << 8 | p[i];
	return 0;
}

static int take_line(struct vm *v, const char **ret, size_t *ret_len)
{
	const uint8_t *end = memchr(v->data + v->at, '\n', v->len - v->at);
	if (!end)
		return bad(v, "a line without end");
	*ret = (const char *)v->data + v->at;
	*ret_len = (size_t)(end - (v->data + v->at));
	v->at += *ret_len + 1;
	return 0;
}

static int push_text(struct vm *v, enum ls_pk kind, const char *s, size_t len)
{
	struct ls_pk_node *n = push_new(v, kind);
	if (!n)
		return LS_EINPUT;
	n->s = s;
	n->n = len;
	return 0;
}

static int op_text(struct vm *v, enum ls_pk kind, int length_bytes)
{
	uint64_t len = 0;
	int rc = take_uint(v, length_bytes, &len);
	const uint8_t *p = rc ? NULL : take(v, len);
	return p ? push_text(v, kind, (const char *)p, len) : LS_EINPUT;
}

static int push_int(struct vm *v, enum ls_pk kind, int64_t i)
{
	struct ls_pk_node *n = push_new(v, kind);
	if (!n)
		return LS_EINPUT;
	n->i = i;
	return 0;
}

static int op_uint(struct vm *v, int bytes, bool is_signed)
{
	uint64_t x = 0;
	int rc = take_uint(v, bytes, &x);
	return rc ? rc : push_int(v, LS_PK_INT, is_signed ? (int32_t)(uint32_t)x : (int64_t)x);
}

/* LONG1/LONG4: little-endian two's complement of any length. */
static int op_long(struct vm *v, int length_bytes)
{
	uint64_t len = 0, x = 0;
	int rc = take_uint(v, length_bytes, &len);
	const uint8_t *p = rc ? NULL : take(v, len);
	if (!p)
		return LS_EINPUT;
	if (len > 8)
		return push_text(v, LS_PK_BIG, (const char *)p, len);
	for (size_t i = 0; i < 8; i++)
		x |= (uint64_t)(i < len ? p[i] : (len && p[len - 1] & 0x80 ? 0xff : 0)) << (8 * i);
	return push_int(v, LS_PK_INT, (int64_t)x);
}

/* INT and LONG as decimal lines; "01" and "00" are booleans. */
static int op_decimal(struct vm *v, bool may_be_bool)
{
	const char *s = NULL;
	size_t len = 0;
	int rc = take_line(v, &s, &len);
	if (rc)
		return rc;
	if (may_be_bool && len == 2 && s[0] == '0' && (s[1] == '0' || s[1] == '1'))
		return push_int(v, LS_PK_BOOL, s[1] == '1');
	if (len && s[len - 1] == 'L')
		len--;
	char digits[24], *end;
	for (size_t i = len && s[0] == '-' ? 1 : 0; i < len; i++)
		if (s[i] < '0' || s[i] > '9')
			return bad(v, "not a whole number");
	if (len == 0 || len > 18) {
		if (len == 0 || push_text(v, LS_PK_BIG, s, len))
			return bad(v, "not a whole number");
		node(v, top(v))->a = 1;
		return 0;
	}
	memcpy(digits, s, len);
	digits[len] = 0;
	return push_int(v, LS_PK_INT, strtoll(digits, &end, 10));
}

static int push_real(struct vm *v, double x)
{
	struct ls_pk_node *n = push_new(v, LS_PK_REAL);
	if (!n)
		return LS_EINPUT;
	n->real = x;
	return 0;
}

static int op_binfloat(struct vm *v)
{
	const uint8_t *p = take(v, 8);
	uint64_t bits = 0;
	double x;
	if (!p)
		return LS_EINPUT;
	for (int i = 0; i < 8; i++) /* the one big-endian number of the language */
		bits = bits << 8 | p[i];
	memcpy(&x, &bits, 8);
	return push_real(v, x);
}

static int op_float_line(struct vm *v)
{
	const char *s = NULL;
	size_t len = 0;
	char text[64], *end;
	int rc = take_line(v, &s, &len);
	if (rc)
		return rc;
	if (len == 0 || len >= sizeof text)
		return bad(v, "not a number");
	memcpy(text, s, len);
	text[len] = 0;
	double x = strtod(text, &end);
	return *end ? bad(v, "not a number") : push_real(v, x);
}

/* UNICODE lines, whose text the pickle keeps where it is not written as it is. */
static int op_unicode_line(struct vm *v)
{
	const char *s = NULL;
	size_t len = 0;
	bool plain = true;
	int rc = take_line(v, &s, &len);
	if (rc)
		return rc;
	for (size_t i = 0; i < len && plain; i++)
		plain = s[i] != '\\' && (uint8_t)s[i] < 0x80;
	if (plain)
		return push_text(v, LS_PK_STR, s, len);
	char *text = ls_pickle_raw_unicode(s, len, &len);
	if (!text)
		return ls_err_set(v->err, LS_ENOMEM, "pickle: no memory for a text");
	v->p->texts = ls_grow(v->p->texts, v->p->n_texts, &v->p->cap_texts, sizeof *v->p->texts);
	v->p->texts[v->p->n_texts++] = text;
	return push_text(v, LS_PK_STR, text, len);
}

/* STRING lines: only those that need no escapes. */
static int op_string_line(struct vm *v)
{
	const char *s = NULL;
	size_t len = 0;
	int rc = take_line(v, &s, &len);
	if (rc)
		return rc;
	if (len < 2 || s[0] != s[len - 1] || (s[0] != '\'' && s[0] != '"'))
		return bad(v, "a string without quotes");
	s++;
	len -= 2;
	if (memchr(s, '\\', len))
		return bad(v, "escapes in a text of protocol 0; save it with protocol 2");
	return push_text(v, LS_PK_STR, s, len);
}

const struct ls_pk_global *ls_pickle_global(const struct ls_pickle *p, const struct ls_pk_node *n)
{
	return n->a < p->n_known ? &p->globals[n->a] : &p->unknown[n->a - p->n_known];
}

static uint32_t index_of_global(struct vm *v, const char *module, size_t m, const char *name,
				size_t n)
{
	const struct ls_pk_global *g = v->p->globals;
	for (uint32_t i = 0; g[i].name; i++)
		if (strlen(g[i].module) == m && memcmp(g[i].module, module, m) == 0 &&
		    strlen(g[i].name) == n && memcmp(g[i].name, name, n) == 0)
			return i;
	v->p->unknown =
		ls_grow(v->p->unknown, v->p->n_unknown, &v->p->cap_unknown, sizeof *v->p->unknown);
	v->p->unknown[v->p->n_unknown++] =
		(struct ls_pk_global){ls_xstrndup(module, m), ls_xstrndup(name, n), -1, NULL};
	return v->p->n_known + (uint32_t)v->p->n_unknown - 1;
}

static int push_global(struct vm *v, const char *module, size_t m, const char *name, size_t n)
{
	struct ls_pk_node *made = push_new(v, LS_PK_GLOBAL);
	if (!made)
		return LS_EINPUT;
	made->a = index_of_global(v, module, m, name, n);
	return 0;
}

static int op_global(struct vm *v)
{
	const char *module = NULL, *name = NULL;
	size_t m = 0, n = 0;
	int rc = take_line(v, &module, &m);
	if (rc == 0)
		rc = take_line(v, &name, &n);
	return rc ? rc : push_global(v, module, m, name, n);
}

static int op_stack_global(struct vm *v)
{
	uint32_t name = pop(v), module = pop(v);
	if (!name || !module || node(v, name)->kind != LS_PK_STR ||
	    node(v, module)->kind != LS_PK_STR)
		return bad(v, "a global whose name is not text");
	return push_global(v, node(v, module)->s, node(v, module)->n, node(v, name)->s,
			   node(v, name)->n);
}

static int op_mark(struct vm *v)
{
	if (v->n_marks >= NODE_LIMIT)
		return bad(v, "more objects than a checkpoint has");
	v->marks = ls_grow(v->marks, v->n_marks, &v->cap_marks, sizeof *v->marks);
	v->marks[v->n_marks++] = (uint32_t)v->depth;
	return 0;
}

/* The stack's items from the last mark on; the mark goes. */
static int pop_mark(struct vm *v, size_t *ret_first)
{
	if (v->n_marks == 0)
		return bad(v, "a mark is missing");
	*ret_first = v->marks[--v->n_marks];
	return 0;
}

static int make_sequence(struct vm *v, enum ls_pk kind, size_t first)
{
	size_t end = v->depth;
	if ((kind == LS_PK_DICT) && (end - first) % 2)
		return bad(v, "a key without a value");
	struct ls_pk_node *n = push_new(v, kind);
	if (!n)
		return LS_EINPUT;
	uint32_t id = v->stack[v->depth - 1];
	for (size_t i = first; i < end; i++)
		add_item(v, id, v->stack[i]);
	v->stack[first] = id;
	v->depth = first + 1;
	return 0;
}

static int op_sequence(struct vm *v, enum ls_pk kind)
{
	size_t first = 0;
	int rc = pop_mark(v, &first);
	return rc ? rc : make_sequence(v, kind, first);
}

static int op_tuple_n(struct vm *v, size_t n)
{
	if (v->depth - floor_of(v) < n)
		return bad(v, "the stack is empty");
	return make_sequence(v, LS_PK_TUPLE, v->depth - n);
}

/* Appends to a list or set, or sets keys of a dict (pairs), the items from `first` on. */
static int fill(struct vm *v, size_t first, bool pairs)
{
	size_t floor = floor_of(v);
	if (first <= floor)
		return bad(v, "items without a container");
	uint32_t to = v->stack[first - 1];
	uint8_t kind = node(v, to)->kind;
	if (kind != LS_PK_CALL &&
	    (pairs ? kind != LS_PK_DICT : kind != LS_PK_LIST && kind != LS_PK_SET))
		return bad(v, "items for something that holds none");
	if (pairs && (v->depth - first) % 2)
		return bad(v, "a key without a value");
	if (kind == LS_PK_CALL && node(v, to)->n && node(v, to)->pairs != pairs)
		return bad(v, "an object with items of a list and of a dict");
	node(v, to)->pairs = pairs;
	for (size_t i = first; i < v->depth; i++)
		add_item(v, to, v->stack[i]);
	v->depth = first;
	return 0;
}

static int op_fill_marked(struct vm *v, bool pairs)
{
	size_t first = 0;
	int rc = pop_mark(v, &first);
	return rc ? rc : fill(v, first, pairs);
}

static int op_fill_last(struct vm *v, size_t n, bool pairs)
{
	if (v->depth - floor_of(v) < n + 1)
		return bad(v, "the stack is empty");
	return fill(v, v->depth - n, pairs);
}

/* Arguments by keyword stand behind the others, as one dict. */
static uint32_t with_keywords(struct vm *v, uint32_t args, uint32_t keywords)
{
	struct ls_pk_node *n = push_new(v, LS_PK_TUPLE);
	if (!n)
		return 0;
	uint32_t id = v->stack[--v->depth];
	for (size_t i = 0; i < node(v, args)->n; i++)
		add_item(v, id, node(v, args)->items[i]);
	add_item(v, id, keywords);
	return id;
}

static int op_call(struct vm *v, bool has_keywords)
{
	uint32_t keywords = has_keywords ? pop(v) : 0, args = pop(v), what = pop(v);
	if (!what || !args || node(v, args)->kind != LS_PK_TUPLE ||
	    (node(v, what)->kind != LS_PK_GLOBAL && node(v, what)->kind != LS_PK_CALL))
		return bad(v, "calls something that is neither a name nor an object");
	if (has_keywords && (!keywords || node(v, keywords)->kind != LS_PK_DICT))
		return bad(v, "an object built with keywords that are no dict");
	if (has_keywords && node(v, keywords)->n && !(args = with_keywords(v, args, keywords)))
		return LS_EINPUT;
	struct ls_pk_node *n = push_new(v, LS_PK_CALL);
	if (!n)
		return LS_EINPUT;
	n->a = what;
	n->b = args;
	return 0;
}

/* Takes the bytes that follow an object, if its class has some. */
static int take_raw(struct vm *v, uint32_t call)
{
	const struct ls_pk_node *what = node(v, node(v, call)->a);
	if (what->kind != LS_PK_GLOBAL || !ls_pickle_global(v->p, what)->raw)
		return 0;
	size_t skip = 0;
	uint64_t size = 0;
	int rc = ls_pickle_global(v->p, what)
			 ->raw(v->p, node(v, call), v->data + v->at, v->len - v->at, &skip, &size,
			       v->err);
	const uint8_t *bytes = rc == 0 && take(v, skip) ? take(v, size) : NULL;
	if (!bytes)
		return LS_EINPUT;
	struct ls_pk_node *n = push_new(v, LS_PK_BYTES);
	if (!n)
		return LS_EINPUT;
	n->s = (const char *)bytes;
	n->n = size;
	add_item(v, call, v->stack[--v->depth]);
	return 0;
}

static int op_build(struct vm *v)
{
	uint32_t state = pop(v), to = top(v);
	if (!state || !to || node(v, to)->kind != LS_PK_CALL || node(v, to)->c)
		return bad(v, "sets the state of something that has none");
	node(v, to)->c = state;
	return take_raw(v, to);
}

/* Before version 1.6 torch wrote a class of the program as ("module", class, file,
 * source). */
static uint32_t class_behind(struct vm *v, uint32_t id)
{
	const struct ls_pk_node *n = node(v, id);
	if (!id || n->kind != LS_PK_TUPLE || n->n != 4)
		return 0;
	const struct ls_pk_node *word = node(v, n->items[0]);
	bool is_class = word->kind == LS_PK_STR && word->n == 6 &&
			memcmp(word->s, "module", 6) == 0 &&
			node(v, n->items[1])->kind == LS_PK_GLOBAL;
	return is_class ? n->items[1] : 0;
}

static int op_persid(struct vm *v)
{
	uint32_t id = pop(v), class = class_behind(v, id);
	if (class)
		return push_id(v, class);
	struct ls_pk_node *n = id ? push_new(v, LS_PK_PERSID) : NULL;
	if (!n)
		return id ? LS_EINPUT : bad(v, "the stack is empty");
	n->a = id;
	return 0;
}

static int op_put(struct vm *v, uint64_t index)
{
	uint32_t id = top(v);
	if (!id || index >= NODE_LIMIT)
		return bad(v, "a memo that cannot be");
	while (v->n_memo <= index) {
		v->memo = ls_grow(v->memo, v->n_memo, &v->cap_memo, sizeof *v->memo);
		v->memo[v->n_memo++] = 0;
	}
	v->memo[index] = id;
	return 0;
}

static int op_get(struct vm *v, uint64_t index)
{
	if (index >= v->n_memo || !v->memo[index])
		return bad(v, "asks for a memo that was never made");
	return push_id(v, v->memo[index]);
}

static int op_memo(struct vm *v, int bytes, bool put)
{
	uint64_t index = 0;
	int rc = take_uint(v, bytes, &index);
	if (rc)
		return rc;
	return put ? op_put(v, index) : op_get(v, index);
}

static int op_memo_line(struct vm *v, bool put)
{
	const char *s = NULL;
	size_t len = 0;
	uint64_t index = 0;
	int rc = take_line(v, &s, &len);
	if (rc)
		return rc;
	if (len == 0 || len > 9)
		return bad(v, "a memo that cannot be");
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return bad(v, "a memo that cannot be");
		index = index * 10 + (uint64_t)(s[i] - '0');
	}
	return put ? op_put(v, index) : op_get(v, index);
}

static int op_pop(struct vm *v)
{
	size_t first = 0;
	if (v->depth == floor_of(v)) /* the mark itself */
		return pop_mark(v, &first);
	v->depth--;
	return 0;
}

static int op_pop_mark(struct vm *v)
{
	size_t first = 0;
	int rc = pop_mark(v, &first);
	if (rc == 0)
		v->depth = first;
	return rc;
}

static int op_proto(struct vm *v)
{
	uint64_t version = 0;
	int rc = take_uint(v, 1, &version);
	return rc ? rc : version <= 5 ? 0 : bad(v, "a protocol beyond 5");
}

static int push_empty(struct vm *v, enum ls_pk kind)
{
	return push_new(v, kind) ? 0 : LS_EINPUT;
}

static int refuse(struct vm *v, uint8_t op)
{
	static const struct {
		uint8_t op;
		const char *name;
	} known[] = {
		{'i', "INST"},  {'o', "OBJ"},   {'P', "PERSID"},       {0x82, "EXT1"},
		{0x83, "EXT2"}, {0x84, "EXT4"}, {0x97, "NEXT_BUFFER"}, {0x98, "READONLY_BUFFER"}};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].op == op)
			return ls_err_set(v->err, LS_EINPUT,
					  "pickle, byte %zu: opcode %s; tensors and plain "
					  "containers do not need it",
					  v->op, known[i].name);
	return ls_err_set(v->err, LS_EINPUT, "pickle, byte %zu: 0x%02x is not an opcode", v->op,
			  op);
}

/* Opcodes that make or fetch one object. */
static int step_object(struct vm *v, uint8_t op)
{
	switch (op) {
	case 'N':
		return push_empty(v, LS_PK_NONE);
	case 0x88:
	case 0x89:
		return push_int(v, LS_PK_BOOL, op == 0x88);
	case 'I':
	case 'L':
		return op_decimal(v, op == 'I');
	case 'J':
		return op_uint(v, 4, true);
	case 'K':
		return op_uint(v, 1, false);
	case 'M':
		return op_uint(v, 2, false);
	case 0x8a:
		return op_long(v, 1);
	case 0x8b:
		return op_long(v, 4);
	case 'F':
		return op_float_line(v);
	case 'G':
		return op_binfloat(v);
	case 'S':
	case 'V':
		return op == 'S' ? op_string_line(v) : op_unicode_line(v);
	case 'T':
	case 'X':
		return op_text(v, LS_PK_STR, 4);
	case 'U':
	case 0x8c:
		return op_text(v, LS_PK_STR, 1);
	case 0x8d:
		return op_text(v, LS_PK_STR, 8);
	case 'B':
		return op_text(v, LS_PK_BYTES, 4);
	case 'C':
		return op_text(v, LS_PK_BYTES, 1);
	case 0x8e:
	case 0x96:
		return op_text(v, LS_PK_BYTES, 8);
	case 'c':
		return op_global(v);
	case 0x93:
		return op_stack_global(v);
	default:
		return refuse(v, op);
	}
}

/* Opcodes for containers, calls, memo and stack; the rest goes on to step_object. */
static int step(struct vm *v, uint8_t op)
{
	switch (op) {
	case 0x80:
		return op_proto(v);
	case 0x95: /* FRAME: its length is a hint for buffering */
		return take(v, 8) ? 0 : LS_EINPUT;
	case '(':
		return op_mark(v);
	case '0':
		return op_pop(v);
	case '1':
		return op_pop_mark(v);
	case '2':
		return top(v) ? push_id(v, top(v)) : bad(v, "the stack is empty");
	case ']':
		return push_empty(v, LS_PK_LIST);
	case '}':
		return push_empty(v, LS_PK_DICT);
	case ')':
		return push_empty(v, LS_PK_TUPLE);
	case 0x8f:
		return push_empty(v, LS_PK_SET);
	case 'l':
		return op_sequence(v, LS_PK_LIST);
	case 't':
		return op_sequence(v, LS_PK_TUPLE);
	case 'd':
		return op_sequence(v, LS_PK_DICT);
	case 0x91:
		return op_sequence(v, LS_PK_SET);
	case 0x85:
	case 0x86:
	case 0x87:
		return op_tuple_n(v, op - 0x84u);
	case 'a':
		return op_fill_last(v, 1, false);
	case 's':
		return op_fill_last(v, 2, true);
	case 'e':
	case 0x90:
		return op_fill_marked(v, false);
	case 'u':
		return op_fill_marked(v, true);
	case 'R':
	case 0x81:
		return op_call(v, false);
	case 0x92:
		return op_call(v, true);
	case 'b':
		return op_build(v);
	case 'Q':
		return op_persid(v);
	case 'p':
	case 'g':
		return op_memo_line(v, op == 'p');
	case 'q':
	case 'h':
		return op_memo(v, 1, op == 'q');
	case 'r':
	case 'j':
		return op_memo(v, 4, op == 'r');
	case 0x94:
		return op_put(v, v->n_memo);
	default:
		return step_object(v, op);
	}
}

static int run(struct vm *v)
{
	while (v->at < v->len) {
		v->op = v->at;
		uint8_t op = v->data[v->at++];
		if (op == '.') {
			if (v->depth != 1 || v->n_marks)
				return bad(v, "ends with more or less than one object");
			v->p->root = v->stack[0];
			v->p->used = v->at;
			return 0;
		}
		int rc = step(v, op);
		if (rc)
			return rc;
	}
	v->op = v->at;
	return bad(v, "ends without STOP; cut short");
}

int ls_pickle_parse(const uint8_t *data, size_t len, const struct ls_pk_global *globals,
		    struct ls_pickle **ret, struct ls_err *err)
{
	struct vm v = {.data = data, .len = len, .err = err, .p = ls_xalloc(sizeof *v.p)};
	v.p->globals = globals;
	while (globals[v.p->n_known].name)
		v.p->n_known++;
	v.p->nodes = ls_grow(NULL, 0, &v.p->cap, sizeof *v.p->nodes);
	v.p->nodes[v.p->n++] = (struct ls_pk_node){0};
	int rc = run(&v);
	free(v.stack);
	free(v.marks);
	free(v.memo);
	if (rc)
		ls_pickle_free(v.p);
	else
		*ret = v.p;
	return rc;
}

void ls_pickle_free(struct ls_pickle *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_unknown; i++) {
		free((void *)(uintptr_t)p->unknown[i].module);
		free((void *)(uintptr_t)p->unknown[i].name);
	}
	free(p->unknown);
	for (size_t i = 0; i < p->n_texts; i++)
		free(p->texts[i]);
	free(p->texts);
	for (size_t i = 1; i < p->n; i++) {
		uint8_t k = p->nodes[i].kind;
		if (k == LS_PK_LIST || k == LS_PK_TUPLE || k == LS_PK_DICT || k == LS_PK_SET ||
		    k == LS_PK_CALL)
			free(p->nodes[i].items);
	}
	free(p->nodes);
	free(p);
}
